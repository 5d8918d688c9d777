//! Random words of the direct form, drawn for several firings at once.

use crate::rng::{event_block, exponential};
use crate::simd::Level;

/// Number of pairs of firings that are drawn at once.
const PAIRS: usize = 16;
/// The same at the start of a replication, which may be short.
const FIRST_PAIRS: usize = 4;

/// The words of the next firings of a replication.
#[derive(Debug)]
pub(super) struct Ahead {
    /// Per firing: the unit exponential variate, and the word that selects the transition.
    words: [[u32; 2]; 2 * PAIRS],
    next: usize,
    /// Pair of firings that is drawn next.
    pair: u32,
}

impl Ahead {
    pub(super) fn new() -> Self {
        Self { words: [[0; 2]; 2 * PAIRS], next: 2 * PAIRS, pair: 0 }
    }

    /// Starts a replication.
    pub(super) fn reset(&mut self) {
        (self.next, self.pair) = (2 * PAIRS, 0);
    }

    /// The unit exponential variate of the next firing, and the word that selects its transition.
    #[inline(always)]
    pub(super) fn next(&mut self, level: Level, key: [u32; 2], replication: u64) -> [u32; 2] {
        if self.next == 2 * PAIRS {
            self.draw(level, key, replication);
        }
        let words = self.words[self.next % (2 * PAIRS)];
        self.next += 1;
        words
    }

    #[inline(never)]
    fn draw(&mut self, level: Level, key: [u32; 2], replication: u64) {
        if self.pair == 0 {
            level.run(Draw::<FIRST_PAIRS> { ahead: self, key, replication });
        } else {
            level.run(Draw::<PAIRS> { ahead: self, key, replication });
        }
    }
}

/// Draws the words of the next `N` pairs of firings. Compiled for every vector level.
struct Draw<'a, const N: usize> {
    ahead: &'a mut Ahead,
    key: [u32; 2],
    replication: u64,
}

impl<const N: usize> pulp::NullaryFnOnce for Draw<'_, N> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        let Self { ahead, key, replication } = self;
        let mut words = [[0; N]; 4];
        for i in 0..N {
            let block = event_block(key, replication, ahead.pair.wrapping_add(i as u32));
            for (words, word) in words.iter_mut().zip(block) {
                words[i] = word;
            }
        }
        for times in [0, 2] {
            for time in &mut words[times] {
                *time = exponential(*time);
            }
        }
        let next = 2 * (PAIRS - N);
        let [a, b, c, d] = words;
        for (i, pair) in ahead.words[next..].as_chunks_mut::<2>().0.iter_mut().enumerate() {
            *pair = [[a[i], b[i]], [c[i], d[i]]];
        }
        ahead.pair = ahead.pair.wrapping_add(N as u32);
        ahead.next = next;
    }
}
