//! Elimination of states without subtraction: the direct solver for irreducible and for absorbing parts of a chain.
//!
//! State `k` is removed by connecting its predecessors directly with its successors,
//!
//! ```text
//! s_k  = slack_k + Σ_j q_kj          slack: the rate out of the part
//! q_ij ← q_ij + q_ik q_kj / s_k      slack_i ← slack_i + q_ik slack_k / s_k
//! ```
//!
//! which is Gaussian elimination of `D − R` with the diagonal recomputed as a sum. There are no subtractions,
//! so the relative error of each result is about n times the rounding error of one operation, even for stiff
//! chains and weakly coupled groups of states \[Grassmann1985\] \[OCinneide1993\]. The matrix is sparse at first: the next
//! state to eliminate is one with the smallest product of predecessors and successors \[Markowitz1957\]. When the
//! remaining matrix fills up, it is eliminated as a dense matrix.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::solve::rates::Rates;
use crate::solve::wide::Wide;
use crate::watch::Watch;

/// Maximum cost of an elimination; if it is exceeded, the elimination is abandoned.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Budget {
    /// Maximum number of rates visited while the matrix is sparse.
    pub(crate) work: u64,
    /// Maximum number of stored rates (16 bytes each).
    pub(crate) kept: usize,
    /// Maximum number of states of the remaining dense matrix.
    pub(crate) dense: usize,
}

impl Budget {
    /// A fraction of a second and some 60 MB.
    pub(crate) const LITTLE: Self = Self { work: 10_000_000, kept: 4_000_000, dense: 700 };
    /// A few seconds and some 300 MB.
    pub(crate) const SOME: Self = Self { work: 100_000_000, kept: 20_000_000, dense: 1_500 };
    /// The largest budget that a user who requests elimination will wait for.
    pub(crate) const MUCH: Self = Self { work: 20_000_000_000, kept: 200_000_000, dense: 10_000 };
}

/// The factors of `D − R` of a part of a chain.
#[derive(Clone, Debug)]
pub(crate) struct Elimination {
    /// States in the order of elimination, and the rate out of each state when it was eliminated.
    order: Vec<u32>,
    pivots: Vec<f64>,
    /// Per eliminated state, rates to and from the remaining states.
    out: Rows,
    into: Rows,
    /// The remaining states, and their rates as a matrix, eliminated from the last to the first.
    core: Vec<u32>,
    dense: Vec<f64>,
    core_pivots: Vec<f64>,
}

/// Rows in one flat array that grows.
#[derive(Clone, Debug)]
struct Rows {
    ends: Vec<usize>,
    items: Vec<(u32, f64)>,
}

impl Rows {
    fn new() -> Self {
        Self { ends: vec![0], items: Vec::new() }
    }

    fn row(&self, i: usize) -> &[(u32, f64)] {
        &self.items[self.ends[i]..self.ends[i + 1]]
    }

    fn close(&mut self) {
        self.ends.push(self.items.len());
    }
}

/// The remaining chain while states are eliminated.
struct Rest {
    rows: Vec<Vec<(u32, f64)>>,
    /// Predecessors of each state, unordered.
    columns: Vec<Vec<u32>>,
    slack: Vec<f64>,
    key: Vec<u64>,
    queue: BinaryHeap<Reverse<(u64, u32)>>,
    merged: Vec<(u32, f64)>,
    /// Number of rates visited so far.
    work: u64,
}

/// Number of rates visited between two checks for a stop request: some milliseconds.
const WORK_BETWEEN_LOOKS: u64 = 1 << 20;

/// Key of an eliminated state.
const GONE: u64 = u64::MAX;

impl Elimination {
    /// Factorises the part with the given rates among its states and the rates `slack` out of the part; `None` if this exceeds the
    /// budget or was stopped. Without slack, the part must be irreducible.
    pub(crate) fn of(rates: &Rates, slack: &[f64], budget: Budget, watch: &dyn Watch) -> Option<Self> {
        // each rate is stored when the first of its two states is eliminated, unless both remain in the dense matrix
        if rates.count() > budget.kept + 2 * budget.dense * budget.dense {
            return None;
        }
        let mut rest = Rest::of(rates, slack);
        let mut factors = Self {
            order: Vec::new(),
            pivots: Vec::new(),
            out: Rows::new(),
            into: Rows::new(),
            core: Vec::new(),
            dense: Vec::new(),
            core_pivots: Vec::new(),
        };
        let mut left = rates.rows() as u64;
        let mut next_look = WORK_BETWEEN_LOOKS;
        while let Some((product, state)) = rest.next() {
            if product > left * left / 16 && left as usize <= budget.dense {
                break;
            }
            if rest.work > budget.work || factors.out.items.len() + factors.into.items.len() > budget.kept {
                return None;
            }
            if rest.work >= next_look {
                next_look = rest.work + WORK_BETWEEN_LOOKS;
                if watch.stopped() {
                    return None;
                }
            }
            factors.take_out(&mut rest, state);
            left -= 1;
        }
        factors.eliminate_core(&rest, watch).then_some(factors)
    }

    fn take_out(&mut self, rest: &mut Rest, state: u32) {
        let row = std::mem::take(&mut rest.rows[state as usize]);
        let before = std::mem::take(&mut rest.columns[state as usize]);
        let slack = rest.slack[state as usize];
        let pivot = slack + row.iter().map(|&(_, q)| q).sum::<f64>();
        rest.key[state as usize] = GONE;
        for &(to, _) in &row {
            let column = &mut rest.columns[to as usize];
            let at = column.iter().position(|&i| i == state).expect("columns mirror rows");
            column.swap_remove(at);
        }
        for &from in &before {
            let rate = rest.bypass(from, state, &row, pivot);
            rest.slack[from as usize] += times_ratio(rate, slack, pivot);
            self.into.items.push((from, rate));
        }
        for &(to, _) in &row {
            rest.push(to);
        }
        for &from in &before {
            rest.push(from);
        }
        self.out.items.extend(row);
        self.out.close();
        self.into.close();
        self.order.push(state);
        self.pivots.push(pivot);
    }

    /// Eliminates the dense core; returns false if it was stopped.
    fn eliminate_core(&mut self, rest: &Rest, watch: &dyn Watch) -> bool {
        self.core = (0_u32..).zip(&rest.key).filter(|(_, key)| **key != GONE).map(|(state, _)| state).collect();
        let n = self.core.len();
        let mut number = vec![0; rest.key.len()];
        for (i, &state) in self.core.iter().enumerate() {
            number[state as usize] = i;
        }
        self.dense = vec![0.0; n * n];
        for (i, &state) in self.core.iter().enumerate() {
            for &(to, q) in &rest.rows[state as usize] {
                self.dense[i * n + number[to as usize]] = q;
            }
        }
        let mut slack: Vec<f64> = self.core.iter().map(|&state| rest.slack[state as usize]).collect();
        self.core_pivots = vec![0.0; n];
        for k in (0..n).rev() {
            if watch.stopped() {
                return false;
            }
            let (above, own) = self.dense.split_at_mut(k * n);
            let own = &own[..k];
            let pivot = slack[k] + own.iter().sum::<f64>();
            self.core_pivots[k] = pivot;
            for i in 0..k {
                let row = &mut above[i * n..(i + 1) * n];
                let (rate, factor) = (row[k], row[k] / pivot);
                if factor.is_normal() {
                    slack[i] += factor * slack[k];
                    add(&mut row[..k], own, i, |via| factor * via);
                } else if rate > 0.0 {
                    slack[i] += times_ratio(rate, slack[k], pivot);
                    add(&mut row[..k], own, i, |via| times_ratio(rate, via, pivot));
                }
            }
        }
        true
    }

    /// Returns the steady state of the irreducible part, which sums to 1. Each entry is exact up to rounding.
    pub(crate) fn steady(&self) -> Vec<f64> {
        let mut y = vec![0.0; self.order.len() + self.core.len()];
        self.weigh(&mut y, 1.0, |into, pivot| into.map(|(y, q)| y * q).sum::<f64>() / pivot);
        // a weight that over- or underflows falsifies all weights that follow from it
        if y.iter().any(|weight| !weight.is_normal()) {
            y = self.wide_weights();
        }
        let total: f64 = y.iter().sum();
        y.iter_mut().for_each(|v| *v /= total);
        y
    }

    /// Returns the weights of the steady state, the largest about 1; weights that are below all numbers next to it are 0.
    fn wide_weights(&self) -> Vec<f64> {
        let mut y = vec![Wide::of(0.0); self.order.len() + self.core.len()];
        self.weigh(&mut y, Wide::of(1.0), |into, pivot| {
            let sum = into.map(|(y, q)| y.times(Wide::of(q))).fold(Wide::of(0.0), Wide::plus);
            sum.over(Wide::of(pivot))
        });
        let largest = y.iter().filter(|weight| weight.mantissa > 0.0).map(|weight| weight.exponent).max();
        y.iter().map(|weight| weight.relative_to(largest.unwrap_or(0))).collect()
    }

    /// Computes the weight of each state from the weights of the states that were eliminated after it. The state that remains has
    /// the weight `one`; `flow` is the sum of weights times rates, divided by a pivot.
    fn weigh<W: Copy>(&self, y: &mut [W], one: W, flow: impl Fn(&mut dyn Iterator<Item = (W, f64)>, f64) -> W) {
        let n = self.core.len();
        if let Some(&last) = self.core.first().or(self.order.last()) {
            y[last as usize] = one;
        }
        for k in 1..n {
            let mut into = (0..k).map(|i| (y[self.core[i] as usize], self.dense[i * n + k]));
            let weight = flow(&mut into, self.core_pivots[k]);
            y[self.core[k] as usize] = weight;
        }
        for k in (0..self.order.len().saturating_sub(usize::from(n == 0))).rev() {
            let mut into = self.into.row(k).iter().map(|&(from, q)| (y[from as usize], q));
            let weight = flow(&mut into, self.pivots[k]);
            y[self.order[k] as usize] = weight;
        }
    }

    /// Solves `(D − R) x = b` in place, for a part with slack.
    pub(crate) fn solve_right(&self, x: &mut [f64]) {
        let n = self.core.len();
        for (k, &state) in self.order.iter().enumerate() {
            let (all, pivot) = (x[state as usize], self.pivots[k]);
            let own = all / pivot;
            for &(from, q) in self.into.row(k) {
                x[from as usize] += by_factor(own, all, q, pivot);
            }
        }
        for k in (0..n).rev() {
            let (all, pivot) = (x[self.core[k] as usize], self.core_pivots[k]);
            let own = all / pivot;
            for i in 0..k {
                x[self.core[i] as usize] += by_factor(own, all, self.dense[i * n + k], pivot);
            }
        }
        for k in 0..n {
            let ahead = flow((0..k).map(|j| (self.dense[k * n + j], x[self.core[j] as usize])), self.core_pivots[k]);
            x[self.core[k] as usize] = x[self.core[k] as usize] / self.core_pivots[k] + ahead;
        }
        for (k, &state) in self.order.iter().enumerate().rev() {
            let ahead = flow(self.out.row(k).iter().map(|&(to, q)| (q, x[to as usize])), self.pivots[k]);
            x[state as usize] = x[state as usize] / self.pivots[k] + ahead;
        }
    }

    /// Solves `y (D − R) = c` in place, for a part with slack.
    pub(crate) fn solve_left(&self, y: &mut [f64]) {
        let n = self.core.len();
        for (k, &state) in self.order.iter().enumerate() {
            let (all, pivot) = (y[state as usize], self.pivots[k]);
            let own = all / pivot;
            for &(to, q) in self.out.row(k) {
                y[to as usize] += by_factor(own, all, q, pivot);
            }
        }
        for k in (0..n).rev() {
            let (all, pivot) = (y[self.core[k] as usize], self.core_pivots[k]);
            let own = all / pivot;
            for j in 0..k {
                y[self.core[j] as usize] += by_factor(own, all, self.dense[k * n + j], pivot);
            }
        }
        for k in 0..n {
            let pivot = self.core_pivots[k];
            y[self.core[k] as usize] = y[self.core[k] as usize] / pivot + self.core_flow(y, k, pivot);
        }
        for (k, &state) in self.order.iter().enumerate().rev() {
            let pivot = self.pivots[k];
            let into = self.into.row(k).iter().map(|&(from, q)| (y[from as usize], q));
            let into = flow(into, pivot);
            y[state as usize] = y[state as usize] / pivot + into;
        }
    }

    /// Returns the flow into state `k` of the core from earlier states of the core, divided by the pivot.
    fn core_flow(&self, y: &[f64], k: usize, pivot: f64) -> f64 {
        let n = self.core.len();
        flow((0..k).map(|i| (y[self.core[i] as usize], self.dense[i * n + k])), pivot)
    }
}

/// Adds the rates by way of a state to a row, except to state `own` itself.
#[inline]
fn add(row: &mut [f64], through: &[f64], own: usize, rate: impl Fn(f64) -> f64) {
    for (j, (q, via)) in row.iter_mut().zip(through).enumerate() {
        if j != own {
            *q += rate(*via);
        }
    }
}

/// Returns a·b/c. Of three orders, the first without an intermediate value that over- or underflows decides.
fn times_ratio(a: f64, b: f64, c: f64) -> f64 {
    let (product, ratio) = (a * b, b / c);
    match () {
        () if product.is_normal() || a == 0.0 || b == 0.0 => product / c,
        () if ratio.is_normal() => a * ratio,
        () => a / c * b,
    }
}

/// Returns `factor` · b, with `factor` = a/c, as long as the factor has all its digits.
fn by_factor(factor: f64, a: f64, b: f64, c: f64) -> f64 {
    if factor.is_normal() { factor * b } else { times_ratio(a, b, c) }
}

/// Returns the sum of products, divided by the pivot, where no product over- or underflows if the result is in range.
fn flow(terms: impl Iterator<Item = (f64, f64)> + Clone, pivot: f64) -> f64 {
    /// Least sum next to which products that underflow do not count.
    const LEAST: f64 = 1e-280;
    let sum: f64 = terms.clone().map(|(a, b)| a * b).sum();
    if sum > LEAST && sum.is_finite() { sum / pivot } else { terms.map(|(a, b)| times_ratio(a, b, pivot)).sum() }
}

impl Rest {
    fn of(rates: &Rates, slack: &[f64]) -> Self {
        let n = rates.rows();
        let mut columns = vec![Vec::new(); n];
        for (from, row) in (0_u32..).zip((0..n).map(|i| rates.states(i))) {
            for &to in row {
                columns[to as usize].push(from);
            }
        }
        let mut rest = Self {
            rows: (0..n).map(|i| rates.row(i).collect()).collect(),
            columns,
            slack: slack.to_vec(),
            key: vec![0; n],
            queue: BinaryHeap::with_capacity(n),
            merged: Vec::new(),
            work: 0,
        };
        for state in 0..u32::try_from(n).expect("states are numbered in 32 bits") {
            rest.push(state);
        }
        rest
    }

    /// Adds `state` to the queue with its current cost of elimination.
    fn push(&mut self, state: u32) {
        let product = self.rows[state as usize].len() as u64 * self.columns[state as usize].len() as u64;
        self.key[state as usize] = product;
        self.queue.push(Reverse((product, state)));
    }

    /// Returns the state that is cheapest to eliminate, with its key.
    fn next(&mut self) -> Option<(u64, u32)> {
        while let Some(Reverse((product, state))) = self.queue.pop() {
            if self.key[state as usize] == product {
                return Some((product, state));
            }
        }
        None
    }

    /// Replaces the rate from `from` to `gone` by rates to the successors of `gone`; returns the replaced rate.
    fn bypass(&mut self, from: u32, gone: u32, row: &[(u32, f64)], pivot: f64) -> f64 {
        let own = std::mem::take(&mut self.rows[from as usize]);
        let at = own.binary_search_by_key(&gone, |&(to, _)| to).expect("rows mirror columns");
        let rate = own[at].1;
        let factor = rate / pivot;
        let through = |q: f64| by_factor(factor, rate, q, pivot);
        self.merged.clear();
        let (mut a, mut b) = (0, 0);
        while a < own.len() || b < row.len() {
            let left = own.get(a).map_or(u32::MAX, |&(to, _)| to);
            let right = row.get(b).map_or(u32::MAX, |&(to, _)| to);
            if left < right {
                if left != gone {
                    self.merged.push(own[a]);
                }
                a += 1;
            } else if left == right {
                self.merged.push((left, own[a].1 + through(row[b].1)));
                (a, b) = (a + 1, b + 1);
            } else {
                if right != from {
                    self.merged.push((right, through(row[b].1)));
                    self.columns[right as usize].push(from);
                }
                b += 1;
            }
        }
        self.work += self.merged.len() as u64;
        self.rows[from as usize] = self.merged.clone();
        rate
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::solve::chain::tests::{birth_death, random_chain};
    use crate::watch::Unwatched;

    fn factors(rates: &Rates, slack: &[f64], dense: usize) -> Elimination {
        Elimination::of(rates, slack, Budget { dense, ..Budget::SOME }, &Unwatched).unwrap()
    }

    #[test]
    fn sparse_and_dense_elimination_give_the_same_steady_state() {
        let chain = random_chain(120, 4, 6.0, 3);
        let none = vec![0.0; 120];
        let sparse = factors(&chain.rates, &none, 0).steady();
        let mixed = factors(&chain.rates, &none, 1_000);
        assert!(mixed.core.len() > 10 && !mixed.order.is_empty(), "{}", mixed.core.len());
        for (a, b) in sparse.iter().zip(mixed.steady()) {
            assert!((a - b).abs() <= 1e-13 * a, "{a} {b}");
        }
    }

    #[test]
    fn both_systems_are_solved() {
        let chain = random_chain(80, 3, 4.0, 5);
        let slack: Vec<f64> = (0..80).map(|i| if i % 9 == 0 { 0.3 } else { 0.0 }).collect();
        let b: Vec<f64> = (0..80).map(|i| 1.0 + f64::from(i % 5)).collect();
        for dense in [0, 1_000] {
            let factors = factors(&chain.rates, &slack, dense);
            let (mut x, mut y) = (b.clone(), b.clone());
            factors.solve_right(&mut x);
            factors.solve_left(&mut y);
            let mut columns: Vec<f64> = (0..80).map(|i| y[i] * (slack[i] + chain.exit_rate(i))).collect();
            for i in 0..80 {
                let ahead: f64 = chain.rates.row(i).map(|(to, q)| q * x[to as usize]).sum();
                let diagonal = (slack[i] + chain.exit_rate(i)) * x[i];
                assert!((diagonal - ahead - b[i]).abs() < 1e-12 * diagonal);
                chain.rates.row(i).for_each(|(to, q)| columns[to as usize] -= y[i] * q);
            }
            let worst = columns.iter().zip(&b).map(|(c, b)| (c - b).abs()).fold(0.0, f64::max);
            assert!(worst < 1e-9, "{worst}");
            // inflow equals outflow: y · slack = sum of b
            let out: f64 = y.iter().zip(&slack).map(|(y, s)| y * s).sum();
            assert!((out - b.iter().sum::<f64>()).abs() < 1e-12 * out);
        }
    }

    #[test]
    fn too_much_fill_is_given_up() {
        let chain = random_chain(3_000, 8, 1.0, 1);
        let none = vec![0.0; 3_000];
        assert!(
            Elimination::of(&chain.rates, &none, Budget { work: 10_000_000, kept: 1 << 30, dense: 100 }, &Unwatched)
                .is_none()
        );
    }

    /// The shares of the states span 3,500 powers of ten, in either direction.
    #[test]
    fn shares_beyond_the_range_of_numbers_are_0() {
        for (birth, death, most) in [(1.0, 1.5, 0), (1.5, 1.0, 20_000)] {
            let chain = birth_death(20_000, birth, death);
            for dense in [0, 500] {
                let pi = factors(&chain.rates, &vec![0.0; 20_001], dense).steady();
                assert!((pi[most] - 1.0 / 3.0).abs() < 1e-12, "{birth} {dense}: {}", pi[most]);
                assert_eq!(pi[20_000 - most], 0.0);
            }
        }
    }

    /// A ring of states: the share of a state is proportional to the inverse of its rate. All rates may be equal and extreme.
    #[test]
    fn rates_at_the_ends_of_the_numbers_give_the_shares_of_a_ring() {
        let all: [&[f64]; 7] = [
            &[1e-200, 1e200, 1e-200, 1e200],
            &[1e-300, 1e-300, 1e300],
            &[1e-307, 1e307, 1e-307],
            &[1e-175, 1e-170, 1e20, 1e195],
            &[1e200, 1e200, 1e200, 1e200],
            &[1e-300, 3e-300, 2e-300],
            &[1e300, 3e300, 2e300],
        ];
        for rates in all {
            let n = rates.len() as u32;
            let ring = Rates::from_rows((0..n).map(|i| vec![((i + 1) % n, rates[i as usize])]));
            let slowest = rates.iter().copied().fold(f64::INFINITY, f64::min);
            let total: f64 = rates.iter().map(|rate| slowest / rate).sum();
            for dense in [0, 100] {
                let pi = factors(&ring, &vec![0.0; rates.len()], dense).steady();
                for (found, rate) in pi.iter().zip(rates) {
                    let exact = slowest / rate / total;
                    assert!((found - exact).abs() <= 1e-12 * exact, "{rates:?} {dense}: {pi:?}");
                }
            }
        }
    }

    /// Three stages of equal rates, with a way out of each: the mean time is that of rate 1, divided by the rate.
    #[test]
    fn equal_rates_of_any_size_give_the_same_mean_but_for_the_unit() {
        let mean = |rate: f64, dense: usize| {
            let rows = [vec![(1, rate), (2, rate)], vec![(0, rate), (2, rate)], vec![(0, rate), (1, rate)]];
            let slack = [0.0, rate, 0.0];
            let mut x = vec![1.0; 3];
            factors(&Rates::from_rows(rows), &slack, dense).solve_right(&mut x);
            x
        };
        for dense in [0, 100] {
            let one = mean(1.0, dense);
            for rate in [1e-300, 1e-165, 1e-100, 1e155, 1e200, 1e300] {
                for (found, unit) in mean(rate, dense).iter().zip(&one) {
                    assert!((found * rate / unit - 1.0).abs() < 1e-12, "{rate} {dense}: {found}");
                }
            }
        }
    }

    #[test]
    fn birth_and_death_fill_nothing() {
        let chain = birth_death(1_000, 1.0, 2.0);
        let factors = factors(&chain.rates, &vec![0.0; 1_001], 0);
        assert!(factors.out.items.len() <= 1_000 && factors.into.items.len() <= 1_000);
        let pi = factors.steady();
        for i in 0..1_000 {
            assert!((pi[i + 1] / pi[i] - 0.5).abs() < 1e-12 || pi[i + 1] < 1e-300);
        }
    }
}
