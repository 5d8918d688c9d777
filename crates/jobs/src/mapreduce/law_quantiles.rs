//! Equally likely values that represent the shape of a delay, for simulators that draw from a list.

use std::sync::{Arc, Mutex, PoisonError};

use crate::estimate::normal_quantile;
use crate::mapreduce::PhaseLaw;
use crate::time::QuantileTable;

impl PhaseLaw {
    /// Returns `values` equally likely values with mean 1, ascending: the quantiles at (i + ½)/n, scaled to that mean.
    ///
    /// Approximate: the tail beyond the last value is truncated, which reduces the standard
    /// deviation by less than 1% for a thousand values of distributions without heavy tails.
    pub fn equally_likely(&self, values: usize) -> Vec<f64> {
        let at = |i: usize| self.unscaled_quantile((i as f64 + 0.5) / values as f64);
        let found: Vec<f64> = (0..values).map(at).collect();
        let mean = found.iter().sum::<f64>() / values as f64;
        found.into_iter().map(|value| value / mean).collect()
    }

    /// Returns the quantile up to a constant factor; finite also for a probability that was rounded to 0 or 1.
    fn unscaled_quantile(&self, p: f64) -> f64 {
        if p > 0.5 { self.tail_quantile((1.0 - p).max(0.5 * f64::EPSILON), true) } else { self.tail_quantile(p, false) }
    }

    /// Returns the quantile, up to a constant factor, that a draw falls below with probability `tail`, or above with probability `tail` if `above`.
    fn tail_quantile(&self, tail: f64, above: bool) -> f64 {
        let tail = tail.max(f64::MIN_POSITIVE);
        let p = if above { (1.0 - tail).min(1.0 - 0.5 * f64::EPSILON) } else { tail };
        let exponential = if above { -tail.ln() } else { -(-tail).ln_1p() };
        let normal = || if above { -normal_quantile(tail) } else { normal_quantile(tail) };
        let survival = if above { tail } else { 1.0 - tail };
        match self {
            Self::Exponential => exponential,
            Self::Deterministic => 1.0,
            Self::Erlang(stages) => {
                // the approximation of Wilson and Hilferty (1931); far below the mean, the bound from p ≤ xᵏ / k!
                let k = f64::from(*stages);
                let near = k * (1.0 - 1.0 / (9.0 * k) + normal() / (3.0 * k.sqrt())).powi(3);
                let least = ((p.ln() + libm::lgamma(k + 1.0)) / k).exp();
                inverse(survival, near.max(least), |x| erlang(*stages, x))
            }
            Self::Hyperexponential { cv } => {
                let square = cv * cv;
                let share = 0.5 * (1.0 + ((square - 1.0) / (square + 1.0)).sqrt());
                let (fast, slow) = (2.0 * share, 2.0 * (1.0 - share));
                inverse(survival, exponential, |x| {
                    let [early, late] = [share * (-fast * x).exp(), (1.0 - share) * (-slow * x).exp()];
                    [early + late, fast * early + slow * late]
                })
            }
            Self::Lognormal { cv } => ((cv * cv).ln_1p().sqrt() * normal()).exp(),
            Self::Weibull { shape } => exponential.powf(shape.recip()),
            Self::Pareto { shape } => (exponential / shape).exp_m1(),
            Self::Uniform { spread } => 1.0 + spread * (2.0 * p - 1.0),
            Self::Empirical { samples } => {
                let mut sorted = samples.clone();
                sorted.sort_by(f64::total_cmp);
                // `as` is fine: a share of the number of samples
                let at = ((p * sorted.len() as f64) as usize).min(sorted.len().saturating_sub(1));
                sorted.get(at).copied().unwrap_or(1.0)
            }
        }
    }
}

/// Returns the probability that a sum of exponential stages with mean 1 each exceeds `x`, and its density there. The probability is
/// Σ xⁱ e⁻ˣ / i! over the stages, from the largest term in both directions until terms become negligible; the density is the last term.
fn erlang(stages: u32, x: f64) -> [f64; 2] {
    const SMALL: f64 = 1e-18;
    // `as` is fine: cut to the number of stages
    let middle = (x as u32).min(stages - 1);
    let term_at = |i: u32| (f64::from(i) * x.ln() - x - libm::lgamma(f64::from(i) + 1.0)).exp();
    let largest = term_at(middle);
    let mut tail = largest;
    let mut term = largest;
    for i in (1..=middle).rev() {
        term *= f64::from(i) / x;
        tail += term;
        if term < SMALL * tail {
            break;
        }
    }
    term = largest;
    for i in middle + 1..stages {
        term *= x / f64::from(i);
        tail += term;
        if term < SMALL * tail {
            return [tail, term_at(stages - 1)];
        }
    }
    [tail, term]
}

/// Number of halvings for a value of the distribution function: its error is far below the resolution of a draw's 32 bits.
const SURVIVAL_HALVINGS: u32 = 48;
/// Probability below which the distribution does not explain an age.
const HARDLY_EVER: f64 = 1e-6;
/// Index of the Pareto tail that is assumed for an age that the distribution does not explain.
const OVERDUE_TAIL: f64 = 3.0;

/// The quantiles of a distribution with mean 1, for many draws.
///
/// The relative error is below 1e-4 in the tails as in the middle, except for hyperexponential distributions with a coefficient of variation above 3 and
/// Weibull distributions with a shape below 0.3: there, the probability of exceeding a value has a relative error of up to 6%. A trace is a step
/// function, without error.
#[derive(Clone, Debug, PartialEq)]
pub struct LawTable {
    law: PhaseLaw,
    mean: f64,
    shape: Shape,
}

/// The quantile function.
#[derive(Clone, Debug, PartialEq)]
enum Shape {
    Constant,
    /// The samples of a trace divided by their mean, ascending.
    Steps(Vec<f64>),
    Smooth(QuantileTable),
}

/// Tables that are built once, for many jobs with the same distributions.
#[derive(Debug, Default)]
pub struct LawTables(Mutex<Vec<(PhaseLaw, Arc<LawTable>)>>);

/// Maximum number of tables kept; the oldest is dropped first.
const MOST_TABLES: usize = 64;

impl LawTables {
    /// Returns the table of a distribution, built at its first use.
    pub fn get(&self, law: &PhaseLaw) -> Arc<LawTable> {
        let known = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, table)) = known().iter().find(|(of, _)| of == law) {
            return Arc::clone(table);
        }
        // other threads continue meanwhile; two may build the same table
        let table = Arc::new(LawTable::new(law));
        let mut known = known();
        if known.len() == MOST_TABLES {
            known.remove(0);
        }
        known.push((law.clone(), Arc::clone(&table)));
        table
    }
}

impl LawTable {
    /// Builds the table of a distribution.
    pub fn new(law: &PhaseLaw) -> Self {
        let mut law = law.clone();
        if let PhaseLaw::Empirical { samples } = &mut law {
            samples.sort_by(f64::total_cmp);
        }
        let mean = law.unscaled_mean();
        let shape = match &law {
            PhaseLaw::Deterministic => Shape::Constant,
            PhaseLaw::Empirical { samples } => Shape::Steps(samples.iter().map(|sample| sample / mean).collect()),
            law => Shape::Smooth(QuantileTable::new(|tail, above| law.tail_quantile(tail, above) / mean)),
        };
        Self { law, mean, shape }
    }

    /// Returns the value that a random word draws: the quantile at (word + ½) / 2³².
    #[inline]
    pub fn draw(&self, word: u32) -> f64 {
        match &self.shape {
            Shape::Constant => 1.0,
            Shape::Steps(samples) => samples[((u64::from(word) * samples.len() as u64) >> 32) as usize],
            Shape::Smooth(table) => table.draw(word),
        }
    }

    /// Returns the value that a draw stays below with probability `p`, in (0, 1).
    pub fn quantile(&self, p: f64) -> f64 {
        match &self.shape {
            Shape::Constant => 1.0,
            Shape::Steps(samples) => samples[((p * samples.len() as f64) as usize).min(samples.len() - 1)],
            Shape::Smooth(table) => table.quantile(p).unwrap_or_else(|| self.law.unscaled_quantile(p) / self.mean),
        }
    }

    /// Returns the probability of a draw of at most `x`, by the quantiles of the table.
    pub fn cdf(&self, x: f64) -> f64 {
        match &self.shape {
            Shape::Constant => return f64::from(u8::from(x >= 1.0)),
            Shape::Steps(samples) => {
                return samples.partition_point(|sample| *sample <= x) as f64 / samples.len() as f64;
            }
            Shape::Smooth(_) => {}
        }
        let (mut low, mut high) = (0.0, 1.0);
        for _ in 0..SURVIVAL_HALVINGS {
            let middle = f64::midpoint(low, high);
            if self.quantile(middle) <= x { low = middle } else { high = middle }
        }
        f64::midpoint(low, high)
    }

    /// Returns the remainder of a draw that has already reached `age`: its quantile at `p`, in (0, 1).
    ///
    /// An age that is extremely unlikely under the distribution has another cause. Then a Pareto tail of index 3 is assumed, under which half of such
    /// draws continue for more than a quarter of their age.
    pub fn left(&self, age: f64, p: f64) -> f64 {
        let before = self.cdf(age);
        let above = 1.0 - before;
        if above < HARDLY_EVER {
            return age * ((1.0 - p).powf(-1.0 / OVERDUE_TAIL) - 1.0);
        }
        (self.quantile(before + above * p) - age).max(0.0)
    }
}

impl PhaseLaw {
    /// Returns the mean of the unscaled quantiles.
    fn unscaled_mean(&self) -> f64 {
        match self {
            Self::Exponential | Self::Deterministic | Self::Hyperexponential { .. } | Self::Uniform { .. } => 1.0,
            Self::Erlang(stages) => f64::from(*stages),
            Self::Lognormal { cv } => (0.5 * (cv * cv).ln_1p()).exp(),
            Self::Weibull { shape } => libm::tgamma(1.0 + shape.recip()),
            Self::Pareto { shape } => 1.0 / (shape - 1.0),
            Self::Empirical { samples } => samples.iter().sum::<f64>() / samples.len() as f64,
        }
    }
}

/// Returns the point that a draw from a distribution on the positive numbers exceeds with probability `survival`, by Newton's method from `start` > 0.
/// `tail` returns the probability of exceeding a point, and the density there.
fn inverse(survival: f64, start: f64, tail: impl Fn(f64) -> [f64; 2]) -> f64 {
    const STEPS: u32 = 100;
    /// Relative length of the last step; the error behind it is about its square.
    const STEP: f64 = 1e-10;
    /// Rounding error of a probability.
    const ROUNDING: f64 = 2e-16;
    let (mut low, mut high) = (f64::MIN_POSITIVE, f64::INFINITY);
    let mut x = start;
    for _ in 0..STEPS {
        let [above, density] = tail(x);
        let gap = above - survival;
        if gap > 0.0 {
            low = x
        } else {
            high = x
        }
        let mut next = x + gap / density;
        if !(low <= next && next <= high) {
            next = if high.is_finite() { f64::midpoint(low, high) } else { 2.0 * low };
        }
        if (next - x).abs() <= STEP * x || gap.abs() <= ROUNDING * survival {
            return next;
        }
        x = next;
    }
    x
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::uniform;

    /// Compares standard deviations of the distributions with mean 1 with their formulas.
    #[test]
    fn values_have_the_mean_and_the_spread_of_their_law() {
        let gamma = libm::tgamma;
        let weibull = |k: f64| (gamma(1.0 + 2.0 / k) / gamma(1.0 + 1.0 / k).powi(2) - 1.0).sqrt();
        let laws = [
            (PhaseLaw::Exponential, 1.0),
            (PhaseLaw::Deterministic, 0.0),
            (PhaseLaw::Erlang(4), 0.5),
            (PhaseLaw::Erlang(400), 0.05),
            (PhaseLaw::Hyperexponential { cv: 1.5 }, 1.5),
            (PhaseLaw::Lognormal { cv: 0.3 }, 0.3),
            (PhaseLaw::Weibull { shape: 2.0 }, weibull(2.0)),
            (PhaseLaw::Pareto { shape: 8.0 }, (8.0_f64 / 6.0).sqrt()),
            (PhaseLaw::Uniform { spread: 0.6 }, 0.6 / 3.0_f64.sqrt()),
            (PhaseLaw::Empirical { samples: vec![3.0, 1.0] }, 0.5),
        ];
        for (law, sd) in laws {
            let values = law.equally_likely(2_000);
            let mean = values.iter().sum::<f64>() / 2_000.0;
            let found = (values.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / 2_000.0).sqrt();
            assert!((mean - 1.0).abs() < 1e-12 && values.is_sorted(), "{law:?}");
            assert!((found - sd).abs() <= 0.02 * sd, "{law:?}: {found} {sd}");
        }
    }

    /// Quantiles of one stage are those of the exponential distribution. All other quantiles are where the distribution function has the
    /// value that it should have: by the terms of the sum without a shortcut for few stages, by a normal distribution for many.
    #[test]
    fn quantiles_invert_the_distribution_function() {
        let ps = [1e-9, 1e-4, 0.01, 0.2, 0.5, 0.77, 0.99, 1.0 - 1e-6];
        for p in ps {
            let one = PhaseLaw::Erlang(1).unscaled_quantile(p);
            assert!((one / -(-p).ln_1p() - 1.0).abs() < 1e-6, "{p} {one}");
            for stages in [2_u32, 3, 20, 150] {
                let x = PhaseLaw::Erlang(stages).unscaled_quantile(p);
                let terms = (0..stages).scan(1.0, |term, i| {
                    let this = *term;
                    *term *= x / f64::from(i + 1);
                    Some(this)
                });
                let below = 1.0 - (-x).exp() * terms.sum::<f64>();
                assert!((below - p).abs() < 1e-12, "{stages} stages: {x}, {below} instead of {p}");
            }
            let many = PhaseLaw::Erlang(10_000).unscaled_quantile(p);
            assert!((many - 1e4 - 1e2 * normal_quantile(p)).abs() < 15.0, "{p} {many}");
            let x = PhaseLaw::Hyperexponential { cv: 3.0 }.unscaled_quantile(p);
            let share = 0.5 * (1.0 + 0.8_f64.sqrt());
            let below = 1.0 - share * (-2.0 * share * x).exp() - (1.0 - share) * (-2.0 * (1.0 - share) * x).exp();
            assert!((below - p).abs() < 1e-12, "{x}, {below} instead of {p}");
        }
    }

    /// A draw may be so close to 0 or 1 that its probability is rounded to it.
    #[test]
    fn probabilities_rounded_to_zero_and_one_have_quantiles() {
        let laws = [
            PhaseLaw::Exponential,
            PhaseLaw::Erlang(3),
            PhaseLaw::Erlang(500),
            PhaseLaw::Hyperexponential { cv: 2.0 },
            PhaseLaw::Lognormal { cv: 0.5 },
            PhaseLaw::Empirical { samples: (1..=1_000).map(f64::from).collect() },
        ];
        for law in laws {
            let [least, middle, most] = [0.0, 0.5, 1.0].map(|p| law.unscaled_quantile(p));
            assert!(
                0.0 <= least && least < middle && middle < most && most < 1_000.0 * middle,
                "{law:?}: {least} {most}"
            );
        }
    }

    /// The mean over a million equally spaced probabilities is 1, and quantiles match the distribution, also at the seams.
    #[test]
    fn a_table_has_the_mean_and_the_quantiles_of_its_law() {
        let laws = [
            PhaseLaw::Exponential,
            PhaseLaw::Deterministic,
            PhaseLaw::Erlang(4),
            PhaseLaw::Erlang(400),
            PhaseLaw::Hyperexponential { cv: 1.5 },
            PhaseLaw::Lognormal { cv: 0.3 },
            PhaseLaw::Weibull { shape: 2.0 },
            PhaseLaw::Pareto { shape: 8.0 },
            PhaseLaw::Uniform { spread: 0.6 },
            PhaseLaw::Empirical { samples: vec![3.0, 1.0, 2.0] },
        ];
        for law in laws {
            let table = LawTable::new(&law);
            let points = 200_000;
            let mean = (0..points).map(|i| table.quantile((f64::from(i) + 0.5) / f64::from(points))).sum::<f64>();
            assert!((mean / f64::from(points) - 1.0).abs() < 2e-5, "{law:?} {}", mean / f64::from(points));
            // words of all octaves, in the middle of a segment and next to its ends
            let words = (0..32).flat_map(|bit| [1_u32 << bit, (1 << bit) + (1 << bit) / 5]);
            for word in words.flat_map(|word| [word, word.wrapping_sub(1), !word]) {
                let p = uniform(word);
                let exact = law.tail_quantile(p.min(1.0 - p), p > 0.5) / table.mean;
                assert!((table.draw(word) / exact - 1.0).abs() < 1e-5, "{law:?} {p} {exact} {}", table.draw(word));
                assert!((table.quantile(p) / table.draw(word) - 1.0).abs() < 1e-12, "{law:?} {p}");
            }
        }
    }
}
