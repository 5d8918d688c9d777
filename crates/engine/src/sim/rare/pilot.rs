//! The pilot, which walks from level to level like a batch, and places each level at a value that some of the walks reach.

use std::cell::Cell;

use crate::sim::clock::Clock;
use crate::sim::race::{Setup, Start, Stay, Stop, WalkForm};
use crate::sim::rare::error::RareError;
use crate::sim::rare::event::Plan;
use crate::sim::rare::levels::{PILOT, Walks};

/// Share of the walks that should pass a level.
const SHARE: f64 = 0.2;
/// Maximum number of levels that a pilot may place.
pub(super) const MOST_LEVELS: usize = 4096;

/// Levels chosen by a pilot.
#[derive(Debug, Default)]
pub(super) struct Pilot {
    /// The levels, ascending: values of the importance expression, or times \[s\].
    pub(super) levels: Vec<f64>,
    pub(super) firings: u64,
}

impl Plan {
    /// Returns the importance of a marking at a tick: the value of the importance expression, or, if the levels are
    /// times, the elapsed time plus the approximate remaining time.
    fn importance(&self, stay: &Stay<'_>, at: u64, clock: Clock) -> f64 {
        match self {
            Self::Before { importance, .. } => importance.eval(stay.marking),
            Self::Beyond { left, .. } => {
                clock.seconds(at) + left.as_ref().map_or(0.0, |left| left.at(stay, at, clock)[0])
            }
        }
    }

    /// Returns the highest importance of a walk while it stays in a marking.
    fn peak(&self, stay: &Stay<'_>, clock: Clock) -> f64 {
        self.importance(stay, stay.from, clock).max(self.importance(stay, stay.to, clock))
    }
}

/// Finds fewer than `most` levels such that about [`SHARE`] of the walks pass each.
pub(super) fn find(plan: &Plan, effort: u32, setup: Setup<'_>, direct: bool, most: usize) -> Result<Pilot, RareError> {
    let last = WalkForm::new(setup, direct);
    let Setup { program, clock, .. } = setup;
    let mut pilot = Pilot::default();
    let mut starts = vec![Start::initial(program)];
    let mut reached = plan.importance(&Stay::at(&program.initial, 0), 0, clock);
    while pilot.levels.len() < most {
        // first walks to the end, to find out how far they get
        let number = 2 * pilot.levels.len() as u32;
        let walks = Walks { form: &last, number: PILOT, level: number, effort };
        let mut tops = Vec::with_capacity(effort as usize);
        let latest = plan.limit(None, clock);
        let peak = Cell::new(f64::NEG_INFINITY);
        let limit = |stay: &Stay<'_>| {
            peak.set(plan.peak(stay, clock).max(peak.get()));
            latest(stay)
        };
        let is_whole = walks.each(&starts, limit, |walker, stop| {
            pilot.firings += walker.firings();
            let highest = peak.replace(f64::NEG_INFINITY);
            tops.push(match stop {
                _ if plan.passes(walker, stop).is_some() => f64::INFINITY,
                Stop::Goal => highest,
                // the marking in which the walk stays until its end
                _ => highest.max(plan.peak(&walker.last_stay(), clock)),
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
        let form = WalkForm::new(Setup { question: &question, ..setup }, direct);
        let walks = Walks { form: &form, number: PILOT, level: number + 1, effort };
        let mut passed = Vec::new();
        let is_whole = walks.each(&starts, plan.limit(Some(level), clock), |walker, stop| {
            pilot.firings += walker.firings();
            passed.extend(plan.passes(walker, stop));
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

/// Returns the highest level that [`SHARE`] of the walks reach. If this level is not above the previous level
/// `reached`, returns the lowest peak above `reached`; none if no walk got beyond it. Infinity is the event itself.
fn next_level(mut tops: Vec<f64>, reached: f64) -> Option<f64> {
    tops.sort_unstable_by(|a, b| b.total_cmp(a));
    let rank = ((SHARE * tops.len() as f64).ceil() as usize).clamp(1, tops.len());
    let level = tops[rank - 1];
    if level > reached { Some(level) } else { tops.into_iter().rfind(|top| *top > reached) }
}
