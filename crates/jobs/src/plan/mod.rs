//! The plan of a job: one type, one TOML schema, one reader for all commands.
//!
//! ```text
//! TOML ──▶ Document ──▶ sections determine the work ──▶ JobPlan
//! ```
//!
//! | sections | the work | model |
//! |---|---|---|
//! | `[profile]`, `[hadoop]`, `[model]` | profile of a small test job | [`crate::mapreduce`] |
//! | `[phases]` | means of the nine phases | [`crate::mapreduce`] |
//! | `[[stage]]` | stages fitted to logs | [`crate::stages`] |
//! | `[[job]]`, `[noise]`, `[slowdown]`, `[failure]`, `[power]`, `[truth]` | jobs, task by task | [`crate::cluster`] |
//!
//! `text` reads documents and collects problems, `explain` translates the TOML reader's errors, `data_size` parses sizes
//! with a unit, `options` modifies a plan, `kinds` finds keys of another kind of plan.

pub mod combined;
pub mod data_size;
mod explain;
mod kinds;
pub mod options;
pub mod problem;
pub mod text;

use std::path::Path;

use tailspn_common::bounded;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

pub use combined::{Asked, REFUSALS, Refusal};
pub use data_size::{DataSize, DataSizeError, InputSize};
pub use options::{Copies, PlanOption, Planned, Planning};
pub use problem::{PlanError, PlanProblem, ProblemKind};
pub use text::{Checker, Document, place};

use crate::cluster::{self, PolicyPlan};
use crate::job::Job;
use crate::mapreduce::task_times::PhaseTimesError;
use crate::mapreduce::{self, LawTables};
use crate::stages::{self, PlannedJob, StagePlan};

/// The plan of a job. The sections of its text determine the kind of work.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(untagged))]
pub enum JobPlan {
    /// Nine phases of map and reduce tasks, from the profile of a test job or from given means.
    MapReduce(Box<mapreduce::Plan>),
    /// Stages fitted to logs.
    Stages(Box<StagePlan>),
    /// Tasks of jobs on a cluster, with their stragglers: for the cluster simulator only.
    Tasks(Box<cluster::Plan>),
}

/// Description of the work in a plan.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Work {
    /// Profile of a test job, or phase means. The default if no section decides.
    #[default]
    MapReduce,
    /// Fitted stages.
    Stages,
    /// Tasks of the cluster simulator.
    Tasks,
}

/// Sections that determine the kind of work; a plan must not have sections of two kinds.
const DECIDING: [(Work, &[&str]); 3] = [
    (Work::MapReduce, &["profile", "phases", "hadoop", "model"]),
    (Work::Stages, &["stage"]),
    (Work::Tasks, &["noise", "slowdown", "failure", "power", "truth"]),
];

/// Reasons why a file has no plan.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// The file cannot be read, or is not UTF-8 text.
    #[error("cannot read `{file}`: {source}")]
    File {
        /// The file.
        file: String,
        /// The cause.
        source: std::io::Error,
    },
    /// The text is not a plan.
    #[error("{file}: {source}")]
    Plan {
        /// The file.
        file: String,
        /// All problems.
        source: PlanError,
    },
}

impl Default for JobPlan {
    /// Returns the default job: [`JobPlan::example_toml`].
    fn default() -> Self {
        Self::MapReduce(Box::default())
    }
}

impl JobPlan {
    /// Reads the plan in a file.
    ///
    /// # Errors
    ///
    /// A file that cannot be read, or any problem of [`JobPlan::from_toml`].
    pub fn open(path: impl AsRef<Path>) -> Result<Self, OpenError> {
        let file = path.as_ref().display().to_string();
        match bounded::read_text(path.as_ref()) {
            Ok(text) => Self::from_toml(&text).map_err(|source| OpenError::Plan { file, source }),
            Err(source) => Err(OpenError::File { file, source }),
        }
    }

    /// Reads a plan from TOML. Missing keys keep their defaults.
    ///
    /// # Errors
    ///
    /// All problems, each with its line.
    ///
    /// ```
    /// use tailspn_jobs::plan::JobPlan;
    ///
    /// let plan = JobPlan::from_toml("[job]\ninput_mb = 640").unwrap();
    /// assert!(matches!(plan, JobPlan::MapReduce(plan) if plan.maps() == 10));
    /// let error = JobPlan::from_toml("[job]\nreducers = 3").unwrap_err();
    /// assert_eq!(error.to_string(), "unknown key `reducers` in [job] (line 2); did you mean `reduces`?");
    /// ```
    pub fn from_toml(text: &str) -> Result<Self, PlanError> {
        Self::read(text, Work::MapReduce)
    }

    /// Reads a plan from TOML; `otherwise` is the kind of work if no section decides.
    ///
    /// # Errors
    ///
    /// Same as [`JobPlan::from_toml`].
    pub fn read(text: &str, otherwise: Work) -> Result<Self, PlanError> {
        let document = Document::parse(text)?;
        let work = work_of(&document)?.unwrap_or(otherwise);
        Self::read_as(document, work).map_err(|error| kinds::with_other_kinds(error, work))
    }

    /// Reads a plan of this kind from a document.
    fn read_as(document: Document<'_>, work: Work) -> Result<Self, PlanError> {
        match work {
            Work::MapReduce => mapreduce::Plan::read(document).map(|plan| Self::MapReduce(Box::new(plan))),
            Work::Stages => StagePlan::read(document).map(|plan| Self::Stages(Box::new(plan))),
            Work::Tasks => cluster::Plan::read(document).map(|plan| Self::Tasks(Box::new(plan))),
        }
    }

    /// Returns the plan as TOML text with every key, which [`JobPlan::from_toml`] can read.
    ///
    /// # Errors
    ///
    /// Values that TOML cannot express; a valid plan has none.
    pub fn to_toml(&self) -> Result<String, toml::ser::Error> {
        match self {
            Self::MapReduce(plan) => plan.to_toml(),
            Self::Stages(plan) => plan.to_toml(),
            Self::Tasks(plan) => toml::to_string_pretty(plan),
        }
    }

    /// Returns the default job as commented TOML text.
    pub fn example_toml() -> &'static str {
        mapreduce::Plan::example_toml()
    }

    /// Returns all problems with the values, in the order of the sections; empty for a valid plan.
    pub fn problems(&self) -> Vec<PlanProblem> {
        match self {
            Self::MapReduce(plan) => plan.problems(),
            Self::Stages(plan) => plan.problems(),
            Self::Tasks(plan) => plan.problems(),
        }
    }

    /// Returns the job in the form that runs task by task; none for a plan of tasks, which has that form already.
    ///
    /// # Errors
    ///
    /// Phase means that are not finite, or a plan with problems.
    pub fn job(&self) -> Result<Option<Job>, PhaseTimesError> {
        match self {
            Self::MapReduce(plan) => mapreduce::job_of(plan).map(Some),
            Self::Stages(plan) => {
                // policies do not model GPUs, and copies need the hosts as machines
                let planned = PlannedJob { gpus: None, ..PlannedJob::of(plan) };
                Ok(Some(stages::job_of(&planned, &LawTables::default())))
            }
            Self::Tasks(_) => Ok(None),
        }
    }

    /// Returns the straggler policies to compare: the policies of the plan. If the plan lists no policies but has
    /// Spark's copies, these are two policies: no copies, and Spark's copies. In all other cases, they are
    /// [`PolicyPlan::compared`].
    pub fn policies(&self) -> Vec<PolicyPlan> {
        let own = match self {
            Self::MapReduce(plan) => &plan.policy,
            Self::Stages(plan) => &plan.policy,
            Self::Tasks(plan) => &plan.policy,
        };
        let copies = if let Self::Stages(plan) = self { plan.speculation } else { None };
        match copies {
            _ if !own.is_empty() => own.clone(),
            Some(copies) => stages::spark_policies(Some(copies.multiplier), Some(copies.quantile)).to_vec(),
            None => PolicyPlan::compared(),
        }
    }

    /// Returns the deadline of the job \[s\], if the plan has one.
    pub fn deadline_s(&self) -> Option<f64> {
        match self {
            Self::MapReduce(plan) => plan.job.deadline_s,
            Self::Stages(plan) => plan.job.deadline_s,
            Self::Tasks(plan) => plan.deadline_s,
        }
    }

    /// Returns the sections that describe the work, for messages.
    pub fn described_by(&self) -> &'static str {
        match self {
            Self::MapReduce(plan) if plan.phases.is_some() => "`[phases]`",
            Self::MapReduce(_) => "`[profile]`",
            Self::Stages(_) => "`[[stage]]`",
            Self::Tasks(_) => "`[[job]]`",
        }
    }
}

/// Returns the kind of work determined by the sections of a plan; none if no section decides.
fn work_of(document: &Document<'_>) -> Result<Option<Work>, PlanError> {
    let table = document.table();
    let mut found: Vec<(Work, &str)> = Vec::new();
    for (work, sections) in DECIDING {
        found.extend(sections.iter().filter(|name| table.contains_key(**name)).map(|name| (work, *name)));
    }
    match table.get("job").map(Spanned::get_ref) {
        Some(DeValue::Array(_)) => found.push((Work::Tasks, "job")),
        Some(_) if !found.iter().any(|(work, _)| *work == Work::Stages) => found.push((Work::MapReduce, "job")),
        _ => {}
    }
    found.sort_by_key(|(_, name)| document.line(name));
    let conflict = |a: (Work, &str), b: (Work, &str)| {
        let both_means = [a.1, b.1].iter().all(|name| ["profile", "phases"].contains(name));
        a.0 != b.0 || (both_means && a.1 != b.1)
    };
    let pairs = found.iter().enumerate().flat_map(|(i, a)| found[i + 1..].iter().map(move |b| (*a, *b)));
    let Some((first, other)) = pairs.into_iter().find(|(a, b)| conflict(*a, *b)) else {
        return Ok(found.first().map(|(work, _)| *work));
    };
    let [first, second] = [first.1, other.1].map(|name| {
        let line = document.line(name).map_or_else(String::new, |line| format!(" (line {line})"));
        format!("`{}`{line}", header(table, name))
    });
    let message = format!("{first} and {second} exclude each other; remove one of the two sections");
    let span = document.key_span(other.1);
    Err(PlanProblem { span, ..PlanProblem::new(ProblemKind::Value, other.1, message) }.into())
}

/// Returns a section's header.
fn header(table: &DeTable<'_>, name: &str) -> String {
    let is_list = table.get(name).is_some_and(|value| value.get_ref().is_array());
    if is_list { format!("[[{name}]]") } else { format!("[{name}]") }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STAGES: &str = "[job]\ninput_mb = 64\nexecutors = 2\ncores = 1\n\
                          [[stage]]\ntasks = { fixed = 4 }\ncold = { fixed_s = 3 }\nwarm = { fixed_s = 1 }\n";

    fn told(text: &str) -> String {
        JobPlan::from_toml(text).unwrap_err().to_string()
    }

    #[test]
    fn sections_decide_what_the_work_is() {
        let work = |text: &str| match JobPlan::from_toml(text).unwrap() {
            JobPlan::MapReduce(_) => Work::MapReduce,
            JobPlan::Stages(_) => Work::Stages,
            JobPlan::Tasks(_) => Work::Tasks,
        };
        assert_eq!(work(""), Work::MapReduce);
        assert_eq!(work("[job]\nreduces = 3"), Work::MapReduce);
        assert_eq!(work("[phases]\nmeans_s = [1, 1, 1, 1, 1, 1, 1, 1, 1]"), Work::MapReduce);
        assert_eq!(work(STAGES), Work::Stages);
        assert_eq!(work("[[job]]\nmaps = 3"), Work::Tasks);
        assert_eq!(work("[noise]\nsigma = 0.1"), Work::Tasks);
        let undecided = JobPlan::read("[[cluster.node]]\ncount = 3", Work::Tasks).unwrap();
        assert!(matches!(undecided, JobPlan::Tasks(plan) if plan.cluster.node[0].count == 3));
    }

    #[test]
    fn plans_of_two_works_are_refused_with_both_lines() {
        assert_eq!(
            told(&format!("{STAGES}[profile]\nmaps = 3")),
            "`[[stage]]` (line 5) and `[profile]` (line 9) exclude each other; remove one of the two sections"
        );
        assert_eq!(
            told("[job]\nreduces = 3\n[noise]\nsigma = 0.1"),
            "`[job]` (line 1) and `[noise]` (line 3) exclude each other; remove one of the two sections"
        );
        assert_eq!(
            told("[hadoop]\n[[job]]\nmaps = 3"),
            "`[hadoop]` (line 1) and `[[job]]` (line 2) exclude each other; remove one of the two sections"
        );
        assert_eq!(
            told("[profile]\nmaps = 2\n[phases]\nmeans_s = [1, 1, 1, 1, 1, 1, 1, 1, 1]"),
            "`[profile]` (line 1) and `[phases]` (line 3) exclude each other; remove one of the two sections"
        );
    }

    #[test]
    fn all_problems_come_at_once_in_plain_words() {
        let text = "[job]\nreducers = 3\ninput_mb = \"many\"\nsplit_mb = 0\n[clutser]\n[model]\nlocality = \"near\"\nslots = 1\n\
                    [[cluster.node]]\ncount = -1\nclock = 3\n";
        assert_eq!(
            told(text).lines().collect::<Vec<_>>(),
            [
                "unknown key `reducers` in [job] (line 2); did you mean `reduces`?",
                "`job.input_mb`: \"many\" is not a number (line 3)",
                "unknown section [clutser] (line 5); did you mean `cluster`?",
                "`model.locality`: \"near\" is not one of \"mean\", \"drawn\" (line 7)",
                "`model.slots`: 1 is not true or false (line 8)",
                "`cluster.node[0].count`: -1 is not a whole number of at least 0 (line 10)",
                "unknown key `clock` in [[cluster.node]] (line 11)",
                "`job.split_mb`: 0 is not a finite number above 0 (line 4)",
            ]
        );
        assert_eq!(told("[job]\nname = 'a\n[x").lines().count(), 2);
    }

    #[test]
    fn written_plans_read_back_the_same() {
        for text in ["", STAGES, "[[job]]\nmaps = 3\n", "[phases]\nmeans_s = [1, 1, 1, 1, 1, 1, 1, 1, 1]"] {
            let plan = JobPlan::from_toml(text).unwrap();
            assert_eq!(JobPlan::from_toml(&plan.to_toml().unwrap()).unwrap(), plan);
        }
        assert_eq!(JobPlan::from_toml(JobPlan::example_toml()).unwrap(), JobPlan::default());
    }
}
