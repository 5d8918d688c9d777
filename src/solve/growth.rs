//! Proofs of unboundedness: a marking covers one before it, and what led from one to the other can be repeated for ever.

use crate::compile::{Firing, Program, Value};
use crate::semantics::{Candidates, Fault, find_candidates, fire, rate};
use crate::solve::explore_error::{ExploreError, Unbounded};
use crate::solve::store::Store;
use crate::solve::vanish::Rules;
use crate::solve::witness::{replay, sequence};

/// States of which each is compared with all before it on its path.
const EAGER: u32 = 1 << 12;
/// Of later states, every so many are.
const RARELY: u32 = 1 << 8;
/// Candidates for a proof after which no more are sought: the net has a reason to come back.
const PATIENCE: u32 = 1 << 10;
/// Tokens that stand for any number.
const MANY: u32 = 1 << 31;

/// Looks for growth while states are found.
#[derive(Debug, Default)]
pub(crate) struct Growth {
    /// Candidates that were no proof.
    failures: u32,
    scratch: Vec<u32>,
}

impl Growth {
    /// A proof that the net is unbounded, where the new `state` is one.
    pub(crate) fn check(
        &mut self,
        rules: &Rules<'_>,
        store: &Store,
        parents: &[u32],
        state: u32,
        marking: &[u32],
    ) -> Result<Option<Unbounded>, ExploreError> {
        if self.failures >= PATIENCE || (state >= EAGER && state % RARELY != 0) {
            return Ok(None);
        }
        self.scratch.resize(marking.len(), 0);
        let mut at = state;
        while parents[at as usize] != at {
            at = parents[at as usize];
            store.read(at as usize, &mut self.scratch);
            let covered = self.scratch.iter().zip(marking).all(|(old, new)| old <= new);
            if covered {
                let proof = prove(rules, store, parents, at, state)?;
                if proof.is_some() {
                    return Ok(proof);
                }
                self.failures += 1;
            }
        }
        Ok(None)
    }
}

/// The proof that the way from one state to a later one that covers it can be repeated, where it can.
fn prove(
    rules: &Rules<'_>,
    store: &Store,
    parents: &[u32],
    from: u32,
    to: u32,
) -> Result<Option<Unbounded>, ExploreError> {
    let program = rules.program;
    let mut start = program.initial.clone();
    let mut end = start.clone();
    store.read(from as usize, &mut start);
    store.read(to as usize, &mut end);
    let grows: Vec<bool> = start.iter().zip(&end).map(|(old, new)| old < new).collect();
    if is_compared(rules, &grows) {
        return Ok(None);
    }
    let prefix = sequence(rules, store, parents, from)?;
    let whole = sequence(rules, store, parents, to)?;
    let cycle = whole[prefix.len()..].to_vec();
    if !is_repeatable(program, &start, &cycle, &grows)? {
        return Ok(None);
    }
    let place_grows = |place: &usize| grows[place * program.classes()..(place + 1) * program.classes()].contains(&true);
    let places = (0..program.places()).filter(place_grows).map(|place| program.place_names[place].clone()).collect();
    debug_assert!(replay(program, &prefix, &mut program.initial.clone()).is_ok(), "a path can be replayed");
    Ok(Some(Unbounded { places, prefix, cycle }))
}

/// Whether anything but inputs and tests of constant weight looks at a growing counter.
fn is_compared(rules: &Rules<'_>, grows: &[bool]) -> bool {
    let program = rules.program;
    let growing = |counter: u32| grows[counter as usize];
    let classes = program.classes();
    let reads = |code: &crate::compile::Code| code.counters().any(growing);
    program.inhibitors.items().iter().any(|term| growing(term.counter))
        || program.rooms.items().iter().any(|room| {
            let place = room.place as usize;
            grows[place * classes..(place + 1) * classes].contains(&true)
        })
        || program.dynamic.items().iter().any(|arc| growing(arc.counter) || reads(&arc.weight))
        || program.firing.iter().any(|firing| match firing {
            Firing::Immediate { weight: Value::Code(code), .. } | Firing::Exponential { rate: Value::Code(code), .. } => {
                reads(code)
            }
            _ => false,
        })
        || rules.goal.is_some_and(reads)
}

/// Whether a cycle can still fire, step by step, when the growing counters hold any number of tokens. Inputs and tests ask
/// for at least so many, so that what holds for few and for many tokens holds between.
fn is_repeatable(program: &Program, start: &[u32], cycle: &[u32], grows: &[bool]) -> Result<bool, Fault> {
    let mut marking = start.to_vec();
    let mut many = start.to_vec();
    let mut found = Candidates::default();
    for &t in cycle {
        let widened = marking.iter().zip(grows).map(|(&tokens, &grows)| if grows { MANY } else { tokens });
        many.clear();
        many.extend(widened);
        let group = program.group_of[t as usize];
        if group == u32::MAX {
            if rate(program, t as usize, &many)? <= 0.0 {
                return Ok(false);
            }
            for group in 0..program.groups.rows() {
                find_candidates(program, group, &many, &mut found)?;
                if !found.transitions().is_empty() {
                    return Ok(false);
                }
            }
        } else {
            find_candidates(program, group as usize, &many, &mut found)?;
            if !found.transitions().contains(&t) {
                return Ok(false);
            }
        }
        fire(program, t as usize, &mut marking)?;
    }
    Ok(true)
}
