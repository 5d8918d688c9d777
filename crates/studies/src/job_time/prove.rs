//! Checks of plans on the runs that they were fitted to: at their sizes, on their clusters, with their policies.

use crate::ask::Proof;
use crate::error::StudyError;
use crate::fit::FittedStages;
use crate::job_time::own_run::{LEAST_SPREAD, MissedStage, OwnRun, ReproducedRun};
use crate::job_time::stages::{StagesEstimate, simulate_stages};
use crate::job_time::tasks::TaskModel;
use crate::mapreduce::{LoggedJob, Plan};
use crate::plan::JobPlan;
use crate::runs::{JobTimes, RunFactor};
use crate::sim::{Ensemble, Samples};
use crate::stages::{LoggedRun, PlannedJob, PlannedStage, StagePlan};
use crate::watch::Watch;

/// Tasks in the replications of a run, and the limits of the number of replications.
const TASKS: u64 = 400_000;
const FEWEST: u64 = 4;
const MOST: u64 = 200;
/// Greatest ratio of the mean time of a stage's tasks to their longest time in the logs; above 1, because both are rounded or measured.
const LONGER: f64 = 1.1;
/// Share of the job's time below which a stage does not matter.
const SMALL: f64 = 0.05;
/// A warning names the stages that cause at least this share of the difference of the job times.
const CARRIES: f64 = 0.2;

/// Estimates the time of a job of stages. `ensemble` configures the simulation: it runs task by task or, if the
/// ensemble names a backend, with the job's net. The net gives the same numbers on the CPU and on a GPU. `level`
/// applies to the comparison's intervals. `watch` counts the replications without copies first, then the replications
/// with copies.
///
/// # Errors
///
/// [`StudyError::Model`] for a plan without a net, [`StudyError::NoReplication`] if no replication finished,
/// [`StudyError::Part`] if this process ran only part of the replications, or the error of replications that cannot be
/// run.
pub fn estimate_stages(
    plan: &StagePlan,
    ensemble: &Ensemble,
    level: f64,
    watch: &dyn Watch,
) -> Result<StagesEstimate, StudyError> {
    estimate_proved(plan, ensemble, (level, Proof::default()), watch)
}

/// As [`estimate_stages`], for a question that demands something of the check of the plan on its own runs.
pub(crate) fn estimate_proved(
    plan: &StagePlan,
    ensemble: &Ensemble,
    (level, proof): (f64, Proof),
    watch: &dyn Watch,
) -> Result<StagesEstimate, StudyError> {
    let own_run = proof.before_replications(watch, |watch| own_run_of_stages(plan, watch))?;
    let found = simulate_stages(plan, ensemble, level, watch)?;
    Ok(found.checked(own_run, plan))
}

/// Checks a fitted plan on its own runs, and sets the model's time of each run.
///
/// # Errors
///
/// The errors of [`estimate_stages`].
pub fn check_stages(fitted: &mut FittedStages, watch: &dyn Watch) -> Result<OwnRun, StudyError> {
    let own_run = own_run_of_stages(&fitted.plan, watch)?;
    // a run that is not complete proves nothing
    let complete = fitted.runs.iter_mut().filter(|run| run.job_s.is_some());
    for (run, found) in complete.zip(&own_run.runs) {
        run.model_s = Some(found.model_s);
    }
    Ok(own_run)
}

/// Checks a plan on its own runs.
///
/// # Errors
///
/// The errors of the simulation of its runs.
pub fn own_run(plan: &JobPlan, watch: &dyn Watch) -> Result<OwnRun, StudyError> {
    match plan {
        JobPlan::MapReduce(plan) => own_run_of_job(plan, watch),
        JobPlan::Stages(plan) => own_run_of_stages(plan, watch),
        JobPlan::Tasks(_) => Ok(OwnRun::default()),
    }
}

/// Returns the replications of each of some runs.
fn ensemble(tasks: u64, runs: usize) -> Ensemble {
    let all = tasks.saturating_mul(runs as u64).max(1);
    Ensemble { replications: (TASKS / all).clamp(FEWEST, MOST), seed: 1, ..Ensemble::default() }
}

/// Returns a check that was stopped as one that was not made.
fn unless_stopped(found: Result<OwnRun, StudyError>, watch: &dyn Watch) -> Result<OwnRun, StudyError> {
    match found {
        Err(_) if watch.stopped() => Ok(OwnRun::default()),
        found => found,
    }
}

/// Returns the job times of a run with this factor between runs.
fn times_of(samples: &Samples, factor: RunFactor) -> Result<JobTimes, StudyError> {
    let times = JobTimes::from_histogram(&samples.passage_histogram, samples.clock.tick(), factor);
    times.ok_or(StudyError::NoReplication)
}

/// Checks a plan of a MapReduce job on its own jobs. A check that is stopped counts as not made.
pub(super) fn own_run_of_job(plan: &Plan, watch: &dyn Watch) -> Result<OwnRun, StudyError> {
    unless_stopped(checked_job(plan, watch), watch)
}

fn checked_job(plan: &Plan, watch: &dyn Watch) -> Result<OwnRun, StudyError> {
    let check = |job: &LoggedJob| {
        let at = plan.at_job(job);
        let model = TaskModel::of_phases(&at).map_err(StudyError::Model)?;
        let count = ensemble(at.tasks(), plan.proof.len()).replications;
        let samples = model.ready(1, watch).replicate(0, count)?;
        let factor = RunFactor::new(&plan.run.clone().unwrap_or_default(), LEAST_SPREAD);
        Ok(ReproducedRun::new(&job.log, job.job_s, &times_of(&samples, factor)?))
    };
    let runs = plan.proof.iter().map(check).collect::<Result<_, StudyError>>()?;
    Ok(OwnRun::judged(runs, &[]))
}

/// Checks a plan of stages on its own runs. A check that is stopped counts as not made.
pub(super) fn own_run_of_stages(plan: &StagePlan, watch: &dyn Watch) -> Result<OwnRun, StudyError> {
    unless_stopped(checked_stages(plan, watch), watch)
}

fn checked_stages(plan: &StagePlan, watch: &dyn Watch) -> Result<OwnRun, StudyError> {
    let (mut runs, mut stages) = (Vec::new(), Vec::new());
    for run in &plan.proof {
        let at = plan.at_run(run);
        let job = PlannedJob::of(&at);
        let tasks: u64 = job.stages.iter().map(|stage| u64::from(stage.tasks())).sum();
        let found = simulate_stages(&at, &ensemble(tasks, plan.proof.len()), 0.95, watch)?;
        // as in an answer that is widened
        let factor = RunFactor::new(&plan.run, job.error().max(LEAST_SPREAD));
        runs.push(ReproducedRun::new(&run.log, run.job_s, &found.times.with_factor(factor)));
        stages.push(compared(run, &job, &found.run.samples));
    }
    let job_s = runs.iter().map(|run| run.logged_s.max(run.model_s)).fold(0.0, f64::max);
    let longer = longer_in_all(&stages, job_s);
    let mut found = OwnRun::judged(runs, &longer);
    if !found.is_misfit() {
        return Ok(found);
    }
    let off = |number: &usize| found.runs[*number].off().abs();
    let worst = (0..found.runs.len()).max_by(|a, b| off(a).total_cmp(&off(b)));
    found.stages = worst.map(|worst| carrying(&stages[worst], &found.runs[worst], &longer)).unwrap_or_default();
    Ok(found)
}

/// Returns each stage of a run, in the log and in the model; none without the times of the log.
fn compared(run: &LoggedRun, job: &PlannedJob, samples: &Samples) -> Vec<MissedStage> {
    let tick = samples.clock.tick();
    let stage = |(number, stage): (usize, &PlannedStage)| {
        let seen = samples.groups.get(number)?;
        let model_s = (seen.last.mean_ticks()? - seen.first.mean_ticks()?) * tick;
        let mean_s = stage.waves.iter().map(|wave| wave.mean_s).fold(0.0, f64::max);
        let longest_s = run.longest_s.get(number).copied();
        Some(MissedStage {
            stage: number,
            name: stage.name.clone(),
            // a run of another size may not have the stage
            logged_s: run.stages_s.get(number).copied().filter(|logged_s| *logged_s > 0.0)?,
            model_s,
            longer_s: longest_s.filter(|longest_s| mean_s > LONGER * longest_s).map(|longest_s| [mean_s, longest_s]),
        })
    };
    job.stages.iter().enumerate().filter_map(stage).collect()
}

/// Returns the stages whose tasks take longer on average than any task in any log, if the stages matter.
fn longer_in_all(runs: &[Vec<MissedStage>], job_s: f64) -> Vec<MissedStage> {
    let Some(first) = runs.first() else { return Vec::new() };
    let matters = |stage: &MissedStage| stage.model_s.max(stage.logged_s) > SMALL * job_s;
    let in_all = |stage: &&MissedStage| {
        let here = |run: &Vec<MissedStage>| {
            run.iter().any(|other| other.stage == stage.stage && other.longer_s.is_some() && matters(other))
        };
        runs.iter().all(here)
    };
    first.iter().filter(in_all).cloned().collect()
}

/// Returns the stages of a run that carry most of the difference, the largest first, and those whose tasks take too long.
fn carrying(stages: &[MissedStage], run: &ReproducedRun, longer: &[MissedStage]) -> Vec<MissedStage> {
    let off = |stage: &MissedStage| (stage.model_s - stage.logged_s).abs();
    let all = (run.model_s - run.logged_s).abs();
    let is_named = |stage: &&MissedStage| {
        off(stage) >= CARRIES * all && off(stage) > 0.0 || longer.iter().any(|other| other.stage == stage.stage)
    };
    let mut found: Vec<MissedStage> = stages.iter().filter(is_named).cloned().collect();
    found.sort_by(|a, b| off(b).total_cmp(&off(a)));
    found
}
