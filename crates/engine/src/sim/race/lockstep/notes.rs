//! Results of finished replications. They are kept until they can be added to the samples in replication order.

use crate::sim::race::lockstep::asked::LaneQuestion;
use crate::sim::race::lockstep::kernel::State;
use crate::sim::race::lockstep::lanes::Lane;
use crate::sim::race::lockstep::ledger::UNSEEN;
use crate::sim::samples::Samples;

/// The notes of the replications of one call.
#[derive(Debug)]
pub(super) struct Notes<'a> {
    asked: &'a LaneQuestion,
    /// Number of floats per replication: tokens, throughputs, rewards and snapshots.
    width: usize,
    floats: Vec<f64>,
    /// Per replication: number of snapshots that it reached.
    reached: Vec<u32>,
    /// Per replication and group: first and last firing.
    groups: Vec<[u64; 2]>,
    areas: Vec<i128>,
}

impl<'a> Notes<'a> {
    /// Allocates room for this many replications.
    pub(super) fn new(asked: &'a LaneQuestion, replications: usize) -> Self {
        let tokens = if asked.tokens { asked.initial.len() } else { 0 };
        let throughput = if asked.throughput { asked.rows.len() } else { 0 };
        let width = tokens + throughput + asked.rewards + asked.snapshots.len();
        Self {
            asked,
            width,
            floats: vec![0.0; width * replications],
            reached: vec![0; if asked.snapshots.is_empty() { 0 } else { replications }],
            groups: vec![UNSEEN; asked.groups.len() * replications],
            areas: Vec::new(),
        }
    }

    /// Stores the notes of replication `number`, which ended at `end` in `lane`, in the order and with the arithmetic of
    /// [`Everything`](crate::sim::race::observe::Everything).
    pub(super) fn keep<S>(&mut self, number: usize, state: &mut State<S>, lane: usize, end: u64) {
        let asked = self.asked;
        let groups = &mut self.groups[number * asked.groups.len()..];
        for (kept, rows) in groups.iter_mut().zip(&asked.groups) {
            *kept = state.ledger.first_and_last(rows, lane);
        }
        if self.width == 0 {
            return;
        }
        let is_late = end > asked.warm_up;
        let mut floats = self.floats[number * self.width..(number + 1) * self.width].iter_mut();
        let mut keep = |value: f64| floats.next().into_iter().for_each(|float| *float = value);
        if asked.tokens {
            if is_late {
                state.ledger.areas(asked, lane, end, &mut self.areas);
            } else {
                self.areas.clear();
                self.areas.resize(asked.initial.len(), 0);
            }
            self.areas
                .iter()
                .for_each(|area| keep(area.cast_unsigned() as f64 / (end - asked.warm_up.min(end)) as f64));
        }
        let ticks = end.saturating_sub(asked.warm_up) as f64;
        if asked.throughput {
            for &row in &asked.rows {
                keep(state.ledger.late_firings(row, lane) as f64 / (ticks * asked.tick));
            }
        }
        let from = state.now[lane];
        if is_late {
            let seconds = (end - from.max(asked.warm_up)) as f64 * asked.tick;
            for (reward, rate) in &asked.rates {
                let rate = rate.eval_by(|counter| f64::from(state.marking[counter as usize][lane]));
                state.ledger.rewards[*reward][lane] += rate * seconds;
            }
        }
        state.ledger.rewards.iter().for_each(|rewards: &Lane<f64>| keep(rewards[lane]));
        if let Some(reached) = self.reached.get_mut(number) {
            state.ledger.take(asked, &state.marking, lane, end, true);
            let snapshots = state.ledger.snapshots(asked, lane);
            *reached = u32::try_from(snapshots.len()).unwrap_or(u32::MAX);
            snapshots.iter().for_each(|&value| keep(value));
        }
    }

    /// Adds the notes of replication `number`, which ended at `end`.
    pub(super) fn add(&self, number: usize, end: u64, samples: &mut Samples) {
        let asked = self.asked;
        let groups = &self.groups[number * asked.groups.len()..];
        for (times, &[first, last]) in samples.groups.iter_mut().zip(groups) {
            if first != UNSEEN[0] {
                times.first.push(first);
                times.last.push(last);
            }
        }
        if self.width == 0 {
            return;
        }
        let unit = &mut samples.unit;
        let (averages, floats) = self.floats[number * self.width..(number + 1) * self.width]
            .split_at(self.width - asked.rewards - asked.snapshots.len());
        if end > asked.warm_up {
            let averaged = unit.tokens.iter_mut().chain(&mut unit.throughput);
            averaged.zip(averages).for_each(|(sample, value)| sample.push(*value));
        }
        let (rewards, snapshots) = floats.split_at(asked.rewards);
        unit.rewards.iter_mut().zip(rewards).for_each(|(sample, value)| sample.push(*value));
        let reached = self.reached.get(number).map_or(0, |&reached| reached as usize);
        unit.snapshots.iter_mut().zip(&snapshots[..reached]).for_each(|(sample, value)| sample.push(*value));
    }
}
