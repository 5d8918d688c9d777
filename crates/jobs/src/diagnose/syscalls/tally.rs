//! Counts and durations: sums of exact nanoseconds, and histograms of times.

use serde::{Deserialize, Serialize};

/// Nanoseconds in a second.
pub(super) const SECOND: f64 = 1e9;

/// A number of calls and their total time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tally {
    /// Calls with a known time.
    pub calls: u64,
    /// Total time of these calls, in nanoseconds.
    pub nanoseconds: u64,
}

impl Tally {
    /// Adds a call.
    pub(super) fn add(&mut self, nanoseconds: u64) {
        self.calls += 1;
        self.nanoseconds = self.nanoseconds.saturating_add(nanoseconds);
    }

    /// Adds other calls.
    pub(super) fn merge(&mut self, other: Self) {
        self.calls = self.calls.saturating_add(other.calls);
        self.nanoseconds = self.nanoseconds.saturating_add(other.nanoseconds);
    }

    /// Returns the total time, in seconds.
    pub fn seconds(self) -> f64 {
        self.nanoseconds as f64 / SECOND
    }

    /// Returns the mean time of a call in seconds; `None` without calls.
    pub fn mean(self) -> Option<f64> {
        (self.calls > 0).then(|| self.seconds() / self.calls as f64)
    }
}

/// Intervals of time that calls are sorted into. The paper does not specify them \[Khadke2012, 4.1.1\]; ours grow by a factor.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Buckets {
    /// End of the first interval, in seconds, > 0. Default one microsecond, the resolution of `strace -T`.
    pub first_s: f64,
    /// Ratio of each interval's end to the previous interval's end, at least 1.1. Default 2.
    pub factor: f64,
}

impl Default for Buckets {
    fn default() -> Self {
        Self { first_s: 1e-6, factor: 2.0 }
    }
}

/// Maximum number of intervals: with a factor of 1.1 they reach beyond a day.
const MOST_BUCKETS: usize = 300;

impl Buckets {
    /// Returns true if the numbers are valid.
    pub(super) fn is_valid(self) -> bool {
        self.first_s > 0.0 && self.first_s.is_finite() && self.factor >= 1.1 && self.factor.is_finite()
    }

    /// Returns the interval of a time: 0 for times below the first end.
    pub fn of(self, nanoseconds: u64) -> usize {
        let times = nanoseconds as f64 / (self.first_s * SECOND);
        if times < 1.0 {
            return 0;
        }
        // a time exactly at an end belongs to the next interval, however the logarithm is rounded
        let guess = (times.ln() / self.factor.ln()).floor();
        let guess = if times >= self.factor.powf(guess + 1.0) { guess + 1.0 } else { guess };
        (1 + guess as usize).min(MOST_BUCKETS - 1)
    }

    /// Returns the end of an interval, in seconds.
    pub fn end(self, bucket: usize) -> f64 {
        self.first_s * self.factor.powi(i32::try_from(bucket).unwrap_or(i32::MAX))
    }
}

/// Calls by their time; intervals after the last listed interval are empty.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Histogram(pub Vec<u64>);

impl Histogram {
    pub(super) fn add(&mut self, bucket: usize) {
        if self.0.len() <= bucket {
            self.0.resize(bucket + 1, 0);
        }
        self.0[bucket] += 1;
    }

    /// Returns the number of calls in an interval.
    pub fn count(&self, bucket: usize) -> u64 {
        self.0.get(bucket).copied().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_a_bucket_belongs_to_the_next_bucket() {
        let buckets = Buckets::default();
        for (nanoseconds, expected) in
            [(0, 0), (999, 0), (1000, 1), (1999, 1), (2000, 2), (3999, 2), (4000, 3), (1_024_000, 11), (u64::MAX, 55)]
        {
            assert_eq!(buckets.of(nanoseconds), expected, "{nanoseconds}");
        }
        let tens = Buckets { first_s: 1e-3, factor: 10.0 };
        assert_eq!([999_999, 1_000_000, 9_999_999, 10_000_000].map(|t| tens.of(t)), [0, 1, 1, 2]);
        assert!((tens.end(1) - 0.01).abs() < 1e-12);
    }

    #[test]
    fn sums_are_exact() {
        let mut tally = Tally::default();
        assert_eq!(tally.mean(), None);
        (0..4).for_each(|_| tally.add(250_000_000));
        assert_eq!((tally.calls, tally.seconds(), tally.mean()), (4, 1.0, Some(0.25)));
        let mut histogram = Histogram::default();
        [2, 0, 2].into_iter().for_each(|bucket| histogram.add(bucket));
        assert_eq!((histogram.0.as_slice(), histogram.count(7)), ([1, 0, 2].as_slice(), 0));
    }
}
