//! Limits of states, and the reasons why there is no exact answer, for all commands.

use std::fmt::Display;
use std::time::Duration;

use tailspn::answer::AnswerError;
use tailspn::report::counted;
use tailspn::solve::{AskError, ExploreError, FixedDelayError, Limits, SeriesParallelError};

use crate::cli::exit::Exit;
use crate::cli::load::compile_failure;
use crate::cli::notes::{Failure, Note};
use crate::cli::watch::interrupted;

/// Advice if a limit of the state space is exceeded.
pub(super) const LIMITS: &str =
    "--max-states, --max-memory and --max-time set the limits; `tailspn simulate` needs no states";

/// Returns the limits of the states.
pub(super) fn limits(states: Option<u64>, bytes: Option<u64>, wall: Option<Duration>) -> Limits {
    let default = Limits::default();
    Limits { states: states.unwrap_or(default.states), bytes: bytes.unwrap_or(default.bytes), wall }
}

/// Explains why there is no answer from states, whose limits are arguments of the command.
pub(super) fn states_failure(error: AnswerError) -> Failure {
    let incomplete =
        matches!(error, AnswerError::Incomplete(_) | AnswerError::FixedDelays(FixedDelayError::Incomplete(_)));
    if incomplete && !interrupted() {
        return Failure::helped(Exit::Refused, error.to_string(), LIMITS);
    }
    answer_failure(error)
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
        AnswerError::Explore(error)
        | AnswerError::Ask(AskError::Explore(error))
        | AnswerError::FixedDelays(FixedDelayError::Explore(error)) => failure(&error),
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
