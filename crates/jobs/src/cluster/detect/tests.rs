//! Tests of every rule on a small table of tasks. The comments work out the expected flags, and the order of their urgencies, by hand. Scores are
//! those of the last report, ages those at a later moment.

use super::*;
use crate::cluster::formulas::{ClusterAverage, LateForm};

/// An open task: its start, its age at the last report, its score at that time.
fn task(start_s: f64, elapsed_s: f64, score: f64) -> RunningTask {
    let (size, is_copy, open) = (1.0, false, true);
    RunningTask { task: 0, node: 0, start_s, elapsed_s, score, size, is_copy, open, restarts: 0 }
}

/// A copy that has been reported after 10 s.
fn copy(score: f64) -> RunningTask {
    RunningTask { is_copy: true, open: false, ..task(20.0, 10.0, score) }
}

/// A task that has a copy.
fn with_copy(task: RunningTask) -> RunningTask {
    RunningTask { open: false, ..task }
}

/// Input of a detector.
#[derive(Clone, Debug, Default)]
struct Table {
    now_s: f64,
    tasks: usize,
    running: Vec<RunningTask>,
    waiting: u32,
    finished: Finished,
    nodes: Vec<NodeSpeed>,
    last_request_s: Option<f64>,
}

impl Table {
    /// Adds finished tasks with these times, all of size 1.
    fn finished(mut self, times_s: &[f64]) -> Self {
        times_s.iter().for_each(|&time_s| self.finished.push(time_s, 1.0));
        self
    }

    fn flags(&self, detector: &dyn Detector) -> Vec<Flag> {
        let mut flags = Vec::new();
        let Self { now_s, tasks, waiting, last_request_s, .. } = *self;
        let (running, finished, nodes) = (&*self.running, &self.finished, &*self.nodes);
        let category = Category::Map;
        detector.flag(&View { now_s, category, tasks, running, waiting, finished, nodes, last_request_s }, &mut flags);
        flags
    }

    /// Asserts that exactly these positions are flagged for a copy, with these urgencies.
    fn assert(&self, detector: &dyn Detector, expected: &[(usize, f64)]) {
        self.assert_remedies(
            detector,
            &expected.iter().map(|&(at, urgency)| (at, urgency, Remedy::Copy)).collect::<Vec<_>>(),
        );
    }

    fn assert_remedies(&self, detector: &dyn Detector, expected: &[(usize, f64, Remedy)]) {
        let found = self.flags(detector);
        let same = |(flag, &(position, urgency, remedy)): (&Flag, &(usize, f64, Remedy))| {
            let near = (flag.urgency - urgency).abs() <= 1e-9 * urgency.abs().max(1.0);
            (flag.position, flag.remedy, near) == (position, remedy, true)
        };
        let all = found.len() == expected.len() && found.iter().zip(expected).all(same);
        assert!(all, "{detector:?} flags {found:?}, not {expected:?}");
    }
}

/// Scores 0.9, 0.45, 0.35 and 0.29; a copy at 0.1; 2 of 8 tasks have finished. Fails if the copy is in the mean, if the finished tasks are not in it,
/// and with `>` for `>=` in the age.
#[test]
fn default_flags_scores_a_gap_below_the_mean() {
    let running = vec![
        task(0.0, 30.0, 0.9),
        task(0.0, 30.0, 0.45),
        with_copy(task(0.0, 30.0, 0.35)),
        task(25.0, 5.0, 0.29),
        copy(0.1),
    ];
    let table = Table { now_s: 30.0, tasks: 8, running, ..Table::default() }.finished(&[10.0, 12.0]);
    // (0.9 + 0.45 + 0.35 + 0.29 + 2) / 6 - 0.2 = 0.465; the third has a copy
    let rule = ByScore::default();
    table.assert(&rule, &[(1, -0.45), (3, -0.29)]);
    // over all 8 tasks: 3.99 / 8 - 0.2 = 0.29875
    table.assert(&ByScore { mean: MeanOver::All, ..rule }, &[(3, -0.29)]);
    // 3.99 / 6 - 0.5 = 0.165
    table.assert(&ByScore { gap: 0.5, ..rule }, &[]);
    // the last task is 5 s old
    table.assert(&ByScore { min_age_s: 5.0, ..rule }, &[(1, -0.45), (3, -0.29)]);
    table.assert(&ByScore { min_age_s: 5.1, ..rule }, &[(1, -0.45)]);
}

/// Rates 0.02, 0.04 (three times), 0.05 (twice), 0.07 and 0.09 /s: mean 0.05 /s, deviation 0.02 /s over 8 (0.0214 over 7). A copy and a task without
/// a report do not count. Fails with the deviation over n - 1, with copies in the mean, with the cap over the originals only, and with the shortest
/// remaining time first.
#[test]
fn late_flags_rates_below_the_mean_minus_a_share_of_the_deviation() {
    let mut running: Vec<_> = [0.4, 0.2, 0.4, 0.4, 0.5, 0.5, 0.7, 0.9].map(|score| task(0.0, 10.0, score)).into();
    running.extend([copy(0.01), task(11.0, 0.0, 0.0)]);
    let table = Table { now_s: 12.0, tasks: 10, running, ..Table::default() };
    let rule = Late::default();
    // below 0.03: 0.8 of the work remains at 0.02 /s
    table.assert(&rule, &[(1, 40.0)]);
    // below 0.05 - 0.48 * 0.02 = 0.0404 (over 7: 0.0397); 0.6 / 0.04 = 15 s remain
    let eager = Late { threshold: 0.48, ..rule };
    table.assert(&eager, &[(0, 15.0), (1, 40.0), (2, 15.0), (3, 15.0)]);
    // as printed: below 0.05 * (1 - 0.02) = 0.049
    table.assert(&Late { form: LateForm::Printed, ..rule }, &[(0, 15.0), (1, 40.0), (2, 15.0), (3, 15.0)]);
    // 10 attempts run, 3 copies are allowed, 1 exists: two more, the longest remaining time first, then the first
    table.assert(&Late { cap: 0.3, ..eager }, &[(1, 40.0), (0, 15.0)]);
    // 0.19 * 10 attempts: one copy, which exists already
    table.assert(&Late { cap: 0.19, ..eager }, &[]);
    // all tasks are 12 s old, although the last report was at 10 s
    table.assert(&Late { min_age_s: 12.0, ..rule }, &[(1, 40.0)]);
    table.assert(&Late { min_age_s: 12.1, ..rule }, &[]);
}

#[test]
fn late_takes_a_task_that_stands_still_first() {
    // rates 0, 0.02 and 0.08 /s: mean 0.0333, deviation 0.0340
    let running = vec![task(0.0, 10.0, 0.2), task(0.0, 10.0, 0.8), task(0.0, 10.0, 0.0)];
    let table = Table { now_s: 10.0, tasks: 3, running, ..Table::default() };
    table.assert(&Late { threshold: 0.3, ..Late::default() }, &[(0, 40.0), (2, f64::MAX)]);
    table.assert(&Late { threshold: 0.3, cap: 0.34, ..Late::default() }, &[(2, f64::MAX)]);
}

/// Speeds of nodes: 4 tasks at 0.05 /s, one at 0.02, one at 0.038, and a node without a report. Fails if the average of tasks is used for the average
/// of nodes or vice versa, and if an unreported node counts as slow.
#[test]
fn hierarchical_keeps_what_is_flagged_on_slow_nodes() {
    let on = |node, score| RunningTask { node, ..task(0.0, 20.0, score) };
    let running = vec![on(0, 0.2), on(1, 0.2), on(2, 0.2), on(3, 0.2), on(0, 1.0), on(0, 1.0), on(0, 1.0)];
    let nodes = [(0.2, 4), (0.02, 1), (0.038, 1), (0.0, 0)].map(|(sum, tasks)| NodeSpeed { sum, tasks }).into();
    let table = Table { now_s: 20.0, tasks: 7, running, nodes, ..Table::default() };
    // scores: mean 3.8 / 7 = 0.543, so all tasks at 0.2 are flagged
    table.assert(&ByScore::default(), &[(0, -0.2), (1, -0.2), (2, -0.2), (3, -0.2)]);
    // mean of tasks 0.258 / 6 = 0.043 /s, slow below 0.9 * 0.043 = 0.0387
    let rule = Hierarchical::default();
    table.assert(&rule, &[(1, -0.2), (2, -0.2)]);
    // mean of nodes 0.108 / 3 = 0.036 /s, slow below 0.0324; the node without a report is not included
    table.assert(&Hierarchical { average: ClusterAverage::Nodes, ..rule }, &[(1, -0.2)]);
    // slow below 1.2 * 0.036 = 0.0432
    table.assert(&Hierarchical { average: ClusterAverage::Nodes, share: 1.2, ..rule }, &[(1, -0.2), (2, -0.2)]);
    // on LATE: rates 0.01 (four times) and 0.05 /s (three times), mean 0.0271, deviation 0.0198
    table.assert(&Hierarchical { on: Base::Late(Late::default()), ..rule }, &[]);
    let late = Late { threshold: 0.5, ..Late::default() };
    table.assert(&Hierarchical { on: Base::Late(late), ..rule }, &[(1, 80.0), (2, 80.0)]);
    // no node has reported anything
    let silent = Table { nodes: vec![NodeSpeed::default(); 4], ..table };
    silent.assert(&rule, &[]);
}

/// Finished tasks took 10, 20 and 30 s, 20 s on average, so a new attempt would end at 120 s. Fails if the current age replaces the age at the
/// report, with copies among the running tasks, and with the smallest gain taken.
#[test]
fn hadoop2_takes_the_one_task_that_a_copy_would_beat_by_most() {
    let running = vec![
        task(40.0, 50.0, 0.5),            // ends at 140, 20 s later than a new attempt
        task(50.0, 45.0, 0.3),            // ends at 200, 80 s later
        task(70.0, 20.0, 0.8),            // should have ended at 95
        task(90.0, 8.0, 0.3),             // ends at 116.7: sooner than a new attempt
        with_copy(task(50.0, 50.0, 0.1)), // has a copy
        copy(0.1),
    ];
    let table = Table { now_s: 100.0, tasks: 60, running, ..Table::default() }.finished(&[10.0, 20.0, 30.0]);
    let rule = Hadoop2::default();
    table.assert(&rule, &[(1, 80.0)]);
    // 5% of 60 tasks are the 3 that have finished; of 61 tasks they are less
    Table { tasks: 61, ..table.clone() }.assert(&rule, &[]);
    table.assert(&Hadoop2 { min_finished: 0.0, ..rule }, &[(1, 80.0)]);
    Table { finished: Finished::default(), ..table.clone() }.assert(&Hadoop2 { min_finished: 0.0, ..rule }, &[]);
    // 15 s between two requests
    Table { last_request_s: Some(85.1), ..table.clone() }.assert(&rule, &[]);
    Table { last_request_s: Some(85.0), ..table.clone() }.assert(&rule, &[(1, 80.0)]);
    // one copy runs: a second one is allowed by an absolute number, by 2 of 60 tasks, or by 2 of 5 running originals
    let none = Hadoop2 { min_copies: 1, share_of_tasks: 0.0, share_of_running: 0.0, ..rule };
    table.assert(&none, &[]);
    table.assert(&Hadoop2 { min_copies: 2, ..none }, &[(1, 80.0)]);
    table.assert(&Hadoop2 { share_of_tasks: 0.034, ..none }, &[(1, 80.0)]); // floor(2.04)
    table.assert(&Hadoop2 { share_of_tasks: 0.033, ..none }, &[]); // floor(1.98)
    table.assert(&Hadoop2 { share_of_running: 0.4, ..none }, &[(1, 80.0)]); // floor(0.4 * 5)
    table.assert(&Hadoop2 { share_of_running: 0.39, ..none }, &[]); // floor(0.39 * 5), though 0.39 * 6 is 2.34
    // no progress counts as 1 / 10,000: 50 + 45 / 0.0001 - 120
    let mut still = table;
    still.running[1].score = 0.0;
    still.assert(&rule, &[(1, 449_930.0)]);
}

/// Nine of ten tasks took 5 s: the limit is 15 s, and a task is fast enough at 0.75 of 0.2 /s, or at 0.15 of its age. Fails with the mean for the
/// median, with the sizes of tasks ignored, and with `>=` for `>` in the age.
#[test]
fn spark_flags_ages_beyond_a_multiple_of_the_median() {
    let sized = |start_s, score, size| RunningTask { size, ..task(start_s, 1.0, score) };
    let running = vec![
        sized(85.0, 0.0, 1.0), // 15 s old: not too long
        sized(84.0, 0.7, 3.0), // 16 s: 2.1 of 2.4 are too slow
        sized(84.0, 0.9, 3.0), // 16 s: 2.7 of 2.4 are fast enough
        sized(70.0, 0.9, 9.0), // 30 s: 8.1 of 4.5
        sized(69.0, 0.9, 9.0), // 31 s: fast enough, but older than twice what is too long
        with_copy(sized(60.0, 0.1, 1.0)),
    ];
    let table = Table { now_s: 100.0, tasks: 10, running, ..Table::default() };
    let five = table.clone().finished(&[5.0; 9]);
    let rule = Spark::default();
    five.assert(&rule, &[(1, 16.0), (4, 31.0)]);
    let off = Efficiency { enabled: false, ..rule.efficiency };
    five.assert(&Spark { efficiency: off, ..rule }, &[(1, 16.0), (2, 16.0), (3, 30.0), (4, 31.0)]);
    let strict = Efficiency { rate_multiplier: 0.9, ..rule.efficiency }; // 0.18 * 16 = 2.88
    five.assert(&Spark { efficiency: strict, ..rule }, &[(1, 16.0), (2, 16.0), (4, 31.0)]);
    let short = Efficiency { long_factor: 1.9, ..rule.efficiency }; // older than 28.5 s
    five.assert(&Spark { efficiency: short, ..rule }, &[(1, 16.0), (3, 30.0), (4, 31.0)]);
    // 90% of 11 tasks are 9, rounded down; of 12 they are 10
    Table { tasks: 11, ..five.clone() }.assert(&rule, &[(1, 16.0), (4, 31.0)]);
    Table { tasks: 12, ..five.clone() }.assert(&rule, &[]);
    // at least 30.5 s
    five.assert(&Spark { min_runtime_s: 30.5, efficiency: off, ..rule }, &[(4, 31.0)]);
    // 5 times 4 s, 4 times 8 s, once 58 s: median 6 s (limit: 18 s, or 4.5 * 6 = 27 s), mean 11 s
    let mixed = Table { tasks: 16, ..table }.finished(&[4.0, 4.0, 4.0, 4.0, 4.0, 8.0, 8.0, 8.0, 8.0, 58.0]);
    let early = Spark { quantile: 0.625, efficiency: off, ..rule };
    mixed.assert(&early, &[(3, 30.0), (4, 31.0)]);
    mixed.assert(&Spark { multiplier: 4.5, ..early }, &[(3, 30.0), (4, 31.0)]);
    mixed.assert(&Spark { multiplier: 5.1, ..early }, &[(4, 31.0)]);
}

/// Finished tasks took 5 s (three), 10 s (four), 20 s (two) and 25 s: 12 s on average. All tasks started at 10 s and were reported at 30 s; it is now
/// 32 s. Fails if the age at the report replaces the current age, with the gain ignored, and with `>=` for `>` in the probability.
#[test]
fn mantri_copies_where_that_saves_and_restarts_where_tasks_wait() {
    let at = |score| task(10.0, 20.0, score);
    let running = vec![
        at(0.5),         // 40 s in all, 18 s left; 2 * 5 s are less, 2 * 10 s are not: 3 of 10
        at(0.625),       // 10 s left: 2 * 5 s are no less
        at(20.0 / 36.9), // 14.9 s left: 3 of 10
        at(0.2),         // 78 s left: all of 10
        at(0.09),        // too young to tell
        with_copy(at(0.2)),
    ];
    let times = [5.0, 5.0, 5.0, 10.0, 10.0, 10.0, 10.0, 20.0, 20.0, 25.0];
    let table = Table { now_s: 32.0, tasks: 20, running, ..Table::default() }.finished(&times);
    let rule = Mantri::default();
    table.assert(&rule, &[(0, 18.0), (2, 14.9), (3, 78.0)]);
    table.assert(&Mantri { probability: 0.3, ..rule }, &[(3, 78.0)]);
    // the minimum score suffices; at 0.09, 222.2 - 22 s remain
    table.assert(&Mantri { min_score: 0.2, ..rule }, &[(0, 18.0), (2, 14.9), (3, 78.0)]);
    table.assert(&Mantri { min_score: 0.09, ..rule }, &[(0, 18.0), (2, 14.9), (3, 78.0), (4, 20.0 / 0.09 - 22.0)]);
    table.assert(&Mantri { min_finished: 11, ..rule }, &[]);
    // a new attempt takes 12 s: 18 and 78 s are more than 3 s longer, 14.9 s are not
    let waiting = Table { waiting: 1, ..table };
    let expected = [(0, 18.0, Remedy::Restart), (2, 14.9, Remedy::Copy), (3, 78.0, Remedy::Restart)];
    waiting.assert_remedies(&rule, &expected);
    let all = expected.map(|(at, urgency, _)| (at, urgency, Remedy::Restart));
    waiting.assert_remedies(&Mantri { restart_gain_s: 2.8, ..rule }, &all);
    waiting.assert(&Mantri { max_restarts: 0, ..rule }, &[(0, 18.0), (2, 14.9), (3, 78.0)]);
    // after three restarts it gets a copy
    let mut weary = waiting;
    weary.running[3].restarts = 3;
    let expected = [(0, 18.0, Remedy::Restart), (2, 14.9, Remedy::Copy), (3, 78.0, Remedy::Copy)];
    weary.assert_remedies(&rule, &expected);
}

/// Checks that a rule with no finished or running task flags nothing and does not divide by 0.
#[test]
fn tasks_without_peers_are_not_flagged() {
    let empty = Table { now_s: 1.0, tasks: 1, ..Table::default() };
    let alone = Table { running: vec![task(0.0, 0.0, 0.0)], nodes: vec![NodeSpeed::default()], ..empty.clone() };
    for entry in &CATALOGUE {
        let plan = (entry.settings)();
        let Some(detector) = plan.detector() else { continue };
        empty.assert(detector, &[]);
        alone.assert(detector, &[]);
    }
}
