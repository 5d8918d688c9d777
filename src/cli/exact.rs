//! Limits of states, and the reasons why there is no exact answer, for all commands.

use std::time::Duration;

use tailspn::answer::AnswerError;
use tailspn::ask::RunSettings;
use tailspn::solve::FixedDelayError;

use crate::cli::call::interrupted;
use crate::cli::exit::Exit;
use crate::cli::notes::Failure;

/// Advice if a limit of the state space is exceeded.
pub(super) const LIMITS: &str =
    "--max-states, --max-memory and --max-time set the limits; `tailspn net simulate` needs no states";

/// Returns the settings with the limits of the states.
pub(super) fn limited(max_states: Option<u64>, max_memory: Option<u64>, max_time: Option<Duration>) -> RunSettings {
    RunSettings { max_states, max_memory, max_time, ..RunSettings::default() }
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
