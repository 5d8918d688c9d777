//! The probability of reaching a goal, and the moments of the time to it.
//!
//! The embedded chain consists of the states in which a fixed delay starts or is dropped, and the states in which none runs.
//! A step leads from one of these states to the next one. With `M_k(i, j) = E[Yᵏ; next is j]` for the length `Y` of a step
//! from `i`, and the probability `h` of reaching the goal:
//!
//! ```text
//! h = M₀ h,   x₁ = M₀ x₁ + M₁ h,   x₂ = M₀ x₂ + 2 M₁ x₁ + M₂ h,   x_k = E[Tᵏ; the goal is reached]
//! ```
//!
//! `M_k` follows from uniformisation: `∫₀ᵈ xᵏ Poisson(n; qx) dx = (n+k)!/n! P(more than n + k jumps by d) / qᵏ⁺¹`. The
//! embedded chain is from \[AjmoneMarsanChiola1987\]; docs/solve.md derives the moments.

use crate::solve::absorb::{AbsorbError, Kind, Split, TransientPart};
use crate::solve::chain::Chain;
use crate::solve::fixed_delays::clock::{Clock, End};
use crate::solve::fixed_delays::{FixedDelayError, FixedDelayStates};
use crate::solve::linear::{LinearError, LinearSettings};
use crate::solve::passage::PassageMoments;
use crate::solve::rates::Rates;
use crate::solve::reach::summed;

/// Number of moments of a step, from 0 on.
const MOMENTS: usize = 3;

/// A row of each matrix `M_k`.
type Rows = [Vec<(u32, f64)>; MOMENTS];

/// The steps of the embedded chain.
struct Steps<'a> {
    states: &'a FixedDelayStates,
    settings: &'a LinearSettings<'a>,
    clocks: Vec<Clock>,
    /// The states of the embedded chain, in the order in which they were found; `position` is the inverse.
    entries: Vec<u32>,
    position: Vec<u32>,
    rows: Vec<Rows>,
}

/// Position of a state that has not been entered yet.
const NEVER: u32 = u32::MAX;

impl FixedDelayStates {
    /// Returns the probability of ever reaching the goal, and the mean and variance of the time to the goal over the runs
    /// that reach it. The probability is exactly 1 if every run reaches the goal. If no run reaches it, there is no mean.
    /// Exact up to the reported residual. The variance is a difference, and loses digits if it is small compared with the
    /// squared mean; it is infinite if it exceeds the floating-point numbers.
    ///
    /// # Errors
    ///
    /// [`FixedDelayError::TooLarge`], [`FixedDelayError::TooRare`], [`FixedDelayError::TooMuchWork`], [`FixedDelayError::Absorb`], and stopped work.
    pub fn moments(&self, settings: &LinearSettings<'_>) -> Result<(f64, Option<PassageMoments>), FixedDelayError> {
        let clocks = (0..).zip(&self.delays).map(|(f, delay)| Clock::new(&self.play, f, delay, usize::MAX));
        let mut steps = Steps {
            clocks: clocks.collect::<Result<_, _>>()?,
            position: vec![NEVER; self.play.fixed.len()],
            states: self,
            settings,
            entries: Vec::new(),
            rows: Vec::new(),
        };
        steps.fill()?;
        steps.solve()
    }
}

impl Steps<'_> {
    fn enter(&mut self, state: u32) -> u32 {
        let position = &mut self.position[state as usize];
        if *position == NEVER {
            *position = self.entries.len() as u32;
            self.entries.push(state);
        }
        *position
    }

    /// Finds the states and the steps from each, starting at the initial states.
    fn fill(&mut self) -> Result<(), FixedDelayError> {
        self.states.initial().iter().for_each(|&(state, _)| _ = self.enter(state));
        let mut bytes = 0;
        while self.rows.len() < self.entries.len() {
            let state = self.entries[self.rows.len()];
            let mut rows = match self.states.play.fixed[state as usize] {
                Some(f) => self.during_delay(state, f as usize)?,
                None => self.without_delay(state),
            };
            for row in &mut rows {
                row.iter_mut().for_each(|(to, _)| *to = self.enter(*to));
                summed(row);
                bytes += size_of_val(&row[..]) as u64;
            }
            if bytes > self.states.most_bytes {
                return Err(FixedDelayError::TooLarge { limit: self.states.most_bytes });
            }
            self.rows.push(rows);
        }
        Ok(())
    }

    /// Returns the steps from a state without a fixed delay. The time to the next firing does not depend on the state after
    /// this firing.
    fn without_delay(&self, state: u32) -> Rows {
        let play = &self.states.play;
        let total = play.exit_rate(state);
        let row = |factor: f64| play.rates.row(state as usize).map(|(to, rate)| (to, rate * factor)).collect();
        [row(1.0 / total), row(1.0 / total / total), row(2.0 / total / total / total)]
    }

    fn during_delay(&self, state: u32, f: usize) -> Result<Rows, FixedDelayError> {
        let (clock, play) = (&self.clocks[f], &self.states.play);
        let mut start = vec![0.0; clock.states.len()];
        start[clock.states.binary_search(&state).unwrap_or_default()] = 1.0;
        let above: Vec<Vec<f64>> = clock.ends.iter().map(|end| end.window.above()).collect();
        let zeros = || vec![0.0; clock.states.len()];
        let (mut fired, mut stays) = ([zeros(), zeros(), zeros()], [zeros(), zeros(), zeros()]);
        let is_done = clock.run(start, self.settings.watch, |n, states| {
            for (end, above) in clock.ends.iter().zip(&above) {
                let weights = weights(end, above, clock.jumps.rate, n);
                for (k, (fires, stay)) in weights.into_iter().enumerate().filter(|(_, w)| w.0 > 0.0 || w.1 > 0.0) {
                    fired[k].iter_mut().zip(states).for_each(|(sum, p)| *sum += fires * p);
                    stays[k].iter_mut().zip(states).for_each(|(sum, p)| *sum += stay * p);
                }
            }
        });
        if !is_done {
            let states = self.entries.len();
            return Err(AbsorbError::Linear(LinearError::Stopped { states }).into());
        }
        let mut rows = Rows::default();
        for (row, (fired, stays)) in rows.iter_mut().zip(fired.iter().zip(&stays)) {
            for (&from, (fired, stay)) in clock.states.iter().zip(fired.iter().zip(stays)) {
                let ends = play.after.row(from as usize).iter().map(|&(to, share)| (to, fired * share));
                let leaves = play.rates.row(from as usize).filter(|(to, _)| !clock.has(*to));
                row.extend(ends.chain(leaves.map(|(to, rate)| (to, stay * rate))).filter(|&(_, p)| p > 0.0));
            }
        }
        Ok(rows)
    }

    /// Checks that each state can reach the goal in the embedded chain if it can in the net.
    fn check_hope(&self, embedded: &Split) -> Result<(), FixedDelayError> {
        let states = self.states;
        // other firings at the end of a delay of 0 s are not possible
        if states.delays.iter().any(|delay| delay.values.iter().any(|&(value, _)| value <= 0.0)) {
            return Ok(());
        }
        let moves = |state: usize| {
            let ends = states.play.after.row(state).iter().map(|&(to, _)| to);
            let all = ends.chain(states.play.rates.states(state).iter().copied());
            let mut row: Vec<(u32, f64)> = all.filter(|&to| to as usize != state).map(|to| (to, 1.0)).collect();
            row.sort_by_key(|&(to, _)| to);
            row.dedup_by_key(|(to, _)| *to);
            row
        };
        let rates = Rates::from_rows((0..states.play.fixed.len()).map(moves));
        let whole = Split::of(&Chain { rates, initial: states.initial().to_vec() }, &states.targets)?;
        let is_lost = |(at, &state): (usize, &u32)| whole.hopeful[state as usize] && !embedded.hopeful[at];
        if self.entries.iter().enumerate().any(is_lost) { Err(FixedDelayError::TooRare) } else { Ok(()) }
    }

    fn solve(&self) -> Result<(f64, Option<PassageMoments>), FixedDelayError> {
        let initial: Vec<(u32, f64)> =
            self.states.initial().iter().map(|&(state, share)| (self.position[state as usize], share)).collect();
        let own = |(at, rows): (usize, &Rows)| rows[0].iter().filter(|&&(to, _)| to as usize != at).copied().collect();
        let rates: Vec<Vec<(u32, f64)>> = self.rows.iter().enumerate().map(own).collect();
        let mut sorted = initial.clone();
        sorted.sort_by_key(|&(at, _)| at);
        let chain = Chain { rates: Rates::from_rows(rates), initial: sorted };
        let targets: Vec<bool> = self.entries.iter().map(|&state| self.states.targets[state as usize]).collect();
        let split = Split::of(&chain, &targets)?;
        self.check_hope(&split)?;
        let is_open = |&at: &u32| split.kind[at as usize] == Kind::Transient && split.hopeful[at as usize];
        let open: Vec<u32> = (0..self.entries.len() as u32).filter(is_open).collect();
        let part = TransientPart::new(&chain, open.clone(), *self.settings).map_err(AbsorbError::Linear)?;
        let right = |b: &dyn Fn(usize) -> f64, of_target: f64| {
            let b: Vec<f64> = open.iter().map(|&at| b(at as usize)).collect();
            let (values, outcome) = part.right(&b).map_err(AbsorbError::Linear)?;
            let mut all: Vec<f64> = targets.iter().map(|&is_target| if is_target { of_target } else { 0.0 }).collect();
            open.iter().zip(values).for_each(|(&at, value)| all[at as usize] = value);
            Ok::<_, FixedDelayError>((all, outcome))
        };
        let times = |k: usize, at: usize, values: &[f64]| {
            self.rows[at][k].iter().map(|&(to, p)| p * values[to as usize]).sum::<f64>()
        };
        let goal: Vec<f64> = targets.iter().map(|&is_target| f64::from(u8::from(is_target))).collect();
        let (reach, zeroth) = right(&|at| times(0, at, &goal), 1.0)?;
        let (first, outcome) = right(&|at| times(1, at, &reach), 0.0)?;
        let second = right(&|at| times(2, at, &reach) + 2.0 * times(1, at, &first), 0.0);
        let start = |values: &[f64]| initial.iter().map(|&(at, share)| share * values[at as usize]).sum::<f64>();
        let probability = if split.is_certain() { 1.0 } else { start(&reach).clamp(0.0, 1.0) };
        if probability <= 0.0 {
            let hopeful = initial.iter().any(|&(at, _)| split.hopeful[at as usize]);
            return if hopeful { Err(FixedDelayError::TooRare) } else { Ok((0.0, None)) };
        }
        let mean = start(&first) / probability;
        let outcome = zeroth.and(outcome);
        let (square, outcome) = match second {
            Ok((second, last)) => (start(&second) / probability, outcome.and(last)),
            // the mean is known
            Err(FixedDelayError::Absorb(AbsorbError::Linear(LinearError::NotFinite { .. }))) => {
                (f64::INFINITY, outcome)
            }
            Err(error) => return Err(error),
        };
        let variance = if square.is_finite() { (square - mean * mean).max(0.0) } else { f64::INFINITY };
        Ok((probability, Some(PassageMoments { mean, variance, outcome })))
    }
}

/// Returns two weights of the states after `n` jumps for each moment: one for steps that end with the delay, and one for the
/// times spent before the end.
fn weights(end: &End, above: &[f64], rate: f64, n: usize) -> [(f64, f64); MOMENTS] {
    let more = |n: usize| match n.checked_sub(end.window.first) {
        None => 1.0,
        Some(i) => above.get(i).copied().unwrap_or(0.0),
    };
    let fires = end.share * end.window.weight(n);
    // without exponential firings, nothing leaves a state before the end
    let per = if rate > 0.0 { 1.0 / rate } else { 0.0 };
    let (n1, n2) = ((n + 1) as f64, (n + 2) as f64);
    // the powers of small rates are beyond the floating-point numbers, the products are not
    [
        (fires, end.share * more(n) * per),
        (fires * end.value, end.share * n1 * more(n + 1) * per * per),
        (fires * end.value.powi(2), end.share * n1 * n2 * more(n + 2) * per * per * per),
    ]
}
