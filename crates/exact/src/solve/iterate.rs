//! Iterative solution of a part of a chain: sweeps and, if they converge too slowly, BiCGSTAB between sweeps.
//!
//! Implements the switch between the two methods, and the estimate of the remaining error.

use crate::solve::sweep::{Stop, Sweeps, repeat};

/// Number of steps of the first round of BiCGSTAB; it is doubled after each round without gain.
const STEPS: usize = 400;
/// Number of sweeps that follow a round of BiCGSTAB that broke down.
const MENDING: u32 = 20;
/// Number of rounds without gain after which BiCGSTAB stops, because rounding limits the accuracy.
const IDLE: u32 = 3;
/// Error that is accepted if rounding prevents the requested error.
const ROUNDED: f64 = 1e-9;
/// Changes of a sweep below this value are mostly rounding errors.
const NOISE: f64 = 1e-13;

/// Result of an iterative solution.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Iterated {
    /// Result of the sweeps; their count includes the allowed steps of BiCGSTAB.
    pub(crate) sweeps: Sweeps,
    /// True if BiCGSTAB was used.
    pub(crate) accelerated: bool,
}

/// Solves by both methods; if BiCGSTAB does not help, by sweeps only. `sweep` does one sweep that takes a share of each
/// step, and returns the change relative to the sum of values. `improve` changes the values by a limited number of
/// BiCGSTAB steps, and returns true on success.
///
/// The error is a product of two factors: the change of the last sweep, and the largest observed ratio of BiCGSTAB's
/// correction to the change of the preceding sweep. It is an estimate based on the slowest part of the error. The error
/// is at least the tolerance, because smaller changes and corrections are mostly rounding.
pub(crate) fn accelerated(
    x: &mut [f64],
    stop: Stop<'_>,
    mut sweep: impl FnMut(&mut [f64], f64) -> f64,
    mut improve: impl FnMut(&mut [f64], usize) -> bool,
) -> Iterated {
    let first = repeat(Stop { foresees: true, ..stop }, 1.0, |step| sweep(x, step));
    if first.converged || first.count >= stop.sweeps {
        return Iterated { sweeps: first, accelerated: false };
    }
    let mut sweep = |x: &mut [f64]| sweep(x, first.step);
    let start = x.to_vec();
    let (mut least, mut best) = (f64::INFINITY, Vec::new());
    let (mut count, mut slowness, mut steps, mut idle) = (first.count, 1.0_f64, STEPS, 0);
    while least > stop.tolerance && idle < IDLE && count < stop.sweeps && !stop.watch.stopped() {
        let error = round(x, steps, &mut slowness, &mut sweep, &mut improve);
        count += 2 + steps as u32;
        if error < 0.5 * least {
            idle = 0;
        } else {
            idle += 1;
            steps *= 2;
        }
        if error < least {
            (least, best) = (error, x.to_vec());
        }
    }
    if least <= stop.tolerance.max(ROUNDED) {
        x.copy_from_slice(&best);
        let sweeps = Sweeps { count, error: least.max(stop.tolerance), converged: true, step: first.step };
        return Iterated { sweeps, accelerated: true };
    }
    x.copy_from_slice(&start);
    let rest = repeat(Stop { sweeps: stop.sweeps - first.count, ..stop }, first.step, |_| sweep(x));
    Iterated { sweeps: Sweeps { count: count + rest.count, ..rest }, accelerated: false }
}

/// Runs a round of BiCGSTAB between two sweeps, and returns the remaining error. If BiCGSTAB breaks down, restores the values,
/// runs some sweeps instead and returns infinity.
fn round(
    x: &mut [f64],
    steps: usize,
    slowness: &mut f64,
    sweep: &mut impl FnMut(&mut [f64]) -> f64,
    improve: &mut impl FnMut(&mut [f64], usize) -> bool,
) -> f64 {
    let change = sweep(x);
    let before = x.to_vec();
    if improve(x, steps) {
        let total: f64 = x.iter().sum();
        let moved: f64 = x.iter().zip(&before).map(|(new, old)| (new - old).abs()).sum();
        let error = sweep(x);
        if error.is_finite() {
            if change > NOISE {
                *slowness = slowness.max(moved / total / change);
            }
            return error * *slowness;
        }
    }
    x.copy_from_slice(&before);
    (0..MENDING).for_each(|_| {
        sweep(x);
    });
    f64::INFINITY
}

#[cfg(test)]
mod tests {
    use approx::assert_relative_eq;

    use crate::solve::chain::Chain;
    use crate::solve::chain::tests::chain_of;
    use crate::solve::{LinearError, LinearMethod, LinearSettings, SteadyError, absorption, steady_state};

    /// `tokens` customers circulate through three stations; the steady state is a product of powers.
    fn ring_of_queues(tokens: u32, rates: [f64; 3]) -> (Chain, Vec<f64>) {
        let states: Vec<[u32; 3]> =
            (0..=tokens).flat_map(|a| (0..=tokens - a).map(move |b| [a, b, tokens - a - b])).collect();
        let number = |state: [u32; 3]| states.binary_search(&state).unwrap() as u32;
        let mut arrows = Vec::new();
        for &state in &states {
            for station in (0..3).filter(|&station| state[station] > 0) {
                let mut next = state;
                next[station] -= 1;
                next[(station + 1) % 3] += 1;
                arrows.push((number(state), number(next), rates[station]));
            }
        }
        let weight =
            |state: &[u32; 3]| state.iter().zip(rates).map(|(&n, rate)| rate.powi(-n.cast_signed())).product::<f64>();
        let weights: Vec<f64> = states.iter().map(weight).collect();
        let total: f64 = weights.iter().sum();
        (chain_of(states.len(), &arrows), weights.into_iter().map(|w| w / total).collect())
    }

    fn by(method: LinearMethod) -> LinearSettings<'static> {
        LinearSettings { method, ..LinearSettings::default() }
    }

    /// The product form is the reference; sweeps alone do not converge.
    #[test]
    fn queues_near_saturation_have_their_product_form() {
        let (chain, exact) = ring_of_queues(100, [1.0, 1.01, 0.99]);
        let steady = steady_state(&chain, &by(LinearMethod::BiCgStab)).unwrap();
        let outcome = steady.classes[0].outcome;
        assert_eq!(outcome.method, LinearMethod::BiCgStab);
        let apart: f64 = steady.probabilities.iter().zip(&exact).map(|(a, b)| (a - b).abs()).sum();
        assert!(apart < 1e-11 && apart < outcome.error && outcome.error < 1e-10, "{apart:e} {outcome:?}");
        let alone = steady_state(&chain, &by(LinearMethod::GaussSeidel));
        assert!(matches!(alone, Err(SteadyError::Linear(LinearError::NotConverged { .. }))), "{alone:?}");
    }

    /// A walk goes up and down at 1/s each until it has climbed n steps: n - i seconds are expected at step i, by the Green's
    /// function of a walk that is reflected at 0.
    #[test]
    fn a_long_climb_has_its_expected_times() {
        let steps = 2_000_u32;
        let up = (0..steps).map(|i| (i, i + 1, 1.0));
        let down = (1..steps).map(|i| (i, i - 1, 1.0));
        let chain = chain_of(steps as usize + 1, &up.chain(down).collect::<Vec<_>>());
        let mut target = vec![false; steps as usize + 1];
        target[steps as usize] = true;
        let found = absorption(&chain, &target, &by(LinearMethod::BiCgStab)).unwrap();
        assert_eq!((found.outcome.method, found.probability), (LinearMethod::BiCgStab, 1.0));
        for (step, time) in (0..steps).zip(&found.times) {
            assert_relative_eq!(*time, f64::from(steps - step), max_relative = 1e-8, epsilon = 1e-8);
        }
    }

    #[test]
    fn an_easy_system_needs_sweeps_only() {
        let (chain, _) = ring_of_queues(5, [1.0, 2.0, 3.0]);
        let outcome = steady_state(&chain, &by(LinearMethod::BiCgStab)).unwrap().classes[0].outcome;
        assert_eq!(outcome.method, LinearMethod::GaussSeidel);
    }
}
