//! One distribution on a grid of times. It is either a series of exponential stages, which is exact at the grid points,
//! or a stage after a distribution that is known only at the grid points.

use crate::solve::law_tree::Stage;

/// Bounds of a distribution function at the grid points 0, 1, … steps.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Cdf {
    pub(crate) lower: Vec<f64>,
    pub(crate) upper: Vec<f64>,
}

/// Maximum product of rate and step of a stage that the grid can resolve. A faster stage is appended after the other
/// stages.
const FAST: f64 = 20.0;

/// Entries of a step's matrix below this are dropped.
const SMALL: f64 = 1e-19;

/// Probabilities below this are 0.
const NOTHING: f64 = 1e-30;

impl Cdf {
    /// Returns the distribution whose lower and upper bounds are both `at`.
    pub(crate) fn of(steps: usize, at: impl Fn(usize) -> f64) -> Self {
        let lower: Vec<f64> = (0..=steps).map(at).collect();
        Self { upper: lower.clone(), lower }
    }

    /// Takes the maximum with `count` independent times of the distribution `other`.
    pub(crate) fn multiply(&mut self, other: &Self, count: u32) {
        let power = |p: f64| if count == 1 { p } else { p.powf(f64::from(count)) };
        self.lower.iter_mut().zip(&other.lower).for_each(|(own, p)| *own *= power(*p));
        self.upper.iter_mut().zip(&other.upper).for_each(|(own, p)| *own *= power(*p));
    }

    /// Adds the distribution `other`, multiplied by a share.
    pub(crate) fn add(&mut self, other: &Self, share: f64) {
        self.lower.iter_mut().zip(&other.lower).for_each(|(own, p)| *own += share * p);
        self.upper.iter_mut().zip(&other.upper).for_each(|(own, p)| *own = (*own + share * p).min(1.0));
    }

    /// Adds `fixed` \[s\] to the time.
    pub(crate) fn delay(&mut self, fixed: f64, step: f64) {
        if fixed == 0.0 {
            return;
        }
        let by = fixed / step;
        // if `fixed` is a whole number of steps up to rounding, use the grid points on both sides of it
        let near = (by - by.round()).abs() < 1e-9;
        let (least, most) = if near { (by.round() - 1.0, by.round() + 1.0) } else { (by.floor(), by.ceil()) };
        let shifted = |values: &[f64], by: usize| {
            let none = std::iter::repeat_n(0.0, by.min(values.len()));
            none.chain(values.iter().copied()).take(values.len()).collect::<Vec<_>>()
        };
        self.lower = shifted(&self.lower, most as usize);
        self.upper = shifted(&self.upper, least.max(0.0) as usize);
    }

    /// Adds an exponential stage to the time.
    ///
    /// ```text
    /// H(i) = e^(-μh) H(i-1) + ∫_0^h F(ih − u) μ e^(-μu) du      with F between its values at both ends of the step h
    /// ```
    pub(crate) fn then_stage(&mut self, stage: &Stage, step: f64) {
        let count = self.lower.len();
        let (mut lower, mut upper) = (vec![0.0; count], vec![0.0; count]);
        for &(probability, rate) in stage {
            let (keep, take) = ((-rate * step).exp(), -(-rate * step).exp_m1());
            let (mut low, mut high) = (0.0, 0.0);
            for i in 1..count {
                low = keep * low + take * self.lower[i - 1];
                high = keep * high + take * self.upper[i];
                lower[i] += probability * low;
                upper[i] += probability * high;
            }
        }
        upper.iter_mut().for_each(|p| *p = p.min(1.0));
        *self = Self { lower, upper };
    }
}

/// Returns the distribution of a fixed time followed by stages in series, from time 0.
pub(crate) fn phases(fixed: f64, stages: &[Stage], steps: usize, step: f64) -> Cdf {
    let fast = |stage: &&Stage| stage.iter().any(|(_, rate)| rate * step > FAST);
    let (late, row): (Vec<&Stage>, Vec<&Stage>) = stages.iter().partition(fast);
    let mut cdf =
        if row.is_empty() { at_once(fixed, steps, step) } else { Row::of(&row, step).follow(fixed, steps, step) };
    late.into_iter().for_each(|stage| cdf.then_stage(stage, step));
    cdf
}

/// Returns the distribution of a fixed time without stages.
fn at_once(fixed: f64, steps: usize, step: f64) -> Cdf {
    let reached = |slack: f64| move |i: usize| f64::from(u8::from(i as f64 * step >= fixed * slack));
    Cdf { lower: Cdf::of(steps, reached(1.0 + 1e-12)).lower, upper: Cdf::of(steps, reached(1.0 - 1e-12)).upper }
}

/// Stages in series as phases: the initial probabilities, and the transitions of each phase within one step.
struct Row {
    start: Vec<f64>,
    /// Rate of each phase; `next` holds its successors as pairs of phase and probability. The index after the last phase is the end.
    rates: Vec<f64>,
    next: Vec<Vec<(usize, f64)>>,
    /// Per phase: first phase that can be reached within one step, and the probability of that phase and of the
    /// following phases.
    step: Vec<(usize, Vec<f64>)>,
}

impl Row {
    fn of(stages: &[&Stage], step: f64) -> Self {
        let mut row = Self { start: Vec::new(), rates: Vec::new(), next: Vec::new(), step: Vec::new() };
        let mut first = 0;
        for (i, stage) in stages.iter().enumerate() {
            let after = first + stage.len();
            let ahead: Vec<(usize, f64)> = stages
                .get(i + 1)
                .map_or(&[][..], |next| &next[..])
                .iter()
                .enumerate()
                .map(|(j, s)| (after + j, s.0))
                .collect();
            for &(probability, rate) in *stage {
                row.start.push(if i == 0 { probability } else { 0.0 });
                row.rates.push(rate);
                row.next.push(ahead.clone());
            }
            first = after;
        }
        row.step = (0..row.rates.len()).map(|phase| row.after(phase, step)).collect();
        row
    }

    /// Returns the probabilities of the phases after `time`, starting in `phase`, by uniformisation, which has only non-negative terms.
    fn after(&self, phase: usize, time: f64) -> (usize, Vec<f64>) {
        let rate = self.rates.iter().copied().fold(0.0, f64::max);
        let count = self.rates.len();
        let (mut now, mut sum) = (vec![0.0; count - phase], vec![0.0; count - phase]);
        now[0] = 1.0;
        let mean = rate * time;
        let mut weight = (-mean).exp();
        // phases follow each other in order, so no phase after `reached` has a probability above 0
        let mut reached = 1;
        for n in 1..10_000 {
            sum[..reached].iter_mut().zip(&now).for_each(|(s, p)| *s += weight * p);
            weight *= mean / f64::from(n);
            if f64::from(n) > mean && weight < SMALL {
                break;
            }
            for i in (0..reached).rev() {
                let leaves = now[i] * (self.rates[phase + i] / rate);
                now[i] -= leaves;
                for &(to, probability) in &self.next[phase + i] {
                    now[to - phase] += leaves * probability;
                    reached = reached.max(to - phase + 1);
                }
            }
        }
        while sum.len() > 1 && sum[sum.len() - 1] < SMALL {
            sum.pop();
        }
        // the probability of staying is known more accurately than as a sum
        sum[0] = (-self.rates[phase] * time).exp();
        (phase, sum)
    }

    /// Returns the distribution at the grid points, exact up to rounding.
    fn follow(&self, fixed: f64, steps: usize, step: f64) -> Cdf {
        let first = (fixed / step).ceil() as usize;
        let mut cdf = Cdf::of(steps, |_| 0.0);
        let rest = (first as f64 * step - fixed).max(0.0);
        let mut now = vec![0.0; self.start.len()];
        for (phase, p) in self.start.iter().enumerate().filter(|(_, p)| **p > 0.0) {
            let (from, row) = self.after(phase, rest);
            now[from..].iter_mut().zip(&row).for_each(|(n, q)| *n += p * q);
        }
        let mut next = vec![0.0; now.len()];
        for i in first..=steps {
            let done = 1.0 - now.iter().sum::<f64>();
            let rounding = f64::EPSILON * (16.0 + (i - first) as f64);
            cdf.lower[i] = (done - rounding).clamp(0.0, 1.0);
            cdf.upper[i] = (done + rounding).clamp(0.0, 1.0);
            next.fill(0.0);
            for ((from, row), p) in self.step.iter().zip(&now) {
                next[*from..].iter_mut().zip(row).for_each(|(n, q)| *n += p * q);
            }
            // computing with subnormal numbers would take a hundred times as long
            next.iter_mut().filter(|n| **n < NOTHING).for_each(|n| *n = 0.0);
            std::mem::swap(&mut now, &mut next);
        }
        cdf
    }
}
