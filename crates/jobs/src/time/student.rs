//! Student's distribution as a table, for the factor between whole runs.

use std::sync::{Arc, Mutex, PoisonError};

use crate::estimate::{student_quantile, student_tail};
use crate::time::QuantileTable;

/// Distance of the knots of the distribution function near the middle.
const STEP: f64 = 1.0 / 32.0;
/// Number of knots up to [`FAR`].
const KNOTS: usize = 512;
/// Value from which the tail is a power of the value times a smooth function.
const FAR: f64 = 16.0;
/// Number of knots beyond [`FAR`], evenly distributed over its ratio to the value.
const FAR_KNOTS: usize = 64;

/// Student's t distribution.
#[derive(Debug)]
pub(crate) struct Student {
    freedom: f64,
    quantiles: QuantileTable,
    /// Tail probabilities at 0, [`STEP`], … and beyond [`FAR`].
    tails: Vec<f64>,
    /// Tail probabilities beyond [`FAR`], divided by the power of the ratio, by the ratio.
    far: Vec<f64>,
}

/// The tables in use; the number of different degrees of freedom of a study is small.
static KNOWN: Mutex<Vec<Arc<Student>>> = Mutex::new(Vec::new());
/// Maximum number of tables kept; the oldest is dropped first.
const MOST_KNOWN: usize = 16;

impl Student {
    /// Returns the distribution with this many degrees of freedom, at least 1.
    pub(crate) fn with_freedom(freedom: f64) -> Arc<Self> {
        let known = || KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = known().iter().find(|student| student.freedom.to_bits() == freedom.to_bits()) {
            return Arc::clone(found);
        }
        // other threads continue meanwhile; two may build the same table
        let made = Arc::new(Self::new(freedom));
        let mut known = known();
        if known.len() == MOST_KNOWN {
            known.remove(0);
        }
        known.push(Arc::clone(&made));
        made
    }

    fn new(freedom: f64) -> Self {
        // the lower tail, because a probability near 1 has fewer digits
        let size = |tail: f64| -student_quantile(tail, freedom);
        let far = |knot: usize| {
            let ratio = (knot as f64).max(0.25) / FAR_KNOTS as f64;
            let power = libm::pow(ratio, freedom);
            if power > 0.0 { student_tail(FAR / ratio, freedom) / power } else { 0.0 }
        };
        Self {
            freedom,
            quantiles: QuantileTable::new(|tail, above| if above { size(tail) } else { -size(tail) }),
            tails: (0..=KNOTS + 2).map(|knot| student_tail(knot as f64 * STEP, freedom)).collect(),
            far: (0..=FAR_KNOTS + 2).map(far).collect(),
        }
    }

    /// Returns the value that a random word draws.
    pub(crate) fn draw(&self, word: u32) -> f64 {
        self.quantiles.draw(word)
    }

    /// Returns the probability of a value of at most `t`. Absolute error below 1e-7.
    pub(crate) fn cdf(&self, t: f64) -> f64 {
        let size = t.abs();
        let tail = if size < FAR {
            between(&self.tails, size / STEP)
        } else {
            let ratio = FAR / size;
            between(&self.far, ratio * FAR_KNOTS as f64) * libm::pow(ratio, self.freedom)
        };
        if t > 0.0 { 1.0 - tail } else { tail }
    }
}

/// Returns the value between knots, by the cubic through the four around `at`.
fn between(knots: &[f64], at: f64) -> f64 {
    // `as` is fine: rounds down; the first and the last cubic also serve the intervals at the ends
    let first = (at as usize).saturating_sub(1).min(knots.len() - 4);
    let x = at - first as f64;
    let [a, b, c, d] = [knots[first], knots[first + 1], knots[first + 2], knots[first + 3]];
    let (one, two, three) = (x - 1.0, x - 2.0, x - 3.0);
    -a * one * two * three / 6.0 + 0.5 * b * x * two * three - 0.5 * c * x * one * three + d * x * one * two / 6.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::uniform;

    #[test]
    fn the_tables_are_the_distribution() {
        for freedom in [1.0, 2.5, 4.0, 30.0, 1e6] {
            let student = Student::with_freedom(freedom);
            for t in [0.0, 0.001, 0.01, 0.7, 3.21, 15.99, 16.01, 20.0, 99.0, 1e4, 1e9, f64::INFINITY] {
                let tail = if t.is_finite() { student_tail(t, freedom) } else { 0.0 };
                assert!((student.cdf(-t) - tail).abs() < 1e-7, "{freedom} {t}: {} {tail}", student.cdf(-t));
                assert!((student.cdf(t) - (1.0 - tail)).abs() < 1e-7, "{freedom} {t}");
            }
            for word in [0, 1, 77, 1 << 20, 1 << 30, (1 << 31) - 1, 1 << 31, u32::MAX / 7 * 6, u32::MAX] {
                let exact = student_quantile(uniform(word), freedom);
                // a probability near 1 has 53 digits only
                assert!((student.draw(word) - exact).abs() <= 1e-5 * exact.abs() + 1e-9, "{freedom} {word}: {exact}");
            }
        }
        assert!(Arc::ptr_eq(&Student::with_freedom(4.0), &Student::with_freedom(4.0)));
    }
}
