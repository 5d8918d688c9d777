//! Unit exponential and standard normal variates from 64 bits, in `f64`.

/// `-ln u` in `f64`.
pub(super) fn unit_exponential(bits: u64) -> f64 {
    if bits >> 63 == 0 {
        -libm::log((bits as f64 + 0.5) * (-64_f64).exp2())
    } else {
        // near 1, only the distance to 1 is precise
        -libm::log1p(-(!bits as f64 + 0.5) * (-64_f64).exp2())
    }
}

/// A standard normal variate: the quantile of `(bits + 1/2) / 2^64`.
pub(super) fn normal(bits: u64) -> f64 {
    let upper = bits >> 63 == 1;
    let tail = (if upper { !bits } else { bits } as f64 + 0.5) * (-64_f64).exp2();
    let z = lower_normal_quantile(tail);
    if upper { -z } else { z }
}

/// Quantile of the standard normal distribution for a probability of at most 1/2, to about 1e-16. Algorithm AS 241,
/// PPND16 \[Wichura1988\].
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
    [3.387_132_872_796_366_6, 1.331_416_678_917_843_8e2, 1.971_590_950_306_551_3e3, 1.373_169_376_550_946e4,
     4.592_195_393_154_987e4, 6.726_577_092_700_87e4, 3.343_057_558_358_813e4, 2.509_080_928_730_122_7e3],
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

#[cfg(test)]
mod tests {
    use super::*;
    use approx::assert_relative_eq;

    /// Values of the quantile from tables with 16 digits.
    #[test]
    fn quantiles_match_tables() {
        assert_relative_eq!(lower_normal_quantile(0.25), -0.674_489_750_196_081_7, max_relative = 1e-15);
        assert_relative_eq!(lower_normal_quantile(0.001), -3.090_232_306_167_813, max_relative = 1e-15);
        assert_relative_eq!(lower_normal_quantile(1e-20), -9.262_340_089_798_408, max_relative = 1e-15);
        assert_relative_eq!(lower_normal_quantile(0.5), 0.0);
    }

    #[test]
    fn quantiles_undo_the_distribution() {
        for exponent in 1..64 {
            let p = (-f64::from(exponent)).exp2();
            let z = lower_normal_quantile(p);
            let back = libm::erfc(-z / std::f64::consts::SQRT_2) / 2.0;
            assert_relative_eq!(back, p, max_relative = 2e-14 * f64::from(exponent));
        }
    }

    #[test]
    fn both_halves_mirror_each_other() {
        for bits in [0, 1, 12345, u64::MAX / 2, u64::MAX / 3] {
            assert_eq!(normal(bits).to_bits(), (-normal(!bits)).to_bits());
        }
        assert_relative_eq!(unit_exponential(0), 65.0 * std::f64::consts::LN_2);
        assert_relative_eq!(unit_exponential(u64::MAX), (-65_f64).exp2());
        assert_relative_eq!(unit_exponential(1 << 63), std::f64::consts::LN_2, max_relative = 1e-15);
    }
}
