//! Decides whether one point meets a deadline: replicates until a confidence interval is on one side of the deadline.
//!
//! Implements the sequential test. It does not simulate; the caller supplies the times of replications.

use serde::{Deserialize, Serialize};

use crate::estimate::{
    EstimateError, FloatMoments, Interval, Measured, clopper_pearson, quantile_interval_of_sorted, quantile_of_sorted,
};

/// The statistic of the time that is compared with the deadline.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Measure {
    /// The mean.
    Mean,
    /// A quantile, in (0, 1).
    Quantile(f64),
}

impl Measure {
    /// Reads `mean`, or `p` and a percentage above 0 and below 100: `p95`, `p99.9`.
    pub fn parse(text: &str) -> Option<Self> {
        if text == "mean" {
            return Some(Self::Mean);
        }
        let percent: f64 = text.strip_prefix('p')?.parse().ok()?;
        (percent > 0.0 && percent < 100.0).then_some(Self::Quantile(percent / 100.0))
    }

    /// Returns the text that [`Self::parse`] reads.
    pub fn name(self) -> String {
        match self {
            Self::Mean => "mean".to_owned(),
            // the percentage as it was written, without rounding errors of the division
            Self::Quantile(q) => format!("p{}", (q * 1e10).round() / 1e8),
        }
    }

    /// Returns the value of the statistic for some times \[s\].
    ///
    /// # Errors
    ///
    /// There are no times.
    pub fn of(self, times: &[f64]) -> Result<f64, EstimateError> {
        match self {
            Self::Mean => {
                let moments: FloatMoments = times.iter().copied().collect();
                moments.mean().ok_or(EstimateError::TooFewSamples { got: 0, need: 1 })
            }
            Self::Quantile(q) => {
                let mut sorted = times.to_vec();
                sorted.sort_unstable_by(f64::total_cmp);
                quantile_of_sorted(&sorted, q)
            }
        }
    }
}

/// Decision about a point.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// The measure is at most the deadline.
    Meets,
    /// The measure is above the deadline.
    Fails,
    /// Undecided: the interval is within the indifference zone around the deadline, or the allowed replications did not suffice.
    Undecided,
    /// The caller stopped before anything was decided.
    Stopped,
}

impl Verdict {
    /// Returns the word in results.
    pub fn name(self) -> &'static str {
        match self {
            Self::Meets => "meets",
            Self::Fails => "fails",
            Self::Undecided => "undecided",
            Self::Stopped => "stopped",
        }
    }
}

/// A verdict and the interval that supports it.
#[derive(Clone, Debug, PartialEq)]
pub struct Judgement {
    /// The decision.
    pub verdict: Verdict,
    /// The measure over all replications \[s\]; none without replications, and without an interval if there were too few.
    pub time_s: Option<Measured>,
    /// Confidence level of the intervals, corrected for the number of points and of checks of the interval.
    pub level: f64,
    /// Number of replications.
    pub replications: u64,
    /// Number of looks: times that the interval was checked.
    pub looks: u32,
    /// Probability of finishing by the deadline; none without replications.
    pub done_by_deadline: Option<Measured>,
}

/// Settings of the decision about a point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Judge {
    /// Statistic that is compared with the deadline.
    pub measure: Measure,
    /// The deadline \[s\].
    pub deadline_s: f64,
    /// Probability with which the verdict may be wrong, in (0, 1).
    pub error: f64,
    /// Half width of the indifference zone, as a share of the deadline, >= 0.
    pub indifference: f64,
    /// Replications at the first look, >= 2. Each look doubles them.
    pub first: u64,
    /// Replications after which the point stays undecided.
    pub most: u64,
}

impl Judge {
    /// Judges a point. `more(first, count)` returns the times \[s\] of the replications `first .. first + count`, or none to stop.
    ///
    /// ```text
    /// look k = 1, 2, ...: interval at level 1 − 2 α / (k (k + 1))
    /// upper end <= deadline: meets;   lower end > deadline: fails;   both ends within deadline (1 ± δ): undecided
    /// ```
    ///
    /// Σ α / (k (k + 1)) = α: for any number of looks, the probability of a wrong verdict is at
    /// most α, because only one end of the interval can be wrong. For quantiles, the intervals use
    /// order statistics and are exact for any distribution; for the mean, they are Student's and
    /// rely on the central limit theorem.
    ///
    /// # Errors
    ///
    /// The errors of `more`.
    pub fn judge<E>(&self, mut more: impl FnMut(u64, u64) -> Result<Option<Vec<f64>>, E>) -> Result<Judgement, E> {
        let mut times: Vec<f64> = Vec::new();
        let mut moments = FloatMoments::default();
        let mut judgement = Judgement {
            verdict: Verdict::Stopped,
            time_s: None,
            level: 1.0 - self.error,
            replications: 0,
            looks: 0,
            done_by_deadline: None,
        };
        loop {
            let done = times.len() as u64;
            let wanted = if done == 0 { self.first } else { done }.min(self.most.saturating_sub(done));
            let Some(found) = more(done, wanted)? else { return Ok(judgement) };
            moments.extend(found.iter().copied());
            times.extend(found);
            let look = judgement.looks + 1;
            let level = 1.0 - 2.0 * self.error / (f64::from(look) * f64::from(look + 1));
            let interval = self.interval(&mut times, &moments, level);
            let done = times.iter().filter(|time| **time <= self.deadline_s).count() as u64;
            judgement = Judgement {
                verdict: Verdict::Undecided,
                time_s: match interval {
                    Some(interval) => Some(interval.into()),
                    None => judgement.time_s.map(|time| Measured::between(time.value, None, None)),
                },
                level,
                replications: times.len() as u64,
                looks: look,
                done_by_deadline: clopper_pearson(done, times.len() as u64, level).ok().map(Measured::from),
            };
            let zone = self.indifference * self.deadline_s;
            if let Some(Interval { low, high, .. }) = interval {
                if high <= self.deadline_s {
                    return Ok(Judgement { verdict: Verdict::Meets, ..judgement });
                }
                if low > self.deadline_s {
                    return Ok(Judgement { verdict: Verdict::Fails, ..judgement });
                }
                if low >= self.deadline_s - zone && high <= self.deadline_s + zone {
                    return Ok(judgement);
                }
            }
            if judgement.replications >= self.most {
                return Ok(judgement);
            }
        }
    }

    /// Returns the measure and its interval; none with too few times. Sorts the times if necessary.
    fn interval(&self, times: &mut [f64], moments: &FloatMoments, level: f64) -> Option<Interval> {
        match self.measure {
            Measure::Mean => moments.mean_estimate(level).ok().map(Interval::from),
            Measure::Quantile(q) => {
                times.sort_unstable_by(f64::total_cmp);
                quantile_interval_of_sorted(times, q, level).ok()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{SeedableRng, rngs::StdRng};
    use rand_distr::{Distribution, Exp1};
    use std::convert::Infallible;

    const JUDGE: Judge = Judge {
        measure: Measure::Quantile(0.9),
        deadline_s: 0.0,
        error: 0.05,
        indifference: 0.0,
        first: 100,
        most: 3200,
    };

    fn judge(judge: Judge, seed: u64) -> Judgement {
        let mut rng = StdRng::seed_from_u64(seed);
        let more = |_, count| Ok::<_, Infallible>(Some((0..count).map(|_| Exp1.sample(&mut rng)).collect()));
        judge.judge(more).unwrap()
    }

    /// If the measure is exactly the deadline, wrong verdicts in each direction stay rare over all looks.
    #[test]
    fn looking_again_and_again_errs_no_more_often_than_allowed() {
        for (measure, truth) in [(Measure::Quantile(0.9), 10.0_f64.ln()), (Measure::Mean, 1.0)] {
            let at = |deadline_s, wrong: Verdict| {
                let verdict =
                    |seed| judge(Judge { measure, deadline_s, first: 100, most: 1600, ..JUDGE }, seed).verdict;
                (0..800).filter(|&seed| verdict(seed) == wrong).count()
            };
            // at most 40 are expected; the binomial standard error is 6
            let meets = at(truth * 0.999_999, Verdict::Meets);
            assert!(meets <= 70 && meets > 2, "{measure:?}: {meets}");
            let fails = at(truth * 1.000_001, Verdict::Fails);
            assert!(fails <= 70 && fails > 2, "{measure:?}: {fails}");
        }
    }

    /// The probability of an error at any look is at most the sum over the looks of (1 - level) / 2, for the wrong side of the deadline.
    /// All looks together must not spend more than the error, nor much less. This test fails with 2 / k instead of 2 / (k (k + 1)).
    #[test]
    fn all_looks_together_spend_the_error() {
        let at_look = |looks: u32| {
            let most = 100 << (looks - 1);
            judge(Judge { deadline_s: 10.0_f64.ln(), error: 0.01, most, ..JUDGE }, 2)
        };
        let judgements: Vec<Judgement> = (1..=8).map(at_look).collect();
        assert!((1..).zip(&judgements).all(|(k, found)| found.looks == k), "{judgements:?}");
        let spent: f64 = judgements.iter().map(|found| 0.5 * (1.0 - found.level)).sum();
        assert!(spent < 0.01 && spent > 0.008, "{spent}");
    }

    /// Times of 199 s and 201 s around a deadline of 200 s: at the first look, the half width of 0.3 s is within 1% of the deadline (2 s).
    /// This test fails if the zone is in seconds.
    #[test]
    fn the_indifference_is_a_share_of_the_deadline() {
        let settings = Judge { measure: Measure::Mean, deadline_s: 200.0, indifference: 0.01, ..JUDGE };
        let times = |count: u64| (0..count).map(|i| if i % 2 == 0 { 199.0 } else { 201.0 }).collect();
        let found = settings.judge(|_, count| Ok::<_, Infallible>(Some(times(count)))).unwrap();
        assert_eq!((found.verdict, found.looks), (Verdict::Undecided, 1));
    }

    #[test]
    fn times_far_from_the_deadline_are_decided_early() {
        let far = judge(Judge { deadline_s: 3.0, ..JUDGE }, 1);
        assert_eq!((far.verdict, far.looks <= 3), (Verdict::Meets, true), "{far:?}");
        assert!(far.time_s.unwrap().ends().unwrap()[1] <= 3.0);
        let far = judge(Judge { deadline_s: 1.5, ..JUDGE }, 1);
        assert_eq!(far.verdict, Verdict::Fails);
        assert!(far.time_s.unwrap().ends().unwrap()[0] > 1.5);
        let near = judge(Judge { deadline_s: 10.0_f64.ln(), indifference: 0.2, most: 1 << 20, ..JUDGE }, 1);
        assert!(near.verdict == Verdict::Undecided && near.replications < 10_000, "{near:?}");
        let spent = judge(Judge { deadline_s: 10.0_f64.ln(), ..JUDGE }, 1);
        assert_eq!((spent.verdict, spent.replications, spent.looks), (Verdict::Undecided, 3200, 6));
    }

    #[test]
    fn constant_times_are_compared_with_the_deadline_directly() {
        let constant = |deadline_s| {
            let judge = Judge { deadline_s, ..JUDGE };
            judge.judge(|_, count| Ok::<_, Infallible>(Some(vec![5.0; count as usize]))).unwrap().verdict
        };
        assert_eq!((constant(5.0), constant(4.999), constant(6.0)), (Verdict::Meets, Verdict::Fails, Verdict::Meets));
    }

    #[test]
    fn measures_have_names() {
        for name in ["mean", "p50", "p95", "p99.9", "p99.99"] {
            assert_eq!(Measure::parse(name).unwrap().name(), name);
        }
        for wrong in ["", "p", "p0", "p100", "95", "pNaN", "median", "p-5"] {
            assert_eq!(Measure::parse(wrong), None, "{wrong}");
        }
    }
}
