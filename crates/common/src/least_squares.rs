//! Least squares with few unknowns.

/// The normal equations of weighted least squares.
#[derive(Clone, Debug)]
pub struct Normal {
    size: usize,
    /// Lower triangle of the products of the columns, by rows.
    products: Vec<f64>,
    right: Vec<f64>,
}

impl Normal {
    /// Returns equations for this number of unknowns.
    pub fn new(size: usize) -> Self {
        Self { size, products: vec![0.0; size * size], right: vec![0.0; size] }
    }

    /// Adds an observation: the sum of the unknowns times `row` is `value`, with this weight.
    pub fn add(&mut self, row: &[f64], value: f64, weight: f64) {
        for (i, x) in row.iter().map(|x| x * weight).enumerate() {
            self.right[i] += x * value;
            for (product, y) in self.products[i * self.size..].iter_mut().zip(&row[..=i]) {
                *product += x * y;
            }
        }
    }

    /// Adds an observation that depends on few unknowns, each with its factor.
    pub fn add_few(&mut self, row: &[(usize, f64)], value: f64) {
        for &(i, x) in row {
            self.right[i] += x * value;
            for &(j, y) in row.iter().filter(|(j, _)| *j <= i) {
                self.products[i * self.size + j] += x * y;
            }
        }
    }

    /// Returns the unknowns, by Cholesky's method; none without observations. `ridge` is the share of the diagonal that is added to it, so that
    /// unknowns that no observation tells apart share their part. An unknown without observations is 0.
    pub fn solved(mut self, ridge: f64) -> Option<Vec<f64>> {
        let n = self.size;
        if self.products.iter().all(|product| *product == 0.0) {
            return None;
        }
        for i in 0..n {
            for j in 0..=i {
                let dot: f64 = (0..j).map(|k| self.products[i * n + k] * self.products[j * n + k]).sum();
                let own = self.products[i * n + j];
                self.products[i * n + j] = if i == j {
                    let rest = own * (1.0 + ridge) - dot;
                    if own > 0.0 { rest.max(own * ridge).sqrt() } else { 1.0 }
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
        x.iter().all(|value| value.is_finite()).then_some(x)
    }
}

/// Returns the least squares of `rows` times unknowns that are not negative, by trying each set of unknowns that are 0; none without observations.
/// Each row has the same length, at most a few.
pub fn not_negative(rows: &[(Vec<f64>, f64)]) -> Option<Vec<f64>> {
    let size = rows.first()?.0.len();
    let mut best: Option<(f64, Vec<f64>)> = None;
    let mut sets: Vec<u32> = (1..1 << size).collect();
    // of equal fits, the one with the fewest terms
    sets.sort_by_key(|kept: &u32| kept.count_ones());
    let rounding = 1e-18 * rows.iter().map(|(_, value)| value * value).sum::<f64>();
    for kept in sets {
        let columns: Vec<usize> = (0..size).filter(|column| kept & (1 << column) != 0).collect();
        let mut sums = Normal::new(columns.len());
        for (row, value) in rows {
            let row: Vec<f64> = columns.iter().map(|&column| row[column]).collect();
            sums.add(&row, *value, 1.0);
        }
        let Some(found) = sums.solved(1e-12).filter(|found| found.iter().all(|value| *value >= 0.0)) else { continue };
        let mut all = vec![0.0; size];
        columns.iter().zip(found).for_each(|(&column, value)| all[column] = value);
        let miss = |(row, value): &(Vec<f64>, f64)| {
            let sum: f64 = row.iter().zip(&all).map(|(x, factor)| x * factor).sum();
            (sum - value) * (sum - value)
        };
        let misses: f64 = rows.iter().map(miss).sum();
        if best.as_ref().is_none_or(|(least, _)| misses < least * (1.0 - 1e-9) - rounding) {
            best = Some((misses, all));
        }
    }
    best.map(|(_, all)| all)
}

/// Maximum number of steps of [`minimum`].
const MOST_STEPS: usize = 100;
/// The search ends if a step saves a smaller share of the sum of squares.
const WORTH: f64 = 1e-7;

/// A difference between a model and what was seen, with its slopes.
#[derive(Clone, Debug, Default)]
pub struct Miss {
    /// The difference.
    pub value: f64,
    /// Derivatives by the unknowns that it depends on.
    pub slopes: Vec<(usize, f64)>,
}

/// Returns unknowns near `start` that minimise the sum of the squares of `misses`, by the method of Levenberg and Marquardt.
pub fn minimum(start: Vec<f64>, misses: impl Fn(&[f64]) -> Vec<Miss>) -> Vec<f64> {
    let squares = |misses: &[Miss]| misses.iter().map(|miss| miss.value * miss.value).sum::<f64>();
    let mut at = start;
    let mut now = misses(&at);
    let mut damping = 1e-3;
    for _ in 0..MOST_STEPS {
        let mut sums = Normal::new(at.len());
        now.iter().for_each(|miss| sums.add_few(&miss.slopes, -miss.value));
        let mut saved = 0.0;
        while damping < 1e12 {
            let Some(step) = sums.clone().solved(damping) else { break };
            let moved: Vec<f64> = at.iter().zip(&step).map(|(x, step)| x + step).collect();
            let there = misses(&moved);
            let (before, after) = (squares(&now), squares(&there));
            if after < before {
                saved = (before - after) / before;
                (at, now, damping) = (moved, there, (0.3 * damping).max(1e-12));
                break;
            }
            damping *= 10.0;
        }
        if saved <= WORTH {
            break;
        }
    }
    at
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
            sums.add(&[1.0, a, b, 0.0], 3.0 - 2.0 * a + 0.5 * b, 1.0 + a);
        }
        let found = sums.solved(1e-12).unwrap();
        for (found, exact) in found.iter().zip([3.0, -2.0, 0.5, 0.0]) {
            assert!((found - exact).abs() < 1e-9, "{found} {exact}");
        }
        assert!(Normal::new(2).solved(1e-6).is_none());
    }

    #[test]
    fn a_negative_part_is_left_out() {
        // 5 - x, for which the best slope that is not negative is 0
        let rows: Vec<_> = (0..4).map(|i| (vec![1.0, f64::from(i)], 5.0 - f64::from(i))).collect();
        let found = not_negative(&rows).unwrap();
        assert!((found[0] - 3.5).abs() < 1e-9 && found[1] == 0.0, "{found:?}");
        let rows: Vec<_> = (0..4).map(|i| (vec![1.0, f64::from(i)], 5.0 + 2.0 * f64::from(i))).collect();
        let found = not_negative(&rows).unwrap();
        assert!((found[0] - 5.0).abs() < 1e-9 && (found[1] - 2.0).abs() < 1e-9, "{found:?}");
        assert_eq!(not_negative(&[]), None);
        // two points fit several pairs of terms exactly: the first pair is taken, whatever the rounding
        for (a, b) in [(400.0, 230.0), (397.0, 229.0)] {
            let row = |m: f64, time: f64| (vec![1.0 / time, 1.0 / (m * time), m.ln() / time], 1.0);
            let found = not_negative(&[row(2.0, a), row(4.0, b)]).unwrap();
            assert!(found[1] > 0.0 && found[2] == 0.0, "{found:?}");
        }
    }

    #[test]
    fn a_curve_that_is_not_linear_is_found() {
        // a + b m^-p
        let exact = [3.0_f64, 40.0, 1.3];
        let misses = |unknowns: &[f64]| {
            let of = |m: f64| {
                let part = m.powf(-unknowns[2]);
                let [found, true_one] = [unknowns[0] + unknowns[1] * part, exact[0] + exact[1] * m.powf(-exact[2])];
                let slopes = [1.0, part, -unknowns[1] * part * m.ln()].map(|slope| slope / true_one);
                Miss { value: found / true_one - 1.0, slopes: slopes.into_iter().enumerate().collect() }
            };
            [1.0, 2.0, 4.0, 8.0, 16.0].map(of).to_vec()
        };
        let found = minimum(vec![1.0, 20.0, 1.0], misses);
        for (found, exact) in found.iter().zip(exact) {
            assert!((found / exact - 1.0).abs() < 1e-4, "{found} {exact}");
        }
    }
}
