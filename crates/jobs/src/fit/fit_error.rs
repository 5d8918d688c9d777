//! Reasons why a model cannot be fitted, with advice.

use std::borrow::Cow;

use tailspn_common::explain::{ErrorKind, Explain};

/// Reasons why a model cannot be fitted.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum FitError {
    /// No log was given. Provide at least one.
    #[error("no log to fit")]
    NoLog,
    /// The log has no stages with dependencies. Provide a Spark event log.
    #[error("{log}: {what}")]
    NotAStageGraph {
        /// The log.
        log: String,
        /// The missing part.
        what: String,
    },
    /// The log has more than one application. Provide one log per run.
    #[error("{log}: {count} applications in one log; a fit needs the log of one application")]
    SeveralApplications {
        /// The log.
        log: String,
        /// Number of applications.
        count: usize,
    },
    /// The log has several MapReduce jobs. Select one.
    #[error("{log}: {} jobs in one log ({})", ids.len(), some(ids))]
    SeveralJobs {
        /// The log.
        log: String,
        /// Ids of the jobs.
        ids: Vec<String>,
    },
    /// The log has no job with this id. Choose one of its jobs.
    #[error("{log}: no job `{id}`; available: {}", some(ids))]
    NoSuchJob {
        /// The log.
        log: String,
        /// The requested id.
        id: String,
        /// The ids in the log.
        ids: Vec<String>,
    },
    /// The job has more tasks than the cluster simulator supports.
    #[error("{log}: {tasks} tasks; at most {most} can be replayed")]
    TooManyTasks {
        /// The log.
        log: String,
        /// Number of tasks.
        tasks: usize,
        /// The limit.
        most: u64,
    },
    /// The job did not finish, or a stage has tasks that never succeeded, so its time is unknown.
    #[error("{log}: {what}")]
    Incomplete {
        /// The log.
        log: String,
        /// The unfinished part.
        what: String,
    },
    /// No task has recorded input bytes. State the input size of each log.
    #[error("{log}: the log does not record the input size")]
    NoInput {
        /// The log.
        log: String,
    },
    /// Some logs do not record the input size, and it is not the same in all logs. State the input size of each log.
    #[error("{log} does not record the input size, and {why}")]
    InputOfSome {
        /// The log without a size.
        log: String,
        /// How it is known that sizes differ, or may differ.
        why: String,
    },
    /// An amount of input for a plan whose logs do not record theirs. Give a multiple of the logged input.
    #[error(
        "the logs of the plan do not record the size of their input, so an input of the run in MB cannot be compared with it"
    )]
    RelativeInput,
    /// The logs have different stages: they are not of the same program.
    #[error("{log} has {what}, {first} has {expected}: these are not runs of one program")]
    OtherJob {
        /// The log that differs.
        log: String,
        /// Stages of that log.
        what: String,
        /// The first log.
        first: String,
        /// The stages of the first log.
        expected: String,
    },
}

/// Returns the first few of some ids.
fn some(ids: &[String]) -> String {
    const MOST: usize = 5;
    let first = ids.iter().take(MOST).cloned().collect::<Vec<_>>().join(", ");
    if ids.len() > MOST { format!("{first}, …") } else { first }
}

impl Explain for FitError {
    fn kind(&self) -> ErrorKind {
        ErrorKind::Log
    }

    fn help(&self) -> Option<Cow<'static, str>> {
        Some(match self {
            Self::NoInput { .. } | Self::InputOfSome { .. } => {
                "add --log-input-size SIZE (of `tool fit`: --input-size) once for each log".into()
            }
            Self::Incomplete { .. } => {
                "add the log of a complete run; `tailspn estimate LOG` predicts the end of a run in progress".into()
            }
            Self::RelativeInput => "give a multiple of the logged input: `--input-size 3x`".into(),
            Self::NotAStageGraph { .. } => "`tailspn why` reads other logs".into(),
            Self::SeveralApplications { .. } => "select one with --app ID".into(),
            Self::SeveralJobs { .. } => "select one with --app ID".into(),
            Self::NoSuchJob { .. } => "select one with --job ID".into(),
            _ => return None,
        })
    }
}
