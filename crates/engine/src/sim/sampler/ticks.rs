//! Engine time on the narrow and on the wide clock.

use crate::sim::clock::{NEVER, Scale};
use crate::sim::sampler::functions::Positive;

/// A time on the wide clock that means never.
pub(crate) const NEVER_WIDE: u128 = 1 << 126;

/// Engine time: `u64` on the narrow clock, `u128` on the wide one.
pub(crate) trait Ticks: Copy + Ord + Send + Sync + std::fmt::Debug {
    /// Time 0.
    const ZERO: Self;
    /// A value that no time reaches.
    const NEVER: Self;
    /// A time and the number of a transition, ordered by time, then number.
    type Key: Copy + Ord + Send + Sync + std::fmt::Debug;

    /// An exponential delay, at most [`Self::NEVER`].
    fn exponential(scale: Scale, e: u32) -> Self;
    /// Rounds a number of ticks down; the result is at most [`Self::NEVER`].
    fn ticks_of(ticks: Positive) -> Self;
    /// Converts engine ticks; the result is at most [`Self::NEVER`].
    fn saturate(ticks: u128) -> Self;
    /// `floor(word * self / 2^32)`.
    fn share(self, word: u32) -> Self;
    /// Sum of a time below [`Self::NEVER`] and a delay.
    fn plus(self, delay: Self) -> Self;
    /// Sum of two delays, at most [`Self::NEVER`].
    fn join(self, other: Self) -> Self;
    /// Time since `earlier`.
    fn since(self, earlier: Self) -> Self;
    /// Converts from result ticks.
    fn from_result(ticks: u64, extra_bits: u32) -> Self;
    /// Converts to result ticks, rounded down.
    fn to_result(self, extra_bits: u32) -> u64;
    /// Combines a time and a transition into a key.
    fn key(self, transition: u32) -> Self::Key;
    /// Splits a key into time and transition.
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
    fn ticks_of(ticks: Positive) -> Self {
        let below = (u64::from(ticks.mantissa) << 31) >> (62 - ticks.exponent).clamp(0, 63);
        if ticks.exponent > 62 { NEVER } else { below }
    }

    #[inline(always)]
    fn saturate(ticks: u128) -> Self {
        ticks.min(u128::from(NEVER)) as Self
    }

    #[inline(always)]
    fn share(self, word: u32) -> Self {
        let word = Self::from(word);
        word * (self >> 32) + ((word * (self & 0xFFFF_FFFF)) >> 32)
    }

    #[inline(always)]
    fn plus(self, delay: Self) -> Self {
        self + delay
    }

    #[inline(always)]
    fn join(self, other: Self) -> Self {
        self.saturating_add(other).min(Self::NEVER)
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
    fn ticks_of(ticks: Positive) -> Self {
        let below = (Self::from(ticks.mantissa) << 94) >> (125 - ticks.exponent).clamp(0, 127);
        if ticks.exponent > 125 { NEVER_WIDE } else { below }
    }

    #[inline(always)]
    fn saturate(ticks: u128) -> Self {
        ticks.min(NEVER_WIDE)
    }

    #[inline(always)]
    fn share(self, word: u32) -> Self {
        let word = Self::from(word);
        word * (self >> 32) + ((word * (self & 0xFFFF_FFFF)) >> 32)
    }

    #[inline(always)]
    fn plus(self, delay: Self) -> Self {
        self + delay
    }

    #[inline(always)]
    fn join(self, other: Self) -> Self {
        self.saturating_add(other).min(Self::NEVER)
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
