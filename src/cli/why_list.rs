//! `why` of several runs: a row for each.

use std::path::{Path, PathBuf};

use tailspn::report::{Answer, ExplainedRun, WhyList, trace_report};
use tailspn::trace::analysis::Usual;
use tailspn::trace::{JobTrace, ReadOptions, logs_in};

use crate::cli::args::WhyArgs;
use crate::cli::call::interrupted;
use crate::cli::frame::Asked;
use crate::cli::input::quoted;
use crate::cli::logs::{LogChoice, tell_warnings};
use crate::cli::notes::Failure;
use crate::cli::output::Terminal;
use crate::cli::why_inputs::{Inputs, subfolder};
use crate::cli::why_methods::by_log;

/// A run with the samples of its nodes.
pub(super) struct Run {
    log: LogChoice,
    name: String,
    inputs: Inputs,
    /// The command that explains the run alone.
    command: String,
}

/// Returns the runs of a folder of logs, of a folder of folders with a log each, or of three or more logs; none for other inputs.
pub(super) fn runs(args: &WhyArgs) -> Result<Option<Vec<Run>>, Failure> {
    let options = ReadOptions::from(&args.limits);
    if options.application.is_some() {
        return Ok(None);
    }
    let found = match &args.paths[..] {
        [folder] if folder.is_dir() => {
            let listed = logs_in(folder).unwrap_or_default();
            if listed.len() > 1 && listed.iter().all(|log| subfolder(folder, log).is_none()) {
                of_files(folder, listed.into_iter().map(|log| log.file), &options)
            } else {
                of_folders(folder, &options)?
            }
        }
        [_] | [_, _] => return Ok(None),
        several => of_logs(several, &options)?,
    };
    Ok(Some(found).filter(|runs| runs.len() > 1))
}

/// Returns the runs of a folder of logs.
fn of_files(folder: &Path, files: impl Iterator<Item = String>, options: &ReadOptions) -> Vec<Run> {
    let run = |file: String| {
        let options = ReadOptions { application: Some(file.clone()), ..options.clone() };
        let command = command(folder, Some(&file));
        Run { log: LogChoice { path: folder.to_path_buf(), options }, name: file, inputs: Inputs::default(), command }
    };
    files.map(run).collect()
}

/// Returns the runs of the folders in a folder that have one log each, with the samples of its nodes.
fn of_folders(folder: &Path, options: &ReadOptions) -> Result<Vec<Run>, Failure> {
    let inside = std::fs::read_dir(folder)
        .map(|all| all.filter_map(|entry| Some(entry.ok()?.path())).filter(|path| path.is_dir()));
    let mut inside: Vec<PathBuf> = inside.map(Iterator::collect).unwrap_or_default();
    inside.sort();
    let mut runs = Vec::new();
    for path in inside {
        let inputs = Inputs::sort(std::slice::from_ref(&path))?;
        let [log] = &inputs.logs[..] else { continue };
        let name = path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
        let command = command(folder, Some(&name));
        runs.push(Run { log: LogChoice { path: log.clone(), options: options.clone() }, name, inputs, command });
    }
    Ok(runs)
}

/// Returns the runs of single logs; none if other files are among them, whose run is not known.
fn of_logs(paths: &[PathBuf], options: &ReadOptions) -> Result<Vec<Run>, Failure> {
    let inputs = Inputs::sort(paths)?;
    if inputs.logs.len() < 3 || inputs.logs.len() != paths.len() {
        return Ok(Vec::new());
    }
    let run = |path: &PathBuf| Run {
        log: LogChoice { path: path.clone(), options: options.clone() },
        name: path.display().to_string(),
        inputs: Inputs::default(),
        command: command(path, None),
    };
    Ok(inputs.logs.iter().map(run).collect())
}

/// Returns the command that explains one log, or one application of a folder or log.
fn command(path: &Path, application: Option<&str>) -> String {
    let application = application.map_or_else(String::new, |id| format!(" --app {}", quoted(id)));
    format!("tailspn why {}{application}", quoted(&path.display().to_string()))
}

/// Explains each job of a log in a row.
pub(super) fn explain_jobs<'a>(
    trace: &JobTrace,
    inputs: &Inputs,
    args: &WhyArgs,
    terminal: &Terminal,
) -> Result<Asked<'a>, Failure> {
    let [path] = &inputs.logs[..] else { return Err(Failure::internal("several jobs without a log")) };
    tell_warnings(trace, terminal);
    let mut rows = Vec::new();
    for (id, application) in trace.applications_with_ids() {
        if interrupted() {
            break;
        }
        let job = trace.clone().into_application(id);
        let (_, causes) = by_log(inputs, &job, args, &terminal.silent())?;
        let row = ExplainedRun::new(application.id.clone(), &trace_report(&job, &Usual::from_runs(&[])), &causes);
        rows.push((row, command(path, Some(&application.id))));
    }
    Ok(Answer::new(WhyList::new(rows, interrupted())).unless_stopped(interrupted()).into())
}

/// Explains each run in a row.
pub(super) fn explain_all<'a>(runs: Vec<Run>, args: &WhyArgs, terminal: &Terminal) -> Result<Asked<'a>, Failure> {
    let mut rows = Vec::new();
    for Run { log, name, inputs, command } in runs {
        if interrupted() {
            break;
        }
        let trace = log.load(terminal)?;
        let (_, causes) = by_log(&inputs, &trace, args, &terminal.silent())?;
        rows.push((ExplainedRun::new(name, &trace_report(&trace, &Usual::from_runs(&[])), &causes), command));
    }
    Ok(Answer::new(WhyList::new(rows, interrupted())).unless_stopped(interrupted()).into())
}
