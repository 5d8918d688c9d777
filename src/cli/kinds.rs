//! The commands that accept each kind of file, so that a valid file of the wrong kind is reported differently
//! from a damaged file.

use std::path::PathBuf;

use tailspn::compare::Compared;
use tailspn::subject::FileKind;
use tailspn::trace::Format as LogFormat;

use crate::cli::args::{Command, NetCommand, ToolCommand};
use crate::cli::exit::Exit;
use crate::cli::input::Input;
use crate::cli::load::unreadable;
use crate::cli::notes::{Failure, Note};

/// The commands that use a kind of file.
trait Uses: Sized {
    /// Returns the kind of comparison in which `why` uses this file, if any.
    fn compared(self) -> Option<Compared>;

    /// Returns true if a plan is fitted to files of this kind.
    fn fits_a_plan(self) -> bool;

    /// Returns a name of the kind for messages, and the commands that accept it.
    fn text(self) -> (String, &'static str);
}

impl Uses for FileKind {
    fn compared(self) -> Option<Compared> {
        match self {
            Self::Log(_) => Some(Compared::Logs),
            Self::Result => Some(Compared::Results),
            Self::JobPlan | Self::SweepPlan | Self::OptimizePlan => Some(Compared::Plans),
            Self::Net
            | Self::HadoopConf
            | Self::Samples
            | Self::SystemCalls
            | Self::Progress
            | Self::Runs
            | Self::Cluster => None,
        }
    }

    fn fits_a_plan(self) -> bool {
        match self {
            Self::HadoopConf => true,
            Self::Log(LogFormat::Google2011 | LogFormat::Alibaba2017 | LogFormat::Alibaba2018) => false,
            Self::Log(_) => true,
            Self::Net
            | Self::JobPlan
            | Self::SweepPlan
            | Self::OptimizePlan
            | Self::Result
            | Self::Samples
            | Self::SystemCalls
            | Self::Progress
            | Self::Runs
            | Self::Cluster => false,
        }
    }

    fn text(self) -> (String, &'static str) {
        let known = |text: &str, commands| (text.to_owned(), commands);
        match self {
            Self::Net => known("a net", "`net check`, `net simulate` or `net solve`"),
            Self::JobPlan => known("the plan of a job", "`estimate`, `study` or `whatif`"),
            Self::SweepPlan => known("the plan of a sweep", "`study`"),
            Self::OptimizePlan => known("the plan of an optimisation", "`study`"),
            Self::Log(format @ LogFormat::SparkEventLog) => {
                (format.text().to_owned(), "`estimate`, `why`, `study`, `watch` or `whatif`")
            }
            Self::Log(format @ LogFormat::HadoopJson) => {
                (format.text().to_owned(), "`estimate`, `why`, `study` or `whatif`")
            }
            Self::Log(format @ (LogFormat::HadoopText | LogFormat::Rumen | LogFormat::PhaseLog)) => {
                (format.text().to_owned(), "`estimate`, `why` or `study`")
            }
            Self::Log(format) => (format.text().to_owned(), "`why`"),
            Self::HadoopConf => {
                known("the configuration of a Hadoop job", "`estimate` or `tool fit`, with the job's history,")
            }
            Self::Result => known("a result of tailspn", "`tailspn FILE`, or `why` with another result,"),
            Self::Samples => known("samples of sysstat", "`why`, with the log of the job,"),
            Self::SystemCalls => known("an strace log", "`why` or `tool profile`"),
            Self::Progress => known("progress reports of tasks", "`watch` or `why`"),
            Self::Runs => known("a table of runs", "`estimate`"),
            Self::Cluster => known("what is known about a cluster", "`estimate TABLE --alongside`"),
        }
    }
}

/// Returns the kind of compared files, which must be the same for all.
pub(crate) fn compared<'p>(paths: impl Iterator<Item = &'p PathBuf>) -> Result<Compared, Failure> {
    let mut first: Option<(Compared, String, &PathBuf)> = None;
    for path in paths {
        // a missing file must not be reported as a file of the wrong kind
        std::fs::metadata(path).map_err(|error| unreadable(path, &error))?;
        let Some((kind, text)) = FileKind::of(path).and_then(|kind| Some((kind.compared()?, kind.text().0))) else {
            return Err(Failure::helped(
                Exit::Model,
                format!("`{}` is not a log, a result or a plan", path.display()),
                "a result is the output of `--json`; to compare nets, use `tailspn net check NET --against OTHER`",
            ));
        };
        match &first {
            Some((other, words, of)) if *other != kind => {
                let message = format!("`{}` is {words}, `{}` is {text}", of.display(), path.display());
                return Err(Failure::helped(
                    Exit::Usage,
                    message,
                    "compare logs with logs, results with results, or plans with plans",
                ));
            }
            Some(_) => {}
            None => first = Some((kind, text, path)),
        }
    }
    first.map(|(kind, ..)| kind).ok_or_else(|| Failure::plain(Exit::Usage, "a side has no file"))
}

/// Returns true if all files can be compared, and there are at least two.
pub(crate) fn are_compared(paths: &[PathBuf]) -> bool {
    paths.len() > 1 && paths.iter().all(|path| FileKind::of(path).is_some_and(|kind| kind.compared().is_some()))
}

/// Returns true if a plan is fitted to a file.
pub(crate) fn is_fitted(input: &Input) -> bool {
    input.kind().is_some_and(Uses::fits_a_plan)
}

/// The name of a command, the kinds that it accepts, and its files.
type Inputs = (&'static str, fn(FileKind) -> bool, Vec<Input>);

/// Returns the files that a command reads; `None` for a command that reads no file of these kinds, or all kinds.
fn inputs(command: &Command) -> Option<Inputs> {
    let net: fn(FileKind) -> bool = |kind| kind == FileKind::Net;
    let job: fn(FileKind) -> bool = |kind| kind == FileKind::JobPlan;
    let one = |input: &Option<Input>| input.iter().cloned().collect();
    let files = |paths: &mut dyn Iterator<Item = &PathBuf>| paths.map(|path| path.as_path().into()).collect();
    Some(match command {
        Command::Net(NetCommand::Check(args)) => ("net check", net, vec![args.net.net.clone()]),
        Command::Net(NetCommand::Convert(args)) => ("net convert", net, vec![args.net.net.clone()]),
        Command::Net(NetCommand::Simulate(args)) => ("net simulate", net, vec![args.net.net.clone()]),
        Command::Net(NetCommand::Solve(args)) => ("net solve", net, vec![args.net.net.clone()]),
        Command::Net(NetCommand::Query(args)) => ("net query", net, vec![args.net.net.clone()]),
        Command::Net(NetCommand::Rare(args)) => ("net rare", net, vec![args.net.net.clone()]),
        Command::Net(NetCommand::Structure(args)) => ("net structure", net, vec![args.net.net.clone()]),
        Command::Net(NetCommand::SpnGc(args)) => ("net spn-gc", job, one(&args.plan)),
        Command::Estimate(args) => (
            "estimate",
            |kind| matches!(kind, FileKind::JobPlan | FileKind::Runs) || kind.fits_a_plan(),
            args.inputs.clone(),
        ),
        Command::Whatif(args) => {
            ("whatif", |kind| matches!(kind, FileKind::JobPlan | FileKind::Log(_)), one(&args.plan))
        }
        Command::Study(args) => (
            "study",
            |kind| {
                matches!(kind, FileKind::JobPlan | FileKind::SweepPlan | FileKind::OptimizePlan | FileKind::Net)
                    || kind.fits_a_plan()
            },
            args.inputs.clone(),
        ),
        Command::Tool(ToolCommand::Fit(args)) => {
            ("tool fit", |kind| matches!(kind, FileKind::Log(_) | FileKind::HadoopConf), files(&mut args.logs.iter()))
        }
        Command::Tool(ToolCommand::Detectors(args)) => (
            "tool detectors",
            |kind| matches!(kind, FileKind::Log(_) | FileKind::Progress),
            files(&mut args.on.iter().chain(&args.usual)),
        ),
        Command::Watch(args) => (
            "watch",
            |kind| matches!(kind, FileKind::Progress | FileKind::Log(LogFormat::SparkEventLog)),
            files(&mut args.inputs.iter().take(1)),
        ),
        Command::Why(args) => {
            let takes: fn(FileKind) -> bool = if args.files().count() > 1 {
                |kind| kind.compared().is_some() || kind.is_of_a_run()
            } else {
                FileKind::is_of_a_run
            };
            ("why", takes, files(&mut args.files()))
        }
        _ => return None,
    })
}

/// Replaces the failure of a command on a valid file of the wrong kind by a message that states the kind.
pub(crate) fn explained(failure: Failure, command: &Command) -> Failure {
    // a folder cannot be read by a command that takes files
    if !matches!(failure.exit, Exit::Model | Exit::Usage | Exit::Io) {
        return failure;
    }
    let Some((name, takes, paths)) = inputs(command) else { return failure };
    for path in paths {
        let Some(kind) = path.kind().filter(|kind| !takes(*kind)) else { continue };
        let (what, commands) = kind.text();
        let what = if path.is_dir() { format!("a folder with {what}") } else { what };
        let note = Note::problem(format!("`{}` is {what}, which `tailspn {name}` does not accept", path.display()));
        return Failure::new(failure.exit, note.with_help(format!("use {commands} for this file")));
    }
    failure
}
