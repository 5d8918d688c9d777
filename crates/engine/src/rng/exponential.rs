//! `-ln u` of a 32-bit word as an integer: the unit exponential variate of every engine.
//!
//! Integer arithmetic gives the same bits on every CPU; floats do not (see docs/accuracy.md).

/// Fraction bits of a variate: the value is `e / 2^27`.
pub const FRACTION_BITS: u32 = 27;

/// ln 2 as Q5.27.
const LN_2: u32 = 93_032_639;
/// Rounding remainder of [`LN_2`], as Q11.16 of one unit.
const LN_2_REST: u32 = 49_953;

/// Coefficients of ln(1 + t) on [0, 1), highest degree first, as Q0.32 with alternating signs; derived in
/// docs/accuracy.md.
const COEFFICIENTS: [u32; 9] = [
    67_145_501,
    207_383_546,
    413_239_606,
    628_710_980,
    833_136_883,
    1_068_782_673,
    1_431_088_736,
    2_147_449_965,
    4_294_966_510,
];
const HIGHEST_COEFFICIENT: u32 = 10_205_607;

#[inline(always)]
fn high_product(a: u32, b: u32) -> u32 {
    ((u64::from(a) * u64::from(b)) >> 32) as u32
}

/// `-ln((x + 1/2) / 2^32)` as Q5.27, never negative.
///
/// The number of leading zeros gives the exponent, and a polynomial of degree 10 gives the logarithm of the mantissa. Over all 2^32 words
/// the largest error is 1.1e-8, the mean is 1 + 1.8e-9 and the second moment 2 - 1.2e-9. Derived in docs/accuracy.md.
///
/// ```
/// // the word in the middle of the range: ln 2
/// let e = tailspn_engine::rng::exponential(0x8000_0000);
/// assert!((f64::from(e) / f64::from(1 << 27) - 2f64.ln()).abs() < 1.2e-8);
/// ```
#[inline(always)]
pub fn exponential(word: u32) -> u32 {
    let zeros = word.leading_zeros();
    // the bits below the top bit, as Q0.32, with the half below the word's last bit if there is room for it
    let t = ((u64::from(word) << 1 | 1) << zeros) as u32 & !1;
    let mut a = HIGHEST_COEFFICIENT;
    for c in COEFFICIENTS {
        a = c.wrapping_sub(high_product(a, t));
    }
    let ln_mantissa = 3_u32.wrapping_add(high_product(a, t)).wrapping_add(16) >> 5;
    let exponent = zeros + 1;
    let ln_exponent = exponent * LN_2 + ((exponent * LN_2_REST + (1 << 15)) >> 16);
    ln_exponent - ln_exponent.min(ln_mantissa)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn exact(word: u32) -> f64 {
        -((f64::from(word) + 0.5) / 4_294_967_296.0).ln()
    }

    /// All words would take minutes, so the test uses a stride that is coprime to 2^32 and visits all
    /// binades. All words were tested once, see docs/accuracy.md.
    #[test]
    fn error_stays_below_its_bound() {
        let stride = 65_537;
        let mut worst: f64 = 0.0;
        let mut word = 0_u32;
        for _ in 0..2_000_000 {
            let e = f64::from(exponential(word)) / f64::from(1 << FRACTION_BITS);
            worst = worst.max((e - exact(word)).abs());
            word = word.wrapping_add(stride * 33);
        }
        for word in (0..4096).chain((0..32).map(|k| 1 << k)).chain([u32::MAX, u32::MAX - 1, i32::MAX as u32]) {
            let e = f64::from(exponential(word)) / f64::from(1 << FRACTION_BITS);
            worst = worst.max((e - exact(word)).abs());
        }
        assert!(worst < 1.15e-8, "largest error {worst}");
    }

    /// The table of docs/accuracy.md.
    #[test]
    #[ignore = "two minutes of work; the numbers are in docs/accuracy.md"]
    fn error_and_moments_over_all_words_are_within_their_bounds() {
        let unit = f64::from(1 << FRACTION_BITS);
        let (mut worst, mut at) = (0.0, 0);
        let (mut sum, mut squares) = (0_u128, 0_u128);
        for word in 0..=u32::MAX {
            let e = exponential(word);
            sum += u128::from(e);
            squares += u128::from(e) * u128::from(e);
            let error = (f64::from(e) / unit - exact(word)).abs();
            if error > worst {
                (worst, at) = (error, word);
            }
        }
        let mean = sum as f64 / unit / 32_f64.exp2();
        let second = squares as f64 / unit / unit / 32_f64.exp2();
        assert!(worst < 1.0872e-8, "{worst:e} at {at:#x}");
        assert!((mean - 1.0 - 1.8e-9).abs() < 1e-10, "{:e}", mean - 1.0);
        assert!((second - 2.0 + 1.2e-9).abs() < 1e-10, "{:e}", second - 2.0);
    }

    #[test]
    fn never_rises_with_the_word() {
        let mut last = u32::MAX;
        for word in (0..u32::MAX - 1000).step_by(4099) {
            let e = exponential(word);
            assert!(e <= last, "word {word}");
            last = e;
        }
        assert_eq!(exponential(u32::MAX), 0);
    }
}
