//! Tests of the integer functions against `libm` and the normal quantile in `f64`, and of their tables.

use std::f64::consts::LN_2;

use super::*;
use crate::estimate::normal_quantile;
use crate::sim::sampler::gamma::interpolated;
use crate::sim::sampler::tables::NORMAL_ROWS;

/// Absolute values of coefficients with this many fraction bits, highest degree first.
fn rounded(coefficients: &[f64], bits: i32) -> Vec<u32> {
    coefficients.iter().rev().map(|c| (c.abs() * f64::from(bits).exp2()).round() as u32).collect()
}

#[test]
fn the_tables_are_interpolations() {
    let logarithm = interpolated(
        |t| {
            let w = (1.0 - t) / 2.0;
            -libm::log1p(-w) / LN_2 / w - 1.0
        },
        LOGARITHM.len() - 1,
    );
    assert_eq!(rounded(&logarithm, 32), LOGARITHM);
    assert_eq!(rounded(&interpolated(|f| libm::expm1(f * LN_2) / f, GROWTH.len() - 1), 32), GROWTH);
    for row in 0..NORMAL_ROWS - 8 {
        let (zeros, low) = (row / 8 + 1, (row % 8) as f64);
        let tail = |s: f64| (1.0 - (low + s) / 16.0) * (-(zeros as f64)).exp2();
        let coefficients = interpolated(|s| -normal_quantile(tail(s)), NORMAL.len() - 1);
        assert!(coefficients.iter().all(|c| *c > 0.0), "row {row}");
        let mut expected = rounded(&coefficients[1..], 32);
        expected.extend(rounded(&coefficients[..1], 28));
        // the last bits of `exp` in the reference depend on the CPU
        assert!(
            NORMAL.iter().zip(&expected).all(|(column, c)| column[row].abs_diff(*c) <= 1),
            "row {row}: {expected:?}"
        );
    }
}

/// Uniform numbers of all binades on both sides: the ends of each of 16 parts, their neighbours, and numbers in between.
fn uniforms() -> impl Iterator<Item = u64> {
    let inner = (0..1 << 14).map(|i| i << 49 | 0x5A5A_5A5A);
    let near = (1..64).flat_map(|k| (0..16).map(move |part| (part | 16) << 59 >> k));
    let ends = near.flat_map(|low: u64| [low.wrapping_sub(1), low, low + 1, low + (low >> 6)]);
    inner.chain(ends).chain([0, 1]).flat_map(|low| [low, !low])
}

/// `(bits | 1) / 2^64` and the distance to 1, both precise.
fn both(bits: u64) -> [f64; 2] {
    [bits | 1, (bits | 1).wrapping_neg()].map(|odd| odd as f64 * (-64_f64).exp2())
}

fn minus_ln(bits: u64) -> f64 {
    let [u, rest] = both(bits);
    if u <= 0.5 { -libm::log(u) } else { -libm::log1p(-rest) }
}

#[test]
fn the_logarithm_is_within_its_bound() {
    for bits in uniforms() {
        let (e, exact) = (minus_log2(bits), minus_ln(bits) / LN_2);
        let error = e.value() - exact;
        assert!(e.mantissa >> 31 == 1, "{e:?}");
        assert!(error.abs() < exact * (-29_f64).exp2() + (-63_f64).exp2(), "{bits:#x}: {error:e}");
        let error = e.logarithm() as f64 / 32_f64.exp2() - libm::log2(e.value());
        assert!(error.abs() < (-29_f64).exp2(), "{e:?}: {error:e}");
    }
}

#[test]
fn the_power_of_two_is_within_its_bound() {
    for bits in uniforms() {
        let y = (bits as i64) >> 28;
        let exact = libm::exp2((y & 0xFFFF_FFFF) as f64 / 32_f64.exp2());
        let got = power_of_two(y);
        assert_eq!(i64::from(got.exponent), y >> 32);
        let error = f64::from(got.mantissa) / 31_f64.exp2() / exact - 1.0;
        assert!(error.abs() < (-29_f64).exp2(), "{y}: {error:e}");
    }
    for exponent in -70..6 {
        for mantissa in (1_u32 << 31..=u32::MAX).step_by(3_333_333) {
            let y = Positive { mantissa, exponent };
            let exact = libm::expm1(y.value() * LN_2);
            let got = power_minus_one(y);
            let error = got.value() / exact - 1.0;
            assert!(got.mantissa >> 31 == 1 && error.abs() < (1.0 + y.value()) * (-29_f64).exp2(), "{y:?}: {error:e}");
        }
    }
}

/// The absolute value of a normal variate as Q4.28, and true if it is positive.
fn normal(bits: u64) -> (u32, bool) {
    let (row, s) = normal_row(bits);
    (normal_value(normal_sum(row, s), row, s), is_upper(bits))
}

/// The absolute error below 1, the relative error beyond. Seen to fail with a last coefficient that is 100 units too large.
#[test]
fn the_normal_quantile_is_within_its_bound() {
    let mut worst: f64 = 0.0;
    for bits in uniforms() {
        let [u, rest] = both(bits);
        let exact = normal_quantile(u.min(rest));
        let (z, positive) = normal(bits);
        assert_eq!((z, !positive), normal(!bits));
        assert_eq!(positive, u > 0.5);
        worst = worst.max((f64::from(z) / 28_f64.exp2() + exact).abs() / exact.abs().max(1.0));
    }
    assert!(worst < (-27_f64).exp2(), "{worst:e}");
}

#[test]
fn a_product_of_uniform_numbers_is_within_its_bound() {
    let words = |seed: u32| (1..=40_u32).map(move |i| (seed ^ i).wrapping_mul(0x9E37_79B9).wrapping_mul(i | 1));
    for seed in (0..2000).chain([u32::MAX]) {
        for words in [words(seed).collect::<Vec<_>>(), vec![u32::MAX; 3], vec![0; 1000], vec![seed]] {
            let exact: f64 =
                words.iter().map(|&w| -libm::log1p((f64::from(w) + 0.5) / 32_f64.exp2() - 1.0) / LN_2).sum();
            let got = words.iter().fold(Product::ONE, |product, &word| product.factor(word)).logarithm().value();
            let bound = words.len() as f64 * 1.5 * (-31_f64).exp2() + exact * (-29_f64).exp2();
            assert!((got - exact).abs() <= bound, "{seed} {}: {got} {exact}", words.len());
        }
    }
}

#[test]
fn lines_and_numbers_saturate() {
    assert_eq!(Line::new(0.0, 1.0, 28).value_at(1 << 28, true), 1 << 32);
    assert_eq!(Line::new(0.0, 1.0, 28).value_at(1 << 28, false), -1 << 32);
    assert_eq!(Line::new(-3.0, 0.0, 28).value_at(u32::MAX, true), -3 << 32);
    assert!(Line::new(1e300, 1e300, 26).value_at(u32::MAX, true) >> 32 > 1000);
    assert!(Line::new(-1e300, 1e300, 26).value_at(u32::MAX, false) >> 32 < -1000);
    for x in [1e-300, 0.1, 1.0, 1.5, 3e9, 1e300] {
        let number = Positive::new(x);
        assert!(
            number.mantissa >> 31 == 1 && (libm::log2(x) - number.logarithm() as f64 / 32_f64.exp2()).abs() < 1e-9,
            "{x}"
        );
    }
    assert!(Positive::new(0.0).exponent < -1000 && Positive::new(f64::INFINITY).exponent > 1000);
    assert_eq!(Positive::new(2.0 - 1e-12), Positive { mantissa: 1 << 31, exponent: 1 });
}
