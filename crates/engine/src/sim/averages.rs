//! Averages over replications in `f64`, summed in an order that does not depend on threads, rounds or shards.
//!
//! Sums of floats depend on their order. So replications are averaged in units of 16. The units are the leaves of a
//! binary tree: leaves 2k and 2k + 1 are added first, then these sums in the same way. The shape of the tree depends
//! only on the numbers of the units. A part of a run that starts and ends between units keeps its largest complete
//! subtrees; merged parts give the same bits.

use serde::{Deserialize, Serialize};

use crate::estimate::FloatMoments;

/// Number of consecutive replications whose sum becomes a leaf. It affects results, so it must never change.
pub(in crate::sim) const FLOAT_UNIT: u64 = 16;

/// Observations that are floats, with one value per replication.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Averages {
    /// Time-averaged tokens per counter; empty if not requested.
    pub tokens: Vec<FloatMoments>,
    /// Firings per second per transition; empty if not requested.
    pub throughput: Vec<FloatMoments>,
    /// Collected rewards.
    pub rewards: Vec<FloatMoments>,
    /// Values of each snapshot, from the replications that reached its time.
    pub snapshots: Vec<FloatMoments>,
}

impl Averages {
    /// Averages of no replication yet, for these numbers of tokens, throughputs, rewards and snapshots.
    pub(in crate::sim) fn sized(sizes: [usize; 4]) -> Self {
        let [tokens, throughput, rewards, snapshots] = sizes.map(|n| vec![FloatMoments::default(); n]);
        Self { tokens, throughput, rewards, snapshots }
    }

    /// Numbers of tokens, throughputs, rewards and snapshots.
    pub(in crate::sim) fn sizes(&self) -> [usize; 4] {
        [&self.tokens, &self.throughput, &self.rewards, &self.snapshots].map(Vec::len)
    }

    /// Forgets all replications.
    pub(in crate::sim) fn clear(&mut self) {
        let lists = [&mut self.tokens, &mut self.throughput, &mut self.rewards, &mut self.snapshots];
        lists.into_iter().flatten().for_each(|moments| *moments = FloatMoments::default());
    }

    /// Returns true if nothing is observed.
    pub(in crate::sim) fn is_nothing(&self) -> bool {
        self.sizes() == [0; 4]
    }

    /// Adds the replications that follow these.
    fn merge(&mut self, next: &Self) {
        for (own, others) in [
            (&mut self.tokens, &next.tokens),
            (&mut self.throughput, &next.throughput),
            (&mut self.rewards, &next.rewards),
            (&mut self.snapshots, &next.snapshots),
        ] {
            own.iter_mut().zip(others).for_each(|(own, others)| own.merge(others));
        }
    }
}

/// A subtree whose leaves are complete.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Subtree {
    /// Number of the subtree's first leaf, a multiple of 2^height.
    leaf: u64,
    height: u32,
    sum: Averages,
}

impl Subtree {
    /// Returns true if this tree and `next` are the left half and the right half of one tree.
    fn is_left_of(&self, next: &Self) -> bool {
        let leaves = 1_u64.checked_shl(self.height).unwrap_or(0);
        self.height == next.height && self.leaf.checked_add(leaves) == Some(next.leaf) && self.leaf & leaves == 0
    }
}

/// The largest complete subtrees of some consecutive leaves, in order.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(in crate::sim) struct AverageTree(Vec<Subtree>);

impl AverageTree {
    /// Adds the unit of replications that starts with number `replication`, the next one.
    pub(in crate::sim) fn push_unit(&mut self, replication: u64, unit: &Averages) {
        self.push_units(replication, 0, unit.clone());
    }

    /// Adds a complete subtree of units; its first unit starts with number `replication`.
    pub(in crate::sim) fn push_units(&mut self, replication: u64, height: u32, sum: Averages) {
        if !sum.is_nothing() {
            self.push(Subtree { leaf: replication / FLOAT_UNIT, height, sum });
        }
    }

    /// Adds the leaves of `next`, which follow the leaves of this tree.
    pub(in crate::sim) fn append(&mut self, next: &Self) {
        next.0.iter().for_each(|subtree| self.push(subtree.clone()));
    }

    fn push(&mut self, mut right: Subtree) {
        while let Some(left) = self.0.pop_if(|left| left.is_left_of(&right)) {
            let mut sum = left.sum;
            sum.merge(&right.sum);
            right = Subtree { leaf: left.leaf, height: left.height + 1, sum };
        }
        self.0.push(right);
    }

    /// Returns the sum of all leaves and then of `rest`.
    pub(in crate::sim) fn sum_with(&self, rest: &Averages) -> Averages {
        let mut sum = Averages::sized(rest.sizes());
        self.0.iter().for_each(|subtree| sum.merge(&subtree.sum));
        sum.merge(rest);
        sum
    }

    /// Applies a change to all sums.
    pub(in crate::sim) fn map(&mut self, change: impl Fn(&Averages) -> Averages) {
        self.0.iter_mut().for_each(|subtree| subtree.sum = change(&subtree.sum));
    }

    /// Returns true if all sums have these sizes.
    pub(in crate::sim) fn has_sizes(&self, sizes: [usize; 4]) -> bool {
        self.0.iter().all(|subtree| subtree.sum.sizes() == sizes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn unit(number: u64) -> Averages {
        let mut unit = Averages::sized([2, 0, 1, 0]);
        for i in 0..FLOAT_UNIT {
            let x = ((number * FLOAT_UNIT + i) as f64).sin();
            unit.tokens[0].push(x);
            unit.tokens[1].push(1e9 + x);
            unit.rewards[0].push(x.exp());
        }
        unit
    }

    fn tree(units: std::ops::Range<u64>) -> AverageTree {
        let mut tree = AverageTree::default();
        units.for_each(|number| tree.push_unit(number * FLOAT_UNIT, &unit(number)));
        tree
    }

    #[test]
    fn as_many_subtrees_as_ones_in_the_number_of_leaves() {
        for leaves in 0..200_u64 {
            assert_eq!(tree(0..leaves).0.len(), leaves.count_ones() as usize);
        }
    }

    #[test]
    fn sums_are_those_of_one_long_run() {
        let sum = tree(0..100).sum_with(&Averages::sized([2, 0, 1, 0]));
        let mut all = FloatMoments::default();
        (0..100 * FLOAT_UNIT).for_each(|i| all.push((i as f64).sin()));
        assert_eq!(sum.tokens[0].count(), all.count());
        assert!((sum.tokens[0].mean().unwrap() - all.mean().unwrap()).abs() < 1e-14);
        assert!((sum.tokens[0].variance().unwrap() - all.variance().unwrap()).abs() < 1e-12);
    }

    proptest! {
        /// The result does not depend on how the leaves are split into parts and how the parts are merged.
        #[test]
        fn sums_do_not_depend_on_where_a_run_is_cut(begin in 0_u64..40, first in 0_u64..40, second in 0_u64..40, last in 0_u64..40) {
            let cuts = [begin, begin + first, begin + first + second, begin + first + second + last];
            let whole = tree(begin..cuts[3]);
            let [a, b, c] = [0, 1, 2].map(|i| tree(cuts[i]..cuts[i + 1]));
            let (mut left, mut right) = (a.clone(), b.clone());
            left.append(&b);
            left.append(&c);
            right.append(&c);
            let mut other = a;
            other.append(&right);
            prop_assert_eq!(&left, &whole);
            prop_assert_eq!(&other, &whole);
        }
    }
}
