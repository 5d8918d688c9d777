//! A fixed delay while it runs: the probabilities of the states, given the probabilities at its start.

use crate::estimate::PoissonWindow;
use crate::solve::fixed_delays::grid::{OMITTED, window};
use crate::solve::fixed_delays::{Fixed, FixedDelayError, Play};
use crate::solve::rates::Rates;
use crate::solve::transient::{ROUNDING_OF_A_JUMP, Uniformised};
use crate::watch::Watch;

/// A possible end of a fixed delay.
#[derive(Clone, Debug)]
pub(super) struct End {
    /// Length \[s\].
    pub(super) value: f64,
    /// Probability of this length.
    pub(super) share: f64,
    /// Numbers of jumps during this length.
    pub(super) window: PoissonWindow,
}

/// A fixed delay, and the chain of the states in which it runs. A firing that drops the delay leaves this chain.
#[derive(Clone, Debug)]
pub(super) struct Clock {
    /// States in which the delay runs, in ascending order.
    pub(super) states: Vec<u32>,
    pub(super) jumps: Uniformised,
    /// The ends, shortest first.
    pub(super) ends: Vec<End>,
}

/// Maximum mean number of jumps during a delay: the probabilities of all numbers of jumps are in memory.
const MOST_JUMPS: f64 = 1e9;

impl Clock {
    /// Returns the clock of delay `f`. What takes up to `most` jumps is right relative to its own probability.
    ///
    /// # Errors
    ///
    /// [`FixedDelayError::TooMuchWork`] for a delay that is very long compared with the times between jumps.
    pub(super) fn new(play: &Play, f: u32, delay: &Fixed, most: usize) -> Result<Self, FixedDelayError> {
        let states: Vec<u32> =
            (0..).zip(&play.fixed).filter(|(_, fixed)| **fixed == Some(f)).map(|(state, _)| state).collect();
        let row = |&state: &u32| {
            let row = play.rates.row(state as usize);
            row.filter_map(|(to, rate)| Some((states.binary_search(&to).ok()? as u32, rate))).collect::<Vec<_>>()
        };
        let exit: Vec<f64> = states.iter().map(|&state| play.exit_rate(state)).collect();
        let jumps = Uniformised::of(&Rates::from_rows(states.iter().map(row)), &exit);
        let time = delay.values.iter().map(|(value, _)| *value).fold(0.0, f64::max);
        if jumps.rate * time > MOST_JUMPS {
            return Err(FixedDelayError::TooMuchWork { needed: jumps.rate * time, time, limit: MOST_JUMPS });
        }
        let end = |&(value, share): &(f64, f64)| End { value, share, window: window(jumps.rate * value, most) };
        Ok(Self { ends: delay.values.iter().map(end).collect(), jumps, states })
    }

    /// Returns true if the delay runs in a state.
    pub(super) fn has(&self, state: u32) -> bool {
        self.states.binary_search(&state).is_ok()
    }

    /// Returns the number of jumps up to the latest end.
    fn last(&self) -> usize {
        self.ends.iter().map(|end| end.window.last()).max().unwrap_or(0)
    }

    /// Returns the number of multiplications of a call of [`Self::run`].
    pub(super) fn work(&self) -> f64 {
        self.last() as f64 * self.jumps.rates() as f64
    }

    /// Returns the relative error of a call of [`Self::run`]: truncation and rounding.
    pub(super) fn error(&self) -> f64 {
        2.0 * OMITTED + self.last() as f64 * ROUNDING_OF_A_JUMP
    }

    /// Runs the delay from given probabilities of its states, without its ends. Calls `visit` with the probabilities after
    /// 0, 1, ... jumps, up to the number of jumps that the longest end needs. Returns false if the watch stopped the work.
    pub(super) fn run(&self, start: Vec<f64>, watch: &dyn Watch, mut visit: impl FnMut(usize, &[f64])) -> bool {
        /// Number of jumps between two checks of the watch.
        const PERIOD: usize = 64;
        let (last, mut now) = (self.last(), start);
        let mut next = vec![0.0; now.len()];
        for n in 0..=last {
            if n % PERIOD == 0 && watch.stopped() {
                return false;
            }
            visit(n, &now);
            if n < last {
                self.jumps.jump(&now, &mut next, &[]);
                std::mem::swap(&mut now, &mut next);
            }
        }
        true
    }
}
