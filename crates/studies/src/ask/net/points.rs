//! Points of distributions: quantiles, and probabilities at times.

use serde::{Deserialize, Serialize};

use crate::estimate::Measured;

/// The quantiles that every distribution has.
pub const QUANTILES: [f64; 5] = [0.5, 0.9, 0.95, 0.99, 0.999];

/// A point of a distribution that is known exactly.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct QuantilePoint {
    /// The probability, in (0, 1).
    pub p: f64,
    /// The time \[s\].
    pub value: f64,
    /// Guaranteed lower bound \[s\]; only if the method gives bounds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub low: Option<f64>,
    /// Guaranteed upper bound \[s\]; only if the method gives bounds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub high: Option<f64>,
}

impl QuantilePoint {
    /// Returns a quantile by a method without bounds.
    pub fn exact(p: f64, value: f64) -> Self {
        Self { p, value, low: None, high: None }
    }

    /// Returns a quantile with its bounds.
    pub fn bounded(p: f64, time: &Measured) -> Self {
        let [low, high] = time.ends().map_or([None; 2], |ends| ends.map(Some));
        Self { p, value: time.value, low, high }
    }
}

/// A probability at a time.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CdfPoint {
    /// The time \[s\].
    pub time_s: f64,
    /// Probability that the goal is reached by that time.
    pub probability: f64,
    /// Density at this point \[1/s\]; only if the method gives it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub density_per_s: Option<f64>,
    /// Guaranteed lower bound of the probability; only if the method gives bounds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub low: Option<f64>,
    /// Guaranteed upper bound of the probability; only if the method gives bounds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub high: Option<f64>,
}

impl CdfPoint {
    /// Returns a probability at a time, with its bounds.
    pub fn bounded(time_s: f64, probability: &Measured) -> Self {
        let [low, high] = probability.ends().map_or([None; 2], |ends| ends.map(Some));
        Self { time_s, probability: probability.value, density_per_s: None, low, high }
    }
}
