//! Enabling tests lowered to ranges of counters.
//!
//! With constant weights, input, test and inhibitor arcs and (with one token class) capacities all require that a counter
//! is in a range. One pass over ranges replaces four passes. All other tests use the definition, [`is_enabled`].

use std::collections::BTreeMap;

use crate::compile::{Csr, Program};
use crate::net::Servers;
use crate::semantics::{Fault, enabling_degree, is_enabled, served};

/// `low <= counter <= low + span`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Range {
    counter: u32,
    low: u32,
    span: u32,
}

impl Range {
    /// A range that holds in every marking.
    const ALL: Self = Self { counter: 0, low: 0, span: u32::MAX };

    #[inline(always)]
    pub(crate) fn holds(self, marking: &[u32]) -> bool {
        marking[self.counter as usize].wrapping_sub(self.low) <= self.span
    }
}

/// The ranges of one transition.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ranges {
    first: Range,
    /// First and last of the other ranges, among all ranges.
    others: (u32, u32),
}

impl Default for Ranges {
    /// One range that holds in every marking.
    fn default() -> Self {
        Self { first: Range::ALL, others: (0, 0) }
    }
}

impl Ranges {
    /// Returns true if the first range is about this counter.
    pub(crate) fn starts_with(&self, counter: u32) -> bool {
        self.first.counter == counter
    }
}

/// The enabling tests of all transitions of a program.
#[derive(Debug)]
pub(crate) struct Guards {
    ranges: Csr<Range>,
    /// Per transition: true if testing its ranges suffices.
    complete: Vec<bool>,
    /// Per group of immediate transitions: ranges that all of them need.
    gates: Csr<Range>,
}

impl Guards {
    pub(crate) fn new(program: &Program) -> Self {
        let transitions = 0..program.transitions();
        let one_class = program.classes() == 1;
        let complete = |t: usize| program.is_static(t) && (one_class || program.rooms.row(t).is_empty());
        let ranges = Csr::from_rows(transitions.clone().map(|t| ranges(program, t)));
        let gates = (0..program.groups.rows()).map(|group| common(&ranges, program.groups.row(group)));
        Self { gates: Csr::from_rows(gates), complete: transitions.map(complete).collect(), ranges }
    }

    /// The ranges of a transition, if testing them suffices.
    pub(crate) fn ranges(&self, t: usize) -> Option<Ranges> {
        let [from, to] = [t, t + 1].map(|row| self.ranges.offsets()[row]);
        let first = self.ranges.row(t).first();
        self.complete[t].then(|| first.map_or_else(Ranges::default, |&first| Ranges { first, others: (from + 1, to) }))
    }

    /// Returns true if the marking is in all ranges, and the tokens of the first.
    #[inline(always)]
    pub(crate) fn hold(&self, ranges: &Ranges, marking: &[u32]) -> (bool, u32) {
        let Ranges { first, others: (from, to) } = *ranges;
        let tokens = marking[first.counter as usize];
        let mut holds = tokens.wrapping_sub(first.low) <= first.span;
        if from < to {
            for range in &self.ranges.items()[from as usize..to as usize] {
                holds &= range.holds(marking);
            }
        }
        (holds, tokens)
    }

    /// The ranges of a transition: counter, minimum, and width.
    #[cfg(feature = "gpu")]
    pub(crate) fn ranges_of(&self, t: usize) -> impl Iterator<Item = [u32; 3]> {
        self.ranges.row(t).iter().map(|range| [range.counter, range.low, range.span])
    }

    /// Returns false only if no transition of a group is enabled.
    #[inline]
    pub(crate) fn may_choose(&self, group: usize, marking: &[u32]) -> bool {
        self.gates.row(group).iter().all(|range| range.holds(marking))
    }

    /// Returns the first range of a transition; without any, a range that holds in every marking.
    pub(crate) fn first(&self, t: usize) -> Range {
        self.ranges.row(t).first().copied().unwrap_or(Range::ALL)
    }

    /// Returns the first range of a transition that the marking is not in.
    #[inline]
    pub(crate) fn failing(&self, t: usize, marking: &[u32]) -> Option<Range> {
        self.ranges.row(t).iter().find(|range| !range.holds(marking)).copied()
    }

    /// Returns the same result as [`is_enabled`].
    #[inline(always)]
    pub(crate) fn is_enabled(&self, program: &Program, t: usize, marking: &[u32]) -> Result<bool, Fault> {
        Ok(self.ranges.row(t).iter().all(|range| range.holds(marking))
            && (self.complete[t] || is_enabled(program, t, marking)?))
    }

    /// Returns the number of enablings of a timed transition that are served.
    #[inline]
    pub(crate) fn served(&self, program: &Program, t: usize, servers: Servers, marking: &[u32]) -> Result<u32, Fault> {
        if servers == Servers::Single || !self.complete[t] {
            let enabled = self.is_enabled(program, t, marking)?;
            return if servers == Servers::Single || !enabled {
                Ok(u32::from(enabled))
            } else {
                enabling_degree(program, t, marking).map(|degree| served(servers, degree))
            };
        }
        if !self.is_enabled(program, t, marking)? {
            return Ok(0);
        }
        let times = |&crate::compile::Term { counter, weight }| match (marking[counter as usize], weight) {
            (tokens, 1) => tokens,
            (tokens, weight) => tokens / weight,
        };
        Ok(served(servers, program.inputs.row(t).iter().map(times).min().unwrap_or(1)))
    }
}

/// The ranges that all transitions of a group have.
fn common(ranges: &Csr<Range>, group: &[u32]) -> Vec<Range> {
    let [first, rest @ ..] = group else { return Vec::new() };
    let shared = |range: &&Range| rest.iter().all(|&t| ranges.row(t as usize).contains(range));
    ranges.row(*first as usize).iter().filter(shared).copied().collect()
}

/// The ranges of one transition, one per counter unless the transition can never be enabled.
fn ranges(program: &Program, t: usize) -> Vec<Range> {
    let mut bounds: BTreeMap<u32, (u32, u32)> = BTreeMap::new();
    let mut never = false;
    for term in program.inputs.row(t).iter().chain(program.tests.row(t)) {
        let low = &mut bounds.entry(term.counter).or_insert((0, u32::MAX)).0;
        *low = term.weight.max(*low);
    }
    for term in program.inhibitors.row(t) {
        let high = &mut bounds.entry(term.counter).or_insert((0, u32::MAX)).1;
        never |= term.weight == 0;
        *high = term.weight.saturating_sub(1).min(*high);
    }
    if program.classes() == 1 {
        for room in program.rooms.row(t) {
            let most = program.capacity[room.place as usize].unwrap_or(u32::MAX);
            let high = &mut bounds.entry(room.place).or_insert((0, u32::MAX)).1;
            never |= room.growth > most;
            *high = most.saturating_sub(room.growth).min(*high);
        }
    }
    if never || bounds.values().any(|(low, high)| low > high) {
        let counter = bounds.keys().next().copied().unwrap_or(0);
        return [0, 1].map(|low| Range { counter, low, span: if low == 0 { 0 } else { u32::MAX - 1 } }).into();
    }
    bounds.into_iter().map(|(counter, (low, high))| Range { counter, low, span: high - low }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compile::compile;
    use crate::net::{NetBuilder, Timing};

    #[test]
    fn guards_agree_with_the_enabling_degree() {
        let mut b = NetBuilder::new("");
        let p = b.place("p", 0);
        let q = b.place("q", 0);
        b.place_mut(q).capacity = Some(3);
        let t: Vec<_> = (0..7).map(|i| b.transition(format!("t{i}"), Timing::exponential(1.0))).collect();
        b.input(p, t[1], 2.0);
        b.output(t[1], q, 2.0);
        b.inhibitor(p, t[2], 3.0);
        b.test(p, t[2], 1.0);
        b.input(q, t[3], 2.0);
        b.output(t[3], q, 1.0);
        b.inhibitor(p, t[4], 0.0);
        b.input(p, t[5], 4.0);
        b.inhibitor(p, t[5], 2.0);
        b.output(t[6], q, 1.0);
        let program = compile(&b.build().unwrap()).unwrap();
        let guards = Guards::new(&program);
        for marking in (0..6).flat_map(|p| (0..4).map(move |q| [p, q])) {
            for t in 0..7 {
                let degree = enabling_degree(&program, t, &marking).unwrap();
                assert_eq!(guards.is_enabled(&program, t, &marking).unwrap(), degree > 0, "t{t} in {marking:?}");
                let infinite = guards.served(&program, t, Servers::Infinite, &marking).unwrap();
                assert_eq!(infinite, degree, "t{t} in {marking:?}");
            }
        }
    }
}
