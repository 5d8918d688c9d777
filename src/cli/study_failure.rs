//! Warnings and errors of `study`.

use tailspn::formats::pipe;
use tailspn::subject::{LoadError, LoadWarning, Subject};
use tailspn::{KeyProblem, StudyError};

use crate::cli::exit::Exit;
use crate::cli::load::{net_warnings, refused_net, unreadable};
use crate::cli::notes::{Failure, Note, Source};
use crate::cli::output::Terminal;
use crate::cli::plan::{PlanText, empty_plan, keys_of, not_text, options_refused, refused};
use crate::cli::question::expression;

/// Prints warnings about the files of a study.
pub(crate) fn tell_warnings(warnings: &[LoadWarning], subject: &Subject, terminal: &Terminal) {
    for warning in warnings {
        match warning {
            LoadWarning::Empty { path } => terminal.tell(&empty_plan(&path.display().to_string())),
            LoadWarning::Net { path, text, warnings } => {
                let source = Source::new(path.display().to_string(), text.as_str());
                terminal.brief_warnings(&net_warnings(&source, warnings));
            }
            _ => {}
        }
    }
    if let Some(advice) = subject.advice() {
        terminal.tell(&format!("note: {advice}"));
    }
}

/// Explains why a study has no result; problems with keys are shown in the text of the plan.
pub(crate) fn study_failure(error: StudyError, plan: &PlanText) -> Failure {
    match error {
        StudyError::Load(error) => load_failure(error),
        StudyError::Options(error) => options_refused(&error),
        StudyError::Plan(problems) => {
            Failure::of_notes(Exit::Model, problems.iter().map(|problem| problem_note(problem, plan)).collect())
        }
        error => error.into(),
    }
}

fn problem_note(problem: &KeyProblem, plan: &PlanText) -> Note {
    let note = Note::problem(problem.to_string());
    match problem.place(&plan.text) {
        Some(span) => note.at(&plan.source, span),
        None => note,
    }
}

fn load_failure(error: LoadError) -> Failure {
    let source = |path: std::path::PathBuf, text: String| Source::new(path.display().to_string(), text);
    match error {
        LoadError::Io { path, error } => unreadable(&path, &error),
        LoadError::NotText { path } => not_text(&path.display().to_string()),
        LoadError::Job { path, text, error } => refused(&source(path, text), error, &keys_of("estimate")),
        error @ LoadError::Tasks { .. } => Failure::helped(Exit::Model, error.to_string(), "use `tailspn whatif PLAN`"),
        LoadError::Net { path, bytes, error } => {
            refused_net(&bytes, &source(path, pipe::decode(&bytes).unwrap_or_default().into_owned()), &error)
        }
        LoadError::Goal { option, text, net, error } => expression(&net, option, &text)
            .map_or_else(|failure| failure, |_| Failure::plain(Exit::Usage, error.to_string())),
        other => Failure::plain(Exit::Model, other.to_string()),
    }
}
