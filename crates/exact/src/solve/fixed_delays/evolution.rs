//! The probabilities of the states over time, from one interval of a grid to the next.
//!
//! All fixed delays are multiples of the step `h` of the grid, so delays that start in one interval end in one later
//! interval. In an interval that starts at time `t`, every quantity is a sum of Poisson terms with the largest rate `q`
//! of leaving a state:
//!
//! ```text
//! p(t + τ) = Σ_n u_n Poisson(n; qτ),   u_{n+1} = u_n (I + Q/q) + φ_n (A − I),   σ_n = (u_n R)/q + φ_n A
//! ```
//!
//! `Q` contains the exponential rates, `R` the rates into states in which a delay starts, and `A` the effects of firings of
//! the delays. The flow of firings has the terms `q φ_n`, the flow of starts the terms `q σ_n`. `A`, `R` and the
//! exponential jumps during a delay are linear. So the terms of the flow of firings are the terms of the flow of starts one
//! delay earlier, after the jumps during this delay:
//!
//! ```text
//! φ_n(t + d) = σ_n(t) exp(Q_f d)
//! ```
//!
//! So the solution is exact up to the omitted terms and rounding: the grid itself causes no error. Starts and firings that
//! have a positive probability exactly at a grid point, such as at time 0, are kept separately. The method solves the
//! Markov renewal equations of \[ChoiKulkarniTrivedi1993\] with uniformisation \[Jensen1953\]; docs/solve.md derives it.

use std::sync::Arc;

use crate::estimate::PoissonWindow;
use crate::solve::fixed_delays::clock::Clock;
use crate::solve::fixed_delays::grid::{self, OMITTED, TimeGrid, multiple, window};
use crate::solve::fixed_delays::{FixedDelayError, FixedDelayStates, Play};
use crate::solve::rates::Rates;
use crate::solve::transient::{ROUNDING_OF_A_JUMP, Uniformised};
use crate::watch::Watch;

/// Maximum number of multiplications: a few minutes.
pub(super) const MOST_WORK: f64 = 2e11;
/// Multiplications per second, and intervals of the smallest nets per second, that no core reaches.
const FASTEST: f64 = 4e9;
const MOST_INTERVALS: f64 = 1e6;

/// The firings of fixed delays in an interval, per state in which a delay runs.
#[derive(Clone, Debug, Default)]
struct Firings {
    /// Probability of firing exactly at the start of the interval; empty if none.
    at_start: Vec<f64>,
    /// Terms of the flow of firings, divided by the largest rate; empty if none.
    terms: Vec<Vec<f64>>,
}

impl Firings {
    /// Returns the firings at the start of the interval, or a term of their flow; the flow has `terms` terms.
    fn sums(&mut self, term: Option<usize>, terms: usize) -> &mut Vec<f64> {
        match term {
            None => &mut self.at_start,
            Some(n) => {
                self.terms.resize(terms, Vec::new());
                &mut self.terms[n]
            }
        }
    }
}

/// The states of a net over time.
pub(super) struct Evolution<'a> {
    play: Arc<Play>,
    watch: &'a dyn Watch,
    clocks: Vec<Clock>,
    /// The states in which delays run, in the order of the clocks.
    delayed: Vec<u32>,
    /// Per state: its position in `delayed`, or the length of `delayed` if no delay runs in the state.
    position: Vec<u32>,
    /// Rates into states in which a delay starts: the state before, the position of the state after, rate divided by the
    /// largest rate.
    starts: Vec<(u32, u32, f64)>,
    jumps: Uniformised,
    /// Number of jumps for which small probabilities are right, too; none in a large net.
    farthest: Option<usize>,
    /// True after the first firing of a delay. Firings are subtracted, so probabilities have absolute errors from then on.
    has_fired: bool,
    /// Per number of jumps: its probability in an interval, and the probability of more jumps.
    weights: Vec<f64>,
    above: Vec<f64>,
    /// The firings of the next intervals. Interval `k` has the index `k` modulo the length.
    ahead: Vec<Firings>,
    /// Probabilities at the end of the last interval, before the firings at this time.
    now: Vec<f64>,
    grid: TimeGrid,
    /// Bound of the sum of absolute errors of the probabilities.
    error: f64,
    bytes: u64,
    most_bytes: u64,
}

/// The terms of an interval, as a visitor receives them: the number of the term, the term of the probabilities of the
/// states, and the term of the flow of firings, per state in which a delay runs (empty if there are no firings).
pub(super) type Visit<'v> = &'v mut dyn FnMut(usize, &[f64], &[f64]);

impl<'a> Evolution<'a> {
    pub(super) fn new(states: &FixedDelayStates, watch: &'a dyn Watch) -> Result<Self, FixedDelayError> {
        let FixedDelayStates { play, delays, program, .. } = states;
        let exit: Vec<f64> = (0..play.fixed.len()).map(|state| play.exit_rate(state as u32)).collect();
        let jumps = Uniformised::of(&play.rates, &exit);
        let step =
            grid::step(delays, jumps.rate, |delay| program.transition_names[delay.transition as usize].to_owned())?;
        let farthest = farthest(&play.rates);
        let most = farthest.unwrap_or(0);
        let clocks = (0..).zip(delays).map(|(f, delay)| Clock::new(play, f, delay, most));
        let clocks = clocks.collect::<Result<Vec<Clock>, _>>()?;
        let delayed: Vec<u32> = clocks.iter().flat_map(|clock| &clock.states).copied().collect();
        let mut position = vec![delayed.len() as u32; play.fixed.len()];
        (0..).zip(&delayed).for_each(|(at, &state)| position[state as usize] = at);
        let longest = clocks.iter().flat_map(|clock| &clock.ends).map(|end| multiple(end.value, step) as usize).max();
        let poisson = window(jumps.rate * step, most);
        let mut now = vec![0.0; play.fixed.len()];
        states.initial().iter().for_each(|&(state, share)| now[state as usize] = share);
        let mut this = Self {
            starts: starts(play, &position, jumps.rate),
            weights: (0..=poisson.last()).map(|n| poisson.weight(n)).collect(),
            above: poisson.above(),
            ahead: vec![Firings::default(); longest.unwrap_or(0) + 1],
            grid: TimeGrid { step, intervals: 0 },
            error: 0.0,
            bytes: 0,
            most_bytes: states.most_bytes,
            play: Arc::clone(play),
            watch,
            clocks,
            delayed,
            position,
            jumps,
            farthest,
            has_fired: false,
            now,
        };
        let first = this.delayed.iter().map(|&state| this.now[state as usize]).collect();
        this.start_at_once(first)?;
        Ok(this)
    }

    pub(super) fn grid(&self) -> TimeGrid {
        self.grid
    }

    /// Bound of the sum of absolute errors of the probabilities up to the end of the last interval.
    pub(super) fn error(&self) -> f64 {
        self.error
    }

    /// Bound of the absolute error of a sum of probabilities; 0 if only its last digits are uncertain.
    pub(super) fn absolute_error(&self) -> f64 {
        if self.has_fired || self.farthest.is_none() { self.error } else { 0.0 }
    }

    /// The largest rate of leaving a state \[1/s\].
    pub(super) fn rate(&self) -> f64 {
        self.jumps.rate
    }

    /// The numbers of jumps since the start of an interval, `since` \[s\] later.
    pub(super) fn window(&self, since: f64) -> PoissonWindow {
        window(self.jumps.rate * since, self.farthest.unwrap_or(0))
    }

    pub(super) fn delayed(&self) -> &[u32] {
        &self.delayed
    }

    /// Returns the approximate number of multiplications up to a time.
    pub(super) fn work(&self, time: f64) -> f64 {
        let delays: f64 = self.clocks.iter().map(Clock::work).sum();
        (time / self.grid.step).ceil() * self.weights.len() as f64 * (self.jumps.rates() as f64 + delays)
    }

    /// Returns an error if the work up to a time exceeds the limit.
    pub(super) fn check(&self, time: f64, limit: f64) -> Result<(), FixedDelayError> {
        let (needed, done) = (self.work(time), self.grid.intervals as f64 * self.grid.step);
        if needed > limit {
            return Err(FixedDelayError::TooMuchWork { needed, time, limit });
        }
        let rest = (time - done).max(0.0);
        let seconds = (self.work(rest) / FASTEST).max(rest / self.grid.step / MOST_INTERVALS);
        match self.watch.left().map(|left| left.as_secs_f64()) {
            Some(left) if seconds > left => {
                let intervals = (time / self.grid.step).ceil();
                Err(FixedDelayError::TooSlow { intervals, time, seconds, left })
            }
            _ => Ok(()),
        }
    }

    fn stopped(&self) -> FixedDelayError {
        let intervals = self.grid.intervals;
        FixedDelayError::Stopped { intervals, time: intervals as f64 * self.grid.step }
    }

    /// Computes the next interval.
    pub(super) fn interval(&mut self, visit: Visit<'_>) -> Result<(), FixedDelayError> {
        if self.watch.stopped() {
            return Err(self.stopped());
        }
        let slot = (self.grid.intervals % self.ahead.len() as u64) as usize;
        let firings = std::mem::take(&mut self.ahead[slot]);
        let held = firings.at_start.len() + firings.terms.iter().map(Vec::len).sum::<usize>();
        self.bytes -= (held * size_of::<f64>()) as u64;
        self.has_fired |= held > 0;
        if !firings.at_start.is_empty() {
            self.fire_at_once(&firings.at_start)?;
        }
        let started = self.terms(&firings.terms, visit);
        self.grid.intervals += 1;
        for (n, row) in started.into_iter().enumerate().filter(|(_, row)| row.iter().any(|&p| p != 0.0)) {
            self.start(row, Some(n))?;
        }
        Ok(())
    }

    /// Computes the terms of an interval and its end. Returns the terms of the flow of starts.
    fn terms(&mut self, firings: &[Vec<f64>], visit: Visit<'_>) -> Vec<Vec<f64>> {
        let mut term = std::mem::replace(&mut self.now, vec![0.0; self.play.fixed.len()]);
        let mut next = vec![0.0; term.len()];
        let (mut started, mut rounding, mut error) = (Vec::new(), 0.0, 0.0);
        for (n, &weight) in self.weights.iter().enumerate() {
            let fired = firings.get(n).map_or(&[][..], Vec::as_slice);
            visit(n, &term, fired);
            self.now.iter_mut().zip(&term).for_each(|(sum, p)| *sum += weight * p);
            rounding += ROUNDING_OF_A_JUMP * (norm(&term) + 2.0 * norm(fired));
            error += weight * rounding;
            let mut starts = vec![0.0; self.delayed.len()];
            self.starts.iter().for_each(|&(from, to, share)| starts[to as usize] += term[from as usize] * share);
            if self.jumps.rate > 0.0 {
                self.jumps.jump(&term, &mut next, &[]);
            }
            self.move_fired(fired, &mut next, &mut starts);
            started.push(starts);
            std::mem::swap(&mut term, &mut next);
        }
        // no later term is larger than this term; the probabilities of later terms, and the numbers of their jumps, are at
        // most the omitted share. The error is doubled, because a missing start also causes a missing end
        error += 3.0 * OMITTED * norm(&term);
        self.error += 2.0 * error;
        visit(self.weights.len(), &term, &[]);
        started
    }

    /// Moves the fired probability of each position to the states after the firings, and adds the starts of delays.
    fn move_fired(&self, fired: &[f64], states: &mut [f64], starts: &mut [f64]) {
        for (&from, &p) in self.delayed.iter().zip(fired).filter(|(_, p)| **p != 0.0) {
            states[from as usize] -= p;
            for &(to, share) in self.play.after.row(from as usize) {
                states[to as usize] += p * share;
                if let Some(start) = starts.get_mut(self.position[to as usize] as usize) {
                    *start += p * share;
                }
            }
        }
    }

    fn fire_at_once(&mut self, fired: &[f64]) -> Result<(), FixedDelayError> {
        let (mut now, mut starts) = (std::mem::take(&mut self.now), vec![0.0; self.delayed.len()]);
        self.move_fired(fired, &mut now, &mut starts);
        self.now = now;
        self.start_at_once(starts)
    }

    /// Starts delays at the start of the next interval.
    fn start_at_once(&mut self, starts: Vec<f64>) -> Result<(), FixedDelayError> {
        self.start(starts, None)
    }

    /// Adds the ends of delays to later intervals. The delays start in the last interval, as term number `term` of the flow,
    /// or, without a term, at the start of the next interval.
    fn start(&mut self, starts: Vec<f64>, term: Option<usize>) -> Result<(), FixedDelayError> {
        let (width, terms, slots) = (self.delayed.len(), self.weights.len(), self.ahead.len());
        let interval = self.grid.intervals as usize - usize::from(term.is_some());
        let mass = |starts: &[f64]| term.map_or(1.0, |n| self.above[n]) * norm(starts);
        let mut first = 0;
        for clock in &self.clocks {
            let own = first..first + clock.states.len();
            first = own.end;
            let from = &starts[own.clone()];
            if from.iter().all(|&p| p == 0.0) {
                continue;
            }
            self.error += 2.0 * clock.error() * mass(from);
            let (ahead, bytes, step) = (&mut self.ahead, &mut self.bytes, self.grid.step);
            let is_done = clock.run(from.to_vec(), self.watch, |jumps, states| {
                for end in &clock.ends {
                    let weight = end.window.weight(jumps) * end.share;
                    if weight > 0.0 {
                        let firings = &mut ahead[(interval + multiple(end.value, step) as usize) % slots];
                        let sums = firings.sums(term, terms);
                        if sums.is_empty() {
                            *sums = vec![0.0; width];
                            *bytes += (width * size_of::<f64>()) as u64;
                        }
                        sums[own.clone()].iter_mut().zip(states).for_each(|(sum, p)| *sum += weight * p);
                    }
                }
            });
            if !is_done {
                return Err(self.stopped());
            }
            if self.bytes > self.most_bytes {
                return Err(FixedDelayError::TooManyFirings { limit: self.most_bytes });
            }
        }
        Ok(())
    }
}

/// Number of states above which small probabilities are not computed exactly, because that takes much more work.
const FEW: usize = 64;

/// Returns the largest number of jumps that a state of a small net is away from another; none for other nets.
fn farthest(rates: &Rates) -> Option<usize> {
    let from = |start: usize| {
        let (mut seen, mut layer, mut jumps) = (vec![false; rates.rows()], vec![start as u32], 0);
        seen[start] = true;
        loop {
            let ahead = layer.iter().flat_map(|&state| rates.states(state as usize)).copied();
            layer = ahead.filter(|&to| !std::mem::replace(&mut seen[to as usize], true)).collect();
            if layer.is_empty() {
                return jumps;
            }
            jumps += 1;
        }
    };
    if rates.rows() > FEW { None } else { (0..rates.rows()).map(from).max() }
}

fn norm(values: &[f64]) -> f64 {
    values.iter().map(|value| value.abs()).sum()
}

/// Returns the rates into states in which a delay starts.
fn starts(play: &Play, position: &[u32], rate: f64) -> Vec<(u32, u32, f64)> {
    let of_state = |(from, &own): (usize, &Option<u32>)| {
        let row = play.rates.row(from);
        row.filter_map(move |(to, own_rate)| {
            let delay = play.fixed[to as usize].filter(|&delay| own != Some(delay));
            delay.map(|_| (from as u32, position[to as usize], own_rate / rate))
        })
    };
    play.fixed.iter().enumerate().flat_map(of_state).collect()
}
