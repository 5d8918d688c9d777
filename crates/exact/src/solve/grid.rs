//! Distributions on a grid of times, each given by two distribution functions that enclose the true distribution function.
//!
//! Every operation preserves the bounds. Exponential stages in series from time 0 are exact at the grid points. A stage
//! after a distribution that is known only at the grid points is integrated twice, with the distribution's value at each end
//! of every cell. Maximum and mixture are monotone. So the true distribution lies between the bounds for any grid
//! (derivation in docs/solve.md). The error of the middle of the bounds is of the order of the square of the step.

use std::collections::HashMap;

use tailspn_common::number::brief;

use crate::estimate::Measured;
use crate::solve::law_tree::{Law, LawId, LawTable, Stage};
use crate::solve::phase_grid::{Cdf, phases};

/// Settings of [`completion_time`](crate::solve::completion_time).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GridSettings {
    /// Number of steps of the grid, at least 16. The bounds differ by a few steps. Default 262,144.
    pub steps: usize,
    /// Maximum probability that the time is beyond the grid. Default 1e-12.
    pub beyond: f64,
}

impl Default for GridSettings {
    fn default() -> Self {
        Self { steps: 1 << 18, beyond: 1e-12 }
    }
}

/// Reason why there is no grid, or no result on it.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum GridError {
    /// Settings that are not valid.
    #[error(
        "the grid has {steps} steps and omits probability {beyond}; it must have 16 to 2^24 steps and omit a probability between 0 and 0.1"
    )]
    Settings {
        /// Number of steps.
        steps: usize,
        /// Omitted probability.
        beyond: f64,
    },
    /// Too many different distributions for the memory limit; fewer steps need less memory.
    #[error("{laws} different distributions on {steps} steps take more than {limit} MB; use fewer steps")]
    Memory {
        /// Maximum number of distributions in memory.
        laws: usize,
        /// Number of steps.
        steps: usize,
        /// Limit of memory \[MB\].
        limit: usize,
    },
    /// The rates and times are outside the range of floating-point numbers.
    #[error(
        "rates and times are outside the range of floating-point numbers: the end of the time grid would be {end} s"
    )]
    End {
        /// The end of the grid \[s\].
        end: f64,
    },
    /// A probability without a quantile: it must be above 0, and below the probability at the end of the grid.
    #[error("the grid does not contain the quantile of probability {}; it ends at probability {}", brief(*.probability), brief(*.most))]
    NoQuantile {
        /// The requested probability.
        probability: f64,
        /// The largest probability on the grid.
        most: f64,
    },
}

/// Maximum memory for distributions that are stored together \[MB\].
const MEMORY_MB: usize = 2_000;

/// Number of grid points for the sum of two distributions if neither distribution is a series of stages; the work is
/// the square of this number.
const COARSE: usize = 1 << 13;

/// The distribution of a completion time: probabilities, quantiles, mean and standard deviation, each between bounds.
///
/// The bounds hold up to the rounding of about as many additions as the grid has steps, 1e-10.
#[derive(Clone, Debug)]
pub struct CompletionTime {
    step: f64,
    /// The time is the sum of `first` and `second`; `second` may be absent.
    first: Cdf,
    second: Option<Cdf>,
    /// Probability of the tail beyond the grid; `decay` is a lower bound of the rate at which the tail decreases \[1/s\].
    beyond: f64,
    decay: f64,
}

impl CompletionTime {
    /// Rounding error of probabilities, up to which the bounds hold.
    pub const ROUNDING: f64 = 1e-10;

    pub(crate) fn of(table: &LawTable, root: LawId, settings: &GridSettings) -> Result<Self, GridError> {
        let GridSettings { steps, beyond } = *settings;
        if !((16..=1 << 24).contains(&steps) && beyond > 0.0 && beyond < 0.1) {
            return Err(GridError::Settings { steps, beyond });
        }
        let parts = table.parts_of(root);
        let (end, decay) = end_of(table, &parts, beyond);
        if !end.is_finite() {
            return Err(GridError::End { end });
        }
        let general = parts.iter().filter(|&&id| !matches!(table.law(id), Law::Phases { .. })).count();
        if general * steps * 16 > MEMORY_MB << 20 {
            return Err(GridError::Memory { laws: general, steps, limit: MEMORY_MB });
        }
        let step = if end > 0.0 { end / steps as f64 } else { 1.0 };
        let mut grid = Grid { table, steps, step, known: HashMap::new() };
        for &id in parts.iter().filter(|&&id| id != root) {
            if !matches!(table.law(id), Law::Phases { .. }) {
                let cdf = grid.cdf(id);
                grid.known.insert(id, cdf);
            }
        }
        let (first, second) = grid.last_sum(root);
        let beyond = if decay.is_finite() { beyond } else { 0.0 };
        Ok(Self { step, first, second, beyond, decay })
    }

    /// Returns the probability of completion by `time` \[s\], with guaranteed bounds, up to rounding.
    pub fn cdf(&self, time: f64) -> Measured {
        if time.is_nan() || time < 0.0 {
            return bounded(0.0, [0.0; 2]);
        }
        let at = time / self.step;
        let steps = self.first.lower.len() - 1;
        if at >= steps as f64 {
            let (lower, upper) = self.bounds(steps);
            return bounded(f64::midpoint(lower, upper), [lower, 1.0]);
        }
        let k = at.floor() as usize;
        let (below, above) = (self.bounds(k), self.bounds(k + 1));
        let middle = |(lower, upper): (f64, f64)| f64::midpoint(lower, upper);
        let value = middle(below) + (at - k as f64) * (middle(above) - middle(below));
        // rounding may hide that the time is before a grid point, so the lower bound is that of the previous point
        let lower = if at - k as f64 > 1e-9 { below.0 } else { self.bounds(k.saturating_sub(1)).0 };
        bounded(value, [lower.min(value), above.1.max(value)])
    }

    /// Returns the time \[s\] by which the schedule is complete with probability `p`, with guaranteed bounds.
    ///
    /// # Errors
    ///
    /// [`GridError::NoQuantile`].
    pub fn quantile(&self, p: f64) -> Result<Measured, GridError> {
        let steps = self.first.lower.len() - 1;
        let most = self.bounds(steps).0;
        if !(p > 0.0 && p <= most) {
            return Err(GridError::NoQuantile { probability: p, most });
        }
        // the first grid point at which `reached` holds
        let first = |reached: &dyn Fn((f64, f64)) -> bool| {
            let (mut low, mut high) = (0, steps);
            while low < high {
                let middle = low.midpoint(high);
                if reached(self.bounds(middle)) { high = middle } else { low = middle + 1 }
            }
            low
        };
        let middle = |(lower, upper): (f64, f64)| f64::midpoint(lower, upper);
        let lower = first(&|b| b.1 >= p).saturating_sub(1);
        let upper = first(&|b| b.0 >= p);
        let at = first(&|b| middle(b) >= p);
        let mut value = at as f64;
        if at > 0 {
            let (before, after) = (middle(self.bounds(at - 1)), middle(self.bounds(at)));
            value -= (after - p) / (after - before);
        }
        Ok(bounded(value * self.step, [lower, upper].map(|k| k as f64 * self.step)))
    }

    /// Returns the mean \[s\], with guaranteed bounds.
    pub fn mean(&self) -> Measured {
        let [a, b] = [Some(&self.first), self.second.as_ref()].map(|cdf| cdf.map_or([0.0; 3], |cdf| self.mean_of(cdf)));
        bounded(a[1] + b[1], [a[0] + b[0], a[2] + b[2]])
    }

    /// Returns the standard deviation \[s\]. The error is about the square of the grid's step; this value has no bounds.
    pub fn standard_deviation(&self) -> f64 {
        let variance = |cdf: &Cdf| {
            let survival = |i: usize| 1.0 - f64::midpoint(cdf.lower[i], cdf.upper[i]);
            let (mut mean, mut square) = (0.0, 0.0);
            for i in 0..cdf.lower.len() - 1 {
                let (a, b) = (survival(i), survival(i + 1));
                mean += self.step * f64::midpoint(a, b);
                // ∫ 2 t S(t) with S linear in the cell
                let t = i as f64;
                square += self.step * self.step * (t * (a + b) + (a + 2.0 * b) / 3.0);
            }
            (square - mean * mean).max(0.0)
        };
        (variance(&self.first) + self.second.as_ref().map_or(0.0, variance)).sqrt()
    }

    /// Returns the width of a step of the grid \[s\].
    pub fn step(&self) -> f64 {
        self.step
    }

    /// Returns the end of the grid \[s\].
    pub fn end(&self) -> f64 {
        self.step * (self.first.lower.len() - 1) as f64
    }

    /// Returns the lower bound, the value and the upper bound of the mean of a part. A part is at most as long as the whole, so the tail of the whole bounds the part's tail beyond the grid.
    fn mean_of(&self, cdf: &Cdf) -> [f64; 3] {
        let last = cdf.lower.len() - 1;
        let survivals = |values: &[f64]| values.iter().map(|p| 1.0 - p).sum::<f64>() * self.step;
        let (lower, upper) = (survivals(&cdf.upper[1..]), survivals(&cdf.lower[..last]));
        let tail = if self.beyond > 0.0 { self.beyond / self.decay } else { 0.0 };
        let trapezoid = |values: &[f64]| survivals(values) - self.step * (1.0 - f64::midpoint(values[0], values[last]));
        let value = f64::midpoint(trapezoid(&cdf.lower), trapezoid(&cdf.upper));
        [lower, value, upper + tail]
    }

    /// Returns the bounds of the distribution at grid point `k`.
    fn bounds(&self, k: usize) -> (f64, f64) {
        match &self.second {
            None => (self.first.lower[k], self.first.upper[k]),
            Some(second) => sum_at(&self.first, second, k),
        }
    }
}

/// A number with guaranteed bounds; it has no confidence level.
fn bounded(value: f64, ends: [f64; 2]) -> Measured {
    Measured::bounded(value, ends, 0.0)
}

/// Returns the end of the grid, and the decay rate of the tail there. The end is the smallest time that is exceeded
/// with probability at most `beyond` according to Chernoff's bound.
fn end_of(table: &LawTable, parts: &[LawId], beyond: f64) -> (f64, f64) {
    let slowest = table.slowest(parts);
    if slowest.is_infinite() {
        return (table.longest(parts) * (1.0 + 1e-9), f64::INFINITY);
    }
    let shares = [0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.95, 0.98];
    let ends = shares.map(|share| {
        let theta = share * slowest;
        ((table.ln_moment(parts, theta) - beyond.ln()) / theta, theta)
    });
    ends.into_iter().min_by(|a, b| a.0.total_cmp(&b.0)).expect("there are shares")
}

/// Distributions on one grid.
struct Grid<'a> {
    table: &'a LawTable,
    steps: usize,
    step: f64,
    known: HashMap<LawId, Cdf>,
}

impl Grid<'_> {
    /// Computes a distribution on the grid; its parts must already be known.
    fn cdf(&self, id: LawId) -> Cdf {
        match self.table.law(id) {
            Law::Phases { fixed, stages } => phases(*fixed, stages, self.steps, self.step),
            Law::Uniform { low, high } => {
                let at = |i: usize| ((i as f64 * self.step - low) / (high - low)).clamp(0.0, 1.0);
                Cdf::of(self.steps, at)
            }
            Law::Sum(_) => {
                let (first, second) = self.last_sum(id);
                match second {
                    None => first,
                    Some(second) => coarse_sum(&first, &second),
                }
            }
            Law::Last(parts) => {
                let mut product = Cdf::of(self.steps, |_| 1.0);
                for &(part, count) in parts {
                    self.with(part, |cdf| product.multiply(cdf, count));
                }
                product
            }
            Law::Either(parts) => {
                let mut sum = Cdf::of(self.steps, |_| 0.0);
                for &(probability, part) in parts {
                    self.with(part, |cdf| sum.add(cdf, probability));
                }
                sum
            }
        }
    }

    /// Applies a function to a part; if the part is a series of stages, it is evaluated for this purpose and not stored.
    fn with(&self, part: LawId, mut then: impl FnMut(&Cdf)) {
        match self.known.get(&part) {
            Some(cdf) => then(cdf),
            None => then(&self.cdf(part)),
        }
    }

    /// Splits a distribution into a sum of two: for a sum, all parts but one, and the remaining part.
    fn last_sum(&self, id: LawId) -> (Cdf, Option<Cdf>) {
        let Law::Sum(parts) = self.table.law(id) else { return (self.cdf(id), None) };
        let mut row: (f64, &[Stage]) = (0.0, &[]);
        let mut general = Vec::new();
        for &part in parts {
            match self.table.law(part) {
                Law::Phases { fixed, stages } => row = (*fixed, stages),
                _ => general.push(part),
            }
        }
        let Some((&last, before)) = general.split_last() else {
            return (phases(row.0, row.1, self.steps, self.step), None);
        };
        let mut sum: Option<Cdf> = None;
        for &part in before {
            self.with(part, |cdf| {
                sum = Some(match sum.take() {
                    None => cdf.clone(),
                    Some(other) => coarse_sum(&other, cdf),
                });
            });
        }
        let mut last_cdf = None;
        self.with(last, |cdf| last_cdf = Some(cdf.clone()));
        let last_cdf = last_cdf.expect("`with` gives a law");
        let (mut first, second) = match sum {
            None => (last_cdf, None),
            Some(sum) => (sum, Some(last_cdf)),
        };
        first.delay(row.0, self.step);
        row.1.iter().for_each(|stage| first.then_stage(stage, self.step));
        (first, second)
    }
}

/// Returns the bounds of the distribution of the sum of two times at grid point `k`. The second time is rounded to grid points,
/// down for the upper bound and up for the lower bound; the first distribution is known at the remaining differences.
fn sum_at(first: &Cdf, second: &Cdf, k: usize) -> (f64, f64) {
    let mut lower = second.lower[0] * first.lower[k];
    for j in 1..=k {
        lower += (second.lower[j] - second.lower[j - 1]) * first.lower[k - j];
    }
    let last = second.upper.len() - 1;
    let mut upper = second.upper[1.min(last)] * first.upper[k];
    for j in 1..=k.min(last - 1) {
        upper += (second.upper[j + 1] - second.upper[j]) * first.upper[k - j];
    }
    if k >= last {
        upper += (1.0 - second.upper[last]) * first.upper[k - last];
    }
    (lower.clamp(0.0, 1.0), upper.clamp(0.0, 1.0))
}

/// Returns the distribution of the sum of two times at all grid points, computed on a coarser grid if the grid is fine.
fn coarse_sum(first: &Cdf, second: &Cdf) -> Cdf {
    let steps = first.lower.len() - 1;
    let stride = steps.div_ceil(COARSE);
    let last = steps / stride;
    let thin = |values: &[f64]| values.iter().copied().step_by(stride).collect::<Vec<_>>();
    let thin = |cdf: &Cdf| Cdf { lower: thin(&cdf.lower), upper: thin(&cdf.upper) };
    let (a, b) = (thin(first), thin(second));
    let coarse: Vec<(f64, f64)> = (0..=last).map(|k| sum_at(&a, &b, k)).collect();
    let lower = (0..=steps).map(|i| coarse[i / stride].0).collect();
    let upper = (0..=steps).map(|i| coarse.get(i.div_ceil(stride)).map_or(1.0, |c| c.1)).collect();
    Cdf { lower, upper }
}
