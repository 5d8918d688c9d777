//! All structural analyses of a net, each within its limits.

use crate::compile::{Firing, Program};
use crate::semantics::is_enabled;
use crate::structure::basis::{Basis, place_basis, transition_basis};
use crate::structure::bounds::{Bounds, place_bounds};
use crate::structure::class::{Connection, NetClass, Witness, breaks, connection, heavy_arc, self_loop};
use crate::structure::covers::{Cover, Relation, place_cover, transition_cover};
use crate::structure::deadlock::{Deadlock, Known, deadlock};
use crate::structure::flow::Flow;
use crate::structure::incidence::Incidence;
use crate::structure::limits::{Budget, Cut, Limits};
use crate::structure::semiflows::{Flows, place_semiflows, transition_semiflows};
use crate::structure::siphons::{Sets, largest_trap, minimal_siphons, minimal_traps};
use crate::structure::throughput::{Throughputs, throughput_bounds};

/// The requested analyses. Default: all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// P- and T-semiflows, and bases of the invariants.
    pub invariants: bool,
    /// Minimal siphons and traps, and the conclusions about deadlocks.
    pub siphons: bool,
    /// Bounds of tokens.
    pub bounds: bool,
    /// Bounds of throughputs.
    pub throughputs: bool,
}

impl Default for Wanted {
    fn default() -> Self {
        Self { invariants: true, siphons: true, bounds: true, throughputs: true }
    }
}

/// The rows or transitions for which each property (conservative, bounded, consistent, repetitive) holds, or the reason why
/// that is unknown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Covers {
    /// Rows covered by P-semiflows; if these are all rows, the net is conservative.
    pub conservative: Result<Cover, Cut>,
    /// Rows that are bounded for every initial marking.
    pub bounded: Result<Cover, Cut>,
    /// Transitions covered by T-semiflows; if these are all transitions, the net is consistent.
    pub consistent: Result<Cover, Cut>,
    /// Transitions that can fire forever from some marking; if these are all transitions, the net is repetitive.
    pub repetitive: Result<Cover, Cut>,
}

/// Results of structural analysis.
#[derive(Clone, Debug, PartialEq)]
pub struct Structure {
    /// The matrices.
    pub incidence: Incidence,
    /// The matrices with an additional row for each place of limited capacity: a complementary place, which holds its free room.
    pub extended: Incidence,
    /// Per transition: true if it may fire first, because it is enabled in the initial marking and no transition of
    /// higher priority is enabled.
    pub fires_first: Vec<bool>,
    /// An arc of weight above 1: row, transition, weight. None in an ordinary net.
    pub heavy_arc: Option<(u32, u32, u32)>,
    /// A row that a transition both needs and fills. None in a pure net.
    pub self_loop: Option<(u32, u32)>,
    /// Per class: a violation, or none if the net belongs to the class.
    pub classes: Vec<(NetClass, Option<Witness>)>,
    /// Connectedness of the net.
    pub connection: Connection,
    /// Minimal P-semiflows.
    pub place_semiflows: Option<Flows>,
    /// Minimal T-semiflows.
    pub transition_semiflows: Option<Flows>,
    /// Basis of the P-invariants.
    pub place_basis: Option<Basis>,
    /// Basis of the T-invariants.
    pub transition_basis: Option<Basis>,
    /// Places and transitions covered by invariants.
    pub covers: Covers,
    /// Bounds of the tokens in each row.
    pub bounds: Option<Bounds>,
    /// Bounds of the throughputs.
    pub throughputs: Option<Throughputs>,
    /// Minimal siphons of the net without capacities.
    pub siphons: Option<Sets>,
    /// Per minimal siphon: true if the largest trap in it is marked.
    pub siphon_has_marked_trap: Vec<bool>,
    /// Minimal traps of the net without capacities.
    pub traps: Option<Sets>,
    /// Deadlocks and liveness.
    pub deadlock: Option<Deadlock>,
}

/// Analyses the net; `stopped` is called regularly and ends the analysis early if it returns true. Truncated results
/// are marked.
pub fn analyse(program: &Program, wanted: Wanted, limits: &Limits, stopped: &dyn Fn() -> bool) -> Structure {
    let incidence = Incidence::of(program);
    let (extended, no_room) = incidence.with_free_rooms(program);
    let flow = Flow::of(&incidence);
    let extended_flow = Flow::of(&extended);
    let budget = || Budget::new(limits, stopped);
    let place_flows = wanted.invariants.then(|| place_semiflows(&incidence, limits, &budget()));
    let transition_flows = wanted.invariants.then(|| transition_semiflows(&incidence, limits, &budget()));
    let covers = covers(&incidence, place_flows.as_ref(), transition_flows.as_ref(), &budget);
    let siphons = wanted.siphons.then(|| minimal_siphons(&flow, limits, &budget()));
    let is_marked = |rows: &[u32]| rows.iter().any(|&row| incidence.initial[row as usize] > 0);
    let nets = Nets { incidence: &incidence, extended: &extended, flow: &extended_flow, program, no_room: &no_room };
    let deadlock = siphons.as_ref().map(|siphons| nets.deadlock(siphons, &covers, limits, &budget));
    let bounded = place_cover(&extended, Relation::OneSided, &budget());
    let no_flows = Flows { vectors: Vec::new(), cut: None, excluded: Vec::new() };
    let bounds = wanted.bounds.then(|| {
        let known = bounded.as_ref().ok().map(|cover| cover.members.as_slice());
        place_bounds(&incidence, &extended, program, place_flows.as_ref().unwrap_or(&no_flows), known, &budget())
    });
    let throughputs = wanted.throughputs.then(|| {
        let none = vec![false; extended.rows.len()];
        let bounded = bounded.as_ref().map_or(&none, |cover| &cover.members);
        // an open arc may supply transitions that otherwise could not continue to fire
        let repeats = extended.open.is_empty().then(|| transition_cover(&extended, Relation::OneSided, &budget()));
        let repeats = repeats.and_then(Result::ok).filter(|cover| cover.proved);
        throughput_bounds(&extended, program, bounded, repeats.as_ref().map(|cover| &*cover.members), &budget())
    });
    Structure {
        classes: NetClass::ALL.map(|class| (class, breaks(&flow, class))).to_vec(),
        connection: connection(&flow),
        fires_first: fires_first(program),
        heavy_arc: heavy_arc(&incidence),
        self_loop: self_loop(&flow),
        place_basis: wanted.invariants.then(|| place_basis(&incidence, &budget())),
        transition_basis: wanted.invariants.then(|| transition_basis(&incidence, &budget())),
        place_semiflows: place_flows,
        transition_semiflows: transition_flows,
        covers,
        bounds,
        throughputs,
        siphon_has_marked_trap: siphons
            .iter()
            .flat_map(|found| found.sets.iter().map(|siphon| is_marked(&largest_trap(&flow, siphon))))
            .collect(),
        siphons,
        traps: wanted.siphons.then(|| minimal_traps(&flow, limits, &budget())),
        deadlock,
        incidence,
        extended,
    }
}

/// A net, and the extended net with complementary places for capacities.
struct Nets<'a> {
    incidence: &'a Incidence,
    extended: &'a Incidence,
    /// Graph of the extended net.
    flow: &'a Flow,
    program: &'a Program,
    no_room: &'a [u32],
}

impl Nets<'_> {
    /// Deadlocks and liveness of the extended net, from siphons and covers of the net itself if both nets are the same.
    fn deadlock<'b>(
        &self,
        siphons: &Sets,
        covers: &Covers,
        limits: &Limits,
        budget: &dyn Fn() -> Budget<'b>,
    ) -> Deadlock {
        let extended = self.extended;
        let has_rooms = extended.rows.len() > self.incidence.rows.len();
        let with_rooms = has_rooms.then(|| minimal_siphons(self.flow, limits, &budget()));
        let whole = |cover: Result<Cover, Cut>| cover.ok().map(|cover| cover.is_whole());
        let (conservative, consistent) = if has_rooms {
            let places = place_cover(extended, Relation::Equal, &budget());
            (whole(places), whole(transition_cover(extended, Relation::Equal, &budget())))
        } else {
            (whole(covers.conservative.clone()), whole(covers.consistent.clone()))
        };
        let rank = place_basis(extended, &budget()).rank;
        let rank = rank.zip(conservative).zip(consistent).map(|((rank, p), t)| (p, t, rank));
        deadlock(&Known {
            extended,
            flow: self.flow,
            program: self.program,
            no_room: self.no_room,
            siphons: with_rooms.as_ref().unwrap_or(siphons),
            rank,
        })
    }
}

/// The transitions of the highest priority that are enabled in the initial marking; timed transitions only if no
/// immediate transition is enabled.
fn fires_first(program: &Program) -> Vec<bool> {
    let priority = |t: usize| match program.firing[t] {
        Firing::Immediate { priority, .. } => Some(priority),
        _ => None,
    };
    let enabled: Vec<bool> =
        (0..program.transitions()).map(|t| is_enabled(program, t, &program.initial).unwrap_or(false)).collect();
    let highest = (0..enabled.len()).filter(|&t| enabled[t]).map(priority).max().flatten();
    enabled.iter().enumerate().map(|(t, &enabled)| enabled && priority(t) == highest).collect()
}

/// The covers: from all semiflows if they are known, otherwise by linear programs.
fn covers<'b>(
    incidence: &Incidence,
    places: Option<&Flows>,
    transitions: Option<&Flows>,
    budget: &dyn Fn() -> Budget<'b>,
) -> Covers {
    let by_flows = |flows: Option<&Flows>, size: usize| {
        let flows = flows.filter(|flows| flows.cut.is_none())?;
        let mut members = vec![false; size];
        flows.vectors.iter().flatten().for_each(|&(index, _)| members[index as usize] = true);
        Some(Cover { members, proved: true })
    };
    let conservative =
        by_flows(places, incidence.rows.len()).map_or_else(|| place_cover(incidence, Relation::Equal, &budget()), Ok);
    let consistent = by_flows(transitions, incidence.transitions.len())
        .map_or_else(|| transition_cover(incidence, Relation::Equal, &budget()), Ok);
    let or_program = |equal: &Result<Cover, Cut>, program: &dyn Fn() -> Result<Cover, Cut>| match equal {
        Ok(cover) if cover.is_whole() => Ok(cover.clone()),
        _ => program(),
    };
    let bounded = or_program(&conservative, &|| place_cover(incidence, Relation::OneSided, &budget()));
    let repetitive = or_program(&consistent, &|| transition_cover(incidence, Relation::OneSided, &budget()));
    Covers { conservative, bounded, consistent, repetitive }
}
