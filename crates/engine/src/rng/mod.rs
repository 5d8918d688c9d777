//! Random numbers: the address of each random word, and variates computed from words.
//!
//! A draw is a function of (seed, replication, purpose, owner, sample), see [`Address`]. So a replication's numbers
//! are the same on any thread, block, shard or machine, and a change of one part of a net does not change the draws
//! of other parts (common random numbers).

mod exponential;
mod many;
mod philox;

pub use exponential::{FRACTION_BITS, exponential};
pub use philox::{Philox, philox4x32_10, split};

/// Converts a random word to a uniform number inside (0, 1).
#[inline]
pub fn uniform(word: u32) -> f64 {
    (f64::from(word) + 0.5) * (1.0 / 4_294_967_296.0)
}

/// Purpose of a random word. Each purpose has its own stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Purpose {
    /// The delay of one transition; four consecutive replications share a block.
    Delay = 0,
    /// A choice among immediate transitions; four consecutive replications share a block.
    Choice = 1,
    /// An event of the direct method: time and selection; a block serves two events of one replication.
    Event = 2,
    /// A random choice made while a net is built.
    Build = 3,
    /// One phase of the attempts of four tasks of a job, one word each, see [`Address::words`]; the owner is the stage, the attempt and the phase.
    Task = 4,
    /// The input of a job of the cluster simulator: sizes and nodes of the blocks, the same in every replication.
    Input = 5,
    /// Events of a node of the cluster simulator over time; the owner is the node.
    Node = 6,
    /// The points of a Latin hypercube, and the shift of a Sobol sequence; the owner is the axis.
    Design = 7,
    /// The states in which the replications of a level of splitting start; the owner is the level.
    Split = 8,
    /// Remaining delay of a clock at the start of a walk of splitting, given its age; the owner is the transition.
    Residual = 9,
    /// Remaining time of four running tasks of a resumed job, one word each, see [`Address::words`]; the owner is the stage.
    Left = 10,
    /// Delay before a stage of a job starts; the owner is the stage.
    Setup = 12,
    /// The difference of a whole run from a typical run.
    Run = 13,
}

/// Bit position of the purpose in the last counter word; the replication number uses the 60 bits below it.
const PURPOSE_SHIFT: u32 = 28;

/// Address of a draw that is shared by four consecutive replications.
#[derive(Clone, Copy, Debug)]
pub struct Address {
    /// Purpose of the word.
    pub purpose: Purpose,
    /// The transition or the group of immediate transitions that draws.
    pub owner: u32,
    /// Number of earlier draws of this owner in this replication.
    pub sample: u32,
}

impl Address {
    /// The block for the four replications `4 * quad ..= 4 * quad + 3`.
    #[inline(always)]
    pub fn block(self, key: [u32; 2], quad: u64) -> [u32; 4] {
        let [low, high] = split(quad);
        philox4x32_10([self.sample, self.owner, low, high | (self.purpose as u32) << PURPOSE_SHIFT], key)
    }

    /// Four words of a single replication. A purpose uses either this function or [`Address::block`], never both.
    #[inline(always)]
    pub fn words(self, key: [u32; 2], replication: u64) -> [u32; 4] {
        self.block(key, replication)
    }

    /// The word of one replication.
    #[inline(always)]
    pub fn word(self, key: [u32; 2], replication: u64) -> u32 {
        self.block(key, replication >> 2)[(replication & 3) as usize]
    }
}

/// The block of events `2 * pair` and `2 * pair + 1` of the direct method: time and selection word of each.
#[inline(always)]
pub fn event_block(key: [u32; 2], replication: u64, pair: u32) -> [u32; 4] {
    let [low, high] = split(replication);
    philox4x32_10([pair, 0, low, high | (Purpose::Event as u32) << PURPOSE_SHIFT], key)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn four_replications_share_a_block() {
        let address = Address { purpose: Purpose::Delay, owner: 5, sample: 2 };
        let block = address.block([1, 2], 3);
        let words: Vec<_> = (12..16).map(|r| address.word([1, 2], r)).collect();
        assert_eq!(words, block);
    }

    #[test]
    fn purposes_owners_and_samples_have_different_words() {
        let mut seen = std::collections::BTreeSet::new();
        for purpose in [Purpose::Delay, Purpose::Choice, Purpose::Build] {
            for owner in 0..10 {
                for sample in 0..10 {
                    assert!(seen.insert(Address { purpose, owner, sample }.word([0, 0], 0)));
                }
            }
        }
        assert!(seen.insert(event_block([0, 0], 0, 0)[0]));
    }
}
