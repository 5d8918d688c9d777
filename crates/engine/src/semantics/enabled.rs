//! Enabling of transitions: conditions, degree, and rate.

use crate::compile::{DynamicArc, Firing, Program};
use crate::net::{ArcKind, Servers};
use crate::semantics::fault::Fault;

/// Returns true if `t` is enabled in `marking`, ignoring priorities.
///
/// # Errors
///
/// An arc weight that evaluates to a negative or non-finite number.
#[inline]
pub fn is_enabled(program: &Program, t: usize, marking: &[u32]) -> Result<bool, Fault> {
    Ok(static_enabled(program, t, marking) && (program.is_static(t) || dynamic_enabled(program, t, marking)?))
}

/// The part of [`is_enabled`] that depends on arcs of constant weight.
#[inline(always)]
fn static_enabled(program: &Program, t: usize, marking: &[u32]) -> bool {
    let holds = |counter: u32| marking[counter as usize];
    program.inputs.row(t).iter().all(|term| holds(term.counter) >= term.weight)
        && program.tests.row(t).iter().all(|term| holds(term.counter) >= term.weight)
        && program.inhibitors.row(t).iter().all(|term| holds(term.counter) < term.weight)
        && program.rooms.row(t).iter().all(|room| {
            let place = room.place as usize;
            let most = program.capacity[place].map_or(u64::MAX, u64::from);
            program.tokens_in(place, marking) + u64::from(room.growth) <= most
        })
}

/// The value of a dynamic arc weight: rounded to the nearest integer, halves up.
pub(super) fn arc_weight(program: &Program, t: usize, value: f64) -> Result<u32, Fault> {
    if value > -0.5 && value < f64::from(u32::MAX) - 0.5 {
        // `as` cuts off the fraction; without a call, unlike `round`
        let below = value as u32;
        Ok(below + u32::from(value - f64::from(below) >= 0.5))
    } else {
        Err(Fault::bad_value(program, t, "arc weight", value))
    }
}

/// Calls `work` with room for the weights of `arcs` dynamic arcs; without an allocation if they are few.
pub(super) fn with_weights<R>(arcs: usize, work: impl FnOnce(&mut [u32]) -> R) -> R {
    const FEW: usize = 8;
    if arcs <= FEW { work(&mut [0; FEW][..arcs]) } else { work(&mut vec![0; arcs]) }
}

/// The part of [`is_enabled`] that depends on arcs of dynamic weight.
fn dynamic_enabled(program: &Program, t: usize, marking: &[u32]) -> Result<bool, Fault> {
    with_weights(program.dynamic.row(t).len(), |weights| dynamic_arcs_allow(program, t, marking, weights))
}

/// [`dynamic_enabled`], with room for the weights of the arcs.
fn dynamic_arcs_allow(program: &Program, t: usize, marking: &[u32], weights: &mut [u32]) -> Result<bool, Fault> {
    let arcs = program.dynamic.row(t);
    for (arc, slot) in arcs.iter().zip(&mut *weights) {
        let weight = arc_weight(program, t, arc.weight.eval(marking))?;
        let held = marking[arc.counter as usize];
        match arc.kind {
            ArcKind::Test if held < weight => return Ok(false),
            ArcKind::Inhibitor if held >= weight => return Ok(false),
            _ => *slot = weight,
        }
    }
    let moves = |arc: &DynamicArc| matches!(arc.kind, ArcKind::Input | ArcKind::Output);
    let place = |arc: &DynamicArc| arc.counter as usize / program.classes();
    let moving = || arcs.iter().zip(&*weights).filter(|(arc, _)| moves(arc));
    for (arc, _) in moving() {
        // several arcs may take from the same counter
        if arc.kind == ArcKind::Input {
            let same = moving().filter(|(other, _)| other.kind == ArcKind::Input && other.counter == arc.counter);
            if same.map(|(_, &weight)| u64::from(weight)).sum::<u64>() > u64::from(marking[arc.counter as usize]) {
                return Ok(false);
            }
        }
        let Some(most) = program.capacity[place(arc)] else { continue };
        let at_place = moving().filter(|(other, _)| place(other) == place(arc));
        let growth: i64 = at_place
            .map(|(other, &weight)| if other.kind == ArcKind::Output { i64::from(weight) } else { -i64::from(weight) })
            .sum();
        let tokens = i128::from(program.tokens_in(place(arc), marking)) + i128::from(growth);
        if growth > 0 && tokens > i128::from(most) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Returns the number of times that `t` could fire simultaneously. This number is 0 if `t` is disabled, and 1 if `t`
/// has no inputs. Otherwise it is the minimum, over the inputs, of the tokens divided by the weight.
///
/// # Errors
///
/// The errors of [`is_enabled`].
#[inline]
pub fn enabling_degree(program: &Program, t: usize, marking: &[u32]) -> Result<u32, Fault> {
    if !is_enabled(program, t, marking)? {
        return Ok(0);
    }
    let mut degree = u32::MAX;
    for term in program.inputs.row(t) {
        degree = degree.min(marking[term.counter as usize] / term.weight);
    }
    let inputs = || program.dynamic.row(t).iter().filter(|arc| arc.kind == ArcKind::Input);
    for arc in inputs() {
        // parallel arcs add up
        let parallel = inputs().filter(|other| other.counter == arc.counter);
        let needs = parallel.map(|arc| arc_weight(program, t, arc.weight.eval(marking)).map(u64::from));
        let most = u64::from(marking[arc.counter as usize]).checked_div(needs.sum::<Result<_, _>>()?);
        degree = degree.min(most.and_then(|most| u32::try_from(most).ok()).unwrap_or(u32::MAX));
    }
    Ok(if degree == u32::MAX { 1 } else { degree })
}

/// Number of enablings, out of `degree`, that are served simultaneously.
#[inline]
pub fn served(servers: Servers, degree: u32) -> u32 {
    match servers {
        Servers::Single => degree.min(1),
        Servers::Infinite => degree,
        Servers::Limited(most) => degree.min(most),
    }
}

/// The total rate [1/s] at which an exponential transition fires in `marking`: 0 if it is disabled. Also 0 for a
/// transition that is not exponential.
///
/// # Errors
///
/// The errors of [`is_enabled`], and a rate that evaluates to a negative or non-finite number.
#[inline]
pub fn rate(program: &Program, t: usize, marking: &[u32]) -> Result<f64, Fault> {
    let Firing::Exponential { rate, servers } = &program.firing[t] else { return Ok(0.0) };
    let served = match servers {
        Servers::Single => u32::from(is_enabled(program, t, marking)?),
        servers => served(*servers, enabling_degree(program, t, marking)?),
    };
    if served == 0 {
        return Ok(0.0);
    }
    let value = rate.eval(marking);
    if value.is_finite() && value >= 0.0 {
        Ok(value * f64::from(served))
    } else {
        Err(Fault::bad_value(program, t, "rate", value))
    }
}

/// Returns true if `t` is enabled in `marking` and has a rate or weight above 0, ignoring priorities.
///
/// # Errors
///
/// The errors of [`is_enabled`], and a rate or weight that evaluates to a negative or non-finite number.
pub fn can_fire(program: &Program, t: usize, marking: &[u32]) -> Result<bool, Fault> {
    match &program.firing[t] {
        Firing::Exponential { .. } => Ok(rate(program, t, marking)? > 0.0),
        Firing::General { .. } => is_enabled(program, t, marking),
        Firing::Immediate { weight, .. } => {
            if !is_enabled(program, t, marking)? {
                return Ok(false);
            }
            let value = weight.eval(marking);
            if value.is_finite() && value >= 0.0 {
                Ok(value > 0.0)
            } else {
                Err(Fault::bad_value(program, t, "weight", value))
            }
        }
    }
}
