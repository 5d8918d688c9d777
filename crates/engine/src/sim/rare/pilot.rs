//! The pilot, which walks from level to level like a batch, and places each level at a value that some of the walks reach.

use crate::compile::Program;
use crate::sim::clock::Clock;
use crate::sim::race::{Blind, DirectForm, Observer, Setup, Stop};
use crate::sim::rare::error::RareError;
use crate::sim::rare::event::Plan;
use crate::sim::rare::levels::{PILOT, Start, Walks};

/// Share of the walks that should pass a level.
const SHARE: f64 = 0.2;
/// Maximum number of levels that a pilot may place.
const MOST_LEVELS: usize = 4096;

/// Levels chosen by a pilot.
#[derive(Debug, Default)]
pub(super) struct Pilot {
    /// The levels, ascending: values of the importance expression, or times \[s\].
    pub(super) levels: Vec<f64>,
    pub(super) firings: u64,
}

/// Observes the highest importance that a walk reaches in tangible markings. The importance of a marking is the value
/// of the importance expression; if the levels are times, it is the elapsed time plus the approximate remaining time.
#[derive(Debug)]
struct Peak<'p> {
    plan: &'p Plan,
    clock: Clock,
    highest: f64,
}

impl Plan {
    /// Returns the importance of a marking that lasts until the tick `to`.
    fn importance(&self, marking: &[u32], to: u64, clock: Clock) -> f64 {
        match self {
            Self::Before { importance, .. } => importance.eval(marking),
            Self::Beyond { left, .. } => clock.seconds(to) + left.as_ref().map_or(0.0, |left| left.eval(marking)),
        }
    }
}

impl Observer for Peak<'_> {
    fn begin(&mut self) {
        self.highest = f64::NEG_INFINITY;
    }

    fn pass(&mut self, marking: &[u32], _: u64, to: u64) {
        self.highest = self.highest.max(self.plan.importance(marking, to, self.clock));
    }
}

/// Finds levels such that about [`SHARE`] of the walks pass each.
pub(super) fn find(plan: &Plan, effort: u32, setup: Setup<'_>) -> Result<Pilot, RareError> {
    let last = DirectForm::new(setup);
    let Setup { program, clock, .. } = setup;
    let mut pilot = Pilot::default();
    let mut starts = vec![initial(program)];
    let mut reached = plan.importance(&program.initial, 0, clock);
    while pilot.levels.len() < MOST_LEVELS {
        // first walks to the end, to find out how far they get
        let number = 2 * pilot.levels.len() as u32;
        let walks = Walks { form: &last, number: PILOT, level: number, effort };
        let mut tops = Vec::with_capacity(effort as usize);
        let limit = plan.limit(None, clock);
        let is_whole = walks.each(Peak { plan, clock, highest: 0.0 }, &starts, limit, |walker, stop| {
            pilot.firings += walker.firings();
            let highest = walker.observer().highest;
            tops.push(match stop {
                _ if plan.passes(walker, stop, limit).is_some() => f64::INFINITY,
                Stop::Goal => highest,
                // the marking in which the walk stays until its end
                _ => highest.max(plan.importance(walker.marking(), walker.now(), clock)),
            });
        })?;
        if !is_whole {
            return Err(RareError::Stopped);
        }
        let level = next_level(tops, reached).ok_or(RareError::NoWay { reached })?;
        if level == f64::INFINITY {
            return Ok(pilot);
        }
        // then walks to the level, for the states in which they pass it
        let question = plan.question(Some(level));
        let form = DirectForm::new(Setup { question: &question, ..setup });
        let walks = Walks { form: &form, number: PILOT, level: number + 1, effort };
        let mut passed = Vec::new();
        let limit = plan.limit(Some(level), clock);
        let is_whole = walks.each(Blind, &starts, limit, |walker, stop| {
            pilot.firings += walker.firings();
            passed.extend(plan.passes(walker, stop, limit));
        })?;
        if !is_whole {
            return Err(RareError::Stopped);
        }
        if passed.is_empty() {
            return Err(RareError::NoWay { reached });
        }
        pilot.levels.push(level);
        (starts, reached) = (passed, level);
    }
    Err(RareError::NoWay { reached })
}

fn initial(program: &Program) -> Start {
    Start { marking: program.initial.clone(), now: 0 }
}

/// Returns the highest level that [`SHARE`] of the walks reach. If this level is not above the previous level
/// `reached`, returns the lowest peak above `reached`; none if no walk got beyond it. Infinity is the event itself.
fn next_level(mut tops: Vec<f64>, reached: f64) -> Option<f64> {
    tops.sort_unstable_by(|a, b| b.total_cmp(a));
    let rank = ((SHARE * tops.len() as f64).ceil() as usize).clamp(1, tops.len());
    let level = tops[rank - 1];
    if level > reached { Some(level) } else { tops.into_iter().rfind(|top| *top > reached) }
}
