//! The steady-state mean from long runs: the end of the warm-up, and batches long enough to be independent, or the
//! means of independent runs.
//!
//! Implements warm-up removal by MSER-5 and the choice of batch means. The input is averages over spans of equal duration in
//! order of time, from any source.

use crate::estimate::distribution::normal_quantile;
use crate::estimate::mean::{Estimate, EstimateError, Method, mean_interval};
use crate::estimate::moments::FloatMoments;
use serde::Serialize;

/// Number of averages in a group of MSER-5, which determines the end of the warm-up.
const GROUP: usize = 5;
/// Minimum number of averages: after a warm-up of one half, the fewest batches still hold five averages each.
const FEWEST_AVERAGES: usize = 100;
/// Reciprocal of the share of the run that MSER always keeps, so that a short quiet end is not mistaken for
/// the steady state.
const KEPT_DIVISOR: usize = 4;
/// Numbers of batches to try, in descending order. More than 10 to 30 gain little precision \[Schmeiser1982\].
const BATCH_COUNTS: [usize; 4] = [40, 30, 20, 10];
/// Probability of mistaking independent batches for dependent ones, for each number of batches.
const FALSE_ALARM: f64 = 0.1;

/// A steady-state mean, with the warm-up and the batches behind it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct SteadyState {
    /// The mean with its interval; its `samples` are batches.
    pub estimate: Estimate,
    /// Averages excluded at the start: the warm-up, and up to 39 more so that the batches are equally long.
    pub warmup: usize,
    /// Averages in each batch, >= 1.
    pub averages_per_batch: usize,
    /// Lag-1 autocorrelation of the batch means, between −1 and 1; 0 if all are equal.
    pub lag1: f64,
}

/// Reason why a run gives no steady-state mean.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum BatchError {
    /// Too few averages, one that is not finite, or a level outside (0, 1).
    #[error(transparent)]
    Estimate(#[from] EstimateError),
    /// More than half of the run appears to be warm-up. Run at least twice as long.
    #[error("warm-up seems to take {warmup} of {averages} averages, more than half")]
    WarmupTooLong {
        /// Averages that would have to be excluded.
        warmup: usize,
        /// Averages in the run.
        averages: usize,
    },
    /// Even the longest batches depend on each other, so the interval would be too narrow. Run longer.
    #[error("means of {batches} batches still have lag-1 autocorrelation {lag1:.3}, above {limit:.3}")]
    Correlated {
        /// Minimum number of batches that were tried.
        batches: usize,
        /// Lag-1 autocorrelation of the means of these batches.
        lag1: f64,
        /// Largest autocorrelation that would have passed.
        limit: f64,
    },
}

/// The steady-state mean of a quantity, from its averages over consecutive spans of equal duration.
///
/// 1. Warm-up: groups of 5 averages; exclude the first d groups, with the d that minimises MSER.
/// 2. Batches: 40, 30, 20 or 10 equal batches of the remaining averages, the largest number whose
///    means pass a one-sided test of lag-1 autocorrelation at 10%.
/// 3. Student's t over the batch means.
///
/// ```text
/// MSER(d) = Σ_{i>d} (y_i − ȳ_d)² / (n − d)²,   n groups, at least n/4 kept
/// lag1 <= −1/k + z(0.9)/√k,                    k batches
/// ```
///
/// Approximate: batch means are only nearly normal and independent, so the coverage approaches the level
/// from below as the run gets longer. At least some hundred averages, each over many events, are
/// advisable. Sources: \[White2000\] for MSER-5, \[Schmeiser1982\] for the number of batches; that a quarter
/// of the run is always kept, and the test, are ours.
///
/// # Errors
///
/// [`BatchError::Estimate`] below 100 averages, for averages that are not finite and for levels outside
/// (0, 1); [`BatchError::WarmupTooLong`]; [`BatchError::Correlated`].
///
/// # Examples
///
/// ```
/// # use tailspn_engine::estimate::steady_state;
/// // starts at 50, then alternates between 1 and 3
/// let averages: Vec<f64> = (0..1005).map(|i| if i < 5 { 50.0 } else { f64::from(i % 2 * 2 + 1) }).collect();
/// let steady = steady_state(&averages, 0.95).unwrap();
/// assert_eq!((steady.warmup, steady.averages_per_batch), (5, 25));
/// assert!((steady.estimate.value - 2.0).abs() < 0.01);
/// ```
pub fn steady_state(averages: &[f64], level: f64) -> Result<SteadyState, BatchError> {
    let warmup = warm_up(averages)?;
    let batches = independent_batches(&averages[warmup..])?;
    let moments: FloatMoments = batches.means.iter().copied().collect();
    let mean = mean_interval(moments.mean().unwrap_or(0.0), moments.variance().unwrap_or(0.0), moments.count(), level)?;
    Ok(SteadyState {
        estimate: Estimate { method: Method::BatchMeans, ..mean },
        warmup: averages.len() - batches.means.len() * batches.length,
        averages_per_batch: batches.length,
        lag1: batches.lag1,
    })
}

/// Averages to exclude at the start of a series.
fn warm_up(averages: &[f64]) -> Result<usize, BatchError> {
    if averages.len() < FEWEST_AVERAGES {
        let (got, need) = (averages.len() as u64, FEWEST_AVERAGES as u64);
        return Err(EstimateError::TooFewSamples { got, need }.into());
    }
    if averages.iter().any(|average| !average.is_finite()) {
        return Err(EstimateError::NotFinite.into());
    }
    let warmup = GROUP * mser_groups(&group_means(averages));
    if 2 * warmup > averages.len() {
        return Err(BatchError::WarmupTooLong { warmup, averages: averages.len() });
    }
    Ok(warmup)
}

/// A steady-state mean from long runs, with the warm-up that was removed.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct SteadyRuns {
    /// The mean with its interval; its `samples` are runs, or the batches of a single run.
    pub estimate: Estimate,
    /// Averages excluded at the start of every run.
    pub warmup: usize,
}

/// The steady-state mean of a quantity from independent runs of one net, each given by its averages over consecutive spans
/// of the same duration.
///
/// 1. Warm-up: MSER-5 as in [`steady_state`], on the series that is the mean over the runs, in which a common
///    initial transient is clearer than in a single run.
/// 2. Student's t over the means of the runs without the warm-up.
///
/// The method does not assume a correlation time: runs that settle in different parts of the net, or change
/// slowly, give a wide interval. Only the excluded start must not be too short.
///
/// # Errors
///
/// [`BatchError::Estimate`] below 2 runs or 100 averages, for averages that are not finite and for levels outside (0, 1);
/// [`BatchError::WarmupTooLong`].
///
/// # Examples
///
/// ```
/// # use tailspn_engine::estimate::steady_state_of_runs;
/// let [low, high] = [vec![1.0; 200], vec![3.0; 200]];
/// let steady = steady_state_of_runs(&[&low, &high], 0.95).unwrap();
/// assert_eq!((steady.warmup, steady.estimate.value, steady.estimate.samples), (0, 2.0, 2));
/// assert!(steady.estimate.half_width > 10.0);
/// ```
pub fn steady_state_of_runs(runs: &[&[f64]], level: f64) -> Result<SteadyRuns, BatchError> {
    let longest = runs.iter().map(|run| run.len()).max().unwrap_or(0);
    let mean_at = |i: usize| mean_of(&runs.iter().filter_map(|run| run.get(i).copied()).collect::<Vec<_>>());
    let warmup = warm_up(&(0..longest).map(mean_at).collect::<Vec<_>>())?;
    // a run that was stopped early may have no averages after the warm-up
    let means: FloatMoments = runs.iter().filter(|run| run.len() > warmup).map(|run| mean_of(&run[warmup..])).collect();
    let (mean, variance) = (means.mean().unwrap_or(0.0), means.variance().unwrap_or(0.0));
    Ok(SteadyRuns { estimate: mean_interval(mean, variance, means.count(), level)?, warmup })
}

/// The steady-state mean of a quantity from long runs: from several runs by [`steady_state_of_runs`], from a single run by
/// [`steady_state`].
///
/// # Errors
///
/// The errors of these functions.
pub fn long_run_mean(runs: &[&[f64]], level: f64) -> Result<SteadyRuns, BatchError> {
    match runs {
        [run] => steady_state(run, level).map(|SteadyState { estimate, warmup, .. }| SteadyRuns { estimate, warmup }),
        _ => steady_state_of_runs(runs, level),
    }
}

/// Means of consecutive groups of [`GROUP`] averages; an incomplete last group is dropped.
fn group_means(averages: &[f64]) -> Vec<f64> {
    averages.chunks_exact(GROUP).map(mean_of).collect()
}

fn mean_of(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// Number of groups to exclude at the start: the smallest that minimises MSER.
fn mser_groups(groups: &[f64]) -> usize {
    let most = groups.len() - groups.len().div_ceil(KEPT_DIVISOR);
    let mut kept = FloatMoments::default();
    let mut best = (f64::INFINITY, most);
    for (skipped, &group) in groups.iter().enumerate().rev() {
        kept.push(group);
        let size = kept.count() as f64;
        let mser = kept.variance().unwrap_or(0.0) * (size - 1.0) / (size * size);
        if skipped <= most && mser <= best.0 {
            best = (mser, skipped);
        }
    }
    best.1
}

/// Batch means that passed the test of autocorrelation.
struct Batches {
    means: Vec<f64>,
    /// Averages in each batch.
    length: usize,
    lag1: f64,
}

/// The largest number of batches whose means show no dependence. Averages that do not fill a batch are
/// excluded at the start.
fn independent_batches(averages: &[f64]) -> Result<Batches, BatchError> {
    let mut refused = None;
    for batches in BATCH_COUNTS {
        let length = averages.len() / batches;
        if length == 0 {
            continue;
        }
        let means: Vec<f64> = averages[averages.len() - batches * length..].chunks_exact(length).map(mean_of).collect();
        let lag1 = lag1_autocorrelation(&means);
        let count = batches as f64;
        let limit = -1.0 / count - normal_quantile(FALSE_ALARM) / count.sqrt();
        if lag1 <= limit {
            return Ok(Batches { means, length, lag1 });
        }
        refused = Some(BatchError::Correlated { batches, lag1, limit });
    }
    Err(refused.expect("half of the fewest averages fill the fewest batches"))
}

/// Lag-1 autocorrelation of a series, with one mean for both factors; 0 if all values are equal.
fn lag1_autocorrelation(series: &[f64]) -> f64 {
    let mean = mean_of(series);
    let square: f64 = series.iter().map(|value| (value - mean).powi(2)).sum();
    let product: f64 = series.windows(2).map(|pair| (pair[0] - mean) * (pair[1] - mean)).sum();
    if square > 0.0 { product / square } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{SeedableRng, rngs::StdRng};
    use rand_distr::{Distribution, StandardNormal};

    /// A first-order autoregression around `mean`, started `away` from it.
    fn autoregression(seed: u64, length: usize, memory: f64, mean: f64, away: f64) -> Vec<f64> {
        let mut rng = StdRng::seed_from_u64(seed);
        let mut gap = away;
        (0..length)
            .map(|_| {
                let noise: f64 = StandardNormal.sample(&mut rng);
                gap = memory * gap + noise;
                mean + gap
            })
            .collect()
    }

    #[test]
    fn fewer_than_a_hundred_averages_are_too_few() {
        for got in [0, 1, 99] {
            let error = EstimateError::TooFewSamples { got, need: 100 };
            assert_eq!(steady_state(&vec![1.0; got as usize], 0.95), Err(error.into()));
        }
    }

    #[test]
    fn equal_averages_have_no_warmup_and_width_zero() {
        let steady = steady_state(&[2.5; 100], 0.95).unwrap();
        assert_eq!((steady.estimate.value, steady.estimate.half_width, steady.lag1), (2.5, 0.0, 0.0));
        assert_eq!((steady.warmup, steady.averages_per_batch, steady.estimate.samples), (20, 2, 40));
    }

    #[test]
    fn averages_that_are_not_finite_are_refused() {
        let mut averages = vec![1.0; 200];
        averages[70] = f64::NAN;
        assert_eq!(steady_state(&averages, 0.95), Err(EstimateError::NotFinite.into()));
    }

    #[test]
    fn mser_matches_a_hand_computed_example() {
        // d = 0: 99.5/64 = 1.55; d = 1: (12/7)/49 = 0.035; d = 2: 1.5/36 = 0.042; …
        let groups = [12.0, 1.0, 2.0, 1.0, 2.0, 1.0, 2.0, 1.0];
        let mser = |d: usize| {
            let kept = &groups[d..];
            let mean = mean_of(kept);
            kept.iter().map(|y| (y - mean).powi(2)).sum::<f64>() / (kept.len() as f64).powi(2)
        };
        assert!((1..=6).all(|d| mser(1) <= mser(d)) && mser(1) < mser(0));
        assert_eq!(mser_groups(&groups), 1);
    }

    /// Computes the three steps as textbooks define them, each sum by its definition. Returns the number of excluded
    /// groups, and the batch means with their lag-1 autocorrelation.
    fn textbook(averages: &[f64]) -> (usize, Option<(Vec<f64>, f64)>) {
        let means = |values: &[f64], length: usize| -> Vec<f64> {
            let count = values.len() / length;
            (0..count).map(|i| (0..length).map(|j| values[i * length + j]).sum::<f64>() / length as f64).collect()
        };
        let groups = means(averages, 5);
        let n = groups.len();
        let mser = |d: usize| {
            let kept = n as f64 - d as f64;
            let mean = groups[d..].iter().sum::<f64>() / kept;
            groups[d..].iter().map(|y| (y - mean) * (y - mean)).sum::<f64>() / (kept * kept)
        };
        // at least a quarter of the groups is kept
        let left_out = (0..n).filter(|d| 4 * (n - d) >= n).min_by(|&a, &b| mser(a).total_cmp(&mser(b))).unwrap();
        let rest = &averages[5 * left_out..];
        let batches = [40_usize, 30, 20, 10].into_iter().find_map(|count| {
            let length = rest.len() / count;
            let batches = means(&rest[rest.len() - count * length..], length.max(1));
            let k = batches.len() as f64;
            let mean = batches.iter().sum::<f64>() / k;
            let product = (1..batches.len()).map(|i| (batches[i] - mean) * (batches[i - 1] - mean)).sum::<f64>();
            let lag1 = product / batches.iter().map(|y| (y - mean) * (y - mean)).sum::<f64>();
            // the 90% quantile of the normal distribution
            (length > 0 && lag1 <= 1.281_551_565_545 / k.sqrt() - 1.0 / k).then_some((batches, lag1))
        });
        (5 * left_out, batches)
    }

    /// Compares each number with its definition, for runs that are long enough, too short and too slow.
    #[test]
    fn warm_up_batches_and_interval_are_those_of_the_textbook() {
        // Student's 97.5% quantiles with 39, 29, 19 and 9 degrees of freedom
        let student = |batches: usize| match batches {
            40 => 2.022_691,
            30 => 2.045_230,
            20 => 2.093_024,
            _ => 2.262_157,
        };
        let (mut warm, mut counts) = (0, std::collections::BTreeMap::new());
        for seed in 0..400 {
            let length = 100 + 7 * (seed as usize % 90);
            let memory = [0.0, 0.5, 0.9, 0.97][seed as usize % 4];
            let averages = autoregression(seed, length, memory, 3.0, 12.0 * (seed % 3) as f64);
            let (left_out, batches) = textbook(&averages);
            match (steady_state(&averages, 0.95), batches) {
                (Err(BatchError::WarmupTooLong { warmup, .. }), _) => {
                    assert_eq!(warmup, left_out);
                    assert!(2 * warmup > length);
                    *counts.entry("too long").or_insert(0) += 1;
                }
                (Err(BatchError::Correlated { .. }), batches) => {
                    assert_eq!(batches, None);
                    *counts.entry("correlated").or_insert(0) += 1;
                }
                (Ok(steady), Some((means, lag1))) => {
                    let k = means.len();
                    let mean = means.iter().sum::<f64>() / k as f64;
                    let variance = means.iter().map(|y| (y - mean) * (y - mean)).sum::<f64>() / (k - 1) as f64;
                    let half_width = student(k) * (variance / k as f64).sqrt();
                    assert_eq!(
                        (steady.estimate.samples, steady.averages_per_batch),
                        (k as u64, (length - left_out) / k)
                    );
                    assert_eq!(steady.warmup, length - k * steady.averages_per_batch);
                    assert!((steady.estimate.value - mean).abs() < 1e-9 && (steady.lag1 - lag1).abs() < 1e-9);
                    assert!((steady.estimate.half_width - half_width).abs() < 1e-5 * half_width, "{steady:?}");
                    warm += usize::from(left_out > 0);
                    *counts.entry(["10", "20", "30", "40"][k / 10 - 1]).or_insert(0) += 1;
                }
                (found, expected) => panic!("{found:?}, not {expected:?} for seed {seed}"),
            }
        }
        assert!(warm > 50 && counts.len() == 6 && counts.values().all(|&count| count > 2), "{warm} {counts:?}");
    }

    /// Three runs that share a start: MSER of their mean, and Student's t over their means without it.
    #[test]
    fn runs_leave_out_the_warm_up_of_their_mean() {
        for seed in 0..50 {
            let runs: Vec<Vec<f64>> = (0..3).map(|run| autoregression(50 * run + seed, 203, 0.7, 3.0, 15.0)).collect();
            let mean: Vec<f64> = (0..203).map(|i| runs.iter().map(|run| run[i]).sum::<f64>() / 3.0).collect();
            let (left_out, _) = textbook(&mean);
            let ends: Vec<f64> =
                runs.iter().map(|run| run[left_out..].iter().sum::<f64>() / (203 - left_out) as f64).collect();
            let mean = ends.iter().sum::<f64>() / 3.0;
            let variance = ends.iter().map(|y| (y - mean) * (y - mean)).sum::<f64>() / 2.0;
            // Student's 97.5% quantile with 2 degrees of freedom
            let half_width = 4.302_653 * (variance / 3.0).sqrt();
            match steady_state_of_runs(&runs.iter().map(Vec::as_slice).collect::<Vec<_>>(), 0.95) {
                Ok(found) => {
                    assert_eq!((found.warmup, found.estimate.samples), (left_out, 3));
                    assert!((found.estimate.value - mean).abs() < 1e-9);
                    assert!((found.estimate.half_width - half_width).abs() < 1e-5 * half_width, "{found:?}");
                }
                Err(error) => assert_eq!(error, BatchError::WarmupTooLong { warmup: left_out, averages: 203 }),
            }
        }
    }

    #[test]
    fn warmup_of_a_step_is_found_to_the_group() {
        let mut averages = autoregression(3, 1000, 0.0, 10.0, 0.0);
        averages[..200].iter_mut().for_each(|average| *average += 30.0);
        let steady = steady_state(&averages, 0.95).unwrap();
        assert!((200..=240).contains(&steady.warmup), "{steady:?}");
        assert!((steady.estimate.value - 10.0).abs() < 5.0 / 800_f64.sqrt());
    }

    #[test]
    fn run_that_never_settles_is_refused() {
        let averages: Vec<f64> = (0..400).map(f64::from).collect();
        assert!(matches!(steady_state(&averages, 0.95), Err(BatchError::WarmupTooLong { averages: 400, .. })));
    }

    #[test]
    fn averages_with_a_memory_as_long_as_the_run_are_refused() {
        let wave: Vec<f64> = (0..400).map(|i| (f64::from(i) * std::f64::consts::TAU / 400.0).cos()).collect();
        let refused = independent_batches(&wave).err();
        assert!(matches!(refused, Some(BatchError::Correlated { batches: 10, lag1, .. }) if lag1 > 0.5), "{refused:?}");
    }

    #[test]
    fn short_memory_makes_batches_longer() {
        let averages = autoregression(1, 4000, 0.98, 0.0, 0.0);
        let batches = independent_batches(&averages).ok().map(|batches| batches.means.len());
        assert!(batches.is_some_and(|count| count < 40), "{batches:?}");
    }

    #[test]
    fn lag1_of_an_autoregression_is_its_memory() {
        let series = autoregression(2, 20_000, 0.6, 3.0, 0.0);
        // standard error of the estimate: √((1 − memory²) / n)
        let error = (0.64 / 20_000_f64).sqrt();
        assert!((lag1_autocorrelation(&series) - 0.6).abs() <= 5.0 * error);
    }

    #[test]
    fn intervals_cover_the_true_mean_of_an_autoregression() {
        const RUNS: u32 = 1000;
        let (mut covered, mut given, mut values) = (0_u32, 0_u32, FloatMoments::default());
        for run in 0..RUNS {
            // 1200 averages of 20 observations with memory 0.9, i.e. correlation time 19 observations.
            let observations = autoregression(u64::from(run), 24_000, 0.9, 50.0, 100.0);
            let averages: Vec<f64> = observations.chunks_exact(20).map(mean_of).collect();
            if let Ok(steady) = steady_state(&averages, 0.95) {
                given += 1;
                covered += u32::from((steady.estimate.value - 50.0).abs() <= steady.estimate.half_width);
                values.push(steady.estimate.value);
            }
        }
        assert!(given >= RUNS * 99 / 100, "{given}");
        let share = f64::from(covered) / f64::from(given);
        let error = (0.95 * 0.05 / f64::from(given)).sqrt();
        assert!((share - 0.95).abs() <= 5.0 * error, "{share}");
        // no bias from the start at 150; exact variance of the mean is 1 / ((1 − 0.9)² n)
        let mean_error = (100.0 / 24_000.0 / f64::from(given)).sqrt();
        assert!((values.mean().unwrap() - 50.0).abs() <= 5.0 * mean_error);
    }
}
