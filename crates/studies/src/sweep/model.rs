//! The model of a point, and the number of replications of each point.

use std::borrow::Cow;
use std::fmt;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Instant;

use tailspn_common::explain::{ErrorKind, Explain};

use crate::cluster::ExperimentError;
use crate::compile::{Program, SchedulePlan};
use crate::estimate::LEVEL;
use crate::job_time::TaskModel;
use crate::sim::{Backend, FoldedParts, NotFolded, Question, RunError};
use crate::sweep::point::Point;
use crate::sweep::spread::Spread;

/// Everything that is needed to simulate a point.
#[derive(Clone, Debug)]
pub struct Model {
    /// Net or tasks of the replications.
    pub runs: Runs,
    /// Variation between whole runs, in addition to the randomness of the replications.
    pub spread: Spread,
    /// The deadline \[s\], if there is one.
    pub deadline_s: Option<f64>,
}

/// Net or tasks of the replications.
#[derive(Clone, Debug)]
pub enum Runs {
    /// A net.
    Net(Box<NetModel>),
    /// A job of stages, task by task.
    Tasks(Box<TaskModel>),
}

/// A compiled net and its question.
#[derive(Clone, Debug)]
pub struct NetModel {
    /// The net.
    pub program: Program,
    /// Schedule of the net, if it is already known; if none, it is derived when needed.
    pub schedule: Option<Arc<SchedulePlan>>,
    /// The question.
    pub question: Question,
    /// The folded parts of the net; none if it runs unfolded.
    pub folded: Option<FoldedParts>,
    /// Parts of that net that look alike but are not folded.
    pub not_folded: Vec<NotFolded>,
}

impl NetModel {
    /// Returns the model of a net that runs until its dead marking.
    pub fn new(program: Program) -> Self {
        Self { program, schedule: None, question: Question::default(), folded: None, not_folded: Vec::new() }
    }
}

impl From<NetModel> for Model {
    /// The model of a net without run-to-run variation and without a deadline.
    fn from(net: NetModel) -> Self {
        Self { runs: Runs::Net(Box::new(net)), spread: Spread::default(), deadline_s: None }
    }
}

impl Model {
    /// Returns the net; none for a job that is simulated task by task.
    pub fn net(&self) -> Option<&NetModel> {
        match &self.runs {
            Runs::Net(net) => Some(net),
            Runs::Tasks(_) => None,
        }
    }

    /// Returns everything that replications depend on, except their seed.
    pub(crate) fn identity(&self) -> Box<dyn fmt::Debug + '_> {
        match &self.runs {
            Runs::Net(net) => Box::new((&net.program, &net.question, &self.spread)),
            Runs::Tasks(tasks) => Box::new((tasks, &self.spread)),
        }
    }
}

/// Settings for running points.
#[derive(Clone, Debug)]
pub struct Batch {
    /// Number of replications of each point; with a relative error, the maximum number.
    pub replications: u64,
    /// Half width of the mean's interval divided by the mean, at which a point has enough replications.
    pub relative_error: Option<f64>,
    /// Seed of every point.
    pub seed: u64,
    /// Confidence level of all intervals, in (0, 1).
    pub level: f64,
    /// Number of threads; `None` is one per core.
    pub threads: Option<NonZeroUsize>,
    /// Time after which no new point starts; running points are completed.
    pub deadline: Option<Instant>,
    /// Backend of the points' replications; the base always runs on the CPU.
    pub backend: Backend,
    /// Part of the name of the adapter to use; a software adapter is used only if named.
    pub adapter: Option<String>,
}

impl Default for Batch {
    /// Returns 2,000 replications of each point, seed 0, level [`LEVEL`], all cores, no deadline, and a GPU if it pays off.
    fn default() -> Self {
        Self {
            replications: 2_000,
            relative_error: None,
            seed: 0,
            level: LEVEL,
            threads: None,
            deadline: None,
            backend: Backend::Auto,
            adapter: None,
        }
    }
}

/// Reason why a sweep ended early. Points that finished before are kept.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum BatchError<E> {
    /// The values of a point do not form a valid model.
    #[error("point {point}: {message}")]
    Model {
        /// Number of the point.
        point: u64,
        /// Why.
        message: String,
    },
    /// A point cannot be simulated.
    #[error("point {point}: {error}")]
    Run {
        /// Number of the point.
        point: u64,
        /// Why.
        error: RunError,
    },
    /// A point cannot be simulated task by task.
    #[error("point {point}: {error}")]
    Tasks {
        /// Number of the point.
        point: u64,
        /// Why.
        error: ExperimentError,
    },
    /// A result cannot be stored.
    #[error(transparent)]
    Keep(E),
}

/// A function that builds the model of a point.
pub type MakeModel<'a> = dyn Fn(&Point) -> Result<Model, String> + Sync + 'a;

impl<E: Explain + 'static> Explain for BatchError<E> {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::Run { error, .. } => error.kind(),
            Self::Keep(error) => error.kind(),
            Self::Model { .. } | Self::Tasks { .. } => ErrorKind::Model,
        }
    }

    fn help(&self) -> Option<Cow<'static, str>> {
        match self {
            Self::Run { error, .. } => error.help(),
            Self::Keep(error) => error.help(),
            Self::Model { .. } | Self::Tasks { .. } => None,
        }
    }
}
