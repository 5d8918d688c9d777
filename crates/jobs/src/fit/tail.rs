//! Tasks that repeatedly take several times the usual time: part of the distribution, not an accident.
//!
//! One task delayed by garbage collection has no significance for the next run. If it happens to several tasks of a stage, it will happen again:
//! their share of the stage's tasks, and their slow-down, become the slow tasks of the stage. If it happens to several tasks of a job, but
//! hardly ever to more than two of one stage, their share of all tasks becomes that of all stages.
//!
//! The slow-down has a Pareto tail, which has no end: the longest of many tasks takes longer than the longest of the few in the logs. The tail starts
//! near the least ratio of the slow tasks, because slow tasks may differ in kind: some logs have tasks without data, and tasks with data that all take
//! hundreds of times as long.

use crate::fit::task_time::{Row, Times};
use crate::mapreduce::SlowTasks;

/// A task with at least this multiple of the model's time belongs to the tail.
pub(super) const MOST_RATIO: f64 = 3.0;
/// A task with at least this multiple of the model's time has a cause specific to its stage, and is ignored for other stages.
const OWN_RATIO: f64 = 10.0;
/// Minimum number of tasks that form a tail.
const FEWEST: usize = 3;
/// Maximum share of slow tasks: if there are more, the others are not the usual ones.
const MOST_SHARE: f64 = 0.5;
/// Limits of the shape. Three ratios determine it only within a factor of about 3, so a few wild ones could otherwise claim a tail without a finite mean.
/// Above 2, the variance is finite too, which the printed interval of a mean requires. With the lower limit, a slow task takes 1.8 times the least
/// slow-down on average; with the upper limit, which nearly equal ratios reach, it takes 5% more than the least.
const SHAPES: [f64; 2] = [2.2, 20.0];
/// One slow task in this number illustrates how far a tail reaches.
const RARE: f64 = 1_000.0;

/// Slow tasks, with times in units of the model's time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Tail {
    /// Share of all tasks.
    share: f64,
    /// Start of the Pareto tail, at least [`MOST_RATIO`].
    from: f64,
    /// Index of the Pareto tail.
    shape: f64,
    /// The largest ratio of a task's time to the model's.
    longest: f64,
}

/// The slow tasks of each stage, and of the job.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Tails {
    stages: Vec<Option<Tail>>,
    job: Option<Tail>,
}

impl Tails {
    pub(super) fn of(rows: &[Vec<Row>], times: &[Times]) -> Self {
        let of_stage = |(rows, times): (&Vec<Row>, &Times)| {
            let ratio = |row: &Row| row.wall / times.of(row.mb, row.rank);
            rows.iter().map(ratio).filter(|ratio| *ratio > MOST_RATIO).collect::<Vec<_>>()
        };
        let slow: Vec<Vec<f64>> = rows.iter().zip(times).map(of_stage).collect();
        let all = rows.iter().map(Vec::len).sum();
        let common: Vec<f64> = slow.iter().flatten().copied().filter(|ratio| *ratio <= OWN_RATIO).collect();
        let stages = slow.iter().zip(rows).map(|(slow, rows)| Tail::new(slow, rows.len())).collect();
        Self { stages, job: Tail::new(&common, all) }
    }

    /// Returns the tail of a stage, or of the job if the stage has none.
    pub(super) fn of_stage(&self, stage: usize) -> Option<Tail> {
        self.stages.get(stage)?.or(self.job)
    }
}

impl Tail {
    /// Creates a tail from the ratios above [`MOST_RATIO`] of a number of tasks; none if there are too few slow tasks to estimate one.
    ///
    /// ```text
    /// 1 / shape = Σ ln(ratio / least ratio) / (n - 1),   ln from = mean of ln ratio - 1 / shape
    /// ```
    ///
    /// For Pareto ratios with an unknown lower limit, both estimates are unbiased. If the tail would start below the threshold, it starts there, and the shape
    /// is the maximum-likelihood estimate above it \[Hill1975\], the reciprocal of the mean of ln(ratio / threshold). Either way, and also at the
    /// limits of the shape, slow tasks keep their geometric mean.
    fn new(ratios: &[f64], tasks: usize) -> Option<Self> {
        if ratios.len() < FEWEST {
            return None;
        }
        let count = ratios.len() as f64;
        let least = ratios.iter().copied().fold(f64::INFINITY, f64::min);
        let log = ratios.iter().map(|ratio| ratio.ln()).sum::<f64>() / count;
        let shape = |excess: f64| excess.recip().clamp(SHAPES[0], SHAPES[1]);
        let own = shape((log - least.ln()) * count / (count - 1.0));
        let from = (log - own.recip()).exp();
        let (from, shape) = if from > MOST_RATIO { (from, own) } else { (MOST_RATIO, shape(log - MOST_RATIO.ln())) };
        Some(Self {
            share: (count / tasks.max(1) as f64).min(MOST_SHARE),
            from,
            shape,
            longest: ratios.iter().copied().fold(from, f64::max),
        })
    }

    /// Returns the slow tasks of a stage whose typical tasks have a mean of `mean` times the model's time.
    pub(super) fn slow_tasks(self, mean: f64) -> SlowTasks {
        let Self { share, from, shape, longest } = self;
        SlowTasks { share, from: (from / mean).max(1.0), shape, seen: Some(longest / mean) }
    }

    /// Returns how often tasks are slow, the longest time in the logs, and how far the tail reaches beyond it.
    pub(super) fn note(self) -> String {
        let Self { share, from, shape, longest } = self;
        let rare = from * RARE.powf(1.0 / shape);
        let beyond = if rare > longest { ", beyond the logs" } else { "" };
        format!(
            "{:.2}% of the tasks are slow: they take at least {from:.1} times the typical time, at most {longest:.1} times in the logs. One slow task in \
             {RARE} is predicted to take more than {rare:.0} times the typical time{beyond}",
            100.0 * share
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fit::task_time::fit_times;

    fn rows(slow: usize) -> Vec<Row> {
        let row = |i: usize| {
            let wall = if i.is_multiple_of(16) && i / 16 < slow { 5.0 } else { 1.0 };
            Row { wall, cpu: None, mb: 1.0, rank: 2 + (i as u32) / 4, small: false }
        };
        let mut rows: Vec<Row> = (0..64).map(row).collect();
        rows.push(Row { wall: 1.0, cpu: None, mb: 1.0, rank: 1, small: false });
        rows
    }

    /// Four slow tasks of five times the usual time, and nothing between: a tail that starts near five times that time.
    #[test]
    fn a_tail_has_its_share_and_its_start() {
        let rows = vec![rows(4)];
        let times = vec![fit_times(&rows[0])];
        let tail = Tails::of(&rows, &times).of_stage(0).unwrap();
        assert!((tail.share - 4.0 / 65.0).abs() < 1e-12);
        assert!((tail.longest - 5.0).abs() < 0.3 && tail.shape == 20.0, "{tail:?}");
        assert!((tail.from - tail.longest * (-0.05_f64).exp()).abs() < 1e-9, "{tail:?}");
        // typical tasks have a mean of 1.25 times the model's time
        let slow = tail.slow_tasks(1.25);
        assert_eq!((slow.share, slow.from, slow.shape), (tail.share, tail.from / 1.25, 20.0));
        assert!((slow.seen.unwrap() - tail.longest / 1.25).abs() < 1e-12 && slow.problem().is_none());
    }

    /// Start and shape are the true ones within 5 standard errors: the standard error of the shape is shape / √n, and of the start at most start / (n shape). The
    /// tails start at the threshold and far above it. Fails if logarithms count from 1, and if the shape is not the reciprocal of their mean.
    #[test]
    fn a_pareto_tail_is_found_again() {
        for (from, shape) in [(3.0, 2.4), (3.0, 4.0), (40.0, 2.5)] {
            let count = 2_000_u32;
            let ratios: Vec<f64> = (1..=count)
                .map(|i| from * crate::rng::uniform(i.wrapping_mul(2_654_435_769)).powf(-1.0 / shape))
                .collect();
            let tail = Tail::new(&ratios, 20_000).unwrap();
            let error = shape / f64::from(count).sqrt();
            assert!((tail.shape - shape).abs() < 5.0 * error && error < 0.025 * shape, "{tail:?}");
            assert!((tail.from / from - 1.0).abs() < 5.0 / (f64::from(count) * shape), "{tail:?}");
            assert!((tail.share - 0.1).abs() < 1e-12);
        }
    }

    /// At the limits of the shape too, the geometric mean of the ratios is exp(1 / shape) times the start.
    #[test]
    fn the_shape_of_a_tail_of_few_tasks_is_limited() {
        let tail = |ratios: &[f64]| Tail::new(ratios, 4).unwrap();
        let flat = tail(&[4.0, 400.0, 4_000.0]);
        assert_eq!((flat.share, flat.shape), (0.5, 2.2));
        assert!(
            (flat.from * (1.0_f64 / 2.2).exp() / (4.0 * 400.0 * 4_000.0_f64).cbrt() - 1.0).abs() < 1e-12,
            "{flat:?}"
        );
        let steep = tail(&[3.01, 3.02, 3.03]);
        assert_eq!((steep.from, steep.shape), (3.0, 20.0));
        assert_eq!(Tail::new(&[4.0, 5.0], 100), None);
    }

    #[test]
    fn the_note_says_how_far_a_tail_reaches() {
        let tail = Tail { share: 0.06, from: 3.0, shape: 2.5, longest: 8.1 };
        assert_eq!(
            tail.note(),
            "6.00% of the tasks are slow: they take at least 3.0 times the typical time, at most 8.1 times in the logs. One slow task in 1000 is \
             predicted to take more than 48 times the typical time, beyond the logs"
        );
        // 3 · 1000^(1/20) = 4.24
        assert!(Tail { shape: 20.0, ..tail }.note().ends_with("more than 4 times the typical time"));
    }

    #[test]
    fn two_slow_tasks_are_no_tail() {
        let rows = vec![rows(2)];
        assert_eq!(Tails::of(&rows, &[fit_times(&rows[0])]).of_stage(0), None);
    }

    /// Two slow tasks in each of two stages: too few for a stage, enough for the job. Tasks of forty times the usual time do not affect other stages.
    #[test]
    fn slow_tasks_of_several_stages_are_a_tail_of_the_job() {
        let two = [rows(2), rows(2)];
        let times = [fit_times(&two[0]), fit_times(&two[1])];
        let tails = Tails::of(&two, &times);
        assert_eq!(tails.of_stage(0), tails.of_stage(1));
        assert!((tails.of_stage(0).unwrap().share - 4.0 / 130.0).abs() < 1e-12);
        let mut wild = two.clone();
        wild.iter_mut().flatten().filter(|row| row.wall > 2.0).for_each(|row| row.wall *= 8.0);
        assert_eq!(Tails::of(&wild, &times).of_stage(0), None);
    }
}
