//! Breakdown of the passage time by the chain of firings that determines the time of each replication.
//!
//! Each firing on the chain, from the last one back to the start, waited for the firing before it. The delays on the
//! chain sum to the passage time, so their means per group give the breakdown of the time. For a distribution whose
//! mean is a scale (as for all distributions here), the derivative of the mean passage time by a group's mean delay
//! is the mean of the group's critical delays divided by that mean delay (infinitesimal perturbation analysis,
//! exact for max-plus systems \[Cassandras2008\]).

use crate::compile::{Program, SchedulePlan};
use crate::estimate::FloatMoments;
use crate::sim::clock::{Clock, NEVER};
use crate::sim::question::{Goal, Group, Question};
use crate::sim::schedule::{Block, Schedule, UnfitError};
use crate::watch::Unwatched;

/// Contribution of one group of transitions to the passage time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GroupShare {
    /// Sum of the group's delays on the critical chain \[s\], one value per replication.
    pub time: FloatMoments,
    /// Number of the group's firings on the critical chain, one value per replication.
    pub firings: FloatMoments,
    /// 1 if the group is on the critical chain, otherwise 0, one value per replication.
    pub critical: FloatMoments,
}

/// Critical chains of some replications, group by group; transitions without a group are in `rest`.
#[derive(Clone, Debug, PartialEq)]
pub struct CriticalPath {
    /// One entry per group.
    pub groups: Vec<GroupShare>,
    /// Transitions without a group.
    pub rest: GroupShare,
}

impl CriticalPath {
    /// Follows the critical chains of the replications `first .. first + count` of a schedule, backwards from the
    /// dead marking. A transition that is in several groups counts for the first one.
    ///
    /// # Errors
    ///
    /// As [`Schedule::new`].
    pub fn trace(
        program: &Program,
        plan: &SchedulePlan,
        groups: &[Group],
        clock: Clock,
        seed: u64,
        first: u64,
        count: u64,
    ) -> Result<Self, UnfitError> {
        let question = Question { goal: Goal::Dead, ..Question::default() };
        let schedule = Schedule::new(program, plan, &question, clock, seed, false)?;
        let tracer = Tracer::new(program, plan, &schedule);
        let group_of = group_of(program, groups);
        let mut path = Self { groups: vec![GroupShare::default(); groups.len()], rest: GroupShare::default() };
        let mut sums = vec![(0_u64, 0_u32); groups.len() + 1];
        schedule.each_block(first, count, true, &Unwatched, |block, lanes| {
            for r in lanes {
                sums.fill((0, 0));
                tracer.follow(block, r, |t, delay| {
                    let sum = &mut sums[group_of[t as usize]];
                    sum.0 += delay;
                    sum.1 += 1;
                });
                for (share, &(ticks, firings)) in path.groups.iter_mut().chain([&mut path.rest]).zip(&sums) {
                    share.time.push(clock.seconds(ticks));
                    share.firings.push(f64::from(firings));
                    share.critical.push(f64::from(u8::from(firings > 0)));
                }
            }
        });
        Ok(path)
    }
}

/// Per transition: its group, the first group if there are several, or the number of groups.
fn group_of(program: &Program, groups: &[Group]) -> Vec<usize> {
    let mut group_of = vec![groups.len(); program.transitions()];
    for (number, group) in groups.iter().enumerate() {
        for &t in &group.transitions {
            let own = &mut group_of[t as usize];
            *own = number.min(*own);
        }
    }
    group_of
}

/// Finds the critical chain, backwards from the firing that ends a replication.
pub(super) struct Tracer<'a> {
    program: &'a Program,
    plan: &'a SchedulePlan,
    /// Per transition: its step.
    step_of: Vec<u32>,
    /// Transitions that may fire last; the latest of them ends the replication.
    ends: Vec<u32>,
}

impl<'a> Tracer<'a> {
    pub(super) fn new(program: &'a Program, plan: &'a SchedulePlan, schedule: &Schedule) -> Self {
        let mut step_of = vec![0; program.transitions()];
        for (step, number) in plan.steps.iter().zip(0..) {
            step_of[step.transition as usize] = number;
        }
        let ends = schedule.steps.iter().filter(|bound| bound.ends).map(|bound| bound.step.transition).collect();
        Self { program, plan, step_of, ends }
    }

    fn time(&self, block: &Block, t: u32, r: usize) -> u64 {
        block.trace[self.step_of[t as usize] as usize].of(r)
    }

    /// Visits the firings on the chain of replication `r` of the block, the last one first, with their delays in ticks.
    pub(super) fn follow(&self, block: &Block, r: usize, mut visit: impl FnMut(u32, u64)) {
        let existing = |&t: &u32| Some((self.time(block, t, r), t)).filter(|(time, _)| *time < NEVER);
        let mut next = latest(self.ends.iter().filter_map(existing));
        while let Some((time, t)) = next {
            let inputs = self.program.inputs.row(t as usize).iter();
            let producers = inputs.flat_map(|input| self.plan.producers.row(input.counter as usize));
            next = latest(producers.filter_map(existing));
            visit(t, time - next.map_or(0, |(ready, _)| ready));
        }
    }
}

/// The latest firing; of several at the same time, the one with the smallest number.
fn latest(firings: impl Iterator<Item = (u64, u32)>) -> Option<(u64, u32)> {
    firings.reduce(|best, next| if next.0 > best.0 { next } else { best })
}
