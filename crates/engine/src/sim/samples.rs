//! What replications leave behind: accumulators that merge, and where they came from.
//!
//! Times are integers and their accumulators exact: the order of merging does not matter. Averages over a replication are
//! floats; they are merged in the order of the replications, so that results never depend on the number of threads.

use crate::estimate::{FloatMoments, Moments, TickHistogram};
use crate::sim::clock::Clock;
use crate::sim::question::{Ending, Question};

/// First and last firing of a group of transitions, over the replications in which it fired.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GroupTimes {
    /// Time of the first firing, in result ticks.
    pub first: Moments,
    /// Time of the last firing, in result ticks.
    pub last: Moments,
}

/// The accumulated observations of some replications.
#[derive(Clone, Debug, PartialEq)]
pub struct Samples {
    /// The tick of all times here.
    pub clock: Clock,
    /// Number of replications.
    pub replications: u64,
    /// How many of them ended at their goal, dead, at the horizon, and by the largest number of firings.
    pub endings: [u64; 4],
    /// Firings of all replications, timed and immediate.
    pub firings: u128,
    /// Passage times of the replications that reached their goal, in result ticks.
    pub passage: Moments,
    /// The same as a histogram.
    pub passage_histogram: TickHistogram,
    /// Passage times one by one, in the order of the replications, where asked for; else empty.
    pub passage_times: Vec<u64>,
    /// One entry per group of the question.
    pub groups: Vec<GroupTimes>,
    /// Time-averaged tokens per counter, one value per replication; empty if not asked for.
    pub tokens: Vec<FloatMoments>,
    /// Firings per second per transition, one value per replication; empty if not asked for.
    pub throughput: Vec<FloatMoments>,
    /// Rewards collected, one value per replication and reward.
    pub rewards: Vec<FloatMoments>,
    /// Snapshot values, one per replication that reached the time.
    pub snapshots: Vec<FloatMoments>,
}

impl Samples {
    /// No replication yet.
    pub fn new(clock: Clock, question: &Question, counters: usize, transitions: usize) -> Self {
        let tokens = if question.tokens { counters } else { 0 };
        let throughput = if question.throughput { transitions } else { 0 };
        let floats = [tokens, throughput, question.rewards.len(), question.snapshots.len()];
        Self::sized(clock, question.groups.len(), floats)
    }

    /// No replication yet, for so many groups, tokens, throughputs, rewards and snapshots.
    fn sized(clock: Clock, groups: usize, floats: [usize; 4]) -> Self {
        let [tokens, throughput, rewards, snapshots] = floats.map(|n| vec![FloatMoments::default(); n]);
        Self {
            clock,
            replications: 0,
            endings: [0; 4],
            firings: 0,
            passage: Moments::default(),
            passage_histogram: TickHistogram::default(),
            passage_times: Vec::new(),
            groups: vec![GroupTimes::default(); groups],
            tokens,
            throughput,
            rewards,
            snapshots,
        }
    }

    /// Counts a replication that ended so, at `time` result ticks after `firings` firings.
    #[inline]
    pub fn record(&mut self, ending: Ending, time: u64, firings: u64, keep: bool) {
        self.replications += 1;
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

    /// Adds the replications that follow these.
    pub fn append(&mut self, next: &Self) {
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
        for (own, others) in [
            (&mut self.tokens, &next.tokens),
            (&mut self.throughput, &next.throughput),
            (&mut self.rewards, &next.rewards),
            (&mut self.snapshots, &next.snapshots),
        ] {
            for (own, others) in own.iter_mut().zip(others) {
                own.merge(others);
            }
        }
    }

    /// Accumulators of the same kinds with nothing in them.
    pub(in crate::sim) fn emptied(&self) -> Self {
        let floats = [&self.tokens, &self.throughput, &self.rewards, &self.snapshots].map(Vec::len);
        Self::sized(self.clock, self.groups.len(), floats)
    }

    /// How many replications ended so.
    pub fn ended(&self, ending: Ending) -> u64 {
        self.endings[ending as usize]
    }
}
