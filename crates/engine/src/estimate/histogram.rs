//! Counts of tick samples in buckets of bounded relative width, for quantiles, CDF and plots.
//!
//! Defines [`TickHistogram`]. It stores integers only, so merging is exact in any order. Mean and
//! variance come from `moments`, which does not round.

use serde::{Deserialize, Serialize};

use crate::estimate::mean::{EstimateError, Interval, Method};
use crate::estimate::quantile::{interval_ranks, quantile_position};

/// Each octave [2^e, 2^(e+1)) is divided into 2^PRECISION_BITS buckets, so a bucket is at most 2^-12 of its
/// values wide.
const PRECISION_BITS: u32 = 12;
/// Number of buckets in one octave, and in one step of growth.
const OCTAVE: usize = 1 << PRECISION_BITS;
/// A bit that keeps values of the first octaves, which need no splitting, in buckets of one tick.
const FIRST_SPLIT: u64 = 1 << PRECISION_BITS;

/// One bar of equal-width bars: `count` samples in [`low`, `high`).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bin {
    /// Lower edge \[ticks\], included.
    pub low: f64,
    /// Upper edge \[ticks\], not included.
    pub high: f64,
    /// Number of samples.
    pub count: u64,
}

/// Counts of samples in ticks, each value kept to a relative error below 2^-12 (0.025%).
///
/// Values below 8192 ticks have a bucket each and are exact; above, each octave has 4096 buckets of
/// equal width. Memory is 32 KiB per octave between the smallest and the largest sample, at most
/// 1.7 MiB. Adding and merging are exact: any order gives an equal histogram.
///
/// ```
/// # use tailspn_engine::estimate::TickHistogram;
/// let mut histogram = TickHistogram::default();
/// (1..=101).for_each(|ticks| histogram.push(ticks));
/// assert_eq!(histogram.quantile(0.5), Ok(51.0));
/// assert_eq!(histogram.cdf(10), Ok(10.0 / 101.0));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Kept")]
pub struct TickHistogram {
    count: u64,
    min: u64,
    max: u64,
    /// Number of the first bucket in `counts`, a multiple of `OCTAVE`; 0 while `counts` is empty.
    first: usize,
    /// Samples per bucket, in whole octaves from the octave of the smallest sample to the octave of the largest.
    counts: Vec<u64>,
}

/// A deserialized histogram, not yet checked.
#[derive(Deserialize)]
struct Kept {
    count: u64,
    min: u64,
    max: u64,
    first: usize,
    counts: Vec<u64>,
}

impl TryFrom<Kept> for TickHistogram {
    type Error = &'static str;

    fn try_from(kept: Kept) -> Result<Self, Self::Error> {
        let Kept { count, min, max, first, counts } = kept;
        let octaves = |n: usize| n.is_multiple_of(OCTAVE) && n <= (u64::BITS - PRECISION_BITS + 1) as usize * OCTAVE;
        let sum = counts.iter().try_fold(0_u64, |sum, &count| sum.checked_add(count));
        let end = first.checked_add(counts.len());
        let covers = |bucket: usize| end.is_some_and(|end| (first..end).contains(&bucket));
        let extremes = count == 0 || (min <= max && covers(bucket_of(min)) && covers(bucket_of(max)));
        let sound = octaves(first) && end.is_some_and(octaves) && sum == Some(count) && extremes;
        sound.then_some(Self { count, min, max, first, counts }).ok_or("the counts of the histogram are inconsistent")
    }
}

impl Default for TickHistogram {
    fn default() -> Self {
        Self { count: 0, min: u64::MAX, max: 0, first: 0, counts: Vec::new() }
    }
}

/// Number of the bucket that holds a value.
#[inline]
fn bucket_of(ticks: u64) -> usize {
    let shift = (u64::BITS - 1 - PRECISION_BITS) - (ticks | FIRST_SPLIT).leading_zeros();
    ((shift as usize) << PRECISION_BITS) + (ticks >> shift) as usize
}

/// Smallest value of a bucket \[ticks\], and its number of values.
fn bucket_range(bucket: usize) -> (u64, u64) {
    let shift = (bucket >> PRECISION_BITS).saturating_sub(1);
    let leading = (bucket - (shift << PRECISION_BITS)) as u64;
    (leading << shift, 1 << shift)
}

impl TickHistogram {
    /// Number of buckets for 64-bit values.
    #[cfg(feature = "gpu")]
    pub(crate) const BUCKETS: usize = (u64::BITS - PRECISION_BITS + 1) as usize * OCTAVE;

    /// First bucket of the whole octaves from `min` to `max`, and the bucket after the last bucket of these octaves.
    #[cfg(feature = "gpu")]
    pub(crate) fn octaves(min: u64, max: u64) -> (usize, usize) {
        (bucket_of(min) / OCTAVE * OCTAVE, (bucket_of(max) / OCTAVE + 1) * OCTAVE)
    }

    /// Creates a histogram from the counts of the octaves that [`Self::octaves`] returns for `min` and `max`.
    #[cfg(feature = "gpu")]
    pub(crate) fn from_counts(first: usize, counts: &[u32], min: u64, max: u64) -> Self {
        let counts: Vec<u64> = counts.iter().map(|&count| u64::from(count)).collect();
        Self { count: counts.iter().sum(), min, max, first, counts }
    }

    /// Adds one sample \[ticks\].
    #[inline]
    pub fn push(&mut self, ticks: u64) {
        self.count += 1;
        self.min = self.min.min(ticks);
        self.max = self.max.max(ticks);
        let bucket = bucket_of(ticks);
        match self.counts.get_mut(bucket.wrapping_sub(self.first)) {
            Some(count) => *count += 1,
            None => {
                self.cover(bucket, bucket);
                self.counts[bucket - self.first] += 1;
            }
        }
    }

    /// Grows the storage by whole octaves until it holds the buckets from `low` to `high`.
    #[cold]
    fn cover(&mut self, low: usize, high: usize) {
        let low = low / OCTAVE * OCTAVE;
        let end = (high / OCTAVE + 1) * OCTAVE;
        if self.counts.is_empty() {
            self.first = low;
        } else if low < self.first {
            self.counts.splice(0..0, std::iter::repeat_n(0, self.first - low));
            self.first = low;
        }
        if end > self.first + self.counts.len() {
            self.counts.resize(end - self.first, 0);
        }
    }

    /// Adds all samples of `other`. Commutative and associative to the bit.
    pub fn merge(&mut self, other: &Self) {
        if other.count == 0 {
            return;
        }
        self.cover(other.first, other.first + other.counts.len() - 1);
        let start = other.first - self.first;
        for (count, more) in self.counts[start..].iter_mut().zip(&other.counts) {
            *count += more;
        }
        self.count += other.count;
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
    }

    /// Number of samples.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Smallest sample \[ticks\], exact; none without samples.
    pub fn min(&self) -> Option<u64> {
        (self.count > 0).then_some(self.min)
    }

    /// Largest sample \[ticks\], exact; none without samples.
    pub fn max(&self) -> Option<u64> {
        (self.count > 0).then_some(self.max)
    }

    /// The buckets that hold samples, in ascending order.
    fn filled(&self) -> impl Iterator<Item = Filled> {
        let mut before = 0;
        self.counts.iter().enumerate().filter(|(_, count)| **count > 0).map(move |(index, &count)| {
            let (low, width) = bucket_range(self.first + index);
            let filled = Filled { low, width, count, before };
            before += count;
            filled
        })
    }

    /// The samples in bars of at most this width relative to their lower edge, where the buckets are not wider; without empty bars, ascending. The first
    /// edge is the smallest sample and the last edge the largest: a bar of equal samples has no width.
    pub fn narrow_bars(&self, relative_width: f64) -> Vec<Bin> {
        let mut bars: Vec<Bin> = Vec::new();
        let mut until = f64::NEG_INFINITY;
        for bucket in self.filled() {
            let (low, high) = (bucket.low.max(self.min) as f64, bucket.last().min(self.max) as f64);
            match bars.last_mut() {
                Some(bar) if high <= until => (bar.high, bar.count) = (high, bar.count + bucket.count),
                _ => {
                    until = low * (1.0 + relative_width);
                    bars.push(Bin { low, high, count: bucket.count });
                }
            }
        }
        bars
    }

    /// The smallest and the largest sample \[ticks\]; none without samples.
    pub fn range(&self) -> Option<(u64, u64)> {
        (self.count > 0).then_some((self.min, self.max))
    }

    /// The sample quantile `q` \[ticks\].
    ///
    /// Same definition as [`quantile_of_sorted`](crate::estimate::quantile_of_sorted), with the samples of a bucket
    /// spread evenly over it. The relative difference from the exact sample quantile is less than 2^-12. If all samples
    /// are below 8192 ticks, and at `q` = 0 and 1, the result is exact except for rounding.
    ///
    /// # Errors
    ///
    /// [`EstimateError::TooFewSamples`] without samples, [`EstimateError::QuantileOutOfRange`] unless 0 <= `q` <= 1.
    pub fn quantile(&self, q: f64) -> Result<f64, EstimateError> {
        let (index, share) = quantile_position(self.count, q)?;
        let low = self.spread_sample(index);
        Ok(if share > 0.0 { low + share * (self.spread_sample(index + 1) - low) } else { low })
    }

    /// The bucket of the sample at `index` in ascending order, from 0.
    fn bucket_of_sample(&self, index: u64) -> Filled {
        self.filled()
            .find(|filled| index < filled.before + filled.count)
            .expect("the index is below the number of samples")
    }

    /// The sample at `index` in ascending order, when the samples of each bucket are spread evenly over it \[ticks\].
    fn spread_sample(&self, index: u64) -> f64 {
        if index == 0 {
            return self.min as f64;
        }
        if index + 1 == self.count {
            return self.max as f64;
        }
        let bucket = self.bucket_of_sample(index);
        let share = ((index - bucket.before) as f64 + 0.5) / bucket.count as f64;
        (bucket.low as f64 + share * (bucket.width - 1) as f64).clamp(self.min as f64, self.max as f64)
    }

    /// The quantile `q` \[ticks\] with an interval that holds for any distribution of the samples.
    ///
    /// The ends are the order statistics of [`interval_ranks`], each moved outwards to the end of its bucket. So the
    /// interval keeps the level, and is wider by less than 2^-12 of each end.
    ///
    /// # Errors
    ///
    /// The errors of [`interval_ranks`].
    pub fn quantile_interval(&self, q: f64, level: f64) -> Result<Interval, EstimateError> {
        let ranks = interval_ranks(self.count, q, level)?;
        let low = self.bucket_of_sample(ranks.low - 1).low.max(self.min);
        let high = self.bucket_of_sample(ranks.high - 1).last().min(self.max);
        Ok(Interval {
            value: self.quantile(q)?,
            low: low as f64,
            high: high as f64,
            level,
            samples: self.count,
            method: Method::OrderStatistics,
        })
    }

    /// Share of the samples that are at most `ticks`.
    ///
    /// Exact below 8192 ticks and outside the range of the samples. Otherwise the samples in the bucket of `ticks`
    /// count as spread evenly, so the error is less than the share of these samples, plus rounding.
    ///
    /// # Errors
    ///
    /// [`EstimateError::TooFewSamples`] without samples.
    pub fn cdf(&self, ticks: u64) -> Result<f64, EstimateError> {
        if self.count == 0 {
            return Err(EstimateError::TooFewSamples { got: 0, need: 1 });
        }
        if ticks < self.min {
            return Ok(0.0);
        }
        if ticks >= self.max {
            return Ok(1.0);
        }
        Ok(self.samples_below(&[u128::from(ticks) + 1])[0] as f64 / self.count as f64)
    }

    /// Number of samples below each of some ascending edges \[ticks\], spreading each bucket evenly and rounding down.
    fn samples_below(&self, edges: &[u128]) -> Vec<u64> {
        let mut below = vec![self.count; edges.len()];
        let mut next = 0;
        for bucket in self.filled() {
            while next < edges.len() && edges[next] <= u128::from(bucket.last()) {
                let values = edges[next].saturating_sub(u128::from(bucket.low));
                let part = u128::from(bucket.count) * values / u128::from(bucket.width);
                below[next] = bucket.before + u64::try_from(part).expect("a part of the bucket's count");
                next += 1;
            }
        }
        below
    }

    /// The samples in `bins` bars of equal width from the smallest to one tick past the largest sample, ascending.
    ///
    /// The counts always sum to [`count`](Self::count). A count is exact if no bar edge splits a bucket of
    /// more than one tick; the count of a split bucket is divided evenly. No bars without samples.
    pub fn rebin(&self, bins: usize) -> Vec<Bin> {
        if self.count == 0 || bins == 0 {
            return Vec::new();
        }
        let start = self.min as f64;
        let width = ((self.max - self.min) as f64 + 1.0) / bins as f64;
        let edges: Vec<f64> = (0..=bins).map(|edge| start + edge as f64 * width).collect();
        // `as` is exact: an edge is a whole number from 0 to 2^64 after rounding up.
        let whole: Vec<u128> = edges.iter().map(|edge| edge.ceil() as u128).collect();
        let mut below = self.samples_below(&whole);
        below[0] = 0;
        below[bins] = self.count;
        (0..bins).map(|i| Bin { low: edges[i], high: edges[i + 1], count: below[i + 1] - below[i] }).collect()
    }
}

/// A bucket with samples in it.
struct Filled {
    /// Smallest value \[ticks\].
    low: u64,
    /// Number of values, >= 1.
    width: u64,
    /// Number of samples, >= 1.
    count: u64,
    /// Number of samples in all buckets below.
    before: u64,
}

impl Filled {
    /// Largest value \[ticks\].
    fn last(&self) -> u64 {
        self.low + (self.width - 1)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::float_cmp, reason = "exact results are asserted exactly")]

    use super::*;
    use crate::estimate::quantile::{quantile_interval_of_sorted, quantile_of_sorted};
    use proptest::prelude::*;

    const RELATIVE_WIDTH: f64 = 1.0 / 4096.0;

    fn histogram_of(samples: &[u64]) -> TickHistogram {
        let mut histogram = TickHistogram::default();
        samples.iter().for_each(|&ticks| histogram.push(ticks));
        histogram
    }

    fn sorted_floats(samples: &[u64]) -> Vec<f64> {
        let mut sorted = samples.to_vec();
        sorted.sort_unstable();
        sorted.into_iter().map(|x| x as f64).collect()
    }

    #[test]
    fn buckets_are_contiguous_and_narrow() {
        let mut expected_low = 0_u128;
        let last = bucket_of(u64::MAX);
        for bucket in 0..=last {
            let (low, width) = bucket_range(bucket);
            assert_eq!(u128::from(low), expected_low);
            assert_eq!((bucket_of(low), bucket_of(low + (width - 1))), (bucket, bucket));
            assert!(width == 1 || width as f64 <= RELATIVE_WIDTH * low as f64);
            expected_low += u128::from(width);
        }
        assert_eq!(expected_low, 1 << 64);
        assert_eq!((last + 1) / OCTAVE, 53);
    }

    #[test]
    fn narrow_bars_have_the_samples() {
        let samples: Vec<u64> = (0..20_000).map(|i: u64| 1_000_000 + i * i / 40).collect();
        let bars = histogram_of(&samples).narrow_bars(1.0 / 512.0);
        // eleven-fold: ln(11) * 512 bars, and as many as the edges of buckets add
        assert!((1_200..1_500).contains(&bars.len()), "{}", bars.len());
        assert_eq!((bars[0].low, bars[bars.len() - 1].high), (1_000_000.0, samples[19_999] as f64));
        for bar in &bars {
            let inside = samples.iter().filter(|&&x| (bar.low..=bar.high).contains(&(x as f64))).count();
            assert_eq!(bar.count, inside as u64);
            assert!(bar.high <= bar.low * (1.0 + 1.0 / 512.0));
        }
        let bin = |low, high, count| Bin { low, high, count };
        assert_eq!(histogram_of(&[7, 7, 9]).narrow_bars(0.2), [bin(7.0, 7.0, 2), bin(9.0, 9.0, 1)]);
        assert_eq!(histogram_of(&[1_000_001; 3]).narrow_bars(0.2), [bin(1_000_001.0, 1_000_001.0, 3)]);
        assert!(TickHistogram::default().narrow_bars(0.1).is_empty());
    }

    #[test]
    fn no_samples_are_an_error_and_no_bars() {
        let empty = TickHistogram::default();
        let too_few = EstimateError::TooFewSamples { got: 0, need: 1 };
        assert_eq!(empty.quantile(0.5), Err(too_few));
        assert_eq!(empty.cdf(5), Err(too_few));
        assert!(empty.quantile_interval(0.5, 0.95).is_err());
        assert_eq!(empty.rebin(10), vec![]);
        assert_eq!((empty.min(), empty.max(), empty.count()), (None, None, 0));
        let mut merged = histogram_of(&[5]);
        merged.merge(&empty);
        assert_eq!(merged, histogram_of(&[5]));
    }

    #[test]
    fn one_sample_is_every_quantile() {
        let one = histogram_of(&[123_456_789]);
        for q in [0.0, 0.3, 1.0] {
            assert_eq!(one.quantile(q), Ok(123_456_789.0));
        }
        assert_eq!((one.cdf(123_456_788), one.cdf(123_456_789)), (Ok(0.0), Ok(1.0)));
        assert_eq!(one.rebin(1), vec![Bin { low: 123_456_789.0, high: 123_456_790.0, count: 1 }]);
    }

    #[test]
    fn equal_samples_are_every_quantile() {
        let equal = histogram_of(&[9_999_999_999; 500]);
        let interval = equal.quantile_interval(0.5, 0.99).unwrap();
        assert_eq!((interval.low, interval.value, interval.high), (9_999_999_999.0, 9_999_999_999.0, 9_999_999_999.0));
        assert_eq!(equal.rebin(7).iter().map(|bin| bin.count).sum::<u64>(), 500);
    }

    #[test]
    fn largest_and_smallest_samples_fit() {
        let wide = histogram_of(&[u64::MAX, 0, u64::MAX]);
        assert_eq!((wide.min(), wide.max()), (Some(0), Some(u64::MAX)));
        assert_eq!(wide.quantile(1.0), Ok(u64::MAX as f64));
        assert_eq!(wide.cdf(u64::MAX - 1 - (1 << 60)), Ok(1.0 / 3.0));
        let bars = wide.rebin(4);
        assert_eq!(bars.iter().map(|bar| bar.count).collect::<Vec<_>>(), [1, 0, 0, 2]);
        assert_eq!(bars[3].high, 2f64.powi(64));
    }

    #[test]
    fn bars_of_small_values_are_exact() {
        let histogram = histogram_of(&[10, 11, 11, 14, 19, 19, 19]);
        let bars = histogram.rebin(5);
        assert_eq!(bars[0], Bin { low: 10.0, high: 12.0, count: 3 });
        assert_eq!(bars.iter().map(|bar| bar.count).collect::<Vec<_>>(), [3, 0, 1, 0, 3]);
        // edges that are not whole: 10, 13.33, 16.67, 20
        assert_eq!(histogram.rebin(3).iter().map(|bar| bar.count).collect::<Vec<_>>(), [3, 1, 3]);
        assert_eq!(histogram.rebin(0), vec![]);
    }

    #[test]
    fn storage_spans_only_the_octaves_in_use() {
        let histogram = histogram_of(&[(1 << 40) + 5, 1 << 40, (1 << 42) - 1]);
        assert_eq!(histogram.counts.len(), 2 * OCTAVE);
    }

    /// All sizes of numbers, often close together.
    fn samples() -> impl Strategy<Value = Vec<u64>> {
        let clustered = (any::<u64>(), 0_u32..50).prop_flat_map(|(base, spread)| {
            prop::collection::vec((0_u64..1 << spread).prop_map(move |x| base.saturating_add(x)), 1..200)
        });
        let scattered = prop::collection::vec((any::<u64>(), 0_u32..64).prop_map(|(x, shift)| x >> shift), 1..200);
        prop_oneof![clustered, scattered]
    }

    proptest! {
        #[test]
        fn merging_in_any_order_equals_one_long_run(
            samples in samples(),
            cuts in prop::array::uniform2(0_usize..200),
            order in Just([0_usize, 1, 2]).prop_shuffle(),
        ) {
            let (first, second) = (cuts[0].min(cuts[1]).min(samples.len()), cuts[0].max(cuts[1]).min(samples.len()));
            let parts = [&samples[..first], &samples[first..second], &samples[second..]].map(histogram_of);
            let mut merged = TickHistogram::default();
            order.iter().for_each(|&part| merged.merge(&parts[part]));
            prop_assert_eq!(&merged, &histogram_of(&samples));
            let mut reversed = samples;
            reversed.reverse();
            prop_assert_eq!(&merged, &histogram_of(&reversed));
        }

        #[test]
        fn quantiles_are_within_the_stated_bound(samples in samples(), q in 0.0_f64..=1.0) {
            let exact = quantile_of_sorted(&sorted_floats(&samples), q).unwrap();
            let got = histogram_of(&samples).quantile(q).unwrap();
            prop_assert!((got - exact).abs() <= RELATIVE_WIDTH * exact, "{got} {exact}");
        }

        #[test]
        fn quantiles_of_small_values_are_exact(samples in prop::collection::vec(0_u64..8192, 1..200), q in 0.0_f64..=1.0) {
            prop_assert_eq!(histogram_of(&samples).quantile(q), quantile_of_sorted(&sorted_floats(&samples), q));
        }

        #[test]
        fn intervals_hold_the_exact_ones(samples in samples(), q in 0.05_f64..0.95) {
            if let Ok(exact) = quantile_interval_of_sorted(&sorted_floats(&samples), q, 0.95) {
                let got = histogram_of(&samples).quantile_interval(q, 0.95).unwrap();
                prop_assert!(got.low <= exact.low && got.low >= exact.low * (1.0 - RELATIVE_WIDTH));
                prop_assert!(got.high >= exact.high && got.high <= exact.high * (1.0 + RELATIVE_WIDTH));
            }
        }

        #[test]
        fn cdf_is_within_one_bucket(samples in samples(), probe in any::<prop::sample::Index>()) {
            let histogram = histogram_of(&samples);
            let ticks = samples[probe.index(samples.len())];
            let share = |holds: &dyn Fn(u64) -> bool| {
                samples.iter().filter(|&&x| holds(x)).count() as f64 / samples.len() as f64
            };
            let exact = share(&|x| x <= ticks);
            let slack = share(&|x| bucket_of(x) == bucket_of(ticks));
            let got = histogram.cdf(ticks).unwrap();
            prop_assert!((got - exact).abs() <= slack + f64::EPSILON, "{got} {exact} {slack}");
        }

        #[test]
        fn bars_hold_every_sample_once(samples in samples(), bins in 1_usize..50) {
            let bars = histogram_of(&samples).rebin(bins);
            prop_assert_eq!(bars.len(), bins);
            prop_assert_eq!(bars.iter().map(|bar| bar.count).sum::<u64>(), samples.len() as u64);
        }
    }
}
