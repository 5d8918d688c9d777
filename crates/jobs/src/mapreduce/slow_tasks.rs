//! Recurring slow tasks of a stage: a share of its tasks, whose times have a Pareto tail.
//!
//! The tail is continuous and has no end, so a stage with more tasks reaches longer times than the data that it was fitted to.

use serde::{Deserialize, Serialize};

use crate::mapreduce::setting::{SettingProblem, range};

/// Maximum shape, and maximum multiple of the usual time: beyond it, clocks lose precision.
const LARGEST: f64 = 1e6;

/// Recurring slow tasks. All other tasks are typical tasks: they have the mean times and the distribution of the stage.
///
/// ```text
/// P(time of a slow task > x · mean time of a typical task) = (from / x)^shape,   x ≥ from
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct SlowTasks {
    /// Share of slow tasks among all tasks of the stage, above 0 and at most 0.5.
    pub share: f64,
    /// Shortest time of a slow task, as a multiple of the mean time of typical tasks, >= 1.
    pub from: f64,
    /// Tail index, above 1 so that the mean exists. A slow task takes more than `x` times its shortest time with probability `x^-shape`.
    pub shape: f64,
    /// Longest time in the logs, as a multiple of the mean time of typical tasks, >= `from`. Estimates use it only to report that they reach
    /// beyond the logs. Default none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seen: Option<f64>,
}

impl SlowTasks {
    /// Returns the first invalid value, with its key; none for valid values.
    pub fn problem(&self) -> Option<(&'static str, SettingProblem)> {
        let Self { share, from, shape, seen } = *self;
        let check = |key, fine, what, value, needs| range(fine, what, value, needs).map(|problem| (key, problem));
        let longest =
            |seen| check("seen", from <= seen && seen.is_finite(), "the longest time", seen, "at least `from`");
        check("share", share > 0.0 && share <= 0.5, "the share of slow tasks", share, "above 0 and at most 0.5")
            .or_else(|| check("from", (1.0..=LARGEST).contains(&from), "the shortest slow time", from, "from 1 to 1e6"))
            .or_else(|| check("shape", shape > 1.0 && shape <= LARGEST, "shape", shape, "above 1 and at most 1e6"))
            .or_else(|| longest(seen?))
    }

    /// Returns the mean time of all tasks of the stage, as a multiple of the mean time of typical tasks.
    pub fn mean(&self) -> f64 {
        1.0 + self.share * (self.from * self.shape / (self.shape - 1.0) - 1.0)
    }

    /// Returns the probability that a slow task takes more than `x` times the mean time of typical tasks.
    pub fn exceeding(&self, x: f64) -> f64 {
        if x > self.from { (self.from / x).powf(self.shape) } else { 1.0 }
    }

    /// Returns the multiple of the mean time of typical tasks that a slow task exceeds with `probability`, in (0, 1].
    pub fn exceeded_with(&self, probability: f64) -> f64 {
        self.from * probability.powf(-1.0 / self.shape)
    }

    /// Returns the median of the longest time of `tasks` tasks, as a multiple of the mean time of typical tasks; none if it is likely that none of
    /// these tasks is slow.
    pub fn longest_of(&self, tasks: u32) -> Option<f64> {
        // the longest time is above x if any task is slow and above x: 1 - (1 - share · exceeding(x))^tasks = ½
        let above = -(-std::f64::consts::LN_2 / f64::from(tasks)).exp_m1() / self.share;
        (above <= 1.0).then(|| self.exceeded_with(above))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SLOW: SlowTasks = SlowTasks { share: 0.1, from: 3.0, shape: 2.0, seen: Some(9.0) };

    /// Mean of a Pareto time of minimum 3 and index 2: 6. Half of the maxima of 100 tasks are below x with (1 - 0.9/x²)^100 = ½.
    #[test]
    fn mean_and_tail_of_slow_tasks_match_their_formulas() {
        assert!((SLOW.mean() - (0.9 + 0.1 * 6.0)).abs() < 1e-12);
        assert_eq!([SLOW.exceeding(2.0), SLOW.exceeding(3.0), SLOW.exceeding(6.0)], [1.0, 1.0, 0.25]);
        assert!((SLOW.exceeded_with(0.25) - 6.0).abs() < 1e-12);
        let median = SLOW.longest_of(100).unwrap();
        assert!(((1.0 - 0.1 * SLOW.exceeding(median)).powi(100) - 0.5).abs() < 1e-12 && median > 3.0, "{median}");
        // of six tasks, none is slow in 53% of the runs
        assert_eq!(SLOW.longest_of(6), None);
        assert!((SLOW.longest_of(7).unwrap() - 3.0).abs() < 0.1);
    }

    #[test]
    fn values_out_of_range_are_named() {
        assert_eq!(SLOW.problem(), None);
        assert_eq!(SlowTasks { seen: None, ..SLOW }.problem(), None);
        let wrong = [
            ("share", SlowTasks { share: 0.0, ..SLOW }),
            ("share", SlowTasks { share: 0.6, ..SLOW }),
            ("from", SlowTasks { from: 0.9, ..SLOW }),
            ("shape", SlowTasks { shape: 1.0, ..SLOW }),
            ("shape", SlowTasks { shape: f64::NAN, ..SLOW }),
            ("seen", SlowTasks { seen: Some(2.0), ..SLOW }),
            ("seen", SlowTasks { seen: Some(f64::INFINITY), ..SLOW }),
        ];
        for (key, slow) in wrong {
            assert_eq!(slow.problem().map(|problem| problem.0), Some(key), "{slow:?}");
        }
    }
}
