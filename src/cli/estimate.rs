//! `estimate`: how long a job takes, by simulation and by formula.

use std::time::Instant;

use tailspn::job_time::{EstimateMethod, ExactJobTime, JobEstimate, estimate_job};
use tailspn::mapreduce::Plan;
use tailspn::plan::JobPlan;
use tailspn::report::{AnalyticSummary, JobReport, job_report};

use crate::cli::args::{EstimateArgs, Method};
use crate::cli::convert::{export, format_of, put};
use crate::cli::estimate_stages;
use crate::cli::exit::Exit;
use crate::cli::notes::{Failure, Note};
use crate::cli::output::{Terminal, may_write};
use crate::cli::pictures::{draw_report, may_draw};
use crate::cli::plan::{only_whatif, read_job};
use crate::cli::simulate::end_of;
use crate::cli::spn_gc::tell_phases;
use crate::cli::study::{estimate_failure, replications};

/// Estimates the job.
pub(crate) fn run(args: &EstimateArgs, terminal: &Terminal) -> Result<Exit, Failure> {
    let started = Instant::now();
    if args.print_plan {
        terminal.data(Plan::example_toml())?;
        return Ok(Exit::Success);
    }
    let plan = match read_job(args.plan.as_deref(), terminal)? {
        JobPlan::MapReduce(plan) => *plan,
        JobPlan::Stages(plan) => return estimate_stages::run(plan, args, terminal),
        plan => return Err(only_whatif(&plan, "estimate")),
    };
    run_phases(plan, args, started, terminal)
}

/// Estimates a job of nine phases.
fn run_phases(mut plan: Plan, args: &EstimateArgs, started: Instant, terminal: &Terminal) -> Result<Exit, Failure> {
    if args.size.is_given() || args.speculation.is_some() {
        let note =
            Note::problem("--input-size, --executors, --cores, --partitions and --speculation are for plans of stages");
        return Err(Failure::new(
            Exit::Usage,
            note.with_help("`tailspn fit LOG` makes one; this plan has keys for its sizes"),
        ));
    }
    plan.model.seed = args.run.seed.unwrap_or(plan.model.seed);
    let format = args.export.as_deref().map(|path| format_of(None, path)).transpose()?;
    if let Some(path) = &args.export {
        may_write(path, args.force)?;
    }
    may_draw(&args.plots, args.force)?;
    let (ensemble, progress) = replications(args, plan.model.seed, terminal);
    let method = match args.method {
        Method::Auto => EstimateMethod::Auto,
        Method::Exact => EstimateMethod::Exact,
        Method::Simulate => EstimateMethod::Simulate,
    };
    let found = estimate_job(&plan, method, &ensemble, &progress).map_err(|error| estimate_failure(&error))?;
    drop(progress);
    tell_phases(&found.phases, terminal);
    let mut report = report_of(&plan, &found, args.run.level)?;
    report.add_cost(started.elapsed());
    report.add_method();
    let advice = advise(&mut report, &found, args.method);
    terminal.report(&report, &args.print)?;
    advice.iter().for_each(|advice| terminal.tell(advice));
    if let (Some(path), Some(format)) = (&args.export, format) {
        put(path, &export(&found.net.net, format, true, terminal), args.force, terminal)?;
    }
    draw_report(&report, &args.plots, args.force, terminal)?;
    Ok(found.simulated.as_ref().map_or(Exit::Success, |simulated| end_of(&simulated.run)))
}

/// The report of an estimate.
fn report_of(plan: &Plan, found: &JobEstimate, level: f64) -> Result<JobReport, Failure> {
    let mut report = job_report(plan, &found.phases, level);
    report.no_analytic.clone_from(&found.no_formula);
    report.analytic = match &found.exact {
        None => None,
        Some(ExactJobTime::Formula(time)) => Some(AnalyticSummary::new(time)),
        Some(ExactJobTime::Parts(time)) => {
            let summary = AnalyticSummary::of_completion(time);
            Some(summary.map_err(|error| Failure::plain(Exit::Refused, error.to_string()))?)
        }
    };
    if let Some(simulated) = &found.simulated {
        report.add_run(&simulated.run, &simulated.question);
        report.add_attempts(&simulated.run, &simulated.rewards);
        match &simulated.critical_path {
            Ok(path) => report.add_critical_path(path),
            Err(reason) => report.no_critical = Some(reason.clone()),
        }
    }
    Ok(report)
}

/// Whether an exact answer would do, and how to get it.
fn advise(report: &mut JobReport, found: &JobEstimate, method: Method) -> Option<String> {
    if method != Method::Auto {
        return None;
    }
    if report.analytic.is_some() {
        return Some("note: the job time is known exactly; --method exact gives it without simulation".to_owned());
    }
    if !found.has_parts {
        return None;
    }
    report.method.exact = Some("series-parallel".into());
    Some("note: there is no formula, but --method exact gives the job time from its parts".to_owned())
}
