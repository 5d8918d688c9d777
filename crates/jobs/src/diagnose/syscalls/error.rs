//! Why system calls could not be read or judged.

use std::io;

/// What stops a diagnosis by system calls.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SyscallError {
    /// A file cannot be read.
    #[error("cannot read `{file}`: {source}")]
    Io {
        /// The file.
        file: String,
        /// What the system says.
        source: io::Error,
    },
    /// A file is there, but is not a strace log.
    #[error("`{file}` is not a strace log: {what}")]
    NotStrace {
        /// The file.
        file: String,
        /// What it is, or what is missing.
        what: String,
    },
    /// A file without a line.
    #[error("`{file}` is empty")]
    Empty {
        /// The file.
        file: String,
    },
    /// There is no log at all among what was given.
    #[error("there is no strace log in {places}")]
    NoLog {
        /// What was given.
        places: String,
    },
    /// Two logs of the same node in one run.
    #[error("`{first}` and `{second}` are both of node `{node}`")]
    TwoLogs {
        /// The node.
        node: String,
        /// The first file.
        first: String,
        /// The other one.
        second: String,
    },
    /// No node of the run can be judged.
    #[error("no node can be judged: {why}")]
    NothingToJudge {
        /// What the logs are instead.
        why: String,
    },
    /// A profile that cannot be used.
    #[error("`{file}` is no profile of system calls: {what}")]
    BadProfile {
        /// The file.
        file: String,
        /// What is wrong.
        what: String,
    },
    /// The reading was stopped.
    #[error("stopped")]
    Stopped,
}

impl SyscallError {
    /// What to do.
    pub fn help(&self) -> Option<&'static str> {
        Some(match self {
            Self::NotStrace { .. } | Self::Empty { .. } => {
                "logs are written by `strace -f -T -ttt -o FILE` or `strace -c -f -w -o FILE`, a file for each node"
            }
            Self::NoLog { .. } => "give the folder of a run with a file for each node, or the files themselves",
            Self::TwoLogs { .. } => "name the nodes: n1=FILE n2=OTHER",
            Self::NothingToJudge { .. } => {
                "write logs with times on the wall: `strace -f -T -ttt`, or `strace -c -f -w`; --clock wall where totals were taken with -w"
            }
            Self::BadProfile { .. } => "make it with `tailspn syscalls profile RUN... -o PROFILE.json`",
            Self::Io { .. } | Self::Stopped => return None,
        })
    }
}
