//! Rates of rewards during a replication; the integer sums over places in them are updated on each firing.

use crate::compile::{Code, Csr, IntegerSums, Program};
use crate::sim::question::Reward;

/// The rates of several rewards. The cost per firing does not depend on the number of places in their sums.
///
/// Rates equal [`Code::eval`] to the bit.
#[derive(Debug)]
pub(crate) struct RunningRates {
    /// Number of each reward, and its rate as a code over the counters followed by the sums.
    rates: Vec<(usize, Code)>,
    sums: IntegerSums,
    /// Initial and current value of each sum.
    initial: Vec<i64>,
    now: Vec<i64>,
    /// Per transition: the changes of sums by a firing.
    changes: Csr<(u32, i64)>,
    /// Per transition: sums that may change by arcs whose weights depend on the marking.
    by_marking: Csr<u32>,
    /// Sums to re-evaluate, without duplicates, and a flag per sum.
    stale: Vec<u32>,
    is_stale: Vec<bool>,
}

impl RunningRates {
    pub(crate) fn new(program: &Program, rewards: &[Reward]) -> Self {
        let counters = program.counters();
        let mut sums = IntegerSums::default();
        let rated = rewards.iter().enumerate().filter_map(|(r, reward)| Some((r, reward.rate.as_ref()?)));
        let rates = rated.map(|(r, code)| (r, sums.split(code, counters))).collect();
        let by_counter = sums.by_counter(counters);
        let change = |t| {
            let changes = if program.is_static(t) { program.changes.row(t) } else { &[] };
            let each = changes.iter().flat_map(|change| {
                let of_one = by_counter.row(change.counter as usize).iter();
                of_one.map(|&(sum, factor)| (sum, factor * i64::from(change.by)))
            });
            let mut row: Vec<(u32, i64)> = each.collect();
            row.sort_unstable_by_key(|(sum, _)| *sum);
            row.dedup_by(|later, first| {
                let is_same = later.0 == first.0;
                first.1 += if is_same { later.1 } else { 0 };
                is_same
            });
            row.retain(|(_, delta)| *delta != 0);
            row
        };
        let writes = program.writes();
        let by_marking = |t| {
            let counters = if program.is_static(t) { &[] } else { writes.row(t) };
            let sums = counters.iter().flat_map(|&counter| by_counter.row(counter as usize));
            let mut sums: Vec<u32> = sums.map(|(sum, _)| *sum).collect();
            sums.sort_unstable();
            sums.dedup();
            sums
        };
        let initial: Vec<i64> = (0..sums.len()).map(|sum| sums.value(sum, &program.initial)).collect();
        Self {
            rates,
            now: initial.clone(),
            is_stale: vec![false; initial.len()],
            initial,
            changes: Csr::from_rows((0..program.transitions()).map(change)),
            by_marking: Csr::from_rows((0..program.transitions()).map(by_marking)),
            sums,
            stale: Vec::new(),
        }
    }

    /// Returns to the initial marking.
    pub(crate) fn begin(&mut self) {
        self.now.copy_from_slice(&self.initial);
        for sum in self.stale.drain(..) {
            self.is_stale[sum as usize] = false;
        }
    }

    /// Updates the sums for a firing of transition `t`.
    #[inline(always)]
    pub(crate) fn fires(&mut self, t: u32) {
        for &(sum, delta) in self.changes.row(t as usize) {
            self.now[sum as usize] += delta;
        }
        for &sum in self.by_marking.row(t as usize) {
            if !std::mem::replace(&mut self.is_stale[sum as usize], true) {
                self.stale.push(sum);
            }
        }
    }

    /// Calls `collect` with the number of each reward that has a rate, and the rate in `marking`, which must be the
    /// marking after the firings so far.
    #[inline(always)]
    pub(crate) fn for_each(&mut self, marking: &[u32], mut collect: impl FnMut(usize, f64)) {
        for sum in self.stale.drain(..) {
            self.is_stale[sum as usize] = false;
            self.now[sum as usize] = self.sums.value(sum as usize, marking);
        }
        for (reward, code) in &self.rates {
            let read = |counter: u32| match marking.get(counter as usize) {
                Some(&tokens) => f64::from(tokens),
                None => self.now[counter as usize - marking.len()] as f64,
            };
            collect(*reward, code.eval_by(read));
        }
    }
}
