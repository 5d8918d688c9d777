//! A recorded job in a form that can run again: the same tasks on the same nodes, without copies, for other policies.
//!
//! ```text
//! JobTrace ──▶ Replay: Job, the origin of each value, the unknowns
//! ```
//!
//! The first attempt of each task takes its recorded time. If the attempt was killed because the copy had won, it takes
//! at least the time until it was killed. A pause between tasks on a slot is part of the task after it. The time of a
//! copy is drawn: see `replay_times` for the available data.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::cluster::MAX_TASKS;
use crate::fit::fit_error::FitError;
use crate::fit::line::median;
use crate::fit::observe::{Span, executed, waits_for};
use crate::fit::observed_job::is_mapreduce;
use crate::fit::replay_policies::{Speculation, speculation_of};
use crate::fit::replay_times::{TimedTask, UsualTimes, work_bytes};
use crate::job::{Delay, Job, JobStage, Machine, Phase, RecordedTask, Spread, Steps, Tasks};
use crate::trace::analysis::most_at_once;
use crate::trace::{Attempt, Format, JobTrace, Moment, Stage, StageId, StageKind};

/// Bytes per MB.
const MB: f64 = 1_048_576.0;
/// Spark launches the next task some milliseconds before it records the end of the previous task \[µs\].
const OVERLAP: i64 = 20_000;
/// Pauses of a slot up to this length belong to the next task \[s\].
const PAUSE: f64 = 1.0;
/// Shares of a node's slots that run at full speed, as tried in the search for contention.
const CONTENTION: [f64; 5] = [1.0, 0.75, 0.5, 0.25, 0.0];
/// Contention is accepted if it leaves at most this share of the unexplained spread.
const EXPLAINS: f64 = 0.9;
/// Minimum data of a task that matters \[MB\].
const DATA_MATTERS_MB: f64 = 0.5;

/// A node of a replay.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ReplayNode {
    /// Name in the log.
    pub name: String,
    /// Maximum number of tasks that the node ran at a time.
    pub slots: u32,
    /// Number of first attempts on the node.
    pub tasks: usize,
    /// Factor by which tasks take longer on the node than is typical, weighted by tasks over the stages.
    pub slowness: f64,
}

/// A stage of a replay.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ReplayStage {
    /// Number in the log.
    pub number: u32,
    /// Name.
    pub name: String,
    /// Tasks.
    pub tasks: usize,
    /// Number of copies in the log, which are removed.
    pub copies: usize,
    /// Tasks whose first attempt was killed or has no end: they took at least the replayed time.
    pub at_least: usize,
    /// Time from the stage's first launch to its last end \[s\].
    pub actual_s: f64,
}

/// A job in a form that can run again.
#[derive(Clone, Debug, PartialEq)]
pub struct Replay {
    /// The log.
    pub log: String,
    /// The application's name.
    pub name: String,
    /// The job.
    pub job: Job,
    /// Recorded time: from the first submission of a job to the last completion \[s\].
    pub actual_s: f64,
    /// True if all jobs of the log succeeded; otherwise, the replay is of the part that the log has.
    pub is_complete: bool,
    /// The nodes.
    pub nodes: Vec<ReplayNode>,
    /// The stages.
    pub stages: Vec<ReplayStage>,
    /// Tasks that a node runs at full speed, as a share of its slots.
    pub full_speed_share: f64,
    /// Sum of the times of all first attempts; killed attempts count up to their end \[s\].
    pub work_s: f64,
    /// The application's speculation settings: multiplier and quantile; none if speculation was off.
    pub speculation: Option<Speculation>,
    /// Assumptions and unknowns.
    pub notes: Vec<String>,
}

/// The first attempt of a task while the replay is built.
struct First<'t> {
    attempt: &'t Attempt,
    node: usize,
    from: i64,
    /// Time at which the attempt ended, or up to which it is known to have run.
    to: i64,
    ended: bool,
    mb: f64,
    cold: bool,
}

/// Builds a replay of the only job of a log.
///
/// # Errors
///
/// [`FitError`] for logs of other kinds, with several applications, and for jobs that did not finish.
pub fn replay(trace: &JobTrace) -> Result<Replay, FitError> {
    let log = trace.files.first().cloned().unwrap_or_default();
    let incomplete = |what: &str| FitError::Incomplete { log: log.clone(), what: what.to_owned() };
    if trace.format != Format::SparkEventLog && !is_mapreduce(trace) {
        let what = format!("this is {}; a replay needs a Spark or MapReduce log", trace.format.text());
        return Err(FitError::NotAStageGraph { log, what });
    }
    let only = trace.only_application();
    let (id, application) = only.map_err(|count| FitError::SeveralApplications { log: log.clone(), count })?;
    let jobs = trace.jobs_of(id);
    let start = jobs.iter().filter_map(|job| job.submitted).min();
    let end = jobs.iter().filter_map(|job| job.completed).max();
    let (Some(start), Some(end)) = (start, end) else { return Err(incomplete("no job started and finished")) };
    let mut notes = Vec::new();
    let mut found = executed(trace, &mut notes, &log)?;
    notes.clear();
    found.retain(|(_, stage, _)| !matches!(stage.kind, StageKind::Setup | StageKind::Cleanup));
    found.sort_by_key(|(_, stage, span)| (stage.submitted.unwrap_or(span.first_launch), stage.number));
    if found.is_empty() {
        return Err(incomplete("no stage ran"));
    }
    if trace.attempts().iter().any(|attempt| attempt.outcome.is_failure()) || trace.stages.iter().any(|s| s.attempt > 0)
    {
        notes.push("attempts failed or stages ran again; the replay does not model failures or their cost".to_owned());
    }
    let tasks: usize = found.iter().map(|(id, ..)| trace.attempts_of(*id).len()).sum();
    if tasks as u64 > MAX_TASKS {
        return Err(FitError::TooManyTasks { log, tasks, most: MAX_TASKS });
    }
    let places = Places::of(trace);
    let firsts: Vec<Vec<First<'_>>> = found.iter().map(|(id, ..)| firsts(trace, *id, &places)).collect();
    if firsts.iter().any(Vec::is_empty) {
        return Err(incomplete("a stage has no task with a start and an end"));
    }
    let maker = Maker { trace, found: &found, firsts: &firsts, places: &places, start };
    let (share, usual) = maker.contention();
    let last = found.iter().map(|(.., span)| span.last_end).max().unwrap_or(end);
    let job = maker.job(share, &usual, end.seconds_since(last).max(0.0));
    let stages = maker.stages();
    notes.extend(told(&stages, share, trace));
    Ok(Replay {
        log,
        name: application.name.clone(),
        job,
        actual_s: end.seconds_since(start),
        is_complete: jobs.iter().all(|job| job.completed.is_some() && job.succeeded != Some(false)),
        nodes: maker.nodes(&usual),
        stages,
        full_speed_share: share,
        work_s: firsts.iter().flatten().map(|first| (first.to - first.from) as f64 / 1e6).sum(),
        speculation: speculation_of(application),
        notes,
    })
}

/// The nodes on which attempts run: the nodes of the Spark executors, or Hadoop nodes.
struct Places {
    names: Vec<String>,
    slots: Vec<u32>,
    by_node: BTreeMap<usize, usize>,
}

impl Places {
    fn of(trace: &JobTrace) -> Self {
        let mut spans: BTreeMap<usize, Vec<(i64, i64)>> = BTreeMap::new();
        for attempt in trace.attempts() {
            let node = attempt.node.map_or(usize::MAX, crate::trace::NodeId::index);
            let span = attempt.launch().zip(attempt.finish());
            let list = spans.entry(node).or_default();
            list.extend(span.map(|(a, z)| (a.microseconds(), z.microseconds().saturating_sub(OVERLAP))));
        }
        let mut places = Self { names: Vec::new(), slots: Vec::new(), by_node: BTreeMap::new() };
        for (node, spans) in spans {
            let seen = u32::try_from(most_at_once(spans.into_iter(), |_| 1)).unwrap_or(1).max(1);
            places.by_node.insert(node, places.names.len());
            places.names.push(trace.nodes.get(node).map_or_else(|| "unknown".to_owned(), |n| n.name.clone()));
            places.slots.push(stated_slots(trace, node).unwrap_or(seen).max(1));
        }
        places
    }

    fn of_attempt(&self, attempt: &Attempt) -> usize {
        let node = attempt.node.map_or(usize::MAX, crate::trace::NodeId::index);
        self.by_node.get(&node).copied().unwrap_or(0)
    }
}

/// Returns the slots of a node from the cores of its executors that ran attempts, if the log has the cores of all of them.
fn stated_slots(trace: &JobTrace, node: usize) -> Option<u32> {
    let used: std::collections::BTreeSet<usize> =
        trace.attempts().iter().filter_map(|attempt| Some(attempt.executor?.index())).collect();
    let here = || {
        let on_node = move |i: &usize| trace.executors[*i].node.is_some_and(|n| n.index() == node);
        used.iter().copied().filter(on_node)
    };
    let slots = |i: usize| trace.slots_of_executor(&trace.executors[i]);
    let all: Option<u32> = here().map(slots).sum();
    // successive executors on a node are not counted twice
    let spans = here().map(|i| {
        let executor = &trace.executors[i];
        let time = |moment: Option<Moment>, else_: i64| moment.map_or(else_, Moment::microseconds);
        (time(executor.added, i64::MIN / 2), time(executor.removed, i64::MAX / 2))
    });
    let numbers: Vec<usize> = here().collect();
    let most = most_at_once(spans, |i| slots(numbers[i]).unwrap_or(0).into());
    all.filter(|slots| *slots > 0).and_then(|_| u32::try_from(most).ok())
}

/// Returns the first attempt of each task of a stage, in the order of their launch.
fn firsts<'t>(trace: &'t JobTrace, stage: StageId, places: &Places) -> Vec<First<'t>> {
    let mut found = Vec::new();
    for attempts in trace.tasks_of(stage) {
        let Some(first) = attempts
            .iter()
            .filter(|attempt| !attempt.speculative && !attempt.outcome.is_failure())
            .min_by_key(|attempt| attempt.launch())
            .or_else(|| attempts.iter().find(|attempt| attempt.succeeded()))
        else {
            continue;
        };
        let done = attempts.iter().filter(|attempt| attempt.succeeded()).filter_map(Attempt::finish).min();
        let (Some(from), Some(done)) = (first.launch(), done) else { continue };
        let ended = first.succeeded() && first.finish().is_some();
        let to = if ended { first.finish().unwrap_or(done) } else { done };
        let value = |metric| attempts.iter().find_map(|attempt| trace.value(attempt, metric)).unwrap_or(0.0);
        let winner = attempts.iter().find(|attempt| attempt.succeeded()).unwrap_or(first);
        let read = |metric| trace.value(winner, metric).unwrap_or_else(|| value(metric));
        found.push(First {
            attempt: first,
            node: places.of_attempt(first),
            from: from.microseconds(),
            to: to.microseconds().max(from.microseconds() + 1_000),
            ended,
            mb: work_bytes(read) / MB,
            cold: false,
        });
    }
    found.sort_by_key(|first| (first.from, first.attempt.task));
    let mut count: BTreeMap<usize, u32> = BTreeMap::new();
    for first in &mut found {
        let before = count.entry(first.node).or_insert(0);
        first.cold = *before < places.slots[first.node];
        *before += 1;
    }
    found
}

struct Maker<'a, 't> {
    trace: &'t JobTrace,
    found: &'a [(StageId, &'t Stage, Span)],
    firsts: &'a [Vec<First<'t>>],
    places: &'a Places,
    start: Moment,
}

impl Maker<'_, '_> {
    /// Returns the time at which MapReduce reduces could run: the end of the maps.
    fn ready(&self, stage: usize) -> i64 {
        let is_reduce = self.found[stage].1.kind == StageKind::Reduce;
        let maps = self.found.iter().find(|(_, stage, _)| stage.kind == StageKind::Map);
        maps.filter(|_| is_reduce).map_or(i64::MIN, |(.., span)| span.last_end.microseconds())
    }

    /// Returns the number of attempts running on a node over time: pairs of (from, number), by node.
    fn busy(&self) -> Vec<Vec<(i64, i64)>> {
        let mut steps: Vec<Vec<(i64, i64)>> = vec![Vec::new(); self.places.names.len()];
        for (stage, (id, ..)) in self.found.iter().enumerate() {
            let ready = self.ready(stage);
            for attempt in self.trace.attempts_of(*id) {
                let (Some(from), Some(to)) = (attempt.launch(), attempt.finish()) else { continue };
                let (from, to) = (from.microseconds().max(ready), to.microseconds());
                if from < to {
                    let list = &mut steps[self.places.of_attempt(attempt)];
                    list.extend([(from, 1), (to, -1)]);
                }
            }
        }
        for list in &mut steps {
            list.sort_unstable();
            let mut now = 0;
            for step in list.iter_mut() {
                now += step.1;
                step.1 = now;
            }
        }
        steps
    }

    /// Returns the work that an attempt did on a node, given the number of tasks that run at full speed \[s\].
    fn work(&self, busy: &[(i64, i64)], from: i64, to: i64, cores: f64) -> f64 {
        let rate = |running: i64| (cores / running.max(1) as f64).min(1.0);
        let begin = busy.partition_point(|step| step.0 <= from).saturating_sub(1);
        let mut sum = 0.0;
        let mut at = from;
        for (i, &(step, running)) in busy.iter().enumerate().skip(begin) {
            let end = busy.get(i + 1).map_or(to, |next| next.0).min(to);
            if step <= at && end > at {
                sum += (end - at) as f64 * rate(running);
                at = end;
            }
            if at >= to {
                break;
            }
        }
        (sum + (to - at).max(0) as f64 * rate(1)) / 1e6
    }

    fn cores(&self, node: usize, share: f64) -> f64 {
        (f64::from(self.places.slots[node]) * share).max(1.0)
    }

    /// Returns the share of the slots at which tasks still run at full speed, and the usual task times. Among the
    /// shares tried, this is the largest share that leaves hardly more unexplained spread than the best share.
    fn contention(&self) -> (f64, Vec<UsualTimes>) {
        let busy = self.busy();
        let fit = |share: f64| {
            let of_stage = |(stage, firsts): (usize, &Vec<First<'_>>)| {
                let ready = self.ready(stage);
                let row = |first: &First<'_>| TimedTask {
                    work: self.work(
                        &busy[first.node],
                        first.from.max(ready),
                        first.to.max(ready + 1_000),
                        self.cores(first.node, share),
                    ),
                    mb: if first.mb >= DATA_MATTERS_MB { first.mb } else { 0.0 },
                    cold: first.cold,
                    node: first.node,
                };
                let rows: Vec<TimedTask> = firsts.iter().filter(|first| first.ended).map(row).collect();
                UsualTimes::fit(&rows, self.places.names.len())
            };
            self.firsts.iter().enumerate().map(of_stage).collect::<Vec<_>>()
        };
        let left = |usual: &[UsualTimes]| {
            let weights = self.firsts.iter().map(Vec::len);
            usual.iter().zip(weights).map(|(usual, n)| usual.left() * n as f64).sum::<f64>()
        };
        let alone = fit(1.0);
        let most = left(&alone);
        let mut best = (1.0, alone, most);
        for share in CONTENTION {
            let usual = fit(share);
            let now = left(&usual);
            if now < EXPLAINS * most && now < 0.98 * best.2 {
                best = (share, usual, now);
            }
        }
        (best.0, best.1)
    }

    fn job(&self, share: f64, usual: &[UsualTimes], end_s: f64) -> Job {
        let busy = self.busy();
        let first_launch = |node: usize| {
            let all = self.trace.attempts().iter().filter(|attempt| self.places.of_attempt(attempt) == node);
            all.filter_map(Attempt::launch).min().map_or(0.0, |launch| launch.seconds_since(self.start).max(0.0))
        };
        let earliest = (0..self.places.names.len()).map(first_launch).fold(f64::INFINITY, f64::min);
        let machine = |node: usize| Machine {
            cores: self.cores(node, share),
            // nodes that appeared with the first one are available from the start
            from_s: Some(first_launch(node)).filter(|from| *from > earliest + PAUSE).unwrap_or(0.0),
            ..Machine::with_slots(self.places.slots[node])
        };
        let mut afters: Vec<Vec<usize>> = Vec::new();
        let mut stages = Vec::new();
        for (i, (_, stage, span)) in self.found.iter().enumerate() {
            let after = waits_for(&self.found[..i], stage, span, self.trace, &afters);
            afters.push(after.clone());
            let before = after.iter().map(|&k| self.found[k].2.last_end).max().unwrap_or(self.start);
            let phases = vec![Phase::Recorded(usual[i].of_copied.clone())];
            stages.push(JobStage {
                after,
                setup: Delay::always(span.first_launch.seconds_since(before).max(0.0)),
                overlap: None,
                tasks: Tasks::Recorded(self.tasks(i, share, &usual[i], &busy)),
                spread: Spread { phases, means: usual[i].slowness.clone() },
                slots: None,
                stragglers: None,
                steps: Steps::default(),
            });
        }
        let end = Delay::always(end_s);
        Job { machines: (0..self.places.names.len()).map(machine).collect(), stages, end }
    }

    /// Returns the tasks of a stage, each with the pause of its slot before it.
    fn tasks(&self, stage: usize, share: f64, usual: &UsualTimes, busy: &[Vec<(i64, i64)>]) -> Vec<RecordedTask> {
        let ready = self.ready(stage);
        let firsts = &self.firsts[stage];
        let mean_mb = firsts.iter().map(|first| first.mb).sum::<f64>() / firsts.len() as f64;
        let begin = self.found[stage].2.first_launch.microseconds().max(ready);
        let mut free: Vec<Vec<i64>> = vec![Vec::new(); self.places.names.len()];
        let mut tasks = Vec::new();
        for first in firsts {
            let mb = if first.mb >= DATA_MATTERS_MB { first.mb } else { 0.0 };
            let (from, to) = (first.from.max(ready), first.to.max(ready + 1_000));
            let cores = self.cores(first.node, share);
            let slots = &mut free[first.node];
            // the slot that became free last: its pause is the shortest
            let last = (0..slots.len()).filter(|&i| slots[i] <= from + OVERLAP).max_by_key(|&i| slots[i]);
            let pause = match last {
                Some(i) => (from - slots.swap_remove(i)) as f64 / 1e6,
                None => (from - begin) as f64 / 1e6,
            };
            slots.push(to);
            let pause = if pause <= PAUSE { pause } else { 0.0 };
            let mut work = self.work(&busy[first.node], from, to, cores);
            if !first.ended {
                work = work.max(usual.again(mb) * usual.slowness[first.node]);
            }
            let rate = work / ((to - from).max(1) as f64 / 1e6);
            tasks.push(RecordedTask {
                first: (first.node, (work + pause * rate.min(1.0)).max(1e-3)),
                at_least: !first.ended,
                usual_s: usual.again(mb).max(1e-3),
                size: if mean_mb > 0.0 { (first.mb / mean_mb).max(1e-3) } else { 1.0 },
            });
        }
        tasks
    }

    fn stages(&self) -> Vec<ReplayStage> {
        let of = |((id, stage, span), firsts): (&(StageId, &Stage, Span), &Vec<First<'_>>)| ReplayStage {
            number: stage.number,
            name: stage.name.lines().next().unwrap_or("").to_owned(),
            tasks: firsts.len(),
            copies: self.trace.attempts_of(*id).iter().filter(|attempt| attempt.speculative).count(),
            at_least: firsts.iter().filter(|first| !first.ended).count(),
            actual_s: span.last_end.seconds_since(span.first_launch),
        };
        self.found.iter().zip(self.firsts).map(of).collect()
    }

    fn nodes(&self, usual: &[UsualTimes]) -> Vec<ReplayNode> {
        let node = |node: usize| {
            let mut logs = Vec::new();
            for (firsts, usual) in self.firsts.iter().zip(usual) {
                let here = firsts.iter().filter(|first| first.node == node);
                logs.extend(here.map(|_| usual.slowness[node].ln()));
            }
            ReplayNode {
                name: self.places.names[node].clone(),
                slots: self.places.slots[node],
                tasks: logs.len(),
                slowness: median(logs.iter().copied()).exp(),
            }
        };
        (0..self.places.names.len()).map(node).collect()
    }
}

/// Returns the assumptions and unknowns.
fn told(stages: &[ReplayStage], share: f64, trace: &JobTrace) -> Vec<String> {
    let mut notes = Vec::new();
    let (copies, at_least) = stages.iter().fold((0, 0), |sum, stage| (sum.0 + stage.copies, sum.1 + stage.at_least));
    if copies > 0 {
        notes.push(format!("the log has {copies} speculative copies; the replay removes them"));
    }
    if at_least > 0 {
        notes.push(format!(
            "{at_least} tasks were finished by a copy, so the times of their first attempts are unknown. The replay uses the time until the end of the task, or a typical time on the node if that is longer. Job times that no copy shortens are lower bounds, so copies may save more than stated"
        ));
    }
    if share < 1.0 {
        notes.push(format!(
            "tasks on a node slow each other down: times fit best if tasks run at full speed on {:.0}% of the slots",
            100.0 * share
        ));
    }
    if is_mapreduce(trace) {
        notes.push("in the replay, reduces start after the last map; their early shuffle is ignored".to_owned());
    }
    notes.push(
        "assumptions: slowness that data size does not explain belongs to the attempt, not the task; tasks progress evenly; copies do not load disk and network"
            .to_owned(),
    );
    notes
}
