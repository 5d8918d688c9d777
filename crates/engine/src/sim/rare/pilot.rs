//! The pilot: it walks from level to level as a batch does, and places each level where some of the walks get to.

use crate::compile::{Code, Program};
use crate::sim::race::{Blind, DirectForm, Observer, Setup, Stop};
use crate::sim::rare::error::RareError;
use crate::sim::rare::event::Plan;
use crate::sim::rare::levels::{Start, Walks};

/// Share of the walks that should pass a level.
const SHARE: f64 = 0.2;
/// Most levels that a pilot may place.
const MOST_LEVELS: usize = 4096;

/// Number of the pilot among the batches.
const PILOT: u32 = (1 << 20) - 1;

/// Levels that a pilot found.
#[derive(Debug, Default)]
pub(super) struct Pilot {
    /// Values of the importance, or times \[s\], ascending.
    pub(super) levels: Vec<f64>,
    pub(super) firings: u64,
}

/// The highest importance of a walk, in tangible markings.
#[derive(Debug)]
struct Peak<'p> {
    importance: Option<&'p Code>,
    highest: f64,
}

impl Observer for Peak<'_> {
    fn begin(&mut self) {
        self.highest = f64::NEG_INFINITY;
    }

    fn pass(&mut self, marking: &[u32], _: u64, _: u64) {
        if let Some(importance) = self.importance {
            self.highest = self.highest.max(importance.eval(marking));
        }
    }
}

/// Finds levels such that about [`SHARE`] of the walks pass each.
pub(super) fn find(plan: &Plan, effort: u32, setup: Setup<'_>) -> Result<Pilot, RareError> {
    let last = DirectForm::new(setup);
    let Setup { program, clock, .. } = setup;
    let mut pilot = Pilot::default();
    let mut starts = vec![initial(program)];
    let mut reached = match plan {
        Plan::Before { importance, .. } => importance.eval(&program.initial),
        Plan::Beyond { .. } => 0.0,
    };
    while pilot.levels.len() < MOST_LEVELS {
        // once to the end, to see where the walks get to
        let number = 2 * pilot.levels.len() as u32;
        let walks = Walks { form: &last, number: PILOT, level: number, effort };
        let mut tops = Vec::with_capacity(effort as usize);
        let importance = match plan {
            Plan::Before { importance, .. } => Some(importance),
            Plan::Beyond { .. } => None,
        };
        let is_whole = walks.each(Peak { importance, highest: 0.0 }, &starts, |walker, stop| {
            pilot.firings += walker.firings();
            let is_event = plan.passes(walker, stop, 0).is_some();
            tops.push(match plan {
                _ if is_event => f64::INFINITY,
                // the marking in which the walk stays to its end
                Plan::Before { importance, .. } if stop != Stop::Goal => {
                    walker.observer().highest.max(importance.eval(walker.marking()))
                }
                Plan::Before { .. } => walker.observer().highest,
                Plan::Beyond { .. } => clock.seconds(walker.now()),
            });
        })?;
        if !is_whole {
            return Err(RareError::Stopped);
        }
        let level = next_level(tops, reached).ok_or(RareError::NoWay { reached })?;
        if level == f64::INFINITY {
            return Ok(pilot);
        }
        // once more to the level, for the states in which walks pass it
        let question = plan.question(Some(level));
        let form = DirectForm::new(Setup { question: &question, ..setup });
        let walks = Walks { form: &form, number: PILOT, level: number + 1, effort };
        let (mut passed, horizon) = (Vec::new(), clock.ticks(level));
        let is_whole = walks.each(Blind, &starts, |walker, stop: Stop| {
            pilot.firings += walker.firings();
            passed.extend(plan.passes(walker, stop, horizon));
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

/// The highest value that [`SHARE`] of the walks get to, or else the lowest one above `reached`; infinite for the event.
fn next_level(mut tops: Vec<f64>, reached: f64) -> Option<f64> {
    tops.sort_unstable_by(|a, b| b.total_cmp(a));
    let rank = ((SHARE * tops.len() as f64).ceil() as usize).clamp(1, tops.len());
    let level = tops[rank - 1];
    if level > reached { Some(level) } else { tops.into_iter().rfind(|top| *top > reached) }
}
