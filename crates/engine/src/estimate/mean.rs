//! The result types of every estimator, and the interval of a mean by Student's t.
//!
//! Defines [`Estimate`], [`Interval`], [`Method`] and [`EstimateError`], which the neighbouring files return. The
//! samples are collected by `moments`.

use crate::estimate::distribution::student_quantile;
use serde::Serialize;

/// Method of an estimate and its interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Method {
    /// Mean of independent samples, Student's t. Exact for normal samples, otherwise by the central limit theorem.
    StudentT,
    /// Steady-state mean from one run, warm-up removed, Student's t over batch means. Approximate.
    BatchMeans,
    /// Proportion, Wilson's score interval. Approximate, accurate from a few trials.
    Wilson,
    /// Proportion, Clopper and Pearson's interval. Covers at least the level, always.
    ClopperPearson,
    /// Quantile between two order statistics. Covers at least the level for any continuous distribution.
    OrderStatistics,
    /// Mean of paired differences, Student's t.
    PairedDifference,
    /// Ratio of two means of paired samples, delta method. Approximate, with bias of order 1/n.
    PairedRatio,
    /// Standard deviation, delta method with the samples' kurtosis. Approximate.
    DeltaMethod,
}

/// An estimate with a symmetric confidence interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Estimate {
    /// The point estimate, in the unit of the samples.
    pub value: f64,
    /// Half of the interval's width, >= 0, in the unit of the samples.
    pub half_width: f64,
    /// Confidence level, in (0, 1): the share of repeated experiments whose interval holds the truth.
    pub level: f64,
    /// Number of independent samples behind it: replications, pairs, or batches.
    pub samples: u64,
    /// Method of the estimate.
    pub method: Method,
}

impl Estimate {
    /// Lower end of the interval, in the unit of the samples.
    pub fn low(&self) -> f64 {
        self.value - self.half_width
    }

    /// Upper end of the interval, in the unit of the samples.
    pub fn high(&self) -> f64 {
        self.value + self.half_width
    }

    /// Half width divided by the absolute value: 0 if the half width is 0, infinite if only the value is 0.
    pub fn relative_half_width(&self) -> f64 {
        if self.half_width == 0.0 { 0.0 } else { self.half_width / self.value.abs() }
    }

    /// The same estimate in another unit: `factor` new units make one old unit, e.g. seconds per tick.
    ///
    /// ```
    /// # use tailspn_engine::estimate::mean_interval;
    /// let ticks = mean_interval(3000.0, 0.0, 10, 0.95).unwrap();
    /// assert_eq!(ticks.scaled(0.001).value, 3.0);
    /// ```
    pub fn scaled(self, factor: f64) -> Self {
        Self { value: self.value * factor, half_width: self.half_width * factor.abs(), ..self }
    }
}

/// An estimate with a confidence interval that need not be symmetric.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Interval {
    /// The point estimate, in the unit of the samples; `low <= value <= high`.
    pub value: f64,
    /// Lower end of the interval, in the unit of the samples.
    pub low: f64,
    /// Upper end of the interval, in the unit of the samples.
    pub high: f64,
    /// Confidence level, in (0, 1): the share of repeated experiments whose interval holds the truth.
    pub level: f64,
    /// Number of independent samples behind it: replications, trials or batches.
    pub samples: u64,
    /// Method of the estimate.
    pub method: Method,
}

impl Interval {
    /// The same interval in another unit: `factor` new units make one old unit; `factor` must not be negative.
    pub fn scaled(self, factor: f64) -> Self {
        Self { value: self.value * factor, low: self.low * factor, high: self.high * factor, ..self }
    }
}

impl From<Estimate> for Interval {
    fn from(estimate: Estimate) -> Self {
        Self {
            value: estimate.value,
            low: estimate.low(),
            high: estimate.high(),
            level: estimate.level,
            samples: estimate.samples,
            method: estimate.method,
        }
    }
}

/// Reason why no estimate can be given.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum EstimateError {
    /// There are fewer samples than the interval needs. Collect at least `need`.
    #[error("{got} {} too few; at least {need} are needed", if *got == 1 { "sample is" } else { "samples are" })]
    TooFewSamples {
        /// Number of available samples.
        got: u64,
        /// Number of samples that the interval needs at the requested level.
        need: u64,
    },
    /// The confidence level is not strictly between 0 and 1. Use 0.95, for example.
    #[error("confidence level {got} is not between 0 and 1")]
    LevelOutOfRange {
        /// The requested level.
        got: f64,
    },
    /// The requested quantile is not a probability, or is 0 or 1, whose interval has no finite end.
    #[error("quantile {got} is not between 0 and 1")]
    QuantileOutOfRange {
        /// The requested quantile.
        got: f64,
    },
    /// A sample was infinite or not a number, or a sum overflowed. Find out which sample it was.
    #[error("the samples have no finite mean and variance")]
    NotFinite,
}

/// Returns a confidence level if it is strictly between 0 and 1; otherwise an error.
pub(crate) fn check_level(level: f64) -> Result<f64, EstimateError> {
    if level > 0.0 && level < 1.0 { Ok(level) } else { Err(EstimateError::LevelOutOfRange { got: level }) }
}

/// Minimum number of samples that have a variance.
const FEWEST_FOR_VARIANCE: u64 = 2;

/// The mean of `count` independent samples with its confidence interval.
///
/// ```text
/// mean ± t(1 − α/2, n − 1) · √(variance / n),   α = 1 − level,  n = count
/// ```
///
/// `variance` is the sample variance (divisor n − 1). Exact for normal samples. For other samples the error
/// of the coverage vanishes like 1/n, more slowly the more skewed the samples are. Source: \[Student1908\].
///
/// # Errors
///
/// [`EstimateError::TooFewSamples`] below 2 samples, [`EstimateError::LevelOutOfRange`],
/// [`EstimateError::NotFinite`] if mean or variance is not finite or the variance is negative.
///
/// # Examples
///
/// The samples 1, 2, 3 have mean 2 and variance 1; t(0.975, 2) = 4.3027.
///
/// ```
/// # use tailspn_engine::estimate::mean_interval;
/// let estimate = mean_interval(2.0, 1.0, 3, 0.95).unwrap();
/// assert!((estimate.half_width - 4.302_652_729_7 / 3f64.sqrt()).abs() < 1e-9);
/// ```
pub fn mean_interval(mean: f64, variance: f64, count: u64, level: f64) -> Result<Estimate, EstimateError> {
    let level = check_level(level)?;
    if count < FEWEST_FOR_VARIANCE {
        return Err(EstimateError::TooFewSamples { got: count, need: FEWEST_FOR_VARIANCE });
    }
    if !mean.is_finite() || !variance.is_finite() || variance < 0.0 {
        return Err(EstimateError::NotFinite);
    }
    let t = -student_quantile(0.5 * (1.0 - level), (count - 1) as f64);
    let half_width = t * (variance / count as f64).sqrt();
    Ok(Estimate { value: mean, half_width, level, samples: count, method: Method::StudentT })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::float_cmp, reason = "exact results are asserted exactly")]

    use super::*;

    #[test]
    fn interval_of_a_published_example_is_reproduced() {
        // NIST/SEMATECH e-Handbook 1.3.5.2, ZARR13.DAT: n = 195, mean 9.261460, sd 0.022789, 95% from 9.258242 to
        // 9.264679.
        let estimate = mean_interval(9.261_460, 0.022_789_f64.powi(2), 195, 0.95).unwrap();
        assert!((estimate.low() - 9.258_242).abs() < 1.5e-6);
        assert!((estimate.high() - 9.264_679).abs() < 1.5e-6);
    }

    #[test]
    fn zero_and_one_sample_are_too_few() {
        for got in [0, 1] {
            assert_eq!(mean_interval(1.0, 0.0, got, 0.95), Err(EstimateError::TooFewSamples { got, need: 2 }));
        }
    }

    #[test]
    fn equal_samples_have_width_zero() {
        let estimate = mean_interval(5.0, 0.0, 10, 0.99).unwrap();
        assert_eq!((estimate.low(), estimate.high(), estimate.relative_half_width()), (5.0, 5.0, 0.0));
    }

    #[test]
    fn mean_zero_has_infinite_relative_width() {
        assert_eq!(mean_interval(0.0, 1.0, 10, 0.95).unwrap().relative_half_width(), f64::INFINITY);
        assert_eq!(mean_interval(0.0, 0.0, 10, 0.95).unwrap().relative_half_width(), 0.0);
    }

    #[test]
    fn levels_outside_the_open_unit_interval_are_refused() {
        for got in [0.0, 1.0, -0.5, 95.0] {
            assert_eq!(mean_interval(1.0, 1.0, 10, got), Err(EstimateError::LevelOutOfRange { got }));
        }
        assert!(matches!(mean_interval(1.0, 1.0, 10, f64::NAN), Err(EstimateError::LevelOutOfRange { .. })));
    }

    #[test]
    fn samples_without_finite_moments_are_refused() {
        for (mean, variance) in [(f64::NAN, 1.0), (f64::INFINITY, 1.0), (1.0, f64::NAN), (1.0, -1.0)] {
            assert_eq!(mean_interval(mean, variance, 10, 0.95), Err(EstimateError::NotFinite));
        }
    }

    #[test]
    fn scaling_turns_ticks_into_seconds() {
        let ticks = mean_interval(2000.0, 100.0, 25, 0.9).unwrap();
        let interval = Interval::from(ticks).scaled(0.5);
        assert_eq!(interval.value, 1000.0);
        assert_eq!(interval.low, ticks.scaled(0.5).low());
        assert_eq!(ticks.scaled(-1.0).half_width, ticks.half_width);
    }

    #[test]
    fn json_names_the_method() {
        let text = serde_json::to_string(&mean_interval(2.0, 0.0, 3, 0.95).unwrap()).unwrap();
        assert_eq!(text, r#"{"value":2.0,"half_width":0.0,"level":0.95,"samples":3,"method":"student_t"}"#);
    }
}
