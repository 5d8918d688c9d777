//! The state space of a net: its tangible markings, its chain, and how each marking is reached.

use std::time::Duration;

use crate::compile::{Code, Program};
use crate::semantics::Fault;
use crate::solve::canonical::Canonical;
use crate::solve::chain::Chain;
use crate::solve::explore_error::Incomplete;
use crate::solve::store::Store;
use crate::solve::vanish::Rules;

/// The most tokens that a place held, and where.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Peak {
    /// Tokens of all classes.
    pub tokens: u64,
    /// The first state with that many tokens, or the state that leads to a vanishing marking with that many.
    pub state: u32,
    /// True if no earlier tangible marking had that many.
    pub vanishing: bool,
}

/// All markings of a net that an exploration found, numbered from 0: breadth first, so that the number of timed firings from
/// the initial marking never falls.
#[derive(Clone, Debug)]
pub struct StateSpace {
    pub(crate) goal: Option<Code>,
    /// Parts whose exchange makes the markings that a state stands for; none if it stands for its own.
    pub(crate) canonical: Option<Canonical>,
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
    /// Number of states that were found.
    pub fn states(&self) -> usize {
        self.store.len()
    }

    /// Number of initial states in the numbering whose successors were all found.
    pub fn explored(&self) -> usize {
        self.explored
    }

    /// Number of different vanishing markings, and true if none was counted twice to save memory. Several groups of
    /// immediate transitions are settled one after the other; markings of other orders are not counted.
    pub fn vanishing(&self) -> (u64, bool) {
        (self.vanishing, self.vanishing_is_exact)
    }

    /// Bytes of markings and chain.
    pub fn bytes(&self) -> u64 {
        let edges = size_of_val(self.chain.rates.items()) + size_of_val(self.chain.rates.offsets());
        self.store.bytes() + (edges + size_of_val(&self.parents[..])) as u64
    }

    /// Bits of one packed marking.
    pub fn marking_bits(&self) -> u32 {
        self.store.marking_bits()
    }

    /// Wall time of the exploration.
    pub fn wall(&self) -> Duration {
        self.wall
    }

    /// Writes the marking of a state to `marking`, which has one number per counter.
    pub fn marking(&self, state: usize, marking: &mut [u32]) {
        self.store.read(state, marking);
    }

    /// The state of a marking.
    pub fn find(&self, marking: &[u32]) -> Option<u32> {
        match &self.canonical {
            None => self.store.find(marking),
            Some(canonical) => {
                let mut sorted = marking.to_vec();
                canonical.sort(&mut sorted);
                self.store.find(&sorted)
            }
        }
    }

    /// Number of markings that a state stands for: 1 unless equal parts may be exchanged; exact below 2^40.
    pub fn orbit(&self, state: usize) -> f64 {
        let Some(canonical) = &self.canonical else { return 1.0 };
        let mut marking = vec![0; self.chain_counters()];
        self.store.read(state, &mut marking);
        canonical.orbit(&marking)
    }

    /// Returns true if a transition belongs to a part that may be exchanged with others.
    pub fn is_exchangeable(&self, transition: u32) -> bool {
        self.canonical.as_ref().is_some_and(|canonical| canonical.with_equals(transition).len() > 1)
    }

    /// States in which no transition can fire, in order; for a partial state space, among the explored states.
    pub fn dead(&self) -> &[u32] {
        &self.dead
    }

    /// States in which the goal of the exploration holds, in order.
    pub fn goals(&self) -> &[u32] {
        &self.goals
    }

    /// Per place, the most tokens that it held, vanishing markings included.
    pub fn peaks(&self) -> &[Peak] {
        &self.peaks
    }

    /// Reason why it is partial; none if it contains every reachable marking.
    pub fn stopped(&self) -> Option<&Incomplete> {
        self.stopped.as_ref()
    }

    /// The chain of all reachable markings.
    ///
    /// # Errors
    ///
    /// The limit that was reached, if markings are missing.
    pub fn complete(&self) -> Result<&Chain, Incomplete> {
        self.stopped.clone().map_or(Ok(&self.chain), Err)
    }

    /// The chain of the states that were found; states that were not explored have no successors.
    pub fn partial_chain(&self) -> &Chain {
        &self.chain
    }

    /// The chain only, as in [`partial_chain`](Self::partial_chain).
    pub fn into_chain(self) -> Chain {
        self.chain
    }

    /// One truth value per state, true for the states of a list.
    pub fn marked(&self, states: &[u32]) -> Vec<bool> {
        let mut marked = vec![false; self.states()];
        states.iter().for_each(|&state| marked[state as usize] = true);
        marked
    }

    /// The value of an expression in every state, in order.
    ///
    /// # Errors
    ///
    /// A value that is infinite or not a number; `what` names the expression then.
    pub fn values(&self, code: &Code, what: &str) -> Result<Vec<f64>, Fault> {
        let mut marking = vec![0; self.chain_counters()];
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

    fn chain_counters(&self) -> usize {
        self.store.counters()
    }

    pub(crate) fn rules<'a>(&'a self, program: &'a Program) -> Rules<'a> {
        Rules { program, goal: self.goal.as_ref(), canonical: self.canonical.as_ref() }
    }
}
