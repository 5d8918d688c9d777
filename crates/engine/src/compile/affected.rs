//! The timed transitions that a firing can influence, in linear space even if thousands of transitions share a place.
//!
//! If `w` transitions write a counter and `r` timed transitions read it, lists per transition have `w * r` entries. From
//! [`HUB`] entries on, the readers of the counter are stored once, in blocks that the writers share.

use std::collections::BTreeMap;

use crate::compile::csr::Csr;

/// Number of entries (readers times writers) from which the readers of a counter are shared.
const HUB: usize = 1 << 18;

/// Per transition: the timed transitions that its firing can influence, including itself if it is timed.
#[derive(Clone, Debug, PartialEq)]
pub struct Affected {
    /// Per transition: the influenced transitions that are in none of its blocks, ascending.
    own: Csr<u32>,
    /// Per transition: its blocks, ascending.
    blocks_of: Csr<u32>,
    /// Per block: its transitions, ascending. Every transition is in at most one block.
    blocks: Csr<u32>,
}

impl Affected {
    /// Relation without any transition.
    pub(super) fn none() -> Self {
        let none = || Csr::empty();
        Self { own: none(), blocks_of: none(), blocks: none() }
    }

    /// Relation by the counters that transitions write and the timed transitions that read each counter, ascending.
    /// `is_timed` is true for a timed transition.
    pub(super) fn new(writes: &Csr<u32>, readers: &Csr<u32>, is_timed: impl Fn(usize) -> bool) -> Self {
        Self::with_hubs(writes, readers, is_timed, HUB)
    }

    /// As [`new`](Self::new), with `hub` instead of [`HUB`].
    pub(super) fn with_hubs(
        writes: &Csr<u32>,
        readers: &Csr<u32>,
        is_timed: impl Fn(usize) -> bool,
        hub: usize,
    ) -> Self {
        let mut writers = vec![0_usize; readers.rows()];
        writes.items().iter().for_each(|&counter| writers[counter as usize] += 1);
        let is_hub: Vec<bool> = readers.iter().zip(&writers).map(|(r, w)| r.len().saturating_mul(*w) >= hub).collect();
        let blocks = Blocks::new(readers, &is_hub, writes.rows());
        let (mut own, mut blocks_of) = (Csr::empty(), Csr::empty());
        for t in 0..writes.rows() {
            let (hubs, others): (Vec<u32>, Vec<u32>) =
                writes.row(t).iter().partition(|&&counter| is_hub[counter as usize]);
            let mut shared: Vec<u32> =
                hubs.iter().flat_map(|hub| blocks.at.get(hub).into_iter().flatten()).copied().collect();
            shared.sort_unstable();
            shared.dedup();
            let mut rest: Vec<u32> =
                others.iter().flat_map(|&counter| readers.row(counter as usize)).copied().collect();
            rest.extend(is_timed(t).then(|| u32::try_from(t).expect("ids fit")));
            rest.sort_unstable();
            rest.dedup();
            rest.retain(|&u| shared.binary_search(&blocks.of[u as usize]).is_err());
            own.push(rest);
            blocks_of.push(shared);
        }
        Self { own, blocks_of, blocks: Csr::from_rows(blocks.members) }
    }

    /// Influenced transitions that no other transition shares, ascending; all of them if [`is_whole`](Self::is_whole).
    #[inline(always)]
    pub fn own(&self, t: usize) -> &[u32] {
        self.own.row(t)
    }

    /// Returns true if [`own`](Self::own) has all influenced transitions of `t`.
    pub fn is_whole(&self, t: usize) -> bool {
        self.blocks_of.row(t).is_empty()
    }

    /// The other influenced transitions, in lists; each is in one list only, and not in [`own`](Self::own).
    #[inline(always)]
    pub fn shared(&self, t: usize) -> impl Iterator<Item = &[u32]> {
        self.blocks_of.row(t).iter().map(|&block| self.blocks.row(block as usize))
    }

    /// All influenced transitions of `t`, each once, in no particular order.
    pub fn of(&self, t: usize) -> impl Iterator<Item = u32> {
        self.own(t).iter().chain(self.shared(t).flatten()).copied()
    }

    /// Number of influenced transitions of `t`.
    pub fn count(&self, t: usize) -> usize {
        self.own(t).len() + self.shared(t).map(<[u32]>::len).sum::<usize>()
    }
}

/// No block.
const NONE: u32 = u32::MAX;

/// The transitions that read hubs, in blocks of transitions that read the same hubs.
struct Blocks {
    members: Vec<Vec<u32>>,
    /// Per transition: its block.
    of: Vec<u32>,
    /// Per hub: the blocks whose transitions read it.
    at: BTreeMap<u32, Vec<u32>>,
}

impl Blocks {
    fn new(readers: &Csr<u32>, is_hub: &[bool], transitions: usize) -> Self {
        let mut hubs_of = BTreeMap::<u32, Vec<u32>>::new();
        for (counter, row) in (0_u32..).zip(readers.iter()).filter(|(counter, _)| is_hub[*counter as usize]) {
            row.iter().for_each(|&t| hubs_of.entry(t).or_default().push(counter));
        }
        let mut members = BTreeMap::<Vec<u32>, Vec<u32>>::new();
        for (t, hubs) in hubs_of {
            members.entry(hubs).or_default().push(t);
        }
        let mut of = vec![NONE; transitions];
        let mut at = BTreeMap::<u32, Vec<u32>>::new();
        for (block, (hubs, row)) in (0..).zip(&members) {
            row.iter().for_each(|&t| of[t as usize] = block);
            hubs.iter().for_each(|&hub| at.entry(hub).or_default().push(block));
        }
        Self { members: members.into_values().collect(), of, at }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compile::compile;
    use crate::net::{NetBuilder, Timing};

    fn row(affected: &Affected, t: usize) -> Vec<u32> {
        let mut row: Vec<u32> = affected.of(t).collect();
        assert_eq!((row.len(), affected.is_whole(t)), (affected.count(t), row == affected.own(t)));
        row.sort_unstable();
        row
    }

    /// The reference lists the readers of every written counter. Transitions 0, 5, 10, ... are immediate.
    #[test]
    fn shared_lists_have_the_same_transitions() {
        let (transitions, counters) = (60_u32, 12_u32);
        let mut word = 7_u64;
        let mut below = move |n: u32| {
            word = word.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
            (word >> 33) as u32 % n
        };
        let mut rows = || -> Vec<Vec<u32>> {
            // low counters are used by many transitions
            let row = |_| (0..counters).filter(|counter| below(2 + counter * counter / 2) == 0).collect();
            (0..transitions).map(row).collect()
        };
        let (reads, writes) = (rows(), rows());
        let is_timed = |t: usize| !t.is_multiple_of(5);
        let timed = || (0..transitions).filter(|&t| is_timed(t as usize));
        let readers = Csr::from_rows(
            (0..counters).map(|counter| timed().filter(|&t| reads[t as usize].contains(&counter)).collect::<Vec<_>>()),
        );
        let written = Csr::from_rows(writes.iter().cloned());
        for hub in [0, 100, 400, 1_000, usize::MAX] {
            let affected = Affected::with_hubs(&written, &readers, is_timed, hub);
            for t in 0..transitions {
                let influences = |u: &u32| *u == t || reads[*u as usize].iter().any(|c| writes[t as usize].contains(c));
                let reference: Vec<u32> = timed().filter(influences).collect();
                assert_eq!(row(&affected, t as usize), reference, "{t} {hub}");
            }
            assert!(if hub < 200 {
                affected.blocks.rows() > 1
            } else {
                hub < usize::MAX || affected.blocks.rows() == 0
            });
        }
    }

    /// Machines that break and wait for one mechanic: each of the transitions can influence all repairs.
    #[test]
    fn a_place_that_all_transitions_share_takes_linear_space() {
        let machines = 20_000;
        let mut b = NetBuilder::new("repairs");
        let mechanic = b.place("mechanic", 1);
        for i in 0..machines {
            let [works, fails] = [("works", 1), ("fails", 0)].map(|(id, tokens)| b.place(format!("{id}{i}"), tokens));
            let [fail, repair] =
                ["fail", "repair"].map(|id| b.transition(format!("{id}{i}"), Timing::exponential(1.0)));
            b.input(works, fail, 1.0);
            b.output(fail, fails, 1.0);
            b.input(fails, repair, 1.0);
            b.input(mechanic, repair, 1.0);
            b.output(repair, works, 1.0);
            // a second token, so that each repair changes the number of mechanics
            b.output(repair, mechanic, 2.0);
        }
        let affected = compile(&b.build().unwrap()).unwrap().affects;
        assert_eq!((affected.count(0), affected.is_whole(0)), (2, true));
        assert_eq!((affected.count(1), affected.own(1).len()), (machines + 1, 1));
        let entries = affected.own.items().len() + affected.blocks_of.items().len() + affected.blocks.items().len();
        assert!(entries < 6 * machines, "{entries}");
    }
}
