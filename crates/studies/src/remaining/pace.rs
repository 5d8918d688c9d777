//! Factor between the times of one run and the times of its plan, estimated from the tasks so far.
//!
//! ```text
//! ln(time of a task / its mean in the plan) = F + G + e
//! ```
//!
//! F belongs to the run: its prior is around 0 with the plan's spread between runs (Student's, with the plan's degrees of
//! freedom). G belongs to the first or to the later tasks of one stage. Its distribution is normal, with the error of
//! the fitted times and [`STAGE_SPREAD`]. The factor e belongs to the task and has the stage's distribution. Running
//! tasks contribute the probability of having reached their age; without them, an early prediction, when only fast
//! tasks have finished, would be too optimistic. A few tasks in a hundred may be delayed by other causes ([`HELD_UP`])
//! without much effect on the result.

use crate::estimate::{normal_quantile, student_quantile};
use crate::fit::{RestOfRun, StageEvidence};
use crate::mapreduce::LawTable;
use crate::rng::{Address, Purpose, uniform};
use crate::run::Pace;

/// Standard deviation of G beyond the error of the fitted times: the differences of the stages of one run from the run's factor.
const STAGE_SPREAD: f64 = 0.1;
/// Share of tasks that are delayed for a reason outside the distribution.
const HELD_UP: f64 = 0.02;
/// The likelihood is evaluated at values of F + G from -REACH to REACH.
const REACH: f64 = 5.0;
const STEPS: i32 = 200;
/// Maximum number of tasks of a stage that enter the likelihood; of more tasks, an even selection.
const MOST_TASKS: usize = 1_000;
/// Degrees of freedom of the likelihood of a finished task. The likelihood is Student's t, so that outliers have little
/// weight.
const TASK_FREEDOM: f64 = 4.0;
/// Minimum standard deviation of the logarithm of a task time; smaller differences come from rounding and launch delays.
const LEAST_TASK_SPREAD: f64 = 0.03;

/// Factor between a run and a typical run.
#[derive(Clone, Debug, PartialEq)]
pub struct RunPace {
    /// Mean of the logarithm of the run's factor.
    pub log_factor: f64,
    /// Standard deviation of the pace.
    pub scale: f64,
    /// Degrees of freedom of the pace.
    pub degrees_of_freedom: f64,
    /// Number of finished tasks behind the estimate.
    pub tasks: usize,
    /// Standard deviation of the pace of the tasks to come, relative to the tasks so far.
    drift: f64,
    parts: Vec<[Part; 2]>,
}

/// First or later tasks of a stage.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Part {
    /// Standard deviation of G, the deviation of this part from the run's factor.
    spread: f64,
    /// Mean and variance of F + G from its tasks; none without evidence.
    seen: Option<(f64, f64)>,
}

impl RunPace {
    /// Returns the posterior of a run's pace, with the plan's spread between runs as the prior.
    pub fn new(rest: &RestOfRun) -> Self {
        let (run, runs) = (&rest.plan.run, f64::from(rest.plan.run.runs.max(1)));
        let shared: f64 = rest.whole.shared_errors.iter().map(|error| error * error).sum();
        let before = run.sigma * run.sigma * (1.0 + 1.0 / runs) + shared;
        let mut parts = Vec::new();
        for (spec, shown) in rest.plan.stage.iter().zip(&rest.shown) {
            let has_tasks = shown.iter().any(|shown| !shown.ended.is_empty() || !shown.running.is_empty());
            let law = has_tasks.then(|| TaskLaw::new(LawTable::with_slow(&spec.distribution, spec.slow)));
            let part = |error: f64, shown: &StageEvidence| {
                let spread = error.hypot(STAGE_SPREAD);
                Part { spread, seen: law.as_ref().and_then(|law| law.seen(shown, before + spread * spread)) }
            };
            parts.push([part(spec.cold.error, &shown[0]), part(spec.warm.error, &shown[1])]);
        }
        let (mut precision, mut sum) = (1.0 / before.max(1e-12), 0.0);
        for part in parts.iter().flatten() {
            if let Some((value, variance)) = part.seen {
                let weight = 1.0 / (variance + part.spread * part.spread);
                precision += weight;
                sum += weight * value;
            }
        }
        Self {
            log_factor: sum / precision,
            scale: precision.sqrt().recip(),
            degrees_of_freedom: run.degrees_of_freedom.max(1.0),
            tasks: rest.shown.iter().flatten().map(|shown| shown.ended.len()).sum(),
            drift: rest.drift,
            parts,
        }
    }

    /// Returns the `p`-quantile of the run's factor.
    pub fn quantile(&self, p: f64) -> f64 {
        (self.log_factor + self.scale * student_quantile(p, self.degrees_of_freedom)).exp()
    }

    /// Draws the factors of one replication.
    pub(super) fn draw(&self, key: [u32; 2], replication: u64) -> Pace {
        let share = |owner: usize| {
            // `as` is exact: a plan has at most 10,000 stages
            let address = Address { purpose: Purpose::Run, owner: owner as u32, sample: 0 };
            uniform(address.words(key, replication)[0])
        };
        let run = self.log_factor + self.scale * student_quantile(share(0), self.degrees_of_freedom);
        let factor = |owner: usize, part: &Part| {
            let own = part.spread.powi(2);
            let (mean, variance) = match part.seen {
                Some((value, variance)) => {
                    let share = own / (own + variance);
                    (share * (value - run), share * variance)
                }
                None => (0.0, own),
            };
            (run + mean + variance.sqrt().hypot(self.drift) * normal_quantile(share(owner))).exp()
        };
        let of_stage = |(i, parts): (usize, &[Part; 2])| [factor(1 + 2 * i, &parts[0]), factor(2 + 2 * i, &parts[1])];
        Pace { stages: self.parts.iter().enumerate().map(of_stage).collect(), driver: run.exp() }
    }
}

/// The distribution of the tasks of a stage, as the likelihood uses it.
struct TaskLaw {
    table: LawTable,
    /// Median and spread of the logarithm.
    middle: f64,
    spread: f64,
}

impl TaskLaw {
    fn new(table: LawTable) -> Self {
        let at = |share: f64| table.quantile(share).max(1e-9).ln();
        // the quartiles of a normal distribution are 1.349 standard deviations apart
        let spread = ((at(0.75) - at(0.25)) / 1.349).max(LEAST_TASK_SPREAD);
        let middle = at(0.5);
        Self { table, middle, spread }
    }

    /// The logarithm of the likelihood of F + G = x, up to a constant.
    fn log_likelihood(&self, ended: &[f64], running: &[f64], x: f64) -> f64 {
        let of_ended = |log: &f64| {
            let z = (log - x - self.middle) / self.spread;
            -0.5 * (TASK_FREEDOM + 1.0) * (z * z / TASK_FREEDOM).ln_1p()
        };
        let of_running = |age: &f64| {
            let age = age * (-x).exp();
            let held_up = if age > 1.0 { age.powi(-3) } else { 1.0 };
            ((1.0 - HELD_UP) * (1.0 - self.table.cdf(age)) + HELD_UP * held_up).ln()
        };
        ended.iter().map(of_ended).sum::<f64>() + running.iter().map(of_running).sum::<f64>()
    }

    /// Mean and variance of F + G according to the tasks alone: the posterior for a prior around 0 with variance
    /// `before`, with the prior's contribution removed. None if the tasks contain no information.
    fn seen(&self, shown: &StageEvidence, before: f64) -> Option<(f64, f64)> {
        if shown.ended.is_empty() && shown.running.is_empty() {
            return None;
        }
        let thin = |all: &[f64]| all.len().div_ceil(MOST_TASKS).max(1);
        let (step, run_step) = (thin(&shown.ended), thin(&shown.running));
        let ended: Vec<f64> = shown.ended.iter().step_by(step).map(|ratio| ratio.max(1e-9).ln()).collect();
        let running: Vec<f64> = shown.running.iter().step_by(run_step).copied().collect();
        let points = (-STEPS..=STEPS).map(|i| f64::from(i) * REACH / f64::from(STEPS));
        let scored: Vec<(f64, f64)> =
            points.map(|x| (x, self.log_likelihood(&ended, &running, x) - 0.5 * x * x / before)).collect();
        let most = scored.iter().map(|point| point.1).fold(f64::NEG_INFINITY, f64::max);
        let all: f64 = scored.iter().map(|point| (point.1 - most).exp()).sum();
        let mean = scored.iter().map(|point| point.0 * (point.1 - most).exp()).sum::<f64>() / all;
        let square = scored.iter().map(|point| (point.0 - mean).powi(2) * (point.1 - most).exp()).sum::<f64>() / all;
        // the grid's step limits the precision, even if a few tasks have equal times
        let variance = square.max((REACH / f64::from(STEPS)).powi(2) / 12.0);
        let precision = 1.0 / variance - 1.0 / before;
        (precision > 1e-3 / before).then(|| (mean / (variance * precision), 1.0 / precision))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mapreduce::{PhaseLaw, SlowTasks};

    /// Eight tasks, each 1.5 times as long as the median of the plan's lognormal distribution: the likelihood's middle
    /// is ln 1.5, and its variance about σ²/8 (5% more by Student's distribution with four degrees of freedom near its
    /// middle, (ν + 1)/ν times more weight there).
    #[test]
    fn ended_tasks_determine_the_pace() {
        let cv = 0.3_f64;
        let sigma = (cv * cv).ln_1p().sqrt();
        let law = TaskLaw::new(LawTable::new(&PhaseLaw::Lognormal { cv }));
        let median = (-0.5 * sigma * sigma).exp();
        let shown = StageEvidence { ended: vec![1.5 * median; 8], running: Vec::new() };
        let (value, variance) = law.seen(&shown, 1.0).unwrap();
        assert!((value - 1.5_f64.ln()).abs() < 0.01, "{value}");
        assert!((0.6..1.2).contains(&(variance / (sigma * sigma / 8.0))), "{variance}");
    }

    /// Of four exponential tasks, one has ended at a quarter of the mean, and the others have run for as long. The ended task alone suggests a
    /// run four times as fast. With the others, the total time divided by the number of ended tasks is exactly the mean.
    #[test]
    fn running_tasks_keep_an_early_pace_from_being_too_optimistic() {
        let law = TaskLaw::new(LawTable::new(&PhaseLaw::Exponential));
        let alone = law.seen(&StageEvidence { ended: vec![0.25], running: Vec::new() }, 1.0).unwrap();
        let with = law.seen(&StageEvidence { ended: vec![0.25], running: vec![0.25; 3] }, 1.0).unwrap();
        assert!(with.0 > alone.0 + 0.3, "{alone:?} {with:?}");
        assert_eq!(law.seen(&StageEvidence::default(), 1.0), None);
    }

    /// A task that is delayed to twenty times its time has little effect on the estimate.
    #[test]
    fn a_task_that_is_held_up_moves_little() {
        let law = TaskLaw::new(LawTable::new(&PhaseLaw::Lognormal { cv: 0.2 }));
        let of = |running: Vec<f64>| law.seen(&StageEvidence { ended: vec![1.0; 8], running }, 0.1).unwrap().0;
        assert!((of(vec![20.0]) - of(vec![])).abs() < 0.05);
    }

    /// Of tasks with a constant time, one that runs for twice this time says that the run is slow. If one task in five is slow, it may just be a slow task.
    #[test]
    fn a_slow_task_is_expected_where_there_are_slow_tasks() {
        let slow = SlowTasks { share: 0.2, from: 3.0, shape: 2.5, seen: None };
        let shown = StageEvidence { ended: vec![1.0; 4], running: vec![2.0; 2] };
        let of = |slow| {
            let law = LawTable::with_slow(&PhaseLaw::Lognormal { cv: 0.4 }, slow);
            TaskLaw::new(law).seen(&shown, 0.1).unwrap().0
        };
        assert!(of(Some(slow)) < of(None) - 0.02, "{} {}", of(Some(slow)), of(None));
    }
}
