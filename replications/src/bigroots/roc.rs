//! Receiver operating characteristics: the rates of true and false positives of a method over its thresholds.

use crate::bigroots::score::Confusion;

/// The rates of a method with given thresholds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RocPoint {
    /// False positive rate.
    pub false_positives: f64,
    /// True positive rate.
    pub true_positives: f64,
}

impl RocPoint {
    /// Returns the point of the given counts; `None` if a rate is unknown.
    pub fn of(confusion: &Confusion) -> Option<Self> {
        Some(Self {
            false_positives: confusion.false_positive_rate()?,
            true_positives: confusion.true_positive_rate()?,
        })
    }
}

/// Returns the upper convex hull of the points and of (0, 0) and (1, 1). The hull has the best rates that a choice of
/// thresholds, or a random choice between two thresholds, can reach \[Fawcett2006, 6\]. A method with two thresholds
/// gives a cloud of points; the hull turns the cloud into a curve.
pub fn hull(points: &[RocPoint]) -> Vec<RocPoint> {
    let at = |x: f64, y: f64| RocPoint { false_positives: x, true_positives: y };
    let mut points = points.to_vec();
    points.extend([at(0.0, 0.0), at(1.0, 1.0)]);
    points.sort_by(|a, b| {
        a.false_positives.total_cmp(&b.false_positives).then(a.true_positives.total_cmp(&b.true_positives))
    });
    let mut hull: Vec<RocPoint> = Vec::new();
    for point in points {
        while let [.., a, b] = hull.as_slice() {
            let turn = (b.false_positives - a.false_positives) * (point.true_positives - a.true_positives)
                - (b.true_positives - a.true_positives) * (point.false_positives - a.false_positives);
            if turn < 0.0 {
                break;
            }
            hull.pop();
        }
        hull.push(point);
    }
    hull
}

/// Returns the area under the hull of the points: 0.5 for a method that guesses at random, 1 for a method that is
/// always right.
///
/// ```
/// # use tailspn_replications::bigroots::{RocPoint, area_under};
/// assert_eq!(area_under(&[]), 0.5);
/// let point = RocPoint { false_positives: 0.0, true_positives: 0.5 };
/// assert_eq!(area_under(&[point]), 0.75);
/// ```
pub fn area_under(points: &[RocPoint]) -> f64 {
    let pairs = hull(points);
    let area = |pair: &[RocPoint]| {
        (pair[1].false_positives - pair[0].false_positives) * 0.5 * (pair[0].true_positives + pair[1].true_positives)
    };
    pairs.windows(2).map(area).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_below_the_hull_do_not_count() {
        let at = |x: f64, y: f64| RocPoint { false_positives: x, true_positives: y };
        let points = [at(0.0, 0.4), at(0.2, 0.8), at(0.1, 0.5), at(0.5, 0.6), at(0.0, 0.1)];
        let hull = hull(&points);
        assert_eq!(hull, [at(0.0, 0.0), at(0.0, 0.4), at(0.2, 0.8), at(1.0, 1.0)]);
        // two trapezes: 0.2 (0.4 + 0.8) / 2 + 0.8 (0.8 + 1) / 2
        assert!((area_under(&points) - 0.84).abs() < 1e-12);
    }
}
