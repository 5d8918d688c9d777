//! `estimate` for a plan of stages: the job at a size, by simulation of its net, with the spread between whole runs; with
//! copies of stragglers, task by task.

use tailspn::job_time::{SpeculativeCopies, estimate_stages};
use tailspn::net::Net;
use tailspn::report::{speculation_section, stages_report};
use tailspn::stages::{PlannedJob, StagePlan, stage_net};

use crate::cli::args::{EstimateArgs, Method, SizeArgs};
use crate::cli::convert::{export, format_of, put};
use crate::cli::exit::Exit;
use crate::cli::notes::{Failure, Note};
use crate::cli::output::{Terminal, may_write};
use crate::cli::pictures::{draw_report, may_draw};
use crate::cli::simulate::end_of;
use crate::cli::study::{estimate_failure, replications};
use crate::cli::values::SparkSpeculation;

/// Bytes of a MB.
const MB: f64 = 1_048_576.0;

/// Estimates the job of a plan of stages.
pub(crate) fn run(plan: StagePlan, args: &EstimateArgs, terminal: &Terminal) -> Result<Exit, Failure> {
    if args.method == Method::Exact {
        return Err(Failure::helped(
            Exit::Refused,
            "there is no formula for a job of stages whose tasks wait for slots",
            "leave out `--method`, or `--export` the net for `solve`",
        ));
    }
    let plan = resized(plan, &args.size)?;
    let format = args.export.as_deref().map(|path| format_of(None, path)).transpose()?;
    if let Some(path) = &args.export {
        may_write(path, args.force)?;
    }
    may_draw(&args.plots, args.force)?;
    plan.notes.iter().for_each(|note| terminal.tell(&format!("note: {note}")));
    let (ensemble, progress) = replications(args, args.run.seed.unwrap_or(0), terminal);
    let copies = match args.speculation {
        Some(SparkSpeculation::On { multiplier, quantile }) => Some(SpeculativeCopies { multiplier, quantile }),
        _ => None,
    };
    let found = estimate_stages(&plan, &ensemble, copies, args.run.level, &progress);
    let found = found.map_err(|error| estimate_failure(&error))?;
    drop(progress);
    let section = found.comparison.as_ref().and_then(speculation_section);
    let report = stages_report(&plan, &found.job, &found.times, &found.run, section, args.run.level);
    terminal.report(&report, &args.print)?;
    if let (Some(path), Some(format)) = (&args.export, format) {
        put(path, &export(&found.net.net, format, true, terminal), args.force, terminal)?;
    }
    draw_report(&report, &args.plots, args.force, terminal)?;
    Ok(end_of(&found.run))
}

/// The plan at the size that is asked for.
fn resized(mut plan: StagePlan, size: &SizeArgs) -> Result<StagePlan, Failure> {
    resize(&mut plan, size)?;
    Ok(plan)
}

/// The net of a plan of stages at the size that is asked for.
pub(crate) fn net(plan: StagePlan, size: &SizeArgs) -> Result<Net, Failure> {
    let made = stage_net(&PlannedJob::of(&resized(plan, size)?));
    let made = made.map_err(|problems| Failure {
        exit: Exit::Model,
        notes: problems.iter().map(|problem| Note::problem(problem.to_string())).collect(),
    })?;
    Ok(made.net)
}

/// Puts the sizes that were asked for into the plan.
fn resize(plan: &mut StagePlan, size: &SizeArgs) -> Result<(), Failure> {
    let whole = |number: u64| u32::try_from(number).unwrap_or(u32::MAX);
    let job = &mut plan.job;
    job.input_mb = size.input_size.map_or(job.input_mb, |bytes| bytes as f64 / MB);
    job.executors = size.executors.map_or(job.executors, whole);
    job.cores = size.cores.map_or(job.cores, whole);
    job.partitions = size.partitions.map(whole).or(job.partitions);
    let problems = plan.problems();
    if problems.is_empty() {
        return Ok(());
    }
    let notes = problems.iter().map(|problem| Note::problem(format!("at this size, {problem}"))).collect();
    Err(Failure { exit: Exit::Usage, notes })
}
