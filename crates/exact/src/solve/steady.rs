//! The long-run probabilities of a chain: each recurrent class is solved separately and weighted by the probability of ending in it.

use std::borrow::Cow;

use crate::solve::absorb::TransientPart;
use crate::solve::chain::{Chain, ChainProblem, OUTSIDE};
use crate::solve::components::Components;
use crate::solve::linear::{LinearError, LinearOutcome, LinearSettings, Part};

/// A set of states that is never left once it is entered, and that contains no smaller such set.
#[derive(Clone, Debug, PartialEq)]
pub struct RecurrentClass {
    /// States of the class, in ascending order. A class of one state is absorbing.
    pub states: Vec<u32>,
    /// Probability of ending in this class.
    pub probability: f64,
    /// Method and accuracy of the class's steady state.
    pub outcome: LinearOutcome,
}

/// The distribution of a chain in the long run.
#[derive(Clone, Debug, PartialEq)]
pub struct Steady {
    /// Per state: share of time in the long run, averaged over the class in which the chain ends. The shares sum to 1.
    pub probabilities: Vec<f64>,
    /// The reachable recurrent classes, in the order of their first state.
    pub classes: Vec<RecurrentClass>,
    /// Method and accuracy of the classes' probabilities; substitution if there is only one class.
    pub absorption: LinearOutcome,
    /// Share of the flow between states that does not balance: the sum of `|πQ|` divided by the sum of `π_i q_i`. It is computed
    /// from the result `π`, independently of the method. 0 if all classes are single states.
    pub residual: f64,
}

/// Reason why the steady state of a chain cannot be computed.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SteadyError {
    /// The chain has no states.
    #[error("the chain has no states")]
    Empty,
    /// The chain is not a Markov chain.
    #[error(transparent)]
    Chain(#[from] ChainProblem),
    /// A system of equations was not solved. Its error suggests a remedy.
    #[error(transparent)]
    Linear(#[from] LinearError),
}

/// Returns the steady state of a chain for its initial probabilities.
///
/// ```text
/// π = Σ_C P(end in C) π_C,   π_C Q_C = 0,   Σ π_C = 1
/// ```
///
/// Strong components give the recurrent classes `C`. A class is solved by elimination without subtraction
/// if that takes only seconds, exact up to rounding; otherwise by Gauss-Seidel, to an estimated relative
/// error of `tolerance`. Time averages always converge to the steady state, and so do probabilities, because a chain
/// in continuous time has no period. Sources: \[Grassmann1985\], \[Stewart1994\].
///
/// # Errors
///
/// All variants of [`SteadyError`].
///
/// # Examples
///
/// ```
/// use tailspn_exact::solve::{Chain, LinearSettings, Rates, steady_state};
///
/// // up for 9 s on average, down for 1 s
/// let rates = Rates::from_rows([vec![(1, 1.0 / 9.0)], vec![(0, 1.0)]]);
/// let chain = Chain { rates, initial: vec![(0, 1.0)] };
/// let steady = steady_state(&chain, &LinearSettings::default()).unwrap();
/// assert!((steady.probabilities[0] - 0.9).abs() < 1e-15);
/// ```
pub fn steady_state(chain: &Chain, settings: &LinearSettings<'_>) -> Result<Steady, SteadyError> {
    if chain.states() == 0 {
        return Err(SteadyError::Empty);
    }
    chain.check()?;
    let reached = chain.reachable(|_| false);
    let components = Components::of(&chain.rates);
    let closed = components.recurrent(&chain.rates);
    let mut recurrent = closed.into_iter().filter(|&c| reached[components.states.row(c as usize)[0] as usize]);
    let recurrent: Vec<u32> = recurrent.by_ref().collect();
    let (weights, absorption) = class_probabilities(chain, &components, &recurrent, &reached, settings)?;
    let mut probabilities = vec![0.0; chain.states()];
    let mut classes = Vec::with_capacity(recurrent.len());
    let mut number = vec![OUTSIDE; chain.states()];
    for (&component, probability) in recurrent.iter().zip(weights) {
        let states = components.states.row(component as usize);
        let (local, outcome) = class_steady(chain, states, &mut number, settings)?;
        for (&state, p) in states.iter().zip(local) {
            probabilities[state as usize] = probability * p;
        }
        classes.push(RecurrentClass { states: states.to_vec(), probability, outcome });
    }
    let residual = residual(chain, &probabilities);
    Ok(Steady { probabilities, classes, absorption, residual })
}

/// Returns the steady state within one class. All entries of `number` are [`OUTSIDE`] before and after the call.
fn class_steady<'a>(
    chain: &'a Chain,
    states: &[u32],
    number: &mut [u32],
    settings: &LinearSettings<'a>,
) -> Result<(Vec<f64>, LinearOutcome), LinearError> {
    if states.len() == 1 {
        return Ok((vec![1.0], LinearOutcome::NONE));
    }
    if states.len() == chain.states() {
        // no copy of the rates, which are most of the memory
        return Part::new(Cow::Borrowed(&chain.rates), vec![0.0; states.len()], *settings)?.steady();
    }
    for (i, &state) in (0..).zip(states) {
        number[state as usize] = i;
    }
    let (rates, slack) = chain.restricted(states, number);
    for &state in states {
        number[state as usize] = OUTSIDE;
    }
    Part::new(Cow::Owned(rates), slack, *settings)?.steady()
}

/// Returns the probability of ending in each of the classes.
fn class_probabilities(
    chain: &Chain,
    components: &Components,
    recurrent: &[u32],
    reached: &[bool],
    settings: &LinearSettings,
) -> Result<(Vec<f64>, LinearOutcome), LinearError> {
    if recurrent.len() == 1 {
        return Ok((vec![1.0], LinearOutcome::NONE));
    }
    let mut class_of = vec![OUTSIDE; components.count()];
    for (i, &component) in (0..).zip(recurrent) {
        class_of[component as usize] = i;
    }
    let class = |state: u32| class_of[components.of[state as usize] as usize];
    let transient: Vec<u32> =
        (0..).zip(reached).filter(|&(state, seen)| *seen && class(state) == OUTSIDE).map(|(state, _)| state).collect();
    let part = TransientPart::new(chain, transient, *settings)?;
    let initial = chain.initial_vector();
    let (times, outcome) = part.expected_times(&initial)?;
    let mut weights = vec![0.0; recurrent.len()];
    for &(state, _) in chain.initial.iter().filter(|(state, _)| class(*state) != OUTSIDE) {
        weights[class(state) as usize] += initial[state as usize];
    }
    for (&state, time) in part.states.iter().zip(times) {
        for (to, rate) in chain.rates.row(state as usize).filter(|(to, _)| class(*to) != OUTSIDE) {
            weights[class(to) as usize] += time * rate;
        }
    }
    let total: f64 = weights.iter().sum();
    weights.iter_mut().for_each(|w| *w /= total);
    Ok((weights, outcome))
}

/// See [`Steady::residual`].
fn residual(chain: &Chain, probabilities: &[f64]) -> f64 {
    let mut balance = vec![0.0; chain.states()];
    let mut flow = 0.0;
    for (from, p) in probabilities.iter().enumerate().filter(|(_, p)| **p > 0.0) {
        for (to, rate) in chain.rates.row(from) {
            balance[to as usize] += p * rate;
            balance[from] -= p * rate;
            flow += p * rate;
        }
    }
    if flow > 0.0 { balance.iter().map(|b| b.abs()).sum::<f64>() / flow } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::solve::chain::tests::{birth_death, chain_of, random_chain};
    use crate::solve::linear::LinearMethod;
    use crate::solve::rates::Rates;
    use approx::assert_relative_eq;

    fn by(chain: &Chain, method: LinearMethod) -> Steady {
        steady_state(chain, &LinearSettings { method, ..LinearSettings::default() }).unwrap()
    }

    fn steady(chain: &Chain) -> Steady {
        by(chain, LinearMethod::Auto)
    }

    #[test]
    fn a_full_queue_has_its_closed_form() {
        let (birth, death, last) = (1.0, 2.0, 30);
        let rho: f64 = birth / death;
        for method in [LinearMethod::Elimination, LinearMethod::GaussSeidel] {
            let steady = by(&birth_death(last, birth, death), method);
            for n in 0..=last as i32 {
                let exact = rho.powi(n) * (1.0 - rho) / (1.0 - rho.powi(last as i32 + 1));
                let relative = if method == LinearMethod::Elimination { 1e-13 } else { 0.0 };
                let p = steady.probabilities[n as usize];
                assert!((p - exact).abs() <= 1e-12_f64.min(exact * 1e-3).max(relative * exact), "{method:?} {n} {p}");
            }
            assert!(steady.residual < 1e-12);
            assert_eq!((steady.classes.len(), steady.classes[0].outcome.method), (1, method));
        }
    }

    #[test]
    fn methods_agree_on_random_chains() {
        for (seed, states) in (0..8).zip([2, 3, 10, 40, 100, 200, 400, 700]) {
            let chain = random_chain(states, 4, 2.0, seed);
            let exact = by(&chain, LinearMethod::Elimination);
            assert!(exact.residual < 1e-14, "{states}: {}", exact.residual);
            assert!((exact.probabilities.iter().sum::<f64>() - 1.0).abs() < 1e-13);
            for method in [LinearMethod::GaussSeidel, LinearMethod::BiCgStab] {
                let other = by(&chain, method);
                for (a, b) in exact.probabilities.iter().zip(&other.probabilities) {
                    assert!((a - b).abs() < 1e-10 * a, "{states} {method:?}: {a} {b}");
                }
            }
        }
    }

    /// Rates from 1e-9 to 1e9. The exact answer comes from detailed balance, which holds for a birth-death chain.
    #[test]
    fn stiff_chains_are_exact_in_every_state() {
        let rates: Vec<(f64, f64)> =
            (0..40).map(|i| (10_f64.powi((i * 7) % 19 - 9), 10_f64.powi((i * 5) % 19 - 9))).collect();
        let up = (0..).zip(&rates).map(|(i, r)| (i, i + 1, r.0));
        let down = (0..).zip(&rates).map(|(i, r)| (i + 1, i, r.1));
        let chain = chain_of(41, &up.chain(down).collect::<Vec<_>>());
        let mut exact = vec![1.0_f64];
        for (up, down) in &rates {
            exact.push(exact[exact.len() - 1] * (up / down));
        }
        let total: f64 = exact.iter().sum();
        let steady = steady(&chain);
        for (p, e) in steady.probabilities.iter().zip(&exact) {
            assert_relative_eq!(*p, e / total, max_relative = 1e-12);
        }
        assert!(exact.iter().copied().fold(f64::MAX, f64::min) / total < 1e-20);
    }

    /// Two groups that are connected by one in 1e14 steps: sweeps cannot determine their shares and report this, elimination can. By the
    /// symmetry of the rates between the groups, the shares are 1/4 and 3/4.
    #[test]
    fn weakly_coupled_groups_have_their_shares() {
        let mut rates = Vec::new();
        for group in [0, 3] {
            rates.extend([(group, group + 1, 1.0), (group + 1, group + 2, 2.0), (group + 2, group, 3.0)]);
        }
        rates.extend([(0, 3, 3e-14), (3, 0, 1e-14)]);
        let chain = chain_of(6, &rates);
        let steady = steady(&chain);
        let share: f64 = steady.probabilities[..3].iter().sum();
        assert_relative_eq!(share, 0.25, max_relative = 1e-11);
        let sweeps = LinearSettings { method: LinearMethod::GaussSeidel, ..LinearSettings::default() };
        assert!(matches!(
            steady_state(&chain, &sweeps),
            Err(SteadyError::Linear(LinearError::WeaklyCoupled { states: 6, groups: 2 }))
        ));
    }

    #[test]
    fn several_classes_are_weighted_by_the_chance_of_ending_there() {
        // 0 leaves to a pair {1, 2} with 1/s, to the absorbing 3 with 2/s and to 4, which leads to 3 or back to 0
        let chain = chain_of(
            6,
            &[(0, 1, 1.0), (0, 3, 2.0), (0, 4, 1.0), (4, 0, 1.0), (4, 3, 1.0), (1, 2, 1.0), (2, 1, 3.0), (5, 0, 1.0)],
        );
        let steady = steady(&chain);
        let classes: Vec<_> = steady.classes.iter().map(|c| (c.states.clone(), c.probability)).collect();
        assert_eq!(classes[0].0, [1, 2]);
        assert_eq!(classes[1].0, [3]);
        // from 0: 1/4 + 1/8 p = p, so p = 2/7
        assert_relative_eq!(classes[0].1, 2.0 / 7.0, max_relative = 1e-14);
        assert_relative_eq!(steady.probabilities[1], 2.0 / 7.0 * 0.75, max_relative = 1e-14);
        assert_relative_eq!(steady.probabilities[3], 5.0 / 7.0, max_relative = 1e-14);
        assert_eq!([0, 4, 5].map(|s| steady.probabilities[s]), [0.0; 3]);
        // starting inside a class
        let inside = Chain { initial: vec![(2, 0.5), (3, 0.5)], ..chain };
        let steady = steady_state(&inside, &LinearSettings::default()).unwrap();
        assert_relative_eq!(steady.probabilities[3], 0.5, max_relative = 1e-15);
    }

    #[test]
    fn one_state_is_certain_and_an_empty_chain_is_refused() {
        let one = Chain { rates: Rates::from_rows([vec![]]), initial: vec![(0, 1.0)] };
        let steady = steady(&one);
        assert_eq!((steady.probabilities, steady.residual), (vec![1.0], 0.0));
        let none = Chain { rates: Rates::from_rows(Vec::<Vec<(u32, f64)>>::new()), initial: vec![] };
        assert_eq!(steady_state(&none, &LinearSettings::default()), Err(SteadyError::Empty));
        let wrong = Chain { initial: vec![(0, 0.4)], ..one };
        assert!(matches!(steady_state(&wrong, &LinearSettings::default()), Err(SteadyError::Chain(_))));
    }

    /// The elimination fills up, so sweeps take over; a product form of birth-death chains is the reference.
    #[test]
    fn large_chains_are_swept() {
        // two queues in series, each with capacity 60, with arrivals at 1/s
        let side = 61_u32;
        let number = |a: u32, b: u32| a * side + b;
        let mut rates = Vec::new();
        for a in 0..side {
            for b in 0..side {
                if a + 1 < side {
                    rates.push((number(a, b), number(a + 1, b), 1.0));
                }
                if a > 0 && b + 1 < side {
                    rates.push((number(a, b), number(a - 1, b + 1), 2.0));
                }
                if b > 0 {
                    rates.push((number(a, b), number(a, b - 1), 1.5));
                }
            }
        }
        let chain = chain_of((side * side) as usize, &rates);
        let swept = by(&chain, LinearMethod::GaussSeidel);
        let exact = by(&chain, LinearMethod::Elimination);
        assert!(swept.classes[0].outcome.sweeps > 10 && swept.residual < 1e-12);
        let apart: f64 = swept.probabilities.iter().zip(&exact.probabilities).map(|(a, b)| (a - b).abs()).sum();
        assert!(apart < 1e-10, "{apart}");
        // far from the limits it is the product of two geometric distributions with 1/2 and 2/3
        let ratio = exact.probabilities[number(0, 1) as usize] / exact.probabilities[0];
        assert_relative_eq!(ratio, 2.0 / 3.0, max_relative = 1e-6);
    }

    /// Seconds per sweep of a million states: `cargo test --release --lib -- --ignored million --nocapture`.
    #[test]
    #[ignore = "a measurement, not a check; see docs/solve.md"]
    fn a_million_states() {
        let side = 1_000_u32;
        let rows = (0..side * side).map(|s| {
            let (a, b) = (s / side, s % side);
            let mut row = Vec::with_capacity(3);
            if b > 0 {
                row.push((s - 1, 1.5));
            }
            if a > 0 && b + 1 < side {
                row.push((s - side + 1, 2.0));
            }
            if a + 1 < side {
                row.push((s + side, 1.0));
            }
            row.sort_by_key(|&(to, _)| to);
            row
        });
        let tandem = Chain { rates: Rates::from_rows(rows), initial: vec![(0, 1.0)] };
        for (name, chain) in [("tandem", tandem), ("birth-death", birth_death(999_999, 1.0, 1.001))] {
            for method in [LinearMethod::Auto, LinearMethod::GaussSeidel] {
                let settings = LinearSettings { method, sweeps: 2_000, ..LinearSettings::default() };
                let started = std::time::Instant::now();
                match steady_state(&chain, &settings) {
                    Ok(steady) => {
                        println!("{name} {method:?}: {:?}, {:?}", started.elapsed(), steady.classes[0].outcome);
                    }
                    Err(error) => println!("{name} {method:?}: {:?}, {error}", started.elapsed()),
                }
            }
        }
    }
}
