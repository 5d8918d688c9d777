//! `why` of several runs: a row for each.

use std::path::{Path, PathBuf};

use tailspn::report::{Answer, ExplainedRun, WhyList, trace_report};
use tailspn::trace::analysis::Usual;
use tailspn::trace::{ReadOptions, logs_in};

use crate::cli::args::WhyArgs;
use crate::cli::call::interrupted;
use crate::cli::frame::Asked;
use crate::cli::input::quoted;
use crate::cli::logs::LogChoice;
use crate::cli::notes::Failure;
use crate::cli::output::Terminal;
use crate::cli::why_inputs::Inputs;
use crate::cli::why_methods::by_log;

/// A run with the samples of its nodes.
pub(super) struct Run {
    log: LogChoice,
    name: String,
    inputs: Inputs,
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
            if listed.len() > 1 {
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
        Run { log: LogChoice { path: folder.to_path_buf(), options }, name: file, inputs: Inputs::default() }
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
        runs.push(Run { log: LogChoice { path: log.clone(), options: options.clone() }, name, inputs });
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
    };
    Ok(inputs.logs.iter().map(run).collect())
}

/// Explains each run in a row.
pub(super) fn explain_all<'a>(runs: Vec<Run>, args: &WhyArgs, terminal: &Terminal) -> Result<Asked<'a>, Failure> {
    let mut rows = Vec::new();
    for Run { log, name, inputs } in runs {
        if interrupted() {
            break;
        }
        let trace = log.load(terminal)?;
        let (_, causes) = by_log(&inputs, &trace, args, &terminal.silent())?;
        let application =
            log.options.application.as_deref().map_or_else(String::new, |id| format!(" --app {}", quoted(id)));
        let command = format!("tailspn why {}{application}", quoted(&log.path.display().to_string()));
        rows.push((ExplainedRun::new(name, &trace_report(&trace, &Usual::from_runs(&[])), &causes), command));
    }
    Ok(Answer::new(WhyList::new(rows, interrupted())).unless_stopped(interrupted()).into())
}
