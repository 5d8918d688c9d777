//! Quantiles of the distributions of task times, for many draws, and their tails.

use std::sync::{Arc, Mutex, PoisonError};

use crate::estimate::{gamma_log_quantile, gamma_tails, normal_cdf, normal_quantile};
use crate::mapreduce::PhaseLaw;
use crate::mapreduce::phase_law::gamma_shape;
use crate::mapreduce::slow_tasks::SlowTasks;
use crate::rng::uniform;
use crate::time::QuantileTable;

impl PhaseLaw {
    /// Returns the quantile up to a constant factor; finite also for a probability that was rounded to 0 or 1.
    fn unscaled_quantile(&self, p: f64) -> f64 {
        if p > 0.5 { self.tail_quantile((1.0 - p).max(0.5 * f64::EPSILON), true) } else { self.tail_quantile(p, false) }
    }

    /// Returns the quantile, up to a constant factor, that a draw falls below with probability `tail`, or above with probability `tail` if `above`.
    fn tail_quantile(&self, tail: f64, above: bool) -> f64 {
        let tail = tail.max(f64::MIN_POSITIVE);
        let p = if above { (1.0 - tail).min(1.0 - 0.5 * f64::EPSILON) } else { tail };
        let exponential = if above { -tail.ln() } else { -(-tail).ln_1p() };
        let normal = || if above { -normal_quantile(tail) } else { normal_quantile(tail) };
        let survival = if above { tail } else { 1.0 - tail };
        match self {
            Self::Exponential => exponential,
            Self::Deterministic => 1.0,
            Self::Erlang(stages) => gamma_log_quantile(f64::from(*stages), tail, above).exp(),
            Self::Gamma { cv } => gamma_log_quantile(gamma_shape(*cv), tail, above).exp(),
            Self::Hyperexponential { cv } => inverse(survival, exponential, |x| hyperexponential(*cv, x)),
            Self::Lognormal { cv } => ((cv * cv).ln_1p().sqrt() * normal()).exp(),
            Self::Weibull { shape } => exponential.powf(shape.recip()),
            Self::Pareto { shape } => (exponential / shape).exp_m1(),
            Self::Uniform { spread } => 1.0 + spread * (2.0 * p - 1.0),
            Self::Empirical { samples } => {
                let mut sorted = samples.clone();
                sorted.sort_by(f64::total_cmp);
                // `as` is fine: a share of the number of samples
                let at = ((p * sorted.len() as f64) as usize).min(sorted.len().saturating_sub(1));
                sorted.get(at).copied().unwrap_or(1.0)
            }
        }
    }
}

impl PhaseLaw {
    /// Returns the probability that a draw exceeds `x` >= 0, in the unit of the unscaled quantiles; none for a distribution with steps.
    fn smooth_survival(&self, x: f64) -> Option<f64> {
        Some(match self {
            Self::Exponential => (-x).exp(),
            Self::Erlang(stages) => gamma_tails(f64::from(*stages), x)[1],
            Self::Gamma { cv } => gamma_tails(gamma_shape(*cv), x)[1],
            Self::Hyperexponential { cv } => hyperexponential(*cv, x)[0],
            Self::Lognormal { cv } => normal_cdf(-x.ln() / (cv * cv).ln_1p().sqrt()),
            Self::Weibull { shape } => (-x.powf(*shape)).exp(),
            Self::Pareto { shape } => (-shape * x.ln_1p()).exp(),
            Self::Uniform { spread } => (0.5 * (1.0 + spread - x) / spread.max(f64::MIN_POSITIVE)).clamp(0.0, 1.0),
            Self::Deterministic | Self::Empirical { .. } => return None,
        })
    }
}

/// Returns the probability that a hyperexponential draw with mean 1 exceeds `x`, and its density there.
fn hyperexponential(cv: f64, x: f64) -> [f64; 2] {
    let square = cv * cv;
    let share = 0.5 * (1.0 + ((square - 1.0) / (square + 1.0)).sqrt());
    let (fast, slow) = (2.0 * share, 2.0 * (1.0 - share));
    let [early, late] = [share * (-fast * x).exp(), (1.0 - share) * (-slow * x).exp()];
    [early + late, fast * early + slow * late]
}

/// Number of halvings for a quantile or a value of the distribution function: the error is far below the resolution of a draw's 32 bits.
const HALVINGS: u32 = 48;
/// Probability below which the distribution does not explain an age.
const HARDLY_EVER: f64 = 1e-6;
/// Index of the Pareto tail that is assumed for an age that the distribution does not explain.
const OVERDUE_TAIL: f64 = 3.0;

/// The distribution of a task's time, in units of the mean time of typical tasks, for many draws. Without slow tasks, its mean is 1.
///
/// The relative error of usual times is below 1e-4 in the tails as in the middle, except for hyperexponential distributions with a coefficient of
/// variation above 3, gamma distributions with one above 2, and Weibull distributions with a shape below 0.3: there, the probability of exceeding a value has a relative error of up to 6%.
/// A trace is a step function, without error. The times of slow tasks have no error.
#[derive(Clone, Debug, PartialEq)]
pub struct LawTable {
    law: PhaseLaw,
    mean: f64,
    shape: Shape,
    slow: Option<SlowTasks>,
}

/// The quantile function.
#[derive(Clone, Debug, PartialEq)]
enum Shape {
    Constant,
    /// The samples of a trace divided by their mean, ascending.
    Steps(Vec<f64>),
    Smooth(QuantileTable),
}

/// Tables that are built once, for many jobs with the same distributions.
#[derive(Debug, Default)]
pub struct LawTables(Mutex<Vec<Arc<LawTable>>>);

/// Maximum number of tables kept; the oldest is dropped first.
const MOST_TABLES: usize = 64;

impl LawTables {
    /// Returns the table of a distribution, built at its first use.
    pub fn get(&self, law: &PhaseLaw) -> Arc<LawTable> {
        self.with_slow(law, None)
    }

    /// Returns the table of the times of usual and slow tasks, built at its first use.
    pub fn with_slow(&self, law: &PhaseLaw, slow: Option<SlowTasks>) -> Arc<LawTable> {
        let known = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(table) = known().iter().find(|table| table.law == *law && table.slow == slow) {
            return Arc::clone(table);
        }
        // other threads continue meanwhile; two may build the same table
        let table = Arc::new(LawTable::with_slow(law, slow));
        let mut known = known();
        if known.len() == MOST_TABLES {
            known.remove(0);
        }
        known.push(Arc::clone(&table));
        table
    }
}

impl LawTable {
    /// Builds the table of a distribution.
    pub fn new(law: &PhaseLaw) -> Self {
        Self::with_slow(law, None)
    }

    /// Builds the table of tasks of which typical tasks have the times of `law`.
    pub fn with_slow(law: &PhaseLaw, slow: Option<SlowTasks>) -> Self {
        let mean = law.unscaled_mean();
        let shape = match law {
            PhaseLaw::Deterministic => Shape::Constant,
            PhaseLaw::Empirical { samples } => {
                let mut steps: Vec<f64> = samples.iter().map(|sample| sample / mean).collect();
                steps.sort_by(f64::total_cmp);
                Shape::Steps(steps)
            }
            law => Shape::Smooth(QuantileTable::new(|tail, above| law.tail_quantile(tail, above) / mean)),
        };
        Self { law: law.clone(), mean, shape, slow }
    }

    /// Returns the time that a random word draws. Without slow tasks: the quantile at (word + ½) / 2³².
    ///
    /// With slow tasks, the highest words draw slow tasks and all others typical tasks, each with the quantiles of their own distribution. So the times
    /// have the mixed distribution without an inversion, and slow tasks stay slow if the usual distribution changes.
    #[inline]
    pub fn draw(&self, word: u32) -> f64 {
        let Some(slow) = &self.slow else { return self.usual_draw(word) };
        let (below, above) = (uniform(word), 1.0 - uniform(word));
        if above > slow.share {
            self.usual_quantile(below / (1.0 - slow.share))
        } else {
            slow.exceeded_with(above / slow.share)
        }
    }

    #[inline]
    fn usual_draw(&self, word: u32) -> f64 {
        match &self.shape {
            Shape::Constant => 1.0,
            Shape::Steps(samples) => samples[((u64::from(word) * samples.len() as u64) >> 32) as usize],
            Shape::Smooth(table) => table.draw(word),
        }
    }

    /// Returns the time that a task stays below with probability `p`, in (0, 1).
    pub fn quantile(&self, p: f64) -> f64 {
        let Some(slow) = &self.slow else { return self.usual_quantile(p) };
        let usual = self.usual_quantile((p / (1.0 - slow.share)).min(1.0 - f64::EPSILON));
        if usual < slow.from && p < 1.0 - slow.share {
            return usual;
        }
        // above the shortest slow time, and at most twice as likely to be exceeded by either kind
        let half = 0.5 * (1.0 - p);
        let longest = slow.exceeded_with((half / slow.share).min(1.0));
        let usual = self.usual_quantile(1.0 - half / (1.0 - slow.share));
        let (mut low, mut high) = (slow.from, longest.max(usual));
        for _ in 0..HALVINGS {
            let middle = (low * high).sqrt();
            if self.exceeding(middle) > 1.0 - p { low = middle } else { high = middle }
        }
        high
    }

    fn usual_quantile(&self, p: f64) -> f64 {
        match &self.shape {
            Shape::Constant => 1.0,
            Shape::Steps(samples) => samples[((p * samples.len() as f64) as usize).min(samples.len() - 1)],
            Shape::Smooth(table) => table.quantile(p).unwrap_or_else(|| self.law.unscaled_quantile(p) / self.mean),
        }
    }

    /// Returns the probability of a time of at most `x`.
    pub fn cdf(&self, x: f64) -> f64 {
        if self.slow.is_some() { 1.0 - self.exceeding(x) } else { self.usual_cdf(x) }
    }

    /// Returns the probability of a usual time of at most `x`, by the quantiles of the table.
    fn usual_cdf(&self, x: f64) -> f64 {
        match &self.shape {
            Shape::Constant => return f64::from(u8::from(x >= 1.0)),
            Shape::Steps(samples) => {
                return samples.partition_point(|sample| *sample <= x) as f64 / samples.len() as f64;
            }
            Shape::Smooth(_) => {}
        }
        let (mut low, mut high) = (0.0, 1.0);
        for _ in 0..HALVINGS {
            let middle = f64::midpoint(low, high);
            if self.usual_quantile(middle) <= x { low = middle } else { high = middle }
        }
        f64::midpoint(low, high)
    }

    /// Returns the probability of a time above `x`, by the formulas of the distributions.
    fn exceeding(&self, x: f64) -> f64 {
        let [usual, slow] = self.parts_exceeding(x);
        usual + slow
    }

    /// Returns the probabilities of a typical task, and of a slow one, with a time above `x`.
    fn parts_exceeding(&self, x: f64) -> [f64; 2] {
        let usual = self.law.smooth_survival(x * self.mean).unwrap_or_else(|| 1.0 - self.usual_cdf(x));
        let share = self.slow.map_or(0.0, |slow| slow.share);
        [(1.0 - share) * usual, self.slow.map_or(0.0, |slow| share * slow.exceeding(x))]
    }

    /// Returns the remainder of a time that has already reached `age`: its quantile at `p`, in (0, 1).
    ///
    /// An age that is extremely unlikely under the distribution has another cause. Then a Pareto tail of index 3 is assumed, or the tail of the slow tasks
    /// if it is heavier. With index 3, half of such times continue for more than a quarter of their age.
    ///
    /// With slow tasks, the age determines the probability that the task is slow. The lowest `p` are typical tasks.
    pub fn left(&self, age: f64, p: f64) -> f64 {
        let Some(slow) = &self.slow else { return self.usual_left(age, self.usual_cdf(age), p) };
        let [usual, late] = self.parts_exceeding(age);
        let all = usual + late;
        if all < HARDLY_EVER {
            return overdue(age, p, slow.shape.min(OVERDUE_TAIL));
        }
        let is_usual = usual / all;
        if p < is_usual {
            return self.usual_left(age, 1.0 - usual / (1.0 - slow.share), p / is_usual);
        }
        let above = slow.exceeding(age) * (1.0 - p) / (1.0 - is_usual);
        (slow.exceeded_with(above) - age).max(0.0)
    }

    /// Returns the remainder of a usual time that has reached `age`, which a share `before` of these times does not reach.
    fn usual_left(&self, age: f64, before: f64, p: f64) -> f64 {
        let above = 1.0 - before;
        if above < HARDLY_EVER {
            return overdue(age, p, OVERDUE_TAIL);
        }
        (self.usual_quantile(before + above * p) - age).max(0.0)
    }
}

/// Returns the remainder, at `p`, of a time with a Pareto tail of this index that has reached `age`.
fn overdue(age: f64, p: f64, index: f64) -> f64 {
    age * ((1.0 - p).powf(-1.0 / index) - 1.0)
}

impl PhaseLaw {
    /// Returns the mean of the unscaled quantiles.
    fn unscaled_mean(&self) -> f64 {
        match self {
            Self::Exponential | Self::Deterministic | Self::Hyperexponential { .. } | Self::Uniform { .. } => 1.0,
            Self::Erlang(stages) => f64::from(*stages),
            Self::Gamma { cv } => gamma_shape(*cv),
            Self::Lognormal { cv } => (0.5 * (cv * cv).ln_1p()).exp(),
            Self::Weibull { shape } => libm::tgamma(1.0 + shape.recip()),
            Self::Pareto { shape } => 1.0 / (shape - 1.0),
            Self::Empirical { samples } => samples.iter().sum::<f64>() / samples.len() as f64,
        }
    }
}

/// Returns the point that a draw from a distribution on the positive numbers exceeds with probability `survival`, by Newton's method from `start` > 0.
/// `tail` returns the probability of exceeding a point, and the density there.
fn inverse(survival: f64, start: f64, tail: impl Fn(f64) -> [f64; 2]) -> f64 {
    const STEPS: u32 = 100;
    /// Relative length of the last step; the error behind it is about its square.
    const STEP: f64 = 1e-10;
    /// Rounding error of a probability.
    const ROUNDING: f64 = 2e-16;
    let (mut low, mut high) = (f64::MIN_POSITIVE, f64::INFINITY);
    let mut x = start;
    for _ in 0..STEPS {
        let [above, density] = tail(x);
        let gap = above - survival;
        if gap > 0.0 {
            low = x
        } else {
            high = x
        }
        let mut next = x + gap / density;
        if !(low <= next && next <= high) {
            next = if high.is_finite() { f64::midpoint(low, high) } else { 2.0 * low };
        }
        if (next - x).abs() <= STEP * x || gap.abs() <= ROUNDING * survival {
            return next;
        }
        x = next;
    }
    x
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::uniform;

    /// Quantiles of one stage are those of the exponential distribution. All other quantiles are where the distribution function has the
    /// value that it should have: by the terms of the sum without a shortcut for few stages, by a normal distribution for many.
    #[test]
    fn quantiles_invert_the_distribution_function() {
        let ps = [1e-9, 1e-4, 0.01, 0.2, 0.5, 0.77, 0.99, 1.0 - 1e-6];
        for p in ps {
            let one = PhaseLaw::Erlang(1).unscaled_quantile(p);
            assert!((one / -(-p).ln_1p() - 1.0).abs() < 1e-6, "{p} {one}");
            for stages in [2_u32, 3, 20, 150] {
                let x = PhaseLaw::Erlang(stages).unscaled_quantile(p);
                let terms = (0..stages).scan(1.0, |term, i| {
                    let this = *term;
                    *term *= x / f64::from(i + 1);
                    Some(this)
                });
                let below = 1.0 - (-x).exp() * terms.sum::<f64>();
                assert!((below - p).abs() < 1e-12, "{stages} stages: {x}, {below} instead of {p}");
            }
            let many = PhaseLaw::Erlang(10_000).unscaled_quantile(p);
            assert!((many - 1e4 - 1e2 * normal_quantile(p)).abs() < 15.0, "{p} {many}");
            let x = PhaseLaw::Hyperexponential { cv: 3.0 }.unscaled_quantile(p);
            let share = 0.5 * (1.0 + 0.8_f64.sqrt());
            let below = 1.0 - share * (-2.0 * share * x).exp() - (1.0 - share) * (-2.0 * (1.0 - share) * x).exp();
            assert!((below - p).abs() < 1e-12, "{x}, {below} instead of {p}");
        }
    }

    /// A draw may be so close to 0 or 1 that its probability is rounded to it.
    #[test]
    fn probabilities_rounded_to_zero_and_one_have_quantiles() {
        let laws = [
            PhaseLaw::Exponential,
            PhaseLaw::Erlang(3),
            PhaseLaw::Erlang(500),
            PhaseLaw::Hyperexponential { cv: 2.0 },
            PhaseLaw::Lognormal { cv: 0.5 },
            PhaseLaw::Gamma { cv: 0.5 },
            PhaseLaw::Empirical { samples: (1..=1_000).map(f64::from).collect() },
        ];
        for law in laws {
            let [least, middle, most] = [0.0, 0.5, 1.0].map(|p| law.unscaled_quantile(p));
            assert!(
                0.0 <= least && least < middle && middle < most && most < 1_000.0 * middle,
                "{law:?}: {least} {most}"
            );
        }
    }

    /// The mean over a million equally spaced probabilities is 1, and quantiles match the distribution, also at the seams.
    #[test]
    fn a_table_has_the_mean_and_the_quantiles_of_its_law() {
        let laws = [
            PhaseLaw::Exponential,
            PhaseLaw::Deterministic,
            PhaseLaw::Erlang(4),
            PhaseLaw::Erlang(400),
            PhaseLaw::Hyperexponential { cv: 1.5 },
            PhaseLaw::Lognormal { cv: 0.3 },
            PhaseLaw::Weibull { shape: 2.0 },
            PhaseLaw::Pareto { shape: 8.0 },
            PhaseLaw::Gamma { cv: 0.4 },
            PhaseLaw::Gamma { cv: 1.5 },
            PhaseLaw::Uniform { spread: 0.6 },
            PhaseLaw::Empirical { samples: vec![3.0, 1.0, 2.0] },
        ];
        for law in laws {
            let table = LawTable::new(&law);
            let points = 200_000;
            let mean = (0..points).map(|i| table.quantile((f64::from(i) + 0.5) / f64::from(points))).sum::<f64>();
            assert!((mean / f64::from(points) - 1.0).abs() < 2e-5, "{law:?} {}", mean / f64::from(points));
            // words of all octaves, in the middle of a segment and next to its ends
            let words = (0..32).flat_map(|bit| [1_u32 << bit, (1 << bit) + (1 << bit) / 5]);
            for word in words.flat_map(|word| [word, word.wrapping_sub(1), !word]) {
                let p = uniform(word);
                let exact = law.tail_quantile(p.min(1.0 - p), p > 0.5) / table.mean;
                assert!((table.draw(word) / exact - 1.0).abs() < 1e-5, "{law:?} {p} {exact} {}", table.draw(word));
                assert!((table.quantile(p) / table.draw(word) - 1.0).abs() < 1e-12, "{law:?} {p}");
            }
        }
    }

    /// The probability that a time exceeds `x`.
    type Survival = fn(f64) -> f64;

    /// Distributions of usual times with mean 1, with their formulas.
    fn usual() -> Vec<(PhaseLaw, Survival)> {
        let steps: Survival = |x| [0.5, 1.0, 1.5].iter().filter(|y| **y > x).count() as f64 / 3.0;
        vec![
            (PhaseLaw::Deterministic, |x| if x < 1.0 { 1.0 } else { 0.0 }),
            (PhaseLaw::Exponential, |x| (-x).exp()),
            (PhaseLaw::Erlang(3), |x| (-3.0 * x).exp() * (1.0 + 3.0 * x + 4.5 * x * x)),
            (PhaseLaw::Hyperexponential { cv: 3.0 }, |x| {
                let p = 0.5 * (1.0 + 0.8_f64.sqrt());
                p * (-2.0 * p * x).exp() + (1.0 - p) * (-2.0 * (1.0 - p) * x).exp()
            }),
            (PhaseLaw::Lognormal { cv: 0.5 }, |x| {
                let square = 1.25_f64.ln();
                0.5 * libm::erfc((x.ln() + 0.5 * square) / (2.0 * square).sqrt())
            }),
            (PhaseLaw::Weibull { shape: 2.0 }, |x| (-x * x * std::f64::consts::FRAC_PI_4).exp()),
            (PhaseLaw::Pareto { shape: 3.0 }, |x| (1.0 + 0.5 * x).powi(-3)),
            // half a squared normal variate has shape 1/2
            (PhaseLaw::Gamma { cv: 2.0_f64.sqrt() }, |x| libm::erfc((0.5 * x).sqrt())),
            (PhaseLaw::Uniform { spread: 0.6 }, |x| ((1.6 - x) / 1.2).clamp(0.0, 1.0)),
            (PhaseLaw::Empirical { samples: vec![3.0, 1.0, 2.0] }, steps),
        ]
    }

    /// A tail far above the usual times, and one in their midst.
    const TAILS: [SlowTasks; 2] = [
        SlowTasks { share: 0.06, from: 3.0, shape: 2.5, seen: None },
        SlowTasks { share: 0.3, from: 1.2, shape: 2.2, seen: None },
    ];

    /// The probability that a task of either kind takes longer than `x`.
    fn exceeded(usual: Survival, slow: &SlowTasks, x: f64) -> f64 {
        let tail = if x > slow.from { (slow.from / x).powf(slow.shape) } else { 1.0 };
        (1.0 - slow.share) * usual(x) + slow.share * tail
    }

    /// Mutations that each fail here: usual times drawn for the highest words instead of the lowest; the share forgotten in one of the quantiles; slow
    /// times that start at 1 instead of `from`.
    #[test]
    fn times_with_slow_tasks_have_the_mixed_distribution() {
        for ((law, usual), slow) in usual().into_iter().flat_map(|usual| TAILS.map(|slow| (usual.clone(), slow))) {
            let table = LawTable::with_slow(&law, Some(slow));
            for p in [0.01, 0.5, 0.72, 0.9, 0.95, 0.99, 0.9999, 1.0 - 1e-8] {
                let x = table.quantile(p);
                let [above, below] = [1.0 + 1e-4, 1.0 - 1e-4].map(|near| exceeded(usual, &slow, x * near));
                assert!(above <= 1.0 - p && 1.0 - p <= below, "{law:?} {slow:?} {p}: {x} {above} {below}");
            }
            let bits = 18;
            let draws: Vec<f64> = (0..1 << bits).map(|i| table.draw((i << (32 - bits)) + (1 << (31 - bits)))).collect();
            let share = |x: f64| draws.iter().filter(|draw| **draw > x).count() as f64 / draws.len() as f64;
            for x in [0.3, 0.7, 1.001, 1.3, 2.0, 3.001, 4.0, 10.0, 50.0] {
                let exact = exceeded(usual, &slow, x);
                assert!((share(x) - exact).abs() < 2e-5, "{law:?} {slow:?} {x}: {} {exact}", share(x));
                assert!((1.0 - table.cdf(x) - exact).abs() < 1e-12, "{law:?} {slow:?} {x}");
            }
            let mean = draws.iter().sum::<f64>() / draws.len() as f64;
            assert!((mean / slow.mean() - 1.0).abs() < 2e-3, "{law:?} {slow:?}: {mean} {}", slow.mean());
        }
    }

    /// The last word draws the quantile at 1 - 2^-33, where only slow tasks are: no list of values ends the tail.
    #[test]
    fn the_longest_draw_is_the_last_quantile_of_the_tail() {
        for slow in TAILS {
            let last = LawTable::with_slow(&PhaseLaw::Lognormal { cv: 0.2 }, Some(slow)).draw(u32::MAX);
            let exact = slow.from * (slow.share * 2.0_f64.powi(33)).powf(1.0 / slow.shape);
            assert!((last / exact - 1.0).abs() < 1e-12, "{last} {exact}");
        }
    }

    /// Of tasks with the same age, the share that continues for longer than `y` is exceeded(age + y) / exceeded(age). Fails if usual and slow tasks keep
    /// their shares whatever their age.
    #[test]
    fn the_rest_of_a_time_depends_on_its_age() {
        let count = 20_000;
        for ((law, usual), slow) in usual().into_iter().flat_map(|usual| TAILS.map(|slow| (usual.clone(), slow))) {
            let table = LawTable::with_slow(&law, Some(slow));
            for age in [0.0, 0.4, 1.1, 2.5, 4.0, 30.0] {
                let rest: Vec<f64> =
                    (0..count).map(|i| table.left(age, (f64::from(i) + 0.5) / f64::from(count))).collect();
                for y in [0.05, 0.3, 0.85, 1.7, 3.0, 40.0] {
                    let found = rest.iter().filter(|rest| **rest > y).count() as f64 / f64::from(count);
                    let exact = exceeded(usual, &slow, age + y) / exceeded(usual, &slow, age);
                    assert!((found - exact).abs() < 2e-4, "{law:?} {slow:?} {age} {y}: {found} {exact}");
                }
            }
        }
        // index 2.5 is heavier than the index 3 of ages without an explanation, and an age of 10^6 is one
        let table = LawTable::with_slow(&PhaseLaw::Exponential, Some(TAILS[0]));
        assert!((table.left(1e6, 0.5) / (1e6 * (2.0_f64.powf(0.4) - 1.0)) - 1.0).abs() < 1e-9);
    }
}
