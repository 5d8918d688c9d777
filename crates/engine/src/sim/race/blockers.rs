//! Which transitions of a large group can be enabled, from the range that blocked each of them last.
//!
//! Between two choices of a group, few markings change: most of its transitions are still blocked by the same range, so that one
//! comparison suffices for each.

use crate::compile::Program;
use crate::sim::race::guards::{Guards, Range};

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

    /// Returns the members of a group for which the marking is in all ranges, in the order of the group.
    #[inline]
    pub(crate) fn open(&mut self, guards: &Guards, program: &Program, group: usize, marking: &[u32]) -> &[u32] {
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
