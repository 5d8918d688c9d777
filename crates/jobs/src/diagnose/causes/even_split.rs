//! Schedules of a job whose stages are split into as many tasks as there are slots.
//!
//! The work of a stage stays the same: the total time of its completed tasks, less the time to deserialise each of them.
//! It is divided evenly among the new tasks, and each of them takes the typical time to deserialise a task. So the gain is
//! an upper bound: records of one key cannot be divided, and other costs of a task do not shrink with its data.

use std::collections::{BTreeMap, BTreeSet};

use tailspn_common::order::median;

use crate::diagnose::causes::recorded::Recorded;
use crate::diagnose::causes::schedule::{ListedTask, Run, Schedule};

/// The number of tasks and slots of a stage.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Parts {
    /// Completed tasks.
    pub(super) tasks: usize,
    /// Slots of executors that were present while the stage ran.
    pub(super) slots: usize,
    /// Time of a task if the work were divided evenly among the recorded number of tasks \[s\].
    pub(super) task_s: f64,
}

/// Work of a stage.
#[derive(Clone, Debug, Default)]
struct Work {
    /// Total time of its tasks without the time to deserialise them \[µs\].
    time: i64,
    /// Times to deserialise each task \[µs\].
    set_up: Vec<f64>,
    /// Group of slots on which its tasks run.
    pool: usize,
    from: i64,
    to: i64,
}

/// A recorded job on all slots of its executors, each from the time at which its executor was added: executors that were
/// idle for lack of tasks can run new tasks.
#[derive(Debug)]
pub(super) struct EvenSplit {
    schedule: Schedule,
    end: i64,
    work: BTreeMap<usize, Work>,
}

impl EvenSplit {
    /// Returns the job before any stage is split; none without a schedule.
    pub(super) fn of(job: &Recorded) -> Option<Self> {
        let schedule = Schedule { slots: job.registered.clone(), ..job.schedule.clone() };
        let runs = schedule.runs_in(0..job.tasks.len(), &schedule.recorded(), &BTreeSet::new())?;
        let end = schedule.last_end(&runs)?;
        Some(Self { end, work: work(job, &runs), schedule })
    }

    /// Returns the numbers of tasks and slots of a stage; none if no task of it was completed.
    pub(super) fn parts(&self, stage: usize) -> Option<Parts> {
        let work = self.work.get(&stage)?;
        let is_present = |until: Option<i64>| until.is_none_or(|until| until > work.from);
        let slots = self.schedule.slots.iter().filter(|slot| slot.pool == work.pool);
        let slots = slots.filter(|slot| slot.from < work.to && is_present(slot.until)).count();
        let task_s = work.time as f64 / work.set_up.len() as f64 / 1e6;
        Some(Parts { tasks: work.set_up.len(), slots, task_s })
    }

    /// Returns the time by which the job would have been shorter, at most, if the work of each of these stages had been
    /// split evenly into a multiple of the number of slots, no fewer tasks than recorded \[s\].
    pub(super) fn gain(&self, stages: &BTreeSet<usize>) -> f64 {
        let mut schedule = self.schedule.clone();
        let mut order = Vec::with_capacity(schedule.tasks.len());
        let mut open: BTreeMap<usize, &Work> =
            stages.iter().filter_map(|stage| Some((*stage, self.work.get(stage)?))).collect();
        for (i, task) in self.schedule.tasks.iter().enumerate() {
            if !stages.contains(&task.stage) {
                order.push(i);
            } else if let Some(work) = open.remove(&task.stage) {
                let slots = self.parts(task.stage).map_or(1, |parts| parts.slots.max(1));
                let count = work.set_up.len().next_multiple_of(slots);
                let set_up = median(work.set_up.iter().copied()).unwrap_or(0.0);
                let time = (work.time as f64 / count as f64 + set_up).round() as i64;
                let part = ListedTask { time, after: None, completes: true, ..task.clone() };
                order.extend(schedule.tasks.len()..schedule.tasks.len() + count);
                schedule.tasks.extend(std::iter::repeat_n(part, count));
            }
        }
        let end = schedule.end_in(order.into_iter(), &schedule.recorded(), &BTreeSet::new());
        end.map_or(0.0, |end| (self.end - end).max(0) as f64 / 1e6)
    }
}

/// Returns the work of each stage: of its tasks, the attempts that completed them.
fn work(job: &Recorded, runs: &[Option<Run>]) -> BTreeMap<usize, Work> {
    let mut all: BTreeMap<usize, Work> = BTreeMap::new();
    let mut completed = BTreeSet::new();
    for ((own, listed), run) in job.tasks.iter().zip(&job.schedule.tasks).zip(runs) {
        let Some(run) = run else { continue };
        let work =
            all.entry(own.stage).or_insert_with(|| Work { from: run.start, pool: listed.pool, ..Work::default() });
        work.from = work.from.min(run.start);
        if own.succeeded && listed.completes && completed.insert((own.stage, own.task)) {
            let set_up = own.set_up.min(listed.time);
            work.time += listed.time - set_up;
            work.set_up.push(set_up as f64);
            work.to = work.to.max(run.end);
        }
    }
    all.retain(|_, work| !work.set_up.is_empty());
    all
}
