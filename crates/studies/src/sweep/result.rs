//! Result of one point: numbers with their intervals, compared with the base if there is one.
//!
//! Defines the row that is stored and reported. A row depends only on the replications of its point and of the base.

use serde::{Deserialize, Serialize};
use toml::Value;

use crate::ends::{OptionalEnds, owned};
use crate::estimate::{
    EstimateError, Interval, Measured, clopper_pearson, paired_difference, paired_ratio, quantile_interval_of_sorted,
    quantile_of_sorted,
};
use crate::sim::{Ending, Samples};
use crate::sweep::point::Point;
use crate::sweep::replicated::Replicated;

/// Converts a number from ticks of `tick` seconds to seconds, with its interval if there is one.
fn number(value: Option<f64>, interval: Result<Interval, EstimateError>, tick: f64) -> Option<Measured> {
    Some(match interval {
        Ok(interval) => owned(interval.scaled(tick)),
        Err(_) => Measured::between(value? * tick, None, None),
    })
}

/// Result of one point. Times in seconds, intervals at the sweep's level.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PointResult {
    /// Number of the point; 0 is the base.
    pub point: u64,
    /// The value of each axis; none if it is as in the base.
    #[cfg_attr(feature = "schema", schemars(with = "Vec<serde_json::Value>"))]
    pub values: Vec<Option<Value>>,
    /// Number of replications.
    pub replications: u64,
    /// Number of replications that reached the goal.
    pub reached: u64,
    /// Name of the engine that ran the replications.
    pub engine: String,
    /// Mean time to the goal \[s\]; with run-to-run variation, the mean of a typical run. None if the goal was never reached.
    #[serde(with = "OptionalEnds", default)]
    pub mean_s: Option<Measured>,
    /// Median time \[s\]; this and the other quantiles are over all runs.
    #[serde(with = "OptionalEnds", default)]
    pub p50_s: Option<Measured>,
    /// 95% quantile of the time \[s\].
    #[serde(with = "OptionalEnds", default)]
    pub p95_s: Option<Measured>,
    /// 99% quantile of the time \[s\].
    #[serde(with = "OptionalEnds", default)]
    pub p99_s: Option<Measured>,
    /// Probability of finishing by the deadline; none without a deadline.
    #[serde(with = "OptionalEnds", default, skip_serializing_if = "Option::is_none")]
    pub done_by_deadline: Option<Measured>,
    /// Mean of the point's time minus the base's time, replication by replication \[s\]; none for the base, and if not
    /// every replication of both reached the goal.
    #[serde(with = "OptionalEnds", default)]
    pub difference_s: Option<Measured>,
    /// Mean time of the point divided by the mean time of the base, from the same pairs of replications; none without `difference_s`,
    /// or if the base's mean is not significantly different from 0.
    #[serde(with = "OptionalEnds", default)]
    pub ratio: Option<Measured>,
}

/// Returns the times of the replications \[s\]; none unless all replications reached the goal.
pub(in crate::sweep) fn times(samples: &Samples) -> Option<Vec<f64>> {
    let all = samples.ended(Ending::Goal) == samples.replications;
    all.then(|| samples.times_s().collect())
}

/// Returns the times \[s\] of replications with run-to-run variation, ascending; none without such variation.
fn spread_times(ran: &Replicated) -> Option<Vec<f64>> {
    let mut times = (!ran.spread.is_none()).then(|| times(&ran.samples)).flatten()?;
    ran.spread.spread(&mut times, ran.seed, 0);
    times.sort_unstable_by(f64::total_cmp);
    Some(times)
}

/// Returns the share of the replications that finish by a deadline \[s\]; `spread` holds the times with run-to-run
/// variation, if the subject has such variation.
fn done_by(deadline_s: f64, samples: &Samples, spread: Option<&[f64]>, level: f64) -> Option<Measured> {
    let histogram = &samples.passage_histogram;
    let share = || histogram.cdf(samples.clock.ticks(deadline_s)).unwrap_or(0.0);
    let done = match spread {
        Some(times) => times.partition_point(|time| *time <= deadline_s) as u64,
        None => (share() * histogram.count() as f64).round() as u64,
    };
    clopper_pearson(done, samples.replications, level).ok().map(owned)
}

impl PointResult {
    /// Summarises replications that kept their times, compared with the times of the base.
    pub(in crate::sweep) fn new(point: &Point, ran: &Replicated, base: Option<&[f64]>, level: f64) -> Self {
        let samples = &ran.samples;
        let tick = samples.clock.tick();
        let spread = spread_times(ran);
        let quantile = |p| match &spread {
            Some(times) => number(quantile_of_sorted(times, p).ok(), quantile_interval_of_sorted(times, p, level), 1.0),
            None => {
                let histogram = &samples.passage_histogram;
                number(histogram.quantile(p).ok(), histogram.quantile_interval(p, level), tick)
            }
        };
        let mean = samples.passage.mean_estimate(level).map(Interval::from);
        let own = base.and_then(|_| times(samples));
        let pairs = base.zip(own.as_deref()).map(|(base, own)| {
            // if a relative error is set, points may have different numbers of replications
            let pairs = base.len().min(own.len());
            (&base[..pairs], &own[..pairs])
        });
        Self {
            point: point.number,
            values: point.values.clone(),
            replications: samples.replications,
            reached: samples.ended(Ending::Goal),
            engine: ran.engine.to_owned(),
            mean_s: number(samples.passage.mean_ticks(), mean, tick),
            p50_s: quantile(0.5),
            p95_s: quantile(0.95),
            p99_s: quantile(0.99),
            done_by_deadline: ran.deadline_s.and_then(|deadline| done_by(deadline, samples, spread.as_deref(), level)),
            difference_s: pairs.and_then(|(base, own)| paired_difference(base, own, level).ok()).map(owned),
            ratio: pairs.and_then(|(base, own)| paired_ratio(base, own, level).ok()).map(owned),
        }
    }
}
