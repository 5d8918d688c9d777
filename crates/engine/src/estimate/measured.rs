//! A number with its uncertainty: exact, between guaranteed bounds, with a confidence interval, or of unknown error.

use serde::{Deserialize, Serialize};

use crate::estimate::mean::{Estimate, EstimateError, Interval};

/// A number and its uncertainty.
///
/// Of an exact number, `low` and `high` are null, `samples` is 0, and `level` has no meaning.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "Quantity"))]
#[serde(from = "Flat", into = "Flat")]
pub struct Measured {
    /// The point estimate, in the unit that the field's documentation states.
    pub value: f64,
    /// Bounds on the distance of the true value.
    pub doubt: Doubt,
    /// Confidence level of the report's intervals, in (0, 1); 0 if the report states the level elsewhere.
    pub level: f64,
    /// Independent samples behind the number; 0 without samples.
    pub samples: u64,
}

/// The uncertainty of a number.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Doubt {
    /// The number is exact.
    Exact,
    /// The true value is guaranteed to lie between the bounds; infinity means that there is no bound on that side.
    Bounds {
        /// Lower bound.
        low: f64,
        /// Upper bound.
        high: f64,
    },
    /// A confidence interval; an infinite end means that the number is only a bound on that side.
    Interval {
        /// Lower end.
        low: f64,
        /// Upper end.
        high: f64,
    },
    /// The reason why the error is unknown; may be empty.
    Unknown(String),
}

impl Measured {
    /// Returns an exact number in a report whose intervals have confidence `level`.
    pub fn exact(value: f64, level: f64) -> Self {
        Self { value, doubt: Doubt::Exact, level, samples: 0 }
    }

    /// Returns a number with guaranteed bounds.
    pub fn bounded(value: f64, [low, high]: [f64; 2], level: f64) -> Self {
        Self { value, doubt: Doubt::Bounds { low, high }, level, samples: 0 }
    }

    /// Returns a lower bound as a number, such as the age of a task that is still running.
    pub fn at_least(value: f64) -> Self {
        Self::bounded(value, [value, f64::INFINITY], 0.0)
    }

    /// Returns a number with the ends of its interval, if it has both; level and samples are stated elsewhere.
    pub fn between(value: f64, low: Option<f64>, high: Option<f64>) -> Self {
        let doubt = match low.zip(high) {
            Some((low, high)) => Doubt::Interval { low, high },
            None => Doubt::Unknown(String::new()),
        };
        Self { value, doubt, level: 0.0, samples: 0 }
    }

    /// Returns a value with its interval, or with the reason why it has no interval. None if there are no samples.
    pub fn new(
        value: Option<f64>,
        samples: u64,
        level: f64,
        interval: Result<Interval, EstimateError>,
    ) -> Option<Self> {
        value.map(|value| Self::sampled(value, samples, level, interval))
    }

    /// Returns a value of at least one sample with its interval, or with the reason why it has no interval.
    pub fn sampled(value: f64, samples: u64, level: f64, interval: Result<Interval, EstimateError>) -> Self {
        match interval {
            Ok(interval) => Self { value, ..interval.into() },
            Err(error) => Self { value, doubt: Doubt::Unknown(error.to_string()), level, samples },
        }
    }

    /// Removes the interval if a transition that fired too rarely can influence the number; `rare` says which one.
    #[must_use]
    pub fn unless_unseen(self, rare: Option<String>) -> Self {
        match (&self.doubt, rare) {
            (Doubt::Interval { .. }, Some(rare)) => {
                let doubt = Doubt::Unknown(format!("{rare}, so the runs may be too short"));
                Self { doubt, ..self }
            }
            _ => self,
        }
    }

    /// Raises the lower end of the interval to 0, for a quantity that is never negative.
    #[must_use]
    pub fn not_negative(self) -> Self {
        match self.doubt {
            Doubt::Interval { low, high } => Self { doubt: Doubt::Interval { low: low.max(0.0), high }, ..self },
            _ => self,
        }
    }

    /// Returns true if the number is known without a statistical error.
    pub fn is_exact(&self) -> bool {
        matches!(self.doubt, Doubt::Exact | Doubt::Bounds { .. })
    }

    /// Returns the ends of the interval, or the guaranteed bounds.
    pub fn ends(&self) -> Option<[f64; 2]> {
        match self.doubt {
            Doubt::Bounds { low, high } | Doubt::Interval { low, high } => Some([low, high]),
            Doubt::Exact | Doubt::Unknown(_) => None,
        }
    }

    /// Returns half the width of the confidence interval; none if an end is infinite.
    pub fn half_width(&self) -> Option<f64> {
        match self.doubt {
            Doubt::Interval { low, high } => Some(0.5 * (high - low)).filter(|half| half.is_finite()),
            _ => None,
        }
    }

    /// Makes a lower bound of the number: the true value may be larger by any amount.
    #[must_use]
    pub fn or_more(self) -> Self {
        match self.doubt {
            Doubt::Interval { low, high } if low < high => {
                Self { doubt: Doubt::Interval { low, high: f64::INFINITY }, ..self }
            }
            _ => Self::at_least(self.value),
        }
    }

    /// Makes an upper bound of the number: the true value may be smaller by any amount.
    #[must_use]
    pub fn or_less(self) -> Self {
        match self.doubt {
            Doubt::Interval { low, high } if low < high => {
                Self { doubt: Doubt::Interval { low: f64::NEG_INFINITY, high }, ..self }
            }
            _ => Self::bounded(self.value, [f64::NEG_INFINITY, self.value], 0.0),
        }
    }

    /// Returns the reason why the error is unknown.
    pub fn reason(&self) -> Option<&str> {
        match &self.doubt {
            Doubt::Unknown(reason) if !reason.is_empty() => Some(reason),
            _ => None,
        }
    }

    /// Returns the number in another unit: `factor` new units make one old unit; `factor` must not be negative.
    #[must_use]
    pub fn scaled(self, factor: f64) -> Self {
        let doubt = match self.doubt {
            Doubt::Bounds { low, high } => Doubt::Bounds { low: low * factor, high: high * factor },
            Doubt::Interval { low, high } => Doubt::Interval { low: low * factor, high: high * factor },
            other => other,
        };
        Self { value: self.value * factor, doubt, ..self }
    }
}

impl From<Estimate> for Measured {
    fn from(estimate: Estimate) -> Self {
        Interval::from(estimate).into()
    }
}

impl From<Interval> for Measured {
    fn from(found: Interval) -> Self {
        let doubt = Doubt::Interval { low: found.low, high: found.high };
        Self { value: found.value, doubt, level: found.level, samples: found.samples }
    }
}

/// A number with its interval, or with the reason why it has none.
#[derive(Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "Measured"))]
struct Flat {
    /// Point estimate.
    value: f64,
    /// Lower end of the confidence interval; null without an interval, or if the number is only an upper bound.
    low: Option<f64>,
    /// Upper end of the confidence interval; null without an interval, or if the number is only a lower bound.
    high: Option<f64>,
    /// Confidence level, such as 0.95.
    level: f64,
    /// Independent samples behind the number: replications, or long runs.
    samples: u64,
    /// Reason why there is no interval, such as too few samples.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    note: Option<String>,
    /// True if the number is exact.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    exact: bool,
    /// Guaranteed bounds of an exact number; an open bound is null.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    bounds: Option<[Option<f64>; 2]>,
}

impl From<Measured> for Flat {
    fn from(number: Measured) -> Self {
        let Measured { value, doubt, level, samples } = number;
        let mut flat = Self { value, low: None, high: None, level, samples, note: None, exact: false, bounds: None };
        let finite = |end: f64| Some(end).filter(|end| end.is_finite());
        match doubt {
            Doubt::Exact => flat.exact = true,
            Doubt::Bounds { low, high } => (flat.exact, flat.bounds) = (true, Some([low, high].map(finite))),
            Doubt::Interval { low, high } => (flat.low, flat.high) = (finite(low), finite(high)),
            Doubt::Unknown(reason) => flat.note = Some(reason).filter(|reason| !reason.is_empty()),
        }
        flat
    }
}

impl From<Flat> for Measured {
    fn from(flat: Flat) -> Self {
        let open =
            |low: Option<f64>, high: Option<f64>| (low.unwrap_or(f64::NEG_INFINITY), high.unwrap_or(f64::INFINITY));
        let doubt = match (flat.exact, flat.bounds, [flat.low, flat.high]) {
            (true, Some([low, high]), _) => {
                let (low, high) = open(low, high);
                Doubt::Bounds { low, high }
            }
            (true, None, _) => Doubt::Exact,
            (false, _, [None, None]) => Doubt::Unknown(flat.note.unwrap_or_default()),
            (false, _, [low, high]) => {
                let (low, high) = open(low, high);
                Doubt::Interval { low, high }
            }
        };
        Self { value: flat.value, doubt, level: flat.level, samples: flat.samples }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_of_every_kind_of_uncertainty_reads_back() {
        let doubts = [
            (Doubt::Exact, r#"{"value":2.0,"low":null,"high":null,"level":0.95,"samples":7,"exact":true}"#),
            (
                Doubt::Bounds { low: 1.0, high: 3.0 },
                r#"{"value":2.0,"low":null,"high":null,"level":0.95,"samples":7,"exact":true,"bounds":[1.0,3.0]}"#,
            ),
            (
                Doubt::Bounds { low: 1.0, high: f64::INFINITY },
                r#"{"value":2.0,"low":null,"high":null,"level":0.95,"samples":7,"exact":true,"bounds":[1.0,null]}"#,
            ),
            (Doubt::Interval { low: 1.0, high: 3.0 }, r#"{"value":2.0,"low":1.0,"high":3.0,"level":0.95,"samples":7}"#),
            (
                Doubt::Interval { low: 1.0, high: f64::INFINITY },
                r#"{"value":2.0,"low":1.0,"high":null,"level":0.95,"samples":7}"#,
            ),
            (
                Doubt::Unknown("one sample".to_owned()),
                r#"{"value":2.0,"low":null,"high":null,"level":0.95,"samples":7,"note":"one sample"}"#,
            ),
        ];
        for (doubt, json) in doubts {
            let number = Measured { value: 2.0, doubt, level: 0.95, samples: 7 };
            assert_eq!(serde_json::to_string(&number).unwrap(), json);
            assert_eq!(serde_json::from_str::<Measured>(json).unwrap(), number);
        }
    }

    #[test]
    fn other_units_scale_the_ends() {
        let number = Measured::bounded(2.0, [1.0, 4.0], 0.95).scaled(10.0);
        assert_eq!((number.value, number.ends(), number.half_width()), (20.0, Some([10.0, 40.0]), None));
    }
}
