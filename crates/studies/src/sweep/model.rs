//! The model of a point, and how many replications each point gets.

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Instant;

use crate::compile::{Program, SchedulePlan};
use crate::sim::{Backend, FoldedParts, Question, RunError};
use crate::sweep::point::Point;
use crate::sweep::spread::Spread;

/// What is replicated at a point.
#[derive(Clone, Debug)]
pub struct Model {
    /// The net.
    pub program: Program,
    /// Its schedule, where it is known already; else it is looked for.
    pub schedule: Option<Arc<SchedulePlan>>,
    /// What is asked of it.
    pub question: Question,
    /// How whole runs differ, beside what the net says.
    pub spread: Spread,
    /// What folding made of the net; none if it runs as it is.
    pub folded: Option<FoldedParts>,
    /// The time by which it must be done \[s\], if there is one.
    pub deadline_s: Option<f64>,
}

impl Model {
    /// A net that is run until it is dead, all of whose runs are usual.
    pub fn new(program: Program) -> Self {
        let (question, spread) = (Question::default(), Spread::default());
        Self { program, schedule: None, question, spread, folded: None, deadline_s: None }
    }
}

/// How points are run.
#[derive(Clone, Debug)]
pub struct Batch {
    /// Replications of each point; with a relative error, the most.
    pub replications: u64,
    /// Half width over mean at which a point has enough of them.
    pub relative_error: Option<f64>,
    /// Seed of every point.
    pub seed: u64,
    /// Confidence level of all intervals, in (0, 1).
    pub level: f64,
    /// Threads; `None` is one per core.
    pub threads: Option<NonZeroUsize>,
    /// When no new point is begun any more; those under way are ended.
    pub deadline: Option<Instant>,
    /// What runs the replications of the points; the base always runs on the processor.
    pub backend: Backend,
    /// Part of the name of the adapter that is used where one is; a software adapter is used only by its name.
    pub adapter: Option<String>,
}

impl Default for Batch {
    /// 2,000 replications of each point, seed 0, level 0.95, all cores, no deadline, and a card where it pays.
    fn default() -> Self {
        Self {
            replications: 2_000,
            relative_error: None,
            seed: 0,
            level: 0.95,
            threads: None,
            deadline: None,
            backend: Backend::Auto,
            adapter: None,
        }
    }
}

/// Why a sweep ended before its end. Points that were finished before are kept.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum BatchError<E> {
    /// A point is no model.
    #[error("point {point}: {message}")]
    Model {
        /// Its number.
        point: u64,
        /// Why.
        message: String,
    },
    /// A point cannot be replicated.
    #[error("point {point}: {error}")]
    Run {
        /// Its number.
        point: u64,
        /// Why.
        error: RunError,
    },
    /// A result cannot be kept.
    #[error(transparent)]
    Keep(E),
}

/// Makes the model of a point.
pub type MakeModel<'a> = dyn Fn(&Point) -> Result<Model, String> + Sync + 'a;
