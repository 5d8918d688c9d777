//! The transitions of a large group that can be enabled, found from the range that blocked each of them last.
//!
//! Between two choices of a group, few markings change: most of its transitions are still blocked by the same range, so that one
//! comparison suffices for each.

use crate::compile::Program;
use crate::sim::race::guards::{Guards, Range};

/// Number of members from which the last range is tested first.
const LARGE: usize = 16;

/// The ranges that block the members of the groups.
#[derive(Debug)]
pub(crate) struct Blockers {
    /// Per member of a group, in the order of the groups: the range that blocked it last.
    last: Vec<Range>,
    /// Members of one group that no range blocks.
    open: Vec<u32>,
}

impl Blockers {
    pub(crate) fn new(guards: &Guards, program: &Program) -> Self {
        let last = program.groups.items().iter().map(|&t| guards.first(t as usize));
        Self { last: last.collect(), open: Vec::new() }
    }

    /// Returns the members of a group that can be enabled, in the order of the group: all of a small group; of a large one, those for
    /// which the marking is in all ranges.
    #[inline(always)]
    pub(crate) fn open<'a>(
        &'a mut self,
        guards: &Guards,
        program: &'a Program,
        group: usize,
        marking: &[u32],
    ) -> &'a [u32] {
        let members = program.groups.row(group);
        if members.len() < LARGE { members } else { self.open_of_many(guards, program, group, marking) }
    }

    fn open_of_many(&mut self, guards: &Guards, program: &Program, group: usize, marking: &[u32]) -> &[u32] {
        self.open.clear();
        let from = program.groups.offsets()[group] as usize;
        for (&t, last) in program.groups.row(group).iter().zip(&mut self.last[from..]) {
            if !last.holds(marking) {
                continue;
            }
            match guards.failing(t as usize, marking) {
                Some(range) => *last = range,
                None => self.open.push(t),
            }
        }
        &self.open
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compile::compile;
    use crate::net::{NetBuilder, Timing};
    use crate::rng::{Address, Purpose};
    use crate::semantics::is_enabled;

    /// A group of 40 transitions that share places, in a thousand markings, most of which differ in one place from the one before.
    #[test]
    fn the_open_members_are_those_that_are_enabled() {
        const PLACES: usize = 6;
        let mut b = NetBuilder::new("");
        let places: Vec<_> = (0..PLACES).map(|i| b.place(format!("p{i}"), 1)).collect();
        for i in 0..40 {
            let t = b.transition(format!("t{i}"), Timing::immediate(1.0, 0));
            b.input(places[i % PLACES], t, 1.0);
            b.input(places[(i / PLACES % 5 + i + 1) % PLACES], t, 2.0);
            if i % 3 == 0 {
                b.inhibitor(places[(i + 3) % PLACES], t, 2.0);
            }
        }
        let program = compile(&b.build().unwrap()).unwrap();
        let guards = Guards::new(&program);
        let mut blockers = Blockers::new(&guards, &program);
        let group = (0..program.groups.rows()).find(|&group| program.groups.row(group).len() >= LARGE).unwrap();
        let mut marking = program.initial.clone();
        let (mut open, mut blocked) = (0, 0);
        for sample in 0..1_000 {
            let draw = Address { purpose: Purpose::Choice, owner: 0, sample }.word([1, 2], 3);
            marking[draw as usize % PLACES] = (draw >> 8) % 4;
            let enabled: Vec<u32> = (program.groups.row(group).iter().copied())
                .filter(|&t| is_enabled(&program, t as usize, &marking).unwrap())
                .collect();
            assert_eq!(blockers.open(&guards, &program, group, &marking), enabled, "{marking:?}");
            open += enabled.len();
            blocked += program.groups.row(group).len() - enabled.len();
        }
        assert!(open > 5_000 && blocked > 5_000, "{open} {blocked}");
    }
}
