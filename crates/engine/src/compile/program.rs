//! The compiled net: flat arrays, dense numbers. The single input of simulation and solution.

use crate::compile::affected::Affected;
use crate::compile::code::Code;
use crate::compile::csr::Csr;
use crate::compile::ids::Ids;
use crate::net::{ArcKind, Law, Memory, Servers};

/// `weight` tokens of `counter`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Term {
    /// The counter.
    pub counter: u32,
    /// Number of tokens, at least 1.
    pub weight: u32,
}

/// The effect of one firing on a counter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Change {
    /// The counter.
    pub counter: u32,
    /// Tokens produced minus tokens consumed, not 0.
    pub by: i32,
}

/// A capacity that a firing might exceed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Room {
    /// Index of the place, whose counters are bounded together.
    pub place: u32,
    /// Number of tokens that the firing adds to the place in total, above 0.
    pub growth: u32,
}

/// An arc whose weight depends on the marking.
#[derive(Clone, Debug, PartialEq)]
pub struct DynamicArc {
    /// Kind of the arc.
    pub kind: ArcKind,
    /// The counter.
    pub counter: u32,
    /// Weight of the arc, rounded to the nearest integer.
    pub weight: Code,
}

/// A number that may depend on the marking.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// Always the same.
    Constant(f64),
    /// To be evaluated in the marking.
    Code(Code),
}

impl Value {
    /// The value in `marking`.
    #[inline]
    pub fn eval(&self, marking: &[u32]) -> f64 {
        match self {
            Self::Constant(value) => *value,
            Self::Code(code) => code.eval(marking),
        }
    }

    /// The value, if it does not depend on the marking.
    pub fn as_constant(&self) -> Option<f64> {
        match self {
            Self::Constant(value) => Some(*value),
            Self::Code(_) => None,
        }
    }
}

/// Timing of an enabled transition.
#[derive(Clone, Debug, PartialEq)]
pub enum Firing {
    /// In zero time.
    Immediate {
        /// Share among the enabled transitions of the same group and priority.
        weight: Value,
        /// Priority; the highest fires first.
        priority: u32,
    },
    /// After an exponential delay.
    Exponential {
        /// Rate of one server [1/s].
        rate: Value,
        /// Number of enablings that are served simultaneously.
        servers: Servers,
    },
    /// After a delay of another distribution.
    General {
        /// The distribution.
        law: Law,
        /// Number of enablings that are served simultaneously.
        servers: Servers,
        /// Memory of the transition when it is disabled.
        memory: Memory,
    },
}

/// A net compiled for simulation and solution. Transitions keep the numbers of the net; the tokens of place `p`, class
/// `c` are counter `p * classes + c`.
#[derive(Clone, Debug, PartialEq)]
pub struct Program {
    /// Ids of the places, for messages and reports.
    pub place_names: Ids,
    /// Ids of the transitions.
    pub transition_names: Ids,
    /// Ids of the token classes.
    pub class_names: Vec<String>,
    /// Tokens at the start, per counter.
    pub initial: Vec<u32>,
    /// Capacity per place.
    pub capacity: Vec<Option<u32>>,
    /// Per transition: tokens needed and taken.
    pub inputs: Csr<Term>,
    /// Per transition: tokens needed but not consumed.
    pub tests: Csr<Term>,
    /// Per transition: tokens that disable it.
    pub inhibitors: Csr<Term>,
    /// Per transition: tokens produced.
    pub outputs: Csr<Term>,
    /// Per transition: net change of one firing by arcs of constant weight.
    pub changes: Csr<Change>,
    /// Per transition: capacities that one firing might exceed; empty for transitions with dynamic arcs.
    pub rooms: Csr<Room>,
    /// Per transition: arcs whose weight depends on the marking.
    pub dynamic: Csr<DynamicArc>,
    /// Per transition: when it fires.
    pub firing: Vec<Firing>,
    /// Timed transitions, in the order of the net.
    pub timed: Vec<u32>,
    /// Groups of immediate transitions that can influence each other; within a group by descending priority, then in the
    /// order of the net. Transitions of different groups are independent, so the order of groups does not matter,
    /// unless it could affect a goal: see [`Program::observing`].
    pub groups: Csr<u32>,
    /// Per transition: its group, or `u32::MAX` if it is timed.
    pub group_of: Vec<u32>,
    /// Per transition: integer weight in its group if all weights of the group are constant, otherwise 0.
    pub choice_weight: Vec<u32>,
    /// Per transition: timed transitions that its firing can influence, including itself if it is timed.
    pub affects: Affected,
    /// Per transition: groups that its firing can influence, including its own if it is immediate.
    pub affects_groups: Csr<u32>,
}

impl Program {
    /// Number of places.
    pub fn places(&self) -> usize {
        self.place_names.len()
    }

    /// Number of transitions.
    pub fn transitions(&self) -> usize {
        self.transition_names.len()
    }

    /// Number of token classes.
    pub fn classes(&self) -> usize {
        self.class_names.len()
    }

    /// Number of counters: places times classes.
    pub fn counters(&self) -> usize {
        self.initial.len()
    }

    /// Tokens of all places and classes at the start.
    pub fn initial_tokens(&self) -> u64 {
        self.initial.iter().map(|&n| u64::from(n)).sum()
    }

    /// Returns true if transition `t` fires in zero time.
    #[inline]
    pub fn is_immediate(&self, t: usize) -> bool {
        self.group_of[t] != u32::MAX
    }

    /// Returns true if all arcs of transition `t` have constant weights.
    #[inline(always)]
    pub fn is_static(&self, t: usize) -> bool {
        self.dynamic.row(t).is_empty()
    }

    /// Tokens of all classes in a place.
    #[inline]
    pub fn tokens_in(&self, place: usize, marking: &[u32]) -> u64 {
        let classes = self.classes();
        marking[place * classes..(place + 1) * classes].iter().map(|&n| u64::from(n)).sum()
    }

    /// Per transition: counters that a firing may change, ascending.
    pub(crate) fn writes(&self) -> Csr<u32> {
        Csr::from_rows((0..self.transitions()).map(|t| {
            let dynamic = self.dynamic.row(t).iter();
            let dynamic = dynamic.filter(|arc| matches!(arc.kind, ArcKind::Input | ArcKind::Output));
            let mut counters: Vec<u32> =
                self.changes.row(t).iter().map(|c| c.counter).chain(dynamic.map(|arc| arc.counter)).collect();
            counters.sort_unstable();
            counters.dedup();
            counters
        }))
    }

    /// Returns true if any rate, weight or arc weight depends on the marking.
    pub fn has_marking_expressions(&self) -> bool {
        !self.dynamic.items().is_empty()
            || self.firing.iter().any(|f| match f {
                Firing::Immediate { weight: value, .. } | Firing::Exponential { rate: value, .. } => {
                    value.as_constant().is_none()
                }
                Firing::General { .. } => false,
            })
    }
}
