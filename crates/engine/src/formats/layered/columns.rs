//! The column of each node: to the right of the columns of the node's predecessors. Nodes of the first kind get columns
//! with even numbers.

use petgraph::algo::kosaraju_scc;
use petgraph::graph::{DiGraph, NodeIndex};
use petgraph::visit::DfsPostOrder;
use petgraph::{Incoming, Outgoing};

use crate::formats::layered::{Edge, Graph};

/// Edges between nodes with the numbers of a [`Graph`].
type Edges = DiGraph<(), (), usize>;

/// Maximum number of rounds that move nodes nearer to their neighbours.
const ROUNDS: usize = 8;
/// Maximum share of start nodes among the nodes of the first kind in a cycle.
const MOST_FIRSTS: f64 = 0.67;

/// Returns a column for each node. Ignores edges that would close a cycle, then moves nodes to shorten edges.
pub(super) fn columns(graph: &Graph) -> Vec<usize> {
    let (forward, order) = without_cycles(graph);
    let mut column: Vec<i64> = graph.nodes.iter().map(|node| i64::from(node.second)).collect();
    for &node in &order {
        for next in forward.neighbors(node) {
            column[next.index()] = column[next.index()].max(column[node.index()] + 1);
        }
    }
    shorten(graph, &forward, &order, &mut column);
    let first = column.iter().copied().min().unwrap_or(0);
    column.into_iter().map(|c| usize::try_from(c - first).expect("the first column is the least")).collect()
}

/// The firm edges that do not go back, and an order in which they all point forward. Edges of a cycle that return to
/// its start nodes go back, as tokens return to their origin. In each remaining cycle, a depth-first search
/// chooses one edge that goes back.
fn without_cycles(graph: &Graph) -> (Edges, Vec<NodeIndex<usize>>) {
    let cycle_of = cycles(graph);
    let returns =
        |edge: &Edge| graph.nodes[edge.to].first && cycle_of[edge.to].is_some_and(|c| cycle_of[edge.from] == Some(c));
    let edges = firm_edges(graph, |edge| !returns(edge));
    let mut roots: Vec<_> = edges.node_indices().collect();
    roots.sort_by_key(|&node| {
        let is_entered = edges.neighbors_directed(node, Incoming).next().is_some();
        (is_entered, !graph.nodes[node.index()].first)
    });
    let mut order = Vec::with_capacity(roots.len());
    let mut walk = DfsPostOrder::empty(&edges);
    for root in roots {
        walk.move_to(root);
        while let Some(node) = walk.next(&edges) {
            order.push(node);
        }
    }
    order.reverse();
    let mut rank = vec![0; order.len()];
    order.iter().enumerate().for_each(|(at, node)| rank[node.index()] = at);
    let forward = firm_edges(graph, |edge| !returns(edge) && rank[edge.from] < rank[edge.to]);
    (forward, order)
}

/// All nodes of a graph, with the firm edges that `keep` selects.
fn firm_edges(graph: &Graph, keep: impl Fn(&Edge) -> bool) -> Edges {
    let mut edges = Edges::default();
    graph.nodes.iter().for_each(|_| _ = edges.add_node(()));
    let kept = graph.edges.iter().filter(|edge| edge.firm && keep(edge));
    edges.extend_with_edges(kept.map(|edge| (edge.from, edge.to)));
    edges
}

/// Per node the number of its strongly connected component. None if too many of the component's nodes of the first kind
/// are start nodes, because then almost all edges of the component would go back.
fn cycles(graph: &Graph) -> Vec<Option<usize>> {
    let mut cycle_of = vec![None; graph.nodes.len()];
    for (number, component) in kosaraju_scc(&firm_edges(graph, |_| true)).into_iter().enumerate() {
        let nodes = || component.iter().map(|node| &graph.nodes[node.index()]);
        let firsts = nodes().filter(|node| node.first).count();
        let of_first_kind = nodes().filter(|node| !node.second).count();
        if firsts as f64 <= MOST_FIRSTS * of_first_kind as f64 {
            component.iter().for_each(|node| cycle_of[node.index()] = Some(number));
        }
    }
    cycle_of
}

/// Moves each node, as far as its forward edges allow, to the column where the total length of its edges is minimal.
fn shorten(graph: &Graph, forward: &Edges, order: &[NodeIndex<usize>], column: &mut [i64]) {
    let mut near = vec![Vec::new(); column.len()];
    for edge in &graph.edges {
        near[edge.from].push(edge.to);
        near[edge.to].push(edge.from);
    }
    for round in 0..ROUNDS {
        let mut moved = false;
        for i in 0..order.len() {
            let node = if round % 2 == 0 { order[order.len() - 1 - i] } else { order[i] };
            let mut around: Vec<i64> = near[node.index()].iter().map(|&other| column[other]).collect();
            around.sort_unstable();
            let (Some(&least), Some(&most)) = (around.first(), around.last()) else { continue };
            let beside = |direction| forward.neighbors_directed(node, direction);
            let low = beside(Incoming).map(|other| column[other.index()] + 1).max().unwrap_or(least - 1);
            let high = beside(Outgoing).map(|other| column[other.index()] - 1).min().unwrap_or(most + 1);
            let middle = around[around.len() / 2];
            let length = |at: i64| around.iter().map(|other| (other - at).abs()).sum::<i64>();
            let choices = [low, high, middle - 1, middle + 1].into_iter().filter(|at| (low..=high).contains(at));
            if let Some(best) = choices.min_by_key(|&at| length(at))
                && length(best) < length(column[node.index()])
            {
                column[node.index()] = best;
                moved = true;
            }
        }
        if !moved {
            break;
        }
    }
}
