//! Equally likely values that stand for the shape of a delay, for simulators that draw from a list.

use crate::estimate::normal_quantile;
use crate::mapreduce::PhaseLaw;

/// Halvings of the interval that a quantile is looked for in: down to the last bit.
const HALVINGS: u32 = 80;

impl PhaseLaw {
    /// So many equally likely values with mean 1, ascending: the quantiles at (i + ½)/n, scaled to that mean.
    ///
    /// Approximate: the tail beyond the last of them is cut, which takes less than 1 % off the standard deviation of laws without
    /// heavy tails for a thousand values.
    pub fn equally_likely(&self, values: usize) -> Vec<f64> {
        let at = |i: usize| self.unscaled_quantile((i as f64 + 0.5) / values as f64);
        let found: Vec<f64> = (0..values).map(at).collect();
        let mean = found.iter().sum::<f64>() / values as f64;
        found.into_iter().map(|value| value / mean).collect()
    }

    /// The quantile up to a factor.
    fn unscaled_quantile(&self, p: f64) -> f64 {
        let exponential = -(-p).ln_1p();
        match self {
            Self::Exponential => exponential,
            Self::Deterministic => 1.0,
            Self::Erlang(stages) => inverse(p, |x| erlang_cdf(*stages, x)),
            Self::Hyperexponential { cv } => {
                let square = cv * cv;
                let share = 0.5 * (1.0 + ((square - 1.0) / (square + 1.0)).sqrt());
                let (fast, slow) = (2.0 * share, 2.0 * (1.0 - share));
                inverse(p, |x| 1.0 - share * (-fast * x).exp() - (1.0 - share) * (-slow * x).exp())
            }
            Self::Lognormal { cv } => ((cv * cv).ln_1p().sqrt() * normal_quantile(p)).exp(),
            Self::Weibull { shape } => exponential.powf(shape.recip()),
            Self::Pareto { shape } => (exponential / shape).exp_m1(),
            Self::Uniform { spread } => 1.0 + spread * (2.0 * p - 1.0),
            Self::Empirical { samples } => {
                let mut sorted = samples.clone();
                sorted.sort_by(f64::total_cmp);
                // `as` is fine: a share of the number of samples
                sorted.get((p * sorted.len() as f64) as usize).copied().unwrap_or(1.0)
            }
        }
    }
}

/// Distribution function of a sum of exponential stages with mean 1 each.
fn erlang_cdf(stages: u32, x: f64) -> f64 {
    let mut term = 0.0_f64;
    let mut tail = 0.0;
    for i in 0..stages {
        if i > 0 {
            term += (x / f64::from(i)).ln();
        }
        tail += (term - x).exp();
    }
    1.0 - tail
}

/// Where a distribution function on the positive numbers reaches `p`.
fn inverse(p: f64, cdf: impl Fn(f64) -> f64) -> f64 {
    let mut high = 1.0;
    while cdf(high) < p && high < 1e9 {
        high *= 2.0;
    }
    let mut low = 0.0;
    for _ in 0..HALVINGS {
        let middle = f64::midpoint(low, high);
        if cdf(middle) < p { low = middle } else { high = middle }
    }
    f64::midpoint(low, high)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Standard deviations of the laws with mean 1 by their formulas.
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
}
