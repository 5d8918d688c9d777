//! Graphs whose nodes are numbers: strongly connected components, topological order, connected sets.

/// The strongly connected components of a graph.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Components {
    /// Per node: its component. No edge leads from a component to one with a larger number.
    pub of: Vec<u32>,
    /// Number of components.
    pub count: usize,
}

/// Not yet visited.
const NEW: u32 = u32::MAX;

/// Returns the components of a graph of `nodes` nodes. `degree` returns the number of successors of a node, `successor` returns
/// a successor. Tarjan's algorithm \[Tarjan1972\], without recursion: time and memory are linear.
pub fn components(
    nodes: usize,
    degree: impl Fn(usize) -> usize,
    successor: impl Fn(usize, usize) -> usize,
) -> Components {
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
    Components { of, count: count as usize }
}

impl Components {
    /// Returns `starts` and `nodes`: component `c` has the nodes `nodes[starts[c]..starts[c + 1]]`, in ascending order.
    pub fn members(&self) -> (Vec<u32>, Vec<u32>) {
        let mut starts = vec![0_u32; self.count + 1];
        for &component in &self.of {
            starts[component as usize + 1] += 1;
        }
        for component in 0..self.count {
            starts[component + 1] += starts[component];
        }
        let mut next = starts.clone();
        let mut nodes = vec![0; self.of.len()];
        for (node, &component) in (0_u32..).zip(&self.of) {
            let at = &mut next[component as usize];
            nodes[*at as usize] = node;
            *at += 1;
        }
        (nodes, starts)
    }
}

/// Returns the nodes of a graph, given as lists of successors, in an order in which all edges lead forward.
///
/// # Errors
///
/// The first node on a cycle, if there is one.
pub fn topological_order(successors: &[Vec<usize>]) -> Result<Vec<usize>, usize> {
    let nodes = successors.len();
    let found = components(nodes, |v| successors[v].len(), |v, k| successors[v][k]);
    let (members, starts) = found.members();
    let acyclic = |v: usize| {
        let component = found.of[v] as usize;
        starts[component + 1] - starts[component] == 1 && !successors[v].contains(&v)
    };
    match (0..nodes).find(|&v| !acyclic(v)) {
        Some(on_cycle) => Err(on_cycle),
        None => Ok(members.into_iter().rev().map(|v| v as usize).collect()),
    }
}

/// A partition of the numbers below a limit into disjoint sets, which grow by union.
#[derive(Clone, Debug)]
pub struct DisjointSets {
    /// The next element on the way to the representative, which points to itself.
    parent: Vec<usize>,
}

impl DisjointSets {
    /// Returns `count` sets of one element each.
    pub fn new(count: usize) -> Self {
        Self { parent: (0..count).collect() }
    }

    /// Returns the representative of an element's set. Shortens the way to it.
    pub fn find(&mut self, mut element: usize) -> usize {
        while self.parent[element] != element {
            self.parent[element] = self.parent[self.parent[element]];
            element = self.parent[element];
        }
        element
    }

    /// Merges the sets of two elements; returns true if they were different sets.
    pub fn union(&mut self, a: usize, b: usize) -> bool {
        let (a, b) = (self.find(a), self.find(b));
        // the smallest element represents its set
        self.parent[a.max(b)] = a.min(b);
        a != b
    }
}

fn number(node: usize) -> u32 {
    u32::try_from(node).expect("the number of nodes is limited")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn of_lists(lists: &[Vec<usize>]) -> Components {
        components(lists.len(), |v| lists[v].len(), |v, k| lists[v][k])
    }

    #[test]
    fn a_cycle_is_one_component_and_each_node_of_its_tail_another() {
        let found = of_lists(&[vec![1], vec![2], vec![1, 3], vec![3], vec![]]);
        assert_eq!((found.of.clone(), found.count), (vec![2, 1, 1, 0, 3], 4));
        assert_eq!(found.members(), (vec![3, 1, 2, 0, 4], vec![0, 1, 3, 4, 5]));
    }

    #[test]
    fn long_paths_need_no_stack() {
        let nodes = 1_000_000;
        let found = components(nodes, |v| usize::from(v + 1 < nodes), |v, _| v + 1);
        assert_eq!(found.count, nodes);
    }

    #[test]
    fn an_order_exists_unless_there_is_a_cycle() {
        assert_eq!(topological_order(&[vec![2], vec![0], vec![]]), Ok(vec![1, 0, 2]));
        assert_eq!(topological_order(&[vec![1], vec![2], vec![3, 1], vec![]]), Err(1));
        assert_eq!(topological_order(&[vec![], vec![1]]), Err(1), "a loop of one node");
    }

    proptest! {
        #[test]
        fn all_edges_of_an_order_lead_forward(
            edges in proptest::collection::vec((0_usize..10, 0_usize..10), 0..20),
        ) {
            // edges from a larger number to a smaller one, so that there is no cycle
            let mut lists = vec![Vec::new(); 10];
            edges.iter().filter(|(a, b)| a != b).for_each(|(a, b)| lists[*a.max(b)].push(*a.min(b)));
            let order = topological_order(&lists).unwrap();
            let at = |node: usize| order.iter().position(|&n| n == node).unwrap();
            prop_assert_eq!(order.len(), 10);
            prop_assert!((0..10).all(|v| lists[v].iter().all(|&w| at(v) < at(w))));
        }

        /// The same components, and an order for the same graphs, as those of petgraph.
        #[test]
        fn petgraph_agrees(edges in proptest::collection::vec((0_usize..30, 0_usize..30), 0..60)) {
            let graph = petgraph::graph::DiGraph::<(), ()>::from_edges(edges.iter().map(|&(a, b)| (a as u32, b as u32)));
            let mut lists = vec![Vec::new(); graph.node_count()];
            edges.iter().for_each(|&(a, b)| lists[a].push(b));
            let found = of_lists(&lists);
            let theirs = petgraph::algo::tarjan_scc(&graph);
            prop_assert_eq!(found.count, theirs.len());
            for component in theirs {
                let first = found.of[component[0].index()];
                prop_assert!(component.iter().all(|node| found.of[node.index()] == first));
            }
            prop_assert_eq!(topological_order(&lists).is_ok(), petgraph::algo::toposort(&graph, None).is_ok());
        }

        #[test]
        fn sets_are_the_parts_that_unions_connect(pairs in proptest::collection::vec((0_usize..12, 0_usize..12), 0..12)) {
            let mut sets = DisjointSets::new(12);
            let mut lists = vec![Vec::new(); 12];
            let mut merged = 0;
            for &(a, b) in &pairs {
                merged += usize::from(sets.union(a, b));
                lists[a].push(b);
                lists[b].push(a);
            }
            let parts = of_lists(&lists);
            prop_assert_eq!(parts.count, 12 - merged);
            for (a, b) in (0..12).flat_map(|a| (0..12).map(move |b| (a, b))) {
                prop_assert_eq!(sets.find(a) == sets.find(b), parts.of[a] == parts.of[b]);
            }
        }

        #[test]
        fn nodes_share_a_component_where_each_reaches_the_other(
            lists in proptest::collection::vec(proptest::collection::vec(0_usize..12, 0..3), 12),
        ) {
            let mut reaches = [[false; 12]; 12];
            for v in 0..12 {
                reaches[v][v] = true;
                lists[v].iter().for_each(|&w| reaches[v][w] = true);
            }
            for k in 0..12 {
                let through = reaches[k];
                for row in reaches.iter_mut().filter(|row| row[k]) {
                    row.iter_mut().zip(through).for_each(|(reach, more)| *reach |= more);
                }
            }
            let found = of_lists(&lists);
            for v in 0..12 {
                let mutual = reaches.iter().enumerate().map(|(w, row)| reaches[v][w] && row[v]);
                let same = found.of.iter().map(|&component| component == found.of[v]);
                prop_assert!(mutual.eq(same));
                prop_assert!(lists[v].iter().all(|&w| found.of[w] <= found.of[v]));
            }
        }
    }
}
