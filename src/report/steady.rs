//! What one long run shows of the steady state.

use std::time::Duration;

use serde::Serialize;

use crate::estimate::{BatchError, FloatMoments, Interval, steady_state};
use crate::report::quantity::Quantity;
use crate::report::summary::{NetSummary, Subject, counter_names};
use crate::sim::BatchAverages;

/// A mean in the long run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SteadyRow {
    /// What it is of.
    pub name: String,
    /// Its unit.
    pub unit: &'static str,
    /// The mean.
    #[serde(flatten)]
    pub quantity: Quantity,
    /// Share of the run that was left out as warm-up; none where there is no interval.
    pub warm_up: Option<f64>,
}

/// Everything that one long run showed.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SteadyReport {
    /// The net.
    pub net: NetSummary,
    /// Confidence level of all intervals.
    pub level: f64,
    /// Model time of the run \[s\].
    pub model_time_s: f64,
    /// Firings of the run.
    pub firings: u64,
    /// Mean tokens per place and class.
    pub tokens: Vec<SteadyRow>,
    /// Firings per second per transition.
    pub throughputs: Vec<SteadyRow>,
    /// Rewards per second.
    pub rewards: Vec<SteadyRow>,
    /// Version of this crate.
    pub version: &'static str,
    /// The seed.
    pub seed: u64,
    /// Wall time of the run \[s\].
    pub wall_s: f64,
}

/// What is reported of a long run besides its averages.
#[derive(Clone, Copy, Debug, Default)]
pub struct SteadySettings<'a> {
    /// Whether mean tokens are reported.
    pub tokens: bool,
    /// Whether throughputs are reported.
    pub throughputs: bool,
    /// Names of the rewards, in the order of the run.
    pub rewards: &'a [String],
    /// Confidence level, in (0, 1).
    pub level: f64,
    /// Seed of the run.
    pub seed: u64,
    /// Wall time of the run.
    pub wall: Duration,
}

/// Means in the long run from the averages of equal parts of one run, none of which was left out.
pub fn steady_report(averages: &BatchAverages, subject: &Subject<'_>, settings: &SteadySettings<'_>) -> SteadyReport {
    let level = settings.level;
    let rows = |wanted: bool, names: &[String], unit, values: &[Vec<f64>]| {
        let pairs = names.iter().zip(values).filter(|_| wanted);
        pairs.filter_map(|(name, values)| row(name, unit, values, level)).collect::<Vec<_>>()
    };
    SteadyReport {
        net: NetSummary::new(subject),
        level,
        model_time_s: averages.seconds.iter().sum(),
        firings: u64::try_from(averages.firings).unwrap_or(u64::MAX),
        tokens: rows(settings.tokens, &counter_names(subject), "tokens", &averages.tokens),
        throughputs: rows(settings.throughputs, subject.transitions, "1/s", &averages.throughput),
        rewards: rows(true, settings.rewards, "1/s", &averages.rewards),
        version: env!("CARGO_PKG_VERSION"),
        seed: settings.seed,
        wall_s: settings.wall.as_secs_f64(),
    }
}

fn row(name: &str, unit: &'static str, averages: &[f64], level: f64) -> Option<SteadyRow> {
    let found = steady_state(averages, level);
    let warm_up = found.ok().map(|steady| steady.warmup as f64 / averages.len() as f64);
    let quantity = match found {
        Ok(steady) => Quantity::from(steady.estimate),
        Err(error) => without_interval(averages, level, &error)?,
    };
    Some(SteadyRow { name: name.to_owned(), unit, quantity, warm_up })
}

/// The plain mean of the whole run, and why there is nothing better.
fn without_interval(averages: &[f64], level: f64, error: &BatchError) -> Option<Quantity> {
    let moments: FloatMoments = averages.iter().copied().collect();
    let plain = moments.mean_estimate(level).map(Interval::from);
    let quantity = Quantity::new(moments.mean(), moments.count(), level, plain)?;
    Some(Quantity { low: None, high: None, note: Some(error.to_string()), ..quantity })
}
