//! Limits of states, and the reasons why there is no exact answer, for all commands.

use std::time::Duration;

use tailspn::answer::AnswerError;
use tailspn::solve::{FixedDelayError, Limits};

use crate::cli::call::interrupted;
use crate::cli::exit::Exit;
use crate::cli::notes::Failure;

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
    error.into()
}
