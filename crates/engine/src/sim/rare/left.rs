//! The expected remaining time to the goal as a linear function of the marking, by least squares over a few walks.
//!
//! The function only determines the levels: an error makes the estimate of the probability less precise, but not biased.

use crate::compile::{Code, Op};
use crate::net::expr::BinaryOp;
use crate::semantics::Fault;
use crate::sim::race::{DirectForm, Observer, Stop};
use crate::sim::rare::levels::{LEVEL_BITS, PILOT, Start, Walks};

/// Number of walks.
const WALKS: u32 = 400;
/// Maximum number of markings of a walk that are used.
const MARKINGS: usize = 64;
/// Maximum number of counters of a net, because the work grows with the square of this number.
const MOST_COUNTERS: usize = 64;
/// The number of the level in the addresses of random words: beyond the levels of the pilot.
const LEVEL: u32 = (1 << LEVEL_BITS) - 1;

/// Markings of a walk at regular intervals, each with the time at which the walk left it.
#[derive(Debug, Default)]
struct Trail {
    seen: Vec<(Vec<u32>, u64)>,
    /// Interval between stored markings.
    stride: usize,
    count: usize,
}

impl Observer for Trail {
    fn begin(&mut self) {
        self.seen.clear();
        (self.stride, self.count) = (1, 0);
    }

    fn pass(&mut self, marking: &[u32], _: u64, to: u64) {
        if self.count.is_multiple_of(self.stride) {
            if self.seen.len() == MARKINGS {
                let mut number = 0;
                self.seen.retain(|_| {
                    number += 1;
                    number % 2 == 1
                });
                self.stride *= 2;
            }
            if self.count.is_multiple_of(self.stride) {
                self.seen.push((marking.to_vec(), to));
            }
        }
        self.count += 1;
    }
}

/// Fits the remaining time \[s\] to walks that `form` runs to the goal; none for nets with many counters, or
/// if no walk reaches the goal.
pub(super) fn fitted(form: &DirectForm<'_>, initial: &[u32], tick: f64) -> Result<Option<Code>, Fault> {
    let counters = initial.len();
    if counters > MOST_COUNTERS {
        return Ok(None);
    }
    let mut sums = Normal::new(counters + 1);
    let start = [Start { marking: initial.to_vec(), now: 0 }];
    let walks = Walks { form, number: PILOT, level: LEVEL, effort: WALKS };
    walks.each(
        Trail::default(),
        &start,
        |_| form.last_tick(),
        |walker, stop| {
            if matches!(stop, Stop::Goal | Stop::Dead) {
                let end = walker.now();
                for (marking, at) in &walker.observer().seen {
                    let row: Vec<f64> = [1.0].into_iter().chain(marking.iter().map(|n| f64::from(*n))).collect();
                    sums.add(&row, (end - at) as f64 * tick);
                }
            }
        },
    )?;
    Ok(sums.solved().map(|factors| linear(&factors)))
}

/// The sum of a constant and of counters times factors, as a code.
fn linear(factors: &[f64]) -> Code {
    let mut ops = vec![Op::Number(factors[0])];
    for (counter, factor) in (0..).zip(&factors[1..]).filter(|(_, factor)| **factor != 0.0) {
        let times = Op::Binary(BinaryOp::Multiply);
        ops.extend([Op::Tokens(counter), Op::Number(*factor), times, Op::Binary(BinaryOp::Add)]);
    }
    Code::new(ops)
}

/// The normal equations of least squares.
struct Normal {
    size: usize,
    /// Lower triangle of the products of the columns, by rows.
    products: Vec<f64>,
    right: Vec<f64>,
}

/// Share of the diagonal that is added to it, so that counters that always change together share one factor.
const RIDGE: f64 = 1e-6;

impl Normal {
    fn new(size: usize) -> Self {
        Self { size, products: vec![0.0; size * size], right: vec![0.0; size] }
    }

    fn add(&mut self, row: &[f64], value: f64) {
        for (i, x) in row.iter().enumerate() {
            self.right[i] += x * value;
            for (product, y) in self.products[i * self.size..].iter_mut().zip(&row[..=i]) {
                *product += x * y;
            }
        }
    }

    /// The factors, by Cholesky's method; none if there are no rows.
    fn solved(mut self) -> Option<Vec<f64>> {
        let n = self.size;
        if self.products[0] == 0.0 {
            return None;
        }
        for i in 0..n {
            for j in 0..=i {
                let dot: f64 = (0..j).map(|k| self.products[i * n + k] * self.products[j * n + k]).sum();
                let own = self.products[i * n + j];
                self.products[i * n + j] = if i == j {
                    // a counter that is always 0 has the factor 0
                    let rest = own * (1.0 + RIDGE) - dot;
                    if own > 0.0 { rest.max(own * RIDGE).sqrt() } else { 1.0 }
                } else {
                    (own - dot) / self.products[j * n + j]
                };
            }
        }
        let mut x = self.right;
        for i in 0..n {
            let dot: f64 = (0..i).map(|k| self.products[i * n + k] * x[k]).sum();
            x[i] = (x[i] - dot) / self.products[i * n + i];
        }
        for i in (0..n).rev() {
            let dot: f64 = (i + 1..n).map(|k| self.products[k * n + i] * x[k]).sum();
            x[i] = (x[i] - dot) / self.products[i * n + i];
        }
        x.iter().all(|factor| factor.is_finite()).then_some(x)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn least_squares_find_a_linear_function() {
        let mut sums = Normal::new(4);
        for i in 0..50 {
            let (a, b) = (f64::from(i % 7), f64::from(i % 5));
            // the last column is always 0
            sums.add(&[1.0, a, b, 0.0], 3.0 - 2.0 * a + 0.5 * b);
        }
        let found = sums.solved().unwrap();
        for (found, exact) in found.iter().zip([3.0, -2.0, 0.5, 0.0]) {
            assert!((found - exact).abs() < 1e-4, "{found} {exact}");
        }
        assert!(Normal::new(2).solved().is_none());
        let code = linear(&found);
        assert!((code.eval(&[1, 2, 9]) - 2.0).abs() < 1e-3);
    }
}
