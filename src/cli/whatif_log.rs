//! `whatif` for a log: what other policies would have done to the very job that ran.

use std::path::Path;

use tailspn::cluster::{Experiment, Plan, PolicyPlan};
use tailspn::fit::{FitError, replay, usual_policies};
use tailspn::report::{log_what_if_report, what_if_picture};
use tailspn::trace::is_log;

use crate::cli::args::WhatIfArgs;
use crate::cli::exit::Exit;
use crate::cli::notes::{Failure, Note};
use crate::cli::output::Terminal;
use crate::cli::pictures::{draw_report, may_draw, write_picture};
use crate::cli::trace::{load, tell_warnings};
use crate::cli::watch::{catch_interrupt, interrupted};
use crate::cli::whatif::{compared, read, swept};

/// Whether a path leads to a log rather than a plan; what cannot be read is told when it is read.
pub(crate) fn is_meant(path: &Path) -> bool {
    path.is_dir() || is_log(path)
}

/// Replays the log under the policies.
pub(crate) fn run(log: &Path, args: &WhatIfArgs, terminal: &Terminal) -> Result<Exit, Failure> {
    may_draw(&args.plots, args.force)?;
    catch_interrupt(terminal);
    let trace = load(log, &(&args.limits).into(), terminal)?;
    tell_warnings(&trace, terminal);
    let replayed = replay(&trace).map_err(|error| refused(&error))?;
    drop(trace);
    let policies = match &args.policies {
        Some(path) => read(Some(path), terminal)?.policies(),
        None => usual_policies(&replayed),
    };
    let policies = swept(Plan { policy: policies, ..Plan::default() }, &args.sweep)?.policy;
    let policies = policies_with_none(policies);
    let (comparison, wall) =
        compared(|settings| Ok(Experiment::of_known(&replayed.job, &policies, settings)), args, terminal)?;
    let report = log_what_if_report(&replayed, &comparison, args.run.seed.unwrap_or(0), args.reps, wall);
    terminal.report(&report, &args.print)?;
    if let Some(path) = &args.plot {
        let picture = what_if_picture(&report.comparison).map_err(Failure::internal)?;
        write_picture(path, &picture.wide, args.force)?;
    }
    draw_report(&report, &args.plots, args.force, terminal)?;
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
