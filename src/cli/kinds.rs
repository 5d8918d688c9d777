//! Kinds of files, and the commands that accept each kind, so that a valid file of the wrong kind is reported differently
//! from a damaged file.

use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use tailspn::compare::Compared;
use tailspn::fit::HadoopConf;
use tailspn::formats::Format as NetFormat;
use tailspn::trace::{Format as LogFormat, log_format};

use crate::cli::args::Command;
use crate::cli::call::Call;
use crate::cli::exit::Exit;
use crate::cli::notes::{Failure, Note};

/// Number of bytes at the start of a file that determine the kind.
const HEAD: u64 = 64 * 1024;

/// The use that `optimize` makes of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Optimized {
    /// A plan whose axes are searched.
    Plan,
    /// A plan of a job; the number of machines is searched.
    Job,
    /// Logs to which a plan is fitted; the number of machines is searched.
    Logs,
}

/// A kind of file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Net,
    JobPlan,
    SweepPlan,
    OptimizePlan,
    Log(LogFormat),
    /// A Hadoop configuration.
    Settings,
    /// A result that tailspn wrote as JSON.
    Result,
    SystemCalls,
}

impl Kind {
    fn of(path: &Path) -> Option<Self> {
        if let Some(format) = log_format(path) {
            return Some(Self::Log(format));
        }
        let mut head = Vec::new();
        File::open(path).ok().filter(|_| path.is_file())?.take(HEAD).read_to_end(&mut head).ok()?;
        match NetFormat::sniff(&head) {
            Some(NetFormat::Svg | NetFormat::Dot) => return None,
            Some(_) => return Some(Self::Net),
            None => {}
        }
        let text = String::from_utf8_lossy(&head);
        if HadoopConf::is_meant(&head) && text.contains("<configuration") {
            return Some(Self::Settings);
        }
        let has = |section: &str| text.lines().any(|line| line.trim_start().starts_with(section));
        let json =
            text.trim_start().starts_with('{') && text.contains("\"format_version\"") && text.contains("\"kind\"");
        if json {
            Some(Self::Result)
        } else if has("[optimize]") {
            Some(Self::OptimizePlan)
        } else if has("[sweep]") || has("[[axis]]") {
            Some(Self::SweepPlan)
        } else if ["[job]", "[[job]]", "[profile]", "[[stage]]", "[cluster]"].into_iter().any(has) {
            Some(Self::JobPlan)
        } else {
            text.lines().take(20).any(is_call).then_some(Self::SystemCalls)
        }
    }

    /// Returns the kind of comparison in which `compare` uses this file, if any.
    fn compared(self) -> Option<Compared> {
        match self {
            Self::Log(_) => Some(Compared::Logs),
            Self::Result => Some(Compared::Results),
            Self::JobPlan | Self::SweepPlan | Self::OptimizePlan => Some(Compared::Plans),
            Self::Net | Self::Settings | Self::SystemCalls => None,
        }
    }

    /// Returns how `optimize` uses files of this kind.
    fn optimized(self) -> Option<Optimized> {
        match self {
            Self::OptimizePlan => Some(Optimized::Plan),
            Self::JobPlan => Some(Optimized::Job),
            Self::Settings => Some(Optimized::Logs),
            Self::Log(LogFormat::Google2011 | LogFormat::Alibaba2017 | LogFormat::Alibaba2018) => None,
            Self::Log(_) => Some(Optimized::Logs),
            Self::Net | Self::SweepPlan | Self::Result | Self::SystemCalls => None,
        }
    }

    /// Returns a name of the kind for messages, and the commands that accept it.
    fn text(self) -> (String, &'static str) {
        let known = |text: &str, commands| (text.to_owned(), commands);
        match self {
            Self::Net => known("a net", "`check`, `simulate` or `solve`"),
            Self::JobPlan => known("the plan of a job", "`estimate`, `optimize` or `whatif`"),
            Self::SweepPlan => known("the plan of a sweep", "`sweep` or `sensitivity`"),
            Self::OptimizePlan => known("the plan of an optimisation", "`optimize`"),
            Self::Log(format @ LogFormat::SparkEventLog) => {
                (format.text().to_owned(), "`fit`, `trace`, `diagnose`, `optimize`, `remaining` or `whatif`")
            }
            Self::Log(format @ LogFormat::HadoopJson) => {
                (format.text().to_owned(), "`fit`, `trace`, `diagnose`, `optimize` or `whatif`")
            }
            Self::Log(format @ (LogFormat::HadoopText | LogFormat::Rumen)) => {
                (format.text().to_owned(), "`fit`, `trace`, `diagnose` or `optimize`")
            }
            Self::Log(format) => (format.text().to_owned(), "`trace` or `diagnose`"),
            Self::Settings => known("the configuration of a Hadoop job", "`fit`, with the job's history"),
            Self::Result => known("a result of tailspn", "`report` or `compare`"),
            Self::SystemCalls => known("an strace log", "`syscalls diagnose` or `diagnose`"),
        }
    }
}

/// Returns the kind of a file for `compare`, also as text; `None` for a file that `compare` does not accept.
pub(crate) fn compared(path: &Path) -> Option<(Compared, String)> {
    let kind = Kind::of(path)?;
    Some((kind.compared()?, kind.text().0))
}

/// Returns how `optimize` uses a file; `None` for a file that `optimize` does not accept, or of an unknown kind.
pub(crate) fn optimized(path: &Path) -> Option<Optimized> {
    if Call::plan_at(path).is_some() { Some(Optimized::Job) } else { Kind::of(path)?.optimized() }
}

/// Returns true if a line is a call that strace logged.
fn is_call(line: &str) -> bool {
    let rest = line.trim_start_matches(|c: char| c.is_ascii_digit() || " .:[]pid".contains(c));
    let name = rest.find('(').map(|end| &rest[..end]);
    name.is_some_and(|name| {
        !name.is_empty() && name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_')
    }) && line.contains(" = ")
}

/// The name of a command, the kinds that it accepts, and its files.
type Inputs = (&'static str, fn(Kind) -> bool, Vec<PathBuf>);

/// Returns the files that a command reads; `None` for a command that reads no file of these kinds, or all kinds.
fn inputs(command: &Command) -> Option<Inputs> {
    let net: fn(Kind) -> bool = |kind| kind == Kind::Net;
    let job: fn(Kind) -> bool = |kind| kind == Kind::JobPlan;
    let log: fn(Kind) -> bool = |kind| matches!(kind, Kind::Log(_));
    let one = |path: &Option<PathBuf>| path.iter().cloned().collect();
    Some(match command {
        Command::Check(args) => ("check", net, vec![args.net.net.clone()]),
        Command::Convert(args) => ("convert", net, vec![args.net.net.clone()]),
        Command::Simulate(args) => ("simulate", net, vec![args.net.net.clone()]),
        Command::Solve(args) => ("solve", net, vec![args.net.net.clone()]),
        Command::Query(args) => ("query", net, vec![args.net.net.clone()]),
        Command::Rare(args) => ("rare", net, vec![args.net.net.clone()]),
        Command::Structure(args) => ("structure", net, vec![args.net.net.clone()]),
        Command::SpnGc(args) => ("spn-gc", job, one(&args.plan)),
        Command::Estimate(args) => ("estimate", job, one(&args.plan)),
        Command::Whatif(args) => ("whatif", |kind| matches!(kind, Kind::JobPlan | Kind::Log(_)), one(&args.plan)),
        Command::Sweep(args) => ("sweep", |kind| matches!(kind, Kind::SweepPlan | Kind::OptimizePlan), one(&args.plan)),
        Command::Sensitivity(args) => {
            ("sensitivity", |kind| matches!(kind, Kind::SweepPlan | Kind::OptimizePlan | Kind::Net), one(&args.subject))
        }
        Command::Optimize(args) => ("optimize", |kind| kind.optimized().is_some(), args.inputs.clone()),
        Command::Fit(args) => ("fit", |kind| matches!(kind, Kind::Log(_) | Kind::Settings), args.logs.clone()),
        Command::Remaining(args) => {
            // the log and the plan are of different kinds: the log is checked here, the plan when it is read
            ("remaining", |kind| kind == Kind::Log(LogFormat::SparkEventLog), vec![args.log.clone()])
        }
        Command::Trace(args) => ("trace", log, vec![args.log.clone()]),
        // a file that is not a log may hold progress reports, which have no kind
        Command::Detectors(args) => ("detectors", log, args.on.iter().chain(&args.usual).cloned().collect()),
        Command::Compare(args) => ("compare", |kind| kind.compared().is_some(), args.files().cloned().collect()),
        _ => return None,
    })
}

/// Replaces the failure of a command on a valid file of the wrong kind by a message that states the kind.
pub(crate) fn explained(failure: Failure, command: &Command) -> Failure {
    // a folder cannot be read by a command that takes files
    if !matches!(failure.exit, Exit::Model | Exit::Trace | Exit::Usage | Exit::Io) {
        return failure;
    }
    let Some((name, takes, paths)) = inputs(command) else { return failure };
    for path in paths {
        let Some(kind) = Kind::of(&path).filter(|kind| !takes(*kind)) else { continue };
        let (what, commands) = kind.text();
        let what = if path.is_dir() { format!("a folder with {what}") } else { what };
        let note = Note::problem(format!("`{}` is {what}, which `tailspn {name}` does not accept", path.display()));
        return Failure::new(failure.exit, note.with_help(format!("use {commands} for this file")));
    }
    failure
}
