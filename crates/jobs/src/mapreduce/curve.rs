//! A distribution function held as polynomials on adaptive panels, and the sum of two such delays.
//!
//! Defines [`Curve`]: fit to any distribution function of a delay >= 0, value, moments, and the distribution of a sum.
//! It is independent of jobs; `analytic` composes curves. Method: Chebyshev interpolation with bisection until the last
//! coefficients vanish. The integral of a sum is computed on the union of both meshes. There, both factors are
//! polynomials, so Gauss quadrature is exact. Derived in docs/accuracy.md.

use std::sync::LazyLock;

/// Degree of the polynomial on a panel.
const DEGREE: usize = 16;

/// Values on a panel: the Chebyshev-Lobatto points of `DEGREE`.
const POINTS: usize = DEGREE + 1;

/// Gauss-Legendre points per piece of a sum's integral. They are exact up to degree 27. Beyond this degree, the
/// coefficients of the product of two panels are below [`PANEL_ERROR`].
const GAUSS: usize = 14;

/// Maximum of a panel's last coefficients for the panel to be accepted: the absolute error in probability.
const PANEL_ERROR: f64 = 1e-12;

/// Panels narrower than this share of the range are not split further (this ends the refinement of jumps).
const NARROWEST: f64 = 1e-13;

/// Constants shared by all panels.
struct Tables {
    /// Chebyshev-Lobatto points in [-1, 1], ascending.
    lobatto: [f64; POINTS],
    /// `cosines[k][j]` = weight of value j in coefficient k.
    transform: [[f64; POINTS]; POINTS],
    /// Gauss-Legendre points in [-1, 1].
    nodes: [f64; GAUSS],
    /// Gauss-Legendre weights; they sum to 2.
    weights: [f64; GAUSS],
}

static TABLES: LazyLock<Tables> = LazyLock::new(Tables::new);

impl Tables {
    fn new() -> Self {
        let step = std::f64::consts::PI / DEGREE as f64;
        let lobatto = std::array::from_fn(|j| -(step * j as f64).cos());
        let transform = std::array::from_fn(|k| {
            std::array::from_fn(|j| {
                let halved = |i: usize| if i == 0 || i == DEGREE { 0.5 } else { 1.0 };
                let angle = std::f64::consts::PI - step * j as f64;
                2.0 / DEGREE as f64 * halved(k) * halved(j) * (k as f64 * angle).cos()
            })
        });
        let (nodes, weights) = gauss_legendre();
        Self { lobatto, transform, nodes, weights }
    }
}

/// Returns the points and weights of Gauss-Legendre quadrature, by Newton's method on the Legendre polynomial.
fn gauss_legendre() -> ([f64; GAUSS], [f64; GAUSS]) {
    let mut nodes = [0.0; GAUSS];
    let mut weights = [0.0; GAUSS];
    for i in 0..GAUSS {
        let mut x = -(std::f64::consts::PI * (i as f64 + 0.75) / (GAUSS as f64 + 0.5)).cos();
        let mut slope = 1.0;
        for _ in 0..50 {
            let (mut before, mut here) = (1.0, x);
            for n in 2..=GAUSS {
                let n = n as f64;
                (before, here) = (here, ((2.0 * n - 1.0) * x * here - (n - 1.0) * before) / n);
            }
            slope = GAUSS as f64 * (x * here - before) / (x * x - 1.0);
            let change = here / slope;
            x -= change;
            if change.abs() < 1e-16 {
                break;
            }
        }
        nodes[i] = x;
        weights[i] = 2.0 / ((1.0 - x * x) * slope * slope);
    }
    (nodes, weights)
}

/// Polynomials of one panel, in Chebyshev coefficients on the panel's [-1, 1].
#[derive(Clone, Debug)]
struct Panel {
    value: [f64; POINTS],
    /// Derivative with respect to t (not to the panel's variable).
    slope: [f64; POINTS],
}

impl Panel {
    fn new(value: [f64; POINTS], width: f64) -> Self {
        let mut slope = [0.0; POINTS];
        for k in (1..POINTS).rev() {
            let above = if k + 1 < POINTS { slope[k + 1] } else { 0.0 };
            slope[k - 1] = above + 2.0 * k as f64 * value[k];
        }
        slope[0] *= 0.5;
        for s in &mut slope {
            *s *= 2.0 / width;
        }
        Self { value, slope }
    }
}

/// Returns the value of a Chebyshev series at each of `x` (Clenshaw; the inner loop is over the points, so it vectorises).
fn clenshaw<const N: usize>(coefficients: &[f64; POINTS], x: &[f64; N]) -> [f64; N] {
    let (mut next, mut after) = ([0.0; N], [0.0; N]);
    for k in (1..POINTS).rev() {
        for i in 0..N {
            let here = 2.0 * x[i] * next[i] - after[i] + coefficients[k];
            after[i] = next[i];
            next[i] = here;
        }
    }
    std::array::from_fn(|i| x[i] * next[i] - after[i] + coefficients[0])
}

/// The distribution function of a delay >= 0: 0 below 0, 1 beyond the last panel.
#[derive(Clone, Debug)]
pub struct Curve {
    /// Panel i reaches from `breaks[i]` to `breaks[i + 1]`; ascending, the first is 0.
    breaks: Vec<f64>,
    panels: Vec<Panel>,
}

impl Curve {
    /// Fits the distribution function `cdf` on `[0, end]`; `kinks` are points where it is not smooth.
    ///
    /// `cdf(end)` must be 1 up to a negligible error. Absolute error 1e-12 where `cdf` is smooth
    /// between the kinks; a jump is smeared over a 1e-13 part of the range.
    pub fn fit(end: f64, kinks: &[f64], mut cdf: impl FnMut(f64) -> f64) -> Self {
        let mut marks: Vec<f64> = kinks.iter().copied().filter(|k| *k > 0.0 && *k < end).collect();
        marks.extend([0.0, end]);
        marks.sort_by(f64::total_cmp);
        marks.dedup();
        let mut curve = Self { breaks: vec![0.0], panels: Vec::new() };
        let mut open: Vec<(f64, f64)> = marks.windows(2).rev().map(|w| (w[0], w[1])).collect();
        while let Some((low, high)) = open.pop() {
            let series = interpolate(low, high, &mut cdf);
            let middle = f64::midpoint(low, high);
            let narrow = high - low <= NARROWEST * end || middle <= low || middle >= high;
            if narrow || series[DEGREE - 2..].iter().all(|c| c.abs() <= PANEL_ERROR) {
                curve.breaks.push(high);
                curve.panels.push(Panel::new(series, high - low));
            } else {
                open.push((middle, high));
                open.push((low, middle));
            }
        }
        curve
    }

    /// Returns the end of the last panel \[s\]; beyond it the probability is 1.
    pub fn end(&self) -> f64 {
        *self.breaks.last().expect("a curve has at least the break 0")
    }

    /// Returns the points between which the curve is a polynomial \[s\], ascending from 0.
    pub fn breaks(&self) -> &[f64] {
        &self.breaks
    }

    /// Returns the probability that the delay is at most `t` seconds, between 0 and 1.
    pub fn cdf(&self, t: f64) -> f64 {
        if t < 0.0 {
            return 0.0;
        }
        if t >= self.end() {
            return 1.0;
        }
        let i = self.panel_at(t);
        let [value] = clenshaw(&self.panels[i].value, &[self.local(i, t)]);
        value.clamp(0.0, 1.0)
    }

    /// Returns the mean and variance of the delay \[s, s²\], from `E = ∫ S dt` and `E[T²] = 2 ∫ t S dt`, `S` = 1 - cdf.
    ///
    /// Exact for the fitted polynomials.
    pub fn mean_and_variance(&self) -> (f64, f64) {
        let (mut mean, mut square) = (0.0, 0.0);
        for (i, panel) in self.panels.iter().enumerate() {
            let (low, high) = (self.breaks[i], self.breaks[i + 1]);
            let half = 0.5 * (high - low);
            let values = clenshaw(&panel.value, &TABLES.nodes);
            for ((value, node), weight) in values.iter().zip(&TABLES.nodes).zip(&TABLES.weights) {
                let survival = 1.0 - value;
                mean += weight * half * survival;
                square += 2.0 * weight * half * survival * (low + half * (1.0 + node));
            }
        }
        (mean, (square - mean * mean).max(0.0))
    }

    /// Returns the probability that the sum of this delay and an independent `other` is at most `t` seconds.
    ///
    /// ```text
    /// P(X + Y <= t) = ∫ f_X(x) F_Y(t - x) dx
    /// ```
    ///
    /// Absolute error below 1e-10 for fitted curves without jumps.
    pub fn sum_cdf(&self, other: &Self, t: f64) -> f64 {
        if t <= 0.0 {
            return 0.0;
        }
        // below this x, the other delay certainly fits in
        let sure = t - other.end();
        let mut total = if sure > 0.0 { self.cdf(sure) } else { 0.0 };
        let mut x = sure.max(0.0);
        let last = t.min(self.end());
        if x >= last {
            return total.clamp(0.0, 1.0);
        }
        let mut mine = self.panel_at(x);
        let mut theirs = other.panel_at(t - x);
        while x < last {
            let my_end = self.breaks[mine + 1];
            let their_end = t - other.breaks[theirs];
            let stop = my_end.min(their_end).min(last);
            if stop > x {
                total += self.piece(mine, other, theirs, t, (x, stop));
                x = stop;
            }
            if x < last {
                if my_end <= x {
                    mine += 1;
                }
                if their_end <= x {
                    if theirs == 0 {
                        break;
                    }
                    theirs -= 1;
                }
            }
        }
        total.clamp(0.0, 1.0)
    }

    /// Returns the distribution of the sum of this delay and an independent `other`, as a curve.
    pub fn sum(&self, other: &Self) -> Self {
        Self::fit(self.end() + other.end(), &self.breaks, |t| self.sum_cdf(other, t))
    }

    /// Integrates, by Gauss quadrature, `f_X(x) F_Y(t - x)` from `x.0` to `x.1`, within one panel of each.
    fn piece(&self, mine: usize, other: &Self, theirs: usize, t: f64, x: (f64, f64)) -> f64 {
        let half = 0.5 * (x.1 - x.0);
        let at: [f64; GAUSS] = std::array::from_fn(|i| x.0 + half * (1.0 + TABLES.nodes[i]));
        let slopes = clenshaw(&self.panels[mine].slope, &at.map(|x| self.local(mine, x)));
        let values = clenshaw(&other.panels[theirs].value, &at.map(|x| other.local(theirs, t - x)));
        half * (0..GAUSS).map(|i| TABLES.weights[i] * slopes[i] * values[i]).sum::<f64>()
    }

    /// Returns the index of the panel that holds `t`; the last panel for a `t` beyond the end.
    fn panel_at(&self, t: f64) -> usize {
        self.breaks.partition_point(|b| *b <= t).saturating_sub(1).min(self.panels.len() - 1)
    }

    /// Returns `t` in the variable of panel `i`, -1 to 1.
    fn local(&self, i: usize, t: f64) -> f64 {
        let (low, high) = (self.breaks[i], self.breaks[i + 1]);
        ((t - low) - (high - t)) / (high - low)
    }
}

/// Returns the Chebyshev coefficients of `function` on one panel.
fn interpolate(low: f64, high: f64, function: &mut impl FnMut(f64) -> f64) -> [f64; POINTS] {
    let half = 0.5 * (high - low);
    let values: [f64; POINTS] = std::array::from_fn(|j| match j {
        0 => function(low),
        DEGREE => function(high),
        _ => function(low + half * (1.0 + TABLES.lobatto[j])),
    });
    std::array::from_fn(|k| TABLES.transform[k].iter().zip(&values).map(|(c, v)| c * v).sum())
}

#[cfg(test)]
mod tests {
    use super::*;
    use approx::assert_abs_diff_eq;
    use approx::assert_relative_eq;

    fn exponential(mean: f64) -> Curve {
        Curve::fit(40.0 * mean, &[], |t| -(-t / mean).exp_m1())
    }

    #[test]
    fn exponential_curve_keeps_its_moments() {
        let (mean, variance) = exponential(3.0).mean_and_variance();
        assert_relative_eq!(mean, 3.0, max_relative = 1e-11);
        assert_relative_eq!(variance, 9.0, max_relative = 1e-10);
    }

    #[test]
    fn sum_of_two_equal_exponentials_is_erlang() {
        let curve = exponential(2.0);
        for t in [1e-6, 0.1, 1.0, 4.0, 20.0, 79.0] {
            let x: f64 = t / 2.0;
            let erlang = -(-x).exp_m1() - x * (-x).exp();
            assert_abs_diff_eq!(curve.sum_cdf(&curve, t), erlang, epsilon = 1e-11);
        }
        let (mean, variance) = curve.sum(&curve).mean_and_variance();
        assert_relative_eq!(mean, 4.0, max_relative = 1e-10);
        assert_relative_eq!(variance, 8.0, max_relative = 1e-9);
    }

    #[test]
    fn sum_holds_when_one_delay_is_a_billion_times_the_other() {
        let (long, short) = (exponential(1.0), exponential(1e-9));
        let exact = |t: f64| 1.0 - ((-t).exp() - 1e-9 * (-t / 1e-9).exp()) / (1.0 - 1e-9);
        for t in [1e-9, 1e-3, 0.5, 3.0] {
            assert_abs_diff_eq!(long.sum_cdf(&short, t), exact(t), epsilon = 1e-11);
            assert_abs_diff_eq!(short.sum_cdf(&long, t), exact(t), epsilon = 1e-11);
        }
    }

    #[test]
    fn probability_is_zero_before_and_one_after_the_range() {
        let curve = exponential(1.0);
        assert_eq!(curve.cdf(-1.0).to_bits(), 0.0_f64.to_bits());
        assert_eq!(curve.cdf(1e9).to_bits(), 1.0_f64.to_bits());
        assert_eq!(curve.sum_cdf(&curve, 0.0).to_bits(), 0.0_f64.to_bits());
        assert_abs_diff_eq!(curve.sum_cdf(&curve, 1e9), 1.0, epsilon = 1e-15);
    }
}
