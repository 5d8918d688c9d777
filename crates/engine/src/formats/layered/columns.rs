//! The column of each node: to the right of the columns of the node's predecessors. Nodes of the first kind get columns
//! with even numbers.

use tailspn_common::graph::components;

use crate::formats::layered::Graph;

/// Maximum number of rounds that move nodes nearer to their neighbours.
const ROUNDS: usize = 8;
/// Maximum share of start nodes among the nodes of the first kind in a cycle.
const MOST_FIRSTS: f64 = 0.67;

/// Returns a column for each node. Ignores edges that would close a cycle, then moves nodes to shorten edges.
pub(super) fn columns(graph: &Graph) -> Vec<usize> {
    let (forward, order) = without_cycles(graph);
    let mut column: Vec<i64> = graph.nodes.iter().map(|node| i64::from(node.second)).collect();
    for &node in &order {
        for &next in &forward[node] {
            column[next] = column[next].max(column[node] + 1);
        }
    }
    shorten(graph, &forward, &order, &mut column);
    let first = column.iter().copied().min().unwrap_or(0);
    column.into_iter().map(|c| usize::try_from(c - first).expect("the first column is the least")).collect()
}

/// The firm edges that do not go back, and an order in which they all point forward. Edges of a cycle that return to
/// its start nodes go back, as tokens return to their origin. In each remaining cycle, a depth-first search
/// chooses one edge that goes back.
fn without_cycles(graph: &Graph) -> (Vec<Vec<usize>>, Vec<usize>) {
    const NEW: u8 = 0;
    const OPEN: u8 = 1;
    const DONE: u8 = 2;
    let count = graph.nodes.len();
    let mut next = vec![Vec::new(); count];
    let mut entered = vec![false; count];
    let cycle_of = cycles(graph);
    for edge in graph.edges.iter().filter(|edge| edge.firm) {
        let returns = graph.nodes[edge.to].first && cycle_of[edge.to].is_some_and(|c| cycle_of[edge.from] == Some(c));
        if !returns {
            next[edge.from].push(edge.to);
            entered[edge.to] = true;
        }
    }
    let mut roots: Vec<usize> = (0..count).collect();
    roots.sort_by_key(|&node| (entered[node], !graph.nodes[node].first));
    let mut state = vec![NEW; count];
    let mut order = Vec::with_capacity(count);
    let mut forward = vec![Vec::new(); count];
    for root in roots {
        if state[root] != NEW {
            continue;
        }
        state[root] = OPEN;
        let mut stack = vec![(root, 0)];
        while let Some((node, at)) = stack.pop() {
            let Some(&child) = next[node].get(at) else {
                state[node] = DONE;
                order.push(node);
                continue;
            };
            stack.push((node, at + 1));
            if state[child] != OPEN {
                forward[node].push(child);
            }
            if state[child] == NEW {
                state[child] = OPEN;
                stack.push((child, 0));
            }
        }
    }
    order.reverse();
    (forward, order)
}

/// Per node the number of its strongly connected component. None if too many of the component's nodes of the first kind
/// are start nodes, because then almost all edges of the component would go back.
fn cycles(graph: &Graph) -> Vec<Option<usize>> {
    let mut next = vec![Vec::new(); graph.nodes.len()];
    graph.edges.iter().filter(|edge| edge.firm).for_each(|edge| next[edge.from].push(edge.to));
    let found = components(next.len(), |v| next[v].len(), |v, k| next[v][k]);
    let (mut firsts, mut kind) = (vec![0_u32; found.count], vec![0_u32; found.count]);
    for (node, &component) in graph.nodes.iter().zip(&found.of) {
        firsts[component as usize] += u32::from(node.first);
        kind[component as usize] += u32::from(!node.second);
    }
    let counts = |c: usize| f64::from(firsts[c]) <= MOST_FIRSTS * f64::from(kind[c]);
    found.of.into_iter().map(|c| Some(c as usize).filter(|&c| counts(c))).collect()
}

/// Moves each node, as far as its forward edges allow, to the column where the total length of its edges is minimal.
fn shorten(graph: &Graph, forward: &[Vec<usize>], order: &[usize], column: &mut [i64]) {
    let mut before = vec![Vec::new(); column.len()];
    for (node, next) in forward.iter().enumerate() {
        next.iter().for_each(|&next| before[next].push(node));
    }
    let mut near = vec![Vec::new(); column.len()];
    for edge in &graph.edges {
        near[edge.from].push(edge.to);
        near[edge.to].push(edge.from);
    }
    for round in 0..ROUNDS {
        let mut moved = false;
        for i in 0..order.len() {
            let node = if round % 2 == 0 { order[order.len() - 1 - i] } else { order[i] };
            let mut around: Vec<i64> = near[node].iter().map(|&other| column[other]).collect();
            around.sort_unstable();
            let (Some(&least), Some(&most)) = (around.first(), around.last()) else { continue };
            let low = before[node].iter().map(|&other| column[other] + 1).max().unwrap_or(least - 1);
            let high = forward[node].iter().map(|&other| column[other] - 1).min().unwrap_or(most + 1);
            let middle = around[around.len() / 2];
            let length = |at: i64| around.iter().map(|other| (other - at).abs()).sum::<i64>();
            let choices = [low, high, middle - 1, middle + 1].into_iter().filter(|at| (low..=high).contains(at));
            if let Some(best) = choices.min_by_key(|&at| length(at))
                && length(best) < length(column[node])
            {
                column[node] = best;
                moved = true;
            }
        }
        if !moved {
            break;
        }
    }
}
