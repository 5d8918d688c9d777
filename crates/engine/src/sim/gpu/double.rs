//! Binary64 arithmetic on the bits of numbers, with the results that the shaders must produce. Twin of
//! `shaders/shared/double.wgsl`.
//!
//! The CPU supports this arithmetic, so each function here is the plain operation; the tests
//! compare the shader with it. All NaNs are equivalent.

fn number(bits: u64) -> f64 {
    f64::from_bits(bits)
}

/// The bits of a number; all NaNs get the same bits.
pub(crate) fn double(value: f64) -> u64 {
    if value.is_nan() { f64::NAN.to_bits() & !(1 << 63) } else { value.to_bits() }
}

pub(crate) fn double_negated(a: u64) -> u64 {
    double(-number(a))
}

pub(crate) fn double_abs(a: u64) -> u64 {
    double(number(a).abs())
}

pub(crate) fn double_is_nan(a: u64) -> bool {
    number(a).is_nan()
}

pub(crate) fn double_is_finite(a: u64) -> bool {
    number(a).is_finite()
}

pub(crate) fn double_is_zero(a: u64) -> bool {
    number(a) == 0.0
}

#[expect(clippy::float_cmp, reason = "this is the comparison")]
pub(crate) fn double_equal(a: u64, b: u64) -> bool {
    number(a) == number(b)
}

pub(crate) fn double_less(a: u64, b: u64) -> bool {
    number(a) < number(b)
}

pub(crate) fn double_less_or_equal(a: u64, b: u64) -> bool {
    number(a) <= number(b)
}

/// The smaller operand; if one is NaN, the other. Of equal operands it is the first, which `f64::min` does not guarantee.
pub(crate) fn double_min(a: u64, b: u64) -> u64 {
    double(if number(b) < number(a) || number(a).is_nan() { number(b) } else { number(a) })
}

/// As [`double_min`], for the larger operand.
pub(crate) fn double_max(a: u64, b: u64) -> u64 {
    double(if number(a) < number(b) || number(a).is_nan() { number(b) } else { number(a) })
}

pub(crate) fn double_sum(a: u64, b: u64) -> u64 {
    double(number(a) + number(b))
}

pub(crate) fn double_difference(a: u64, b: u64) -> u64 {
    double(number(a) - number(b))
}

pub(crate) fn double_product(a: u64, b: u64) -> u64 {
    double(number(a) * number(b))
}

pub(crate) fn double_quotient(a: u64, b: u64) -> u64 {
    double(number(a) / number(b))
}

pub(crate) fn double_remainder(a: u64, b: u64) -> u64 {
    double(number(a) % number(b))
}

pub(crate) fn double_sqrt(a: u64) -> u64 {
    double(number(a).sqrt())
}

pub(crate) fn double_floor(a: u64) -> u64 {
    double(number(a).floor())
}

pub(crate) fn double_ceil(a: u64) -> u64 {
    double(number(a).ceil())
}

pub(crate) fn double_trunc(a: u64) -> u64 {
    double(number(a).trunc())
}

pub(crate) fn double_round_even(a: u64) -> u64 {
    double(number(a).round_ties_even())
}

pub(crate) fn double_round_half_away(a: u64) -> u64 {
    double(number(a).round())
}

pub(crate) fn double_of_word(word: u32) -> u64 {
    double(f64::from(word))
}

pub(crate) fn double_of_pair(value: u64) -> u64 {
    double(value as f64)
}

pub(crate) fn double_of_quad(low: u64, high: u64) -> u64 {
    double((u128::from(high) << 64 | u128::from(low)) as f64)
}

pub(crate) fn pair_of_double(a: u64) -> u64 {
    number(a) as u64
}

pub(crate) fn word_of_double(a: u64) -> u32 {
    number(a) as u32
}

pub(crate) fn double_power_of_two(exponent: i32) -> u64 {
    double(f64::from(exponent).exp2())
}

pub(crate) fn double_scaled(a: u64, exponent: i32) -> u64 {
    double(number(a) * f64::from(exponent).exp2())
}
