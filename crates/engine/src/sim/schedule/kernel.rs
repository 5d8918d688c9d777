//! The arithmetic of the schedule engine on one block of 64 replications.
//!
//! A block is 16 quads of replications, because four consecutive replications share a Philox block. Lane `16 j + q` is
//! replication `4 q + j` of the block, so that word `j` of 16 Philox blocks is in consecutive lanes. Loops over lanes
//! have fixed lengths and no branches: the compiler turns them into vector code.

use crate::rng::{Address, exponential};
use crate::sim::clock::{NEVER, Scale};

/// Number of Philox blocks per block of replications.
pub(super) const QUADS: usize = 16;
/// Number of replications per block.
pub(super) const LANES: usize = 4 * QUADS;

/// One time per lane.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
pub(super) struct Times(pub(super) [u64; LANES]);

impl Times {
    pub(super) const ZERO: Self = Self([0; LANES]);
    pub(super) const NEVER: Self = Self([NEVER; LANES]);

    #[inline(always)]
    pub(super) fn max(&mut self, other: &Self) {
        for (own, other) in self.0.iter_mut().zip(&other.0) {
            *own = (*own).max(*other);
        }
    }

    #[inline(always)]
    pub(super) fn min(&mut self, other: &Self) {
        for (own, other) in self.0.iter_mut().zip(&other.0) {
            *own = (*own).min(*other);
        }
    }

    /// Takes the later time in each lane, unless `other` is after `limit`.
    #[inline(always)]
    pub(super) fn max_until(&mut self, other: &Self, limit: u64) {
        for (own, other) in self.0.iter_mut().zip(&other.0) {
            let other = if *other <= limit { *other } else { 0 };
            *own = (*own).max(other);
        }
    }

    /// Sets the time to never in lanes that take another branch.
    #[inline(always)]
    pub(super) fn keep_branch(&mut self, taken: &[u8; LANES], branch: u8) {
        for (own, taken) in self.0.iter_mut().zip(taken) {
            *own = if *taken == branch { *own } else { NEVER };
        }
    }

    /// Adds one exponential delay per lane: `((e * mantissa) >> shift)` for the lane's variate `e`.
    ///
    /// Computes first all words, then all variates: the iterations of each loop are short and independent, so a CPU overlaps them.
    #[inline(always)]
    pub(super) fn add_exponential(&mut self, key: [u32; 2], address: Address, first_quad: u64, scale: Scale) {
        let mantissa = u64::from(scale.mantissa);
        let words = draw_words(key, address, first_quad);
        for (time, &word) in self.0.iter_mut().zip(words.as_flattened()) {
            *time += (u64::from(exponential(word)) * mantissa) >> scale.shift;
        }
    }

    /// The time of replication `r` of the block.
    #[inline(always)]
    pub(super) fn of(&self, r: usize) -> u64 {
        self.0[(r & 3) * QUADS + (r >> 2)]
    }
}

/// One word per lane.
#[inline(always)]
pub(super) fn draw_words(key: [u32; 2], address: Address, first_quad: u64) -> [[u32; QUADS]; 4] {
    let mut words = [[0; QUADS]; 4];
    let [a, b, c, d] = &mut words;
    for q in 0..QUADS {
        [a[q], b[q], c[q], d[q]] = address.block(key, first_quad + q as u64);
    }
    words
}

/// The branch that each lane takes.
#[inline(always)]
pub(super) fn draw_branches(
    taken: &mut [u8; LANES],
    key: [u32; 2],
    address: Address,
    first_quad: u64,
    cumulative: &[u32],
) {
    let total = u64::from(cumulative[cumulative.len() - 1]);
    for q in 0..QUADS {
        let words = address.block(key, first_quad + q as u64);
        for (j, word) in words.into_iter().enumerate() {
            let selector = ((u64::from(word) * total) >> 32) as u32;
            taken[j * QUADS + q] = cumulative.iter().map(|&upper| u8::from(selector >= upper)).sum();
        }
    }
}
