//! Variation between whole runs: a common factor multiplies all times of a run, in addition to the
//! randomness of the net.
//!
//! Assigns a factor to each replication. The caller supplies the distribution of the factors.

use std::sync::Arc;

use crate::rng::{Address, Purpose, split};

/// Equally likely factors between the time of the next run and the time of a typical run. By default, there is no
/// variation, and all runs are typical.
///
/// A mean is the mean of a typical run, since the mean over factors may not exist; quantiles are over all runs.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Spread(Arc<[f64]>);

impl Spread {
    /// Returns a spread with these factors, > 0.
    pub fn of(factors: &[f64]) -> Self {
        Self(factors.into())
    }

    /// Returns true if all runs are typical.
    pub fn is_none(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the factor of a replication, which is the same at every point of a sweep.
    pub fn factor(&self, seed: u64, replication: u64) -> f64 {
        if self.0.is_empty() {
            return 1.0;
        }
        // the high part of the product, with a bias below count / 2^32
        self.0[((u64::from(Self::word(seed, replication)) * self.0.len() as u64) >> 32) as usize]
    }

    /// Returns the uniform number in [0, 1) that selects the replication's factor.
    pub(crate) fn share(seed: u64, replication: u64) -> f64 {
        f64::from(Self::word(seed, replication)) / 4_294_967_296.0 // 2^32
    }

    fn word(seed: u64, replication: u64) -> u32 {
        Address { purpose: Purpose::Run, owner: 0, sample: 0 }.word(split(seed), replication)
    }

    /// Multiplies the times \[s\] of typical runs by the factors of the replications from `first` on.
    pub fn spread(&self, times: &mut [f64], seed: u64, first: u64) {
        if self.0.is_empty() {
            return;
        }
        times.iter_mut().zip(first..).for_each(|(time, replication)| *time *= self.factor(seed, replication));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_factor_is_as_likely_and_belongs_to_the_replication() {
        let spread = Spread::of(&[0.5, 1.0, 2.0, 4.0]);
        let mut all = vec![3.0; 40_000];
        spread.spread(&mut all, 7, 0);
        for factor in [0.5, 1.0, 2.0, 4.0] {
            let share = all.iter().filter(|&&time| time == 3.0 * factor).count() as f64 / 40_000.0;
            // five standard errors
            assert!((share - 0.25).abs() < 5.0 * (0.25_f64 * 0.75 / 40_000.0).sqrt(), "{factor}: {share}");
        }
        let mut rest = vec![3.0; 100];
        spread.spread(&mut rest, 7, 39_900);
        assert_eq!(rest, all[39_900..]);
        let mut usual = vec![3.0; 2];
        Spread::default().spread(&mut usual, 7, 0);
        assert_eq!(usual, [3.0, 3.0]);
    }
}
