//! Reason why a study has no result.

use std::any::Any;
use std::borrow::Cow;
use std::ops::Range;

use tailspn_common::explain::{ErrorKind, Explain};

use crate::Problems;
use crate::answer::AnswerError;
use crate::cluster::ExperimentError;
use crate::estimate::{CompareError, EstimateError};
use crate::fit::FitError;
use crate::job_time::{NoCopies, OwnRun};
use crate::optimize::PriceError;
use crate::plan;
use crate::sensitivity::SensitivityError;
use crate::share::ShareError;
use crate::sim::{RunError, ScoreError, UnfitError};
use crate::solve::GridError;
use crate::subject::LoadError;
use crate::sweep::{BatchError, StoreError, constraint};

/// A key of a study's plan that cannot be used, and why.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{message}")]
pub struct KeyProblem {
    /// Explains the problem.
    pub message: String,
    /// Path of the key in the plan, such as `axis[0].values[2]`; none if the problem belongs to no key.
    pub key: Option<String>,
    /// Byte range of the faulty part of the key's text; none for all of it.
    pub within: Option<Range<usize>>,
}

impl KeyProblem {
    /// A problem with a key of the plan.
    pub(crate) fn at(key: impl Into<String>, message: impl Into<String>) -> Self {
        Self { message: message.into(), key: Some(key.into()), within: None }
    }

    /// Returns the position of the problem in the text of the plan, as a range of bytes.
    pub fn place(&self, text: &str) -> Option<Range<usize>> {
        let key = self.key.as_deref()?;
        let index = key.strip_prefix("sweep.constraints[").and_then(|rest| rest.strip_suffix(']')?.parse().ok());
        match (index, &self.within) {
            (Some(index), Some(within)) => constraint::place(text, index, within.clone()),
            _ => plan::place(text, key),
        }
    }
}

/// Reason why a study has no result.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StudyError {
    /// The job or net of the study cannot be read.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// A text that is not the plan of a study.
    #[error(transparent)]
    Text(#[from] plan::PlanError),
    /// Options that do not apply to the job or net, or values out of range.
    #[error(transparent)]
    Options(plan::PlanError),
    /// Keys of the plan that cannot be used, at least one.
    #[error(transparent)]
    Plan(#[from] Problems<KeyProblem>),
    /// Settings of one run that do not form a valid job or net.
    #[error("{0}")]
    Model(String),
    /// The net of a job needs too much memory.
    #[error("the net of {tasks} tasks needs about {} MiB of memory, more than {} MiB", needed >> 20, limit >> 20)]
    LargeNet {
        /// Number of tasks.
        tasks: u64,
        /// Approximate memory of the net \[bytes\].
        needed: u64,
        /// Maximum memory \[bytes\].
        limit: u64,
    },
    /// Replications that cannot be run.
    #[error(transparent)]
    Run(#[from] RunError),
    /// This process ran only part of the replications: there is no result until all parts are merged.
    #[error("only part of the replications ran; merge all parts to get a result")]
    Part,
    /// Shards that do not form a complete run.
    #[error(transparent)]
    Share(#[from] ShareError),
    /// Replications that end without reaching the goal, so that they have no time.
    #[error("{missing} of {replications} replications did not reach the goal")]
    Unreached {
        /// Replications that did not reach the goal.
        missing: u64,
        /// All replications.
        replications: u64,
    },
    /// A net that does not reach its goal within the maximum number of firings.
    #[error("the net does not stop: after {firings} firings it has not reached its goal")]
    Endless {
        /// The maximum number of firings.
        firings: u64,
    },
    /// A run of a sweep that failed.
    #[error(transparent)]
    Batch(#[from] BatchError<StoreError>),
    /// Results that cannot be stored or read.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The base of a resumed sweep differs from the stored base.
    #[error("the result of the base differs from the stored result, so the sweep cannot be resumed")]
    BaseChanged,
    /// A sensitivity without an answer.
    #[error(transparent)]
    Sensitivity(#[from] SensitivityError),
    /// Numbers that do not allow an estimate.
    #[error(transparent)]
    Estimate(#[from] EstimateError),
    /// A net whose derivatives by likelihood ratios do not exist.
    #[error(transparent)]
    Score(ScoreError),
    /// Too few replications to measure their noise.
    #[error("at least {need} replications are needed to estimate the noise")]
    TooFewReplications {
        /// The minimum number of replications.
        need: u64,
    },
    /// A net without a plan has no ranges for its rate parameters.
    #[error("a net without a plan has no ranges for its rate parameters")]
    NoRanges,
    /// Derivatives of quantiles need a schedule.
    #[error("derivatives of quantiles need a schedule, and this net is not one{}", first(.reasons))]
    NotSchedule {
        /// Reasons why the net is not a schedule.
        reasons: UnfitError,
    },
    /// Paths that the schedule engine cannot follow.
    #[error(transparent)]
    Unfit(#[from] UnfitError),
    /// A price or job for which no cheapest size can be sought.
    #[error(transparent)]
    Price(#[from] PriceError),
    /// Bisection was requested, but may give a wrong result.
    #[error("bisection needs a single axis along which the cost rises and the job gets faster")]
    NoBisection,
    /// A plan that does not reproduce its own runs, and a question that asks for advice.
    #[error("{}", misfit(.0))]
    Misfit(Box<OwnRun>),
    /// More lists than a table has dimensions.
    #[error("a table takes one or two lists, not {}: {}", .names.len(), .names.join(", "))]
    Lists {
        /// The options with lists.
        names: Vec<String>,
    },
    /// A table with too many rows.
    #[error("{rows} configurations are too many for a table; {most} is the maximum")]
    ManyRows {
        /// Number of rows.
        rows: u128,
        /// Maximum number of rows.
        most: usize,
    },
    /// A plan that is simulated task by task only.
    #[error("`{question}` cannot run a plan of {described_by}, which is simulated task by task")]
    TaskByTask {
        /// The command.
        question: &'static str,
        /// The sections that describe the work.
        described_by: &'static str,
    },
    /// The exact time of a job of stages.
    #[error("no formula exists for a job of stages whose tasks wait for slots")]
    NoFormula,
    /// A job without an exact time.
    #[error(
        "the exact time of the job cannot be computed by a formula ({formula}), from the parts of its net ({parts}) or from its states ({states})"
    )]
    NoExactTime {
        /// Explains why there is no formula.
        formula: String,
        /// The reason why it cannot be computed from the parts of the net.
        parts: String,
        /// The reason why it cannot be computed from the states of the net.
        states: String,
    },
    /// An exact answer that cannot be computed.
    #[error(transparent)]
    Answer(#[from] AnswerError),
    /// Quantiles that cannot be computed from the parts of a net.
    #[error(transparent)]
    Grid(#[from] GridError),
    /// A log of a different run.
    #[error(transparent)]
    Log(#[from] FitError),
    /// A run in which no task has finished, without a plan.
    #[error("no task has finished yet: without a plan, no prediction is possible")]
    TooEarly,
    /// A run in which no job is running now, without a plan.
    #[error("no job is running now, and without a plan, later jobs of the program cannot be predicted")]
    BetweenJobs,
    /// A simulation that was stopped before any replication finished.
    #[error("the simulation stopped before any replication finished")]
    NoReplication,
    /// A job that cannot run with speculative copies.
    #[error(transparent)]
    NoCopies(#[from] NoCopies),
    /// A simulation of tasks that cannot be run.
    #[error(transparent)]
    Experiment(#[from] ExperimentError),
    /// Policies that cannot be compared.
    #[error(transparent)]
    Compare(#[from] CompareError),
    /// An operating system that does not start the threads.
    #[error("cannot start threads: {0}")]
    Threads(#[from] rayon::ThreadPoolBuildError),
    /// A plan that cannot be written out.
    #[error("cannot write the plan: {0}")]
    Written(#[from] toml::ser::Error),
}

fn misfit(found: &OwnRun) -> String {
    let said: String = found.warning().iter().map(ToString::to_string).collect();
    said.trim_end().to_owned()
}

fn first(reasons: &UnfitError) -> String {
    reasons.first().map_or_else(String::new, |reason| format!(": {reason}"))
}

impl Explain for StudyError {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::Part => ErrorKind::Part,
            Self::Misfit(_) => ErrorKind::Unmet,
            Self::Load(_)
            | Self::Text(_)
            | Self::Plan(_)
            | Self::Model(_)
            | Self::NoBisection
            | Self::TaskByTask { .. }
            | Self::NoCopies(NoCopies::Job(_)) => ErrorKind::Model,
            Self::Options(_)
            | Self::Lists { .. }
            | Self::ManyRows { .. }
            | Self::NoRanges
            | Self::TooFewReplications { .. } => ErrorKind::Usage,
            Self::Estimate(_) | Self::Threads(_) | Self::Written(_) => ErrorKind::Internal,
            Self::Run(error) => error.kind(),
            Self::Batch(error) => error.kind(),
            Self::Store(error) => error.kind(),
            Self::Sensitivity(error) => error.kind(),
            Self::Price(error) => error.kind(),
            Self::Answer(error) => error.kind(),
            Self::Log(error) => error.kind(),
            _ => ErrorKind::Refused,
        }
    }

    fn help(&self) -> Option<Cow<'static, str>> {
        Some(match self {
            Self::Run(error) => return error.help(),
            Self::Batch(error) => return error.help(),
            Self::Store(error) => return error.help(),
            Self::Sensitivity(error) => return error.help(),
            Self::Price(error) => return error.help(),
            Self::Answer(error) => return error.help(),
            Self::Log(error) => return error.help(),
            Self::Endless { .. } => {
                "set another goal with --until, or with `sweep.until` in a plan, such as \"#(done) >= 3\"".into()
            }
            Self::LargeNet { .. } => {
                "plan fewer tasks; without speculative copies, and with `model.slots`, a job of any size runs task by task".into()
            }
            Self::NotSchedule { .. } => "use --measure mean, or --method each with a plan".into(),
            Self::Lists { .. } => "use `tailspn study`, which takes any number of settings; see docs/sweeps.md".into(),
            Self::ManyRows { .. } => "shorten a list, such as 8,16,32 instead of 8..32".into(),
            Self::NoRanges => {
                "write a plan with `sweep.net` and axes with `from` and `to`; see docs/sensitivity.md".into()
            }
            Self::NoBisection => "set `faster = \"up\"` or `\"down\"`, or use `search = \"rising\"`".into(),
            Self::Misfit(_) => {
                "`tailspn estimate PLAN` without a deadline, list or policy prints what the plan can say; `--trust-misfit` answers all the same".into()
            }
            Self::TaskByTask { .. } => "use `tailspn whatif PLAN`".into(),
            Self::NoFormula => "remove `--method`, or write the net with `--save-net` and use `net solve`".into(),
            Self::NoExactTime { .. } => "use `--method simulate`, which does not have this limit".into(),
            Self::TooEarly | Self::BetweenJobs => {
                "add the log of an earlier run, or a plan that `tailspn tool fit` made of earlier runs".into()
            }
            _ => return None,
        })
    }

    fn evidence(&self) -> Option<&dyn Any> {
        match self {
            Self::Misfit(own_run) => Some(&**own_run),
            _ => None,
        }
    }

    fn problems(&self) -> Vec<String> {
        match self {
            Self::Answer(error) => error.problems(),
            other => vec![other.to_string()],
        }
    }
}
