//! Reads a plan, and reports problems with their positions.

use tailspn::StudyError;
use tailspn::cluster::PolicyPlan;
use tailspn::plan::{JobPlan, PlanError, PlanOption, PlanProblem, Planning as _, ProblemKind};

use crate::cli::exit::Exit;
use crate::cli::input::Input;
use crate::cli::load::read_bytes;
use crate::cli::notes::{Failure, Note, Source};
use crate::cli::output::Terminal;
use crate::cli::unknown;

/// The text of a plan, and its source.
pub(crate) struct PlanText {
    pub(crate) source: Source,
    pub(crate) text: String,
}

impl PlanText {
    /// Reads the text of a plan. Warns about a plan without any key, which would mean all defaults: it may be the
    /// wrong file.
    pub(crate) fn read(plan: &Input, terminal: &Terminal) -> Result<Self, Failure> {
        let name = plan.display().to_string();
        let text = match plan.given_plan() {
            Some(text) => text.to_owned(),
            None => String::from_utf8(read_bytes(plan)?).map_err(|_| not_text(&name))?,
        };
        if text.trim().is_empty() && plan.is_file() && !name.ends_with(".toml") {
            let help = "pass the right file; the name of a plan without keys ends with .toml";
            return Err(Failure::helped(Exit::Model, format!("`{name}` is empty"), help));
        }
        match text.parse::<toml::Table>() {
            Ok(table) if table.is_empty() => terminal.tell(&empty_plan(&name)),
            // a damaged plan has the name of a plan
            Err(_)
                if plan.given_plan().is_none() && !name.ends_with(".toml") && !text.trim_start().starts_with('[') =>
            {
                return Err(unknown::refused(plan, text.as_bytes(), "a plan or a log"));
            }
            _ => {}
        }
        Ok(Self { source: Source::new(name, text.as_str()), text })
    }

    /// Returns an empty text, for a plan without a file.
    pub(crate) fn none() -> Self {
        Self { source: Source::new("the fitted plan".to_owned(), ""), text: String::new() }
    }

    /// Returns true if the text has a key of a section.
    pub(crate) fn states(&self, section: &str, key: &str) -> bool {
        let table = self.text.parse::<toml::Table>().unwrap_or_default();
        table.get(section).is_some_and(|section| section.get(key).is_some())
    }

    /// Parses the plan of a job. If no section of the plan determines the kind of work, it is the default job with these keys, for every command.
    pub(crate) fn job(&self) -> Result<JobPlan, Failure> {
        self.plan(JobPlan::from_toml, &keys_of("estimate"))
    }

    /// Returns the policies of the plan of a job, which must have some.
    pub(crate) fn policies(&self) -> Result<Vec<PolicyPlan>, Failure> {
        let job = self.job()?;
        let table = self.text.parse::<toml::Table>().unwrap_or_default();
        if !["policy", "speculation"].into_iter().any(|section| table.contains_key(section)) {
            let message = format!("`{}` has no policies", self.source.name());
            let help = "add a section [[policy]], or remove --policies to compare the usual policies";
            return Err(Failure::helped(Exit::Usage, message, help));
        }
        Ok(job.policies())
    }

    /// Parses the plan with `read`; `help` points to documentation if a key is wrong.
    pub(crate) fn plan<P>(&self, read: impl Fn(&str) -> Result<P, PlanError>, help: &str) -> Result<P, Failure> {
        read(&self.text).map_err(|error| refused(&self.source, error, help))
    }
}

/// Returns the failure for a file that is not a plan, because it is not text.
pub(crate) fn not_text(name: &str) -> Failure {
    Failure::plain(Exit::Model, format!("`{name}` is not a plan: it is not UTF-8 text"))
}

/// Returns the warning about a plan without any key.
pub(crate) fn empty_plan(name: &str) -> String {
    format!("warning: `{name}` is empty, so every key has its default; it may be the wrong file")
}

/// Parses the plan of a job, and applies options; without a text, the default job.
pub(crate) fn job_of(text: Option<&PlanText>, options: &[PlanOption]) -> Result<JobPlan, Failure> {
    applied(text.map_or_else(|| Ok(JobPlan::default()), PlanText::job)?, options)
}

/// Applies options to a plan.
pub(crate) fn applied(plan: JobPlan, options: &[PlanOption]) -> Result<JobPlan, Failure> {
    plan.with_all(options).plan().map_err(|error| options_refused(&error))
}

/// Returns the failure for options that do not apply to a plan, or whose values conflict with the plan's.
pub(crate) fn options_refused(error: &PlanError) -> Failure {
    let note = |problem: &PlanProblem| match problem.kind {
        ProblemKind::Option => Note::problem(problem.to_string()),
        _ => Note::problem(format!("with these options, {problem}")),
    };
    Failure::of_notes(Exit::Usage, error.problems.iter().map(note).collect())
}

/// Refuses a plan that only the cluster simulator can run.
pub(crate) fn only_whatif(plan: &JobPlan, question: &'static str) -> Failure {
    StudyError::TaskByTask { question, described_by: plan.described_by() }.into()
}

/// Returns a hint on how to list the keys of a command's plan.
pub(crate) fn keys_of(command: &str) -> String {
    format!("`tailspn {command} --print-plan` shows every key with its default")
}

/// Returns a failure with all problems of a plan, each at its position.
pub(crate) fn refused(source: &Source, error: PlanError, help: &str) -> Failure {
    let note = |problem: PlanProblem| {
        let note = Note::problem(problem.to_string());
        let note = problem.span.map_or(note.clone(), |span| note.at(source, span));
        if problem.kind == ProblemKind::Value { note } else { note.with_help(help) }
    };
    Failure::of_notes(Exit::Model, error.problems.into_iter().map(note).collect())
}
