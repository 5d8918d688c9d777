//! The plan of an optimisation, written in TOML: the deadline, the choices, and the cost.
//!
//! Defines the plan's keys, their defaults and their checks. Only the code that builds the points' models knows the meaning of an axis key.

use serde::{Deserialize, Serialize};

use crate::optimize::judge::Measure;
use crate::optimize::settings::Settings;
use crate::plan::{Checker, Document, PlanError, PlanProblem};
use crate::sweep::plan::{self, Axis, Scale, SweepPlan, check_axes};

/// An optimisation: a sweep with a deadline, and the choices to meet it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct OptimizePlan {
    /// Settings of the points: `base`, `net`, `until`, `replications` (for the first check of a point; default 500),
    /// `seed` and `max_points` (default 10,000). The other keys of a sweep have no effect and are refused.
    pub sweep: plan::Settings,
    /// The question, and the required confidence.
    pub optimize: Settings,
    /// Axes of the choice; at least one.
    pub axis: Vec<Axis>,
}

impl Default for OptimizePlan {
    fn default() -> Self {
        let (replications, max_points) = (plan::FIRST_LOOK, plan::MOST_CHOICES);
        let sweep = plan::Settings { replications, max_points, ..plan::Settings::default() };
        Self { sweep, optimize: Settings::default(), axis: Vec::new() }
    }
}

/// Maximum number of axes.
const MOST_AXES: u64 = 16;
/// Maximum number of values of an axis.
const MOST_VALUES: u64 = 1_000_000;

impl OptimizePlan {
    /// Reads a plan from TOML; omitted keys have their defaults.
    ///
    /// # Errors
    ///
    /// All problems, each with its position.
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
        let mut document = Document::parse(text)?;
        plan::set_defaults_of_choices(&mut document);
        let plan = document.read(Self::problems)?;
        Ok(Self { axis: plan.axis.into_iter().map(Axis::into_choice).collect(), ..plan })
    }

    /// Returns the sweep plan that has the same points.
    pub fn as_sweep(&self) -> SweepPlan {
        let (sweep, axis) = (self.sweep.clone(), self.axis.iter().cloned().map(Axis::into_choice).collect());
        SweepPlan { sweep, optimize: Some(self.optimize.clone()), axis }
    }

    /// Returns a commented plan that shows every key.
    pub fn example_toml() -> &'static str {
        include_str!("../../models/deadline.toml")
    }

    /// Returns the measure; the plan must be valid.
    pub fn measure(&self) -> Measure {
        Measure::parse(&self.optimize.measure).unwrap_or(Measure::Mean)
    }

    /// Returns the number of points.
    pub fn count(&self) -> u64 {
        self.axis.iter().map(|axis| axis.clone().into_choice().levels().len() as u64).fold(1, u64::saturating_mul)
    }

    /// Returns all problems of the values; empty for a valid plan.
    pub fn problems(&self) -> Vec<PlanProblem> {
        let mut to = Checker::new();
        self.check_settings(&mut to);
        to.section = String::new();
        check_axes(&self.axis, MOST_AXES, &mut to, check_choice);
        if to.problems.is_empty() {
            to.section = "sweep".into();
            to.count("max_points", self.count(), "points", 1, self.sweep.max_points);
        }
        to.problems
    }

    fn check_settings(&self, to: &mut Checker) {
        self.optimize.check(to);
        to.section = "sweep".into();
        to.count("replications", self.sweep.replications, "replications", 2, self.optimize.max_replications.max(2));
        self.sweep.check_subject(to);
        for (key, is_set) in self.sweep.set_for_sweeps() {
            if is_set {
                to.add(key, "`[optimize]` does not use it; remove it");
            }
        }
    }
}

/// Checks an axis of the choice.
fn check_choice(axis: &Axis, to: &mut Checker) {
    if axis.key.trim().is_empty() {
        to.add("key", "an axis needs a key, such as \"cluster.node[0].count\"");
    }
    let finer = axis.from.is_some() || axis.to.is_some() || axis.steps.is_some() || axis.whole.is_some();
    if let Some(values) = &axis.values {
        to.count("values", values.len() as u64, "values", 1, MOST_VALUES);
        if finer {
            to.add("values", "an axis needs `values`, or `from` and `to`, but not both");
        }
        return;
    }
    let (Some(from), Some(end)) = (axis.from, axis.to) else {
        return to.add("", "an axis needs `values`, or `from` and `to`, but not both");
    };
    for (key, value) in [("from", from), ("to", end)] {
        to.range(key, value, value.is_finite() && value.abs() < 1e15, "a number below 10^15");
        to.range(
            key,
            value,
            axis.scale == Scale::Linear || value > 0.0,
            "a number above 0, since the scale is logarithmic",
        );
    }
    if axis.steps.is_none() && axis.whole == Some(false) {
        to.add("whole", "fractional values need `steps`");
    }
    // a single whole number is allowed as well
    let least = if axis.steps.is_some() { 2 } else { 1 };
    to.count("steps", axis.clone().into_choice().steps.unwrap_or(1), "values", least, MOST_VALUES);
}

#[cfg(test)]
mod tests {
    use super::*;
    use toml::Value;

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
                "`axis[1].key`: another axis also varies `a`",
                "`axis[2].whole`: fractional values need `steps`",
            ]
        );
        let many = "sweep.max_points = 5\noptimize.deadline_s = 1\n[[axis]]\nkey = 'a'\nfrom = 1\nto = 6";
        assert_eq!(told(many), ["`sweep.max_points`: 6 points; there must be 1 to 5"]);
    }

    #[test]
    fn settings_of_points_have_the_defaults_of_a_search() {
        let axis = "[[axis]]\nkey = 'a'\nfrom = 3\nto = 6\n";
        let plan = OptimizePlan::from_toml(&format!("[sweep]\nbase = 'job.toml'\n{axis}")).unwrap();
        assert_eq!((plan.sweep.replications, plan.sweep.max_points), (500, 10_000));
        assert_eq!(OptimizePlan::default().sweep, OptimizePlan::from_toml(axis).unwrap().sweep);
        let own = OptimizePlan::from_toml(&format!("[sweep]\nreplications = 7\nmax_points = 70\n{axis}")).unwrap();
        assert_eq!((own.sweep.replications, own.sweep.max_points), (7, 70));
        let misplaced = told(&format!("[optimize]\nseed = 3\n{axis}"));
        assert!(misplaced[0].starts_with("unknown key `seed` in [optimize]"), "{misplaced:?}");
    }

    #[test]
    fn keys_of_sweeps_without_effect_are_refused() {
        let text = "[sweep]\ndesign = 'each'\nconstraints = ['a > 1']\n[[axis]]\nkey = 'a'\nfrom = 3\nto = 6\n";
        let expected =
            ["design", "constraints"].map(|key| format!("`sweep.{key}`: `[optimize]` does not use it; remove it"));
        assert_eq!(told(text), expected);
    }

    #[test]
    fn an_axis_of_whole_numbers_has_every_number() {
        let plan = OptimizePlan::from_toml("optimize.deadline_s = 1\n[[axis]]\nkey = 'a'\nfrom = 3\nto = 6").unwrap();
        assert_eq!(plan.axis[0].levels(), [3, 4, 5, 6].map(Value::Integer));
    }
}
