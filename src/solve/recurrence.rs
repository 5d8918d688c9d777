//! Strongly connected components of a chain, in topological order, and which of them are recurrent.
//!
//! Tarjan's algorithm \[Tarjan1972\] with a stack of its own, so that a chain of millions of states in a row does not
//! overflow the thread's.

use crate::compile::Csr;

/// The components of a chain, each after all those that it leads to.
#[derive(Clone, Debug)]
pub(crate) struct Components {
    /// States of each component, rising; components in reverse topological order: successors first.
    pub(crate) states: Csr<u32>,
    /// Per state: its component.
    pub(crate) of: Vec<u32>,
}

const UNSEEN: u32 = u32::MAX;

/// The state of the search.
struct Search {
    order: Vec<u32>,
    low: Vec<u32>,
    component: Vec<u32>,
    stack: Vec<u32>,
    next: u32,
    /// Members of the components found so far, and where each ends.
    members: Vec<u32>,
    ends: Vec<usize>,
}

impl Components {
    pub(crate) fn of(rates: &Csr<(u32, f64)>) -> Self {
        let n = rates.rows();
        let mut search = Search {
            order: vec![UNSEEN; n],
            low: vec![0; n],
            component: vec![UNSEEN; n],
            stack: Vec::new(),
            next: 0,
            members: Vec::with_capacity(n),
            ends: vec![0],
        };
        for root in 0..u32::try_from(n).expect("states are numbered in 32 bits") {
            if search.order[root as usize] == UNSEEN {
                search.from(root, rates);
            }
        }
        let rows = search.ends.windows(2).map(|w| search.members[w[0]..w[1]].iter().copied());
        Self { states: Csr::from_rows(rows), of: search.component }
    }

    /// Number of components.
    pub(crate) fn count(&self) -> usize {
        self.states.rows()
    }

    /// Components that no rate leaves, rising by their first state.
    pub(crate) fn recurrent(&self, rates: &Csr<(u32, f64)>) -> Vec<u32> {
        let closed = |c: &u32| {
            let states = self.states.row(*c as usize).iter();
            states.flat_map(|&s| rates.row(s as usize)).all(|(to, _)| self.of[*to as usize] == *c)
        };
        let count = u32::try_from(self.count()).expect("fewer components than states");
        let mut recurrent: Vec<u32> = (0..count).filter(closed).collect();
        recurrent.sort_by_key(|&c| self.states.row(c as usize)[0]);
        recurrent
    }
}

impl Search {
    /// Visits all that is reachable from `root` and not yet seen.
    fn from(&mut self, root: u32, rates: &Csr<(u32, f64)>) {
        let mut calls: Vec<(u32, u32)> = Vec::new();
        self.enter(root);
        calls.push((root, 0));
        while let Some(&mut (state, ref mut at)) = calls.last_mut() {
            let row = rates.row(state as usize);
            if let Some(&(to, _)) = row.get(*at as usize) {
                *at += 1;
                if self.order[to as usize] == UNSEEN {
                    self.enter(to);
                    calls.push((to, 0));
                } else if self.component[to as usize] == UNSEEN {
                    self.low[state as usize] = self.low[state as usize].min(self.order[to as usize]);
                }
                continue;
            }
            calls.pop();
            if let Some(&(caller, _)) = calls.last() {
                self.low[caller as usize] = self.low[caller as usize].min(self.low[state as usize]);
            }
            if self.low[state as usize] == self.order[state as usize] {
                self.close(state);
            }
        }
    }

    fn enter(&mut self, state: u32) {
        self.order[state as usize] = self.next;
        self.low[state as usize] = self.next;
        self.next += 1;
        self.stack.push(state);
    }

    fn close(&mut self, root: u32) {
        let number = u32::try_from(self.ends.len() - 1).expect("fewer components than states");
        let first = self.stack.iter().rposition(|&s| s == root).expect("a root is on the stack until it is closed");
        let start = self.members.len();
        self.members.extend(self.stack.drain(first..));
        self.members[start..].sort_unstable();
        for &state in &self.members[start..] {
            self.component[state as usize] = number;
        }
        self.ends.push(self.members.len());
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
        let rates = Csr::from_rows((0..n).map(|i| (i + 1 < n).then_some((i + 1, 1.0))));
        let components = Components::of(&rates);
        assert_eq!(components.count(), n as usize);
        assert_eq!(components.recurrent(&rates), [components.of[n as usize - 1]]);
    }

    #[test]
    fn an_empty_chain_has_no_component() {
        assert_eq!(Components::of(&Csr::from_rows(Vec::<Vec<(u32, f64)>>::new())).count(), 0);
    }
}
