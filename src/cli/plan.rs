//! Reading a plan: the file, and what is wrong with it where it stands.

use std::fmt::Display;
use std::path::Path;

use tailspn::plan_text::PlanError;

use crate::cli::exit::Exit;
use crate::cli::load::read_bytes;
use crate::cli::notes::{Failure, Note, Source};

/// The plan in a file, as `parse` reads it; the default one without a file. `command` prints plans with `--print-plan`.
pub(crate) fn read_plan<P: Default, F: Display>(
    path: Option<&Path>,
    parse: impl Fn(&str) -> Result<P, PlanError<F>>,
    command: &str,
) -> Result<P, Failure> {
    let Some(path) = path else { return Ok(P::default()) };
    let (source, text) = plan_text(path)?;
    parse(&text).map_err(|error| refused(&source, error, command))
}

/// The text of a plan's file, and how to point into it.
pub(crate) fn plan_text(path: &Path) -> Result<(Source, String), Failure> {
    let name = path.display().to_string();
    let text = String::from_utf8(read_bytes(path)?)
        .map_err(|_| Failure::plain(Exit::Model, format!("`{name}` is not a plan: it is no UTF-8 text")))?;
    Ok((Source::new(name, text.as_str()), text))
}

/// What is wrong with a plan, where it stands.
pub(crate) fn refused<F: Display>(source: &Source, error: PlanError<F>, command: &str) -> Failure {
    let place = |note: Note, span: Option<std::ops::Range<usize>>| match span {
        Some(span) => note.at(source, span),
        None => note,
    };
    let help = format!("`tailspn {command} --print-plan` shows every key with its default");
    let notes = match error {
        PlanError::Values(problems) => {
            problems.into_iter().map(|problem| place(Note::problem(problem.to_string()), problem.span)).collect()
        }
        PlanError::Text { message, span } => vec![place(Note::problem(message), span).with_help(help)],
        other => vec![Note::problem(other.to_string())],
    };
    Failure { exit: Exit::Model, notes }
}
