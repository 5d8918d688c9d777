//! One run of a job as recorded in its log: stages in the order of their submission, each task with
//! its position in its slot's sequence, and the time between stages.

use std::collections::BTreeMap;

use crate::fit::fit_error::FitError;
use crate::fit::memory::{executor_memory_mb, memory_per_mb};
use crate::fit::replay_policies::speculation_of;
use crate::fit::sources::{Reading, Source, sources};
use crate::fit::workers::{executors_over_time, free_at, workers_of};
use crate::stages::SpeculativeCopies;
use crate::trace::{Application, Attempt, Format, Job, JobTrace, Metric, Moment, Stage, StageId};

/// Mean number of executors, as a share of their greatest number, below which a note says that their number changed.
const STEADY: f64 = 0.9;
/// Bytes per MB.
const MB: f64 = 1_048_576.0;

/// One task, represented by its successful attempt.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ObservedTask {
    /// Time from launch to end \[s\], without waits for a GPU, > 0.
    pub wall_s: f64,
    /// CPU time \[s\], if the log has it.
    pub cpu_s: Option<f64>,
    /// Input and shuffle data that the task read \[MB\].
    pub mb: f64,
    /// Position among its slot's tasks of the stage, from 1.
    pub rank: u32,
    /// Time for which the task held a GPU \[s\].
    pub gpu_s: f64,
}

/// One stage of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct ObservedStage {
    /// Number in the log.
    pub number: u32,
    /// The stage's name.
    pub name: String,
    /// Operators of its query, if the log has them.
    pub operators: Vec<String>,
    /// Stages that this stage waited for, by position.
    pub after: Vec<usize>,
    /// Time from the last end of a task of those stages to the stage's first launch \[s\], excluding waits
    /// for a free slot or for executors to start.
    pub setup_s: f64,
    /// Peak memory of its tasks for joins, sorts and aggregations, in MB per MB of data, if the log shows it.
    pub memory_per_mb: Option<f64>,
    /// True if its tasks read the job's input rather than a shuffle.
    pub reads_input: bool,
    /// Time from the first launch to the last end \[s\].
    pub took_s: f64,
    /// Tasks, in the order of their launch.
    pub tasks: Vec<ObservedTask>,
}

/// One run of a job.
#[derive(Clone, Debug, PartialEq)]
pub struct ObservedRun {
    /// The log.
    pub log: String,
    /// The application's name.
    pub name: String,
    /// True if all jobs succeeded. Of a run that failed or has not ended, only the stages that succeeded are known.
    pub is_complete: bool,
    /// The job's input \[MB\]; 0 if it is not known in a run that is not complete.
    pub input_mb: f64,
    /// True for a complete run whose log does not record the input: its input is 1 by definition, and the stages that read no shuffle read it.
    pub input_is_relative: bool,
    /// The sources of the input.
    pub sources: Vec<Source>,
    /// Maximum number of executors that ran tasks simultaneously.
    pub executors: u32,
    /// The number of executors from each time \[s\] after the first submission of a job on, in ascending order; the first time is 0.
    pub executors_over_time: Vec<[f64; 2]>,
    /// Tasks that an executor runs at a time.
    pub cores: u32,
    /// Hosts shared by the executors.
    pub hosts: u32,
    /// Time from the submission of the first stage to the launch of its first task, if executors started later \[s\]; else 0.
    pub start_s: f64,
    /// Partitions of a shuffle, if the log has them.
    pub partitions: Option<u32>,
    /// GPUs per executor, tasks that may hold one at a time, and the share of a GPU requested by a task, if the log has them.
    pub gpus: [Option<f64>; 3],
    /// Time from the first submission of a job to the last completion of a job \[s\]; in a run that is not complete, to the end of its last stage.
    pub job_s: f64,
    /// Time from the end of the last task to the last completion of a job \[s\]; 0 in a run that is not complete.
    pub end_s: f64,
    /// Memory of an executor for execution and storage \[MB\], if the log states it.
    pub memory_mb: Option<f64>,
    /// The settings of speculative copies, if they were on.
    pub speculation: Option<SpeculativeCopies>,
    /// The stages, in the order of their submission.
    pub stages: Vec<ObservedStage>,
    /// Oddities.
    pub notes: Vec<String>,
}

impl ObservedRun {
    /// Returns the time for which executors were there, summed over the executors \[s\]: what the run cost.
    pub fn executor_s(&self) -> f64 {
        let steps = &self.executors_over_time;
        let ends = steps.iter().skip(1).map(|step| step[0]).chain([self.job_s]);
        steps.iter().zip(ends).map(|([from_s, count], to_s)| count * (to_s - from_s).max(0.0)).sum()
    }

    /// Returns the times at which the number of executors first reached 1, 2 and so on \[s\]; empty if all were there from the start, or nearly so.
    pub(super) fn arrivals_s(&self) -> Vec<f64> {
        if !self.has_changing_executors() {
            return Vec::new();
        }
        let steps = &self.executors_over_time;
        let reached =
            |count: u32| steps.iter().find(|step| step[1] >= f64::from(count)).map_or(self.job_s, |step| step[0]);
        (1..=self.executors).map(reached).collect()
    }

    /// Returns true if executors joined or left during the run, after the first had started.
    fn has_changing_executors(&self) -> bool {
        self.mean_and_most().is_some_and(|(mean, most)| mean < STEADY * most)
    }

    /// Returns the mean number of executors since the first started, and their greatest number.
    fn mean_and_most(&self) -> Option<(f64, f64)> {
        let first_s = self.executors_over_time.iter().find(|step| step[1] > 0.0)?[0];
        let most = self.executors_over_time.iter().map(|step| step[1]).fold(0.0, f64::max);
        Some((self.executor_s() / (self.job_s - first_s), most))
    }

    /// Returns a note if executors joined or left during the run, after the first had started.
    pub(super) fn changing_executors(&self) -> Option<String> {
        let (mean, most) = self.mean_and_most().filter(|_| self.has_changing_executors())?;
        let kept_s: f64 = self.arrivals_s().iter().map(|from_s| (self.job_s - from_s).max(0.0)).sum();
        Some(format!(
            "executors joined or left during the run: {mean:.1} on average, at most {most}, {:.0} s of executors in all; in the model, {} join as in the \
             run and stay, {kept_s:.0} s in such a run",
            self.executor_s(),
            self.executors
        ))
    }
}

/// A stage while the graph is built.
pub(super) struct Span {
    pub(super) first_launch: Moment,
    pub(super) last_end: Moment,
    pub(super) jobs: Vec<usize>,
}

/// Reads the only run of a log. `input_mb` overrides the input size in the log. A run that failed or has not ended is read as far as its stages
/// succeeded.
///
/// # Errors
///
/// All variants of [`FitError`] that concern one log.
pub fn observe(trace: &JobTrace, input_mb: Option<f64>) -> Result<ObservedRun, FitError> {
    let log = trace.files.first().cloned().unwrap_or_default();
    if trace.format != Format::SparkEventLog {
        let what = format!("this is {}; a fit needs a Spark event log", trace.format.text());
        return Err(FitError::NotAStageGraph { log, what });
    }
    let only = trace.only_application();
    let (id, application) = only.map_err(|count| FitError::SeveralApplications { log: log.clone(), count })?;
    let jobs = trace.jobs_of(id);
    let submitted = jobs.iter().filter_map(|job| job.submitted).min();
    let completed = jobs.iter().filter_map(|job| job.completed).max();
    let incomplete = |what: &str| FitError::Incomplete { log: log.clone(), what: what.to_owned() };
    let start = submitted.ok_or_else(|| incomplete("no job started and finished"))?;
    let is_complete = jobs.iter().all(|job| job.completed.is_some() && job.succeeded != Some(false));
    let mut notes: Vec<String> = gpu_memory_note(trace).into_iter().collect();
    let workers = workers_of(trace, id);
    let mut found = executed(trace, &mut notes, &log)?;
    found.sort_by_key(|(_, stage, span)| (stage.submitted.unwrap_or(span.first_launch), stage.number));
    if !is_complete {
        found.retain(|(_, stage, _)| stage.completed.is_some() && stage.failure.is_none());
    }
    let Some(last) = found.iter().map(|(_, _, span)| span.last_end).max() else {
        return Err(incomplete(if is_complete { "no stage ran" } else { "no stage succeeded" }));
    };
    let end = completed.filter(|_| is_complete).unwrap_or(last);
    let (mut stages, start_s, lost) = stages_of(trace, &found, start, workers.cores);
    let attempts: usize = found.iter().map(|(id, ..)| trace.attempts_of(*id).len()).sum();
    let tasks: usize = stages.iter().map(|stage| stage.tasks.len()).sum::<usize>() - lost;
    notes.extend(notes_on_tasks(attempts, tasks, lost));
    let sources = sources_of(trace, &found, &mut stages, &mut notes);
    let told: f64 = sources.iter().map(|source| source.mb).sum();
    // what the stages of a run that is not complete have read is only a part
    let known = input_mb.or(is_complete.then_some(told)).filter(|mb| *mb > 0.0);
    let input_is_relative = known.is_none() && is_complete;
    if told == 0.0 {
        read_by_first_stages(&found, &mut stages);
    }
    Ok(ObservedRun {
        name: application.name.clone(),
        is_complete,
        input_mb: known.unwrap_or(if input_is_relative { 1.0 } else { 0.0 }),
        input_is_relative,
        sources,
        executors: workers.executors,
        executors_over_time: executors_over_time(trace, id, start, end),
        cores: workers.cores,
        hosts: workers.hosts,
        start_s,
        partitions: partitions_of(application),
        gpus: GPU_KEYS.map(|key| application.number(key).filter(|amount| *amount > 0.0)),
        job_s: end.seconds_since(start),
        end_s: end.seconds_since(last).max(0.0),
        memory_mb: executor_memory_mb(application),
        speculation: speculation_of(application)
            .map(|(multiplier, quantile)| SpeculativeCopies::of(multiplier, quantile)),
        stages,
        notes,
        log,
    })
}

/// Returns the partitions of a shuffle by an application's settings.
pub(super) fn partitions_of(application: &Application) -> Option<u32> {
    let stated = application.number("spark.sql.shuffle.partitions").or(application.number("spark.default.parallelism"));
    stated.map(|p| p as u32).filter(|p| *p > 0)
}

/// Returns notes on attempts that are not tasks of the run, and on tasks that the log has lost.
fn notes_on_tasks(attempts: usize, tasks: usize, lost: usize) -> Vec<String> {
    let mut notes = Vec::new();
    if lost > 0 {
        notes.push(format!(
            "tasks that are not in the log are assumed to take as long as the others of their stages: {lost}"
        ));
    }
    if attempts > tasks {
        notes.push(format!("attempts that did not complete a task are excluded: {}", attempts - tasks));
    }
    notes
}

/// Spark's properties for [`ObservedRun::gpus`].
const GPU_KEYS: [&str; 3] =
    ["spark.executor.resource.gpu.amount", "spark.rapids.sql.concurrentGpuTasks", "spark.task.resource.gpu.amount"];

/// Returns a note on GPU memory shortage; none for a log without retries.
fn gpu_memory_note(trace: &JobTrace) -> Option<String> {
    let values = |metric| trace.attempts().iter().filter_map(move |attempt| trace.value(attempt, metric));
    let retries: f64 = values(Metric::GpuRetries).sum();
    let peak_gib = values(Metric::GpuPeakBytes).fold(0.0, f64::max) / (1024.0 * MB);
    (retries > 0.0).then(|| {
        format!(
            "GPU work was retried {retries} times for lack of memory, with up to {peak_gib:.1} GiB of a GPU in use: a GPU possibly has no memory for more tasks"
        )
    })
}

/// Returns the stages as they ran, the time for which executors were still missing when the first was submitted \[s\], and the number of tasks that the
/// log has lost.
fn stages_of(
    trace: &JobTrace,
    found: &[(StageId, &Stage, Span)],
    start: Moment,
    cores: u32,
) -> (Vec<ObservedStage>, f64, usize) {
    let (mut stages, mut afters) = (Vec::new(), Vec::new());
    let (mut start_s, mut lost) = (0.0, 0);
    for (i, (id, stage, span)) in found.iter().enumerate() {
        let after = waits_for(&found[..i], stage, span, trace, &afters);
        afters.push(after.clone());
        let before = after.iter().map(|&k: &usize| found[k].2.last_end).max().unwrap_or(start);
        let (mut tasks, reads_input) = tasks_of(trace, *id, cores);
        lost += add_lost(&mut tasks, stage);
        let (setup_s, late_s) = setup_of(trace, *id, (before, stage.submitted), cores);
        if i == 0 {
            start_s = late_s;
        }
        stages.push(ObservedStage {
            number: stage.number,
            name: stage.name.lines().next().unwrap_or("").to_owned(),
            operators: stage.operators.clone(),
            after,
            setup_s,
            memory_per_mb: memory_per_mb(trace, *id),
            reads_input,
            took_s: span.last_end.seconds_since(span.first_launch).max(0.0),
            tasks,
        });
    }
    (stages, start_s, lost)
}

/// Adds the tasks of a stage that the log has lost, if the stage succeeded: each is like one of those in the log, in turn, after the first in its slot.
/// Returns their number.
fn add_lost(tasks: &mut Vec<ObservedTask>, stage: &Stage) -> usize {
    let seen = tasks.len();
    let is_complete = stage.completed.is_some() && stage.failure.is_none() && stage.attempt == 0;
    let planned = stage.tasks.map_or(0, |tasks| tasks as usize);
    if seen == 0 || !is_complete || planned <= seen {
        return 0;
    }
    let like = |k: usize| ObservedTask { rank: tasks[k % seen].rank.max(2), ..tasks[k % seen] };
    let lost: Vec<ObservedTask> = (0..planned - seen).map(like).collect();
    tasks.extend(lost);
    planned - seen
}

/// Returns two times \[s\]. The first is the time from the end of the stages that a stage waited for, to the first
/// launch of the stage, without the wait for a free slot. The second is the part of this time in which executors were
/// still missing. `times` are the end of those stages, and the submission time of the stage.
pub(super) fn setup_of(trace: &JobTrace, id: StageId, times: (Moment, Option<Moment>), cores: u32) -> (f64, f64) {
    let (before, submitted) = times;
    let first = trace.attempts_of(id).iter().filter(|attempt| attempt.launch().is_some()).min_by_key(|a| a.launch());
    let Some((first, launch)) = first.and_then(|first| Some((first, first.launch()?))) else { return (0.0, 0.0) };
    let submitted = submitted.unwrap_or(before).max(before).min(launch);
    let driver_s = submitted.seconds_since(before);
    match free_at(first, submitted, cores, trace) {
        Some(free) => (driver_s + launch.seconds_since(free).max(0.0), 0.0),
        None => (driver_s, launch.seconds_since(submitted)),
    }
}

/// Returns the sources of the job's input. A stage that reads none of them does not read the input.
fn sources_of(
    trace: &JobTrace,
    found: &[(StageId, &Stage, Span)],
    stages: &mut [ObservedStage],
    notes: &mut Vec<String>,
) -> Vec<Source> {
    let read_mb = |id: StageId| {
        let of_task = |a: &Attempt| trace.value(a, Metric::InputBytes).unwrap_or(0.0);
        let done = trace.tasks_of(id).filter_map(|all| all.iter().find(|a| a.succeeded()));
        done.map(of_task).sum::<f64>() / MB
    };
    let read: Vec<_> = found
        .iter()
        .enumerate()
        .map(|(i, (id, stage, span))| (i, read_mb(*id), *stage, &span.jobs[..]))
        .filter(|read| read.1 > 0.0)
        .collect();
    let readings: Vec<Reading<'_>> = read
        .iter()
        .map(|(stage, mb, of, jobs)| Reading {
            stage: *stage,
            mb: *mb,
            sources: &of.sources,
            stored: &of.stored,
            operators: &of.operators,
            jobs,
        })
        .collect();
    let (sources, odd) = sources(&readings);
    notes.extend(odd);
    // reading the data's schema does not grow with the data
    let most = read.iter().map(|read| read.1).fold(0.0, f64::max);
    for (stage, mb, ..) in &read {
        stages[*stage].reads_input = *mb >= 0.01 * most;
    }
    sources
}

/// Lets the stages without parents read the input, if the log does not say which stages read it. Stages of cached data do not read it again.
fn read_by_first_stages(found: &[(StageId, &Stage, Span)], stages: &mut [ObservedStage]) {
    let mut cached: Vec<u32> = Vec::new();
    for ((_, stage, _), observed) in found.iter().zip(stages) {
        let is_of_cache = stage.stored.iter().any(|number| cached.contains(number));
        observed.reads_input = stage.parents.as_deref() == Some(&[]) && !is_of_cache;
        cached.extend(&stage.stored);
    }
}

/// Returns the stages that ran, with their times; of a stage that ran again, the first attempt.
pub(super) fn executed<'t>(
    trace: &'t JobTrace,
    notes: &mut Vec<String>,
    log: &str,
) -> Result<Vec<(StageId, &'t Stage, Span)>, FitError> {
    let mut found: Vec<(StageId, &Stage, Span)> = Vec::new();
    let mut again = Vec::new();
    for (id, stage) in trace.stages_with_ids() {
        if stage.attempt > 0 {
            again.push(stage.number.to_string());
            continue;
        }
        let attempts = trace.attempts_of(id);
        let launch = attempts.iter().filter_map(Attempt::launch).min();
        let end = attempts.iter().filter(|a| a.succeeded()).filter_map(Attempt::finish).max();
        let (Some(first_launch), Some(last_end)) = (launch, end) else { continue };
        if stage.parents.is_none() {
            let what = format!(
                "the log does not record the dependencies of stage {}; a fit needs a Spark event log",
                stage.number
            );
            return Err(FitError::NotAStageGraph { log: log.to_owned(), what });
        }
        let in_job = |job: &Job| job.stages.contains(&stage.number);
        let jobs = trace.jobs.iter().enumerate().filter(|(_, job)| in_job(job)).map(|(i, _)| i).collect();
        found.push((id, stage, Span { first_launch, last_end, jobs }));
    }
    if !again.is_empty() {
        notes.push(format!("stages that ran again: {}; only their first attempts are used", again.join(", ")));
    }
    Ok(found)
}

/// Returns the earlier stages that this one waited for: its parents; for the first stage of a job, all stages without a follower among the stages of
/// finished jobs. `made` has the dependencies of each earlier stage.
pub(super) fn waits_for(
    before: &[(StageId, &Stage, Span)],
    stage: &Stage,
    span: &Span,
    trace: &JobTrace,
    made: &[Vec<usize>],
) -> Vec<usize> {
    let parents = stage.parents.as_deref().unwrap_or(&[]);
    let mut after: Vec<usize> = (0..before.len()).filter(|&i| parents.contains(&before[i].1.number)).collect();
    let same_job = |i: &usize| before[*i].2.jobs.iter().any(|job| span.jobs.contains(job));
    if after.iter().any(same_job) {
        return after;
    }
    let Some(submitted) = span.jobs.iter().filter_map(|&job| trace.jobs[job].submitted).min() else { return after };
    let ended = |i: &usize| {
        let jobs = &before[*i].2.jobs;
        !jobs.is_empty() && jobs.iter().all(|&job| trace.jobs[job].completed.is_some_and(|end| end <= submitted))
    };
    let has_follower = |i: &usize| made.iter().any(|after| after.contains(i));
    let sinks = (0..before.len()).filter(|i| ended(i) && !has_follower(i));
    // jobs before the last ones have their own followers, unless they ran in parallel with all later ones
    after.extend(sinks);
    if after.is_empty() {
        after.extend((0..before.len()).rev().find(ended));
    }
    after.sort_unstable();
    after.dedup();
    after
}

/// Returns the tasks of a stage in the order of their launch, and whether they read the job's input.
fn tasks_of(trace: &JobTrace, id: StageId, cores: u32) -> (Vec<ObservedTask>, bool) {
    let mut done: Vec<&Attempt> = trace.tasks_of(id).filter_map(|all| all.iter().find(|a| a.succeeded())).collect();
    done.sort_by_key(|attempt| attempt.launch());
    let mut count: BTreeMap<_, u32> = BTreeMap::new();
    let mut reads = 0.0;
    let mut tasks = Vec::new();
    for attempt in done {
        let Some(wall_s) = attempt.duration() else { continue };
        let place = count.entry((attempt.executor, attempt.node)).or_insert(0);
        let rank = *place / cores + 1;
        *place += 1;
        let value = |metric| trace.value(attempt, metric).unwrap_or(0.0);
        reads += value(Metric::InputBytes);
        tasks.push(ObservedTask {
            // waits for a GPU result from other tasks that hold it: they are simulated, not fitted
            wall_s: (wall_s - value(Metric::GpuWaitTime)).max(1e-3),
            gpu_s: value(Metric::GpuHoldTime),
            cpu_s: trace.value(attempt, Metric::CpuTime),
            mb: trace.bytes_read(attempt) / MB,
            rank,
        });
    }
    (tasks, reads > 0.0)
}
