//! How long the tasks of a stage take.

use serde::{Deserialize, Serialize};
use tailspn_common::order::quantile;

use crate::trace::attempt::Attempt;

/// Order statistics of the times of attempts that succeeded \[s\].
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Times {
    /// How many there are.
    pub count: u64,
    /// The shortest.
    pub min: f64,
    /// A quarter is at most this long.
    pub p25: f64,
    /// Half is at most this long.
    pub median: f64,
    /// Three quarters are at most this long.
    pub p75: f64,
    /// 95% are at most this long.
    pub p95: f64,
    /// The longest.
    pub max: f64,
    /// Their mean.
    pub mean: f64,
    /// All of them together.
    pub total: f64,
}

impl Times {
    /// Of these times, in any order; none without any.
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

/// The times of the attempts that succeeded; none where none did.
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
