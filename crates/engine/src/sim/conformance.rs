//! Tests that all engines must pass, on nets that several of them can run.

use crate::compile::{Program, affected_sharing, compile, plan_schedule};
use crate::net::{Branch, Law, NetBuilder, PlaceId, Servers, Timing};
use crate::sim::{EngineChoice, Ensemble, Goal, Group, Question, Samples, Unwatched, run};
use crate::simd::Level;

/// Adds a chain of transitions with these timings, starting at the place `from`; returns the last place.
fn chain(b: &mut NetBuilder, name: &str, from: PlaceId, laws: &[Timing]) -> PlaceId {
    let mut place = from;
    for (i, law) in laws.iter().enumerate() {
        let t = b.transition(format!("{name}_t{i}"), law.clone());
        b.input(place, t, 1.0);
        place = b.place(format!("{name}_p{i}"), 0);
        b.output(t, place, 1.0);
    }
    place
}

/// A fork into tasks and a join; each task is slow with some probability. Delays are exponential, except that some have the distributions
/// `others`.
pub(super) fn straggling_tasks(tasks: u32, others: &[Law]) -> Program {
    let mut b = NetBuilder::new("straggling tasks");
    let start = b.place("start", 1);
    let fork = b.transition("fork", Timing::exponential(0.5));
    let joined = b.place("joined", 0);
    b.input(start, fork, 1.0);
    for j in 0..tasks {
        let waiting = b.place(format!("waiting{j}"), 0);
        b.output(fork, waiting, 1.0);
        for (kind, weight, mean) in [("fast", 0.8, 2.0), ("slow", 0.2, 10.0)] {
            let choose = b.transition(format!("{kind}{j}"), Timing::immediate(weight, 1));
            let chosen = b.place(format!("{kind}_{j}"), 0);
            b.input(waiting, choose, 1.0);
            b.output(choose, chosen, 1.0);
            let mut laws = vec![Timing::exponential(1.0 / mean), Timing::exponential(3.0)];
            laws.extend(others.iter().cloned().map(Timing::general));
            let last = chain(&mut b, &format!("{kind}_{j}"), chosen, &laws);
            let finish = b.transition(format!("finish_{kind}{j}"), Timing::exponential(1.0));
            b.input(last, finish, 1.0);
            b.output(finish, joined, 1.0);
        }
    }
    let join = b.transition("join", Timing::exponential(0.25));
    b.input(joined, join, f64::from(tasks));
    let done = b.place("done", 0);
    b.output(join, done, 1.0);
    compile(&b.build().unwrap()).unwrap()
}

/// A MapReduce job in nine phases as in SPN-GC: tasks in chains, a join at the shuffle. `gpu` scales the mean of the
/// GPU phases. With `slots`, a map task occupies one of the slots while it runs.
#[cfg(feature = "gpu")]
pub(super) fn job(maps: u32, reduces: u32, gpu: f64, slots: Option<u32>) -> crate::net::Net {
    let mut b = NetBuilder::new("job");
    let [start, mapped] = [("start", 1), ("mapped", 0)].map(|(id, tokens)| b.place(id, tokens));
    let [load, shuffle] =
        [("load", 3.0), ("shuffle", 2.0)].map(|(id, s)| b.transition(id, Timing::exponential(1.0 / s)));
    let free = slots.map(|slots| b.place("slots", slots));
    b.input(start, load, 1.0);
    b.input(mapped, shuffle, f64::from(maps));
    let hyper = vec![Branch { probability: 0.8, mean: 2.5 * gpu }, Branch { probability: 0.2, mean: 10.0 * gpu }];
    let map = [
        Timing::general(Law::Uniform { low: 0.2, high: 0.7 }),
        Timing::exponential(1.0 / (5.6 * gpu)),
        Timing::general(Law::Hyperexponential { branches: hyper }),
        Timing::exponential(1.4),
        Timing::general(Law::Erlang { stages: 3, mean: 1.2 }),
    ];
    let tasks = (0..maps).map(|i| (load, free, format!("m{i}"), &map[..], false));
    let reduce = [Timing::exponential(0.3), Timing::exponential(0.12)];
    let reducers = (0..reduces).map(|i| (shuffle, None, format!("r{i}"), &reduce[..], true));
    for (fork, slot, id, timings, is_reduce) in tasks.chain(reducers) {
        let waiting = b.place(format!("{id}_waiting"), 0);
        b.output(fork, waiting, 1.0);
        let first = match slot {
            None => waiting,
            Some(free) => {
                let (take, running) = (
                    b.transition(format!("{id}_take"), Timing::immediate(1.0, 1)),
                    b.place(format!("{id}_running"), 0),
                );
                b.input(waiting, take, 1.0);
                b.input(free, take, 1.0);
                b.output(take, running, 1.0);
                running
            }
        };
        let done = chain(&mut b, &id, first, timings);
        let end = b.transition(format!("{id}_end"), Timing::exponential(2.0));
        b.input(done, end, 1.0);
        let after = if is_reduce { b.place(format!("{id}_done"), 0) } else { mapped };
        b.output(end, after, 1.0);
        if let Some(free) = slot {
            b.output(end, free, 1.0);
        }
    }
    b.build().unwrap()
}

/// Every distribution except the exponential one.
pub(super) fn all_laws() -> Vec<Law> {
    vec![
        Law::Deterministic { delay: 0.5 },
        Law::Uniform { low: 0.1, high: 0.7 },
        Law::Erlang { stages: 3, mean: 1.5 },
        Law::Hyperexponential {
            branches: vec![Branch { probability: 0.9, mean: 1.0 }, Branch { probability: 0.1, mean: 9.0 }],
        },
        Law::Empirical { samples: vec![0.3, 0.4, 2.0] },
        Law::LogNormal { mean: 1.0, cv: 0.5 },
        Law::Weibull { shape: 0.7, scale: 1.0 },
        Law::Gamma { shape: 0.7, scale: 1.0 },
        Law::Pareto { shape: 2.5, scale: 1.0 },
    ]
}

/// Kanban-like: `n` tokens in each of two loops that meet in a shared machine; with an inhibitor arc, a capacity and several servers.
pub(super) fn two_loops(n: u32) -> Program {
    let mut b = NetBuilder::new("two loops");
    let machine = b.place("machine", 1);
    let buffer = b.place("buffer", 0);
    b.place_mut(buffer).capacity = Some(3);
    for (i, servers) in [(0, Servers::Infinite), (1, Servers::Limited(2))] {
        let idle = b.place(format!("idle{i}"), n);
        let ready = b.place(format!("ready{i}"), 0);
        let busy = b.place(format!("busy{i}"), 0);
        let arrive = b.transition(format!("arrive{i}"), Timing::exponential(0.3 + f64::from(i)));
        if let Timing::Timed { servers: own, .. } = &mut b.transition_mut(arrive).timing {
            *own = servers;
        }
        let seize = b.transition(format!("seize{i}"), Timing::exponential(20.0));
        let release = b.transition(format!("release{i}"), Timing::exponential(2.0));
        b.input(idle, arrive, 1.0);
        b.output(arrive, ready, 1.0);
        b.input(ready, seize, 1.0);
        b.input(machine, seize, 1.0);
        b.output(seize, busy, 1.0);
        b.input(busy, release, 1.0);
        b.output(release, machine, 1.0);
        b.output(release, idle, 1.0);
        b.output(release, buffer, f64::from(i));
    }
    let drain = b.transition("drain", Timing::exponential(1.5));
    b.input(buffer, drain, 1.0);
    let (ready, seize) = (PlaceId::from_index(3), crate::net::TransitionId::from_index(4));
    b.inhibitor(ready, seize, 4.0);
    b.test(machine, drain, 1.0);
    compile(&b.build().unwrap()).unwrap()
}

fn times(program: &Program, question: &Question, ensemble: Ensemble) -> Samples {
    run(program, question, &Ensemble { keep: true, seed: 42, ..ensemble }, &Unwatched).unwrap().samples
}

fn engine(engine: EngineChoice, replications: u64) -> Ensemble {
    Ensemble { engine, replications, ..Ensemble::default() }
}

/// Fails if the schedule engine changes the sample number of the choice, the owner of a delay, or the order of maximum and
/// delay.
#[test]
fn schedule_and_clock_form_agree_bit_for_bit() {
    for laws in [Vec::new(), all_laws()] {
        let program = straggling_tasks(5, &laws);
        let group = |name: &str, starts: &str| {
            let names = program.transition_names.iter().zip(0..);
            let transitions = names.filter(|(n, _)| n.starts_with(starts)).map(|(_, t)| t).collect();
            Group { name: name.into(), transitions }
        };
        let question = Question { groups: vec![group("slow", "slow_"), group("all", "")], ..Question::default() };
        let schedule = times(&program, &question, engine(EngineChoice::Schedule, 1_000));
        let clock = times(&program, &question, engine(EngineChoice::Clock, 1_000));
        assert_eq!(schedule.passage_times, clock.passage_times);
        assert_eq!(schedule, clock);
        assert!(schedule.passage.count() == 1_000 && schedule.groups[0].first.count() < 1_000);
    }
}

/// Lists of influenced transitions that transitions share, instead of a list for each, change no bit.
#[test]
fn shared_lists_of_influences_do_not_change_any_number() {
    let question = Question { horizon: Some(40.0), tokens: true, throughput: true, ..Question::default() };
    let nets = [straggling_tasks(5, &[]), straggling_tasks(5, &all_laws()), two_loops(3)];
    for (i, program) in nets.iter().enumerate() {
        let shared = Program { affects: affected_sharing(program, 0), ..program.clone() };
        assert!((0..program.transitions()).any(|t| !shared.affects.is_whole(t)));
        for form in [EngineChoice::Clock, EngineChoice::Direct].into_iter().take(if i == 1 { 1 } else { 2 }) {
            let [one, two] = [program, &shared].map(|program| times(program, &question, engine(form, 300)));
            assert_eq!(one, two, "{i} {form:?}");
        }
    }
}

#[test]
fn a_goal_at_final_places_is_the_same_for_both() {
    let program = straggling_tasks(3, &[]);
    let done = program.place_names.position("done").unwrap();
    let mut b = NetBuilder::new("");
    for name in program.place_names.iter() {
        b.place(name, 0);
    }
    let net = b.build().unwrap();
    let goal = Goal::marking(&net, &format!("#({}) >= 1", &program.place_names[done])).unwrap();
    let group = |name: &str, transitions| Group { name: name.into(), transitions };
    let groups = vec![group("all", (0..program.transitions() as u32).collect()), group("first", vec![0])];
    let question = Question { goal, horizon: Some(30.0), groups, ..Question::default() };
    let schedule = times(&program, &question, engine(EngineChoice::Schedule, 500));
    let clock = times(&program, &question, engine(EngineChoice::Clock, 500));
    assert_eq!(schedule, clock);
    assert!(schedule.ended(crate::sim::Ending::Horizon) > 0);
}

/// Results are the same on 1 and on 2 threads, and in one run or in two that split in the middle of a block.
#[test]
fn same_seed_same_bits_however_the_work_is_cut() {
    let program = straggling_tasks(4, &all_laws());
    for choice in [EngineChoice::Schedule, EngineChoice::Clock] {
        for question in [Question::default(), Question { tokens: true, ..Question::default() }] {
            if choice == EngineChoice::Schedule && question.tokens {
                continue;
            }
            let on = |threads: usize, first: u64, replications: u64| {
                let threads = std::num::NonZeroUsize::new(threads);
                times(&program, &question, Ensemble { threads, first, ..engine(choice, replications) })
            };
            let whole = on(1, 0, 1_000);
            assert_eq!(whole, on(2, 0, 1_000));
            let mut parts = on(2, 0, 321).passage_times;
            parts.extend(on(1, 321, 679).passage_times);
            assert_eq!(whole.passage_times, parts);
        }
    }
}

#[test]
fn every_vector_level_gives_the_same_bits() {
    use crate::sim::engine::Engine;
    use crate::sim::schedule::Watched;
    use crate::sim::{Clock, Schedule};
    let program = straggling_tasks(6, &all_laws());
    let plan = plan_schedule(&program).unwrap();
    let question = Question::default();
    let clock = Clock::choose(&program, None);
    let run = |level: Level| {
        let mut samples = Samples::new(clock, &question, program.counters(), program.transitions());
        let schedule = Schedule::new(&program, &plan, &question, clock, 7, true).unwrap().at_level(level);
        let engine = Watched { schedule, watch: &Unwatched };
        engine.run(3, 700, &mut samples).unwrap();
        samples
    };
    let portable = run(Level::Portable);
    for level in Level::available() {
        assert_eq!(run(level), portable, "{}", level.name());
    }
}

/// Fails if the shift of the time is off by one, if the other word of a pair selects, or if an inhibitor is treated as a
/// test.
#[test]
fn lockstep_and_direct_form_agree_bit_for_bit() {
    let program = two_loops(6);
    let counter = |name: &str| program.place_names.position(name).unwrap();
    let mut b = NetBuilder::new("");
    for name in program.place_names.iter() {
        b.place(name, 0);
    }
    let net = b.build().unwrap();
    let at = |text: &str| Goal::marking(&net, text).unwrap();
    assert!(counter("buffer") == 1);
    let questions = [
        Question { goal: Goal::Horizon, horizon: Some(50.0), ..Question::default() },
        Question { goal: at("#(buffer) >= 3"), ..Question::default() },
        Question { goal: at("#(buffer) > 2 && #(idle0) >= 6"), horizon: Some(40.0), ..Question::default() },
        Question { goal: at("#(buffer) >= 3"), max_firings: Some(31), ..Question::default() },
    ];
    for question in questions {
        let direct = times(&program, &question, engine(EngineChoice::Direct, 1_000));
        let lockstep = times(&program, &question, engine(EngineChoice::Lockstep, 1_000));
        assert_eq!(direct, lockstep);
        assert!(direct.firings > 20_000);
    }
}

#[test]
fn lockstep_gives_the_same_bits_on_every_vector_level() {
    use crate::rng::split;
    use crate::sim::Clock;
    use crate::sim::engine::Engine;
    use crate::sim::race::{LockstepForm, Setup};
    let program = two_loops(3);
    let question = Question { goal: Goal::Horizon, horizon: Some(20.0), ..Question::default() };
    let clock = Clock::choose(&program, question.horizon);
    let run = |level: Level| {
        let setup =
            Setup { program: &program, question: &question, clock, key: split(5), keep_times: true, watch: &Unwatched };
        let mut samples = Samples::new(clock, &question, program.counters(), program.transitions());
        LockstepForm::new(setup).unwrap().at_level(level).run(3, 600, &mut samples).unwrap();
        samples
    };
    let portable = run(Level::Portable);
    assert!(portable.firings > 10_000);
    for level in Level::available() {
        assert_eq!(run(level), portable, "{}", level.name());
    }
}
