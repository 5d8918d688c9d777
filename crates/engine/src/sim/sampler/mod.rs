//! Delays in engine ticks for every distribution, computed from addressed words by integer arithmetic, with the same bits on
//! every CPU and GPU.
//!
//! One draw takes [`Sampler::words`] words. Word `i` of draw `sample` has the address `sample * words + i`.

mod aged;
mod functions;
mod gamma;
mod tables;
mod ticks;

pub(crate) use aged::AgedSampler;
pub(crate) use functions::{
    Line, Positive, Product, is_upper, lognormal, minus_log2, normal_row, normal_step, normal_sum, pareto,
    power_of_two, weibull,
};
pub(crate) use gamma::GammaTable;
pub(crate) use tables::NORMAL_DEGREE;
#[cfg(feature = "gpu")]
pub(crate) use tables::{GROWTH, LOGARITHM, NORMAL, NORMAL_ROWS};
pub(crate) use ticks::{NEVER_WIDE, Ticks};

use std::f64::consts::LN_2;
use std::sync::Arc;

use crate::compile::{Firing, Program, times_power_of_two};
use crate::net::Law;
use crate::rng::{Address, Purpose, exponential};
use crate::sim::clock::{Clock, Scale};
use functions::{LOG_BITS, NORMAL_BITS};

/// Transformation of random words to a delay. Times are in engine ticks.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Transform {
    Never,
    Exponential(Scale),
    Deterministic(u128),
    /// `low + floor(word * width / 2^32)`.
    Uniform {
        low: u128,
        width: u128,
    },
    /// `-log2` of a product of `stages` uniform numbers, times `scale`.
    Erlang {
        stages: u32,
        scale: Positive,
    },
    /// The first branch whose bound is above the first word; the second word gives its exponential delay.
    Hyperexponential(Vec<(u64, Scale)>),
    Empirical(Vec<u128>),
    LogNormal(Line),
    Weibull(Line),
    /// `scale * (2^(e * power) - 1)` for `e = -log2 u`.
    Pareto {
        power: Positive,
        scale: Positive,
    },
    /// 2 to the sum of `base` and the value of the table, as Q32.32.
    Gamma {
        base: i64,
        table: Arc<GammaTable>,
    },
}

/// The delays of one transition on the clock of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Sampler {
    transform: Transform,
    words: u32,
}

impl Sampler {
    /// Exponential with a constant rate [1/s]; a rate of 0 never fires.
    pub fn exponential(rate: f64, clock: Clock) -> Self {
        Self { transform: exponential_scale(rate, clock).map_or(Transform::Never, Transform::Exponential), words: 1 }
    }

    /// Any other distribution.
    pub fn general(law: &Law, clock: Clock) -> Self {
        let ticks = |seconds: f64| to_ticks(seconds, clock);
        let scale = |mean: f64| Scale::new(mean, clock.engine_exponent());
        let in_ticks = |seconds: f64| times_power_of_two(seconds, -clock.engine_exponent());
        let (transform, words) = match law {
            Law::Deterministic { delay } => (Transform::Deterministic(ticks(*delay)), 0),
            Law::Uniform { low, high } => (Transform::Uniform { low: ticks(*low), width: ticks(high - low) }, 1),
            Law::Erlang { stages, mean } => {
                let scale = Positive::new(in_ticks(mean / f64::from(*stages)) * LN_2);
                (Transform::Erlang { stages: *stages, scale }, *stages)
            }
            Law::Hyperexponential { branches } => {
                let total: f64 = branches.iter().map(|b| b.probability).sum();
                let mut sum = 0.0;
                let mut table: Vec<(u64, Scale)> = branches
                    .iter()
                    .map(|b| {
                        sum += b.probability;
                        ((sum / total * 32_f64.exp2()).round() as u64, scale(b.mean))
                    })
                    .collect();
                if let Some(last) = table.last_mut() {
                    last.0 = 1 << 32;
                }
                (Transform::Hyperexponential(table), 2)
            }
            Law::Empirical { samples } => (Transform::Empirical(samples.iter().map(|&s| ticks(s)).collect()), 1),
            Law::LogNormal { mean, cv } => {
                let variance = libm::log1p(cv * cv);
                let base = libm::log2(in_ticks(*mean)) - variance / 2.0 / LN_2;
                (Transform::LogNormal(Line::new(base, variance.sqrt() / LN_2, NORMAL_BITS)), 2)
            }
            Law::Weibull { shape, scale } => {
                let power = shape.recip();
                let base = libm::log2(in_ticks(*scale)) + power * libm::log2(LN_2);
                (Transform::Weibull(Line::new(base, power, LOG_BITS)), 2)
            }
            Law::Pareto { shape, scale } => {
                let (power, scale) = (Positive::new(shape.recip()), Positive::new(in_ticks(*scale)));
                (Transform::Pareto { power, scale }, 2)
            }
            Law::Gamma { shape, scale } => {
                let Line { base, .. } = Line::new(libm::log2(in_ticks(*scale)), 0.0, 0);
                (Transform::Gamma { base, table: GammaTable::of(*shape) }, 2)
            }
        };
        Self { transform, words }
    }

    /// The delays of one server of a transition of `program`; `None` if it is immediate, or exponential with a rate
    /// that depends on the marking.
    pub fn of(program: &Program, transition: usize, clock: Clock) -> Option<Self> {
        match &program.firing[transition] {
            Firing::Immediate { .. } => None,
            Firing::Exponential { rate, .. } => rate.as_constant().map(|rate| Self::exponential(rate, clock)),
            Firing::General { law, .. } => Some(Self::general(law, clock)),
        }
    }

    /// Exponential with a scale.
    #[cfg(feature = "gpu")]
    pub(crate) fn scaled(scale: Scale) -> Self {
        Self { transform: Transform::Exponential(scale), words: 1 }
    }

    /// The transformation of words to a delay.
    pub(crate) fn transform(&self) -> &Transform {
        &self.transform
    }

    /// Number of words that one draw takes.
    pub fn words(&self) -> u32 {
        self.words
    }

    /// The scale, if the delay is exponential with one scale.
    pub fn scale(&self) -> Option<Scale> {
        match self.transform {
            Transform::Exponential(scale) => Some(scale),
            _ => None,
        }
    }

    /// The delay that `owner` draws for the `sample`-th time in a replication, on the narrow clock; at most
    /// [`NEVER`](crate::sim::NEVER).
    #[inline]
    pub fn draw(&self, key: [u32; 2], owner: u32, sample: u32, replication: u64) -> u64 {
        self.draw_as(key, owner, sample, replication)
    }

    /// As [`Self::draw`], on the wide clock.
    #[inline]
    pub fn draw_wide(&self, key: [u32; 2], owner: u32, sample: u32, replication: u64) -> u128 {
        self.draw_as(key, owner, sample, replication)
    }

    /// As [`Self::draw`], on either clock.
    #[inline]
    pub(crate) fn draw_as<T: Ticks>(&self, key: [u32; 2], owner: u32, sample: u32, replication: u64) -> T {
        let first = sample.wrapping_mul(self.words);
        self.transform
            .apply(|i| Address { purpose: Purpose::Delay, owner, sample: first.wrapping_add(i) }.word(key, replication))
    }
}

/// The scale of an exponential delay, or `None` if it never ends.
pub(crate) fn exponential_scale(rate: f64, clock: Clock) -> Option<Scale> {
    let mean = rate.recip();
    (rate > 0.0 && mean.is_finite()).then(|| Scale::new(mean, clock.engine_exponent()))
}

/// Seconds to engine ticks, rounded to nearest.
fn to_ticks(seconds: f64, clock: Clock) -> u128 {
    (times_power_of_two(seconds, -clock.engine_exponent()).round() as u128).min(NEVER_WIDE)
}

impl Transform {
    /// The delay computed from the words of one draw.
    #[inline(always)]
    pub(crate) fn apply<T: Ticks>(&self, mut word: impl FnMut(u32) -> u32) -> T {
        match self {
            Self::Never => T::NEVER,
            Self::Exponential(scale) => T::exponential(*scale, exponential(word(0))),
            Self::Deterministic(ticks) => T::saturate(*ticks),
            Self::Uniform { low, width } => T::saturate(low + width.share(word(0))),
            Self::Erlang { stages, scale } => {
                let product = (0..*stages).fold(Product::ONE, |product, i| product.factor(word(i)));
                T::ticks_of(product.logarithm().times(*scale))
            }
            Self::Hyperexponential(branches) => {
                let first = u64::from(word(0));
                let branch = branches.iter().find(|(bound, _)| first < *bound);
                branch.map_or(T::NEVER, |(_, scale)| T::exponential(*scale, exponential(word(1))))
            }
            Self::Empirical(table) => T::saturate(table[(table.len() as u64).share(word(0)) as usize]),
            Self::LogNormal(line) => {
                let bits = bits(word(0), word(1));
                let (row, s) = normal_row(bits);
                T::ticks_of(lognormal(*line, is_upper(bits), normal_sum(row, s), row, s))
            }
            Self::Weibull(line) => T::ticks_of(weibull(*line, minus_log2(bits(word(0), word(1))).logarithm())),
            Self::Pareto { power, scale } => {
                T::ticks_of(pareto(*power, minus_log2(bits(word(0), word(1)))).times(*scale))
            }
            Self::Gamma { base, table } => T::ticks_of(power_of_two(base + table.draw(bits(word(0), word(1))))),
        }
    }
}

/// Two words as one, the first one above.
#[inline(always)]
pub(crate) fn bits(first: u32, second: u32) -> u64 {
    u64::from(first) << 32 | u64::from(second)
}

#[cfg(test)]
pub(crate) mod tests;
