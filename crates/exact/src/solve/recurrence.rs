//! Strongly connected components of a chain in topological order, and the recurrent components.

use crate::compile::Csr;
use crate::solve::rates::Rates;
use tailspn_common::graph::components;

/// The components of a chain, each after all its successors.
#[derive(Clone, Debug)]
pub(crate) struct Components {
    /// States of each component, ascending; components are in reverse topological order, successors first.
    pub(crate) states: Csr<u32>,
    /// Per state: its component.
    pub(crate) of: Vec<u32>,
}

impl Components {
    pub(crate) fn of(rates: &Rates) -> Self {
        let row = |state: usize| rates.states(state);
        let found = components(rates.rows(), |state| row(state).len(), |state, k| row(state)[k] as usize);
        let (members, starts) = found.members();
        let rows = starts.windows(2).map(|w| members[w[0] as usize..w[1] as usize].iter().copied());
        Self { states: Csr::from_rows(rows), of: found.of }
    }

    /// Returns the number of components.
    pub(crate) fn count(&self) -> usize {
        self.states.rows()
    }

    /// Returns the components that no rate leaves, in ascending order of their first state.
    pub(crate) fn recurrent(&self, rates: &Rates) -> Vec<u32> {
        let closed = |c: &u32| {
            let states = self.states.row(*c as usize).iter();
            states.flat_map(|&s| rates.states(s as usize)).all(|&to| self.of[to as usize] == *c)
        };
        let count = u32::try_from(self.count()).expect("fewer components than states");
        let mut recurrent: Vec<u32> = (0..count).filter(closed).collect();
        recurrent.sort_by_key(|&c| self.states.row(c as usize)[0]);
        recurrent
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::solve::chain::tests::chain_of;

    #[test]
    fn components_come_after_those_they_lead_to() {
        // 0 <-> 1 -> 2 <-> 3, 1 -> 4
        let chain = chain_of(5, &[(0, 1, 1.0), (1, 0, 1.0), (1, 2, 1.0), (2, 3, 1.0), (3, 2, 1.0), (1, 4, 1.0)]);
        let components = Components::of(&chain.rates);
        assert_eq!(components.count(), 3);
        assert_eq!(components.states.row(components.of[0] as usize), [0, 1]);
        assert_eq!(components.of[2], components.of[3]);
        assert!(components.of[2] < components.of[0] && components.of[4] < components.of[0]);
        let closed = components.recurrent(&chain.rates);
        assert_eq!(closed, [components.of[2], components.of[4]]);
    }

    #[test]
    fn a_million_states_in_a_row_do_not_overflow_the_stack() {
        let n = 1_000_000;
        let rates = Rates::from_rows((0..n).map(|i| (i + 1 < n).then_some((i + 1, 1.0))));
        let components = Components::of(&rates);
        assert_eq!(components.count(), n as usize);
        assert_eq!(components.recurrent(&rates), [components.of[n as usize - 1]]);
    }

    #[test]
    fn an_empty_chain_has_no_component() {
        assert_eq!(Components::of(&Rates::from_rows(Vec::<Vec<(u32, f64)>>::new())).count(), 0);
    }
}
