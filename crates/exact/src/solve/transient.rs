//! Probabilities at given times, and expected times spent in the states up to these times, by uniformisation.
//!
//! ```text
//! p(t) = Σ_n Poisson(n; qt) v_n,   v_{n+1} = v_n (I + Q/q),   ∫₀ᵗ p = 1/q Σ_n P(more than n jumps) v_n
//! ```
//!
//! with `q` the largest rate of leaving a state \[Jensen1953\] \[Stewart1994\]. All terms are non-negative,
//! so there is no cancellation. One pass over `n` serves all times.

use rayon::prelude::*;
use tailspn_common::number::brief;

use crate::estimate::PoissonWindow;
use crate::solve::chain::{Chain, ChainProblem};
use crate::solve::rates::Rates;
use crate::watch::{Unwatched, Watch};

/// Settings of transient probabilities and of distributions of passage times.
#[derive(Clone, Copy, Debug)]
pub struct TransientSettings<'a> {
    /// Maximum omitted probability. Default 1e-12.
    pub error: f64,
    /// Maximum number of jumps of the uniformised chain. Default 20,000,000.
    pub jumps: u64,
    /// Maximum number of bytes of the numbers that are kept for all times: probabilities and weights of jumps. Default 6 GiB.
    pub bytes: u64,
    /// Source of stop requests. Default none.
    pub watch: &'a dyn Watch,
}

impl Default for TransientSettings<'_> {
    fn default() -> Self {
        Self::watched(&Unwatched)
    }
}

impl<'a> TransientSettings<'a> {
    /// Returns the default settings with a watch, which may stop the work.
    pub fn watched(watch: &'a dyn Watch) -> Self {
        Self { error: 1e-12, jumps: 20_000_000, bytes: 6 << 30, watch }
    }
}

/// Reason why transient probabilities cannot be computed.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum TransientError {
    /// The chain has no states.
    #[error("the chain has no states")]
    Empty,
    /// The chain is not a Markov chain.
    #[error(transparent)]
    Chain(#[from] ChainProblem),
    /// A time is negative, infinite or not a number.
    #[error("the time is {} s, but it must be finite and not negative", brief(*.time))]
    Time {
        /// The time.
        time: f64,
    },
    /// A reward is not a finite number, or the number of rewards differs from the number of states.
    #[error("reward {reward} must have exactly one finite number for each state")]
    Reward {
        /// Position of the reward.
        reward: usize,
    },
    /// The watch of the settings has stopped the work.
    #[error("stopped before model time {time:.3e} s was reached")]
    Stopped {
        /// The last requested time \[s\].
        time: f64,
    },
    /// The fastest rate causes too many jumps up to the requested time. The steady state, shorter times and simulation are
    /// possible.
    #[error(
        "about {needed:e} jumps are needed until {time} s, more than {limit}: the rates differ too much; compute the steady state or shorter times, or simulate"
    )]
    TooManyJumps {
        /// Approximate number of jumps needed.
        needed: f64,
        /// The time \[s\].
        time: f64,
        /// Maximum number of jumps allowed.
        limit: u64,
    },
    /// The numbers that are kept for all times need too much memory. Fewer or shorter times are possible.
    #[error("{times} times need about {} MiB of memory, more than {} MiB: ask for fewer or shorter times", needed >> 20, limit >> 20)]
    TooManyTimes {
        /// Number of times.
        times: usize,
        /// Approximate number of bytes needed.
        needed: u64,
        /// Maximum number of bytes allowed.
        limit: u64,
    },
}

/// Number of standard deviations of a Poisson window on both sides of its mean, rounded up.
const WINDOW: f64 = 16.0;

/// Refuses times that need too much memory, before it is allocated: `kept` numbers for each time, and two weights for each number of
/// jumps of its window. `means` are the means of the numbers of jumps.
pub(crate) fn check_bytes(
    means: impl ExactSizeIterator<Item = f64>,
    kept: usize,
    limit: u64,
) -> Result<(), TransientError> {
    let times = means.len();
    let weights: f64 = means.map(|mean| 2.0 * (WINDOW * (mean.sqrt() + 1.0))).sum();
    let needed = ((times as f64 * kept as f64 + weights) * size_of::<f64>() as f64) as u64;
    if needed > limit { Err(TransientError::TooManyTimes { times, needed, limit }) } else { Ok(()) }
}

/// Probabilities at given times.
#[derive(Clone, Debug, PartialEq)]
pub struct Transient {
    /// The given times \[s\].
    pub times: Vec<f64>,
    /// Per time and state: the probability. The probabilities at a time sum to 1.
    pub probabilities: Vec<Vec<f64>>,
    /// Per time and state: expected time in the state up to that time \[s\]. The values at a time sum to the time.
    pub stays: Vec<Vec<f64>>,
    /// Bound of the sum of absolute errors of the probabilities at any of the times: truncation and rounding. Multiplied by
    /// the time, it is the bound for stays.
    pub error: f64,
    /// Number of jumps of the uniformised chain.
    pub jumps: u64,
    /// True if the chain stopped changing (within the bound) before the last time.
    pub settled: bool,
}

/// A chain in which a jump happens at every tick of one Poisson process; some jumps return to the same state.
#[derive(Clone, Debug)]
pub(crate) struct Uniformised {
    /// The rates by the state that they enter.
    incoming: Rates,
    /// Probability of staying, per state.
    stay: Vec<f64>,
    /// Ticks of the Poisson process per second.
    pub(crate) rate: f64,
}

impl Uniformised {
    /// Returns the jump chain of the given rates; `exit` is the rate of leaving each state, including rates to states outside of `rates`.
    pub(crate) fn of(rates: &Rates, exit: &[f64]) -> Self {
        let rate = exit.iter().copied().fold(0.0, f64::max);
        let stay = exit.iter().map(|e| if rate > 0.0 { 1.0 - e / rate } else { 1.0 }).collect();
        Self { incoming: rates.transposed(), stay, rate }
    }

    /// Returns the number of rates and states that a jump visits.
    pub(crate) fn rates(&self) -> usize {
        self.incoming.count() + self.stay.len()
    }

    /// Returns true if more jumps are needed than allowed, and the chain is not expected to settle earlier in reasonable time.
    pub(crate) fn is_hopeless(&self, needed: f64, settings: &TransientSettings<'_>) -> bool {
        let allowed = settings.jumps as f64;
        needed > allowed && (needed > MOST_JUMPS || allowed * self.incoming.count() as f64 > WORK_TO_SETTLE)
    }

    /// Computes the probabilities after one jump. `weights` has a number per state, or is empty.
    pub(crate) fn jump(&self, before: &[f64], after: &mut [f64], weights: &[f64]) -> Jumped {
        let block = |(block, after): (usize, &mut [f64])| self.jump_block(block * BLOCK, before, after, weights);
        if self.incoming.count() < ALONE {
            return after.chunks_mut(BLOCK).enumerate().map(block).fold(Jumped::default(), Jumped::and);
        }
        // summed in the same order for any number of threads
        let blocks: Vec<Jumped> = after.par_chunks_mut(BLOCK).enumerate().map(block).collect();
        blocks.into_iter().fold(Jumped::default(), Jumped::and)
    }

    fn jump_block(&self, first: usize, before: &[f64], after: &mut [f64], weights: &[f64]) -> Jumped {
        let per_tick = 1.0 / self.rate;
        let mut sums = Jumped::default();
        for (i, new) in after.iter_mut().enumerate() {
            let state = first + i;
            *new = before[state] * self.stay[state] + self.incoming.flow(state, before) * per_tick;
            sums.change += (*new - before[state]).abs();
            sums.total += *new;
        }
        if let Some(weights) = weights.get(first..first + after.len()) {
            sums.weighted = after.iter().zip(weights).map(|(p, weight)| p * weight).sum();
        }
        sums
    }
}

/// Number of states that one thread processes at a time.
const BLOCK: usize = 4_096;
/// Number of rates below which a single thread computes a jump.
const ALONE: usize = 50_000;

/// Sums over all states after a jump.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Jumped {
    /// Sum of the absolute changes.
    pub(crate) change: f64,
    /// Sum of the probabilities.
    pub(crate) total: f64,
    /// Sum of the probabilities multiplied by their weights.
    pub(crate) weighted: f64,
}

impl Jumped {
    fn and(self, other: Self) -> Self {
        Self {
            change: self.change + other.change,
            total: self.total + other.total,
            weighted: self.weighted + other.weighted,
        }
    }
}

/// Maximum number of jumps for which Poisson weights are computed.
const MOST_JUMPS: f64 = 1e9;

/// Maximum number of multiplications spent on a chain that may settle before all jumps are computed: about a minute.
const WORK_TO_SETTLE: f64 = 3e10;

/// Rounding error of one jump, relative to the probabilities: a few operations per probability.
pub(crate) const ROUNDING_OF_A_JUMP: f64 = 4.0 * f64::EPSILON;

/// Result of the walk over the jumps of a uniformised chain.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Walk {
    pub(crate) jumps: u64,
    pub(crate) settled: bool,
    pub(crate) error: f64,
}

/// Computes the distributions after 0, 1, … jumps from `start` until `windows` need no more. `visit` receives the
/// number of jumps, the probabilities, and true if these also represent all later jumps.
///
/// The error of stopping early is bounded: a jump never increases the difference of two distributions. So after a
/// change of `d`, the distribution `m` jumps later differs by at most `m d`.
pub(crate) fn walk(
    chain: &Uniformised,
    start: &[f64],
    windows: &[PoissonWindow],
    settings: &TransientSettings<'_>,
    mut visit: impl FnMut(usize, &[f64], bool),
) -> Option<Walk> {
    let last = windows.iter().map(PoissonWindow::last).max().unwrap_or(0);
    let (mut now, mut next) = (start.to_vec(), vec![0.0; start.len()]);
    let mut n = 0;
    loop {
        let change = if n < last { chain.jump(&now, &mut next, &[]).change } else { 0.0 };
        let left = (last - n) as f64;
        let settled = n < last && change * left <= 0.5 * settings.error;
        visit(n, &now, settled || n == last);
        if settled || n == last {
            let error = settings.error + n as f64 * ROUNDING_OF_A_JUMP;
            return Some(Walk { jumps: n as u64, settled, error });
        }
        if n as u64 >= settings.jumps || settings.watch.stopped() {
            return None;
        }
        std::mem::swap(&mut now, &mut next);
        n += 1;
    }
}

/// Returns the Poisson windows of the given times, which may use half of the allowed error; `kept` is the number of further numbers
/// that are kept for each time.
pub(crate) fn windows(
    chain: &Uniformised,
    times: &[f64],
    settings: &TransientSettings<'_>,
    kept: usize,
) -> Result<Vec<PoissonWindow>, TransientError> {
    if let Some(&time) = times.iter().find(|t| !(t.is_finite() && **t >= 0.0)) {
        return Err(TransientError::Time { time });
    }
    let rate = chain.rate;
    if times.iter().any(|t| chain.is_hopeless(rate * t, settings)) {
        return Err(too_many(rate, times, settings));
    }
    check_bytes(times.iter().map(|t| rate * t), kept, settings.bytes)?;
    Ok(times.iter().map(|t| PoissonWindow::new(rate * t, 0.25 * settings.error)).collect())
}

/// Returns the probabilities of the states at each of `times` \[s\], and the expected times spent in the states up to
/// that time.
///
/// Exact up to `error`, which bounds truncation and the rounding of the jumps. The work is the number of jumps (the
/// largest rate times the longest time) multiplied by the number of rates. If the probabilities stop changing earlier,
/// the computation ends early, based on a bound, not an estimate. Sources: \[Jensen1953\], \[FoxGlynn1988\].
///
/// # Errors
///
/// All variants of [`TransientError`].
///
/// # Examples
///
/// ```
/// use tailspn_exact::solve::{Chain, Rates, TransientSettings, transient};
///
/// // up and down again, both at 1/s: P(down at t) = (1 - e^-2t)/2
/// let rates = Rates::from_rows([vec![(1, 1.0)], vec![(0, 1.0)]]);
/// let chain = Chain { rates, initial: vec![(0, 1.0)] };
/// let at = transient(&chain, &[0.5], &TransientSettings::default()).unwrap();
/// assert!((at.probabilities[0][1] - (1.0 - f64::exp(-1.0)) / 2.0).abs() < 1e-12);
/// ```
pub fn transient(chain: &Chain, times: &[f64], settings: &TransientSettings<'_>) -> Result<Transient, TransientError> {
    if chain.states() == 0 {
        return Err(TransientError::Empty);
    }
    chain.check()?;
    let jumps = Uniformised::of(&chain.rates, &chain.exit_rates());
    let windows = windows(&jumps, times, settings, 2 * chain.states())?;
    let above: Vec<Vec<f64>> = windows.iter().map(PoissonWindow::above).collect();
    let mut probabilities = vec![vec![0.0; chain.states()]; times.len()];
    let mut stays = probabilities.clone();
    let mut used = vec![(0.0, 0.0); times.len()];
    let done = walk(&jumps, &chain.initial_vector(), &windows, settings, |n, v, ends| {
        for (i, window) in windows.iter().enumerate() {
            let share = share(window, &above[i], jumps.rate, times[i], n, ends, &mut used[i]);
            add(&mut probabilities[i], share.0, v);
            add(&mut stays[i], share.1, v);
        }
    });
    let Some(done) = done else { return Err(unfinished(jumps.rate, times, settings)) };
    Ok(Transient {
        times: times.to_vec(),
        probabilities,
        stays,
        error: done.error,
        jumps: done.jumps,
        settled: done.settled,
    })
}

/// Returns the weight of the distribution after `n` jumps at a time: for the probability, and for the time spent \[s\].
/// If the distribution also represents all later distributions, it gets all the remaining weight; `used` is the sum of
/// earlier weights.
pub(crate) fn share(
    window: &PoissonWindow,
    above: &[f64],
    rate: f64,
    time: f64,
    n: usize,
    ends: bool,
    used: &mut (f64, f64),
) -> (f64, f64) {
    if ends {
        let (rest, time_left) = (1.0 - used.0, time - used.1);
        // a difference has few digits where little is left; a sum of positive terms keeps them
        let later = n.checked_sub(window.first).map(|i| above.get(i..).unwrap_or_default());
        return match later {
            Some(later) if rest < 0.5 || time_left < 0.5 * time => {
                let sum = window.weight(n) + later.first().copied().unwrap_or(0.0);
                let stay = later.iter().rev().sum::<f64>() / rate;
                (if rest < 0.5 { sum } else { rest }, if time_left < 0.5 * time { stay } else { time_left })
            }
            _ => (rest.max(0.0), time_left.max(0.0)),
        };
    }
    let more = match n.checked_sub(window.first) {
        None => 1.0,
        Some(i) => above.get(i).copied().unwrap_or(0.0),
    };
    let share = (window.weight(n), if rate > 0.0 { more / rate } else { 0.0 });
    used.0 += share.0;
    used.1 += share.1;
    share
}

/// Returns the error for a walk that was stopped or is too long.
pub(crate) fn unfinished(rate: f64, times: &[f64], settings: &TransientSettings<'_>) -> TransientError {
    let time = times.iter().copied().fold(0.0, f64::max);
    if settings.watch.stopped() { TransientError::Stopped { time } } else { too_many(rate, times, settings) }
}

/// Returns the error for a walk that is too long.
pub(crate) fn too_many(rate: f64, times: &[f64], settings: &TransientSettings<'_>) -> TransientError {
    let time = times.iter().copied().fold(0.0, f64::max);
    TransientError::TooManyJumps { needed: rate * time, time, limit: settings.jumps }
}

fn add(sum: &mut [f64], share: f64, v: &[f64]) {
    if share > 0.0 {
        let block = |(sum, v): (&mut [f64], &[f64])| sum.iter_mut().zip(v).for_each(|(s, v)| *s += share * v);
        if v.len() < ALONE {
            block((sum, v));
        } else {
            sum.par_chunks_mut(BLOCK).zip(v.par_chunks(BLOCK)).for_each(block);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::solve::chain::tests::{birth_death, chain_of, random_chain};
    use crate::solve::{LinearSettings, expected, rewards_at, steady_state};

    fn at(chain: &Chain, times: &[f64]) -> Transient {
        transient(chain, times, &TransientSettings::default()).unwrap()
    }

    #[test]
    fn two_states_have_their_closed_form() {
        let (down, up) = (0.3, 1.7);
        let chain = chain_of(2, &[(0, 1, down), (1, 0, up)]);
        let times = [0.0, 1e-6, 0.5, 3.0, 100.0, 1e6];
        let result = at(&chain, &times);
        for (i, &t) in times.iter().enumerate() {
            let decay = f64::exp(-(down + up) * t);
            let exact = down / (down + up) * (1.0 - decay);
            assert!((result.probabilities[i][1] - exact).abs() < 2e-12, "{t}");
            let stay = down / (down + up) * (t - (1.0 - decay) / (down + up));
            assert!((result.stays[i][1] - stay).abs() < 2e-12 * t.max(1.0), "{t}");
            assert!((result.stays[i].iter().sum::<f64>() - t).abs() < 2e-12 * t.max(1.0));
        }
        assert!(result.settled && result.jumps < 1_000, "{}", result.jumps);
    }

    /// Compared with the spectral formula of M/M/1/K \[Stewart1994\], for K = 1 with equal birth and death rates, and with the
    /// mean of an infinite-server queue, which is Poisson at all times.
    #[test]
    fn an_infinite_server_queue_is_poisson() {
        let (arrival, service, last) = (3.0, 0.5, 60_u32);
        let up = (0..last).map(|i| (i, i + 1, arrival));
        let down = (1..=last).map(|i| (i, i - 1, service * f64::from(i)));
        let chain = chain_of(last as usize + 1, &up.chain(down).collect::<Vec<_>>());
        let times = [0.25, 1.0, 4.0, 20.0];
        let result = at(&chain, &times);
        for (i, &t) in times.iter().enumerate() {
            let mean = arrival / service * (1.0 - f64::exp(-service * t));
            let mut exact = f64::exp(-mean);
            for n in 0..30 {
                assert!((result.probabilities[i][n] - exact).abs() < 1e-12, "{t} {n}");
                exact *= mean / (n + 1) as f64;
            }
        }
    }

    /// Enough rates for several threads; the last block of states is short.
    #[test]
    fn numbers_are_the_same_on_any_number_of_threads() {
        let chain = birth_death(30_000, 1.0, 1.1);
        assert!(chain.rates.count() > ALONE && !chain.states().is_multiple_of(BLOCK));
        let on = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| at(&chain, &[1.0, 40.0]))
        };
        let one = on(1);
        assert_eq!(one, on(3));
        let little = at(&birth_death(300, 1.0, 1.1), &[1.0, 40.0]);
        for state in 0..300 {
            assert!((one.probabilities[1][state] - little.probabilities[1][state]).abs() < 2e-12, "{state}");
        }
    }

    #[test]
    fn long_times_end_in_the_steady_state() {
        for seed in 0..5 {
            let chain = random_chain(30, 3, 2.0, seed);
            let steady = steady_state(&chain, &LinearSettings::default()).unwrap();
            let result = at(&chain, &[1e4]);
            for (a, b) in result.probabilities[0].iter().zip(&steady.probabilities) {
                assert!((a - b).abs() < 1e-10, "{a} {b}");
            }
            assert!(result.probabilities[0].iter().all(|p| *p >= 0.0));
            assert!((result.probabilities[0].iter().sum::<f64>() - 1.0).abs() < 1e-12);
        }
    }

    #[test]
    fn ten_million_jumps_keep_nine_digits() {
        // 0 → 1 with 1e6/s and back as fast, out of 1 with 0.2/s: after 10 s e^(-0.1·10) are left, to order 1e-7
        let chain = chain_of(3, &[(0, 1, 1e6), (1, 0, 1e6), (1, 2, 0.2)]);
        let settings = TransientSettings::default();
        let result = transient(&chain, &[5.0, 10.0], &settings).unwrap();
        // exactly: the sum of two exponentials with the roots of x² + (2a + c) x + a c
        let (a, c) = (1e6_f64, 0.2_f64);
        let half = a + c / 2.0;
        let root = (half * half - a * c).sqrt();
        let slow = a * c / (half + root);
        let fast = half + root;
        for (i, t) in [5.0, 10.0].into_iter().enumerate() {
            let left = (fast * f64::exp(-slow * t) - slow * f64::exp(-fast * t)) / (fast - slow);
            let got = 1.0 - result.probabilities[i][2];
            assert!((got - left).abs() < 1e-9, "{t}: {got} {left}");
            assert!((got - left).abs() < result.error, "{t}: {got} {left} {}", result.error);
        }
        assert!(result.jumps > 9_900_000);
    }

    #[test]
    fn rewards_are_those_of_the_probabilities() {
        let chain = birth_death(8, 1.0, 1.3);
        let queue: Vec<f64> = (0..9).map(f64::from).collect();
        let full: Vec<f64> = (0..9).map(|s| f64::from(u8::from(s == 8))).collect();
        let times = [0.0, 2.0, 50.0];
        let whole = at(&chain, &times);
        let rewards =
            rewards_at(&chain, &[queue.clone(), full.clone()], &times, &TransientSettings::default()).unwrap();
        for i in 0..3 {
            for (r, reward) in [&queue, &full].into_iter().enumerate() {
                assert!((rewards.now[i][r] - expected(&whole.probabilities[i], reward)).abs() < 1e-13);
                assert!((rewards.gathered[i][r] - expected(&whole.stays[i], reward)).abs() < 1e-11);
            }
        }
        let short = rewards_at(&chain, &[vec![1.0]], &times, &TransientSettings::default());
        assert_eq!(short, Err(TransientError::Reward { reward: 0 }));
    }

    /// 1,000 times of 2e7 jumps each have 1.4e8 weights, which are kept twice.
    #[test]
    fn times_that_need_too_much_memory_are_refused_before_it_is_allocated() {
        let chain = birth_death(8, 1.0, 1.0);
        let settings = TransientSettings { bytes: 1 << 30, ..TransientSettings::default() };
        let found = transient(&chain, &vec![1e7; 1_000], &settings);
        assert!(matches!(found, Err(TransientError::TooManyTimes { times: 1_000, .. })), "{found:?}");
        assert!(transient(&chain, &[1e4; 4], &settings).is_ok());
    }

    #[test]
    fn an_absorbing_chain_stays_and_invalid_times_are_refused() {
        let still = Chain { rates: Rates::from_rows([vec![]]), initial: vec![(0, 1.0)] };
        let result = at(&still, &[0.0, 1e300]);
        assert_eq!(result.probabilities, [[1.0], [1.0]]);
        assert_eq!(result.stays, [[0.0], [1e300]]);
        let error = |time| transient(&still, &[time], &TransientSettings::default()).unwrap_err();
        assert_eq!(error(-1.0), TransientError::Time { time: -1.0 });
        assert!(matches!(error(f64::NAN), TransientError::Time { .. }));
        let chain = birth_death(2, 1e9, 1.0);
        assert!(matches!(
            transient(&chain, &[1e9], &TransientSettings::default()),
            Err(TransientError::TooManyJumps { .. })
        ));
    }
}
