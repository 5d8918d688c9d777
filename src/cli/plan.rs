//! Reading a plan: the file, and what is wrong with it where it stands.

use std::fmt::Display;
use std::path::Path;

use tailspn::plan_text::PlanError;

use crate::cli::exit::Exit;
use crate::cli::load::read_bytes;
use crate::cli::notes::{Failure, Note, Source};
use crate::cli::output::Terminal;

/// The text of a plan, and where it is from.
pub(crate) struct PlanText {
    pub(crate) source: Source,
    pub(crate) text: String,
}

impl PlanText {
    /// The text in a file. One without any key means all defaults, which is said: it may be the wrong file.
    pub(crate) fn read(path: &Path, terminal: &Terminal) -> Result<Self, Failure> {
        let name = path.display().to_string();
        let text = String::from_utf8(read_bytes(path)?).map_err(|_| not_text(&name))?;
        if text.parse::<toml::Table>().is_ok_and(|table| table.is_empty()) {
            terminal.tell(&empty_plan(&name));
        }
        Ok(Self { source: Source::new(name, text.as_str()), text })
    }

    /// The plan, as `parse` reads it; `help` says where to look when a key is wrong.
    pub(crate) fn plan<P, F: Display>(
        &self,
        parse: impl Fn(&str) -> Result<P, PlanError<F>>,
        help: &str,
    ) -> Result<P, Failure> {
        parse(&self.text).map_err(|error| refused(&self.source, error, help))
    }
}

/// A file that is not a plan, since it is not text.
pub(crate) fn not_text(name: &str) -> Failure {
    Failure::plain(Exit::Model, format!("`{name}` is not a plan: it is no UTF-8 text"))
}

/// A plan without any key.
pub(crate) fn empty_plan(name: &str) -> String {
    format!("note: `{name}` is empty: every key has its default")
}

/// The plan in a file, as `parse` reads it; the default one without a file. `command` prints plans with `--print-plan`.
pub(crate) fn read_plan<P: Default, F: Display>(
    path: Option<&Path>,
    parse: impl Fn(&str) -> Result<P, PlanError<F>>,
    command: &str,
    terminal: &Terminal,
) -> Result<P, Failure> {
    path.map_or_else(|| Ok(P::default()), |path| PlanText::read(path, terminal)?.plan(parse, &keys_of(command)))
}

/// Where the keys of a command's plan are shown.
pub(crate) fn keys_of(command: &str) -> String {
    format!("`tailspn {command} --print-plan` shows every key with its default")
}

/// What is wrong with a plan, where it stands.
pub(crate) fn refused<F: Display>(source: &Source, error: PlanError<F>, help: &str) -> Failure {
    let place = |note: Note, span: Option<std::ops::Range<usize>>| match span {
        Some(span) => note.at(source, span),
        None => note,
    };
    let notes = match error {
        PlanError::Values(problems) => {
            problems.into_iter().map(|problem| place(Note::problem(problem.to_string()), problem.span)).collect()
        }
        PlanError::Text { message, span } => vec![place(Note::problem(message), span).with_help(help)],
        other => vec![Note::problem(other.to_string())],
    };
    Failure { exit: Exit::Model, notes }
}
