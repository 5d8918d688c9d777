//! Bootstrap intervals for numbers that any formula computes from independent rows.

use rayon::prelude::*;

use crate::estimate::{LEVEL, Measured};
use crate::sensitivity::design;

/// Settings of the bootstrap intervals.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bootstrap {
    /// Number of resamples of the rows. Default 1,000.
    pub resamples: u32,
    /// Confidence level, in (0, 1). Default [`LEVEL`].
    pub level: f64,
    /// Seed of the draws. Default 0.
    pub seed: u64,
}

impl Default for Bootstrap {
    fn default() -> Self {
        Self { resamples: 1000, level: LEVEL, seed: 0 }
    }
}

impl Bootstrap {
    /// Returns the numbers that `formula` computes from rows, each with its interval.
    ///
    /// ```text
    /// value ± z(level) · (standard deviation of the resampled values)
    /// ```
    ///
    /// Each resample draws `rows` rows with replacement, and `formula` receives the positions of the
    /// drawn rows. Approximate: accurate if the resampled values are nearly normal, which needs more than a
    /// few rows. Source: \[Efron1982\].
    pub fn effects(&self, rows: usize, formula: impl Fn(&[usize]) -> Vec<f64> + Sync) -> Vec<Measured> {
        let all: Vec<usize> = (0..rows).collect();
        let values = formula(&all);
        let draw = |resample: u32| -> Vec<usize> {
            (0..rows).map(|i| design::resample(self.seed, resample.into(), i as u32, rows)).collect()
        };
        let resampled: Vec<Vec<f64>> =
            (0..self.resamples).into_par_iter().map(|resample| formula(&draw(resample))).collect();
        let reach = crate::estimate::normal_quantile(0.5 + 0.5 * self.level);
        let effect = |(i, &value): (usize, &f64)| {
            let column: crate::estimate::FloatMoments =
                resampled.iter().map(|values| values[i]).filter(|value| value.is_finite()).collect();
            let half = reach * column.variance().unwrap_or(0.0).sqrt();
            Measured::between(value, Some(value - half), Some(value + half))
        };
        values.iter().enumerate().map(effect).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The standard error of a mean is known; the bootstrap agrees with it.
    #[test]
    fn the_interval_of_a_mean_is_the_normal_one() {
        let values: Vec<f64> = (0..200).map(f64::from).collect();
        let mean = |rows: &[usize]| vec![rows.iter().map(|&i| values[i]).sum::<f64>() / rows.len() as f64];
        let bootstrap = Bootstrap { resamples: 4000, ..Bootstrap::default() };
        let found = &bootstrap.effects(values.len(), mean)[0];
        let exact = 1.644_854 * ((200.0_f64 * 200.0 - 1.0) / 12.0 / 200.0).sqrt();
        assert_eq!(found.value, 99.5);
        // a standard deviation from 4000 draws has a standard error of 1.1%
        assert!((found.half_width().unwrap() / exact - 1.0).abs() < 0.056, "{found:?} against {exact}");
    }
}
