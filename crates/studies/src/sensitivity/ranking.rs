//! The result of a sensitivity study: the effect of each setting, ranked.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use toml::Value;

use crate::ends::{Ends, OptionalEnds};
use crate::estimate::Measured;
use crate::job_time::{DeadlineSection, OwnRun};
use crate::sensitivity::magnitude;
use crate::sensitivity::settings::Method;
use crate::sim::{FoldedParts, NotFolded};

/// The effect of one setting.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum KnobEffect {
    /// A derivative at the base.
    Derivative {
        /// Value of the setting in the base configuration.
        at: f64,
        /// Seconds per unit of the setting.
        #[serde(with = "Ends")]
        per_unit_s: Measured,
        /// Seconds for a one-percent increase of the setting.
        #[serde(with = "Ends")]
        per_percent_s: Measured,
    },
    /// A derivative of the probability of the goal at the base.
    Probability {
        /// The base's value.
        at: f64,
        /// Change of the probability per unit of the setting.
        #[serde(with = "Ends")]
        per_unit: Measured,
        /// Change of the probability for a one-percent increase of the setting.
        #[serde(with = "Ends")]
        per_percent: Measured,
    },
    /// Change of the time from one end of the setting to the other, with all other settings as in the base.
    Change {
        /// One end.
        #[cfg_attr(feature = "schema", schemars(with = "serde_json::Value"))]
        from: Value,
        /// The other end.
        #[cfg_attr(feature = "schema", schemars(with = "serde_json::Value"))]
        to: Value,
        /// Time at `to` minus time at `from` \[s\].
        #[serde(with = "Ends")]
        change_s: Measured,
        /// Time at `from` minus the time of the base \[s\].
        #[serde(with = "OptionalEnds")]
        at_from_s: Option<Measured>,
        /// Time at `to` minus the time of the base \[s\].
        #[serde(with = "OptionalEnds")]
        at_to_s: Option<Measured>,
        /// Average change over the range, in seconds per unit; none for settings that are not numbers or have a log scale.
        #[serde(with = "OptionalEnds", default)]
        per_unit_s: Option<Measured>,
        /// Change in seconds for an increase of 1% at the middle of the range; none for settings that are not numbers.
        #[serde(with = "OptionalEnds", default)]
        per_percent_s: Option<Measured>,
    },
    /// Elementary effects over the whole range.
    Elementary {
        /// One end.
        #[cfg_attr(feature = "schema", schemars(with = "serde_json::Value"))]
        from: Value,
        /// The other end.
        #[cfg_attr(feature = "schema", schemars(with = "serde_json::Value"))]
        to: Value,
        /// μ\*, mean size \[s\].
        #[serde(with = "Ends")]
        size_s: Measured,
        /// μ, mean with its sign \[s\].
        #[serde(with = "Ends")]
        mean_s: Measured,
        /// σ, standard deviation of the effect over the walks \[s\].
        #[serde(with = "Ends")]
        spread_s: Measured,
        /// μ in seconds per unit; none for settings that are not numbers or have a log scale.
        #[serde(with = "OptionalEnds", default)]
        per_unit_s: Option<Measured>,
        /// μ in seconds for an increase of 1% at the middle of the range; none for settings that are not numbers.
        #[serde(with = "OptionalEnds", default)]
        per_percent_s: Option<Measured>,
    },
    /// Sobol's indices over the whole range.
    Variance {
        /// One end.
        #[cfg_attr(feature = "schema", schemars(with = "serde_json::Value"))]
        from: Value,
        /// The other end.
        #[cfg_attr(feature = "schema", schemars(with = "serde_json::Value"))]
        to: Value,
        /// S, first-order index.
        #[serde(with = "Ends")]
        first: Measured,
        /// S_T, total index.
        #[serde(with = "Ends")]
        total: Measured,
        /// √(S_T V), the standard deviation of the time that is due to the setting \[s\].
        #[serde(with = "Ends")]
        deviation_s: Measured,
    },
}

impl KnobEffect {
    /// Returns the size of the effect, by which settings are ranked: in seconds, or as a probability.
    pub fn weight(&self) -> Measured {
        match self {
            Self::Derivative { per_percent_s, .. } => magnitude(per_percent_s),
            Self::Probability { per_percent, .. } => magnitude(per_percent),
            Self::Change { change_s, .. } => magnitude(change_s),
            Self::Elementary { size_s, .. } => size_s.clone(),
            Self::Variance { deviation_s, .. } => deviation_s.clone(),
        }
    }
}

/// A setting.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SensitivityRow {
    /// Key of the setting.
    pub key: String,
    /// Name of the setting in results.
    pub name: String,
    /// Effect of the setting; none if unknown.
    pub effect: Option<KnobEffect>,
    /// Explains why the effect is unknown, or why its interval is unreliable.
    pub note: Option<String>,
}

/// A method for derivatives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Estimator {
    /// Slopes of the replications of a schedule.
    #[serde(rename = "infinitesimal perturbation analysis")]
    Perturbation,
    /// Differences between replications at points on both sides of the base.
    #[serde(rename = "differences with common random numbers")]
    Differences,
    /// The likelihood of each replication.
    #[serde(rename = "likelihood ratio")]
    LikelihoodRatio,
}

/// The effects of all settings of a study.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SensitivityReport {
    /// The method that compares the settings.
    pub method: Method,
    /// The estimator of derivatives; none for other methods.
    pub estimator: Option<Estimator>,
    /// Output that is analysed: `mean`, or a quantile such as `p95`.
    pub measure: String,
    /// Value of the measure \[s\]: at the base, or the mean over the ranges.
    #[serde(with = "OptionalEnds", default)]
    pub value_s: Option<Measured>,
    /// The probability of the goal at the base, if effects are on this probability rather than on the time.
    #[serde(with = "OptionalEnds", default, skip_serializing_if = "Option::is_none")]
    pub probability: Option<Measured>,
    /// The probability of finishing by the deadline at the base, if the job has a deadline.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deadline: Option<DeadlineSection>,
    /// The check of the plan on the runs that it was fitted to; none if the question is not about a plan of a job.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub own_run: Option<OwnRun>,
    /// Variance of the measure over the ranges \[s²\]; only with Sobol's indices.
    #[serde(with = "OptionalEnds", default)]
    pub variance_s2: Option<Measured>,
    /// Variance due to the noise of replications \[s²\], already subtracted; only with Sobol's indices.
    pub noise_s2: Option<f64>,
    /// The settings, the largest effect first; settings without a known effect come last.
    pub knobs: Vec<SensitivityRow>,
    /// Confidence level of all intervals.
    pub level: f64,
    /// Number of rows of points; 0 for derivatives.
    pub rows: u64,
    /// Number of simulated points.
    pub points: u64,
    /// Number of replications of each point.
    pub replications: u64,
    /// Version of tailspn.
    pub version: Cow<'static, str>,
    /// Seed of the random numbers.
    pub seed: u64,
    /// The folded parts of the net of the base configuration; none if it runs unfolded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub folded: Option<FoldedParts>,
    /// Similar parts of the net of the base configuration that are not folded.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub not_folded: Vec<NotFolded>,
    /// True if the run ended early.
    pub partial: bool,
    /// The plan, every key written out.
    pub plan: String,
}

impl SensitivityReport {
    /// Sorts the settings: the largest effect first, settings without a known effect last.
    pub fn rank(&mut self) {
        let weight = |row: &SensitivityRow| row.effect.as_ref().map_or(-1.0, |effect| effect.weight().value);
        self.knobs.sort_by(|a, b| weight(b).total_cmp(&weight(a)));
    }

    /// Returns true if [`Self::value_s`] is the value of the base, rather than a mean over ranges.
    pub fn is_at_the_base(&self) -> bool {
        matches!(self.method, Method::Derivatives | Method::Each)
    }
}
