//! The spread of task times: a drawn time, relative to its mean.

use std::sync::Arc;

use crate::mapreduce::LawTable;
use crate::rng::uniform;

/// The distribution of an attempt's time, relative to the usual time of its task.
#[derive(Clone, Debug, PartialEq)]
pub enum Spread {
    /// The ratios of a recorded stage's attempts, each equally likely; at least one.
    Recorded(Vec<f64>),
    /// A sum of independent phases, each with its share of the mean; at most [`MOST_PHASES`].
    Phases(Vec<(f64, Arc<LawTable>)>),
}

/// Maximum number of phases of a task.
pub const MOST_PHASES: usize = 5;

impl Spread {
    /// Draws a ratio. `word` determines the first phase; the words of `further` determine the other phases.
    pub(super) fn ratio(&self, word: u32, further: impl FnOnce() -> [u32; MOST_PHASES - 1]) -> f64 {
        match self {
            Self::Recorded(ratios) => ratios[((u64::from(word) * ratios.len() as u64) >> 32) as usize],
            Self::Phases(phases) => {
                let further = if phases.len() > 1 { further() } else { [0; MOST_PHASES - 1] };
                let words = std::iter::once(word).chain(further);
                phases.iter().zip(words).map(|((share, law), word)| share * law.quantile(uniform(word))).sum()
            }
        }
    }
}
