//! The job of a command that takes a plan or logs: read from the plan, or fitted to the logs.

use tailspn::plan::JobPlan;

use crate::cli::args::{FitArgs, FittedArgs, LogArgs};
use crate::cli::exit::Exit;
use crate::cli::fit::plan_of;
use crate::cli::input::Input;
use crate::cli::kinds::is_fitted;
use crate::cli::load::read_bytes;
use crate::cli::notes::Failure;
use crate::cli::output::Terminal;
use crate::cli::plan::PlanText;

/// Returns the job of one plan, or of the log of one run.
pub(crate) fn job_at(input: &Input, limits: &LogArgs, terminal: &Terminal) -> Result<JobPlan, Failure> {
    if input.is_log() {
        plan_of(&FitArgs::of_logs(vec![input.to_path_buf()], limits), terminal)
    } else {
        PlanText::read(input, terminal)?.job()
    }
}

/// The plan of a job, or where it stands.
pub(crate) enum Read<'i> {
    /// The plan that was fitted to the logs.
    Logs(JobPlan),
    /// A file that is not a log.
    Plan(&'i Input),
    /// No file.
    Nothing,
}

/// Fits a plan to logs; one file that is not a log is left to the caller.
pub(crate) fn read_inputs<'i>(
    inputs: &'i [Input],
    fitted: &FittedArgs,
    terminal: &Terminal,
) -> Result<Read<'i>, Failure> {
    if inputs.first().is_some_and(is_fitted) {
        return Ok(Read::Logs(plan_of(&fitted.fit(inputs), terminal)?));
    }
    if let [first, _, ..] = inputs {
        // a file that is not there is no plan
        read_bytes(first)?;
        let message = format!("{} files, but the first is not a log", inputs.len());
        return Err(Failure::helped(Exit::Usage, message, "pass one plan, or the logs of one job"));
    }
    if let Some(option) = fitted.only_for_logs() {
        let message = format!("{option} applies only to logs");
        return Err(Failure::helped(Exit::Usage, message, "pass the logs of the job instead of a plan"));
    }
    Ok(inputs.first().map_or(Read::Nothing, Read::Plan))
}
