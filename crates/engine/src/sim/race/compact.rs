//! A net in the form that the direct form reads: one record per timed transition for its firing, and one for its enabling.
//!
//! A [`Program`] has the same data in many rows that are far apart in memory; at one firing, most of the time was spent there.

use crate::compile::{Change, Firing, Program};
use crate::net::Servers;
use crate::sim::race::direct_law::DirectLaw;
use crate::sim::race::game::Rules;
use crate::sim::race::guards::{Guards, Ranges};

/// Contribution of a timed transition to the total.
#[derive(Clone, Copy, Debug)]
pub(super) enum Share {
    /// A fixed number of units while the transition is enabled.
    Plain(u64),
    /// A fixed number of units for each server.
    Served(u64, Servers),
    /// The rate depends on the marking.
    Marking,
}

/// The firing of a timed transition.
#[derive(Clone, Copy, Debug)]
pub(super) struct Move {
    pub(super) transition: u32,
    /// True if the firing only changes numbers of tokens: no immediate transition follows, and the replication does not end.
    pub(super) is_simple: bool,
    /// First and last of its changes, and of the transitions that it can influence.
    changes: [u32; 2],
    touched: [u32; 2],
}

/// The units of a timed transition, as far as ranges of tokens determine them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Gate {
    each: u64,
    ranges: Ranges,
    /// Maximum number of servers; the tokens of the first range are the number of enablings. 0 if the ranges do not suffice.
    pub(super) servers: u32,
}

/// All timed transitions. A *place* is the index of a transition among the timed transitions.
#[derive(Debug)]
pub(super) struct Compact {
    moves: Vec<Move>,
    gates: Vec<Gate>,
    changes: Vec<Change>,
    touched: Vec<u32>,
    /// Per place.
    shares: Vec<Share>,
    /// Per transition.
    places: Vec<u32>,
}

impl Compact {
    pub(super) fn new(rules: &Rules<'_>, law: DirectLaw) -> Self {
        let program = rules.setup.program;
        let shares: Vec<Share> = program.timed.iter().map(|&t| share(&program.firing[t as usize], law)).collect();
        let mut places = vec![0; program.transitions()];
        for (place, &t) in (0..).zip(&program.timed) {
            places[t as usize] = place;
        }
        let gates =
            program.timed.iter().zip(&shares).map(|(&t, &share)| gate(program, &rules.guards, share, t as usize));
        let gates = gates.collect();
        let (mut changes, mut touched) = (Vec::new(), Vec::new());
        let end = |count: usize| u32::try_from(count).expect("a net has fewer than 2^32 arcs");
        let one = |&transition: &u32| {
            let t = transition as usize;
            let from = [changes.len(), touched.len()].map(end);
            changes.extend_from_slice(program.changes.row(t));
            let is_simple = rules.is_simple(t);
            let own = program.affects.own(t).iter().filter(|_| is_simple);
            touched.extend(own.map(|&u| places[u as usize]));
            Move {
                transition,
                is_simple,
                changes: [from[0], end(changes.len())],
                touched: [from[1], end(touched.len())],
            }
        };
        let moves = program.timed.iter().map(one).collect();
        Self { moves, gates, changes, touched, shares, places }
    }

    /// Number of timed transitions.
    pub(super) fn len(&self) -> usize {
        self.moves.len()
    }

    #[inline(always)]
    pub(super) fn firing(&self, place: usize) -> Move {
        self.moves[place]
    }

    #[inline(always)]
    pub(super) fn gate(&self, place: usize) -> &Gate {
        &self.gates[place]
    }

    pub(super) fn share(&self, place: usize) -> Share {
        self.shares[place]
    }

    #[inline(always)]
    pub(super) fn changes(&self, firing: Move) -> &[Change] {
        &self.changes[firing.changes[0] as usize..firing.changes[1] as usize]
    }

    /// Places of the transitions that a firing can influence, without immediate firings after it.
    #[inline(always)]
    pub(super) fn touched(&self, firing: Move) -> impl Iterator<Item = usize> {
        let touched = &self.touched[firing.touched[0] as usize..firing.touched[1] as usize];
        touched.iter().map(|&place| place as usize)
    }

    /// Places of some timed transitions.
    #[inline(always)]
    pub(super) fn places(&self, transitions: &[u32]) -> impl Iterator<Item = usize> {
        transitions.iter().map(|&t| self.places[t as usize] as usize)
    }
}

impl Gate {
    /// The units in a marking, if the ranges suffice.
    #[inline(always)]
    pub(super) fn units(&self, guards: &Guards, marking: &[u32]) -> u64 {
        let (is_enabled, tokens) = guards.hold(&self.ranges, marking);
        if is_enabled { self.each * u64::from(tokens.min(self.servers).max(1)) } else { 0 }
    }
}

/// Returns the contribution of a transition to the total.
fn share(firing: &Firing, law: DirectLaw) -> Share {
    match firing {
        Firing::Exponential { rate, servers } => match (rate.as_constant(), *servers) {
            (None, _) => Share::Marking,
            (Some(rate), Servers::Single | Servers::Limited(1)) => Share::Plain(law.units(rate)),
            (Some(rate), servers) => Share::Served(law.units(rate), servers),
        },
        Firing::Immediate { .. } | Firing::General { .. } => Share::Plain(0),
    }
}

fn gate(program: &Program, guards: &Guards, share: Share, t: usize) -> Gate {
    let counts_tokens = |ranges: &Ranges| match program.inputs.row(t) {
        [input] => input.weight == 1 && ranges.starts_with(input.counter),
        _ => false,
    };
    // ranges read the marking even if they hold in every marking
    let ranges = guards.ranges(t).filter(|_| program.counters() > 0);
    match (share, ranges) {
        (Share::Plain(each), Some(ranges)) => Gate { each, ranges, servers: 1 },
        (Share::Served(each, Servers::Infinite), Some(ranges)) if counts_tokens(&ranges) => {
            Gate { each, ranges, servers: u32::MAX }
        }
        (Share::Served(each, Servers::Limited(servers)), Some(ranges)) if counts_tokens(&ranges) => {
            Gate { each, ranges, servers }
        }
        _ => Gate { each: 0, ranges: Ranges::default(), servers: 0 },
    }
}
