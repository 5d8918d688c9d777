//! Learns what programs of a cluster have in common from their fits.

use tailspn_common::order::median;

use crate::tasks::cluster::{Cluster, Growth, OF_PROGRAM, OF_STAGE, quantiles};
use crate::tasks::fit::Fit;
use crate::tasks::recorded::RecordedTasks;

/// Number of stages of a kind from which their values are learnt.
const ENOUGH: usize = 4;

/// Returns the standard deviation.
fn deviation(values: &[f64]) -> f64 {
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    (values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / values.len() as f64).sqrt()
}

impl Cluster {
    /// Learns a cluster from programs that ran on it.
    pub fn of<'p>(programs: impl IntoIterator<Item = &'p RecordedTasks>) -> Self {
        let programs: Vec<&RecordedTasks> = programs.into_iter().filter(|program| !program.runs().is_empty()).collect();
        let fits: Vec<Fit> = programs.iter().map(|program| Fit::new(program, &Self::default())).collect();
        let most = programs.iter().flat_map(|program| program.runs()).map(|(_, executors)| executors).max();
        Self::learnt(&fits, most.unwrap_or(0))
    }

    /// Learns from the fits of other programs of the cluster.
    fn learnt(fits: &[Fit], most_executors: u32) -> Self {
        let mut found = Self::default();
        if fits.is_empty() {
            return found;
        }
        (found.programs, found.most_executors) = (fits.len(), most_executors);
        found.reference = median(fits.iter().filter_map(|fit| Some(fit.stages.reference_mb?.ln()))).map(f64::exp);
        for growth in [Growth::None, Growth::Tasks, Growth::Both, Growth::Shuffle] {
            let of_fit = |fit: &Fit| {
                let own = (0..fit.stages.len()).filter(|&stage| fit.stages.growth[stage] == growth);
                own.map(|stage| fit.values.stage(stage)).collect::<Vec<_>>()
            };
            let all: Vec<[f64; OF_STAGE]> = fits.iter().flat_map(of_fit).collect();
            if all.len() >= ENOUGH {
                let least = [0.3, 0.5, 0.2, 0.1, 0.2];
                let prior = &mut found.stages[growth as usize];
                for value in 0..OF_STAGE {
                    let own: Vec<f64> = all.iter().map(|stage| stage[value]).collect();
                    let middle = median(own.iter().copied()).unwrap_or_default();
                    let near = 1.4826 * median(own.iter().map(|own| (own - middle).abs())).unwrap_or_default();
                    prior.mean[value] = middle;
                    prior.sd[value] = near.max(0.5 * deviation(&own)).max(least[value]);
                }
            }
        }
        let (least, most) = ([0.15, 0.03, 0.1, 0.15], [0.25, 1.0, 1.0, 0.3]);
        for value in 0..OF_PROGRAM {
            let own: Vec<f64> = fits.iter().map(|fit| fit.values.program()[value]).collect();
            found.program.mean[value] = median(own.iter().copied()).unwrap_or_default();
            found.program.sd[value] = deviation(&own).min(most[value]).max(least[value]);
        }
        for value in 0..found.contention.mean.len() {
            let own: Vec<f64> = fits.iter().map(|fit| fit.values.contention()[value]).collect();
            found.contention.mean[value] = median(own.iter().copied()).unwrap_or_default();
            // one program does not show how much programs differ
            let few = 0.1 / fits.len() as f64;
            found.contention.sd[value] = (1.1 * deviation(&own)).max(0.02).max(few);
        }
        found.excess = median(fits.iter().flat_map(Fit::excesses)).unwrap_or(found.excess);
        found.block = median(fits.iter().flat_map(Fit::blocks)).unwrap_or(found.block);
        for (kind, waves) in found.spread.iter_mut().enumerate() {
            for (wave, spread) in waves.iter_mut().enumerate() {
                let mut all: Vec<f64> = fits.iter().flat_map(|fit| fit.ratios(kind, wave)).collect();
                *spread = quantiles(&mut all);
            }
        }
        found
    }
}
