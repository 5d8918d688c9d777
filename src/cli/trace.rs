//! `trace`: reports the stages and tasks in a log, and the bounds on the job's time.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use tailspn::report::{Answer, Picture, Report as _, trace_csv, trace_report, trace_svg};
use tailspn::trace::analysis::Usual;
use tailspn::trace::{JobTrace, ReadOptions, logs_in, read, read_stream};

use crate::cli::args::TraceArgs;
use crate::cli::call::interrupted;
use crate::cli::exit::Exit;
use crate::cli::frame::{self, Ask, Asked, Form};
use crate::cli::notes::Failure;
use crate::cli::output::Terminal;
use crate::cli::pictures::{draw, may_draw, may_write_picture, write_picture};
use crate::cli::watch::{Progress, catch_interrupt};

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
        Ok(Asked::from(answer).writing(move |_| write(&trace, &usual, self)))
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
    usual.iter().for_each(|run| tell_other_program(&trace, run, terminal));
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
    let mut all = trace_report(trace, usual).document().pictures().map_err(Failure::internal)?;
    // a picture with a text for each attempt, in place of the picture for the page
    let svg = trace_svg(trace, usual);
    all.retain(|picture| picture.name != "timeline");
    all.push(Picture { name: "timeline".into(), wide: svg.clone(), narrow: svg });
    draw(&all, &args.plots, args.force)
}

/// Warns about a run of `--usual` whose stages have other names: expected times go by the numbers of stages and tasks.
fn tell_other_program(trace: &JobTrace, usual: &JobTrace, terminal: &Terminal) {
    let names = |trace: &JobTrace| -> BTreeMap<u32, String> {
        let named = trace.stages_with_ids().filter(|(_, stage)| !stage.name.is_empty());
        named.map(|(_, stage)| (stage.number, stage.name.lines().next().unwrap_or("").to_owned())).collect()
    };
    let (here, there) = (names(trace), names(usual));
    let other = here.iter().find_map(|(number, name)| Some((number, name, there.get(number).filter(|n| *n != name)?)));
    if let Some((number, here, there)) = other {
        let log = usual.files.first().map_or("", String::as_str);
        terminal.tell(&format!(
            "warning: {log} seems to be a run of another program: stage {number} is `{there}` there and `{here}` here; expected times go by the numbers of stages"
        ));
    }
}

/// Prints warnings about a log.
pub(crate) fn tell_warnings(trace: &JobTrace, terminal: &Terminal) {
    for warning in &trace.warnings {
        terminal.tell(&format!("warning: {}: {warning}", trace.place(warning.first)));
    }
}

/// Reads a log, with progress and until Ctrl-C.
pub(crate) fn load(path: &Path, options: &ReadOptions, terminal: &Terminal) -> Result<JobTrace, Failure> {
    if path.as_os_str() == "-" {
        return load_stream("standard input", io::stdin().lock(), options, terminal);
    }
    let progress = Progress::new(terminal.shows_progress(), "bytes");
    Ok(read(path, options, &progress)?)
}

/// Reads a log that can be read only once.
pub(crate) fn load_stream(
    name: &str,
    stream: impl io::Read,
    options: &ReadOptions,
    terminal: &Terminal,
) -> Result<JobTrace, Failure> {
    let progress = Progress::new(terminal.shows_progress(), "bytes");
    Ok(read_stream(name, stream, options, &progress)?)
}

/// One of the logs that a command reads.
#[derive(Clone, Debug)]
pub(crate) struct LogChoice {
    /// The given file, folder or archive.
    pub(crate) path: PathBuf,
    /// The reading options; for a folder or archive, they include the application.
    pub(crate) options: ReadOptions,
}

impl LogChoice {
    /// Returns the path, followed by the file in the folder or archive.
    pub(crate) fn name(&self) -> String {
        let inside = self.options.application.as_deref().map_or_else(String::new, |file| format!("/{file}"));
        format!("{}{inside}", self.path.display())
    }

    /// Reads the log.
    pub(crate) fn load(&self, terminal: &Terminal) -> Result<JobTrace, Failure> {
        load(&self.path, &self.options, terminal)
    }
}

/// Returns the logs of the paths: all logs of a folder or archive, unless an application is requested.
pub(crate) fn all_logs(paths: &[&PathBuf], options: &ReadOptions) -> Result<Vec<LogChoice>, Failure> {
    let mut all = Vec::new();
    for path in paths {
        let choice = LogChoice { path: (*path).clone(), options: options.clone() };
        let is_stream = std::fs::metadata(path).is_ok_and(|found| !found.is_file() && !found.is_dir());
        if options.application.is_some() || is_stream || path.as_os_str() == "-" {
            all.push(choice);
            continue;
        }
        let listed = logs_in(path)?;
        if listed.len() < 2 {
            all.push(choice);
            continue;
        }
        all.extend(listed.into_iter().map(|log| LogChoice {
            path: (*path).clone(),
            options: ReadOptions { application: Some(log.file), ..options.clone() },
        }));
    }
    Ok(all)
}
