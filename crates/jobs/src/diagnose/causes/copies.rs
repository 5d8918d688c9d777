//! Speculative copies of Spark in the schedule of a recorded job: time that they would have saved, and slot time that they
//! would have taken.
//!
//! ```text
//! runs of the recorded tasks ──▶ time at which Spark copies a task ──▶ schedule in which copy and original race
//! ```
//!
//! A task is copied once most tasks of its stage have finished, if it then runs longer than a multiple of their median
//! time \[Spark2024\]. The copy waits for a free slot on another node. The log does not show how long the copy would have
//! taken, so its time follows from the cause.

use std::collections::{BTreeMap, BTreeSet};

use crate::cluster::detect::{Detector as _, Finished, Spark};
use crate::diagnose::causes::recorded::{Recorded, RecordedTask};
use crate::diagnose::causes::schedule::{After, ListedTask, Run, Schedule};
use crate::stages::SpeculativeCopies;

/// Part of a run that determines the time of a copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CopyTime {
    /// The task's data: the copy takes as long as its original. Spark exempts a task that reads its data as fast as
    /// others, up to twice the limit.
    Data,
    /// The original attempt, for an unknown reason: the copy takes as long.
    Original,
    /// The node: the copy takes the median time of the stage on other nodes.
    OtherNodes,
}

/// Effect of speculative copies.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct CopyEffect {
    /// Copies that would have started.
    pub(super) copies: usize,
    /// Time by which the job would have been shorter \[s\]; negative if it would have been longer.
    pub(super) job_s: f64,
    /// Slot time that all attempts together would have taken more \[s\]; negative if less.
    pub(super) slot_s: f64,
}

/// A task that Spark copies, with the time at which a copy is due, and its age then \[µs\].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Due {
    at: i64,
    original: usize,
    age: i64,
}

/// An age beyond which tasks are copied, and the time for which it holds \[µs\].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Limit {
    from: i64,
    to: i64,
    age: i64,
}

impl Recorded {
    /// Returns what the job would have gained with copies of the chosen tasks. `nodes` are slow nodes, whose tasks do not
    /// show how long a copy takes. None if the job had copies, if it is not a job of Spark, or if all tasks ran on one node.
    pub(super) fn copied(
        &self,
        chosen: impl Fn(&RecordedTask) -> bool,
        nodes: &BTreeSet<usize>,
        time: CopyTime,
    ) -> Option<CopyEffect> {
        let settings = self.speculation?;
        let used: BTreeSet<usize> = self.tasks.iter().filter_map(|task| task.node).collect();
        if used.len() < 2 {
            return None;
        }
        let before = self.schedule.runs_in(0..self.tasks.len(), &self.schedule.recorded(), &BTreeSet::new())?;
        let mut typical: BTreeMap<(usize, Option<usize>), Option<f64>> = BTreeMap::new();
        let copy_time = |due: &Due| {
            let own = &self.tasks[due.original];
            let elsewhere =
                |other: &RecordedTask| other.stage == own.stage && other.node != own.node && !other.is_on(nodes);
            let of_others = match time {
                CopyTime::OtherNodes => {
                    *typical.entry((own.stage, own.node)).or_insert_with(|| self.typical(elsewhere))
                }
                CopyTime::Data | CopyTime::Original => None,
            };
            of_others.map_or(self.schedule.tasks[due.original].time, |time| time.round() as i64)
        };
        let due = self.due(&before, chosen, settings, time);
        let times: Vec<i64> = due.iter().map(copy_time).collect();
        let (schedule, order) = self.with(&due, &times, &before);
        let after = schedule.runs_in(order.into_iter(), &schedule.recorded(), &BTreeSet::new())?;
        let slots = |runs: &[Option<Run>]| runs.iter().flatten().map(|run| run.end - run.start).sum::<i64>();
        Some(CopyEffect {
            copies: after[self.tasks.len()..].iter().flatten().count(),
            job_s: (self.end - schedule.last_end(&after)?) as f64 / 1e6,
            slot_s: (slots(&after) - slots(&before)) as f64 / 1e6,
        })
    }

    /// Returns the chosen tasks that Spark copies, in the order of the times at which the copies are due.
    fn due(
        &self,
        runs: &[Option<Run>],
        chosen: impl Fn(&RecordedTask) -> bool,
        settings: SpeculativeCopies,
        time: CopyTime,
    ) -> Vec<Due> {
        let mut stages: BTreeMap<usize, Vec<(usize, Run)>> = BTreeMap::new();
        for (i, (task, run)) in self.tasks.iter().zip(runs).enumerate().filter(|(_, (task, _))| task.succeeded) {
            stages.entry(task.stage).or_default().extend(run.map(|run| (i, run)));
        }
        let mut due = Vec::new();
        for mut tasks in stages.into_values() {
            tasks.sort_by_key(|(_, run)| run.end);
            let mut own = tasks.iter().filter(|(i, _)| chosen(&self.tasks[*i])).peekable();
            let limits = if own.peek().is_some() { limits(&tasks, settings, time) } else { continue };
            due.extend(own.filter_map(|&(i, run)| {
                let first = limits.partition_point(|limit| limit.to <= run.start);
                let mut during = limits[first..].iter().take_while(|limit| limit.from < run.end);
                let at = during.find_map(|limit| {
                    let at = limit.from.max(run.start + limit.age);
                    (at < limit.to.min(run.end)).then_some(at)
                })?;
                Some(Due { at, original: i, age: at - run.start })
            }));
        }
        due.sort_unstable();
        due
    }

    /// Returns the schedule with copies of these times, and the order of its tasks. A copy comes after the other tasks of
    /// its stage and after the tasks that have started when it is due, as in Spark.
    fn with(&self, due: &[Due], times: &[i64], before: &[Option<Run>]) -> (Schedule, Vec<usize>) {
        let mut schedule = self.schedule.clone();
        let last: BTreeMap<usize, usize> = self.tasks.iter().enumerate().map(|(i, task)| (task.stage, i)).collect();
        let latest = before.iter().scan(i64::MIN, |latest, run| {
            *latest = run.map_or(*latest, |run| run.start.max(*latest));
            Some(*latest)
        });
        let latest: Vec<i64> = latest.collect();
        let mut following: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for (Due { at, original, age }, time) in due.iter().zip(times) {
            let own = &mut schedule.tasks[*original];
            let (stage, pool) = (own.stage, own.pool);
            // the copy has the end of the task, whichever attempt completes it
            own.completes = false;
            let started = latest.partition_point(|start| start <= at);
            following.entry(last[&stage].max(started.saturating_sub(1))).or_default().push(schedule.tasks.len());
            let after = Some(After::Race(*original, *age));
            schedule.tasks.push(ListedTask {
                stage,
                pool,
                time: *time,
                after,
                completes: true,
                ..ListedTask::default()
            });
        }
        let copies = |i: usize| following.get(&i).map_or(&[][..], Vec::as_slice).iter().copied();
        let order = (0..self.tasks.len()).flat_map(|i| std::iter::once(i).chain(copies(i))).collect();
        (schedule, order)
    }
}

/// Returns the ages beyond which Spark copies the tasks of a stage, which are in the order of their ends.
fn limits(tasks: &[(usize, Run)], settings: SpeculativeCopies, time: CopyTime) -> Vec<Limit> {
    let SpeculativeCopies { multiplier, quantile } = settings;
    let spark = Spark { multiplier, quantile, ..Spark::default() };
    let factor = if time == CopyTime::Data { spark.efficiency.long_factor } else { 1.0 };
    let least = spark.least_finished(tasks.len());
    let mut finished = Finished::default();
    let mut limits = Vec::new();
    for (count, pair) in (1..).zip(tasks.windows(2)) {
        let [(_, run), (_, next)] = [pair[0], pair[1]];
        finished.push((run.end - run.start) as f64 / 1e6, 1.0);
        if count < least {
            continue;
        }
        finished.sort();
        let median_s = finished.median_s().unwrap_or(0.0);
        let age_s = factor * (spark.multiplier * median_s).max(spark.min_runtime_s);
        limits.push(Limit { from: run.end, to: next.end, age: (age_s * 1e6).round() as i64 });
    }
    limits
}
