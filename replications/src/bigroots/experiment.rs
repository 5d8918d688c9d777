//! Experiments on hundreds of generated jobs: the ROC curves of both methods over their thresholds, and the effect of
//! edge detection.

use rayon::prelude::*;

use crate::bigroots::pearson::{PearsonRules, correlation, is_pearson_cause};
use crate::bigroots::plan::GeneratorPlan;
use crate::bigroots::roc::{RocPoint, area_under};
use crate::bigroots::score::{Confusion, Truth, score_resources};
use crate::bigroots::simulate::generate;
use tailspn::diagnose::causes::RESOURCES;
use tailspn::diagnose::causes::{Edge, Rules, judge};
use tailspn::diagnose::causes::{Pool, PoolOptions};

/// Generates the jobs of seeds 0 to `jobs` - 1 and computes the features of their stages; the result is the same on any
/// number of threads.
pub fn pools(plan: &GeneratorPlan, jobs: u64, options: &PoolOptions) -> Vec<(Pool, Truth)> {
    let one = |seed| {
        let job = generate(plan, seed);
        let pool = |tasks| Some((Pool::new(tasks, &job.nodes, options)?, job.truth.clone()));
        job.stages.into_iter().filter_map(pool).collect::<Vec<_>>()
    };
    (0..jobs).into_par_iter().flat_map_iter(one).collect()
}

/// The values of the thresholds; each method is tried with all pairs of its two thresholds.
#[derive(Clone, Debug, PartialEq)]
pub struct Thresholds {
    /// Values of the quantile: λq of the BigRoots rules and λcq of the Pearson method.
    pub quantiles: Vec<f64>,
    /// Values of λp, the peer factor of the BigRoots rules.
    pub peer_factors: Vec<f64>,
    /// Values of λca, the correlation threshold of the Pearson method.
    pub correlations: Vec<f64>,
}

impl Default for Thresholds {
    /// Quantiles 0 to 0.99, factors 0 to 10, correlations 0 to 0.95.
    fn default() -> Self {
        Self {
            quantiles: vec![0.0, 0.2, 0.4, 0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.95, 0.97, 0.99],
            peer_factors: vec![0.0, 0.5, 0.8, 0.9, 1.0, 1.1, 1.2, 1.3, 1.5, 1.75, 2.0, 2.5, 3.0, 4.0, 6.0, 10.0],
            correlations: vec![0.0, 0.02, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5, 0.6, 0.8, 0.95],
        }
    }
}

/// The curves of both methods.
#[derive(Clone, Debug, PartialEq)]
pub struct Curves {
    /// The points of the BigRoots rules, one for each pair of thresholds whose rates are known.
    pub rules: Vec<RocPoint>,
    /// The points of the Pearson method, one for each pair of thresholds whose rates are known.
    pub pearson: Vec<RocPoint>,
}

impl Curves {
    /// Returns the areas under both curves: first the area of the BigRoots rules, then the area of the Pearson method.
    pub fn areas(&self) -> (f64, f64) {
        (area_under(&self.rules), area_under(&self.pearson))
    }
}

/// Computes the curves of both methods from the decisions about all tasks of the given jobs together.
pub fn curves(pools: &[(Pool, Truth)], base: &Rules, thresholds: &Thresholds) -> Curves {
    let pairs = |others: &[f64]| -> Vec<(f64, f64)> {
        thresholds.quantiles.iter().flat_map(|&q| others.iter().map(move |&other| (q, other))).collect()
    };
    let rules = pairs(&thresholds.peer_factors).into_par_iter().filter_map(|(quantile, peer_factor)| {
        let rules = Rules { quantile, peer_factor, ..*base };
        RocPoint::of(&decisions(pools, &rules))
    });
    let rho: Vec<[Option<f64>; RESOURCES.len()]> =
        pools.iter().map(|(pool, _)| RESOURCES.map(|resource| correlation(pool, resource))).collect();
    let pearson = pairs(&thresholds.correlations).into_par_iter().filter_map(|(quantile, limit)| {
        let rules = PearsonRules { correlation: limit, quantile };
        let mut sum = Confusion::default();
        for ((pool, truth), rho) in pools.iter().zip(&rho) {
            sum.add(&score_resources(pool, truth, |task, feature| {
                let own = feature.resource().and_then(|i| rho[i]);
                is_pearson_cause(pool, task, feature, own, &rules)
            }));
        }
        RocPoint::of(&sum)
    });
    Curves { rules: rules.collect(), pearson: pearson.collect() }
}

/// Counts the decisions of the BigRoots rules over the given jobs.
pub fn decisions(pools: &[(Pool, Truth)], rules: &Rules) -> Confusion {
    let mut sum = Confusion::default();
    for (pool, truth) in pools {
        sum.add(&score_resources(pool, truth, |task, feature| judge(pool, task, feature, rules).is_some()));
    }
    sum
}

/// The effect of edge detection: the decisions with the same thresholds, once with edge detection and once without.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EdgeEffect {
    /// The decisions with edge detection.
    pub with: Confusion,
    /// The decisions without edge detection.
    pub without: Confusion,
}

impl EdgeEffect {
    /// Returns the share by which edge detection lowers the false positive rate; `None` if one of the rates is unknown,
    /// or if the rate without edge detection is 0.
    pub fn false_positives_fall(&self) -> Option<f64> {
        let without = self.without.false_positive_rate().filter(|&rate| rate > 0.0)?;
        Some(1.0 - self.with.false_positive_rate()? / without)
    }

    /// Returns the difference in accuracy: with edge detection minus without; `None` if one of the two accuracies is
    /// unknown.
    pub fn accuracy_rises(&self) -> Option<f64> {
        Some(self.with.accuracy()? - self.without.accuracy()?)
    }
}

/// Counts the decisions of the BigRoots rules twice: with the edge detection that `rules` sets, and with none.
pub fn edge_effect(pools: &[(Pool, Truth)], rules: &Rules) -> EdgeEffect {
    EdgeEffect { with: decisions(pools, rules), without: decisions(pools, &Rules { edge: Edge::Off, ..*rules }) }
}
