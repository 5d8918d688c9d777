//! Choice of the immediate transition that fires: at random by weight, among the transitions of the highest priority.

use crate::compile::{Firing, Program, integer_weights};
use crate::semantics::fault::Fault;
use crate::semantics::is_enabled;

/// Maximum number of consecutive immediate firings; beyond it, the net counts as looping in zero time.
pub const MAX_IMMEDIATE_FIRINGS: u32 = 1_000_000;

/// The enabled immediate transitions of one group that have the highest priority, with integer weights.
#[derive(Clone, Debug, Default)]
pub struct Candidates {
    transitions: Vec<u32>,
    weights: Vec<u32>,
    exact: Vec<f64>,
}

impl Candidates {
    /// The transitions, in the order of the group.
    pub fn transitions(&self) -> &[u32] {
        &self.transitions
    }

    /// The probabilities of the transitions by the weights of the net, in the same order.
    pub fn shares(&self) -> impl Iterator<Item = f64> {
        let total: f64 = self.exact.iter().sum();
        // the sum of weights near the largest number is not finite
        let scale = if total.is_finite() { 1.0 } else { f64::MIN_POSITIVE };
        let total = if total.is_finite() { total } else { self.exact.iter().map(|weight| weight * scale).sum() };
        self.exact.iter().map(move |weight| weight * scale / total)
    }
}

/// Fills `found` with the candidates of `group` in `marking`; empty if no transition of the group is enabled.
///
/// # Errors
///
/// A weight or arc weight that evaluates to a negative or non-finite number.
pub fn find_candidates(program: &Program, group: usize, marking: &[u32], found: &mut Candidates) -> Result<(), Fault> {
    find_candidates_among(program, program.groups.row(group), marking, found)
}

/// As [`find_candidates`]. Only `members` of the group can be enabled; they are in the order of the group.
///
/// # Errors
///
/// As [`find_candidates`].
pub fn find_candidates_among(
    program: &Program,
    members: &[u32],
    marking: &[u32],
    found: &mut Candidates,
) -> Result<(), Fault> {
    find_candidates_by(program, members, marking, found, |t| is_enabled(program, t, marking))
}

/// As [`find_candidates_among`], with a faster substitute for [`is_enabled`].
///
/// # Errors
///
/// The errors of [`find_candidates`].
#[inline]
pub fn find_candidates_by(
    program: &Program,
    members: &[u32],
    marking: &[u32],
    found: &mut Candidates,
    is_enabled: impl Fn(usize) -> Result<bool, Fault>,
) -> Result<(), Fault> {
    found.transitions.clear();
    found.weights.clear();
    found.exact.clear();
    let mut highest = None;
    let mut constant = true;
    for &t in members {
        let Firing::Immediate { weight, priority } = &program.firing[t as usize] else { continue };
        if highest.is_some_and(|highest| *priority < highest) {
            break;
        }
        if !is_enabled(t as usize)? {
            continue;
        }
        let exact = weight.eval(marking);
        if !exact.is_finite() || exact < 0.0 {
            return Err(Fault::bad_value(program, t as usize, "weight", exact));
        }
        if exact > 0.0 {
            highest = Some(*priority);
            constant &= program.choice_weight[t as usize] > 0;
            found.transitions.push(t);
            found.weights.push(program.choice_weight[t as usize]);
            found.exact.push(exact);
        }
    }
    if !constant {
        found.weights = integer_weights(&found.exact);
    }
    Ok(())
}

/// The candidate that `word` selects; there must be at least one. A single candidate needs no random word.
#[inline]
pub fn pick(candidates: &Candidates, word: impl FnOnce() -> u32) -> u32 {
    if let [only] = candidates.transitions[..] {
        return only;
    }
    let total: u32 = candidates.weights.iter().sum();
    let mut rest = ((u64::from(word()) * u64::from(total)) >> 32) as u32;
    for (&t, &weight) in candidates.transitions.iter().zip(&candidates.weights) {
        if rest < weight {
            return t;
        }
        rest -= weight;
    }
    candidates.transitions[candidates.transitions.len() - 1]
}
