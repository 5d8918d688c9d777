//! Ranks many settings by their effect on a result.
//!
//! ```text
//! factors, seed ──▶ design: rows of points in the unit cube ──▶ the caller's answers ──▶ morris, sobol ──▶ Effect (value, low, high)
//! times and their slopes or scores, replication by replication ──▶ derivative ──▶ Estimate
//! ```
//!
//! | question | file |
//! |---|---|
//! | the whole study, from the plan to the ranking | [`study`], with derivatives in `derivatives` |
//! | the points at which the model is evaluated | [`design`] |
//! | settings that matter at all, or only together with others: elementary effects | [`morris`] |
//! | variance explained by each setting: Sobol's indices | [`sobol`] |
//! | effects of small changes: derivatives of means and quantiles | [`derivative`] |
//! | intervals of any number computed from rows | [`bootstrap`] |
//! | answers that are themselves estimates | [`response`] |
//!
//! [`Sensitivity`] runs the whole study, from the plan to the [ranking]. The other parts do not simulate. Their input is a
//! [`Response`] per point: independent values of one number, one value per group of replications. Group g has the same
//! random numbers at every point of a row. The values show the noise of replications, so its contribution to squares and
//! sizes can be subtracted, and noise is not mistaken for an effect or an interaction.

pub mod bootstrap;
pub mod derivative;
mod derivatives;
pub mod design;
pub mod morris;
pub mod ranking;
pub mod response;
mod settings;
pub mod sobol;
pub mod study;

pub use bootstrap::Bootstrap;
pub use derivative::{likelihood_ratio_mean, pathwise_mean, pathwise_quantile};
pub use morris::{ElementaryEffects, MorrisRow, elementary_effects};
pub use ranking::{Estimator, KnobEffect, SensitivityReport, SensitivityRow};
pub use response::{Response, one_at_a_time};
pub use settings::{Method, Sensitivity};
pub use sobol::{SobolIndices, SobolRow, VarianceShare, sobol_indices};

use serde::{Deserialize, Serialize};

/// A number with its interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Effect {
    /// The estimate.
    pub value: f64,
    /// Lower end of the interval.
    pub low: f64,
    /// Upper end of the interval.
    pub high: f64,
}

impl Effect {
    /// Returns half of the interval's width.
    pub fn half_width(&self) -> f64 {
        0.5 * (self.high - self.low)
    }

    /// Returns the effect without its sign; an interval that contains 0 becomes one that starts at 0.
    #[must_use]
    pub fn size(self) -> Self {
        let [a, b] = [self.low.abs(), self.high.abs()];
        let low = if self.low <= 0.0 && self.high >= 0.0 { 0.0 } else { a.min(b) };
        Self { value: self.value.abs(), low, high: a.max(b) }
    }

    /// Returns true if the effect is statistically significant: 0 is outside of the interval.
    pub fn is_sure(&self) -> bool {
        self.low > 0.0 || self.high < 0.0
    }

    /// Returns the effect multiplied by a factor; a negative factor swaps the ends of the interval.
    #[must_use]
    pub fn scaled(self, factor: f64) -> Self {
        let [a, b] = [self.low * factor, self.high * factor];
        Self { value: self.value * factor, low: a.min(b), high: a.max(b) }
    }
}

impl From<crate::estimate::Estimate> for Effect {
    fn from(estimate: crate::estimate::Estimate) -> Self {
        Self { value: estimate.value, low: estimate.low(), high: estimate.high() }
    }
}

/// Reason why there is no sensitivity.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SensitivityError {
    /// Too few rows for an interval; more rows are needed.
    #[error("{got} rows of points are too few; at least {need} are needed")]
    TooFewRows {
        /// Number of rows.
        got: usize,
        /// Smallest number of rows that suffices.
        need: usize,
    },
    /// Rows that do not belong to the same design.
    #[error("the rows have different numbers of points and groups")]
    Uneven,
    /// An answer that is infinite or not a number.
    #[error("a result is infinite or not a number")]
    NotFinite,
    /// No tried value changes the result, so there is no variance to divide.
    #[error("the result does not vary: its variance over the axes does not exceed the noise of the replications")]
    Still,
}
