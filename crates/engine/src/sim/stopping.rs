//! Tests of stopped runs: every engine reacts during a replication, and keeps the complete replications.
//! Checks of the watch are counted, so the tests do not depend on a clock.

use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::compile::{Program, compile};
use crate::net::{Law, Net, NetBuilder, Timing};
use crate::sim::{
    Backend, BatchLength, EngineChoice, Ensemble, Goal, Group, Question, Run, SteadyError, SteadyState, run, run_steady,
};
use crate::watch::{TimeLimit, Unwatched, Watch};

/// Stops a run at a given check of the watch.
struct Looks {
    stop_at: u64,
    looked: AtomicU64,
}

impl Looks {
    fn until(stop_at: u64) -> Self {
        Self { stop_at, looked: AtomicU64::new(0) }
    }
}

impl Watch for Looks {
    fn progress(&self, _: u64, _: u64) {}

    fn stopped(&self) -> bool {
        self.looked.fetch_add(1, Ordering::Relaxed) >= self.stop_at
    }
}

/// A token that circulates forever.
fn endless(timing: Timing) -> Net {
    let mut b = NetBuilder::new("endless");
    let place = b.place("p", 1);
    let turn = b.transition("turn", timing);
    b.input(place, turn, 1.0);
    b.output(turn, place, 1.0);
    b.build().unwrap()
}

/// A chain of this many tasks, one after the other.
fn chain(tasks: usize) -> Program {
    let mut b = NetBuilder::new("chain");
    let mut from = b.place("p0", 1);
    for i in 1..=tasks {
        let to = b.place(format!("p{i}"), 0);
        let task = b.transition(format!("t{i}"), Timing::exponential(1.0));
        b.input(from, task, 1.0);
        b.output(task, to, 1.0);
        from = to;
    }
    compile(&b.build().unwrap()).unwrap()
}

fn on_one_thread(engine: EngineChoice, replications: u64) -> Ensemble {
    let threads = Some(NonZeroUsize::MIN);
    Ensemble { engine, replications, threads, backend: Backend::Cpu, keep: true, ..Ensemble::default() }
}

fn stopped(program: &Program, question: &Question, ensemble: &Ensemble, looks: &Looks) -> Run {
    let run = run(program, question, ensemble, looks).unwrap();
    assert!(run.provenance.cut_short);
    run
}

/// Each replication would take minutes. Hangs if the watch is not checked inside a replication.
#[test]
fn a_replication_that_goes_on_and_on_is_left_when_the_run_is_stopped() {
    let exponential = compile(&endless(Timing::exponential(1.0))).unwrap();
    let fixed = compile(&endless(Timing::general(Law::Deterministic { delay: 1.0 }))).unwrap();
    let question = Question { goal: Goal::Horizon, horizon: Some(1e10), ..Question::default() };
    let cases = [
        (&exponential, EngineChoice::Lockstep),
        (&exponential, EngineChoice::Direct),
        (&exponential, EngineChoice::Clock),
        (&fixed, EngineChoice::Clock),
    ];
    for (program, engine) in cases {
        let looks = Looks::until(10);
        let run = stopped(program, &question, &on_one_thread(engine, 4), &looks);
        assert_eq!((run.samples.replications, run.samples.firings), (0, 0), "{engine:?}");
        let looked = looks.looked.into_inner();
        assert!((10..20).contains(&looked), "{engine:?} looked {looked} times");
    }
}

/// The samples of a stopped run are the first replications of the complete run, including groups and averages.
#[test]
fn a_stopped_run_has_the_first_replications_of_the_whole_one() {
    // a token circulates ten times in most replications, and very often in some
    let mut b = NetBuilder::new("now and then long");
    let (p, end) = (b.place("p", 1), b.place("end", 0));
    let [turn, leave] = [9.0, 1.0].map(|rate| b.transition(format!("t{rate}"), Timing::exponential(rate)));
    for (transition, to) in [(turn, p), (leave, end)] {
        b.input(p, transition, 1.0);
        b.output(transition, to, 1.0);
    }
    let program = compile(&b.build().unwrap()).unwrap();
    let plain = Question::default();
    let groups = Question { groups: vec![Group { name: "g".into(), transitions: vec![0] }], ..plain.clone() };
    let tokens = Question { tokens: true, ..plain.clone() };
    for question in [&plain, &groups, &tokens] {
        for engine in [EngineChoice::Lockstep, EngineChoice::Direct, EngineChoice::Clock] {
            let part = stopped(&program, question, &on_one_thread(engine, 1_000_000), &Looks::until(40)).samples;
            assert!(part.replications > 0 && part.replications < 1_000_000, "{engine:?} {}", part.replications);
            let whole = on_one_thread(engine, part.replications);
            let whole = run(&program, question, &whole, &Unwatched).unwrap().samples;
            assert_eq!(part.passage_times, whole.passage_times, "{engine:?}");
            assert_eq!(part.groups, whole.groups, "{engine:?}");
            assert_eq!(part.averages().tokens, whole.averages().tokens, "{engine:?}");
        }
    }
}

#[test]
fn a_long_schedule_is_left_within_a_block() {
    let program = chain(100_000);
    let ensemble = on_one_thread(EngineChoice::Schedule, 64);
    for stop_at in 2..6 {
        let looks = Looks::until(stop_at);
        let run = stopped(&program, &Question::default(), &ensemble, &looks);
        assert_eq!(run.samples.replications, 0);
        assert!(looks.looked.into_inner() < stop_at + 5);
    }
    let whole = run(&program, &Question::default(), &ensemble, &Unwatched).unwrap();
    assert_eq!((whole.samples.replications, whole.provenance.cut_short), (64, false));
}

#[test]
fn a_long_run_is_left_within_a_batch_and_keeps_complete_ones() {
    let program = compile(&endless(Timing::exponential(1.0))).unwrap();
    let settings = SteadyState { batches: 50, discarded: 0, ..SteadyState::new(BatchLength::Firings(100_000)) };
    let part = run_steady(&program, &settings, &Looks::until(100)).unwrap();
    assert!(part.cut_short && part.seconds.len() == 4, "{}", part.seconds.len());
    let whole = run_steady(&program, &settings, &Unwatched).unwrap();
    assert_eq!((&part.seconds[..], whole.seconds.len()), (&whole.seconds[..4], 50));
    let none = SteadyState::new(BatchLength::Firings(1 << 40));
    assert_eq!(run_steady(&program, &none, &Looks::until(100)), Err(SteadyError::Stopped));
}

#[test]
fn a_time_of_nothing_ends_a_simulation_at_once() {
    let net = endless(Timing::exponential(1.0));
    let limit = TimeLimit::new(&Unwatched, Some(std::time::Duration::ZERO));
    assert!(limit.stopped() && limit.left() == Some(std::time::Duration::ZERO));
    let run = net.simulation().until_time(1e10).max_wall(std::time::Duration::ZERO).run().unwrap();
    assert_eq!((run.replications(), run.provenance().cut_short), (0, true));
}
