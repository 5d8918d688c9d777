//! A run in progress as recorded in its log so far: finished tasks, running tasks with their ages, and waiting stages.
//!
//! "Now" is the last time in the log, or a given later time. Stages are the submitted ones, in the
//! order of their submission, followed by the announced stages of running jobs that are not
//! skipped; further jobs of the program are unknown.

use std::collections::{BTreeMap, BTreeSet};

use crate::fit::fit_error::FitError;
use crate::fit::observe::{ObservedRun, ObservedStage, ObservedTask, Span, partitions_of, setup_of, waits_for};
use crate::fit::workers::workers_of;
use crate::trace::{
    AnnouncedStage, Application, ApplicationId, Attempt, Format, Job, JobTrace, Metric, Moment, Outcome, Stage, StageId,
};

/// Bytes per MB.
const MB: f64 = 1_048_576.0;

/// A running task.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StartedTask {
    /// Time for which the task has run \[s\].
    pub age_s: f64,
    /// Position among the tasks of the stage in its slot, from 1.
    pub rank: u32,
}

/// A stage of a run in progress.
#[derive(Clone, Debug, PartialEq)]
pub struct StageProgress {
    /// Number in the log.
    pub number: u32,
    /// Name in the log.
    pub name: String,
    /// Stages that this stage waits for, by position.
    pub after: Vec<usize>,
    /// Tasks.
    pub tasks: u32,
    /// True if the stage was submitted.
    pub submitted: bool,
    /// Data that a task will read from the shuffles of the stages before \[MB\], by what these have written so far; none if it is not known.
    pub task_mb: Option<f64>,
    /// True if its tasks read the shuffles of other stages, rather than files or cached data.
    pub reads_shuffles: bool,
    /// Data that a finished task has written for later stages \[MB\]; 0 before a task has finished.
    pub written_mb: f64,
    /// Operators of its query, if the log has them.
    pub operators: Vec<String>,
    /// Finished tasks, in the order of their launch.
    pub ended: Vec<ObservedTask>,
    /// Running tasks.
    pub running: Vec<StartedTask>,
    /// Number of tasks that have ended although the log does not have their ends yet: their slots already run the next tasks.
    pub ending: u32,
    /// End of the last stage for which it waits \[s\], from the start of the first job; none while it still waits.
    pub ready_s: Option<f64>,
    /// End of its last task \[s\]; none while a task remains.
    pub end_s: Option<f64>,
    /// Time from the end of the stages it waited for to its first launch \[s\], without the wait for a slot; 0 before that launch.
    pub setup_s: f64,
}

impl StageProgress {
    /// Returns the number of tasks that wait for a slot.
    pub fn waiting(&self) -> u32 {
        let begun = self.ended.len() + self.running.len();
        self.tasks.saturating_sub(u32::try_from(begun).unwrap_or(u32::MAX).saturating_add(self.ending))
    }
}

/// A run in progress, or a finished one.
#[derive(Clone, Debug, PartialEq)]
pub struct RunProgress {
    /// The log.
    pub log: String,
    /// The application's name.
    pub name: String,
    /// Time from the submission of the first job to now \[s\]; none before that submission.
    pub elapsed_s: Option<f64>,
    /// Now, in seconds since 1970.
    pub now_s: f64,
    /// Time from the submission of the first job to the completion of the last job \[s\], if the application has ended.
    pub job_s: Option<f64>,
    /// True if the application has ended.
    pub has_ended: bool,
    /// True if a job has failed.
    pub has_failed: bool,
    /// Number of finished jobs.
    pub jobs_ended: usize,
    /// Numbers of the running jobs.
    pub jobs_running: Vec<u64>,
    /// Current executors, or the number requested by the settings if larger; 0 if neither is known.
    pub executors: u32,
    /// Tasks that an executor runs at a time.
    pub cores: u32,
    /// Hosts shared by the executors; 0 without executors.
    pub hosts: u32,
    /// Time from the submission of the first stage to the launch of its first task, if executors started later \[s\].
    pub start_s: f64,
    /// Partitions of a shuffle, if the log has them.
    pub partitions: Option<u32>,
    /// The stages.
    pub stages: Vec<StageProgress>,
    /// Remarks.
    pub notes: Vec<String>,
}

/// Reads the state of the only run of a log. The present is `now_s`, in seconds since 1970, if that is later than the
/// last time in the log; otherwise it is the last time in the log.
///
/// # Errors
///
/// [`FitError::NotAStageGraph`] and [`FitError::SeveralApplications`].
pub fn observe_progress(trace: &JobTrace, now_s: Option<f64>) -> Result<RunProgress, FitError> {
    let log = trace.files.first().cloned().unwrap_or_default();
    if trace.format != Format::SparkEventLog {
        let what = format!("this is {}; to predict the rest of a run, pass a Spark event log", trace.format.text());
        return Err(FitError::NotAStageGraph { log, what });
    }
    let only = trace.only_application();
    let (id, application) = only.map_err(|count| FitError::SeveralApplications { log: log.clone(), count })?;
    let jobs = trace.jobs_of(id);
    let start = jobs.iter().filter_map(|job| job.submitted).min();
    let has_ended = application.end.is_some();
    let last_s = trace.last.or(start).map_or(0.0, Moment::seconds);
    let now_s = now_s.filter(|_| !has_ended).map_or(last_s, |now_s| last_s.max(now_s - trace.origin_us as f64 / 1e6));
    let completed = jobs.iter().filter_map(|job| job.completed).max();
    let size = size_of(trace, id, application);
    let mut run = RunProgress {
        name: application.name.clone(),
        elapsed_s: start.map(|start| (now_s - start.seconds()).max(0.0)),
        now_s: now_s + trace.origin_us as f64 / 1e6,
        job_s: start.zip(completed).filter(|_| has_ended).map(|(start, end)| end.seconds_since(start)),
        has_ended,
        has_failed: jobs.iter().any(|job| job.succeeded == Some(false)),
        jobs_ended: jobs.iter().filter(|job| job.completed.is_some()).count(),
        jobs_running: jobs.iter().filter(|job| job.completed.is_none()).map(|job| job.number).collect(),
        executors: size[0],
        cores: size[1],
        hosts: size[2],
        start_s: 0.0,
        partitions: partitions_of(application),
        stages: Vec::new(),
        notes: Vec::new(),
        log,
    };
    if application.properties.get("spark.dynamicAllocation.enabled").is_some_and(|value| value == "true") {
        run.notes.push("executors are allocated dynamically: their number is assumed to remain as it is".to_owned());
    }
    if let Some(start) = start {
        add_submitted(&mut run, trace, start, now_s)?;
        add_announced(&mut run, jobs, start);
    }
    Ok(run)
}

/// Returns the number of executors, the tasks that each runs at a time, and the number of hosts.
fn size_of(trace: &JobTrace, id: ApplicationId, application: &Application) -> [u32; 3] {
    let there: Vec<_> = trace.executors.iter().filter(|executor| executor.removed.is_none()).collect();
    let mut hosts: Vec<_> = there.iter().filter_map(|executor| executor.node).collect();
    hosts.sort_unstable();
    hosts.dedup();
    let count = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
    let (wanted, wanted_cores) = wanted(application);
    let executors = count(there.len()).max(wanted);
    let stated = there.iter().filter_map(|executor| trace.slots_of_executor(executor)).max();
    let cores = if trace.attempts().is_empty() { stated.unwrap_or(wanted_cores) } else { workers_of(trace, id).cores };
    [executors, cores.max(1), count(hosts.len()).min(executors)]
}

/// Returns the number of executors requested by the settings, 0 if not given, and the cores of each.
fn wanted(application: &Application) -> (u32, u32) {
    let local = application.properties.get("spark.master").and_then(|master| {
        let inside = master.strip_prefix("local-cluster[")?.strip_suffix(']')?;
        let mut numbers = inside.split(',').map(|number| number.trim().parse::<u32>().ok());
        numbers.next()?.zip(numbers.next()?)
    });
    let number = |key: &str| application.number(key).filter(|n| (1.0..1e6).contains(n)).map(|n| n as u32);
    let cores = number("spark.executor.cores").unwrap_or(1);
    local.unwrap_or((number("spark.executor.instances").unwrap_or(0), cores))
}

/// Adds the stages that were submitted.
fn add_submitted(run: &mut RunProgress, trace: &JobTrace, start: Moment, now_s: f64) -> Result<(), FitError> {
    let found = submitted(trace, &run.log)?;
    let all_ending = ending(trace, run.cores);
    let mut afters: Vec<Vec<usize>> = Vec::new();
    let mut again = 0;
    for (i, (id, stage, span)) in found.iter().enumerate() {
        let after = waits_for(&found[..i], stage, span, trace, &afters);
        afters.push(after.clone());
        let Tasks { ended, running, ending, is_repeated } = tasks_of(trace, stage, run.cores, now_s, &all_ending);
        again += usize::from(is_repeated);
        let own = stage.tasks.unwrap_or(0).max(u32::try_from(ended.len() + running.len()).unwrap_or(u32::MAX));
        let is_complete = stage.completed.is_some() && stage.failure.is_none();
        // the log may lack tasks of a stage that succeeded
        let own = if is_complete { u32::try_from(ended.len()).unwrap_or(u32::MAX) } else { own };
        let ends: Vec<Option<f64>> = after.iter().map(|&k| run.stages[k].end_s).collect();
        let ready_s = ends.iter().all(Option::is_some).then(|| ends.iter().flatten().copied().fold(0.0, f64::max));
        let before = after.iter().map(|&k| found[k].2.last_end).max().unwrap_or(start);
        let (setup_s, late_s) = setup_of(trace, *id, (before, stage.submitted), run.cores);
        if i == 0 {
            run.start_s = late_s;
        }
        let written_mb = written_mb(trace, stage);
        let task_mb = run.to_read_mb(stage.parents.as_deref().unwrap_or_default(), own);
        let is_done = is_complete || (own > 0 && ended.len() == own as usize);
        run.stages.push(StageProgress {
            number: stage.number,
            name: stage.name.lines().next().unwrap_or("").to_owned(),
            after,
            tasks: own,
            submitted: true,
            end_s: is_done.then(|| span.last_end.seconds_since(start)),
            task_mb,
            reads_shuffles: stage.parents.as_ref().is_some_and(|parents| !parents.is_empty()),
            written_mb,
            operators: stage.operators.clone(),
            ended,
            running: if is_complete { Vec::new() } else { running },
            ending: if is_complete { 0 } else { ending },
            ready_s,
            setup_s,
        });
    }
    if again > 0 {
        run.notes.push(format!("{again} stages have run again; their attempts are combined"));
    }
    Ok(())
}

/// Returns the stages that were submitted or have tasks, in the order of their submission, without further attempts.
fn submitted<'t>(trace: &'t JobTrace, log: &str) -> Result<Vec<(StageId, &'t Stage, Span)>, FitError> {
    let mut found = Vec::new();
    for (id, stage) in trace.stages_with_ids().filter(|(_, stage)| stage.attempt == 0) {
        let attempts = trace.attempts_of(id);
        let launch = attempts.iter().filter_map(Attempt::launch).min();
        let Some(first_launch) = launch.or(stage.submitted) else { continue };
        if stage.parents.is_none() {
            let what = format!(
                "the log does not record the dependencies of stage {}; they are needed to predict the rest of the run",
                stage.number
            );
            return Err(FitError::NotAStageGraph { log: log.to_owned(), what });
        }
        let again = trace.stages_with_ids().filter(|(_, other)| other.number == stage.number);
        let ends =
            again.flat_map(|(id, _)| trace.attempts_of(id)).filter(|a| a.succeeded()).filter_map(Attempt::finish);
        let last_end = ends.max().unwrap_or(first_launch);
        let in_job = |job: &Job| job.stages.contains(&stage.number);
        let jobs = trace.jobs.iter().enumerate().filter(|(_, job)| in_job(job)).map(|(i, _)| i).collect();
        found.push((id, stage, Span { first_launch, last_end, jobs }));
    }
    found.sort_by_key(|(_, stage, span)| (stage.submitted.unwrap_or(span.first_launch), stage.number));
    Ok(found)
}

/// Tasks of all attempts of a stage.
struct Tasks {
    ended: Vec<ObservedTask>,
    running: Vec<StartedTask>,
    /// See [`StageProgress::ending`].
    ending: u32,
    /// True if the stage has run again.
    is_repeated: bool,
}

/// Returns the ids of attempts that have ended although the log does not have their ends yet. Spark gives a free slot to
/// the next task before it records the end of the previous one, so for a moment the log shows one running task too many.
/// In an executor, tasks that have finished elsewhere end first, then the oldest tasks.
fn ending(trace: &JobTrace, cores: u32) -> BTreeSet<u64> {
    let all = trace.attempts();
    let done: BTreeSet<_> = all.iter().filter(|a| a.succeeded()).map(|a| (a.stage, a.task)).collect();
    let mut running: BTreeMap<_, Vec<&Attempt>> = BTreeMap::new();
    for attempt in all.iter().filter(|attempt| attempt.outcome == Outcome::Unfinished) {
        if let Some(executor) = attempt.executor {
            running.entry(executor).or_default().push(attempt);
        }
    }
    let mut ids = BTreeSet::new();
    for mut attempts in running.into_values() {
        attempts.sort_by_key(|a| (!done.contains(&(a.stage, a.task)), a.launch(), a.id));
        let surplus = attempts.len().saturating_sub(cores.max(1) as usize);
        ids.extend(attempts[..surplus].iter().map(|attempt| attempt.id));
    }
    ids
}

fn tasks_of(trace: &JobTrace, stage: &Stage, cores: u32, now_s: f64, all_ending: &BTreeSet<u64>) -> Tasks {
    let mut of_task: BTreeMap<u32, &Attempt> = BTreeMap::new();
    let mut is_repeated = false;
    for (id, _) in trace.stages_with_ids().filter(|(_, other)| other.number == stage.number) {
        is_repeated |= trace.stage(id).is_some_and(|stage| stage.attempt > 0);
        for attempt in trace.attempts_of(id) {
            let counts = attempt.succeeded() || attempt.outcome == Outcome::Unfinished;
            // the attempt that finished, or else the first one that runs
            let known = of_task.get(&attempt.task).is_some_and(|known| known.succeeded() || !attempt.succeeded());
            if counts && !known {
                of_task.insert(attempt.task, attempt);
            }
        }
    }
    let mut all: Vec<&Attempt> = of_task.into_values().collect();
    all.sort_by_key(|attempt| (attempt.launch(), attempt.task));
    let mut count: BTreeMap<_, u32> = BTreeMap::new();
    let (mut ended, mut running, mut ending) = (Vec::new(), Vec::new(), 0);
    for attempt in all {
        let Some(launch) = attempt.launch() else { continue };
        let place = count.entry((attempt.executor, attempt.node)).or_insert(0);
        let rank = *place / cores.max(1) + 1;
        *place += 1;
        match attempt.duration().filter(|_| attempt.succeeded()) {
            Some(wall_s) => ended.push(ended_task(trace, attempt, wall_s, rank)),
            None if all_ending.contains(&attempt.id) => ending += 1,
            None => running.push(StartedTask { age_s: (now_s - launch.seconds()).max(0.0), rank }),
        }
    }
    Tasks { ended, running, ending, is_repeated }
}

fn ended_task(trace: &JobTrace, attempt: &Attempt, wall_s: f64, rank: u32) -> ObservedTask {
    let mb = trace.bytes_read(attempt) / MB;
    let gpu_s = trace.value(attempt, Metric::GpuHoldTime).unwrap_or(0.0);
    ObservedTask { wall_s: wall_s.max(1e-3), cpu_s: trace.value(attempt, Metric::CpuTime), mb, rank, gpu_s }
}

/// Returns the mean shuffle data that a finished task of a stage has written \[MB\]; 0 without finished tasks.
fn written_mb(trace: &JobTrace, stage: &Stage) -> f64 {
    let ids = trace.stages_with_ids().filter(|(_, other)| other.number == stage.number).map(|(id, _)| id);
    let done: Vec<f64> = ids
        .flat_map(|id| trace.attempts_of(id))
        .filter(|attempt| attempt.succeeded())
        .map(|attempt| trace.value(attempt, Metric::ShuffleWriteBytes).unwrap_or(0.0) / MB)
        .collect();
    if done.is_empty() { 0.0 } else { done.iter().sum::<f64>() / done.len() as f64 }
}

/// Adds the future stages announced by the running jobs.
fn add_announced(run: &mut RunProgress, jobs: &[Job], start: Moment) {
    for job in jobs.iter().filter(|job| job.completed.is_none()) {
        let was_submitted = |number: u32| run.stages.iter().any(|stage| stage.submitted && stage.number == number);
        let to_come: Vec<&AnnouncedStage> = job
            .announced
            .iter()
            .filter(|stage| !was_submitted(stage.number) && !is_skipped(stage, job, &was_submitted))
            .collect();
        for stage in to_come {
            let parents = stage.parents.as_deref().unwrap_or(&[]);
            let after: Vec<usize> =
                (0..run.stages.len()).filter(|&i| parents.contains(&run.stages[i].number)).collect();
            let ends: Vec<Option<f64>> = after.iter().map(|&k| run.stages[k].end_s).collect();
            let begun = job.submitted.map_or(0.0, |submitted| submitted.seconds_since(start));
            let ready_s =
                ends.iter().all(Option::is_some).then(|| ends.iter().flatten().copied().fold(begun, f64::max));
            run.stages.push(StageProgress {
                number: stage.number,
                name: stage.name.lines().next().unwrap_or("").to_owned(),
                after,
                tasks: stage.tasks.unwrap_or(1),
                submitted: false,
                task_mb: run.to_read_mb(parents, stage.tasks.unwrap_or(1)),
                reads_shuffles: !parents.is_empty(),
                written_mb: 0.0,
                operators: Vec::new(),
                ended: Vec::new(),
                running: Vec::new(),
                ending: 0,
                ready_s,
                end_s: None,
                setup_s: 0.0,
            });
        }
    }
}

/// Returns true for a stage that Spark will skip because its output exists. This is the case if a stage that waits for
/// it was submitted, or if no stage waits for it and another stage of its job was submitted.
fn is_skipped(stage: &AnnouncedStage, job: &Job, was_submitted: &dyn Fn(u32) -> bool) -> bool {
    let waits = |other: &AnnouncedStage| other.parents.as_ref().is_some_and(|parents| parents.contains(&stage.number));
    let followers = || job.announced.iter().filter(|other| other.number > stage.number && waits(other));
    let is_root = stage.parents.as_ref().is_none_or(Vec::is_empty);
    if is_root && job.announced.iter().any(|other| was_submitted(other.number)) {
        return true;
    }
    followers().any(|other| was_submitted(other.number))
        || (followers().next().is_some() && followers().all(|other| is_skipped(other, job, was_submitted)))
}

impl RunProgress {
    /// Returns the data that each of some tasks will read from the shuffles of its parents \[MB\]: what these have written so far, extrapolated to all
    /// their tasks. None if a parent has not written anything yet, or has no place in the log.
    fn to_read_mb(&self, parents: &[u32], tasks: u32) -> Option<f64> {
        let of_parent = |number: &u32| {
            let stage = self.stages.iter().find(|stage| stage.number == *number)?;
            (stage.written_mb > 0.0).then(|| stage.written_mb * f64::from(stage.tasks))
        };
        let all: Option<f64> = parents.iter().map(of_parent).sum();
        all.filter(|mb| *mb > 0.0).map(|mb| mb / f64::from(tasks.max(1)))
    }

    /// Returns the run so far in a form that a model can be fitted to: the stages with a finished task, each with its position in this run. None
    /// before the first task has finished.
    pub fn so_far(&self) -> Option<(ObservedRun, Vec<usize>)> {
        let kept: Vec<usize> = (0..self.stages.len()).filter(|&i| !self.stages[i].ended.is_empty()).collect();
        let stage = |&i: &usize| {
            let stage = &self.stages[i];
            let after = stage.after.iter().filter_map(|before| kept.binary_search(before).ok());
            let mut tasks = stage.ended.clone();
            // if the first task of a slot failed, its next one is the first that finished
            let least = tasks.iter().map(|task| task.rank).min().unwrap_or(1);
            tasks.iter_mut().for_each(|task| task.rank -= least - 1);
            ObservedStage {
                number: stage.number,
                name: stage.name.clone(),
                operators: Vec::new(),
                after: after.collect(),
                setup_s: stage.setup_s,
                memory_per_mb: None,
                reads_input: false,
                took_s: 0.0,
                tasks,
            }
        };
        let stages: Vec<ObservedStage> = kept.iter().map(stage).collect();
        let run = ObservedRun {
            log: self.log.clone(),
            name: self.name.clone(),
            is_complete: true,
            // amounts are used as they are, whatever the input
            input_mb: 1.0,
            input_is_relative: false,
            sources: Vec::new(),
            executors: self.executors.max(1),
            executors_over_time: Vec::new(),
            cores: self.cores,
            hosts: self.hosts.max(1),
            start_s: self.start_s,
            gpus: [None; 3],
            partitions: self.partitions,
            job_s: self.elapsed_s.unwrap_or(0.0),
            end_s: 0.0,
            memory_mb: None,
            speculation: None,
            stages,
            notes: Vec::new(),
        };
        (!kept.is_empty()).then_some((run, kept))
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::trace::{ReadOptions, read_bytes};
    use crate::watch::Unwatched;

    /// Start of synthetic logs \[ms\].
    const START: u64 = 1_000_000;

    /// Lines of a synthetic event log; times in seconds after its start.
    pub(in crate::fit) struct SyntheticLog(Vec<String>);

    impl SyntheticLog {
        /// Creates an application with executors of one core that existed before.
        pub(in crate::fit) fn new(executors: u32) -> Self {
            let mut made = Self(vec![format!(
                r#"{{"Event":"SparkListenerApplicationStart","App Name":"made","App ID":"a","Timestamp":{START},"User":"u"}}"#
            )]);
            for executor in 0..executors {
                made.0.push(format!(
                    r#"{{"Event":"SparkListenerExecutorAdded","Timestamp":{START},"Executor ID":"{executor}","Executor Info":{{"Host":"h{executor}","Total Cores":1}}}}"#
                ));
            }
            made
        }

        /// Returns a stage as it appears in an event: number, tasks, parents.
        fn info(&(number, tasks, parents): &(u32, u32, &[u32]), submitted: &str) -> String {
            format!(
                r#"{{"Stage ID":{number},"Stage Attempt ID":0,"Stage Name":"work at x.py:{number}","Number of Tasks":{tasks},"Parent IDs":{parents:?}{submitted}}}"#
            )
        }

        pub(in crate::fit) fn job(&mut self, number: u32, at_s: f64, stages: &[(u32, u32, &[u32])]) {
            let infos: Vec<String> = stages.iter().map(|stage| Self::info(stage, "")).collect();
            let ids: Vec<u32> = stages.iter().map(|stage| stage.0).collect();
            self.0.push(format!(
                r#"{{"Event":"SparkListenerJobStart","Job ID":{number},"Submission Time":{},"Stage Infos":[{}],"Stage IDs":{ids:?}}}"#,
                ms(at_s),
                infos.join(",")
            ));
        }

        pub(in crate::fit) fn end_job(&mut self, number: u32, at_s: f64) {
            self.0.push(format!(
                r#"{{"Event":"SparkListenerJobEnd","Job ID":{number},"Completion Time":{},"Job Result":{{"Result":"JobSucceeded"}}}}"#,
                ms(at_s)
            ));
        }

        pub(in crate::fit) fn submit(&mut self, at_s: f64, stage: (u32, u32, &[u32])) {
            let info = Self::info(&stage, &format!(r#","Submission Time":{}"#, ms(at_s)));
            self.0.push(format!(r#"{{"Event":"SparkListenerStageSubmitted","Stage Info":{info}}}"#));
        }

        /// Adds a task: stage, index, executor; from launch to end, if it ends, with this reason.
        pub(in crate::fit) fn task(&mut self, of: [u32; 3], from_s: f64, to: Option<(f64, &str)>) {
            let [stage, index, executor] = of;
            let id = self.0.len();
            let info = |finish: u64| {
                format!(
                    r#""Task Info":{{"Task ID":{id},"Index":{index},"Attempt":0,"Launch Time":{},"Executor ID":"{executor}","Host":"h{executor}","Locality":"ANY","Speculative":false,"Finish Time":{finish}}}"#,
                    ms(from_s)
                )
            };
            let head = format!(r#""Stage ID":{stage},"Stage Attempt ID":0"#);
            self.0.push(format!(r#"{{"Event":"SparkListenerTaskStart",{head},{}}}"#, info(0)));
            if let Some((to_s, reason)) = to {
                let kind = format!(r#""Task Type":"ResultTask","Task End Reason":{{"Reason":"{reason}"}}"#);
                self.0.push(format!(r#"{{"Event":"SparkListenerTaskEnd",{head},{kind},{}}}"#, info(ms(to_s))));
            }
        }

        /// Adds an event without further content at a time.
        pub(in crate::fit) fn look(&mut self, at_s: f64) {
            self.executor("late", at_s, at_s);
        }

        /// Adds an executor from one time to another.
        pub(in crate::fit) fn executor(&mut self, id: &str, from_s: f64, to_s: f64) {
            self.0.push(format!(
                r#"{{"Event":"SparkListenerExecutorAdded","Timestamp":{},"Executor ID":"{id}","Executor Info":{{"Host":"h0","Total Cores":1}}}}"#,
                ms(from_s)
            ));
            self.0.push(format!(
                r#"{{"Event":"SparkListenerExecutorRemoved","Timestamp":{},"Executor ID":"{id}","Removed Reason":"test"}}"#,
                ms(to_s)
            ));
        }

        pub(in crate::fit) fn text(&self) -> String {
            self.0.join("\n")
        }

        pub(in crate::fit) fn progress(&self) -> RunProgress {
            let trace = read_bytes("made", self.text().as_bytes(), &ReadOptions::default(), &Unwatched).unwrap();
            observe_progress(&trace, None).unwrap()
        }
    }

    fn ms(at_s: f64) -> u64 {
        START + (at_s * 1e3) as u64
    }

    /// Two slots and five tasks of 10 s, then two tasks; observed 12 s after the start of the job.
    pub(in crate::fit) fn in_the_middle() -> SyntheticLog {
        let mut made = SyntheticLog::new(2);
        let stages: [(u32, u32, &[u32]); 2] = [(0, 5, &[]), (1, 2, &[0])];
        made.job(0, 5.0, &stages);
        made.submit(5.0, stages[0]);
        for slot in 0..2 {
            made.task([0, slot, slot], 5.0, Some((15.0, "Success")));
            made.task([0, 2 + slot, slot], 15.0, None);
        }
        made.look(17.0);
        made
    }

    #[test]
    fn ended_running_and_waiting_tasks_are_separated() {
        let run = in_the_middle().progress();
        assert_eq!((run.elapsed_s, run.executors, run.cores, run.hosts), (Some(12.0), 2, 1, 2));
        assert_eq!((run.jobs_ended, &run.jobs_running[..], run.has_ended), (0, &[0][..], false));
        let [first, second] = &run.stages[..] else { panic!("{:?}", run.stages) };
        assert_eq!(first.ended.iter().map(|task| (task.wall_s, task.rank)).collect::<Vec<_>>(), [(10.0, 1), (10.0, 1)]);
        let running = StartedTask { age_s: 2.0, rank: 2 };
        assert_eq!((&first.running[..], first.waiting(), first.end_s), (&[running, running][..], 1, None));
        assert_eq!((second.submitted, second.tasks, &second.after[..], second.ready_s), (false, 2, &[0][..], None));
    }

    /// A failed task is repeated; one with a copy counts once; a finished task stays finished even if a copy
    /// still runs.
    #[test]
    fn a_task_counts_once() {
        let mut made = SyntheticLog::new(2);
        made.job(0, 0.0, &[(0, 3, &[])]);
        made.submit(0.0, (0, 3, &[]));
        made.task([0, 0, 0], 0.0, Some((4.0, "ExceptionFailure")));
        made.task([0, 1, 1], 0.0, Some((6.0, "Success")));
        made.task([0, 1, 0], 5.0, None);
        made.task([0, 2, 0], 5.0, None);
        made.task([0, 2, 1], 7.0, None);
        made.look(8.0);
        let run = made.progress();
        let stage = &run.stages[0];
        assert_eq!((stage.ended.len(), stage.running.len(), stage.waiting()), (1, 1, 1));
        assert_eq!(stage.running[0].age_s, 3.0);
    }

    /// Spark launches the next task of a slot before it records the end of the previous task. Seen to fail when both tasks
    /// count as running.
    #[test]
    fn a_task_whose_slot_was_reused_counts_as_ending() {
        let mut made = SyntheticLog::new(2);
        made.job(0, 0.0, &[(0, 5, &[])]);
        made.submit(0.0, (0, 5, &[]));
        made.task([0, 0, 0], 0.0, None);
        made.task([0, 1, 1], 1.0, None);
        made.task([0, 2, 0], 4.0, None);
        let run = made.progress();
        let stage = &run.stages[0];
        assert_eq!((stage.ended.len(), stage.running.len(), stage.ending, stage.waiting()), (0, 2, 1, 2));
        assert_eq!(stage.running.iter().map(|task| task.age_s).collect::<Vec<_>>(), [3.0, 0.0]);
    }

    /// The second job announces the first one's shuffle again, but only its last stage is submitted.
    #[test]
    fn skipped_stages_are_not_to_come() {
        let mut made = SyntheticLog::new(1);
        made.job(0, 0.0, &[(0, 1, &[])]);
        made.submit(0.0, (0, 1, &[]));
        made.task([0, 0, 0], 0.0, Some((4.0, "Success")));
        made.end_job(0, 4.0);
        let stages: [(u32, u32, &[u32]); 4] = [(1, 1, &[]), (2, 1, &[1]), (3, 1, &[2]), (4, 7, &[3])];
        made.job(1, 5.0, &stages);
        made.submit(5.0, stages[2]);
        made.look(6.0);
        let run = made.progress();
        let numbers: Vec<u32> = run.stages.iter().map(|stage| stage.number).collect();
        assert_eq!((&numbers[..], run.stages[1].ready_s), (&[0, 3, 4][..], Some(4.0)));
        assert_eq!(run.stages[2].after, [1]);
    }

    #[test]
    fn a_log_without_a_job_has_no_time() {
        let run = SyntheticLog::new(3).progress();
        assert_eq!((run.elapsed_s, run.executors, run.stages.len()), (None, 3, 0));
        assert!(run.so_far().is_none());
    }
}
