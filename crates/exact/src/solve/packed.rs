//! A store of packed markings: each counter has the number of bits that its largest value so far requires, and a marking is
//! found by its hash.
//!
//! Counters that no firing changes take no space. If a value needs more bits than its counter has, all markings are packed
//! anew; this happens at most 32 times per counter.

use hashbrown::HashTable;
use hashbrown::hash_table::Entry;

use crate::compile::Program;
use crate::net::ArcKind;

/// Position of a counter in a packed marking; a field does not cross from one word to the next.
#[derive(Clone, Copy, Debug)]
struct Field {
    counter: u32,
    word: u32,
    shift: u8,
    bits: u8,
}

impl Field {
    fn mask(self) -> u64 {
        (1 << self.bits) - 1
    }

    #[inline]
    fn of(self, packed: &[u64]) -> u32 {
        ((packed[self.word as usize] >> self.shift) & self.mask()) as u32
    }
}

/// A set of markings, numbered from 0 in the order in which they were inserted.
#[derive(Clone, Debug)]
pub(crate) struct Packed {
    /// A marking with the values of the counters that never change.
    base: Vec<u32>,
    fields: Vec<Field>,
    /// Number of words per marking.
    stride: usize,
    words: Vec<u64>,
    table: HashTable<u32>,
    len: usize,
    scratch: Vec<u64>,
}

/// Error if a counter needs more bits than it has.
struct TooLarge {
    field: usize,
}

impl Packed {
    /// Returns an empty store for markings that differ from `base` only in the counters that `varying` marks.
    pub(crate) fn new(base: &[u32], varying: &[bool]) -> Self {
        let counters = (0_u32..).zip(varying).filter(|(_, varies)| **varies).map(|(counter, _)| counter);
        let needed = |counter: u32| bits(base[counter as usize].max(1));
        let fields = counters.map(|counter| Field { counter, word: 0, shift: 0, bits: needed(counter) }).collect();
        let mut store = Self {
            base: base.to_vec(),
            fields,
            stride: 0,
            words: Vec::new(),
            table: HashTable::new(),
            len: 0,
            scratch: Vec::new(),
        };
        store.lay_out();
        store
    }

    /// Returns the number of markings.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Returns the number of counters of a marking.
    pub(crate) fn counters(&self) -> usize {
        self.base.len()
    }

    /// Returns the number of bytes in use.
    pub(crate) fn bytes(&self) -> u64 {
        (size_of_val(&self.words[..]) + self.table.allocation_size()) as u64
    }

    /// Returns the number of bits of a packed marking.
    pub(crate) fn marking_bits(&self) -> u32 {
        self.fields.iter().map(|field| u32::from(field.bits)).sum()
    }

    /// Writes marking `i` to `marking`.
    pub(crate) fn read(&self, i: usize, marking: &mut [u32]) {
        marking.copy_from_slice(&self.base);
        unpack(&self.fields, &self.words[i * self.stride..(i + 1) * self.stride], marking);
    }

    /// Returns the number of a marking, if it is stored.
    pub(crate) fn find(&self, marking: &[u32]) -> Option<u32> {
        let mut packed = vec![0; self.stride];
        pack(&self.fields, marking, &mut packed).ok()?;
        let (words, stride) = (&self.words, self.stride);
        self.table.find(hash(&packed), |&i| same(words, stride, i, &packed)).copied()
    }

    /// Inserts a marking; returns its number, and true if it is new. The store holds at most 2^32 - 1 markings.
    pub(crate) fn insert(&mut self, marking: &[u32]) -> (u32, bool) {
        while let Err(TooLarge { field }) = pack(&self.fields, marking, &mut self.scratch) {
            self.widen(field, marking);
        }
        let (words, stride, packed) = (&mut self.words, self.stride, &self.scratch);
        let code = hash(packed);
        let found = self.table.entry(
            code,
            |&i| same(words, stride, i, packed),
            |&i| hash(&words[i as usize * stride..(i as usize + 1) * stride]),
        );
        match found {
            Entry::Occupied(entry) => (*entry.get(), false),
            Entry::Vacant(entry) => {
                let number = u32::try_from(self.len).expect("the number of markings is limited");
                entry.insert(number);
                words.extend_from_slice(packed);
                self.len += 1;
                (number, true)
            }
        }
    }

    /// Returns true if no counter of marking `i` holds more tokens than in `marking`, which differs from it only in counters that vary.
    pub(crate) fn is_covered(&self, i: usize, marking: &[u32]) -> bool {
        let packed = &self.words[i * self.stride..(i + 1) * self.stride];
        self.fields.iter().all(|field| field.of(packed) <= marking[field.counter as usize])
    }

    /// Removes all markings, but keeps the sizes of the fields.
    pub(crate) fn clear(&mut self) {
        self.words.clear();
        self.table.clear();
        self.len = 0;
    }

    /// Assigns every field its position.
    fn lay_out(&mut self) {
        let (mut word, mut used) = (0, 0);
        for field in &mut self.fields {
            if used + field.bits > 64 {
                word += 1;
                used = 0;
            }
            field.word = word;
            field.shift = used;
            used += field.bits;
        }
        self.stride = if self.fields.is_empty() { 0 } else { word as usize + 1 };
        self.scratch = vec![0; self.stride];
    }

    /// Gives a field the bits that `marking` needs, and packs everything anew.
    fn widen(&mut self, field: usize, marking: &[u32]) {
        let (old, stride) = (self.fields.clone(), self.stride);
        self.fields[field].bits = bits(marking[self.fields[field].counter as usize]);
        self.lay_out();
        let mut words = Vec::with_capacity(self.len * self.stride);
        let mut unpacked = self.base.clone();
        for i in 0..self.len {
            unpack(&old, &self.words[i * stride..(i + 1) * stride], &mut unpacked);
            let fits = pack(&self.fields, &unpacked, &mut self.scratch);
            debug_assert!(fits.is_ok(), "wider fields hold what narrower ones did");
            words.extend_from_slice(&self.scratch);
        }
        self.words = words;
        let (words, stride) = (&self.words, self.stride);
        let code = |i: u32| hash(&words[i as usize * stride..(i as usize + 1) * stride]);
        let numbers: u32 = u32::try_from(self.len).expect("the number of markings is limited");
        self.table.clear();
        for i in 0..numbers {
            self.table.insert_unique(code(i), i, |&i| code(i));
        }
    }
}

fn bits(value: u32) -> u8 {
    (32 - value.leading_zeros()).max(1) as u8
}

#[inline]
fn pack(fields: &[Field], marking: &[u32], packed: &mut [u64]) -> Result<(), TooLarge> {
    packed.fill(0);
    for (i, field) in fields.iter().enumerate() {
        let value = u64::from(marking[field.counter as usize]);
        if value > field.mask() {
            return Err(TooLarge { field: i });
        }
        packed[field.word as usize] |= value << field.shift;
    }
    Ok(())
}

#[inline]
fn unpack(fields: &[Field], packed: &[u64], marking: &mut [u32]) {
    for field in fields {
        marking[field.counter as usize] = field.of(packed);
    }
}

#[inline]
fn same(words: &[u64], stride: usize, i: u32, packed: &[u64]) -> bool {
    words[i as usize * stride..(i as usize + 1) * stride] == *packed
}

/// Returns a hash that combines both halves of products with odd constants, so that every bit of the words affects low and high bits.
#[inline]
fn hash(words: &[u64]) -> u64 {
    const START: u64 = 0x243f_6a88_85a3_08d3;
    const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;
    words.iter().fold(START, |code, &word| {
        let product = u128::from(code ^ word) * u128::from(FACTOR);
        (product as u64) ^ ((product >> 64) as u64).rotate_left(32)
    })
}

/// Returns true for each counter that some firing changes.
pub(crate) fn varying(program: &Program) -> Vec<bool> {
    let mut varying = vec![false; program.counters()];
    for change in program.changes.items() {
        varying[change.counter as usize] = true;
    }
    for arc in program.dynamic.items().iter().filter(|arc| matches!(arc.kind, ArcKind::Input | ArcKind::Output)) {
        varying[arc.counter as usize] = true;
    }
    varying
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn constant_counters_take_no_room() {
        let mut store = Packed::new(&[7, 0], &[false, false]);
        assert_eq!((store.insert(&[7, 0]), store.insert(&[7, 0])), ((0, true), (0, false)));
        let mut marking = [0, 0];
        store.read(0, &mut marking);
        assert_eq!((marking, store.marking_bits()), ([7, 0], 0));
    }

    #[test]
    fn the_largest_counts_fit() {
        let mut store = Packed::new(&[0, 0, 0], &[true; 3]);
        let marking = [u32::MAX, 1, u32::MAX];
        store.insert(&[0, 0, 0]);
        store.insert(&marking);
        let mut read = [0; 3];
        store.read(1, &mut read);
        assert_eq!((read, store.find(&marking), store.find(&[1, 0, 0])), (marking, Some(1), None));
    }

    proptest! {
        #[test]
        fn markings_keep_their_numbers_while_counters_grow(
            markings in proptest::collection::vec(proptest::collection::vec(0_u32..40, 7), 1..200),
        ) {
            let mut store = Packed::new(&[0; 7], &[true; 7]);
            let mut seen: Vec<Vec<u32>> = Vec::new();
            for marking in &markings {
                let known = seen.iter().position(|other| other == marking);
                let (number, new) = store.insert(marking);
                prop_assert_eq!(new, known.is_none());
                prop_assert_eq!(number as usize, known.unwrap_or(seen.len()));
                if new {
                    seen.push(marking.clone());
                }
            }
            let mut read = vec![0; 7];
            for (i, marking) in seen.iter().enumerate() {
                store.read(i, &mut read);
                prop_assert_eq!(&read, marking);
                prop_assert_eq!(store.find(marking), Some(i as u32));
            }
        }
    }
}
