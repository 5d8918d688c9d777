//! Random numbers by address.

use tailspn::estimate::normal_quantile;
use tailspn::rng::{Address, Purpose, split};

/// Random numbers by address: the seed, an owner and a sample number determine each number.
#[derive(Clone, Copy, Debug)]
pub(super) struct Draw {
    key: [u32; 2],
}

impl Draw {
    pub(super) fn new(seed: u64) -> Self {
        Self { key: split(seed) }
    }

    /// Returns a number that is uniform in (0, 1).
    pub(super) fn uniform(&self, owner: u32, sample: u32) -> f64 {
        let words = Address { purpose: Purpose::Task, owner, sample }.words(self.key, 0);
        (f64::from(words[0]) + 0.5) / (f64::from(u32::MAX) + 1.0)
    }

    pub(super) fn between(&self, owner: u32, sample: u32, [low, high]: [f64; 2]) -> f64 {
        low + (high - low) * self.uniform(owner, sample)
    }

    /// Returns a lognormal factor with mean 1; `sigma` is the standard deviation of its logarithm.
    pub(super) fn lognormal(&self, owner: u32, sample: u32, sigma: f64) -> f64 {
        libm::exp(sigma * normal_quantile(self.uniform(owner, sample)) - 0.5 * sigma * sigma)
    }
}
