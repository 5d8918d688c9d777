//! Choice of the distribution of a stage's times around their means: the distribution with the highest likelihood for
//! held-out times.
//!
//! Times are divided by the model's times, so that one distribution serves cold and warm tasks. Each fifth of the tasks
//! is held out in turn, each distribution is fitted to the other tasks, and the logarithm of its density is summed over
//! the held-out tasks (cross-validation \[Stone1974\]). All distributions have mean 1. Each has one parameter, which
//! follows from the logarithms or the moments of the times. The empirical distribution has no density. Its score uses
//! the density of its times, smoothed with a normal kernel on their logarithms, with Silverman's width \[Silverman1986,
//! 3.4.2\]. The plan stores this distribution as quantiles.

use crate::estimate::quantile_of_sorted;
use crate::mapreduce::PhaseLaw;

/// A distribution with its score on held-out times.
#[derive(Clone, Debug, PartialEq)]
pub struct LawScore {
    /// The distribution, fitted to all times.
    pub law: PhaseLaw,
    /// Mean logarithm of the density at a held-out time.
    pub score: f64,
}

/// Number of parts in the cross-validation.
const FOLDS: usize = 5;
/// Minimum number of times for comparing distributions; with fewer, the lognormal is chosen.
const FEWEST: usize = 15;
/// Coefficient of variation assumed if there are too few times to estimate it.
const USUAL_CV: f64 = 0.2;
/// Weight of [`USUAL_CV`], as a number of times.
const USUAL_WEIGHT: f64 = 4.0;
/// Minimum number of times for the empirical distribution: with fewer, it would overfit.
const FEWEST_EMPIRICAL: usize = 50;
/// Number of quantiles that represent the empirical distribution.
const QUANTILES: usize = 64;
/// Maximum number of times used for the comparison, chosen evenly: the cost of the smoothed density is quadratic in their number.
const MOST_COMPARED: usize = 2_000;
/// Maximum number of Erlang stages tried.
const MOST_STAGES: f64 = 400.0;

type Make = fn(&[f64]) -> PhaseLaw;

/// The distributions compared.
const LAWS: [Make; 5] = [lognormal, erlang, weibull, |_| PhaseLaw::Exponential, empirical];

/// Returns the distribution of ratios (time divided by the model's time), with the scores of all, the best first. Ratios must be above 0.
pub(super) fn best_law(ratios: &[f64]) -> (PhaseLaw, Vec<LawScore>) {
    if ratios.len() < FEWEST {
        return (lognormal(ratios), Vec::new());
    }
    let mean = ratios.iter().sum::<f64>() / ratios.len() as f64;
    let ratios: Vec<f64> = ratios.iter().map(|r| r / mean).collect();
    let compared: Vec<f64> = ratios.iter().step_by(ratios.len().div_ceil(MOST_COMPARED)).copied().collect();
    let tried = if ratios.len() < FEWEST_EMPIRICAL { &LAWS[..LAWS.len() - 1] } else { &LAWS };
    let mut scored: Vec<(f64, Make)> = tried.iter().map(|&make| (held_out(&compared, make), make)).collect();
    scored.sort_by(|a, b| b.0.total_cmp(&a.0));
    let scores = scored.iter().map(|(score, make)| LawScore { law: make(&ratios), score: *score });
    (scored[0].1(&ratios), scores.collect())
}

fn held_out(ratios: &[f64], make: Make) -> f64 {
    let mut sum = 0.0;
    for fold in 0..FOLDS {
        let kept: Vec<f64> = ratios.iter().enumerate().filter(|(i, _)| i % FOLDS != fold).map(|(_, r)| *r).collect();
        let law = make(&kept);
        let mean = kept.iter().sum::<f64>() / kept.len() as f64;
        let left_out = ratios.iter().skip(fold).step_by(FOLDS);
        sum += match law {
            PhaseLaw::Empirical { .. } => {
                let smoothed = Smoothed::new(&kept);
                left_out.map(|r| smoothed.log_density(*r)).sum::<f64>()
            }
            law => left_out.map(|r| log_density(&law, r / mean) - mean.ln()).sum::<f64>(),
        };
    }
    sum / ratios.len() as f64
}

/// Returns the logarithm of the density at `x` > 0 of a distribution with mean 1.
fn log_density(law: &PhaseLaw, x: f64) -> f64 {
    match law {
        PhaseLaw::Lognormal { cv } => {
            let square = (cv * cv).ln_1p();
            let z = x.ln() + 0.5 * square;
            -0.5 * (z * z / square + (std::f64::consts::TAU * square).ln()) - x.ln()
        }
        PhaseLaw::Erlang(stages) => {
            let k = f64::from(*stages);
            k * k.ln() + (k - 1.0) * x.ln() - k * x - libm::lgamma(k)
        }
        PhaseLaw::Weibull { shape } => {
            let scaled = x * libm::tgamma(1.0 + 1.0 / shape);
            shape.ln() + shape * scaled.ln() - x.ln() - scaled.powf(*shape)
        }
        PhaseLaw::Exponential => -x,
        // not among the candidates of a fit
        PhaseLaw::Deterministic
        | PhaseLaw::Hyperexponential { .. }
        | PhaseLaw::Pareto { .. }
        | PhaseLaw::Gamma { .. }
        | PhaseLaw::Uniform { .. }
        | PhaseLaw::Empirical { .. } => f64::NEG_INFINITY,
    }
}

/// Fits a lognormal by the spread of the logarithms, shrunk towards [`USUAL_CV`] if there are few times.
fn lognormal(ratios: &[f64]) -> PhaseLaw {
    let usual = (USUAL_CV * USUAL_CV).ln_1p();
    let n = ratios.len() as f64;
    let logs = || ratios.iter().map(|r| r.ln());
    let mean = logs().sum::<f64>() / n.max(1.0);
    let squares: f64 = logs().map(|log| (log - mean) * (log - mean)).sum();
    let square = (squares + USUAL_WEIGHT * usual) / (n.max(1.0) - 1.0 + USUAL_WEIGHT);
    PhaseLaw::Lognormal { cv: square.exp_m1().sqrt().max(1e-3) }
}

/// Fits an Erlang distribution by the moments: stages = 1 / cv².
fn erlang(ratios: &[f64]) -> PhaseLaw {
    let cv = variation(ratios);
    PhaseLaw::Erlang((1.0 / (cv * cv)).round().clamp(1.0, MOST_STAGES) as u32)
}

/// Fits a Weibull distribution by the spread of the logarithms, π / (√6 shape).
fn weibull(ratios: &[f64]) -> PhaseLaw {
    let n = ratios.len() as f64;
    let mean = ratios.iter().map(|r| r.ln()).sum::<f64>() / n;
    let square = ratios.iter().map(|r| (r.ln() - mean) * (r.ln() - mean)).sum::<f64>() / (n - 1.0).max(1.0);
    PhaseLaw::Weibull { shape: (std::f64::consts::PI / (6.0 * square.max(1e-6)).sqrt()).clamp(0.1, 200.0) }
}

/// Returns the observed times of few tasks as the distribution for the same tasks in the future: empirical, whatever their number.
pub(super) fn observed_law(times: &[f64]) -> PhaseLaw {
    let varies = times.iter().any(|time| (time - times[0]).abs() > 1e-9 * times[0].abs());
    match times.len() {
        _ if !varies => PhaseLaw::Deterministic,
        n if n > QUANTILES => empirical(times),
        // logs have a resolution of milliseconds
        _ => PhaseLaw::Empirical { samples: times.iter().map(|time| (time * 1e6).round() / 1e6).collect() },
    }
}

/// Returns the times themselves, as equally likely quantiles with mean 1.
fn empirical(ratios: &[f64]) -> PhaseLaw {
    let mut sorted = ratios.to_vec();
    sorted.sort_by(f64::total_cmp);
    let points = QUANTILES.min(sorted.len());
    let at = |i: usize| quantile_of_sorted(&sorted, (i as f64 + 0.5) / points as f64).unwrap_or(1.0);
    let samples: Vec<f64> = (0..points).map(at).collect();
    let mean = samples.iter().sum::<f64>() / points as f64;
    // four digits exceed the statistical accuracy
    PhaseLaw::Empirical { samples: samples.iter().map(|x| (x / mean * 1e4).round() / 1e4).collect() }
}

/// Times smoothed by a normal kernel on their logarithms.
struct Smoothed {
    logs: Vec<f64>,
    width: f64,
}

impl Smoothed {
    fn new(times: &[f64]) -> Self {
        let mut logs: Vec<f64> = times.iter().map(|time| time.ln()).collect();
        logs.sort_by(f64::total_cmp);
        let n = logs.len() as f64;
        let mean = logs.iter().sum::<f64>() / n;
        let deviation = (logs.iter().map(|log| (log - mean) * (log - mean)).sum::<f64>() / (n - 1.0).max(1.0)).sqrt();
        let quartile = |p| quantile_of_sorted(&logs, p).unwrap_or(0.0);
        let spread = (quartile(0.75) - quartile(0.25)) / 1.34;
        let least = if spread > 0.0 { deviation.min(spread) } else { deviation };
        Self { width: (0.9 * least * n.powf(-0.2)).max(1e-3), logs }
    }

    /// Returns the logarithm of the density at `time`; beyond the kernels' range, the density of the nearest kernel.
    fn log_density(&self, time: f64) -> f64 {
        let log = time.ln();
        let exponent = |other: &f64| -0.5 * ((log - other) / self.width) * ((log - other) / self.width);
        let most = self.logs.iter().map(exponent).fold(f64::NEG_INFINITY, f64::max);
        let sum: f64 = self.logs.iter().map(|other| (exponent(other) - most).exp()).sum();
        let scale = self.logs.len() as f64 * self.width * std::f64::consts::TAU.sqrt();
        most + (sum / scale).ln() - log
    }
}

fn variation(ratios: &[f64]) -> f64 {
    let n = ratios.len() as f64;
    let mean = ratios.iter().sum::<f64>() / n;
    let square = ratios.iter().map(|r| (r - mean) * (r - mean)).sum::<f64>() / (n - 1.0).max(1.0);
    square.sqrt() / mean
}

/// Returns the coefficient of variation of a fitted distribution.
pub(super) fn coefficient(law: &PhaseLaw) -> f64 {
    match law {
        PhaseLaw::Lognormal { cv } => *cv,
        PhaseLaw::Erlang(stages) => f64::from(*stages).sqrt().recip(),
        PhaseLaw::Weibull { shape } => 1.2 / shape,
        PhaseLaw::Empirical { samples } => {
            let n = samples.len() as f64;
            let mean = samples.iter().sum::<f64>() / n;
            (samples.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / n).sqrt() / mean
        }
        PhaseLaw::Exponential => 1.0,
        // no fit of a stage chooses these
        PhaseLaw::Deterministic => 0.0,
        PhaseLaw::Hyperexponential { cv } | PhaseLaw::Gamma { cv } => *cv,
        PhaseLaw::Uniform { spread } => spread / 3.0_f64.sqrt(),
        PhaseLaw::Pareto { shape } if *shape <= 2.0 => f64::INFINITY,
        PhaseLaw::Pareto { shape } => (shape / (shape - 2.0)).sqrt(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns quantiles of a distribution with mean 1, as a sample without randomness.
    fn sample(quantile: impl Fn(f64) -> f64) -> Vec<f64> {
        // an order that distributes small and large values over the folds
        (0..400).map(|i| quantile((f64::from((i * 173) % 400) + 0.5) / 400.0)).collect()
    }

    #[test]
    fn each_law_is_found_again_in_its_own_sample() {
        let normal = crate::estimate::normal_quantile;
        let lognormal = sample(|p| (0.5 * normal(p) - 0.125).exp());
        let (law, scores) = best_law(&lognormal);
        assert!(matches!(law, PhaseLaw::Lognormal { cv } if (cv - 0.25_f64.exp_m1().sqrt()).abs() < 0.02), "{law:?}");
        assert_eq!(scores.len(), 5);
        assert!(scores.windows(2).all(|pair| pair[0].score >= pair[1].score));
        let weibull = sample(|p| (-(1.0 - p).ln()).powf(1.0 / 3.0) / libm::tgamma(4.0 / 3.0));
        assert!(matches!(best_law(&weibull).0, PhaseLaw::Weibull { shape } if (shape - 3.0).abs() < 0.15));
        let exponential = sample(|p| -(1.0 - p).ln());
        let (law, _) = best_law(&exponential);
        assert!(matches!(law, PhaseLaw::Exponential | PhaseLaw::Erlang(1)), "{law:?}");
    }

    /// Every fold holds out equal times, so the mean of the rest differs from fold to fold. For times with mean m, the exponential density at time r
    /// is exp(-r / m) / m. Fails if the logarithm of the mean is omitted.
    #[test]
    fn a_score_is_the_mean_log_density_of_held_out_times() {
        let ratios: Vec<f64> = (0..15).map(|i| f64::from(1 + i % 5)).collect();
        let expected: f64 = (1..=5).map(f64::from).map(|r| (r, (15.0 - r) / 4.0)).map(|(r, m)| -m.ln() - r / m).sum();
        assert!((held_out(&ratios, |_| PhaseLaw::Exponential) - expected / 5.0).abs() < 1e-12);
    }

    #[test]
    fn densities_integrate_to_one_with_mean_one() {
        let laws =
            [lognormal(&[0.5, 1.0, 2.0]), PhaseLaw::Erlang(7), PhaseLaw::Weibull { shape: 2.5 }, PhaseLaw::Exponential];
        for law in laws {
            let (mut mass, mut mean) = (0.0, 0.0);
            for i in 0..200_000 {
                let x = (f64::from(i) + 0.5) * 2e-4;
                let density = log_density(&law, x).exp() * 2e-4;
                mass += density;
                mean += x * density;
            }
            assert!((mass - 1.0).abs() < 1e-3 && (mean - 1.0).abs() < 5e-3, "{law:?}: {mass} {mean}");
        }
    }

    #[test]
    fn bimodal_times_get_an_empirical_distribution() {
        let normal = crate::estimate::normal_quantile;
        // three of four tasks take about 1, the fourth about 5
        let mixed =
            sample(
                |p| if p < 0.75 { (0.1 * normal(p / 0.75)).exp() } else { 5.0 * (0.1 * normal(4.0 * p - 3.0)).exp() },
            );
        let (law, scores) = best_law(&mixed);
        let PhaseLaw::Empirical { samples } = law else { panic!("{scores:?}") };
        assert_eq!((samples.len(), scores.len()), (QUANTILES, 5));
        assert!((samples.iter().sum::<f64>() / QUANTILES as f64 - 1.0).abs() < 1e-3);
        let slow = samples.iter().filter(|x| **x > 1.5).count();
        assert_eq!(slow, QUANTILES / 4);
        // a mixture of two lognormals has a closed-form density; the smoothed density approximates it
        let exact: f64 = mixed.iter().map(|x| mixture(*x).ln()).sum::<f64>() / mixed.len() as f64;
        let mean = mixed.iter().sum::<f64>() / mixed.len() as f64;
        assert!((scores[0].score - mean.ln() - exact).abs() < 0.25, "{} {exact}", scores[0].score - mean.ln());
        assert!(scores[0].score > scores[1].score + 0.3);
        // too few to compare
        let few: Vec<f64> = mixed.iter().copied().take(FEWEST_EMPIRICAL - 1).collect();
        assert!(!matches!(best_law(&few).0, PhaseLaw::Empirical { .. }));
    }

    /// Returns the density of the distribution in the test above.
    fn mixture(x: f64) -> f64 {
        let part = |centre: f64| {
            let z = (x / centre).ln() / 0.1;
            (-0.5 * z * z).exp() / (0.1 * x * std::f64::consts::TAU.sqrt())
        };
        0.75 * part(1.0) + 0.25 * part(5.0)
    }

    #[test]
    fn few_times_take_the_usual_spread() {
        assert!(matches!(best_law(&[1.0]).0, PhaseLaw::Lognormal { cv } if (cv - USUAL_CV).abs() < 1e-9));
        assert!(best_law(&[1.0, 1.1]).1.is_empty());
    }
}
