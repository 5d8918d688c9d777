//! `whatif` for a log: what other policies would have done to the very job that ran.

use std::path::Path;
use std::time::Instant;

use tailspn::cluster::{Experiment, Plan, PolicyPlan, Replications, compare};
use tailspn::fit::{FitError, replay, usual_policies};
use tailspn::report::{Found, log_what_if_report, what_if_picture};
use tailspn::sim::Watch as _;
use tailspn::trace::{ReadOptions, is_log};

use crate::cli::args::WhatIfArgs;
use crate::cli::exit::Exit;
use crate::cli::notes::{Failure, Note};
use crate::cli::output::Terminal;
use crate::cli::pictures::{NAMES, draw_found, may_draw, write_picture};
use crate::cli::plan::read_plan;
use crate::cli::trace::load;
use crate::cli::watch::{Progress, catch_interrupt, interrupted};
use crate::cli::whatif::{internal, swept};

/// Whether a path leads to a log rather than a plan; what cannot be read is told when it is read.
pub(crate) fn is_meant(path: &Path) -> bool {
    path.is_dir() || is_log(path)
}

/// Replays the log under the policies.
pub(crate) fn run(log: &Path, args: &WhatIfArgs, terminal: &Terminal) -> Result<Exit, Failure> {
    may_draw(&NAMES, &args.plots, args.force)?;
    catch_interrupt(terminal);
    let options = ReadOptions { most_attempts: args.max_attempts, ..ReadOptions::default() };
    let trace = load(log, &options, terminal)?;
    for warning in &trace.warnings {
        terminal.tell(&format!("warning: {}: {warning}", trace.place(warning.first)));
    }
    let replayed = replay(&trace).map_err(|error| refused(&error))?;
    drop(trace);
    let policies = match &args.policies {
        Some(path) => read_plan(Some(path), Plan::from_toml, "whatif", terminal)?.policy,
        None => usual_policies(&replayed),
    };
    let policies = swept(Plan { policy: policies, ..Plan::default() }, &args.sweep)?.policy;
    let started = Instant::now();
    let seed = args.run.seed.unwrap_or(0);
    let runs = {
        let progress = Progress::new(terminal.shows_progress(), "replications");
        let settings = Replications { count: args.reps, seed, threads: args.run.threads };
        let mut go_on = |done| {
            progress.progress(done, args.reps);
            !progress.stopped() && args.run.max_time.is_none_or(|most| started.elapsed() < most)
        };
        let experiment = Experiment::of_known(&replayed.job, &policies_with_none(policies), settings);
        experiment.run(&mut go_on).map_err(|error| Failure::plain(Exit::Refused, error.to_string()))?
    };
    let comparison =
        compare(&runs, args.run.level).map_err(|error| Failure::plain(Exit::Refused, error.to_string()))?;
    let report = log_what_if_report(&replayed, &comparison, seed, args.reps, started.elapsed());
    terminal.report(&report, &args.print)?;
    if let Some(path) = &args.plot {
        let picture = what_if_picture(&report.comparison).map_err(|error| internal(&error))?;
        write_picture(path, &picture.wide, args.force)?;
    }
    draw_found(&Found::WhatIf(Box::new(report.comparison)), &args.plots, args.force, terminal)?;
    Ok(if interrupted() { Exit::Interrupted } else { Exit::Success })
}

/// The replay itself is always there to compare with.
fn policies_with_none(mut policies: Vec<PolicyPlan>) -> Vec<PolicyPlan> {
    if !policies.iter().any(|policy| policy.detector == PolicyPlan::default().detector) {
        policies.insert(0, PolicyPlan::default());
    }
    policies
}

fn refused(error: &FitError) -> Failure {
    let note = Note::problem(error.to_string());
    let note = match error {
        FitError::SeveralApplications { .. } => note.with_help("split the log, one application in each file"),
        _ => note,
    };
    Failure::new(Exit::Trace, note)
}
