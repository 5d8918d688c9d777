//! From text to a sound plan of stages: what must hold for its values, and where in the text a bad one stands.
//!
//! Owns the ranges. It reports every problem, not the first, each with the key's path.

use crate::mapreduce::plan_check::locate;
use crate::stages::plan::{StagePlan, StageSpec, TaskTime};
use std::fmt;
use std::ops::Range;

/// Most tasks of a stage.
pub const MAX_TASKS: u32 = 1_000_000;

/// Most stages of a plan.
pub const MAX_STAGES: usize = 10_000;

/// Largest number in a plan: beyond it, clocks lose their digits.
const LARGEST: f64 = 1e12;

/// A value of a plan that cannot be right.
#[derive(Clone, Debug, PartialEq)]
pub struct StagePlanProblem {
    /// Path of the key, such as `stage[1].cold.fixed_s`.
    pub key: String,
    /// Where the value stands, as bytes of the text; none if the plan was not read from text or leaves it out.
    pub span: Option<Range<usize>>,
    /// What is wrong with it.
    pub fault: String,
}

impl fmt::Display for StagePlanProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}`: {}", self.key, self.fault)
    }
}

/// Why a text is no plan of stages. Correct the text where it points; nothing was loaded.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum StagePlanError {
    /// The text is not TOML, or holds a key or value that plans do not have.
    #[error("{message}")]
    Text {
        /// What the TOML reader says.
        message: String,
        /// Where, as bytes of the text.
        span: Option<Range<usize>>,
    },
    /// Values that are out of range or contradict each other: all of them.
    #[error("{} bad values in the plan, first {}", .0.len(), .0[0])]
    Values(
        /// The problems, in the order of the plan, at least one.
        Vec<StagePlanProblem>,
    ),
}

/// Collects problems.
#[derive(Default)]
struct Checker(Vec<StagePlanProblem>);

impl Checker {
    fn add(&mut self, key: String, fault: String) {
        self.0.push(StagePlanProblem { key, span: None, fault });
    }

    fn number(&mut self, key: impl Into<String>, value: f64, least: f64) {
        if !(least..=LARGEST).contains(&value) {
            self.add(key.into(), format!("{value} is not a number of {least} to {LARGEST:e}"));
        }
    }

    fn count(&mut self, key: &str, count: u32) {
        if !(1..=MAX_TASKS).contains(&count) {
            self.add(key.to_owned(), format!("{count} is not a count of 1 to {MAX_TASKS}"));
        }
    }
}

impl StagePlan {
    /// Reads a plan from TOML.
    ///
    /// # Errors
    ///
    /// [`StagePlanError`], with places in the text.
    pub fn from_toml(text: &str) -> Result<Self, StagePlanError> {
        let bad = |e: toml::de::Error| StagePlanError::Text { message: e.message().to_owned(), span: e.span() };
        let plan: Self = toml::from_str(text).map_err(bad)?;
        let table = toml::de::DeTable::parse(text).map_err(bad)?;
        let mut problems = plan.problems();
        for problem in &mut problems {
            problem.span = locate(&table, &problem.key);
        }
        if problems.is_empty() { Ok(plan) } else { Err(StagePlanError::Values(problems)) }
    }

    /// Whether a text is meant as a plan of this kind: its `kind` is `stages`, or it has stages.
    pub fn is_meant(text: &str) -> bool {
        toml::de::DeTable::parse(text)
            .is_ok_and(|table| ["kind", "stage"].iter().any(|key| table.get_ref().contains_key(*key)))
    }

    /// The plan as TOML text, which [`StagePlan::from_toml`] reads back.
    ///
    /// # Errors
    ///
    /// What TOML cannot express, which no sound plan holds.
    pub fn to_toml(&self) -> Result<String, toml::ser::Error> {
        toml::to_string_pretty(self)
    }

    /// Everything that is wrong with the values, in the order of the plan; empty for a sound plan.
    pub fn problems(&self) -> Vec<StagePlanProblem> {
        let mut to = Checker::default();
        to.number("job.input_mb", self.job.input_mb, f64::MIN_POSITIVE);
        to.count("job.executors", self.job.executors);
        to.count("job.cores", self.job.cores);
        if u64::from(self.job.executors) * u64::from(self.job.cores) > u64::from(MAX_TASKS) {
            to.add("job.cores".to_owned(), format!("more than {MAX_TASKS} slots in all"));
        }
        if let Some(partitions) = self.job.partitions {
            to.count("job.partitions", partitions);
        }
        to.number("job.end_s", self.job.end_s, 0.0);
        if !(0.0..=5.0).contains(&self.run.sigma) {
            to.add("run.sigma".to_owned(), format!("{} is not a number of 0 to 5", self.run.sigma));
        }
        to.number("run.freedom", self.run.freedom, 1.0);
        to.count("run.runs", self.run.runs);
        if !(1..=MAX_STAGES).contains(&self.stage.len()) {
            to.add("stage".to_owned(), format!("{} stages; there must be 1 to {MAX_STAGES}", self.stage.len()));
        }
        for (i, stage) in self.stage.iter().enumerate() {
            check_stage(i, stage, self, &mut to);
        }
        to.0
    }
}

fn check_stage(i: usize, stage: &StageSpec, plan: &StagePlan, to: &mut Checker) {
    let key = |name: &str| format!("stage[{i}].{name}");
    if let Some(bad) = stage.after.iter().find(|before| **before >= i) {
        to.add(key("after"), format!("stage {bad} does not stand before this one, stage {i}"));
    }
    to.number(key("setup_s"), stage.setup_s, 0.0);
    to.number(key("small_mb"), stage.small_mb, 0.0);
    to.number(key("warming"), stage.warming, 0.0);
    if let Some(problem) = stage.law.problem() {
        to.add(key("law"), problem.to_string());
    }
    let tasks = stage.tasks.at(plan.job.input_mb) + f64::from(stage.small_tasks);
    if tasks.is_nan() || tasks > f64::from(MAX_TASKS) {
        to.add(key("tasks"), format!("{tasks} tasks at this input; at most {MAX_TASKS} are allowed"));
    }
    to.number(key("tasks.per_mb"), stage.tasks.per_mb, 0.0);
    to.number(key("data_mb.per_mb"), stage.data_mb.per_mb, 0.0);
    for (name, amount) in [("tasks.fixed", stage.tasks.fixed), ("data_mb.fixed", stage.data_mb.fixed)] {
        to.number(key(name), amount, -LARGEST);
    }
    check_time(&key("cold"), stage.cold, to);
    check_time(&key("warm"), stage.warm, to);
}

fn check_time(key: &str, time: TaskTime, to: &mut Checker) {
    to.number(format!("{key}.fixed_s"), time.fixed_s, 0.0);
    to.number(format!("{key}.per_mb_s"), time.per_mb_s, 0.0);
    to.number(format!("{key}.error"), time.error, 0.0);
}
