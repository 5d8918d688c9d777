//! Tests of the moments and shapes of every distribution against closed forms.

use super::*;
use crate::net::Branch;
use crate::sim::NEVER;

const KEY: [u32; 2] = [11, 5];
const COUNT: u64 = 200_000;

fn clock() -> Clock {
    Clock { exponent: -40, extra_bits: 0, wide: false }
}

fn wide_clock() -> Clock {
    Clock { exponent: -30, extra_bits: 40, wide: true }
}

/// Probability of at most `t` seconds.
fn distribution(law: &Law, t: f64) -> f64 {
    1.0 - survival(law, t)
}

/// Probability of more than `t` seconds.
pub(crate) fn survival(law: &Law, t: f64) -> f64 {
    match law {
        Law::Deterministic { delay } => f64::from(t < *delay),
        Law::Uniform { low, high } => ((high - t) / (high - low)).clamp(0.0, 1.0),
        Law::Erlang { stages, mean } => {
            let x = t * f64::from(*stages) / mean;
            let mut term = 1.0;
            let mut sum = 1.0;
            for i in 1..*stages {
                term *= x / f64::from(i);
                sum += term;
            }
            (-x).exp() * sum
        }
        Law::Hyperexponential { branches } => branches.iter().map(|b| b.probability * (-t / b.mean).exp()).sum(),
        Law::LogNormal { mean, cv } => {
            let variance = (1.0 + cv * cv).ln();
            let mu = mean.ln() - variance / 2.0;
            libm::erfc((t.ln() - mu) / (2.0 * variance).sqrt()) / 2.0
        }
        Law::Weibull { shape, scale } => (-(t / scale).powf(*shape)).exp(),
        Law::Pareto { shape, scale } => (1.0 + t / scale).powf(-shape),
        Law::Gamma { shape, scale } => crate::estimate::gamma_tails(*shape, t / scale)[1],
        Law::Empirical { samples } => samples.iter().filter(|&&s| s > t).count() as f64 / samples.len() as f64,
    }
}

fn variance(law: &Law) -> f64 {
    match law {
        Law::Deterministic { .. } => 0.0,
        Law::Uniform { low, high } => (high - low).powi(2) / 12.0,
        Law::Erlang { stages, mean } => mean * mean / f64::from(*stages),
        Law::Hyperexponential { branches } => {
            let square: f64 = branches.iter().map(|b| 2.0 * b.probability * b.mean * b.mean).sum();
            square - law.mean().powi(2)
        }
        Law::LogNormal { mean, cv } => (mean * cv).powi(2),
        Law::Weibull { shape, scale } => scale * scale * libm::tgamma(1.0 + 2.0 / shape) - law.mean().powi(2),
        Law::Pareto { shape, scale } => scale * scale * shape / ((shape - 1.0).powi(2) * (shape - 2.0)),
        Law::Gamma { shape, scale } => shape * scale * scale,
        Law::Empirical { samples } => {
            samples.iter().map(|s| (s - law.mean()).powi(2)).sum::<f64>() / samples.len() as f64
        }
    }
}

fn laws() -> Vec<Law> {
    let branch = |probability, mean| Branch { probability, mean };
    vec![
        Law::Deterministic { delay: 2.5 },
        Law::Uniform { low: 1.0, high: 4.0 },
        Law::Uniform { low: 0.0, high: 0.5 },
        Law::Erlang { stages: 1, mean: 2.0 },
        Law::Erlang { stages: 5, mean: 2.0 },
        Law::Hyperexponential { branches: vec![branch(0.9, 0.5), branch(0.1, 4.0)] },
        Law::Hyperexponential { branches: vec![branch(0.2, 1.0), branch(0.0, 9.0), branch(0.8, 3.0)] },
        Law::LogNormal { mean: 2.0, cv: 0.5 },
        Law::LogNormal { mean: 10.0, cv: 1.5 },
        Law::Weibull { shape: 0.7, scale: 2.0 },
        Law::Weibull { shape: 3.0, scale: 2.0 },
        Law::Pareto { shape: 6.0, scale: 5.0 },
        Law::Gamma { shape: 0.3, scale: 4.0 },
        Law::Gamma { shape: 2.5, scale: 1.2 },
        Law::Empirical { samples: vec![0.5, 1.5, 1.5, 4.0, 8.0] },
    ]
}

/// Checks mean, variance and distribution function of delays (Kolmogorov and Smirnov).
fn check(law: &Law, mut delays: Vec<f64>) {
    let n = delays.len() as f64;
    let mean = delays.iter().sum::<f64>() / n;
    let error = (variance(law) / n).sqrt();
    assert!((mean - law.mean()).abs() <= 5.0 * error + 1e-11, "{law:?}: mean {mean}, error {error}");
    let squares: Vec<f64> = delays.iter().map(|d| (d - law.mean()).powi(2)).collect();
    let spread = squares.iter().sum::<f64>() / n;
    let error = (squares.iter().map(|s| (s - spread).powi(2)).sum::<f64>() / n / n).sqrt();
    assert!((spread - variance(law)).abs() <= 5.0 * error + 1e-11, "{law:?}: variance {spread}, error {error}");
    delays.sort_by(f64::total_cmp);
    let mut distance: f64 = 0.0;
    for (i, &delay) in delays.iter().enumerate() {
        // compares only at the last of equal delays, so that steps of the distribution are compared on one side
        if delays.get(i + 1).is_none_or(|next| next - delay > 1e-9) {
            distance = distance.max((distribution(law, delay + 1e-9) - (i + 1) as f64 / n).abs());
        }
    }
    // P(D > 2.7 / sqrt(n)) is about 2 exp(-2 * 2.7^2) = 1e-6
    assert!(distance < 2.7 / n.sqrt(), "{law:?}: distance {distance}");
}

#[test]
fn every_law_has_its_distribution() {
    for law in laws() {
        let sampler = Sampler::general(&law, clock());
        check(&law, (0..COUNT).map(|r| sampler.draw(KEY, 3, 2, r) as f64 * clock().tick()).collect());
        // the samples of one owner in one replication are independent too
        check(&law, (0..50_000).map(|s| sampler.draw(KEY, 3, s, 8) as f64 * clock().tick()).collect());
    }
}

/// Ages at which the tail probability is as small as 1e-15, and ages within the body of each distribution.
#[test]
fn a_delay_has_its_conditional_distribution_at_every_age() {
    let n = 50_000;
    for law in laws() {
        let aged = AgedSampler::new(&law, clock());
        let ages = (0..60).map(|i| 0.01 * 1.5_f64.powi(i)).filter(|age| survival(&law, *age) > 1e-15);
        for age in ages.chain([0.0]) {
            let ticks = clock().ticks(age);
            let rest = survival(&law, age);
            let word = |r: u64, i| Address { purpose: Purpose::Residual, owner: 4, sample: i }.word(KEY, r);
            let mut delays: Vec<u64> = (0..n).map(|r| aged.draw(ticks, |i| word(r, i))).collect();
            delays.sort_unstable();
            assert!(delays[0] > ticks, "{law:?} {age}");
            let mut distance: f64 = 0.0;
            for (i, delay) in delays.iter().enumerate() {
                if delays.get(i + 1).is_none_or(|next| next - delay > 1) {
                    let exact = 1.0 - survival(&law, clock().seconds(delay + 1)) / rest;
                    distance = distance.max((exact - (i + 1) as f64 / n as f64).abs());
                }
            }
            // as in `check`
            assert!(distance < 2.7 / (n as f64).sqrt(), "{law:?} {age}: distance {distance}");
        }
    }
}

#[test]
fn the_wide_clock_has_the_same_delays() {
    let tick = f64::from(wide_clock().engine_exponent()).exp2();
    for law in laws() {
        let narrow = Sampler::general(&law, clock());
        let wide = Sampler::general(&law, wide_clock());
        for replication in 0..1000 {
            let exact = wide.draw_wide(KEY, 3, 2, replication) as f64 * tick;
            let rounded = narrow.draw(KEY, 3, 2, replication) as f64 * clock().tick();
            let ticks = f64::from(narrow.words().max(1)) * clock().tick();
            assert!((exact - rounded).abs() <= ticks + exact * 1e-9, "{law:?}: {exact} {rounded}");
        }
    }
}

#[test]
fn an_exponential_delay_is_the_product_shifted() {
    let sampler = Sampler::exponential(0.3, clock());
    let scale = sampler.scale().unwrap();
    for replication in 0..1000 {
        let word = Address { purpose: Purpose::Delay, owner: 7, sample: 4 }.word(KEY, replication);
        let product = u64::from(exponential(word)) * u64::from(scale.mantissa);
        assert_eq!(sampler.draw(KEY, 7, 4, replication), product >> scale.shift);
    }
    let delays = (0..COUNT).map(|r| sampler.draw(KEY, 7, 4, r) as f64 * clock().tick()).collect();
    check(&Law::Erlang { stages: 1, mean: 1.0 / 0.3 }, delays);
}

/// An Erlang delay takes the next words of its owner, and each factor counts.
#[test]
fn an_erlang_delay_is_the_sum_of_draws_of_distinct_samples() {
    let sampler = Sampler::general(&Law::Erlang { stages: 3, mean: 3.0 }, clock());
    let single = Sampler::exponential(1.0, clock());
    let parts: u64 = (6..9).map(|sample| single.draw(KEY, 1, sample, 5)).sum();
    let difference = sampler.draw(KEY, 1, 2, 5).abs_diff(parts) as f64 * clock().tick();
    assert!(difference < 3.5e-8, "{difference:e}");
}

#[test]
fn delays_saturate() {
    let forever = Sampler::general(&Law::Deterministic { delay: 1e300 }, clock());
    assert_eq!(forever.draw(KEY, 0, 0, 0), NEVER);
    assert_eq!(forever.draw_wide(KEY, 0, 0, 0), NEVER_WIDE);
    let uniform = Sampler::general(&Law::Uniform { low: 0.0, high: 1e300 }, wide_clock());
    assert!(uniform.draw_wide(KEY, 0, 0, 0) <= NEVER_WIDE);
    assert_eq!(Sampler::exponential(0.0, clock()).draw(KEY, 0, 0, 0), NEVER);
    assert_eq!(Sampler::exponential(f64::MIN_POSITIVE / 8.0, clock()).draw(KEY, 0, 0, 0), NEVER);
    for rate in [1e-20, 1e-200] {
        let slow = Sampler::exponential(rate, wide_clock());
        assert!(slow.draw_wide(KEY, 0, 0, 0) > NEVER_WIDE / 2, "{rate}");
    }
    let sum = Sampler::general(&Law::Erlang { stages: 1000, mean: 1e30 }, clock());
    assert_eq!(sum.draw(KEY, 0, 0, 0), NEVER);
    for law in [
        Law::Weibull { shape: 0.01, scale: 1e30 },
        Law::LogNormal { mean: 1e100, cv: 1.0 },
        Law::Gamma { shape: 0.5, scale: 1e100 },
    ] {
        let sampler = Sampler::general(&law, clock());
        assert!((0..1000).any(|r| sampler.draw(KEY, 0, 0, r) == NEVER), "{law:?}");
    }
}
