//! Tasks that take several times the usual time, again and again: part of the law, not a mishap.
//!
//! One task that garbage collection held up says nothing of the next run. Where it happens to several tasks, it will happen again:
//! the share of such tasks among all of the job, and by how much they were slower, go into the law of every stage.

use crate::fit::task_time::{Row, Times};
use crate::mapreduce::PhaseLaw;

/// A task that takes so many times the model's time is one of the tail.
pub(super) const MOST_RATIO: f64 = 3.0;
/// Fewest tasks that are a tail.
const FEWEST: usize = 3;
/// Values of a law with a tail.
const VALUES: usize = 64;

/// The slow tasks of a job.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Tail {
    /// Their share of all tasks.
    share: f64,
    /// Their times over the model's, ascending.
    ratios: Vec<f64>,
}

impl Tail {
    /// The tail of all stages together; none where there are too few such tasks to expect more.
    pub(super) fn of(rows: &[Vec<Row>], times: &[Times]) -> Option<Self> {
        let all: usize = rows.iter().map(Vec::len).sum();
        let of_stage = |(rows, times): (&Vec<Row>, &Times)| {
            let ratio = |row: &Row| row.wall / times.of(row.mb, row.rank);
            rows.iter().map(ratio).filter(|ratio| *ratio > MOST_RATIO).collect::<Vec<_>>()
        };
        let mut ratios: Vec<f64> = rows.iter().zip(times).flat_map(of_stage).collect();
        ratios.sort_by(f64::total_cmp);
        let share = ratios.len() as f64 / all as f64;
        (ratios.len() >= FEWEST && share * VALUES as f64 >= 0.5).then_some(Self { share, ratios })
    }

    /// A law with this tail, and its mean in units of the law's.
    pub(super) fn on(&self, law: &PhaseLaw) -> (PhaseLaw, f64) {
        // `as` is fine: a share of the values
        let slow = ((self.share * VALUES as f64).round() as usize).clamp(1, VALUES / 2);
        let at = |i: usize| self.ratios[((i as f64 + 0.5) / slow as f64 * self.ratios.len() as f64) as usize];
        let mut values = law.equally_likely(VALUES - slow);
        values.extend((0..slow).map(at));
        let mean = values.iter().sum::<f64>() / VALUES as f64;
        let samples = values.into_iter().map(|value| (value / mean * 1e4).round() / 1e4).collect();
        (PhaseLaw::Empirical { samples }, mean)
    }

    /// Their share of all tasks.
    pub(super) fn share(&self) -> f64 {
        self.share
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
        let tail = Tail::of(&rows, &times).unwrap();
        assert!((tail.share() - 4.0 / 65.0).abs() < 1e-12);
        let (law, mean) = tail.on(&PhaseLaw::Deterministic);
        // 4 of 64 values are 5 times the others
        assert!((mean - (60.0 + 4.0 * tail.ratios[0]) / 64.0).abs() < 1e-9 && (tail.ratios[0] - 5.0).abs() < 0.3);
        let PhaseLaw::Empirical { samples } = law else { panic!("{law:?}") };
        assert_eq!(samples.iter().filter(|value| **value > 2.0).count(), 4);
        assert!((samples.iter().sum::<f64>() / 64.0 - 1.0).abs() < 1e-3);
    }

    #[test]
    fn two_slow_tasks_are_no_tail() {
        let rows = vec![rows(2)];
        assert_eq!(Tail::of(&rows, &[fit_times(&rows[0])]), None);
    }
}
