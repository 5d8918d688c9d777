//! Comparison of policies: means and tails with intervals, and their changes relative to no speculation.
//!
//! All policies see the same random numbers, so differences are taken replication by replication. The times of a replay can be
//! lower bounds ([`Outcome::at_least`]); then so are their means and quantiles, and a change has only one end.

use crate::cluster::detect::DetectorPlan;
use crate::cluster::ensemble::PolicyRuns;
use crate::cluster::metrics::Metric;
use crate::cluster::outcome::Outcome;
use crate::cluster::plan::PolicyPlan;
use crate::estimate::{
    CompareError, EstimateError, FloatMoments, Interval, Measured, clopper_pearson, paired_difference, paired_ratio,
    quantile_interval_of_sorted, quantile_of_sorted,
};

/// A quantile of the job time.
#[derive(Clone, Debug, PartialEq)]
pub struct Tail {
    /// Probability of the quantile, in (0, 1).
    pub p: f64,
    /// The quantile \[s\].
    pub time_s: Measured,
}

/// Effect of a policy.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    /// Mean of the policy's value minus the value without speculation, in the unit of the value.
    pub difference: Measured,
    /// Ratio of the means; none if the mean without speculation is not separable from 0.
    pub ratio: Option<Measured>,
}

/// Results of a policy.
#[derive(Clone, Debug, PartialEq)]
pub struct PolicySummary {
    /// The policy.
    pub policy: PolicyPlan,
    /// Mean job time \[s\].
    pub job_s: Measured,
    /// 95% and 99% quantiles of the job time.
    pub tails: [Tail; 2],
    /// Probability of finishing by the deadline; none without a deadline.
    pub done: Option<Measured>,
    /// Energy of the cluster until the last job ends \[J\].
    pub energy_j: Measured,
    /// Slot-seconds of killed or lost attempts \[s\].
    pub wasted_s: Measured,
    /// Number of copies started.
    pub copies: Measured,
    /// Number of copies that finished before their original.
    pub won: Measured,
    /// Detector quality on the maps, in the order of [`Metric::ALL`]; pooled over the replications, with the interval of a ratio; none if undefined.
    pub metrics: [Option<Measured>; 6],
    /// Change of the job time \[s\]; none for the baseline.
    pub job_change: Option<Change>,
    /// Change of the energy \[J\]; none for the baseline.
    pub energy_change: Option<Change>,
}

/// Comparison of policies.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// Confidence level of all intervals.
    pub level: f64,
    /// Replications of each policy.
    pub replications: usize,
    /// The deadline \[s\], if any.
    pub deadline_s: Option<f64>,
    /// Position of the baseline policy: the first without a detector, or else the first.
    pub baseline: usize,
    /// Policies in the order of the plan.
    pub policies: Vec<PolicySummary>,
}

/// The quantiles of [`PolicySummary::tails`].
const TAILS: [f64; 2] = [0.95, 0.99];

/// Compares all policies with the first policy that has no detector. If every policy has a detector, compares with the
/// first policy.
///
/// # Errors
///
/// [`CompareError`] for fewer than two replications and for levels outside (0, 1).
pub fn compare(runs: &[PolicyRuns], level: f64) -> Result<Comparison, CompareError> {
    let baseline = runs.iter().position(|run| run.policy.detector == DetectorPlan::None).unwrap_or(0);
    let base = runs.get(baseline).map_or(&[][..], |run| &run.outcomes[..]);
    let summary = |(number, run): (usize, &PolicyRuns)| summarize(run, (number != baseline).then_some(base), level);
    Ok(Comparison {
        level,
        replications: base.len(),
        deadline_s: None,
        baseline,
        policies: runs.iter().enumerate().map(summary).collect::<Result<_, _>>()?,
    })
}

/// Returns the largest half-width among the changes of the mean job time, relative to the baseline's mean job time. It
/// measures how well the replications so far separate the policies. None for fewer than two replications or policies.
///
/// Approximate, as the intervals are.
pub fn widest_change(runs: &[PolicyRuns], level: f64) -> Option<f64> {
    let comparison = compare(runs, level).ok()?;
    let base = comparison.policies.get(comparison.baseline)?.job_s.value;
    let changes = comparison.policies.iter().filter_map(|policy| policy.job_change.as_ref());
    changes.filter_map(|change| Some(half_width(&change.difference)? / base)).reduce(f64::max)
}

/// Returns half the width of an interval; of a bound, the distance of its end from the value.
fn half_width(number: &Measured) -> Option<f64> {
    let [low, high] = number.ends()?;
    Some(if low.is_finite() { number.value - low } else { high - number.value }).filter(|half| half.is_finite())
}

impl Comparison {
    /// Adds the probability that each policy finishes by a deadline; `runs` are the runs that were compared.
    #[must_use]
    pub fn with_deadline(mut self, runs: &[PolicyRuns], deadline_s: Option<f64>) -> Self {
        self.deadline_s = deadline_s;
        let Some(deadline_s) = deadline_s else { return self };
        for (row, run) in self.policies.iter_mut().zip(runs) {
            row.done = done_by(&run.outcomes, deadline_s, self.level);
        }
        self
    }
}

/// Returns the probability of finishing by a deadline. A replication whose time is a lower bound may finish later.
fn done_by(outcomes: &[Outcome], deadline_s: f64, level: f64) -> Option<Measured> {
    let all = outcomes.len() as u64;
    let in_time = || outcomes.iter().filter(|outcome| outcome.job_s <= deadline_s);
    let most = clopper_pearson(in_time().count() as u64, all, level).ok()?;
    let certain = in_time().filter(|outcome| !outcome.at_least).count() as u64;
    let least = clopper_pearson(certain, all, level).ok()?;
    Some(Measured::from(Interval { low: least.low, ..most }))
}

/// Extracts one value from every outcome.
fn column(outcomes: &[Outcome], value: impl Fn(&Outcome) -> f64) -> Vec<f64> {
    outcomes.iter().map(value).collect()
}

fn summarize(run: &PolicyRuns, base: Option<&[Outcome]>, level: f64) -> Result<PolicySummary, CompareError> {
    let mean = |value: fn(&Outcome) -> f64| {
        let moments: FloatMoments = run.outcomes.iter().map(value).collect();
        moments.mean_estimate(level).map(Measured::from)
    };
    let least_bound = run.outcomes.iter().filter(|outcome| outcome.at_least).map(|outcome| outcome.job_s);
    let least_bound = least_bound.fold(f64::INFINITY, f64::min);
    let is_bound = least_bound.is_finite();
    let mut sorted = column(&run.outcomes, |outcome| outcome.job_s);
    sorted.sort_unstable_by(f64::total_cmp);
    let tail = |p| {
        let interval = quantile_interval_of_sorted(&sorted, p, level);
        let value = quantile_of_sorted(&sorted, p)?;
        let time_s = Measured::sampled(value, sorted.len() as u64, level, interval);
        // longer times in the upper part do not change a quantile
        let time_s = if value < least_bound { time_s } else { time_s.or_more() };
        Ok::<_, EstimateError>(Tail { p, time_s })
    };
    let [p95, p99] = TAILS;
    let change = |value: fn(&Outcome) -> f64| match base {
        Some(base) => change(&column(base, value), &column(&run.outcomes, value), level).map(Some),
        None => Ok(None),
    };
    let job_s = mean(|outcome| outcome.job_s)?;
    let base_is_bound = base.is_some_and(|base| base.iter().any(|outcome| outcome.at_least));
    Ok(PolicySummary {
        policy: run.policy.clone(),
        job_s: if is_bound { job_s.or_more() } else { job_s },
        tails: [tail(p95)?, tail(p99)?],
        done: None,
        energy_j: mean(|outcome| outcome.energy_j)?,
        wasted_s: mean(|outcome| outcome.wasted_s)?,
        copies: mean(|outcome| f64::from(outcome.copies))?,
        won: mean(|outcome| f64::from(outcome.won))?,
        metrics: Metric::ALL.map(|metric| pooled(&run.outcomes, metric, level)),
        job_change: change(|outcome| outcome.job_s)?.map(|change| change.between(base_is_bound, is_bound)),
        energy_change: change(|outcome| outcome.energy_j)?,
    })
}

fn change(base: &[f64], variant: &[f64], level: f64) -> Result<Change, CompareError> {
    let difference = paired_difference(base, variant, level)?.into();
    Ok(Change { difference, ratio: paired_ratio(base, variant, level).ok().map(Measured::from) })
}

impl Change {
    /// Returns the change of a time if the times of the baseline, or of the policy, are lower bounds. If a task takes longer
    /// than its minimum time, a policy with copies delays the job by at most as much as no policy, so the change from a bounded
    /// baseline is an upper bound.
    fn between(self, base_is_bound: bool, is_bound: bool) -> Self {
        let doubt = |number: Measured| match (base_is_bound, is_bound) {
            (false, false) => number,
            (false, true) => number.or_more(),
            (true, _) => number.or_less(),
        };
        Self { difference: doubt(self.difference), ratio: self.ratio.map(doubt) }
    }
}

/// Returns a metric of the maps of all replications: the sum of the numerators divided by the sum of the
/// denominators, with the interval of a ratio.
fn pooled(outcomes: &[Outcome], metric: Metric, level: f64) -> Option<Measured> {
    let (above, below): (Vec<f64>, Vec<f64>) = outcomes.iter().map(|outcome| outcome.maps.parts(metric)).unzip();
    paired_ratio(&below, &above, level).ok().map(Measured::from)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::metrics::Tally;

    fn runs(name: &str, detector: DetectorPlan, times: [f64; 4]) -> PolicyRuns {
        let outcome = |job_s| Outcome {
            job_s,
            energy_j: 10.0 * job_s,
            maps: Tally { true_positives: 3, false_alarms: 1, stragglers: 6, tasks: 12, ..Tally::default() },
            ..Outcome::default()
        };
        let policy = PolicyPlan { name: Some(name.to_owned()), detector, ..PolicyPlan::default() };
        PolicyRuns { policy, outcomes: times.map(outcome).to_vec() }
    }

    #[test]
    fn changes_are_taken_pair_by_pair() {
        let late = DetectorPlan::named("late").unwrap();
        let all =
            [runs("late", late, [8.0, 18.0, 28.0, 38.0]), runs("none", DetectorPlan::None, [10.0, 20.0, 30.0, 40.0])];
        let found = compare(&all, 0.95).unwrap();
        assert_eq!((found.baseline, found.replications), (1, 4));
        let change = found.policies[0].job_change.as_ref().unwrap();
        assert_eq!((change.difference.value, change.difference.half_width()), (-2.0, Some(0.0)));
        assert_eq!(found.policies[0].energy_change.as_ref().unwrap().difference.value, -20.0);
        assert_eq!(found.policies[1].job_change, None);
        let precision = found.policies[0].metrics[0].as_ref().unwrap();
        assert_eq!((precision.value, precision.half_width()), (0.75, Some(0.0)));
        assert_eq!(found.policies[0].metrics[1].as_ref().unwrap().value, 0.5);
        assert_eq!(found.policies[0].metrics[4], None);
        assert_eq!(found.policies[0].tails[0].p, 0.95);
    }

    /// Of four replications of a replay, the times of the longest two are lower bounds: so are the mean and the p95.
    #[test]
    fn times_of_tasks_that_a_copy_overtook_are_lower_bounds() {
        let mut none = runs("none", DetectorPlan::None, [10.0, 20.0, 30.0, 40.0]);
        none.outcomes[2].at_least = true;
        none.outcomes[3].at_least = true;
        let known = runs("clone", DetectorPlan::Clone, [9.0, 18.0, 29.0, 38.0]);
        let found =
            compare(&[none.clone(), known.clone()], 0.95).unwrap().with_deadline(&[none.clone(), known], Some(35.0));
        let [none_row, clone] = &found.policies[..] else { panic!() };
        let [low, high] = none_row.job_s.ends().unwrap();
        assert!(low < 25.0 && high == f64::INFINITY, "{:?}", none_row.job_s);
        assert!(none_row.tails.iter().all(|tail| tail.time_s.ends().unwrap()[1] == f64::INFINITY), "{none_row:?}");
        assert!(clone.job_s.ends().unwrap()[1].is_finite());
        // 3 of 4 replications end by the deadline if the third is not longer, otherwise 2
        let done = |count| clopper_pearson(count, 4, 0.95).unwrap();
        assert_eq!(none_row.done.as_ref().unwrap().ends(), Some([done(2).low, done(3).high]));
        // the policy saves at least what it saves against the lower bounds
        let change = clone.job_change.as_ref().unwrap();
        assert_eq!(change.difference.ends().unwrap()[0], f64::NEG_INFINITY);
        assert!(change.difference.ends().unwrap()[1] > -1.5 && change.difference.ends().unwrap()[1] < 0.0);
        let both = compare(&[none.clone(), PolicyRuns { policy: clone.policy.clone(), ..none }], 0.95).unwrap();
        let change = both.policies[1].job_change.as_ref().unwrap();
        assert_eq!(change.difference.ends(), Some([f64::NEG_INFINITY, 0.0]));
    }

    #[test]
    fn the_widest_change_is_that_of_the_policy_whose_effect_varies_most() {
        let none = runs("none", DetectorPlan::None, [10.0, 20.0, 30.0, 40.0]);
        let even = runs("even", DetectorPlan::Clone, [9.0, 19.0, 29.0, 39.0]);
        let odd = runs("odd", DetectorPlan::Clone, [9.0, 18.0, 29.0, 38.0]);
        assert_eq!(widest_change(&[none.clone(), even.clone()], 0.95), Some(0.0));
        // the same width if the times without copies are lower bounds
        let mut bounded = none.clone();
        bounded.outcomes[0].at_least = true;
        let [exact, bound] = [&none, &bounded].map(|none| widest_change(&[none.clone(), odd.clone()], 0.95).unwrap());
        assert!(exact > 0.01 && (exact / bound - 1.0).abs() < 1e-12, "{exact} {bound}");
        // changes -1, -2, -1, -2: standard error 1/sqrt(12), t = 3.182446
        let widest = widest_change(&[none.clone(), even, odd], 0.95).unwrap();
        assert!((widest - 3.182_446 / 12.0_f64.sqrt() / 25.0).abs() < 1e-7, "{widest}");
        assert_eq!(widest_change(&[none], 0.95), None);
    }

    #[test]
    fn one_replication_is_too_few() {
        let mut one = runs("none", DetectorPlan::None, [1.0; 4]);
        one.outcomes.truncate(1);
        assert!(matches!(compare(&[one], 0.95), Err(CompareError::Estimate(_))));
    }
}
