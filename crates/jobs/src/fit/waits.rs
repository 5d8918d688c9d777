//! Properties of Hadoop on a cluster, from its logs: slots of its workers, the start of a task, and the time for which slots wait for tasks.
//!
//! A task needs a slot. By list scheduling the first tasks take the slots that are free when tasks may start, and each later task the slot of the
//! task that ended first. So the wait of the i-th launch on `s` slots is
//! ```text
//! i < s:   launch[i] - start          i >= s:   launch[i] - end[i - s]          launches and ends sorted
//! ```
//!
//! which is 0 if the scheduler reacts immediately, and the time to the next heartbeat otherwise. Attempts that failed
//! or were killed are not tasks of the
//! model: the slot time that they used is part of these waits.

use std::collections::{BTreeMap, BTreeSet};

use crate::estimate::quantile_of_sorted;
use crate::trace::analysis::most_at_once;
use crate::trace::{Attempt, JobTrace, Metric, StageKind};

/// Default number of slots of a Hadoop tracker (`mapred.tasktracker.map.tasks.maximum` and its counterpart for
/// reduces): a cluster on which one task ran at a time possibly has room for two.
const DEFAULT_SLOTS: u64 = 2;
/// With less data than this \[MB\], the time of a task counts as start-up time. A disk of the default plan reads this
/// amount in 0.15 s.
pub(super) const STARTING_MB: f64 = 16.0;
/// Bytes per MB.
const MB: f64 = 1_048_576.0;

/// A cluster, from all jobs of a log.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ObservedCluster {
    /// Nodes that ran maps or reduces.
    pub nodes: u64,
    /// Maximum number of simultaneous maps on one node, at least 2.
    pub map_slots: u64,
    /// Maximum number of simultaneous reduces on one node, at least 2.
    pub reduce_slots: u64,
    /// The part of a map's time that does not depend on its data \[s\]: the shortest map with less than 16 MB, or else the shortest set-up or
    /// clean-up task.
    pub map_fixed_s: Option<f64>,
    /// The part of a reduce phase that does not depend on its data \[s\], by the same rule.
    pub reduce_fixed_s: Option<f64>,
    /// Mean time from the first launch to the other launches of the first wave of maps \[s\]: the median over the jobs
    /// with several maps.
    pub map_wait_s: Option<f64>,
}

/// Returns the cluster's properties from the jobs of a log whose ids satisfy `counts`.
pub fn observe_cluster(trace: &JobTrace, counts: impl Fn(&str) -> bool) -> ObservedCluster {
    let mut nodes = BTreeSet::new();
    let mut spans: [BTreeMap<_, Vec<(i64, i64)>>; 2] = Default::default();
    let mut shortest = [None, None, None];
    let mut waves = Vec::new();
    for (id, stage) in trace.stages_with_ids() {
        if !trace.applications.get(stage.application.index()).is_some_and(|application| counts(&application.id)) {
            continue;
        }
        if stage.kind == StageKind::Map {
            waves.extend(first_wave_s(trace.attempts_of(id)));
        }
        for attempt in trace.attempts_of(id) {
            let Some((launch, finish)) = attempt.launch().zip(attempt.finish()) else { continue };
            let kind = match stage.kind {
                StageKind::Map => 0,
                StageKind::Reduce => 1,
                StageKind::Setup | StageKind::Cleanup => 2,
                _ => continue,
            };
            if let Some(time) = starting_s(trace, attempt, kind) {
                shortest[kind] = Some(shortest[kind].map_or(time, |least: f64| least.min(time)));
            }
            if let (Some(spans), Some(node)) = (spans.get_mut(kind), attempt.node) {
                nodes.insert(node);
                spans.entry(node).or_default().push((launch.microseconds(), finish.microseconds()));
            }
        }
    }
    let slots = |spans: &BTreeMap<_, Vec<(i64, i64)>>| {
        let most = spans.values().map(|spans| most_at_once(spans.iter().copied(), |_| 1)).max().unwrap_or(0);
        u64::try_from(most).unwrap_or(0).max(DEFAULT_SLOTS)
    };
    let [map, reduce, other] = shortest;
    ObservedCluster {
        nodes: nodes.len() as u64,
        map_slots: slots(&spans[0]),
        reduce_slots: slots(&spans[1]),
        map_fixed_s: map.or(other),
        reduce_fixed_s: reduce.or(other),
        map_wait_s: quantile_of_sorted(&sorted(waves), 0.5).ok(),
    }
}

/// Returns the mean time from the first launch to the other launches before the first end \[s\]; none for a single launch.
fn first_wave_s(attempts: &[Attempt]) -> Option<f64> {
    let first = attempts.iter().filter_map(Attempt::launch).min()?;
    let end = attempts.iter().filter(|a| a.succeeded()).filter_map(Attempt::finish).min()?;
    let launches = attempts.iter().filter_map(Attempt::launch).filter(|launch| *launch <= end);
    let after: Vec<f64> = launches.map(|launch| launch.seconds_since(first)).collect();
    (after.len() > 1).then(|| after.iter().sum::<f64>() / (after.len() - 1) as f64)
}

fn sorted(mut values: Vec<f64>) -> Vec<f64> {
    values.sort_by(f64::total_cmp);
    values
}

/// Returns the time of a task with little data \[s\]: a complete map, set-up or clean-up, or the reduce phase
/// of a reduce.
fn starting_s(trace: &JobTrace, attempt: &Attempt, kind: usize) -> Option<f64> {
    let value = |metric| trace.value(attempt, metric);
    let small = |metric| value(metric).is_some_and(|bytes| bytes < STARTING_MB * MB);
    let wall = attempt.duration().filter(|_| attempt.succeeded())?;
    match kind {
        0 => small(Metric::InputBytes).then_some(wall),
        1 => {
            let before = value(Metric::ShufflePhaseTime)? + value(Metric::SortPhaseTime)?;
            (small(Metric::ShuffleRemoteBytes) && before <= wall).then_some(wall - before)
        }
        _ => Some(wall),
    }
}

/// Waits of tasks for their slots.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Waits {
    /// The wait of each launch, in the order of launches \[s\].
    pub(super) of_launch: Vec<f64>,
    /// Mean wait of the first task of each slot \[s\].
    pub(super) first_s: f64,
    /// Mean wait of the later tasks \[s\]; 0 without later tasks: a tracker asks for work when a task ends.
    pub(super) refill_s: f64,
}

impl Waits {
    /// Returns the waits of tasks with these launches and ends on `slots` slots, which are free at `from_s`; earlier
    /// events count as events at that time.
    pub(super) fn new(spans: impl Iterator<Item = (f64, f64)>, slots: u64, from_s: f64) -> Self {
        let (mut launches, mut ends): (Vec<f64>, Vec<f64>) =
            spans.map(|(launch, end)| ((launch - from_s).max(0.0), (end - from_s).max(0.0))).unzip();
        launches.sort_by(f64::total_cmp);
        ends.sort_by(f64::total_cmp);
        let slots = usize::try_from(slots).unwrap_or(usize::MAX);
        let free = |i: usize| i.checked_sub(slots).map_or(0.0, |before| ends[before]);
        let of_launch: Vec<f64> = launches.iter().enumerate().map(|(i, launch)| (launch - free(i)).max(0.0)).collect();
        let (first, later) = of_launch.split_at(slots.min(of_launch.len()));
        let (first_s, refill_s) = (mean(first), mean(later));
        Self { of_launch, first_s, refill_s }
    }
}

/// Returns the mean; 0 without values.
pub(super) fn mean(values: &[f64]) -> f64 {
    // an empty sum is -0
    values.iter().sum::<f64>() / values.len().max(1) as f64 + 0.0
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Five tasks on two slots that are free at 10 s: waits 0, 1; then 0.5 after the end at 13, 0 after the end at 14, 2 after the end at 15.
    #[test]
    fn waits_are_those_of_list_scheduling() {
        let spans = [(10.0, 13.0), (11.0, 14.0), (13.5, 15.0), (14.0, 17.0), (17.0, 19.0)];
        let waits = Waits::new(spans.into_iter(), 2, 10.0);
        assert_eq!(waits.of_launch, [0.0, 1.0, 0.5, 0.0, 2.0]);
        assert!((waits.first_s - 0.5).abs() < 1e-12 && (waits.refill_s - 2.5 / 3.0).abs() < 1e-12);
        let all_at_once = Waits::new(spans[..2].iter().copied(), 4, 9.0);
        assert_eq!((all_at_once.first_s, all_at_once.refill_s), (1.5, 0.0));
        let early = Waits::new([(1.0, 20.0)].into_iter(), 1, 10.0);
        assert_eq!(early.of_launch, [0.0]);
    }
}
