//! Averages of the steady state from one long run, batch by batch.
//!
//! One replication is cut into batches of equal length in time or in firings; the averages of each batch are what
//! batch-means statistics start from. The first batches, in which the net still remembers its start, can be left out.

use crate::compile::{Code, Csr, Firing, Program};
use crate::rng::split;
use crate::semantics::Fault;
use crate::sim::clock::Clock;
use crate::sim::cpu::Watch;
use crate::sim::question::{Ending, Goal, Question, Reward};
use crate::sim::race::{Areas, ClockForm, DirectForm, DirectLaw, Observer, Setup};
use crate::sim::samples::Samples;

/// How long a batch is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum BatchLength {
    /// So many seconds of model time, above 0. A firing at the end of a batch belongs to it.
    Seconds(f64),
    /// So many firings, timed and immediate, at least 1; a batch ends in the first tangible marking after them.
    Firings(u64),
}

/// Settings of one long run.
#[derive(Clone, Debug, PartialEq)]
pub struct SteadyState {
    /// Length of each batch.
    pub length: BatchLength,
    /// Batches that are kept. Default 100.
    pub batches: u32,
    /// Batches at the start that are left out. Default 10.
    pub discarded: u32,
    /// Rewards whose averages per second are taken.
    pub rewards: Vec<Reward>,
    /// Seed of the run. Default 0.
    pub seed: u64,
}

impl SteadyState {
    /// 100 batches of this length, behind 10 that are left out, with seed 0 and no rewards.
    ///
    /// Ratios of sums, such as a throughput, are averaged without bias only over batches of equal *time*; batches of
    /// equal firings suit a net whose speed is not known, to find a time to go on with.
    pub fn new(length: BatchLength) -> Self {
        Self { length, batches: 100, discarded: 10, rewards: Vec::new(), seed: 0 }
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
    /// Firings of the whole run, left-out batches included.
    pub firings: u128,
    /// Whether the run was stopped from outside before its last batch.
    pub cut_short: bool,
}

/// Why a long run gives no steady state.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SteadyError {
    /// Nothing is enabled any more: the net ends, and its steady state is that marking. Ask for a passage time instead.
    #[error("the net is dead after {firings} firings, so that it has no steady state but that marking")]
    Dead {
        /// Firings up to then.
        firings: u64,
    },
    /// The run was cut off by the largest number of firings before its last batch. Ask for shorter batches.
    #[error("the run was cut off after {firings} firings, with {batches} batches done")]
    CutOff {
        /// Batches that are complete, left-out ones included.
        batches: usize,
        /// Firings up to then.
        firings: u64,
    },
    /// No batch is asked for, or one without length.
    #[error("a steady state needs at least one batch, and each batch a length")]
    NoBatch,
    /// The net is wrong.
    #[error(transparent)]
    Fault(#[from] Fault),
}

/// Runs one long replication of `program`. Stopped from outside, it ends with the batch in which it is, and keeps those
/// that are complete.
///
/// # Errors
///
/// A net that dies, settings without a batch, or a fault of the net.
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
    let never = Goal::Marking(Code::constant(0.0));
    let question = match settings.length {
        BatchLength::Seconds(seconds) => {
            Question { goal: never, horizon: Some(seconds * f64::from(all)), ..Question::default() }
        }
        BatchLength::Firings(firings) => {
            Question { goal: never, max_firings: firings.checked_mul(u64::from(all)), ..Question::default() }
        }
    };
    let clock = Clock::choose(program, question.horizon.or_else(|| longest_run(program, question.max_firings)));
    let setup = Setup { program, question: &question, clock, key: split(settings.seed), keep_times: false };
    let mut samples = Samples::new(clock, &question, program.counters(), program.transitions());
    let batches = Batches::new(program, settings, clock, watch);
    let batches = if DirectLaw::obstacles(program, clock).is_empty() {
        DirectForm::new(setup).watch(batches, 0, 1, &mut samples)?
    } else {
        ClockForm::new(setup).watch(batches, 0, 1, &mut samples)?
    };
    let done = batches.done.seconds.len();
    let firings = u64::try_from(samples.firings).unwrap_or(u64::MAX);
    if samples.ended(Ending::Dead) > 0 {
        return Err(SteadyError::Dead { firings });
    }
    let stopped = batches.stopped && done > settings.discarded as usize;
    if done < all as usize && !stopped {
        return Err(SteadyError::CutOff { batches: done, firings });
    }
    let mut averages = batches.done;
    averages.firings = samples.firings;
    averages.cut_short = done < all as usize;
    averages.leave_out(settings.discarded as usize);
    Ok(averages)
}

/// Seconds within which so many firings are all but certain: each waits for no more than the slowest mean delay.
fn longest_run(program: &Program, firings: Option<u64>) -> Option<f64> {
    let means = program.timed.iter().filter_map(|&t| match &program.firing[t as usize] {
        Firing::Immediate { .. } => None,
        Firing::Exponential { rate, .. } => Some(rate.eval(&program.initial).recip()),
        Firing::General { law, .. } => Some(law.mean()),
    });
    let slowest = means.filter(|mean| mean.is_finite() && *mean > 0.0).fold(0.0, f64::max);
    // the factor covers short runs and rates that fall below those at the start
    (slowest > 0.0).then(|| firings.map(|firings| 16.0 * slowest * (firings as f64 + 100.0))).flatten()
}

impl BatchAverages {
    fn leave_out(&mut self, first: usize) {
        let lists = [&mut self.tokens, &mut self.throughput, &mut self.rewards];
        for list in lists.into_iter().flatten().chain([&mut self.seconds]) {
            list.drain(..first.min(list.len()));
        }
    }
}

/// Cuts a replication into batches.
struct Batches<'a> {
    rewards: &'a [Reward],
    /// Per transition: (reward, impulse) pairs.
    impulses: Csr<(u32, u32)>,
    tick: f64,
    length: BatchLength,
    clock: Clock,
    /// How many batches are asked for.
    all: usize,
    /// When the present batch began, and ends where batches have a length in seconds.
    began: u64,
    ends: Option<u64>,
    firings: u64,
    areas: Areas,
    counts: Vec<u64>,
    sums: Vec<f64>,
    done: BatchAverages,
    watch: &'a dyn Watch,
    /// Whether the run is to end.
    stopped: bool,
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
                ..BatchAverages::default()
            },
            watch,
            stopped: false,
        };
        batches.ends = batches.end_tick();
        batches
    }

    /// Tick at which the present batch ends, where batches have a length in seconds.
    fn end_tick(&self) -> Option<u64> {
        match self.length {
            BatchLength::Seconds(seconds) => Some(self.clock.ticks(seconds * (self.done.seconds.len() + 1) as f64)),
            BatchLength::Firings(_) => None,
        }
    }

    /// Collects rewards while the marking stays.
    fn collect(&mut self, marking: &[u32], from: u64, to: u64) {
        let seconds = (to - from) as f64 * self.tick;
        for (sum, reward) in self.sums.iter_mut().zip(self.rewards) {
            if let Some(rate) = &reward.rate {
                *sum += rate.eval(marking) * seconds;
            }
        }
    }

    /// Ends the present batch.
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
        self.stopped = self.watch.stopped();
    }
}

impl Observer for Batches<'_> {
    fn wants_end(&self) -> bool {
        self.stopped
    }

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
        self.counts[t as usize] += 1;
        for &(r, i) in self.impulses.row(t as usize) {
            self.sums[r as usize] += self.rewards[r as usize].impulses[i as usize].1.eval(marking);
        }
    }

    fn finish(&mut self, marking: &[u32], end: u64, _: &mut Samples) {
        let complete = match self.length {
            BatchLength::Seconds(_) => self.ends.is_some_and(|tick| tick <= end),
            BatchLength::Firings(each) => self.firings >= each.saturating_mul(self.done.seconds.len() as u64 + 1),
        };
        if complete {
            self.close(marking, end);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compile::{compile, lower};
    use crate::net::{Law, NetBuilder, Timing};
    use crate::sim::cpu::Unwatched;

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

    /// Batches this long are all but independent.
    fn assert_mean(batches: &[f64], exact: f64) {
        let n = batches.len() as f64;
        let mean = batches.iter().sum::<f64>() / n;
        let variance = batches.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / (n - 1.0);
        let error = (variance / n).sqrt();
        assert!(error < 0.01 * exact && (mean - exact).abs() < 5.0 * error, "{mean} {exact} {error}");
    }

    #[test]
    fn both_lengths_match_the_exact_queue() {
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

    #[test]
    fn a_net_that_dies_says_so() {
        let mut b = NetBuilder::new("dies");
        let p = b.place("p", 3);
        let t = b.transition("t", Timing::exponential(1.0));
        b.input(p, t, 1.0);
        let program = compile(&b.build().unwrap()).unwrap();
        for length in [BatchLength::Seconds(50.0), BatchLength::Firings(10)] {
            let settings = SteadyState::new(length);
            assert_eq!(run_steady(&program, &settings, &Unwatched), Err(SteadyError::Dead { firings: 3 }));
        }
        let settings = SteadyState { batches: 0, ..SteadyState::new(BatchLength::Seconds(1.0)) };
        assert_eq!(run_steady(&program, &settings, &Unwatched), Err(SteadyError::NoBatch));
    }
}
