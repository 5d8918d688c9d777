//! Delays in engine ticks for every distribution, computed from addressed words.
//!
//! Exponential, deterministic, uniform, Erlang, hyperexponential and empirical delays are integer transforms of 32-bit
//! words, with the same bits on every CPU. Lognormal, Weibull and Pareto delays use `f64` and the functions of the `libm`
//! crate, which is the same Rust code on every CPU. A GPU cannot produce the same bits, so nets with such a distribution
//! run on the CPU.
//!
//! One draw takes [`Sampler::words`] words. Word `i` of draw `sample` has the address `sample * words + i`.

mod normal;
mod ticks;

pub(crate) use ticks::{NEVER_WIDE, Ticks};

use crate::compile::{Firing, Program};
use crate::net::Law;
use crate::rng::{Address, Purpose, exponential};
use crate::sim::clock::{Clock, Scale};
use normal::{normal, unit_exponential};

/// Transformation of random words to a delay. Times are in engine ticks.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::sim) enum Transform {
    Never,
    Exponential(Scale),
    Deterministic(u128),
    /// `low + floor(word * width / 2^32)`.
    Uniform {
        low: u128,
        width: u128,
    },
    /// Sum of `stages` exponential delays.
    Erlang {
        stages: u32,
        scale: Scale,
    },
    /// The first branch whose bound is above the first word; the second word gives its exponential delay.
    Hyperexponential(Vec<(u64, Scale)>),
    Empirical(Vec<u128>),
    Float(FloatLaw),
}

/// A distribution that needs `f64`; times are in engine ticks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::sim) enum FloatLaw {
    /// `exp(mu + sigma * z)`.
    LogNormal { mu: f64, sigma: f64 },
    /// `scale * E^power`.
    Weibull { scale: f64, power: f64 },
    /// `scale * (exp(E * power) - 1)`.
    Pareto { scale: f64, power: f64 },
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
        let per_second = f64::from(-clock.engine_exponent()).exp2();
        let (transform, words) = match law {
            Law::Deterministic { delay } => (Transform::Deterministic(ticks(*delay)), 0),
            Law::Uniform { low, high } => (Transform::Uniform { low: ticks(*low), width: ticks(high - low) }, 1),
            Law::Erlang { stages, mean } => {
                (Transform::Erlang { stages: *stages, scale: scale(mean / f64::from(*stages)) }, *stages)
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
                let mu = libm::log(mean * per_second) - variance / 2.0;
                (Transform::Float(FloatLaw::LogNormal { mu, sigma: variance.sqrt() }), 2)
            }
            Law::Weibull { shape, scale } => {
                (Transform::Float(FloatLaw::Weibull { scale: scale * per_second, power: shape.recip() }), 2)
            }
            Law::Pareto { shape, scale } => {
                (Transform::Float(FloatLaw::Pareto { scale: scale * per_second, power: shape.recip() }), 2)
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
    pub(in crate::sim) fn scaled(scale: Scale) -> Self {
        Self { transform: Transform::Exponential(scale), words: 1 }
    }

    /// The transformation of words to a delay.
    #[cfg(feature = "gpu")]
    pub(in crate::sim) fn transform(&self) -> &Transform {
        &self.transform
    }

    /// Number of words that one draw takes.
    pub fn words(&self) -> u32 {
        self.words
    }

    /// Returns true if the delays have the same bits on every CPU and GPU.
    pub fn is_integer(&self) -> bool {
        !matches!(self.transform, Transform::Float(_))
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

    /// The results of [`Self::draw`] for the replications `4 * quad ..= 4 * quad + 3`, from one block per word.
    #[inline]
    pub fn draw_quad(&self, key: [u32; 2], owner: u32, sample: u32, quad: u64) -> [u64; 4] {
        let first = sample.wrapping_mul(self.words);
        let block = |i| Address { purpose: Purpose::Delay, owner, sample: first.wrapping_add(i) }.block(key, quad);
        match &self.transform {
            Transform::Exponential(scale) => block(0).map(|word| u64::exponential(*scale, exponential(word))),
            Transform::Erlang { stages, scale } => {
                let mut sums = [0_u64; 4];
                for stage in 0..*stages {
                    for (sum, word) in sums.iter_mut().zip(block(stage)) {
                        *sum = sum.join(u64::exponential(*scale, exponential(word)));
                    }
                }
                sums
            }
            _ => {
                let blocks = [0, 1].map(|i| if i < self.words { block(i) } else { [0; 4] });
                [0, 1, 2, 3].map(|lane| self.transform.apply(|i| blocks[i as usize][lane]))
            }
        }
    }
}

/// The scale of an exponential delay, or `None` if it never ends.
pub(crate) fn exponential_scale(rate: f64, clock: Clock) -> Option<Scale> {
    let mean = rate.recip();
    (rate > 0.0 && mean.is_finite()).then(|| Scale::new(mean, clock.engine_exponent()))
}

/// Seconds to engine ticks, rounded to nearest.
fn to_ticks(seconds: f64, clock: Clock) -> u128 {
    let ticks = seconds * f64::from(-clock.engine_exponent()).exp2();
    (ticks.round() as u128).min(NEVER_WIDE)
}

impl Transform {
    /// The delay computed from the words of one draw.
    #[inline(always)]
    fn apply<T: Ticks>(&self, mut word: impl FnMut(u32) -> u32) -> T {
        match self {
            Self::Never => T::NEVER,
            Self::Exponential(scale) => T::exponential(*scale, exponential(word(0))),
            Self::Deterministic(ticks) => T::saturate(*ticks),
            Self::Uniform { low, width } => T::saturate(low + share(word(0), *width)),
            Self::Erlang { stages, scale } => {
                let sum = |sum: T, i| sum.join(T::exponential(*scale, exponential(word(i))));
                (0..*stages).fold(T::ZERO, sum)
            }
            Self::Hyperexponential(branches) => {
                let first = u64::from(word(0));
                let branch = branches.iter().find(|(bound, _)| first < *bound);
                branch.map_or(T::NEVER, |(_, scale)| T::exponential(*scale, exponential(word(1))))
            }
            Self::Empirical(table) => T::saturate(table[share(word(0), table.len() as u128) as usize]),
            Self::Float(law) => {
                let ticks = law.apply(u64::from(word(0)) << 32 | u64::from(word(1)));
                T::saturate(ticks.round() as u128)
            }
        }
    }
}

/// `floor(word * width / 2^32)` without overflow.
#[inline(always)]
fn share(word: u32, width: u128) -> u128 {
    let word = u128::from(word);
    word * (width >> 32) + ((word * (width & 0xFFFF_FFFF)) >> 32)
}

impl FloatLaw {
    /// The delay in ticks for the uniform number `(bits + 1/2) / 2^64`.
    fn apply(self, bits: u64) -> f64 {
        match self {
            Self::LogNormal { mu, sigma } => libm::exp(mu + sigma * normal(bits)),
            Self::Weibull { scale, power } => scale * libm::pow(unit_exponential(bits), power),
            Self::Pareto { scale, power } => scale * libm::expm1(unit_exponential(bits) * power),
        }
    }
}

#[cfg(test)]
mod tests;
