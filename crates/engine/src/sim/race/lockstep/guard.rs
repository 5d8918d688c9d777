//! The enabling condition of a transition as bounds on the tokens of places.

use crate::compile::Program;

/// A bound on the tokens of one counter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Bound {
    pub(super) counter: u32,
    pub(super) tokens: u32,
}

/// The condition under which a transition is enabled.
#[derive(Clone, Debug, Default)]
pub(super) struct Guard {
    /// Required tokens.
    pub(super) least: Vec<Bound>,
    /// Tokens that must not be exceeded.
    pub(super) most: Vec<Bound>,
}

/// Enabling condition of a transition; none if it is never enabled, because it produces more tokens than a
/// place may ever hold or is inhibited by 0 tokens.
pub(super) fn guard(program: &Program, t: usize) -> Option<Guard> {
    let needs = program.inputs.row(t).iter().chain(program.tests.row(t));
    let least = needs.map(|term| Bound { counter: term.counter, tokens: term.weight }).collect();
    let mut most = Vec::new();
    for term in program.inhibitors.row(t) {
        most.push(Bound { counter: term.counter, tokens: term.weight.checked_sub(1)? });
    }
    for room in program.rooms.row(t) {
        let capacity = program.capacity[room.place as usize].unwrap_or(u32::MAX);
        most.push(Bound { counter: room.place, tokens: capacity.checked_sub(room.growth)? });
    }
    Some(Guard { least, most })
}
