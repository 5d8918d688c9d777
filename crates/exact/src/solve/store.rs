//! A store of markings: packed fields for most nets, lists of changes for large ones.

use crate::compile::Program;
use crate::solve::marking::Marking;
use crate::solve::packed::{Packed, varying};
use crate::solve::search::Search;
use crate::solve::sparse::Sparse;

/// A set of markings, numbered from 0 in the order in which they were inserted.
#[derive(Clone, Debug)]
pub(crate) enum Store {
    Packed(Packed),
    Sparse(Sparse),
}

impl Store {
    /// Returns an empty store for the markings of a net; with a `search`, for markings that list their changes.
    pub(crate) fn new(program: &Program, search: Option<&Search>) -> Self {
        match search {
            None => Self::Packed(Packed::new(&program.initial, &varying(program))),
            Some(search) => Self::Sparse(Sparse::new(search.initial.clone())),
        }
    }

    /// Returns the number of markings.
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Packed(store) => store.len(),
            Self::Sparse(store) => store.len(),
        }
    }

    /// Returns the number of counters of a marking.
    pub(crate) fn counters(&self) -> usize {
        match self {
            Self::Packed(store) => store.counters(),
            Self::Sparse(store) => store.counters(),
        }
    }

    /// Returns the number of bytes in use.
    pub(crate) fn bytes(&self) -> u64 {
        match self {
            Self::Packed(store) => store.bytes(),
            Self::Sparse(store) => store.bytes(),
        }
    }

    /// Returns the number of bits of a stored marking; a mean in a large net.
    pub(crate) fn marking_bits(&self) -> u32 {
        match self {
            Self::Packed(store) => store.marking_bits(),
            Self::Sparse(store) => store.marking_bits(),
        }
    }

    /// Writes marking `i` to `marking`.
    #[inline]
    pub(crate) fn read(&self, i: usize, marking: &mut Marking) {
        match self {
            Self::Packed(store) => store.read(i, marking.plain_mut()),
            Self::Sparse(store) => marking.change(store.changes(i)),
        }
    }

    /// Writes all tokens of marking `i`.
    pub(crate) fn read_all(&self, i: usize, tokens: &mut [u32]) {
        match self {
            Self::Packed(store) => store.read(i, tokens),
            Self::Sparse(store) => store.read_all(i, tokens),
        }
    }

    /// Returns the number of a marking, if it is stored.
    pub(crate) fn find(&self, marking: &Marking) -> Option<u32> {
        match self {
            Self::Packed(store) => store.find(marking),
            Self::Sparse(store) => store.find(marking),
        }
    }

    /// Inserts a marking; returns its number, and true if it is new. The store holds at most 2^32 - 1 markings.
    #[inline]
    pub(crate) fn insert(&mut self, marking: &Marking) -> (u32, bool) {
        match self {
            Self::Packed(store) => store.insert(marking),
            Self::Sparse(store) => store.insert(marking),
        }
    }

    /// Returns true if no counter of marking `i` holds more tokens than in `marking`.
    pub(crate) fn is_covered(&self, i: usize, marking: &Marking) -> bool {
        match self {
            Self::Packed(store) => store.is_covered(i, marking),
            Self::Sparse(store) => store.is_covered(i, marking),
        }
    }

    /// Removes all markings.
    pub(crate) fn clear(&mut self) {
        match self {
            Self::Packed(store) => store.clear(),
            Self::Sparse(store) => store.clear(),
        }
    }
}
