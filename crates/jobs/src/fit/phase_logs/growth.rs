//! The growth of a phase's time with the data of its task, from means at several sizes.
//!
//! Two sizes separate a fixed part from a rate: a line, by least squares of relative errors. A line that would start below 0 belongs to a time that grows
//! faster than its data: then a power of the data, by least squares of logarithms. One size tells nothing about growth; then the time is taken to be
//! proportional to the data.

use crate::fit::line::has_slope;
use crate::mapreduce::Growth;

/// Tasks of one job with nearly the same data.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct SizePoint {
    /// Data of a task \[MB\].
    pub(super) mb: f64,
    /// Mean time \[s\].
    pub(super) seconds: f64,
    /// Number of tasks.
    pub(super) tasks: f64,
}

/// Shortest time that counts \[s\]: logs have microseconds.
const SHORTEST_S: f64 = 1e-6;

/// Returns the growth, rounded to what the data can tell, and true if several sizes determine it.
pub(super) fn growth(points: &[SizePoint]) -> (Growth, bool) {
    let points: Vec<SizePoint> = points.iter().copied().filter(|point| point.mb > 0.0).collect();
    let level = weighted_mean(&points, |point| point.seconds);
    if level < SHORTEST_S {
        return (Growth::default(), false);
    }
    let sizes: Vec<(f64, f64)> = points.iter().map(|point| (point.mb, point.seconds)).collect();
    if !has_slope(&sizes) {
        let per_mb_s = level / weighted_mean(&points, |point| point.mb);
        return (Growth { per_mb_s, ..Growth::default() }.rounded(), false);
    }
    let weighted = |point: &SizePoint| point.tasks / point.seconds.max(SHORTEST_S).powi(2);
    let (fixed_s, per_mb_s) = line(points.iter().map(|point| (point.mb, point.seconds, weighted(point))));
    let found = if per_mb_s <= 0.0 {
        Growth { fixed_s: level, ..Growth::default() }
    } else if fixed_s >= 0.0 {
        Growth { fixed_s, per_mb_s, exponent: 1.0 }
    } else {
        let logs = points.iter().map(|point| (point.mb.ln(), point.seconds.max(SHORTEST_S).ln(), point.tasks));
        let (log, exponent) = line(logs);
        Growth { fixed_s: 0.0, per_mb_s: log.exp(), exponent }
    };
    (found.rounded(), true)
}

fn weighted_mean(points: &[SizePoint], value: impl Fn(&SizePoint) -> f64) -> f64 {
    let all: f64 = points.iter().map(|point| point.tasks).sum();
    if all > 0.0 { points.iter().map(|point| point.tasks * value(point)).sum::<f64>() / all } else { 0.0 }
}

/// Returns the value at 0 and the slope of the line through points (x, y, weight) of different x.
fn line(points: impl Iterator<Item = (f64, f64, f64)> + Clone) -> (f64, f64) {
    let sum = |value: fn((f64, f64, f64)) -> f64| points.clone().map(value).sum::<f64>();
    let all = sum(|(_, _, w)| w);
    let (x0, y0) = (sum(|(x, _, w)| w * x) / all, sum(|(_, y, w)| w * y) / all);
    let xx: f64 = points.clone().map(|(x, _, w)| w * (x - x0) * (x - x0)).sum();
    let xy: f64 = points.clone().map(|(x, y, w)| w * (x - x0) * (y - y0)).sum();
    let slope = xy / xx;
    (y0 - slope * x0, slope)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(points: &[(f64, f64)]) -> (Growth, bool) {
        let point = |&(mb, seconds): &(f64, f64)| SizePoint { mb, seconds, tasks: 4.0 };
        growth(&points.iter().map(point).collect::<Vec<_>>())
    }

    #[test]
    fn two_sizes_separate_a_rate_from_a_fixed_part() {
        let (found, known) = at(&[(32.0, 0.5), (64.0, 0.9)]);
        assert!(known && (found.fixed_s - 0.1).abs() < 1e-12 && (found.per_mb_s - 0.0125).abs() < 1e-12);
        assert_eq!(found.exponent.to_bits(), 1.0_f64.to_bits());
    }

    #[test]
    fn a_time_that_grows_faster_than_its_data_is_a_power() {
        let (found, known) = at(&[(32.0, 1.0), (64.0, 4.0)]);
        assert!(known && (found.exponent - 2.0).abs() < 1e-12 && (found.at(128.0) - 16.0).abs() < 1e-4, "{found:?}");
    }

    #[test]
    fn one_size_is_taken_as_proportional_and_a_shrinking_time_as_constant() {
        let (found, known) = at(&[(32.0, 1.0), (32.0, 3.0)]);
        assert!(!known && (found.at(64.0) - 4.0).abs() < 1e-12);
        assert!((at(&[(32.0, 3.0), (64.0, 1.0)]).0.at(128.0) - 2.0).abs() < 1e-12);
        assert_eq!(at(&[(32.0, 0.0)]), (Growth::default(), false));
    }
}
