//! Reading the plan of a job.

use std::path::Path;

use tailspn::mapreduce::Plan;
use tailspn::mapreduce::params::PlanError;

use crate::cli::exit::Exit;
use crate::cli::load::read_bytes;
use crate::cli::notes::{Failure, Note, Source};

/// The plan in a file; the default one without a file.
pub(crate) fn read_plan(path: Option<&Path>) -> Result<Plan, Failure> {
    let Some(path) = path else { return Ok(Plan::default()) };
    let name = path.display().to_string();
    let text = String::from_utf8(read_bytes(path)?)
        .map_err(|_| Failure::plain(Exit::Model, format!("`{name}` is not a plan: it is no UTF-8 text")))?;
    let source = Source::new(name, text.as_str());
    Plan::from_toml(&text).map_err(|error| refused(&source, &error))
}

fn refused(source: &Source, error: &PlanError) -> Failure {
    let place = |note: Note, span: Option<&std::ops::Range<usize>>| match span {
        Some(span) => note.at(source, span.clone()),
        None => note,
    };
    let notes = match error {
        PlanError::Values(problems) => {
            problems.iter().map(|problem| place(Note::problem(problem.to_string()), problem.span.as_ref())).collect()
        }
        PlanError::Text { message, span } => vec![
            place(Note::problem(message.clone()), span.as_ref())
                .with_help("`tailspn estimate --print-plan` shows every key with its default"),
        ],
        other => vec![Note::problem(other.to_string())],
    };
    Failure { exit: Exit::Model, notes }
}
