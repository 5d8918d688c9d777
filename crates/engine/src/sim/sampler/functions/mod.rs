//! Logarithm, power of two and normal quantile in integer arithmetic, equal on every CPU and GPU.
//!
//! A uniform number has 64 bits: the word pair `bits` stands for `(bits | 1) / 2^64`, so that `bits` and `!bits` are mirror images.
//! Polynomials are evaluated by Horner's rule with high halves of 32-bit products. Derived, with error bounds, in docs/accuracy.md.

use crate::compile::exponent_of;
use crate::sim::sampler::tables::{GROWTH, LOGARITHM, NORMAL, NORMAL_DEGREE, NORMAL_ROWS};

/// A positive number, `mantissa * 2^(exponent - 31)`; the top bit of the mantissa is set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Positive {
    pub(crate) mantissa: u32,
    pub(crate) exponent: i32,
}

impl Positive {
    /// An exponent below that of every time, and one above: sums of some of them stay far from the limits of `i32`.
    const LIMIT: i32 = 1 << 20;

    /// Rounds a number to 32 bits; 0 becomes a number below every time, infinity one above every time.
    pub(crate) fn new(x: f64) -> Self {
        if x <= 0.0 {
            return Self { mantissa: 1 << 31, exponent: -Self::LIMIT };
        }
        if !x.is_finite() {
            return Self { mantissa: 1 << 31, exponent: Self::LIMIT };
        }
        let exponent = exponent_of(x);
        // in two steps, since one factor could overflow
        let half = (31 - exponent) / 2;
        let mantissa = (x * f64::from(half).exp2() * f64::from(31 - exponent - half).exp2()).round();
        if mantissa > f64::from(u32::MAX) {
            return Self { mantissa: 1 << 31, exponent: exponent + 1 };
        }
        Self { mantissa: mantissa as u32, exponent }
    }

    /// The number `whole + fraction / 2^64`, which is not 0, rounded down to 32 bits.
    #[inline(always)]
    fn from_fixed(whole: u32, fraction: u64) -> Self {
        let large = whole > 0;
        let word = if large { u64::from(whole) << 32 | fraction >> 32 } else { fraction };
        let zeros = word.leading_zeros();
        let top = if large { 31 } else { -1 };
        Self { mantissa: ((word << zeros) >> 32) as u32, exponent: top - zeros.cast_signed() }
    }

    /// The product, rounded down to 32 bits.
    #[inline(always)]
    pub(crate) fn times(self, other: Self) -> Self {
        let product = u64::from(self.mantissa) * u64::from(other.mantissa);
        let zeros = product.leading_zeros();
        let exponent = self.exponent + other.exponent + 1 - zeros.cast_signed();
        Self { mantissa: ((product << zeros) >> 32) as u32, exponent }
    }

    /// The number as a float. Exact.
    pub(crate) fn value(self) -> f64 {
        f64::from(self.mantissa) * f64::from(self.exponent - 31).exp2()
    }

    /// The binary logarithm as Q32.32.
    #[inline(always)]
    pub(crate) fn logarithm(self) -> i64 {
        let below = fraction(u64::from(self.mantissa) << 32) >> 32;
        ((i64::from(self.exponent) + 1) << 32) - below.cast_signed()
    }
}

#[inline(always)]
fn high_product(a: u32, b: u32) -> u32 {
    ((u64::from(a) * u64::from(b)) >> 32) as u32
}

/// `-log2(1 - w) / w - 1` as Q0.32 for `w = (1 - t / 2^32) / 2`.
#[inline(always)]
fn log_ratio(t: u32) -> u32 {
    let mut sum = LOGARITHM[0];
    for c in &LOGARITHM[1..] {
        sum = c.wrapping_sub(high_product(sum, t));
    }
    sum
}

/// `(2^f - 1) / f` as Q0.32 for `f / 2^32`.
#[inline(always)]
fn growth(f: u32) -> u32 {
    let mut sum = GROWTH[0];
    for c in &GROWTH[1..] {
        sum = c.wrapping_add(high_product(sum, f));
    }
    sum
}

/// `-log2(n / 2^64)` as Q0.64, for `n` with its top bit set: relative error below 2^-29, plus one unit.
#[inline(always)]
fn fraction(n: u64) -> u64 {
    let w = n.wrapping_neg();
    let ratio = u64::from(log_ratio((n >> 31) as u32));
    w + (w >> 32) * ratio + (((w & 0xFFFF_FFFF) * ratio) >> 32)
}

/// `-log2` of the uniform number of `bits`: an exponential variate with the mean `1 / ln 2`.
#[inline(always)]
pub(crate) fn minus_log2(bits: u64) -> Positive {
    let odd = bits | 1;
    let zeros = odd.leading_zeros();
    Positive::from_fixed(zeros, fraction(odd << zeros))
}

/// A product of uniform numbers `(word + 1/2) / 2^32`, as `mantissa / 2^(31 + zeros)`; the top bit of the mantissa is set.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Product {
    mantissa: u32,
    zeros: u32,
}

impl Product {
    /// The empty product.
    pub(crate) const ONE: Self = Self { mantissa: 1 << 31, zeros: 0 };

    /// Multiplies by the uniform number of a word and rounds down to 32 bits.
    #[inline(always)]
    pub(crate) fn factor(self, word: u32) -> Self {
        let product = u64::from(self.mantissa) * u64::from(word) + u64::from(self.mantissa >> 1);
        let zeros = product.leading_zeros();
        Self { mantissa: ((product << zeros) >> 32) as u32, zeros: self.zeros + zeros }
    }

    /// `-log2` of a product of at least one number.
    #[inline(always)]
    pub(crate) fn logarithm(self) -> Positive {
        Positive::from_fixed(self.zeros - 1, fraction(u64::from(self.mantissa) << 32))
    }
}

/// `2^y` for `y` as Q32.32.
#[inline(always)]
pub(crate) fn power_of_two(y: i64) -> Positive {
    let f = y as u32;
    Positive { mantissa: 1 << 31 | high_product(f, growth(f)) >> 1, exponent: (y >> 32) as i32 }
}

/// `2^y - 1`; the relative error does not grow near `y = 0`.
#[inline(always)]
pub(crate) fn power_minus_one(y: Positive) -> Positive {
    let m = u64::from(y.mantissa);
    // fraction bits below the point of `y`, and the whole part above
    let down = (31 - y.exponent).clamp(0, 63);
    let whole = (m >> down) as u32;
    let f = ((m << 32) >> down) as u32;
    let growth = growth(f);
    let small = y.times(Positive { mantissa: growth, exponent: -1 });
    let power = 1 << 31 | high_product(f, growth) >> 1;
    let rest = power - ((1_u64 << 31) >> whole.min(63)) as u32;
    let zeros = rest.leading_zeros() & 31;
    let large = Positive { mantissa: rest << zeros, exponent: whole.min(1 << 20).cast_signed() - zeros.cast_signed() };
    if y.exponent < 0 { small } else { large }
}

/// The row of [`NORMAL`] for a uniform number, and the position in the row as Q0.32.
#[inline(always)]
pub(crate) fn normal_row(bits: u64) -> (u32, u32) {
    let odd = bits | 1;
    let tail = if is_upper(bits) { odd.wrapping_neg() } else { odd };
    let zeros = tail.leading_zeros();
    row_of(zeros, tail << zeros)
}

/// The row and the position for a tail probability, given the number of leading zeros of its 64 bits, and the bits from the
/// first 1 on.
#[inline(always)]
fn row_of(zeros: u32, bits: u64) -> (u32, u32) {
    let w = !bits;
    ((zeros << 3).wrapping_sub(8) + (w >> 60) as u32, (w >> 28) as u32)
}

/// Returns true if the normal variate of a uniform number is positive.
#[inline(always)]
pub(crate) fn is_upper(bits: u64) -> bool {
    bits >> 63 == 1
}

/// The coefficient of a column of [`NORMAL`] in a row.
#[inline(always)]
fn coefficient(column: &[u32; NORMAL_ROWS], row: u32) -> u32 {
    column[row as usize & (NORMAL_ROWS - 1)]
}

/// One step of Horner's rule, from the highest degree down to 1, as Q0.32.
#[inline(always)]
pub(crate) fn normal_step(sum: u32, degree: usize, row: u32, s: u32) -> u32 {
    coefficient(&NORMAL[NORMAL_DEGREE - degree], row) + high_product(sum, s)
}

/// All steps from [`normal_step`].
#[inline(always)]
pub(crate) fn normal_sum(row: u32, s: u32) -> u32 {
    let mut sum = 0;
    for degree in (1..=NORMAL_DEGREE).rev() {
        sum = normal_step(sum, degree, row, s);
    }
    sum
}

/// The absolute value of a normal variate as Q4.28, from the sum after all steps.
#[inline(always)]
fn normal_value(sum: u32, row: u32, s: u32) -> u32 {
    coefficient(&NORMAL[NORMAL_DEGREE], row) + ((high_product(sum, s) + 8) >> 4)
}

/// A line `base + x * slope`, evaluated as Q32.32.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Line {
    /// As Q32.32.
    pub(crate) base: i64,
    pub(crate) slope: u32,
    pub(crate) shift: u32,
}

impl Line {
    /// Limit of the absolute values of the base and of the product.
    const LIMIT: i64 = 1 << 61;

    /// The line for an `x` with `bits` fraction bits.
    pub(crate) fn new(base: f64, slope: f64, bits: u32) -> Self {
        let base = (base * 32_f64.exp2()).round() as i64;
        let slope = Positive::new(slope);
        // x has `bits` fraction bits, the slope has 31 - exponent
        let shift = bits.cast_signed() + 31 - slope.exponent - 32;
        let mantissa = if shift < 0 { u32::MAX } else { slope.mantissa >> (shift - 63).clamp(0, 31) };
        Self { base: base.clamp(-Self::LIMIT, Self::LIMIT), slope: mantissa, shift: shift.clamp(0, 63).cast_unsigned() }
    }

    /// The value at `x`, or at `-x`.
    #[inline(always)]
    fn value_at(self, x: u32, positive: bool) -> i64 {
        let product = (u64::from(x) * u64::from(self.slope)) >> self.shift;
        let product = product.min(Self::LIMIT.cast_unsigned()).cast_signed();
        if positive { self.base + product } else { self.base - product }
    }
}

/// Fraction bits of a normal variate, and of the logarithm of an exponential one.
pub(crate) const NORMAL_BITS: u32 = 28;
pub(crate) const LOG_BITS: u32 = 26;

/// `2^(base + slope * z)` for a standard normal variate `z` (positive if `upper`), from the sum after all steps.
#[inline(always)]
pub(crate) fn lognormal(line: Line, upper: bool, sum: u32, row: u32, s: u32) -> Positive {
    power_of_two(line.value_at(normal_value(sum, row, s), upper))
}

/// The place of the value that a variate exceeds with probability `2^-e`: whether it is in the upper tail, its row, and its position in the
/// row. The probability of both tails is at least 2^-64.
pub(crate) fn place_beyond(e: Positive) -> (bool, u32, u32) {
    let beyond = power_of_two(-(e.value() * 32_f64.exp2()).round().min(64.0 * 32_f64.exp2()) as i64);
    let upper = e.exponent >= 0;
    let tail = if upper { beyond } else { power_minus_one(e).times(beyond) };
    let zeros = (-1 - tail.exponent).clamp(0, 63).cast_unsigned();
    // the table starts just below the probability 1/2
    let (zeros, mantissa) = if zeros == 0 { (1, u32::MAX) } else { (zeros, tail.mantissa) };
    let (row, s) = row_of(zeros, u64::from(mantissa) << 32);
    (upper, row, s)
}

/// Like [`lognormal`], for the variate that a standard normal variate exceeds with probability `2^-e`.
pub(crate) fn lognormal_beyond(line: Line, e: Positive) -> Positive {
    let (upper, row, s) = place_beyond(e);
    lognormal(line, upper, normal_sum(row, s), row, s)
}

/// `2^(base + slope * log)` for the binary logarithm of an exponential variate, as Q32.32.
#[inline(always)]
pub(crate) fn weibull(line: Line, log: i64) -> Positive {
    let rounded = (log.unsigned_abs() + 32) >> 6;
    power_of_two(line.value_at(rounded as u32, log > 0))
}

/// `2^(e * power) - 1` for an exponential variate `e` with the mean `1 / ln 2`.
#[inline(always)]
pub(crate) fn pareto(power: Positive, e: Positive) -> Positive {
    power_minus_one(e.times(power))
}

#[cfg(test)]
mod tests;
