//! `whatif`: what would be gained by which policy against stragglers.

use std::time::Instant;

use tailspn::cluster::{Experiment, Plan, PlanProblem, Replications, Sweep, compare};
use tailspn::report::{Found, WhatIfReport, what_if_picture, what_if_report};
use tailspn::sim::Watch as _;

use crate::cli::args::{SweepAxis, WhatIfArgs};
use crate::cli::exit::Exit;
use crate::cli::notes::{Failure, Note};
use crate::cli::output::{Terminal, may_write};
use crate::cli::pictures::{NAMES, draw_found, may_draw, write_picture};
use crate::cli::plan::read_plan;
use crate::cli::watch::{Progress, catch_interrupt, interrupted};
use crate::cli::whatif_log;

/// Compares the policies.
pub(crate) fn run(args: &WhatIfArgs, terminal: &Terminal) -> Result<Exit, Failure> {
    if args.print_plan {
        terminal.data(Plan::example_toml())?;
        return Ok(Exit::Success);
    }
    if let Some(path) = &args.plot {
        may_write(path, args.force)?;
    }
    if let Some(log) = args.plan.as_deref().filter(|path| whatif_log::is_meant(path)) {
        return whatif_log::run(log, args, terminal);
    }
    if args.policies.is_some() {
        let note = Note::problem("--policies is for a log; a plan has policies of its own");
        return Err(Failure::new(Exit::Usage, note.with_help("give the log of a job in place of the plan")));
    }
    may_draw(&NAMES, &args.plots, args.force)?;
    let plan = read_plan(args.plan.as_deref(), Plan::from_toml, "whatif", terminal)?;
    let plan = swept(plan, &args.sweep)?;
    let report = replicate(&plan, args, terminal)?;
    terminal.report(&report, &args.print)?;
    if let Some(path) = &args.plot {
        let picture = what_if_picture(&report).map_err(|error| internal(&error))?;
        write_picture(path, &picture.wide, args.force)?;
    }
    draw_found(&Found::WhatIf(Box::new(report)), &args.plots, args.force, terminal)?;
    Ok(if interrupted() { Exit::Interrupted } else { Exit::Success })
}

pub(super) fn internal(error: &dyn std::fmt::Display) -> Failure {
    Failure::plain(Exit::Internal, error.to_string())
}

/// The plan with all variants of its policies.
pub(super) fn swept(plan: Plan, axes: &[SweepAxis]) -> Result<Plan, Failure> {
    let mut sweep = Sweep::default();
    for axis in axes {
        match axis {
            SweepAxis::Lag(lags) => sweep.lags_s.extend(lags),
            SweepAxis::Reservation(slots) => sweep.slots.extend(slots),
            SweepAxis::Threshold(thresholds) => sweep.thresholds.extend(thresholds),
        }
    }
    let plan = Plan { policy: sweep.expand(&plan.policy), ..plan };
    let problems = plan.problems();
    if problems.is_empty() {
        return Ok(plan);
    }
    let told = |problem: &PlanProblem| Note::problem(format!("--sweep: {problem}"));
    Err(Failure { exit: Exit::Usage, notes: problems.iter().map(told).collect() })
}

/// Runs the policies until there are enough replications, or it is time to end.
fn replicate(plan: &Plan, args: &WhatIfArgs, terminal: &Terminal) -> Result<WhatIfReport, Failure> {
    let started = Instant::now();
    let seed = args.run.seed.unwrap_or(0);
    let refused = |error: &dyn std::fmt::Display| Failure::plain(Exit::Refused, error.to_string());
    catch_interrupt(terminal);
    let runs = {
        let progress = Progress::new(terminal.shows_progress(), "replications");
        let settings = Replications { count: args.reps, seed, threads: args.run.threads };
        let experiment = Experiment::new(plan, settings).map_err(|error| refused(&error))?;
        let mut go_on = |done| {
            progress.progress(done, args.reps);
            !progress.stopped() && args.run.max_time.is_none_or(|most| started.elapsed() < most)
        };
        experiment.run(&mut go_on).map_err(|error| refused(&error))?
    };
    let comparison = compare(&runs, args.run.level).map_err(|error| refused(&error))?;
    Ok(what_if_report(plan, &comparison, seed, args.reps, started.elapsed()))
}
