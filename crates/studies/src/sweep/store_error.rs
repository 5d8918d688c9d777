//! Errors when the results of a sweep are stored or read, with advice.

use std::borrow::Cow;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use tailspn_common::explain::{ErrorKind, Explain};

/// An error when results are stored or read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// The operating system reported an error.
    #[error("cannot {verb} `{}`: {error}", path.display())]
    Io {
        /// The action that failed.
        verb: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// The error of the operating system.
        error: io::Error,
    },
    /// The folder already holds a sweep, and resuming was not requested.
    #[error("`{}` already holds a sweep", path.display())]
    Exists {
        /// The folder.
        path: PathBuf,
    },
    /// A folder that holds something other than a sweep.
    #[error("`{}` is not a valid sweep result: {why}", path.display())]
    Foreign {
        /// The folder or file.
        path: PathBuf,
        /// Description of the problem.
        why: String,
    },
    /// The sweep has changed since the result was started.
    #[error("`{}` was started by another sweep: {what} has changed", path.display())]
    Changed {
        /// The folder.
        path: PathBuf,
        /// The part of the sweep that changed.
        what: String,
    },
    /// A damaged part. Resuming the sweep runs its points again.
    #[error("{0}")]
    DamagedPart(DamagedPart),
    /// A damaged table of points. If the file is removed, resuming the sweep runs all points again.
    #[error("`{}` is damaged: {why}", path.display())]
    DamagedPoints {
        /// The file.
        path: PathBuf,
        /// The evidence of damage.
        why: String,
    },
}

impl StoreError {
    pub(super) fn io(verb: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |error| Self::Io { verb, path, error }
    }
}

impl Explain for StoreError {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::Changed { .. } => ErrorKind::Refused,
            Self::Foreign { .. } | Self::DamagedPart(_) | Self::DamagedPoints { .. } => ErrorKind::Model,
            _ => ErrorKind::File,
        }
    }

    fn help(&self) -> Option<Cow<'static, str>> {
        Some(match self {
            Self::Exists { .. } => "continue the sweep with --resume, or use another name".into(),
            Self::Changed { .. } => {
                "the folder holds points of another plan or other options; use another name, or restore the original plan and options".into()
            }
            Self::Foreign { .. } => "use the name of a new folder".into(),
            Self::DamagedPart(_) => "`tailspn study PLAN --save FOLDER --resume` runs these points again".into(),
            Self::DamagedPoints { .. } => {
                "restore the file from a backup, or remove it and run all points again with `tailspn study PLAN --save FOLDER --resume`".into()
            }
            _ => return None,
        })
    }
}

/// A damaged part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DamagedPart {
    /// The file.
    pub path: PathBuf,
    /// The evidence of damage.
    pub why: String,
}

impl fmt::Display for DamagedPart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` is damaged: {}", self.path.display(), self.why)
    }
}
