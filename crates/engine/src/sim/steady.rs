//! Averages of the steady state from long runs, batch by batch.
//!
//! A replication is divided into batches of equal length in time or in firings. The averages of the batches
//! are the input of batch-means statistics. The first batches, which still depend on the initial
//! marking, can be excluded.

use std::borrow::Cow;
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicU64, Ordering};

use rayon::prelude::*;

use tailspn_common::explain::{ErrorKind, Explain};

use crate::compile::{CompileError, Csr, Firing, Program};
use crate::rng::split;
use crate::semantics::Fault;
use crate::sim::clock::Clock;
use crate::sim::question::{Ending, Goal, Question, Reward};
use crate::sim::race::{Areas, ClockForm, DirectForm, DirectLaw, Observer, RunningRates, Setup};
use crate::sim::samples::Samples;
use crate::watch::Watch;

/// Length of a batch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum BatchLength {
    /// Seconds of model time, above 0. A firing at the end of a batch belongs to this batch.
    Seconds(f64),
    /// Number of firings, timed and immediate, at least 1; a batch ends in the first tangible marking after this number.
    Firings(u64),
}

/// Settings of one long run.
#[derive(Clone, Debug, PartialEq)]
pub struct SteadyState {
    /// Length of each batch.
    pub length: BatchLength,
    /// Number of batches after the excluded batches. Default 100.
    pub batches: u32,
    /// Number of batches at the start that are excluded. Default 10.
    pub discarded: u32,
    /// Rewards that are averaged per second.
    pub rewards: Vec<Reward>,
    /// Seed of the run. Default 0.
    pub seed: u64,
    /// Number of the replication; runs with different numbers are independent. Default 0.
    pub replication: u64,
}

impl SteadyState {
    /// 100 batches of this length, after 10 excluded batches, with seed 0 and no rewards.
    ///
    /// Ratios of sums, such as a throughput, are averaged without bias only over batches of equal *time*. For a net of
    /// unknown speed, use batches of equal numbers of firings first, and choose a batch time for the next run from the
    /// result.
    pub fn new(length: BatchLength) -> Self {
        Self { length, batches: 100, discarded: 10, rewards: Vec::new(), seed: 0, replication: 0 }
    }
}

/// Averages of the batches of one long run; every inner list has one value per batch.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BatchAverages {
    /// Length of each batch in seconds.
    pub seconds: Vec<f64>,
    /// Time-averaged tokens, per counter.
    pub tokens: Vec<Vec<f64>>,
    /// Firings per second, per transition.
    pub throughput: Vec<Vec<f64>>,
    /// Reward per second, per reward.
    pub rewards: Vec<Vec<f64>>,
    /// Number of firings of the whole run, including excluded batches.
    pub firings: u128,
    /// Number of firings per transition in complete batches, including excluded batches.
    pub fired: Vec<u64>,
    /// True if the run was stopped from outside before its last batch.
    pub cut_short: bool,
    /// True if the run ended in a dead marking. All its batches then have the averages of this marking, which are the
    /// averages of the long run.
    pub is_dead: bool,
}

/// Error of a long run.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SteadyError {
    /// The run stopped at the limit of firings before its last batch. Use shorter batches.
    #[error("the run was stopped after {firings} firings, with {batches} batches complete")]
    CutOff {
        /// Number of complete batches, including excluded batches.
        batches: usize,
        /// Number of firings before the stop.
        firings: u64,
    },
    /// The run was stopped before its first batch was complete.
    #[error("stopped before any batch of a long run was complete")]
    Stopped,
    /// The operating system cannot create threads.
    #[error("cannot start threads: {0}")]
    Threads(String),
    /// The settings request no batches, or batches without length.
    #[error("a steady state needs at least one batch with a length above 0")]
    NoBatch,
    /// The net has a fault.
    #[error(transparent)]
    Fault(#[from] Fault),
}

/// Error of a steady-state simulation.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SteadyRunError {
    /// The net cannot be compiled.
    #[error(transparent)]
    Compile(#[from] CompileError),
    /// The long runs give no steady state.
    #[error(transparent)]
    Steady(#[from] SteadyError),
}

/// Runs one long replication of `program`. If the run is stopped from outside, returns the complete
/// batches.
///
/// # Errors
///
/// Settings without a batch, or a fault of the net.
pub fn run_steady(program: &Program, settings: &SteadyState, watch: &dyn Watch) -> Result<BatchAverages, SteadyError> {
    let all = settings.batches.saturating_add(settings.discarded);
    let valid = match settings.length {
        BatchLength::Seconds(seconds) => seconds > 0.0 && seconds.is_finite(),
        BatchLength::Firings(firings) => firings > 0,
    };
    if settings.batches == 0 || !valid {
        return Err(SteadyError::NoBatch);
    }
    // a goal that is never reached, so that a dead marking ends the run
    let never = Goal::never();
    let question = match settings.length {
        BatchLength::Seconds(seconds) => {
            Question { goal: never, horizon: Some(seconds * f64::from(all)), ..Question::default() }
        }
        BatchLength::Firings(firings) => {
            Question { goal: never, max_firings: firings.checked_mul(u64::from(all)), ..Question::default() }
        }
    };
    let clock = Clock::choose(program, question.horizon.or_else(|| longest_run(program, question.max_firings)));
    clock.check(program, true)?;
    let setup = Setup { program, question: &question, clock, key: split(settings.seed), keep_times: false, watch };
    let mut samples = Samples::new(clock, &question, program.counters(), program.transitions());
    let batches = Batches::new(program, settings, clock, watch);
    let batches = if DirectLaw::obstacles(program, clock).is_empty() {
        DirectForm::new(setup).watch(batches, settings.replication, 1, &mut samples)?
    } else {
        ClockForm::new(setup).watch(batches, settings.replication, 1, &mut samples)?
    };
    let done = batches.done.seconds.len();
    let firings = batches.firings;
    if let Some(marking) = &batches.dead {
        let fired = batches.done.fired.iter().zip(&batches.counts).map(|(before, last)| before + last).collect();
        return finite(settings, dead_averages(settings, marking, fired, firings));
    }
    // a stopped replication is not recorded
    let stopped = samples.replications == 0;
    let kept = stopped && done > settings.discarded as usize;
    if stopped && !kept {
        return Err(SteadyError::Stopped);
    }
    if done < all as usize && !kept {
        return Err(SteadyError::CutOff { batches: done, firings });
    }
    let mut averages = batches.done;
    averages.firings = firings.into();
    averages.cut_short = done < all as usize;
    averages.leave_out(settings.discarded as usize);
    finite(settings, averages)
}

/// Returns the averages of a run that ended in a dead marking.
fn dead_averages(settings: &SteadyState, marking: &[u32], fired: Vec<u64>, firings: u64) -> BatchAverages {
    let all = settings.batches as usize;
    let seconds = if let BatchLength::Seconds(seconds) = settings.length { seconds } else { 1.0 };
    let rate = |reward: &Reward| reward.rate.as_ref().map_or(0.0, |code| code.eval(marking));
    BatchAverages {
        seconds: vec![seconds; all],
        tokens: marking.iter().map(|&tokens| vec![f64::from(tokens); all]).collect(),
        throughput: vec![vec![0.0; all]; fired.len()],
        rewards: settings.rewards.iter().map(|reward| vec![rate(reward); all]).collect(),
        firings: firings.into(),
        fired,
        cut_short: false,
        is_dead: true,
    }
}

/// Checks that all rewards are numbers.
fn finite(settings: &SteadyState, averages: BatchAverages) -> Result<BatchAverages, SteadyError> {
    let is_number = |sums: &Vec<f64>| sums.iter().all(|sum| sum.is_finite());
    match settings.rewards.iter().zip(&averages.rewards).find(|(_, sums)| !is_number(sums)) {
        Some((reward, _)) => Err(Fault::BadExpression { what: format!("the reward `{}`", reward.name) }.into()),
        None => Ok(averages),
    }
}

/// Runs `runs` long replications of `program`, starting with the number in the settings, in
/// parallel on `threads` threads (one per core by default). The averages are in the order of the
/// runs and do not depend on the number of threads. If the runs are stopped from outside, returns
/// the runs that have complete batches.
///
/// # Errors
///
/// The errors of [`run_steady`]; if several runs fail, the error of the first.
pub fn run_steady_runs(
    program: &Program,
    settings: &SteadyState,
    runs: u64,
    threads: Option<NonZeroUsize>,
    watch: &dyn Watch,
) -> Result<Vec<BatchAverages>, SteadyError> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads.map_or(0, NonZeroUsize::get));
    let pool = pool.build().map_err(|error| SteadyError::Threads(error.to_string()))?;
    let shared = Shared { watch, runs, done: AtomicU64::new(0) };
    let one = |run| {
        let replication = settings.replication.wrapping_add(run);
        run_steady(program, &SteadyState { replication, ..settings.clone() }, &shared)
    };
    let all: Vec<_> = pool.install(|| (0..runs).into_par_iter().map(one).collect());
    let some = all.iter().any(Result::is_ok);
    let without_batches = |result: &Result<_, _>| matches!(result, Err(SteadyError::Stopped));
    if some && watch.stopped() {
        return all.into_iter().filter(|result| !without_batches(result)).collect();
    }
    all.into_iter().collect()
}

/// Reports the progress of several runs as the progress of one run.
struct Shared<'a> {
    watch: &'a dyn Watch,
    runs: u64,
    done: AtomicU64,
}

impl Watch for Shared<'_> {
    fn progress(&self, _: u64, planned: u64) {
        let done = self.done.fetch_add(1, Ordering::Relaxed) + 1;
        self.watch.progress(done, planned * self.runs);
    }

    fn stopped(&self) -> bool {
        self.watch.stopped()
    }
}

/// Model time \[s\] in which the net almost certainly fires this number of times, assuming that each firing waits at most
/// about the slowest mean delay.
fn longest_run(program: &Program, firings: Option<u64>) -> Option<f64> {
    // the factor allows for short runs and for rates that fall below their initial values
    firings.and_then(|firings| Some(16.0 * slowest_mean(program)? * (firings as f64 + 100.0)))
}

/// Longest mean delay \[s\] of a transition in the initial marking.
pub(in crate::sim) fn slowest_mean(program: &Program) -> Option<f64> {
    let means = program.timed.iter().filter_map(|&t| match &program.firing[t as usize] {
        Firing::Immediate { .. } => None,
        Firing::Exponential { rate, .. } => Some(rate.eval(&program.initial).recip()),
        Firing::General { law, .. } => Some(law.mean()),
    });
    let slowest = means.filter(|mean| mean.is_finite() && *mean > 0.0).fold(0.0, f64::max);
    (slowest > 0.0).then_some(slowest)
}

impl BatchAverages {
    fn leave_out(&mut self, first: usize) {
        let lists = [&mut self.tokens, &mut self.throughput, &mut self.rewards];
        for list in lists.into_iter().flatten().chain([&mut self.seconds]) {
            list.drain(..first.min(list.len()));
        }
    }
}

/// Divides a replication into batches.
struct Batches<'a> {
    rewards: &'a [Reward],
    rates: RunningRates,
    /// Per transition: (reward, impulse) pairs.
    impulses: Csr<(u32, u32)>,
    tick: f64,
    length: BatchLength,
    clock: Clock,
    /// Number of requested batches.
    all: usize,
    /// Start of the current batch, and its end if batches have a length in seconds.
    began: u64,
    ends: Option<u64>,
    firings: u64,
    areas: Areas,
    counts: Vec<u64>,
    sums: Vec<f64>,
    done: BatchAverages,
    /// The dead marking in which the run ended.
    dead: Option<Vec<u32>>,
    watch: &'a dyn Watch,
}

impl<'a> Batches<'a> {
    fn new(program: &Program, settings: &'a SteadyState, clock: Clock, watch: &'a dyn Watch) -> Self {
        let mut impulses = vec![Vec::new(); program.transitions()];
        for (r, reward) in (0_u32..).zip(&settings.rewards) {
            for (i, (t, _)) in (0_u32..).zip(&reward.impulses) {
                impulses[*t as usize].push((r, i));
            }
        }
        let lists = |n| vec![Vec::new(); n];
        let mut batches = Self {
            rewards: &settings.rewards,
            rates: RunningRates::new(program, &settings.rewards),
            impulses: Csr::from_rows(impulses),
            tick: clock.tick(),
            length: settings.length,
            clock,
            all: (settings.batches + settings.discarded) as usize,
            began: 0,
            ends: None,
            firings: 0,
            areas: Areas::new(program),
            counts: vec![0; program.transitions()],
            sums: vec![0.0; settings.rewards.len()],
            done: BatchAverages {
                tokens: lists(program.counters()),
                throughput: lists(program.transitions()),
                rewards: lists(settings.rewards.len()),
                fired: vec![0; program.transitions()],
                ..BatchAverages::default()
            },
            dead: None,
            watch,
        };
        batches.ends = batches.end_tick();
        batches
    }

    /// Tick at which the current batch ends, if batches have a length in seconds.
    fn end_tick(&self) -> Option<u64> {
        match self.length {
            BatchLength::Seconds(seconds) => Some(self.clock.ticks(seconds * (self.done.seconds.len() + 1) as f64)),
            BatchLength::Firings(_) => None,
        }
    }

    /// Collects rewards over an interval without a change of the marking.
    fn collect(&mut self, marking: &[u32], from: u64, to: u64) {
        let seconds = (to - from) as f64 * self.tick;
        let sums = &mut self.sums;
        self.rates.for_each(marking, |r, rate| sums[r] += rate * seconds);
    }

    /// Ends the current batch.
    fn close(&mut self, marking: &[u32], end: u64) {
        if end <= self.began || self.done.seconds.len() >= self.all {
            return;
        }
        let ticks = (end - self.began) as f64;
        let seconds = ticks * self.tick;
        self.done.seconds.push(seconds);
        for (list, area) in self.done.tokens.iter_mut().zip(self.areas.close(marking, end)) {
            list.push(*area as f64 / ticks);
        }
        for (fired, count) in self.done.fired.iter_mut().zip(&self.counts) {
            *fired += count;
        }
        for (list, count) in self.done.throughput.iter_mut().zip(&mut self.counts) {
            list.push(std::mem::take(count) as f64 / seconds);
        }
        for (list, sum) in self.done.rewards.iter_mut().zip(&mut self.sums) {
            list.push(std::mem::take(sum) / seconds);
        }
        self.areas.reset(end);
        self.began = end;
        self.ends = self.end_tick();
        self.watch.progress(self.done.seconds.len() as u64, self.all as u64);
    }
}

impl Observer for Batches<'_> {
    fn pass(&mut self, marking: &[u32], mut from: u64, to: u64) {
        if let BatchLength::Firings(each) = self.length
            && self.firings >= each.saturating_mul(self.done.seconds.len() as u64 + 1)
        {
            self.close(marking, from);
        }
        while let Some(end) = self.ends
            && end < to
            && self.done.seconds.len() < self.all
        {
            self.collect(marking, from, end);
            self.close(marking, end);
            from = end;
        }
        self.collect(marking, from, to);
    }

    fn fires(&mut self, t: u32, marking: &[u32], now: u64) {
        self.firings += 1;
        self.areas.fires(t, marking, now);
        self.rates.fires(t);
        self.counts[t as usize] += 1;
        for &(r, i) in self.impulses.row(t as usize) {
            self.sums[r as usize] += self.rewards[r as usize].impulses[i as usize].1.eval(marking);
        }
    }

    fn finish(&mut self, ending: Ending, marking: &[u32], end: u64, _: &mut Samples) {
        self.dead = (ending == Ending::Dead).then(|| marking.to_vec());
        let complete = match self.length {
            BatchLength::Seconds(_) => self.ends.is_some_and(|tick| tick <= end),
            BatchLength::Firings(each) => self.firings >= each.saturating_mul(self.done.seconds.len() as u64 + 1),
        };
        if complete {
            self.close(marking, end);
        }
    }
}

impl Explain for SteadyError {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::Fault(_) => ErrorKind::Model,
            _ => ErrorKind::Refused,
        }
    }

    fn help(&self) -> Option<Cow<'static, str>> {
        Some(match self {
            Self::Stopped => "increase --max-time or reduce --steady-firings".into(),
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compile::{Code, compile, lower};
    use crate::net::{Law, NetBuilder, Timing};
    use crate::watch::Unwatched;

    fn queue(service: Timing) -> NetBuilder {
        let mut b = NetBuilder::new("queue");
        let q = b.place("q", 0);
        b.place_mut(q).capacity = Some(5);
        let arrive = b.transition("arrive", Timing::exponential(2.0));
        b.output(arrive, q, 1.0);
        let serve = b.transition("serve", service);
        b.input(q, serve, 1.0);
        b
    }

    /// Checks the mean of batches; the batches are so long that they are almost independent.
    fn assert_mean(batches: &[f64], exact: f64) {
        let n = batches.len() as f64;
        let mean = batches.iter().sum::<f64>() / n;
        let variance = batches.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / (n - 1.0);
        let error = (variance / n).sqrt();
        assert!(error < 0.01 * exact && (mean - exact).abs() < 5.0 * error, "{mean} {exact} {error}");
    }

    #[test]
    fn batches_by_time_and_by_firings_match_the_exact_queue() {
        let net = queue(Timing::exponential(3.0)).build().unwrap();
        let program = compile(&net).unwrap();
        let full = lower(&net, &net.expression("#(q) = 5").unwrap());
        let reward = Reward { name: "full".into(), rate: Some(full), impulses: vec![(1, Code::constant(2.0))] };
        for length in [BatchLength::Seconds(2000.0), BatchLength::Firings(8000)] {
            let settings = SteadyState { batches: 200, rewards: vec![reward.clone()], ..SteadyState::new(length) };
            let averages = run_steady(&program, &settings, &Unwatched).unwrap();
            assert_eq!(averages.seconds.len(), 200);
            let throughput = 1266.0 / 665.0;
            assert_mean(&averages.tokens[0], 946.0 / 665.0);
            assert_mean(&averages.throughput[1], throughput);
            assert_mean(&averages.rewards[0], 32.0 / 665.0 + 2.0 * throughput);
            if let BatchLength::Seconds(seconds) = length {
                assert!(averages.seconds.iter().all(|s| (s - seconds).abs() < 1e-6));
            } else {
                assert_eq!(averages.firings, 210 * 8000);
            }
        }
    }

    #[test]
    fn batches_of_a_fixed_cycle_are_exact() {
        let mut b = NetBuilder::new("cycle");
        let [p, q] = [("p", 1), ("q", 0)].map(|(id, n)| b.place(id, n));
        for (id, delay, from, to) in [("a", 0.75, p, q), ("b", 0.25, q, p)] {
            let t = b.transition(id, Timing::general(Law::Deterministic { delay }));
            b.input(from, t, 1.0);
            b.output(t, to, 1.0);
        }
        let program = compile(&b.build().unwrap()).unwrap();
        let settings = SteadyState { batches: 3, discarded: 1, ..SteadyState::new(BatchLength::Seconds(2.0)) };
        let averages = run_steady(&program, &settings, &Unwatched).unwrap();
        assert_eq!(averages.tokens, [[0.75; 3], [0.25; 3]]);
        assert_eq!(averages.throughput, [[1.0; 3], [1.0; 3]]);
        let settings = SteadyState { length: BatchLength::Firings(4), ..settings };
        assert_eq!(run_steady(&program, &settings, &Unwatched).unwrap().seconds, [2.0; 3]);
    }

    /// The token is in `p` for 0.75 s, then in `q` for 0.25 s; batches take half a second. `a` fires at 0.75 s, and `b` at 1 s,
    /// which is the end of the second batch and belongs to this batch.
    #[test]
    fn batches_cut_sojourns_and_own_the_firings_at_their_ends() {
        let mut b = NetBuilder::new("cycle");
        let [p, q] = [("p", 1), ("q", 0)].map(|(id, n)| b.place(id, n));
        for (id, delay, from, to) in [("a", 0.75, p, q), ("b", 0.25, q, p)] {
            let t = b.transition(id, Timing::general(Law::Deterministic { delay }));
            b.input(from, t, 1.0);
            b.output(t, to, 1.0);
        }
        let net = b.build().unwrap();
        let rate = Some(lower(&net, &net.expression("6 * #(q)").unwrap()));
        let rewards = vec![Reward { name: "r".into(), rate, impulses: vec![(1, Code::constant(4.0))] }];
        let length = BatchLength::Seconds(0.5);
        let settings = SteadyState { batches: 4, discarded: 2, rewards, ..SteadyState::new(length) };
        let averages = run_steady(&compile(&net).unwrap(), &settings, &Unwatched).unwrap();
        assert_eq!(averages.seconds, [0.5; 4]);
        assert_eq!(averages.tokens, [[1.0, 0.5, 1.0, 0.5], [0.0, 0.5, 0.0, 0.5]]);
        assert_eq!(averages.throughput, [[0.0, 2.0, 0.0, 2.0]; 2]);
        // 6 per second during half of the batch, and 4 once per half second
        assert_eq!(averages.rewards, [[0.0, 3.0 + 8.0, 0.0, 3.0 + 8.0]]);
        assert_eq!((averages.fired, averages.firings), (vec![3, 3], 6));
    }

    #[test]
    fn runs_are_independent_and_the_same_on_any_number_of_threads() {
        let program = compile(&queue(Timing::exponential(3.0)).build().unwrap()).unwrap();
        let settings = SteadyState { discarded: 0, ..SteadyState::new(BatchLength::Seconds(10.0)) };
        let on = |threads| run_steady_runs(&program, &settings, 4, NonZeroUsize::new(threads), &Unwatched).unwrap();
        let runs = on(1);
        assert_eq!(runs, on(3));
        assert_eq!(runs[0], run_steady(&program, &settings, &Unwatched).unwrap());
        assert!(runs.windows(2).all(|pair| pair[0].tokens != pair[1].tokens));
        let fired = |run: &BatchAverages, t: usize| run.throughput[t].iter().sum::<f64>() * 10.0;
        assert!(runs.iter().all(|run| (0..2).all(|t| (run.fired[t] as f64 - fired(run, t)).abs() < 1e-6)));
    }

    #[test]
    fn a_reward_that_is_not_a_number_is_a_fault() {
        let net = queue(Timing::exponential(3.0)).build().unwrap();
        let rate = Some(lower(&net, &net.expression("1 / #(q)").unwrap()));
        let rewards = vec![Reward { name: "inverse".into(), rate, impulses: Vec::new() }];
        let settings = SteadyState { rewards, ..SteadyState::new(BatchLength::Seconds(10.0)) };
        let found = run_steady(&compile(&net).unwrap(), &settings, &Unwatched);
        assert!(matches!(found, Err(SteadyError::Fault(Fault::BadExpression { .. }))), "{found:?}");
    }

    #[test]
    fn a_net_that_dies_has_the_averages_of_its_dead_marking() {
        let mut b = NetBuilder::new("dies");
        let (p, end) = (b.place("p", 3), b.place("end", 0));
        let t = b.transition("t", Timing::exponential(1.0));
        b.input(p, t, 1.0);
        b.output(t, end, 1.0);
        let net = b.build().unwrap();
        let rate = Some(lower(&net, &net.expression("2 * #(end)").unwrap()));
        let program = compile(&net).unwrap();
        for length in [BatchLength::Seconds(50.0), BatchLength::Firings(10)] {
            let rewards = vec![Reward { name: "twice".into(), rate: rate.clone(), impulses: Vec::new() }];
            let settings = SteadyState { batches: 2, rewards, ..SteadyState::new(length) };
            let found = run_steady(&program, &settings, &Unwatched).unwrap();
            assert_eq!(found.tokens, [[0.0; 2], [3.0; 2]]);
            assert_eq!((&found.throughput, &found.rewards), (&vec![vec![0.0; 2]], &vec![vec![6.0; 2]]));
            assert!(found.is_dead && found.firings == 3);
        }
        let settings = SteadyState { batches: 0, ..SteadyState::new(BatchLength::Seconds(1.0)) };
        assert_eq!(run_steady(&program, &settings, &Unwatched), Err(SteadyError::NoBatch));
    }
}
