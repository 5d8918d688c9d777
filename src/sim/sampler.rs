//! Delays in engine ticks for every law, made from addressed words.
//!
//! Exponential, deterministic, uniform, Erlang, hyperexponential and empirical delays are integer transforms of 32-bit
//! words: the same bits on every processor. Lognormal, Weibull and Pareto delays go through `f64` and the functions of
//! the `libm` crate, which is the same Rust code everywhere; a GPU cannot do the same bits, so nets with such a law run
//! on the CPU.
//!
//! One draw takes [`Sampler::words`] words. Word `i` of draw `sample` has the address `sample * words + i`.

use crate::compile::{Firing, Program};
use crate::net::Law;
use crate::rng::{Address, Purpose, exponential};
use crate::sim::clock::{Clock, NEVER, Scale};

/// A time on the wide clock from which on a run is over.
pub(crate) const NEVER_WIDE: u128 = 1 << 126;

/// Engine time: `u64` on the narrow clock, `u128` on the wide one.
pub(crate) trait Ticks: Copy + Ord + Send + Sync + std::fmt::Debug {
    /// No time.
    const ZERO: Self;
    /// What nothing reaches.
    const NEVER: Self;
    /// A time and the number of a transition, ordered by time, then number.
    type Key: Copy + Ord + Send + Sync + std::fmt::Debug;

    /// An exponential delay, at most [`Self::NEVER`].
    fn exponential(scale: Scale, e: u32) -> Self;
    /// From engine ticks, at most [`Self::NEVER`].
    fn saturate(ticks: u128) -> Self;
    /// Sum of a time below [`Self::NEVER`] and a delay.
    fn plus(self, delay: Self) -> Self;
    /// Time since `earlier`.
    fn since(self, earlier: Self) -> Self;
    /// From result ticks.
    fn from_result(ticks: u64, extra_bits: u32) -> Self;
    /// To result ticks, rounded down.
    fn to_result(self, extra_bits: u32) -> u64;
    /// Puts the two together.
    fn key(self, transition: u32) -> Self::Key;
    /// Takes them apart.
    fn open(key: Self::Key) -> (Self, u32);
}

impl Ticks for u64 {
    const ZERO: Self = 0;
    const NEVER: Self = NEVER;
    type Key = u128;

    #[inline(always)]
    fn exponential(scale: Scale, e: u32) -> Self {
        scale.narrow(e).min(NEVER)
    }

    #[inline(always)]
    fn saturate(ticks: u128) -> Self {
        ticks.min(u128::from(NEVER)) as Self
    }

    #[inline(always)]
    fn plus(self, delay: Self) -> Self {
        self + delay
    }

    #[inline(always)]
    fn since(self, earlier: Self) -> Self {
        self - earlier
    }

    #[inline(always)]
    fn from_result(ticks: u64, _: u32) -> Self {
        ticks
    }

    #[inline(always)]
    fn to_result(self, _: u32) -> u64 {
        self
    }

    #[inline(always)]
    fn key(self, transition: u32) -> u128 {
        u128::from(self) << 32 | u128::from(transition)
    }

    #[inline(always)]
    fn open(key: u128) -> (Self, u32) {
        ((key >> 32) as Self, key as u32)
    }
}

impl Ticks for u128 {
    const ZERO: Self = 0;
    const NEVER: Self = NEVER_WIDE;
    type Key = (u128, u32);

    #[inline(always)]
    fn exponential(scale: Scale, e: u32) -> Self {
        scale.wide(e).min(NEVER_WIDE)
    }

    #[inline(always)]
    fn saturate(ticks: u128) -> Self {
        ticks.min(NEVER_WIDE)
    }

    #[inline(always)]
    fn plus(self, delay: Self) -> Self {
        self + delay
    }

    #[inline(always)]
    fn since(self, earlier: Self) -> Self {
        self - earlier
    }

    #[inline(always)]
    fn from_result(ticks: u64, extra_bits: u32) -> Self {
        Self::from(ticks) << extra_bits
    }

    #[inline(always)]
    fn to_result(self, extra_bits: u32) -> u64 {
        (self >> extra_bits) as u64
    }

    #[inline(always)]
    fn key(self, transition: u32) -> (u128, u32) {
        (self, transition)
    }

    #[inline(always)]
    fn open(key: (u128, u32)) -> (Self, u32) {
        key
    }
}

/// How words become a delay. Times are in engine ticks.
#[derive(Clone, Debug, PartialEq)]
enum Transform {
    Never,
    Exponential(Scale),
    Deterministic(u128),
    /// `low + floor(word * width / 2^32)`.
    Uniform {
        low: u128,
        width: u128,
    },
    /// Sum of as many exponential delays.
    Erlang {
        stages: u32,
        scale: Scale,
    },
    /// The first branch whose bound is above the first word; its exponential delay from the second.
    Hyperexponential(Vec<(u64, Scale)>),
    Empirical(Vec<u128>),
    Float(FloatLaw),
}

/// A law that needs `f64`; times are in engine ticks.
#[derive(Clone, Copy, Debug, PartialEq)]
enum FloatLaw {
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

    /// Any other law.
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

    /// The delays of one server of a transition of `program`; `None` where it is immediate, or exponential with a rate
    /// that depends on the marking.
    pub fn of(program: &Program, transition: usize, clock: Clock) -> Option<Self> {
        match &program.firing[transition] {
            Firing::Immediate { .. } => None,
            Firing::Exponential { rate, .. } => rate.as_constant().map(|rate| Self::exponential(rate, clock)),
            Firing::General { law, .. } => Some(Self::general(law, clock)),
        }
    }

    /// How many words one draw takes.
    pub fn words(&self) -> u32 {
        self.words
    }

    /// Whether its delays are the same bits on every processor, GPUs included.
    pub fn is_integer(&self) -> bool {
        !matches!(self.transform, Transform::Float(_))
    }

    /// The scale, where the delay is exponential with one scale.
    pub fn scale(&self) -> Option<Scale> {
        match self.transform {
            Transform::Exponential(scale) => Some(scale),
            _ => None,
        }
    }

    /// The delay that `owner` draws for the `sample`-th time in a replication, on the narrow clock; at most [`NEVER`].
    #[inline]
    pub fn draw(&self, key: [u32; 2], owner: u32, sample: u32, replication: u64) -> u64 {
        self.draw_as(key, owner, sample, replication)
    }

    /// The same on the wide clock.
    #[inline]
    pub fn draw_wide(&self, key: [u32; 2], owner: u32, sample: u32, replication: u64) -> u128 {
        self.draw_as(key, owner, sample, replication)
    }

    /// The same on either.
    #[inline]
    pub(crate) fn draw_as<T: Ticks>(&self, key: [u32; 2], owner: u32, sample: u32, replication: u64) -> T {
        let first = sample.wrapping_mul(self.words);
        self.transform
            .apply(|i| Address { purpose: Purpose::Delay, owner, sample: first.wrapping_add(i) }.word(key, replication))
    }

    /// What [`Self::draw`] gives for the replications `4 * quad ..= 4 * quad + 3`, from one block per word.
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
                        *sum = (*sum + u64::exponential(*scale, exponential(word))).min(NEVER);
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

/// The scale of an exponential delay, or `None` where it never ends.
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
    /// The delay made from the words of one draw.
    #[inline(always)]
    fn apply<T: Ticks>(&self, mut word: impl FnMut(u32) -> u32) -> T {
        match self {
            Self::Never => T::NEVER,
            Self::Exponential(scale) => T::exponential(*scale, exponential(word(0))),
            Self::Deterministic(ticks) => T::saturate(*ticks),
            Self::Uniform { low, width } => T::saturate(low + share(word(0), *width)),
            Self::Erlang { stages, scale } => {
                let sum = |sum: T, i| sum.plus(T::exponential(*scale, exponential(word(i)))).min(T::NEVER);
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
    /// The delay in ticks that belongs to the uniform number `(bits + 1/2) / 2^64`.
    fn apply(self, bits: u64) -> f64 {
        match self {
            Self::LogNormal { mu, sigma } => libm::exp(mu + sigma * normal(bits)),
            Self::Weibull { scale, power } => scale * libm::pow(unit_exponential(bits), power),
            Self::Pareto { scale, power } => scale * libm::expm1(unit_exponential(bits) * power),
        }
    }
}

/// `-ln u` in `f64`.
fn unit_exponential(bits: u64) -> f64 {
    if bits >> 63 == 0 {
        -libm::log((bits as f64 + 0.5) * (-64_f64).exp2())
    } else {
        // near 1 the distance to 1 is what has the digits
        -libm::log1p(-(!bits as f64 + 0.5) * (-64_f64).exp2())
    }
}

/// A standard normal variate: the quantile of `(bits + 1/2) / 2^64`.
fn normal(bits: u64) -> f64 {
    let upper = bits >> 63 == 1;
    let tail = (if upper { !bits } else { bits } as f64 + 0.5) * (-64_f64).exp2();
    let z = lower_normal_quantile(tail);
    if upper { -z } else { z }
}

/// Quantile of the standard normal law for a probability of at most 1/2, to about 1e-16. Algorithm AS 241, PPND16
/// \[Wichura1988\].
fn lower_normal_quantile(p: f64) -> f64 {
    let q = p - 0.5;
    if q.abs() <= 0.425 {
        let r = 0.180_625 - q * q;
        return q * ratio(r, &CENTRE);
    }
    let r = (-libm::log(p)).sqrt();
    if r <= 5.0 { -ratio(r - 1.6, &MIDDLE) } else { -ratio(r - 5.0, &FAR) }
}

/// Quotient of two polynomials, coefficients from the constant upwards.
fn ratio(r: f64, coefficients: &[[f64; 8]; 2]) -> f64 {
    let [above, below] = coefficients.map(|c| c.iter().rev().fold(0.0, |sum, c| sum * r + c));
    above / below
}

#[rustfmt::skip]
const CENTRE: [[f64; 8]; 2] = [
    [3.387_132_872_796_366_6, 1.331_416_678_917_843_8e2, 1.971_590_950_306_551_3e3, 1.373_169_376_550_946_1e4,
     4.592_195_393_154_987_2e4, 6.726_577_092_700_87e4, 3.343_057_558_358_813e4, 2.509_080_928_730_122_7e3],
    [1.0, 4.231_333_070_160_091e1, 6.871_870_074_920_579e2, 5.394_196_021_424_751e3,
     2.121_379_430_158_659_7e4, 3.930_789_580_009_271e4, 2.872_908_573_572_194_3e4, 5.226_495_278_852_854e3],
];
#[rustfmt::skip]
const MIDDLE: [[f64; 8]; 2] = [
    [1.423_437_110_749_683_5, 4.630_337_846_156_546, 5.769_497_221_460_691, 3.647_848_324_763_204_5,
     1.270_458_252_452_368_4, 2.417_807_251_774_506e-1, 2.272_384_498_926_918_4e-2, 7.745_450_142_783_414e-4],
    [1.0, 2.053_191_626_637_759, 1.676_384_830_183_803_8, 6.897_673_349_851e-1,
     1.481_039_764_274_800_8e-1, 1.519_866_656_361_645_7e-2, 5.475_938_084_995_345e-4, 1.050_750_071_644_416_9e-9],
];
#[rustfmt::skip]
const FAR: [[f64; 8]; 2] = [
    [6.657_904_643_501_103, 5.463_784_911_164_114, 1.784_826_539_917_291_3, 2.965_605_718_285_048_7e-1,
     2.653_218_952_657_612_4e-2, 1.242_660_947_388_078_4e-3, 2.711_555_568_743_487_6e-5, 2.010_334_399_292_288_1e-7],
    [1.0, 5.998_322_065_558_88e-1, 1.369_298_809_227_358e-1, 1.487_536_129_085_061_5e-2,
     7.868_691_311_456_133e-4, 1.846_318_317_510_054_8e-5, 1.421_511_758_316_446e-7, 2.044_263_103_389_939_8e-15],
];
