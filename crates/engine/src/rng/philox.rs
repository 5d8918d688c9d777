//! Philox4x32-10, the counter-based generator of Salmon et al. \[Salmon2011\].
//!
//! A draw is a function of a 128-bit counter and a 64-bit key: there is no state between draws, so results do
//! not depend on the thread or the order of computation.

use rand_core::{Infallible, SeedableRng, TryRng};

const MULTIPLIER_0: u32 = 0xD251_1F53;
const MULTIPLIER_1: u32 = 0xCD9E_8D57;
const WEYL_0: u32 = 0x9E37_79B9;
const WEYL_1: u32 = 0xBB67_AE85;
const ROUNDS: u32 = 10;

/// High and low halves of the 64-bit product.
#[inline(always)]
fn wide_product(a: u32, b: u32) -> (u32, u32) {
    let product = u64::from(a) * u64::from(b);
    ((product >> 32) as u32, product as u32)
}

/// Four words that belong to `counter` under `key`. \[Salmon2011\]
///
/// ```
/// // first known-answer vector of Random123
/// let words = tailspn_engine::rng::philox4x32_10([0; 4], [0; 2]);
/// assert_eq!(words, [0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8]);
/// ```
#[inline(always)]
pub fn philox4x32_10(counter: [u32; 4], key: [u32; 2]) -> [u32; 4] {
    let mut c = counter;
    let mut k = key;
    for _ in 0..ROUNDS {
        let (high_0, low_0) = wide_product(MULTIPLIER_0, c[0]);
        let (high_1, low_1) = wide_product(MULTIPLIER_1, c[2]);
        c = [high_1 ^ c[1] ^ k[0], low_1, high_0 ^ c[3] ^ k[1], low_0];
        k = [k[0].wrapping_add(WEYL_0), k[1].wrapping_add(WEYL_1)];
    }
    c
}

/// Philox4x32-10 as a sequential generator of the rand traits: the counter runs up from 0.
///
/// For code that needs a stream; the engines address words directly with [`philox4x32_10`].
#[derive(Clone, Debug)]
pub struct Philox {
    key: [u32; 2],
    counter: u128,
    block: [u32; 4],
    used: usize,
}

impl Philox {
    /// The stream of `seed` from its start.
    pub fn new(seed: u64) -> Self {
        Self { key: split(seed), counter: 0, block: [0; 4], used: 4 }
    }
}

/// Low and high halves of a 64-bit number: the key for a seed.
#[inline]
pub fn split(value: u64) -> [u32; 2] {
    [value as u32, (value >> 32) as u32]
}

impl SeedableRng for Philox {
    type Seed = [u8; 8];

    fn from_seed(seed: Self::Seed) -> Self {
        Self::new(u64::from_le_bytes(seed))
    }
}

impl TryRng for Philox {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        if self.used == 4 {
            let [low, high] = [self.counter as u64, (self.counter >> 64) as u64].map(split);
            self.block = philox4x32_10([low[0], low[1], high[0], high[1]], self.key);
            self.counter = self.counter.wrapping_add(1);
            self.used = 0;
        }
        self.used += 1;
        Ok(self.block[self.used - 1])
    }

    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        let low = u64::from(self.try_next_u32()?);
        Ok(low | u64::from(self.try_next_u32()?) << 32)
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Infallible> {
        for chunk in bytes.chunks_mut(4) {
            let word = self.try_next_u32()?.to_le_bytes();
            chunk.copy_from_slice(&word[..chunk.len()]);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand_core::Rng;

    /// The known-answer vectors of Random123 (file kat_vectors, philox4x32 with 10 rounds).
    #[test]
    fn equals_the_known_answers_of_random123() {
        let all = u32::MAX;
        let cases = [
            ([0; 4], [0; 2], [0x6627_e8d5, 0xe169_c58d, 0xbc57_ac4c, 0x9b00_dbd8]),
            ([all; 4], [all; 2], [0x408f_276d, 0x41c8_3b0e, 0xa20b_c7c6, 0x6d54_51fd]),
            (
                [0x243f_6a88, 0x85a3_08d3, 0x1319_8a2e, 0x0370_7344],
                [0xa409_3822, 0x299f_31d0],
                [0xd16c_fe09, 0x94fd_cceb, 0x5001_e420, 0x2412_6ea1],
            ),
        ];
        for (counter, key, words) in cases {
            assert_eq!(philox4x32_10(counter, key), words);
        }
    }

    #[test]
    fn the_stream_is_the_blocks_in_order() {
        let mut stream = Philox::from_seed(7_u64.to_le_bytes());
        let words: Vec<u32> = (0..8).map(|_| stream.next_u32()).collect();
        assert_eq!(words[..4], philox4x32_10([0; 4], [7, 0]));
        assert_eq!(words[4..], philox4x32_10([1, 0, 0, 0], [7, 0]));
        let mut bytes = [0; 6];
        Philox::new(7).fill_bytes(&mut bytes);
        assert_eq!(bytes[..4], words[0].to_le_bytes());
        assert_eq!(bytes[4..], words[1].to_le_bytes()[..2]);
    }
}
