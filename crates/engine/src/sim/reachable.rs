//! Transitions that no sequence of firings enables, found by bounds of places and, in small nets, by all markings.

use std::collections::HashSet;

use crate::compile::{Firing, Program};
use crate::net::ArcKind;
use crate::semantics::{Fault, can_fire, fire};

/// Maximum number of counters and transitions of all visited markings together.
const MOST_VISITS: usize = 5_000_000;
/// Further counters to which the storage of a marking is equal.
const OVERHEAD: usize = 20;

/// Returns the transitions of `wanted` without the transitions that provably never fire. Delays are ignored, so a
/// transition that other delays keep disabled counts as possible.
pub(super) fn possible(program: &Program, wanted: &[u32]) -> Vec<u32> {
    let may_be_enabled = enabled_from(program, program.initial.clone());
    let wanted: Vec<u32> = wanted.iter().copied().filter(|&t| may_be_enabled[t as usize]).collect();
    if wanted.is_empty() {
        return wanted;
    }
    match enabled_in_markings(program) {
        Ok(Some(enabled)) => wanted.into_iter().filter(|&t| enabled[t as usize]).collect(),
        Ok(None) | Err(_) => wanted,
    }
}

/// Per transition: true unless an input or a test needs more tokens than its counter can have from a marking on. A counter
/// that no possible transition increases keeps at most its tokens in `most`, this marking.
pub(super) fn enabled_from(program: &Program, mut most: Vec<u32>) -> Vec<bool> {
    let mut may_be_enabled = vec![false; program.transitions()];
    let needs = |t: usize| program.inputs.row(t).iter().chain(program.tests.row(t));
    loop {
        let new: Vec<usize> = (0..program.transitions())
            .filter(|&t| !may_be_enabled[t] && needs(t).all(|term| term.weight <= most[term.counter as usize]))
            .collect();
        if new.is_empty() {
            return may_be_enabled;
        }
        for t in new {
            may_be_enabled[t] = true;
            let outputs = program.dynamic.row(t).iter().filter(|arc| arc.kind == ArcKind::Output);
            let grown = program.changes.row(t).iter().filter(|change| change.by > 0).map(|change| change.counter);
            grown.chain(outputs.map(|arc| arc.counter)).for_each(|counter| most[counter as usize] = u32::MAX);
        }
    }
}

/// Per transition: true if it fires in some reachable marking. None if there are too many markings.
///
/// # Errors
///
/// A fault in a marking that the net may never reach, because delays are ignored.
fn enabled_in_markings(program: &Program) -> Result<Option<Vec<bool>>, Fault> {
    let mut enabled = vec![false; program.transitions()];
    let first: Box<[u32]> = program.initial.clone().into();
    let (mut known, mut stack) = (HashSet::from([first.clone()]), vec![first]);
    let mut left = MOST_VISITS;
    let cost = program.counters() + program.transitions() + OVERHEAD;
    while let Some(marking) = stack.pop() {
        for t in firing(program, &marking)? {
            enabled[t] = true;
            let mut next = marking.to_vec();
            fire(program, t, &mut next)?;
            let next: Box<[u32]> = next.into();
            if !known.contains(&next) {
                let Some(rest) = left.checked_sub(cost) else { return Ok(None) };
                left = rest;
                known.insert(next.clone());
                stack.push(next);
            }
        }
    }
    Ok(Some(enabled))
}

/// The transitions that may fire next: immediate ones of the highest priority in their group, if there are any,
/// otherwise timed ones.
fn firing(program: &Program, marking: &[u32]) -> Result<Vec<usize>, Fault> {
    let mut found = Vec::new();
    for group in 0..program.groups.rows() {
        let mut highest = None;
        // by descending priority
        for &t in program.groups.row(group) {
            let t = t as usize;
            let Firing::Immediate { priority, .. } = program.firing[t] else { continue };
            if highest.is_some_and(|highest| priority < highest) {
                break;
            }
            if can_fire(program, t, marking)? {
                highest = Some(priority);
                found.push(t);
            }
        }
    }
    if found.is_empty() {
        for &t in &program.timed {
            if can_fire(program, t as usize, marking)? {
                found.push(t as usize);
            }
        }
    }
    Ok(found)
}
