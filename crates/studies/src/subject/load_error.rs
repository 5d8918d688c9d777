//! Reason why a job or net of a study cannot be read.

use std::io;
use std::path::PathBuf;

use crate::formats::pipe::ReadError;
use crate::net::Net;
use crate::net::expr::ExprError;
use crate::plan::PlanError;

/// Reason why a job or net cannot be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LoadError {
    /// A file that cannot be opened.
    #[error("cannot read `{}`: {error}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// Explains the failure.
        error: io::Error,
    },
    /// A plan that is not UTF-8.
    #[error("`{}` is not a plan: it is not UTF-8 text", path.display())]
    NotText {
        /// The file.
        path: PathBuf,
    },
    /// A job plan with problems.
    #[error("`{}`: {error}", path.display())]
    Job {
        /// The file.
        path: PathBuf,
        /// Text of the file.
        text: String,
        /// The problems.
        error: PlanError,
    },
    /// A plan that only the cluster simulator can run, because it has no net.
    #[error("`{}` is a plan of {described_by}, which is simulated task by task and has no net", path.display())]
    Tasks {
        /// The file.
        path: PathBuf,
        /// The sections that describe the work.
        described_by: &'static str,
    },
    /// A net with problems.
    #[error("`{}` is refused:\n{error}", path.display())]
    Net {
        /// The file.
        path: PathBuf,
        /// Bytes of the file.
        bytes: Vec<u8>,
        /// The problems.
        error: ReadError,
    },
    /// A goal, or markings to avoid, whose expression is not valid for the net.
    #[error("`{text}`: {error}")]
    Goal {
        /// `until` or `avoid`.
        option: &'static str,
        /// The expression.
        text: String,
        /// The net.
        net: Box<Net>,
        /// Explains the problem.
        error: ExprError,
    },
}
