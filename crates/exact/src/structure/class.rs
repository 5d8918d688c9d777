//! Classes of a net by the shape of its graph, with a violation of each class to which the net does not belong.

use petgraph::algo::connected_components;
use petgraph::graph::{DiGraph, NodeIndex};
use petgraph::visit::{Dfs, GraphRef, IntoNeighbors, IntoNodeIdentifiers, Reversed, VisitMap, Visitable};

use crate::compile::Csr;
use crate::structure::flow::Flow;
use crate::structure::incidence::Incidence;

/// Classes by shape, from narrow to wide. Weights, inhibitors, priorities and capacities are ignored; a test arc counts as
/// an input and an output. Source: \[Murata1989\].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum NetClass {
    /// Every transition has one input and one output place: choices, but no synchronisation.
    StateMachine,
    /// Every place has one input and one output transition: synchronisation, but no choices.
    MarkedGraph,
    /// A place with several output transitions is the only input place of each of these transitions.
    FreeChoice,
    /// Places that share an output transition share all their output transitions.
    ExtendedFreeChoice,
    /// Of two places that share an output transition, one has no other output transition.
    Simple,
    /// Of two places that share an output transition, one has only output transitions that the other has too (asymmetric choice).
    ExtendedSimple,
}

impl NetClass {
    /// All classes, from narrow to wide.
    pub const ALL: [Self; 6] = [
        Self::StateMachine,
        Self::MarkedGraph,
        Self::FreeChoice,
        Self::ExtendedFreeChoice,
        Self::Simple,
        Self::ExtendedSimple,
    ];

    /// Name of the class.
    pub fn name(self) -> &'static str {
        match self {
            Self::StateMachine => "state machine",
            Self::MarkedGraph => "marked graph",
            Self::FreeChoice => "free choice",
            Self::ExtendedFreeChoice => "extended free choice",
            Self::Simple => "simple",
            Self::ExtendedSimple => "extended simple (asymmetric choice)",
        }
    }
}

/// A violation of a class, by numbers of rows and transitions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Witness {
    /// A transition without exactly one input and one output place.
    Transition {
        /// The transition.
        transition: u32,
        /// Number of its input places.
        inputs: usize,
        /// Number of its output places.
        outputs: usize,
    },
    /// A place without exactly one input and one output transition.
    Place {
        /// The place.
        place: u32,
        /// Number of its input transitions.
        inputs: usize,
        /// Number of its output transitions.
        outputs: usize,
    },
    /// Two places that share an output transition, but not as the class requires.
    Places {
        /// The two places.
        places: [u32; 2],
        /// The transition that both share.
        shared: u32,
    },
}

impl Witness {
    /// Describes the violation, with the names of the net.
    pub fn text(&self, incidence: &Incidence) -> String {
        let place = |row: u32| &incidence.rows[row as usize];
        match *self {
            Self::Transition { transition, inputs, outputs } => {
                let name = &incidence.transitions[transition as usize];
                format!("transition `{name}` has {}, {}", some(inputs, "input"), some(outputs, "output"))
            }
            Self::Place { place: row, inputs, outputs } => {
                format!("place `{}` has {}, {}", place(row), some(inputs, "input"), some(outputs, "output"))
            }
            Self::Places { places: [a, b], shared } => {
                let name = &incidence.transitions[shared as usize];
                format!("places `{}` and `{}` share output `{name}`", place(a), place(b))
            }
        }
    }
}

fn some(number: usize, noun: &str) -> String {
    match number {
        0 => format!("no {noun}"),
        1 => format!("1 {noun}"),
        n => format!("{n} {noun}s"),
    }
}

/// The first violation of a class, in the order of the net; none if the net belongs to the class.
pub fn breaks(flow: &Flow, class: NetClass) -> Option<Witness> {
    match class {
        NetClass::StateMachine => (0..flow.transitions()).find_map(|t| {
            let (inputs, outputs) = (flow.needs.row(t).len(), flow.fills.row(t).len());
            let transition = u32::try_from(t).ok()?;
            ((inputs, outputs) != (1, 1)).then_some(Witness::Transition { transition, inputs, outputs })
        }),
        NetClass::MarkedGraph => (0..flow.rows()).find_map(|row| {
            let (inputs, outputs) = (flow.producers.row(row).len(), flow.consumers.row(row).len());
            let place = u32::try_from(row).ok()?;
            ((inputs, outputs) != (1, 1)).then_some(Witness::Place { place, inputs, outputs })
        }),
        _ => (0..flow.transitions()).find_map(|t| {
            let shared = u32::try_from(t).ok()?;
            bad_pair(flow, t, class).map(|places| Witness::Places { places, shared })
        }),
    }
}

/// Two inputs of a transition that do not share their outputs as the class requires.
fn bad_pair(flow: &Flow, t: usize, class: NetClass) -> Option<[u32; 2]> {
    let mut inputs = flow.needs.row(t).to_vec();
    let outputs = |row: u32| flow.consumers.row(row as usize);
    // in ascending order of the numbers of outputs, it is enough to compare neighbours
    inputs.sort_by_key(|&row| outputs(row).len());
    let is_bad = |pair: &&[u32]| {
        let (less, more) = (outputs(pair[0]), outputs(pair[1]));
        match class {
            NetClass::FreeChoice => more.len() > 1,
            NetClass::ExtendedFreeChoice => less != more,
            NetClass::Simple => less.len() > 1,
            _ => !less.iter().all(|t| more.binary_search(t).is_ok()),
        }
    };
    inputs.windows(2).find(is_bad).map(|pair| {
        let (a, b) = (pair[0].min(pair[1]), pair[0].max(pair[1]));
        [a, b]
    })
}

/// Number of clusters: groups of rows and transitions that share needs, directly or through others, so that within a group
/// one choice may influence another. The rank theorem uses this number. Rows without consumers and transitions without
/// needs are separate groups.
pub fn clusters(flow: &Flow) -> usize {
    let mut graph = nodes(flow);
    graph.extend_with_edges(arcs(flow, &flow.needs));
    connected_components(&graph)
}

/// Connectedness of a net.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Connection {
    /// Number of parts without an arc between them.
    pub parts: usize,
    /// Two nodes without a path of arcs from the first to the second; none if the net is strongly connected. Rows
    /// come first, then transitions.
    pub no_path: Option<[usize; 2]>,
}

/// Returns the connectedness of a net by input, output and test arcs.
pub fn connection(flow: &Flow) -> Connection {
    let mut graph = nodes(flow);
    graph.extend_with_edges(arcs(flow, &flow.needs));
    graph.extend_with_edges(arcs(flow, &flow.fills).map(|(row, transition)| (transition, row)));
    let forward = unreached(&graph).map(|node| [0, node]);
    let no_path = forward.or_else(|| unreached(Reversed(&graph)).map(|node| [node, 0]));
    Connection { parts: connected_components(&graph), no_path }
}

/// The nodes of a net without its arcs: rows come first, then transitions.
fn nodes(flow: &Flow) -> DiGraph<(), (), usize> {
    let mut graph = DiGraph::default();
    (0..flow.rows() + flow.transitions()).for_each(|_| _ = graph.add_node(()));
    graph
}

/// The node of the row and the node of the transition, for each row of each transition.
fn arcs(flow: &Flow, rows: &Csr<u32>) -> impl Iterator<Item = (usize, usize)> {
    let arcs = move |t: usize| rows.row(t).iter().map(move |&row| (row as usize, flow.rows() + t));
    (0..flow.transitions()).flat_map(arcs)
}

/// The first node that cannot be reached from the first node of the graph.
fn unreached<G>(graph: G) -> Option<usize>
where
    G: GraphRef + IntoNeighbors<NodeId = NodeIndex<usize>> + IntoNodeIdentifiers + Visitable,
{
    let mut walk = Dfs::new(graph, graph.node_identifiers().next()?);
    while walk.next(graph).is_some() {}
    graph.node_identifiers().find(|node| !walk.discovered.is_visited(node)).map(NodeIndex::index)
}

/// The first arc of weight above 1, in the order of transitions: row, transition, weight. None in an ordinary net.
pub fn heavy_arc(incidence: &Incidence) -> Option<(u32, u32, u32)> {
    (0..).zip(0..incidence.transitions.len()).find_map(|(number, t)| {
        let terms = [&incidence.backward, &incidence.forward, &incidence.tests];
        let heavy = terms.iter().flat_map(|csr| csr.row(t)).find(|term| term.weight > 1)?;
        Some((heavy.counter, number, heavy.weight))
    })
}

/// The first transition that fills a row that it needs: row and transition. None in a pure net, which its
/// combined matrix describes completely.
pub fn self_loop(flow: &Flow) -> Option<(u32, u32)> {
    (0..).zip(0..flow.transitions()).find_map(|(number, t)| {
        let row = flow.needs.row(t).iter().find(|row| flow.fills.row(t).binary_search(row).is_ok())?;
        Some((*row, number))
    })
}
