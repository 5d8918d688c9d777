//! Integer model time: which tick a net gets, and delays in ticks.
//!
//! A tick is a power of two of a second, so that ticks become seconds without rounding. A delay is
//! `(e * mantissa) >> shift` for the unit variate `e` (Q5.27) and the transition's own mantissa and shift; a transition
//! a million times faster than another keeps its 32 bits. Derived, with the error bounds, in docs/accuracy.md.

use crate::compile::{Firing, Program};
use crate::net::Servers;
use crate::rng::FRACTION_BITS;

/// Longest unit variate: the word 0 gives 32.5 ln 2 = 22.9 mean delays (Q5.27 holds less than 32).
const LONGEST_VARIATE: f64 = 23.0;
/// The slowest transition's mean delay has about this many bits of ticks, where nothing asks for fewer.
const SLOW_BITS: i32 = 40;
/// Narrow times stay below 2^62 ticks, so that sums of two do not overflow.
const NARROW_BITS: i32 = 62;
/// The fastest mean delay needs at least this many bits of ticks, else the wide clock is taken.
const FAST_BITS: i32 = 16;
/// What the fastest mean delay gets on the wide clock.
const WIDE_FAST_BITS: i32 = 32;

/// A time on the narrow clock from which on a run is over: beyond any horizon.
pub const NEVER: u64 = 1 << 63;

/// The tick of one run, the same for all engines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Clock {
    /// One result tick is `2^exponent` seconds.
    pub exponent: i32,
    /// The engine's tick is `2^-extra_bits` result ticks: 0 on the narrow (64-bit) clock, above 0 on the wide (128-bit)
    /// one, which nets of very different rates get.
    pub extra_bits: u32,
}

impl Clock {
    /// The tick for `program`, where times up to `horizon` seconds must fit (if one is given).
    ///
    /// Every single delay that the net draws is off by at most one engine tick; with constant rates that is at most
    /// 2^-15 of the fastest mean delay on the narrow clock, 2^-31 on the wide one (where its 63 extra bits suffice).
    pub fn choose(program: &Program, horizon: Option<f64>) -> Self {
        let tokens = program.initial_tokens();
        let mut slowest: f64 = 0.0;
        let mut fastest = f64::INFINITY;
        let mut sum = 0.0;
        for &t in &program.timed {
            let (mean, least) = means(&program.firing[t as usize], &program.initial, tokens);
            if mean > 0.0 && mean.is_finite() {
                slowest = slowest.max(mean);
                sum += mean * LONGEST_VARIATE;
                fastest = fastest.min(least);
            }
        }
        if slowest == 0.0 {
            slowest = horizon.unwrap_or(1.0);
            fastest = slowest;
        }
        let log = |x: f64| if x > 0.0 { x.log2().ceil() as i32 } else { i32::MIN / 2 };
        let exponent =
            (log(slowest) - SLOW_BITS).max(log(sum) - NARROW_BITS).max(log(horizon.unwrap_or(0.0)) - NARROW_BITS);
        let fast_bits = log(fastest) - exponent;
        let extra_bits = if fast_bits >= FAST_BITS { 0 } else { (WIDE_FAST_BITS - fast_bits).clamp(0, 63) };
        Self { exponent, extra_bits: extra_bits.unsigned_abs() }
    }

    /// Whether engine times need 128 bits.
    pub fn is_wide(self) -> bool {
        self.extra_bits > 0
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

/// Mean delay of one server, and of as many servers as the tokens at the start could keep busy. For a rate that depends
/// on the marking, the one at the start, or 1 where that is 0: it only sets the tick.
fn means(firing: &Firing, initial: &[u32], tokens: u64) -> (f64, f64) {
    let (mean, servers) = match firing {
        Firing::Immediate { .. } => return (0.0, 0.0),
        Firing::Exponential { rate, servers } => match rate.as_constant() {
            Some(rate) => (1.0 / rate, *servers),
            None => {
                let rate = rate.eval(initial);
                (if rate > 0.0 && rate.is_finite() { 1.0 / rate } else { 1.0 }, *servers)
            }
        },
        Firing::General { law, servers, .. } => (law.mean(), *servers),
    };
    let busy = match servers {
        Servers::Single => 1.0,
        Servers::Limited(most) => f64::from(most),
        Servers::Infinite => tokens.max(1) as f64,
    };
    (mean, mean / busy)
}

/// Turns unit variates into delays of one transition: `(e * mantissa) >> shift` engine ticks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scale {
    /// Top bit set, unless the delay is below 2^-36 ticks.
    pub mantissa: u32,
    /// At least 0 on the narrow clock, at most 63.
    pub shift: i32,
}

impl Scale {
    /// The scale of a mean delay in seconds on a clock whose engine tick is `2^exponent` seconds. The mean is kept to a
    /// relative 2^-32. A mean of 0 gives delays of 0.
    pub fn new(mean: f64, exponent: i32) -> Self {
        if mean <= 0.0 {
            return Self { mantissa: 0, shift: 0 };
        }
        let scaled = mean.log2() - f64::from(exponent) - f64::from(FRACTION_BITS);
        let mut shift = 31 - scaled.floor() as i32;
        let at = |shift: i32| (mean * f64::from(shift - FRACTION_BITS.cast_signed() - exponent).exp2()).round();
        if at(shift) > f64::from(u32::MAX) {
            shift -= 1;
        }
        let shift = shift.min(63);
        Self { mantissa: at(shift) as u32, shift }
    }

    /// The delay in ticks on the narrow clock; [`NEVER`] where it does not fit.
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
