//! Kinds of errors, and the advice that belongs to each: the same for the tool, a page, Python and Rust.
//!
//! Each error implements [`Explain`] in its own file. In the tool, `Failure::of` (`src/cli/notes.rs`) makes it a message and
//! an exit code; in `serve`, `Refusal::of` (`src/cli/serve/reply.rs`) makes it an answer to a request.

use std::any::Any;
use std::borrow::Cow;
use std::error::Error;
use std::io;

/// Kind of an error: what is wrong. The tool has an exit code for each (docs/exit-codes.md).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    /// tailspn itself, or its machine: threads that do not start.
    Internal,
    /// The arguments.
    Usage,
    /// A net or a plan.
    Model,
    /// A log.
    Log,
    /// The question, or the requested method. Also a result for which the data do not suffice, perhaps because the work was stopped.
    Refused,
    /// The answer is no: no configuration meets the deadline, a formula does not hold, or the plan does not reproduce its own runs.
    Unmet,
    /// A GPU that is required.
    Gpu,
    /// A file that cannot be read or written.
    File,
    /// Nothing: this process ran only its share of the work, and the result comes from merging all shares.
    Part,
}

/// An error that says what is wrong and what to do.
pub trait Explain: Error {
    /// Returns what is wrong.
    fn kind(&self) -> ErrorKind;

    /// Returns what to do, if that is not obvious from the message. Options are named as in the tool; Python has the same names.
    fn help(&self) -> Option<Cow<'static, str>> {
        None
    }

    /// Returns the value that the refusal of a question rests on, such as the check of a plan on its own runs.
    fn evidence(&self) -> Option<&dyn Any> {
        None
    }

    /// Returns each problem by itself, at least one.
    fn problems(&self) -> Vec<String> {
        vec![self.to_string()]
    }
}

/// Returns why a file cannot be read or written, in plain words.
pub fn reason(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "no such file or folder".to_owned(),
        io::ErrorKind::IsADirectory => "it is a folder".to_owned(),
        io::ErrorKind::PermissionDenied => "permission denied".to_owned(),
        io::ErrorKind::NotADirectory => "a part of the path is not a folder".to_owned(),
        io::ErrorKind::StorageFull => "the disk is full".to_owned(),
        io::ErrorKind::ReadOnlyFilesystem => "the file system is read-only".to_owned(),
        _ => error.to_string(),
    }
}
