//! Compares units, delays and selections of the direct form on a device and on the CPU.

use crate::sim::gpu::tests::double::{Function, compare, kernel};
use crate::sim::gpu::tests::{Words, devices};
use crate::sim::race::DirectLaw;

const RANDOM: usize = 200_000;

fn law(exponent: i32, base: i32) -> DirectLaw {
    DirectLaw { exponent, base, fits_32_bits: false, is_wide: false }
}

/// The word of a number that may be negative.
fn word(number: i32) -> u64 {
    u64::from(number.cast_unsigned())
}

/// This test was seen to fail with halves rounded to even, and without the unit that every rate has.
#[test]
fn units_of_rates_equal_the_cpu_bit_for_bit() {
    let function = Function {
        number: 29,
        name: "units",
        on_cpu: |rate, exponent| law((exponent as u32).cast_signed(), 0).units(f64::from_bits(rate)),
        is_double: false,
    };
    let mut words = Words(3);
    let mut operands = Vec::new();
    for rate in [
        0.0,
        -0.0,
        5e-324,
        1e-310,
        f64::MIN_POSITIVE,
        0.1,
        0.5,
        1.0,
        1.5,
        2.5,
        1e9,
        f64::MAX,
        f64::INFINITY,
        f64::NAN,
        -1.0,
    ] {
        operands.extend((-1100..1100).map(|exponent| [rate.to_bits(), word(exponent)]));
    }
    for i in 0..RANDOM {
        // any rate, most of them in the range in which rounding shows
        let bits = words.next() & !(1 << 63);
        let rate =
            f64::from_bits(if i % 4 == 0 { bits } else { bits & !(0x7ff << 52) | (900 + words.below(250)) << 52 });
        let shift = words.below(70) as i32 - 3;
        let exponent = shift - if rate.is_normal() { rate.log2() as i32 } else { -1060 };
        operands.push([rate.to_bits(), word(exponent)]);
    }
    // halves are rounded away from 0
    operands.extend((0..5000_u32).map(|n| [(f64::from(n) * 0.25).to_bits(), word((n % 3).cast_signed() - 1)]));
    for gpu in devices() {
        compare(&gpu, &kernel(&gpu), &function, &operands);
    }
}

/// Totals of every size, their ends, and random ones.
fn totals(words: &mut Words) -> Vec<u64> {
    let ends = (0..63).flat_map(|bits| [1_u64 << bits, (1 << bits) + 1, (2 << bits) - 1, 3 << bits >> 1]);
    let mut totals: Vec<u64> = ends.filter(|&total| total > 0 && total < 1 << 63).collect();
    totals.extend((0..RANDOM).map(|_| {
        let zeros = words.below(63);
        ((words.next() >> 1 | 1 << 62) >> zeros).max(1)
    }));
    totals
}

/// This test was seen to fail with shifts of 64 and more taken modulo 64, and without a correction of a digit of the
/// reciprocal.
#[test]
fn delays_equal_the_cpu_bit_for_bit() {
    let function = Function {
        number: 30,
        name: "delay",
        on_cpu: |total, b| law(0, ((b >> 32) as u32).cast_signed()).delay(b as u32, total),
        is_double: false,
    };
    let mut words = Words(4);
    let bases = |words: &mut Words| words.below(160) as i32 - 80;
    let operands: Vec<[u64; 2]> = totals(&mut words)
        .into_iter()
        .flat_map(|total| {
            let e = words.next() as u32;
            [[total, u64::from(e) | word(bases(&mut words)) << 32], [total, u64::from(u32::MAX) | word(-1) << 32]]
        })
        .collect();
    for gpu in devices() {
        compare(&gpu, &kernel(&gpu), &function, &operands);
    }
}

/// This test was seen to fail without the product of the lower word.
#[test]
fn selections_equal_the_cpu_bit_for_bit() {
    let function = Function {
        number: 31,
        name: "selection",
        on_cpu: |total, word| DirectLaw::selection(word as u32, total),
        is_double: false,
    };
    let mut words = Words(5);
    let operands: Vec<[u64; 2]> = totals(&mut words)
        .into_iter()
        .flat_map(|total| [[total, words.next() & 0xffff_ffff], [total, u64::from(u32::MAX)]])
        .collect();
    for gpu in devices() {
        compare(&gpu, &kernel(&gpu), &function, &operands);
    }
}
