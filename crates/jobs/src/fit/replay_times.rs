//! Decomposition of a task's time into stage, node, cold start and a residual: the typical time of each, and
//! the remainder.
//!
//! ```text
//! time = line(MB) · cold^(first of its slot) · slowness(node) · ratio
//! ```
//!
//! Robust lines and medians are fitted in turn. A task without an explanation has a ratio far from 1; logs do
//! not show whether a second attempt would also have had it.

use crate::fit::line::{Line, line, median};
use crate::trace::Metric;

/// Number of alternating fits.
const ROUNDS: usize = 12;
/// Number of tasks on a node at which the node's median has the same weight as the assumption that the node is as fast
/// as the other nodes.
const FEW: f64 = 1.0;
/// Number of tasks from which a node can be slow: one or two slow tasks have other reasons as well.
const EVIDENCE: usize = 3;
/// Share of the longest usual time from which a task is large, and number of such tasks that show how they vary.
const LARGE: f64 = 0.5;
const ENOUGH_LARGE: usize = 5;
/// Number of cold and warm tasks needed to estimate the cost of a cold start.
const ENOUGH: usize = 3;

/// The data that a task reads and writes: bytes and records.
const BYTES: [Metric; 5] = [
    Metric::InputBytes,
    Metric::ShuffleLocalBytes,
    Metric::ShuffleRemoteBytes,
    Metric::OutputBytes,
    Metric::ShuffleWriteBytes,
];
const RECORDS: [Metric; 4] =
    [Metric::InputRecords, Metric::ShuffleReadRecords, Metric::OutputRecords, Metric::ShuffleWriteRecords];
/// Bytes that a record counts for at least: most of the work on short records does not depend on their length.
const RECORD_BYTES: f64 = 100.0;

/// Returns the data on which a task works, in bytes, from its metrics.
pub(super) fn work_bytes(metric: impl Fn(Metric) -> f64) -> f64 {
    let sum = |metrics: &[Metric]| metrics.iter().map(|one| metric(*one)).sum::<f64>();
    sum(&BYTES).max(RECORD_BYTES * sum(&RECORDS))
}

/// One attempt with a known time.
#[derive(Clone, Copy, Debug)]
pub(super) struct TimedTask {
    /// Work \[s\].
    pub(super) work: f64,
    /// Data that the attempt read \[MB\].
    pub(super) mb: f64,
    /// True if the attempt was the first in its slot.
    pub(super) cold: bool,
    /// Node.
    pub(super) node: usize,
}

/// Usual times of a stage's tasks.
#[derive(Clone, Debug)]
pub(super) struct UsualTimes {
    line: Line,
    /// Factor by which a cold task takes longer.
    cold: f64,
    /// Factor by which tasks take longer on each node than on a usual one.
    pub(super) slowness: Vec<f64>,
    /// Ratios of times to the usual times, ascending.
    pub(super) ratios: Vec<f64>,
    /// The same of the tasks that may need a copy.
    pub(super) of_copied: Vec<f64>,
}

impl UsualTimes {
    /// Fits a stage; without tasks all factors are neutral, and a task takes a second.
    pub(super) fn fit(tasks: &[TimedTask], nodes: usize) -> Self {
        let mut usual = Self {
            line: Line { fixed: 1.0, slope: 0.0 },
            cold: 1.0,
            slowness: vec![1.0; nodes],
            ratios: vec![1.0],
            of_copied: vec![1.0],
        };
        if tasks.is_empty() {
            return usual;
        }
        let warm = tasks.iter().filter(|task| !task.cold).count();
        let tells_cold = warm >= ENOUGH && tasks.len() - warm >= ENOUGH;
        for _ in 0..ROUNDS {
            let level = |task: &TimedTask| task.work / (usual.slowness[task.node] * usual.start(task.cold));
            usual.line = line(&tasks.iter().map(|task| (task.mb, level(task))).collect::<Vec<_>>());
            if tells_cold {
                let beside = |task: &TimedTask| task.work / (usual.slowness[task.node] * usual.line.at(task.mb));
                usual.cold = median(tasks.iter().filter(|task| task.cold).map(beside)).max(1.0);
            }
            usual.slowness = usual.nodes(tasks, nodes);
        }
        usual.ratios = usual.ratios_of(tasks, 0.0);
        usual.of_copied = usual.ratios_of_copied(tasks);
        usual.ratios.sort_by(f64::total_cmp);
        usual.of_copied.sort_by(f64::total_cmp);
        usual
    }

    /// Returns the ratios of times to the usual times, of the tasks that usually take at least so long on a usual node.
    fn ratios_of(&self, tasks: &[TimedTask], least_s: f64) -> Vec<f64> {
        let is_large = |task: &&TimedTask| self.line.at(task.mb) >= least_s;
        tasks.iter().filter(is_large).map(|task| task.work / self.of(task)).collect()
    }

    /// Returns the ratios of the tasks that may need a copy. Of tasks of two sizes, those of the large ones: relative times of small tasks vary more, so
    /// that a copy of a large task would often seem short.
    fn ratios_of_copied(&self, tasks: &[TimedTask]) -> Vec<f64> {
        let longest_s = tasks.iter().map(|task| self.line.at(task.mb)).fold(0.0, f64::max);
        let large = self.ratios_of(tasks, LARGE * longest_s);
        if large.len() < ENOUGH_LARGE { self.ratios.clone() } else { large }
    }

    fn start(&self, cold: bool) -> f64 {
        if cold { self.cold } else { 1.0 }
    }

    /// Returns the usual time of a task under its actual conditions.
    pub(super) fn of(&self, task: &TimedTask) -> f64 {
        self.line.at(task.mb) * self.start(task.cold) * self.slowness[task.node]
    }

    /// Returns the usual time of a new attempt with `mb` of data on a usual node: warm, because its slot has already run a task.
    pub(super) fn again(&self, mb: f64) -> f64 {
        self.line.at(mb)
    }

    /// Returns the slowness of each node, with a median of 1 over tasks; shrunk towards 1 for nodes with few tasks.
    fn nodes(&self, tasks: &[TimedTask], nodes: usize) -> Vec<f64> {
        let log = |task: &TimedTask| (task.work / (self.line.at(task.mb) * self.start(task.cold))).ln();
        let of_node = |node: usize| {
            let logs: Vec<f64> = tasks.iter().filter(|task| task.node == node).map(log).collect();
            let n = logs.len() as f64;
            if logs.len() < EVIDENCE { 0.0 } else { median(logs) * n / (n + FEW) }
        };
        let logs: Vec<f64> = (0..nodes).map(of_node).collect();
        let centre = median(tasks.iter().map(|task| logs[task.node]));
        logs.iter().map(|log| (log - centre).exp()).collect()
    }

    /// Returns the median distance of the logarithm of the ratios from 0: the unexplained spread.
    pub(super) fn left(&self) -> f64 {
        median(self.ratios.iter().map(|ratio| ratio.ln().abs()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Three nodes, one of them three times slower; cold tasks take twice as long; time is linear in the data.
    fn made() -> Vec<TimedTask> {
        let slowness = [1.0, 1.0, 3.0];
        let of = |i: usize| {
            let (node, cold, mb) = (i % 3, i < 6, 10.0 + (i % 5) as f64);
            let work = (1.0 + 0.1 * mb) * if cold { 2.0 } else { 1.0 } * slowness[node];
            TimedTask { work, mb, cold, node }
        };
        (0..60).map(of).collect()
    }

    #[test]
    fn parts_of_synthetic_task_times_are_recovered() {
        let mut tasks = made();
        tasks[40].work *= 7.0;
        let usual = UsualTimes::fit(&tasks, 3);
        assert!((usual.again(12.0) / 2.2 - 1.0).abs() < 0.05, "{usual:?}");
        assert!((usual.cold / 2.0 - 1.0).abs() < 0.05);
        assert!((usual.slowness[2] / usual.slowness[0] / 3.0 - 1.0).abs() < 0.1, "{:?}", usual.slowness);
        assert!((usual.ratios.last().unwrap() / 7.0 - 1.0).abs() < 0.1 && usual.left() < 0.05);
    }

    /// Tasks of twice the time on a node of their own: one or two are no evidence, of three, three quarters of the logarithm are attributed to the node.
    #[test]
    fn one_or_two_tasks_do_not_make_a_slow_node() {
        let task = |i: usize| TimedTask { work: if i < 20 { 1.0 } else { 2.0 }, mb: 0.0, cold: false, node: i / 10 };
        for (tasks, exact) in [(1, 1.0), (2, 1.0), (3, 2.0_f64.powf(0.75))] {
            let usual = UsualTimes::fit(&(0..20 + tasks).map(task).collect::<Vec<_>>(), 3);
            assert!((usual.slowness[2] / exact - 1.0).abs() < 0.02, "{tasks}: {:?}", usual.slowness);
            assert!(usual.slowness[..2].iter().all(|slowness| (slowness - 1.0).abs() < 0.01));
        }
    }

    /// Five large tasks of 10 MB that vary by 10%, and many small ones that vary by a factor of ten: only the large ones say how a copy varies.
    #[test]
    fn copies_of_large_tasks_vary_as_large_tasks_do() {
        let large =
            |i: usize| TimedTask { work: 30.0 * [0.9, 0.95, 1.0, 1.05, 1.1][i], mb: 10.0, cold: false, node: 0 };
        let small = |i: usize| TimedTask { work: [0.1, 0.3, 1.0][i % 3], mb: 0.0, cold: false, node: 0 };
        let tasks: Vec<TimedTask> = (0..5).map(large).chain((0..30).map(small)).collect();
        let usual = UsualTimes::fit(&tasks, 1);
        assert!(
            usual.of_copied.len() == 5 && usual.of_copied.iter().all(|ratio| (0.8..1.2).contains(ratio)),
            "{usual:?}"
        );
        let few: Vec<TimedTask> = tasks[1..].to_vec();
        assert_eq!(UsualTimes::fit(&few, 1).of_copied.len(), 34);
    }

    #[test]
    fn a_stage_without_times_is_as_usual() {
        let usual = UsualTimes::fit(&[], 2);
        assert_eq!((usual.slowness.as_slice(), usual.of_copied.as_slice()), (&[1.0, 1.0][..], &[1.0][..]));
    }
}
