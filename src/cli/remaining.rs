//! `remaining`: the remaining time of a run, from its log so far; with `--follow`, updated as the log grows.

use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use tailspn::StudyError;
use tailspn::ask::RunSettings;
use tailspn::fit::observe_progress;
use tailspn::plan::JobPlan;
use tailspn::remaining::{RemainingSettings, remaining};
use tailspn::report::{Answer, RemainingBasis, RemainingReport, remaining_report};
use tailspn::stages::StagePlan;
use tailspn::subject::FileKind;
use tailspn::trace::{JobTrace, ReadOptions, WarningKind};
use tailspn::watch::{Unwatched, Watch};

use crate::cli::args::{FitArgs, RemainingArgs};
use crate::cli::call::interrupted;
use crate::cli::exit::Exit;
use crate::cli::fit::plan_of;
use crate::cli::frame::{self, Ask, Asked, Form};
use crate::cli::notes::Failure;
use crate::cli::output::Terminal;
use crate::cli::plan::PlanText;
use crate::cli::trace::load;
use crate::cli::watch::{Progress, catch_interrupt};

/// Interval between two checks of a log.
const POLL: Duration = Duration::from_millis(200);
/// Minimum time between two answers.
const PAUSE: Duration = Duration::from_secs(2);
/// Pause before the next prediction, as a multiple of the time of the last one, so that a large log uses a
/// small share of a CPU.
const SHARE: u32 = 10;

/// Predicts once or, with `--follow`, repeatedly while the log grows.
pub(crate) fn run(args: &RemainingArgs, terminal: &Terminal) -> Result<Exit, Failure> {
    if args.follow { follow(args, terminal) } else { frame::run(args, terminal) }
}

impl Ask for RemainingArgs {
    fn form(&self) -> Form<'_> {
        Form::printed(&self.print)
    }

    fn ask(&self, terminal: &Terminal) -> Result<Asked<'_>, Failure> {
        catch_interrupt(terminal);
        let plan = read_plan(self, terminal)?;
        let progress = Progress::new(terminal.shows_progress(), "replications");
        let report = answer(&self.log, self, plan.as_ref(), terminal, &progress)??;
        Ok(Answer::new(report).unless_stopped(interrupted()).into())
    }
}

/// Reads the plan of stages from a file, or fits it to the log of another run; none without a plan.
fn read_plan(args: &RemainingArgs, terminal: &Terminal) -> Result<Option<StagePlan>, Failure> {
    let Some(path) = &args.plan else { return Ok(None) };
    let needed = "`tailspn fit LOG... -o PLAN.toml` makes a plan of stages from Spark event logs";
    let plan = if path.is_dir() || FileKind::of(path).is_some_and(FileKind::is_log) {
        plan_of(&FitArgs::of_logs(vec![path.clone()], &args.limits), terminal)?
    } else {
        PlanText::read(&path.as_path().into(), terminal)?.job()?
    };
    match plan {
        JobPlan::Stages(plan) => Ok(Some(*plan)),
        other => Err(Failure::helped(
            Exit::Model,
            format!("`remaining` cannot use a plan of {}", other.described_by()),
            needed,
        )),
    }
}

/// Reads the log and prints the remaining time.
fn answer(
    log: &Path,
    args: &RemainingArgs,
    plan: Option<&StagePlan>,
    terminal: &Terminal,
    watch: &dyn Watch,
) -> Result<Result<RemainingReport, StudyError>, Failure> {
    let trace = load(log, &ReadOptions::from(&args.limits), terminal)?;
    tell_warnings(&trace, terminal);
    let now_s = args.now.then(now_s);
    let progress = observe_progress(&trace, now_s)?;
    let (replications, seed, threads, level) = (args.reps, Some(args.seed), args.threads, args.level);
    let run = RunSettings { replications, seed, threads, level, ..RunSettings::default() };
    let settings = RemainingSettings { run, input: args.input_size };
    let found = remaining(progress, plan, &settings, watch);
    Ok(found.map(|found| remaining_report(&found, &settings, &args.by)))
}

/// Returns the seconds since 1970 by this machine's clock.
fn now_s() -> f64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |time| time.as_secs_f64())
}

/// Prints the warnings about a log, except the warning that it is incomplete.
fn tell_warnings(trace: &JobTrace, terminal: &Terminal) {
    let is_natural = |kind| {
        matches!(
            kind,
            WarningKind::CutLastLine | WarningKind::CutFile | WarningKind::Unfinished | WarningKind::UnfinishedJob
        )
    };
    for warning in trace.warnings.iter().filter(|warning| !is_natural(warning.kind)) {
        terminal.tell(&format!("warning: {}: {warning}", trace.place(warning.first)));
    }
}

/// Predicts repeatedly while the log grows.
fn follow(args: &RemainingArgs, terminal: &Terminal) -> Result<Exit, Failure> {
    catch_interrupt(terminal);
    let plan = read_plan(args, terminal)?;
    let mut seen = None;
    loop {
        let log = current(&args.log);
        let size = size_of(&log);
        // Spark has created the file but not yet written to it
        let is_empty = size.as_ref().is_some_and(|(_, bytes)| *bytes == 0);
        if size == seen || is_empty {
            thread::sleep(POLL);
            if interrupted() {
                return Ok(Exit::Interrupted);
            }
            continue;
        }
        seen = size;
        let started = Instant::now();
        match answer(&log, args, plan.as_ref(), terminal, &Unwatched)? {
            Ok(report) => {
                let has_ended = report.basis == RemainingBasis::Ended;
                print(report, args, terminal)?;
                if has_ended {
                    return Ok(Exit::Success);
                }
            }
            Err(error @ (StudyError::TooEarly | StudyError::BetweenJobs)) => {
                terminal.tell(&format!("note: {error}; waiting"));
            }
            Err(error) => return Err(error.into()),
        }
        let pause = PAUSE.max(started.elapsed() * SHARE);
        let until = Instant::now() + pause;
        while Instant::now() < until {
            if interrupted() {
                return Ok(Exit::Interrupted);
            }
            thread::sleep(POLL.min(pause));
        }
    }
}

/// Returns the current path of the log: Spark removes `.inprogress` from the name when the application ends.
pub(crate) fn current(log: &Path) -> PathBuf {
    let ended = log.to_str().and_then(|name| name.strip_suffix(".inprogress")).map(PathBuf::from);
    match ended {
        Some(ended) if !log.exists() && ended.exists() => ended,
        _ => log.to_owned(),
    }
}

/// Returns the path of a log and its size in bytes, for a folder the size of all files; `None` if it cannot be
/// examined.
pub(crate) fn size_of(log: &Path) -> Option<(PathBuf, u64)> {
    let found = std::fs::metadata(log).ok()?;
    if found.is_file() {
        return Some((log.to_owned(), found.len()));
    }
    let files = std::fs::read_dir(log).ok()?;
    let sizes = files.filter_map(|file| Some(file.ok()?.metadata().ok()?.len()));
    Some((log.to_owned(), sizes.sum()))
}

/// Prints an answer: JSON as one line, text with an empty line before the next one.
fn print(report: RemainingReport, args: &RemainingArgs, terminal: &Terminal) -> Result<(), Failure> {
    if terminal.is_in_process() {
        terminal.keep(Answer::new(report));
        return Ok(());
    }
    if args.print.json {
        return terminal.data(&report.json_line().map_err(Failure::internal)?);
    }
    let text = terminal.printed(&report.into(), &args.print)?;
    let gap = if args.print.csv { "" } else { "\n" };
    terminal.data(&format!("{text}{gap}"))
}
