//! Settings of the run that answers a question, the same for every question: random numbers, precision, machine and limits.

use std::num::NonZeroUsize;
use std::time::Duration;

use crate::estimate::{LEVEL, StopRule};
use crate::share::Share;
use crate::sim::{Backend, Ensemble};
use crate::solve::Limits;

/// Default limit of replications for a relative error.
const MOST_REPLICATIONS: u64 = 100_000_000;

/// Settings of the run that answers a question, the same for every question. A setting that a question does not use has no effect on its answer.
///
/// The settings are data, so they can be stored and compared. Progress and interruption are not among them: each question
/// takes a [`Watch`](crate::watch::Watch) of its caller.
#[derive(Clone, Debug)]
pub struct RunSettings {
    /// Seed of all random numbers. None: the plan's seed, otherwise 0.
    pub seed: Option<u64>,
    /// Number of replications; with a relative error, the maximum. None: the question decides.
    pub replications: Option<u64>,
    /// Relative half width of the interval of the mean time at which the replications end. None: their number decides.
    pub rel_error: Option<f64>,
    /// Confidence level of all intervals, in (0, 1).
    pub level: f64,
    /// Number of threads; none is one per core.
    pub threads: Option<NonZeroUsize>,
    /// Wall time after which the answer consists of the results so far.
    pub max_time: Option<Duration>,
    /// Maximum number of states that an exact answer explores. None: [`Limits::default`].
    pub max_states: Option<u64>,
    /// Maximum memory of these states, or of the net of a job \[bytes\]. None: [`Limits::default`] for states, no maximum for the net.
    pub max_memory: Option<u64>,
    /// The device that runs replications of nets, the CPU or a GPU.
    pub backend: Backend,
    /// Part of the name of the graphics adapter; a software adapter must be named.
    pub adapter: Option<String>,
    /// True to keep the time of each replication.
    pub keep: bool,
    /// The share of the replications that this process runs.
    pub share: Share,
}

impl Default for RunSettings {
    /// Returns settings for all replications on all cores, with intervals of [`LEVEL`] and without limits.
    fn default() -> Self {
        Self {
            seed: None,
            replications: None,
            rel_error: None,
            level: LEVEL,
            threads: None,
            max_time: None,
            max_states: None,
            max_memory: None,
            backend: Backend::default(),
            adapter: None,
            keep: false,
            share: Share::default(),
        }
    }
}

impl RunSettings {
    /// Returns the limits of the states of an exact answer.
    pub fn limits(&self) -> Limits {
        let Limits { states, bytes, .. } = Limits::default();
        let (states, bytes) = (self.max_states.unwrap_or(states), self.max_memory.unwrap_or(bytes));
        Limits { states, bytes, wall: self.max_time }
    }

    /// Returns the rule that ends the replications, if a relative error is requested.
    pub fn stop_rule(&self) -> Option<StopRule> {
        let max_reps = self.replications.unwrap_or(MOST_REPLICATIONS);
        self.rel_error.map(|rel_error| StopRule { rel_error, level: self.level, max_reps, ..StopRule::default() })
    }

    /// Returns the replications that answer a question, which has its own seed and its own number of replications.
    pub fn ensemble(&self, seed: u64, replications: u64) -> Ensemble {
        Ensemble {
            replications: self.replications.unwrap_or(replications),
            stop: self.stop_rule(),
            seed: self.seed.unwrap_or(seed),
            threads: self.threads,
            max_wall: self.max_time,
            backend: self.backend,
            adapter: self.adapter.clone(),
            keep: self.keep,
            share: self.share.clone(),
            ..Ensemble::default()
        }
    }
}
