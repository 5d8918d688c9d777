//! Sparse LU factors of a part of a chain, by the crate faer.
//!
//! A witness for the other methods, with subtraction and pivoting: small probabilities of stiff chains may have no right
//! digit here.

use faer::linalg::solvers::Solve;
use faer::sparse::linalg::solvers::Lu;
use faer::sparse::{SparseColMat, Triplet};

use crate::compile::Csr;

/// Most states: beyond, the fill of many chains no longer fits memory.
const MOST_STATES: usize = 50_000;

/// Factors of `D − R`; of an irreducible part without slack, of all states but the first.
#[derive(Clone, Debug)]
pub(crate) struct SparseLu {
    factors: Option<Lu<u32, f64>>,
    /// Rates from the first state, where it was left out.
    first: Option<Vec<(u32, f64)>>,
    states: usize,
}

impl SparseLu {
    /// `None` where the part is too large or singular.
    pub(crate) fn of(rates: &Csr<(u32, f64)>, exit: &[f64], slack: &[f64]) -> Option<Self> {
        let states = rates.rows();
        if states > MOST_STATES {
            return None;
        }
        let skip = u32::from(slack.iter().all(|&s| s == 0.0));
        let size = states - skip as usize;
        let mut entries = Vec::with_capacity(rates.items().len() + size);
        for i in skip..u32::try_from(states).expect("states are numbered in 32 bits") {
            entries.push(Triplet { row: i - skip, col: i - skip, val: exit[i as usize] });
            for &(to, q) in rates.row(i as usize).iter().filter(|(to, _)| *to >= skip) {
                entries.push(Triplet { row: i - skip, col: to - skip, val: -q });
            }
        }
        let first = (skip == 1).then(|| rates.row(0).to_vec());
        if size == 0 {
            return Some(Self { factors: None, first, states });
        }
        let matrix = SparseColMat::<u32, f64>::try_new_from_triplets(size, size, &entries).ok()?;
        Some(Self { factors: Some(matrix.sp_lu().ok()?), first, states })
    }

    /// The steady state of an irreducible part.
    pub(crate) fn steady(&self) -> Vec<f64> {
        let mut y = vec![0.0; self.states];
        for &(to, q) in self.first.iter().flatten() {
            y[to as usize] = q;
        }
        self.solve_left(&mut y[1..]);
        y[0] = 1.0;
        let total: f64 = y.iter().sum();
        y.iter_mut().for_each(|v| *v /= total);
        y
    }

    /// Solves `(D − R) x = b` in place.
    pub(crate) fn solve_right(&self, x: &mut [f64]) {
        if let Some(factors) = &self.factors {
            let mut column = faer::Col::from_fn(x.len(), |i| x[i]);
            factors.solve_in_place(&mut column);
            (0..x.len()).for_each(|i| x[i] = column[i]);
        }
    }

    /// Solves `y (D − R) = c` in place.
    pub(crate) fn solve_left(&self, y: &mut [f64]) {
        if let Some(factors) = &self.factors {
            let mut column = faer::Col::from_fn(y.len(), |i| y[i]);
            factors.solve_transpose_in_place(&mut column);
            (0..y.len()).for_each(|i| y[i] = column[i]);
        }
    }
}
