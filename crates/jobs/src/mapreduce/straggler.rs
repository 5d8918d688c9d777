//! Stragglers in a net: with some probability a task draws a slow node, and all of its stages take longer.
//!
//! Contains the definition of a slow node, and the nets with stragglers but without a response; `speculation` adds copies.

use serde::Deserialize;
use serde::Serialize;

use crate::mapreduce::attempts::{Copies, weave};
use crate::mapreduce::augmented::{AugmentError, Augmented, CopySlots};
use crate::mapreduce::fate::Fate;
use crate::mapreduce::phase_law::PhaseLaw;
use crate::mapreduce::setting::{SettingProblem, range};
use crate::mapreduce::task_chain::TaskChain;
use crate::net::Net;

/// Frequency and slow-down of slow tasks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct Stragglers {
    /// α, probability that a task draws a slow node, 0 to 1. Default 0.1.
    pub share: f64,
    /// Ratio of a task's time on a slow node to its usual time. Default 3.
    pub factor: Factors,
    /// Shape of the delays on a slow node. The mean delay of a stage on a slow node is the factor times the usual mean
    /// of the stage. Default: the shape of the stage.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub distribution: Option<PhaseLaw>,
    /// Tasks of a job that may draw a slow node. Default all.
    pub tasks: WhichTasks,
}

impl Default for Stragglers {
    fn default() -> Self {
        Self { share: 0.1, factor: Factors::One(3.0), distribution: None, tasks: WhichTasks::All }
    }
}

/// Ratio of a task's time on a slow node to its usual time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum Factors {
    /// A constant factor, at least 1.
    One(f64),
    /// Pairs of probability and factor; the probabilities sum to 1.
    Several(Vec<[f64; 2]>),
}

/// Tasks of a job.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum WhichTasks {
    /// Map and reduce tasks.
    #[default]
    All,
    /// Map tasks only.
    Maps,
    /// Reduce tasks only.
    Reduces,
}

/// Maximum factor: beyond it, clocks lose precision.
const LARGEST_FACTOR: f64 = 1e6;

/// Tolerance for the sum of the factors' probabilities.
const ROUNDING: f64 = 1e-9;

impl Stragglers {
    /// Returns the factor of an attempt's work from a number that is uniform on (0, 1); 1 unless the attempt is slow.
    pub(crate) fn drawn_factor(&self, uniform: f64, is_map: bool) -> f64 {
        let spared = if is_map { WhichTasks::Reduces } else { WhichTasks::Maps };
        if uniform >= self.share || self.tasks == spared {
            return 1.0;
        }
        let mut left = uniform / self.share;
        let mut drawn = 1.0;
        for [probability, factor] in self.factors() {
            drawn = factor;
            left -= probability;
            if left < 0.0 {
                break;
            }
        }
        drawn
    }

    /// Returns the first invalid setting, with its key; none for valid settings.
    pub fn problem(&self) -> Option<(&'static str, SettingProblem)> {
        let share = (0.0..=1.0).contains(&self.share);
        if let Some(problem) = range(share, "the share of stragglers", self.share, "between 0 and 1") {
            return Some(("share", problem));
        }
        let mut sum = 0.0;
        for [probability, factor] in self.factors() {
            let fine = (1.0..=LARGEST_FACTOR).contains(&factor);
            let odd = range(fine, "a factor", factor, "from 1 to 1e6").or_else(|| {
                range((0.0..=1.0).contains(&probability), "a factor's probability", probability, "between 0 and 1")
            });
            if let Some(problem) = odd {
                return Some(("factor", problem));
            }
            sum += probability;
        }
        let fine = (sum - 1.0_f64).abs() <= ROUNDING;
        if let Some(problem) = range(fine, "the sum of the factors' probabilities", sum, "1") {
            return Some(("factor", problem));
        }
        let bad = self.distribution.as_ref().and_then(PhaseLaw::problem)?;
        Some(("distribution", SettingProblem::Range { what: bad.what, value: bad.value, needs: bad.needs }))
    }

    /// Returns probability and factor of each kind of slow node.
    pub(super) fn factors(&self) -> Vec<[f64; 2]> {
        match &self.factor {
            Factors::One(factor) => vec![[1.0, *factor]],
            Factors::Several(all) => all.clone(),
        }
    }

    /// Returns the mean factor of a straggler.
    pub fn mean_factor(&self) -> f64 {
        self.factors().iter().map(|[probability, factor]| probability * factor).sum()
    }

    /// Returns an outcome for each kind of slow node; the outcomes share `probability`, and `at` gives the time of the flag
    /// for a factor.
    pub(super) fn slow(&self, name: &str, probability: f64, at: impl Fn(f64) -> Option<f64>) -> Vec<Fate<'_>> {
        let factors = self.factors();
        let several = factors.len() > 1;
        let fate = |(number, [share, factor]): (usize, [f64; 2])| Fate {
            name: if several { format!("{name}{}", number + 1) } else { name.to_owned() },
            probability: probability * share,
            factor,
            law: self.distribution.as_ref(),
            flagged_at: at(factor),
        };
        factors.into_iter().enumerate().map(fate).filter(|fate| fate.probability > 0.0).collect()
    }

    /// Returns the possible draws of an attempt with probability `slow` of a slow node: the usual one, named `usual`, and one for each kind of slow
    /// node, named after `name`.
    pub(super) fn draws(&self, usual: &str, name: &str, slow: f64, at: Option<f64>) -> Vec<Fate<'_>> {
        let mut draws = vec![usual_fate(usual, 1.0 - slow, at)];
        draws.extend(self.slow(name, slow, |_| at));
        draws.retain(|fate| fate.probability > 0.0);
        draws
    }
}

/// Returns the fate of a task on a usual node.
pub(super) fn usual_fate(name: &str, probability: f64, flagged_at: Option<f64>) -> Fate<'static> {
    Fate { name: name.to_owned(), probability, factor: 1.0, law: None, flagged_at }
}

/// Returns the net in which each of the chains draws a slow node with probability α, before its first stage.
///
/// An immediate choice with weights 1 − α and α (one weight for each factor) leads to the task's original stages or to
/// a second row of stages, whose delays are longer by the factor. The choice takes no time and adds no race to the net,
/// so a schedule stays a schedule. Exact, without approximation. With α = 0 the net is unchanged; with α = 1 and one
/// factor only its delays change.
///
/// # Errors
///
/// [`AugmentError::Chains`], [`AugmentError::Settings`], [`AugmentError::Parts`].
///
/// # Examples
///
/// ```
/// use tailspn_jobs::mapreduce::{Stragglers, TaskChain, straggle};
/// use tailspn_engine::net::{NetBuilder, Timing};
///
/// let mut net = NetBuilder::new("one task");
/// let (start, done) = (net.place("start", 1), net.place("done", 0));
/// let run = net.transition("run", Timing::exponential(0.1));
/// net.input(start, run, 1.0);
/// net.output(run, done, 1.0);
/// let net = net.build().unwrap();
/// let task = TaskChain { name: "A".into(), start, stages: vec![run], slots: None };
/// let slow = straggle(&net, &[task], &Stragglers::default()).unwrap().net;
/// assert_eq!((slow.places().len(), slow.transitions().len()), (2 + 2, 1 + 3));
/// ```
pub fn straggle(net: &Net, chains: &[TaskChain], stragglers: &Stragglers) -> Result<Augmented, AugmentError> {
    if let Some((_, problem)) = stragglers.problem() {
        return Err(problem.into());
    }
    let nobody = Copies { kinds: Vec::new(), slots: CopySlots::Idle };
    weave(net, chains, &stragglers.draws("usual", "slow", stragglers.share, None), &nobody)
}
