//! Strongly connected components of a graph whose nodes are numbers.

/// The strongly connected components of a graph.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Components {
    /// Per node: its component. No edge leads from a component to one with a larger number.
    pub(crate) of: Vec<u32>,
    /// Number of components.
    pub(crate) count: usize,
}

/// Not yet visited.
const NEW: u32 = u32::MAX;

/// Returns the components of a graph of `nodes` nodes. `degree` returns the number of successors of a node, `successor` returns
/// a successor. Tarjan's algorithm \[Tarjan1972\], without recursion: time and memory are linear.
pub(crate) fn components(
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
    pub(crate) fn members(&self) -> (Vec<u32>, Vec<u32>) {
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
    fn a_cycle_with_a_tail() {
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

    proptest! {
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
