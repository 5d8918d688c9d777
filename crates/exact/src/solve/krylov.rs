//! BiCGSTAB \[Vorst1992\] for systems on which sweeps converge too slowly.
//!
//! The preconditioner is a symmetric Gauss-Seidel sweep: one forward sweep and one backward sweep \[Saad2003\]. It
//! needs no memory and no settings. BiCGSTAB subtracts, so small values have only an absolute accuracy. The caller
//! therefore adds sweeps and estimates the error.

use crate::solve::rates::Rates;
use crate::watch::Watch;

/// Relative residual at which a round of BiCGSTAB ends: the next round starts from a fresh residual.
const ENOUGH: f64 = 1e-10;

/// The matrix with the entries `diagonal` on its diagonal minus the matrix `rows`.
#[derive(Debug)]
pub(crate) struct System<'a> {
    /// The matrix without its diagonal.
    pub(crate) rows: &'a Rates,
    pub(crate) diagonal: &'a [f64],
}

impl System<'_> {
    /// Returns the sum over the entries of a row whose columns `wanted` selects, each multiplied by the value of its column.
    #[inline(always)]
    fn sum(&self, row: usize, values: &[f64], wanted: impl Fn(usize) -> bool) -> f64 {
        let entries = self.rows.row(row).map(|(column, entry)| (column as usize, entry));
        entries.filter(|&(column, _)| wanted(column)).map(|(column, entry)| entry * values[column]).sum()
    }

    /// Multiplies the matrix by `x`.
    fn times(&self, x: &[f64], out: &mut [f64]) {
        for (i, value) in out.iter_mut().enumerate() {
            *value = self.diagonal[i] * x[i] - self.sum(i, x, |_| true);
        }
    }

    /// Runs one forward and one backward sweep: solves `(D - L) D^-1 (D - U) x = b` for the triangles `L` and `U` below and
    /// above the diagonal.
    fn swept(&self, b: &[f64], x: &mut [f64]) {
        for i in 0..x.len() {
            x[i] = (b[i] + self.sum(i, x, |column| column < i)) / self.diagonal[i];
        }
        for i in (0..x.len()).rev() {
            x[i] += self.sum(i, x, |column| column > i) / self.diagonal[i];
        }
    }

    /// Moves `x` towards the solution of this system with right side `b`, by at most `steps` steps. Returns true if all
    /// values are finite; if not, `x` is unchanged.
    pub(crate) fn improve(&self, b: &[f64], x: &mut [f64], steps: usize, watch: &dyn Watch) -> bool {
        let n = x.len();
        let mut r = vec![0.0; n];
        self.times(x, &mut r);
        r.iter_mut().zip(b).for_each(|(r, b)| *r = b - *r);
        let shadow = r.clone();
        let enough = ENOUGH * dot(&r, &r).sqrt();
        let [mut correction, mut p, mut v, mut t, mut swept] = [(); 5].map(|()| vec![0.0; n]);
        let (mut rho, mut alpha, mut omega) = (1.0, 1.0, 1.0);
        for _ in 0..steps {
            let next = dot(&shadow, &r);
            // the iteration has broken down or converged
            if next == 0.0 || omega == 0.0 || watch.stopped() {
                break;
            }
            let beta = next / rho * (alpha / omega);
            rho = next;
            for i in 0..n {
                p[i] = r[i] + beta * (p[i] - omega * v[i]);
            }
            self.swept(&p, &mut swept);
            self.times(&swept, &mut v);
            alpha = rho / dot(&shadow, &v);
            add(&mut correction, alpha, &swept);
            add(&mut r, -alpha, &v);
            if dot(&r, &r).sqrt() <= enough {
                break;
            }
            self.swept(&r, &mut swept);
            self.times(&swept, &mut t);
            omega = dot(&t, &r) / dot(&t, &t);
            add(&mut correction, omega, &swept);
            add(&mut r, -omega, &t);
            if dot(&r, &r).sqrt() <= enough {
                break;
            }
        }
        let finite = correction.iter().all(|value| value.is_finite());
        if finite {
            add(x, 1.0, &correction);
        }
        finite
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// Adds `factor` times `b` to `a`.
fn add(a: &mut [f64], factor: f64, b: &[f64]) {
    a.iter_mut().zip(b).for_each(|(a, b)| *a += factor * b);
}
