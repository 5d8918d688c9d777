//! Times of a stage's tasks.

use serde::{Deserialize, Serialize};
use tailspn_common::order::quantile;

use crate::trace::attempt::Attempt;

/// Order statistics of the times of successful attempts \[s\].
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Times {
    /// Number of times.
    pub count: u64,
    /// Shortest time.
    pub min: f64,
    /// 25% quantile.
    pub p25: f64,
    /// Median.
    pub median: f64,
    /// 75% quantile.
    pub p75: f64,
    /// 95% quantile.
    pub p95: f64,
    /// Longest time.
    pub max: f64,
    /// Mean.
    pub mean: f64,
    /// Sum.
    pub total: f64,
}

impl Times {
    /// Computes the statistics of these times, in any order; none without times.
    pub fn of(mut times: Vec<f64>) -> Option<Self> {
        times.sort_unstable_by(f64::total_cmp);
        let (&min, &max) = (times.first()?, times.last()?);
        let at = |p| quantile(&times, p).unwrap_or(min);
        let total: f64 = times.iter().sum();
        Some(Self {
            count: times.len() as u64,
            min,
            p25: at(0.25),
            median: at(0.5),
            p75: at(0.75),
            p95: at(0.95),
            max,
            mean: total / times.len() as f64,
            total,
        })
    }
}

/// Returns the times of the successful attempts; none if no attempt succeeded.
pub fn times_of(attempts: &[Attempt]) -> Option<Times> {
    let done = attempts.iter().filter(|attempt| attempt.succeeded());
    Times::of(done.filter_map(Attempt::duration).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_statistics_by_hand() {
        let times = Times::of(vec![5.0, 1.0, 2.0, 4.0, 3.0]).unwrap();
        assert_eq!((times.min, times.p25, times.median, times.p75, times.max), (1.0, 2.0, 3.0, 4.0, 5.0));
        assert!((times.p95 - 4.8).abs() < 1e-12 && (times.mean - 3.0).abs() < 1e-12);
        assert_eq!(Times::of(Vec::new()), None);
        let one = Times::of(vec![7.0]).unwrap();
        assert_eq!((one.min, one.p95, one.max, one.count), (7.0, 7.0, 7.0, 1));
    }
}
