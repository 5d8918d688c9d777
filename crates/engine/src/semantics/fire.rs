//! Effect of a firing on the marking.

use crate::compile::Program;
use crate::net::ArcKind;
use crate::semantics::enabled::{arc_weight, with_weights};
use crate::semantics::fault::Fault;

/// Fires `t`, which must be enabled in `marking`.
///
/// # Errors
///
/// A place that would hold more than 2^32 - 1 tokens. After an error, the marking is invalid.
#[inline(always)]
pub fn fire(program: &Program, t: usize, marking: &mut [u32]) -> Result<(), Fault> {
    for change in program.changes.row(t) {
        add(program, t, marking, change.counter, i64::from(change.by))?;
    }
    if !program.is_static(t) {
        fire_dynamic(program, t, marking)?;
    }
    Ok(())
}

/// All weights are evaluated in the marking before the firing.
fn fire_dynamic(program: &Program, t: usize, marking: &mut [u32]) -> Result<(), Fault> {
    let arcs = program.dynamic.row(t);
    with_weights(arcs.len(), |weights| {
        for (arc, slot) in arcs.iter().zip(&mut *weights) {
            if matches!(arc.kind, ArcKind::Input | ArcKind::Output) {
                *slot = arc_weight(program, t, arc.weight.eval(marking))?;
            }
        }
        // tokens are consumed before others are produced, so that no place overflows in between
        for (kind, sign) in [(ArcKind::Input, -1), (ArcKind::Output, 1)] {
            for (arc, &weight) in arcs.iter().zip(&*weights).filter(|(arc, _)| arc.kind == kind) {
                add(program, t, marking, arc.counter, sign * i64::from(weight))?;
            }
        }
        Ok(())
    })
}

#[inline(always)]
pub(crate) fn add(program: &Program, t: usize, marking: &mut [u32], counter: u32, by: i64) -> Result<(), Fault> {
    let slot = &mut marking[counter as usize];
    match u32::try_from(i64::from(*slot) + by) {
        Ok(sum) => {
            *slot = sum;
            Ok(())
        }
        Err(_) => Err(Fault::TooManyTokens {
            place: program.place_names[counter as usize / program.classes()].to_owned(),
            transition: program.transition_names[t].to_owned(),
        }),
    }
}
