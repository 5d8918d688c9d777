//! The possible fates of a task: its slow-down, its flag and the time of the flag; and their effect on the delays of its stages.
//!
//! Defines the numbers of a fate; `attempts` turns them into places and transitions.

use crate::mapreduce::phase_law::PhaseLaw;
use crate::mapreduce::task_chain::Checked;
use crate::net::expr::BinaryOp;
use crate::net::{Delay, Expr, Net, Timing, TransitionId};

/// A possible fate of a task.
#[derive(Clone, Debug)]
pub(super) struct Fate<'a> {
    /// Name, letters only.
    pub(super) name: String,
    /// Probability; the probabilities of all fates sum to 1.
    pub(super) probability: f64,
    /// Ratio of the task's time to its usual time.
    pub(super) factor: f64,
    /// Shape of the delays of the task's stages; none keeps the shape from the net.
    pub(super) law: Option<&'a PhaseLaw>,
    /// Time from the start to the copy request, as a multiple of the typical time; less than `factor`. `None`: no copy
    /// is requested.
    pub(super) flagged_at: Option<f64>,
}

/// A share of the usual time that counts as zero.
const TINY: f64 = 1e-9;

/// A stage, or a part of it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Part {
    pub(super) stage: usize,
    /// Share of the stage's delay.
    pub(super) share: f64,
}

/// Returns the stages of an attempt, with the flagged stage split in two, and the number of parts before the flag.
pub(super) fn cut(task: &Checked, fate: &Fate<'_>) -> (Vec<Part>, usize) {
    let mut parts = Vec::with_capacity(task.means.len() + 1);
    let mut left = fate.flagged_at.map(|at| at * task.usual);
    let mut before = usize::MAX;
    for (stage, mean) in task.means.iter().enumerate() {
        let time = mean * fate.factor;
        match left {
            Some(flag) if flag <= TINY * task.usual => {
                (before, left) = (before.min(parts.len()), None);
                parts.push(Part { stage, share: 1.0 });
            }
            Some(flag) if flag < time - TINY * task.usual => {
                parts.push(Part { stage, share: flag / time });
                (before, left) = (parts.len(), None);
                parts.push(Part { stage, share: 1.0 - flag / time });
            }
            _ => {
                left = left.map(|flag| flag - time);
                parts.push(Part { stage, share: 1.0 });
            }
        }
    }
    let before = before.min(parts.len());
    (parts, before)
}

/// Returns the delay of a stage for an attempt with a fate, or of a share of the stage.
pub(super) fn stretched(net: &Net, stage: TransitionId, mean: f64, fate: &Fate<'_>, share: f64) -> Timing {
    let timing = net.transition(stage).timing.clone();
    let factor = fate.factor * share;
    let Timing::Timed { delay, servers, memory } = timing else { return timing };
    let delay = match (fate.law, delay) {
        (Some(law), _) => match law.with_mean(mean * factor) {
            Some(law) => Delay::General(law),
            None => Delay::Exponential { rate: (1.0 / (mean * factor)).into() },
        },
        (None, Delay::General(law)) => Delay::General(law.scaled(factor)),
        (None, Delay::Exponential { rate }) => Delay::Exponential { rate: divided(rate, factor) },
    };
    Timing::Timed { delay, servers, memory }
}

fn divided(rate: Expr, factor: f64) -> Expr {
    match rate {
        rate if (factor - 1.0).abs() < f64::EPSILON => rate,
        Expr::Number(rate) => Expr::Number(rate / factor),
        rate => Expr::Binary(BinaryOp::Divide, Box::new(rate), Box::new(Expr::Number(factor))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mapreduce::task_chain::TaskChain;
    use crate::net::PlaceId;

    /// Returns stage and share of each part, and the number of parts before the flag, for stages of 1 s, 0 s and 3 s.
    fn parts(factor: f64, flagged_at: Option<f64>) -> (Vec<(usize, f64)>, usize) {
        let start = PlaceId::from_index(0);
        let chain = TaskChain { name: "A".into(), start, stages: Vec::new(), slots: None };
        let task = Checked { chain, places: Vec::new(), means: vec![1.0, 0.0, 3.0], usual: 4.0 };
        let fate = Fate { name: "f".into(), probability: 1.0, factor, law: None, flagged_at };
        let (parts, before) = cut(&task, &fate);
        (parts.iter().map(|part| (part.stage, part.share)).collect(), before)
    }

    #[test]
    fn the_stage_of_the_flag_is_cut_in_two() {
        assert_eq!(parts(2.0, None), (vec![(0, 1.0), (1, 1.0), (2, 1.0)], 3));
        // after 4 s: 2 s of the first stage, and 2 of the 6 s of the last
        assert_eq!(parts(2.0, Some(1.0)), (vec![(0, 1.0), (1, 1.0), (2, 2.0 / 6.0), (2, 1.0 - 2.0 / 6.0)], 3));
        assert_eq!(parts(2.0, Some(0.25)), (vec![(0, 0.5), (0, 0.5), (1, 1.0), (2, 1.0)], 1));
    }

    #[test]
    fn a_flag_between_two_stages_cuts_none() {
        assert_eq!(parts(2.0, Some(0.5)), (vec![(0, 1.0), (1, 1.0), (2, 1.0)], 1));
        assert_eq!(parts(2.0, Some(0.0)), (vec![(0, 1.0), (1, 1.0), (2, 1.0)], 0));
    }
}
