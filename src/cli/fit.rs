//! `fit`: the model of a job from logs of it.

use std::path::Path;

use tailspn::fit::{FitError, FittedStages, ObservedRun, fit_stages, observe};
use tailspn::report::{fit_report, fit_text, json};
use tailspn::trace::ReadOptions;

use crate::cli::args::FitArgs;
use crate::cli::exit::Exit;
use crate::cli::notes::{Failure, Note};
use crate::cli::output::{Terminal, may_write, write_file};
use crate::cli::trace::load;
use crate::cli::watch::{catch_interrupt, interrupted};

/// Bytes of a MB.
const MB: f64 = 1_048_576.0;

/// Fits the model and says what was fitted.
pub(crate) fn run(args: &FitArgs, terminal: &Terminal) -> Result<Exit, Failure> {
    if !args.input_size.is_empty() && args.input_size.len() != args.logs.len() {
        let message =
            format!("{} input sizes for {} logs; give one for each log", args.input_size.len(), args.logs.len());
        return Err(Failure::plain(Exit::Usage, message));
    }
    let to_stdout = args.output.as_deref().is_some_and(|path| path.as_os_str() == "-");
    if let Some(path) = args.output.as_deref().filter(|_| !to_stdout) {
        may_write(path, args.force)?;
    }
    catch_interrupt(terminal);
    let runs = observed(args, terminal)?;
    if interrupted() {
        return Ok(Exit::Interrupted);
    }
    let fitted = fit_stages(&runs).map_err(|error| refused(&error))?;
    for note in &fitted.plan.notes {
        terminal.tell(&format!("note: {note}"));
    }
    let toml = fitted.plan.to_toml().map_err(|error| Failure::plain(Exit::Internal, error.to_string()))?;
    let text = text_of(&fitted, args, terminal)?;
    if to_stdout {
        terminal.tell(&text);
        terminal.data(&toml)?;
    } else {
        terminal.data(&text)?;
        if let Some(path) = &args.output {
            write_file(path, toml.as_bytes(), args.force)?;
        }
    }
    Ok(Exit::Success)
}

/// What each log says of its run.
fn observed(args: &FitArgs, terminal: &Terminal) -> Result<Vec<ObservedRun>, Failure> {
    let longest_line = usize::try_from(args.max_line).unwrap_or(usize::MAX - 1);
    let options = ReadOptions { most_attempts: args.max_attempts, longest_line };
    let one = |(i, path): (usize, &std::path::PathBuf)| {
        let trace = load(Path::new(path), &options, terminal)?;
        for warning in &trace.warnings {
            terminal.tell(&format!("warning: {}: {warning}", trace.place(warning.first)));
        }
        observe(&trace, args.input_size.get(i).map(|bytes| *bytes as f64 / MB)).map_err(|error| refused(&error))
    };
    args.logs.iter().enumerate().map(one).collect()
}

fn refused(error: &FitError) -> Failure {
    let note = Note::problem(error.to_string());
    let note = match error {
        FitError::NoInput { .. } => note.with_help("say it with --input-size, once for each log"),
        FitError::NotAStageGraph { .. } => note.with_help("`tailspn trace` shows what other logs say"),
        _ => note,
    };
    Failure::new(Exit::Trace, note)
}

fn text_of(fitted: &FittedStages, args: &FitArgs, terminal: &Terminal) -> Result<String, Failure> {
    let report = fit_report(fitted, args.level);
    if args.json {
        return json("fit", &report).map_err(|error| Failure::plain(Exit::Internal, error.to_string()));
    }
    Ok(fit_text(&report, &terminal.look()))
}
