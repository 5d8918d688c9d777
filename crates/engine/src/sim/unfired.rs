//! Transitions that were enabled but never fired in long runs, so that their effects were not observed.

use crate::compile::{Firing, Program};
use crate::rng::split;
use crate::semantics::is_enabled;
use crate::sim::clock::Clock;
use crate::sim::question::{Goal, Question};
use crate::sim::race::{ClockForm, DirectForm, DirectLaw, Observer, Setup};
use crate::sim::samples::Samples;
use crate::sim::steady::{BatchAverages, SteadyError};
use crate::watch::Watch;

/// Number of firings that are simulated again to find enabled transitions.
const LOOKED_AT: u64 = 200_000;

/// Checks before each firing which of some transitions are enabled: timed ones in tangible markings, immediate ones in
/// vanishing markings.
struct Enabled<'a> {
    program: &'a Program,
    wanted: Vec<(u32, bool)>,
}

impl Observer for Enabled<'_> {
    fn fires(&mut self, _: u32, marking: &[u32], _: u64) {
        for (t, enabled) in self.wanted.iter_mut().filter(|(_, enabled)| !enabled) {
            *enabled = is_enabled(self.program, *t as usize, marking).unwrap_or(true);
        }
    }
}

/// Transitions of `program` that fired in none of the runs, although longer runs may show their effects: timed ones, and
/// immediate ones that are enabled in some marking during the first firings of the first run. None if all runs ended in
/// dead markings, which nothing leaves.
///
/// # Errors
///
/// A fault of the net.
pub fn unseen(
    program: &Program,
    runs: &[BatchAverages],
    seed: u64,
    watch: &dyn Watch,
) -> Result<Vec<u32>, SteadyError> {
    let unfired = |t: &u32| runs.iter().all(|run| run.fired.get(*t as usize).is_none_or(|fired| *fired == 0));
    let may_fire = |t: &u32| match &program.firing[*t as usize] {
        Firing::Exponential { rate, .. } => rate.as_constant() != Some(0.0),
        _ => true,
    };
    let (immediate, timed): (Vec<u32>, Vec<u32>) = (0..)
        .take(program.transitions())
        .filter(unfired)
        .filter(may_fire)
        .partition(|&t| program.is_immediate(t as usize));
    if runs.iter().all(|run| run.is_dead) {
        return Ok(Vec::new());
    }
    if immediate.is_empty() {
        return Ok(timed);
    }
    let wanted = immediate.into_iter().map(|t| (t, false)).collect();
    let question = Question { goal: Goal::never(), max_firings: Some(LOOKED_AT), ..Question::default() };
    let clock = Clock::choose(program, None);
    let setup = Setup { program, question: &question, clock, key: split(seed), keep_times: false, watch };
    let mut samples = Samples::new(clock, &question, program.counters(), program.transitions());
    let observer = Enabled { program, wanted };
    let seen = if DirectLaw::obstacles(program, clock).is_empty() {
        DirectForm::new(setup).watch(observer, 0, 1, &mut samples)?
    } else {
        ClockForm::new(setup).watch(observer, 0, 1, &mut samples)?
    };
    let mut unseen: Vec<u32> =
        seen.wanted.into_iter().filter(|(_, enabled)| *enabled).map(|(t, _)| t).chain(timed).collect();
    unseen.sort_unstable();
    Ok(unseen)
}
