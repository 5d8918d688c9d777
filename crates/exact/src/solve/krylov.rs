//! BiCGSTAB for systems on which sweeps get on too slowly, by the crate faer.
//!
//! The preconditioner is a symmetric Gauss-Seidel sweep: once forth and once back \[Saad2003\]. It needs no memory, and no
//! settings. BiCGSTAB subtracts, so that small values have an absolute accuracy only; sweeps follow, and their caller judges what came out.

use faer::dyn_stack::{MemBuffer, MemStack, StackReq};
use faer::matrix_free::bicgstab::{BicgParams, bicgstab, bicgstab_scratch};
use faer::matrix_free::{IdentityPrecond, InitialGuessStatus, LinOp, Precond};
use faer::{Mat, MatMut, MatRef, Par};

use crate::compile::Csr;
use crate::solve::chain::Incoming;

/// Relative residual at which a round of BiCGSTAB ends: the next round starts from a fresh residual.
const ENOUGH: f64 = 1e-10;

/// The rows of a matrix without its diagonal.
pub(crate) trait Rows: Sync + std::fmt::Debug {
    /// Entries of a row: column and value.
    fn row(&self, row: usize) -> impl Iterator<Item = (usize, f64)>;
}

impl Rows for Csr<(u32, f64)> {
    fn row(&self, row: usize) -> impl Iterator<Item = (usize, f64)> {
        Self::row(self, row).iter().map(|&(column, value)| (column as usize, value))
    }
}

impl Rows for Incoming {
    fn row(&self, row: usize) -> impl Iterator<Item = (usize, f64)> {
        self.into(row).map(|(from, rate)| (from as usize, rate))
    }
}

/// The matrix with these diagonal entries, from which `rows` are taken away.
#[derive(Debug)]
pub(crate) struct System<'a, R> {
    pub(crate) rows: &'a R,
    pub(crate) diagonal: &'a [f64],
}

impl<R: Rows> System<'_, R> {
    /// The sum of the entries of a row that `wanted` lets through, each times the value of its column.
    #[inline(always)]
    fn sum(&self, row: usize, values: &[f64], wanted: impl Fn(usize) -> bool) -> f64 {
        self.rows.row(row).filter(|&(column, _)| wanted(column)).map(|(column, entry)| entry * values[column]).sum()
    }

    /// Moves `x` towards the solution of this system with right side `b`, by so many steps at most. Gives whether all
    /// values are finite; where not, `x` is left as it was.
    pub(crate) fn improve(&self, b: &[f64], x: &mut [f64], steps: usize) -> bool {
        let n = x.len();
        let residual = Mat::from_fn(n, 1, |i, _| b[i] + self.sum(i, x, |_| true) - self.diagonal[i] * x[i]);
        let mut correction = Mat::<f64>::zeros(n, 1);
        let (none, sweep) = (IdentityPrecond { dim: n }, Sweep(self));
        let mut memory = MemBuffer::new(bicgstab_scratch::<f64>(none, &sweep, self, 1, Par::Seq));
        let params = BicgParams {
            // its shortcut for a start from zero leaves the residual unset (faer 0.24.4)
            initial_guess: InitialGuessStatus::MaybeNonZero,
            rel_tolerance: ENOUGH,
            max_iters: steps,
            ..BicgParams::default()
        };
        // what it has when its steps are over, or when it breaks down, is judged by the caller
        let _ = bicgstab(
            correction.as_mut(),
            none,
            &sweep,
            self,
            residual.as_ref(),
            params,
            |_| {},
            Par::Seq,
            MemStack::new(&mut memory),
        );
        let finite = (0..n).all(|i| correction[(i, 0)].is_finite());
        if finite {
            x.iter_mut().enumerate().for_each(|(i, v)| *v += correction[(i, 0)]);
        }
        finite
    }
}

fn values(column: MatRef<'_, f64>) -> &[f64] {
    column.col(0).try_as_col_major().expect("faer's vectors are stored one value after the other").as_slice()
}

fn values_mut(column: MatMut<'_, f64>) -> &mut [f64] {
    column
        .col_mut(0)
        .try_as_col_major_mut()
        .expect("faer's vectors are stored one value after the other")
        .as_slice_mut()
}

impl<R: Rows> LinOp<f64> for System<'_, R> {
    fn apply_scratch(&self, _: usize, _: Par) -> StackReq {
        StackReq::EMPTY
    }

    fn nrows(&self) -> usize {
        self.diagonal.len()
    }

    fn ncols(&self) -> usize {
        self.diagonal.len()
    }

    fn apply(&self, out: MatMut<'_, f64>, x: MatRef<'_, f64>, _: Par, _: &mut MemStack) {
        let (out, x) = (values_mut(out), values(x));
        for (i, value) in out.iter_mut().enumerate() {
            *value = self.diagonal[i] * x[i] - self.sum(i, x, |_| true);
        }
    }

    fn conj_apply(&self, out: MatMut<'_, f64>, x: MatRef<'_, f64>, par: Par, stack: &mut MemStack) {
        self.apply(out, x, par, stack);
    }
}

/// One sweep forth and one back: `(D - L) D^-1 (D - U) x = b` for the triangles `L` and `U` below and above the diagonal.
#[derive(Debug)]
struct Sweep<'a, 'b, R>(&'a System<'b, R>);

impl<R: Rows> LinOp<f64> for Sweep<'_, '_, R> {
    fn apply_scratch(&self, _: usize, _: Par) -> StackReq {
        StackReq::EMPTY
    }

    fn nrows(&self) -> usize {
        self.0.nrows()
    }

    fn ncols(&self) -> usize {
        self.0.ncols()
    }

    fn apply(&self, out: MatMut<'_, f64>, b: MatRef<'_, f64>, _: Par, _: &mut MemStack) {
        let (x, b) = (values_mut(out), values(b));
        let System { diagonal, .. } = self.0;
        for i in 0..x.len() {
            x[i] = (b[i] + self.0.sum(i, x, |column| column < i)) / diagonal[i];
        }
        for i in (0..x.len()).rev() {
            x[i] += self.0.sum(i, x, |column| column > i) / diagonal[i];
        }
    }

    fn conj_apply(&self, out: MatMut<'_, f64>, b: MatRef<'_, f64>, par: Par, stack: &mut MemStack) {
        self.apply(out, b, par, stack);
    }
}

impl<R: Rows> Precond<f64> for Sweep<'_, '_, R> {}
