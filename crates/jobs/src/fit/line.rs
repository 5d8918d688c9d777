//! A robust line through positive times: relative errors, Huber's weights, non-negative coefficients.
//!
//! The estimator is Huber's \[Huber1964\], by iteratively reweighted least squares on relative residuals.

use tailspn_common::order;

/// A line `fixed + slope · x`, neither part negative.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Line {
    pub(super) fixed: f64,
    pub(super) slope: f64,
}

/// Number of standard deviations within which residuals have full weight: 95% efficiency for normal errors \[Huber1964\].
const HUBER: f64 = 1.345;
/// Median absolute deviation of a normal distribution with standard deviation 1.
const NORMAL_MAD: f64 = 0.674_489_75;
/// Minimum scale of relative residuals.
const LEAST_SCALE: f64 = 0.05;
/// Rounds of reweighting; weights settle in far fewer.
const ROUNDS: usize = 30;
/// Minimum time that a line returns \[s\].
const SHORTEST: f64 = 1e-4;

impl Line {
    pub(super) fn at(self, x: f64) -> f64 {
        (self.fixed + self.slope * x).max(SHORTEST)
    }
}

/// Returns the median of some numbers; 0 without numbers.
pub(super) fn median(values: impl IntoIterator<Item = f64>) -> f64 {
    order::median(values).unwrap_or(0.0)
}

/// Returns the robust spread of residuals, as a standard deviation.
pub(super) fn scale(residuals: &[f64]) -> f64 {
    (median(residuals.iter().map(|r| r.abs())) / NORMAL_MAD).max(LEAST_SCALE)
}

/// Returns Huber's weight of a residual.
pub(super) fn weight(residual: f64, scale: f64) -> f64 {
    (HUBER * scale / residual.abs().max(1e-12)).min(1.0)
}

/// Returns Huber's loss of a residual, in units of `scale` squared.
pub(super) fn loss(residual: f64, scale: f64) -> f64 {
    let size = residual.abs() / scale;
    if size < HUBER { 0.5 * size * size } else { HUBER * size - 0.5 * HUBER * HUBER }
}

/// Returns true if data differ enough among tasks to determine a slope.
pub(super) fn has_slope(points: &[(f64, f64)]) -> bool {
    let least = points.iter().map(|p| p.0).fold(f64::INFINITY, f64::min);
    let most = points.iter().map(|p| p.0).fold(0.0, f64::max);
    most > 1.2 * least && most - least > 1e-3
}

/// Fits a level to times as if data did not matter: the robust geometric mean of the times.
fn level(points: &[(f64, f64)]) -> Line {
    let logs: Vec<f64> = points.iter().map(|p| p.1.ln()).collect();
    let mut centre = median(logs.iter().copied());
    for _ in 0..ROUNDS {
        let residuals: Vec<f64> = logs.iter().map(|log| log - centre).collect();
        let scale = scale(&residuals);
        let (mut sum, mut weights) = (0.0, 0.0);
        for (log, residual) in logs.iter().zip(&residuals) {
            let weight = weight(*residual, scale);
            sum += weight * log;
            weights += weight;
        }
        centre = sum / weights;
    }
    Line { fixed: centre.exp(), slope: 0.0 }
}

/// Fits a line through points (data, time > 0); a constant if all sizes are nearly equal, and the default line if there are no points.
pub(super) fn line(points: &[(f64, f64)]) -> Line {
    if points.is_empty() {
        return Line::default();
    }
    let start = level(points);
    if !has_slope(points) {
        return start;
    }
    let mut found = start;
    let mut weights: Vec<f64> = points.iter().map(|p| 1.0 / (p.1 * p.1)).collect();
    for _ in 0..ROUNDS {
        found = weighted(points, &weights);
        let residuals: Vec<f64> = points.iter().map(|p| (p.1 / found.at(p.0)).ln()).collect();
        let scale = scale(&residuals);
        for ((w, r), p) in weights.iter_mut().zip(&residuals).zip(points) {
            let mean = found.at(p.0);
            *w = weight(*r, scale) / (mean * mean);
        }
    }
    found
}

/// Fits a line by weighted least squares with both parts at least 0.
fn weighted(points: &[(f64, f64)], weights: &[f64]) -> Line {
    let (mut w, mut x, mut y, mut xx, mut xy) = (0.0, 0.0, 0.0, 0.0, 0.0);
    for (&(px, py), &pw) in points.iter().zip(weights) {
        w += pw;
        x += pw * px;
        y += pw * py;
        xx += pw * px * px;
        xy += pw * px * py;
    }
    let determinant = w * xx - x * x;
    let slope = if determinant > 0.0 { (w * xy - x * y) / determinant } else { 0.0 };
    if slope <= 0.0 {
        return Line { fixed: y / w, slope: 0.0 };
    }
    let fixed = (y - slope * x) / w;
    if fixed >= 0.0 { Line { fixed, slope } } else { Line { fixed: 0.0, slope: xy / xx } }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_found_and_a_wild_point_does_not_move_it() {
        let mut points: Vec<_> = (1..=20).map(|i| (f64::from(i), 2.0 + 0.5 * f64::from(i))).collect();
        let exact = line(&points);
        assert!((exact.fixed - 2.0).abs() < 1e-9 && (exact.slope - 0.5).abs() < 1e-9, "{exact:?}");
        points[7].1 *= 30.0;
        let robust = line(&points);
        assert!((robust.fixed - 2.0).abs() < 0.1 && (robust.slope - 0.5).abs() < 0.02, "{robust:?}");
    }

    #[test]
    fn fitted_lines_have_no_negative_part_and_are_level_for_equal_sizes() {
        let falling = line(&[(1.0, 4.0), (2.0, 3.0), (3.0, 2.0)]);
        assert_eq!(falling.slope, 0.0);
        let steep = line(&[(1.0, 0.5), (2.0, 2.0), (4.0, 6.0)]);
        assert!(steep.fixed == 0.0 && steep.slope > 0.5);
        let level = line(&[(16.0, 1.0), (16.0, 4.0)]);
        assert!((level.fixed - 2.0).abs() < 1e-9 && level.slope == 0.0);
        assert_eq!(line(&[]), Line::default());
    }
}
