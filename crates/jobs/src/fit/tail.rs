//! Tasks that repeatedly take several times the usual time: part of the distribution, not an accident.
//!
//! One task delayed by garbage collection has no significance for the next run. If it happens to several tasks of a stage, it will happen again:
//! their share of the stage's tasks, and their slow-down, become part of the stage's distribution. If it happens to several tasks of a job, but
//! hardly ever to more than two of one stage, their share of all tasks becomes part of the distributions of all stages.

use crate::fit::task_time::{Row, Times};
use crate::mapreduce::PhaseLaw;

/// A task with at least this multiple of the model's time belongs to the tail.
pub(super) const MOST_RATIO: f64 = 3.0;
/// A task with at least this multiple of the model's time has a cause specific to its stage, and is ignored for other stages.
const OWN_RATIO: f64 = 10.0;
/// Minimum number of tasks that form a tail.
const FEWEST: usize = 3;
/// Number of values of a distribution with a tail.
const VALUES: usize = 64;

/// Slow tasks.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Tail {
    /// Share of all tasks.
    share: f64,
    /// Ratios of the tasks' times to the model's, ascending.
    ratios: Vec<f64>,
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
        let common = slow.iter().flatten().copied().filter(|ratio| *ratio <= OWN_RATIO).collect();
        let stages = slow.into_iter().zip(rows).map(|(slow, rows)| Tail::new(slow, rows.len())).collect();
        Self { stages, job: Tail::new(common, all) }
    }

    /// Returns the tail of a stage, or of the job if the stage has none.
    pub(super) fn of_stage(&self, stage: usize) -> Option<&Tail> {
        self.stages.get(stage)?.as_ref().or(self.job.as_ref())
    }
}

impl Tail {
    /// Creates a tail; none if there are too few slow tasks to estimate one.
    fn new(mut ratios: Vec<f64>, tasks: usize) -> Option<Self> {
        ratios.sort_by(f64::total_cmp);
        let share = ratios.len() as f64 / tasks.max(1) as f64;
        (ratios.len() >= FEWEST && share * VALUES as f64 >= 0.5).then_some(Self { share, ratios })
    }

    /// Returns a distribution with this tail, and its mean in units of the mean of `law`, which is `mean` times the model's time.
    pub(super) fn on(&self, law: &PhaseLaw, mean: f64) -> (PhaseLaw, f64) {
        // `as` is fine: a share of the values
        let slow = ((self.share * VALUES as f64).round() as usize).clamp(1, VALUES / 2);
        let at = |i: usize| self.ratios[((i as f64 + 0.5) / slow as f64 * self.ratios.len() as f64) as usize] / mean;
        let mut values = law.equally_likely(VALUES - slow);
        values.extend((0..slow).map(at));
        let mean = values.iter().sum::<f64>() / VALUES as f64;
        let samples = values.into_iter().map(|value| (value / mean * 1e4).round() / 1e4).collect();
        (PhaseLaw::Empirical { samples }, mean)
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

    #[test]
    fn a_tail_is_part_of_the_law_with_its_share() {
        let rows = vec![rows(4)];
        let times = vec![fit_times(&rows[0])];
        let tails = Tails::of(&rows, &times);
        let tail = tails.of_stage(0).unwrap();
        assert!((tail.share - 4.0 / 65.0).abs() < 1e-12);
        let (law, mean) = tail.on(&PhaseLaw::Deterministic, 1.0);
        // 4 of 64 values are 5 times the rest
        assert!((mean - (60.0 + 4.0 * tail.ratios[0]) / 64.0).abs() < 1e-9 && (tail.ratios[0] - 5.0).abs() < 0.3);
        let PhaseLaw::Empirical { samples } = law else { panic!("{law:?}") };
        assert_eq!(samples.iter().filter(|value| **value > 2.0).count(), 4);
        assert!((samples.iter().sum::<f64>() / 64.0 - 1.0).abs() < 1e-3);
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
