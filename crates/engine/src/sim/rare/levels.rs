//! The walks of a batch, from level to level, with the same effort on each level.

use crate::compile::Program;
use crate::rng::{Address, Purpose};
use crate::semantics::Fault;
use crate::sim::clock::{Clock, NEVER};
use crate::sim::race::{Start, Stay, Stop, WalkForm, Walker};
use crate::sim::rare::event::Plan;

/// Number of bits of a replication's number that hold the number of the walk on its level.
const WALK_BITS: u32 = 24;
/// Number of bits of a replication's number that hold the number of the level.
pub(super) const LEVEL_BITS: u32 = 14;

/// Batch number of the pilot.
pub(super) const PILOT: u32 = (1 << 20) - 1;

/// All levels, ready to run.
#[derive(Debug)]
pub(super) struct Levels<'a, 'p> {
    pub(super) plan: &'p Plan,
    pub(super) forms: Vec<WalkForm<'a>>,
    /// Value of the importance, or the time \[s\], of each level; none for the event itself.
    pub(super) ends: Vec<Option<f64>>,
    pub(super) clock: Clock,
    pub(super) effort: u32,
    pub(super) program: &'a Program,
}

/// Results of a batch.
#[derive(Debug)]
pub(super) struct Batch {
    /// The share of walks that passed each level; the list ends with the first level that no walk passed.
    pub(super) shares: Vec<f64>,
    pub(super) firings: u64,
}

impl Batch {
    /// Estimate of the probability.
    pub(super) fn product(&self) -> f64 {
        self.shares.iter().product()
    }
}

impl Levels<'_, '_> {
    /// Runs a batch; none if the run was stopped.
    pub(super) fn batch(&self, number: u32) -> Result<Option<Batch>, Fault> {
        let mut starts = vec![Start::initial(self.program)];
        let mut batch = Batch { shares: Vec::with_capacity(self.ends.len()), firings: 0 };
        for (level, (form, end)) in (0..).zip(self.forms.iter().zip(&self.ends)) {
            let walks = Walks { form, number, level, effort: self.effort };
            let mut passed = Vec::new();
            let is_whole = walks.each(&starts, self.plan.limit(*end, self.clock), |walker, stop| {
                batch.firings += walker.firings();
                passed.extend(self.plan.passes(walker, stop));
            })?;
            if !is_whole {
                return Ok(None);
            }
            batch.shares.push(passed.len() as f64 / f64::from(self.effort));
            if passed.is_empty() {
                break;
            }
            starts = passed;
        }
        Ok(Some(batch))
    }
}

/// The walks of a level in a batch.
pub(super) struct Walks<'f, 'a> {
    pub(super) form: &'f WalkForm<'a>,
    /// Number of the batch.
    pub(super) number: u32,
    pub(super) level: u32,
    pub(super) effort: u32,
}

impl<'f, 'a> Walks<'f, 'a> {
    /// Runs the walks, divided equally among the start states, and calls `see` at the end of each; false if the run was stopped.
    pub(super) fn each(
        &self,
        starts: &[Start],
        limit: impl Fn(&Stay<'_>) -> u64,
        mut see: impl FnMut(&Walker<'f, 'a>, Stop),
    ) -> Result<bool, Fault> {
        let mut walker = Walker::new(self.form);
        let (count, states) = (u64::from(self.effort), starts.len() as u64);
        let batch = u64::from(self.number) << LEVEL_BITS | u64::from(self.level);
        let address = Address { purpose: Purpose::Split, owner: self.level, sample: 0 };
        let word = u64::from(address.block(self.form.key(), batch)[0]);
        // on average over the shift, each state starts the same number of walks
        let shift = (word * states) >> 32;
        for walk in 0..count {
            let start = &starts[((walk * states + shift) / count) as usize];
            let stop = walker.walk(start, batch << WALK_BITS | walk, &limit)?;
            if walker.is_stopped() {
                return Ok(false);
            }
            see(&walker, stop);
        }
        Ok(true)
    }
}

impl Plan {
    /// The last tick of a walk in each marking, on the way to a level or to the event.
    pub(super) fn limit(&self, level: Option<f64>, clock: Clock) -> impl Fn(&Stay<'_>) -> u64 {
        let (latest, left) = match self {
            Self::Before { within_s, .. } => (within_s.map_or(NEVER - 1, |within_s| clock.ticks(within_s)), None),
            Self::Beyond { limit_s, left, .. } => (clock.ticks(*limit_s), level.map(|level| (level, left.as_ref()))),
        };
        move |stay| match left {
            Some((level, None)) => clock.ticks(level).min(latest),
            Some((level, Some(left))) => left.reaches(level, stay, clock).min(latest),
            None => latest,
        }
    }

    /// The state in which a walk passed its level; none if it did not.
    pub(super) fn passes(&self, walker: &Walker<'_, '_>, stop: Stop) -> Option<Start> {
        let marking = walker.marking();
        let passed = match (self, stop) {
            (Self::Before { goal, avoid, .. }, Stop::Goal) => {
                !avoid.as_ref().is_some_and(|avoid| avoid.holds(marking)) || goal.holds(marking)
            }
            (Self::Beyond { .. }, Stop::Late) => true,
            // a goal that is never reached
            (Self::Beyond { goal, .. }, Stop::Dead) => goal.is_some(),
            _ => false,
        };
        passed.then(|| walker.state())
    }
}
