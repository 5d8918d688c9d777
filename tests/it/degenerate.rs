//! Nets and questions at the edge: nothing to do, nothing to see, or too much of it. On every engine that can.

use std::num::NonZeroUsize;

use tailspn::compile::{Program, compile};
use tailspn::estimate::EstimateError;
use tailspn::net::{Law, NetBuilder, PlaceId, Timing};
use tailspn::semantics::Fault;
use tailspn::sim::{Ending, EngineChoice, Ensemble, Goal, Question, RunError, Samples, Unwatched, run};

use crate::measure::ENGINES;

/// The samples of every engine that can run this, with its name; at least `least` of them.
fn on_every_engine(
    program: &Program,
    question: &Question,
    replications: u64,
    least: usize,
) -> Vec<(&'static str, Samples)> {
    let runs = results(program, question, replications);
    let samples: Vec<_> = runs.into_iter().map(|(name, result)| (name, result.unwrap())).collect();
    assert!(samples.len() >= least, "only {} engines ran", samples.len());
    samples
}

fn results(
    program: &Program,
    question: &Question,
    replications: u64,
) -> Vec<(&'static str, Result<Samples, RunError>)> {
    let mut results = Vec::new();
    for (engine, name) in ENGINES {
        let ensemble = Ensemble { replications, engine, seed: 3, ..Ensemble::default() };
        match run(program, question, &ensemble, &Unwatched) {
            Err(RunError::Engine { reasons, .. }) => assert!(!reasons.is_empty(), "{name} says why it cannot"),
            result => results.push((name, result.map(|run| run.samples))),
        }
    }
    results
}

fn program(b: NetBuilder) -> Program {
    compile(&b.build().unwrap()).unwrap()
}

/// One token that moves once.
fn one_step(timing: Timing) -> NetBuilder {
    let mut b = NetBuilder::new("one step");
    let (from, to) = (b.place("from", 1), b.place("to", 0));
    let step = b.transition("step", timing);
    b.input(from, step, 1.0);
    b.output(step, to, 1.0);
    b
}

fn to_horizon(horizon: f64) -> Question {
    Question { goal: Goal::Horizon, horizon: Some(horizon), ..Question::default() }
}

fn with_averages(question: Question) -> Question {
    Question { tokens: true, throughput: true, ..question }
}

#[test]
fn a_net_without_anything_is_dead_at_time_zero() {
    let empty = program(NetBuilder::new("empty"));
    for (name, samples) in on_every_engine(&empty, &Question::default(), 10, 1) {
        assert_eq!((samples.ended(Ending::Goal), samples.passage.max(), samples.firings), (10, Some(0), 0), "{name}");
    }
}

#[test]
fn a_net_without_transitions_keeps_its_tokens() {
    let mut b = NetBuilder::new("places only");
    b.place("lonely", 7);
    let program = program(b);
    for (name, samples) in on_every_engine(&program, &with_averages(to_horizon(5.0)), 10, 2) {
        assert_eq!(samples.ended(Ending::Horizon), 10, "{name}");
        assert_eq!(
            (samples.averages().tokens[0].min(), samples.averages().tokens[0].max()),
            (Some(7.0), Some(7.0)),
            "{name}"
        );
    }
}

#[test]
fn a_dead_marking_ends_the_passage_and_lasts_to_the_horizon() {
    let program = program(one_step(Timing::exponential(1000.0)));
    for (name, samples) in on_every_engine(&program, &Question::default(), 100, 4) {
        assert_eq!((samples.ended(Ending::Goal), samples.firings), (100, 100), "{name}");
    }
    for (name, samples) in on_every_engine(&program, &with_averages(to_horizon(1e3)), 100, 2) {
        assert_eq!(samples.ended(Ending::Horizon), 100, "{name}");
        let tokens = samples.averages().tokens[1].mean().unwrap();
        assert!(tokens > 0.99999 && tokens < 1.0, "{name}: {tokens}");
    }
}

#[test]
fn a_goal_that_is_out_of_reach_is_a_dead_end_and_no_passage() {
    let net = one_step(Timing::exponential(1.0)).build().unwrap();
    let question = Question::until(&net, "#(to) >= 2").unwrap();
    for (name, samples) in on_every_engine(&compile(&net).unwrap(), &question, 100, 3) {
        assert_eq!((samples.ended(Ending::Dead), samples.passage.count()), (100, 0), "{name}");
        let mean = samples.passage.mean_estimate(0.95);
        assert_eq!(mean, Err(EstimateError::TooFewSamples { got: 0, need: 2 }), "{name}");
    }
}

#[test]
fn a_goal_that_holds_at_the_start_takes_no_time() {
    let net = one_step(Timing::exponential(1.0)).build().unwrap();
    let question = Question::until(&net, "#(from) >= 1").unwrap();
    for (name, samples) in on_every_engine(&compile(&net).unwrap(), &question, 100, 3) {
        assert_eq!((samples.ended(Ending::Goal), samples.passage.max(), samples.firings), (100, Some(0), 0), "{name}");
    }
}

#[test]
fn a_rate_of_zero_never_fires() {
    let program = program(one_step(Timing::exponential(0.0)));
    for (name, samples) in on_every_engine(&program, &Question::default(), 100, 2) {
        assert_eq!((samples.ended(Ending::Goal), samples.passage.max(), samples.firings), (100, Some(0), 0), "{name}");
    }
    for (name, samples) in on_every_engine(&program, &with_averages(to_horizon(50.0)), 100, 2) {
        assert_eq!((samples.ended(Ending::Horizon), samples.averages().tokens[0].mean()), (100, Some(1.0)), "{name}");
    }
}

#[test]
fn an_immediate_weight_of_zero_is_never_chosen() {
    let mut b = NetBuilder::new("choice");
    let (choice, left, right) = (b.place("choice", 1), b.place("left", 0), b.place("right", 0));
    for (id, weight, place) in [("go_left", 0.0, left), ("go_right", 2.0, right)] {
        let t = b.transition(id, Timing::immediate(weight, 1));
        b.input(choice, t, 1.0);
        b.output(t, place, 1.0);
    }
    let program = program(b);
    for (name, samples) in on_every_engine(&program, &with_averages(to_horizon(1.0)), 200, 2) {
        assert_eq!(
            (samples.averages().tokens[left.index()].max(), samples.averages().tokens[right.index()].min()),
            (Some(0.0), Some(1.0)),
            "{name}"
        );
    }
}

#[test]
fn a_single_replication_has_a_value_and_no_interval() {
    let program = program(one_step(Timing::exponential(1.0)));
    for (name, samples) in on_every_engine(&program, &Question::default(), 1, 4) {
        assert!(samples.passage.mean_ticks().unwrap() > 0.0, "{name}");
        assert_eq!(samples.passage.variance(), None, "{name}");
        let interval = samples.passage.mean_estimate(0.95);
        assert_eq!(interval, Err(EstimateError::TooFewSamples { got: 1, need: 2 }), "{name}");
    }
}

#[test]
fn no_replication_is_no_sample() {
    let program = program(one_step(Timing::exponential(1.0)));
    for (name, samples) in on_every_engine(&program, &Question::default(), 0, 4) {
        assert_eq!((samples.replications, samples.passage.count()), (0, 0), "{name}");
    }
}

#[test]
fn tokens_that_explode_are_an_error_with_place_and_transition() {
    let mut b = NetBuilder::new("chain reaction");
    let neutrons = b.place("neutrons", 1);
    let split = b.transition("split", Timing::exponential(1.0));
    b.input(neutrons, split, 1.0);
    b.output(split, neutrons, 1e9);
    let program = program(b);
    let results = results(&program, &to_horizon(1e6), 4);
    assert!(results.len() >= 2);
    for (name, result) in results {
        let fault = Fault::TooManyTokens { place: "neutrons".to_owned(), transition: "split".to_owned() };
        assert_eq!(result.unwrap_err(), RunError::Fault(fault), "{name}");
    }
}

#[test]
fn the_largest_number_of_firings_cuts_a_replication_off() {
    let mut b = NetBuilder::new("for ever");
    let ticking = b.transition("ticking", Timing::exponential(1.0));
    let count = b.place("count", 0);
    b.output(ticking, count, 1.0);
    let program = program(b);
    let question = Question { max_firings: Some(10), ..Question::default() };
    for (name, samples) in on_every_engine(&program, &question, 100, 3) {
        assert_eq!(
            (samples.ended(Ending::Firings), samples.firings, samples.passage.count()),
            (100, 1000, 0),
            "{name}"
        );
    }
    for (name, samples) in on_every_engine(&program, &with_averages(question), 100, 2) {
        assert_eq!((samples.ended(Ending::Firings), samples.firings), (100, 1000), "{name}");
        assert!(samples.averages().throughput[0].mean().unwrap() > 0.5, "{name}");
    }
}

#[test]
fn a_horizon_before_the_first_firing_sees_the_initial_marking_only() {
    let program = program(one_step(Timing::general(Law::Deterministic { delay: 10.0 })));
    let question = Question { goal: Goal::Dead, horizon: Some(9.0), ..Question::default() };
    for (name, samples) in on_every_engine(&program, &question, 100, 2) {
        assert_eq!((samples.ended(Ending::Horizon), samples.passage.count(), samples.firings), (100, 0, 0), "{name}");
    }
    for (name, samples) in on_every_engine(&program, &with_averages(question), 100, 1) {
        assert_eq!(
            (samples.averages().tokens[0].mean(), samples.averages().throughput[0].mean()),
            (Some(1.0), Some(0.0)),
            "{name}"
        );
    }
}

#[test]
fn a_horizon_of_zero_ends_at_once() {
    let program = program(one_step(Timing::exponential(1.0)));
    for (name, samples) in on_every_engine(&program, &to_horizon(0.0), 100, 3) {
        assert_eq!((samples.ended(Ending::Horizon), samples.firings), (100, 0), "{name}");
    }
    for (name, samples) in on_every_engine(&program, &with_averages(to_horizon(0.0)), 100, 2) {
        assert_eq!(samples.averages().tokens[0].mean(), None, "no time, no average: {name}");
    }
}

#[test]
fn a_warm_up_beyond_the_end_leaves_no_averages() {
    let program = program(one_step(Timing::exponential(1.0)));
    let question = Question { warm_up: 20.0, ..with_averages(to_horizon(10.0)) };
    for (name, samples) in on_every_engine(&program, &question, 100, 2) {
        assert_eq!((samples.averages().tokens[0].count(), samples.averages().throughput[0].count()), (0, 0), "{name}");
    }
}

#[test]
fn delays_of_no_length_take_no_time() {
    let mut b = one_step(Timing::general(Law::Deterministic { delay: 0.0 }));
    let (to, end) = (PlaceId::from_index(1), b.place("end", 0));
    let next = b.transition("next", Timing::general(Law::Uniform { low: 0.0, high: 0.0 }));
    b.input(to, next, 1.0);
    b.output(next, end, 1.0);
    let program = program(b);
    for (name, samples) in on_every_engine(&program, &Question::default(), 100, 2) {
        assert_eq!(
            (samples.ended(Ending::Goal), samples.passage.max(), samples.firings),
            (100, Some(0), 200),
            "{name}"
        );
    }
}

#[test]
fn a_cycle_of_delays_of_no_length_is_an_error_and_no_hang() {
    let mut b = NetBuilder::new("standing still");
    let here = b.place("here", 1);
    let spin = b.transition("spin", Timing::general(Law::Deterministic { delay: 0.0 }));
    b.input(here, spin, 1.0);
    b.output(spin, here, 1.0);
    let program = program(b);
    for (name, result) in results(&program, &to_horizon(1.0), 1) {
        let fault = Fault::StandingTime { transition: "spin".to_owned(), time: 0.0 };
        assert_eq!(result.unwrap_err(), RunError::Fault(fault), "{name}");
    }
}

#[test]
fn more_threads_than_replications_do_no_harm() {
    let program = program(one_step(Timing::exponential(1.0)));
    let on = |threads: usize| {
        let threads = NonZeroUsize::new(threads);
        let ensemble = Ensemble { replications: 3, threads, engine: EngineChoice::Clock, ..Ensemble::default() };
        run(&program, &Question::default(), &ensemble, &Unwatched).unwrap().samples
    };
    assert_eq!(on(1), on(16));
}
