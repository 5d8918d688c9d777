//! Two variants under common random numbers: their difference and their ratio.
//!
//! Implements the paired comparisons. Sample i of both slices must come from the same random draws; then the common part of
//! the draws cancels, and the interval is narrower than the interval from two separate means.

use crate::estimate::mean::{Estimate, EstimateError, Method};
use crate::estimate::moments::FloatMoments;

/// Reason why two variants cannot be compared.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum CompareError {
    /// Fewer than two pairs, a sample that is not finite, or a level outside (0, 1).
    #[error(transparent)]
    Estimate(#[from] EstimateError),
    /// The slices are not pairs. Give both variants the same replications.
    #[error("{baseline} samples of the baseline cannot be paired with {variant} samples of the variant")]
    UnequalLengths {
        /// Samples of the baseline.
        baseline: usize,
        /// Samples of the variant.
        variant: usize,
    },
    /// The baseline's interval includes 0, so the ratio is undetermined. Compare by difference, or take more pairs.
    #[error(
        "the baseline's mean {mean} ± {half_width} may be 0, so the ratio is unknown; compare the difference, or use more pairs"
    )]
    BaselineReachesZero {
        /// Mean of the baseline, in the unit of the samples.
        mean: f64,
        /// Half width of the baseline's interval at the requested level, in the unit of the samples.
        half_width: f64,
    },
}

/// Refuses slices that are not pairs.
fn check_pairs(baseline: &[f64], variant: &[f64]) -> Result<(), CompareError> {
    if baseline.len() == variant.len() {
        return Ok(());
    }
    Err(CompareError::UnequalLengths { baseline: baseline.len(), variant: variant.len() })
}

/// Mean of `variant` minus `baseline` over pairs, with its interval, in the unit of the samples.
///
/// Negative when the variant is smaller. Student's t over the n differences: exact if these are normal,
/// otherwise by the central limit theorem. Source: \[Law2015, 10.2.1\].
///
/// # Errors
///
/// [`CompareError::UnequalLengths`]; [`CompareError::Estimate`] below 2 pairs, for samples that are not
/// finite and for levels outside (0, 1).
///
/// # Examples
///
/// The differences 1, 2, 3 have mean 2, variance 1.
///
/// ```
/// # use tailspn_engine::estimate::paired_difference;
/// let difference = paired_difference(&[10.0, 20.0, 30.0], &[11.0, 22.0, 33.0], 0.95).unwrap();
/// assert_eq!(difference.value, 2.0);
/// assert!((difference.half_width - 4.302_652_729_7 / 3f64.sqrt()).abs() < 1e-9);
/// ```
pub fn paired_difference(baseline: &[f64], variant: &[f64], level: f64) -> Result<Estimate, CompareError> {
    check_pairs(baseline, variant)?;
    let differences: FloatMoments = baseline.iter().zip(variant).map(|(base, changed)| changed - base).collect();
    Ok(Estimate { method: Method::PairedDifference, ..differences.mean_estimate(level)? })
}

/// Mean of `variant` divided by mean of `baseline`, from pairs, with its interval; no unit.
///
/// ```text
/// R = v̄ / b̄,   half width = t(1 − α/2, n − 1) · s / (|b̄| √n),   s² = Σ (v_i − R b_i)² / (n − 1)
/// ```
///
/// Approximate (delta method): R has a bias of order 1/n, and the interval is accurate if the baseline's mean
/// is many half widths away from 0. Source: \[Cochran1977, 6.4\].
///
/// # Errors
///
/// The errors of [`paired_difference`], and [`CompareError::BaselineReachesZero`].
///
/// # Examples
///
/// R = 12.3 / 6; the residuals −0.05, −0.1, 0.15 give s² = 0.0175.
///
/// ```
/// # use tailspn_engine::estimate::paired_ratio;
/// let ratio = paired_ratio(&[1.0, 2.0, 3.0], &[2.0, 4.0, 6.3], 0.5).unwrap();
/// assert!((ratio.value - 2.05).abs() < 1e-12);
/// let t = 0.816_496_580_927_726; // two degrees of freedom, 75% quantile: √(2/3)
/// assert!((ratio.half_width - t * (0.0175_f64 / 3.0).sqrt() / 2.0).abs() < 1e-12);
/// ```
pub fn paired_ratio(baseline: &[f64], variant: &[f64], level: f64) -> Result<Estimate, CompareError> {
    check_pairs(baseline, variant)?;
    let base = baseline.iter().copied().collect::<FloatMoments>().mean_estimate(level)?;
    if base.value.abs() <= base.half_width {
        return Err(CompareError::BaselineReachesZero { mean: base.value, half_width: base.half_width });
    }
    let changed = variant.iter().copied().collect::<FloatMoments>().mean_estimate(level)?;
    let ratio = changed.value / base.value;
    let residuals: FloatMoments = baseline.iter().zip(variant).map(|(base, changed)| changed - ratio * base).collect();
    let half_width = residuals.mean_estimate(level)?.half_width / base.value.abs();
    Ok(Estimate { value: ratio, half_width, method: Method::PairedRatio, ..base })
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{SeedableRng, rngs::StdRng};
    use rand_distr::{Distribution, Exp1, StandardNormal};

    type Comparison = fn(&[f64], &[f64], f64) -> Result<Estimate, CompareError>;
    const BOTH: [Comparison; 2] = [paired_difference, paired_ratio];

    #[test]
    fn slices_that_are_not_pairs_are_refused() {
        for compare in BOTH {
            let error = CompareError::UnequalLengths { baseline: 1, variant: 2 };
            assert_eq!(compare(&[1.0], &[1.0, 2.0], 0.95), Err(error));
        }
    }

    #[test]
    fn zero_and_one_pair_are_too_few() {
        for compare in BOTH {
            for pairs in [0, 1] {
                let error = EstimateError::TooFewSamples { got: pairs as u64, need: 2 };
                assert_eq!(compare(&vec![1.0; pairs], &vec![2.0; pairs], 0.95), Err(error.into()));
            }
        }
    }

    #[test]
    fn equal_samples_differ_by_exactly_nothing() {
        let samples = [3.0, 5.0, 9.0];
        let difference = paired_difference(&samples, &samples, 0.95).unwrap();
        assert_eq!((difference.value, difference.half_width), (0.0, 0.0));
        // wide intervals reach 0, so the ratio uses a low level
        let ratio = paired_ratio(&samples, &samples, 0.5).unwrap();
        assert_eq!((ratio.value, ratio.half_width), (1.0, 0.0));
    }

    #[test]
    fn ratio_to_a_baseline_around_zero_is_refused() {
        for baseline in [[-1.0, 1.0, 0.5], [0.0; 3]] {
            let result = paired_ratio(&baseline, &[1.0, 2.0, 3.0], 0.95);
            assert!(matches!(result, Err(CompareError::BaselineReachesZero { .. })), "{result:?}");
        }
    }

    #[test]
    fn samples_that_are_not_finite_are_refused() {
        for compare in BOTH {
            assert_eq!(compare(&[10.0, 11.0, 10.5], &[1.0, f64::NAN, 2.0], 0.95), Err(EstimateError::NotFinite.into()));
        }
    }

    #[test]
    fn ratio_does_not_see_the_unit() {
        let (baseline, variant) = ([10.0, 11.0, 12.5, 9.0], [8.0, 9.5, 10.0, 7.0]);
        let seconds = paired_ratio(&baseline, &variant, 0.95).unwrap();
        let millis = paired_ratio(&baseline.map(|x| x * 1024.0), &variant.map(|x| x * 1024.0), 0.95).unwrap();
        assert_eq!(seconds, millis);
        let negative = paired_ratio(&baseline.map(|x| -x), &variant, 0.95).unwrap();
        assert_eq!((negative.value, negative.half_width), (-seconds.value, seconds.half_width));
    }

    #[test]
    fn paired_intervals_cover_and_are_narrower_than_separate_ones() {
        const RUNS: u32 = 2000;
        const PAIRS: usize = 200;
        let mut rng = StdRng::seed_from_u64(9);
        let (mut difference_covers, mut ratio_covers) = (0_u32, 0_u32);
        for _ in 0..RUNS {
            let baseline: Vec<f64> =
                (0..PAIRS).map(|_| 1.0 + <Exp1 as Distribution<f64>>::sample(&Exp1, &mut rng)).collect();
            let noise = |rng: &mut StdRng| 0.1 * <StandardNormal as Distribution<f64>>::sample(&StandardNormal, rng);
            let variant: Vec<f64> = baseline.iter().map(|base| 0.8 * base + noise(&mut rng)).collect();
            let difference = paired_difference(&baseline, &variant, 0.95).unwrap();
            difference_covers += u32::from((difference.value + 0.4).abs() <= difference.half_width);
            let ratio = paired_ratio(&baseline, &variant, 0.95).unwrap();
            ratio_covers += u32::from((ratio.value - 0.8).abs() <= ratio.half_width);
            let separate = variant.iter().copied().collect::<FloatMoments>().mean_estimate(0.95).unwrap();
            assert!(difference.half_width < 0.5 * separate.half_width);
        }
        let error = (0.95 * 0.05 / f64::from(RUNS)).sqrt();
        for covers in [difference_covers, ratio_covers] {
            let share = f64::from(covers) / f64::from(RUNS);
            assert!((share - 0.95).abs() <= 5.0 * error, "{share}");
        }
    }
}
