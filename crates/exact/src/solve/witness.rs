//! Firing sequences that lead to a marking, including immediate firings.

use crate::compile::Program;
use crate::semantics::{Candidates, Fault, find_candidates, fire, rate};
use crate::solve::explore_error::ExploreError;
use crate::solve::marking::Marking;
use crate::solve::store::Store;
use crate::solve::vanish::{Rules, Settling};

/// A firing sequence that cannot be replayed.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ReplayError {
    /// A transition of the sequence cannot fire.
    #[error("transition `{transition}` cannot fire at position {position} of the sequence")]
    CannotFire {
        /// Id of the transition.
        transition: String,
        /// Position of the transition in the sequence, from 1.
        position: usize,
    },
    /// A fault in an intermediate marking.
    #[error(transparent)]
    Fault(#[from] Fault),
}

/// Fires `transitions` one after the other from `marking`; afterwards, `marking` holds the last marking.
///
/// # Errors
///
/// The first transition that cannot fire. If it is timed, it is disabled, has the rate 0, or must wait for an immediate
/// transition. If it is immediate, it is disabled or has too low a priority.
pub fn replay(program: &Program, transitions: &[u32], marking: &mut [u32]) -> Result<(), ReplayError> {
    let mut found = Candidates::default();
    for (position, &t) in (1..).zip(transitions) {
        let group = program.group_of[t as usize];
        let fires = if group == u32::MAX {
            let mut fires = rate(program, t as usize, marking)? > 0.0;
            for group in 0..program.groups.rows() {
                find_candidates(program, group, marking, &mut found)?;
                fires &= found.transitions().is_empty();
            }
            fires
        } else {
            find_candidates(program, group as usize, marking, &mut found)?;
            found.transitions().contains(&t)
        };
        if !fires {
            let transition = program.transition_names[t as usize].to_owned();
            return Err(ReplayError::CannotFire { transition, position });
        }
        fire(program, t as usize, marking)?;
    }
    Ok(())
}

/// Looks for short firing sequences.
pub(crate) struct Stepper<'a> {
    pub(crate) rules: Rules<'a>,
    settling: Settling,
    timed: Vec<u32>,
    /// A marking in work.
    settled: Marking,
    /// The initial marking, and three markings in work.
    spare: Option<[Marking; 4]>,
}

impl<'a> Stepper<'a> {
    pub(crate) fn new(rules: Rules<'a>) -> Self {
        Self { rules, settling: Settling::new(&rules), timed: Vec::new(), settled: rules.start(), spare: None }
    }

    /// Returns the transitions that lead from the initial marking to a state; each is numbered as in the canonical marking in which
    /// it fires.
    pub(crate) fn sequence(&mut self, store: &Store, parents: &[u32], state: u32) -> Result<Vec<u32>, ExploreError> {
        let mut states = vec![state];
        let mut at = state;
        while parents[at as usize] != at {
            at = parents[at as usize];
            states.push(at);
        }
        let rules = self.rules;
        let new = || [rules.start(), rules.start(), rules.start(), rules.start()];
        let [start, mut marking, mut next, mut target] = self.spare.take().unwrap_or_else(new);
        let mut path = Vec::new();
        store.read(at as usize, &mut target);
        self.settle_to(&start, &|marking| rules.is_as(marking, &target), &mut path)?;
        for pair in states.windows(2).rev() {
            store.read(pair[1] as usize, &mut marking);
            store.read(pair[0] as usize, &mut target);
            self.step_to(&marking, &mut next, &|marking| rules.is_as(marking, &target), &mut path)?;
        }
        self.spare = Some([start, marking, next, target]);
        Ok(path)
    }

    /// Appends to `path` the transitions that lead in zero time from a marking to a marking with `is_there`; returns false if there
    /// are none.
    pub(crate) fn settle_to(
        &mut self,
        from: &Marking,
        is_there: &dyn Fn(&Marking) -> bool,
        path: &mut Vec<u32>,
    ) -> Result<bool, ExploreError> {
        if is_there(from) {
            return Ok(true);
        }
        self.settling.explore(&self.rules, from)?;
        for i in 0..self.settling.len() {
            self.settling.read(i, &mut self.settled);
            if is_there(&self.settled) {
                self.settling.path(i, path);
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Appends to `path` one timed firing and the immediate firings after it that lead to a marking with `is_there`;
    /// appends nothing if there are none. `next` is working memory.
    pub(crate) fn step_to(
        &mut self,
        from: &Marking,
        next: &mut Marking,
        is_there: &dyn Fn(&Marking) -> bool,
        path: &mut Vec<u32>,
    ) -> Result<(), ExploreError> {
        let program = self.rules.program;
        let mut timed = std::mem::take(&mut self.timed);
        for &t in self.rules.timed(from, &mut timed) {
            if rate(program, t as usize, from)? <= 0.0 {
                continue;
            }
            next.copy_from(from);
            next.fire(program, t as usize)?;
            path.push(t);
            if self.settle_to(next, is_there, path)? {
                break;
            }
            path.pop();
        }
        self.timed = timed;
        Ok(())
    }
}
