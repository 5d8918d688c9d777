//! The plan of an optimisation, as a person writes it in TOML: the deadline, what may be chosen, and what it costs.
//!
//! Owns the plan's keys, their defaults and their checks. What a key of an axis means is known only to whoever makes the points' models.

use serde::{Deserialize, Serialize};
use toml::Value;

use crate::optimize::cost::{Cost, NODES};
use crate::optimize::judge::Measure;
use crate::plan::{Checker, Document, Loaded, PlanError, PlanProblem, Rename};
use crate::sweep::plan::rename_keys;
use crate::sweep::{self, Axis, Scale, SweepPlan};

/// An optimisation: a sweep with a deadline, and the choices to meet it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct OptimizePlan {
    /// What the points are: `base`, `net`, `until`, `replications` (at the first look at a point; default 500), `seed` and
    /// `max_points` (default 10,000). The other keys of a sweep have no effect and are refused.
    pub sweep: sweep::Settings,
    /// What is asked, and how sure the answer must be.
    pub optimize: Settings,
    /// What may be chosen; at least one.
    pub axis: Vec<Variable>,
}

/// What is asked, and how sure the answer must be.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// What must be at most the deadline: `mean`, or a quantile such as `p95` or `p99.9`. Default `p95`.
    pub measure: String,
    /// The deadline \[s\], > 0. Default: `job.deadline_s` of the base.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deadline_s: Option<f64>,
    /// Probability with which every decision on the way is right, in (0, 1). Default 0.95.
    pub confidence: f64,
    /// A point whose measure is this near to the deadline, as a share of it, may stay undecided; in [0, 1). Default 0.01.
    pub indifference: f64,
    /// What a point costs: an expression over `nodes` (workers of the job), keys that are names, and names of axes. Default `nodes`.
    pub cost: String,
    /// What a point costs for each second of its mean time, on top of that: an expression as `cost`, nowhere below 0, such as `nodes / 3600`
    /// for node-hours. Default none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost_per_s: Option<String>,
    /// How points are looked at. Default `auto`.
    pub search: Search,
    /// Replications after which a point stays undecided, at most 100,000,000. Default 1,000,000.
    pub max_replications: u64,
}

impl Default for OptimizePlan {
    fn default() -> Self {
        let sweep = sweep::Settings { replications: 500, max_points: 10_000, ..sweep::Settings::default() };
        Self { sweep, optimize: Settings::default(), axis: Vec::new() }
    }
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

/// How points are looked at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Search {
    /// By comparison where a cost depends on the time, by bisection where that is right, else by rising cost.
    #[default]
    Auto,
    /// By bisection: one axis, along which cost rises and the job gets faster.
    Bisection,
    /// By rising cost, until a point meets the deadline.
    Rising,
    /// Points that meet the deadline, until intervals tell their costs apart: where `cost_per_s` is given.
    Comparison,
}

/// In which direction of an axis the measure falls, whatever the other axes are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Faster {
    /// Nobody knows: nothing is concluded from one value about another.
    #[default]
    Unknown,
    /// Never slower with a value later in the list.
    Up,
    /// Never slower with a value earlier in the list.
    Down,
}

/// Something that may be chosen.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Variable {
    /// What it is: the path of a key in a job's plan, such as `cluster.node[0].count`, or a net's rate parameter.
    pub key: String,
    /// What it is called in results and in the cost. Default: the key.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Its values; else they lie between `from` and `to`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub values: Option<Vec<Value>>,
    /// First value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<f64>,
    /// Last value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to: Option<f64>,
    /// How many values there are between the ends, both among them, >= 2. Default: every whole number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub steps: Option<u64>,
    /// Whether values between the ends are whole numbers. Default true.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub whole: Option<bool>,
    /// In which direction the job gets faster. Default `unknown`.
    pub faster: Faster,
}

/// Keys of plans of optimisations that had another name before 0.2.
pub const OPTIMIZE_RENAMES: [Rename; 7] = [
    Rename::to("optimize.base", "sweep.base"),
    Rename::to("optimize.net", "sweep.net"),
    Rename::to("optimize.until", "sweep.until"),
    Rename::to("optimize.seed", "sweep.seed"),
    Rename::to("optimize.replications", "sweep.replications"),
    Rename::to("optimize.most_points", "sweep.max_points"),
    Rename::to("optimize.most_replications", "optimize.max_replications"),
];

/// Most axes.
const MOST_AXES: u64 = 16;
/// Most values of an axis.
const MOST_VALUES: u64 = 1_000_000;
/// Most replications of a point: its times are kept.
const MOST_REPLICATIONS: u64 = 100_000_000;

impl OptimizePlan {
    /// Reads a plan from TOML; keys left out keep their defaults.
    ///
    /// # Errors
    ///
    /// All problems, each with its place.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tailspn_studies::optimize::OptimizePlan;
    /// let text = "optimize.deadline_s = 90\n[[axis]]\nkey = \"job.reduces\"\nfrom = 10\nto = 40";
    /// let plan = OptimizePlan::from_toml(text).unwrap();
    /// assert_eq!(plan.count(), 31);
    /// ```
    pub fn from_toml(text: &str) -> Result<Self, PlanError> {
        Self::read(text).map(|loaded| loaded.plan)
    }

    /// Reads a plan from TOML, with the warnings about old names.
    ///
    /// # Errors
    ///
    /// As [`OptimizePlan::from_toml`].
    pub fn read(text: &str) -> Result<Loaded<Self>, PlanError> {
        let mut document = Document::parse(text, &OPTIMIZE_RENAMES)?;
        // as `Default` has them
        document.set_default("sweep.replications", "500");
        document.set_default("sweep.max_points", "10_000");
        let mut loaded = document.read(Self::problems)?;
        let keys = loaded.plan.axis.iter_mut().map(|axis| &mut axis.key);
        loaded.warnings.extend(rename_keys(text, keys));
        Ok(loaded)
    }

    /// The points as those of a sweep.
    pub fn as_sweep(&self) -> SweepPlan {
        SweepPlan { sweep: self.sweep.clone(), axis: self.axis.iter().map(Variable::axis).collect() }
    }

    /// A commented plan that shows every key.
    pub fn example_toml() -> &'static str {
        include_str!("../../models/deadline.toml")
    }

    /// The measure; that of a sound plan.
    pub fn measure(&self) -> Measure {
        Measure::parse(&self.optimize.measure).unwrap_or(Measure::Mean)
    }

    /// Number of points.
    pub fn count(&self) -> u64 {
        self.axis.iter().map(|axis| axis.levels().len() as u64).fold(1, u64::saturating_mul)
    }

    /// Everything that is wrong with the values; empty for a sound plan.
    pub fn problems(&self) -> Vec<PlanProblem> {
        let mut to = Checker::new();
        self.check_settings(&mut to);
        to.section = String::new();
        to.count("axis", self.axis.len() as u64, "axes", 1, MOST_AXES);
        for (i, axis) in self.axis.iter().enumerate() {
            to.section = format!("axis[{i}]");
            axis.check(&mut to);
            if self.axis[..i].iter().any(|other| other.key == axis.key) {
                to.add("key", format!("another axis varies `{}` too", axis.key));
            }
        }
        if to.problems.is_empty() {
            to.section = "sweep".into();
            to.count("max_points", self.count(), "points", 1, self.sweep.max_points);
        }
        to.problems
    }

    fn check_settings(&self, to: &mut Checker) {
        let settings = &self.optimize;
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
        let fits = match settings.search {
            Search::Auto => true,
            Search::Comparison => settings.cost_per_s.is_some(),
            Search::Bisection | Search::Rising => settings.cost_per_s.is_none(),
        };
        if !fits {
            to.add("search", "costs that depend on the time (`cost_per_s`) need `comparison`, and only they");
        }
        let (confidence, zone) = (settings.confidence, settings.indifference);
        to.range("confidence", confidence, confidence > 0.0 && confidence < 1.0, "a share between 0 and 1");
        to.range("indifference", zone, (0.0..1.0).contains(&zone), "a share from 0 to below 1");
        let most = settings.max_replications;
        to.count("max_replications", most, "replications", 2, MOST_REPLICATIONS);
        to.section = "sweep".into();
        to.count("replications", self.sweep.replications, "replications", 2, most.max(2));
        self.sweep.check_subject(to);
        for (key, is_set) in self.sweep.set_for_sweeps() {
            if is_set {
                to.add(key, "`optimize` does not use it; leave it out");
            }
        }
    }
}

impl Variable {
    /// What it is called in results.
    pub fn title(&self) -> &str {
        self.name.as_deref().unwrap_or(&self.key)
    }

    /// The same as an axis of a sweep.
    pub fn axis(&self) -> Axis {
        let whole = self.whole.unwrap_or(self.values.is_none());
        let all = || match (self.from, self.to) {
            // `as` stops at the ends of u64, and 0 is refused by the check
            (Some(from), Some(to)) => (to.round() - from.round()).abs() as u64 + 1,
            _ => 1,
        };
        let steps = self.values.is_none().then(|| self.steps.unwrap_or_else(all));
        Axis {
            key: self.key.clone(),
            name: self.name.clone(),
            values: self.values.clone(),
            from: self.from,
            to: self.to,
            steps,
            scale: Scale::Linear,
            whole,
        }
    }

    /// Its values, in order.
    pub fn levels(&self) -> Vec<Value> {
        self.axis().levels()
    }

    fn check(&self, to: &mut Checker) {
        if self.key.trim().is_empty() {
            to.add("key", "an axis needs a key, such as \"cluster.node[0].count\"");
        }
        let finer = self.from.is_some() || self.to.is_some() || self.steps.is_some() || self.whole.is_some();
        if let Some(values) = &self.values {
            to.count("values", values.len() as u64, "values", 1, MOST_VALUES);
            if finer {
                to.add("values", "an axis needs `values`, or `from` and `to`, but not both");
            }
            return;
        }
        let (Some(from), Some(end)) = (self.from, self.to) else {
            return to.add("", "an axis needs `values`, or `from` and `to`, but not both");
        };
        for (key, value) in [("from", from), ("to", end)] {
            to.range(key, value, value.is_finite() && value.abs() < 1e15, "a number below 10^15");
        }
        if self.steps.is_none() && self.whole == Some(false) {
            to.add("whole", "values that are not whole need `steps`");
        }
        let steps = self.axis().steps.unwrap_or(1);
        // one whole number is a choice too, if a poor one
        to.count("steps", steps, "values", if self.steps.is_some() { 2 } else { 1 }, MOST_VALUES);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(text: &str) -> Vec<String> {
        OptimizePlan::from_toml(text).unwrap_err().problems.iter().map(PlanProblem::without_line).collect()
    }

    #[test]
    fn the_example_is_a_sound_plan() {
        let plan = OptimizePlan::from_toml(OptimizePlan::example_toml()).unwrap();
        assert!(plan.count() > 4);
    }

    #[test]
    fn all_problems_are_told() {
        let text = "[optimize]\nmeasure = 'median'\nconfidence = 1\ncost = '2 *'\n[sweep]\nreplications = 1\n[[axis]]\nkey = 'a'\n\
                    values = []\n[[axis]]\nkey = 'a'\nfrom = 1\n[[axis]]\nkey = 'b'\nfrom = 0\nto = 1\nwhole = false\n";
        assert_eq!(
            told(text),
            [
                "`optimize.measure`: `median` is not a measure, such as `mean`, `p95` or `p99.9`",
                "`optimize.cost`: the cost: expected a number, a name, `#(place)` or `(`",
                "`optimize.confidence`: 1 is not a share between 0 and 1",
                "`sweep.replications`: 1 replications; there must be 2 to 1000000",
                "`axis[0].values`: 0 values; there must be 1 to 1000000",
                "`axis[1]`: an axis needs `values`, or `from` and `to`, but not both",
                "`axis[1].key`: another axis varies `a` too",
                "`axis[2].whole`: values that are not whole need `steps`",
            ]
        );
        let many = "sweep.max_points = 5\noptimize.deadline_s = 1\n[[axis]]\nkey = 'a'\nfrom = 1\nto = 6";
        assert_eq!(told(many), ["`sweep.max_points`: 6 points; there must be 1 to 5"]);
    }

    /// Every old name, and the same plan with the new names.
    #[test]
    fn every_old_name_is_read_with_one_warning() {
        let axis = "[[axis]]\nkey = 'a'\nfrom = 3\nto = 6\n";
        let old = format!(
            "[optimize]\nnet = 'n.xml'\nuntil = 'x'\nseed = 3\nreplications = 7\nmost_points = 70\nmost_replications = 700\n{axis}"
        );
        let new = format!(
            "[sweep]\nnet = 'n.xml'\nuntil = 'x'\nseed = 3\nreplications = 7\nmax_points = 70\n[optimize]\n\
             max_replications = 700\n{axis}"
        );
        let [old, new] = [old, new].map(|text| OptimizePlan::read(&text).unwrap());
        assert_eq!((&old.plan, new.warnings), (&new.plan, Vec::new()));
        let base = OptimizePlan::read(&format!("[optimize]\nbase = 'job.toml'\n{axis}")).unwrap();
        assert_eq!(base.plan.sweep.base.as_deref(), Some("job.toml"));
        assert_eq!((base.plan.sweep.replications, base.plan.sweep.max_points), (500, 10_000));
        assert_eq!(OptimizePlan::default().sweep, OptimizePlan::from_toml(axis).unwrap().sweep);
        let warnings: Vec<_> = old.warnings.iter().chain(&base.warnings).map(|warning| &warning.message).collect();
        for rename in OPTIMIZE_RENAMES {
            let start = format!("`{}` is now `{}` (line ", rename.old, rename.new.unwrap());
            assert_eq!(
                warnings.iter().filter(|message| message.starts_with(&start)).count(),
                1,
                "{rename:?} {warnings:?}"
            );
        }
        assert_eq!(warnings.len(), OPTIMIZE_RENAMES.len());
    }

    #[test]
    fn keys_of_sweeps_without_effect_are_refused() {
        let text = "[sweep]\ndesign = 'each'\nconstraints = ['a > 1']\n[[axis]]\nkey = 'a'\nfrom = 3\nto = 6\n";
        let expected =
            ["design", "constraints"].map(|key| format!("`sweep.{key}`: `optimize` does not use it; leave it out"));
        assert_eq!(told(text), expected);
    }

    #[test]
    fn whole_numbers_are_all_met() {
        let plan = OptimizePlan::from_toml("optimize.deadline_s = 1\n[[axis]]\nkey = 'a'\nfrom = 3\nto = 6").unwrap();
        assert_eq!(plan.axis[0].levels(), [3, 4, 5, 6].map(Value::Integer));
    }
}
