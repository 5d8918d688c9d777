//! Mean and variance of a stream: exact integers for ticks, floating point for other observables.
//!
//! Implements the two accumulators. Both take one sample at a time and merge; neither keeps samples.
//! Intervals come from `mean`.

use serde::{Deserialize, Serialize};

use crate::estimate::mean::{Estimate, EstimateError, mean_interval};

/// An unsigned integer of 192 bits, wide enough for the sum of 2^64 squares of 64-bit numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Wide {
    low: u128,
    high: u64,
}

impl Wide {
    fn from_product(left: u128, right: u64) -> Self {
        let right = u128::from(right);
        let lower_part = (left & u128::from(u64::MAX)) * right;
        let upper_part = (left >> 64) * right;
        let (low, carry) = lower_part.overflowing_add(upper_part << 64);
        Self { low, high: (upper_part >> 64) as u64 + u64::from(carry) }
    }

    fn plus(self, other: Self) -> Self {
        let (low, carry) = self.low.overflowing_add(other.low);
        Self { low, high: self.high.wrapping_add(other.high).wrapping_add(u64::from(carry)) }
    }

    fn minus(self, other: Self) -> Self {
        let (low, borrow) = self.low.overflowing_sub(other.low);
        Self { low, high: self.high.wrapping_sub(other.high).wrapping_sub(u64::from(borrow)) }
    }

    fn to_f64(self) -> f64 {
        const TWO_POW_128: f64 = 340_282_366_920_938_463_463_374_607_431_768_211_456.0;
        self.high as f64 * TWO_POW_128 + self.low as f64
    }
}

/// Count, mean, variance, minimum and maximum of samples in ticks, without any rounding.
///
/// The state contains only integers, so adding and merging in any order gives the same bits. It has room
/// for 2^64 − 1 samples of any size. Rounding happens once, when a mean or variance is read.
///
/// ```
/// # use tailspn_engine::estimate::Moments;
/// let mut moments = Moments::default();
/// [2, 4, 9].into_iter().for_each(|ticks| moments.push(ticks));
/// assert_eq!(moments.mean_ticks(), Some(5.0));
/// assert_eq!(moments.variance(), Some(13.0)); // (9 + 1 + 16) / 2
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Moments {
    count: u64,
    sum: u128,
    squares: Wide,
    min: u64,
    max: u64,
}

impl Default for Moments {
    fn default() -> Self {
        Self { count: 0, sum: 0, squares: Wide::default(), min: u64::MAX, max: 0 }
    }
}

impl Moments {
    /// Adds one sample \[ticks\].
    #[inline]
    pub fn push(&mut self, ticks: u64) {
        let wide = u128::from(ticks);
        self.count += 1;
        self.sum += wide;
        self.squares = self.squares.plus(Wide { low: wide * wide, high: 0 });
        self.min = self.min.min(ticks);
        self.max = self.max.max(ticks);
    }

    /// Builds moments from the words of exact sums, lowest first, as computed by a GPU.
    #[cfg(feature = "gpu")]
    pub(crate) fn from_words(count: u64, sum: [u32; 4], squares: [u32; 6], min: u64, max: u64) -> Self {
        let join = |words: &[u32]| words.iter().rev().fold(0_u128, |value, &word| value << 32 | u128::from(word));
        let high = u64::from(squares[5]) << 32 | u64::from(squares[4]);
        Self { count, sum: join(&sum), squares: Wide { low: join(&squares[..4]), high }, min, max }
    }

    /// Adds all samples of `other`. Commutative and associative to the bit.
    pub fn merge(&mut self, other: &Self) {
        self.count += other.count;
        self.sum += other.sum;
        self.squares = self.squares.plus(other.squares);
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
    }

    /// Number of samples.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Sum of all samples \[ticks\], exact.
    pub fn sum_ticks(&self) -> u128 {
        self.sum
    }

    /// Smallest sample \[ticks\], exact; none without samples.
    pub fn min(&self) -> Option<u64> {
        (self.count > 0).then_some(self.min)
    }

    /// Largest sample \[ticks\], exact; none without samples.
    pub fn max(&self) -> Option<u64> {
        (self.count > 0).then_some(self.max)
    }

    /// Mean \[ticks\], within 2 units in the last place; none without samples.
    pub fn mean_ticks(&self) -> Option<f64> {
        let (whole, rest) = self.whole_mean()?;
        Some(whole as f64 + rest as f64 / self.count as f64)
    }

    /// Integer part of the mean, and the remainder of the sum; none without samples.
    fn whole_mean(&self) -> Option<(u64, u64)> {
        let count = u128::from(self.count);
        let whole = self.sum.checked_div(count)?;
        let rest = self.sum % count;
        let fits = "a mean of 64-bit numbers, and a remainder below a 64-bit count, fit in 64 bits";
        Some((u64::try_from(whole).expect(fits), u64::try_from(rest).expect(fits)))
    }

    /// Sample variance \[ticks²\], divisor n − 1, within 8 units in the last place; none below 2 samples.
    ///
    /// ```text
    /// m = ⌊Σx / n⌋,  r = Σx mod n,  D = Σx² − m²n − 2mr = Σ(x − m)²
    /// variance = (D − r²/n) / (n − 1)
    /// ```
    ///
    /// D and the whole part of r²/n are exact integers, so nothing cancels, even if the mean is large
    /// relative to the spread. Exactly 0 when all samples are equal.
    pub fn variance(&self) -> Option<f64> {
        if self.count < 2 {
            return None;
        }
        let (mean, rest) = self.whole_mean()?;
        let mean_times_rest = Wide { low: u128::from(mean) * u128::from(rest), high: 0 };
        let about_whole_mean = self
            .squares
            .minus(Wide::from_product(u128::from(mean) * u128::from(mean), self.count))
            .minus(mean_times_rest)
            .minus(mean_times_rest);
        let rest_squared = u128::from(rest) * u128::from(rest);
        let count = u128::from(self.count);
        let whole = about_whole_mean.minus(Wide { low: rest_squared / count, high: 0 });
        let fraction = (rest_squared % count) as f64 / self.count as f64;
        Some((whole.to_f64() - fraction) / (self.count - 1) as f64)
    }

    /// The mean \[ticks\] with its interval by Student's t, for independent samples.
    ///
    /// # Errors
    ///
    /// [`EstimateError::TooFewSamples`] below 2 samples, [`EstimateError::LevelOutOfRange`].
    pub fn mean_estimate(&self, level: f64) -> Result<Estimate, EstimateError> {
        let (mean, variance) = (self.mean_ticks().unwrap_or(0.0), self.variance().unwrap_or(0.0));
        mean_interval(mean, variance, self.count, level)
    }
}

/// Count, mean, variance, minimum and maximum of `f64` samples, in any unit.
///
/// Approximate: in practice, rounding errors grow at most with the square root of the count. The last bits depend on
/// the order of samples and merges; merge in a fixed order if equal bits are required. After a sample that is not
/// finite, mean and variance are not finite, and estimates are errors. Sources: \[Welford1962\] for adding,
/// \[Chan1983\] for merging.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct FloatMoments {
    count: u64,
    mean: f64,
    squares: f64,
    min: f64,
    max: f64,
}

impl Default for FloatMoments {
    fn default() -> Self {
        Self { count: 0, mean: 0.0, squares: 0.0, min: f64::INFINITY, max: f64::NEG_INFINITY }
    }
}

impl FloatMoments {
    /// Adds one sample.
    #[inline]
    pub fn push(&mut self, sample: f64) {
        self.count += 1;
        let gap = sample - self.mean;
        self.mean += gap / self.count as f64;
        self.squares += gap * (sample - self.mean);
        self.min = self.min.min(sample);
        self.max = self.max.max(sample);
    }

    /// Moments with these fields, which another implementation of the same operations computed.
    #[cfg(feature = "gpu")]
    pub(crate) fn of_fields(count: u64, [mean, squares, min, max]: [f64; 4]) -> Self {
        Self { count, mean, squares, min, max }
    }

    /// The moments of the samples times `factor`, which is above 0.
    #[must_use]
    pub fn scaled(&self, factor: f64) -> Self {
        let Self { count, mean, squares, min, max } = self;
        Self {
            count: *count,
            mean: mean * factor,
            squares: squares * factor * factor,
            min: min * factor,
            max: max * factor,
        }
    }

    /// Adds all samples of `other`.
    pub fn merge(&mut self, other: &Self) {
        if other.count == 0 {
            return;
        }
        if self.count == 0 {
            *self = *other;
            return;
        }
        let total = self.count + other.count;
        let share = other.count as f64 / total as f64;
        let gap = other.mean - self.mean;
        self.mean += gap * share;
        self.squares += other.squares + gap * gap * self.count as f64 * share;
        self.count = total;
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
    }

    /// Number of samples.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Smallest sample; none without samples.
    pub fn min(&self) -> Option<f64> {
        (self.count > 0).then_some(self.min)
    }

    /// Largest sample; none without samples.
    pub fn max(&self) -> Option<f64> {
        (self.count > 0).then_some(self.max)
    }

    /// Mean; none without samples.
    pub fn mean(&self) -> Option<f64> {
        (self.count > 0).then_some(self.mean)
    }

    /// Sample variance, divisor n − 1, in the square of the samples' unit; none below 2 samples.
    pub fn variance(&self) -> Option<f64> {
        (self.count > 1).then(|| self.squares / (self.count - 1) as f64)
    }

    /// The mean with its interval by Student's t, for independent samples.
    ///
    /// # Errors
    ///
    /// [`EstimateError::TooFewSamples`] below 2 samples, [`EstimateError::LevelOutOfRange`],
    /// [`EstimateError::NotFinite`] if a sample was not finite.
    pub fn mean_estimate(&self, level: f64) -> Result<Estimate, EstimateError> {
        mean_interval(self.mean, self.variance().unwrap_or(0.0), self.count, level)
    }
}

impl Extend<u64> for Moments {
    fn extend<I: IntoIterator<Item = u64>>(&mut self, samples: I) {
        samples.into_iter().for_each(|ticks| self.push(ticks));
    }
}

impl FromIterator<u64> for Moments {
    fn from_iter<I: IntoIterator<Item = u64>>(samples: I) -> Self {
        let mut moments = Self::default();
        moments.extend(samples);
        moments
    }
}

impl Extend<f64> for FloatMoments {
    fn extend<I: IntoIterator<Item = f64>>(&mut self, samples: I) {
        samples.into_iter().for_each(|sample| self.push(sample));
    }
}

impl FromIterator<f64> for FloatMoments {
    fn from_iter<I: IntoIterator<Item = f64>>(samples: I) -> Self {
        let mut moments = Self::default();
        moments.extend(samples);
        moments
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn moments_of(samples: &[u64]) -> Moments {
        samples.iter().copied().collect()
    }

    /// Variance by the textbook definition n²(n−1)·var = n Σ (n x − Σx)² / n, exact for short lists of small samples.
    fn textbook_variance(samples: &[u64]) -> f64 {
        let n = samples.len() as i128;
        let sum: i128 = samples.iter().map(|&x| i128::from(x)).sum();
        let squares: i128 = samples.iter().map(|&x| (n * i128::from(x) - sum).pow(2)).sum();
        squares as f64 / (n * n * (n - 1)) as f64
    }

    #[test]
    fn no_samples_have_no_moments() {
        let empty = Moments::default();
        assert_eq!((empty.count(), empty.mean_ticks(), empty.variance()), (0, None, None));
        assert_eq!((empty.min(), empty.max()), (None, None));
        assert_eq!(empty.mean_estimate(0.95), Err(EstimateError::TooFewSamples { got: 0, need: 2 }));
        let empty = FloatMoments::default();
        assert_eq!((empty.count(), empty.mean(), empty.variance()), (0, None, None));
        assert_eq!((empty.min(), empty.max()), (None, None));
        assert_eq!(empty.mean_estimate(0.95), Err(EstimateError::TooFewSamples { got: 0, need: 2 }));
    }

    #[test]
    fn one_sample_has_a_mean_but_no_variance() {
        let one = moments_of(&[7]);
        assert_eq!((one.mean_ticks(), one.variance(), one.min(), one.max()), (Some(7.0), None, Some(7), Some(7)));
        let one: FloatMoments = [7.5].into_iter().collect();
        assert_eq!((one.mean(), one.variance(), one.min(), one.max()), (Some(7.5), None, Some(7.5), Some(7.5)));
    }

    #[test]
    fn equal_samples_have_variance_zero() {
        for ticks in [0, 1, 12_345_678_901_234_567, u64::MAX] {
            let moments = moments_of(&[ticks; 1001]);
            assert_eq!((moments.variance(), moments.mean_ticks()), (Some(0.0), Some(ticks as f64)));
        }
        let moments: FloatMoments = [0.1; 1001].into_iter().collect();
        assert_eq!(moments.variance(), Some(0.0));
    }

    #[test]
    fn largest_samples_do_not_overflow() {
        // Half 0 and half 2^64 − 1: variance n/(n−1) · ((2^64 − 1)/2)².
        let n = 100_000_u32;
        let moments: Moments = (0..n).map(|i| if i % 2 == 0 { 0 } else { u64::MAX }).collect();
        let half = u64::MAX as f64 / 2.0;
        let expected = half * half * f64::from(n) / f64::from(n - 1);
        let variance = moments.variance().unwrap();
        assert!((variance / expected - 1.0).abs() < 1e-15);
        assert_eq!(moments.mean_ticks(), Some(half));
        assert_eq!(moments.sum_ticks(), u128::from(u64::MAX) * u128::from(n / 2));
    }

    #[test]
    fn squares_carry_into_the_third_word() {
        let mut moments = Moments::default();
        (0..10).for_each(|_| moments.push(u64::MAX));
        assert_eq!(moments.squares, Wide::from_product(u128::from(u64::MAX) * u128::from(u64::MAX), 10));
        assert_eq!(moments.squares.high, 9);
    }

    #[test]
    fn one_tick_of_spread_on_a_huge_mean_is_kept() {
        // Samples B and B + 1 in equal number n/2: variance n / (4 (n − 1)). Floats would return 0 or noise.
        let base = u64::MAX - 1;
        let moments = moments_of(&[base, base + 1, base, base + 1]);
        assert_eq!(moments.variance(), Some(1.0 / 3.0));
    }

    #[test]
    fn float_moments_match_a_hand_checked_example() {
        let moments: FloatMoments = [2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0].into_iter().collect();
        assert_eq!((moments.mean(), moments.min(), moments.max()), (Some(5.0), Some(2.0), Some(9.0)));
        assert!((moments.variance().unwrap() - 32.0 / 7.0).abs() < 1e-14);
    }

    #[test]
    fn samples_that_are_not_finite_are_an_error_not_a_number() {
        for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            let moments: FloatMoments = [1.0, bad, 2.0].into_iter().collect();
            assert_eq!(moments.mean_estimate(0.95), Err(EstimateError::NotFinite));
        }
    }

    /// Half of the draws uniform, half spread over all sizes.
    fn any_ticks() -> impl Strategy<Value = u64> {
        prop_oneof![any::<u64>(), (any::<u64>(), 0_u32..64).prop_map(|(x, shift)| x >> shift)]
    }

    proptest! {
        #[test]
        fn merging_in_any_order_equals_one_long_run(
            samples in prop::collection::vec((any_ticks(), 0_usize..4), 0..200),
            order in Just([0_usize, 1, 2, 3]).prop_shuffle(),
        ) {
            let all = moments_of(&samples.iter().map(|s| s.0).collect::<Vec<_>>());
            let mut parts = [Moments::default(); 4];
            for &(ticks, part) in &samples {
                parts[part].push(ticks);
            }
            let mut merged = Moments::default();
            order.iter().for_each(|&part| merged.merge(&parts[part]));
            prop_assert_eq!(merged, all);
            let mut left = parts[0];
            left.merge(&parts[1]);
            let mut right = parts[3];
            right.merge(&parts[2]);
            right.merge(&left);
            prop_assert_eq!(right, all);
        }

        #[test]
        fn variance_matches_the_textbook_definition(samples in prop::collection::vec(0_u64..1 << 40, 2..100)) {
            let expected = textbook_variance(&samples);
            let got = moments_of(&samples).variance().unwrap();
            prop_assert!((got - expected).abs() <= 8.0 * f64::EPSILON * expected, "{got} {expected}");
        }

        #[test]
        fn variance_does_not_see_a_shift(
            samples in prop::collection::vec(0_u64..1000, 2..100),
            shift in 0_u64..u64::MAX - 1000,
        ) {
            let shifted: Moments = samples.iter().map(|x| x + shift).collect();
            prop_assert_eq!(shifted.variance(), moments_of(&samples).variance());
        }

        #[test]
        fn float_moments_agree_with_exact_ones(
            samples in prop::collection::vec(0_u64..1 << 30, 2..200),
            cut in 0_usize..200,
        ) {
            let (left, right) = samples.split_at(cut.min(samples.len()));
            let mut merged: FloatMoments = left.iter().map(|&x| x as f64).collect();
            merged.merge(&right.iter().map(|&x| x as f64).collect());
            let exact = moments_of(&samples);
            prop_assert!((merged.mean().unwrap() - exact.mean_ticks().unwrap()).abs() <= 1e-12 * 1e9);
            let (got, expected) = (merged.variance().unwrap(), exact.variance().unwrap());
            prop_assert!((got - expected).abs() <= 1e-11 * expected + 1e-3, "{got} {expected}");
            prop_assert_eq!(merged.min(), exact.min().map(|x| x as f64));
        }
    }
}
