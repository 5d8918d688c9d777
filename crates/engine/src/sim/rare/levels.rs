//! The walks of a batch: from level to level, each level with the same effort.

use crate::compile::Program;
use crate::rng::{Address, Purpose};
use crate::semantics::Fault;
use crate::sim::clock::Clock;
use crate::sim::race::{Blind, DirectForm, Observer, Stop, Walker};
use crate::sim::rare::event::Plan;

/// Bits of the number of a walk on its level, and of the number of a level, in the number of a replication.
const WALK_BITS: u32 = 24;
const LEVEL_BITS: u32 = 14;

/// A state in which walks start.
#[derive(Clone, Debug)]
pub(super) struct Start {
    pub(super) marking: Vec<u32>,
    pub(super) now: u64,
}

/// All levels, ready to run.
#[derive(Debug)]
pub(super) struct Levels<'a, 'p> {
    pub(super) plan: &'p Plan,
    pub(super) forms: Vec<DirectForm<'a>>,
    /// Value of the importance, or the time \[s\], of each level; none for the event itself.
    pub(super) ends: Vec<Option<f64>>,
    pub(super) clock: Clock,
    pub(super) effort: u32,
    pub(super) program: &'a Program,
}

/// Results of a batch.
#[derive(Debug)]
pub(super) struct Batch {
    /// The share of walks that passed each level; ends with a level that none passed.
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
    /// Runs a batch; none if the run was stopped on the way.
    pub(super) fn batch(&self, number: u32) -> Result<Option<Batch>, Fault> {
        let mut starts = vec![Start { marking: self.program.initial.clone(), now: 0 }];
        let mut batch = Batch { shares: Vec::with_capacity(self.ends.len()), firings: 0 };
        for (level, (form, end)) in (0..).zip(self.forms.iter().zip(&self.ends)) {
            let walks = Walks { form, number, level, effort: self.effort };
            let horizon = self.horizon(*end);
            let mut passed = Vec::new();
            let is_whole = walks.each(Blind, &starts, |walker, stop| {
                batch.firings += walker.firings();
                passed.extend(self.plan.passes(walker, stop, horizon));
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

    /// The tick at which walks to a level of time end.
    fn horizon(&self, end: Option<f64>) -> u64 {
        match self.plan {
            Plan::Beyond { limit_s, .. } => self.clock.ticks(end.unwrap_or(*limit_s)),
            Plan::Before { .. } => 0,
        }
    }
}

/// The walks of a level in a batch.
pub(super) struct Walks<'f, 'a> {
    pub(super) form: &'f DirectForm<'a>,
    /// Number of the batch.
    pub(super) number: u32,
    pub(super) level: u32,
    pub(super) effort: u32,
}

impl<'f, 'a> Walks<'f, 'a> {
    /// Runs the walks, which start from the states in equal numbers, and shows each at its end; false if the run was stopped.
    pub(super) fn each<O: Observer>(
        &self,
        observer: O,
        starts: &[Start],
        mut see: impl FnMut(&Walker<'f, 'a, O>, Stop),
    ) -> Result<bool, Fault> {
        let mut walker = Walker::new(self.form, observer);
        let (count, states) = (u64::from(self.effort), starts.len() as u64);
        let batch = u64::from(self.number) << LEVEL_BITS | u64::from(self.level);
        let address = Address { purpose: Purpose::Split, owner: self.level, sample: 0 };
        let word = u64::from(address.block(self.form.key(), batch)[0]);
        // over all values of the shift, each state starts the same number of walks
        let shift = (word * states) >> 32;
        for walk in 0..count {
            let start = &starts[((walk * states + shift) / count) as usize];
            let stop = walker.walk(&start.marking, start.now, batch << WALK_BITS | walk)?;
            if walker.is_stopped() {
                return Ok(false);
            }
            see(&walker, stop);
        }
        Ok(true)
    }
}

impl Plan {
    /// The state in which a walk passed its level; none if it did not. `horizon`: the tick of a level of time.
    pub(super) fn passes<O: Observer>(&self, walker: &Walker<'_, '_, O>, stop: Stop, horizon: u64) -> Option<Start> {
        let now = match (self, stop) {
            (Self::Before { goal, avoid, .. }, Stop::Goal) => {
                let marking = walker.marking();
                let lost = avoid.as_ref().is_some_and(|avoid| avoid.holds(marking)) && !goal.holds(marking);
                (!lost).then(|| walker.now())
            }
            (Self::Beyond { .. }, Stop::Late) | (Self::Beyond { goal: Some(_), .. }, Stop::Dead) => Some(horizon),
            _ => None,
        };
        now.map(|now| Start { marking: walker.marking().to_vec(), now })
    }
}
