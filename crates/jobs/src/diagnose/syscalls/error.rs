//! Errors of reading or judging system calls.

use std::borrow::Cow;
use std::io;

use tailspn_common::explain::{ErrorKind, Explain, reason};

/// An error that stops a diagnosis by system calls.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SyscallError {
    /// A file cannot be read.
    #[error("cannot read `{file}`: {}", reason(source))]
    Io {
        /// The file.
        file: String,
        /// The operating system's error.
        source: io::Error,
    },
    /// A file exists, but is not a strace log.
    #[error("`{file}` is not a strace log: {what}")]
    NotStrace {
        /// The file.
        file: String,
        /// Description of the file, or of the missing part.
        what: String,
    },
    /// An empty file.
    #[error("`{file}` is empty")]
    Empty {
        /// The file.
        file: String,
    },
    /// The given paths contain no log.
    #[error("no strace log in {places}")]
    NoLog {
        /// The given paths.
        places: String,
    },
    /// Two logs of the same node in one run.
    #[error("`{first}` and `{second}` both belong to node `{node}`")]
    TwoLogs {
        /// The node.
        node: String,
        /// The first file.
        first: String,
        /// The second file.
        second: String,
    },
    /// No node of the run can be judged.
    #[error("no node can be judged: {why}")]
    NothingToJudge {
        /// Forms of the logs that were found.
        why: String,
    },
    /// An unusable profile.
    #[error("`{file}` is not a system-call profile: {what}")]
    BadProfile {
        /// The file.
        file: String,
        /// The problem.
        what: String,
    },
    /// The reading was stopped.
    #[error("stopped before all logs were read; no result")]
    Stopped,
}

impl Explain for SyscallError {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::Io { .. } => ErrorKind::File,
            Self::TwoLogs { .. } => ErrorKind::Usage,
            Self::BadProfile { .. } => ErrorKind::Model,
            Self::NothingToJudge { .. } | Self::Stopped => ErrorKind::Refused,
            _ => ErrorKind::Log,
        }
    }

    fn help(&self) -> Option<Cow<'static, str>> {
        let help = match self {
            Self::NotStrace { .. } | Self::Empty { .. } => {
                "logs are written by `strace -f -T -ttt -o FILE` or `strace -c -f -w -o FILE`, one file per node"
            }
            Self::NoLog { .. } => "pass the folder of a run with one file per node, or the files themselves",
            Self::TwoLogs { .. } => "name the nodes: n1=FILE n2=OTHER",
            Self::NothingToJudge { .. } => {
                "write logs with wall-clock times: `strace -f -T -ttt`, or `strace -c -f -w`; use --clock wall if totals were recorded with -w"
            }
            Self::BadProfile { .. } => "create it with `tailspn tool profile RUN... --save-profile PROFILE.json`",
            Self::Io { .. } | Self::Stopped => return None,
        };
        Some(help.into())
    }
}
