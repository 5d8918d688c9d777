//! The attempts of a log as the list of a schedule: what each stage waits for, the slots of the executors, and the
//! pauses between tasks.

use std::collections::{BTreeMap, BTreeSet};

use crate::diagnose::causes::schedule::{After, ListedSlot, ListedStage, ListedTask, Schedule};
use crate::trace::{ApplicationId, Attempt, Job, JobTrace, Moment, Stage, StageId, StageKind};

/// Spark can launch the next task of a slot this long before it records the end of the previous task \[µs\].
const OVERLAP: i64 = 20_000;
/// If the log does not state dependencies, a stage waited for another stage only if the other stage ended at most
/// this long before its start \[µs\].
const AFTER: i64 = 100_000;

/// An attempt with known times.
#[derive(Clone, Copy, Debug)]
pub(super) struct Placed<'t> {
    pub(super) attempt: &'t Attempt,
    /// Position of its stage.
    pub(super) stage: usize,
    /// Number of the node that it ran on.
    pub(super) node: Option<usize>,
    pub(super) launch: i64,
    /// Recorded end; for an attempt that lost to another one, and for an attempt without an end, the end of its task \[µs\].
    pub(super) end: i64,
    /// True if its end is the end of its task: it completed the task, or would have without its copy.
    pub(super) completes: bool,
}

/// The time of the job in the log.
#[derive(Clone, Copy, Debug)]
pub(super) struct JobSpan {
    /// Time from the first submission to the last end of a job \[µs\].
    pub(super) logged: i64,
    /// End of the last task, since the start of the log \[µs\].
    pub(super) last_end: i64,
}

/// First launch and last end of a stage \[µs\].
#[derive(Clone, Copy, Debug)]
struct Window {
    from: i64,
    to: i64,
}

/// Schedule of a log.
#[derive(Clone, Debug)]
pub(super) struct ListedLog<'t> {
    pub(super) schedule: Schedule,
    /// The slots of all executors, each from the time at which its executor was added.
    pub(super) registered: Vec<ListedSlot>,
    /// Attempts in the order of the schedule.
    pub(super) placed: Vec<Placed<'t>>,
    pub(super) span: JobSpan,
}

/// Returns the schedule of a log with one application. None for several applications, or if no task succeeded. With
/// `by_cores`, an executor has as many slots as its cores allow, otherwise as many as it used.
pub(super) fn list(trace: &JobTrace, by_cores: bool) -> Option<ListedLog<'_>> {
    let (application, _) = trace.only_application().ok()?;
    let mut placed: Vec<Placed<'_>> = trace.stages_with_ids().flat_map(|(id, _)| placed_of(trace, id)).collect();
    // the reduce tasks of MapReduce have slots of their own, and need the end of the maps
    placed.sort_by_key(|own| (is_reduce(trace, own.stage), own.launch, own.end));
    let windows = windows(trace, &placed);
    let mut stages = stages(trace, application, &windows);
    let (slots, registered, free) = slots(trace, application, &placed, by_cores);
    let mut ready: BTreeMap<usize, i64> = BTreeMap::new();
    let mut earlier: BTreeMap<(usize, u32), usize> = BTreeMap::new();
    let mut tasks = Vec::with_capacity(placed.len());
    for (i, own) in placed.iter().enumerate() {
        let ready = *ready.entry(own.stage).or_insert_with(|| {
            // if the slot of its first task was busy or absent at the submission, the stage waited for a slot
            let submitted = trace.stages[own.stage].submitted.map(Moment::microseconds);
            submitted.filter(|at| free[i] > *at).map_or(own.launch, |at| at.min(own.launch))
        });
        let before = earlier.insert((own.stage, own.attempt.task), i).map(|before| (before, &placed[before]));
        let pool = usize::from(is_reduce(trace, own.stage));
        tasks.push(ListedTask { pool, ..listed(own, before, free[i], ready) });
    }
    wait_for_maps(trace, &placed, &windows, &stages, &mut tasks);
    for (stage, ready) in ready {
        release(&mut stages[stage], &windows, ready);
    }
    let span = span(trace, application, &placed)?;
    Some(ListedLog { schedule: Schedule { stages, tasks, slots }, registered, placed, span })
}

/// Returns an attempt of the schedule. `before` is an earlier attempt of the same task with its position, `free` the time
/// from which its slot was free, and `ready` the time at which its stage was ready.
fn listed(own: &Placed<'_>, before: Option<(usize, &Placed<'_>)>, free: i64, ready: i64) -> ListedTask {
    let task =
        ListedTask { stage: own.stage, time: own.end - own.launch, completes: own.completes, ..ListedTask::default() };
    match before {
        Some((i, other)) if other.end > own.launch => {
            ListedTask { after: Some(After::Start(i, own.launch - other.launch)), ..task }
        }
        Some((i, other)) => ListedTask { after: Some(After::End(i, own.launch - other.end)), ..task },
        None if free >= ready => ListedTask { pause: own.launch - free, ..task },
        None => ListedTask { delay: own.launch - ready, ..task },
    }
}

/// Lets the reduce tasks that started while maps ran work from the end of the maps on.
fn wait_for_maps(
    trace: &JobTrace,
    placed: &[Placed<'_>],
    windows: &[Option<Window>],
    stages: &[ListedStage],
    tasks: &mut [ListedTask],
) {
    for (task, own) in tasks.iter_mut().zip(placed).filter(|(task, _)| is_reduce(trace, task.stage)) {
        let maps = stages[task.stage].waits_for.iter().filter_map(|map| Some((windows[*map]?.to, *map)));
        if let Some((end, map)) = maps.filter(|(end, _)| *end > own.launch).max() {
            (task.works_after, task.time) = (Some(map), (own.end - end).max(0));
        }
    }
}

/// Returns the time of the job; none if no task succeeded.
fn span(trace: &JobTrace, application: ApplicationId, placed: &[Placed<'_>]) -> Option<JobSpan> {
    let last_end = placed.iter().filter(|own| own.completes).map(|own| own.end).max()?;
    let jobs = trace.jobs_of(application);
    let first = jobs.iter().filter_map(|job| job.submitted).map(Moment::microseconds).min();
    let start = first.or_else(|| placed.iter().map(|own| own.launch).min())?;
    let last = jobs.iter().filter_map(|job| job.completed).map(Moment::microseconds).max();
    Some(JobSpan { logged: last.map_or(last_end, |end| end.max(last_end)) - start, last_end })
}

fn is_reduce(trace: &JobTrace, stage: usize) -> bool {
    trace.stages[stage].kind == StageKind::Reduce
}

/// Returns the attempts of a stage that are known to have run for a time.
fn placed_of(trace: &JobTrace, id: StageId) -> Vec<Placed<'_>> {
    let mut placed = Vec::new();
    for task in trace.tasks_of(id) {
        let done = task.iter().filter(|attempt| attempt.succeeded());
        let winner = done.filter_map(|attempt| Some((attempt.finish()?.microseconds(), attempt.id))).min();
        for attempt in task {
            let Some(launch) = attempt.launch().map(Moment::microseconds) else { continue };
            let finish = attempt.finish().map(Moment::microseconds);
            let ended = winner.map(|(end, _)| end).filter(|end| *end > launch && !attempt.outcome.is_failure());
            // an attempt that ran until another attempt had won has the end of the task
            let (end, completes) = match (finish, ended) {
                (Some(finish), Some(end)) if finish < end => (finish, false),
                (_, Some(end)) => (end, true),
                (Some(finish), None) => (finish, false),
                (None, None) => continue,
            };
            let end = end.max(launch);
            let node = attempt.node.map(|node| node.index());
            placed.push(Placed { attempt, stage: id.index(), node, launch, end, completes });
        }
    }
    placed
}

fn windows(trace: &JobTrace, placed: &[Placed<'_>]) -> Vec<Option<Window>> {
    let mut windows: Vec<Option<Window>> = vec![None; trace.stages.len()];
    for own in placed.iter().filter(|own| own.completes) {
        let window = windows[own.stage].get_or_insert(Window { from: own.launch, to: own.end });
        *window = Window { from: window.from.min(own.launch), to: window.to.max(own.end) };
    }
    windows
}

/// Returns the stages with what they wait for: their parents, and the stages of the jobs that ended before their job
/// was submitted. A stage without such a job and without stated parents waits for the last stage that ended before it.
fn stages(trace: &JobTrace, application: ApplicationId, windows: &[Option<Window>]) -> Vec<ListedStage> {
    let jobs = trace.jobs_of(application);
    let mut by_number: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
    for (id, stage) in trace.stages_with_ids() {
        by_number.entry(stage.number).or_default().push(id.index());
    }
    let of_stage = |(i, stage): (usize, &Stage)| {
        let Some(own) = windows[i] else { return ListedStage::default() };
        let has_ended =
            |other: &usize| windows[*other].is_some_and(|other| other.to <= own.from + AFTER && other.from < own.from);
        let numbers = |numbers: &[u32]| -> Vec<usize> {
            numbers.iter().filter_map(|number| by_number.get(number)).flatten().copied().collect()
        };
        let mut parents = numbers(stage.parents.as_deref().unwrap_or(&[]));
        parents.retain(has_ended);
        if stage.kind == StageKind::Reduce {
            let maps = trace.stages.iter().enumerate().filter(|(_, other)| other.kind == StageKind::Map);
            parents.extend(maps.map(|(map, _)| map).filter(|map| windows[*map].is_some()));
        }
        let job = job_of(jobs, stage.number, own.from);
        let before = job.map_or(Vec::new(), |job| jobs_before(jobs, job));
        let is_triggered = parents.is_empty()
            && job.is_some_and(|job| job.batch.is_some() && before.iter().all(|other| other.batch != job.batch));
        let mut waits_for = parents;
        waits_for.extend(before.iter().flat_map(|job| numbers(&job.stages)).filter(has_ended));
        if waits_for.is_empty() && stage.parents.is_none() {
            let ended = (0..windows.len()).filter(has_ended);
            waits_for.extend(ended.max_by_key(|other| windows[*other].map(|other| other.to)));
        }
        waits_for.sort_unstable();
        waits_for.dedup();
        ListedStage { waits_for, gap: 0, not_before: is_triggered.then_some(own.from) }
    };
    trace.stages.iter().enumerate().map(of_stage).collect()
}

/// Returns the job that a stage ran for: a job can also list stages whose output an earlier job had left.
fn job_of(jobs: &[Job], stage: u32, at: i64) -> Option<&Job> {
    let has = |job: &&Job| job.stages.contains(&stage);
    let is_on = |job: &&Job| {
        let [from, to] = [job.submitted, job.completed].map(|time| time.map(Moment::microseconds));
        from.is_some_and(|from| from <= at) && to.is_none_or(|to| to >= at)
    };
    jobs.iter().filter(has).find(is_on).or_else(|| jobs.iter().find(has))
}

/// Returns the job that ended last before a job was submitted, and the jobs that ended while that job ran.
fn jobs_before<'t>(jobs: &'t [Job], job: &Job) -> Vec<&'t Job> {
    let ended = |other: &&Job| other.completed.zip(job.submitted).is_some_and(|(end, from)| end <= from);
    let Some(last) = jobs.iter().filter(ended).max_by_key(|other| other.completed) else { return Vec::new() };
    jobs.iter().filter(ended).filter(|other| other.completed > last.submitted || other.number == last.number).collect()
}

/// Sets the release of a stage, so that the recorded ends give the recorded time at which it was ready.
fn release(stage: &mut ListedStage, windows: &[Option<Window>], ready: i64) {
    let last = stage.waits_for.iter().filter_map(|&other| windows[other]).map(|other| other.to).max();
    stage.gap = ready - last.unwrap_or(0);
    stage.not_before = stage.not_before.map(|_| ready);
}

/// The slots of an executor, or of a node without executors.
struct Own {
    /// Last attempt in each slot, as its end \[µs\].
    ends: Vec<i64>,
    from: i64,
    /// Time at which its executor was added, at most `from` \[µs\].
    added: i64,
    most: usize,
    until: Option<i64>,
    node: Option<usize>,
}

/// Returns the slots of all executors that ran tasks, the slots of all executors from the time at which they were added,
/// and for each attempt the time from which its slot was free \[µs\]. An attempt takes the slot that became free last
/// among the free slots of its executor.
fn slots(
    trace: &JobTrace,
    application: ApplicationId,
    placed: &[Placed<'_>],
    by_cores: bool,
) -> (Vec<ListedSlot>, Vec<ListedSlot>, Vec<i64>) {
    let of_a_task = trace.applications[application.index()].cores_of_a_task();
    let mut owners: BTreeMap<(Option<usize>, Option<usize>, bool), Own> = BTreeMap::new();
    let mut free = Vec::with_capacity(placed.len());
    for attempt in placed {
        let executor = trace.executor_of(attempt.attempt);
        let number = attempt.attempt.executor.map(|executor| executor.index());
        let key = (number, attempt.node, is_reduce(trace, attempt.stage));
        let own = owners.entry(key).or_insert_with(|| Own {
            ends: Vec::new(),
            from: attempt.launch,
            added: executor
                .and_then(|own| own.added)
                .map_or(attempt.launch, |at| at.microseconds().min(attempt.launch)),
            most: executor
                .and_then(|own| own.cores)
                .filter(|_| by_cores)
                .map_or(usize::MAX, |n| (n / of_a_task).max(1) as usize),
            until: executor.and_then(|own| own.removed).map(Moment::microseconds),
            node: attempt.node,
        });
        let is_free = |(_, end): &(usize, &i64)| **end <= attempt.launch + OVERLAP;
        let slot = own.ends.iter().enumerate().filter(is_free).max_by_key(|(_, end)| **end);
        // Spark launched the task before the end of another one was recorded
        let full = || own.ends.iter().enumerate().min_by_key(|(_, end)| **end).filter(|_| own.ends.len() >= own.most);
        match slot.or_else(full).map(|(slot, _)| slot) {
            Some(slot) => free.push(std::mem::replace(&mut own.ends[slot], attempt.end)),
            None => {
                own.ends.push(attempt.end);
                free.push(own.from);
            }
        }
    }
    let used: BTreeSet<usize> = owners.keys().filter_map(|(executor, ..)| *executor).collect();
    let (mut slots, mut registered) = (Vec::new(), Vec::new());
    for ((_, _, is_reduce), own) in owners {
        let count = if own.most == usize::MAX { own.ends.len() } else { own.most };
        let slot = ListedSlot { pool: usize::from(is_reduce), node: own.node, from: own.from, until: own.until };
        registered.extend(std::iter::repeat_n(ListedSlot { from: own.added, ..slot.clone() }, count));
        slots.extend(std::iter::repeat_n(slot, count));
    }
    registered.extend(unused(trace, application, &used).filter(|_| by_cores));
    (slots, registered, free)
}

/// Returns the slots of executors that ran no task.
fn unused(trace: &JobTrace, application: ApplicationId, used: &BTreeSet<usize>) -> impl Iterator<Item = ListedSlot> {
    let idle = trace.executors.iter().enumerate().filter(|(i, _)| !used.contains(i)).map(|(_, executor)| executor);
    idle.filter(move |executor| executor.application == application).flat_map(move |executor| {
        let slot = executor.added.map(|added| ListedSlot {
            pool: 0,
            node: executor.node.map(|node| node.index()),
            from: added.microseconds(),
            until: executor.removed.map(Moment::microseconds),
        });
        let count = trace.slots_of_executor(executor).unwrap_or(0);
        slot.into_iter().flat_map(move |slot| std::iter::repeat_n(slot, count as usize))
    })
}
