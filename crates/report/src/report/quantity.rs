//! A number with its confidence interval, as reports show it.

use serde::{Deserialize, Serialize};

use crate::estimate::{Estimate, EstimateError, Interval};

/// A number and what is known of its error.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
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
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// Whether it is exact: then there are no samples, no interval, and the level says nothing.
    #[serde(default, skip_serializing_if = "is_false")]
    pub exact: bool,
    /// Certain bounds; only of exact numbers, where the method gives bounds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bounds: Option<[f64; 2]>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
fn is_false(value: &bool) -> bool {
    !value
}

impl Quantity {
    /// An exact number in a report whose intervals have confidence `level`.
    pub(super) fn exact(value: f64, level: f64) -> Self {
        Self { value, low: None, high: None, level, samples: 0, note: None, exact: true, bounds: None }
    }

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
                exact: false,
                bounds: None,
            },
            Err(error) => {
                let note = Some(error.to_string());
                Self { value, low: None, high: None, level, samples, note, exact: false, bounds: None }
            }
        })
    }

    /// The same number in another unit: `factor` new units make one old unit; `factor` must not be negative.
    pub(super) fn scaled(self, factor: f64) -> Self {
        let scale = |value: f64| value * factor;
        let bounds = self.bounds.map(|bounds| bounds.map(scale));
        Self { value: scale(self.value), low: self.low.map(scale), high: self.high.map(scale), bounds, ..self }
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
            exact: false,
            bounds: None,
        }
    }
}
