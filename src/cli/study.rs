//! Code for studies that `estimate`, `sweep`, `sensitivity` and `optimize` share: replications, warnings and errors.

use tailspn::formats::pipe;
use tailspn::job_time::{NoCopies, REPLICATIONS};
use tailspn::optimize::PriceError;
use tailspn::report::count;
use tailspn::sensitivity::SensitivityError;
use tailspn::sim::Ensemble;
use tailspn::subject::{LoadError, LoadWarning, Subject};
use tailspn::sweep::{BatchError, StoreError};
use tailspn::{KeyProblem, StudyError};

use crate::cli::args::EstimateArgs;
use crate::cli::exit::Exit;
use crate::cli::load::{net_warnings, refused_net, unreadable};
use crate::cli::notes::{Failure, Note, Source};
use crate::cli::output::Terminal;
use crate::cli::plan::{PlanText, empty_plan, keys_of, not_text, old_names, options_refused, refused};
use crate::cli::question::expression;
use crate::cli::simulate::{failure, stop_rule};
use crate::cli::watch::{Progress, catch_interrupt, interrupted};

/// Prints warnings about the files of a study.
pub(crate) fn tell_warnings(warnings: &[LoadWarning], subject: &Subject, terminal: &Terminal) {
    for warning in warnings {
        match warning {
            LoadWarning::Empty { path } => terminal.tell(&empty_plan(&path.display().to_string())),
            LoadWarning::Net { path, text, warnings } => {
                let source = Source::new(path.display().to_string(), text.as_str());
                terminal.brief_warnings(&net_warnings(&source, warnings));
            }
            LoadWarning::Renamed { path, text, warnings } => {
                terminal.warnings(&old_names(&Source::new(path.display().to_string(), text.as_str()), warnings));
            }
            _ => {}
        }
    }
    if subject.whole_runs_differ() {
        terminal.tell(
            "note: the plan includes run-to-run variation; means are for a typical run, quantiles are over all runs",
        );
    }
}

/// Explains why a study has no result; problems with keys are shown in the text of the plan.
pub(crate) fn study_failure(error: StudyError, plan: &PlanText) -> Failure {
    let refused = |message: String, help: &str| Failure::helped(Exit::Refused, message, help);
    match error {
        StudyError::Part => Failure::part(),
        StudyError::Load(error) => load_failure(error),
        StudyError::Options(error) => options_refused(&error),
        StudyError::Plan(problems) => {
            Failure { exit: Exit::Model, notes: problems.iter().map(|problem| problem_note(problem, plan)).collect() }
        }
        StudyError::Run(error) => failure(&error),
        StudyError::Endless { firings } => refused(
            format!("the net does not stop: after {} firings it has not reached its goal", count(firings.into())),
            "set another goal with --until, or with `sweep.until` in a plan, such as \"#(done) >= 3\"",
        ),
        StudyError::Batch(error) => batch_failure(&error),
        StudyError::Store(error) => store_failure(&error),
        StudyError::Sensitivity(error) => {
            let note = Note::problem(error.to_string());
            let note = match error {
                SensitivityError::TooFewRows { .. } => note.with_help("increase --rows N or --max-time"),
                SensitivityError::Still => note.with_help("increase --reps N to reduce the noise, or use wider ranges"),
                _ => note,
            };
            Failure::new(too_little(), note)
        }
        StudyError::Price(error) => {
            let note = Note::problem(error.to_string());
            let help = match error {
                PriceError::NoDeadline => "add --deadline TIME",
                PriceError::SeveralKinds { .. } => {
                    "write a plan with [optimize] and an axis for each kind; see docs/sensitivity.md"
                }
                PriceError::Tasks => "use `tailspn whatif PLAN`",
                _ => "write --price as 0.30/executor-hour, 0.05/core-hour or 0.40/node-hour",
            };
            Failure::new(Exit::Usage, note.with_help(help))
        }
        error @ StudyError::NotSchedule { .. } => {
            refused(error.to_string(), "use --measure mean, or --method each with a plan")
        }
        error @ StudyError::NoRanges => {
            let help = "write a plan with `sweep.net` and axes with `from` and `to`; see docs/sensitivity.md";
            Failure::helped(Exit::Usage, error.to_string(), help)
        }
        error @ StudyError::NoBisection => {
            let help = "set `faster = \"up\"` or `\"down\"`, or use `search = \"rising\"`";
            Failure::helped(Exit::Model, error.to_string(), help)
        }
        error => Failure::plain(exit_of(&error), error.to_string()),
    }
}

/// Returns the exit code of an error that needs no further explanation.
fn exit_of(error: &StudyError) -> Exit {
    match error {
        StudyError::Model(_) | StudyError::Text(_) | StudyError::NoCopies(NoCopies::Job(_)) => Exit::Model,
        StudyError::TooFewReplications { .. } => Exit::Usage,
        StudyError::Estimate(_) | StudyError::Threads(_) | StudyError::Written(_) => Exit::Internal,
        _ => too_little(),
    }
}

/// Returns the exit code if the data do not suffice for an answer, perhaps because the work was stopped.
pub(crate) fn too_little() -> Exit {
    if interrupted() { Exit::Interrupted } else { Exit::Refused }
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

/// Explains why a point could not be run.
fn batch_failure(error: &BatchError<StoreError>) -> Failure {
    match error {
        BatchError::Keep(error) => store_failure(error),
        BatchError::Run { point, error } => {
            let Failure { exit, notes } = failure(error);
            if exit == Exit::Gpu {
                return Failure { exit, notes };
            }
            let notes = notes.into_iter().map(|note| Note::problem(format!("point {point}: {note}"))).collect();
            Failure { exit, notes }
        }
        other => Failure::plain(Exit::Model, other.to_string()),
    }
}

/// Explains why results cannot be stored or read.
pub(crate) fn store_failure(error: &StoreError) -> Failure {
    let note = Note::problem(error.to_string());
    match error {
        StoreError::Exists { .. } => {
            Failure::new(Exit::Io, note.with_help("continue the sweep with --resume, or use another name"))
        }
        StoreError::Changed { .. } => {
            let help = "the folder holds points of another plan or other options; use another name, or restore the original plan and options";
            Failure::new(Exit::Refused, note.with_help(help))
        }
        StoreError::Foreign { .. } => Failure::new(Exit::Model, note.with_help("use the name of a new folder")),
        StoreError::DamagedPart(_) => {
            let help = "`tailspn sweep PLAN -o FOLDER --resume` runs these points again";
            Failure::new(Exit::Model, note.with_help(help))
        }
        StoreError::DamagedPoints { .. } => {
            let help = "restore the file from a backup, or remove it and run all points again with `tailspn sweep PLAN -o FOLDER --resume`";
            Failure::new(Exit::Model, note.with_help(help))
        }
        _ => Failure::new(Exit::Io, note),
    }
}

/// Explains why a job has no estimate.
pub(crate) fn estimate_failure(error: &StudyError) -> Failure {
    match error {
        StudyError::NoExactTime { .. } => {
            Failure::helped(Exit::Refused, error.to_string(), "use `--method simulate`, which does not have this limit")
        }
        StudyError::Part => Failure::part(),
        StudyError::Run(error) => failure(error),
        StudyError::Model(message) => Failure::plain(Exit::Model, message.clone()),
        other => Failure::plain(exit_of(other), other.to_string()),
    }
}

/// Returns the ensemble of replications for the arguments. Ctrl-C keeps the replications so far.
pub(crate) fn replications(args: &EstimateArgs, seed: u64, terminal: &Terminal) -> (Ensemble, Progress) {
    let ensemble = Ensemble {
        replications: args.reps.unwrap_or(REPLICATIONS),
        stop: stop_rule(args.rel_error, args.reps, args.run.level),
        seed,
        threads: args.run.threads,
        max_wall: args.run.max_time,
        backend: args.place.backend.0,
        adapter: args.place.adapter.clone(),
        keep: terminal.keeps_samples(),
        share: terminal.share().clone(),
        ..Ensemble::default()
    };
    catch_interrupt(terminal);
    (ensemble, Progress::new(terminal.shows_progress(), "replications"))
}
