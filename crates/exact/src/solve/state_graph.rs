//! The reachability graph and the coverability graph, for drawing: markings as text, and the transitions between them.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use crate::compile::Program;
use crate::solve::coverability::{Coverability, OMEGA};
use crate::solve::explore_error::ExploreError;
use crate::solve::firings::TimedFirings;
use crate::solve::marking::Marking;
use crate::solve::space::StateSpace;
use crate::solve::store::Store;
use crate::solve::vanish::{Rules, Settling};

/// Reason why a graph cannot be drawn.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DrawError {
    /// More markings than a picture can show.
    #[error("the graph has more than {limit} markings, too many to draw")]
    TooLarge {
        /// Maximum number of markings.
        limit: usize,
    },
    /// A fault in a marking.
    #[error(transparent)]
    Explore(#[from] ExploreError),
}

/// Options of a drawing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Drawing {
    /// True if vanishing markings are also shown.
    pub vanishing: bool,
    /// Maximum number of markings. Default 20,000.
    pub limit: usize,
}

impl Default for Drawing {
    fn default() -> Self {
        Self { vanishing: false, limit: 20_000 }
    }
}

/// Kind of a marking.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MarkingKind {
    /// Time passes in the marking.
    Tangible,
    /// No transition can fire in the marking.
    Dead,
    /// The marking is left in zero time.
    Vanishing,
    /// A marking of the coverability graph, which represents many markings if it holds any number of tokens.
    Cover,
}

/// A marking.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GraphNode {
    /// Number of the marking: the number of its state, or for vanishing markings a separate numbering.
    pub number: usize,
    /// Kind of the marking.
    pub shown: MarkingKind,
    /// Marked places with their tokens; `ω` stands for any number.
    pub marking: String,
    /// True if the net may start in this marking.
    pub initial: bool,
}

/// Transitions from one marking to another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GraphEdge {
    /// Position of the marking before.
    pub from: usize,
    /// Position of the marking after.
    pub to: usize,
    /// The transitions: timed transitions with their rates \[1/s\], immediate transitions with their probabilities.
    pub firings: Vec<String>,
    /// True if the transitions take no time.
    pub immediate: bool,
}

/// A graph of markings, in the order of exploration: initial markings are near the start.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StateGraph {
    /// The markings.
    pub nodes: Vec<GraphNode>,
    /// Firings, by the marking before.
    pub edges: Vec<GraphEdge>,
}

/// Returns the reachability graph. Each edge between tangible markings names the timed transitions that lead from one to the
/// other, with their rates. If vanishing markings are not shown, such a rate is the rate of the timed transition multiplied by
/// the probability of ending in that marking.
///
/// # Errors
///
/// Too many markings, or the errors of [`explore`](crate::solve::explore).
pub fn reachability_graph(space: &StateSpace, program: &Program, drawing: Drawing) -> Result<StateGraph, DrawError> {
    if space.states() > drawing.limit {
        return Err(DrawError::TooLarge { limit: drawing.limit });
    }
    let mut artist = Artist {
        rules: space.rules(program),
        space,
        drawing,
        vanishing: space.rules(program).store(),
        graph: StateGraph::default(),
        settling: Settling::new(&space.rules(program)),
        marking: space.rules(program).start(),
    };
    artist.states()?;
    for state in 0..space.explored() {
        artist.edges(state)?;
    }
    Ok(artist.graph)
}

/// Returns the coverability graph.
///
/// # Errors
///
/// [`DrawError::TooLarge`] with more than `limit` markings.
pub fn coverability_graph(graph: &Coverability, program: &Program, limit: usize) -> Result<StateGraph, DrawError> {
    if graph.nodes() > limit {
        return Err(DrawError::TooLarge { limit });
    }
    let node = |number| GraphNode {
        number,
        shown: MarkingKind::Cover,
        marking: in_words(program, graph.marking(number)),
        initial: number == 0,
    };
    let mut firings: BTreeMap<(u32, u32), Vec<String>> = BTreeMap::new();
    for edge in &graph.edges {
        let name = program.transition_names[edge.transition as usize].to_owned();
        firings.entry((edge.from, edge.to)).or_default().push(name);
    }
    let edge = |((from, to), firings): ((u32, u32), _)| GraphEdge {
        from: from as usize,
        to: to as usize,
        firings,
        immediate: false,
    };
    Ok(StateGraph { nodes: (0..graph.nodes()).map(node).collect(), edges: firings.into_iter().map(edge).collect() })
}

struct Artist<'a> {
    rules: Rules<'a>,
    space: &'a StateSpace,
    drawing: Drawing,
    /// Vanishing markings; their nodes follow the nodes of the states.
    vanishing: Store,
    graph: StateGraph,
    settling: Settling,
    /// Working memory.
    marking: Marking,
}

impl Artist<'_> {
    fn states(&mut self) -> Result<(), DrawError> {
        let program = self.rules.program;
        let mut marking = program.initial.clone();
        for number in 0..self.space.states() {
            self.space.marking(number, &mut marking);
            let state = number as u32;
            let dead = self.space.dead().binary_search(&state).is_ok();
            self.graph.nodes.push(GraphNode {
                number,
                shown: if dead { MarkingKind::Dead } else { MarkingKind::Tangible },
                marking: in_words(program, &marking),
                initial: self.space.partial_chain().initial.iter().any(|&(initial, _)| initial == state),
            });
        }
        if self.drawing.vanishing {
            self.settling.explore(&self.rules, &self.rules.start())?;
            if !self.settling.is_end(0) {
                self.zero_time()?;
                // the net starts in a vanishing marking: the states after it are reached, not initial
                self.graph.nodes.iter_mut().for_each(|node| node.initial = false);
                if let Some(first) = self.position(0) {
                    self.graph.nodes[first].initial = true;
                }
            }
        }
        Ok(())
    }

    /// Adds the transitions from a state.
    fn edges(&mut self, state: usize) -> Result<(), DrawError> {
        let program = self.rules.program;
        // per next marking: the transitions that lead to it
        let mut firings: BTreeMap<usize, Vec<String>> = BTreeMap::new();
        let mut ends = Vec::new();
        let space = self.space;
        TimedFirings::new(space, program).of_state(state, |firing| {
            ends.clear();
            if firing.is_vanishing && self.drawing.vanishing {
                self.settling.explore(&self.rules, firing.next)?;
                self.zero_time()?;
                ends.push((self.position(0).unwrap_or(state), firing.rate));
            } else {
                let mut states = Vec::new();
                firing.add_ends(space, &self.rules, &mut self.settling, &mut self.marking, &mut states)?;
                ends.extend(states.into_iter().map(|(to, rate)| (to as usize, rate)));
            }
            let name = &program.transition_names[firing.transition as usize];
            for &(to, rate) in &ends {
                firings.entry(to).or_default().push(format!("{name} {rate}"));
            }
            Ok::<_, DrawError>(())
        })?;
        let edges = firings.into_iter().map(|(to, firings)| GraphEdge { from: state, to, firings, immediate: false });
        self.graph.edges.extend(edges);
        Ok(())
    }

    /// Returns the position, in the graph, of marking `i` of the current exploration of immediate firings.
    fn position(&mut self, i: usize) -> Option<usize> {
        self.settling.read(i, &mut self.marking);
        if self.settling.is_end(i) {
            return self.space.state_of(&self.marking).map(|state| state as usize);
        }
        self.vanishing.find(&self.marking).map(|number| self.space.states() + number as usize)
    }

    /// Adds the new vanishing markings of the current exploration of immediate firings, and the firings in these
    /// markings.
    fn zero_time(&mut self) -> Result<(), DrawError> {
        let program = self.rules.program;
        let mut fresh = Vec::new();
        for i in (0..self.settling.len()).filter(|&i| !self.settling.is_end(i)) {
            self.settling.read(i, &mut self.marking);
            let (number, new) = self.vanishing.insert(&self.marking);
            if new {
                let marking = in_words(program, &self.marking);
                let number = number as usize;
                self.graph.nodes.push(GraphNode { number, shown: MarkingKind::Vanishing, marking, initial: false });
                fresh.push(i);
            }
        }
        if self.graph.nodes.len() > self.drawing.limit {
            return Err(DrawError::TooLarge { limit: self.drawing.limit });
        }
        for i in fresh {
            let Some(from) = self.position(i) else { continue };
            for k in 0..self.settling.steps(i).len() {
                let step = self.settling.steps(i)[k];
                let Some(to) = self.position(step.to as usize) else { continue };
                let transition = &program.transition_names[step.transition as usize];
                let firings = vec![format!("{transition} {}", step.probability)];
                self.graph.edges.push(GraphEdge { from, to, firings, immediate: true });
            }
        }
        Ok(())
    }
}

/// Returns the marked places of a marking with their tokens, as text.
pub(crate) fn in_words(program: &Program, marking: &[u32]) -> String {
    let classes = program.classes();
    let mut parts = Vec::new();
    for (counter, &tokens) in marking.iter().enumerate().filter(|(_, tokens)| **tokens > 0) {
        let mut part = match tokens {
            1 => String::new(),
            OMEGA => "ω ".to_owned(),
            _ => format!("{tokens} "),
        };
        part.push_str(&program.place_names[counter / classes]);
        if classes > 1 {
            let _ = write!(part, " {}", program.class_names[counter % classes]);
        }
        parts.push(part);
    }
    if parts.is_empty() { "no tokens".to_owned() } else { parts.join(" + ") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compile::compile;
    use crate::net::{NetBuilder, Timing};
    use crate::solve::cases::{philosophers, queue, space};
    use crate::solve::coverability;

    #[test]
    fn a_drawing_has_every_state_and_edge() {
        let program = philosophers(2);
        let space = space(&program);
        let graph = reachability_graph(&space, &program, Drawing::default()).unwrap();
        assert_eq!(graph.nodes.len(), space.states());
        assert_eq!(graph.edges.len(), space.complete().unwrap().rates.count());
        assert_eq!(graph.nodes.iter().filter(|node| node.shown == MarkingKind::Dead).count(), 1);
        assert_eq!(graph.nodes.iter().filter(|node| node.initial).count(), 1);
        let few = Drawing { limit: 2, ..Drawing::default() };
        assert!(matches!(reachability_graph(&space, &program, few), Err(DrawError::TooLarge { limit: 2 })));
    }

    #[test]
    fn edges_name_transitions_with_their_rates() {
        let program = queue(1, 2.0, 3.0);
        let graph = reachability_graph(&space(&program), &program, Drawing::default()).unwrap();
        let edges: Vec<_> = graph.edges.iter().map(|e| (e.from, e.to, e.firings[0].clone())).collect();
        assert_eq!(edges, [(0, 1, "arrive 2".to_owned()), (1, 0, "serve 3".to_owned())]);
        assert_eq!(graph.nodes[0].marking, "no tokens");
    }

    #[test]
    fn any_number_of_tokens_is_an_omega() {
        let mut b = NetBuilder::new("");
        let (p, q) = (b.place("p", 0), b.place("q", 2));
        let t = b.transition("make", Timing::exponential(1.0));
        b.input(q, t, 2.0);
        b.output(t, q, 2.0);
        b.output(t, p, 1.0);
        let program = compile(&b.build().unwrap()).unwrap();
        let graph = coverability_graph(&coverability(&program, 100).unwrap(), &program, 100).unwrap();
        let markings: Vec<&str> = graph.nodes.iter().map(|node| node.marking.as_str()).collect();
        assert_eq!(markings, ["2 q", "ω p + 2 q"]);
        assert_eq!(graph.edges.len(), 2);
        let cover = coverability(&program, 100).unwrap();
        assert!(matches!(coverability_graph(&cover, &program, 1), Err(DrawError::TooLarge { limit: 1 })));
    }
}
