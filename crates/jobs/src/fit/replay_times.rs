//! What of a task's time was the stage, the node, a cold start, and its own: the usual time of each, and what is left.
//!
//! ```text
//! time = line(MB) · cold^(first of its slot) · slowness(node) · ratio
//! ```
//!
//! By robust lines and medians in turn. A task that nothing explains has a ratio far from 1; whether a second attempt would
//! have had it too, no log tells.

use crate::fit::line::{Line, line, median};

/// Rounds of fitting in turn.
const ROUNDS: usize = 12;
/// Tasks on a node whose own median counts as much as that the node is like the others.
const FEW: f64 = 1.0;
/// Cold and warm tasks that are needed to tell what a cold start costs.
const ENOUGH: usize = 3;

/// One attempt whose time is known.
#[derive(Clone, Copy, Debug)]
pub(super) struct TimedTask {
    /// Work \[s\].
    pub(super) work: f64,
    /// Data that it read \[MB\].
    pub(super) mb: f64,
    /// True if it was the first of its slot.
    pub(super) cold: bool,
    /// Node.
    pub(super) node: usize,
}

/// What a stage's tasks usually take.
#[derive(Clone, Debug)]
pub(super) struct UsualTimes {
    line: Line,
    /// How many times longer a cold task takes.
    cold: f64,
    /// How many times longer tasks take on each node than on a usual one.
    pub(super) slowness: Vec<f64>,
    /// Times over the usual ones, ascending.
    pub(super) ratios: Vec<f64>,
}

impl UsualTimes {
    /// Fits a stage; without a task all is as usual, and takes a second.
    pub(super) fn fit(tasks: &[TimedTask], nodes: usize) -> Self {
        let mut usual =
            Self { line: Line { fixed: 1.0, slope: 0.0 }, cold: 1.0, slowness: vec![1.0; nodes], ratios: vec![1.0] };
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
        usual.ratios = tasks.iter().map(|task| task.work / usual.of(task)).collect();
        usual.ratios.sort_by(f64::total_cmp);
        usual
    }

    fn start(&self, cold: bool) -> f64 {
        if cold { self.cold } else { 1.0 }
    }

    /// The usual time of a task as it was.
    pub(super) fn of(&self, task: &TimedTask) -> f64 {
        self.line.at(task.mb) * self.start(task.cold) * self.slowness[task.node]
    }

    /// The usual time of a new attempt with so much data on a usual node: warm, since its slot has run a task.
    pub(super) fn again(&self, mb: f64) -> f64 {
        self.line.at(mb)
    }

    /// The slowness of each node, their median over tasks being 1; drawn towards 1 where few tasks tell it.
    fn nodes(&self, tasks: &[TimedTask], nodes: usize) -> Vec<f64> {
        let log = |task: &TimedTask| (task.work / (self.line.at(task.mb) * self.start(task.cold))).ln();
        let of_node = |node: usize| {
            let logs: Vec<f64> = tasks.iter().filter(|task| task.node == node).map(log).collect();
            let n = logs.len() as f64;
            median(logs) * n / (n + FEW)
        };
        let logs: Vec<f64> = (0..nodes).map(of_node).collect();
        let centre = median(tasks.iter().map(|task| logs[task.node]));
        logs.iter().map(|log| (log - centre).exp()).collect()
    }

    /// Median distance of the logarithm of the ratios from 0: how much is left unexplained.
    pub(super) fn left(&self) -> f64 {
        median(self.ratios.iter().map(|ratio| ratio.ln().abs()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Three nodes, one of them three times as slow; cold tasks take twice as long; a line in the data.
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
    fn parts_of_made_times_are_found_again() {
        let mut tasks = made();
        tasks[40].work *= 7.0;
        let usual = UsualTimes::fit(&tasks, 3);
        assert!((usual.again(12.0) / 2.2 - 1.0).abs() < 0.05, "{usual:?}");
        assert!((usual.cold / 2.0 - 1.0).abs() < 0.05);
        assert!((usual.slowness[2] / usual.slowness[0] / 3.0 - 1.0).abs() < 0.1, "{:?}", usual.slowness);
        assert!((usual.ratios.last().unwrap() / 7.0 - 1.0).abs() < 0.1 && usual.left() < 0.05);
    }

    /// One task of twice the time on a node of its own: half of the logarithm is believed, a slowness of sqrt(2). Seen to fail with all
    /// of it believed.
    #[test]
    fn a_single_task_does_not_make_a_slow_node() {
        let task = |i: usize| TimedTask { work: if i < 20 { 1.0 } else { 2.0 }, mb: 0.0, cold: false, node: i / 10 };
        let usual = UsualTimes::fit(&(0..21).map(task).collect::<Vec<_>>(), 3);
        assert!((usual.slowness[2] / 2.0_f64.sqrt() - 1.0).abs() < 0.02, "{:?}", usual.slowness);
        assert!(usual.slowness[..2].iter().all(|slowness| (slowness - 1.0).abs() < 0.01));
    }

    #[test]
    fn a_stage_without_times_is_as_usual() {
        let usual = UsualTimes::fit(&[], 2);
        assert_eq!((usual.slowness.as_slice(), usual.ratios.as_slice()), (&[1.0, 1.0][..], &[1.0][..]));
    }
}
