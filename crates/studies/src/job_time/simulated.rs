//! A job that was simulated: its times, phases, costs and critical paths.

use crate::estimate::{Interval, Measured, clopper_pearson};
use crate::mapreduce::AttemptReward;
use crate::sim::{CriticalPath, Question, Run};

/// A simulated job.
#[derive(Clone, Debug)]
pub struct SimulatedJob {
    /// The replications.
    pub run: Run,
    /// The question: one group per phase, and one reward for each cost of stragglers and copies.
    pub question: Question,
    /// The costs of stragglers and copies, if the plan has any.
    pub rewards: Vec<AttemptReward>,
    /// Shares of the phases in the job time, or the reason why they are unknown.
    pub critical_path: Result<CriticalPath, String>,
}

impl SimulatedJob {
    /// Returns the mean job time \[s\]; none if no replication finished.
    pub fn mean(&self) -> Option<f64> {
        let samples = &self.run.samples;
        samples.passage.mean_ticks().map(|ticks| ticks * samples.clock.tick())
    }

    /// Returns the mean job time \[s\] with its interval of confidence `level`; none if no replication finished.
    pub fn mean_measured(&self, level: f64) -> Option<Measured> {
        let samples = &self.run.samples;
        let moments = &samples.passage;
        let interval = moments.mean_estimate(level).map(Interval::from);
        Some(Measured::new(moments.mean_ticks(), moments.count(), level, interval)?.scaled(samples.clock.tick()))
    }

    /// Returns the time \[s\] within which a share `p` of the replications finishes, with its interval; none
    /// without replications.
    pub fn quantile(&self, p: f64, level: f64) -> Option<Measured> {
        let samples = &self.run.samples;
        let histogram = &samples.passage_histogram;
        let value = histogram.quantile(p).ok();
        let found = Measured::new(value, histogram.count(), level, histogram.quantile_interval(p, level))?;
        Some(found.scaled(samples.clock.tick()))
    }

    /// Returns the probability of finishing within `seconds`, with its interval of confidence
    /// `level`; none without replications.
    pub fn done_by(&self, seconds: f64, level: f64) -> Option<Measured> {
        let samples = &self.run.samples;
        let histogram = &samples.passage_histogram;
        let share = histogram.cdf(samples.clock.ticks(seconds)).unwrap_or(0.0);
        let done = (share * histogram.count() as f64).round() as u64;
        clopper_pearson(done, samples.replications, level).ok().map(Measured::from)
    }
}
