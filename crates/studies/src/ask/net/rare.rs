//! Probabilities of rare events of a net, by splitting.

use std::time::{Duration, Instant};

use crate::answer::phases_if_possible;
use crate::ask::RunSettings;
use crate::ask::net::names::{NetSummary, Subject};
use crate::compile::{Code, compile};
use crate::net::Net;
use crate::sim::{Question, RareError, RareEstimate, RareEvent, Splitting};
use crate::watch::{TimeLimit, Watch};

/// A question about a rare event, and the number of walks that answer it.
#[derive(Clone, Debug)]
pub struct RareQuestion {
    /// The goal, the markings to avoid and the horizon of the event.
    pub question: Question,
    /// True if the event is that the goal is not reached by the horizon.
    pub beyond: bool,
    /// Expression that grows on the way to the event, or, for an event beyond the horizon, the approximate remaining time \[s\]. None:
    /// the left side of the goal, or a fit to a few walks.
    pub importance: Option<Code>,
    /// Number of walks on each level of a batch.
    pub effort: u32,
    /// Number of independent batches; at least 2 are needed for an interval.
    pub batches: u32,
    /// True if equal parts of the net are kept apart.
    pub unfolded: bool,
}

/// The probability of a rare event, and how it was estimated.
#[derive(Clone, Debug)]
pub struct RareAnswer {
    /// The net.
    pub net: NetSummary,
    /// The probability and the levels.
    pub estimate: RareEstimate,
    /// Seed of the random numbers.
    pub seed: u64,
    /// Wall time.
    pub wall: Duration,
}

impl RareQuestion {
    /// Estimates the probability of the event. `watch` counts batches and may stop the run; batches so far are kept.
    ///
    /// # Errors
    ///
    /// All variants of [`RareError`].
    pub fn answer(&self, net: &Net, run: &RunSettings, watch: &dyn Watch) -> Result<RareAnswer, RareError> {
        let started = Instant::now();
        let watch = &TimeLimit::new(watch, run.max_time);
        let summary = NetSummary::new(&Subject::of(net.name(), &compile(net)?));
        let phases = phases_if_possible(net);
        let importance = self.importance.as_ref().map(|code| code.expression(&phases));
        let event = if self.beyond {
            RareEvent::beyond(&phases, &self.question, importance)?
        } else {
            RareEvent::before(&phases, &self.question, importance)?
        };
        let seed = run.seed.unwrap_or(0);
        let splitting = Splitting {
            effort: self.effort,
            batches: self.batches,
            seed,
            threads: run.threads,
            level: run.level,
            fold: !self.unfolded,
            watch,
        };
        Ok(RareAnswer { net: summary, estimate: splitting.run(&phases, &event)?, seed, wall: started.elapsed() })
    }
}
