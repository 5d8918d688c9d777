//! The job of a command that takes a plan or logs: read from the plan, or fitted to the logs.

use tailspn::plan::JobPlan;
use tailspn::subject::FileKind;
use tailspn::trace::{Format, JobTrace, ReadOptions};

use crate::cli::args::FittedArgs;
use crate::cli::exit::Exit;
use crate::cli::fit::plan_of;
use crate::cli::input::Input;
use crate::cli::kinds::is_fitted;
use crate::cli::left::{self, is_running};
use crate::cli::load::read_bytes;
use crate::cli::logs::{LogChoice, all_logs, load, tell_warnings};
use crate::cli::notes::Failure;
use crate::cli::output::Terminal;

/// The plan of a job, or where it stands.
pub(crate) enum Read<'i> {
    /// The plan that was fitted to the logs.
    Logs(JobPlan),
    /// A file that is not a log.
    Plan(&'i Input),
    /// No file.
    Nothing,
}

/// Reads the first input if it is one event log of Spark, which may be the log of an application that runs.
pub(crate) fn first_log(
    inputs: &[Input],
    fitted: &FittedArgs,
    terminal: &Terminal,
) -> Result<Option<JobTrace>, Failure> {
    // Spark creates the log of a running application empty
    let is_spark = |input: &&Input| match input.kind() {
        None => input.extension().is_some_and(|end| end == "inprogress"),
        kind => kind == Some(FileKind::Log(Format::SparkEventLog)),
    };
    let Some(input) = inputs.first().filter(is_spark) else { return Ok(None) };
    let logs = all_logs(&[&input.to_path_buf()], &ReadOptions::from(fitted.limits()))?;
    let [LogChoice { path, options }] = &logs[..] else { return Ok(None) };
    let trace = load(path, options, terminal)?;
    if is_running(&trace) {
        left::tell_warnings(&trace, terminal)
    } else {
        tell_warnings(&trace, terminal)
    }
    Ok(Some(trace))
}

/// Fits a plan to logs; a single file that is not a log is left to the caller. `first` is the first log, if it was read before.
pub(crate) fn read_inputs<'i>(
    inputs: &'i [Input],
    first: Option<JobTrace>,
    fitted: &FittedArgs,
    terminal: &Terminal,
) -> Result<Read<'i>, Failure> {
    if inputs.first().is_some_and(is_fitted) {
        return Ok(Read::Logs(plan_of(&fitted.fit(inputs), first, terminal)?));
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
