//! Many blocks of random words at once, in vector instructions where the CPU has them: the same bits as one by one.

use crate::rng::Address;
use crate::simd::Level;

/// Blocks that are computed side by side.
const LANES: usize = 16;

impl Address {
    /// Fills `found` with the words of this address and of the next samples of its owner, for one replication: [`Address::words`] of
    /// each.
    pub fn consecutive_words(self, key: [u32; 2], replication: u64, found: &mut [[u32; 4]]) {
        Level::detect().run(Consecutive { first: self, key, replication, found });
    }
}

/// Computes consecutive blocks. Compiled for every vector level.
struct Consecutive<'a> {
    first: Address,
    key: [u32; 2],
    replication: u64,
    found: &'a mut [[u32; 4]],
}

impl pulp::NullaryFnOnce for Consecutive<'_> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        let Self { first, key, replication, found } = self;
        let at = |number: usize| Address { sample: first.sample.wrapping_add(number as u32), ..first };
        let (whole, rest) = found.as_chunks_mut::<LANES>();
        for (chunk, blocks) in whole.iter_mut().enumerate() {
            let mut words = [[0; LANES]; 4];
            for lane in 0..LANES {
                let block = at(chunk * LANES + lane).words(key, replication);
                for (words, word) in words.iter_mut().zip(block) {
                    words[lane] = word;
                }
            }
            for (lane, block) in blocks.iter_mut().enumerate() {
                *block = [words[0][lane], words[1][lane], words[2][lane], words[3][lane]];
            }
        }
        for (lane, block) in rest.iter_mut().enumerate() {
            *block = at(whole.len() * LANES + lane).words(key, replication);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Purpose;

    #[test]
    fn words_are_those_of_each_address() {
        let first = Address { purpose: Purpose::Task, owner: 9, sample: u32::MAX - 20 };
        for count in [0, 1, 15, 16, 17, 50] {
            let mut expected: Vec<[u32; 4]> = Vec::new();
            for number in 0..count {
                expected.push(Address { sample: first.sample.wrapping_add(number), ..first }.words([3, 4], 1 << 40));
            }
            for level in Level::available() {
                let mut found = vec![[0; 4]; count as usize];
                level.run(Consecutive { first, key: [3, 4], replication: 1 << 40, found: &mut found });
                assert_eq!(found, expected, "{count} with {}", level.name());
            }
        }
    }
}
