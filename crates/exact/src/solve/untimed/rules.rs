//! Determines the transitions that fire in a marking of a net without time.

use std::collections::BTreeMap;

use crate::compile::{Firing, Program};
use crate::semantics::{Fault, can_fire};

/// The use of priorities to decide which transition fires next.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Priorities {
    /// Enabled immediate transitions have precedence over timed transitions, and only the immediate transitions with
    /// the highest priority in the whole net may fire. This is the rule of PIPE's reachability graph, and it gives the
    /// tangible markings of [`explore`](crate::solve::explore).
    #[default]
    Kept,
    /// Every enabled transition may fire.
    Ignored,
}

/// A net, and the precedence of its transitions.
#[derive(Clone, Debug)]
pub(crate) struct Rules<'a> {
    pub(crate) program: &'a Program,
    /// Transitions in order of precedence; each level in the order of the net.
    levels: Vec<Vec<u32>>,
}

impl<'a> Rules<'a> {
    pub(crate) fn new(program: &'a Program, priorities: Priorities) -> Self {
        let mut levels: BTreeMap<u64, Vec<u32>> = BTreeMap::new();
        for (t, firing) in (0..).zip(&program.firing) {
            let level = match firing {
                _ if priorities == Priorities::Ignored => 0,
                // priorities start at 0, and timed transitions come after all priorities
                Firing::Immediate { priority, .. } => u64::from(*priority) + 1,
                Firing::Exponential { .. } | Firing::General { .. } => 0,
            };
            levels.entry(level).or_default().push(t);
        }
        Self { program, levels: levels.into_values().rev().collect() }
    }

    /// Fills `found` with the transitions that may fire next, in the order of the net.
    pub(crate) fn find(&self, marking: &[u32], found: &mut Vec<u32>) -> Result<(), Fault> {
        found.clear();
        for level in &self.levels {
            for &t in level {
                if can_fire(self.program, t as usize, marking)? {
                    found.push(t);
                }
            }
            if !found.is_empty() {
                break;
            }
        }
        Ok(())
    }
}
