//! The markings of a net without time, and every firing between them.

use std::time::Duration;

use crate::compile::Csr;
use crate::solve::explore_error::Incomplete;
use crate::solve::store::Store;

/// A firing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// The transition.
    pub transition: u32,
    /// The state to which the step leads.
    pub to: u32,
}

/// All markings of a net that an exploration found. They are numbered breadth first, from 0 for the initial marking, so the number
/// of firings from the start never decreases.
#[derive(Clone, Debug)]
pub struct MarkingGraph {
    pub(crate) store: Store,
    /// Per state: the state and the transition from which it was found; for the initial state, the state itself.
    pub(crate) parents: Vec<Step>,
    pub(crate) steps: Csr<Step>,
    pub(crate) explored: usize,
    pub(crate) stopped: Option<Incomplete>,
    pub(crate) dead: Vec<u32>,
    pub(crate) peaks: Vec<(u64, u32)>,
    pub(crate) wall: Duration,
}

impl MarkingGraph {
    /// Returns the number of markings that were found.
    pub fn states(&self) -> usize {
        self.store.len()
    }

    /// Returns the number of explored markings, whose firings were all found; they have the smallest numbers.
    pub fn explored(&self) -> usize {
        self.explored
    }

    /// Returns the reason why markings are missing; none if every reachable marking was found.
    pub fn stopped(&self) -> Option<&Incomplete> {
        self.stopped.as_ref()
    }

    /// Writes the marking of a state to `marking`, which has one number per counter.
    pub fn marking(&self, state: usize, marking: &mut [u32]) {
        self.store.read_all(state, marking);
    }

    /// Returns the firings in a state, by transition; none in a dead state and in a state that was not explored.
    pub fn steps(&self, state: usize) -> &[Step] {
        self.steps.row(state)
    }

    /// Returns the number of firings: pairs of a state and a transition that fires there.
    pub fn firings(&self) -> usize {
        self.steps.items().len()
    }

    /// Returns the explored states in which no transition can fire, in order.
    pub fn dead(&self) -> &[u32] {
        &self.dead
    }

    /// Returns for each place the maximum number of tokens that it held, and the first state with this number.
    pub fn peaks(&self) -> &[(u64, u32)] {
        &self.peaks
    }

    /// Returns the transitions of a shortest firing sequence from the initial marking to a state.
    pub fn path_to(&self, state: u32) -> Vec<u32> {
        path(&self.parents, 0, state)
    }

    /// Returns the number of bytes of markings and firings.
    pub fn bytes(&self) -> u64 {
        let steps = size_of_val(self.steps.items()) + size_of_val(self.steps.offsets());
        self.store.bytes() + (steps + size_of_val(&self.parents[..])) as u64
    }

    /// Returns the number of bits of a packed marking.
    pub fn marking_bits(&self) -> u32 {
        self.store.marking_bits()
    }

    /// Returns the wall time of the exploration.
    pub fn wall(&self) -> Duration {
        self.wall
    }
}

/// Returns the transitions from one state to a later state; `parents` holds the step by which each state was found.
pub(crate) fn path(parents: &[Step], from: u32, to: u32) -> Vec<u32> {
    let mut path = Vec::new();
    let mut at = to;
    while at != from {
        let Step { transition, to: before } = parents[at as usize];
        path.push(transition);
        at = before;
    }
    path.reverse();
    path
}
