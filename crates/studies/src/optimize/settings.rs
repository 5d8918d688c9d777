//! The settings of a search for the cheapest configuration: the section `[optimize]` of a plan.

use serde::{Deserialize, Serialize};

use crate::optimize::cost::{Cost, NODES};
use crate::optimize::judge::Measure;
use crate::plan::Checker;

/// The question, and the required confidence.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// Measure that must meet the deadline: `mean`, or a quantile such as `p95` or `p99.9`. The p95 meets the deadline
    /// if the job finishes by the deadline with a probability of at least 95%. Default `p95`.
    pub measure: String,
    /// The deadline \[s\], > 0. Default: `job.deadline_s` of the base.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deadline_s: Option<f64>,
    /// Joint confidence of all decisions, in (0, 1). Default 0.95.
    pub confidence: f64,
    /// Relative distance from the deadline within which a point may stay undecided; in [0, 1). Default 0.01.
    pub indifference: f64,
    /// Cost of a point: an expression over `nodes` (workers of the job), keys that are names, and names of axes.
    /// Default `nodes`.
    pub cost: String,
    /// Cost of a point for each second of its mean time, in addition to `cost`: an expression with the same names, never
    /// negative, such as `nodes / 3600` for node-hours. Default none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost_per_s: Option<String>,
    /// Search method. Default `auto`.
    pub search: Search,
    /// Replications after which a point stays undecided, at most 100,000,000. Default 1,000,000.
    pub max_replications: u64,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            measure: "p95".into(),
            deadline_s: None,
            confidence: 0.95,
            indifference: 0.01,
            cost: NODES.into(),
            cost_per_s: None,
            search: Search::Auto,
            max_replications: 1_000_000,
        }
    }
}

/// The order in which points are evaluated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Search {
    /// `comparison` if the cost depends on the time; `bisection` if it is valid; otherwise `rising`.
    #[default]
    Auto,
    /// Bisection over a single axis along which the cost rises and the job gets faster.
    Bisection,
    /// The cheapest point first, until a point meets the deadline.
    Rising,
    /// All points that may meet the deadline, until intervals separate their costs; used if `cost_per_s` is given.
    Comparison,
}

/// Direction of an axis in which the job gets faster (the measure falls), whatever the values on other axes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Faster {
    /// Unknown: the result at one value allows no conclusion about other values.
    #[default]
    Unknown,
    /// A later value in the list is never slower.
    Up,
    /// An earlier value in the list is never slower.
    Down,
}

impl Faster {
    /// Returns true if the direction is unknown.
    pub(crate) fn is_unknown(&self) -> bool {
        *self == Self::Unknown
    }
}

/// Maximum number of replications of a point, limited because all times are kept in memory.
const MOST_REPLICATIONS: u64 = 100_000_000;

impl Settings {
    /// Checks the values.
    pub(crate) fn check(&self, to: &mut Checker) {
        let settings = self;
        to.section = "optimize".into();
        if let Some(deadline) = settings.deadline_s {
            to.range("deadline_s", deadline, deadline > 0.0 && deadline.is_finite(), "a number of seconds above 0");
        }
        if Measure::parse(&settings.measure).is_none() {
            to.add("measure", format!("`{}` is not a measure, such as `mean`, `p95` or `p99.9`", settings.measure));
        }
        if let Err(error) = Cost::parse(&settings.cost) {
            to.add("cost", error);
        }
        if let Some(Err(error)) = settings.cost_per_s.as_deref().map(Cost::parse) {
            to.add("cost_per_s", error);
        }
        match (settings.search, &settings.cost_per_s) {
            (Search::Comparison, None) => to.add("search", "`comparison` needs a cost per second; add `cost_per_s`"),
            (Search::Bisection | Search::Rising, Some(_)) => {
                to.add("search", "a cost per second (`cost_per_s`) needs `comparison`; remove `search`");
            }
            _ => {}
        }
        let (confidence, zone) = (settings.confidence, settings.indifference);
        to.range("confidence", confidence, confidence > 0.0 && confidence < 1.0, "a share between 0 and 1");
        to.range("indifference", zone, (0.0..1.0).contains(&zone), "a share of at least 0 and below 1");
        let most = settings.max_replications;
        to.count("max_replications", most, "replications", 2, MOST_REPLICATIONS);
    }
}
