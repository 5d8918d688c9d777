//! A store of the markings of a large net: of each marking, the counters that differ from the initial marking.

use std::sync::Arc;

use hashbrown::HashTable;
use hashbrown::hash_table::Entry;

use crate::solve::marking::Marking;

/// A set of markings, numbered from 0 in the order in which they were inserted.
///
/// A change takes one word: the number of the counter and, in the lowest bits, its tokens, or [`MORE`] if the next word has them.
#[derive(Clone, Debug)]
pub(crate) struct Sparse {
    initial: Arc<[u32]>,
    /// Start of each marking, and the end of the last one.
    starts: Vec<usize>,
    words: Vec<u32>,
    table: HashTable<u32>,
}

/// Number of bits of a word for the tokens.
const BITS: u32 = 2;
/// Tokens that do not fit these bits.
const MORE: u32 = (1 << BITS) - 1;

impl Sparse {
    /// Returns an empty store for the markings of a net with this initial marking and fewer than 2^30 counters.
    pub(crate) fn new(initial: Arc<[u32]>) -> Self {
        assert!(initial.len() < 1 << (32 - BITS), "a net has fewer than 2^30 counters");
        Self { initial, starts: vec![0], words: Vec::new(), table: HashTable::new() }
    }

    /// Returns the number of markings.
    pub(crate) fn len(&self) -> usize {
        self.starts.len() - 1
    }

    /// Returns the number of counters of a marking.
    pub(crate) fn counters(&self) -> usize {
        self.initial.len()
    }

    /// Returns the number of bytes in use.
    pub(crate) fn bytes(&self) -> u64 {
        (size_of_val(&self.words[..]) + size_of_val(&self.starts[..]) + self.table.allocation_size()) as u64
    }

    /// Returns the mean number of bits of a marking, rounded up.
    pub(crate) fn marking_bits(&self) -> u32 {
        (32 * self.words.len()).div_ceil(self.len().max(1)) as u32
    }

    /// Returns the changes of marking `i`.
    pub(crate) fn changes(&self, i: usize) -> impl Iterator<Item = (u32, u32)> {
        changes(&self.words, &self.starts, i)
    }

    /// Writes marking `i` to `tokens`.
    pub(crate) fn read_all(&self, i: usize, tokens: &mut [u32]) {
        tokens.copy_from_slice(&self.initial);
        self.changes(i).for_each(|(counter, held)| tokens[counter as usize] = held);
    }

    /// Returns the number of a marking, if it is stored.
    pub(crate) fn find(&self, marking: &Marking) -> Option<u32> {
        let (code, count) = summary(marking);
        self.table.find(code, |&i| same(self.changes(i as usize), marking, count)).copied()
    }

    /// Inserts a marking; returns its number, and true if it is new. The store holds at most 2^32 - 1 markings.
    pub(crate) fn insert(&mut self, marking: &Marking) -> (u32, bool) {
        let (code, count) = summary(marking);
        let (words, starts) = (&self.words, &self.starts);
        let entry = self.table.entry(
            code,
            |&i| same(changes(words, starts, i as usize), marking, count),
            |&i| changes(words, starts, i as usize).map(mixed).fold(0, u64::wrapping_add),
        );
        match entry {
            Entry::Occupied(entry) => (*entry.get(), false),
            Entry::Vacant(entry) => {
                let number = u32::try_from(starts.len() - 1).expect("the number of markings is limited");
                entry.insert(number);
                for (counter, tokens) in marking.changed().into_iter().flatten() {
                    self.words.push(counter << BITS | tokens.min(MORE));
                    self.words.extend((tokens >= MORE).then_some(tokens));
                }
                self.starts.push(self.words.len());
                (number, true)
            }
        }
    }

    /// Returns true if no counter of marking `i` holds more tokens than in `marking`.
    pub(crate) fn is_covered(&self, i: usize, marking: &Marking) -> bool {
        let is_below = |counter: u32| marking[counter as usize] < self.initial[counter as usize];
        // what is below the initial marking must be so in both
        let mut below = marking.changed().into_iter().flatten().filter(|&(counter, _)| is_below(counter)).count();
        for (counter, tokens) in self.changes(i) {
            if tokens > marking[counter as usize] {
                return false;
            }
            below -= usize::from(is_below(counter));
        }
        below == 0
    }

    /// Removes all markings.
    pub(crate) fn clear(&mut self) {
        self.starts.truncate(1);
        self.words.clear();
        self.table.clear();
    }
}

fn changes(words: &[u32], starts: &[usize], i: usize) -> impl Iterator<Item = (u32, u32)> {
    let mut words = words[starts[i]..starts[i + 1]].iter();
    std::iter::from_fn(move || {
        let word = words.next()?;
        let tokens = if word & MORE < MORE { word & MORE } else { *words.next()? };
        Some((word >> BITS, tokens))
    })
}

fn same(mut stored: impl Iterator<Item = (u32, u32)>, marking: &Marking, mut count: usize) -> bool {
    stored.all(|(counter, tokens)| {
        count = count.wrapping_sub(1);
        marking[counter as usize] == tokens
    }) && count == 0
}

/// Returns the hash of a marking and the number of its changes. The hash is a sum over the changes, so their order does not matter.
fn summary(marking: &Marking) -> (u64, usize) {
    let changed = marking.changed().expect("the marking lists its changes");
    changed.fold((0, 0), |(code, count), change| (code.wrapping_add(mixed(change)), count + 1))
}

/// Returns a number that looks random, after the finisher of SplitMix64.
fn mixed((counter, tokens): (u32, u32)) -> u64 {
    let mut x = (u64::from(counter) << 32 | u64::from(tokens)).wrapping_add(0x9e37_79b9_7f4a_7c15);
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn markings_keep_their_numbers(
            markings in proptest::collection::vec(proptest::collection::vec(0_u32..5, 4), 1..200),
        ) {
            let initial: Arc<[u32]> = Arc::from([0, 1, 2, 3]);
            let (mut store, mut marking) = (Sparse::new(initial.clone()), Marking::listing(initial));
            let mut seen: Vec<Vec<u32>> = Vec::new();
            for tokens in &markings {
                let known = seen.iter().position(|other| other == tokens);
                marking.change((0..).zip(tokens.iter().copied()));
                prop_assert_eq!(store.find(&marking), known.map(|i| i as u32));
                for (i, other) in seen.iter().enumerate() {
                    let covers = other.iter().zip(tokens).all(|(old, new)| old <= new);
                    prop_assert_eq!(store.is_covered(i, &marking), covers);
                }
                prop_assert_eq!(store.insert(&marking), (known.unwrap_or(seen.len()) as u32, known.is_none()));
                if known.is_none() {
                    seen.push(tokens.clone());
                }
            }
            let mut read = vec![0; 4];
            for (i, tokens) in seen.iter().enumerate() {
                store.read_all(i, &mut read);
                prop_assert_eq!(&read, tokens);
            }
        }
    }
}
