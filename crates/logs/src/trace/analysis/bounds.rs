//! Lower bounds of an application's time, given the times of its tasks.

use std::collections::{BTreeMap, HashMap};

use petgraph::graphmap::DiGraphMap;
use petgraph::visit::DfsPostOrder;
use serde::{Deserialize, Serialize};

use crate::trace::analysis::slots::{Slots, slots_of};
use crate::trace::attempt::Attempt;
use crate::trace::ids::{ApplicationId, Moment, StageId};
use crate::trace::job_trace::{Job, JobTrace};

/// A lower bound of the time from the first submission of a job to the last end of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Bound {
    /// All work, spread evenly over all slots.
    Slots,
    /// The stages in the order of their dependencies, each as long as its longest task.
    CriticalPath,
    /// The longest task.
    LongestTask,
    /// The time in which no task ran: driver, scheduling, waiting for executors.
    Driver,
}

/// The bounds of an application \[s\]. Each is a lower bound for the same tasks with the same times on the same number
/// of slots. The actual time is longer if tasks wait although a slot is free, if waves are uneven, or if work is
/// repeated.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bounds {
    /// The first submission of a job, or else the first launch.
    pub start: Moment,
    /// Time from `start` to the last end of a job (or else of a task).
    pub span: f64,
    /// Number of slots in [`Bound::Slots`].
    pub slots: Slots,
    /// Time of all attempts that completed their task.
    pub work: f64,
    /// [`Bound::Slots`]: `work` divided by the number of slots.
    pub by_slots: f64,
    /// [`Bound::CriticalPath`].
    pub by_critical_path: f64,
    /// [`Bound::LongestTask`].
    pub by_longest_task: f64,
    /// [`Bound::Driver`].
    pub by_driver: f64,
    /// True if the log has the dependencies of stages; otherwise the critical path treats all stages of a job as independent.
    pub knows_dependencies: bool,
}

impl Bounds {
    /// Returns the largest bound and its kind.
    pub fn largest(&self) -> (Bound, f64) {
        let all = [
            (Bound::Slots, self.by_slots),
            (Bound::CriticalPath, self.by_critical_path),
            (Bound::LongestTask, self.by_longest_task),
            (Bound::Driver, self.by_driver),
        ];
        all.into_iter().fold((Bound::Slots, self.by_slots), |best, next| if next.1 > best.1 { next } else { best })
    }
}

/// The parts of a trace for one application.
struct Own<'t> {
    stages: Vec<StageId>,
    jobs: &'t [Job],
    attempts: &'t [Attempt],
}

/// Returns the bounds of an application; none if no finished task has a known time.
pub fn bounds_of(trace: &JobTrace, application: ApplicationId) -> Option<Bounds> {
    let stages = trace.stages_of(application).map(StageId::from_index).collect();
    let attempts = trace.attempts_of_application(application);
    let own = Own { stages, jobs: trace.jobs_of(application), attempts };
    let (start, end) = span(&own)?;
    let slots = slots_of(trace, application);
    let winners = || own.stages.iter().flat_map(|&id| trace.tasks_of(id)).filter_map(winner).map(|(_, time)| time);
    let longest = winners().reduce(f64::max)?;
    let work: f64 = winners().sum();
    let known = own.stages.iter().all(|&id| trace.stage(id).is_some_and(|stage| stage.parents.is_some()));
    Some(Bounds {
        start,
        span: end.seconds_since(start),
        slots,
        work,
        by_slots: if slots.count > 0 { work / slots.count as f64 } else { 0.0 },
        by_critical_path: critical_path(trace, &own),
        by_longest_task: longest,
        by_driver: idle(&own, start, end),
        knows_dependencies: known,
    })
}

/// Returns the submission of the first job and the end of the last job. If there are no jobs, or if a job has no end,
/// returns the first launch and the last end of attempts.
fn span(own: &Own<'_>) -> Option<(Moment, Moment)> {
    let first = own.jobs.iter().filter_map(|job| job.submitted).min();
    let last = own.jobs.iter().filter_map(|job| job.completed).max();
    let launches = own.attempts.iter().filter_map(|attempt| attempt.launch()).min();
    let ends = own.attempts.iter().filter_map(|attempt| attempt.finish()).max();
    launches?;
    let (start, end) = (first.or(launches)?, last.or(ends)?);
    let is_open = own.jobs.iter().any(|job| job.completed.is_none());
    let end = if is_open { Some(end).max(ends).unwrap_or(end) } else { end };
    (end >= start).then_some((start, end))
}

/// Returns the end of the attempt that completed a task first, and its time \[s\].
fn winner(task: &[Attempt]) -> Option<(Moment, f64)> {
    let done = task.iter().filter(|attempt| attempt.succeeded() && attempt.finish().is_some());
    let winner = done.min_by_key(|attempt| attempt.finish())?;
    Some((winner.finish()?, winner.duration()?))
}

/// Returns a stage's contribution to a chain: the time of its longest task \[s\], without the time in which this task
/// waited for earlier stages. Reduce tasks that start while maps run wait in this way.
fn own_length(trace: &JobTrace, stage: StageId, parents_end: Option<Moment>) -> f64 {
    let after = |(end, time): (Moment, f64)| parents_end.map_or(time, |before| time.min(end.seconds_since(before)));
    trace.tasks_of(stage).filter_map(winner).map(after).fold(0.0, f64::max)
}

/// Returns the time within a span in which no attempt ran \[s\].
fn idle(own: &Own<'_>, start: Moment, end: Moment) -> f64 {
    let mut runs: Vec<(i64, i64)> = own
        .attempts
        .iter()
        .filter_map(|attempt| Some((attempt.launch()?.microseconds(), attempt.finish()?.microseconds())))
        .collect();
    runs.sort_unstable();
    let mut free_from = start.microseconds();
    let mut idle = 0;
    for (from, to) in runs {
        idle += (from.min(end.microseconds()) - free_from).max(0);
        free_from = free_from.max(to);
    }
    idle += (end.microseconds() - free_from).max(0);
    idle as f64 / 1e6
}

/// Returns the longest chain of stages within jobs, and of jobs that were submitted after other jobs had ended.
fn critical_path(trace: &JobTrace, own: &Own<'_>) -> f64 {
    let mut parents: BTreeMap<u32, &[u32]> = BTreeMap::new();
    let mut stage_ends: HashMap<u32, Moment> = HashMap::new();
    for (&id, stage) in own.stages.iter().filter_map(|id| Some((id, trace.stage(*id)?))) {
        if let Some(found) = &stage.parents {
            parents.insert(stage.number, found);
        }
        if let Some(end) = trace.tasks_of(id).filter_map(winner).map(|(end, _)| end).max() {
            let latest = stage_ends.entry(stage.number).or_insert(end);
            *latest = end.max(*latest);
        }
    }
    let mut lengths: HashMap<u32, f64> = HashMap::new();
    for (&id, stage) in own.stages.iter().filter_map(|id| Some((id, trace.stage(*id)?))) {
        let before = stage.parents.iter().flatten().filter_map(|parent| stage_ends.get(parent)).max();
        // the times of further attempts of a stage are added
        *lengths.entry(stage.number).or_insert(0.0) += own_length(trace, id, before.copied());
    }
    let ends = chain_lengths(&lengths, &parents);
    let mut jobs: Vec<(&Job, f64)> = own
        .jobs
        .iter()
        .map(|job| (job, job.stages.iter().filter_map(|number| ends.get(number)).copied().fold(0.0, f64::max)))
        .collect();
    if jobs.is_empty() {
        return ends.into_values().fold(0.0, f64::max);
    }
    jobs.sort_by_key(|(job, _)| job.submitted);
    after_each_other(&jobs)
}

/// Returns the length of the longest chain of stages that ends in each stage. A stage that waits for itself,
/// which is impossible in a valid log, counts once.
fn chain_lengths(lengths: &HashMap<u32, f64>, parents: &BTreeMap<u32, &[u32]>) -> HashMap<u32, f64> {
    let waits = parents.iter().flat_map(|(&stage, before)| before.iter().map(move |&parent| (stage, parent)));
    let graph = DiGraphMap::<u32, ()>::from_edges(waits);
    let mut ends: HashMap<u32, f64> = HashMap::new();
    let mut numbers: Vec<u32> = lengths.keys().copied().collect();
    numbers.sort_unstable();
    let mut walk = DfsPostOrder::empty(&graph);
    for number in numbers {
        walk.move_to(number);
        // parents come first
        while let Some(number) = walk.next(&graph) {
            let longest = graph.neighbors(number).filter_map(|parent| ends.get(&parent)).copied().fold(0.0, f64::max);
            ends.insert(number, longest + lengths.get(&number).copied().unwrap_or(0.0));
        }
    }
    ends
}

/// Returns the longest chain of jobs, in the order of submission, each submitted after the previous job had ended.
fn after_each_other(jobs: &[(&Job, f64)]) -> f64 {
    let mut by_end: Vec<usize> = (0..jobs.len()).filter(|&i| jobs[i].0.completed.is_some()).collect();
    by_end.sort_by_key(|&i| jobs[i].0.completed);
    let mut chains = vec![0.0; jobs.len()];
    let (mut ended, mut longest_before, mut longest) = (0, 0.0_f64, 0.0_f64);
    for (i, (job, own)) in jobs.iter().enumerate() {
        while let Some(&done) = by_end.get(ended).filter(|&&done| done < i && jobs[done].0.completed <= job.submitted) {
            longest_before = longest_before.max(chains[done]);
            ended += 1;
        }
        chains[i] = longest_before + own;
        longest = longest.max(chains[i]);
    }
    longest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chains_of_stages_by_hand() {
        let lengths = HashMap::from([(0, 1.0), (1, 2.0), (2, 4.0), (3, 8.0)]);
        // 0 and 1 before 2; 3 alone
        let parents: BTreeMap<u32, &[u32]> = BTreeMap::from([(2, &[0, 1][..]), (0, &[][..])]);
        let ends = chain_lengths(&lengths, &parents);
        assert_eq!((ends[&0], ends[&1], ends[&2], ends[&3]), (1.0, 2.0, 6.0, 8.0));
        // a cycle ends
        let circle: BTreeMap<u32, &[u32]> = BTreeMap::from([(0, &[1][..]), (1, &[0][..])]);
        assert!(chain_lengths(&lengths, &circle)[&0] <= 4.0);
    }
}
