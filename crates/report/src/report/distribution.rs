//! The distribution of a time: mean, spread, quantiles, histogram, in seconds.

use serde::{Deserialize, Serialize};

use crate::ask::net::{CdfPoint, QUANTILES};
use crate::estimate::{Interval, Measured, Moments, TickHistogram, clopper_pearson, standard_deviation_interval};
use crate::report::json::Word;
use crate::sim::Clock;

/// Bars of a histogram.
const BARS: u32 = 60;
/// Distance by which the bars extend beyond p99, as a multiple of the distance from p50 to p99. Samples beyond that are
/// counted, not drawn.
const BEYOND_P99: f64 = 0.5;
/// Maximum number of bars; samples beyond the last bar are counted together.
const MOST_BARS: f64 = 100_000.0;

/// A quantile with its interval \[s\].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct QuantileRow {
    /// Probability of the quantile, in (0, 1).
    pub p: f64,
    /// Value of the quantile \[s\].
    #[serde(flatten)]
    pub quantity: Measured,
}

/// A bar of a histogram: samples from `low` (included) to `high` (excluded).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Bar {
    /// Lower edge \[s\].
    pub low: f64,
    /// Upper edge \[s\].
    pub high: f64,
    /// Number of samples.
    pub count: u64,
}

/// Bars of equal width over most of a distribution, and the number of samples in the far tail.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Histogram {
    /// The bars, ascending.
    pub bars: Vec<Bar>,
    /// Samples above the last bar.
    pub above: u64,
}

/// Statistics of the distribution of a time. All times in seconds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Distribution {
    /// Unit of all numbers.
    pub unit: Word,
    /// Number of samples; 0 for an exact distribution.
    pub samples: u64,
    /// Shortest sample; none for an exact distribution.
    pub min: Option<f64>,
    /// Longest sample; none for an exact distribution.
    pub max: Option<f64>,
    /// Mean.
    pub mean: Measured,
    /// Standard deviation.
    pub sd: Option<Measured>,
    /// The quantiles 0.5, 0.9, 0.95, 0.99 and 0.999.
    pub quantiles: Vec<QuantileRow>,
    /// Histogram of the samples.
    pub histogram: Histogram,
    /// The distribution function, as points joined by straight lines. For samples, it covers the range from the shortest
    /// to the longest sample, with more points in the tail. Then `low` and `high` are the ends of a Clopper-Pearson
    /// interval for each single probability, at the level of the mean.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub curve: Vec<CdfPoint>,
}

impl Distribution {
    /// Returns the distribution of samples in ticks of `clock`; `None` without a sample.
    pub fn new(moments: &Moments, histogram: &TickHistogram, clock: Clock, level: f64) -> Option<Self> {
        let (min, max) = (moments.min()?, moments.max()?);
        let sd = standard_deviation_interval(moments, histogram, level);
        let quantiles = QUANTILES.iter().filter_map(|&p| {
            let interval = histogram.quantile_interval(p, level);
            let value = histogram.quantile(p).ok();
            let quantity = Measured::new(value, histogram.count(), level, interval)?.scaled(clock.tick());
            Some(QuantileRow { p, quantity })
        });
        Some(Self {
            unit: "s".into(),
            samples: moments.count(),
            min: Some(clock.seconds(min)),
            max: Some(clock.seconds(max)),
            mean: mean_time(moments, clock, level)?,
            sd: Measured::new(moments.variance().map(f64::sqrt), moments.count(), level, sd)
                .map(|sd| sd.scaled(clock.tick())),
            quantiles: quantiles.collect(),
            histogram: Histogram::new(histogram, clock),
            curve: curve(histogram, clock, level),
        })
    }

    /// Returns the quantile `p` of [`QUANTILES`] \[s\].
    pub fn quantile(&self, p: f64) -> Option<f64> {
        let row = self.quantiles.iter().find(|row| (row.p - p).abs() < 1e-12)?;
        Some(row.quantity.value)
    }
}

/// Steps of the distribution function of samples up to the end of the histogram's bars.
const STEPS: u32 = 60;
/// Points of the tail per power of ten.
const TAIL_POINTS: f64 = 8.0;

/// Returns the distribution function of samples: at equal distances over the range of the histogram, then at
/// quantiles that approach 1.
fn curve(samples: &TickHistogram, clock: Clock, level: f64) -> Vec<CdfPoint> {
    let (Some(min), Some(max)) = (samples.min(), samples.max()) else { return Vec::new() };
    let end = drawn_to(samples, min, max);
    let even = (0..=STEPS).map(|step| min as f64 + (end - min as f64) * f64::from(step) / f64::from(STEPS));
    let decades = (samples.count() as f64).log10();
    let tail = (0..).map(|k| f64::from(k) / TAIL_POINTS).take_while(|decade| *decade < decades);
    let tail = tail.filter_map(|decade| samples.quantile(1.0 - 10.0_f64.powf(-decade)).ok());
    let mut ticks: Vec<u64> = even.chain(tail.filter(|time| *time > end)).map(|time| time.round() as u64).collect();
    ticks.push(max);
    ticks.sort_unstable();
    ticks.dedup();
    ticks.into_iter().filter_map(|ticks| point(samples, ticks, clock, level)).collect()
}

/// Returns the share of samples up to a time, with its interval.
fn point(samples: &TickHistogram, ticks: u64, clock: Clock, level: f64) -> Option<CdfPoint> {
    let probability = samples.cdf(ticks).ok()?;
    let below = (probability * samples.count() as f64).round() as u64;
    let interval = clopper_pearson(below.min(samples.count()), samples.count(), level).ok();
    let [low, high] = [interval.as_ref().map(|found| found.low), interval.as_ref().map(|found| found.high)];
    Some(CdfPoint { time_s: clock.seconds(ticks), probability, density_per_s: None, low, high })
}

/// Returns the end of a picture of samples \[ticks\]: a bit beyond the 99th percentile.
fn drawn_to(samples: &TickHistogram, min: u64, max: u64) -> f64 {
    let at = |q: f64| samples.quantile(q).unwrap_or(max as f64);
    let (median, high) = (at(0.5), at(0.99));
    let range = (max - min) as f64;
    let shown = (high + (high - median) * BEYOND_P99).min(max as f64) - min as f64;
    min as f64 + shown.max(range * f64::from(BARS) / MOST_BARS)
}

/// Returns the mean \[s\] of samples in ticks; `None` without a sample.
pub(super) fn mean_time(moments: &Moments, clock: Clock, level: f64) -> Option<Measured> {
    let interval = moments.mean_estimate(level).map(Interval::from);
    Some(Measured::new(moments.mean_ticks(), moments.count(), level, interval)?.scaled(clock.tick()))
}

impl Histogram {
    /// Returns bars from the shortest sample to a bit beyond the 99th percentile.
    fn new(samples: &TickHistogram, clock: Clock) -> Self {
        let (Some(min), Some(max)) = (samples.min(), samples.max()) else { return Self::default() };
        if min == max {
            let at = clock.seconds(min);
            return Self { bars: vec![Bar { low: at, high: at, count: samples.count() }], above: 0 };
        }
        let range = (max - min) as f64;
        let shown = drawn_to(samples, min, max) - min as f64;
        let bins = (range / shown * f64::from(BARS)).ceil().max(f64::from(BARS));
        let bins = samples.rebin(bins as usize);
        let (drawn, tail) = bins.split_at(bins.len().min(BARS as usize));
        let second = |ticks: f64| ticks * clock.tick();
        Self {
            bars: drawn.iter().map(|b| Bar { low: second(b.low), high: second(b.high), count: b.count }).collect(),
            above: tail.iter().map(|b| b.count).sum(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn distribution(samples: impl Iterator<Item = u64>) -> Option<Distribution> {
        let (mut moments, mut histogram) = (Moments::default(), TickHistogram::default());
        for sample in samples {
            moments.push(sample);
            histogram.push(sample);
        }
        Distribution::new(&moments, &histogram, Clock { exponent: -1, extra_bits: 0, wide: false }, 0.95)
    }

    #[test]
    fn ticks_become_seconds() {
        let time = distribution(0..=100).unwrap();
        assert_eq!((time.min, time.max), (Some(0.0), Some(50.0)));
        assert_eq!((time.mean.value, time.quantile(0.5)), (25.0, Some(25.0)));
        let [low, high] = time.mean.ends().unwrap();
        assert!((low + high - 50.0).abs() < 1e-9 && low < 25.0);
    }

    #[test]
    fn long_tails_are_counted_not_drawn() {
        let time = distribution((0..100_000_u64).map(|i| 100_000_000_000 / (i + 1))).unwrap();
        let bars: u64 = time.histogram.bars.iter().map(|bar| bar.count).sum();
        assert_eq!(time.histogram.bars.len(), 60);
        assert_eq!(bars + time.histogram.above, 100_000);
        assert!(time.histogram.above < 1_000 && time.histogram.above > 100, "{}", time.histogram.above);
    }

    /// Share of the samples up to a time, counted one by one.
    fn share(samples: impl Iterator<Item = u64>, time_s: f64) -> (u64, u64) {
        samples.fold((0, 0), |(below, all), ticks| (below + u64::from(ticks as f64 * 0.5 <= time_s), all + 1))
    }

    #[test]
    fn the_line_is_the_share_of_the_samples_with_its_interval() {
        // the longest are a tenth apart: each is a point of the line
        let samples = || (0..4_000_u64).map(|i| 8_000_000 / (i + 10));
        let time = distribution(samples()).unwrap();
        assert!(time.curve.is_sorted_by(|a, b| a.time_s < b.time_s && a.probability <= b.probability));
        for point in &time.curve {
            let (below, all) = share(samples(), point.time_s);
            assert!((point.probability - below as f64 / all as f64).abs() < 2e-3, "{point:?}");
            let counted = (point.probability * all as f64).round() as u64;
            let interval = clopper_pearson(counted, all, 0.95).unwrap();
            assert_eq!((point.low, point.high), (Some(interval.low), Some(interval.high)));
        }
        let (first, last) = (time.curve[0], time.curve[time.curve.len() - 1]);
        assert_eq!((Some(first.time_s), Some(last.time_s), last.probability), (time.min, time.max, 1.0));
        // a tail of 4000 samples is seen down to a few of them
        let rare = time.curve.iter().filter(|point| (0.0..0.001).contains(&(1.0 - point.probability))).count();
        assert!(rare > 3 && time.curve.len() < 150, "{rare} of {}", time.curve.len());
    }

    #[test]
    fn one_sample_has_a_value_without_an_interval() {
        let time = distribution(std::iter::once(8)).unwrap();
        assert_eq!((time.mean.value, time.mean.ends()), (4.0, None));
        assert!(time.mean.reason().is_some() && time.sd.is_none());
        assert_eq!(distribution(std::iter::empty()), None);
    }
}
