//! Accumulators of the results of replications, which can be merged.
//!
//! Times are integers and their accumulators exact: the order of merging does not matter. Averages over a replication are
//! floats, which are merged in the order of a fixed tree, so that results never depend on the number of threads or shards.

use serde::{Deserialize, Serialize};

use crate::estimate::{Moments, TickHistogram};
use crate::sim::averages::{AverageTree, Averages, FLOAT_UNIT};
use crate::sim::clock::Clock;
use crate::sim::question::{Ending, Question};

/// First and last firing of a group of transitions, over the replications in which it fired.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct GroupTimes {
    /// Time of the first firing, in result ticks.
    pub first: Moments,
    /// Time of the last firing, in result ticks.
    pub last: Moments,
}

/// The accumulated observations of some consecutive replications.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Samples {
    /// The tick of all times in the samples.
    pub clock: Clock,
    /// Number of the first replication.
    pub first: u64,
    /// Number of replications.
    pub replications: u64,
    /// Number of replications that ended at their goal, dead, at the horizon, by the largest number of firings, and in a marking
    /// to avoid.
    pub endings: [u64; 5],
    /// Firings of all replications, timed and immediate.
    pub firings: u128,
    /// Passage times of the replications that reached their goal, in result ticks.
    pub passage: Moments,
    /// Passage times as a histogram.
    pub passage_histogram: TickHistogram,
    /// Individual passage times, in the order of the replications, if requested; otherwise empty.
    pub passage_times: Vec<u64>,
    /// One entry per group of the question.
    pub groups: Vec<GroupTimes>,
    /// Averages of complete units of replications.
    tree: AverageTree,
    /// Averages of the replications after the last complete unit.
    pub(in crate::sim) unit: Averages,
    /// Number of replications in `unit`; 0 if nothing is averaged.
    in_unit: u64,
}

impl Samples {
    /// The stored times \[s\] of the replications that reached the goal, in the order of the replications.
    pub fn times_s(&self) -> impl Iterator<Item = f64> + '_ {
        self.passage_times.iter().map(|&ticks| self.clock.seconds(ticks))
    }

    /// Samples of no replication.
    pub fn new(clock: Clock, question: &Question, counters: usize, transitions: usize) -> Self {
        let tokens = if question.tokens { counters } else { 0 };
        let throughput = if question.throughput { transitions } else { 0 };
        let floats = [tokens, throughput, question.rewards.len(), question.snapshots.len()];
        Self::sized(clock, question.groups.len(), floats)
    }

    /// The same samples, starting with replication number `first`.
    #[must_use]
    pub fn starting_at(self, first: u64) -> Self {
        Self { first, ..self }
    }

    /// Samples of no replication, for these numbers of groups, tokens, throughputs, rewards and snapshots.
    fn sized(clock: Clock, groups: usize, floats: [usize; 4]) -> Self {
        Self {
            clock,
            first: 0,
            replications: 0,
            endings: [0; 5],
            firings: 0,
            passage: Moments::default(),
            passage_histogram: TickHistogram::default(),
            passage_times: Vec::new(),
            groups: vec![GroupTimes::default(); groups],
            tree: AverageTree::default(),
            unit: Averages::sized(floats),
            in_unit: 0,
        }
    }

    /// Averages over all replications.
    pub fn averages(&self) -> Averages {
        self.tree.sum_with(&self.unit)
    }

    /// Number of the replication after the last replication.
    pub fn end(&self) -> u64 {
        self.first + self.replications
    }

    /// Counts a replication with this ending, at `time` result ticks after `firings` firings. Its averages must already be
    /// in the unit.
    #[inline]
    pub fn record(&mut self, ending: Ending, time: u64, firings: u64, keep: bool) {
        self.replications += 1;
        if !self.unit.is_nothing() {
            self.in_unit += 1;
            if self.in_unit == FLOAT_UNIT {
                self.end_unit();
            }
        }
        self.endings[ending as usize] += 1;
        self.firings += u128::from(firings);
        if ending == Ending::Goal {
            self.passage.push(time);
            self.passage_histogram.push(time);
            if keep {
                self.passage_times.push(time);
            }
        }
    }

    /// Adds the samples of `next`, which must follow directly.
    pub fn append(&mut self, next: &Self) {
        if next.replications == 0 {
            return;
        }
        if self.replications == 0 {
            self.first = next.first;
        }
        self.end_unit();
        self.replications += next.replications;
        for (own, others) in self.endings.iter_mut().zip(next.endings) {
            *own += others;
        }
        self.firings += next.firings;
        self.passage.merge(&next.passage);
        self.passage_histogram.merge(&next.passage_histogram);
        self.passage_times.extend_from_slice(&next.passage_times);
        for (own, others) in self.groups.iter_mut().zip(&next.groups) {
            own.first.merge(&others.first);
            own.last.merge(&others.last);
        }
        self.tree.append(&next.tree);
        if next.in_unit > 0 {
            self.tree.push_unit(next.end() - next.in_unit, &next.unit);
        }
    }

    /// Moves the replications of the unit into a leaf of the tree.
    fn end_unit(&mut self) {
        if self.in_unit > 0 {
            self.tree.push_unit(self.end() - self.in_unit, &self.unit);
            self.unit.clear();
            self.in_unit = 0;
        }
    }

    /// Adds the averages of 2^`height` units, merged in the order of the tree. The first of these units starts `offset`
    /// after the first replication, and its number is a multiple of 2^`height`.
    #[cfg(feature = "gpu")]
    pub(in crate::sim) fn push_units(&mut self, offset: u64, height: u32, sum: Averages) {
        self.tree.push_units(self.first + offset, height, sum);
    }

    /// Applies a change to all averages.
    pub(in crate::sim) fn map_averages(&mut self, change: impl Fn(&Averages) -> Averages) {
        self.tree.map(&change);
        self.unit = change(&self.unit);
    }

    /// Empty accumulators of the same kinds, for the following replications.
    #[cfg(feature = "gpu")]
    pub(in crate::sim) fn emptied(&self) -> Self {
        Self::sized(self.clock, self.groups.len(), self.unit.sizes()).starting_at(self.end())
    }

    /// Returns true if both have the same kinds of accumulators, as runs of the same question have.
    pub(in crate::sim) fn is_like(&self, other: &Self) -> bool {
        let sizes = other.unit.sizes();
        self.clock == other.clock
            && self.groups.len() == other.groups.len()
            && self.unit.sizes() == sizes
            && self.tree.has_sizes(sizes)
            && self.passage_histogram.count() == self.passage.count()
    }

    /// Number of replications with this ending.
    pub fn ended(&self, ending: Ending) -> u64 {
        self.endings[ending as usize]
    }
}
