//! Settings of a run: replications, threads, device.

use std::fmt;
use std::num::NonZeroUsize;
use std::time::Duration;

use crate::estimate::StopRule;
use crate::share::{Share, ShareError};
use crate::sim::averages::FLOAT_UNIT;
use crate::sim::backend::Backend;
use crate::sim::engines::EngineChoice;
use crate::sim::record::Run;
use crate::sim::samples::Samples;
use crate::sim::targets::{Precision, Quantity, Target};

/// Settings of an ensemble of independent replications.
#[derive(Clone, Debug)]
pub struct Ensemble {
    /// Number of replications; ignored if there is a stop rule. Default 10,000.
    pub replications: u64,
    /// Stop rule: the run stops as soon as all targets are met; without targets, as soon as the mean passage time has the
    /// rule's relative error.
    pub stop: Option<StopRule>,
    /// Quantities that the run must estimate before it stops. Default: only the mean passage time.
    pub targets: Vec<Target>,
    /// Number of the first replication, which differs between the shards of an experiment. Default 0.
    pub first: u64,
    /// Seed of the experiment. Default 0.
    pub seed: u64,
    /// Number of threads; `None` is one per core.
    pub threads: Option<NonZeroUsize>,
    /// Wall time after which the run ends with the replications that are complete.
    pub max_wall: Option<Duration>,
    /// Choice of the engine.
    pub engine: EngineChoice,
    /// The device that runs the replications, the CPU or a GPU.
    pub backend: Backend,
    /// Part of the name of the adapter to use; a software adapter is used only if it is named.
    pub adapter: Option<String>,
    /// True if individual passage times are stored.
    pub keep: bool,
    /// The share of the replications that this process runs. Default: all.
    pub share: Share,
}

impl Default for Ensemble {
    fn default() -> Self {
        Self {
            replications: 10_000,
            stop: None,
            targets: Vec::new(),
            first: 0,
            seed: 0,
            threads: None,
            max_wall: None,
            engine: EngineChoice::Auto,
            backend: Backend::Auto,
            adapter: None,
            keep: false,
            share: Share::default(),
        }
    }
}

impl Ensemble {
    /// Returns the precision of the mean time for which a stop rule waits, if it waits for passage times.
    pub(in crate::sim) fn precision_of_time(&self) -> Option<Precision> {
        let rule = self.stop.as_ref()?;
        let time = self.targets.iter().find(|target| target.quantity == Quantity::Time);
        let of_rule = self.targets.is_empty().then_some(Precision::Relative(rule.rel_error));
        time.map(|target| target.precision).or(of_rule)
    }

    /// Returns the number of replications to add before the next check of the stop rule; none if the rule is satisfied.
    pub(in crate::sim) fn next_round(&self, rule: &StopRule, samples: &Samples) -> Option<u64> {
        let width = if self.targets.is_empty() {
            let estimate = samples.passage.mean_estimate(rule.level);
            estimate.map_or(f64::INFINITY, |estimate| estimate.relative_half_width())
        } else {
            let averages = samples.averages();
            let excess = self.targets.iter().map(|target| target.excess(samples, &averages, rule.level));
            excess.fold(0.0, f64::max) * rule.rel_error
        };
        rule.next_round(samples.replications, width)
    }

    /// Returns the run merged from the shares of other processes, if any. `nothing` has the empty
    /// accumulators of `question`.
    ///
    /// # Errors
    ///
    /// [`ShareError`]: the shares are incomplete, or belong to another question.
    pub fn given(&self, question: &dyn fmt::Debug, nothing: &Samples) -> Result<Option<Run>, ShareError> {
        let Some(mut run) = self.share.given::<Run>(question)? else { return Ok(None) };
        if !nothing.is_like(&run.samples) || run.provenance.seed != self.seed || run.samples.first != self.first {
            return Err(ShareError::Unlike("the net, the question or the seed differs"));
        }
        // if only the first shards are present, they count as a run that ended early
        run.provenance.cut_short |= run.samples.replications < self.replications;
        Ok(Some(run))
    }

    /// Returns these settings for the replications that this process runs.
    ///
    /// # Errors
    ///
    /// [`ShareError::NoNumber`] if a stop rule determines the number of replications.
    pub fn shared(&self) -> Result<Self, ShareError> {
        if !self.share.is_part() {
            return Ok(self.clone());
        }
        if self.stop.is_some() {
            return Err(ShareError::NoNumber);
        }
        let range = self.share.range(self.replications, FLOAT_UNIT);
        Ok(Self { first: self.first + range.start, replications: range.end - range.start, ..self.clone() })
    }
}
