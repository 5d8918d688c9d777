//! Conclusions from siphons and traps about deadlocks and liveness, and the cases without a conclusion.

use petgraph::algo::toposort;
use petgraph::graph::DiGraph;
use serde::{Deserialize, Serialize};

use crate::compile::{Firing, Program};
use crate::structure::class::{Connection, NetClass, breaks, clusters, connection, heavy_arc};
use crate::structure::flow::Flow;
use crate::structure::incidence::Incidence;
use crate::structure::siphons::{Sets, largest_siphon, largest_trap};

/// Reason why the theorems on siphons and traps do not apply to a net.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Obstacle {
    /// An arc of weight above 1, or a test of more than one token, so that the net is not ordinary.
    Weight {
        /// Row of the arc in the extended net.
        row: String,
        /// Transition of the arc.
        transition: String,
    },
    /// Inhibitor arcs.
    Inhibitors {
        /// Number of inhibitor arcs.
        number: usize,
    },
    /// Arcs with weights that depend on the marking.
    OpenArcs {
        /// Number of open arcs.
        number: usize,
    },
    /// A capacity that cannot be replaced by a complementary place.
    Capacity {
        /// Id of the place.
        place: String,
    },
    /// A rate or weight that is or may be 0, so that an enabled transition need not be able to fire.
    MayNotFire {
        /// Id of the first such transition.
        transition: String,
        /// Number of transitions.
        number: usize,
    },
}

impl std::fmt::Display for Obstacle {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Weight { row, transition } => {
                write!(f, "the net is not ordinary: an arc between `{row}` and `{transition}` has a weight above 1")
            }
            Self::Inhibitors { number: 1 } => write!(f, "there is an inhibitor arc"),
            Self::Inhibitors { number } => write!(f, "there are {number} inhibitor arcs"),
            Self::OpenArcs { number: 1 } => write!(f, "there is an arc whose weight depends on the marking"),
            Self::OpenArcs { number } => write!(f, "there are {number} arcs whose weight depends on the marking"),
            Self::Capacity { place } => {
                write!(f, "place `{place}` has a capacity and an arc whose weight depends on the marking")
            }
            Self::MayNotFire { transition, number: 1 } => {
                write!(
                    f,
                    "transition `{transition}` can be enabled but unable to fire: its rate or weight is 0 or can become 0"
                )
            }
            Self::MayNotFire { transition, number } => write!(
                f,
                "{number} transitions, such as `{transition}`, can be enabled but unable to fire: rates or weights are 0 or can become 0"
            ),
        }
    }
}

/// All features of a net that the theorems do not cover, in order of kind.
pub fn obstacles(extended: &Incidence, program: &Program, no_room: &[u32]) -> Vec<Obstacle> {
    let mut found = Vec::new();
    let weighted = heavy_arc(extended).map(|(row, t, _)| Obstacle::Weight {
        row: extended.rows[row as usize].clone(),
        transition: extended.transitions[t as usize].clone(),
    });
    found.extend(weighted);
    let open = extended.open.len();
    let inhibitors = extended.inhibition.items().len();
    found.extend((inhibitors > 0).then_some(Obstacle::Inhibitors { number: inhibitors }));
    found.extend((open > 0).then_some(Obstacle::OpenArcs { number: open }));
    let place = no_room.first().map(|&place| program.place_names[place as usize].to_owned());
    found.extend(place.map(|place| Obstacle::Capacity { place }));
    let may_not = |firing: &Firing| match firing {
        Firing::Immediate { weight: value, .. } | Firing::Exponential { rate: value, .. } => {
            value.as_constant().is_none_or(|value| value <= 0.0)
        }
        Firing::General { .. } => false,
    };
    let silent: Vec<usize> = (0..program.transitions()).filter(|&t| may_not(&program.firing[t])).collect();
    if let Some(&first) = silent.first() {
        let transition = program.transition_names[first].to_owned();
        found.push(Obstacle::MayNotFire { transition, number: silent.len() });
    }
    found
}

/// Method of a verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Method {
    /// A transition without inputs can always fire.
    #[serde(rename = "a transition without inputs")]
    Source,
    /// In a marked graph, every circuit must hold a token.
    #[serde(rename = "circuits of a marked graph")]
    Circuits,
    /// The rank theorem, and every siphon holds a token.
    #[serde(rename = "rank theorem")]
    Rank,
    /// Every minimal siphon must contain a marked trap.
    #[serde(rename = "siphons and traps")]
    DeadlockTrap,
}

/// Conclusions about deadlocks of the net with complementary places for its capacities.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Deadlock {
    /// Reasons why the theorems on siphons and traps do not apply; empty if they apply.
    pub obstacles: Vec<Obstacle>,
    /// True if every minimal siphon contains a marked trap (the deadlock-trap property); none if unknown.
    pub property: Option<bool>,
    /// The first minimal siphon without a marked trap.
    pub bad_siphon: Option<Vec<u32>>,
    /// Per minimal siphon: true if it contains a marked trap.
    pub marked_trap: Vec<bool>,
    /// True if no reachable marking is dead; none if undecided. `Some(true)` also holds with
    /// priorities and any delays.
    pub deadlock_free: Option<bool>,
    /// True if from every reachable marking every transition can fire again, in the net without time; none if
    /// undecided.
    pub live: Option<bool>,
    /// True if the net satisfies the rank theorem: some initial marking makes it live and bounded; none if the theorem
    /// does not apply.
    pub well_formed: Option<bool>,
    /// True if liveness also holds with time, because all transitions are exponential, or all are immediate of one priority.
    pub live_with_time: bool,
    /// Method of the verdict.
    pub method: Method,
    /// Rows that never hold a token: the largest siphon without tokens. Correct for every net.
    pub never_marked: Vec<u32>,
    /// Transitions that can never fire, because these rows never hold a token. Correct for every net.
    pub never_fire: Vec<u32>,
}

/// Facts about a net that the deadlock analysis needs.
#[derive(Clone, Copy, Debug)]
pub struct Known<'a> {
    /// The net with complementary places for its capacities.
    pub extended: &'a Incidence,
    /// Graph of the net.
    pub flow: &'a Flow,
    /// Program of the net.
    pub program: &'a Program,
    /// Places whose capacity has no complementary place.
    pub no_room: &'a [u32],
    /// Minimal siphons of the net.
    pub siphons: &'a Sets,
    /// True if P-semiflows cover the net, true if T-semiflows cover the net, and the rank of the matrix. None if any of
    /// them is unknown.
    pub rank: Option<(bool, bool, usize)>,
}

/// Draws conclusions from siphons, traps, circuits and the rank. Source: \[Commoner1972\], \[Murata1989\],
/// \[Desel1995\].
pub fn deadlock(known: &Known<'_>) -> Deadlock {
    let (flow, initial) = (known.flow, &known.extended.initial);
    let is_marked = |rows: &[u32]| rows.iter().any(|&row| initial[row as usize] > 0);
    let empty: Vec<u32> = (0..).zip(initial).filter(|&(_, &tokens)| tokens == 0).map(|(row, _)| row).collect();
    let never_marked = if known.extended.open.is_empty() { largest_siphon(flow, &empty) } else { Vec::new() };
    let is_empty = |row: &u32| never_marked.binary_search(row).is_ok();
    let never_fire: Vec<u32> = (0..)
        .zip(0..flow.transitions())
        .filter(|&(_, t)| flow.needs.row(t).iter().any(is_empty))
        .map(|(t, _)| t)
        .collect();
    let marked_trap: Vec<bool> =
        known.siphons.sets.iter().map(|siphon| is_marked(&largest_trap(flow, siphon))).collect();
    // a place without arcs is a siphon, but no transition depends on it
    let is_used = |siphon: &[u32]| siphon.iter().any(|&row| !flow.consumers.row(row as usize).is_empty());
    let bad = (0..marked_trap.len()).find(|&at| !marked_trap[at] && is_used(&known.siphons.sets[at]));
    let all = known.siphons.cut.is_none().then_some(true);
    let mut verdict = Deadlock {
        obstacles: obstacles(known.extended, known.program, known.no_room),
        property: if bad.is_some() { Some(false) } else { all },
        bad_siphon: bad.map(|at| known.siphons.sets[at].clone()),
        marked_trap,
        deadlock_free: None,
        live: None,
        well_formed: None,
        live_with_time: has_one_kind(known.program),
        method: Method::DeadlockTrap,
        never_marked,
        never_fire,
    };
    conclude(known, &mut verdict);
    verdict
}

/// Draws the conclusions.
fn conclude(known: &Known<'_>, verdict: &mut Deadlock) {
    let flow = known.flow;
    if !verdict.never_fire.is_empty() {
        verdict.live = Some(false);
    }
    if !verdict.obstacles.is_empty() || flow.transitions() == 0 {
        return;
    }
    if (0..flow.transitions()).any(|t| flow.needs.row(t).is_empty()) {
        verdict.method = Method::Source;
        verdict.deadlock_free = Some(true);
    }
    let is = |class| breaks(flow, class).is_none();
    if is(NetClass::MarkedGraph) {
        // the number of tokens on a circuit is constant, so an empty circuit stays empty, and a marked one stays marked
        let live = has_no_empty_circuit(flow, &known.extended.initial);
        verdict.method = Method::Circuits;
        verdict.live = Some(live);
        verdict.well_formed = well_formed(known);
        verdict.property = verdict.property.or(Some(live));
    } else if is(NetClass::ExtendedFreeChoice) {
        verdict.well_formed = well_formed(known);
        if verdict.well_formed == Some(true) {
            verdict.method = Method::Rank;
            verdict.live = Some(verdict.never_marked.is_empty());
        } else if let Some(property) = verdict.property {
            verdict.live = Some(property);
        }
    } else if verdict.property == Some(true) && is(NetClass::ExtendedSimple) {
        verdict.live = verdict.live.or(Some(true));
    }
    if verdict.property == Some(true) || verdict.live == Some(true) {
        verdict.deadlock_free = Some(true);
    }
    let Connection { parts, no_path } = connection(flow);
    let bounded = known.rank.is_some_and(|(conservative, _, _)| conservative);
    let strong = parts == 1 && no_path.is_none() && bounded && is(NetClass::ExtendedFreeChoice);
    // in a bounded, strongly connected extended free choice net, one dead transition makes all others dead
    if strong && verdict.live == Some(false) {
        verdict.deadlock_free = Some(false);
    }
}

/// The rank theorem for connected extended free choice nets: such a net is live and bounded for some initial marking if
/// and only if two conditions hold. P-semiflows and T-semiflows cover the net, and its number of clusters is the rank
/// plus 1. \[Desel1995\], theorem 6.17.
fn well_formed(known: &Known<'_>) -> Option<bool> {
    let (conservative, consistent, rank) = known.rank?;
    let flow = known.flow;
    let proper = flow.rows() > 0 && flow.transitions() > 0 && connection(flow).parts == 1;
    proper.then(|| conservative && consistent && rank + 1 == clusters(flow))
}

/// Returns true if all transitions are exponential, or all are immediate of one priority, so that any enabled transition
/// may be the next to fire.
fn has_one_kind(program: &Program) -> bool {
    let exponential = program.firing.iter().all(|f| matches!(f, Firing::Exponential { .. }));
    let mut priorities = program.firing.iter().map(|f| match f {
        Firing::Immediate { priority, .. } => Some(*priority),
        _ => None,
    });
    let first = priorities.next().flatten();
    exponential || (first.is_some() && priorities.all(|priority| priority == first))
}

/// Returns true if a marked graph has no circuit of only empty places.
fn has_no_empty_circuit(flow: &Flow, initial: &[u32]) -> bool {
    // every place has one producer and one consumer
    let empty = (0..flow.rows()).filter(|&row| initial[row] == 0);
    let edges = empty.map(|row| (flow.producers.row(row)[0], flow.consumers.row(row)[0]));
    // `is_cyclic_directed` is recursive, and a circuit can be long
    toposort(&DiGraph::<(), ()>::from_edges(edges), None).is_ok()
}
