//! Firing sequences that lead to a marking, including immediate firings.

use crate::compile::Program;
use crate::semantics::{Candidates, Fault, find_candidates, fire, rate};
use crate::solve::explore_error::ExploreError;
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
            let transition = program.transition_names[t as usize].clone();
            return Err(ReplayError::CannotFire { transition, position });
        }
        fire(program, t as usize, marking)?;
    }
    Ok(())
}

/// Returns the transitions that lead from the initial marking to a state; each is numbered as in the canonical marking in which it fires.
pub(crate) fn sequence(
    rules: &Rules<'_>,
    store: &Store,
    parents: &[u32],
    state: u32,
) -> Result<Vec<u32>, ExploreError> {
    let mut states = vec![state];
    let mut at = state;
    while parents[at as usize] != at {
        at = parents[at as usize];
        states.push(at);
    }
    let program = rules.program;
    let mut marking = program.initial.clone();
    let mut target = marking.clone();
    let mut path = Vec::new();
    let mut settling = Settling::default();
    store.read(at as usize, &mut target);
    settle_to(rules, &marking, &mut settling, &|marking| rules.is_as(marking, &target), &mut path)?;
    for pair in states.windows(2).rev() {
        store.read(pair[1] as usize, &mut marking);
        store.read(pair[0] as usize, &mut target);
        step_to(rules, &marking, &mut settling, &|marking| rules.is_as(marking, &target), &mut path)?;
    }
    Ok(path)
}

/// Appends to `path` the transitions that lead in zero time from a marking to a marking with `is_there`; returns false if there are none.
pub(crate) fn settle_to(
    rules: &Rules<'_>,
    from: &[u32],
    settling: &mut Settling,
    is_there: &dyn Fn(&[u32]) -> bool,
    path: &mut Vec<u32>,
) -> Result<bool, ExploreError> {
    if is_there(from) {
        return Ok(true);
    }
    settling.explore(rules, from)?;
    let Some(there) = (0..settling.len()).find(|&i| is_there(settling.marking(i))) else { return Ok(false) };
    settling.path(there, path);
    Ok(true)
}

/// Appends to `path` one timed firing and the immediate firings after it that lead to a marking with `is_there`;
/// appends nothing if there are none.
pub(crate) fn step_to(
    rules: &Rules<'_>,
    from: &[u32],
    settling: &mut Settling,
    is_there: &dyn Fn(&[u32]) -> bool,
    path: &mut Vec<u32>,
) -> Result<(), ExploreError> {
    let program = rules.program;
    let mut next = from.to_vec();
    for &t in &program.timed {
        if rate(program, t as usize, from)? <= 0.0 {
            continue;
        }
        next.copy_from_slice(from);
        fire(program, t as usize, &mut next)?;
        path.push(t);
        if settle_to(rules, &next, settling, is_there, path)? {
            return Ok(());
        }
        path.pop();
    }
    Ok(())
}
