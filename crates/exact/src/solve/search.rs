//! The transitions that can be enabled in a marking of a large net, found without a look at all of them.

use std::sync::Arc;

use crate::compile::{Csr, Firing, Program};
use crate::semantics::is_enabled;
use crate::solve::marking::Marking;
use crate::solve::packed::varying;

/// Minimum number of varying counters of a large net. In smaller nets, looking at everything is as fast.
const LARGE: usize = 1_000;

/// Candidates for firing in a marking, by the counters that differ from the initial marking.
#[derive(Clone, Debug)]
pub(crate) struct Search {
    /// The initial marking.
    pub(crate) initial: Arc<[u32]>,
    pub(crate) timed: Triggers,
    pub(crate) immediate: Triggers,
}

/// Transitions by the counters on which their enabling depends.
///
/// A transition that lacks tokens in the initial marking can be enabled only if a counter that lacks tokens has
/// changed. Such a transition is listed at one of these counters. Any other transition is listed at all counters that
/// it reads. If it is enabled in the initial marking, it is also a candidate in markings in which none of these
/// counters has changed.
#[derive(Clone, Debug)]
pub(crate) struct Triggers {
    by_counter: Csr<u32>,
    /// Transitions that are enabled in the initial marking; each row needs tokens of the same counter.
    first: Csr<u32>,
    /// Per row of `first`: the counter, if there is one.
    needed: Vec<Option<u32>>,
}

impl Search {
    /// Returns the search for a net with many counters; none for other nets.
    pub(crate) fn of(program: &Program) -> Option<Self> {
        let count = varying(program).into_iter().filter(|&varies| varies).count();
        (count >= LARGE).then(|| Self::new(program))
    }

    pub(crate) fn new(program: &Program) -> Self {
        let is_immediate = |&t: &u32| matches!(program.firing[t as usize], Firing::Immediate { .. });
        let all = 0..program.transitions() as u32;
        let (immediate, timed): (Vec<u32>, Vec<u32>) = all.partition(is_immediate);
        Self {
            initial: Arc::from(&program.initial[..]),
            timed: Triggers::new(program, &timed),
            immediate: Triggers::new(program, &immediate),
        }
    }
}

impl Triggers {
    fn new(program: &Program, transitions: &[u32]) -> Self {
        let mut readers: Vec<u32> = vec![0; program.counters()];
        let needs = |t: u32| program.inputs.row(t as usize).iter().chain(program.tests.row(t as usize));
        transitions.iter().flat_map(|&t| needs(t)).for_each(|term| readers[term.counter as usize] += 1);
        let mut pairs: Vec<(u32, u32)> = Vec::new();
        let mut first: Vec<(Option<u32>, u32)> = Vec::new();
        for &t in transitions {
            let lacks = needs(t).filter(|term| program.initial[term.counter as usize] < term.weight);
            if let Some(term) = lacks.min_by_key(|term| readers[term.counter as usize]) {
                pairs.push((term.counter, t));
                continue;
            }
            pairs.extend(program.reads(t as usize).into_iter().map(|counter| (counter, t)));
            // a fault in the initial marking is reported when the transition is checked there
            if is_enabled(program, t as usize, &program.initial).unwrap_or(true) {
                let shared = needs(t).max_by_key(|term| readers[term.counter as usize]);
                first.push((shared.map(|term| term.counter), t));
            }
        }
        pairs.sort_unstable();
        first.sort_unstable();
        let mut rows = pairs.chunk_by(|a, b| a.0 == b.0).peekable();
        let by_counter = (0..program.counters() as u32).map(|counter| {
            let row = rows.next_if(|row| row[0].0 == counter).unwrap_or_default();
            row.iter().map(|&(_, t)| t)
        });
        Self {
            by_counter: Csr::from_rows(by_counter),
            first: Csr::from_rows(first.chunk_by(|a, b| a.0 == b.0).map(|row| row.iter().map(|&(_, t)| t))),
            needed: first.chunk_by(|a, b| a.0 == b.0).map(|row| row[0].0).collect(),
        }
    }

    /// Fills `found` with a superset of the enabled transitions, in ascending order.
    pub(crate) fn find(&self, marking: &Marking, found: &mut Vec<u32>) {
        found.clear();
        for (counter, _) in marking.changed().into_iter().flatten() {
            found.extend_from_slice(self.by_counter.row(counter as usize));
        }
        for (row, needed) in self.needed.iter().enumerate() {
            if needed.is_none_or(|counter| marking[counter as usize] > 0) {
                found.extend_from_slice(self.first.row(row));
            }
        }
        found.sort_unstable();
        found.dedup();
    }
}
