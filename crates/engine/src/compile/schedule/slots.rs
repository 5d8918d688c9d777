//! Allocation of slots: each time has a slot until its last use; then the slot is reused.

use std::collections::HashMap;

use crate::compile::schedule::plan::Fold;

/// Content of a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Cell {
    /// The time of a firing that is the only one to fill some places.
    Firing(u32),
    /// The time at which a counter has all its tokens.
    Counter(u32),
    /// The time of a batch of alternatives of a counter.
    Batch(u32, u32),
}

/// A slot in use.
struct Use {
    slot: u32,
    arrived: usize,
    readers: usize,
}

/// Slots in use; a slot is reused after its last reader.
#[derive(Default)]
pub(super) struct Slots {
    used: HashMap<Cell, Use>,
    free: Vec<u32>,
    pub(super) count: u32,
}

impl Slots {
    pub(super) fn of(&self, cell: Cell) -> u32 {
        self.used[&cell].slot
    }

    /// Returns the slot of a cell, and how the next time is folded into the slot: by `fold`, or as [`Fold::Set`] if it
    /// is the first time of the cell. The readers of a firing are the readers of all places that it fills.
    pub(super) fn fold(&mut self, cell: Cell, fold: Fold, readers: usize) -> (Fold, u32) {
        if let Some(used) = self.used.get_mut(&cell) {
            used.arrived += 1;
            if fold == Fold::Set {
                used.readers += readers;
            }
            return (fold, used.slot);
        }
        let slot = self.free.pop().unwrap_or_else(|| {
            self.count += 1;
            self.count - 1
        });
        self.used.insert(cell, Use { slot, arrived: 1, readers });
        (Fold::Set, slot)
    }

    pub(super) fn arrived(&self, cell: Cell) -> usize {
        self.used[&cell].arrived
    }

    pub(super) fn free(&mut self, cell: Cell) {
        if let Some(used) = self.used.remove(&cell) {
            self.free.push(used.slot);
        }
    }

    /// Records that one of the transitions that wait for a cell has read the cell.
    pub(super) fn read(&mut self, cell: Cell) {
        let used = self.used.get_mut(&cell).expect("a cell is read after it was written");
        used.readers -= 1;
        if used.readers == 0 {
            self.free(cell);
        }
    }
}
