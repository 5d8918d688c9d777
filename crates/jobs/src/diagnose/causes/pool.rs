//! The feature pool: the features of all tasks of a stage, with the data needed to compare a task with its peers.

use std::collections::BTreeMap;

use tailspn_common::order::quantile;

use crate::diagnose::causes::feature::{Category, FEATURES, Feature, RESOURCES};
use crate::diagnose::causes::nodes::NodeMeters;
use crate::diagnose::causes::records::TaskRecord;
use crate::trace::analysis::MEDIAN_FACTOR;

/// Options of the pool.
#[derive(Clone, Debug, PartialEq)]
pub struct PoolOptions {
    /// A task that takes more than this many times its stage's median is a straggler. Default 1.5.
    pub straggler_factor: f64,
    /// Time before and after a task in which its node is checked for edges \[s\]. Default 1.
    pub edge_width: f64,
    /// The first wave of a stage is cold if its median exceeds this many times the median of the later tasks. Default 1.2.
    pub cold_factor: f64,
}

impl Default for PoolOptions {
    fn default() -> Self {
        Self { straggler_factor: MEDIAN_FACTOR, edge_width: 1.0, cold_factor: 1.2 }
    }
}

/// Minimum number of tasks that must succeed for a stage to have peers.
const FEWEST: usize = 3;
/// A task of the first wave must have started at least this many seconds before the first task end on its node. The
/// reason is that Spark launches the next task of a slot some milliseconds before it records the end of the previous
/// task.
const FIRST_WAVE: f64 = 0.02;

/// Use of a resource before and after a task, if sampled.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Surroundings {
    /// Mean before the task started.
    pub head: Option<f64>,
    /// Mean after the task ended.
    pub tail: Option<f64>,
}

/// A task of the pool.
#[derive(Clone, Debug, PartialEq)]
pub struct PoolTask {
    /// Record of the task.
    pub record: TaskRecord,
    /// True if the task took more than 1.5 times the median.
    pub straggler: bool,
    /// True if the task succeeded and is not a straggler. Such tasks are the peers.
    pub normal: bool,
    /// True if the task belongs to a slow first wave, but is not slow within that wave.
    pub cold: bool,
    /// Features; none if unknown.
    pub values: [Option<f64>; FEATURES],
    /// Share of the task's time that samples cover, for each of [`RESOURCES`]; 0 without samples.
    pub covered: [f64; RESOURCES.len()],
    /// Values before and after the task, for each of [`RESOURCES`].
    pub around: [Surroundings; RESOURCES.len()],
}

/// Sum of a feature over some tasks, and their number.
#[derive(Clone, Copy, Debug, Default)]
struct Sum {
    sum: f64,
    count: usize,
}

impl Sum {
    fn add(&mut self, value: f64) {
        self.sum += value;
        self.count += 1;
    }

    fn mean(self) -> Option<f64> {
        (self.count > 0).then(|| self.sum / self.count as f64)
    }
}

/// The features of a stage.
#[derive(Clone, Debug)]
pub struct Pool {
    /// The tasks, in the order given.
    pub tasks: Vec<PoolTask>,
    /// Median time of tasks that succeeded \[s\].
    pub median: f64,
    /// The values of each feature over all tasks, sorted.
    sorted: Vec<Vec<f64>>,
    /// The values of each feature over normal tasks, sorted.
    usual: Vec<Vec<f64>>,
    /// Sums over the normal tasks of each node, and of all nodes.
    by_node: BTreeMap<usize, [Sum; FEATURES]>,
    all: [Sum; FEATURES],
    /// Maximum number of bytes that any node transferred in a second.
    network_peak: f64,
}

impl Pool {
    /// Computes the features of a stage's tasks; `nodes` are the meters of each node, by its number, in seconds since
    /// the start of the log. None if fewer than 3 tasks succeeded, because there is then no baseline.
    ///
    /// A numerical feature is the value divided by the stage's mean (0 if the mean is 0). A time feature is the value
    /// divided by the task's duration. A resource is the mean of the node's samples over the task's time (equations 1
    /// to 3).
    pub fn new(records: Vec<TaskRecord>, nodes: &[NodeMeters], options: &PoolOptions) -> Option<Self> {
        let mut done: Vec<f64> = records.iter().filter(|r| r.succeeded).map(TaskRecord::seconds).collect();
        done.sort_unstable_by(f64::total_cmp);
        let median = quantile(&done, 0.5).filter(|_| done.len() >= FEWEST)?;
        let means = means(&records);
        let cold = cold_wave(&records, options);
        let tasks = records.into_iter().zip(cold).map(|(record, cold)| {
            let straggler = record.seconds() > options.straggler_factor * median;
            let mut task = PoolTask {
                straggler,
                normal: record.succeeded && !straggler,
                cold,
                values: own_values(&record, &means),
                covered: [0.0; RESOURCES.len()],
                around: [Surroundings::default(); RESOURCES.len()],
                record,
            };
            if let Some(node) = task.record.node.and_then(|node| nodes.get(node)) {
                measure(&mut task, node, options.edge_width);
            }
            task
        });
        let network_peak = nodes.iter().map(NodeMeters::network_peak).fold(0.0, f64::max);
        Some(Self::of(tasks.collect(), median, network_peak))
    }

    fn of(tasks: Vec<PoolTask>, median: f64, network_peak: f64) -> Self {
        let column = |feature: usize, wanted: &dyn Fn(&PoolTask) -> bool| {
            let mut values: Vec<f64> = tasks.iter().filter(|t| wanted(t)).filter_map(|t| t.values[feature]).collect();
            values.sort_unstable_by(f64::total_cmp);
            values
        };
        let sorted = (0..FEATURES).map(|feature| column(feature, &|_| true)).collect();
        let usual = (0..FEATURES).map(|feature| column(feature, &|task| task.normal)).collect();
        let mut by_node: BTreeMap<usize, [Sum; FEATURES]> = BTreeMap::new();
        let mut all = [Sum::default(); FEATURES];
        for task in tasks.iter().filter(|task| task.normal) {
            for (feature, value) in task.values.iter().enumerate() {
                let Some(value) = *value else { continue };
                all[feature].add(value);
                if let Some(node) = task.record.node {
                    by_node.entry(node).or_default()[feature].add(value);
                }
            }
        }
        Self { tasks, median, sorted, usual, by_node, all, network_peak }
    }

    /// Returns the value of a feature at full use: 1 for shares; for the network, the maximum number of bytes per second of any node.
    pub fn scale(&self, feature: Feature) -> f64 {
        if feature == Feature::Network { self.network_peak } else { 1.0 }
    }

    /// Returns the stragglers, as positions among the tasks.
    pub fn stragglers(&self) -> impl Iterator<Item = usize> {
        self.tasks.iter().enumerate().filter(|(_, task)| task.straggler).map(|(i, _)| i)
    }

    /// Returns the quantile of a feature over all tasks (`global_quantile`); none if it is unknown for all.
    pub fn quantile(&self, feature: Feature, p: f64) -> Option<f64> {
        quantile(&self.sorted[feature as usize], p)
    }

    /// Returns the values of a feature over normal tasks, sorted.
    pub fn usual(&self, feature: Feature) -> &[f64] {
        &self.usual[feature as usize]
    }

    /// Returns the mean of a feature over the normal tasks on other nodes (inter-node peers) and on the same
    /// node (intra-node peers); none without such tasks. If the node is unknown, all tasks count as tasks of
    /// other nodes.
    pub fn peers(&self, task: usize, feature: Feature) -> (Option<f64>, Option<f64>) {
        let own = &self.tasks[task];
        let mut same =
            own.record.node.and_then(|n| self.by_node.get(&n)).map_or(Sum::default(), |s| s[feature as usize]);
        let all = self.all[feature as usize];
        let other = Sum { sum: all.sum - same.sum, count: all.count - same.count };
        // a task is not a peer of itself
        if let (true, Some(value)) = (own.normal && own.record.node.is_some(), own.values[feature as usize]) {
            same = Sum { sum: same.sum - value, count: same.count - 1 };
        }
        (other.mean(), same.mean())
    }

    /// Returns the number of normal tasks, and the sum of their localities, for equation 7.
    pub fn normal_locality(&self) -> (usize, f64) {
        let all = self.all[Feature::Locality as usize];
        (all.count, all.sum)
    }
}

/// Returns the mean of each numerical feature over the tasks that have it.
fn means(records: &[TaskRecord]) -> [f64; FEATURES] {
    std::array::from_fn(|feature| {
        let mut sum = Sum::default();
        records.iter().filter_map(|record| record.stated[feature]).for_each(|value| sum.add(value));
        sum.mean().unwrap_or(0.0)
    })
}

fn own_values(record: &TaskRecord, means: &[f64; FEATURES]) -> [Option<f64>; FEATURES] {
    Feature::ALL.map(|feature| {
        let value = record.stated[feature as usize]?;
        Some(match feature.category() {
            Category::Numerical => {
                let mean = means[feature as usize];
                if mean > 0.0 { value / mean } else { 0.0 }
            }
            Category::Time => {
                let seconds = record.seconds();
                if seconds > 0.0 { value / seconds } else { 0.0 }
            }
            Category::Resource | Category::Discrete => value,
        })
    })
}

/// Sets the values of a task from the meters of its node, during the task and around it.
fn measure(task: &mut PoolTask, node: &NodeMeters, edge_width: f64) {
    let (from, to) = (task.record.from, task.record.to);
    for (i, resource) in RESOURCES.into_iter().enumerate() {
        if let Some(over) = node.over(resource, from, to) {
            task.values[resource as usize] = Some(over.mean);
            task.covered[i] = over.covered;
        }
        let side = |from, to| node.over(resource, from, to).map(|over| over.mean);
        task.around[i] = Surroundings { head: side(from - edge_width, from), tail: side(to, to + edge_width) };
    }
}

/// Marks tasks that are slow only because their whole first wave is slow. The first wave consists of the tasks that
/// started before any task of the stage had ended on their node. It is slow if its median exceeds `cold_factor` times
/// the median of the other tasks. Tasks that are stragglers within the first wave are not marked.
fn cold_wave(records: &[TaskRecord], options: &PoolOptions) -> Vec<bool> {
    let mut first_end: BTreeMap<Option<usize>, f64> = BTreeMap::new();
    for record in records {
        let end = first_end.entry(record.node).or_insert(f64::INFINITY);
        *end = end.min(record.to);
    }
    let is_first = |record: &TaskRecord| record.from < first_end[&record.node] - FIRST_WAVE;
    let median = |wanted: bool| {
        let of = records.iter().filter(|record| is_first(record) == wanted && record.succeeded);
        let mut times: Vec<f64> = of.map(TaskRecord::seconds).collect();
        times.sort_unstable_by(f64::total_cmp);
        quantile(&times, 0.5)
    };
    let (Some(first), Some(later)) = (median(true), median(false)) else { return vec![false; records.len()] };
    let slow = first > options.cold_factor * later;
    records.iter().map(|r| slow && is_first(r) && r.seconds() <= options.straggler_factor * first).collect()
}
