//! Job times of a future run: simulated times of a typical run, multiplied by the run-to-run factor.
//!
//! Let s be the plan's `sigma`, ν its degrees of freedom, r its number of runs, and e the relative error of the
//! fitted times. Then the logarithm of a new run's factor is √(s²(1 + 1/r) + e²) times a Student's t variate with ν
//! degrees of freedom. This is the predictive distribution of a normal variate with estimated mean and spread. The job
//! time is the product with an independent simulated time.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::estimate::{Doubt, Measured, TickHistogram, clopper_pearson, student_quantile};
use crate::time::Student;

/// Relative width of the bars that represent simulated times.
const BAR: f64 = 1.0 / 512.0;
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

impl Default for RunSpread {
    /// Returns the assumption in the absence of data: whole runs differ by 15%, with the weight of four runs.
    fn default() -> Self {
        Self { sigma: 0.15, degrees_of_freedom: 4.0, runs: 1 }
    }
}

/// The distribution of the factor between a future run and a typical run.
#[derive(Clone, Debug)]
pub struct RunFactor {
    /// Scale of the factor's logarithm.
    pub scale: f64,
    /// Degrees of freedom.
    pub freedom: f64,
    /// The distribution of the logarithm divided by the scale; none if runs do not differ.
    student: Option<Arc<Student>>,
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

    /// Returns the probability that the factor is at most e^`log`.
    fn cdf(&self, log: f64) -> f64 {
        match &self.student {
            Some(student) => student.cdf(log / self.scale),
            None => f64::from(u8::from(log >= 0.0)),
        }
    }
}

/// The distribution of the job time of a future run.
#[derive(Clone, Debug, PartialEq)]
pub struct JobTimes {
    /// Times \[s\] of a typical run with their weights, ascending.
    times: Vec<(f64, f64)>,
    factor: RunFactor,
}

impl JobTimes {
    /// Combines simulated times \[s\] of a typical run, each with its count, with the factor. Returns `None` without times.
    pub fn new(mut times: Vec<(f64, f64)>, factor: RunFactor) -> Option<Self> {
        times.retain(|(_, weight)| *weight > 0.0);
        times.sort_by(|a, b| a.0.total_cmp(&b.0));
        let all: f64 = times.iter().map(|(_, weight)| weight).sum();
        times.iter_mut().for_each(|(_, weight)| *weight /= all);
        (!times.is_empty()).then_some(Self { times, factor })
    }

    /// Combines a histogram of simulated times in ticks of `tick` seconds with the factor. Returns `None` without times.
    pub fn from_histogram(times: &TickHistogram, tick: f64, factor: RunFactor) -> Option<Self> {
        let bars = times.narrow_bars(BAR).into_iter();
        Self::new(bars.map(|(ticks, count)| (ticks * tick, count as f64)).collect(), factor)
    }

    /// Combines the exact times of a typical run, given by their quantiles \[s\], with the factor. Returns `None` if there are none.
    ///
    /// The probability of an end within t is the integral over p of the probability that the factor is at most t / quantile(p). The integral is
    /// the trapezoidal rule after the substitution p = 1 / (1 + exp(−π sinh x)), which converges exponentially.
    pub fn from_quantiles(quantile: impl Fn(f64) -> Option<f64>, factor: RunFactor) -> Option<Self> {
        const STEP: f64 = 1.0 / 16.0;
        const NODES: i32 = 41; // to x = 2.56: 1e-9 lies beyond
        let node = |i: i32| {
            let x = f64::from(i) * STEP;
            let p = 1.0 / (1.0 + libm::exp(-std::f64::consts::PI * libm::sinh(x)));
            Some((quantile(p)?, p * (1.0 - p) * libm::cosh(x)))
        };
        Self::new((-NODES..=NODES).filter_map(node).collect(), factor)
    }

    /// Returns the factor between runs.
    pub fn factor(&self) -> &RunFactor {
        &self.factor
    }

    /// Returns the mean of a typical run \[s\], for a factor of 1.
    pub fn usual_mean(&self) -> f64 {
        self.times.iter().map(|(time, weight)| time * weight).sum()
    }

    /// Returns the probability that the job finishes within `seconds`.
    pub fn cdf(&self, seconds: f64) -> f64 {
        if self.factor.is_constant() {
            let done = self.times.partition_point(|(time, _)| *time <= seconds);
            // the sum of all weights may be rounded to a number above 1
            return if done == self.times.len() { 1.0 } else { self.times[..done].iter().map(|time| time.1).sum() };
        }
        let sum: f64 = self.times.iter().map(|(time, weight)| weight * self.chance(*time, seconds)).sum();
        sum.clamp(0.0, 1.0)
    }

    /// Returns the probability that a run whose typical time is `time` finishes within `seconds`.
    fn chance(&self, time: f64, seconds: f64) -> f64 {
        if time > 0.0 { self.factor.cdf(libm::log(seconds / time)) } else { f64::from(u8::from(seconds >= 0.0)) }
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
        let deviation = |(time, weight): &(f64, f64)| weight * (self.chance(*time, seconds) - mean).powi(2);
        let variance: f64 = self.times.iter().map(deviation).sum();
        let half = student_quantile(0.5 + 0.5 * level, samples as f64 - 1.0) * (variance / samples as f64).sqrt();
        let doubt = Doubt::Interval { low: (mean - half).max(0.0), high: (mean + half).min(1.0) };
        Measured { value: mean, doubt, level, samples }
    }

    /// Returns the time \[s\] within which the job finishes with probability `p`.
    pub fn quantile(&self, p: f64) -> f64 {
        let [least, most] = [self.times.first(), self.times.last()].map(|time| time.map_or(0.0, |time| time.0));
        if self.factor.is_constant() {
            let mut below = 0.0;
            let reached = |time: &&(f64, f64)| {
                below += time.1;
                below >= p
            };
            return self.times.iter().find(reached).map_or(most, |time| time.0);
        }
        let reach = (self.factor.scale * student_quantile(p, self.factor.freedom)).exp();
        // the quantile of a product of independent factors is between these two, for p far from the middle; else a search widens them
        let (mut low, mut high) = (least * reach, most * reach);
        while low > 0.0 && self.cdf(low) > p {
            low *= 0.5;
        }
        while high > 0.0 && high.is_finite() && self.cdf(high) < p {
            high *= 2.0;
        }
        let (mut low_gap, mut high_gap) = (self.cdf(low) - p, self.cdf(high) - p);
        // regula falsi; if one end stays, its gap counts half (Illinois)
        for _ in 0..200 {
            if high - low <= PRECISION * high || high_gap == low_gap {
                break;
            }
            let middle = (high - high_gap * (high - low) / (high_gap - low_gap)).clamp(low, high);
            let middle = if middle > low && middle < high { middle } else { f64::midpoint(low, high) };
            let gap = self.cdf(middle) - p;
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

    #[test]
    fn a_job_without_chance_has_the_factors_quantiles() {
        let spread = RunSpread { sigma: 0.2, degrees_of_freedom: 6.0, runs: 3 };
        let times = JobTimes::new(vec![(10.0, 1.0)], RunFactor::new(&spread, 0.1)).unwrap();
        let scale = (0.04_f64 * 4.0 / 3.0 + 0.01).sqrt();
        for p in [0.05, 0.25, 0.5, 0.9, 0.95] {
            let exact = 10.0 * (scale * student_quantile(p, 6.0)).exp();
            assert!((times.quantile(p) / exact - 1.0).abs() < 1e-5, "{p}: {} {exact}", times.quantile(p));
            assert!((times.cdf(exact) - p).abs() < 1e-6);
        }
    }

    /// Exponential times of mean 10 and a factor with one degree of freedom and scale 1, whose logarithm is Cauchy: the probability of an end within t,
    /// by a plain sum over a million values of the factor's angle.
    #[test]
    fn exact_times_and_the_factor_are_integrated() {
        let spread = RunSpread { sigma: 1.0, degrees_of_freedom: 1.0, runs: u32::MAX };
        let exponential = |p: f64| Some(-10.0 * (-p).ln_1p());
        let times = JobTimes::from_quantiles(exponential, RunFactor::new(&spread, 0.0)).unwrap();
        assert!((times.usual_mean() - 10.0).abs() < 1e-5, "{}", times.usual_mean());
        for t in [0.01, 1.0, 10.0, 50.0, 1e4] {
            let within = |angle: f64| -(-(t / angle.tan().exp()) / 10.0).exp_m1();
            let steps = 1_000_000;
            let angle = |i: i32| std::f64::consts::PI * ((f64::from(i) + 0.5) / f64::from(steps) - 0.5);
            let exact = (0..steps).map(|i| within(angle(i))).sum::<f64>() / f64::from(steps);
            assert!((times.cdf(t) - exact).abs() < 1e-6, "{t}: {} {exact}", times.cdf(t));
            assert!((times.quantile(exact) / t - 1.0).abs() < 1e-4, "{t}: {}", times.quantile(exact));
        }
        assert!(times.cdf(f64::MAX) <= 1.0);
    }

    #[test]
    fn without_a_spread_the_times_are_those_simulated() {
        let still = RunSpread { sigma: 0.0, degrees_of_freedom: 4.0, runs: 1 };
        let times =
            JobTimes::new(vec![(3.0, 2.0), (1.0, 1.0), (2.0, 1.0), (9.0, 0.0)], RunFactor::new(&still, 0.0)).unwrap();
        assert!((times.usual_mean() - 9.0 / 4.0).abs() < 1e-12);
        assert_eq!([0.5, 1.0, 2.0, 2.5, 3.0].map(|t| times.cdf(t)), [0.0, 0.25, 0.5, 0.5, 1.0]);
        assert!((times.quantile(0.4) - 2.0).abs() < 1e-9);
        assert_eq!(JobTimes::new(Vec::new(), RunFactor::new(&still, 0.0)), None);
    }
}
