//! Ranks many settings by their effect on a result.
//!
//! ```text
//! factors, seed ──▶ design: rows of points in the unit cube ──▶ the caller's answers ──▶ morris, sobol ──▶ Measured (value, low, high)
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
pub use derivative::{effective_replications, likelihood_ratio_mean, pathwise_mean, pathwise_quantile};
pub use morris::{ElementaryEffects, MorrisRow, elementary_effects};
pub use ranking::{Estimator, KnobEffect, SensitivityReport, SensitivityRow};
pub use response::{Response, one_at_a_time};
pub use settings::{Method, Sensitivity};
pub use sobol::{SobolIndices, SobolRow, VarianceShare, sobol_indices};

use std::borrow::Cow;

use tailspn_common::explain::{ErrorKind, Explain};

use crate::estimate::Measured;

/// Returns an effect without its sign: an interval that contains 0 then starts at 0.
pub fn magnitude(effect: &Measured) -> Measured {
    let ends = effect.ends().map(|[low, high]| {
        let [a, b] = [low.abs(), high.abs()];
        [if low <= 0.0 && high >= 0.0 { 0.0 } else { a.min(b) }, a.max(b)]
    });
    between(effect.value.abs(), ends)
}

/// Returns true if 0 is outside of the interval.
pub fn is_significant(effect: &Measured) -> bool {
    effect.ends().is_some_and(|[low, high]| low > 0.0 || high < 0.0)
}

/// The same effect in another unit; a negative factor turns the interval around.
fn rescaled(effect: &Measured, factor: f64) -> Measured {
    let ends = effect.ends().map(|ends| {
        let [a, b] = ends.map(|end| end * factor);
        [a.min(b), a.max(b)]
    });
    between(effect.value * factor, ends)
}

fn between(value: f64, ends: Option<[f64; 2]>) -> Measured {
    Measured::between(value, ends.map(|[low, _]| low), ends.map(|[_, high]| high))
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

impl Explain for SensitivityError {
    fn kind(&self) -> ErrorKind {
        ErrorKind::Refused
    }

    fn help(&self) -> Option<Cow<'static, str>> {
        Some(match self {
            Self::TooFewRows { .. } => "increase --rows N or --max-time".into(),
            Self::Still => "increase --reps N to reduce the noise, or use wider ranges".into(),
            _ => return None,
        })
    }
}
