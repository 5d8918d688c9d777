//! Delays of clocks that have already run for some time: the conditional distribution of a delay, given its age.
//!
//! | distribution | delay, given that it exceeds the age |
//! |---|---|
//! | uniform, empirical, deterministic | uniform over the ticks or samples beyond the age |
//! | Weibull, Pareto, lognormal, gamma | the delay whose tail probability is `2^-(a + e)`: the tail probability at the age is `2^-a`, and `e` is an exponential variate with the mean `1 / ln 2` |
//! | Erlang | the number of finished stages by its probability at the age, then the remaining exponential stages |
//! | hyperexponential | a branch by its probability at the age, then an exponential remainder |
//!
//! The tail probability at an age is a float, computed by `libm`, so it has the same bits on every CPU. All other
//! arithmetic is that of [`Sampler`]. A lognormal or gamma delay is at most its quantile `1 - 2^-64`, as in every draw.

use std::f64::consts::{LN_2, SQRT_2};

use crate::estimate::gamma_tails;
use crate::net::{Branch, Law};
use crate::rng::exponential;
use crate::sim::clock::{Clock, Scale};
use crate::sim::sampler::functions::{
    Positive, Product, lognormal_beyond, minus_log2, pareto, place_beyond, power_of_two, weibull,
};
use crate::sim::sampler::{Sampler, Ticks, Transform, bits};

/// The delays of one transition on the narrow clock, given their age.
#[derive(Clone, Debug)]
pub(crate) struct AgedSampler {
    law: Law,
    transform: Transform,
    /// Seconds per tick.
    tick: f64,
    words: u32,
}

impl AgedSampler {
    /// The conditional delays of a distribution.
    pub(crate) fn new(law: &Law, clock: Clock) -> Self {
        let Sampler { mut transform, words } = Sampler::general(law, clock);
        if let Transform::Empirical(samples) = &mut transform {
            samples.sort_unstable();
        }
        Self { law: law.clone(), transform, tick: clock.tick(), words: words + 1 }
    }

    /// Maximum number of words that one draw takes.
    pub(crate) fn words(&self) -> u32 {
        self.words
    }

    /// A delay in ticks, given that it exceeds `age` ticks.
    pub(crate) fn draw(&self, age: u64, word: impl Fn(u32) -> u32) -> u64 {
        let seconds = age as f64 * self.tick;
        let delay = match (&self.transform, &self.law) {
            (Transform::Uniform { low, width }, _) => {
                let first = (u128::from(age) + 1).max(*low);
                u64::saturate(first + (low + width).saturating_sub(first).share(word(0)))
            }
            (Transform::Empirical(samples), _) => {
                let later = &samples[samples.partition_point(|sample| *sample <= u128::from(age))..];
                let at = (later.len() as u64).share(word(0)) as usize;
                later.get(at).map_or(u64::NEVER, |sample| u64::saturate(*sample))
            }
            (Transform::Erlang { stages, scale }, Law::Erlang { mean, .. }) => {
                let finished = finished_stages(seconds * f64::from(*stages) / mean, *stages, word(0));
                let product = (finished..*stages).fold(Product::ONE, |product, i| product.factor(word(i + 1)));
                age.join(u64::ticks_of(product.logarithm().times(*scale)))
            }
            (Transform::Hyperexponential(scales), Law::Hyperexponential { branches }) => {
                age.join(u64::exponential(branch(branches, scales, seconds, word(0)), exponential(word(1))))
            }
            (Transform::Weibull(line), Law::Weibull { shape, scale }) => {
                let e = later(libm::pow(seconds / scale, *shape) / LN_2, word);
                u64::ticks_of(weibull(*line, e.logarithm()))
            }
            (Transform::Pareto { power, scale: ticks }, Law::Pareto { shape, scale }) => {
                let e = later(shape * libm::log1p(seconds / scale) / LN_2, word);
                u64::ticks_of(pareto(*power, e).times(*ticks))
            }
            (Transform::LogNormal(line), Law::LogNormal { mean, cv }) => {
                let variance = libm::log1p(cv * cv);
                let above = libm::log(seconds / mean) + variance / 2.0;
                let tail = libm::erfc(above / variance.sqrt() / SQRT_2) / 2.0;
                u64::ticks_of(lognormal_beyond(*line, later(-libm::log2(tail), word)))
            }
            (Transform::Gamma { base, table }, Law::Gamma { shape, scale }) => {
                let [_, tail] = gamma_tails(*shape, seconds / scale);
                let (upper, row, s) = place_beyond(later(-libm::log2(tail), word));
                u64::ticks_of(power_of_two(base + table.gamma(upper, row, s)))
            }
            (other @ (Transform::Never | Transform::Exponential(_) | Transform::Deterministic(_)), _)
            // `new` pairs each transform with its own law; the list lets a new distribution not compile until it has a case
            | (
                other @ (Transform::Erlang { .. }
                | Transform::Hyperexponential(_)
                | Transform::Weibull(_)
                | Transform::Pareto { .. }
                | Transform::LogNormal(_)
                | Transform::Gamma { .. }),
                _,
            ) => other.apply(word),
        };
        delay.max(age.saturating_add(1)).min(u64::NEVER)
    }
}

/// The sum of a number and an exponential variate with the mean `1 / ln 2`.
fn later(a: f64, word: impl Fn(u32) -> u32) -> Positive {
    Positive::new(a + minus_log2(bits(word(0), word(1))).value())
}

/// Number of finished stages of an Erlang delay that exceeds `x` mean stages: Poisson with mean `x`, given fewer than
/// `stages`.
fn finished_stages(x: f64, stages: u32, word: u32) -> u32 {
    // relative to the most likely number, so that no term overflows
    let mode = (x as u32).min(stages - 1);
    let mut weights = vec![1.0; stages as usize];
    for i in mode + 1..stages {
        weights[i as usize] = weights[i as usize - 1] * x / f64::from(i);
    }
    for i in (0..mode).rev() {
        weights[i as usize] = weights[i as usize + 1] * f64::from(i + 1) / x;
    }
    chosen(&weights, word) as u32
}

/// The scale of the branch of a hyperexponential delay that exceeds an age.
fn branch(branches: &[Branch], scales: &[(u64, Scale)], age: f64, word: u32) -> Scale {
    let possible = || branches.iter().filter(|branch| branch.probability > 0.0);
    let least = possible().map(|branch| age / branch.mean).fold(f64::INFINITY, f64::min);
    let weight = |b: &Branch| if b.probability > 0.0 { b.probability * libm::exp(least - age / b.mean) } else { 0.0 };
    scales[chosen(&branches.iter().map(weight).collect::<Vec<_>>(), word)].1
}

/// The index that a word chooses, with probabilities proportional to weights.
fn chosen(weights: &[f64], word: u32) -> usize {
    let mut left = (f64::from(word) + 0.5) / 32_f64.exp2() * weights.iter().sum::<f64>();
    let passes = |weight: &f64| {
        left -= weight;
        left < 0.0
    };
    weights.iter().position(passes).unwrap_or(weights.len() - 1)
}
