//! Sobol's indices: the share of a result's variance that each factor explains, alone and with interactions.
//!
//! Implements the estimators; every square and product is corrected for the noise of replications.

use crate::estimate::Measured;
use crate::sensitivity::SensitivityError;
use crate::sensitivity::bootstrap::Bootstrap;
use crate::sensitivity::response::Response;

/// Answers at the points of a row of [`saltelli`](crate::sensitivity::design::saltelli).
#[derive(Clone, Debug, PartialEq)]
pub struct SobolRow {
    /// The answer at point A.
    pub a: Response,
    /// The answer at point B.
    pub b: Response,
    /// The answer at point A with one coordinate taken from B, factor by factor.
    pub mixed: Vec<Response>,
}

/// Contribution of a factor to the variance of the answer, with all factors uniform over their ranges.
#[derive(Clone, Debug, PartialEq)]
pub struct VarianceShare {
    /// S, the share of the variance that disappears on average if the factor is fixed.
    pub first: Measured,
    /// S_T, the share of the variance that remains on average if all other factors are fixed: S and every interaction with the factor.
    pub total: Measured,
    /// √(S_T V), the effect of the factor on the answer, as a standard deviation in the unit of the answer.
    pub deviation: Measured,
}

/// Sobol's indices of all factors.
#[derive(Clone, Debug, PartialEq)]
pub struct SobolIndices {
    /// Mean answer over the ranges.
    pub mean: Measured,
    /// V, variance of the true answer over the ranges, without the noise of replications.
    pub variance: Measured,
    /// Mean variance of an answer due to replications; without correction, it would be part of V and look like interaction.
    pub noise: f64,
    /// The contribution of each factor.
    pub factors: Vec<VarianceShare>,
}

/// Minimum number of rows.
const FEWEST: usize = 8;

/// Contribution of a row to the sums.
struct Parts {
    /// Answers at A and B, and their noise.
    values: [f64; 2],
    noise: [f64; 2],
    /// Per factor: the square of f(A) − f(A_B), and the answers at the mixed points minus the answer at A, for the product with B.
    squares: Vec<f64>,
    products: Vec<[f64; 2]>,
}

/// Computes the indices from rows of answers.
///
/// ```text
/// V = mean of the sample variances of f(A) and f(B), minus the mean noise
/// S_i V = mean (f(B) − c) (f(A_B^i) − f(A)),   S_Ti V = mean (f(A) − f(A_B^i))² / 2
/// ```
///
/// c is the mean answer. Squares and products are means over pairs of different groups of replications, so their
/// expectations are the same as for noise-free answers. So noise does not bias these squares and products, with or
/// without common random numbers. The indices are ratios and have a bias of order 1/rows. Sources: S_i \[Saltelli2010,
/// Table 2 b\], S_Ti \[Jansen1999\]; the treatment of noise is derived in docs/sensitivity.md. Intervals come from a
/// bootstrap over rows, which must be independent of each other.
///
/// # Errors
///
/// [`SensitivityError`].
pub fn sobol_indices(rows: &[SobolRow], bootstrap: &Bootstrap) -> Result<SobolIndices, SensitivityError> {
    if rows.len() < FEWEST {
        return Err(SensitivityError::TooFewRows { got: rows.len(), need: FEWEST });
    }
    let (factors, groups) = (rows[0].mixed.len(), rows[0].a.groups().len());
    let parts: Vec<Parts> = rows.iter().map(|row| row.parts(factors, groups)).collect::<Result<_, _>>()?;
    let formula = |drawn: &[usize]| numbers(&parts, drawn, factors);
    let variance = formula(&(0..rows.len()).collect::<Vec<_>>())[1];
    let largest = parts.iter().flat_map(|parts| parts.values).fold(0.0, |largest: f64, value| largest.max(value.abs()));
    if variance <= (largest * f64::EPSILON).powi(2) {
        return Err(SensitivityError::Still);
    }
    let effects = bootstrap.effects(rows.len(), formula);
    let share = |three: &[Measured]| VarianceShare {
        first: three[0].clone(),
        total: three[1].clone(),
        deviation: three[2].clone(),
    };
    let noise = parts.iter().map(|parts| 0.5 * (parts.noise[0] + parts.noise[1])).sum::<f64>() / rows.len() as f64;
    let factors = effects[2..].chunks(3).map(share).collect();
    Ok(SobolIndices { mean: effects[0].clone(), variance: effects[1].clone(), noise, factors })
}

/// Mean and variance of the answer, then S, S_T and √(S_T V) of each factor.
fn numbers(parts: &[Parts], drawn: &[usize], factors: usize) -> Vec<f64> {
    let count = drawn.len() as f64;
    let mean_of = |part: &dyn Fn(&Parts) -> f64| drawn.iter().map(|&row| part(&parts[row])).sum::<f64>() / count;
    let means = [0, 1].map(|i| mean_of(&|parts| parts.values[i]));
    let centre = 0.5 * (means[0] + means[1]);
    let variance = [0, 1].map(|i| {
        let squares = mean_of(&|parts| (parts.values[i] - means[i]).powi(2));
        squares * count / (count - 1.0) - mean_of(&|parts| parts.noise[i])
    });
    let variance = 0.5 * (variance[0] + variance[1]);
    let of_factor = |i: usize| {
        let first = mean_of(&|parts| parts.products[i][0] - centre * parts.products[i][1]);
        let total = 0.5 * mean_of(&|parts| parts.squares[i]);
        [first / variance, total / variance, total.max(0.0).sqrt()]
    };
    [centre, variance].into_iter().chain((0..factors).flat_map(of_factor)).collect()
}

impl SobolRow {
    fn parts(&self, factors: usize, groups: usize) -> Result<Parts, SensitivityError> {
        let answers = || [&self.a, &self.b].into_iter().chain(&self.mixed);
        if self.mixed.len() != factors || answers().any(|answer| answer.groups().len() != groups) {
            return Err(SensitivityError::Uneven);
        }
        if answers().any(|answer| !answer.mean().is_finite()) {
            return Err(SensitivityError::NotFinite);
        }
        let changes: Vec<Response> = self.mixed.iter().map(|mixed| mixed.minus(&self.a)).collect();
        Ok(Parts {
            values: [self.a.mean(), self.b.mean()],
            noise: [self.a.noise(), self.b.noise()],
            squares: changes.iter().map(Response::square).collect(),
            products: changes.iter().map(|change| [self.b.product(change), change.mean()]).collect(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sensitivity::design::saltelli;
    use rand::{SeedableRng, rngs::StdRng};
    use rand_distr::{Distribution, Normal};
    use std::f64::consts::PI;

    fn rows(factors: usize, count: u64, answer: impl Fn(&[f64], u64, u64) -> Response) -> Vec<SobolRow> {
        let row = |row| {
            let mut answers: Vec<Response> =
                (0..).zip(saltelli(factors, 5, row)).map(|(i, place)| answer(&place, row, i)).collect();
            let mixed = answers.split_off(2);
            let [a, b] = answers.try_into().unwrap();
            SobolRow { a, b, mixed }
        };
        (0..count).map(row).collect()
    }

    fn near(found: &Measured, truth: f64, most: f64) {
        let error = found.half_width().unwrap() / 1.96;
        assert!((found.value - truth).abs() < 5.0 * error && error < most, "{found:?} against {truth}, error {error}");
    }

    /// \[Ishigami1990\] with a = 7, b = 0.1, over (−π, π)³.
    fn ishigami(u: &[f64]) -> f64 {
        let x: Vec<f64> = u.iter().map(|u| PI * (2.0 * u - 1.0)).collect();
        x[0].sin() + 7.0 * x[1].sin().powi(2) + 0.1 * x[2].powi(4) * x[0].sin()
    }

    const ISHIGAMI: [[f64; 2]; 3] = [[0.313_905, 0.557_589], [0.442_411, 0.442_411], [0.0, 0.243_684]];

    #[test]
    fn indices_of_ishigamis_function() {
        let rows = rows(3, 20_000, |u, _, _| Response::exact(ishigami(u)));
        let bootstrap = Bootstrap { resamples: 200, ..Bootstrap::default() };
        let found = sobol_indices(&rows, &bootstrap).unwrap();
        for (share, [first, total]) in found.factors.iter().zip(ISHIGAMI) {
            near(&share.first, first, 0.015);
            near(&share.total, total, 0.015);
        }
        near(&found.mean, 3.5, 0.03);
        near(&found.variance, 13.844_588, 0.15);
        assert_eq!(found.noise, 0.0);
    }

    /// A constant added to every answer changes neither shares nor variance. This test fails if answers are not centred.
    #[test]
    fn indices_do_not_depend_on_a_constant() {
        let found = |constant: f64| {
            let rows = rows(3, 500, |u, _, _| Response::exact(constant + ishigami(u)));
            sobol_indices(&rows, &Bootstrap { resamples: 20, ..Bootstrap::default() }).unwrap()
        };
        let (plain, moved) = (found(0.0), found(1000.0));
        let close = |a: &Measured, b: &Measured| {
            (a.value - b.value).abs() < 1e-6 && (a.ends().unwrap()[0] - b.ends().unwrap()[0]).abs() < 1e-6
        };
        assert!(close(&plain.variance, &moved.variance));
        for (a, b) in plain.factors.iter().zip(&moved.factors) {
            assert!(close(&a.first, &b.first) && close(&a.total, &b.total), "{a:?} {b:?}");
        }
    }

    /// The g-function \[Saltelli2010, Eq. 32\]: V_i = 1 / (3 (1 + a_i)²), V = Π (1 + V_i) − 1, S_Ti V = V_i Π_{j ≠ i} (1 + V_j).
    #[test]
    fn indices_of_sobols_g_function() {
        let a = [0.0, 0.5, 3.0, 9.0, 99.0];
        let g = |u: &[f64]| u.iter().zip(a).map(|(u, a)| ((4.0 * u - 2.0).abs() + a) / (1.0 + a)).product();
        let rows = rows(5, 20_000, |u, _, _| Response::exact(g(u)));
        let found = sobol_indices(&rows, &Bootstrap { resamples: 200, ..Bootstrap::default() }).unwrap();
        let parts = a.map(|a: f64| 1.0 / (3.0 * (1.0 + a).powi(2)));
        let all: f64 = parts.iter().map(|v| 1.0 + v).product();
        for (share, v) in found.factors.iter().zip(parts) {
            near(&share.first, v / (all - 1.0), 0.02);
            near(&share.total, v * all / (1.0 + v) / (all - 1.0), 0.02);
        }
        near(&found.variance, all - 1.0, 0.015);
    }

    /// Noise as large as the function itself, independent from point to point, does not change the indices, whereas indices of the plain
    /// means show an interaction that does not exist.
    #[test]
    fn noise_is_not_mistaken_for_interaction() {
        let noise = Normal::new(0.0, 6.0).unwrap();
        let noisy = |u: &[f64], row: u64, point: u64| {
            let mut rng = StdRng::seed_from_u64(1000 * row + point);
            Response::of_groups((0..4).map(|_| ishigami(u) + noise.sample(&mut rng)).collect()).unwrap()
        };
        let rows = rows(3, 20_000, noisy);
        let bootstrap = Bootstrap { resamples: 200, ..Bootstrap::default() };
        let found = sobol_indices(&rows, &bootstrap).unwrap();
        for (share, [first, total]) in found.factors.iter().zip(ISHIGAMI) {
            near(&share.first, first, 0.03);
            near(&share.total, total, 0.03);
        }
        assert!((found.noise / 9.0 - 1.0).abs() < 0.02, "{}", found.noise);
        let bare = |answer: &Response| Response::exact(answer.mean());
        let merged: Vec<SobolRow> = rows
            .iter()
            .map(|row| SobolRow { a: bare(&row.a), b: bare(&row.b), mixed: row.mixed.iter().map(bare).collect() })
            .collect();
        let naive = sobol_indices(&merged, &bootstrap).unwrap();
        // (S_T V + 9) / (V + 9)
        near(&naive.factors[2].total, (0.243_684 * 13.844_588 + 9.0) / 22.844_588, 0.02);
        assert!(naive.factors[2].total.ends().unwrap()[0] > 0.45);
        assert!(found.factors[2].total.ends().unwrap()[1] < 0.35);
    }

    #[test]
    fn constant_few_and_infinite_results_are_refused() {
        let still = rows(2, 20, |_, _, _| Response::exact(0.1));
        assert_eq!(sobol_indices(&still, &Bootstrap::default()), Err(SensitivityError::Still));
        assert_eq!(
            sobol_indices(&still[..3], &Bootstrap::default()),
            Err(SensitivityError::TooFewRows { got: 3, need: 8 })
        );
        let infinite = rows(2, 20, |u, _, _| Response::exact(u[0] / 0.0));
        assert_eq!(sobol_indices(&infinite, &Bootstrap::default()), Err(SensitivityError::NotFinite));
    }
}
