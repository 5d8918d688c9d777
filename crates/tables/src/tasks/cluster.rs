//! The common behaviour of the programs of a cluster: the usual times of tasks by kind of stage, the contention, the spread.

use serde::{Deserialize, Serialize};
use tailspn_common::order::quantile;

use crate::tasks::schedule::WAVES;

/// Numbers of executors between which the contention of a cluster is linear in the logarithm.
pub(crate) const KNOTS: [f64; 8] = [2.0, 5.0, 10.0, 20.0, 40.0, 60.0, 80.0, 100.0];
/// Contention is 0 at the first knot.
pub(crate) const FREE_KNOTS: usize = KNOTS.len() - 1;
/// Number of values of a stage.
pub(crate) const OF_STAGE: usize = 5;
/// Number of values of a program.
pub(crate) const OF_PROGRAM: usize = 4;

/// Growth of a stage with the size of the input.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Growth {
    /// It reads input whose size does not change.
    None,
    /// It reads input, with more tasks.
    Tasks,
    /// It reads input, with more data for each task.
    Both,
    /// It reads what other stages wrote.
    Shuffle,
}

/// A prior of several values: means and standard deviations.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Prior {
    pub(crate) mean: Vec<f64>,
    pub(crate) sd: Vec<f64>,
}

/// Knowledge about the programs of a cluster.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Cluster {
    /// Number of programs that it was learnt from.
    pub programs: usize,
    /// The largest number of executors that was seen.
    pub most_executors: u32,
    /// The size to which amounts of data are relative \[MB\].
    pub(crate) reference: Option<f64>,
    /// Values of a stage, by its growth.
    pub(crate) stages: [Prior; 4],
    /// Values of a program.
    pub(crate) program: Prior,
    /// Contention by kind of stage and wave, and knot.
    pub(crate) contention: Prior,
    /// Standard deviation of the steps of the contention.
    pub(crate) smooth: f64,
    /// By how much numbers of tasks grow faster than the size: an exponent.
    pub(crate) excess: f64,
    /// The time of a block that is split off, as a share of the usual one.
    pub(crate) block: f64,
    /// Quantiles of the times of tasks divided by their mean, by kind of stage (source or not) and wave.
    pub(crate) spread: [[Vec<f64>; WAVES]; 2],
}

/// Number of quantiles of a spread.
const QUANTILES: usize = 200;
impl Default for Cluster {
    /// The assumptions without other programs: the start of tasks of Spark, no contention, and anything between tasks that grow and tasks that do not.
    fn default() -> Self {
        let log = |values: [f64; 5]| values.to_vec();
        let stage = |mean: [f64; 5], sd: [f64; 5]| Prior { mean: log(mean), sd: log(sd) };
        let [short, start] = [150_f64.ln(), 1500_f64.ln()];
        Self {
            programs: 0,
            most_executors: 0,
            reference: None,
            stages: [
                stage([1500_f64.ln(), -1.0, short, start, 80_f64.ln()], [1.5, 1.5, 1.0, 0.4, 1.0]),
                stage([2000_f64.ln(), -1.0, short, 1700_f64.ln(), 80_f64.ln()], [1.0, 1.5, 1.0, 0.4, 1.0]),
                stage([1500_f64.ln(), 1.0, short, 1700_f64.ln(), 80_f64.ln()], [0.7, 1.0, 1.0, 0.3, 1.0]),
                stage([60_f64.ln(), 0.0, 300_f64.ln(), 400_f64.ln(), 15_f64.ln()], [1.5, 2.0, 0.8, 0.7, 1.0]),
            ],
            program: Prior { mean: vec![1700_f64.ln(), 1.03, 0.2, 1200_f64.ln()], sd: vec![0.3, 0.05, 0.2, 0.3] },
            contention: Prior { mean: vec![0.0; 6 * FREE_KNOTS], sd: vec![0.3; 6 * FREE_KNOTS] },
            smooth: 0.08,
            excess: 0.0,
            block: 0.75,
            spread: [const { [const { Vec::new() }; WAVES] }; 2],
        }
    }
}

impl Cluster {
    /// Returns true if all lists have their lengths and all values are finite, as in a cluster that was learnt.
    pub fn is_valid(&self) -> bool {
        let has = |prior: &Prior, length: usize| {
            let Prior { mean, sd } = prior;
            mean.len() == length
                && sd.len() == length
                && mean.iter().all(|mean| mean.is_finite())
                && sd.iter().all(|sd| *sd > 0.0 && sd.is_finite())
        };
        let is_spread = |spread: &Vec<f64>| spread.iter().all(|ratio| *ratio >= 0.0 && ratio.is_finite());
        self.stages.iter().all(|prior| has(prior, OF_STAGE))
            && has(&self.program, OF_PROGRAM)
            && has(&self.contention, 2 * WAVES * FREE_KNOTS)
            && self.smooth > 0.0
            && self.smooth.is_finite()
            && (-1.0..=1.0).contains(&self.excess)
            && (1e-3..=1e3).contains(&self.block)
            && self.reference.is_none_or(|size| size > 0.0 && size.is_finite())
            && self.spread.iter().flatten().all(is_spread)
    }
}

/// Returns the quantiles of ratios, whose mean is 1; empty for few ratios.
pub(crate) fn quantiles(ratios: &mut [f64]) -> Vec<f64> {
    if ratios.len() < 20 {
        return Vec::new();
    }
    ratios.sort_by(f64::total_cmp);
    let all: Vec<f64> = (0..QUANTILES).filter_map(|i| quantile(ratios, (i as f64 + 0.5) / QUANTILES as f64)).collect();
    let mean = all.iter().sum::<f64>() / all.len() as f64;
    all.into_iter().map(|ratio| ratio / mean).collect()
}
