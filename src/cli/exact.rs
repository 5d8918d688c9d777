//! Code for exact answers that `solve` and `simulate` share: phases, states, and the reasons why there is no answer.

use std::fmt::Display;

use tailspn::answer::{AnswerError, with_phases};
use tailspn::compile::{Code, Program};
use tailspn::fold::Symmetry;
use tailspn::net::Net;
use tailspn::report::{Hidden, SolveReport, Subject, counted, solve_report};
use tailspn::solve::{Expanded, ExploreError, Limits, SeriesParallelError, StateSpace, Verdicts, explore_canonical};

use crate::cli::exit::Exit;
use crate::cli::load::compile_failure;
use crate::cli::notes::{Failure, Note};
use crate::cli::output::Terminal;
use crate::cli::watch::{Progress, interrupted};

/// Returns the net with general delays expanded to phases, and the places and transitions that this adds.
pub(super) fn phases(net: &Net) -> Result<(Net, Hidden), Failure> {
    let expanded = with_phases(net).map_err(|obstacles| answer_failure(obstacles.into()))?;
    let hidden = hidden(&expanded);
    Ok((expanded.net, hidden))
}

/// Returns the places and transitions that the expansion added.
pub(super) fn hidden(expanded: &Expanded) -> Hidden {
    Hidden {
        places: expanded.hidden_places.iter().map(|&id| expanded.net.place(id).id.clone()).collect(),
        transitions: expanded.hidden_transitions.iter().map(|&id| expanded.net.transition(id).id.clone()).collect(),
    }
}

/// Explores the markings of a net and shows the progress. Of markings that differ only by an exchange of equal parts, one
/// is explored.
pub(super) fn find_states(
    program: &Program,
    goal: Option<&Code>,
    symmetry: &Symmetry,
    limits: &Limits,
    terminal: &Terminal,
) -> Result<StateSpace, ExploreError> {
    let progress = Progress::new(terminal.shows_progress(), "states");
    explore_canonical(program, goal, symmetry, limits, &progress)
}

/// Reports on all states, without numbers, and their verdicts.
pub(super) fn report_of(
    space: &StateSpace,
    program: &Program,
    subject: &Subject<'_>,
) -> Result<(SolveReport, Option<Verdicts>), Failure> {
    let verdicts = space.verdicts(program).map_err(|error| failure(&error))?;
    let report = solve_report(space, verdicts.as_ref(), program, subject).map_err(|error| failure(&error))?;
    Ok((report, verdicts))
}

/// Returns the failure for a question that this method cannot answer, or for stopped work.
pub(super) fn refused(error: &dyn Display) -> Failure {
    Failure::plain(if interrupted() { Exit::Interrupted } else { Exit::Refused }, error.to_string())
}

/// Explains why there is no state space.
pub(super) fn failure(error: &ExploreError) -> Failure {
    match error {
        ExploreError::VanishingTrap { .. } => {
            let help = "`tailspn solve --untimed` explores the markings of a net and ignores time";
            Failure::helped(Exit::Model, error.to_string(), help)
        }
        ExploreError::Fault(_) => Failure::plain(Exit::Model, error.to_string()),
        _ => Failure::plain(Exit::Refused, error.to_string()),
    }
}

/// Explains why there is no exact answer.
pub(super) fn answer_failure(error: AnswerError) -> Failure {
    let refuse = |message: String, help: &str| Failure::helped(Exit::Refused, message, help);
    match error {
        AnswerError::NeedsReplications(_) => refuse(error.to_string(), "use `--method simulate`"),
        AnswerError::Phases(obstacles) => Failure {
            exit: Exit::Refused,
            notes: obstacles.iter().map(|obstacle| Note::problem(obstacle.to_string())).collect(),
        },
        AnswerError::Compile(problems) => compile_failure(&problems),
        AnswerError::Explore(error) => failure(&error),
        AnswerError::Incomplete(error) if interrupted() => Failure::plain(Exit::Interrupted, error.to_string()),
        AnswerError::SeriesParallel(error) => no_parts(&error),
        AnswerError::CanStop { dead_markings, held } => {
            let dead = counted(dead_markings as u64, "dead marking");
            let names: Vec<String> = held.iter().map(|name| format!("`{name}`")).collect();
            let help = if names.is_empty() {
                "`tailspn solve` without --steady gives the time to the dead marking if every run ends there, otherwise the long-run averages"
                    .to_owned()
            } else {
                format!("the net stops because rates are 0 ({}); set them to a value above 0", names.join(", "))
            };
            refuse(format!("the net can stop forever in {dead}, so it has no steady state"), &help)
        }
        AnswerError::InZeroTime { is_start } => {
            let option = if is_start { "--from" } else { "--until" };
            let message = format!(
                "{option} holds in a vanishing marking, but a time with --from can start and end only in tangible markings"
            );
            refuse(message, "use an expression over a place in which tokens spend time")
        }
        AnswerError::NotFinite { .. } | AnswerError::Fault(_) => Failure::plain(Exit::Model, error.to_string()),
        other => refused(&other),
    }
}

/// Explains why a net is not series-parallel.
fn no_parts(error: &SeriesParallelError) -> Failure {
    let SeriesParallelError::NotSchedule(obstacles) = error else { return refused(error) };
    let message = format!("the net is not a series-parallel schedule: {obstacles}");
    let help = "use `--method states`, which builds the state space, or `tailspn simulate`";
    Failure::helped(Exit::Refused, message, help)
}
