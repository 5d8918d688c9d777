//! The time until the last of parallel tasks ends, where each task is a fixed time plus a series of exponential stages.
//!
//! Implements the distribution of one such task (hypoexponential) and of the latest of many. The stages may be equal, nearly
//! equal or a million times apart: no partial fractions, only sums of non-negative numbers (uniformisation
//! \[Jensen1953\]). This module does not know phases; `analytic` determines the stages of a task.

use std::collections::BTreeMap;

use crate::estimate::PoissonWindow;
use crate::mapreduce::curve::Curve;

/// Maximum share of the sum of squared stage means of a task. The shortest stages of the task count as fixed times
/// while the sum of their squared means stays below this share.
///
/// A stage of mean m replaced by its mean moves a quantile by about m²/2τ, where τ is the longest stage:
/// here by less than 1e-8 τ.
const FIXED_SHARE: f64 = 1e-8;

/// Probability outside a curve's range.
const LEFT_OUT: f64 = 1e-15;

/// A jump chain is followed until the probability that the task is unfinished is below this value.
const UNFINISHED: f64 = 1e-24;

/// Poisson weights below this share of the largest are dropped.
const SMALL_WEIGHT: f64 = 1e-19;

/// Jump chains longer than this are converted to curves immediately, to save memory and time.
const LONG_CHAIN: usize = 20_000;

/// One task: a fixed time and a series of exponential stages; its mean is their sum.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TaskLaw {
    /// Constant part of the time \[s\], >= 0. Default 0.
    pub fixed_s: f64,
    /// Means of the exponential stages in series \[s\], each >= 0; stages of mean 0 count as absent.
    pub stages_s: Vec<f64>,
}

impl TaskLaw {
    /// Creates exponential stages with these means \[s\], without a fixed time.
    pub fn of_stages(means_s: &[f64]) -> Self {
        Self { fixed_s: 0.0, stages_s: means_s.to_vec() }
    }

    /// Returns the first number that is negative, infinite or not a number.
    pub fn bad_number(&self) -> Option<f64> {
        std::iter::once(&self.fixed_s).chain(&self.stages_s).copied().find(|v| !(v.is_finite() && *v >= 0.0))
    }

    /// Returns the same distribution in a normal form: stages ascending and positive, negligible stages converted to fixed time.
    ///
    /// The mean stays the same; the error in a quantile is below 1e-8 of the longest stage's mean.
    fn normal_form(&self) -> Self {
        let mut stages_s: Vec<f64> = self.stages_s.iter().copied().filter(|m| *m > 0.0).collect();
        stages_s.sort_by(f64::total_cmp);
        let longest = stages_s.last().copied().unwrap_or(1.0);
        let square = |m: f64| (m / longest) * (m / longest);
        let budget = FIXED_SHARE * stages_s.iter().map(|m| square(*m)).sum::<f64>();
        let mut spent = 0.0;
        let short = stages_s
            .iter()
            .take_while(|m| {
                spent += square(**m);
                spent <= budget
            })
            .count();
        let fixed_s = self.fixed_s + stages_s.drain(..short).sum::<f64>();
        Self { fixed_s, stages_s }
    }

    /// Returns a time that the stages exceed with probability at most `e^-budget` (Chernoff's bound) \[s\].
    fn stages_end(&self, budget: f64) -> f64 {
        let longest = self.stages_s.iter().copied().fold(0.0, f64::max);
        let bound = |share: f64| {
            let theta = share / longest;
            (budget - self.stages_s.iter().map(|m| (-theta * m).ln_1p()).sum::<f64>()) / theta
        };
        [0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.95, 0.98]
            .map(bound)
            .into_iter()
            .fold(f64::MAX, f64::min)
    }

    /// Returns a key; two distributions in normal form are equal if and only if their keys are.
    fn key(&self) -> Vec<u64> {
        std::iter::once(&self.fixed_s).chain(&self.stages_s).map(|v| v.to_bits()).collect()
    }
}

/// Returns the mean of `values` under the weights of a window; values beyond the end are 0. Uses eight sums, so that the loop vectorises.
fn average(window: &PoissonWindow, values: &[f64]) -> f64 {
    let reached = values.get(window.first..).unwrap_or_default();
    let length = reached.len().min(window.weights.len());
    let (weights, weights_rest) = window.weights[..length].as_chunks::<8>();
    let (values, values_rest) = reached[..length].as_chunks::<8>();
    let mut sums = [0.0; 8];
    for (w, v) in weights.iter().zip(values) {
        for i in 0..8 {
            sums[i] += w[i] * v[i];
        }
    }
    let rest: f64 = weights_rest.iter().zip(values_rest).map(|(w, v)| w * v).sum();
    sums.iter().sum::<f64>() + rest
}

/// Returns the probability of being unfinished after n jumps of the chain with `rate` \[1/s\], n = 0, 1, ….
fn unfinished_after_jumps(stages_s: &[f64], rate: f64) -> Vec<f64> {
    let leave: Vec<f64> = stages_s.iter().map(|m| 1.0 / (m * rate)).collect();
    let stay: Vec<f64> = leave.iter().map(|p| (1.0 - p).max(0.0)).collect();
    let mut state = vec![0.0; stages_s.len()];
    state[0] = 1.0;
    let mut unfinished = vec![1.0];
    loop {
        for i in (1..state.len()).rev() {
            state[i] = state[i] * stay[i] + state[i - 1] * leave[i - 1];
        }
        state[0] *= stay[0];
        let left: f64 = state.iter().sum();
        if left < UNFINISHED {
            return unfinished;
        }
        unfinished.push(left);
    }
}

/// Tasks with the same uniformisation rate and fixed time, which share one Poisson window.
struct Class {
    /// Jumps per second.
    rate: f64,
    /// Fixed time of these tasks minus the smallest fixed time of all tasks with stages \[s\].
    delay: f64,
    /// Number of tasks, and their probabilities of being unfinished after n jumps.
    tasks: Vec<(f64, Vec<f64>)>,
    /// Number of tasks, and their distribution, for tasks with long chains.
    curves: Vec<(f64, Curve)>,
}

impl Class {
    /// Returns the logarithm of the probability that all tasks of the class have finished at `t` seconds.
    fn ln_done(&self, t: f64) -> f64 {
        let t = t - self.delay;
        if t <= 0.0 {
            return f64::NEG_INFINITY;
        }
        let mut ln_done: f64 = self.curves.iter().map(|(count, curve)| count * curve.cdf(t).ln()).sum();
        if !self.tasks.is_empty() {
            let window = PoissonWindow::above_share(self.rate * t, SMALL_WEIGHT);
            for (count, unfinished) in &self.tasks {
                ln_done += count * (-average(&window, unfinished).min(1.0)).ln_1p();
            }
        }
        ln_done
    }
}

/// The time until the last of a group of tasks ends: a fixed part plus a random part.
#[derive(Clone, Debug)]
pub struct LastTask {
    /// The constant part \[s\].
    pub fixed_s: f64,
    /// The distribution of the random part; `None` if nothing is random.
    pub varying: Option<Curve>,
}

/// A task without stages ends while tasks with stages can still run. So the distribution has a jump that no curve
/// represents.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[error("a task of exactly {fixed_s} s runs alongside tasks of random length; the exact solution cannot combine them")]
pub struct FixedBesideRandom {
    /// The length of the longest task without stages \[s\].
    pub fixed_s: f64,
}

/// Returns the distribution of the time until the last of independent `tasks` that start together has finished.
///
/// ```text
/// P(T <= t) = Π_i F_i(t),   F_i the distribution of task i
/// ```
///
/// Exact up to the stated errors of the curve (1e-12 in probability) and of negligible stages.
/// Without tasks the time is 0. Every number must be finite and >= 0 ([`TaskLaw::bad_number`]).
///
/// # Errors
///
/// [`FixedBesideRandom`] if a task without stages is the last task with a probability between 0 and 1.
pub fn last_of(tasks: &[TaskLaw]) -> Result<LastTask, FixedBesideRandom> {
    let mut groups: BTreeMap<Vec<u64>, (TaskLaw, f64)> = BTreeMap::new();
    let mut longest_fixed = 0.0_f64;
    for task in tasks {
        let law = task.normal_form();
        if law.stages_s.is_empty() {
            longest_fixed = longest_fixed.max(law.fixed_s);
        } else {
            groups.entry(law.key()).or_insert_with(|| (law, 0.0)).1 += 1.0;
        }
    }
    if groups.is_empty() {
        return Ok(LastTask { fixed_s: longest_fixed, varying: None });
    }
    let fixed_s = groups.values().map(|(law, _)| law.fixed_s).fold(f64::INFINITY, f64::min);
    if longest_fixed > fixed_s {
        return Err(FixedBesideRandom { fixed_s: longest_fixed });
    }
    let budget = (tasks.len() as f64 / LEFT_OUT).ln();
    let end = groups.values().map(|(l, _)| l.fixed_s - fixed_s + l.stages_end(budget)).fold(0.0, f64::max);
    let kinks: Vec<f64> = groups.values().map(|(law, _)| law.fixed_s - fixed_s).collect();
    let classes = classify(groups, fixed_s, budget);
    let varying = Curve::fit(end, &kinks, |t| classes.iter().map(|c| c.ln_done(t)).sum::<f64>().exp());
    Ok(LastTask { fixed_s, varying: Some(varying) })
}

/// Sorts distributions into classes by rate (rounded up to a power of two) and fixed time.
fn classify(groups: BTreeMap<Vec<u64>, (TaskLaw, f64)>, fixed_s: f64, budget: f64) -> Vec<Class> {
    let mut classes: BTreeMap<(i32, u64), Class> = BTreeMap::new();
    for (law, count) in groups.into_values() {
        let exponent = (-law.stages_s[0].log2()).ceil() as i32;
        let delay = law.fixed_s - fixed_s;
        let rate = f64::from(exponent).exp2().max(1.0 / law.stages_s[0]);
        let class = classes.entry((exponent, delay.to_bits())).or_insert_with(|| Class {
            rate,
            delay,
            tasks: Vec::new(),
            curves: Vec::new(),
        });
        class.rate = class.rate.max(rate);
        let unfinished = unfinished_after_jumps(&law.stages_s, class.rate);
        if unfinished.len() <= LONG_CHAIN {
            class.tasks.push((count, unfinished));
        } else {
            let done =
                |t: f64| 1.0 - average(&PoissonWindow::above_share(class.rate * t, SMALL_WEIGHT), &unfinished).min(1.0);
            class.curves.push((count, Curve::fit(law.stages_end(budget), &[], done)));
        }
    }
    classes.into_values().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use approx::assert_abs_diff_eq;
    use approx::assert_relative_eq;

    fn curve_of(tasks: &[TaskLaw]) -> Curve {
        last_of(tasks).unwrap().varying.unwrap()
    }

    #[test]
    fn poisson_window_has_the_law_s_mean() {
        for mean in [1e-9, 0.3, 1.0, 17.5, 4_000.25, 1.0e6] {
            let window = PoissonWindow::above_share(mean, SMALL_WEIGHT);
            let n: Vec<f64> = (0..window.first + window.weights.len()).map(|n| n as f64).collect();
            assert_relative_eq!(average(&window, &n), mean, max_relative = 1e-12);
        }
    }

    #[test]
    fn last_of_equal_exponentials_has_harmonic_mean() {
        // H_10 = 7381/2520; variance Σ 1/i² = 1.549767731166541
        let (mean, variance) = curve_of(&vec![TaskLaw::of_stages(&[2.0]); 10]).mean_and_variance();
        assert_relative_eq!(mean, 2.0 * 7381.0 / 2520.0, max_relative = 1e-10);
        assert_relative_eq!(variance, 4.0 * 1.549_767_731_166_541, max_relative = 1e-9);
    }

    #[test]
    fn equal_stages_are_erlang_and_nearly_equal_ones_almost() {
        let x: f64 = 6.0 / 2.0;
        let erlang3 = 1.0 - (-x).exp() * (1.0 + x + x * x / 2.0);
        let equal = curve_of(&[TaskLaw::of_stages(&[2.0, 2.0, 2.0])]);
        assert_abs_diff_eq!(equal.cdf(6.0), erlang3, epsilon = 1e-12);
        let nearly = curve_of(&[TaskLaw::of_stages(&[2.0, 2.0 + 1e-9, 2.0 - 1e-9])]);
        assert_abs_diff_eq!(nearly.cdf(6.0), erlang3, epsilon = 1e-12);
    }

    #[test]
    fn stages_far_apart_match_the_closed_form() {
        for ratio in [1e-2, 1e-3, 3e-4, 1e-6, 1e-12] {
            let curve = curve_of(&[TaskLaw::of_stages(&[1.0, ratio])]);
            let fixed = last_of(&[TaskLaw::of_stages(&[1.0, ratio])]).unwrap().fixed_s;
            let exact = 1.0 - ((-1.5_f64).exp() - ratio * (-1.5 / ratio).exp()) / (1.0 - ratio);
            assert_abs_diff_eq!(curve.cdf(1.5 - fixed), exact, epsilon = 5e-9);
            assert_relative_eq!(curve.mean_and_variance().0 + fixed, 1.0 + ratio, max_relative = 1e-10);
        }
    }

    #[test]
    fn stages_of_mean_zero_count_as_absent() {
        let with = curve_of(&[TaskLaw::of_stages(&[0.0, 3.0, 0.0])]);
        let without = curve_of(&[TaskLaw::of_stages(&[3.0])]);
        assert_eq!(with.cdf(2.0).to_bits(), without.cdf(2.0).to_bits());
        let none = last_of(&[TaskLaw::of_stages(&[0.0])]).unwrap();
        assert!(none.varying.is_none() && none.fixed_s < 1e-300);
    }

    #[test]
    fn fixed_times_shift_the_law() {
        // max of 1 + Exp(1) and 2 + Exp(1): P(T <= 3) = (1 - e^-2)(1 - e^-1)
        let tasks = [1.0, 2.0].map(|fixed_s| TaskLaw { fixed_s, stages_s: vec![1.0] });
        let last = last_of(&tasks).unwrap();
        let exact = (1.0 - (-2.0_f64).exp()) * (1.0 - (-1.0_f64).exp());
        assert_abs_diff_eq!(last.varying.unwrap().cdf(3.0 - last.fixed_s), exact, epsilon = 1e-12);
    }

    #[test]
    fn fixed_task_that_may_end_last_is_refused() {
        let fixed = TaskLaw { fixed_s: 5.0, stages_s: vec![] };
        let random = TaskLaw::of_stages(&[1.0]);
        assert_eq!(last_of(&[fixed.clone(), random]).unwrap_err(), FixedBesideRandom { fixed_s: 5.0 });
        assert_relative_eq!(last_of(&[fixed]).unwrap().fixed_s, 5.0);
    }
}
