//! Executes one run and returns samples and their origin.

use std::borrow::Cow;
use std::time::Instant;

use tailspn_common::threads;

use crate::compile::Program;
use crate::rng::split;
use crate::semantics::Fault;
use crate::sim::clock::Clock;
use crate::sim::cpu::CpuRounds;
use crate::sim::engine::Engine;
use crate::sim::engines::choose;
use crate::sim::ensemble::Ensemble;
#[cfg(feature = "gpu")]
use crate::sim::gpu::{Patience, Relay, open};
#[cfg(not(feature = "gpu"))]
use crate::sim::no_relay::Relay;
use crate::sim::question::{Ending, Goal, Question};
use crate::sim::race::{ClockForm, Setup};
use crate::sim::record::{Provenance, Run};
use crate::sim::run_error::RunError;
use crate::sim::samples::Samples;
use crate::simd::Level;
use crate::watch::{TimeLimit, Watch};

/// Runs replications of `program`.
///
/// # Errors
///
/// A fault of the net, an engine that cannot answer the question, or a missing GPU if one is required.
pub fn run(program: &Program, question: &Question, ensemble: &Ensemble, watch: &dyn Watch) -> Result<Run, RunError> {
    if let Some(what) = question.beyond_replications() {
        return Err(RunError::ExactOnly { what });
    }
    let limits = &TimeLimit::new(watch, ensemble.max_wall);
    let clock = result_clock(program, question, ensemble.seed, limits)?;
    clock.check(program, question.tokens || !question.rewards.is_empty())?;
    let nothing = Samples::new(clock, question, program.counters(), program.transitions());
    if let Some(run) = ensemble.given(&(program, question), &nothing)? {
        return Ok(run);
    }
    let ensemble = &ensemble.shared()?;
    let keep_times = ensemble.keep;
    let setup = Setup { program, question, clock, key: split(ensemble.seed), keep_times, watch: limits };
    let chosen = choose(ensemble.engine, setup, ensemble.seed)?;
    let started = Instant::now();
    #[cfg(feature = "gpu")]
    let open = || open(chosen.kind, setup, ensemble.seed, ensemble.adapter.as_deref());
    #[cfg(feature = "gpu")]
    let relay = Relay::new(ensemble.backend, &open, ensemble.first, Patience::default(), chosen.kind.name())?;
    #[cfg(not(feature = "gpu"))]
    let relay = Relay::new(ensemble.backend)?;
    let mut run = run_rounds(setup, chosen.engine.as_ref(), ensemble, limits, relay, started)?;
    run.provenance.engine = chosen.kind.name().into();
    run.provenance.reasons = chosen.reasons;
    ensemble.share.keep(&(program, question), &run)?;
    Ok(run)
}

/// Checks that all rewards and snapshots are finite numbers.
pub(in crate::sim) fn finite(question: &Question, samples: &Samples) -> Result<(), Fault> {
    let rewards = question.rewards.iter().map(|reward| format!("the reward `{}`", reward.name));
    let snapshots = question.snapshots.iter().map(|snapshot| format!("a snapshot at {} s", snapshot.time));
    let names = rewards.chain(snapshots);
    let averages = samples.averages();
    for (what, moments) in names.zip(averages.rewards.iter().chain(&averages.snapshots)) {
        if moments.mean().is_some_and(|mean| !mean.is_finite()) {
            return Err(Fault::BadExpression { what });
        }
    }
    Ok(())
}

/// Number of pilot replications, which determine the range of times; always the first replications of the seed, so
/// that all shards agree.
const PILOT: u64 = 8;
/// Maximum number of firings of a pilot replication.
const PILOT_FIRINGS: u64 = 1 << 20;
/// Maximum number of bits of the longest time in the pilot, so that a time 2^16 times as long still fits.
const PILOT_BITS: u32 = 46;

/// The clock of a run. Narrow clocks are fine enough for any result; on the wide clock, the result tick is the finest
/// that can represent the times of a pilot and much longer times.
pub(in crate::sim) fn result_clock(
    program: &Program,
    question: &Question,
    seed: u64,
    watch: &dyn Watch,
) -> Result<Clock, RunError> {
    let clock = Clock::choose(program, question.horizon);
    if question.goal == Goal::Horizon {
        let fits = question.horizon.is_none_or(|horizon| horizon <= clock.limit());
        return if fits { Ok(clock) } else { Err(RunError::Horizon { limit: clock.limit() }) };
    }
    if !clock.is_wide() {
        return Ok(clock);
    }
    let most = question.max_firings.unwrap_or(PILOT_FIRINGS).min(PILOT_FIRINGS);
    let question = &Question { max_firings: Some(most), ..question.clone() };
    let beyond = |clock: Clock| question.horizon.is_some_and(|horizon| horizon > clock.limit());
    for extra_bits in [0, 16, 32, 48] {
        let finer = clock.with_extra_bits(extra_bits);
        let setup = Setup { program, question, clock: finer, key: split(seed), keep_times: false, watch };
        let mut samples = Samples::new(finer, question, program.counters(), program.transitions());
        match ClockForm::new(setup).run(0, PILOT, &mut samples) {
            Err(Fault::PastTheClock { .. }) => continue,
            Err(fault) => return Err(fault.into()),
            Ok(()) => {}
        }
        if samples.ended(Ending::Firings) > 0 {
            // for a net that never ends, the horizon determines the clock
            return if beyond(clock) { Err(RunError::Horizon { limit: clock.limit() }) } else { Ok(clock) };
        }
        let cut = samples.ended(Ending::Horizon) > 0 && beyond(finer);
        if !cut && samples.passage.max().is_none_or(|longest| longest < 1 << PILOT_BITS) {
            return Ok(finer);
        }
    }
    Ok(clock)
}

/// Runs the requested number of replications, or until the stop rule is satisfied, on the devices that `relay` chooses.
pub(in crate::sim) fn run_rounds(
    setup: Setup<'_>,
    engine: &dyn Engine,
    ensemble: &Ensemble,
    limits: &TimeLimit<'_>,
    mut relay: Relay<'_>,
    started: Instant,
) -> Result<Run, RunError> {
    let Setup { program, question, clock, .. } = setup;
    // the result does not depend on the number
    let threads = threads::at_most(ensemble.threads);
    let cpu = CpuRounds::new(engine, program, question, ensemble.first, threads);
    let mut cpu = cpu.map_err(|error| RunError::Threads(error.to_string()))?;
    let samples = Samples::new(clock, question, program.counters(), program.transitions());
    let mut samples = samples.starting_at(ensemble.first);
    let mut until = ensemble.replications;
    if let Some(rule) = &ensemble.stop {
        until = rule.next_round(0, f64::INFINITY).unwrap_or(0);
    }
    let complete = loop {
        while samples.replications < until && !limits.stopped() {
            relay.step(&mut cpu, until, &mut samples, limits)?;
            limits.progress(samples.replications, until);
        }
        if samples.replications < until {
            break false;
        }
        let Some(rule) = &ensemble.stop else { break true };
        match ensemble.next_round(rule, &samples) {
            Some(more) => until = samples.replications + more,
            None => break true,
        }
    };
    finite(question, &samples)?;
    let provenance = Provenance {
        version: env!("CARGO_PKG_VERSION").into(),
        seed: ensemble.seed,
        first: ensemble.first,
        engine: Cow::default(),
        vector: Level::detect().name().into(),
        threads: threads.get(),
        reasons: Vec::new(),
        placement: relay.placement(),
        wall: started.elapsed(),
        cut_short: !complete,
        folded: None,
        not_folded: Vec::new(),
    };
    Ok(Run { samples, provenance })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compile::compile;
    use crate::net::{NetBuilder, Timing};
    use crate::sim::{Reward, Unwatched};

    /// A fast and a slow transition compete for a token; the slow one may lack its other tokens.
    fn fast_and_slow(fast: f64, slow: f64, tokens: u32) -> Program {
        let mut b = NetBuilder::new("");
        let (p, z) = (b.place("p", 1), b.place("z", tokens));
        let f = b.transition("f", Timing::exponential(fast));
        let s = b.transition("s", Timing::exponential(slow));
        b.input(p, f, 1.0);
        b.input(z, s, 1.0);
        b.input(p, s, 1.0);
        compile(&b.build().unwrap()).unwrap()
    }

    fn times(program: &Program, question: &Question) -> (f64, f64) {
        let ensemble = Ensemble { replications: 20_000, seed: 11, ..Ensemble::default() };
        let run = run(program, question, &ensemble, &Unwatched).unwrap();
        let tick = run.samples.clock.tick();
        let median = run.samples.passage_histogram.quantile(0.5).unwrap();
        (run.samples.passage.mean_ticks().unwrap() * tick, median * tick)
    }

    #[test]
    fn a_slow_transition_does_not_coarsen_the_times_of_a_fast_one() {
        for (fast, slow, tokens) in [(1e3, 1e-6, 0), (1e3, 1e-10, 0), (1e3, 1e-10, 1), (1e9, 1e-9, 1), (1e9, 1e-9, 0)] {
            let (mean, median) = times(&fast_and_slow(fast, slow, tokens), &Question::default());
            // standard error of the mean: 0.7%; of the median: 0.7% of the mean
            assert!((mean * fast - 1.0).abs() < 0.035, "{fast} {slow}: mean {mean}");
            assert!((median * fast - 2_f64.ln()).abs() < 0.035, "{fast} {slow}: median {median}");
        }
    }

    /// After the fast transition has fired, the slow one determines the time.
    #[test]
    fn a_fast_transition_does_not_cut_the_times_of_a_slow_one() {
        let mut b = NetBuilder::new("");
        let (p, q) = (b.place("p", 1), b.place("q", 0));
        let f = b.transition("f", Timing::exponential(1e9));
        let s = b.transition("s", Timing::exponential(1e-9));
        b.input(p, f, 1.0);
        b.output(f, q, 1.0);
        b.input(q, s, 1.0);
        let program = compile(&b.build().unwrap()).unwrap();
        let (mean, median) = times(&program, &Question::default());
        assert!((mean * 1e-9 - 1.0).abs() < 0.035 && (median * 1e-9 - 2_f64.ln()).abs() < 0.035, "{mean} {median}");
    }

    #[test]
    fn a_horizon_far_away_changes_nothing() {
        let program = fast_and_slow(1.0, 0.5, 1);
        for horizon in [1e6, 1e15, 1e18, 1e100, 1e300] {
            let question = Question { horizon: Some(horizon), ..Question::default() };
            let (mean, median) = times(&program, &question);
            assert!((mean * 1.5 - 1.0).abs() < 0.035, "{horizon}: mean {mean}");
            assert!((median * 1.5 - 2_f64.ln()).abs() < 0.035, "{horizon}: median {median}");
        }
    }

    #[test]
    fn expressions_that_are_no_numbers_are_faults() {
        let mut b = NetBuilder::new("");
        let p = b.place("p", 1);
        let t = b.transition("t", Timing::exponential(1.0));
        b.input(p, t, 1.0);
        let net = b.build().unwrap();
        let program = compile(&net).unwrap();
        let code = |text: &str| crate::compile::lower(&net, &net.expression(text).unwrap());
        for text in ["0 / 0", "1 / 0", "1 / (1 - #(p))"] {
            let question = Question { goal: Goal::marking(&net, text).unwrap(), ..Question::default() };
            let error = run(&program, &question, &Ensemble::default(), &Unwatched).unwrap_err();
            assert!(matches!(error, RunError::Fault(Fault::BadExpression { .. })), "{text}: {error}");
        }
        let reward = Reward { name: "x".into(), rate: Some(code("1 / (1 - #(p))")), impulses: Vec::new() };
        let question = Question { rewards: vec![reward], ..Question::default() };
        let error = run(&program, &question, &Ensemble::default(), &Unwatched).unwrap_err();
        assert_eq!(error.to_string(), "the reward `x` is infinite or not a number in a marking that the net reaches");
    }

    #[test]
    fn a_horizon_that_no_clock_holds_is_refused() {
        let program = fast_and_slow(1.0, 0.5, 1);
        let question = Question { goal: Goal::Horizon, horizon: Some(1e300), ..Question::default() };
        let refused = run(&program, &question, &Ensemble::default(), &Unwatched).unwrap_err();
        assert!(matches!(refused, RunError::Horizon { .. }), "{refused}");
        // a net that runs forever, with a goal that is never reached
        let mut b = NetBuilder::new("");
        let p = b.place("p", 1);
        let t = b.transition("t", Timing::exponential(1.0));
        b.input(p, t, 1.0);
        b.output(t, p, 1.0);
        let program = compile(&b.build().unwrap()).unwrap();
        let question = Question { horizon: Some(1e300), ..Question::default() };
        let refused = run(&program, &question, &Ensemble::default(), &Unwatched).unwrap_err();
        assert!(matches!(refused, RunError::Horizon { .. }), "{refused}");
    }
}
