//! Job times of a future run: simulated times of a typical run, multiplied by the run-to-run factor.
//!
//! Let s be the plan's `sigma`, ν its degrees of freedom, r its number of runs, and e the relative error of the
//! fitted times. Then the logarithm of a new run's factor is √(s²(1 + 1/r) + e²) times a Student's t variate with ν
//! degrees of freedom. This is the predictive distribution of a normal variate with estimated mean and spread. The job
//! time is the product with an independent simulated time.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::estimate::{Bin, Doubt, Measured, TickHistogram, clopper_pearson, student_quantile};
use crate::time::Student;

/// Maximum relative width of the bars that represent times.
const BAR: f64 = 1.0 / 512.0;
/// Minimum number of bars between the shortest and the longest time, unless they are within the precision of a histogram.
const BARS: f64 = 500.0;
/// Maximum number of parts of a bar in which the factor's distribution is evaluated.
const PARTS: f64 = 16.0;
/// Relative precision of a quantile.
const PRECISION: f64 = 1e-9;

/// Spread between whole runs: the logarithm of a run's factor is normal, estimated from a few runs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct RunSpread {
    /// Standard deviation of the logarithm of a run's factor on all task times, >= 0.
    pub sigma: f64,
    /// Degrees of freedom of `sigma`, >= 1.
    pub degrees_of_freedom: f64,
    /// Number of runs whose mean determines the times of the plan, >= 1.
    pub runs: u32,
}

impl RunSpread {
    /// No spread: whole runs do not differ.
    pub const NONE: Self = Self { sigma: 0.0, degrees_of_freedom: 4.0, runs: 1 };
}

impl Default for RunSpread {
    /// Returns the assumption in the absence of data: whole runs differ by 15%, with the weight of four runs.
    fn default() -> Self {
        Self { sigma: 0.15, degrees_of_freedom: 4.0, runs: 1 }
    }
}

/// The distribution of the factor between a future run and a typical run.
#[derive(Clone)]
pub struct RunFactor {
    /// Scale of the factor's logarithm.
    pub scale: f64,
    /// Degrees of freedom.
    pub freedom: f64,
    /// The distribution of the logarithm divided by the scale; none if runs do not differ.
    student: Option<Arc<Student>>,
}

impl fmt::Debug for RunFactor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RunFactor").field("scale", &self.scale).field("freedom", &self.freedom).finish_non_exhaustive()
    }
}

impl PartialEq for RunFactor {
    fn eq(&self, other: &Self) -> bool {
        (self.scale, self.freedom) == (other.scale, other.freedom)
    }
}

impl RunFactor {
    /// Builds the factor of a plan; `error` is the relative standard error of the job time due to its fitted times.
    pub fn new(spread: &RunSpread, error: f64) -> Self {
        let runs = f64::from(spread.runs.max(1));
        let scale = (spread.sigma * spread.sigma * (1.0 + 1.0 / runs) + error * error).sqrt();
        let freedom = spread.degrees_of_freedom.max(1.0);
        Self { scale, freedom, student: (scale > 0.0).then(|| Student::with_freedom(freedom)) }
    }

    /// Returns true if runs do not differ.
    pub fn is_constant(&self) -> bool {
        self.student.is_none()
    }

    /// Returns the factor that a random word draws.
    pub fn draw(&self, word: u32) -> f64 {
        self.student.as_ref().map_or(1.0, |student| libm::exp(self.scale * student.draw(word)))
    }
}

/// Times of a typical run, uniform on the logarithmic scale between two times.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Bar {
    low_s: f64,
    high_s: f64,
    /// Logarithm of `low_s`; minus infinity at 0.
    log_low: f64,
    /// Difference of the logarithms.
    width: f64,
    weight: f64,
}

impl Bar {
    fn new(low_s: f64, high_s: f64, weight: f64) -> Self {
        let log_low = libm::log(low_s.max(0.0));
        let width = if low_s > 0.0 { libm::log(high_s / low_s) } else { 0.0 };
        Self { low_s, high_s, log_low, width, weight }
    }

    /// Returns the mean time \[s\].
    fn mean_s(&self) -> f64 {
        // below this width, the mean of the logarithmic scale is the middle
        if self.width > 1e-6 { (self.high_s - self.low_s) / self.width } else { f64::midpoint(self.low_s, self.high_s) }
    }

    /// Returns the probability that a typical time of the bar, times the factor, is at most e^`log` seconds; minus infinity is 0 s.
    fn within(&self, log: f64, factor: &RunFactor) -> f64 {
        // no time: also at 0 s
        if self.log_low == f64::NEG_INFINITY {
            return 1.0;
        }
        let (near, width) = (log - self.log_low, self.width);
        let Some(student) = &factor.student else {
            return if width > 0.0 { (near / width).clamp(0.0, 1.0) } else { f64::from(u8::from(near >= 0.0)) };
        };
        // two Gauss points in each part of at most the factor's scale
        let parts = (width / factor.scale).ceil().clamp(1.0, PARTS);
        let part = width / parts;
        let at = |i: f64, place: f64| student.cdf((near - part * (i + place)) / factor.scale);
        let sum: f64 = (0..parts as u32).map(|i| at(i.into(), GAUSS) + at(i.into(), 1.0 - GAUSS)).sum();
        0.5 * sum / parts
    }
}

/// The first of the two Gauss points of an interval of length 1: (1 − 1/√3) / 2.
const GAUSS: f64 = 0.211_324_865_405_187_13;

/// The distribution of the job time of a future run.
#[derive(Clone, Debug, PartialEq)]
pub struct JobTimes {
    /// Times of a typical run, ascending.
    bars: Vec<Bar>,
    factor: RunFactor,
    /// The distribution is wider than the model says, because the model does not reproduce its runs; none if it does.
    stretch: Option<Stretch>,
}

/// Factors by which times are farther from the median than the model says, on a logarithmic scale.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Stretch {
    median_s: f64,
    below: f64,
    above: f64,
}

impl Stretch {
    /// Returns the time of the stretched distribution for a time of the model \[s\].
    fn outer(self, seconds: f64) -> f64 {
        let ratio = seconds / self.median_s;
        self.median_s * ratio.powf(if ratio < 1.0 { self.below } else { self.above })
    }

    /// Returns the time of the model for a time of the stretched distribution \[s\].
    fn inner(self, seconds: f64) -> f64 {
        let ratio = seconds / self.median_s;
        self.median_s * ratio.powf(1.0 / if ratio < 1.0 { self.below } else { self.above })
    }
}

impl JobTimes {
    /// Combines times of a typical run, ascending, with the factor. Returns `None` without times.
    fn of_bars(mut bars: Vec<Bar>, factor: RunFactor) -> Option<Self> {
        bars.retain(|bar| bar.weight > 0.0);
        let all: f64 = bars.iter().map(|bar| bar.weight).sum();
        bars.iter_mut().for_each(|bar| bar.weight /= all);
        (!bars.is_empty()).then_some(Self { bars, factor, stretch: None })
    }

    /// Combines a histogram of simulated times in ticks of `tick` seconds with the factor. Returns `None` without times.
    pub fn from_histogram(times: &TickHistogram, tick: f64, factor: RunFactor) -> Option<Self> {
        let (least, most) = times.range()?;
        let range = if least > 0 { (most as f64 / least as f64).ln() } else { f64::INFINITY };
        let bar = |bin: Bin| Bar::new(bin.low * tick, bin.high * tick, bin.count as f64);
        let bars = times.narrow_bars(BAR.min(range / BARS));
        Self::of_bars(bars.into_iter().map(bar).collect(), factor)
    }

    /// Combines the exact times of a typical run with the factor: `cdf` returns the probability of a time \[s\], and `ends` are times below and above
    /// which there is hardly any, > 0. Returns `None` if there are no such times.
    pub fn from_cdf(cdf: impl Fn(f64) -> Option<f64>, [least, most]: [f64; 2], factor: RunFactor) -> Option<Self> {
        let range = (least > 0.0 && most >= least).then(|| (most / least).ln())?;
        // `as` is fine: clamped
        let count = (range / BAR).clamp(1.0, BARS) as u32;
        let at = |i: u32| if i == count { most } else { least * (range * f64::from(i) / f64::from(count)).exp() };
        let mut bars = Vec::new();
        let mut below = 0.0;
        for i in 0..count {
            let until = if i + 1 == count { 1.0 } else { cdf(at(i + 1))? };
            bars.push(Bar::new(at(i), at(i + 1), until - below));
            below = f64::max(below, until);
        }
        Self::of_bars(bars, factor)
    }

    /// Returns the distribution with times that are `below` times as far below the median, and `above` times as far above it, on a logarithmic scale.
    #[must_use]
    pub fn stretched(mut self, [below, above]: [f64; 2]) -> Self {
        self.stretch = None;
        let stretch = Stretch { median_s: self.quantile(0.5), below, above };
        self.stretch = ((below > 1.0 || above > 1.0) && stretch.median_s > 0.0).then_some(stretch);
        self
    }

    /// Returns the times with another factor between runs.
    #[must_use]
    pub fn with_factor(self, factor: RunFactor) -> Self {
        Self { factor, ..self }
    }

    /// Returns the factor between runs.
    pub fn factor(&self) -> &RunFactor {
        &self.factor
    }

    /// Returns the mean of a typical run \[s\], for a factor of 1.
    pub fn usual_mean(&self) -> f64 {
        self.bars.iter().map(|bar| bar.mean_s() * bar.weight).sum()
    }

    /// Returns the mean job time of the next run \[s\], as if the factor between runs were lognormal; of a widened distribution, the mean of its middle
    /// 99%.
    pub fn mean_s(&self) -> f64 {
        const PARTS: u32 = 200;
        let at = |i: u32| self.quantile(0.005 + 0.99 * (f64::from(i) + 0.5) / f64::from(PARTS));
        match self.stretch {
            Some(_) => (0..PARTS).map(at).sum::<f64>() / f64::from(PARTS),
            None => self.usual_mean() * (0.5 * self.factor.scale * self.factor.scale).exp(),
        }
    }

    /// Returns the probability that the job finishes within `seconds`.
    pub fn cdf(&self, seconds: f64) -> f64 {
        self.within(self.log_of(seconds))
    }

    /// Returns the probability that the model's job finishes within e^`log` seconds.
    fn within(&self, log: f64) -> f64 {
        // a sum of weights may be rounded to a number above 1
        self.bars.iter().map(|bar| bar.weight * bar.within(log, &self.factor)).sum::<f64>().clamp(0.0, 1.0)
    }

    /// Returns the probability that the job finishes within `seconds`, with its interval at confidence `level` given `samples` simulated times.
    ///
    /// The result is the mean of a probability per simulated time, and the interval is Student's. If runs do not
    /// differ, the interval is exact binomial.
    pub fn done_by(&self, seconds: f64, samples: u64, level: f64) -> Measured {
        let mean = self.cdf(seconds);
        if self.factor.is_constant() {
            let done = (mean * samples as f64).round() as u64;
            let interval = clopper_pearson(done, samples, level).ok();
            return interval.map_or_else(|| Measured::between(mean, None, None), Measured::from);
        }
        let log = self.log_of(seconds);
        let deviation = |bar: &Bar| bar.weight * (bar.within(log, &self.factor) - mean).powi(2);
        let variance: f64 = self.bars.iter().map(deviation).sum();
        let half = student_quantile(0.5 + 0.5 * level, samples as f64 - 1.0) * (variance / samples as f64).sqrt();
        let doubt = Doubt::Interval { low: (mean - half).max(0.0), high: (mean + half).min(1.0) };
        Measured { value: mean, doubt, level, samples }
    }

    /// Returns the logarithm of the model's time for a time \[s\].
    fn log_of(&self, seconds: f64) -> f64 {
        let seconds = seconds.max(0.0);
        libm::log(self.stretch.map_or(seconds, |stretch| stretch.inner(seconds)))
    }

    /// Returns the time \[s\] within which the job finishes with probability `p`.
    pub fn quantile(&self, p: f64) -> f64 {
        let time_s = self.of_model(p);
        self.stretch.map_or(time_s, |stretch| stretch.outer(time_s))
    }

    /// Returns the time \[s\] within which the model's job finishes with probability `p`.
    fn of_model(&self, p: f64) -> f64 {
        let least = self.bars.first().map_or(0.0, |bar| bar.low_s);
        let most = self.bars.last().map_or(0.0, |bar| bar.high_s);
        if self.factor.is_constant() {
            let mut left = p;
            for bar in &self.bars {
                if left <= bar.weight {
                    return bar.low_s * (bar.high_s / bar.low_s.max(f64::MIN_POSITIVE)).powf(left / bar.weight);
                }
                left -= bar.weight;
            }
            return most;
        }
        let reach = (self.factor.scale * student_quantile(p, self.factor.freedom)).exp();
        // the quantile of a product of independent factors is between these two, for p far from the middle; else a search widens them
        let (mut low, mut high) = (least * reach, most * reach);
        while low > 0.0 && self.within(libm::log(low)) > p {
            low *= 0.5;
        }
        while high > 0.0 && high.is_finite() && self.within(libm::log(high)) < p {
            high *= 2.0;
        }
        let (mut low_gap, mut high_gap) = (self.within(libm::log(low)) - p, self.within(libm::log(high)) - p);
        // regula falsi; if one end stays, its gap counts half (Illinois)
        for _ in 0..200 {
            if high - low <= PRECISION * high || high_gap <= low_gap {
                break;
            }
            let middle = (high - high_gap * (high - low) / (high_gap - low_gap)).clamp(low, high);
            let middle = if middle > low && middle < high { middle } else { f64::midpoint(low, high) };
            let gap = self.within(libm::log(middle)) - p;
            if gap < 0.0 {
                (low, low_gap, high_gap) = (middle, gap, 0.5 * high_gap);
            } else {
                (high, high_gap, low_gap) = (middle, gap, 0.5 * low_gap);
            }
        }
        high
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Times \[s\] with their weights.
    fn of_times(times: &[(f64, f64)], factor: RunFactor) -> Option<JobTimes> {
        let bar = |&(time, weight): &(f64, f64)| Bar::new(time, time, weight);
        let mut bars: Vec<Bar> = times.iter().map(bar).collect();
        bars.sort_by(|a, b| a.low_s.total_cmp(&b.low_s));
        JobTimes::of_bars(bars, factor)
    }

    #[test]
    fn a_constant_job_has_the_quantiles_of_the_run_factor() {
        let spread = RunSpread { sigma: 0.2, degrees_of_freedom: 6.0, runs: 3 };
        let times = of_times(&[(10.0, 1.0)], RunFactor::new(&spread, 0.1)).unwrap();
        let scale = (0.04_f64 * 4.0 / 3.0 + 0.01).sqrt();
        for p in [0.05, 0.25, 0.5, 0.9, 0.95] {
            let exact = 10.0 * (scale * student_quantile(p, 6.0)).exp();
            assert!((times.quantile(p) / exact - 1.0).abs() < 1e-5, "{p}: {} {exact}", times.quantile(p));
            assert!((times.cdf(exact) - p).abs() < 1e-6);
        }
    }

    /// Exponential times of mean 10 and a factor with one degree of freedom, whose logarithm is Cauchy: the probability of an end within t, by a plain
    /// sum over a million values of the factor's angle. Fails for factors of a narrow or of a wide distribution if the times are a list.
    #[test]
    fn exact_times_and_the_factor_are_integrated() {
        let exponential = |t: f64| Some(-(-t / 10.0).exp_m1());
        for sigma in [1.0, 0.1, 0.01, 0.001] {
            let spread = RunSpread { sigma, degrees_of_freedom: 1.0, runs: u32::MAX };
            let times = JobTimes::from_cdf(exponential, [1e-5, 200.0], RunFactor::new(&spread, 0.0)).unwrap();
            assert!((times.usual_mean() - 10.0).abs() < 5e-3, "{}", times.usual_mean());
            for t in [1.0, 7.3, 10.0, 50.0] {
                let within = |angle: f64| -(-(t / (sigma * angle.tan()).exp()) / 10.0).exp_m1();
                let steps = 200_000;
                let angle = |i: i32| std::f64::consts::PI * ((f64::from(i) + 0.5) / f64::from(steps) - 0.5);
                let exact = (0..steps).map(|i| within(angle(i))).sum::<f64>() / f64::from(steps);
                assert!((times.cdf(t) - exact).abs() < 1e-4, "{sigma} {t}: {} {exact}", times.cdf(t));
                assert!((times.cdf(times.quantile(exact)) - exact).abs() < 1e-6, "{sigma} {t}");
            }
            assert!(times.cdf(f64::MAX) <= 1.0);
        }
    }

    /// Half of the jobs take 1 s, the others 9 s.
    #[test]
    fn exact_times_may_have_atoms() {
        let two = |t: f64| {
            Some(if t < 1.0 {
                0.0
            } else if t < 9.0 {
                0.5
            } else {
                1.0
            })
        };
        for sigma in [0.0, 0.01] {
            let spread = RunSpread { sigma, degrees_of_freedom: 30.0, runs: 9 };
            let times = JobTimes::from_cdf(two, [1.0, 9.0], RunFactor::new(&spread, 0.0)).unwrap();
            assert!((times.cdf(5.0) - 0.5).abs() < 1e-12, "{}", times.cdf(5.0));
        }
    }

    /// 20,000 normal times with a coefficient of variation of 0.2%: the probability of a deadline is the share of times before it.
    #[test]
    fn deadlines_of_nearly_constant_times_are_not_coarse() {
        let mut histogram = TickHistogram::default();
        let time = |i: i32| 1e7 * (1.0 + 0.002 * crate::estimate::normal_quantile((f64::from(i) + 0.5) / 20_000.0));
        (0..20_000).for_each(|i| histogram.push(time(i) as u64));
        let still = RunSpread { sigma: 0.0, ..RunSpread::default() };
        let times = JobTimes::from_histogram(&histogram, 1e-6, RunFactor::new(&still, 0.0)).unwrap();
        for part in [0.997, 0.9991, 1.0003, 1.002] {
            let exact = f64::from((0..20_000).filter(|&i| time(i) <= 1e7 * part).count() as u32) / 20_000.0;
            assert!((times.cdf(10.0 * part) - exact).abs() < 0.004, "{part}: {} {exact}", times.cdf(10.0 * part));
        }
    }

    /// Lognormal times around 10 s, stretched to be three times as far below and twice as far above the median.
    #[test]
    fn a_stretched_distribution_has_stretched_quantiles_and_their_probabilities() {
        let spread = RunSpread { sigma: 0.2, degrees_of_freedom: 6.0, runs: 3 };
        let times = of_times(&[(10.0, 1.0)], RunFactor::new(&spread, 0.1)).unwrap();
        let wide = times.clone().stretched([3.0, 2.0]);
        for p in [0.05, 0.25, 0.5, 0.9, 0.95] {
            let ratio: f64 = times.quantile(p) / 10.0;
            let exact = 10.0 * ratio.powf(if p < 0.5 { 3.0 } else { 2.0 });
            assert!((wide.quantile(p) / exact - 1.0).abs() < 1e-6, "{p}");
            assert!((wide.cdf(exact) - p).abs() < 1e-6 && (wide.done_by(exact, 9, 0.9).value - p).abs() < 1e-6, "{p}");
        }
        assert_eq!(times.clone().stretched([1.0, 1.0]), times);
        assert_eq!(wide.cdf(0.0), 0.0);
    }

    #[test]
    fn without_a_spread_the_times_are_those_simulated() {
        let still = RunSpread { sigma: 0.0, degrees_of_freedom: 4.0, runs: 1 };
        let times = of_times(&[(3.0, 2.0), (1.0, 1.0), (2.0, 1.0), (9.0, 0.0)], RunFactor::new(&still, 0.0)).unwrap();
        assert!((times.usual_mean() - 9.0 / 4.0).abs() < 1e-12);
        assert_eq!([0.5, 1.0, 2.0, 2.5, 3.0].map(|t| times.cdf(t)), [0.0, 0.25, 0.5, 0.5, 1.0]);
        assert!((times.quantile(0.4) - 2.0).abs() < 1e-9);
        assert_eq!(of_times(&[], RunFactor::new(&still, 0.0)), None);
    }
}
