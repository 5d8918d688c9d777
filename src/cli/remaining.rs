//! `remaining`: the remaining time of a run, from its log so far; with `--follow`, updated as the log grows.

use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use tailspn::StudyError;
use tailspn::ask::RunSettings;
use tailspn::fit::observe_progress;
use tailspn::plan::JobPlan;
use tailspn::remaining::{RemainingSettings, remaining};
use tailspn::report::{Answer, RemainingBasis, RemainingReport, remaining_report};
use tailspn::stages::StagePlan;
use tailspn::trace::{ReadOptions, WarningKind};
use tailspn::watch::{Unwatched, Watch};

use crate::cli::args::RemainingArgs;
use crate::cli::call::interrupted;
use crate::cli::exit::Exit;
use crate::cli::fitted::job_at;
use crate::cli::follow::follow;
use crate::cli::frame::{self, Ask, Asked, Form};
use crate::cli::logs::{load, tell_warnings_except};
use crate::cli::notes::Failure;
use crate::cli::output::Terminal;
use crate::cli::watch::{Progress, catch_interrupt};

/// Predicts once or, with `--follow`, repeatedly while the log grows.
pub(crate) fn run(args: &RemainingArgs, terminal: &Terminal) -> Result<Exit, Failure> {
    if !args.follow {
        return frame::run(args, terminal);
    }
    catch_interrupt(terminal);
    let plan = read_plan(args, terminal)?;
    follow(&args.log, |log| match answer(log, args, plan.as_ref(), terminal, &Unwatched)? {
        Ok(report) => {
            let has_ended = report.basis == RemainingBasis::Ended;
            print(report, args, terminal)?;
            Ok(has_ended)
        }
        Err(error @ (StudyError::TooEarly | StudyError::BetweenJobs)) => {
            terminal.tell(&format!("note: {error}; waiting"));
            Ok(false)
        }
        Err(error) => Err(error.into()),
    })
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
    match job_at(&path.as_path().into(), &args.limits, terminal)? {
        JobPlan::Stages(plan) => Ok(Some(*plan)),
        other => Err(Failure::helped(
            Exit::Model,
            format!("`remaining` cannot use a plan of {}", other.described_by()),
            "`tailspn fit LOG... -o PLAN.toml` makes a plan of stages from Spark event logs",
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
    // a running application has not closed its log
    tell_warnings_except(&trace, WarningKind::is_of_running_job, terminal);
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
