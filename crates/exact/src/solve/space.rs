//! The state space of a net: its tangible markings, its chain, and the paths to its markings.

use std::time::Duration;

use crate::compile::{Code, Program};
use crate::semantics::Fault;
use crate::solve::canonical::Canonical;
use crate::solve::chain::Chain;
use crate::solve::explore_error::Incomplete;
use crate::solve::marking::Marking;
use crate::solve::search::Search;
use crate::solve::store::Store;
use crate::solve::vanish::Rules;

/// The maximum number of tokens that a place held, and the state in which it occurred.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Peak {
    /// Tokens of all classes.
    pub tokens: u64,
    /// The first state with this number of tokens, or the state that leads to a vanishing marking with this number.
    pub state: u32,
    /// True if the number first occurred in a vanishing marking.
    pub vanishing: bool,
}

/// All markings of a net that an exploration found. They are numbered from 0, breadth first, so the number of timed firings from
/// the initial marking never decreases.
#[derive(Clone, Debug)]
pub struct StateSpace {
    pub(crate) goal: Option<Code>,
    /// Equal parts whose exchange yields all markings that a state represents; none if each state represents only its own marking.
    pub(crate) canonical: Option<Canonical>,
    /// The search for enabled transitions; none unless the net is large.
    pub(crate) search: Option<Search>,
    pub(crate) store: Store,
    pub(crate) parents: Vec<u32>,
    pub(crate) chain: Chain,
    pub(crate) explored: usize,
    pub(crate) stopped: Option<Incomplete>,
    pub(crate) dead: Vec<u32>,
    pub(crate) goals: Vec<u32>,
    pub(crate) peaks: Vec<Peak>,
    pub(crate) vanishing: u64,
    pub(crate) vanishing_is_exact: bool,
    pub(crate) wall: Duration,
}

impl StateSpace {
    /// Returns the number of states that were found.
    pub fn states(&self) -> usize {
        self.store.len()
    }

    /// Returns the number of explored states, whose successors were all found; they have the smallest numbers.
    pub fn explored(&self) -> usize {
        self.explored
    }

    /// Returns the number of different vanishing markings, and true if the number is exact; to save memory, markings may be
    /// counted twice. Several groups of immediate transitions are resolved in one fixed order; markings that occur only in other
    /// orders are not counted.
    pub fn vanishing(&self) -> (u64, bool) {
        (self.vanishing, self.vanishing_is_exact)
    }

    /// Returns the number of bytes of markings and chain.
    pub fn bytes(&self) -> u64 {
        self.store.bytes() + self.chain.rates.bytes() + size_of_val(&self.parents[..]) as u64
    }

    /// Returns the number of bits of a packed marking.
    pub fn marking_bits(&self) -> u32 {
        self.store.marking_bits()
    }

    /// Returns the wall time of the exploration.
    pub fn wall(&self) -> Duration {
        self.wall
    }

    /// Writes the marking of a state to `marking`, which has one number per counter.
    pub fn marking(&self, state: usize, marking: &mut [u32]) {
        self.store.read_all(state, marking);
    }

    /// Returns the state of a marking; none if it is not in the space.
    pub fn find(&self, marking: &[u32]) -> Option<u32> {
        let mut wanted = self.blank();
        match self.search {
            Some(_) => wanted.change((0..).zip(marking.iter().copied())),
            None => wanted.plain_mut().copy_from_slice(marking),
        }
        self.state_of(&wanted)
    }

    /// As [`find`](Self::find).
    pub(crate) fn state_of(&self, marking: &Marking) -> Option<u32> {
        let Some(canonical) = &self.canonical else { return self.store.find(marking) };
        let mut sorted = marking.clone();
        canonical.sort(sorted.plain_mut());
        self.store.find(&sorted)
    }

    /// Returns a marking into which the marking of any state can be read.
    pub(crate) fn blank(&self) -> Marking {
        match &self.search {
            Some(search) => Marking::listing(search.initial.clone()),
            None => Marking::plain(&vec![0; self.store.counters()]),
        }
    }

    /// Returns the number of markings that a state represents: 1 unless equal parts may be exchanged; exact below 2^40.
    pub fn orbit(&self, state: usize) -> f64 {
        let Some(canonical) = &self.canonical else { return 1.0 };
        let mut marking = self.blank();
        self.store.read(state, &mut marking);
        canonical.orbit(&marking)
    }

    /// Returns true if a transition belongs to a part that may be exchanged with others.
    pub fn is_exchangeable(&self, transition: u32) -> bool {
        self.canonical.as_ref().is_some_and(|canonical| canonical.with_equals(transition).len() > 1)
    }

    /// Returns the states in which no transition can fire, in order; only explored states are considered.
    pub fn dead(&self) -> &[u32] {
        &self.dead
    }

    /// Returns the states in which the goal of the exploration holds, in order.
    pub fn goals(&self) -> &[u32] {
        &self.goals
    }

    /// Returns for each place the maximum number of tokens that it held, including vanishing markings.
    pub fn peaks(&self) -> &[Peak] {
        &self.peaks
    }

    /// Returns the reason why the state space is partial; none if it contains every reachable marking.
    pub fn stopped(&self) -> Option<&Incomplete> {
        self.stopped.as_ref()
    }

    /// Returns the chain of all reachable markings.
    ///
    /// # Errors
    ///
    /// The limit that was reached, if markings are missing.
    pub fn complete(&self) -> Result<&Chain, Incomplete> {
        self.stopped.clone().map_or(Ok(&self.chain), Err)
    }

    /// Returns the chain of the states that were found; states that were not explored have no successors.
    pub fn partial_chain(&self) -> &Chain {
        &self.chain
    }

    /// Returns the chain by value, see [`partial_chain`](Self::partial_chain).
    pub fn into_chain(self) -> Chain {
        self.chain
    }

    /// Returns one truth value per state, true for the states in the list.
    pub fn marked(&self, states: &[u32]) -> Vec<bool> {
        let mut marked = vec![false; self.states()];
        states.iter().for_each(|&state| marked[state as usize] = true);
        marked
    }

    /// Returns the value of an expression in every state, in order.
    ///
    /// # Errors
    ///
    /// A value that is infinite or not a number; `what` names the expression in the error.
    pub fn values(&self, code: &Code, what: &str) -> Result<Vec<f64>, Fault> {
        let mut marking = self.blank();
        let mut values = Vec::with_capacity(self.states());
        for state in 0..self.states() {
            self.store.read(state, &mut marking);
            let value = code.eval(&marking);
            if !value.is_finite() {
                return Err(Fault::BadExpression { what: what.to_owned() });
            }
            values.push(value);
        }
        Ok(values)
    }

    pub(crate) fn rules<'a>(&'a self, program: &'a Program) -> Rules<'a> {
        Rules { program, goal: self.goal.as_ref(), canonical: self.canonical.as_ref(), search: self.search.as_ref() }
    }
}
