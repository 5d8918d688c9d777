//! Progress of a usual task by age: a line, pieces, or any monotone curve, with its inverse.
//!
//! Defines the forms, their values and their least-squares fit. `profile` decides which form suits a history.

use serde::{Deserialize, Serialize};

/// A point of a curve: age \[s\] and progress, 0 to 1.
pub type Point = (f64, f64);

/// Number of bisection steps, after which the ends of an interval are adjacent 64-bit floats for all practical ages.
const BISECTIONS: u32 = 52;

/// Prog(t): the progress of a usual task at age t, non-decreasing, between 0 and 1. \[Garraghan2015, Eq. 1\]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "form", rename_all = "kebab-case", deny_unknown_fields)]
pub enum ProgressCurve {
    /// intercept + slope · t.
    Linear {
        /// Progress at age 0.
        intercept: f64,
        /// Progress per second \[1/s\], > 0.
        slope: f64,
    },
    /// Linear between points.
    Piecewise {
        /// Points, ages and progress ascending; the last one has progress 1.
        points: Vec<Point>,
    },
    /// Smooth between points without overshoot: cubic pieces with the slopes of \[Fritsch1980\].
    Monotone {
        /// Points, ages and progress ascending; the last one has progress 1.
        points: Vec<Point>,
    },
}

/// A form of curves, with its name in files and tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum CurveForm {
    /// A straight line.
    Linear,
    /// Straight pieces.
    Piecewise,
    /// A smooth curve that never falls.
    Monotone,
}

impl ProgressCurve {
    /// Returns the form.
    pub fn form(&self) -> CurveForm {
        match self {
            Self::Linear { .. } => CurveForm::Linear,
            Self::Piecewise { .. } => CurveForm::Piecewise,
            Self::Monotone { .. } => CurveForm::Monotone,
        }
    }

    /// Returns the number of pieces, 1 for a line.
    pub fn pieces(&self) -> usize {
        match self {
            Self::Linear { .. } => 1,
            Self::Piecewise { points } | Self::Monotone { points } => points.len().saturating_sub(1),
        }
    }

    /// Returns the least-squares line through points; none if the points do not rise.
    ///
    /// Exact for points on a line:
    ///
    /// ```
    /// # use tailspn_jobs::diagnose::long_tail::ProgressCurve;
    /// // equation 1 of the paper: Prog(t) = 0.01 + 0.15 t
    /// let points: Vec<_> = (0..=6).map(|t| (f64::from(t), 0.01 + 0.15 * f64::from(t))).collect();
    /// let Some(ProgressCurve::Linear { intercept, slope }) = ProgressCurve::line(&points) else { panic!("rises") };
    /// assert!((intercept - 0.01).abs() < 1e-12 && (slope - 0.15).abs() < 1e-12);
    /// ```
    pub fn line(points: &[Point]) -> Option<Self> {
        let count = points.len() as f64;
        let (mean_t, mean_p) =
            points.iter().fold((0.0, 0.0), |(t, p), point| (t + point.0 / count, p + point.1 / count));
        let square: f64 = points.iter().map(|(t, _)| (t - mean_t) * (t - mean_t)).sum();
        let product: f64 = points.iter().map(|(t, p)| (t - mean_t) * (p - mean_p)).sum();
        let slope = product / square;
        (slope.is_finite() && slope > 0.0).then_some(Self::Linear { intercept: mean_p - slope * mean_t, slope })
    }

    /// Returns the polygon of at most `pieces` pieces whose corners are among the points, including the first and the
    /// last, with the least sum of squares to the remaining points. None with fewer than two points, or if the points
    /// do not rise.
    ///
    /// Exact (dynamic programming over corners); points must ascend.
    pub fn polygon(points: &[Point], pieces: usize) -> Option<Self> {
        let last = points.len().checked_sub(1)?;
        if !rises(points) {
            return None;
        }
        // best[j]: least squares of a polygon from the first point to point j, and its corners
        let mut best: Vec<(f64, Vec<usize>)> = (0..=last).map(|j| (chord_error(points, 0, j), vec![0, j])).collect();
        for _ in 1..pieces.min(last) {
            let longer = |j: usize| {
                let mut found = best[j].clone();
                for (i, (before, corners)) in best.iter().enumerate().take(j).skip(1) {
                    let error = before + chord_error(points, i, j);
                    if error < found.0 {
                        found = (error, corners.iter().copied().chain([j]).collect());
                    }
                }
                found
            };
            best = (0..=last).map(longer).collect();
        }
        Some(Self::Piecewise { points: best[last].1.iter().map(|&corner| points[corner]).collect() })
    }

    /// Returns the smooth monotone curve through points; none with fewer than two points, or if the points do not rise.
    pub fn smooth(points: &[Point]) -> Option<Self> {
        rises(points).then(|| Self::Monotone { points: points.to_vec() })
    }

    /// Returns Prog(t), between 0 and 1.
    pub fn progress(&self, age_s: f64) -> f64 {
        let value = match self {
            Self::Linear { intercept, slope } => intercept + slope * age_s,
            Self::Piecewise { points } => between(points, age_s, |_| None),
            Self::Monotone { points } => between(points, age_s, |i| Some(slopes_at(points, i))),
        };
        value.clamp(0.0, 1.0)
    }

    /// Returns T_S(t) = Prog(t / (1 + Diff)): the least progress at which a task is not a straggler. \[Garraghan2015, Eq. 2\]
    ///
    /// ```
    /// # use tailspn_jobs::diagnose::long_tail::ProgressCurve;
    /// let usual = ProgressCurve::Linear { intercept: 0.01, slope: 0.15 };
    /// // the paper's equation 2: 0.01 + 0.15 · 2/3 · t
    /// assert!((usual.threshold(3.0, 0.5) - (0.01 + 0.10 * 3.0)).abs() < 1e-12);
    /// ```
    pub fn threshold(&self, age_s: f64, diff: f64) -> f64 {
        self.progress(age_s / (1.0 + diff))
    }

    /// Returns the latest age at which a usual task has at most this progress \[s\]; for a progress of 1, its usual time.
    pub fn age_at(&self, progress: f64) -> f64 {
        let progress = progress.clamp(0.0, 1.0);
        match self {
            Self::Linear { intercept, slope } => ((progress - intercept) / slope).max(0.0),
            Self::Piecewise { points } => latest(points, progress),
            Self::Monotone { points } => bisect(points, progress),
        }
    }

    /// Returns the usual time of a task \[s\].
    pub fn usual_s(&self) -> f64 {
        match self {
            Self::Linear { intercept, slope } => (1.0 - intercept) / slope,
            Self::Piecewise { points } | Self::Monotone { points } => points.last().map_or(0.0, |last| last.0),
        }
    }
}

/// Returns true if ages and progress never fall and the ages span some time.
pub(super) fn rises(points: &[Point]) -> bool {
    let ascend = points.windows(2).all(|pair| pair[0].0 <= pair[1].0 && pair[0].1 <= pair[1].1);
    let finite = points.iter().all(|(t, p)| t.is_finite() && p.is_finite());
    finite && ascend && points.first().zip(points.last()).is_some_and(|(a, z)| a.0 < z.0 && a.1 < z.1)
}

/// Returns the sum of squares between the points from `i` to `j` and the chord.
fn chord_error(points: &[Point], i: usize, j: usize) -> f64 {
    let (from, to) = (points[i], points[j]);
    let on_chord =
        |t: f64| if to.0 > from.0 { from.1 + (to.1 - from.1) * (t - from.0) / (to.0 - from.0) } else { to.1 };
    points[i..=j].iter().map(|&(t, p)| (p - on_chord(t)) * (p - on_chord(t))).sum()
}

/// Returns the value at an age: linear between points, or cubic if `slopes` gives the slopes of a piece; beyond the ends, the value of the first or
/// last point.
fn between(points: &[Point], age_s: f64, slopes: impl Fn(usize) -> Option<(f64, f64)>) -> f64 {
    let after = points.partition_point(|point| point.0 <= age_s);
    let Some(before) = after.checked_sub(1) else { return points.first().map_or(0.0, |first| first.1) };
    let Some(&(t1, p1)) = points.get(after) else { return points[before].1 };
    let (t0, p0) = points[before];
    let u = (age_s - t0) / (t1 - t0);
    match slopes(before) {
        None => p0 + (p1 - p0) * u,
        Some(slopes) => cubic([points[before], points[after]], slopes, u),
    }
}

/// Returns the value of Hermite's cubic between two points with these slopes, at a given share of the distance.
fn cubic([(t0, p0), (t1, p1)]: [Point; 2], (d0, d1): (f64, f64), u: f64) -> f64 {
    let v = 1.0 - u;
    // in this form it is exactly constant between equal points
    p0 + (p1 - p0) * u * u * (3.0 - 2.0 * u) + (t1 - t0) * u * v * (d0 * v - d1 * u)
}

/// Returns the latest age with at most this progress, on cubic pieces.
fn bisect(points: &[Point], progress: f64) -> f64 {
    let after = points.partition_point(|point| point.1 <= progress);
    let Some(before) = after.checked_sub(1).filter(|_| after < points.len()) else { return latest(points, progress) };
    let (ends, slopes) = ([points[before], points[after]], slopes_at(points, before));
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..BISECTIONS {
        let middle = 0.5 * (low + high);
        if cubic(ends, slopes, middle) <= progress { low = middle } else { high = middle }
    }
    ends[0].0 + low * (ends[1].0 - ends[0].0)
}

/// Returns the slopes at both ends of the piece from point `i`: the harmonic mean of the adjacent chords, weighted by their widths, so that the cubic
/// neither overshoots nor falls. \[Fritsch1980\]
fn slopes_at(points: &[Point], i: usize) -> (f64, f64) {
    let width = |k: usize| points[k + 1].0 - points[k].0;
    let chord = |k: usize| (points[k + 1].1 - points[k].1) / width(k);
    let slope = |k: usize| {
        if k == 0 {
            return chord(0);
        }
        if k + 1 == points.len() {
            return chord(k - 1);
        }
        let (before, after) = (chord(k - 1), chord(k));
        if before <= 0.0 || after <= 0.0 || !before.is_finite() || !after.is_finite() {
            return 0.0;
        }
        let (w0, w1) = (2.0 * width(k) + width(k - 1), width(k) + 2.0 * width(k - 1));
        (w0 + w1) / (w0 / before + w1 / after)
    };
    // points with equal ages do not form a piece
    (slope(i), slope(i + 1))
}

/// Returns the latest age with at most this progress, on linear pieces.
fn latest(points: &[Point], progress: f64) -> f64 {
    let after = points.partition_point(|point| point.1 <= progress);
    let Some(before) = after.checked_sub(1) else { return points.first().map_or(0.0, |first| first.0) };
    let (t0, p0) = points[before];
    let Some(&(t1, p1)) = points.get(after) else { return t0 };
    t0 + (t1 - t0) * (progress - p0) / (p1 - p0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Reduces with a quick shuffle and a sort without progress.
    const PHASES: [Point; 5] = [(0.0, 0.0), (10.0, 0.33), (20.0, 0.33), (25.0, 0.66), (60.0, 1.0)];

    fn forms() -> [ProgressCurve; 3] {
        let line = ProgressCurve::Linear { intercept: 0.01, slope: 0.15 };
        [line, ProgressCurve::polygon(&PHASES, 4).unwrap(), ProgressCurve::smooth(&PHASES).unwrap()]
    }

    #[test]
    fn a_polygon_with_enough_pieces_goes_through_all_corners() {
        let ProgressCurve::Piecewise { points } = ProgressCurve::polygon(&PHASES, 9).unwrap() else { panic!() };
        assert_eq!(points, PHASES);
        // recovers two linear pieces from many points on them
        let bent: Vec<Point> = (0..=40)
            .map(|i| (f64::from(i), if i <= 10 { 0.07 * f64::from(i) } else { 0.6 + 0.01 * f64::from(i) }))
            .collect();
        let ProgressCurve::Piecewise { points } = ProgressCurve::polygon(&bent, 2).unwrap() else { panic!() };
        assert_eq!(points, [bent[0], bent[10], bent[40]]);
    }

    #[test]
    fn points_that_do_not_rise_give_no_curve() {
        for points in [
            &[][..],
            &[(1.0, 0.5)],
            &[(0.0, 0.5), (1.0, 0.5)],
            &[(0.0, 0.6), (1.0, 0.5)],
            &[(0.0, 0.0), (f64::NAN, 1.0)],
        ] {
            assert_eq!(ProgressCurve::polygon(points, 3), None);
            assert_eq!(ProgressCurve::smooth(points), None);
            assert_eq!(ProgressCurve::line(points), None);
        }
    }

    #[test]
    fn the_age_on_a_plateau_is_its_latest_age() {
        for curve in &forms()[1..] {
            // a smooth curve leaves a plateau with slope 0: its inverse is accurate to the square root of a rounding error
            assert!((curve.age_at(0.33) - 20.0).abs() < 1e-6, "{:?}", curve.form());
            assert!((curve.age_at(1.0) - 60.0).abs() < 1e-9);
            assert!((curve.usual_s() - 60.0).abs() < 1e-12);
        }
        let line = &forms()[0];
        assert!((line.usual_s() - 6.6).abs() < 1e-12);
        assert_eq!(line.age_at(0.0), 0.0);
    }

    proptest! {
        /// T_S((1 + Diff) t) = Prog(t) for every model, age and Diff.
        #[test]
        fn the_threshold_is_the_curve_at_a_stretched_age(t in 0.0..100.0_f64, diff in 0.0..3.0_f64) {
            for curve in forms() {
                prop_assert!((curve.threshold(t * (1.0 + diff), diff) - curve.progress(t)).abs() < 1e-9);
                prop_assert!((curve.threshold(1.5 * t, 0.5) - curve.progress(t)).abs() < 1e-9);
            }
        }

        #[test]
        fn curves_rise_and_are_inverted(t in 0.0..60.0_f64, more in 0.0..10.0_f64) {
            for curve in forms() {
                let (now, later) = (curve.progress(t), curve.progress(t + more));
                prop_assert!(later >= now - 1e-12);
                prop_assert!((0.0..=1.0).contains(&now));
                let back = curve.age_at(now);
                prop_assert!((curve.progress(back) - now).abs() < 1e-9, "{:?} at {t}", curve.form());
                prop_assert!(now >= 1.0 || back >= t - 1e-6, "{:?}: {back} after {t}", curve.form());
            }
        }
    }
}
