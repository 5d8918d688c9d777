//! The list schedule of a recorded job, and the time that the job would have taken with other times of its tasks.
//!
//! ```text
//! JobTrace ──▶ Recorded: Schedule, the task of each attempt ──▶ gain = end as recorded − end with other times
//! ```
//!
//! The schedule keeps what the log shows: the order of the launches, the gaps between stages, the pauses of slots, the
//! time from which an executor runs tasks, and copies. [`Recorded::replayed_s`] shows how well it reproduces the log.

use std::collections::{BTreeMap, BTreeSet};

use tailspn_common::order::median;

use crate::diagnose::causes::listed::{ListedLog, Placed, list};
use crate::diagnose::causes::naming::stage_name;
use crate::diagnose::causes::schedule::{After, ListedSlot, ListedTask, Schedule};
use crate::stages::SpeculativeCopies;
use crate::trace::{Format, JobTrace, Metric, StageId};

/// Spark can launch the next task of a slot this long before it records the end of the previous task \[µs\].
const OVERLAP: i64 = 20_000;

/// An attempt of the schedule.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct RecordedTask {
    /// Position of its stage.
    pub(super) stage: usize,
    /// The task's number in its stage.
    pub(super) task: u64,
    /// Number of the node that it ran on.
    pub(super) node: Option<usize>,
    /// True if the attempt itself succeeded.
    pub(super) succeeded: bool,
    /// Time to deserialise the task, which each task of a stage needs; 0 if the log does not have it \[µs\].
    pub(super) set_up: i64,
    /// True if it started before any task of its stage had ended on its node.
    first_wave: bool,
    /// Time above the median of the stage, from the first launch of the task to its end \[µs\].
    excess: i64,
}

impl RecordedTask {
    pub(super) fn is_on(&self, nodes: &BTreeSet<usize>) -> bool {
        self.node.is_some_and(|node| nodes.contains(&node))
    }
}

/// The recorded job, which can be scheduled again.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Recorded {
    pub(super) schedule: Schedule,
    /// The slots of all executors, each from the time at which its executor was added.
    pub(super) registered: Vec<ListedSlot>,
    pub(super) tasks: Vec<RecordedTask>,
    /// Default settings of speculative copies in the version of Spark that ran the job; none if the job had copies or if
    /// it is not a job of Spark.
    pub(super) speculation: Option<SpeculativeCopies>,
    /// Names of the stages in findings.
    pub(super) stages: Vec<String>,
    nodes: Vec<String>,
    /// End of the schedule with the recorded times \[µs\].
    pub(super) end: i64,
    /// Time of the job that is not part of the schedule: before its start and after its last task \[µs\].
    rest: i64,
    /// Time of the job in the log \[µs\].
    logged: i64,
}

impl Recorded {
    /// Returns the schedule of a log with one application; empty if there are several, or if no task succeeded.
    pub(super) fn of(trace: &JobTrace) -> Self {
        // the cores of an executor overstate its slots if tasks take several of them
        let both = [true, false].map(|by_cores| Self::with_slots(trace, by_cores));
        let error = |found: &Self| (found.end + found.rest - found.logged).abs();
        let [by_cores, by_use] = both;
        if error(&by_use) < error(&by_cores) { by_use } else { by_cores }
    }

    fn with_slots(trace: &JobTrace, by_cores: bool) -> Self {
        let Some(ListedLog { schedule, registered, placed, span }) = list(trace, by_cores) else {
            return Self::default();
        };
        let Some(end) = schedule.end(&schedule.recorded(), &BTreeSet::new()) else { return Self::default() };
        let ids: Vec<StageId> = trace.stages_with_ids().map(|(id, _)| id).collect();
        Self {
            stages: ids.iter().map(|id| stage_name(trace, *id)).collect(),
            tasks: recorded_tasks(trace, &placed),
            speculation: default_speculation(trace, &schedule),
            registered,
            nodes: trace.nodes.iter().map(|node| node.name.clone()).collect(),
            end,
            rest: span.logged - span.last_end,
            logged: span.logged,
            schedule,
        }
    }

    /// Returns true if there is no schedule, as for a log of several applications.
    pub(super) fn is_empty(&self) -> bool {
        self.tasks.is_empty()
    }

    /// Returns the time of the job in the log \[s\]; none without a schedule.
    pub(super) fn logged_s(&self) -> Option<f64> {
        (!self.is_empty()).then_some(self.logged as f64 / 1e6)
    }

    /// Returns the time of the job by the schedule of the recorded tasks \[s\]; none without a schedule.
    pub(super) fn replayed_s(&self) -> Option<f64> {
        (!self.is_empty()).then_some((self.end + self.rest) as f64 / 1e6)
    }

    /// Returns the time by which the job would have been shorter if each task had been shorter by `less`, but no
    /// shorter than a typical task \[s\]. A task that becomes shorter needs no copy.
    pub(super) fn gain(&self, less: impl Fn(&RecordedTask) -> f64) -> f64 {
        self.shorter_by(|task| less(task).min(task.excess as f64 / 1e6))
    }

    /// Returns the time by which the job would have been shorter if each task had been shorter by `less` \[s\], at least 0.
    pub(super) fn shorter_by(&self, less: impl Fn(&RecordedTask) -> f64) -> f64 {
        let times = self.tasks.iter().zip(&self.schedule.tasks).map(|(task, listed)| {
            let less = (less(task) * 1e6).round().clamp(0.0, i64::MAX as f64) as i64;
            match (less, listed.after) {
                (1.., Some(After::Start(..))) => None,
                (1.., _) if listed.completes => Some(listed.time.saturating_sub(less).max(0)),
                _ => Some(listed.time),
            }
        });
        self.gain_of(times.collect(), &BTreeSet::new()).unwrap_or(0.0).max(0.0)
    }

    /// Returns the time by which the job would have been shorter if each task had been shorter by a share of its time \[s\].
    pub(super) fn without_share(&self, share: impl Fn(&RecordedTask) -> f64) -> f64 {
        let time = |(task, listed): (&RecordedTask, &ListedTask)| {
            Some((listed.time as f64 * (1.0 - share(task)).clamp(0.0, 1.0)).round() as i64)
        };
        let times = self.tasks.iter().zip(&self.schedule.tasks).map(time);
        self.gain_of(times.collect(), &BTreeSet::new()).unwrap_or(0.0).max(0.0)
    }

    /// Returns the positions of the named stages.
    pub(super) fn positions(&self, names: &BTreeSet<String>) -> BTreeSet<usize> {
        self.stages.iter().enumerate().filter(|(_, name)| names.contains(*name)).map(|(i, _)| i).collect()
    }

    /// Returns the numbers of the named nodes.
    pub(super) fn numbers(&self, names: &BTreeSet<String>) -> BTreeSet<usize> {
        self.nodes.iter().enumerate().filter(|(_, name)| names.contains(*name)).map(|(i, _)| i).collect()
    }

    /// Returns the time by which the job would have been shorter if the tasks of these nodes had been as fast as tasks of
    /// the same wave on other nodes \[s\].
    pub(super) fn repaired(&self, nodes: &BTreeSet<usize>) -> f64 {
        let factors = self.factors(nodes);
        let factor = |task: &RecordedTask| factors.get(&(task.stage, task.first_wave)).copied().unwrap_or(1.0);
        let times = self.moved(nodes, |task, time| (time as f64 * factor(task)).round() as i64);
        self.gain_of(times, &BTreeSet::new()).unwrap_or(0.0).max(0.0)
    }

    /// Returns the least and the most time by which the job would have been shorter without these nodes \[s\], negative if
    /// it would have been longer. None if no other node runs tasks.
    ///
    /// The log does not show when the tasks of these nodes would have run elsewhere. At best, they keep their place in
    /// the order of launches, and take the typical time of later tasks. At worst, they run after the other tasks of their
    /// stage, and take the typical time of their own wave; only in the first stage of a node is this wave warm by then.
    pub(super) fn without(&self, nodes: &BTreeSet<usize>) -> Option<[f64; 2]> {
        let first = self.tasks.iter().filter(|task| task.is_on(nodes)).map(|task| task.stage).next();
        let elsewhere = |stage: usize, first_wave: bool| {
            self.typical(|task| task.stage == stage && task.first_wave == first_wave && !task.is_on(nodes))
        };
        let mut typical: BTreeMap<(usize, bool), i64> = BTreeMap::new();
        for (stage, wave) in (0..self.stages.len()).flat_map(|stage| [(stage, false), (stage, true)]) {
            let time = elsewhere(stage, wave).or_else(|| elsewhere(stage, !wave));
            typical.extend(time.map(|time| ((stage, wave), time.round() as i64)));
        }
        let time = |stage: usize, wave: bool, recorded: i64| typical.get(&(stage, wave)).copied().unwrap_or(recorded);
        let best = self.moved(nodes, |task, recorded| time(task.stage, false, recorded));
        let worst = self
            .moved(nodes, |task, recorded| time(task.stage, task.first_wave && first != Some(task.stage), recorded));
        let best = self.gain_of(best, nodes)?;
        let end = self.schedule.end_in(self.moved_last(nodes).into_iter(), &worst, nodes)?;
        Some([((self.end - end) as f64 / 1e6).min(best), best])
    }

    /// Returns the positions of all tasks, with those of these nodes after the other tasks of their stages.
    fn moved_last(&self, nodes: &BTreeSet<usize>) -> Vec<usize> {
        let last: BTreeMap<usize, usize> = self.tasks.iter().enumerate().map(|(i, task)| (task.stage, i)).collect();
        let mut order: Vec<usize> = (0..self.tasks.len()).collect();
        order.sort_by_key(|&i| {
            let is_moved = self.tasks[i].is_on(nodes);
            (if is_moved { last[&self.tasks[i].stage] } else { i }, is_moved, i)
        });
        order
    }

    /// Returns the times of all tasks, with other times for the attempts on these nodes. A task that is no longer slow
    /// there needs no copy.
    fn moved(&self, nodes: &BTreeSet<usize>, time: impl Fn(&RecordedTask, i64) -> i64) -> Vec<Option<i64>> {
        let here = self.tasks.iter().filter(|task| task.is_on(nodes));
        let here: BTreeSet<(usize, u64)> = here.map(|task| (task.stage, task.task)).collect();
        let of_task = |(task, listed): (&RecordedTask, &ListedTask)| match listed.after {
            Some(After::Start(..)) if here.contains(&(task.stage, task.task)) => None,
            _ if task.is_on(nodes) => Some(time(task, listed.time)),
            _ => Some(listed.time),
        };
        self.tasks.iter().zip(&self.schedule.tasks).map(of_task).collect()
    }

    /// Returns, for each stage and wave, the typical time on other nodes divided by the typical time on these nodes, at
    /// most 1.
    fn factors(&self, nodes: &BTreeSet<usize>) -> BTreeMap<(usize, bool), f64> {
        let keys: BTreeSet<(usize, bool)> =
            self.tasks.iter().filter(|task| task.is_on(nodes)).map(|task| (task.stage, task.first_wave)).collect();
        let factor = |key: (usize, bool)| {
            let of =
                |here: bool| self.typical(|task| (task.stage, task.first_wave) == key && task.is_on(nodes) == here);
            Some((key, (of(false)? / of(true).filter(|time| *time > 0.0)?).min(1.0)))
        };
        keys.into_iter().filter_map(factor).collect()
    }

    /// Returns the median time of the chosen attempts that completed their tasks \[µs\].
    pub(super) fn typical(&self, chosen: impl Fn(&RecordedTask) -> bool) -> Option<f64> {
        let all = self.tasks.iter().zip(&self.schedule.tasks);
        median(all.filter(|(task, _)| task.succeeded && chosen(task)).map(|(_, listed)| listed.time as f64))
    }

    fn gain_of(&self, times: Vec<Option<i64>>, closed: &BTreeSet<usize>) -> Option<f64> {
        Some((self.end - self.schedule.end(&times, closed)?) as f64 / 1e6)
    }
}

/// Returns the default settings of speculative copies in the version of Spark that ran a job; none if copies were on.
fn default_speculation(trace: &JobTrace, schedule: &Schedule) -> Option<SpeculativeCopies> {
    let (_, application) = trace.only_application().ok()?;
    let has_copies = schedule.tasks.iter().any(|task| matches!(task.after, Some(After::Start(..))));
    let is_on = application.properties.get("spark.speculation").is_some_and(|on| on == "true");
    if trace.format != Format::SparkEventLog || has_copies || is_on {
        return None;
    }
    let major = application.version.as_deref().and_then(|version| version.split('.').next()?.parse::<u32>().ok());
    let is_old = major.is_some_and(|major| major < 4);
    Some(if is_old { SpeculativeCopies::BEFORE_SPARK_4 } else { SpeculativeCopies::default() })
}

/// Adds to each attempt what its stage shows: the wave, and the time above the median.
fn recorded_tasks(trace: &JobTrace, placed: &[Placed<'_>]) -> Vec<RecordedTask> {
    let mut first_end: BTreeMap<(usize, Option<usize>), i64> = BTreeMap::new();
    let mut times: BTreeMap<usize, Vec<f64>> = BTreeMap::new();
    // first launch and end of each task
    let mut whole: BTreeMap<(usize, u32), (i64, i64)> = BTreeMap::new();
    for own in placed {
        let end = first_end.entry((own.stage, own.node)).or_insert(own.end);
        *end = own.end.min(*end);
        let span = whole.entry((own.stage, own.attempt.task)).or_insert((own.launch, own.end));
        span.0 = own.launch.min(span.0);
        if own.attempt.succeeded() {
            span.1 = own.end;
            times.entry(own.stage).or_default().push((own.end - own.launch) as f64);
        }
    }
    let medians: BTreeMap<usize, f64> =
        times.into_iter().filter_map(|(stage, times)| Some((stage, median(times)?))).collect();
    let task = |own: &Placed<'_>| {
        let (launch, end) = whole[&(own.stage, own.attempt.task)];
        let typical = medians.get(&own.stage).map_or(i64::MAX, |median| median.round() as i64);
        RecordedTask {
            stage: own.stage,
            task: own.attempt.task.into(),
            node: own.node,
            succeeded: own.attempt.succeeded(),
            set_up: trace.value(own.attempt, Metric::DeserializeTime).map_or(0, |time| (time * 1e6).round() as i64),
            first_wave: own.launch < first_end[&(own.stage, own.node)] - OVERLAP,
            excess: (end - launch).saturating_sub(typical).max(0),
        }
    };
    placed.iter().map(task).collect()
}
