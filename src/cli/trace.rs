//! `trace`: what ran according to a log, and what made it take so long.

use std::io::{self, Read as _};
use std::path::Path;

use tailspn::report::{Picture, Report as _, trace_csv, trace_report, trace_svg};
use tailspn::trace::analysis::Usual;
use tailspn::trace::{JobTrace, ReadOptions, TraceError, read, read_bytes};

use crate::cli::args::TraceArgs;
use crate::cli::exit::Exit;
use crate::cli::notes::{Failure, Note};
use crate::cli::output::{Terminal, may_write, reason};
use crate::cli::pictures::{draw, may_draw, write_picture};
use crate::cli::watch::{Progress, catch_interrupt, interrupted};

/// Reads the log and says what is in it.
pub(crate) fn run(args: &TraceArgs, terminal: &Terminal) -> Result<Exit, Failure> {
    if let Some(path) = &args.timeline {
        may_write(path, args.force)?;
    }
    may_draw(&args.plots, args.force)?;
    catch_interrupt(terminal);
    let options = ReadOptions::from(&args.limits);
    let usual = args.usual.iter().map(|path| load(path, &options, terminal)).collect::<Result<Vec<_>, _>>()?;
    let trace = load(&args.log, &options, terminal)?;
    if args.print.csv {
        tell_warnings(&trace, terminal);
    }
    let usual = Usual::from_runs(&usual);
    if args.print.csv {
        trace_csv(&trace, &usual, |part| terminal.data(part))?;
    } else {
        terminal.report(&trace_report(&trace, &usual), &args.print)?;
    }
    if let Some(path) = &args.timeline {
        write_picture(path, &trace_svg(&trace, &usual), args.force)?;
    }
    draw_all(&trace, &usual, args)?;
    Ok(if interrupted() { Exit::Interrupted } else { Exit::Success })
}

/// Draws the attempts and the stages, where a folder is named.
fn draw_all(trace: &JobTrace, usual: &Usual, args: &TraceArgs) -> Result<(), Failure> {
    if args.plots.plots.is_none() {
        return Ok(());
    }
    let mut all = trace_report(trace, usual).document().pictures().map_err(Failure::internal)?;
    let svg = trace_svg(trace, usual);
    all.push(Picture { name: "timeline".into(), wide: svg.clone(), narrow: svg });
    draw(&all, &args.plots, args.force)
}

/// Prints warnings about a log.
pub(crate) fn tell_warnings(trace: &JobTrace, terminal: &Terminal) {
    for warning in &trace.warnings {
        terminal.tell(&format!("warning: {}: {warning}", trace.place(warning.first)));
    }
}

/// Reads a log, with progress and until Ctrl-C.
pub(crate) fn load(path: &Path, options: &ReadOptions, terminal: &Terminal) -> Result<JobTrace, Failure> {
    let progress = Progress::new(terminal.shows_progress(), "bytes");
    if path.as_os_str() == "-" {
        let mut bytes = Vec::new();
        let failed = |error: io::Error| Failure::plain(Exit::Io, format!("cannot read standard input: {error}"));
        io::stdin().lock().read_to_end(&mut bytes).map_err(failed)?;
        return read_bytes("standard input", &bytes, options, &progress).map_err(refused);
    }
    read(path, options, &progress).map_err(refused)
}

fn refused(error: TraceError) -> Failure {
    let (exit, message) = match &error {
        TraceError::Io { file, source } => (Exit::Io, format!("cannot read `{file}`: {}", reason(source))),
        _ => (Exit::Trace, error.to_string()),
    };
    let note = Note::problem(message);
    Failure::new(exit, error.help().map_or(note.clone(), |help| note.with_help(help)))
}
