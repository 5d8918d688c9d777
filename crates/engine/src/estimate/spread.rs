//! The standard deviation with its confidence interval.
//!
//! Implements one estimator; the fourth moment that it needs comes from a histogram, the variance from exact moments.

use crate::estimate::distribution::normal_quantile;
use crate::estimate::histogram::TickHistogram;
use crate::estimate::mean::{EstimateError, Interval, Method, check_level};
use crate::estimate::moments::Moments;

/// Number of bars for the sums of powers of the samples.
const BARS: usize = 4096;
/// Minimum number of samples for an interval; with fewer, the coverage would be too low.
const FEWEST: u64 = 200;

/// The standard deviation of samples in ticks, with an interval for independent samples of any distribution.
///
/// ```text
/// exp(½ (ln(c s²) ± z c √((γ − (n − 3)/n) / (n − 1)))),   c = n / (n − z),   z = z(1 − α/2)
/// γ = n Σ(x − t)⁴ / (Σ(x − m)²)²,   t the mean without the 1/(2 √(n − 4)) smallest and largest samples
/// ```
///
/// Approximate: the coverage tends to the level as n grows. Measured coverage at level 0.95:
///
/// | distribution | 200 samples | 1,000 samples |
/// |---|---|---|
/// | uniform, Erlang, exponential, lognormal (CV 0.5), maximum of many exponentials | 92% to 95% | 94% |
/// | hyperexponential mixture | 87% | 94% |
/// | lognormal (CV 1) | 86% | 90% |
///
/// The sums of powers come from the histogram in 4,096 bars, which changes them by a few thousandths. Source:
/// \[Bonett2006\].
///
/// # Errors
///
/// [`EstimateError::TooFewSamples`] below 200 samples, [`EstimateError::LevelOutOfRange`].
///
/// # Examples
///
/// Half of the samples are 0, half 2, so that the fourth moment is as small as it can be.
///
/// ```
/// # use tailspn_engine::estimate::{Moments, TickHistogram, standard_deviation_interval};
/// let (mut moments, mut histogram) = (Moments::default(), TickHistogram::default());
/// for i in 0..1000 {
///     moments.push(i % 2 * 2);
///     histogram.push(i % 2 * 2);
/// }
/// let sd = standard_deviation_interval(&moments, &histogram, 0.95).unwrap();
/// assert!((sd.value - 1.0005).abs() < 1e-5 && sd.high - sd.low < 0.01);
/// ```
pub fn standard_deviation_interval(
    moments: &Moments,
    histogram: &TickHistogram,
    level: f64,
) -> Result<Interval, EstimateError> {
    let level = check_level(level)?;
    let samples = moments.count();
    let (Some(mean), Some(variance)) = (moments.mean_ticks(), moments.variance()) else {
        return Err(EstimateError::TooFewSamples { got: samples, need: FEWEST });
    };
    if samples < FEWEST {
        return Err(EstimateError::TooFewSamples { got: samples, need: FEWEST });
    }
    let value = variance.sqrt();
    let (mut low, mut high) = (value, value);
    if variance > 0.0 {
        let n = samples as f64;
        let z = -normal_quantile(0.5 * (1.0 - level));
        let excess = (kurtosis(histogram, mean, variance) - (n - 3.0) / n).max(0.0);
        // no correction if the level is so close to 1 that z is nearly n
        let correction = n / (n - z).max(0.5 * n);
        let half = 0.5 * z * correction * (excess / (n - 1.0)).sqrt();
        let centre = value * correction.sqrt();
        // the estimate lies in its interval
        (low, high) = ((centre * (-half).exp()).min(value), (centre * half.exp()).max(value));
    }
    Ok(Interval { value, low, high, level, samples, method: Method::DeltaMethod })
}

/// Bonett's kurtosis: the fourth moment about the trimmed mean, divided by the square of the second moment about the mean.
fn kurtosis(histogram: &TickHistogram, mean: f64, variance: f64) -> f64 {
    // a bar represents whole ticks, the first at its lower edge
    let middle = |low: f64, high: f64| f64::midpoint(low.ceil(), (high.ceil() - 1.0).max(low.ceil()));
    let bars: Vec<(f64, f64)> =
        histogram.rebin(BARS).iter().map(|bin| (middle(bin.low, bin.high) - mean, bin.count as f64)).collect();
    let n = histogram.count() as f64;
    let trimmed = trimmed_mean(&bars, (n / (2.0 * (n - 4.0).sqrt())).floor());
    let fourth: f64 = bars.iter().map(|(value, count)| count * (value - trimmed).powi(4)).sum();
    n * fourth / ((n - 1.0) * variance).powi(2)
}

/// Mean of values with their counts, without the `cut` smallest and largest.
fn trimmed_mean(bars: &[(f64, f64)], cut: f64) -> f64 {
    let all: f64 = bars.iter().map(|(_, count)| count).sum();
    let (mut sum, mut kept, mut below) = (0.0, 0.0, 0.0);
    for (value, count) in bars {
        let within = (below + count).min(all - cut) - below.max(cut);
        below += count;
        if within > 0.0 {
            sum += value * within;
            kept += within;
        }
    }
    if kept > 0.0 { sum / kept } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{SeedableRng, rngs::StdRng};
    use rand_distr::{Distribution, StandardUniform};

    fn interval(samples: impl Iterator<Item = u64>) -> Interval {
        let (mut moments, mut histogram) = (Moments::default(), TickHistogram::default());
        for sample in samples {
            moments.push(sample);
            histogram.push(sample);
        }
        standard_deviation_interval(&moments, &histogram, 0.95).unwrap()
    }

    #[test]
    fn uniform_samples_have_the_width_of_kurtosis_nine_fifths() {
        let sd = interval((0..10_000).map(|i| i * 100));
        let exact = 1e6 / 12_f64.sqrt();
        assert!((sd.value / exact - 1.0).abs() < 1e-3);
        let half = 1.959_964 * exact * (0.8_f64 / 40_000.0).sqrt();
        assert!(((sd.high - sd.low) / (2.0 * half) - 1.0).abs() < 5e-3, "{sd:?}");
    }

    #[test]
    fn equal_samples_have_no_spread() {
        let sd = interval(std::iter::repeat_n(7, 200));
        assert_eq!((sd.low, sd.value, sd.high), (0.0, 0.0, 0.0));
    }

    /// Compares with numbers of a Python program, for the integers from 0 to 199 and for their squares.
    #[test]
    fn intervals_of_a_standard_deviation_match_reference_values() {
        let sd = interval(0..200);
        let is_near = |sd: &Interval, expected: [f64; 3], error: f64| {
            [sd.low, sd.value, sd.high].iter().zip(expected).all(|(found, exact)| (found / exact - 1.0).abs() < error)
        };
        assert!(is_near(&sd, [54.595_349_114, 57.879_184_514, 61.967_811_505], 1e-9), "{sd:?}");
        let sd = interval((0..200).map(|i| i * i));
        assert!(is_near(&sd, [11_050.236_5, 11_899.402_9, 12_940.640_3], 1e-4), "{sd:?}");
    }

    #[test]
    fn the_trimmed_mean_leaves_out_both_ends() {
        let bars = [(0.0, 2.0), (1.0, 1.0), (10.0, 2.0)];
        assert_eq!(trimmed_mean(&bars, 0.0), 21.0 / 5.0);
        assert_eq!(trimmed_mean(&bars, 1.0), 11.0 / 3.0);
        assert_eq!(trimmed_mean(&bars, 2.0), 1.0);
    }

    /// Draws 200 samples with each of 300 seeds; at least 272 of the intervals must cover the exact value. This test
    /// was seen to fail (265) with the normal interval around s of 100 samples.
    #[test]
    fn at_least_272_of_300_seeds_cover_the_truth_with_200_samples() {
        let covered = |quantile: fn(f64) -> f64, exact: f64| {
            let covers = |seed: &u64| {
                let mut rng = StdRng::seed_from_u64(*seed);
                let sd = interval((0..200).map(|_| (quantile(StandardUniform.sample(&mut rng)) * 1e6) as u64));
                sd.low <= exact * 1e6 && exact * 1e6 <= sd.high
            };
            (0..300).filter(covers).count()
        };
        let exponential = covered(|u| -(1.0 - u).ln(), 1.0);
        // the maximum of many exponential times
        let gumbel = covered(|u| 10.0 - (-u.max(1e-9).ln()).ln(), std::f64::consts::PI / 6_f64.sqrt());
        let uniform = covered(|u| u, 1.0 / 12_f64.sqrt());
        assert!(exponential >= 272 && gumbel >= 272 && uniform >= 272, "{exponential} {gumbel} {uniform}");
    }

    #[test]
    fn few_samples_have_no_interval() {
        let error = standard_deviation_interval(&Moments::default(), &TickHistogram::default(), 0.95).unwrap_err();
        assert_eq!(error, EstimateError::TooFewSamples { got: 0, need: 200 });
    }
}
