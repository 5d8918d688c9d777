//! Slots in the order in which they become free: a tournament whose winner is the earliest slot.

use std::ops::BitOr;

/// A time in ticks and a slot in one number, so that one comparison orders by both. The narrow form has 64 bits, the wide one 128.
/// The key of time 0 and a slot is the slot itself.
pub(super) trait Key: Copy + Ord + BitOr<Output = Self> + From<u32> {
    /// No slot.
    const NEVER: Self;

    /// Combines a time with slot 0; `bits` are the bits of a slot. A time that does not fit sets the highest bit.
    fn at(time: u64, bits: u32) -> Self;

    /// Returns the slot.
    fn slot(self, bits: u32) -> usize;

    /// Returns the time.
    fn time(self, bits: u32) -> u64;

    /// Returns this key, later by another key of slot 0. Wraps if one of them is full.
    fn plus(self, other: Self) -> Self;

    /// Returns true if the time does not fit: also the sum of two keys that fit tells this.
    fn is_full(self) -> bool;
}

impl Key for u64 {
    const NEVER: Self = Self::MAX >> 1;

    #[inline]
    fn at(time: u64, bits: u32) -> Self {
        if time >> (63 - bits) == 0 { time << bits } else { 1 << 63 }
    }

    #[inline]
    fn slot(self, bits: u32) -> usize {
        (self & ((1 << bits) - 1)) as usize
    }

    #[inline]
    fn time(self, bits: u32) -> u64 {
        self >> bits
    }

    #[inline]
    fn plus(self, other: Self) -> Self {
        self.wrapping_add(other)
    }

    #[inline]
    fn is_full(self) -> bool {
        self >> 63 == 1
    }
}

impl Key for u128 {
    const NEVER: Self = Self::MAX >> 1;

    #[inline]
    fn at(time: u64, bits: u32) -> Self {
        Self::from(time) << bits
    }

    #[inline]
    fn slot(self, bits: u32) -> usize {
        (self & ((1 << bits) - 1)) as usize
    }

    #[inline]
    fn time(self, bits: u32) -> u64 {
        u64::try_from(self >> bits).unwrap_or(u64::MAX)
    }

    #[inline]
    fn plus(self, other: Self) -> Self {
        self.wrapping_add(other)
    }

    #[inline]
    fn is_full(self) -> bool {
        self >> 127 == 1
    }
}

/// The slots of a job.
#[derive(Clone, Debug)]
pub(super) struct Slots<K> {
    /// The children of node `i` are `2 i` and `2 i + 1`; the root is 1. The last half of the nodes is the slots.
    nodes: Vec<K>,
    bits: u32,
}

impl<K> Default for Slots<K> {
    fn default() -> Self {
        Self { nodes: Vec::new(), bits: 0 }
    }
}

impl<K: Key> Slots<K> {
    /// Restarts with `count` slots, each free from a time in ticks: those of `from`, and 0 for the others.
    pub(super) fn restart(&mut self, count: u32, from: impl IntoIterator<Item = u64>) {
        let leaves = count.max(2).next_power_of_two() as usize;
        self.bits = leaves.trailing_zeros();
        self.nodes.clear();
        self.nodes.resize(2 * leaves, K::NEVER);
        for (slot, time) in (0..count).zip(from.into_iter().chain(std::iter::repeat(0))) {
            self.nodes[leaves + slot as usize] = K::at(time, self.bits) | K::from(slot);
        }
        for node in (1..leaves).rev() {
            self.nodes[node] = self.nodes[2 * node].min(self.nodes[2 * node + 1]);
        }
    }

    /// Returns the bits of a slot.
    pub(super) fn bits(&self) -> u32 {
        self.bits
    }

    /// Returns the slot that is free first, with its time; among equals the lowest.
    #[inline]
    pub(super) fn first(&self) -> K {
        self.nodes[1]
    }

    /// Sets the time of the slot in `key`.
    #[inline]
    pub(super) fn set(&mut self, key: K) {
        let nodes = &mut self.nodes[..];
        // the number of nodes is a power of two: the mask changes nothing, but saves the checks of bounds
        let mask = nodes.len() - 1;
        let mut at = (nodes.len() / 2 + key.slot(self.bits)) & mask;
        nodes[at] = key;
        let mut least = key;
        while at > 1 {
            least = least.min(nodes[(at ^ 1) & mask]);
            at >>= 1;
            nodes[at & mask] = least;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn the_first_is_the_least<K: Key>(count: u32, ends: &[(u32, u64)]) {
        let mut slots = Slots::<K>::default();
        slots.restart(count, [3, 1]);
        let mut plain: Vec<u64> = [3, 1].into_iter().chain(std::iter::repeat(0)).take(count as usize).collect();
        for &(slot, time) in ends {
            let first = slots.first();
            let least = (0..plain.len()).min_by_key(|&slot| (plain[slot], slot)).unwrap();
            assert_eq!((first.slot(slots.bits()), first.time(slots.bits())), (least, plain[least]));
            plain[(slot % count) as usize] = time;
            slots.set(K::at(time, slots.bits()) | K::from(slot % count));
        }
    }

    proptest! {
        #[test]
        fn the_first_slot_is_the_least(count in 1..70_u32, ends in prop::collection::vec((0..70_u32, 0..40_u64), 1..200)) {
            the_first_is_the_least::<u64>(count, &ends);
            the_first_is_the_least::<u128>(count, &ends);
        }
    }

    #[test]
    fn times_that_do_not_fit_are_marked() {
        assert!(<u64 as Key>::at(1 << 60, 3).is_full() && !<u64 as Key>::at((1 << 60) - 1, 3).is_full());
        assert!(<u64 as Key>::at((1 << 60) - 1, 3).plus(Key::at(1, 3)).is_full());
        assert!(!<u128 as Key>::at(u64::MAX, 20).is_full());
    }

    /// 2^61 · 2^3 has no bit below 2^64, so that nothing of the time would be left.
    #[test]
    fn times_whose_bits_would_be_lost_are_marked() {
        for time in [1 << 61, 1 << 62, 1 << 63, u64::MAX] {
            assert!(<u64 as Key>::at(time, 3).is_full(), "{time}");
        }
    }
}
