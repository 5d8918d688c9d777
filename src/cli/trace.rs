//! `trace`: reports the stages and tasks in a log, and the bounds on the job's time.

use tailspn::report::{Answer, trace_csv, trace_pictures, trace_report, trace_svg};
use tailspn::trace::analysis::Usual;
use tailspn::trace::{JobTrace, ReadOptions};

use crate::cli::args::TraceArgs;
use crate::cli::call::interrupted;
use crate::cli::exit::Exit;
use crate::cli::frame::{self, Ask, Asked, Form};
use crate::cli::logs::{load, tell_warnings};
use crate::cli::notes::Failure;
use crate::cli::output::Terminal;
use crate::cli::pictures::{draw, may_draw, may_write_picture, write_picture};
use crate::cli::watch::catch_interrupt;

/// Reads the log and reports on it. As CSV, its attempts are written one by one: they may be millions.
pub(crate) fn run(args: &TraceArgs, terminal: &Terminal) -> Result<Exit, Failure> {
    if !args.print.csv {
        return frame::run(args, terminal);
    }
    may_draw(&args.plots, args.force)?;
    let (trace, usual) = read_all(args, terminal)?;
    trace_csv(&trace, &usual, args.print.csv_text(), |part| terminal.data(part))?;
    write(&trace, &usual, args)?;
    Ok(if interrupted() { Exit::Interrupted } else { Exit::Success })
}

impl Ask for TraceArgs {
    fn form(&self) -> Form<'_> {
        Form { force: self.force, ..Form::printed(&self.print) }
    }

    fn ask(&self, terminal: &Terminal) -> Result<Asked<'_>, Failure> {
        may_draw(&self.plots, self.force)?;
        let (trace, usual) = read_all(self, terminal)?;
        let answer = Answer::new(trace_report(&trace, &usual)).unless_stopped(interrupted());
        Ok(Asked::from(answer).writing(move |_, _| write(&trace, &usual, self)))
    }
}

/// Reads the log and the control runs.
fn read_all(args: &TraceArgs, terminal: &Terminal) -> Result<(JobTrace, Usual), Failure> {
    if let Some(path) = &args.timeline {
        may_write_picture(path, args.force)?;
    }
    catch_interrupt(terminal);
    let options = ReadOptions::from(&args.limits);
    // `--app` applies to the log, not to the control runs
    let others = ReadOptions { application: None, ..options.clone() };
    let usual = args.usual.iter().map(|path| load(path, &others, terminal)).collect::<Result<Vec<_>, _>>()?;
    let trace = load(&args.log, &options, terminal)?;
    if args.print.csv {
        tell_warnings(&trace, terminal);
    }
    for other in usual.iter().filter_map(|run| Usual::other_program(&trace, run)) {
        terminal.tell(&format!("warning: {other}"));
    }
    Ok((trace, Usual::from_runs(&usual)))
}

/// Draws the attempts; also the stages, if a folder is given.
fn write(trace: &JobTrace, usual: &Usual, args: &TraceArgs) -> Result<(), Failure> {
    if let Some(path) = &args.timeline {
        write_picture(path, &trace_svg(trace, usual), args.force)?;
    }
    if args.plots.plots.is_none() {
        return Ok(());
    }
    let all = trace_pictures(&trace_report(trace, usual), trace, usual).map_err(Failure::internal)?;
    draw(&all, &args.plots, args.force)
}
