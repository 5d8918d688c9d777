//! Results that are estimates: several independent values of one number.
//!
//! Implements squares, products and sizes of such results, corrected for the noise of the values.

use serde::{Deserialize, Serialize};

use crate::ends::{owned, without_width};
use crate::estimate::{EstimateError, FloatMoments, Measured};

/// Independent values of one number, one per group of replications; a single value is exact. Group g has the same random numbers at
/// every point of a row.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Response(Vec<f64>);

impl Response {
    /// Returns a result without noise.
    pub fn exact(value: f64) -> Self {
        Self(vec![value])
    }

    /// Returns a result with one value per group; none without a group.
    pub fn of_groups(values: Vec<f64>) -> Option<Self> {
        (!values.is_empty()).then_some(Self(values))
    }

    /// Returns one value per group.
    pub fn groups(&self) -> &[f64] {
        &self.0
    }

    /// Returns the mean of the groups.
    pub fn mean(&self) -> f64 {
        self.0.iter().sum::<f64>() / self.0.len() as f64
    }

    /// Returns the difference to another result, group by group.
    pub(in crate::sensitivity) fn minus(&self, other: &Self) -> Self {
        Self(self.0.iter().zip(&other.0).map(|(a, b)| a - b).collect())
    }

    /// Returns the result multiplied by a factor.
    pub(in crate::sensitivity) fn times(&self, factor: f64) -> Self {
        Self(self.0.iter().map(|value| value * factor).collect())
    }

    /// Returns the variance of the mean, which is the contribution of noise to the mean's square.
    ///
    /// ```text
    /// s² / G,   s² = Σ (x_g − x̄)² / (G − 1);   0 for an exact answer
    /// ```
    pub fn noise(&self) -> f64 {
        covariance_of_means(self, self)
    }

    /// Returns an unbiased estimate of the square of the true value: x̄² − s²/G, the mean of x_g x_h over g ≠ h. May be below 0.
    pub(in crate::sensitivity) fn square(&self) -> f64 {
        let mean = self.mean();
        mean * mean - self.noise()
    }

    /// Returns an unbiased estimate of the product of the true values of this result and `other`, even if the groups of
    /// the two results depend on each other: the mean of x_g y_h over g ≠ h.
    pub(in crate::sensitivity) fn product(&self, other: &Self) -> f64 {
        self.mean() * other.mean() - covariance_of_means(self, other)
    }

    /// Returns an estimate of the absolute value: the mean over the groups, each multiplied by the sign of the mean of
    /// the other groups. The expectation is 0 if the true value is 0, it is the true absolute value if the sign is
    /// certain, and it never exceeds the true absolute value. So noise is not mistaken for an effect.
    pub(in crate::sensitivity) fn size(&self) -> f64 {
        if let [exact] = self.0[..] {
            return exact.abs();
        }
        let sum: f64 = self.0.iter().sum();
        let signed = |&value: &f64| {
            let others = sum - value;
            // signum of 0 is 1
            if others == 0.0 { 0.0 } else { value * others.signum() }
        };
        self.0.iter().map(signed).sum::<f64>() / self.0.len() as f64
    }
}

fn covariance_of_means(a: &Response, b: &Response) -> f64 {
    let groups = a.0.len();
    if groups < 2 {
        return 0.0;
    }
    let (mean_a, mean_b) = (a.mean(), b.mean());
    let sum: f64 = a.0.iter().zip(&b.0).map(|(x, y)| (x - mean_a) * (y - mean_b)).sum();
    sum / ((groups - 1) * groups) as f64
}

/// Returns the change from one point to another, with an interval by Student's t over the groups; for exact results the
/// interval has width 0.
///
/// # Errors
///
/// The errors of [`FloatMoments::mean_estimate`].
pub fn one_at_a_time(from: &Response, to: &Response, level: f64) -> Result<Measured, EstimateError> {
    let difference = to.minus(from);
    if let [exact] = difference.0[..] {
        return Ok(without_width(exact));
    }
    let moments: FloatMoments = difference.0.iter().copied().collect();
    Ok(owned(moments.mean_estimate(level)?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{SeedableRng, rngs::StdRng};
    use rand_distr::{Distribution, Normal};

    /// Over many noisy results, squares and products average to the true values, and sizes average to 0 if there is no effect.
    #[test]
    fn noise_adds_nothing_to_squares_products_and_sizes() {
        let mut rng = StdRng::seed_from_u64(1);
        let noise = Normal::new(0.0, 3.0).unwrap();
        let answer = |truth: f64, rng: &mut StdRng| {
            Response::of_groups((0..5).map(|_| truth + noise.sample(rng)).collect()).unwrap()
        };
        let [mut square, mut naive, mut product, mut none, mut size] = [FloatMoments::default(); 5];
        for _ in 0..200_000 {
            let a = answer(1.5, &mut rng);
            square.push(a.square());
            naive.push(a.mean() * a.mean());
            // the same noise in both factors
            let b = a.minus(&Response(vec![2.0; 5]));
            product.push(a.product(&b));
            none.push(answer(0.0, &mut rng).size());
            size.push(answer(9.0, &mut rng).size());
        }
        let near = |moments: &FloatMoments, truth: f64| {
            let estimate = moments.mean_estimate(0.95).unwrap();
            let error = estimate.half_width / 1.96;
            assert!((estimate.value - truth).abs() < 5.0 * error && error < 0.02, "{estimate:?} against {truth}");
        };
        near(&square, 2.25);
        near(&naive, 2.25 + 9.0 / 5.0);
        near(&product, 1.5 * -0.5);
        near(&none, 0.0);
        near(&size, 9.0);
        assert_eq!((Response::exact(-2.0).size(), Response::exact(-2.0).square()), (2.0, 4.0));
    }
}
