//! Notes of each lane while its replication runs.

use crate::sim::race::lockstep::asked::LaneQuestion;
use crate::sim::race::lockstep::lanes::{LANES, Lane};

/// Stands for first and last firing of a transition that has not fired.
pub(super) const UNSEEN: [u64; 2] = [u64::MAX, 0];

/// The firings of one transition in one lane. They determine the area under the tokens of a place: a firing at time s that adds n
/// tokens adds n (end - s) to the area.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Tally {
    /// Sum of the times of all firings; a firing during the warm-up counts with the time of its end.
    ticks: u128,
    firings: u64,
    /// Number of firings during the warm-up.
    early: u64,
}

/// The notes of all lanes.
#[derive(Debug)]
pub(super) struct Ledger {
    /// Number of rows per lane: one per transition, and one for lanes that do not fire.
    rows: usize,
    /// Per lane and row: first and last firing, see [`UNSEEN`]. Empty if not requested.
    seen: Vec<[u64; 2]>,
    /// Tally per lane and row. Empty if not requested.
    tallies: Vec<Tally>,
    /// Per reward: the amount collected so far.
    pub(super) rewards: Vec<Lane<f64>>,
    /// Time of the next snapshot; `u64::MAX` after the last snapshot.
    pub(super) due: Lane<u64>,
    /// Per lane: number of snapshots taken.
    taken: Lane<u32>,
    /// Per lane and snapshot: the value of the snapshot.
    values: Vec<f64>,
}

impl Ledger {
    /// Notes without any entries.
    pub(super) fn new(asked: &LaneQuestion) -> Self {
        let rows = asked.rows.len() + 1;
        let some = |needed: bool| if needed { LANES * rows } else { 0 };
        Self {
            rows,
            seen: vec![UNSEEN; some(!asked.groups.is_empty())],
            tallies: vec![Tally::default(); some(asked.counts())],
            rewards: vec![Lane::of(0.0); asked.rewards],
            due: Lane::of(u64::MAX),
            taken: Lane::of(0),
            values: vec![0.0; LANES * asked.snapshots.len()],
        }
    }

    /// Starts a replication in one lane.
    pub(super) fn begin(&mut self, asked: &LaneQuestion, lane: usize) {
        let range = lane * self.rows..(lane + 1) * self.rows;
        if let Some(seen) = self.seen.get_mut(range.clone()) {
            seen.fill(UNSEEN);
        }
        if let Some(tallies) = self.tallies.get_mut(range) {
            tallies.fill(Tally::default());
        }
        for rewards in &mut self.rewards {
            rewards[lane] = 0.0;
        }
        self.taken[lane] = 0;
        self.due[lane] = asked.snapshots.first().map_or(u64::MAX, |(time, _)| *time);
    }

    /// Records one timed firing of every lane; rows beyond the last belong to lanes that do not fire.
    #[inline(always)]
    pub(super) fn note(&mut self, warm_up: u64, rows: &Lane<u32>, now: &Lane<u64>) {
        let last = self.rows - 1;
        for (l, seen) in self.seen.chunks_exact_mut(self.rows).enumerate() {
            let [first, latest] = &mut seen[(rows[l] as usize).min(last)];
            *first = (*first).min(now[l]);
            *latest = now[l];
        }
        for (l, tallies) in self.tallies.chunks_exact_mut(self.rows).enumerate() {
            tallies[(rows[l] as usize).min(last)].add(warm_up, 1, now[l]);
        }
    }

    /// Records `times` immediate firings of one transition in one lane.
    #[inline(always)]
    pub(super) fn note_one(&mut self, warm_up: u64, row: u32, lane: usize, times: u32, now: u64) {
        let at = lane * self.rows + row as usize;
        if let Some([first, latest]) = self.seen.get_mut(at) {
            *first = (*first).min(now);
            *latest = now;
        }
        if let Some(tally) = self.tallies.get_mut(at) {
            tally.add(warm_up, times.into(), now);
        }
    }

    /// Returns true if immediate firings are recorded.
    #[inline(always)]
    pub(super) fn notes_firings(&self) -> bool {
        !self.seen.is_empty() || !self.tallies.is_empty()
    }

    /// Takes the due snapshots of one lane: the snapshots before `to`, and at the end also the snapshots at `to`.
    #[cold]
    #[inline(never)]
    pub(super) fn take(&mut self, asked: &LaneQuestion, marking: &[Lane<u32>], lane: usize, to: u64, is_end: bool) {
        let row = lane * asked.snapshots.len();
        while self.due[lane] < to || (is_end && self.due[lane] == to) {
            let taken = self.taken[lane] as usize;
            let Some((_, value)) = asked.snapshots.get(taken) else { break };
            self.values[row + taken] = value.eval_by(|counter| f64::from(marking[counter as usize][lane]));
            self.taken[lane] += 1;
            self.due[lane] = asked.snapshots.get(taken + 1).map_or(u64::MAX, |(time, _)| *time);
        }
    }

    /// The snapshots of one lane.
    pub(super) fn snapshots(&self, asked: &LaneQuestion, lane: usize) -> &[f64] {
        let row = lane * asked.snapshots.len();
        &self.values[row..row + self.taken[lane] as usize]
    }

    /// Times of the first and the last firing among these rows.
    pub(super) fn first_and_last(&self, rows: &[usize], lane: usize) -> [u64; 2] {
        let both = |a: [u64; 2], b: [u64; 2]| [a[0].min(b[0]), a[1].max(b[1])];
        rows.iter().fold(UNSEEN, |all, &row| both(all, self.seen[lane * self.rows + row]))
    }

    /// Integral of the tokens of every counter over time in ticks, from the end of the warm-up to `end`, which is later.
    pub(super) fn areas(&self, asked: &LaneQuestion, lane: usize, end: u64, areas: &mut Vec<i128>) {
        areas.clear();
        areas.extend(asked.initial.iter().map(|&tokens| i128::from(tokens) * i128::from(end - asked.warm_up)));
        for (tally, changes) in self.tallies[lane * self.rows..].iter().zip(&asked.changes) {
            let left = i128::from(tally.firings) * i128::from(end) - tally.ticks.cast_signed();
            for &(counter, by) in changes {
                areas[counter as usize] += i128::from(by) * left;
            }
        }
    }

    /// Number of firings of a transition since the warm-up.
    pub(super) fn late_firings(&self, row: u32, lane: usize) -> u64 {
        let tally = &self.tallies[lane * self.rows + row as usize];
        tally.firings - tally.early
    }
}

impl Tally {
    #[inline(always)]
    fn add(&mut self, warm_up: u64, times: u64, now: u64) {
        self.ticks += u128::from(times) * u128::from(now.max(warm_up));
        self.firings += times;
        self.early += if now < warm_up { times } else { 0 };
    }
}
