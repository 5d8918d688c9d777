//! The graph of the markings of a net without time, for drawing.

use std::collections::BTreeMap;

use crate::compile::Program;
use crate::solve::state_graph::{DrawError, GraphEdge, GraphNode, MarkingKind, StateGraph, in_words};
use crate::solve::untimed::rules::Priorities;
use crate::solve::untimed::space::MarkingGraph;

/// Returns the graph of all markings. If priorities are kept, markings in which immediate transitions fire are shown as vanishing.
///
/// # Errors
///
/// [`DrawError::TooLarge`] with more than `limit` markings.
pub fn untimed_graph(
    graph: &MarkingGraph,
    program: &Program,
    priorities: Priorities,
    limit: usize,
) -> Result<StateGraph, DrawError> {
    if graph.states() > limit {
        return Err(DrawError::TooLarge { limit });
    }
    let is_immediate = |t: u32| priorities == Priorities::Kept && program.is_immediate(t as usize);
    let mut marking = program.initial.clone();
    let mut drawn = StateGraph::default();
    for state in 0..graph.states() {
        graph.marking(state, &mut marking);
        let shown = match graph.steps(state).first() {
            Some(step) if is_immediate(step.transition) => MarkingKind::Vanishing,
            None if state < graph.explored() => MarkingKind::Dead,
            _ => MarkingKind::Tangible,
        };
        let node = GraphNode { number: state, shown, marking: in_words(program, &marking), initial: state == 0 };
        drawn.nodes.push(node);
        let mut firings: BTreeMap<u32, Vec<String>> = BTreeMap::new();
        for step in graph.steps(state) {
            firings.entry(step.to).or_default().push(program.transition_names[step.transition as usize].to_owned());
        }
        let immediate = shown == MarkingKind::Vanishing;
        let edges = firings.into_iter().map(|(to, firings)| (to as usize, firings));
        drawn.edges.extend(edges.map(|(to, firings)| GraphEdge { from: state, to, firings, immediate }));
    }
    Ok(drawn)
}
