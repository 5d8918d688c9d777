//! Observers of a replication, for every form of the race engine.
//!
//! An [`Observer`] receives passing time and firings. The forms are compiled once for each kind of observer,
//! so a run that needs only passage times has no cost for other observations. All times are in result ticks.

use crate::compile::{Csr, Program};
use crate::sim::clock::Clock;
use crate::sim::question::{Ending, Question};
use crate::sim::race::rates::RunningRates;
use crate::sim::samples::Samples;

/// Observes one replication after another.
pub(crate) trait Observer {
    /// Called when a replication starts at time 0.
    fn begin(&mut self) {}
    /// Called for each interval in which the marking does not change, before the next firing or the end of the replication.
    #[inline(always)]
    fn pass(&mut self, _marking: &[u32], _from: u64, _to: u64) {}
    /// Called when transition `t` is about to fire in `marking`.
    #[inline(always)]
    fn fires(&mut self, _t: u32, _marking: &[u32], _now: u64) {}
    /// Called when the replication has ended at time `end`; [`Self::pass`] has been called for all time before.
    fn finish(&mut self, _ending: Ending, _marking: &[u32], _end: u64, _samples: &mut Samples) {}
}

/// Observes nothing: only the passage time is requested.
#[derive(Debug)]
pub(crate) struct Blind;

impl Observer for Blind {}

/// First and last firing of groups of transitions.
#[derive(Debug)]
pub(crate) struct Phases {
    /// Per transition: the groups it belongs to.
    groups: Csr<u32>,
    /// Per group: first and last firing so far.
    seen: Vec<Option<(u64, u64)>>,
}

impl Phases {
    pub(crate) fn new(program: &Program, question: &Question) -> Self {
        let mut rows = vec![Vec::new(); program.transitions()];
        for (number, group) in (0..).zip(&question.groups) {
            for &t in &group.transitions {
                if !rows[t as usize].contains(&number) {
                    rows[t as usize].push(number);
                }
            }
        }
        Self { groups: Csr::from_rows(rows), seen: vec![None; question.groups.len()] }
    }
}

impl Observer for Phases {
    fn begin(&mut self) {
        self.seen.fill(None);
    }

    #[inline(always)]
    fn fires(&mut self, t: u32, _: &[u32], now: u64) {
        for &group in self.groups.row(t as usize) {
            let seen = &mut self.seen[group as usize];
            *seen = Some((seen.map_or(now, |(first, _)| first), now));
        }
    }

    fn finish(&mut self, _: Ending, _: &[u32], _: u64, samples: &mut Samples) {
        for (times, seen) in samples.groups.iter_mut().zip(&self.seen) {
            if let Some((first, last)) = *seen {
                times.first.push(first);
                times.last.push(last);
            }
        }
    }
}

/// Integrals over time of all counters, exact: tokens times ticks.
#[derive(Debug)]
pub(crate) struct Areas {
    writes: Csr<u32>,
    areas: Vec<u128>,
    /// Per counter: the time up to which its area is summed.
    upto: Vec<u64>,
}

impl Areas {
    pub(crate) fn new(program: &Program) -> Self {
        let counters = program.counters();
        Self { writes: program.writes(), areas: vec![0; counters], upto: vec![0; counters] }
    }

    /// Resets all areas to 0; they start at `from`.
    pub(crate) fn reset(&mut self, from: u64) {
        self.areas.fill(0);
        self.upto.fill(from);
    }

    /// Updates the areas of the counters that `t` is about to change.
    #[inline(always)]
    pub(crate) fn fires(&mut self, t: u32, marking: &[u32], now: u64) {
        for &counter in self.writes.row(t as usize) {
            let counter = counter as usize;
            let upto = self.upto[counter];
            if now > upto {
                self.areas[counter] += u128::from(marking[counter]) * u128::from(now - upto);
                self.upto[counter] = now;
            }
        }
    }

    /// The areas up to `end`.
    pub(crate) fn close(&mut self, marking: &[u32], end: u64) -> &[u128] {
        for ((area, upto), &tokens) in self.areas.iter_mut().zip(&mut self.upto).zip(marking) {
            *area += u128::from(tokens) * u128::from(end.saturating_sub(*upto));
            *upto = end.max(*upto);
        }
        &self.areas
    }
}

/// Observes everything that a question can request.
///
/// Tokens and throughputs are averaged from the end of the warm-up to the end of the replication. A replication that
/// ends during the warm-up has no such averages, and its rewards are 0.
#[derive(Debug)]
pub(crate) struct Everything<'a> {
    question: &'a Question,
    phases: Phases,
    tick: f64,
    warm_up: u64,
    areas: Option<Areas>,
    /// Number of firings per transition since the warm-up; empty if not requested.
    counts: Vec<u64>,
    /// Rewards collected so far.
    rewards: Vec<f64>,
    /// Per transition: (reward, impulse) pairs.
    impulses: Csr<(u32, u32)>,
    rates: RunningRates,
    /// Times of the snapshots, and the values taken so far.
    times: Vec<u64>,
    values: Vec<f64>,
}

impl<'a> Everything<'a> {
    pub(crate) fn new(program: &Program, question: &'a Question, clock: Clock) -> Self {
        let mut impulses = vec![Vec::new(); program.transitions()];
        for (r, reward) in (0_u32..).zip(&question.rewards) {
            for (i, (t, _)) in (0_u32..).zip(&reward.impulses) {
                impulses[*t as usize].push((r, i));
            }
        }
        Self {
            question,
            phases: Phases::new(program, question),
            tick: clock.tick(),
            warm_up: clock.ticks(question.warm_up),
            areas: question.tokens.then(|| Areas::new(program)),
            counts: vec![0; if question.throughput { program.transitions() } else { 0 }],
            rewards: vec![0.0; question.rewards.len()],
            impulses: Csr::from_rows(impulses),
            rates: RunningRates::new(program, &question.rewards),
            times: question.snapshots.iter().map(|s| clock.ticks(s.time)).collect(),
            values: Vec::with_capacity(question.snapshots.len()),
        }
    }

    /// Takes the snapshots at all times for which `before` holds.
    fn take_snapshots(&mut self, marking: &[u32], before: impl Fn(u64) -> bool) {
        while let Some(&time) = self.times.get(self.values.len())
            && before(time)
        {
            let value = self.question.snapshots[self.values.len()].value.eval(marking);
            self.values.push(value);
        }
    }
}

impl Observer for Everything<'_> {
    fn begin(&mut self) {
        self.phases.begin();
        if let Some(areas) = &mut self.areas {
            areas.reset(self.warm_up);
        }
        self.counts.fill(0);
        self.rewards.fill(0.0);
        self.rates.begin();
        self.values.clear();
    }

    #[inline]
    fn pass(&mut self, marking: &[u32], from: u64, to: u64) {
        self.take_snapshots(marking, |time| time < to);
        if to > self.warm_up {
            let seconds = (to - from.max(self.warm_up)) as f64 * self.tick;
            let rewards = &mut self.rewards;
            self.rates.for_each(marking, |r, rate| rewards[r] += rate * seconds);
        }
    }

    #[inline]
    fn fires(&mut self, t: u32, marking: &[u32], now: u64) {
        self.phases.fires(t, marking, now);
        if let Some(areas) = &mut self.areas {
            areas.fires(t, marking, now);
        }
        self.rates.fires(t);
        if now < self.warm_up {
            return;
        }
        if let Some(count) = self.counts.get_mut(t as usize) {
            *count += 1;
        }
        for &(r, i) in self.impulses.row(t as usize) {
            self.rewards[r as usize] += self.question.rewards[r as usize].impulses[i as usize].1.eval(marking);
        }
    }

    fn finish(&mut self, ending: Ending, marking: &[u32], end: u64, samples: &mut Samples) {
        self.phases.finish(ending, marking, end, samples);
        self.take_snapshots(marking, |time| time <= end);
        for (sample, value) in samples.unit.snapshots.iter_mut().zip(&self.values) {
            sample.push(*value);
        }
        for (sample, reward) in samples.unit.rewards.iter_mut().zip(&self.rewards) {
            sample.push(*reward);
        }
        if end <= self.warm_up {
            return;
        }
        let ticks = (end - self.warm_up) as f64;
        if let Some(areas) = &mut self.areas {
            for (sample, area) in samples.unit.tokens.iter_mut().zip(areas.close(marking, end)) {
                sample.push(*area as f64 / ticks);
            }
        }
        for (sample, count) in samples.unit.throughput.iter_mut().zip(&self.counts) {
            sample.push(*count as f64 / (ticks * self.tick));
        }
    }
}
