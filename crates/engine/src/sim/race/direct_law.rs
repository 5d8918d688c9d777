//! The arithmetic of the direct form, shared bit for bit by its scalar, lockstep and device versions.
//!
//! Rates are integers: a rate of λ per second is `u = round(λ 2^k)` units (at least 1 if λ > 0), and a transition
//! with `n` busy servers has `n u` units. `k` is fixed for a program, and `W` is the sum of all units in a marking.
//!
//! Timed firing `n` (0, 1, ...) of a replication takes the words `w[2 (n mod 2)]` and `w[2 (n mod 2) + 1]` of
//! [`event_block`](crate::rng::event_block) `n / 2`. The first word gives `e = exponential(word)` as Q5.27 and thus the
//! time to the firing; the second word gives the transition:
//!
//! ```text
//! b    = number of significant bits of W                     1 ≤ b ≤ 63
//! N    = floor(W 2^(32-b))          W with its top bit at 31: 2^31 ≤ N < 2^32
//! m    = floor((2^63 - 1) / N)                               2^31 ≤ m < 2^32
//! s    = base + b,   base = 58 - k + x,   where the engine's tick is 2^x seconds
//! time = floor(e m / 2^s)           0 for s ≥ 64, never for s < 0
//! r    = floor(word W / 2^32)
//! ```
//!
//! The transition is the first, in the order of the net, for which the running sum of units is above `r`.
//!
//! The mean of `time` is `1/(W 2^-k)` seconds minus half a tick, up to relative errors of 2^-31 from `m` and, for `W ≥ 2^32`,
//! 2^-31 from `N`. The error of a transition's probability is at most 2^-32 plus the error of rounding to units.

use crate::compile::{Firing, Program};
use crate::net::Servers;
use crate::sim::clock::{Clock, NEVER};

/// Number of bits for the largest total of a program, if servers are bounded and rates constant.
const BOUNDED_BITS: i32 = 32;
/// Number of bits for the initial total of all other programs, whose totals may grow.
const START_BITS: i32 = 28;
/// Number of bits for the initial total, if the slowest rate would otherwise have too few units.
const WIDE_START_BITS: i32 = 44;
/// The slowest constant rate must have at least this many units, so that rounding changes it by at most 2^-15.
const LEAST_UNITS: u64 = 1 << 14;
/// At the largest known total, the mean time between firings must have at least this many ticks.
const LEAST_TICKS: f64 = 65_536.0;
/// Scales that are numbers, and whose products with rates are numbers too.
const SCALES: std::ops::RangeInclusive<i32> = -1000..=1000;
/// Maximum number of units in a marking; more are an error. So totals stay below 2^63, since unchecked transitions (one
/// server, constant rate) add less than 2^32.
pub(crate) const MOST_UNITS: u64 = 1 << 62;

/// Reason why a program cannot run in direct form.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum DirectObstacle {
    /// A delay that is not exponential.
    #[error("the delay of transition `{transition}` is not exponential")]
    NotExponential {
        /// Id of the transition.
        transition: String,
    },
    /// The rates differ so much that times need the wide clock, or that the slowest rate would lose precision.
    #[error(
        "the rates differ too much: the largest total rate of all transitions is {total} /s, but the rate of `{transition}` is {rate} /s"
    )]
    Stiff {
        /// Id of the slowest transition.
        transition: String,
        /// Rate of that transition [1/s].
        rate: f64,
        /// The largest known total rate [1/s].
        total: f64,
    },
    /// Rates so small or large that their scale is not a number.
    #[error("a total rate of {total} /s is too small or too large for integer units")]
    Extreme {
        /// The largest known total rate [1/s].
        total: f64,
    },
    /// Events would be only a few ticks apart, for instance because of a long horizon.
    #[error("the ticks of the simulation clock ({tick} s) are too long for a total rate of {total} /s")]
    CoarseTick {
        /// The tick \[s\].
        tick: f64,
        /// The largest known total rate [1/s].
        total: f64,
    },
}

/// The scale of one program's rates and times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DirectLaw {
    /// `k`: a rate of 1/s has `2^exponent` units.
    pub exponent: i32,
    /// Constant part of the shift of a time. The shift is this part plus the number of bits of the total.
    pub base: i32,
    /// True if every marking has a total below 2^32 units.
    pub fits_32_bits: bool,
    /// True if totals above 2^32 units are likely.
    pub is_wide: bool,
}

impl DirectLaw {
    /// Chooses the scale. If all rates are constant and all servers bounded, this is the largest `k` with which the sum
    /// of all rates, with all servers busy, stays below 2^32 units. Otherwise it is the largest `k` with which the
    /// initial total, counting all tokens as busy servers, stays below 2^28. In this second case, a larger `k` is
    /// chosen if the precision of the slowest rate requires it and the initial total stays below 2^44.
    pub fn choose(program: &Program, clock: Clock) -> Self {
        let (total, bounded) = largest_total(program);
        let bits = if bounded { BOUNDED_BITS } else { START_BITS };
        let mut exponent = if total > 0.0 { bits - 1 - total.log2().min(2000.0).floor() as i32 } else { 0 };
        let fits = |exponent| largest_units(program, exponent).is_some_and(|units| units >> bits == 0);
        // rounding up may need one more bit
        if !fits(exponent) {
            exponent -= 1;
        }
        let fits_32_bits = bounded && fits(exponent);
        let slowest = known_rates(program).map(|(_, rate)| rate).min_by(f64::total_cmp);
        let needed = slowest.map_or(exponent, |rate| (LEAST_UNITS as f64 / rate).log2().ceil() as i32);
        let wide = |exponent| largest_units(program, exponent).is_some_and(|units| units >> WIDE_START_BITS == 0);
        let is_wide = !bounded && needed > exponent && wide(needed);
        if is_wide {
            exponent = needed;
        }
        let base = 58 - exponent + clock.engine_exponent();
        Self { exponent, base, fits_32_bits, is_wide }
    }

    /// Returns the reasons why `program` cannot run in direct form on `clock`; empty if it can.
    pub fn obstacles(program: &Program, clock: Clock) -> Vec<DirectObstacle> {
        let general = program.timed.iter().filter(|&&t| matches!(program.firing[t as usize], Firing::General { .. }));
        let mut obstacles: Vec<_> = general
            .map(|&t| DirectObstacle::NotExponential { transition: program.transition_names[t as usize].to_owned() })
            .collect();
        let law = Self::choose(program, clock);
        let (total, _) = largest_total(program);
        if total > 0.0 && !SCALES.contains(&law.exponent) {
            obstacles.push(DirectObstacle::Extreme { total });
            return obstacles;
        }
        let slowest = known_rates(program).min_by(|(_, a), (_, b)| a.total_cmp(b));
        if let Some((t, rate)) = slowest
            && (clock.is_wide() || law.units(rate) < LEAST_UNITS)
        {
            obstacles.push(DirectObstacle::Stiff { transition: program.transition_names[t].to_owned(), rate, total });
        } else if total > 0.0 && total * clock.tick() * LEAST_TICKS > 1.0 {
            obstacles.push(DirectObstacle::CoarseTick { tick: clock.tick(), total });
        }
        obstacles
    }

    /// Units of a rate [1/s] that is finite and not negative; at most 2^64 - 1.
    #[inline]
    pub fn units(self, rate: f64) -> u64 {
        if rate > 0.0 { ((rate * f64::from(self.exponent).exp2()).round() as u64).max(1) } else { 0 }
    }

    /// Ticks to the next firing for the unit variate `e`; `total` is not 0 and below 2^63.
    #[inline(always)]
    pub fn delay(self, e: u32, total: u64) -> u64 {
        let zeros = total.leading_zeros();
        let normal = (total << zeros) >> 32;
        let mantissa = (u64::MAX >> 1) / normal;
        let shift = self.base + (64 - zeros.cast_signed());
        let product = u64::from(e) * mantissa;
        if (0..64).contains(&shift) {
            (product >> shift).min(NEVER)
        } else if shift < 0 {
            NEVER
        } else {
            0
        }
    }

    /// Returns the number below `total` that selects the transition.
    #[inline(always)]
    pub fn selection(word: u32, total: u64) -> u64 {
        if total >> 32 == 0 {
            (u64::from(word) * total) >> 32
        } else {
            ((u128::from(word) * u128::from(total)) >> 32) as u64
        }
    }
}

/// Maximum number of busy servers; without a bound, the number of initial tokens.
fn busy(tokens: u64, servers: Servers) -> f64 {
    match servers {
        Servers::Single => 1.0,
        Servers::Limited(most) => f64::from(most),
        Servers::Infinite => tokens.max(1) as f64,
    }
}

/// Rate of one server; if it depends on the marking, the initial value.
fn known_rate(program: &Program, t: usize) -> Option<(f64, Servers)> {
    let Firing::Exponential { rate, servers } = &program.firing[t] else { return None };
    let known = rate.eval(&program.initial);
    let known = if rate.as_constant().is_some() || (known > 0.0 && known.is_finite()) { known } else { 1.0 };
    Some((known, *servers))
}

/// Positive rates of one server; a rate that depends on the marking counts with its initial value and with the value for
/// one token in each place.
fn known_rates(program: &Program) -> impl Iterator<Item = (usize, f64)> {
    let single = vec![1; program.initial.len()];
    program.timed.iter().flat_map(move |&t| {
        let rates = match &program.firing[t as usize] {
            Firing::Exponential { rate, .. } => [rate.eval(&program.initial), rate.eval(&single)],
            _ => [0.0; 2],
        };
        rates.into_iter().filter(|rate| *rate > 0.0 && rate.is_finite()).map(move |rate| (t as usize, rate))
    })
}

/// The largest known total rate [1/s], and true if no marking can have a larger one.
fn largest_total(program: &Program) -> (f64, bool) {
    let bounded = program.timed.iter().all(|&t| match &program.firing[t as usize] {
        Firing::Exponential { rate, servers } => rate.as_constant().is_some() && *servers != Servers::Infinite,
        _ => false,
    });
    let tokens = program.initial_tokens();
    let rates = program.timed.iter().filter_map(|&t| known_rate(program, t as usize));
    (rates.map(|(rate, servers)| rate * busy(tokens, servers)).sum(), bounded)
}

/// The largest known total in units for one `k`; `None` if it does not fit 64 bits.
fn largest_units(program: &Program, exponent: i32) -> Option<u64> {
    let law = DirectLaw { exponent, base: 0, fits_32_bits: false, is_wide: false };
    let tokens = program.initial_tokens();
    let rates = program.timed.iter().filter_map(|&t| known_rate(program, t as usize));
    rates.into_iter().try_fold(0_u64, |sum, (rate, servers)| {
        let units = law.units(rate).checked_mul(busy(tokens, servers) as u64)?;
        sum.checked_add(units)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compile::compile;
    use crate::net::{NetBuilder, Timing};

    fn program(rates: &[f64]) -> Program {
        let mut b = NetBuilder::new("");
        for (i, &rate) in rates.iter().enumerate() {
            b.transition(format!("t{i}"), Timing::exponential(rate));
        }
        compile(&b.build().unwrap()).unwrap()
    }

    #[test]
    fn the_largest_total_fills_its_bits() {
        for rates in [&[1.0][..], &[0.3, 0.4, 7.0], &[1e-9], &[4.0, 4.0], &[0.0], &[f64::from(u32::MAX), 1e7]] {
            let program = program(rates);
            let law = DirectLaw::choose(&program, Clock::choose(&program, None));
            let total: u64 = rates.iter().map(|&rate| law.units(rate)).sum();
            assert!(total < 1 << 32 && (total >= 1 << 30 || rates == [0.0]), "{rates:?}: {total}");
            assert!(law.fits_32_bits);
        }
    }

    #[test]
    fn a_delay_is_the_variate_over_the_total() {
        let program = program(&[2.0, 3.0]);
        let clock = Clock::choose(&program, None);
        let law = DirectLaw::choose(&program, clock);
        for total in [
            LEAST_UNITS,
            100_003,
            (1 << 31) - 1,
            1 << 31,
            u64::from(u32::MAX),
            1 << 32,
            (1 << 40) + 12345,
            MOST_UNITS - 1,
        ] {
            for e in [1, 1000, 1 << 27, 3_000_000_000] {
                let unit = f64::from(e) / f64::from(1 << 27);
                let exact = unit * f64::from(law.exponent).exp2() / total as f64 / clock.tick();
                let got = law.delay(e, total) as f64;
                assert!(got <= exact + 1.0 && got >= exact * (1.0 - 2e-9) - 1.0, "{e} / {total}: {got} {exact}");
            }
        }
    }

    #[test]
    fn selections_are_below_the_total() {
        for total in [1, 5, u64::from(u32::MAX), 1 << 32, MOST_UNITS - 1] {
            assert_eq!(DirectLaw::selection(0, total), 0);
            assert!(DirectLaw::selection(u32::MAX, total) < total);
        }
    }

    /// With more servers than units, every rate is rounded up to 1, and the total has too many bits with any scale.
    #[test]
    fn a_crowd_of_servers_is_refused() {
        let mut b = NetBuilder::new("");
        let p = b.place("p", 4_000_000_000);
        let t = b.transition("t", Timing::exponential(1.0));
        b.input(p, t, 1.0);
        let Timing::Timed { servers, .. } = &mut b.transition_mut(t).timing else { unreachable!() };
        *servers = Servers::Infinite;
        let program = compile(&b.build().unwrap()).unwrap();
        let clock = Clock::choose(&program, None);
        assert!(!DirectLaw::choose(&program, clock).fits_32_bits);
        assert!(!DirectLaw::obstacles(&program, clock).is_empty());
    }

    #[test]
    fn stiff_programs_are_refused() {
        let clock = |p: &Program| Clock::choose(p, None);
        let fine = program(&[1.0, 1000.0]);
        assert_eq!(DirectLaw::obstacles(&fine, clock(&fine)), []);
        let stiff = program(&[1.0, 1e6]);
        assert!(matches!(DirectLaw::obstacles(&stiff, clock(&stiff))[..], [DirectObstacle::Stiff { rate: 1.0, .. }]));
        // tokens may accumulate in a place with infinite servers, so totals may have more than 32 bits
        let mut b = NetBuilder::new("");
        let p = b.place("p", 600);
        for (i, rate) in [1e-3, 2.0].into_iter().enumerate() {
            let t = b.transition(format!("t{i}"), Timing::exponential(rate));
            b.input(p, t, 1.0);
            let Timing::Timed { servers, .. } = &mut b.transition_mut(t).timing else { unreachable!() };
            *servers = Servers::Infinite;
        }
        let wide = compile(&b.build().unwrap()).unwrap();
        let law = DirectLaw::choose(&wide, clock(&wide));
        assert!(law.is_wide && (LEAST_UNITS..LEAST_UNITS * 2).contains(&law.units(1e-3)));
        assert_eq!(DirectLaw::obstacles(&wide, clock(&wide)), []);
        let far = Clock::choose(&fine, Some(1e15));
        assert!(!DirectLaw::obstacles(&fine, far).is_empty());
    }
}
