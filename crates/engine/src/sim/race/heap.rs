//! An indexed heap of the running clocks of one replication, with the next one to run out on top.

use crate::sim::sampler::Ticks;

/// Number of children of a node.
const ARITY: usize = 4;
/// Slot of a transition whose clock does not run.
const NOWHERE: u32 = u32::MAX;

/// Clocks of transitions, at most one each; ties go to the smaller number.
#[derive(Debug)]
pub(crate) struct Heap<T: Ticks> {
    keys: Vec<T::Key>,
    slots: Vec<u32>,
    /// True while the top is taken and not yet refilled; the top then contains a key below all others.
    hollow: bool,
}

impl<T: Ticks> Heap<T> {
    /// A heap without running clocks; transition numbers must be below `transitions`.
    pub(crate) fn new(transitions: usize) -> Self {
        Self { keys: Vec::with_capacity(transitions), slots: vec![NOWHERE; transitions], hollow: false }
    }

    /// Stops all clocks.
    pub(crate) fn clear(&mut self) {
        if self.hollow {
            self.close();
        }
        for &key in &self.keys {
            self.slots[T::open(key).1 as usize] = NOWHERE;
        }
        self.keys.clear();
    }

    /// The next clock to run out, and its transition.
    #[inline(always)]
    pub(crate) fn top(&self) -> Option<(T, u32)> {
        self.keys.first().map(|&key| T::open(key))
    }

    /// Stops the clock on top. [`Self::close`] must be called after all other clocks are set.
    #[inline(always)]
    pub(crate) fn take_top(&mut self) {
        let (_, transition) = T::open(self.keys[0]);
        self.slots[transition as usize] = NOWHERE;
        self.keys[0] = T::ZERO.key(0);
        self.hollow = true;
    }

    /// Fills the position that [`Self::take_top`] freed, if no new clock has taken it.
    #[inline(always)]
    pub(crate) fn close(&mut self) {
        if self.hollow {
            self.hollow = false;
            if let Some(last) = self.keys.pop()
                && !self.keys.is_empty()
            {
                self.sift_down(0, last);
            }
        }
    }

    /// Returns true if the clock of a transition runs.
    #[inline(always)]
    pub(crate) fn runs(&self, transition: u32) -> bool {
        self.slots[transition as usize] != NOWHERE
    }

    /// Starts the clock of a transition whose clock does not run.
    #[inline(always)]
    pub(crate) fn start(&mut self, transition: u32, time: T) {
        let key = time.key(transition);
        if self.hollow {
            self.hollow = false;
            self.sift_down(0, key);
        } else {
            self.keys.push(key);
            self.sift_up(self.keys.len() - 1, key);
        }
    }

    /// Starts a clock, or sets a running one to another time.
    #[inline]
    pub(crate) fn set(&mut self, transition: u32, time: T) {
        let slot = self.slots[transition as usize];
        if slot == NOWHERE {
            return self.start(transition, time);
        }
        let key = time.key(transition);
        self.replace(slot as usize, key);
    }

    /// Stops the clock of a transition, if it runs.
    #[inline]
    pub(crate) fn stop(&mut self, transition: u32) {
        let slot = std::mem::replace(&mut self.slots[transition as usize], NOWHERE);
        if slot == NOWHERE {
            return;
        }
        if let Some(last) = self.keys.pop()
            && (slot as usize) < self.keys.len()
        {
            self.replace(slot as usize, last);
        }
    }

    /// Replaces the key at position `at`.
    #[inline]
    fn replace(&mut self, at: usize, key: T::Key) {
        if at > 0 && key < self.keys[(at - 1) / ARITY] {
            self.sift_up(at, key);
        } else {
            self.sift_down(at, key);
        }
    }

    #[inline(always)]
    fn put(&mut self, at: usize, key: T::Key) {
        self.keys[at] = key;
        self.slots[T::open(key).1 as usize] = at as u32;
    }

    #[inline(always)]
    fn sift_up(&mut self, mut at: usize, key: T::Key) {
        while at > 0 {
            let parent = (at - 1) / ARITY;
            if self.keys[parent] <= key {
                break;
            }
            self.put(at, self.keys[parent]);
            at = parent;
        }
        self.put(at, key);
    }

    #[inline(always)]
    fn sift_down(&mut self, mut at: usize, key: T::Key) {
        loop {
            let first = at * ARITY + 1;
            let Some(children) = self.keys.get(first..) else { break };
            let Some((&head, rest)) = children[..children.len().min(ARITY)].split_first() else { break };
            let mut least = head;
            let mut child = first;
            for (offset, &other) in rest.iter().enumerate() {
                let smaller = other < least;
                least = if smaller { other } else { least };
                child = if smaller { first + 1 + offset } else { child };
            }
            if key <= least {
                break;
            }
            self.put(at, least);
            at = child;
        }
        self.put(at, key);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Philox;
    use rand_core::Rng;
    use std::collections::BTreeMap;

    /// Compares the heap with an ordered map.
    fn agrees<T: Ticks>() {
        let count = 50_u32;
        let mut heap = Heap::<T>::new(count as usize);
        let mut map: BTreeMap<u32, T> = BTreeMap::new();
        let mut rng = Philox::new(3);
        for _ in 0..40_000 {
            let t = rng.next_u32() % count;
            let time = T::saturate(u128::from(rng.next_u32() % 97));
            match rng.next_u32() % 4 {
                0 | 1 => {
                    heap.set(t, time);
                    map.insert(t, time);
                }
                2 => {
                    heap.stop(t);
                    map.remove(&t);
                }
                _ => {
                    let least = map.iter().map(|(&t, &time)| (time, t)).min();
                    assert_eq!(heap.top(), least);
                    if let Some((now, top)) = least {
                        heap.take_top();
                        map.remove(&top);
                        for _ in 0..rng.next_u32() % 3 {
                            let t = rng.next_u32() % count;
                            if rng.next_u32().is_multiple_of(2) {
                                let later = now.plus(time);
                                heap.set(t, later);
                                map.insert(t, later);
                            } else {
                                heap.stop(t);
                                map.remove(&t);
                            }
                        }
                        heap.close();
                    }
                }
            }
            assert!((0..count).all(|t| heap.runs(t) == map.contains_key(&t)));
        }
        heap.clear();
        assert_eq!(heap.top(), None);
        assert!((0..count).all(|t| !heap.runs(t)));
    }

    #[test]
    fn equals_an_ordered_map_on_both_clocks() {
        agrees::<u64>();
        agrees::<u128>();
    }
}
