//! Job times of a future run: simulated times of a typical run, multiplied by the run-to-run factor.
//!
//! Let s be the plan's `sigma`, ν its degrees of freedom, r its number of runs, and e the relative error of the
//! fitted times. Then the logarithm of a new run's factor is √(s²(1 + 1/r) + e²) times a Student's t variate with ν
//! degrees of freedom. This is the predictive distribution of a normal variate with estimated mean and spread. The job
//! time is the product with an independent simulated time.

use serde::{Deserialize, Serialize};

use crate::estimate::{Doubt, Measured, TickHistogram, clopper_pearson, student_quantile};

/// Number of equally likely factor values that represent the distribution.
const POINTS: u32 = 400;
/// Number of histogram bars that represent the simulated times.
const BARS: usize = 500;

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
#[derive(Clone, Debug, PartialEq)]
pub struct RunFactor {
    /// Scale of the factor's logarithm.
    pub scale: f64,
    /// Degrees of freedom.
    pub freedom: f64,
    /// Equally likely factors, ascending.
    points: Vec<f64>,
}

impl RunFactor {
    /// Builds the factor of a plan; `error` is the relative standard error of the job time due to its fitted times.
    pub fn new(spread: &RunSpread, error: f64) -> Self {
        let (scale, freedom) = scale_and_freedom(spread, error);
        Self { scale, freedom, points: (0..POINTS).map(|i| point(scale, freedom, i)).collect() }
    }

    /// Returns one of the equally likely factors without computing the others. It is selected by `share`, in [0, 1).
    pub fn at(spread: &RunSpread, error: f64, share: f64) -> f64 {
        let (scale, freedom) = scale_and_freedom(spread, error);
        // `as` is fine: below the number of points
        if scale > 0.0 { point(scale, freedom, (share * f64::from(POINTS)) as u32) } else { 1.0 }
    }
}

fn scale_and_freedom(spread: &RunSpread, error: f64) -> (f64, f64) {
    let runs = f64::from(spread.runs.max(1));
    let scale = (spread.sigma * spread.sigma * (1.0 + 1.0 / runs) + error * error).sqrt();
    (scale, spread.degrees_of_freedom.max(1.0))
}

/// Returns the quantile of the factor's logarithm at the middle of the `i`-th of the equally likely classes.
fn point(scale: f64, freedom: f64, i: u32) -> f64 {
    (scale * student_quantile((f64::from(i) + 0.5) / f64::from(POINTS), freedom)).exp()
}

impl RunFactor {
    /// Returns the equally likely factors that represent the distribution, ascending.
    pub fn points(&self) -> &[f64] {
        &self.points
    }
}

/// The distribution of the job time of a future run.
#[derive(Clone, Debug, PartialEq)]
pub struct JobTimes {
    /// Simulated times \[s\] of a typical run with their weights, ascending.
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
        let bars = times.rebin(BARS).into_iter();
        Self::new(bars.map(|bar| (f64::midpoint(bar.low, bar.high) * tick, bar.count as f64)).collect(), factor)
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
        let mut sum = 0.0;
        let mut next = 0;
        let mut below = 0.0;
        // the factors ascend, so the number of times within the limit falls
        for factor in self.factor.points.iter().rev() {
            while next < self.times.len() && self.times[next].0 * factor <= seconds {
                below += self.times[next].1;
                next += 1;
            }
            sum += below;
        }
        sum / self.factor.points.len() as f64
    }

    /// Returns the probability that the job finishes within `seconds`, with its interval at confidence `level` given `samples` simulated times.
    ///
    /// The result is the mean of a probability per simulated time, and the interval is Student's. If runs do not
    /// differ, the interval is exact binomial.
    pub fn done_by(&self, seconds: f64, samples: u64, level: f64) -> Measured {
        let factors = self.factor.points();
        let chance =
            |time: f64| factors.partition_point(|factor| time * factor <= seconds) as f64 / factors.len() as f64;
        let mean = self.cdf(seconds);
        if self.factor.scale == 0.0 {
            let done = (mean * samples as f64).round() as u64;
            let interval = clopper_pearson(done, samples, level).ok();
            return interval.map_or_else(|| Measured::between(mean, None, None), Measured::from);
        }
        let variance: f64 = self.times.iter().map(|(time, weight)| weight * (chance(*time) - mean).powi(2)).sum();
        let half = student_quantile(0.5 + 0.5 * level, samples as f64 - 1.0) * (variance / samples as f64).sqrt();
        let doubt = Doubt::Interval { low: (mean - half).max(0.0), high: (mean + half).min(1.0) };
        Measured { value: mean, doubt, level, samples }
    }

    /// Returns the time \[s\] within which the job finishes with probability `p`, by bisection. Approximate, because points represent the two
    /// distributions; the error is far below the uncertainty of the factor.
    pub fn quantile(&self, p: f64) -> f64 {
        let ends = |values: &[f64]| (values.first().copied().unwrap_or(1.0), values.last().copied().unwrap_or(1.0));
        let (least, most) = ends(&self.factor.points);
        let mut low = self.times.first().map_or(0.0, |t| t.0) * least;
        let mut high = self.times.last().map_or(0.0, |t| t.0) * most;
        for _ in 0..60 {
            let middle = f64::midpoint(low, high);
            if self.cdf(middle) < p { low = middle } else { high = middle }
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
            assert!((times.quantile(p) / exact - 1.0).abs() < 0.01, "{p}: {} {exact}", times.quantile(p));
        }
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
