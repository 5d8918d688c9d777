//! The plan of a sweep in TOML: the question, and the axes along which its settings vary.
//!
//! Defines the plan's keys, their defaults and their checks. The points come from
//! [`design`](crate::sweep::design); only the code that builds the points' models knows the meaning of an axis's key.

use serde::{Deserialize, Serialize};
use toml::Value;

use crate::optimize::settings::{self as optimize, Faster};
use crate::plan::{Checker, Document, PlanError, PlanProblem};
use crate::sweep::constraint::{self, Constraint};
use crate::sweep::sobol;

/// A sweep: a base, and the axes that vary.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct SweepPlan {
    /// The question at each point, and the number of replications.
    pub sweep: Settings,
    /// Settings of the search for the cheapest configuration, and its deadline. Default none. With this
    /// section, other keys have other defaults: an axis has every whole number between its ends, a point has 500
    /// replications, and there are at most 10,000 configurations.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub optimize: Option<optimize::Settings>,
    /// Axes of the sweep; at least one.
    pub axis: Vec<Axis>,
}

/// The question at each point.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// File of the job plan that the points change, relative to the folder of the sweep's plan. Default: the default job.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub base: Option<String>,
    /// File of the net whose rate parameters the points change, instead of a job. Default none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub net: Option<String>,
    /// Goal of the net: an expression that is not 0 at the goal. Default: the dead marking.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub until: Option<String>,
    /// Design of the points. Default `grid`.
    pub design: Design,
    /// Conditions that every point must satisfy: expressions over keys. Points that violate a condition are
    /// excluded. Default none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub constraints: Vec<String>,
    /// Number of points of a Latin hypercube or a Sobol sequence, >= 2. Default 64.
    pub points: u64,
    /// Replications of each point, 2 to 100,000,000: the maximum if `relative_error` is set, the minimum if a budget is set. Default 2,000.
    pub replications: u64,
    /// Relative error at which a point has enough replications: half width of the mean's interval divided by the mean, in (0, 1). Default none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub relative_error: Option<f64>,
    /// Total replications of all points. After each point has `replications`, the remaining replications go to the points
    /// with the widest intervals. Default none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub budget_replications: Option<u64>,
    /// Wall time of each run of the sweep \[s\]. After each point has `replications`, the remaining time is spent on the
    /// points with the widest intervals. Default none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub budget_time_s: Option<f64>,
    /// Seed of the experiment, the same for every point. Default 0.
    pub seed: u64,
    /// Maximum number of points. Default 100,000.
    pub max_points: u64,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            base: None,
            net: None,
            until: None,
            design: Design::Grid,
            constraints: Vec::new(),
            points: 64,
            replications: 2_000,
            relative_error: None,
            budget_replications: None,
            budget_time_s: None,
            seed: 0,
            max_points: 100_000,
        }
    }
}

impl Settings {
    /// Checks the subject of the points.
    pub(crate) fn check_subject(&self, to: &mut Checker) {
        if self.base.is_some() && self.net.is_some() {
            to.add("net", "a plan describes a job (`base`) or a net (`net`), not both");
        }
        if self.until.is_some() && self.net.is_none() {
            to.add("until", "`until` applies only to a net (`net`); the goal of a job is its end");
        }
    }

    /// Returns the keys that affect only sweeps, each with true if it is set.
    pub(crate) fn set_for_sweeps(&self) -> [(&'static str, bool); 6] {
        let default = Self::default();
        [
            ("design", self.design != default.design),
            ("constraints", !self.constraints.is_empty()),
            ("points", self.points != default.points),
            ("relative_error", self.relative_error.is_some()),
            ("budget_replications", self.budget_replications.is_some()),
            ("budget_time_s", self.budget_time_s.is_some()),
        ]
    }
}

/// The design of points on the axes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Design {
    /// All combinations.
    #[default]
    Grid,
    /// One axis at a time; all others are as in the base.
    Each,
    /// Point i has value i of every axis.
    List,
    /// A Latin hypercube: each axis is divided into as many parts as there are points, and each part is used once.
    Latin,
    /// A Sobol sequence, shifted by the seed: evenly distributed over all axes jointly.
    Sobol,
}

impl Design {
    /// Name of the design in plans.
    pub fn name(self) -> &'static str {
        match self {
            Self::Grid => "grid",
            Self::Each => "each",
            Self::List => "list",
            Self::Latin => "latin",
            Self::Sobol => "sobol",
        }
    }
}

/// The spacing of values between two ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Scale {
    /// Equal differences.
    #[default]
    Linear,
    /// Equal ratios.
    Log,
}

/// An axis of a sweep.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Axis {
    /// Key of the axis: the path of a key in a job's plan, such as `cluster.node[0].count`, or a net's rate parameter.
    pub key: String,
    /// Name of the axis in results. Default: the key.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Values of the axis. Default: `steps` values from `from` to `to`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<Vec<serde_json::Value>>"))]
    pub values: Option<Vec<Value>>,
    /// First value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<f64>,
    /// Last value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to: Option<f64>,
    /// Number of values, including both ends, >= 2. Default 5; with `[optimize]`, every whole number. A Latin hypercube
    /// or a Sobol sequence takes any value between the ends.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub steps: Option<u64>,
    /// Spacing of the values between the ends. Default `linear`.
    #[serde(default)]
    pub scale: Scale,
    /// If true, values between the ends are rounded to whole numbers. Default false; true with `[optimize]`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub whole: Option<bool>,
    /// Direction in which the job gets faster, for a search. Default `unknown`.
    #[serde(default, skip_serializing_if = "Faster::is_unknown")]
    pub faster: Faster,
}

/// Checks that there are 1 to `most` axes, each axis by `check`, and that no two axes vary the same key or have the same name.
pub(crate) fn check_axes(axes: &[Axis], most: u64, to: &mut Checker, check: impl Fn(&Axis, &mut Checker)) {
    if axes.is_empty() {
        to.add("axis", "no axis: add an `[[axis]]` with a `key` and its `values`");
    } else {
        to.count("axis", axes.len() as u64, "axes", 1, most);
    }
    for (i, axis) in axes.iter().enumerate() {
        to.section = format!("axis[{i}]");
        check(axis, to);
        if axes[..i].iter().any(|other| other.key == axis.key) {
            to.add("key", format!("another axis also varies `{}`", axis.key));
        } else if axes[..i].iter().any(|other| other.title() == axis.title()) {
            to.add("name", format!("another axis is also named `{}`", axis.title()));
        }
    }
}

impl Axis {
    /// Returns an axis over values of a key, such as `job.reduces`.
    pub fn values<V: Into<Value>>(key: impl Into<String>, values: impl IntoIterator<Item = V>) -> Self {
        let values = Some(values.into_iter().map(Into::into).collect());
        Self { key: key.into(), values, ..Self::default() }
    }

    /// Returns an axis between two values of a key, such as `cluster.node[0].gpu_speed`.
    pub fn between(key: impl Into<String>, from: f64, to: f64) -> Self {
        Self { key: key.into(), from: Some(from), to: Some(to), ..Self::default() }
    }

    /// Returns the axis of an optimisation: every whole number between its ends, unless the axis sets the number of values.
    pub(crate) fn into_choice(mut self) -> Self {
        if let (None, Some(from), Some(to)) = (&self.values, self.from, self.to) {
            self.whole = self.whole.or(Some(true));
            // `as` saturates at the ends of u64, and the check refuses 0
            self.steps = self.steps.or(Some((to.round() - from.round()).abs() as u64 + 1));
        }
        self
    }

    /// Returns the name of the axis in results.
    pub fn title(&self) -> &str {
        self.name.as_deref().unwrap_or(&self.key)
    }
}

/// Maximum number of replications of a point; the limit exists because all times are kept for differences to the base.
const MOST_REPLICATIONS: u64 = 100_000_000;
/// Maximum number of axes.
const MOST_AXES: u64 = sobol::MOST_AXES as u64;
/// Maximum budget of time \[s\].
const LONGEST: f64 = 1e7;
/// Maximum number of points of a sweep, even if its plan allows more, because points are held in memory.
const MOST_POINTS: u64 = 10_000_000;
/// Maximum number of values of an axis.
const MOST_STEPS: u64 = 1_000_000;
/// Default number of values between two ends.
pub(in crate::sweep) const STEPS: u64 = 5;

/// Default number of replications at the first look at a configuration of an optimisation.
pub(crate) const FIRST_LOOK: u64 = 500;
/// Default maximum number of configurations of an optimisation.
pub(crate) const MOST_CHOICES: u64 = 10_000;

/// Sets the defaults of an optimisation in a plan with `[optimize]`: [`FIRST_LOOK`] and [`MOST_CHOICES`].
pub(crate) fn set_defaults_of_choices(document: &mut Document<'_>) {
    document.set_default("sweep", "replications", "500");
    document.set_default("sweep", "max_points", "10_000");
}

impl SweepPlan {
    /// Reads a plan from TOML; omitted keys have their defaults.
    ///
    /// # Errors
    ///
    /// All problems, each with its position.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tailspn_studies::sweep::{SweepPlan, points};
    /// let plan = SweepPlan::from_toml("[[axis]]\nkey = \"job.reduces\"\nvalues = [10, 20]").unwrap();
    /// assert_eq!(points(&plan).len(), 3); // the base, and two more
    /// ```
    pub fn from_toml(text: &str) -> Result<Self, PlanError> {
        let mut document = Document::parse(text)?;
        if document.table().contains_key("optimize") {
            set_defaults_of_choices(&mut document);
        }
        document.read(|plan: &Self| plan.clone().completed().problems_in(text)).map(Self::completed)
    }

    /// Returns the plan; if it has the section `[optimize]`, its axes get the defaults of an optimisation.
    fn completed(mut self) -> Self {
        for axis in &mut self.axis {
            match &self.optimize {
                Some(_) => *axis = std::mem::take(axis).into_choice(),
                None => axis.whole = axis.whole.or(Some(false)),
            }
        }
        self
    }

    /// Returns a commented plan that shows every key.
    pub fn example_toml() -> &'static str {
        include_str!("../../models/which-knob.toml")
    }

    /// Returns all problems of the values; empty for a valid plan.
    pub fn problems(&self) -> Vec<PlanProblem> {
        self.problems_in("")
    }

    /// Returns all problems of the values, with positions inside the constraints in the plan's text.
    fn problems_in(&self, text: &str) -> Vec<PlanProblem> {
        let mut to = Checker::new();
        self.check_settings(text, &mut to);
        to.section = String::new();
        check_axes(&self.axis, MOST_AXES, &mut to, Axis::check);
        if to.problems.is_empty() {
            self.check_points(&mut to);
        }
        to.problems
    }

    fn check_settings(&self, text: &str, to: &mut Checker) {
        let settings = &self.sweep;
        to.section = "sweep".into();
        to.count("points", settings.points, "points", 2, MOST_POINTS);
        to.count("replications", settings.replications, "replications", 2, MOST_REPLICATIONS);
        if let Some(error) = settings.relative_error {
            to.range("relative_error", error, error > 0.0 && error < 1.0, "a share between 0 and 1");
        }
        if let Some(time) = settings.budget_time_s {
            to.range(
                "budget_time_s",
                time,
                time > 0.0 && time <= LONGEST,
                "a number of seconds above 0, at most 10 million",
            );
        }
        for (i, constraint) in settings.constraints.iter().enumerate() {
            if let Err(fault) = Constraint::parse(constraint) {
                to.add(&format!("constraints[{i}]"), &fault);
                to.problems.last_mut().expect("one was added").span = constraint::place(text, i, fault.span());
            }
        }
        settings.check_subject(to);
        if let Some(optimize) = &self.optimize {
            optimize.check(to);
        }
    }

    /// Checks that the axes form at least one point and not too many points.
    fn check_points(&self, to: &mut Checker) {
        if self.sweep.design == Design::List {
            let wanted = self.axis[0].count();
            for (i, axis) in self.axis.iter().enumerate() {
                let got = axis.count();
                if got != wanted {
                    to.section = format!("axis[{i}]");
                    let rule = "point i of a list uses value i of every axis";
                    to.add("", format!("{got} values, but {wanted} on the first axis; {rule}"));
                }
            }
        }
        to.section = "sweep".into();
        to.count("max_points", self.count(), "points", 1, self.sweep.max_points.min(MOST_POINTS));
    }

    /// Returns the number of points without the base.
    pub fn count(&self) -> u64 {
        let counts = self.axis.iter().map(Axis::count);
        match self.sweep.design {
            Design::Grid => counts.fold(1, u64::saturating_mul),
            Design::Each => counts.fold(0, u64::saturating_add),
            Design::List => counts.min().unwrap_or(0),
            Design::Latin | Design::Sobol => self.sweep.points,
        }
    }
}

impl Axis {
    /// Returns the number of values of the axis.
    fn count(&self) -> u64 {
        self.levels().len() as u64
    }

    fn check(&self, to: &mut Checker) {
        if self.key.trim().is_empty() {
            to.add("key", "an axis needs a key, such as \"job.reduces\"");
        }
        let ends = self.from.is_some() || self.to.is_some();
        let finer = ends || self.steps.is_some() || self.scale != Scale::Linear || self.whole == Some(true);
        match &self.values {
            Some(_) if finer => {
                to.add("values", "an axis with `values` cannot have `from`, `to`, `steps`, `scale` or `whole`")
            }
            Some(values) => to.count("values", values.len() as u64, "values", 1, MOST_STEPS),
            None => self.check_ends(to),
        }
    }

    fn check_ends(&self, to: &mut Checker) {
        let (Some(from), Some(end)) = (self.from, self.to) else {
            return to.add("", "an axis needs `values`, or `from` and `to`");
        };
        let least = if self.whole == Some(true) { 1 } else { 2 };
        to.count("steps", self.steps.unwrap_or(STEPS), "steps", least, MOST_STEPS);
        for (key, value) in [("from", from), ("to", end)] {
            match self.scale {
                Scale::Linear => to.range(key, value, value.is_finite(), "a finite number"),
                Scale::Log => to.range(
                    key,
                    value,
                    value.is_finite() && value > 0.0,
                    "a finite number above 0, since the scale is logarithmic",
                ),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(text: &str) -> Vec<String> {
        let shown = |p: &PlanProblem| {
            let at = p.span.clone().map_or("?", |span| &text[span]).replace('\n', " ");
            format!("{} @ {at}", p.without_line())
        };
        SweepPlan::from_toml(text).unwrap_err().problems.iter().map(shown).collect()
    }

    #[test]
    fn the_example_is_a_sound_plan() {
        let plan = SweepPlan::from_toml(SweepPlan::example_toml()).unwrap();
        assert_eq!(plan.sweep.design, Design::Each);
        assert!(plan.count() >= 8);
    }

    #[test]
    fn all_problems_are_told_where_they_stand() {
        let text = "[sweep]\nreplications = 1\nuntil = 'x'\nconstraints = ['a < 1', 'a <']\n[[axis]]\nkey = 'a'\nvalues = []\n\
                    [[axis]]\nkey = 'a'\nfrom = 0.0\nto = 2.0\nscale = 'log'\n";
        assert_eq!(
            told(text),
            [
                "`sweep.replications`: 1 replications; there must be 2 to 100000000 @ 1",
                "`sweep.constraints[1]`: expected a number, a name, `#(place)` or `(` @ ",
                "`sweep.until`: `until` applies only to a net (`net`); the goal of a job is its end @ 'x'",
                "`axis[0].values`: 0 values; there must be 1 to 1000000 @ []",
                "`axis[1].from`: 0 is not a finite number above 0, since the scale is logarithmic @ 0.0",
                "`axis[1].key`: another axis also varies `a` @ 'a'",
            ]
        );
    }

    #[test]
    fn too_many_points_and_uneven_lists_are_refused() {
        let many =
            "[sweep]\nmax_points = 5\n[[axis]]\nkey = 'a'\nvalues = [1, 2, 3]\n[[axis]]\nkey = 'b'\nvalues = [1, 2]";
        assert_eq!(told(many), ["`sweep.max_points`: 6 points; there must be 1 to 5 @ 5"]);
        let list =
            "[sweep]\ndesign = 'list'\n[[axis]]\nkey = 'a'\nvalues = [1, 2, 3]\n[[axis]]\nkey = 'b'\nvalues = [1, 2]";
        assert!(told(list)[0].starts_with("`axis[1]`: 2 values, but 3 on the first axis"), "{:?}", told(list));
        assert!(told("[sweep]\nseed = 1")[0].starts_with("`axis`: no axis"));
        assert!(told("[[axis]]\nkey = 'a'\n")[0].starts_with("`axis[0]`: an axis needs `values`, or `from` and `to`"));
    }
}
