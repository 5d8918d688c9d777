//! The coverability graph. Its markings may hold "any number" of tokens in a place, so the graph is finite for every
//! net.

use std::collections::BTreeMap;

use crate::compile::{Csr, Firing, Program, Value};
use crate::semantics::{Fault, fire, is_enabled};

/// Any number of tokens.
pub const OMEGA: u32 = u32::MAX;
/// Number of tokens that represents any number while a transition fires: more than an arc can take.
const MANY: u32 = 1 << 31;

/// A feature of a net that the coverability graph ignores; ignoring it can only add behaviour.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Ignored {
    /// Inhibitor arcs.
    Inhibitors,
    /// Capacities.
    Capacities,
    /// Immediate transitions fire before timed ones, and by priority.
    Priorities,
    /// Rates or weights that depend on the marking and may be 0.
    MarkingDependence,
}

impl Ignored {
    /// Returns the name of the feature for reports.
    pub fn words(self) -> &'static str {
        match self {
            Self::Inhibitors => "inhibitor arcs",
            Self::Capacities => "capacities",
            Self::Priorities => "priority of immediate transitions",
            Self::MarkingDependence => "rates that depend on the marking",
        }
    }
}

/// Reason why there is no coverability graph.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum CoverabilityError {
    /// Arc weights that depend on the marking: with more tokens, a transition may be disabled or change less.
    #[error(
        "arcs of transition `{transition}` have weights that depend on the marking, so there is no coverability graph"
    )]
    MarkingDependentArc {
        /// Id of the transition.
        transition: String,
    },
    /// The graph is finite but too large.
    #[error("the coverability graph has more than {limit} markings")]
    Limit {
        /// Maximum number of markings.
        limit: usize,
    },
    /// A fault in a marking.
    #[error(transparent)]
    Fault(#[from] Fault),
}

/// A firing in the coverability graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cover {
    /// Marking before.
    pub from: u32,
    /// Transition.
    pub transition: u32,
    /// Marking after.
    pub to: u32,
}

/// A cycle that lets a place grow: after `prefix`, each round of `cycle` adds tokens. If the cycle consumes tokens of a
/// place that grew earlier, the cycle of that place may first have to be repeated often enough.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pump {
    /// The place.
    pub place: u32,
    /// Transitions from the initial marking.
    pub prefix: Vec<u32>,
    /// Transitions that can be repeated after the prefix.
    pub cycle: Vec<u32>,
}

/// The coverability graph of a net.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Coverability {
    counters: usize,
    markings: Vec<u32>,
    /// Firings, by the marking before and then by transition.
    pub edges: Vec<Cover>,
    /// Unbounded places with a proof of growth, in the order of the net.
    pub unbounded: Vec<Pump>,
    /// Features that were ignored. If there are none, exactly the listed places are unbounded; otherwise only listed
    /// places can be unbounded.
    pub ignored: Vec<Ignored>,
}

impl Coverability {
    /// Returns the number of markings in the graph.
    pub fn nodes(&self) -> usize {
        self.markings.len() / self.counters.max(1)
    }

    /// Returns a marking; [`OMEGA`] stands for any number of tokens.
    pub fn marking(&self, node: usize) -> &[u32] {
        &self.markings[node * self.counters..(node + 1) * self.counters]
    }

    /// Returns true if exactly the listed places of the net are unbounded.
    pub fn is_exact(&self) -> bool {
        self.ignored.is_empty()
    }
}

/// Returns the coverability graph, if it has at most `limit` markings.
///
/// Exact for nets without inhibitors, capacities, immediate transitions and marking dependence. For other nets, the
/// graph ignores these features ([`Coverability::ignored`]) and is therefore an upper bound. A place that is bounded in
/// the graph is bounded in the net, but not conversely. Source: \[KarpMiller1969\], with equal markings merged.
///
/// # Errors
///
/// Marking-dependent arc weights, more markings than `limit`, or an invalid weight.
pub fn coverability(program: &Program, limit: usize) -> Result<Coverability, CoverabilityError> {
    if let Some(t) = (0..program.transitions()).find(|&t| !program.is_static(t)) {
        return Err(CoverabilityError::MarkingDependentArc { transition: program.transition_names[t].to_owned() });
    }
    let mut builder = Builder {
        program: relaxed(program),
        numbers: BTreeMap::new(),
        markings: Vec::new(),
        before: Vec::new(),
        edges: Vec::new(),
        pumps: BTreeMap::new(),
    };
    builder.run(limit)?;
    Ok(Coverability {
        counters: program.counters(),
        markings: builder.markings,
        edges: builder.edges,
        unbounded: builder.pumps.into_values().collect(),
        ignored: ignored(program),
    })
}

fn ignored(program: &Program) -> Vec<Ignored> {
    let depends = program.firing.iter().any(|firing| match firing {
        Firing::Immediate { weight: value, .. } | Firing::Exponential { rate: value, .. } => {
            value.as_constant().is_none()
        }
        Firing::General { .. } => false,
    });
    let found = [
        (Ignored::Inhibitors, !program.inhibitors.items().is_empty()),
        (Ignored::Capacities, !program.rooms.items().is_empty()),
        (Ignored::Priorities, program.groups.rows() > 0),
        (Ignored::MarkingDependence, depends),
    ];
    found.into_iter().filter(|(_, is)| *is).map(|(ignored, _)| ignored).collect()
}

/// Returns the net without the features by which more tokens could disable a transition.
fn relaxed(program: &Program) -> Program {
    let rows = program.transitions();
    Program {
        inhibitors: Csr::from_rows((0..rows).map(|_| Vec::new())),
        rooms: Csr::from_rows((0..rows).map(|_| Vec::new())),
        capacity: vec![None; program.places()],
        ..program.clone()
    }
}

struct Builder {
    program: Program,
    numbers: BTreeMap<Vec<u32>, u32>,
    markings: Vec<u32>,
    /// Per marking: the marking from which it was first found, and the transition.
    before: Vec<(u32, u32)>,
    edges: Vec<Cover>,
    pumps: BTreeMap<u32, Pump>,
}

impl Builder {
    fn run(&mut self, limit: usize) -> Result<(), CoverabilityError> {
        self.add(self.program.initial.clone(), (0, u32::MAX));
        let mut at = 0;
        while at < self.before.len() {
            if self.before.len() > limit {
                return Err(CoverabilityError::Limit { limit });
            }
            for t in 0..self.program.transitions() {
                if let Some(next) = self.fired(at, t)? {
                    self.arrive(at as u32, t as u32, next);
                }
            }
            at += 1;
        }
        Ok(())
    }

    fn marking(&self, node: usize) -> &[u32] {
        let counters = self.program.counters();
        &self.markings[node * counters..(node + 1) * counters]
    }

    /// Returns the marking after a firing; none if the transition cannot fire.
    fn fired(&self, node: usize, t: usize) -> Result<Option<Vec<u32>>, Fault> {
        let never = match &self.program.firing[t] {
            Firing::Immediate { weight: Value::Constant(value), .. } => *value == 0.0,
            Firing::Exponential { rate: Value::Constant(value), .. } => *value == 0.0,
            _ => false,
        };
        let marking = self.marking(node);
        let mut next: Vec<u32> = marking.iter().map(|&tokens| if tokens == OMEGA { MANY } else { tokens }).collect();
        if never || !is_enabled(&self.program, t, &next)? {
            return Ok(None);
        }
        fire(&self.program, t, &mut next)?;
        for (tokens, &before) in next.iter_mut().zip(marking) {
            if before == OMEGA {
                *tokens = OMEGA;
            }
        }
        Ok(Some(next))
    }

    /// Adds the marking after a firing. If it covers an earlier marking on its path, the places that grew can hold any number of tokens.
    fn arrive(&mut self, from: u32, transition: u32, mut next: Vec<u32>) {
        let mut grown = Vec::new();
        let mut at = from;
        loop {
            let old = self.marking(at as usize);
            if old.iter().zip(&next).all(|(old, new)| old <= new) {
                let more = old.iter().zip(&next).enumerate().filter(|(_, (old, new))| old < new && **new != OMEGA);
                let more: Vec<usize> = more.map(|(counter, _)| counter).collect();
                grown.extend(more.iter().map(|&counter| (counter, at)));
                more.into_iter().for_each(|counter| next[counter] = OMEGA);
            }
            if at == 0 {
                break;
            }
            at = self.before[at as usize].0;
        }
        for (counter, ancestor) in grown {
            let place = (counter / self.program.classes()) as u32;
            if !self.pumps.contains_key(&place) {
                let prefix = self.path(ancestor);
                let cycle = self.path(from).into_iter().skip(prefix.len()).chain([transition]).collect();
                self.pumps.insert(place, Pump { place, prefix, cycle });
            }
        }
        let to = match self.numbers.get(&next) {
            Some(&to) => to,
            None => self.add(next, (from, transition)),
        };
        self.edges.push(Cover { from, transition, to });
    }

    fn add(&mut self, marking: Vec<u32>, before: (u32, u32)) -> u32 {
        let number = u32::try_from(self.before.len()).expect("the number of markings is limited");
        self.markings.extend_from_slice(&marking);
        self.numbers.insert(marking, number);
        self.before.push(before);
        number
    }

    fn path(&self, node: u32) -> Vec<u32> {
        let mut path = Vec::new();
        let mut at = node;
        while at != 0 {
            let (before, transition) = self.before[at as usize];
            path.push(transition);
            at = before;
        }
        path.reverse();
        path
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compile::compile;
    use crate::net::{NetBuilder, Timing};

    /// `a` makes tokens in `p`, `b` moves them to `q`; `r` keeps its one token.
    fn source(inhibited: bool) -> Program {
        let mut b = NetBuilder::new("");
        let (p, q, r) = (b.place("p", 0), b.place("q", 0), b.place("r", 1));
        let a = b.transition("a", Timing::exponential(1.0));
        b.input(r, a, 1.0);
        b.output(a, r, 1.0);
        b.output(a, p, 1.0);
        let move_it = b.transition("b", Timing::exponential(1.0));
        b.input(p, move_it, 1.0);
        b.output(move_it, q, 1.0);
        if inhibited {
            b.inhibitor(p, a, 2.0);
            let end = b.transition("c", Timing::exponential(1.0));
            b.input(q, end, 1.0);
        }
        compile(&b.build().unwrap()).unwrap()
    }

    #[test]
    fn unbounded_places_are_named_with_their_cycles() {
        let found = coverability(&source(false), 100).unwrap();
        assert!(found.is_exact());
        assert_eq!(
            found.unbounded,
            [
                Pump { place: 0, prefix: vec![], cycle: vec![0] },
                // tokens come to q from p, which holds any number after the first round of a
                Pump { place: 1, prefix: vec![0], cycle: vec![1] },
            ]
        );
        let markings: Vec<&[u32]> = (0..found.nodes()).map(|node| found.marking(node)).collect();
        assert_eq!(markings, [[0, 0, 1], [OMEGA, 0, 1], [OMEGA, OMEGA, 1]]);
    }

    #[test]
    fn ignored_inhibitors_are_reported() {
        let found = coverability(&source(true), 100).unwrap();
        assert_eq!((found.ignored, found.unbounded.len()), (vec![Ignored::Inhibitors], 2));
    }

    #[test]
    fn more_markings_than_the_limit_are_an_error() {
        assert_eq!(coverability(&source(false), 2), Err(CoverabilityError::Limit { limit: 2 }));
    }

    #[test]
    fn a_bounded_net_has_its_reachability_graph() {
        let mut b = NetBuilder::new("");
        let places: Vec<_> = (0..3).map(|i| b.place(format!("p{i}"), if i == 0 { 4 } else { 0 })).collect();
        for i in 0..3 {
            let t = b.transition(format!("t{i}"), Timing::exponential(1.0));
            b.input(places[i], t, 1.0);
            b.output(t, places[(i + 1) % 3], 1.0);
        }
        let found = coverability(&compile(&b.build().unwrap()).unwrap(), 100).unwrap();
        // 4 tokens in 3 places: 6 over 2
        assert_eq!((found.nodes(), found.unbounded.len()), (15, 0));
    }
}
