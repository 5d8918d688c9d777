//! Results of long runs by name, with intervals.

use std::time::Duration;

use crate::estimate::{BatchError, Doubt, FloatMoments, Measured, long_run_mean};
use crate::net::{LookupError, Net, PlaceKey, TransitionKey};
use crate::sim::question::Question;
use crate::sim::record::{FoldedParts, NotFolded};
use crate::sim::steady::BatchAverages;
use crate::sim::unfired::Unseen;

/// Number of firings in one run by which a transition should also fire in the other runs.
const OFTEN: u64 = 30;

/// Steady-state averages by name, with intervals.
#[derive(Clone, Debug, PartialEq)]
pub struct SteadyResult {
    pub(super) net: Net,
    pub(super) question: Question,
    /// Planned number of runs.
    pub(super) planned: u64,
    pub(super) runs: Vec<BatchAverages>,
    pub(super) level: f64,
    pub(super) seed: u64,
    pub(super) wall: Duration,
    pub(super) folded: Option<FoldedParts>,
    pub(super) not_folded: Vec<NotFolded>,
    /// Transitions that never or rarely fired, although they may in longer runs.
    pub(super) unseen: Unseen,
}

impl SteadyResult {
    /// The net.
    pub fn net(&self) -> &Net {
        &self.net
    }

    /// Transitions that never or rarely fired, although they may in longer runs. A number that their firings can influence has no
    /// interval.
    pub fn unseen(&self) -> &Unseen {
        &self.unseen
    }

    /// The question: its rewards, and whether it asks for tokens and throughputs.
    pub fn question(&self) -> &Question {
        &self.question
    }

    /// Confidence level of all intervals.
    pub fn level(&self) -> f64 {
        self.level
    }

    /// Seed of the runs.
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// Wall time of the runs.
    pub fn wall(&self) -> Duration {
        self.wall
    }

    /// Folded parts of the net; none if it ran unfolded.
    pub fn folded_parts(&self) -> Option<FoldedParts> {
        self.folded
    }

    /// Similar parts of the net that were not folded.
    pub fn not_folded(&self) -> &[NotFolded] {
        &self.not_folded
    }

    /// True if runs are missing or incomplete, because the watch stopped them.
    pub fn is_partial(&self) -> bool {
        (self.runs.len() as u64) < self.planned || self.runs.iter().any(|run| run.cut_short)
    }

    /// Number of runs that ended in a dead marking.
    pub fn dead_runs(&self) -> u64 {
        self.runs.iter().filter(|run| run.is_dead).count() as u64
    }

    /// Ids of transitions that fired often in some runs and never in others: the runs ended in different parts of the
    /// state space, or are too short.
    pub fn in_some_runs(&self) -> Vec<String> {
        let counts = |t: usize| self.runs.iter().map(move |run| run.fired.get(t).copied().unwrap_or(0));
        let differs = |t: usize| counts(t).any(|n| n >= OFTEN) && counts(t).any(|n| n == 0);
        let names = self.net.transitions().iter().enumerate();
        names.filter(|(t, _)| differs(*t)).map(|(_, transition)| transition.id.clone()).collect()
    }

    /// The averages of the parts of each run.
    pub fn runs(&self) -> &[BatchAverages] {
        &self.runs
    }

    /// Mean tokens of all classes in a place.
    ///
    /// # Errors
    ///
    /// An unknown place.
    pub fn tokens(&self, place: impl Into<PlaceKey>) -> Result<Measured, LookupError> {
        let place = self.net.place_of(&place.into())?.index();
        let classes = self.net.classes().len();
        let counters = place * classes..(place + 1) * classes;
        let sum = |run: &BatchAverages| -> Vec<f64> {
            let parts = 0..run.seconds.len();
            parts.map(|part| run.tokens[counters.clone()].iter().map(|series| series[part]).sum()).collect()
        };
        let series: Vec<Vec<f64>> = self.runs.iter().map(sum).collect();
        let unseen = counters.clone().find_map(|counter| self.unseen.of_tokens(counter));
        Ok(self.mean(&series.iter().map(Vec::as_slice).collect::<Vec<_>>(), unseen).not_negative())
    }

    /// Mean tokens of one class in a place.
    ///
    /// # Errors
    ///
    /// An unknown place or class.
    pub fn tokens_of(&self, place: impl Into<PlaceKey>, class: &str) -> Result<Measured, LookupError> {
        let (place, class) = (self.net.place_of(&place.into())?, self.net.class_of(class)?);
        let counter = place.index() * self.net.classes().len() + class.index();
        Ok(self.mean(&self.series(counter, |run| &run.tokens), self.unseen.of_tokens(counter)).not_negative())
    }

    /// Firings per second of a transition.
    ///
    /// # Errors
    ///
    /// An unknown transition.
    pub fn throughput(&self, transition: impl Into<TransitionKey>) -> Result<Measured, LookupError> {
        let transition = self.net.transition_of(&transition.into())?;
        let transition = transition.index();
        let series = self.series(transition, |run| &run.throughput);
        Ok(self.mean(&series, self.unseen.of_throughput(transition)).not_negative())
    }

    /// A reward per second.
    ///
    /// # Errors
    ///
    /// A name that the question does not have.
    pub fn reward(&self, name: &str) -> Result<Measured, LookupError> {
        let known = || self.question.rewards.iter().map(|reward| reward.name.as_str());
        let at = known().position(|own| own == name);
        let at = at.ok_or_else(|| LookupError::unknown("reward", name, known()))?;
        Ok(self.mean(&self.series(at, |run| &run.rewards), self.unseen.of_reward(at)))
    }

    fn series(&self, at: usize, of: fn(&BatchAverages) -> &[Vec<f64>]) -> Vec<&[f64]> {
        self.runs.iter().filter_map(|run| of(run).get(at)).map(Vec::as_slice).collect()
    }

    fn mean(&self, runs: &[&[f64]], unseen: Option<String>) -> Measured {
        match long_run_mean(runs, self.level) {
            Ok(steady) => Measured::from(steady.estimate).unless_unseen(unseen),
            Err(error) => self.without_interval(runs, &error),
        }
    }

    /// The plain mean of all runs, and the reason why it has no interval.
    fn without_interval(&self, runs: &[&[f64]], error: &BatchError) -> Measured {
        let moments: FloatMoments = runs.iter().flat_map(|run| run.iter().copied()).collect();
        let doubt = Doubt::Unknown(error.to_string());
        let value = moments.mean().unwrap_or(f64::NAN);
        Measured { value, doubt, level: self.level, samples: runs.len() as u64 }
    }
}
