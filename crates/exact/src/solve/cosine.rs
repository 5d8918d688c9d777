//! The distribution of a passage time through a chain without cycles, as a cosine series.
//!
//! In such a chain, one pass over the states, the last states first, computes the transform of the time for several
//! arguments:
//!
//! ```text
//! φ_i(s) = (r(i → targets) + Σ_j r_ij φ_j(s)) / (d_i + s)
//! f(t) = A_0/2 + Σ_{k<n} A_k cos(kπ (t−a)/(b−a)),   A_k = 2/(b−a) Re(φ(−iu) e^{−iua}), u = kπ/(b−a)
//! ```
//!
//! \[Fang2008\]. With the transform of the whole time, the series describes the time reflected at `a` and `b`. So the
//! error of truncation to the interval is at most the probability outside, which Chernoff's bound limits. The error
//! after `n` coefficients is bounded by the moduli of all factors, which decrease as `u` increases. The number of
//! passes depends on the length of the interval in standard deviations, whereas for uniformisation it depends on the
//! fastest rate. For large jobs, the series needs about 10 passes, uniformisation 10,000.

use std::f64::consts::PI;

use crate::compile::Csr;
use crate::solve::chain::{Chain, OUTSIDE};
use crate::solve::transient::TransientSettings;

/// Number of real arguments per pass.
const LANES: usize = 16;
/// Number of complex arguments per pass.
const PAIRS: usize = LANES / 2;
/// Arguments θ of Chernoff's bounds, multiplied by the standard deviation.
const TILTS: [f64; PAIRS] = [0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0, 9.0];
/// Maximum argument of Chernoff's bounds, as a share of the smallest rate of leaving a state. The argument is
/// subtracted from this rate.
const TILT_OF_RATE: f64 = 0.9;
/// First frequency at which the moduli are evaluated, multiplied by the standard deviation; each next frequency is √2 times higher.
const FIRST_FREQUENCY: f64 = 1.0;
/// Rounding error of a coefficient; it is multiplied by the number of coefficients.
const ROUNDING: f64 = 1e-14;

/// The states before the target, each after its successors.
#[derive(Clone, Debug)]
pub(crate) struct Descent {
    /// Per state: rates to earlier states of this order.
    ahead: Csr<(u32, f64)>,
    /// Per state: rate of leaving it, and rate into the target.
    exit: Vec<f64>,
    into: Vec<f64>,
    /// Initial probabilities above 0.
    start: Vec<(u32, f64)>,
}

/// The distribution of a passage time, as a cosine series on the interval `ends`.
#[derive(Clone, Debug)]
pub(crate) struct CosineLaw {
    /// Probability of a start in the target.
    at_once: f64,
    ends: [f64; 2],
    /// `A_k (b−a)/2`.
    coefficients: Vec<f64>,
    /// Bound of the absolute error of a probability.
    pub(crate) error: f64,
}

impl CosineLaw {
    /// Returns the distribution, if `most` coefficients suffice for an error of about `error`. `mean` and `sd` describe
    /// the time of the runs that arrive, `at_once` is the probability of a start in the target.
    pub(crate) fn of(
        descent: &Descent,
        [mean, sd]: [f64; 2],
        at_once: f64,
        settings: TransientSettings<'_>,
        most: usize,
    ) -> Option<Self> {
        let TransientSettings { error, watch, .. } = settings;
        let mut values = Vec::new();
        let (ends, outside) = descent.ends([mean, sd], 0.25 * error, &mut values)?;
        let width = ends[1] - ends[0];
        let (highest, left_out) = descent.highest_frequency(sd, 0.5 * error, &mut values)?;
        let count = highest * width / PI;
        if count.is_nan() || count > most as f64 {
            return None;
        }
        let count = (count as usize + 1).next_multiple_of(PAIRS);
        let mut coefficients = Vec::with_capacity(count);
        for first in (0..count).step_by(PAIRS) {
            if watch.stopped() {
                return None;
            }
            let u: [f64; PAIRS] = std::array::from_fn(|lane| (first + lane) as f64 * PI / width);
            let (re, im) = descent.transforms(&u, &mut values);
            for lane in 0..PAIRS {
                let (sin, cos) = (u[lane] * ends[0]).sin_cos();
                coefficients.push(re[lane] * cos + im[lane] * sin);
            }
        }
        let error = outside + left_out + count as f64 * ROUNDING;
        Some(Self { at_once, ends, coefficients, error })
    }

    /// Returns the probability of having arrived by `time`.
    pub(crate) fn cdf(&self, time: f64) -> f64 {
        let [a, b] = self.ends;
        let x = ((time - a) / (b - a)).clamp(0.0, 1.0);
        let waves = (1..).zip(&self.coefficients[1..]).map(|(k, c)| {
            let k = f64::from(k) * PI;
            c * (k * x).sin() / k
        });
        (self.at_once + self.coefficients[0] * x + 2.0 * waves.sum::<f64>()).clamp(0.0, 1.0)
    }

    /// Returns the density of the arrival at `time` \[1/s\], not counting runs that start in the target.
    pub(crate) fn density(&self, time: f64) -> f64 {
        let [a, b] = self.ends;
        let x = (time - a) / (b - a);
        if !(0.0..=1.0).contains(&x) {
            return 0.0;
        }
        let waves = (1..).zip(&self.coefficients[1..]).map(|(k, c)| c * (f64::from(k) * PI * x).cos());
        ((self.coefficients[0] + 2.0 * waves.sum::<f64>()) / (b - a)).max(0.0)
    }
}

impl Descent {
    /// Returns the part of `chain` on `states`, numbered in the order `order` of their positions. `start` and `into` are the initial
    /// probabilities and the rates into the target by position.
    pub(crate) fn of(chain: &Chain, states: &[u32], order: &[u32], start: &[f64], into: &[f64]) -> Self {
        let mut place = vec![OUTSIDE; chain.states()];
        for (i, &at) in (0..).zip(order) {
            place[states[at as usize] as usize] = i;
        }
        let ordered = || order.iter().map(|&at| states[at as usize] as usize);
        let ahead = Csr::from_rows(ordered().map(|state| {
            let row = chain.rates.row(state);
            row.map(|(to, rate)| (place[to as usize], rate)).filter(|(to, _)| *to != OUTSIDE)
        }));
        let start = (0..).zip(order).map(|(i, &at)| (i, start[at as usize]));
        Self {
            ahead,
            exit: ordered().map(|state| chain.exit_rate(state)).collect(),
            into: order.iter().map(|&at| into[at as usize]).collect(),
            start: start.filter(|(_, p)| *p > 0.0).collect(),
        }
    }

    /// Returns two ends such that at most `outside` of the probability lies beyond each of them, and a bound of the total probability outside.
    ///
    /// ```text
    /// P(T ≥ b) ≤ E[e^{θT}] e^{−θb},   P(T ≤ a) ≤ E[e^{−θT}] e^{θa}   for θ > 0
    /// ```
    fn ends(&self, [mean, sd]: [f64; 2], outside: f64, values: &mut Vec<[f64; LANES]>) -> Option<([f64; 2], f64)> {
        let slowest = self.exit.iter().copied().fold(f64::INFINITY, f64::min);
        let mut tilts = [0.0; LANES];
        for (lane, tilt) in TILTS.into_iter().enumerate() {
            tilts[lane] = -(tilt / sd).min(TILT_OF_RATE * slowest);
            tilts[PAIRS + lane] = tilt / sd;
        }
        let moments = self.pass(values, |exit| tilts.map(|tilt| exit + tilt));
        // the time at which a bound is `outside`; the same formula for E e^{θT} and E e^{−θT}
        let distance = |lane: usize| (moments[lane].ln() - outside.ln()) / tilts[lane];
        let last = (0..PAIRS).map(|lane| -distance(lane)).filter(|end| end.is_finite()).fold(f64::INFINITY, f64::min);
        let first = (PAIRS..LANES).map(|lane| -distance(lane)).filter(|end| end.is_finite()).fold(0.0, f64::max);
        (last.is_finite() && last > mean && first < mean).then_some(([first, last], 2.0 * outside))
    }

    /// Returns a frequency above which all coefficients together change the distribution by less than `left_out`, and a bound of this change.
    ///
    /// Coefficient k changes the distribution by at most 2/(kπ) times the mean product of the moduli `d/|d + iu|` along a run.
    fn highest_frequency(&self, sd: f64, left_out: f64, values: &mut Vec<[f64; LANES]>) -> Option<(f64, f64)> {
        let ratio = std::f64::consts::SQRT_2;
        let u: [f64; LANES] = std::array::from_fn(|lane| FIRST_FREQUENCY / sd * ratio.powi(lane as i32));
        let moduli = self.pass(values, |exit| u.map(|u| exit.hypot(u)));
        // beyond the last frequency, each factor of √2 reduces the modulus at least as much as the previous factor
        let [.., before, last] = moduli;
        let mut sum = if last > 0.0 { last / (1.0 - last / before) } else { 0.0 };
        let mut found = None;
        for lane in (0..LANES).rev() {
            if lane < LANES - 1 {
                sum += moduli[lane];
            }
            let bound = 2.0 / PI * ratio.ln() * sum;
            if bound.is_nan() || bound > left_out {
                break;
            }
            found = Some((u[lane], bound));
        }
        found
    }

    /// Returns `E[Π d/divisor(d)]` along the runs that arrive, for each lane.
    fn pass(&self, values: &mut Vec<[f64; LANES]>, divisor: impl Fn(f64) -> [f64; LANES]) -> [f64; LANES] {
        values.clear();
        for (state, (&exit, &into)) in self.exit.iter().zip(&self.into).enumerate() {
            let mut sum = [into; LANES];
            for &(to, rate) in self.ahead.row(state) {
                let value = &values[to as usize];
                for lane in 0..LANES {
                    sum[lane] += rate * value[lane];
                }
            }
            let divisor = divisor(exit);
            for lane in 0..LANES {
                sum[lane] /= divisor[lane];
            }
            values.push(sum);
        }
        self.at_start(values)
    }

    /// Returns the real and imaginary parts of `E[e^{iuT}]` over the runs that arrive.
    fn transforms(&self, u: &[f64; PAIRS], values: &mut Vec<[f64; LANES]>) -> ([f64; PAIRS], [f64; PAIRS]) {
        values.clear();
        for (state, (&exit, &into)) in self.exit.iter().zip(&self.into).enumerate() {
            let (mut re, mut im) = ([into; PAIRS], [0.0; PAIRS]);
            for &(to, rate) in self.ahead.row(state) {
                let value = &values[to as usize];
                for lane in 0..PAIRS {
                    re[lane] += rate * value[lane];
                    im[lane] += rate * value[PAIRS + lane];
                }
            }
            // divided by d − iu
            let mut value = [0.0; LANES];
            for lane in 0..PAIRS {
                let u = u[lane];
                let scale = 1.0 / (exit * exit + u * u);
                value[lane] = (re[lane] * exit - im[lane] * u) * scale;
                value[PAIRS + lane] = (re[lane] * u + im[lane] * exit) * scale;
            }
            values.push(value);
        }
        let sum = self.at_start(values);
        (std::array::from_fn(|lane| sum[lane]), std::array::from_fn(|lane| sum[PAIRS + lane]))
    }

    fn at_start(&self, values: &[[f64; LANES]]) -> [f64; LANES] {
        let mut sum = [0.0; LANES];
        for &(state, p) in &self.start {
            for (sum, value) in sum.iter_mut().zip(&values[state as usize]) {
                *sum += p * value;
            }
        }
        sum
    }
}
