//! The standard deviation with its confidence interval.
//!
//! Owns one estimator; the fourth moment that it needs comes from a histogram, the variance from exact moments.

use crate::estimate::distribution::normal_quantile;
use crate::estimate::histogram::TickHistogram;
use crate::estimate::mean::{EstimateError, Interval, Method, check_level};
use crate::estimate::moments::Moments;

/// Bars over which the fourth moment is summed.
const BARS: usize = 4096;
/// Fewest samples for which an interval is given.
const FEWEST: u64 = 30;

/// The standard deviation of samples in ticks, with an interval for independent samples of any distribution.
///
/// ```text
/// s ± z(1 − α/2) · s · √((κ − 1) / 4n),   κ = Σ(x − m)⁴ / (n s⁴)
/// ```
///
/// Approximate (delta method on the variance): the coverage tends to the level as n grows, slowly where the fourth
/// moment is large, and not at all where it is infinite. The kurtosis κ comes from the histogram in 4,096 bars, which is
/// off by a few thousandths. Never below 0. Source: \[Cramer1946, 28.1\].
///
/// # Errors
///
/// [`EstimateError::TooFewSamples`] below 30 samples, [`EstimateError::LevelOutOfRange`].
///
/// # Examples
///
/// Half of the samples are 0, half 2: κ = 1, and the only error of the standard deviation comes from the divisor n − 1.
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
    let half = if variance > 0.0 {
        let excess = (kurtosis(histogram, mean, variance) - 1.0).max(0.0);
        -normal_quantile(0.5 * (1.0 - level)) * value * (excess / (4.0 * samples as f64)).sqrt()
    } else {
        0.0
    };
    let low = (value - half).max(0.0);
    Ok(Interval { value, low, high: value + half, level, samples, method: Method::DeltaMethod })
}

/// Fourth central moment over the square of the variance.
fn kurtosis(histogram: &TickHistogram, mean: f64, variance: f64) -> f64 {
    let bins = histogram.rebin(BARS);
    // a bar represents whole ticks, the first at its lower edge
    let middle = |low: f64, high: f64| f64::midpoint(low.ceil(), (high.ceil() - 1.0).max(low.ceil()));
    let sum: f64 = bins.iter().map(|bin| bin.count as f64 * (middle(bin.low, bin.high) - mean).powi(4)).sum();
    sum / (histogram.count() as f64 * variance * variance)
}

#[cfg(test)]
mod tests {
    use super::*;

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
        let sd = interval(std::iter::repeat_n(7, 100));
        assert_eq!((sd.low, sd.value, sd.high), (0.0, 0.0, 0.0));
    }

    #[test]
    fn few_samples_have_no_interval() {
        let error = standard_deviation_interval(&Moments::default(), &TickHistogram::default(), 0.95).unwrap_err();
        assert_eq!(error, EstimateError::TooFewSamples { got: 0, need: 30 });
    }
}
