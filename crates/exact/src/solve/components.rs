//! Strongly connected components of states in topological order, and the recurrent components.
//!
//! petgraph computes the same components in the same order (see the tests), but not for millions of states: its
//! `tarjan_scc` is recursive, so a long chain overflows the stack. Its `kosaraju_scc` also needs the rates by the state
//! that they enter, and a list for each component; both together are larger than the chain, whose rates take 6 bytes
//! each. The graphs of zero-time firings use the same code: they are small, but there is one for each vanishing
//! marking.

use crate::compile::Csr;
use crate::solve::rates::Rates;

/// The strongly connected components of a graph, each after all its successors.
#[derive(Clone, Debug)]
pub(crate) struct Components {
    /// States of each component, ascending; components are in reverse topological order, successors first.
    pub(crate) states: Csr<u32>,
    /// Per state: its component.
    pub(crate) of: Vec<u32>,
}

impl Components {
    /// Returns the components of a chain.
    pub(crate) fn of(rates: &Rates) -> Self {
        let row = |state: usize| rates.states(state);
        Self::of_graph(rates.rows(), |state| row(state).len(), |state, k| row(state)[k] as usize)
    }

    /// Returns the components of a graph of `states` states. `degree` returns the number of successors of a state,
    /// `successor` returns a successor.
    pub(crate) fn of_graph(
        states: usize,
        degree: impl Fn(usize) -> usize,
        successor: impl Fn(usize, usize) -> usize,
    ) -> Self {
        let (of, count) = numbered(states, degree, successor);
        let mut starts = vec![0_u32; count + 1];
        for &component in &of {
            starts[component as usize + 1] += 1;
        }
        for component in 0..count {
            starts[component + 1] += starts[component];
        }
        let mut next = starts.clone();
        let mut nodes = vec![0; of.len()];
        for (node, &component) in (0_u32..).zip(&of) {
            let at = &mut next[component as usize];
            nodes[*at as usize] = node;
            *at += 1;
        }
        Self { states: Csr::from_parts(starts, nodes), of }
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

/// Not yet visited.
const NEW: u32 = u32::MAX;

/// Returns the component of each node, and the number of components. Tarjan's algorithm \[Tarjan1972\], without
/// recursion: time and memory are linear.
fn numbered(
    nodes: usize,
    degree: impl Fn(usize) -> usize,
    successor: impl Fn(usize, usize) -> usize,
) -> (Vec<u32>, usize) {
    let mut of = vec![NEW; nodes];
    let mut seen = vec![NEW; nodes];
    let mut low = vec![0_u32; nodes];
    let (mut waiting, mut path): (Vec<u32>, Vec<(u32, usize)>) = (Vec::new(), Vec::new());
    let (mut clock, mut count) = (0_u32, 0_u32);
    for root in 0..nodes {
        if seen[root] != NEW {
            continue;
        }
        path.push((number(root), 0));
        while let Some((node, next)) = path.last_mut() {
            let v = *node as usize;
            if *next == 0 {
                (seen[v], low[v]) = (clock, clock);
                clock += 1;
                waiting.push(*node);
            }
            if *next < degree(v) {
                let w = successor(v, *next);
                *next += 1;
                if seen[w] == NEW {
                    path.push((number(w), 0));
                } else if of[w] == NEW {
                    low[v] = low[v].min(seen[w]);
                }
                continue;
            }
            path.pop();
            if let Some(&(parent, _)) = path.last() {
                low[parent as usize] = low[parent as usize].min(low[v]);
            }
            if low[v] == seen[v] {
                while let Some(member) = waiting.pop() {
                    of[member as usize] = count;
                    if member as usize == v {
                        break;
                    }
                }
                count += 1;
            }
        }
    }
    (of, count as usize)
}

fn number(node: usize) -> u32 {
    u32::try_from(node).expect("the number of nodes is limited")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::solve::chain::tests::chain_of;
    use petgraph::algo::kosaraju_scc;
    use petgraph::graph::DiGraph;
    use petgraph::visit::Reversed;
    use proptest::prelude::*;

    fn of_lists(lists: &[Vec<usize>]) -> Components {
        Components::of_graph(lists.len(), |v| lists[v].len(), |v, k| lists[v][k])
    }

    #[test]
    fn a_cycle_with_a_tail() {
        let found = of_lists(&[vec![1], vec![2], vec![1, 3], vec![3], vec![]]);
        assert_eq!(found.of, [2, 1, 1, 0, 3]);
        assert_eq!(found.states, Csr::from_rows([vec![3], vec![1, 2], vec![0], vec![4]]));
    }

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

    proptest! {
        /// The same components in the same order. On the reversed graph, `kosaraju_scc` first walks the edges forward, and a
        /// walk takes the edges of a node in the order in which they were added.
        #[test]
        fn petgraph_agrees(edges in proptest::collection::vec((0_usize..30, 0_usize..30), 0..60)) {
            let graph = DiGraph::<(), (), usize>::from_edges(&edges);
            let mut lists = vec![Vec::new(); graph.node_count()];
            edges.iter().for_each(|&(a, b)| lists[a].push(b));
            let found = of_lists(&lists);
            let theirs = kosaraju_scc(Reversed(&graph));
            prop_assert_eq!(found.count(), theirs.len());
            for (number, component) in (0..).zip(theirs.into_iter().rev()) {
                prop_assert!(component.iter().all(|node| found.of[node.index()] == number));
            }
            prop_assert!((0..lists.len()).all(|v| lists[v].iter().all(|&w| found.of[w] <= found.of[v])));
        }
    }
}
