//! The result of a sensitivity study: the effect of each setting, ranked.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use toml::Value;

use crate::ends::{Ends, OptionalEnds};
use crate::estimate::Measured;
use crate::job_time::DeadlineSection;
use crate::sensitivity::magnitude;
use crate::sensitivity::settings::Method;
use crate::sim::{FoldedParts, NotFolded};

/// The effect of one setting.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum KnobEffect {
    /// A derivative at the base.
    Derivative {
        /// The base's value.
        at: f64,
        /// Seconds per unit of the setting.
        #[serde(with = "Ends")]
        per_unit_s: Measured,
        /// Seconds for a one-percent increase of the setting.
        #[serde(with = "Ends")]
        per_percent_s: Measured,
    },
    /// One step from one end of the setting to the other, all other settings as in the base.
    Change {
        /// One end.
        from: Value,
        /// The other end.
        to: Value,
        /// Time at `to` minus time at `from` \[s\].
        #[serde(with = "Ends")]
        change_s: Measured,
        /// Time at `from` minus the time of the base \[s\]; none in results older than this field.
        #[serde(with = "OptionalEnds", default)]
        at_from_s: Option<Measured>,
        /// Time at `to` minus the time of the base \[s\]; none in results older than this field.
        #[serde(with = "OptionalEnds", default)]
        at_to_s: Option<Measured>,
        /// Average over the range, in seconds per unit; none for settings that are not numbers and on log scales.
        #[serde(with = "OptionalEnds", default)]
        per_unit_s: Option<Measured>,
        /// Seconds per percent of change in the middle of the range; none for settings that are not numbers.
        #[serde(with = "OptionalEnds", default)]
        per_percent_s: Option<Measured>,
    },
    /// Elementary effects over the whole range.
    Elementary {
        /// One end.
        from: Value,
        /// The other end.
        to: Value,
        /// μ\*, mean size \[s\].
        #[serde(with = "Ends")]
        size_s: Measured,
        /// μ, mean with its sign \[s\].
        #[serde(with = "Ends")]
        mean_s: Measured,
        /// σ, standard deviation between places \[s\].
        #[serde(with = "Ends")]
        spread_s: Measured,
        /// μ per unit; none for settings that are not numbers and on log scales.
        #[serde(with = "OptionalEnds", default)]
        per_unit_s: Option<Measured>,
        /// μ for an increase of 1% at the middle of the range; none for settings that are not numbers.
        #[serde(with = "OptionalEnds", default)]
        per_percent_s: Option<Measured>,
    },
    /// Sobol's indices over the whole range.
    Variance {
        /// One end.
        from: Value,
        /// The other end.
        to: Value,
        /// S, first-order index.
        #[serde(with = "Ends")]
        first: Measured,
        /// S_T, total index.
        #[serde(with = "Ends")]
        total: Measured,
        /// √(S_T V), the standard deviation that the setting makes \[s\].
        #[serde(with = "Ends")]
        deviation_s: Measured,
    },
}

impl KnobEffect {
    /// Returns the size of the effect in seconds, by which settings are ranked.
    pub fn weight(&self) -> Measured {
        match self {
            Self::Derivative { per_percent_s, .. } => magnitude(per_percent_s),
            Self::Change { change_s, .. } => magnitude(change_s),
            Self::Elementary { size_s, .. } => size_s.clone(),
            Self::Variance { deviation_s, .. } => deviation_s.clone(),
        }
    }
}

/// A setting.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SensitivityRow {
    /// Key of the setting.
    pub key: String,
    /// Name of the setting in results.
    pub name: String,
    /// Effect of the setting; none if unknown.
    pub effect: Option<KnobEffect>,
    /// Explains why the effect is unknown.
    pub note: Option<String>,
}

/// A method for derivatives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Estimator {
    /// From the replications of a schedule themselves.
    #[serde(rename = "infinitesimal perturbation analysis")]
    Perturbation,
    /// From replications on both sides of the base.
    #[serde(rename = "differences with common random numbers")]
    Differences,
    /// From the likelihood of each replication.
    #[serde(rename = "likelihood ratio")]
    LikelihoodRatio,
}

/// The effects of all settings of a study.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SensitivityReport {
    /// The comparison of settings.
    pub method: Method,
    /// The estimator of derivatives; none for other methods.
    pub estimator: Option<Estimator>,
    /// Output that is analysed: `mean`, or a quantile such as `p95`.
    pub measure: String,
    /// That number itself \[s\]: at the base, or the mean over the ranges.
    #[serde(with = "OptionalEnds", default)]
    pub value_s: Option<Measured>,
    /// The probability to finish by the deadline at the base, if the job has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deadline: Option<DeadlineSection>,
    /// Variance over the ranges \[s²\], of Sobol's indices.
    #[serde(with = "OptionalEnds", default)]
    pub variance_s2: Option<Measured>,
    /// Variance that the replications would have added \[s²\], of Sobol's indices.
    pub noise_s2: Option<f64>,
    /// The settings, the largest effect first, settings without an effect last.
    pub knobs: Vec<SensitivityRow>,
    /// Confidence level of all intervals.
    pub level: f64,
    /// Rows of points; 0 for derivatives.
    pub rows: u64,
    /// Points that were run.
    pub points: u64,
    /// Replications of each point.
    pub replications: u64,
    /// Version of this crate that ran it.
    pub version: Cow<'static, str>,
    /// Seed of everything.
    pub seed: u64,
    /// The folded parts of the base's net; none if the points run it unfolded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub folded: Option<FoldedParts>,
    /// Parts of that net that look alike and are not folded.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub not_folded: Vec<NotFolded>,
    /// True if it was stopped before its end.
    pub partial: bool,
    /// The plan, every key written out.
    #[serde(default)]
    pub plan: String,
}

impl SensitivityReport {
    /// Sorts the settings: the largest effect first, settings without an effect last.
    pub fn rank(&mut self) {
        let weight = |row: &SensitivityRow| row.effect.as_ref().map_or(-1.0, |effect| effect.weight().value);
        self.knobs.sort_by(|a, b| weight(b).total_cmp(&weight(a)));
    }

    /// Returns true if [`Self::value_s`] is the value of the base, rather than a mean over ranges.
    pub fn is_at_the_base(&self) -> bool {
        matches!(self.method, Method::Derivatives | Method::Each)
    }
}
