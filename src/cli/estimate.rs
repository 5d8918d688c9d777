//! `estimate`: the time of a job, by simulation and by formula.

use std::time::Instant;

use tailspn::job_time::{EstimateMethod, EstimateSettings, JobEstimate, LateSettings, estimate_job, job_and_net};
use tailspn::mapreduce::Plan;
use tailspn::plan::{JobPlan, PlanError};
use tailspn::report::{ExactBy, JobReport, estimate_report};

use crate::cli::args::{EstimateArgs, Method};
use crate::cli::convert::{export_to, format_of};
use crate::cli::estimate_stages;
use crate::cli::exit::Exit;
use crate::cli::notes::Failure;
use crate::cli::output::{Terminal, may_write};
use crate::cli::pictures::{draw_report, may_draw};
use crate::cli::plan::{only_whatif, options_refused, read_job};
use crate::cli::proof::proved;
use crate::cli::rare::{MOST_WALKS, below};
use crate::cli::simulate::{end_of, times_s};
use crate::cli::spn_gc::tell_phases;
use crate::cli::straggler_values::Copies;
use crate::cli::study::replications;
use crate::cli::values::SparkSpeculation;

/// Estimates the job.
pub(crate) fn run(args: &EstimateArgs, terminal: &Terminal) -> Result<Exit, Failure> {
    let started = Instant::now();
    if args.print_plan {
        terminal.data(Plan::example_toml())?;
        return Ok(Exit::Success);
    }
    let plan = read_job(args.plan.as_deref(), &args.planned, terminal)?;
    if plan.deadline_s().is_some() || args.speculation.is_some() {
        proved(&plan, args.trust.trust_misfit, terminal)?;
    }
    let plan = match plan {
        JobPlan::MapReduce(plan) => *plan,
        JobPlan::Stages(plan) => return estimate_stages::run(*plan, args, terminal),
        plan => return Err(only_whatif(&plan, "estimate")),
    };
    run_phases(straggling(plan, args)?, args, started, terminal)
}

/// Returns the plan with the stragglers and copies of the command line.
fn straggling(mut plan: Plan, args: &EstimateArgs) -> Result<Plan, Failure> {
    if let Some(stragglers) = &args.stragglers {
        plan.stragglers = Some(stragglers.clone());
    }
    match &args.speculation {
        None => {}
        Some(Copies::Spark(SparkSpeculation::Off)) => plan.speculation = None,
        Some(Copies::Detector(detector)) => plan.speculation = Some(detector.clone()),
        Some(Copies::Spark(_)) => {
            return Err(Failure::helped(
                Exit::Usage,
                "`--speculation` with Spark's settings needs a plan of stages, which `tailspn fit LOG` writes",
                "for this plan, specify a detector, such as r=0.6,p=0.8,dl=0.4",
            ));
        }
    }
    let problems = plan.problems();
    if problems.is_empty() { Ok(plan) } else { Err(options_refused(&PlanError { problems })) }
}

/// Estimates a job of nine phases.
fn run_phases(mut plan: Plan, args: &EstimateArgs, started: Instant, terminal: &Terminal) -> Result<Exit, Failure> {
    plan.model.seed = args.run.seed.unwrap_or(plan.model.seed);
    let format = args.export.as_deref().map(|path| format_of(path, "")).transpose()?;
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
    let effort = args.late_effort.map(|walks| below("--late-effort", walks, MOST_WALKS)).transpose()?;
    let late = effort.filter(|effort| *effort > 0).map(|effort| LateSettings { effort, level: args.run.level });
    let settings = EstimateSettings { method, fold: !args.no_fold, late };
    let mut found = estimate_job(&plan, settings, &ensemble, &progress)?;
    drop(progress);
    tell_phases(&found.phases, terminal);
    found.own_run.is_trusted = args.trust.trust_misfit;
    let report = estimate_report(&plan, &found, args.run.level);
    let mut report = report.map_err(|error| Failure::plain(Exit::Refused, error.to_string()))?;
    report.add_cost(started.elapsed());
    let advice = advise(&mut report, &found, args.method);
    if let Some(simulated) = &found.simulated {
        terminal.samples(times_s(&simulated.run));
    }
    terminal.report(&report, &args.print)?;
    advice.iter().for_each(|advice| terminal.tell(advice));
    if let (Some(path), Some(format)) = (&args.export, format) {
        let job = match found.net {
            Some(job) => job,
            None => job_and_net(&plan)?.1,
        };
        export_to(&job.net, format, true, (path, args.force), terminal)?;
    }
    draw_report(&report, &args.plots, args.force, terminal)?;
    Ok(found.simulated.as_ref().map_or(Exit::Success, |simulated| end_of(&simulated.run)))
}

/// Returns advice on how to get an exact answer, if one exists.
fn advise(report: &mut JobReport, found: &JobEstimate, method: Method) -> Option<String> {
    if method != Method::Auto {
        return None;
    }
    if report.analytic.is_some() {
        return Some("note: the job time is known exactly; --method exact prints it without simulation".to_owned());
    }
    if !found.has_parts {
        return None;
    }
    report.method.exact = Some(ExactBy::SeriesParallel);
    Some("note: there is no formula, but --method exact computes the job time from the parts of the job".to_owned())
}
