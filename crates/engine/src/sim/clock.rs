//! Integer model time: the tick of a net, and delays in ticks.
//!
//! A tick is a power of two of a second, so that ticks become seconds without rounding. A delay is `(e *
//! mantissa) >> shift` for the unit variate `e` (Q5.27) and the transition's mantissa and shift. A transition that is a
//! million times faster than another transition keeps its 32 bits. Derived, with the error bounds, in docs/accuracy.md.

use serde::{Deserialize, Serialize};

use crate::compile::{Firing, Program, Value, exponent_of, times_power_of_two};
use crate::net::Servers;
use crate::rng::FRACTION_BITS;
use crate::semantics::Fault;

/// Longest unit variate: the word 0 gives 32.5 ln 2 = 22.9 mean delays (Q5.27 holds less than 32).
const LONGEST_VARIATE: f64 = 23.0;
/// Bits of the slowest transition's mean delay in ticks, approximately, unless another limit requires fewer.
const SLOW_BITS: i32 = 40;
/// Times on the narrow clock stay below 2^62 ticks, so that the sum of two times does not overflow.
const NARROW_BITS: i32 = 62;
/// Minimum number of bits of the fastest mean delay in ticks; with fewer, the wide clock is used.
const FAST_BITS: i32 = 16;
/// Bits of the fastest mean delay on the wide clock.
const WIDE_FAST_BITS: i32 = 32;
/// Maximum number of bits of the wide clock below a result tick, which keeps engine times below 2^126.
const MOST_EXTRA_BITS: i32 = 63;

/// Longest mean delay \[s\], so that sums and standard deviations of times are finite.
const LONGEST_MEAN: f64 = 1e301;
/// Averages over time need a mean delay of at least this share of a result tick: each delay is seen with this
/// probability, and a run has about a million.
const SHORTEST_SHARE: f64 = 1.0 / 1024.0;

/// A time on the narrow clock that is beyond any horizon and means never.
pub const NEVER: u64 = 1 << 63;

/// The tick of one run, the same for all engines.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Clock {
    /// One result tick is `2^exponent` seconds.
    pub exponent: i32,
    /// The engine's tick is `2^-extra_bits` result ticks; always 0 on the narrow clock.
    pub extra_bits: u32,
    /// True if engine times have 128 bits, for nets with very different rates.
    pub wide: bool,
}

impl Clock {
    /// The tick for `program`; times up to `horizon` seconds, if given, should fit.
    ///
    /// The error of every delay is at most one engine tick. With constant rates, an engine tick is at most 2^-15 of the
    /// fastest mean delay on the narrow clock, and 2^-31 on the wide one. Results on the wide clock may be much coarser:
    /// see [`Clock::with_extra_bits`].
    pub fn choose(program: &Program, horizon: Option<f64>) -> Self {
        let Spread { slowest, fastest, sum } = Spread::of(program, horizon);
        let horizon = horizon.map_or(i32::MIN, |horizon| log(horizon) - NARROW_BITS);
        let exponent = (log(slowest) - SLOW_BITS).max(log(sum) + SUM_BITS - NARROW_BITS).max(horizon);
        if log(fastest) - exponent >= FAST_BITS {
            return Self { exponent, extra_bits: 0, wide: false };
        }
        let engine = log(fastest) - WIDE_FAST_BITS;
        let extra_bits = (exponent - engine).clamp(0, MOST_EXTRA_BITS);
        Self { exponent: engine + extra_bits, extra_bits: extra_bits.unsigned_abs(), wide: true }
    }

    /// The wide clock with a result tick of `2^extra_bits` engine ticks; the narrow clock is unchanged.
    ///
    /// A net's rates do not reveal its times: a transition that is a million times slower than all others may determine
    /// them, or never fire. So the caller tries the finest clock first.
    #[must_use]
    pub fn with_extra_bits(self, extra_bits: u32) -> Self {
        if !self.wide {
            return self;
        }
        Self { exponent: self.engine_exponent() + extra_bits.cast_signed(), extra_bits, wide: true }
    }

    /// Returns true if engine times need 128 bits.
    pub fn is_wide(self) -> bool {
        self.wide
    }

    /// Checks that this clock represents the constant delays of `program`, and that averages over time, if there are any,
    /// do not miss the shortest delays.
    ///
    /// # Errors
    ///
    /// [`Fault::BeyondClocks`] or [`Fault::ShortDelays`].
    pub(in crate::sim) fn check(self, program: &Program, has_averages: bool) -> Result<(), Fault> {
        let name = |t: u32| program.transition_names[t as usize].to_owned();
        let tokens = program.initial_tokens().max(1) as f64;
        let mut fastest = (f64::INFINITY, 0);
        for &t in &program.timed {
            let firing = &program.firing[t as usize];
            let (short, long, busy) = means(firing, &program.initial, &program.initial);
            if long <= 0.0 {
                continue;
            }
            let varies = matches!(firing, Firing::Exponential { rate: Value::Code(_), .. });
            let short = if varies { short } else { short / busy.unwrap_or(tokens) };
            for mean in [short, long] {
                if !(f64::MIN_POSITIVE..=LONGEST_MEAN).contains(&mean) {
                    let (least, most) = (f64::MIN_POSITIVE, LONGEST_MEAN);
                    return Err(Fault::BeyondClocks { transition: name(t), mean, least, most });
                }
            }
            fastest = if short < fastest.0 { (short, t) } else { fastest };
        }
        let (mean, t) = fastest;
        if has_averages && self.is_wide() && mean < self.tick() * SHORTEST_SHARE {
            return Err(Fault::ShortDelays { transition: name(t), mean, tick: self.tick() });
        }
        Ok(())
    }

    /// The longest time that fits, in seconds.
    pub fn limit(self) -> f64 {
        f64::from(NARROW_BITS + self.exponent).exp2()
    }

    /// Seconds per result tick.
    pub fn tick(self) -> f64 {
        f64::from(self.exponent).exp2()
    }

    /// Exponent of two of the engine's tick in seconds.
    pub fn engine_exponent(self) -> i32 {
        self.exponent - self.extra_bits.cast_signed()
    }

    /// Result ticks to seconds.
    pub fn seconds(self, ticks: u64) -> f64 {
        ticks as f64 * self.tick()
    }

    /// Seconds to result ticks, rounded to nearest and at most 2^62.
    pub fn ticks(self, seconds: f64) -> u64 {
        let most = (f64::from(NARROW_BITS)).exp2();
        (seconds / self.tick()).round().clamp(0.0, most) as u64
    }
}

/// Sums of times are in units of 2^64 s, so that the sum of the longest ones is finite.
const SUM_BITS: i32 = 64;
const SUM_UNIT: f64 = 1.0 / 18_446_744_073_709_551_616.0;

/// Binary logarithm, rounded up; for 0, a value far below all others.
fn log(x: f64) -> i32 {
    if x > 0.0 { x.log2().ceil() as i32 } else { i32::MIN / 2 }
}

/// Range of the delays in a net.
struct Spread {
    /// Longest mean delay of one server.
    slowest: f64,
    /// Shortest mean delay if all initial tokens are busy servers.
    fastest: f64,
    /// Upper bound of the time in which all transitions fire once, one after the other, times [`SUM_UNIT`].
    sum: f64,
}

impl Spread {
    fn of(program: &Program, horizon: Option<f64>) -> Self {
        let tokens = program.initial_tokens();
        let most = u32::try_from(tokens).unwrap_or(u32::MAX).max(1);
        let crowded = vec![most; program.initial.len()];
        let mut spread = Self { slowest: 0.0, fastest: f64::INFINITY, sum: 0.0 };
        for &t in &program.timed {
            let (short, long, busy) = means(&program.firing[t as usize], &program.initial, &crowded);
            if long > 0.0 && long.is_finite() {
                spread.slowest = spread.slowest.max(long);
                spread.sum += long * SUM_UNIT * LONGEST_VARIATE;
                spread.fastest = spread.fastest.min(short / busy.unwrap_or(tokens.max(1) as f64));
            }
        }
        if spread.slowest <= 0.0 {
            spread.slowest = horizon.unwrap_or(1.0);
            spread.fastest = spread.slowest;
        }
        spread
    }
}

/// Shortest and longest mean delay of one server, and the number of servers, if that is bounded. A rate that depends on
/// the marking is evaluated in the initial marking and with every place full, since the results only determine the tick.
fn means(firing: &Firing, initial: &[u32], crowded: &[u32]) -> (f64, f64, Option<f64>) {
    let (short, long, servers) = match firing {
        Firing::Immediate { .. } => return (0.0, 0.0, None),
        Firing::Exponential { rate, servers } => {
            let possible = [rate.eval(initial), rate.eval(crowded)];
            let means = possible.iter().filter(|rate| **rate > 0.0).map(|rate| 1.0 / rate).filter(|m| m.is_finite());
            let (short, long) = means.fold((f64::INFINITY, 0.0), |(s, l): (f64, f64), m| (s.min(m), l.max(m)));
            if rate.as_constant().is_none() && long <= 0.0 { (1.0, 1.0, *servers) } else { (short, long, *servers) }
        }
        Firing::General { law, servers, .. } => (law.mean(), law.mean(), *servers),
    };
    let busy = match servers {
        Servers::Single => Some(1.0),
        Servers::Limited(most) => Some(f64::from(most)),
        Servers::Infinite => None,
    };
    (short, long, busy)
}

/// Turns unit variates into delays of one transition: `(e * mantissa) >> shift` engine ticks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scale {
    /// The mantissa, whose top bit is set unless the delay is below 2^-36 ticks.
    pub mantissa: u32,
    /// The shift, at least 0 on the narrow clock, and at most 63.
    pub shift: i32,
}

impl Scale {
    /// The scale of a mean delay in seconds on a clock whose engine tick is `2^exponent` seconds. The mean has a
    /// relative error of at most 2^-32. A mean of 0 gives delays of 0.
    pub fn new(mean: f64, exponent: i32) -> Self {
        if mean <= 0.0 {
            return Self { mantissa: 0, shift: 0 };
        }
        let mut shift = 31 + FRACTION_BITS.cast_signed() + exponent - exponent_of(mean);
        let at = |shift: i32| times_power_of_two(mean, shift - FRACTION_BITS.cast_signed() - exponent).round();
        if at(shift) > f64::from(u32::MAX) {
            shift -= 1;
        }
        let shift = shift.min(63);
        Self { mantissa: at(shift) as u32, shift }
    }

    /// The delay in ticks on the narrow clock; [`NEVER`] if it does not fit.
    #[inline(always)]
    pub fn narrow(self, e: u32) -> u64 {
        if self.shift < 0 {
            return NEVER;
        }
        (u64::from(e) * u64::from(self.mantissa)) >> self.shift
    }

    /// The delay in ticks on the wide clock; at most 2^127.
    #[inline(always)]
    pub fn wide(self, e: u32) -> u128 {
        let product = u128::from(e) * u128::from(self.mantissa);
        if self.shift >= 0 {
            product >> self.shift
        } else if self.shift.unsigned_abs() < product.leading_zeros() {
            product << self.shift.unsigned_abs()
        } else {
            1 << 127
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scale_keeps_the_mean() {
        for mean in [1e-9, 0.3, 1.0, 2.0, 5.0, 1e6] {
            for exponent in [-60, -45, -30] {
                let scale = Scale::new(mean, exponent);
                let one = 1_u32 << FRACTION_BITS;
                let ticks = scale.wide(one) as f64;
                let exact = mean * f64::from(-exponent).exp2();
                assert!((ticks - exact).abs() <= 1.0 + exact * 2.4e-10, "{mean} {exponent}: {ticks} {exact}");
                if scale.shift >= 0 {
                    assert_eq!(u128::from(scale.narrow(one)), scale.wide(one));
                }
            }
        }
        assert_eq!(Scale::new(0.0, -40).narrow(u32::MAX), 0);
        assert_eq!(Scale::new(1e20, -70).wide(1 << FRACTION_BITS), 1 << 127);
    }
}
