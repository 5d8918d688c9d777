//! Poisson probabilities for uniformisation, with a bound of the truncation error.
//!
//! The weights grow from the mode by ratios and are scaled to sum to 1, as by Fox and Glynn \[FoxGlynn1988\]. The
//! geometric bound of each tail determines where the weights end. This needs no tables of constants and no special case
//! for small means \[Jansen2011\]. Weights relative to the weight of the mode can be as small as 1e-300, so no
//! underflow occurs for any feasible mean.

/// The probabilities of a Poisson distribution between two numbers, which sum to 1.
#[derive(Clone, Debug, PartialEq)]
pub struct PoissonWindow {
    /// The smallest number in the window.
    pub first: usize,
    /// Probabilities from `first` on.
    pub weights: Vec<f64>,
}

impl PoissonWindow {
    /// Returns the distribution with this mean (finite, not negative) without both tails, whose probability together is at most `error`.
    ///
    /// The weights are scaled to sum to 1. Their absolute errors sum to at most twice `error`, plus the rounding errors
    /// of the products that lead from the mode to each weight: below 1e-12 for means up to 1e7.
    pub fn new(mean: f64, error: f64) -> Self {
        // the weights beyond this one sum to less than a geometric series with this ratio
        Self::grow(mean, |weight, ratio, total| ratio < 1.0 && weight * ratio / (1.0 - ratio) <= 0.5 * error * total)
    }

    /// Returns the distribution with this mean (finite, not negative) without the numbers whose probability is below the largest
    /// probability times `share`.
    pub fn above_share(mean: f64, share: f64) -> Self {
        Self::grow(mean, |weight, ratio, _| weight * ratio < share)
    }

    /// Computes weights from the mode outwards, until `is_enough` holds for the last weight, the ratio of the next weight to it,
    /// and the sum of all weights so far.
    fn grow(mean: f64, is_enough: impl Fn(f64, f64, f64) -> bool) -> Self {
        let mode = mean.floor() as usize;
        let mut weights = Vec::new();
        let (mut weight, mut n, mut total) = (1.0, mode, 1.0);
        while n > 0 {
            let ratio = n as f64 / mean;
            if is_enough(weight, ratio, total) {
                break;
            }
            weight *= ratio;
            weights.push(weight);
            total += weight;
            n -= 1;
        }
        let first = n;
        weights.reverse();
        weights.push(1.0);
        (weight, n) = (1.0, mode);
        loop {
            let ratio = mean / (n + 1) as f64;
            if is_enough(weight, ratio, total) {
                break;
            }
            n += 1;
            weight *= ratio;
            weights.push(weight);
            total += weight;
        }
        let total = ascending_sum(&weights, mode - first);
        weights.iter_mut().for_each(|w| *w /= total);
        Self { first, weights }
    }

    /// The largest number in the window.
    pub fn last(&self) -> usize {
        self.first + self.weights.len() - 1
    }

    /// The probability of `n`; 0 outside the window.
    #[inline]
    pub fn weight(&self, n: usize) -> f64 {
        n.checked_sub(self.first).and_then(|i| self.weights.get(i)).copied().unwrap_or(0.0)
    }

    /// Returns the probability of a number greater than n, for each n of the window, from n = `first` on.
    pub fn above(&self) -> Vec<f64> {
        let mut above = vec![0.0; self.weights.len()];
        let mut sum = 0.0;
        for (i, weight) in self.weights.iter().enumerate().rev() {
            above[i] = sum;
            sum += weight;
        }
        above
    }

    /// The mean of `values` (numbered from 0) under the distribution; beyond the end of `values`, the last value is used.
    pub fn average(&self, values: &[f64]) -> f64 {
        let Some(&tail) = values.last() else { return 0.0 };
        let inside = values.get(self.first..).unwrap_or_default();
        let shared = inside.len().min(self.weights.len());
        let sum: f64 = inside.iter().zip(&self.weights).map(|(v, w)| v * w).sum();
        sum + tail * self.weights[shared..].iter().sum::<f64>()
    }
}

/// The sum of weights that decrease on both sides of `mode`, added smallest first to avoid rounding errors.
fn ascending_sum(weights: &[f64], mode: usize) -> f64 {
    let (below, from_mode) = weights.split_at(mode);
    let (mut below, mut above) = (below.iter().peekable(), from_mode.iter().rev().peekable());
    let mut sum = 0.0;
    while let Some(next) = match (below.peek(), above.peek()) {
        (Some(low), Some(high)) if low <= high => below.next(),
        (Some(_), None) => below.next(),
        _ => above.next(),
    } {
        sum += next;
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_means_have_their_closed_form() {
        for mean in [0.0, 1e-12, 0.3, 1.0, 7.5, 40.0] {
            let window = PoissonWindow::new(mean, 1e-15);
            let mut exact = f64::exp(-mean);
            for n in 0..200 {
                let error = (window.weight(n) - exact).abs();
                assert!(error < 1e-15 && (window.weight(n) == 0.0 || error < 2e-13 * exact), "{mean} {n}");
                exact *= mean / (n + 1) as f64;
            }
        }
    }

    #[test]
    fn large_means_have_their_moments() {
        for mean in [1e3, 123_456.7, 1e7] {
            let window = PoissonWindow::new(mean, 1e-14);
            let numbers = || (window.first..).map(|n| n as f64);
            let total: f64 = window.weights.iter().sum();
            let first: f64 = numbers().zip(&window.weights).map(|(n, w)| (n - mean) * w).sum();
            let second: f64 = numbers().zip(&window.weights).map(|(n, w)| (n - mean).powi(2) * w).sum();
            assert!((total - 1.0).abs() < 1e-13 && first.abs() < 1e-9 * mean.sqrt(), "{mean}: {total} {first}");
            assert!((second / mean - 1.0).abs() < 1e-9, "{mean}: {second}");
            // the mode has the weight that Stirling's series gives
            let n = mean.floor();
            let ln = n * (mean / n).ln() + (n - mean) - 0.5 * (std::f64::consts::TAU * n).ln() - 1.0 / (12.0 * n);
            assert!((window.weight(n as usize) / ln.exp() - 1.0).abs() < 1e-9, "{mean}");
            assert!(window.weights.len() < 20 * mean.sqrt() as usize, "{mean}: {}", window.weights.len());
        }
    }

    #[test]
    fn the_truncated_poisson_mass_is_below_the_bound() {
        let (wide, narrow) = (PoissonWindow::new(50.0, 1e-16), PoissonWindow::new(50.0, 1e-3));
        let inside: f64 = (narrow.first..=narrow.last()).map(|n| wide.weight(n)).sum();
        assert!(1.0 - inside <= 1e-3 && 1.0 - inside > 1e-4, "{inside}");
    }

    #[test]
    fn tails_and_averages_add_up() {
        let window = PoissonWindow::new(12.0, 1e-15);
        let above = window.above();
        for (i, tail) in above.iter().enumerate() {
            let sum: f64 = window.weights[i + 1..].iter().sum();
            assert!((tail - sum).abs() < 1e-15);
        }
        // values that keep their last value
        let values: Vec<f64> = (0..10).map(f64::from).collect();
        let exact: f64 = (0..100).map(|n| window.weight(n) * n.min(9) as f64).sum();
        assert!((window.average(&values) - exact).abs() < 1e-14);
    }
}
