//! Why a log cannot be read, and what to do about it.

use std::io;

use crate::trace::format::Format;

/// A log that cannot be read. Nothing of it is kept; for oddities that do not stop the reading see
/// [`Warning`](crate::trace::Warning).
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TraceError {
    /// A file or folder cannot be opened or read.
    #[error("cannot read `{file}`: {source}")]
    Io {
        /// Its name.
        file: String,
        /// Why.
        source: io::Error,
    },
    /// There is nothing in the file.
    #[error("`{file}` is empty")]
    Empty {
        /// Its name.
        file: String,
    },
    /// The file is something else, or in a form that is not read.
    #[error("`{file}` is {what}")]
    NotALog {
        /// Its name.
        file: String,
        /// What it is.
        what: String,
        /// What to do.
        help: &'static str,
    },
    /// The file begins like a log, but there is no event of a job in it.
    #[error("`{file}` begins like {}, but no line of it is one{}", .format.text(), seen(*.bad_line))]
    NoEvents {
        /// Its name.
        file: String,
        /// What it begins like.
        format: Format,
        /// The first bad line, from 1, if there is any.
        bad_line: Option<u64>,
    },
    /// The text cannot be read further.
    #[error("`{file}`:{line}: {message}")]
    Broken {
        /// Its name.
        file: String,
        /// The line, from 1.
        line: u64,
        /// What is wrong there.
        message: String,
    },
    /// More attempts than may be kept.
    #[error("`{file}`:{line}: more than {limit} attempts of tasks")]
    TooManyAttempts {
        /// Its name.
        file: String,
        /// The line, from 1.
        line: u64,
        /// The limit.
        limit: u64,
    },
    /// A folder without a log, or with several.
    #[error("folder `{folder}`: {message}")]
    Folder {
        /// Its name.
        folder: String,
        /// What is wrong with it.
        message: String,
    },
}

fn seen(bad_line: Option<u64>) -> String {
    bad_line.map_or_else(String::new, |line| format!(" (line {line} is the first that is not)"))
}

impl TraceError {
    /// What to do about it.
    pub fn help(&self) -> Option<&'static str> {
        match self {
            Self::Io { .. } => None,
            Self::Empty { .. } => Some("a job that was killed at once leaves an empty log; give another file"),
            Self::NotALog { help, .. } => Some(help),
            Self::NoEvents { .. } => Some("the file is damaged, or was edited; give the file that the job wrote"),
            Self::Broken { .. } => Some("the file is damaged or cut off there; what stands before cannot be trusted"),
            Self::TooManyAttempts { .. } => {
                Some("raise the limit with --max-attempts; an attempt takes about 120 bytes")
            }
            Self::Folder { .. } => Some("give one log: a file, or the folder of one rolled Spark event log"),
        }
    }
}
