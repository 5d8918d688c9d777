//! What may become of a task: how slow it is, whether and when it is flagged; and what that does to the delays of its stages.
//!
//! Owns the numbers of a fate; `attempts` makes places and transitions of it.

use crate::mapreduce::phase_law::PhaseLaw;
use crate::mapreduce::task_chain::Checked;
use crate::net::expr::BinaryOp;
use crate::net::{Delay, Expr, Net, Timing, TransitionId};

/// What may become of a task.
#[derive(Clone, Debug)]
pub(super) struct Fate<'a> {
    /// Name, letters only.
    pub(super) name: String,
    /// Probability; those of all fates sum to 1.
    pub(super) probability: f64,
    /// How many times its usual time the task takes.
    pub(super) factor: f64,
    /// Shape of its stages' delays; none keeps that of the net.
    pub(super) law: Option<&'a PhaseLaw>,
    /// When a copy is asked for, in usual times of work since the start, below `factor`; none for never.
    pub(super) flagged_at: Option<f64>,
}

/// A share of the usual time that counts as none.
const TINY: f64 = 1e-9;

/// A stage, or a part of it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Part {
    pub(super) stage: usize,
    /// Which share of its delay.
    pub(super) share: f64,
}

/// The stages of an attempt, the one in which it is flagged cut in two; and how many parts come before the flag.
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

/// The delay of a stage for an attempt with a fate, or a share of it.
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

    /// Stage and share of each part, and the parts before the flag, for stages of 1 s, 0 s and 3 s.
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
