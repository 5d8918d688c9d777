//! The logarithm of the quantile of a gamma distribution, as polynomials with whole coefficients: the same bits on every CPU and GPU.
//!
//! The rows are those of [`NORMAL`](crate::sim::sampler::tables::NORMAL), once for each tail. Derived, with error bounds, in docs/accuracy.md.

use std::f64::consts::LN_2;
use std::sync::{Arc, Mutex, PoisonError};

use crate::estimate::gamma_log_quantile;
use crate::sim::sampler::functions::{is_upper, normal_row};
use crate::sim::sampler::tables::NORMAL_ROWS;

/// Degree of the polynomials.
pub(crate) const GAMMA_DEGREE: usize = 4;
/// Fraction bits of coefficients other than the constant.
const BITS: u32 = 28;
/// A part of the curve: `log2` of the quantile, by the position in the row.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct GammaRow {
    /// As Q32.32.
    constant: i64,
    /// Highest degree first.
    terms: [i32; GAMMA_DEGREE],
}

/// The curve of a shape, first of the lower tail, then of the upper one.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct GammaTable(Vec<GammaRow>);

/// Tables that are kept for further transitions of the same shape; the oldest is dropped first.
static KNOWN: Mutex<Vec<(u64, Arc<GammaTable>)>> = Mutex::new(Vec::new());
const MOST: usize = 256;

impl GammaTable {
    /// Returns the table of a shape, built at its first use.
    pub(crate) fn of(shape: f64) -> Arc<Self> {
        let known = || KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, table)) = known().iter().find(|(bits, _)| *bits == shape.to_bits()) {
            return Arc::clone(table);
        }
        let table = Arc::new(Self::new(shape));
        let mut known = known();
        if known.len() == MOST {
            known.remove(0);
        }
        known.push((shape.to_bits(), Arc::clone(&table)));
        table
    }

    fn new(shape: f64) -> Self {
        let row = |is_above: bool, row: usize| {
            let (zeros, first) = ((row / 8 + 1) as f64, (row % 8) as f64);
            let quantile = |s: f64| {
                let tail = libm::exp2(-zeros) * (1.0 - (first + s) / 16.0);
                gamma_log_quantile(shape, tail, is_above) / LN_2
            };
            GammaRow::new(&interpolated(quantile, GAMMA_DEGREE))
        };
        // no draw reads the last 8 rows
        let tail = |is_above| {
            (0..NORMAL_ROWS).map(move |i| if i < NORMAL_ROWS - 8 { row(is_above, i) } else { GammaRow::default() })
        };
        Self(tail(false).chain(tail(true)).collect())
    }

    /// `log2` of a draw with scale 1, as Q32.32.
    #[inline(always)]
    pub(crate) fn draw(&self, bits: u64) -> i64 {
        let (row, s) = normal_row(bits);
        self.gamma(is_upper(bits), row, s)
    }

    /// `log2` of the quantile at a place in the upper or lower tail, as Q32.32.
    #[inline(always)]
    pub(crate) fn gamma(&self, upper: bool, row: u32, s: u32) -> i64 {
        let row = self.0[usize::from(upper) * NORMAL_ROWS + (row as usize & (NORMAL_ROWS - 1))];
        let sum = row.terms.iter().fold(0, |sum, term| term + high_signed(sum, s));
        row.constant + (i64::from(high_signed(sum, s)) << (32 - BITS))
    }

    /// The rows as a device reads them: the constant, low word first, then the terms.
    #[cfg(feature = "gpu")]
    pub(crate) fn words(&self) -> impl Iterator<Item = u32> {
        self.0.iter().flat_map(|row| {
            let constant = row.constant.cast_unsigned();
            let mut words = [constant as u32, (constant >> 32) as u32, 0, 0, 0, 0];
            for (word, term) in words[2..].iter_mut().zip(row.terms) {
                *word = term.cast_unsigned();
            }
            words
        })
    }
}

impl GammaRow {
    fn new(coefficients: &[f64]) -> Self {
        let constant = (coefficients[0] * (1_u64 << 32) as f64).round() as i64;
        let mut terms = [0; GAMMA_DEGREE];
        for (term, coefficient) in terms.iter_mut().zip(coefficients[1..].iter().rev()) {
            *term = (coefficient * f64::from(1 << BITS)).round() as i32;
        }
        Self { constant, terms }
    }
}

/// The upper half of the product of a signed and an unsigned number, rounded down.
#[inline(always)]
fn high_signed(a: i32, b: u32) -> i32 {
    ((i64::from(a) * i64::from(b)) >> 32) as i32
}

/// The polynomial of degree `degree` through Chebyshev nodes of `f` between 0 and 1, constant first.
pub(crate) fn interpolated(f: impl Fn(f64) -> f64, degree: usize) -> Vec<f64> {
    let angle = std::f64::consts::PI / (2.0 * degree as f64 + 2.0);
    let nodes: Vec<f64> = (0..=degree).map(|i| (1.0 - libm::cos(angle * (2.0 * i as f64 + 1.0))) / 2.0).collect();
    let mut newton: Vec<f64> = nodes.iter().map(|&x| f(x)).collect();
    for j in 1..=degree {
        for i in (j..=degree).rev() {
            newton[i] = (newton[i] - newton[i - 1]) / (nodes[i] - nodes[i - j]);
        }
    }
    let mut sum = vec![0.0; degree + 1];
    for i in (0..=degree).rev() {
        for j in (0..=degree).rev() {
            sum[j] = if j > 0 { sum[j - 1] } else { newton[i] } - nodes[i] * sum[j];
        }
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::net::GAMMA_SHAPES;

    /// Quantiles at the ends and in the middle of rows, against Newton's method.
    #[test]
    fn a_draw_is_the_quantile_of_its_bits() {
        for shape in [*GAMMA_SHAPES.start(), 0.1, 0.5, 1.0, 2.5, 40.0, *GAMMA_SHAPES.end()] {
            let table = GammaTable::of(shape);
            let mut worst: f64 = 0.0;
            for bit in 0..63 {
                for low in [1_u64 << bit, (1 << bit) + (1 << bit) / 3, (1 << bit) + 31 * ((1 << bit) / 32)] {
                    for bits in [low, !low] {
                        let upper = is_upper(bits);
                        let tail = (if upper { !bits | 1 } else { bits | 1 }) as f64 / 64_f64.exp2();
                        let exact = gamma_log_quantile(shape, tail, upper);
                        let found = table.draw(bits) as f64 / 32_f64.exp2() * LN_2;
                        worst = worst.max((found - exact).abs());
                    }
                }
            }
            assert!(worst < 2e-8 + 1e-8 / shape, "{shape}: {worst:e}");
        }
    }
}
