//! Gauss-Seidel sweeps over the states of a part of a chain, and their stop condition.
//!
//! Each sweep recomputes the value of each state from the newest values of its neighbours \[Stewart1994\]. The remaining
//! error is estimated from the rate at which changes shrink; the caller computes the residual. If changes do not
//! shrink (a periodic part in an unlucky order), only a share of each step is taken, which always converges.

use crate::solve::rates::Rates;
use crate::watch::Watch;

/// Result of the sweeps.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sweeps {
    /// Number of sweeps.
    pub(crate) count: u32,
    /// Estimated error of the solution relative to the sum of its values.
    pub(crate) error: f64,
    /// True if `error` is below the requested error.
    pub(crate) converged: bool,
    /// Share of each step that was taken in the end.
    pub(crate) step: f64,
}

/// Condition to stop.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stop<'a> {
    /// Estimated relative error to reach.
    pub(crate) tolerance: f64,
    /// Maximum number of sweeps.
    pub(crate) sweeps: u32,
    /// If true, stops early if the remaining sweeps will not suffice at the current rate of convergence.
    pub(crate) foresees: bool,
    /// Source of stop requests before convergence.
    pub(crate) watch: &'a dyn Watch,
}

/// Number of sweeps whose changes determine the rate of convergence.
const WINDOW: u32 = 10;
/// Changes below this are mostly rounding and do not determine the rate of convergence.
const ROUNDING: f64 = 1e-13;
/// Share of a step that is taken if full steps do not converge.
const DAMPED: f64 = 0.9;
/// Number of sweeps between two extrapolations.
const LOOK: u32 = 300;
/// If a sweep changes values by more than this limit, values are still propagating. In a full queue, values propagate
/// from the empty end by about one state per sweep. After that, the values converge quickly.
const MOVING: f64 = 1e-4;
/// Maximum number of sweeps for such a propagation.
const JOURNEY: u32 = 6_000;
/// Number of sweeps after which steps are damped if changes have not become smaller.
const PATIENCE: u32 = 50;

/// Tracks the changes from sweep to sweep.
struct Progress<'a> {
    stop: Stop<'a>,
    count: u32,
    before: f64,
    ratio: f64,
    step: f64,
}

impl<'a> Progress<'a> {
    fn new(stop: Stop<'a>, step: f64) -> Self {
        Self { stop, count: 0, before: f64::INFINITY, ratio: 1.0, step }
    }

    /// Returns true if the remaining sweeps will not suffice for this error at the current rate of convergence. Damped steps
    /// always get all sweeps, because their rate does not predict convergence.
    fn is_hopeless(&self, change: f64, error: f64) -> bool {
        if !self.stop.foresees || !self.count.is_multiple_of(LOOK) || self.step < 1.0 {
            return false;
        }
        if change > MOVING && self.count < JOURNEY {
            return false;
        }
        let needed = (error / self.stop.tolerance).ln() / -self.ratio.ln();
        // also true if changes do not shrink at all, so that the error is unknown
        !(self.ratio < 1.0 && needed <= f64::from(self.stop.sweeps - self.count))
    }

    /// Processes the change of a sweep, relative to the sum of values; returns the result if the sweeps are to stop.
    fn after(&mut self, change: f64) -> Option<Sweeps> {
        self.count += 1;
        if change == 0.0 {
            return Some(Sweeps { count: self.count, error: 0.0, converged: true, step: self.step });
        }
        if self.stop.watch.stopped() {
            return Some(Sweeps { count: self.count, error: f64::INFINITY, converged: false, step: self.step });
        }
        if self.count.is_multiple_of(WINDOW) {
            if change > ROUNDING && self.before.is_finite() {
                self.ratio = (change / self.before).powf(1.0 / f64::from(WINDOW));
            }
            self.before = change;
            if self.count >= PATIENCE && self.ratio > 1.0 - 1e-9 && change > 1e-6 {
                self.step = DAMPED;
            }
            let error = if self.ratio < 1.0 { change * self.ratio / (1.0 - self.ratio) } else { f64::INFINITY };
            let error = error.max(f64::EPSILON);
            let converged = error <= self.stop.tolerance;
            let over =
                self.count >= self.stop.sweeps || change < f64::EPSILON / 16.0 || self.is_hopeless(change, error);
            if converged || over {
                return Some(Sweeps { count: self.count, error, converged, step: self.step });
            }
        }
        None
    }
}

/// Repeats sweeps until `stop`, initially with the given share of each step. `sweep` does one sweep with a share, and returns
/// the change relative to the sum of values.
pub(crate) fn repeat(stop: Stop<'_>, step: f64, mut sweep: impl FnMut(f64) -> f64) -> Sweeps {
    let mut progress = Progress::new(stop, step);
    loop {
        let change = sweep(progress.step);
        if let Some(outcome) = progress.after(change) {
            return outcome;
        }
    }
}

/// Runs one sweep of `x_j = flow into j / exit_j` for a steady state, and scales `x` to sum to 1.
pub(crate) fn steady(incoming: &Rates, exit: &[f64], x: &mut [f64], step: f64) -> f64 {
    let (mut change, mut total) = (0.0, 0.0);
    for state in 0..x.len() {
        let new = incoming.flow(state, x) / exit[state];
        let new = if step < 1.0 { x[state] + step * (new - x[state]) } else { new };
        change += (new - x[state]).abs();
        total += new;
        x[state] = new;
    }
    x.iter_mut().for_each(|v| *v /= total);
    change / total
}

/// Runs one sweep for `(D − R) x = b`, from the last state to the first.
pub(crate) fn right(rates: &Rates, exit: &[f64], b: &[f64], x: &mut [f64]) -> f64 {
    let (mut change, mut total) = (0.0, 0.0);
    for state in (0..x.len()).rev() {
        let ahead: f64 = rates.row(state).map(|(to, q)| q * x[to as usize]).sum();
        let new = (b[state] + ahead) / exit[state];
        change += (new - x[state]).abs();
        total += new;
        x[state] = new;
    }
    if total > 0.0 { change / total } else { 0.0 }
}

/// Runs one sweep for `y (D − R) = c`, from the first state to the last.
pub(crate) fn left(incoming: &Rates, exit: &[f64], c: &[f64], y: &mut [f64]) -> f64 {
    let (mut change, mut total) = (0.0, 0.0);
    for state in 0..y.len() {
        let new = (c[state] + incoming.flow(state, y)) / exit[state];
        change += (new - y[state]).abs();
        total += new;
        y[state] = new;
    }
    if total > 0.0 { change / total } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::solve::chain::Chain;
    use crate::solve::chain::tests::{birth_death, chain_of};
    use crate::watch::Unwatched;

    fn steadily(chain: &Chain, x: &mut [f64], stop: Stop<'_>) -> Sweeps {
        let (incoming, exit) = (chain.rates.transposed(), chain.exit_rates());
        repeat(stop, 1.0, |step| steady(&incoming, &exit, x, step))
    }

    const STOP: Stop<'_> = Stop { tolerance: 1e-13, sweeps: 10_000, foresees: false, watch: &Unwatched };

    #[test]
    fn a_queue_converges_to_its_geometric_law() {
        let chain = birth_death(20, 1.0, 2.0);
        let mut x = vec![1.0 / 21.0; 21];
        let sweeps = steadily(&chain, &mut x, STOP);
        assert!(sweeps.converged && sweeps.count < 1_000, "{sweeps:?}");
        for i in 0..20 {
            assert!((x[i + 1] / x[i] - 0.5).abs() < 1e-7, "{i}");
        }
    }

    /// Without damping, the values would oscillate forever: in this order, all states except one see only old values.
    #[test]
    fn a_periodic_circle_in_the_unlucky_order_converges() {
        let n = 7_u32;
        let circle: Vec<_> = (0..n).map(|i| ((i + 1) % n, i, 1.0)).collect();
        let chain = chain_of(n as usize, &circle);
        let mut x: Vec<f64> = (1..=n).map(f64::from).collect();
        let sweeps = steadily(&chain, &mut x, STOP);
        assert!(sweeps.converged, "{sweeps:?}");
        assert!(x.iter().all(|v| (v - 1.0 / 7.0).abs() < 1e-12), "{x:?}");
    }

    /// Values propagate down through all states before they converge; until then, the rate of change does not predict convergence.
    #[test]
    fn sweeps_continue_while_values_travel_along_a_long_chain() {
        let chain = birth_death(1_500, 1.0, 4.0);
        let mut x: Vec<f64> = (0..1_501).map(|i| f64::from(u8::from(i > 1_400))).collect();
        let sweeps = steadily(&chain, &mut x, Stop { foresees: true, ..STOP });
        assert!(sweeps.converged && sweeps.count > 2 * LOOK, "{sweeps:?}");
        assert!((x[0] - 0.75).abs() < 1e-9);
    }

    #[test]
    fn too_few_sweeps_are_no_convergence() {
        let chain = birth_death(200, 1.0, 1.0);
        let mut x: Vec<f64> = (0..201).map(f64::from).collect();
        let few = Stop { sweeps: 100, ..STOP };
        assert!(!steadily(&chain, &mut x, few).converged);
    }
}
