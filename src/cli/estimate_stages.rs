//! `estimate` for a plan of stages: the job at a size, by simulation of its net, with the spread between whole runs; with
//! copies of stragglers, task by task.

use tailspn::cluster::{Comparison, Experiment, MAX_TASKS, PolicyRuns, Replications, compare};
use tailspn::net::Net;
use tailspn::report::{Found, speculation_section, stages_report};
use tailspn::sim::{Group, Question, Watch as _};
use tailspn::stages::{JobTimes, PlannedJob, RunFactor, StageNet, StagePlan, known_job, spark_policies, stage_net};

use crate::cli::args::{EstimateArgs, Method, SizeArgs, SparkSpeculation};
use crate::cli::convert::{export, format_of, put};
use crate::cli::estimate::{REPLICATIONS, group, replications};
use crate::cli::exit::Exit;
use crate::cli::load::compile_net;
use crate::cli::notes::{Failure, Note};
use crate::cli::output::{Terminal, may_write};
use crate::cli::pictures::{NAMES, draw_found, may_draw};
use crate::cli::simulate::end_of;
use crate::cli::watch::Progress;

/// Bytes of a MB.
const MB: f64 = 1_048_576.0;

/// Estimates the job of a plan of stages.
pub(crate) fn run(plan: StagePlan, args: &EstimateArgs, terminal: &Terminal) -> Result<Exit, Failure> {
    if args.method == Method::Exact {
        let note = Note::problem("there is no formula for a job of stages whose tasks wait for slots");
        return Err(Failure::new(
            Exit::Refused,
            note.with_help("leave out `--method`, or `--export` the net for `solve`"),
        ));
    }
    let plan = resized(plan, &args.size)?;
    let format = args.export.as_deref().map(|path| format_of(None, path)).transpose()?;
    if let Some(path) = &args.export {
        may_write(path, args.force)?;
    }
    may_draw(&NAMES, &args.plots, args.force)?;
    plan.notes.iter().for_each(|note| terminal.tell(&format!("note: {note}")));
    let job = PlannedJob::of(&plan);
    let made = net_of(&job)?;
    let program = compile_net(&made.net)?;
    let question = Question { groups: groups(&job, &made), ..Question::default() };
    let found = replications(&program, &question, args, args.run.seed.unwrap_or(0), terminal)?;
    let factor = RunFactor::new(&plan.run, job.error());
    let samples = &found.samples;
    let copies = with_copies(&plan, &job, args, terminal)?;
    let times = match &copies {
        Some((runs, _)) => {
            let with = runs.last().map_or(&[][..], |run| &run.outcomes);
            JobTimes::new(with.iter().map(|outcome| (outcome.job_s, 1.0)).collect(), factor)
        }
        None => JobTimes::from_histogram(&samples.passage_histogram, samples.clock.tick(), factor),
    };
    let Some(times) = times else { return Err(Failure::plain(Exit::Refused, "no replication ended")) };
    let section = copies.as_ref().and_then(|(_, comparison)| speculation_section(comparison));
    let report = stages_report(&plan, &job, &times, &found, section, args.run.level);
    terminal.report(&report, &args.print)?;
    if let (Some(path), Some(format)) = (&args.export, format) {
        put(path, &export(&made.net, format, true, terminal), args.force, terminal)?;
    }
    draw_found(&Found::Stages(Box::new(report)), &args.plots, args.force, terminal)?;
    Ok(end_of(&found))
}

/// The plan at the size that is asked for.
fn resized(mut plan: StagePlan, size: &SizeArgs) -> Result<StagePlan, Failure> {
    resize(&mut plan, size)?;
    Ok(plan)
}

/// The net of a plan of stages at the size that is asked for.
pub(crate) fn net(plan: StagePlan, size: &SizeArgs) -> Result<Net, Failure> {
    Ok(net_of(&PlannedJob::of(&resized(plan, size)?))?.net)
}

fn net_of(job: &PlannedJob) -> Result<StageNet, Failure> {
    stage_net(job).map_err(|problems| {
        let notes = problems.iter().map(|problem| Note::problem(problem.to_string())).collect();
        Failure { exit: Exit::Model, notes }
    })
}

/// Runs without copies and with Spark's, where they are asked for.
fn with_copies(
    plan: &StagePlan,
    job: &PlannedJob,
    args: &EstimateArgs,
    terminal: &Terminal,
) -> Result<Option<(Vec<PolicyRuns>, Comparison)>, Failure> {
    let Some(SparkSpeculation::On { multiplier, quantile }) = args.speculation else { return Ok(None) };
    let refused = |error: &dyn std::fmt::Display| Failure::plain(Exit::Refused, error.to_string());
    let count = args.reps.unwrap_or(REPLICATIONS);
    let tasks: u64 = job.stages.iter().map(|stage| u64::from(stage.tasks())).sum();
    if tasks > MAX_TASKS {
        return Err(refused(&format!("{tasks} tasks; at most {MAX_TASKS} can be simulated with copies")));
    }
    let settings = Replications { count, seed: args.run.seed.unwrap_or(0), threads: args.run.threads };
    let experiment =
        Experiment::of_known(&known_job(job, plan.job.executors), &spark_policies(multiplier, quantile), settings);
    let progress = Progress::new(terminal.shows_progress(), "replications with copies");
    let mut go_on = |done| {
        progress.progress(done, count);
        !progress.stopped()
    };
    let runs = experiment.run(&mut go_on).map_err(|error| refused(&error))?;
    let comparison = compare(&runs, args.run.level).map_err(|error| refused(&error))?;
    Ok(Some((runs, comparison)))
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

/// The transitions of each stage.
fn groups(job: &PlannedJob, made: &StageNet) -> Vec<Group> {
    job.stages.iter().zip(&made.stages).map(|(stage, transitions)| group(&stage.name, transitions)).collect()
}
