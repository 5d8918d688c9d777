//! Elementary effects: screening for the settings that matter, along random walks.
//!
//! Implements the estimators of μ\*, μ and σ of \[Morris1991\] and \[Campolongo2007\], corrected for the noise of replications.

use crate::estimate::Measured;
use crate::sensitivity::bootstrap::Bootstrap;
use crate::sensitivity::design::Trajectory;
use crate::sensitivity::response::Response;
use crate::sensitivity::{SensitivityError, between};

/// A walk and its answers, point by point.
#[derive(Clone, Debug, PartialEq)]
pub struct MorrisRow {
    /// The walk.
    pub walk: Trajectory,
    /// One answer per point.
    pub answers: Vec<Response>,
}

/// Effect of a factor over its whole range, in the unit of the result.
#[derive(Clone, Debug, PartialEq)]
pub struct ElementaryEffects {
    /// μ\*, mean size of the effect: how much the factor matters. Biased towards 0 if noise hides the sign of effects, never upwards.
    pub size: Measured,
    /// μ, mean effect with its sign; unbiased. It is far from ±μ\* if the sign of the effect varies.
    pub mean: Measured,
    /// σ, standard deviation of the effect over the walks: 0 for a linear factor without interactions,
    /// otherwise the factor is nonlinear or interacts with others.
    pub spread: Measured,
}

/// Minimum number of walks for a spread and an interval.
const FEWEST: usize = 4;

/// Returns the effects of all factors, in the order of the factors.
///
/// ```text
/// e_i = (f(x + Δ_i) − f(x)) / Δ_i on each walk;   μ*_i = mean |e_i|,   μ_i = mean e_i,   σ_i² = var e_i − mean noise of e_i
/// ```
///
/// Δ is a share of the range, so effects are per whole range. All points of a walk have common random numbers. The
/// remaining noise in e_i is measured between groups of replications, and subtracted from σ² (set to 0 if negative) and
/// from sizes. Sources: \[Morris1991\]; μ\* is of \[Campolongo2007\]; the treatment of noise is derived in
/// docs/sensitivity.md.
///
/// # Errors
///
/// [`SensitivityError::TooFewRows`], [`SensitivityError::Uneven`], [`SensitivityError::NotFinite`].
pub fn elementary_effects(
    rows: &[MorrisRow],
    bootstrap: &Bootstrap,
) -> Result<Vec<ElementaryEffects>, SensitivityError> {
    if rows.len() < FEWEST {
        return Err(SensitivityError::TooFewRows { got: rows.len(), need: FEWEST });
    }
    let factors = rows[0].walk.order.len();
    let table: Vec<Vec<Step>> = rows.iter().map(|row| steps(row, factors)).collect::<Result<_, _>>()?;
    let formula = |drawn: &[usize]| -> Vec<f64> {
        (0..factors)
            .flat_map(|factor| {
                let count = drawn.len() as f64;
                let sum = |part: fn(&Step) -> f64| drawn.iter().map(|&row| part(&table[row][factor])).sum::<f64>();
                let (size, mean) = (sum(|step| step.size) / count, sum(|step| step.mean) / count);
                let squares: f64 = drawn.iter().map(|&row| (table[row][factor].mean - mean).powi(2)).sum();
                let variance = squares / (count - 1.0) - sum(|step| step.noise) / count;
                [size, mean, variance.max(0.0).sqrt()]
            })
            .collect()
    };
    let effects = bootstrap.effects(rows.len(), formula);
    // sizes and spreads are not below 0, though their corrected estimates may be
    let above_0 = |effect: &Measured| between(effect.value, effect.ends().map(|ends| ends.map(|end| end.max(0.0))));
    let of_factor = |three: &[Measured]| ElementaryEffects {
        size: above_0(&three[0]),
        mean: three[1].clone(),
        spread: above_0(&three[2]),
    };
    Ok(effects.chunks(3).map(of_factor).collect())
}

/// One elementary effect.
struct Step {
    size: f64,
    mean: f64,
    noise: f64,
}

/// The effects of a walk, by factor.
fn steps(row: &MorrisRow, factors: usize) -> Result<Vec<Step>, SensitivityError> {
    let groups = row.answers.first().map_or(0, |answer| answer.groups().len());
    let even = row.walk.order.len() == factors
        && row.answers.len() == factors + 1
        && row.answers.iter().all(|answer| answer.groups().len() == groups);
    if !even {
        return Err(SensitivityError::Uneven);
    }
    let mut steps: Vec<(usize, Step)> = row
        .answers
        .windows(2)
        .zip(row.walk.order.iter().zip(&row.walk.steps))
        .map(|(pair, (&factor, &step))| {
            let effect = pair[1].minus(&pair[0]).times(1.0 / step);
            (factor, Step { size: effect.size(), mean: effect.mean(), noise: effect.noise() })
        })
        .collect();
    if steps.iter().any(|(_, step)| !step.mean.is_finite()) {
        return Err(SensitivityError::NotFinite);
    }
    steps.sort_by_key(|(factor, _)| *factor);
    Ok(steps.into_iter().map(|(_, step)| step).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sensitivity::design::trajectory;
    use rand::{SeedableRng, rngs::StdRng};
    use rand_distr::{Distribution, Normal};

    fn rows(count: u64, answer: impl Fn(&[f64], u64) -> Response) -> Vec<MorrisRow> {
        let row = |row| {
            let walk = trajectory(3, 4, 11, row);
            let answers = walk.points.iter().map(|place| answer(place, row)).collect();
            MorrisRow { walk, answers }
        };
        (0..count).map(row).collect()
    }

    #[test]
    fn a_linear_model_has_its_coefficients_and_no_spread() {
        let linear = |x: &[f64], _| Response::exact(5.0 + 2.0 * x[0] - 3.0 * x[1]);
        let found = elementary_effects(&rows(10, linear), &Bootstrap::default()).unwrap();
        for (effects, slope) in found.iter().zip([2.0_f64, -3.0, 0.0]) {
            assert!((effects.mean.value - slope).abs() < 1e-12 && (effects.size.value - slope.abs()).abs() < 1e-12);
            assert!(effects.spread.value < 1e-7 && effects.mean.half_width().unwrap() < 1e-9, "{effects:?}");
        }
    }

    /// f = x0 (1 − 2 x1): by symmetry of the grid, μ of both is known, and so is σ. The effect of x0 is 1 − 2 x1 with x1 in
    /// {0, 1/3, 2/3, 1}: mean 0, mean size 2/3, variance (1 + 1/9) / 2; the effect of x1 is −2 x0: mean −1, variance 4
    /// · 5/36.
    #[test]
    fn interaction_shows_as_spread() {
        let product = |x: &[f64], _| Response::exact(x[0] * (1.0 - 2.0 * x[1]));
        let found = elementary_effects(&rows(8000, product), &Bootstrap::default()).unwrap();
        let near = |found: &Measured, truth: f64| {
            let error = found.half_width().unwrap() / 1.96;
            assert!((found.value - truth).abs() < 5.0 * error && error < 0.01, "{found:?} against {truth}");
        };
        near(&found[0].size, 2.0 / 3.0);
        near(&found[0].mean, 0.0);
        near(&found[0].spread, (5.0_f64 / 9.0).sqrt());
        near(&found[1].size, 1.0);
        near(&found[1].mean, -1.0);
        near(&found[1].spread, (5.0_f64 / 9.0).sqrt());
        assert_eq!((found[2].size.value, found[2].spread.value), (0.0, 0.0));
    }

    /// Independent noise in every answer, twice as large as any effect: a factor without effect gets none, and a linear one no spread.
    #[test]
    fn noise_is_no_effect_and_no_interaction() {
        let noisy = |x: &[f64], row: u64| {
            let bits = x.iter().fold(row + 1, |bits, x| bits.wrapping_mul(31).wrapping_add(x.to_bits()));
            let mut rng = StdRng::seed_from_u64(bits);
            let noise = Normal::new(0.0, 4.0).unwrap();
            Response::of_groups((0..8).map(|_| 2.0 * x[0] + noise.sample(&mut rng)).collect()).unwrap()
        };
        let rows = rows(4000, noisy);
        let found = elementary_effects(&rows, &Bootstrap::default()).unwrap();
        let error = |effect: &Measured| effect.half_width().unwrap() / 1.96;
        // the upper half of the interval, since the lower one ends at 0
        let above = found[2].size.ends().unwrap()[1] - found[2].size.value;
        assert!(found[2].size.value.abs() < 5.0 * above / 1.96 && above < 0.16, "{found:?}");
        assert!((found[0].mean.value - 2.0).abs() < 5.0 * error(&found[0].mean), "{found:?}");
        // uncorrected, the spread would be √2 · 4 / √8 / Δ = 3
        assert!(found.iter().all(|factor| factor.spread.value < 0.5), "{found:?}");
        let merged: Vec<MorrisRow> = rows
            .into_iter()
            .map(|row| MorrisRow {
                answers: row.answers.iter().map(|answer| Response::exact(answer.mean())).collect(),
                ..row
            })
            .collect();
        let naive = elementary_effects(&merged, &Bootstrap::default()).unwrap();
        assert!(naive[2].size.value > 1.5 && naive[2].spread.value > 2.5, "{naive:?}");
    }
}
