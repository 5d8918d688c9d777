//! The probability that a job finishes after a deadline, by splitting. Splitting runs on request, if few replications finish so late.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::answer::phases_if_possible;
use crate::estimate::Measured;
use crate::net::Net;
use crate::runs::JobTimes;
use crate::sim::{Ensemble, Question, RareError, RareEvent, Samples, Splitting};
use crate::watch::{Quiet, TimeLimit, Watch};

/// Minimum number of late replications whose share is precise enough, so that splitting is not needed.
pub const FEW_LATE: u64 = 30;
/// Share of late runs below which few runs are late.
const RARELY: f64 = 1e-3;
/// Number of batches.
const BATCHES: u32 = 16;
/// Splitting may take as long as the replications, or this long.
const SHORTEST: Duration = Duration::from_secs(5);

/// Settings of the splitting after a simulation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LateSettings {
    /// Number of walks on each level of a batch.
    pub effort: u32,
    /// Confidence level of the interval.
    pub level: f64,
}

/// The probability of finishing after a deadline, by splitting.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LateSection {
    /// The probability; its samples are batches.
    pub probability: Measured,
    /// Standard error divided by the probability; none if no walk finished late.
    pub relative_error: Option<f64>,
    /// Number of levels.
    pub levels: usize,
    /// Number of walks on each level of a batch.
    pub effort: u32,
}

impl LateSettings {
    /// Estimates the probability that a job's net ends after `deadline_s`. `took` is the time that the replications took: splitting takes no
    /// longer, or at most five seconds.
    ///
    /// # Errors
    ///
    /// The reason why there is no estimate.
    pub(super) fn estimate(
        self,
        net: &Net,
        deadline_s: f64,
        took: Duration,
        ensemble: &Ensemble,
        watch: &dyn Watch,
    ) -> Result<LateSection, String> {
        let limit = took.max(SHORTEST);
        let quiet = Quiet(watch);
        let limited = TimeLimit::new(&quiet, Some(limit));
        let net = phases_if_possible(net);
        let late = Question { horizon: Some(deadline_s), ..Question::default() };
        let event = RareEvent::beyond(&net, &late, None).map_err(|error| error.to_string())?;
        let splitting = Splitting {
            effort: self.effort,
            batches: BATCHES,
            seed: ensemble.seed,
            threads: ensemble.threads,
            level: self.level,
            watch: &limited,
            ..Splitting::default()
        };
        let found = splitting.run(&net, &event);
        if watch.stopped() {
            return Err("it was stopped".to_owned());
        }
        // fewer batches would depend on the speed of the machine
        let is_short = match &found {
            Ok(found) => found.probability.samples < u64::from(BATCHES),
            Err(error) => *error == RareError::Stopped,
        };
        if is_short {
            return Err(format!(
                "it was stopped after {:.1} s; request fewer walks, or more replications",
                limit.as_secs_f64()
            ));
        }
        let found = found.map_err(|error| error.to_string())?;
        Ok(LateSection {
            probability: found.probability,
            relative_error: found.relative_error,
            levels: found.levels.len(),
            effort: self.effort,
        })
    }
}

/// Returns true if times vary and fewer than [`FEW_LATE`] replications end after a deadline.
pub(super) fn few_late(samples: &Samples, deadline_s: f64) -> bool {
    if samples.passage.variance() == Some(0.0) {
        return false;
    }
    let ticks = samples.clock.ticks(deadline_s);
    let done = samples.passage_histogram.cdf(ticks).unwrap_or(0.0) * samples.passage_histogram.count() as f64;
    samples.replications.saturating_sub(done.round() as u64) < FEW_LATE
}

/// Returns the reason why a job with run-to-run variation has no splitting, if few runs are late. The number of
/// replications does not matter, because each replication represents runs of all speeds.
pub fn few_late_runs(times: &JobTimes, deadline_s: f64) -> Option<String> {
    let late = 1.0 - times.cdf(deadline_s);
    (late < RARELY).then(|| "splitting does not model the spread between whole runs".to_owned())
}
