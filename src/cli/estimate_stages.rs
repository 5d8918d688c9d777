//! `estimate` for a plan of stages: the job time for an input size, with the spread between whole runs. It comes from a
//! simulation of the job's net or, with copies of stragglers, from a simulation task by task.

use tailspn::job_time::{estimate_stages, stages_stop_rule};
use tailspn::net::Net;
use tailspn::plan::PlanError;
use tailspn::report::stages_report;
use tailspn::sim::Ensemble;
use tailspn::stages::{PlannedJob, SpeculativeCopies, StagePlan, stage_net};

use crate::cli::args::{EstimateArgs, Method};
use crate::cli::convert::{export_to, format_of};
use crate::cli::exit::Exit;
use crate::cli::notes::{Failure, Note};
use crate::cli::output::{Terminal, may_write};
use crate::cli::pictures::{draw_report, may_draw};
use crate::cli::plan::options_refused;
use crate::cli::simulate::end_of;
use crate::cli::straggler_values::Copies;
use crate::cli::study::replications;
use crate::cli::values::SparkSpeculation;

/// Estimates the job of a plan of stages.
pub(crate) fn run(plan: StagePlan, args: &EstimateArgs, terminal: &Terminal) -> Result<Exit, Failure> {
    if args.method == Method::Exact {
        return Err(Failure::helped(
            Exit::Refused,
            "no formula exists for a job of stages whose tasks wait for slots",
            "remove `--method`, or write the net with `--export` and use `solve`",
        ));
    }
    let format = args.export.as_deref().map(|path| format_of(path, "")).transpose()?;
    if let Some(path) = &args.export {
        may_write(path, args.force)?;
    }
    may_draw(&args.plots, args.force)?;
    let plan = &copying(plan, args)?;
    let (ensemble, progress) = replications(args, args.run.seed.unwrap_or(0), terminal);
    let ensemble = match args.reps {
        None if ensemble.stop.is_none() => {
            Ensemble { stop: Some(stages_stop_rule(plan, ensemble.replications)), ..ensemble }
        }
        _ => ensemble,
    };
    let found = estimate_stages(plan, &ensemble, args.run.level, &progress);
    let mut found = found?;
    found.own_run.is_trusted = args.trust.trust_misfit;
    drop(progress);
    let report = stages_report(plan, &found, args.run.level);
    terminal.samples(found.times_s.iter().copied());
    terminal.report(&report, &args.print)?;
    if let (Some(path), Some(format)) = (&args.export, format) {
        export_to(&net(plan, terminal)?, format, true, (path, args.force), terminal)?;
    }
    draw_report(&report, &args.plots, args.force, terminal)?;
    Ok(end_of(&found.run))
}

/// Returns the plan with the copies of the command line.
fn copying(mut plan: StagePlan, args: &EstimateArgs) -> Result<StagePlan, Failure> {
    let refused = |message: &str, help: &str| Err(Failure::helped(Exit::Usage, message, help));
    if let Some(stragglers) = &args.stragglers {
        plan.stragglers = Some(stragglers.clone());
    }
    match &args.speculation {
        None => {}
        Some(Copies::Spark(SparkSpeculation::Off)) => plan.speculation = None,
        Some(Copies::Spark(SparkSpeculation::On { multiplier, quantile })) => {
            plan.speculation = Some(SpeculativeCopies::of(*multiplier, *quantile));
        }
        Some(Copies::Detector(_)) => {
            return refused(
                "`--speculation` with a detector has no meaning for a plan of `[[stage]]`",
                "take Spark's settings, such as spark4",
            );
        }
    }
    let problems = plan.problems();
    if problems.is_empty() { Ok(plan) } else { Err(options_refused(&PlanError { problems })) }
}

/// Returns the net of a plan of stages.
pub(crate) fn net(plan: &StagePlan, terminal: &Terminal) -> Result<Net, Failure> {
    if plan.speculation.is_some() {
        terminal.tell("note: the net has no speculative copies");
    }
    let job = PlannedJob::of(plan);
    if let Some(why) = job.no_net() {
        return Err(Failure::plain(Exit::Model, why));
    }
    let made = stage_net(&job).map_err(|problems| Failure {
        exit: Exit::Model,
        notes: problems.iter().map(|problem| Note::problem(problem.to_string())).collect(),
    })?;
    Ok(made.net)
}
