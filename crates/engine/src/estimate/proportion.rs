//! Intervals of a probability from a number of successes.
//!
//! Provides Wilson's score interval (short, approximate) and Clopper and Pearson's (long, never
//! covers less than the level). It does not count trials.

use crate::estimate::distribution::{lower_beta_quantile, normal_quantile};
use crate::estimate::mean::{EstimateError, Interval, Method, check_level};

/// Reason why no interval of a proportion can be given.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ProportionError {
    /// No trials, or a level outside (0, 1).
    #[error(transparent)]
    Estimate(#[from] EstimateError),
    /// There are more successes than trials. The two counts were probably swapped.
    #[error("{successes} successes are more than {trials} trials")]
    MoreSuccessesThanTrials {
        /// Given number of successes.
        successes: u64,
        /// Given number of trials.
        trials: u64,
    },
}

/// Refuses counts and levels without an interval; returns the probability α/2 outside the interval on each side.
fn check(successes: u64, trials: u64, level: f64) -> Result<f64, ProportionError> {
    let level = check_level(level)?;
    if trials == 0 {
        return Err(EstimateError::TooFewSamples { got: 0, need: 1 }.into());
    }
    if successes > trials {
        return Err(ProportionError::MoreSuccessesThanTrials { successes, trials });
    }
    Ok(0.5 * (1.0 - level))
}

/// The share of successes with Wilson's score interval.
///
/// ```text
/// (p̂ + z²/2n ± z √(p̂(1−p̂)/n + z²/4n²)) / (1 + z²/n),   p̂ = successes / trials, n = trials
/// ```
///
/// Approximate: the coverage is close to the level on average over p, and can fall below it for p near
/// 0 or 1. Source: \[Wilson1927\].
///
/// # Errors
///
/// [`ProportionError::MoreSuccessesThanTrials`]; [`EstimateError::TooFewSamples`] without trials;
/// [`EstimateError::LevelOutOfRange`].
///
/// # Examples
///
/// Half of 4 trials at z = 2 (level 0.9545): z²/n = 1, so 1/2 ± √(1/4 + 1/4) / 2.
///
/// ```
/// # use tailspn_engine::estimate::wilson;
/// let interval = wilson(2, 4, 0.954_499_736_103_641_6).unwrap();
/// assert!((interval.high - (0.5 + 0.125_f64.sqrt())).abs() < 1e-9);
/// ```
pub fn wilson(successes: u64, trials: u64, level: f64) -> Result<Interval, ProportionError> {
    let outside = check(successes, trials, level)?;
    let n = trials as f64;
    let share = successes as f64 / n;
    let z2_per_trial = normal_quantile(outside).powi(2) / n;
    let centre = (share + 0.5 * z2_per_trial) / (1.0 + z2_per_trial);
    let reach = (z2_per_trial * (share * ((trials - successes) as f64 / n) + 0.25 * z2_per_trial)).sqrt()
        / (1.0 + z2_per_trial);
    Ok(Interval {
        value: share,
        low: if successes == 0 { 0.0 } else { (centre - reach).clamp(0.0, share) },
        high: if successes == trials { 1.0 } else { (centre + reach).clamp(share, 1.0) },
        level,
        samples: trials,
        method: Method::Wilson,
    })
}

/// The share of successes with Clopper and Pearson's interval.
///
/// ```text
/// low:  P(B >= successes | p) = α/2,   high:  P(B <= successes | p) = α/2,   B ~ Binomial(trials, p)
/// ```
///
/// The coverage is at least the level for every p, and typically higher, so the interval is wider than [`wilson`]. The ends are
/// computed to a relative error of 1e-9, the work grows like √`trials`. Source: \[Clopper1934\].
///
/// # Errors
///
/// [`ProportionError::MoreSuccessesThanTrials`]; [`EstimateError::TooFewSamples`] without trials;
/// [`EstimateError::LevelOutOfRange`].
///
/// # Examples
///
/// No success in 10 trials: the upper end solves (1 − p)^10 = 0.025.
///
/// ```
/// # use tailspn_engine::estimate::clopper_pearson;
/// let interval = clopper_pearson(0, 10, 0.95).unwrap();
/// assert!((interval.high - (1.0 - 0.025_f64.powf(0.1))).abs() < 1e-9);
/// ```
pub fn clopper_pearson(successes: u64, trials: u64, level: f64) -> Result<Interval, ProportionError> {
    let outside = check(successes, trials, level)?;
    let (good, bad) = (successes as f64, (trials - successes) as f64);
    let low = if successes == 0 { 0.0 } else { lower_beta_quantile(outside, good, bad + 1.0).0 };
    let high = if successes == trials { 1.0 } else { lower_beta_quantile(outside, bad, good + 1.0).1 };
    Ok(Interval { value: good / trials as f64, low, high, level, samples: trials, method: Method::ClopperPearson })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::float_cmp, reason = "exact results are asserted exactly")]

    use super::*;

    type Estimator = fn(u64, u64, f64) -> Result<Interval, ProportionError>;

    fn assert_ends(estimator: Estimator, (successes, trials): (u64, u64), (low, high): (f64, f64), within: f64) {
        let interval = estimator(successes, trials, 0.95).unwrap();
        assert!((interval.low - low).abs() <= within, "{interval:?}, expected {low}");
        assert!((interval.high - high).abs() <= within, "{interval:?}, expected {high}");
    }

    #[test]
    fn intervals_match_the_published_comparison() {
        // Newcombe 1998, Table I, 95%, methods 3 and 5, four decimals.
        for (counts, wilson_ends, exact_ends) in [
            ((81, 263), (0.2553, 0.3662), (0.2527, 0.3676)),
            ((15, 148), (0.0624, 0.1605), (0.0578, 0.1617)),
            ((0, 20), (0.0, 0.1611), (0.0, 0.1684)),
            ((1, 29), (0.0061, 0.1718), (0.0009, 0.1776)),
        ] {
            assert_ends(wilson, counts, wilson_ends, 0.000_05);
            assert_ends(clopper_pearson, counts, exact_ends, 0.000_05);
        }
    }

    #[test]
    fn clopper_pearson_matches_reference_digits() {
        assert_ends(clopper_pearson, (1, 10), (0.002_528_578_544_461_784_8, 0.445_016_117_028_195_4), 1e-12);
        assert_ends(clopper_pearson, (5, 1_000_000), (1.623_488_319_241_17e-6, 1.166_829_317_520_88e-5), 1e-16);
        assert_ends(clopper_pearson, (7, 1_000_000_000), (2.81436305600264e-9, 1.4422675308175e-8), 1e-18);
        assert_ends(
            clopper_pearson,
            (500_000_000, 1_000_000_000),
            (0.499_969_009_748_422_3, 0.500_030_990_251_577_7),
            1e-12,
        );
    }

    #[test]
    fn clopper_pearson_of_all_or_none_has_a_closed_form() {
        for trials in [1, 7, 1000, 1_000_000_000] {
            let expected = -((0.025_f64.ln() / trials as f64).exp_m1());
            let none = clopper_pearson(0, trials, 0.95).unwrap();
            assert!((none.high / expected - 1.0).abs() < 1e-9, "{none:?}");
            assert_eq!(none.low, 0.0);
            let all = clopper_pearson(trials, trials, 0.95).unwrap();
            assert!((all.low - (1.0 - expected)).abs() < 1e-12);
            assert_eq!(all.high, 1.0);
        }
    }

    #[test]
    fn swapping_success_and_failure_mirrors_the_interval() {
        for estimator in [wilson as Estimator, clopper_pearson] {
            for successes in 0..=30 {
                let one = estimator(successes, 30, 0.9).unwrap();
                let other = estimator(30 - successes, 30, 0.9).unwrap();
                assert!((one.low - (1.0 - other.high)).abs() < 1e-12);
                assert!(one.low <= one.value && one.value <= one.high);
            }
        }
    }

    #[test]
    fn clopper_pearson_covers_at_least_the_level_for_every_probability() {
        let trials = 25;
        let ends: Vec<Interval> = (0..=trials).map(|k| clopper_pearson(k, trials, 0.9).unwrap()).collect();
        for step in 1..200 {
            let p = f64::from(step) / 200.0;
            let mut probability = (1.0 - p).powi(25);
            let mut covered = 0.0;
            for (k, interval) in (0_u32..).zip(&ends) {
                if interval.low <= p && p <= interval.high {
                    covered += probability;
                }
                probability *= f64::from(25 - k) / f64::from(k + 1) * p / (1.0 - p);
            }
            assert!(covered >= 0.9 - 1e-9, "p = {p}: {covered}");
        }
    }

    #[test]
    fn counts_without_an_interval_are_refused() {
        for estimator in [wilson as Estimator, clopper_pearson] {
            let too_few = ProportionError::Estimate(EstimateError::TooFewSamples { got: 0, need: 1 });
            assert_eq!(estimator(0, 0, 0.95), Err(too_few));
            let swapped = ProportionError::MoreSuccessesThanTrials { successes: 3, trials: 2 };
            assert_eq!(estimator(3, 2, 0.95), Err(swapped));
            let level = ProportionError::Estimate(EstimateError::LevelOutOfRange { got: 1.0 });
            assert_eq!(estimator(1, 2, 1.0), Err(level));
        }
    }
}
