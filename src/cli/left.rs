//! The time left of a running application, from its log so far: once by `estimate`, or as the log grows by `watch`.

use std::io::IsTerminal as _;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use tailspn::StudyError;
use tailspn::ask::RunSettings;
use tailspn::fit::observe_progress;
use tailspn::plan::JobPlan;
use tailspn::remaining::{RemainingSettings, remaining};
use tailspn::report::{Answer, RemainingBasis, RemainingReport, Typed, remaining_report};
use tailspn::stages::StagePlan;
use tailspn::trace::{Format, JobTrace, ReadOptions, WarningKind};
use tailspn::watch::{Unwatched, Watch};

use crate::cli::args::{FitArgs, LogArgs, PrintArgs, WatchArgs};
use crate::cli::exit::Exit;
use crate::cli::fit::plan_of;
use crate::cli::follow::follow;
use crate::cli::frame::typed;
use crate::cli::input::{Input, quoted};
use crate::cli::left_lines::LeftLines;
use crate::cli::logs::{load, tell_warnings_except};
use crate::cli::notes::Failure;
use crate::cli::output::Terminal;
use crate::cli::plan::PlanText;
use crate::cli::values::Deadline;
use crate::cli::watch::catch_interrupt;

/// A question about a running application.
pub(crate) struct TimeLeft {
    /// The plan that was fitted to other runs.
    pub(crate) plan: Option<StagePlan>,
    pub(crate) settings: RemainingSettings,
    /// Deadlines of the run.
    pub(crate) deadlines: Vec<Deadline>,
    /// True if tasks are as old as this machine's clock says.
    pub(crate) now: bool,
}

impl TimeLeft {
    /// Predicts the end. The inner error says that there is no prediction yet.
    pub(crate) fn predict(
        &self,
        trace: &JobTrace,
        watch: &dyn Watch,
    ) -> Result<Result<RemainingReport, StudyError>, Failure> {
        let progress = observe_progress(trace, self.now.then(now_s))?;
        let start_s = progress.now_s - progress.elapsed_s.unwrap_or(0.0);
        let deadlines_s: Vec<f64> = self.deadlines.iter().map(|deadline| deadline.after(start_s)).collect();
        let found = remaining(progress, self.plan.as_ref(), &self.settings, watch);
        Ok(found.map(|found| remaining_report(&found, &self.settings, &deadlines_s)))
    }
}

/// Returns the log of an application that has not ended; none for other logs, which are runs to learn from.
pub(crate) fn is_running(trace: &JobTrace) -> bool {
    trace.format == Format::SparkEventLog && trace.applications.iter().any(|application| application.end.is_none())
}

/// Prints warnings about the log of a running application, which it has not closed.
pub(crate) fn tell_warnings(trace: &JobTrace, terminal: &Terminal) {
    tell_warnings_except(trace, WarningKind::is_of_running_job, terminal);
}

/// Reads the plan of stages from a file, or fits it to the logs of other runs; none without inputs.
pub(crate) fn evidence(inputs: &[Input], fit: FitArgs, terminal: &Terminal) -> Result<Option<StagePlan>, Failure> {
    let plan = match inputs {
        [] => return Ok(None),
        [plan] if !plan.is_log() => PlanText::read(plan, terminal)?.job()?,
        _ => plan_of(&fit, None, terminal)?,
    };
    match plan {
        JobPlan::Stages(plan) => Ok(Some(*plan)),
        other => Err(Failure::helped(
            Exit::Model,
            format!("a plan of {} tells nothing about this run", other.described_by()),
            "pass logs of other runs of the program, or the plan that `tailspn tool fit` makes of them",
        )),
    }
}

/// Predicts repeatedly while a log grows, until its application ends.
pub(crate) fn watch(log: &Path, args: &WatchArgs, terminal: &Terminal) -> Result<Exit, Failure> {
    catch_interrupt(terminal);
    let others: Vec<Input> = args.others().iter().map(|path| path.as_path().into()).collect();
    let limits = LogArgs::default();
    let fit = FitArgs::of_logs(args.others().to_vec(), &limits);
    let left = &args.left;
    let (replications, seed, threads, level) = (left.reps, Some(left.seed), left.threads, left.level);
    let run = RunSettings { replications, seed, threads, level, ..RunSettings::default() };
    let question = TimeLeft {
        plan: evidence(&others, fit, terminal)?,
        settings: RemainingSettings { run, input: left.input_size },
        deadlines: left.deadline.clone(),
        now: left.now,
    };
    let options = ReadOptions { application: left.app.clone(), ..(&limits).into() };
    let mut lines = LeftLines::new(std::io::stdout().is_terminal());
    follow(log, |log| {
        let trace = load(log, &options, terminal)?;
        tell_warnings(&trace, terminal);
        match question.predict(&trace, &Unwatched)? {
            Ok(report) => {
                let has_ended = report.basis == RemainingBasis::Ended;
                let form = &args.print;
                let is_text = !(form.is_json() || form.is_csv() || form.markdown || form.verbose);
                if is_text && !terminal.is_in_process() {
                    terminal.line(&lines.text(&report, &trace, &quoted(&log.display().to_string())))?;
                } else {
                    print(report, form, &typed([&Input::from(log)]), terminal)?;
                }
                Ok(has_ended)
            }
            Err(error @ (StudyError::TooEarly | StudyError::BetweenJobs)) => {
                terminal.tell(&format!("note: {error}; waiting"));
                Ok(false)
            }
            Err(error) => Err(error.into()),
        }
    })
}

/// Returns the seconds since 1970 by this machine's clock.
fn now_s() -> f64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |time| time.as_secs_f64())
}

/// Prints an answer: JSON as one line, text with an empty line before the next one.
fn print(report: RemainingReport, print: &PrintArgs, typed: &Typed, terminal: &Terminal) -> Result<(), Failure> {
    if terminal.is_in_process() {
        terminal.keep(Answer::new(report));
        return Ok(());
    }
    let typed = &terminal.asked_about(typed);
    if print.is_json() {
        return terminal.data(&report.json_line(typed).map_err(Failure::internal)?);
    }
    let text = terminal.printed(&report.into(), print, typed)?;
    let gap = if print.is_csv() { "" } else { "\n" };
    terminal.data(&format!("{text}{gap}"))
}
