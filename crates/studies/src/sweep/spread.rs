//! Variation between whole runs: a common factor multiplies all times of a run, in addition to the
//! randomness of the net.
//!
//! Assigns a factor to each replication. The caller supplies the distribution of the factors.

use crate::rng::{Address, Purpose, split};
use crate::runs::RunFactor;

/// The factor between the time of the next run and the time of a typical run. By default, there is no
/// variation, and all runs are typical.
///
/// A mean is the mean of a typical run, since the mean over factors may not exist; quantiles are over all runs.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Spread(Option<RunFactor>);

impl Spread {
    /// Returns the spread of runs with this factor.
    pub fn of(factor: RunFactor) -> Self {
        Self(Some(factor).filter(|factor| !factor.is_constant()))
    }

    /// Returns true if all runs are typical.
    pub fn is_none(&self) -> bool {
        self.0.is_none()
    }

    /// Returns the factor of a replication, which is the same at every point of a sweep.
    pub fn factor(&self, seed: u64, replication: u64) -> f64 {
        self.0.as_ref().map_or(1.0, |factor| factor.draw(word(seed, replication)))
    }

    /// Multiplies the times \[s\] of typical runs by the factors of the replications from `first` on.
    pub fn spread(&self, times: &mut [f64], seed: u64, first: u64) {
        if let Some(factor) = &self.0 {
            times.iter_mut().zip(first..).for_each(|(time, replication)| *time *= factor.draw(word(seed, replication)));
        }
    }
}

/// Returns the random word that determines the factor of a replication.
fn word(seed: u64, replication: u64) -> u32 {
    Address { purpose: Purpose::Run, owner: 0, sample: 0 }.word(split(seed), replication)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::estimate::student_quantile;
    use crate::runs::RunSpread;

    #[test]
    fn factors_have_the_quantiles_of_students_distribution_and_belong_to_the_replication() {
        let runs = RunSpread { sigma: 0.3, degrees_of_freedom: 4.0, runs: 2 };
        let spread = Spread::of(RunFactor::new(&runs, 0.1));
        let scale = (0.09_f64 * 1.5 + 0.01).sqrt();
        let mut all = vec![3.0; 40_000];
        spread.spread(&mut all, 7, 0);
        for p in [0.001, 0.05, 0.5, 0.95, 0.999] {
            let limit = 3.0 * (scale * student_quantile(p, 4.0)).exp();
            let share = all.iter().filter(|&&time| time <= limit).count() as f64 / 40_000.0;
            // five standard errors
            assert!((share - p).abs() < 5.0 * (p * (1.0 - p) / 40_000.0).sqrt(), "{p}: {share}");
        }
        let mut rest = vec![3.0; 100];
        spread.spread(&mut rest, 7, 39_900);
        assert_eq!(rest, all[39_900..]);
        for usual in [Spread::default(), Spread::of(RunFactor::new(&RunSpread { sigma: 0.0, ..runs }, 0.0))] {
            let mut times = vec![3.0; 2];
            usual.spread(&mut times, 7, 0);
            assert!(times == [3.0, 3.0] && usual.is_none());
        }
    }
}
