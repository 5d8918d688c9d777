//! The continuous-time Markov chain of a net: what a state space gives the numerical solvers.

use crate::compile::Csr;

/// A continuous-time Markov chain.
#[derive(Clone, Debug, PartialEq)]
pub struct Chain {
    /// Per state: successors (state, rate [1/s]), sorted by state, no duplicates, no self loops.
    pub rates: Csr<(u32, f64)>,
    /// Probability of starting in each state, sorted by state; several where the initial marking is vanishing.
    pub initial: Vec<(u32, f64)>,
}
