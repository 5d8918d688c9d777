//! Replications of the rest of a run, from its present state.

use rayon::prelude::*;

use tailspn_common::threads;

use crate::ask::RunSettings;
use crate::error::StudyError;
use crate::estimate::{Measured, clopper_pearson, quantile_of_sorted};
use crate::fit::{RestOfRun, RunProgress, rest_by_itself, rest_of_run};
use crate::job_time::{OwnRun, own_run};
use crate::mapreduce::LawTables;
use crate::plan::{InputSize, JobPlan};
use crate::remaining::pace::RunPace;
use crate::rng::split;
use crate::run::{ResumedRuns, RunMemory, StageRun};
use crate::stages::{StagePlan, job_of};
use crate::watch::{Quiet, Watch};

/// Replications between two checks of the clock.
const ROUND: u64 = 256;
/// The default number of replications is this number of task draws divided by the number of tasks, but at least [`FEWEST`]
/// and at most [`MOST`].
const DRAWS: u64 = 10_000_000;
/// Minimum of the default number of replications.
const FEWEST: u64 = 100;
/// Maximum of the default number of replications.
const MOST: u64 = 2_000;
/// A run counts as slower or faster than the plan if its factor is above or below 1 with this probability.
const CLEARLY: f64 = 0.95;

/// Settings for simulating the rest of a run.
#[derive(Clone, Debug, Default)]
pub struct RemainingSettings {
    /// Settings of the run. The number of replications is 10 million divided by the number of tasks, but at least 100 and at most
    /// 2,000, unless it is given.
    pub run: RunSettings,
    /// Input size of the run; none to infer it from the tasks in the log. Default none.
    pub input: Option<InputSize>,
}

/// Scope of the remaining time, and the data that it is based on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Basis {
    /// The whole run, according to a plan that was fitted to other runs.
    Plan,
    /// Only the running jobs, according to the run's own tasks.
    RunItself,
    /// The application has ended.
    Ended,
}

/// A stage of a run, and when it ends.
#[derive(Clone, Debug, PartialEq)]
pub struct StageRemaining {
    /// Name of the stage.
    pub name: String,
    /// Number of the stage in the log; none if the log does not have it yet.
    pub number: Option<u32>,
    /// Number of tasks of the stage.
    pub tasks: u32,
    /// Number of tasks that have ended.
    pub ended: u32,
    /// Number of tasks that are running.
    pub running: u32,
    /// Time when the stage ended \[s\], from the start of the first job; none while a task remains.
    pub end_s: Option<f64>,
    /// Time until the end of the stage in each replication \[s\], ascending; empty if the stage has ended.
    ends_s: Vec<f64>,
}

impl StageRemaining {
    /// Returns the time from now \[s\] within which the stage ends with probability `p`; none if it has ended.
    pub fn quantile(&self, p: f64) -> Option<f64> {
        quantile_of_sorted(&self.ends_s, p).ok()
    }
}

/// The remaining time of a run.
#[derive(Clone, Debug)]
pub struct Remaining {
    /// Progress of the run according to the log.
    pub progress: RunProgress,
    /// Scope of the remaining time.
    pub basis: Basis,
    /// The plan at this run's size; none if the application has ended.
    pub plan: Option<StagePlan>,
    /// The check of the given plan on the runs that it was fitted to.
    pub own_run: OwnRun,
    /// Factor between the run and the plan; none if the application has ended.
    pub pace: Option<RunPace>,
    /// The stages: the plan's in its order, otherwise the log's.
    pub stages: Vec<StageRemaining>,
    /// Assumptions and unknowns.
    pub notes: Vec<String>,
    /// True if the replications were ended early.
    pub partial: bool,
    /// Remaining times \[s\], ascending; a single 0 if the application has ended.
    left_s: Vec<f64>,
}

impl Remaining {
    /// Returns the time from now \[s\] within which the run ends with probability `p`.
    pub fn quantile(&self, p: f64) -> f64 {
        quantile_of_sorted(&self.left_s, p).unwrap_or(0.0)
    }

    /// Returns the mean remaining time \[s\].
    pub fn mean(&self) -> f64 {
        self.left_s.iter().sum::<f64>() / self.left_s.len() as f64
    }

    /// Returns the remaining times of the replications \[s\], ascending.
    pub fn samples(&self) -> &[f64] {
        &self.left_s
    }

    /// Returns the probability that the run ends within `seconds` after the start of its first job. The interval, of confidence `level`,
    /// covers only the error from the finite number of replications.
    pub fn done_by(&self, seconds: f64, level: f64) -> Measured {
        if let Some(job_s) = self.progress.job_s {
            return Measured::exact(if job_s <= seconds { 1.0 } else { 0.0 }, level);
        }
        let left = seconds - self.progress.elapsed_s.unwrap_or(0.0);
        let done = self.left_s.partition_point(|time| *time <= left) as u64;
        let all = self.left_s.len() as u64;
        let interval = clopper_pearson(done, all, level).ok();
        interval.map_or_else(|| Measured::between(done as f64 / all as f64, None, None), Measured::from)
    }
}

/// Estimates a remaining time. With a plan, it is the time of the whole run. Without a plan, it is the time of the
/// running jobs, estimated from their tasks. `watch` counts replications.
///
/// # Errors
///
/// [`StudyError::Log`] if the log is not of the plan's program; without a plan, [`StudyError::TooEarly`] if no task has finished and
/// [`StudyError::BetweenJobs`] if no job is running; [`StudyError::NoReplication`] if no replication finished.
pub fn remaining(
    progress: RunProgress,
    plan: Option<&StagePlan>,
    settings: &RemainingSettings,
    watch: &dyn Watch,
) -> Result<Remaining, StudyError> {
    if progress.has_ended {
        return Ok(ended(progress));
    }
    let (rest, basis) = match plan {
        None if progress.jobs_running.is_empty() && progress.jobs_ended > 0 => return Err(StudyError::BetweenJobs),
        Some(plan) => (rest_of_run(&progress, plan, settings.input)?, Basis::Plan),
        None => (rest_by_itself(&progress).ok_or(StudyError::TooEarly)?, Basis::RunItself),
    };
    let own_run = match plan {
        Some(plan) => own_run(&JobPlan::Stages(Box::new(plan.clone())), &Quiet(watch))?,
        None => OwnRun::default(),
    };
    let pace = RunPace::new(&rest);
    let tasks: u64 = rest.job.stages.iter().map(|stage| u64::from(stage.tasks())).sum();
    let count = settings.run.replications.unwrap_or_else(|| (DRAWS / tasks.max(1)).clamp(FEWEST, MOST));
    let runs = replicate(&rest, &pace, count, settings, watch)?;
    let mut left_s: Vec<f64> = runs.iter().map(|run| run.job_s).collect();
    left_s.sort_by(f64::total_cmp);
    let miss = own_run.miss();
    widen(&mut left_s, miss);
    if left_s.is_empty() {
        return Err(StudyError::NoReplication);
    }
    let notes = notes(&progress, &rest, &pace, basis);
    Ok(Remaining {
        basis,
        stages: stages(&progress, &rest, &runs, miss),
        notes,
        partial: (left_s.len() as u64) < count,
        left_s,
        plan: Some(rest.plan),
        pace: Some(pace),
        own_run,
        progress,
    })
}

/// Widens times, in ascending order, if the plan does not reproduce its own runs: at the ends of the 90% interval, they have the factors by which the plan
/// misses some run, and nearer to the median a power of them.
fn widen(times_s: &mut [f64], miss: Option<[f64; 2]>) {
    let Some([shorter, longer]) = miss else { return };
    let count = times_s.len() as f64;
    for (i, time_s) in times_s.iter_mut().enumerate() {
        let off = ((2.0 * (i as f64 + 0.5) / count - 1.0) / 0.9).clamp(-1.0, 1.0);
        *time_s *= if off < 0.0 { shorter.powf(-off) } else { longer.powf(off) };
    }
}

/// Returns the result for a run that has ended.
fn ended(progress: RunProgress) -> Remaining {
    let row = |stage: &crate::fit::StageProgress| StageRemaining {
        name: stage.name.clone(),
        number: Some(stage.number),
        tasks: stage.tasks,
        ended: u32::try_from(stage.ended.len()).unwrap_or(u32::MAX),
        running: 0,
        end_s: stage.end_s,
        ends_s: Vec::new(),
    };
    let mut notes = progress.notes.clone();
    if progress.has_failed {
        notes.push("a job of this run failed".to_owned());
    }
    Remaining {
        stages: progress.stages.iter().map(row).collect(),
        basis: Basis::Ended,
        plan: None,
        pace: None,
        own_run: OwnRun::default(),
        notes,
        partial: false,
        left_s: vec![0.0],
        progress,
    }
}

/// Runs replications of the rest of the run, each with its own draw of the pace.
fn replicate(
    rest: &RestOfRun,
    pace: &RunPace,
    count: u64,
    settings: &RemainingSettings,
    watch: &dyn Watch,
) -> Result<Vec<StageRun>, StudyError> {
    let job = job_of(&rest.job, &LawTables::default());
    let resumed = ResumedRuns::new(&job, rest.states.clone(), rest.end_age_s);
    let resumed = resumed.expect("the machines of a planned job of stages are alike");
    let key = split(settings.run.seed.unwrap_or(0));
    let threads = threads::at_most(settings.run.threads);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads.get()).build()?;
    let run =
        |memory: &mut RunMemory, replication: u64| resumed.run(key, replication, &pace.draw(key, replication), memory);
    let mut runs: Vec<StageRun> = Vec::new();
    while (runs.len() as u64) < count && !watch.stopped() {
        let first = runs.len() as u64;
        let until = count.min(first + ROUND);
        runs.extend(
            pool.install(|| (first..until).into_par_iter().map_init(RunMemory::default, run).collect::<Vec<_>>()),
        );
        watch.progress(until, count);
    }
    Ok(runs)
}

/// Returns the stages with their end times in the replications.
fn stages(progress: &RunProgress, rest: &RestOfRun, runs: &[StageRun], miss: Option<[f64; 2]>) -> Vec<StageRemaining> {
    let row = |(k, planned): (usize, &crate::stages::PlannedStage)| {
        let own = rest.positions[k].map(|i| &progress.stages[i]);
        let count = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        let mut ends_s: Vec<f64> =
            runs.iter().map(|run| run.stages[k]).filter(|t| t[0].is_finite()).map(|t| t[1]).collect();
        ends_s.sort_by(f64::total_cmp);
        widen(&mut ends_s, miss);
        StageRemaining {
            name: own.map_or(&planned.name, |stage| &stage.name).clone(),
            number: own.map(|stage| stage.number),
            tasks: own.map_or(planned.tasks(), |stage| stage.tasks),
            ended: own.map_or(0, |stage| count(stage.ended.len()).saturating_add(stage.ending)),
            running: own.map_or(0, |stage| count(stage.running.len())),
            end_s: own.and_then(|stage| stage.end_s),
            ends_s,
        }
    };
    rest.whole.stages.iter().enumerate().map(row).collect()
}

fn notes(progress: &RunProgress, rest: &RestOfRun, pace: &RunPace, basis: Basis) -> Vec<String> {
    let mut notes = Vec::new();
    if progress.elapsed_s.is_none() {
        notes.push("no job has been submitted yet; times count from the submission of the first job".to_owned());
    }
    let ends = [1.0 - CLEARLY, CLEARLY].map(|p| pace.quantile(p));
    if basis == Basis::Plan && (ends[0] > 1.0 || ends[1] < 1.0) {
        let factor = pace.quantile(0.5);
        let (word, percent) = if factor > 1.0 { ("longer", factor - 1.0) } else { ("less time", 1.0 - factor) };
        notes.push(format!("tasks of this run take {:.0}% {word} than in a typical run of the plan", 100.0 * percent));
    }
    if progress.has_failed {
        notes.push("a job of this run failed; the program possibly stops here".to_owned());
    }
    notes.extend(rest.notes.iter().chain(&progress.notes).cloned());
    if basis == Basis::Plan {
        if rest.plan.speculation.is_some() {
            notes.push("speculative copies (`[speculation]`) are not modelled".to_owned());
        }
        if rest.plan.stragglers.is_some() {
            notes.push(
                "the stragglers of the plan (`[stragglers]`) are not modelled: the pace of the run contains its own"
                    .to_owned(),
            );
        }
        notes.extend(rest.plan.remarks());
    }
    notes
}
