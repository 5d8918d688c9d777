//! Runs whose logs do not record the size of the input.

use crate::fit::fit_error::FitError;
use crate::fit::observe::ObservedRun;

/// Refuses runs whose inputs cannot be compared: if a log does not record its input, all must be of one size.
pub(super) fn check_inputs(runs: &[ObservedRun]) -> Result<(), FitError> {
    let complete = || runs.iter().filter(|run| run.is_complete);
    let Some(unknown) = complete().find(|run| run.input_is_relative) else { return Ok(()) };
    let of_some = |why: String| FitError::InputOfSome { log: unknown.log.clone(), why };
    if let Some(known) = complete().find(|run| !run.input_is_relative) {
        return Err(of_some(format!("{} does", known.log)));
    }
    let tasks = |run: &ObservedRun| -> usize {
        run.stages.iter().filter(|stage| stage.reads_input).map(|stage| stage.tasks.len()).sum()
    };
    match complete().find(|run| tasks(run) != tasks(unknown)) {
        Some(other) => Err(of_some(format!(
            "its first stages have {} tasks, those of {} {}: the sizes may differ",
            tasks(unknown),
            other.log,
            tasks(other)
        ))),
        None => Ok(()),
    }
}
