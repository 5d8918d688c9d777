//! The long run of nets with fixed delays.
//!
//! The states in which a delay starts or is dropped, together with the states in which no fixed delay runs, form a Markov
//! chain:
//!
//! ```text
//! P(s, ·): distribution of the next of these states after s,   C(s, u): mean time in u before the next one
//! π P = π,   p(u) = Σ_s π(s) C(s, u) / Σ_s π(s) Σ_v C(s, v)
//! ```
//!
//! `P` and `C` follow from transient probabilities and sojourn times at the end of the delay. Source:
//! \[AjmoneMarsanChiola1987\].

use crate::solve::averages::Averages;
use crate::solve::chain::Chain;
use crate::solve::explore_error::ExploreError;
use crate::solve::fixed_delays::grid::{MOST_RELATIVE_JUMPS, OMITTED_SHARE};
use crate::solve::fixed_delays::{FixedDelayError, FixedDelayStates, Play, averages};
use crate::solve::linear::LinearSettings;
use crate::solve::rates::Rates;
use crate::solve::reach::summed;
use crate::solve::steady::{Steady, steady_state};
use crate::solve::transient::{Transient, TransientError, TransientSettings, transient};

/// The long run of a net with fixed delays.
#[derive(Clone, Debug)]
pub struct FixedDelaySteady {
    /// Shares of time, per state, and the recurrent classes.
    pub steady: Steady,
    /// Bound of the sum of absolute errors of the transient probabilities used: truncation and rounding.
    pub error: f64,
    /// Per state: the enabled transition with a fixed delay, and its firings per second in this state.
    firings: Vec<Option<(u32, f64)>>,
}

impl FixedDelayStates {
    /// Returns the shares of time in the long run.
    ///
    /// Exact up to [`FixedDelaySteady::error`] and the accuracy of the linear solver. The work is one transient solution for
    /// each state in which a fixed delay can start.
    ///
    /// # Errors
    ///
    /// [`FixedDelayError::TooLarge`], [`FixedDelayError::Transient`] and [`FixedDelayError::Steady`].
    pub fn steady(
        &self,
        linear: &LinearSettings<'_>,
        times: &TransientSettings<'_>,
    ) -> Result<FixedDelaySteady, FixedDelayError> {
        let mut embedded = Embedded::new(self, times);
        embedded.fill(self.initial())?;
        let mut steady = steady_state(&embedded.chain(self.initial()), linear)?;
        let shares = std::mem::replace(&mut steady.probabilities, vec![0.0; self.space.states()]);
        let mut firings: Vec<Option<(u32, f64)>> = self.no_firings().collect();
        for class in &mut steady.classes {
            let starts = class.states.iter().map(|&at| (embedded.entries[at as usize], shares[at as usize])).collect();
            let Cycle { stays, fired } = embedded.cycle(starts)?;
            let per_second = class.probability / stays.iter().map(|(_, stay)| stay).sum::<f64>();
            for &(state, stay) in &stays {
                steady.probabilities[state as usize] += stay * per_second;
            }
            for (state, share) in fired {
                if let Some((_, flow)) = &mut firings[state as usize] {
                    *flow += share * per_second;
                }
            }
            class.states = stays.iter().map(|&(state, _)| state).collect();
            class.states.sort_unstable();
        }
        Ok(FixedDelaySteady { steady, error: embedded.error, firings })
    }

    /// Returns the averages over the long run, including the throughputs of the transitions with fixed delays.
    ///
    /// # Errors
    ///
    /// The errors of [`explore`](crate::solve::explore).
    pub fn steady_averages(&self, found: &FixedDelaySteady) -> Result<Averages, ExploreError> {
        averages(&self.space, &self.program, &found.steady.probabilities, &found.firings)
    }
}

/// The behaviour during one fixed delay: a chain over the states in which the delay runs and the states in which it was dropped.
struct Part {
    /// States of this chain: first the states in which the delay runs, then the other states.
    states: Vec<u32>,
    own: usize,
    rates: Rates,
    values: Vec<(f64, f64)>,
}

/// The states at the end of a fixed delay, for given states at its start.
struct After {
    /// States in which the delay was dropped, with probabilities.
    dropped: Vec<(u32, f64)>,
    /// States in which the delay ended, with probabilities.
    fired: Vec<(u32, f64)>,
    /// Mean times in the states during the delay \[s\].
    stays: Vec<(u32, f64)>,
    error: f64,
}

impl Part {
    fn new(play: &Play, f: u32, values: Vec<(f64, f64)>) -> Self {
        let mut states: Vec<u32> =
            (0..).zip(&play.fixed).filter(|(_, fixed)| **fixed == Some(f)).map(|(state, _)| state).collect();
        let own = states.len();
        let leads_to = states.iter().flat_map(|&state| play.rates.states(state as usize)).copied();
        let mut outside: Vec<u32> = leads_to.filter(|&to| play.fixed[to as usize] != Some(f)).collect();
        outside.sort_unstable();
        outside.dedup();
        states.extend(&outside);
        let local = |state: u32| {
            let (inside, outside) = states.split_at(own);
            let found = if play.fixed[state as usize] == Some(f) {
                inside.binary_search(&state)
            } else {
                outside.binary_search(&state).map(|at| own + at)
            };
            found.unwrap_or_default() as u32
        };
        let row = |at: usize| {
            let from = (at < own).then(|| play.rates.row(states[at] as usize)).into_iter().flatten();
            let mut row: Vec<(u32, f64)> = from.map(|(to, rate)| (local(to), rate)).collect();
            row.sort_by_key(|&(to, _)| to);
            row
        };
        Self { own, rates: Rates::from_rows((0..states.len()).map(row)), values, states }
    }

    /// Returns settings with which small probabilities have few relative errors, too: the sums have only positive terms, and
    /// hardly any terms are omitted. Long walks keep the given settings, because they may end early.
    fn relative<'w>(&self, settings: &TransientSettings<'w>, times: &[f64]) -> TransientSettings<'w> {
        let rates = (0..self.own).map(|at| self.rates.row(at).map(|(_, rate)| rate).sum::<f64>());
        let jumps = rates.fold(0.0, f64::max) * times.iter().copied().fold(0.0, f64::max);
        let error = if jumps <= MOST_RELATIVE_JUMPS { OMITTED_SHARE } else { settings.error };
        TransientSettings { error, ..*settings }
    }

    /// Returns the end of the delay if it starts in the given states; their weights need not sum to 1. None if all weights are 0.
    fn after(&self, starts: &[(u32, f64)], settings: &TransientSettings<'_>) -> Result<Option<After>, TransientError> {
        let weight: f64 = starts.iter().map(|&(_, share)| share).sum();
        if weight <= 0.0 {
            return Ok(None);
        }
        let local = |state: u32| self.states[..self.own].binary_search(&state).unwrap_or_default() as u32;
        let mut initial: Vec<(u32, f64)> =
            starts.iter().map(|&(state, share)| (local(state), share / weight)).collect();
        initial.sort_by_key(|&(state, _)| state);
        let chain = Chain { rates: self.rates.clone(), initial };
        let times: Vec<f64> = self.values.iter().map(|&(time, _)| time).collect();
        let found: Transient = transient(&chain, &times, &self.relative(settings, &times))?;
        let mix = |of: &[Vec<f64>], at: usize| {
            weight * of.iter().zip(&self.values).map(|(of, &(_, share))| share * of[at]).sum::<f64>()
        };
        let list = |of: &[Vec<f64>], range: std::ops::Range<usize>| {
            range.map(|at| (self.states[at], mix(of, at))).filter(|&(_, p)| p > 0.0).collect::<Vec<_>>()
        };
        Ok(Some(After {
            dropped: list(&found.probabilities, self.own..self.states.len()),
            fired: list(&found.probabilities, 0..self.own),
            stays: list(&found.stays, 0..self.own),
            error: found.error,
        }))
    }
}

/// The embedded chain: the states in which fixed delays begin or were dropped, and the states in which none runs.
struct Embedded<'a> {
    play: &'a Play,
    parts: Vec<Part>,
    times: &'a TransientSettings<'a>,
    most_bytes: u64,
    /// The states of the embedded chain, in the order in which they were found; `position` is the inverse.
    entries: Vec<u32>,
    position: Vec<u32>,
    rows: Vec<Vec<(u32, f64)>>,
    error: f64,
}

/// Means over one step of the embedded chain: the time in each state of the net, and the number of fixed delays that end
/// in this state.
struct Cycle {
    /// States with mean times, each state once.
    stays: Vec<(u32, f64)>,
    fired: Vec<(u32, f64)>,
}

/// Position of a state that was not entered yet.
const NEVER: u32 = u32::MAX;

impl<'a> Embedded<'a> {
    fn new(states: &'a FixedDelayStates, times: &'a TransientSettings<'a>) -> Self {
        let FixedDelayStates { play, delays, most_bytes, .. } = states;
        let parts = (0..).zip(delays).map(|(f, delay)| Part::new(play, f, delay.values.clone())).collect();
        let position = vec![NEVER; play.fixed.len()];
        Self {
            play,
            parts,
            times,
            most_bytes: *most_bytes,
            entries: Vec::new(),
            position,
            rows: Vec::new(),
            error: 0.0,
        }
    }

    /// Finds the states of the embedded chain, starting at the initial states, and the successors of each.
    fn fill(&mut self, initial: &[(u32, f64)]) -> Result<(), FixedDelayError> {
        initial.iter().for_each(|&(state, _)| self.enter(state));
        let (mut at, mut bytes) = (0, 0);
        while at < self.entries.len() {
            let state = self.entries[at];
            let mut row = match self.play.fixed[state as usize] {
                Some(f) => self.after_delay(state, f as usize)?,
                None => {
                    let total = self.play.exit_rate(state);
                    self.play.rates.row(state as usize).map(|(to, rate)| (to, rate / total)).collect()
                }
            };
            for (to, _) in &mut row {
                self.enter(*to);
                *to = self.position[*to as usize];
            }
            summed(&mut row);
            row.retain(|&(to, probability)| to as usize != at && probability > 0.0);
            bytes += size_of_val(&row[..]) as u64;
            if bytes > self.most_bytes {
                return Err(FixedDelayError::TooLarge { limit: self.most_bytes });
            }
            self.rows.push(row);
            at += 1;
        }
        Ok(())
    }

    fn enter(&mut self, state: u32) {
        if self.position[state as usize] == NEVER {
            self.position[state as usize] = self.entries.len() as u32;
            self.entries.push(state);
        }
    }

    fn after_delay(&mut self, state: u32, f: usize) -> Result<Vec<(u32, f64)>, FixedDelayError> {
        let Some(After { mut dropped, fired, error, .. }) = self.parts[f].after(&[(state, 1.0)], self.times)? else {
            return Ok(Vec::new());
        };
        self.error = self.error.max(error);
        for (state, share) in fired {
            dropped
                .extend(self.play.after.row(state as usize).iter().map(|&(to, probability)| (to, share * probability)));
        }
        Ok(dropped)
    }

    /// Returns the discrete-time chain as a continuous-time chain with the same steady state.
    fn chain(&mut self, initial: &[(u32, f64)]) -> Chain {
        let mut initial: Vec<(u32, f64)> =
            initial.iter().map(|&(state, share)| (self.position[state as usize], share)).collect();
        initial.sort_by_key(|&(at, _)| at);
        Chain { rates: Rates::from_rows(std::mem::take(&mut self.rows)), initial }
    }

    /// Returns the means between given states of the embedded chain, with weights, and the next state of the embedded chain.
    fn cycle(&mut self, starts: Vec<(u32, f64)>) -> Result<Cycle, FixedDelayError> {
        let (mut stays, mut fired) = (Vec::new(), Vec::new());
        let (free, delayed): (Vec<_>, Vec<_>) =
            starts.into_iter().partition(|(state, _)| self.play.fixed[*state as usize].is_none());
        for (part, f) in self.parts.iter().zip(0..) {
            let own: Vec<(u32, f64)> =
                delayed.iter().filter(|(state, _)| self.play.fixed[*state as usize] == Some(f)).copied().collect();
            if let Some(after) = part.after(&own, self.times)? {
                self.error = self.error.max(after.error);
                stays.extend(after.stays);
                fired.extend(after.fired);
            }
        }
        // a state that is never left forms its own class and gets all of the class's time
        let stay = |total: f64, share: f64| if total > 0.0 { share / total } else { 1.0 };
        stays.extend(free.into_iter().map(|(state, share)| (state, stay(self.play.exit_rate(state), share))));
        Ok(Cycle { stays, fired })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compile::compile;
    use crate::net::{Delay, Law, Memory, NetBuilder, Servers, Timing, TransitionId};
    use crate::solve::LinearSettings;
    use crate::solve::fixed_delays::nets::{after, delayed, queue};
    use crate::solve::reach::Limits;
    use crate::solve::until::Until;
    use crate::watch::Unwatched;

    fn solved(b: NetBuilder) -> Result<(FixedDelaySteady, Averages), FixedDelayError> {
        let program = compile(&b.build().unwrap()).unwrap();
        let states = FixedDelayStates::explore(&program, Until::default(), &Limits::default(), &Unwatched)?;
        let found = states.steady(&LinearSettings::default(), &TransientSettings::default())?;
        let averages = states.steady_averages(&found)?;
        Ok((found, averages))
    }

    /// A state with a delay of 0 s takes no time, but its transition and the immediate transitions after it fire. Seen to fail
    /// when only states with a share of time count.
    #[test]
    fn transitions_with_a_delay_of_0_fire() {
        let mut b = NetBuilder::new("zero");
        let [a, wait, choice, c] = [("a", 1), ("wait", 0), ("choice", 0), ("c", 0)].map(|(id, n)| b.place(id, n));
        for (id, from, to, timing) in [
            ("ab", a, wait, Timing::exponential(2.0)),
            ("zero", wait, choice, after(0.0)),
            ("vc", choice, c, Timing::immediate(1.0, 1)),
            ("va", choice, a, Timing::immediate(3.0, 1)),
            ("ca", c, a, Timing::exponential(1.0)),
        ] {
            let t = b.transition(id, timing);
            b.input(from, t, 1.0);
            b.output(t, to, 1.0);
        }
        let (_, averages) = solved(b).unwrap();
        // a cycle takes 1/2 + 1/4 · 1 s
        let cycles = 4.0 / 3.0;
        for (found, exact) in
            averages.throughputs.iter().zip([cycles, cycles, cycles / 4.0, cycles * 0.75, cycles / 4.0])
        {
            assert!((found - exact).abs() < 1e-12, "{:?}", averages.throughputs);
        }
    }

    /// A clock of 1 s that sets a counter back to 0; the counter grows at rate λ up to K. The share of time at K is
    /// `∫₀¹ P(Poisson(λt) ≥ K) dt = Σ_{j > K} P(Poisson(λ) ≥ j) / λ`.
    #[test]
    fn small_probabilities_of_the_long_run_are_right_too() {
        let (k, rate) = (9_usize, 1e-4_f64);
        let mut b = NetBuilder::new("counter");
        let (run, reset) = (b.place("run", 1), b.place("reset", 0));
        let counts: Vec<_> = (0..=k).map(|n| b.place(format!("s{n}"), u32::from(n == 0))).collect();
        let clock = b.transition("clock", after(1.0));
        b.input(run, clock, 1.0);
        b.output(clock, reset, 1.0);
        for (n, &place) in counts.iter().enumerate() {
            let back = b.transition(format!("back{n}"), Timing::immediate(1.0, 1));
            b.input(reset, back, 1.0);
            b.input(place, back, 1.0);
            b.output(back, run, 1.0);
            b.output(back, counts[0], 1.0);
            if let Some(&next) = counts.get(n + 1) {
                let grow = b.transition(format!("grow{n}"), Timing::exponential(rate));
                b.input(place, grow, 1.0);
                b.output(grow, next, 1.0);
            }
        }
        let tokens = solved(b).unwrap().1.tokens;
        let poisson = |n: usize| (1..=n).fold(f64::exp(-rate), |p, i| p * rate / i as f64);
        let exact: f64 = (k + 1..k + 9).map(|j| (j..j + 9).map(poisson).sum::<f64>() / rate).sum();
        assert!(exact < 1e-40 && (tokens[2 + k] / exact - 1.0).abs() < 1e-9, "{:e} {exact:e}", tokens[2 + k]);
    }

    /// P(n customers) of M/D/1/K, computed from the embedded chain at departures \[GrossHarris1998\].
    fn md1k(k: usize, rho: f64) -> Vec<f64> {
        let arrivals: Vec<f64> = (0..=k)
            .scan(f64::exp(-rho), |p, n| {
                let now = *p;
                *p *= rho / (n + 1) as f64;
                Some(now)
            })
            .collect();
        // departures leave 0 to k - 1 customers; their probabilities up to a factor, from balance
        let mut left = vec![1.0];
        for n in 0..k - 1 {
            let own = left[n] - left[0] * arrivals[n] - (1..=n).map(|i| left[i] * arrivals[n + 1 - i]).sum::<f64>();
            left.push(own / arrivals[0]);
        }
        let total: f64 = left.iter().sum();
        let first = left[0] / total;
        let mut all: Vec<f64> = left.iter().map(|p| p / total / (first + rho)).collect();
        all.push(1.0 - 1.0 / (first + rho));
        all
    }

    #[test]
    fn a_queue_with_fixed_service_times_has_its_distribution() {
        for (k, rho) in [(3, 0.5), (5, 0.9), (8, 1.3)] {
            let (found, averages) = solved(queue(k, Timing::exponential(rho / 2.0), after(2.0))).unwrap();
            let expected = md1k(k as usize, rho);
            for (n, p) in expected.iter().enumerate() {
                assert!(
                    (averages.distributions[1][n] - p).abs() < 1e-10,
                    "k = {k}, n = {n}: {averages:?}, {expected:?}"
                );
            }
            // the server works while there are customers
            let busy = 1.0 - expected[0];
            assert!((averages.throughputs[3] - busy / 2.0).abs() < 1e-10);
            assert!((averages.throughputs[1] - averages.throughputs[3]).abs() < 1e-10);
            let lost = averages.throughputs[2];
            assert!(
                (averages.throughputs[0] - rho / 2.0).abs() < 1e-10
                    && (lost - rho / 2.0 * expected[k as usize]).abs() < 1e-10
            );
            assert!(found.error < 1e-10 && (found.steady.probabilities.iter().sum::<f64>() - 1.0).abs() < 1e-12);
        }
    }

    /// The mean number of customers in M/D/1 is `ρ + ρ² / (2 (1 − ρ))`, in D/M/1 `ρ / (1 − σ)` with `σ = exp((σ − 1) /
    /// ρ)`.
    #[test]
    fn long_queues_have_the_means_without_a_limit() {
        let rho = 0.5;
        let mean = solved(queue(60, Timing::exponential(rho), after(1.0))).unwrap().1.tokens[1];
        assert!((mean - (rho + rho * rho / (2.0 * (1.0 - rho)))).abs() < 1e-9, "{mean}");
        let mean = solved(queue(60, after(1.0), Timing::exponential(1.0 / rho))).unwrap().1.tokens[1];
        let sigma = (0..200).fold(0.5, |sigma: f64, _| f64::exp((sigma - 1.0) / rho));
        assert!((mean - rho / (1.0 - sigma)).abs() < 1e-9, "{mean}");
    }

    /// A machine works until it breaks or a clock stops it; an interrupted clock starts anew. By renewal theory, the mean
    /// time to the first of both events is `(1 − exp(−λτ)) / λ`.
    #[test]
    fn a_delay_that_is_disabled_is_dropped() {
        let (rate, delay, mend, pause) = (0.5, 3.0, 2.0, 0.25);
        let net = |law: Law, memory| {
            let mut b = NetBuilder::new("machine");
            let [works, broken, paused] = ["works", "broken", "paused"].map(|id| b.place(id, u32::from(id == "works")));
            let mut go = |id: &str, timing, from, to| -> TransitionId {
                let t = b.transition(id, timing);
                b.input(from, t, 1.0);
                b.output(t, to, 1.0);
                t
            };
            go("stop", delayed(law, memory), works, paused);
            go("fail", Timing::exponential(rate), works, broken);
            go("mend", Timing::exponential(1.0 / mend), broken, works);
            go("resume", Timing::exponential(1.0 / pause), paused, works);
            b
        };
        let shares = |values: &[f64]| {
            let mean = |f: &dyn Fn(f64) -> f64| values.iter().map(|v| f(*v)).sum::<f64>() / values.len() as f64;
            let stopped = mean(&|delay| f64::exp(-rate * delay));
            let up = (1.0 - stopped) / rate;
            let cycle = up + (1.0 - stopped) * mend + stopped * pause;
            ([up / cycle, (1.0 - stopped) * mend / cycle, stopped * pause / cycle], stopped / cycle)
        };
        for values in [vec![delay], vec![1.0, 1.0, 4.0]] {
            let law = match &values[..] {
                [delay] => Law::Deterministic { delay: *delay },
                _ => Law::Empirical { samples: values.clone() },
            };
            let averages = solved(net(law, Memory::Enabling)).unwrap().1;
            let (expected, stops) = shares(&values);
            for (found, expected) in averages.tokens.iter().zip(expected) {
                assert!((found - expected).abs() < 1e-11, "{averages:?}");
            }
            assert!((averages.throughputs[0] - stops).abs() < 1e-11);
        }
        let resumed = solved(net(Law::Deterministic { delay }, Memory::Age));
        assert_eq!(resumed.unwrap_err(), FixedDelayError::Resumed { transition: "stop".into() });
    }

    #[test]
    fn several_fixed_delays_at_once_are_refused() {
        let two = |servers| {
            let mut b = NetBuilder::new("two");
            let places = [b.place("a", 2), b.place("b", 1)];
            for (place, id) in places.into_iter().zip(["first", "second"]) {
                let law = Law::Deterministic { delay: 1.0 };
                let timing = Timing::Timed { delay: Delay::General(law), servers, memory: Memory::Enabling };
                let t = b.transition(id, timing);
                b.input(place, t, 1.0);
                b.output(t, place, 1.0);
            }
            solved(b).unwrap_err()
        };
        let together = FixedDelayError::Together { first: "first".into(), second: "second".into() };
        assert_eq!(two(Servers::Single), together);
        assert_eq!(two(Servers::Infinite), FixedDelayError::Servers { transition: "first".into() });
        let law = Law::Uniform { low: 0.0, high: 1.0 };
        let other = solved(queue(2, Timing::exponential(1.0), delayed(law, Memory::Enabling))).unwrap_err();
        assert!(matches!(other, FixedDelayError::Explore(ExploreError::NotExponential { .. })), "{other:?}");
    }
}
