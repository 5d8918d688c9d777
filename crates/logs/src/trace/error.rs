//! Errors of reading a log, with recommendations.

use std::borrow::Cow;
use std::io;

use tailspn_common::explain::{ErrorKind, Explain, reason};

use crate::trace::format::Format;
use crate::trace::listed_log::ListedLog;

/// Error for an unreadable log. No part of the log is kept; problems that do not stop the reader are
/// [`Warning`](crate::trace::Warning)s.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TraceError {
    /// A file or folder cannot be opened or read.
    #[error("cannot read `{file}`: {}", reason(source))]
    Io {
        /// Name.
        file: String,
        /// The cause.
        source: io::Error,
    },
    /// The file is empty.
    #[error("`{file}` is empty")]
    Empty {
        /// Name.
        file: String,
    },
    /// The file is something else, or in an unsupported form.
    #[error("`{file}` is {what}")]
    NotALog {
        /// Name.
        file: String,
        /// Description of the file.
        what: String,
        /// Recommendation.
        help: &'static str,
    },
    /// The file starts like a log, but contains no job event.
    #[error("`{file}` starts like {}, but none of its lines is an event{}", .format.text(), seen(*.bad_line))]
    NoEvents {
        /// Name.
        file: String,
        /// Format that the start of the file suggests.
        format: Format,
        /// The first invalid line, from 1, if any.
        bad_line: Option<u64>,
    },
    /// The text cannot be read further.
    #[error("`{file}`:{line}: {message}")]
    Broken {
        /// Name.
        file: String,
        /// The line, from 1.
        line: u64,
        /// The problem on that line.
        message: String,
    },
    /// More attempts than allowed.
    #[error("`{file}`:{line}: more than {limit} attempts of tasks")]
    TooManyAttempts {
        /// Name.
        file: String,
        /// The line, from 1.
        line: u64,
        /// The limit.
        limit: u64,
    },
    /// A folder or zip archive holds several logs, or a log holds several applications. The request matches none of
    /// them, or more than one.
    #[error("`{folder}` holds {}{}{}", counted(.logs, "log", "logs"), meant(.wanted.as_deref()), list(.logs))]
    SeveralLogs {
        /// The name of the folder, archive or file.
        folder: String,
        /// The request, if it matches several logs.
        wanted: Option<String>,
        /// The matching logs.
        logs: Vec<ListedLog>,
    },
    /// A folder, zip archive or log does not contain the requested application.
    #[error("`{file}` does not contain the application `{wanted}`; it contains{}", contained(.logs))]
    NoSuchLog {
        /// The name of the folder, archive or file.
        file: String,
        /// The request.
        wanted: String,
        /// The available logs.
        logs: Vec<ListedLog>,
    },
    /// A folder without a log.
    #[error("folder `{folder}`: {message}")]
    Folder {
        /// Name.
        folder: String,
        /// The problem with the folder.
        message: String,
    },
}

fn seen(bad_line: Option<u64>) -> String {
    bad_line.map_or_else(String::new, |line| format!(" (line {line} is the first line that is not an event)"))
}

/// Maximum number of logs listed in a message.
const MOST_LISTED: usize = 20;

fn counted(logs: &[ListedLog], one: &str, several: &str) -> String {
    match logs.len() {
        1 => format!("1 {one}"),
        n => format!("{n} {several}"),
    }
}

fn meant(wanted: Option<&str>) -> String {
    wanted.map_or_else(String::new, |wanted| format!(" that match `{wanted}`"))
}

/// Lists the logs, one per line.
fn list(logs: &[ListedLog]) -> String {
    let mut text: String = logs.iter().take(MOST_LISTED).map(|log| format!("\n  {log}")).collect();
    if logs.len() > MOST_LISTED {
        text += &format!("\n  and {} more", logs.len() - MOST_LISTED);
    }
    if text.is_empty() { text } else { format!(":{text}") }
}

fn contained(logs: &[ListedLog]) -> String {
    if logs.is_empty() { " none".to_owned() } else { list(logs) }
}

impl Explain for TraceError {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::Io { .. } => ErrorKind::File,
            _ => ErrorKind::Log,
        }
    }

    fn help(&self) -> Option<Cow<'static, str>> {
        let help: &'static str = match self {
            Self::Io { .. } => return None,
            Self::Empty { .. } => "a job that is killed right after its start leaves an empty log; use another file",
            Self::NotALog { help, .. } => help,
            Self::NoEvents { .. } => "the file is damaged or was edited; use the file that the job wrote",
            Self::Broken { .. } => {
                "the file is damaged or truncated at this line; the data before it cannot be trusted"
            }
            Self::TooManyAttempts { .. } => "raise the limit with --max-attempts; an attempt takes about 120 bytes",
            Self::SeveralLogs { .. } => {
                "`--app ID` selects an application; ID is an id, an id and attempt (`ID_2`), a name or a file"
            }
            Self::NoSuchLog { .. } => "`--app` takes an id, an id and attempt (`ID_2`), a name or a file",
            Self::Folder { .. } => "pass a log: a file, a folder of logs, or the zip archive of a History Server",
        };
        Some(help.into())
    }
}
