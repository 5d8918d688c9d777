//! Why a job or net of a study cannot be read.

use std::io;
use std::path::PathBuf;

use crate::formats::pipe::ReadError;
use crate::mapreduce::plan_check;
use crate::net::Net;
use crate::net::expr::ExprError;
use crate::plan_text::PlanError;
use crate::stages::StageFault;

/// Why a job or net cannot be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LoadError {
    /// A file that the system does not give.
    #[error("cannot read `{}`: {error}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// Explains the failure.
        error: io::Error,
    },
    /// A plan that is not UTF-8.
    #[error("`{}` is not a plan: it is no UTF-8 text", path.display())]
    NotText {
        /// The file.
        path: PathBuf,
    },
    /// A job plan with problems.
    #[error("`{}`: {error}", path.display())]
    Job {
        /// The file.
        path: PathBuf,
        /// Its text.
        text: String,
        /// The problems.
        error: PlanError<plan_check::PlanFault>,
    },
    /// A plan of stages with problems.
    #[error("`{}`: {error}", path.display())]
    Stages {
        /// The file.
        path: PathBuf,
        /// Its text.
        text: String,
        /// The problems.
        error: PlanError<StageFault>,
    },
    /// A net with problems.
    #[error("`{}` is refused:\n{error}", path.display())]
    Net {
        /// The file.
        path: PathBuf,
        /// Its bytes.
        bytes: Vec<u8>,
        /// The problems.
        error: ReadError,
    },
    /// A goal that the net does not understand.
    #[error("`{until}`: {error}")]
    Goal {
        /// The goal.
        until: String,
        /// The net.
        net: Box<Net>,
        /// Explains the problem.
        error: ExprError,
    },
}
