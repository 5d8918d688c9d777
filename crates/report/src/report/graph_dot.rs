//! A graph of markings for Graphviz.

use std::fmt::Write as _;

use crate::solve::{GraphNode, MarkingKind, StateGraph};

/// Returns a reachability or coverability graph as Graphviz DOT: tangible markings are ellipses, dead ones have two
/// lines, vanishing ones grey boxes, initial ones are bold; timed firings are solid, immediate ones dashed.
pub fn graph_dot(graph: &StateGraph) -> String {
    let mut text = String::from("digraph markings {\n  node [fontname=\"sans-serif\", fontsize=10];\n");
    text.push_str("  edge [fontname=\"sans-serif\", fontsize=9, arrowsize=0.7];\n");
    for node in &graph.nodes {
        let vanishing = node.shown == MarkingKind::Vanishing;
        let number = if vanishing { String::new() } else { format!("{}: ", node.number) };
        let look = match (node.shown, node.initial) {
            (MarkingKind::Vanishing, false) => ", shape=box, style=filled, fillcolor=gray90",
            (MarkingKind::Vanishing, true) => ", shape=box, style=\"filled,bold\", fillcolor=gray90",
            (MarkingKind::Dead, false) => ", peripheries=2",
            (MarkingKind::Dead, true) => ", peripheries=2, style=bold",
            (_, true) => ", style=bold",
            (_, false) => "",
        };
        let _ = writeln!(text, "  {} [label=\"{number}{}\"{look}];", name(node), escaped(&node.marking));
    }
    for edge in &graph.edges {
        let [from, to] = [edge.from, edge.to].map(|at| name(&graph.nodes[at]));
        let dashed = if edge.immediate { "style=dashed, " } else { "" };
        let firings: Vec<String> = edge.firings.iter().map(|firing| escaped(firing)).collect();
        let _ = writeln!(text, "  {from} -> {to} [{dashed}label=\"{}\"];", firings.join("\\n"));
    }
    text.push_str("}\n");
    text
}

fn name(node: &GraphNode) -> String {
    let kind = if node.shown == MarkingKind::Vanishing { 'v' } else { 's' };
    format!("{kind}{}", node.number)
}

fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::solve::GraphEdge;

    #[test]
    fn names_are_escaped_and_kinds_told_apart() {
        let node = |number, shown, initial| GraphNode { number, shown, marking: "a \"b\"".to_owned(), initial };
        let edge = GraphEdge { from: 1, to: 0, firings: vec!["t 1".to_owned(), "u 2".to_owned()], immediate: true };
        let nodes = vec![node(0, MarkingKind::Dead, false), node(0, MarkingKind::Vanishing, true)];
        let text = graph_dot(&StateGraph { nodes, edges: vec![edge] });
        assert!(text.contains("  s0 [label=\"0: a \\\"b\\\"\", peripheries=2];\n"), "{text}");
        assert!(text.contains("  v0 [label=\"a \\\"b\\\"\", shape=box, style=\"filled,bold\", fillcolor=gray90];\n"));
        assert!(text.contains("  v0 -> s0 [style=dashed, label=\"t 1\\nu 2\"];\n"));
    }
}
