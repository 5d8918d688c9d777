//! Quantiles of stored samples, and the ranks between which a quantile lies.
//!
//! Implements the definition of a sample quantile and the distribution-free interval. Quantiles of samples
//! that were counted, not stored, are in `histogram`, with the same definition and the same ranks.

use tailspn_common::order;

use crate::estimate::distribution::{binomial_at_least, binomial_at_most, normal_quantile};
use crate::estimate::mean::{EstimateError, Interval, Method, check_level};

/// The two order statistics between which a quantile lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ranks {
    /// Rank of the lower end; 1 is the smallest sample.
    pub low: u64,
    /// Rank of the upper end; n is the largest sample.
    pub high: u64,
}

/// Maximum variance of the rank for the binomial distribution; above, a normal distribution replaces it.
const NORMAL_ABOVE: f64 = 10_000.0;

/// Ranks of the order statistics that enclose the `q` quantile of the distribution behind `n` independent samples.
///
/// ```text
/// P(x₍low₎ <= ξ <= x₍high₎) >= P(low <= B < high) >= level,   B ~ Binomial(n, q), α/2 outside on each side
/// ```
///
/// Holds for every distribution; returns the narrowest such ranks with at most α/2 on each side. Uses exact binomial tails
/// if n q (1 − q) <= 10,000. Above that, uses the normal approximation with continuity correction, whose error is at most
/// (z² − 1)/6 + 2 ranks: less than 2% of the half width at 95% and 99%.
/// Source: \[David2003, 7.1\].
///
/// # Errors
///
/// [`EstimateError::TooFewSamples`] when even the smallest or the largest sample is not extreme
/// enough, [`EstimateError::LevelOutOfRange`], [`EstimateError::QuantileOutOfRange`] unless 0 < `q`
/// < 1.
///
/// # Examples
///
/// P(2 <= B < 9) = 1002/1024 = 97.9% for a fair coin thrown 10 times; 3 to 8 would have 89.1%.
///
/// ```
/// # use tailspn_engine::estimate::{Ranks, interval_ranks};
/// assert_eq!(interval_ranks(10, 0.5, 0.95), Ok(Ranks { low: 2, high: 9 }));
/// ```
pub fn interval_ranks(n: u64, q: f64, level: f64) -> Result<Ranks, EstimateError> {
    let outside = 0.5 * (1.0 - check_level(level)?);
    if !(q > 0.0 && q < 1.0) {
        return Err(EstimateError::QuantileOutOfRange { got: q });
    }
    let variance = n as f64 * q * (1.0 - q);
    let (low, high) = if variance > NORMAL_ABOVE { normal_ranks(n, q, outside) } else { binomial_ranks(n, q, outside) };
    if low < 1 || high > n {
        return Err(EstimateError::TooFewSamples { got: n, need: fewest_samples(q, outside) });
    }
    Ok(Ranks { low, high })
}

/// Ranks by the normal approximation with continuity correction.
fn normal_ranks(n: u64, q: f64, outside: f64) -> (u64, u64) {
    let mean = n as f64 * q;
    let reach = -normal_quantile(outside) * (mean * (1.0 - q)).sqrt();
    // `as` rounds towards 0 and stops at the ends of u64.
    ((mean - reach + 0.5).floor() as u64, (mean + reach + 0.5).ceil() as u64)
}

/// Largest `low` with P(B < low) <= `outside`, smallest `high` with P(B >= high) <= `outside`.
fn binomial_ranks(n: u64, q: f64, outside: f64) -> (u64, u64) {
    let low = first_true(n + 1, |rank| binomial_at_most(rank, n, q) > outside);
    let high = first_true(n + 1, |rank| binomial_at_least(rank, n, q) <= outside);
    (low, high)
}

/// The first number from 0 to `end` at which a monotone condition holds; `end` if none.
fn first_true(end: u64, is_true: impl Fn(u64) -> bool) -> u64 {
    let (mut start, mut end) = (0, end);
    while start < end {
        let middle = start + (end - start) / 2;
        if is_true(middle) {
            end = middle;
        } else {
            start = middle + 1;
        }
    }
    start
}

/// Minimum number of samples with max(q, 1 − q)^n <= `outside`.
fn fewest_samples(q: f64, outside: f64) -> u64 {
    let log_miss = if q > 0.5 { q.ln() } else { (-q).ln_1p() };
    (outside.ln() / log_miss).ceil() as u64
}

/// As [`order::position`], but with the reason as an error if there is no position.
pub(crate) fn quantile_position(n: u64, q: f64) -> Result<(u64, f64), EstimateError> {
    order::position(n, q).ok_or(if (0.0..=1.0).contains(&q) {
        EstimateError::TooFewSamples { got: 0, need: 1 }
    } else {
        EstimateError::QuantileOutOfRange { got: q }
    })
}

/// The sample quantile `q` of ascending samples, in their unit.
///
/// Linear between order statistics, at position q (n − 1): definition 7 of \[Hyndman1996\], the default
/// of R and NumPy. Exact for the samples; as an estimate of the distribution's quantile its bias is of order 1/n.
///
/// # Errors
///
/// [`EstimateError::TooFewSamples`] without samples, [`EstimateError::QuantileOutOfRange`] unless 0 <= `q` <= 1.
///
/// # Examples
///
/// ```
/// # use tailspn_engine::estimate::quantile_of_sorted;
/// assert_eq!(quantile_of_sorted(&[1.0, 2.0, 4.0, 8.0], 0.5), Ok(3.0));
/// ```
pub fn quantile_of_sorted(sorted: &[f64], q: f64) -> Result<f64, EstimateError> {
    quantile_position(sorted.len() as u64, q)?;
    order::quantile(sorted, q).ok_or(EstimateError::TooFewSamples { got: 0, need: 1 })
}

/// The `q` quantile of ascending samples with its distribution-free interval; see [`interval_ranks`].
///
/// # Errors
///
/// The errors of [`interval_ranks`].
pub fn quantile_interval_of_sorted(sorted: &[f64], q: f64, level: f64) -> Result<Interval, EstimateError> {
    let samples = sorted.len() as u64;
    let ranks = interval_ranks(samples, q, level)?;
    let at = |rank: u64| sorted[(rank - 1) as usize];
    Ok(Interval {
        value: quantile_of_sorted(sorted, q)?,
        low: at(ranks.low),
        high: at(ranks.high),
        level,
        samples,
        method: Method::OrderStatistics,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{SeedableRng, rngs::StdRng};
    use rand_distr::{Distribution, Exp1};

    #[test]
    fn median_ranks_match_published_tables() {
        // Ranks of the 95% interval of a median: sign test tables.
        for (n, low, high) in [(6, 1, 6), (10, 2, 9), (15, 4, 12), (20, 6, 15), (50, 18, 33), (100, 40, 61)] {
            assert_eq!(interval_ranks(n, 0.5, 0.95), Ok(Ranks { low, high }), "n = {n}");
        }
    }

    #[test]
    fn too_few_samples_name_the_fewest_that_suffice() {
        assert_eq!(interval_ranks(5, 0.5, 0.95), Err(EstimateError::TooFewSamples { got: 5, need: 6 }));
        for q in [0.01, 0.3, 0.9, 0.999] {
            let Err(EstimateError::TooFewSamples { got: 0, need }) = interval_ranks(0, q, 0.95) else {
                panic!("no samples have no interval")
            };
            assert!(interval_ranks(need, q, 0.95).is_ok());
            assert!(interval_ranks(need - 1, q, 0.95).is_err());
        }
    }

    #[test]
    fn exact_and_normal_ranks_meet_at_the_switch() {
        for (n, q) in [(40_001, 0.5), (111_200, 0.1), (10_200_000, 0.999)] {
            for level in [0.9, 0.95, 0.99] {
                let outside = 0.5 * (1.0 - level);
                let (exact, normal) = (binomial_ranks(n, q, outside), normal_ranks(n, q, outside));
                assert!(exact.0.abs_diff(normal.0) <= 3 && exact.1.abs_diff(normal.1) <= 3, "{exact:?} {normal:?}");
            }
        }
    }

    #[test]
    fn ends_of_the_quantile_range_have_values_but_no_interval() {
        let sorted = [1.0, 2.0, 5.0];
        assert_eq!(quantile_of_sorted(&sorted, 0.0), Ok(1.0));
        assert_eq!(quantile_of_sorted(&sorted, 1.0), Ok(5.0));
        assert_eq!(interval_ranks(1000, 1.0, 0.95), Err(EstimateError::QuantileOutOfRange { got: 1.0 }));
        assert_eq!(quantile_of_sorted(&sorted, 1.5), Err(EstimateError::QuantileOutOfRange { got: 1.5 }));
        assert!(matches!(quantile_of_sorted(&sorted, f64::NAN), Err(EstimateError::QuantileOutOfRange { .. })));
    }

    #[test]
    fn zero_one_and_equal_samples_are_handled() {
        assert_eq!(quantile_of_sorted(&[], 0.5), Err(EstimateError::TooFewSamples { got: 0, need: 1 }));
        assert_eq!(quantile_of_sorted(&[3.0], 0.7), Ok(3.0));
        let interval = quantile_interval_of_sorted(&[4.0; 100], 0.9, 0.95).unwrap();
        assert_eq!((interval.low, interval.value, interval.high), (4.0, 4.0, 4.0));
    }

    #[test]
    fn interval_covers_the_true_quantile_as_often_as_it_says() {
        const REPEATS: u32 = 4000;
        let mut rng = StdRng::seed_from_u64(11);
        let truth = 10f64.ln(); // 0.9 quantile of the unit exponential
        let mut covered = 0_u32;
        for _ in 0..REPEATS {
            let mut samples: Vec<f64> = (0..120).map(|_| Exp1.sample(&mut rng)).collect();
            samples.sort_by(f64::total_cmp);
            let interval = quantile_interval_of_sorted(&samples, 0.9, 0.95).unwrap();
            covered += u32::from(interval.low <= truth && truth <= interval.high);
        }
        // Exact coverage of these ranks.
        let ranks = interval_ranks(120, 0.9, 0.95).unwrap();
        let exact = binomial_at_most(ranks.high - 1, 120, 0.9) - binomial_at_most(ranks.low - 1, 120, 0.9);
        assert!((0.95..0.98).contains(&exact));
        let error = (exact * (1.0 - exact) / f64::from(REPEATS)).sqrt();
        assert!((f64::from(covered) / f64::from(REPEATS) - exact).abs() <= 5.0 * error);
    }
}
