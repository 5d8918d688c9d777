//! A number with its confidence interval, as reports show it.

use serde::Serialize;

use crate::estimate::{Estimate, EstimateError, Interval};

/// A number and what is known of its error.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Quantity {
    /// The point estimate, in the unit that the report states.
    pub value: f64,
    /// Lower end of the interval; none where there are too few samples.
    pub low: Option<f64>,
    /// Upper end of the interval; none where there are too few samples.
    pub high: Option<f64>,
    /// Confidence level of the interval, in (0, 1).
    pub level: f64,
    /// Independent samples behind it.
    pub samples: u64,
    /// Why there is no interval.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

impl Quantity {
    /// A value with the interval that was or was not found; none without any sample.
    pub(super) fn new(
        value: Option<f64>,
        samples: u64,
        level: f64,
        interval: Result<Interval, EstimateError>,
    ) -> Option<Self> {
        let value = value?;
        Some(match interval {
            Ok(interval) => Self {
                value,
                low: Some(interval.low),
                high: Some(interval.high),
                level: interval.level,
                samples: interval.samples,
                note: None,
            },
            Err(error) => Self { value, low: None, high: None, level, samples, note: Some(error.to_string()) },
        })
    }

    /// The same number in another unit: `factor` new units make one old unit; `factor` must not be negative.
    pub(super) fn scaled(self, factor: f64) -> Self {
        let scale = |value: f64| value * factor;
        Self { value: scale(self.value), low: self.low.map(scale), high: self.high.map(scale), ..self }
    }

    /// Half of the interval's width, where there is an interval.
    pub fn half_width(&self) -> Option<f64> {
        Some(0.5 * (self.high? - self.low?))
    }
}

impl From<Estimate> for Quantity {
    fn from(estimate: Estimate) -> Self {
        Interval::from(estimate).into()
    }
}

impl From<Interval> for Quantity {
    fn from(interval: Interval) -> Self {
        Self {
            value: interval.value,
            low: Some(interval.low),
            high: Some(interval.high),
            level: interval.level,
            samples: interval.samples,
            note: None,
        }
    }
}
