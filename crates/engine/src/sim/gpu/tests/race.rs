//! Compares both forms of the race on a device and on the CPU.

use std::sync::Arc;

use crate::compile::{Program, compile, lower};
use crate::net::{ClassWeight, Delay, Memory, NetBuilder, Servers, Timing, TokenClass};
use crate::rng::split;
use crate::sim::conformance::{all_laws, straggling_tasks, two_loops};
use crate::sim::engine::Engine;
use crate::sim::gpu::engine::DeviceFault;
use crate::sim::gpu::race_code::RaceCode;
use crate::sim::gpu::race_forms::append;
use crate::sim::gpu::tests::devices;
use crate::sim::gpu::{DeviceEngine, Form, Gpu, GpuRace, shader};
use crate::sim::race::{ClockForm, DirectForm, Setup};
use crate::sim::{Clock, Ending, Goal, Group, Question, Reward, Samples, Snapshot};
use crate::watch::Unwatched;

const KEY: [u32; 2] = [42, 7];

/// Replications from `first` on, run on the CPU in units of 16, as `sim::cpu` does.
fn on_cpu(setup: Setup<'_>, form: Form, first: u64, count: u64) -> Samples {
    let Setup { program, question, clock, .. } = setup;
    let empty = Samples::new(clock, question, program.counters(), program.transitions());
    let mut samples = empty.clone().starting_at(first);
    for from in (0..count).step_by(16) {
        let mut part = empty.clone().starting_at(first + from);
        let some = (count - from).min(16);
        match form {
            Form::Direct => DirectForm::new(setup).run(first + from, some, &mut part).unwrap(),
            Form::Clock => ClockForm::new(setup).run(first + from, some, &mut part).unwrap(),
        }
        samples.append(&part);
    }
    samples
}

fn on_device(gpu: &Arc<Gpu>, setup: Setup<'_>, form: Form, first: u64, count: u64) -> Result<Samples, DeviceFault> {
    let Setup { program, question, clock, .. } = setup;
    let samples = Samples::new(clock, question, program.counters(), program.transitions());
    let mut samples = samples.starting_at(first);
    let mut engine = GpuRace::new(gpu, setup, form)?;
    while samples.replications < count {
        engine.run(first + samples.replications, count - samples.replications, &mut samples, &|| false)?;
    }
    Ok(samples)
}

/// Runs replications on the CPU and on a device, and checks that they are equal.
fn compare(gpu: &Arc<Gpu>, program: &Program, question: &Question, form: Form, count: u64) -> Samples {
    compare_from(3, gpu, program, question, form, count)
}

/// Like [`compare`], but starts with replication `first`.
fn compare_from(first: u64, gpu: &Arc<Gpu>, program: &Program, question: &Question, form: Form, count: u64) -> Samples {
    let clock = Clock::choose(program, question.horizon);
    let setup = Setup { program, question, clock, key: KEY, keep_times: true, watch: &Unwatched };
    let cpu = on_cpu(setup, form, first, count);
    let device = on_device(gpu, setup, form, first, count).unwrap();
    assert_eq!(cpu.endings, device.endings);
    assert_eq!(cpu.passage_times, device.passage_times);
    assert_eq!(cpu, device);
    cpu
}

fn goal(program: &Program, text: &str) -> Goal {
    let mut b = NetBuilder::new("");
    for name in program.place_names.iter() {
        b.place(name, 0);
    }
    let net = b.build().unwrap();
    Goal::marking(&net, text).unwrap()
}

fn group(program: &Program, starts: &str) -> Group {
    let names = program.transition_names.iter().zip(0..);
    let transitions = names.filter(|(n, _)| n.starts_with(starts)).map(|(_, t)| t).collect();
    Group { name: starts.into(), transitions }
}

/// This test was seen to fail with the other half of a block of words, with a block sum that is not updated, with a
/// range of tokens that is one too short, with the second server left out, and with the last clock of a block taken for
/// the first.
#[test]
fn both_forms_equal_the_cpu_bit_for_bit() {
    let program = two_loops(6);
    let questions = [
        Question { goal: Goal::Horizon, horizon: Some(20.0), ..Question::default() },
        Question { goal: goal(&program, "#(buffer) >= 3"), ..Question::default() },
        Question {
            goal: goal(&program, "#(buffer) > 2 && #(idle0) >= 6"),
            horizon: Some(20.0),
            tokens: true,
            throughput: true,
            warm_up: 1.5,
            groups: vec![group(&program, "seize"), group(&program, "drain")],
            ..Question::default()
        },
        Question { goal: goal(&program, "#(buffer) >= 3"), max_firings: Some(31), ..Question::default() },
    ];
    let gpus = devices();
    for (i, question) in questions.iter().enumerate() {
        for (j, form) in [Form::Direct, Form::Clock].into_iter().enumerate() {
            let samples = compare(&gpus[(i + j) % gpus.len()], &program, question, form, 300);
            assert!(samples.firings > 5_000);
        }
    }
}

/// Immediate choices, many groups, and all distributions.
///
/// This test was seen to fail with the second word of a hyperexponential delay taken for the first.
#[test]
fn choices_and_laws_equal_the_cpu_bit_for_bit() {
    for gpu in &devices()[..1] {
        for (laws, forms) in [(Vec::new(), &[Form::Direct, Form::Clock][..]), (all_laws(), &[Form::Clock])] {
            let program = straggling_tasks(4, &laws);
            let groups = vec![group(&program, "slow_"), group(&program, "")];
            let question = Question { groups, ..Question::default() };
            for &form in forms {
                let samples = compare(gpu, &program, &question, form, 200);
                assert_eq!(samples.ended(Ending::Goal), 200);
            }
        }
    }
}

/// A token circulates and takes one of three branches each time.
///
/// This test was seen to fail with a choice's sample number that is not counted, and with weights that are not
/// subtracted; the test above misses both. Firings are limited so that the test fails instead of running forever.
#[test]
fn repeated_choices_equal_the_cpu_bit_for_bit() {
    let mut b = NetBuilder::new("");
    let (home, fork) = (b.place("home", 1), b.place("fork", 0));
    let go = b.transition("go", Timing::exponential(1.0));
    b.input(home, go, 1.0);
    b.output(go, fork, 1.0);
    for (name, weight) in [("left", 0.5), ("middle", 0.3), ("right", 0.2)] {
        let way = b.transition(name, Timing::immediate(weight, 1));
        let taken = b.place(format!("taken_{name}"), 0);
        b.input(fork, way, 1.0);
        b.output(way, home, 1.0);
        b.output(way, taken, 1.0);
    }
    let program = compile(&b.build().unwrap()).unwrap();
    let goal = goal(&program, "#(taken_left) >= 4 && #(taken_middle) >= 3 && #(taken_right) >= 2");
    let question = Question { goal, max_firings: Some(5_000), ..Question::default() };
    for (gpu, form) in devices().iter().zip([Form::Clock, Form::Direct]) {
        let samples = compare(gpu, &program, &question, form, 200);
        assert!(samples.firings > 4_000);
    }
}

/// Several servers and age memory with distributions that are not exponential: clocks that are suspended and resumed.
///
/// This test was seen to fail with a new clock in place of a suspended one, and with a clock that has run out but stays
/// among the others.
#[test]
fn crowds_of_clocks_equal_the_cpu_bit_for_bit() {
    let mut b = NetBuilder::new("");
    let (p, lock) = (b.place("p", 5), b.place("lock", 0));
    let done = b.place("done", 0);
    for (i, servers) in [(0, Servers::Infinite), (1, Servers::Limited(2)), (2, Servers::Single)] {
        for memory in [Memory::Enabling, Memory::Age] {
            let mut timing = Timing::general(crate::net::Law::Uniform { low: 0.5, high: 1.5 + f64::from(i) });
            if let Timing::Timed { servers: own, memory: kept, .. } = &mut timing {
                (*own, *kept) = (servers, memory);
            }
            let t = b.transition(format!("work{i}{memory:?}"), timing);
            b.input(p, t, 1.0);
            b.inhibitor(lock, t, 1.0);
            b.output(t, done, 1.0);
        }
    }
    for (name, input, output, rate) in [("fail", done, lock, 1.0), ("repair", lock, p, 3.0)] {
        let t = b.transition(name, Timing::exponential(rate));
        b.input(input, t, 1.0);
        b.output(t, output, 1.0);
    }
    let program = compile(&b.build().unwrap()).unwrap();
    let question = Question { goal: Goal::Horizon, horizon: Some(30.0), ..Question::default() };
    let samples = compare(&devices()[1], &program, &question, Form::Clock, 100);
    assert!(samples.firings > 5_000);
}

/// Rates, arc weights and weights of immediates that depend on the marking; two token classes; a shared capacity.
fn expressive() -> NetBuilder {
    let mut b = NetBuilder::new("expressive");
    let red = b.add_class(TokenClass { id: "red".into(), enabled: true, colour: [255, 0, 0] });
    let pool = b.place("pool", 9);
    let (queue, store) = (b.place("queue", 1), b.place("store", 0));
    b.place_mut(queue).initial.push(2);
    b.place_mut(queue).capacity = Some(8);
    let marking = |b: &NetBuilder, rate: &str, servers: Servers| Timing::Timed {
        delay: Delay::Exponential { rate: b.expression(rate).unwrap() },
        servers,
        memory: Memory::Enabling,
    };
    let timing = marking(&b, "0.3 + #(pool) / 7", Servers::Single);
    let arrive = b.transition("arrive", timing);
    b.input(pool, arrive, 1.0);
    b.output(arrive, queue, 1.0);
    let timing = marking(&b, "if(#(queue, Default) > 3, 2.5, sqrt(#(queue, red) + 1))", Servers::Infinite);
    let serve = b.transition("serve", timing);
    b.input(queue, serve, 1.0);
    b.output(serve, store, 1.0);
    // red tokens come and go, and share the capacity
    let paint = b.transition("paint", Timing::exponential(1.1));
    let arc = b.output(paint, queue, 0.0);
    b.arc_mut(arc).weights = vec![ClassWeight { class: red, weight: 1.0.into() }];
    let fade = b.transition("fade", Timing::exponential(0.7));
    if let Timing::Timed { servers, .. } = &mut b.transition_mut(fade).timing {
        *servers = Servers::Limited(3);
    }
    let arc = b.input(queue, fade, 0.0);
    b.arc_mut(arc).weights = vec![ClassWeight { class: red, weight: 1.0.into() }];
    // a store of three or more is emptied, in one of two ways
    for (name, weight, place) in [("return", "1 + #(pool) / 3", pool), ("lose", "0.2", store)] {
        let weight = b.expression(weight).unwrap();
        let t = b.transition(name, Timing::Immediate { weight, priority: 2 });
        let all = b.expression("max(3, #(store, Default))").unwrap();
        b.input(store, t, all);
        let back = b.expression(if name == "return" { "max(3, #(store, Default))" } else { "1" }).unwrap();
        b.output(t, place, back);
        b.test(store, t, 3.0);
    }
    let refill = b.transition("refill", Timing::exponential(0.5));
    let missing = b.expression("9 - min(9, #(pool, Default))").unwrap();
    b.inhibitor(pool, refill, 4.0);
    b.output(refill, pool, missing);
    b
}

/// All possible observations at once.
fn asks_for_everything(b: &NetBuilder) -> Question {
    let net = b.clone().build().unwrap();
    let code = |text: &str| lower(&net, &net.expression(text).unwrap());
    let names = |starts: &str| {
        let ids = net.transitions().iter().zip(0..).filter(|(t, _)| t.id.starts_with(starts));
        Group { name: starts.into(), transitions: ids.map(|(_, t)| t).collect() }
    };
    Question {
        goal: Goal::marking(&net, "#(store, Default) * 2 + #(queue, red) >= 11").unwrap(),
        horizon: Some(15.0),
        warm_up: 0.75,
        tokens: true,
        throughput: true,
        groups: vec![names("serve"), names("")],
        rewards: vec![
            Reward { name: "held".into(), rate: Some(code("#(queue) * 0.1")), impulses: Vec::new() },
            Reward { name: "worth".into(), rate: None, impulses: vec![(1, code("#(pool) / 3")), (0, code("-1"))] },
        ],
        snapshots: [0.0, 1.25, 7.0, 14.9]
            .map(|time| Snapshot::new(&net, time, "#(pool) / (1 + #(queue))").unwrap())
            .into(),
        ..Question::default()
    }
}

/// This test was seen to fail with weights of candidates that are all 1, with a reward that is collected in the
/// warm-up, with a capacity that bounds one class alone, and with a carry too many in a sum of tokens over time.
#[test]
fn expressions_classes_and_rewards_equal_the_cpu_bit_for_bit() {
    let builder = expressive();
    let program = compile(&builder.clone().build().unwrap()).unwrap();
    let question = asks_for_everything(&builder);
    for (gpu, form) in devices().iter().zip([Form::Direct, Form::Clock]) {
        let samples = compare(gpu, &program, &question, form, 200);
        assert!(samples.ended(Ending::Goal) > 5 && samples.ended(Ending::Horizon) > 5, "{:?}", samples.endings);
        assert!(samples.firings > 4_000 && samples.averages().snapshots.iter().all(|values| values.count() > 0));
    }
}

/// The race kernel for a net with all features, and for a net with few, in both forms and with both kinds of products.
pub(super) fn sources() -> Vec<String> {
    let builder = expressive();
    let rich = (compile(&builder.clone().build().unwrap()).unwrap(), asks_for_everything(&builder));
    let plain = (two_loops(2), Question::default());
    let mut sources = Vec::new();
    for (program, question) in [rich, plain] {
        let clock = Clock::choose(&program, question.horizon);
        for (form, int64) in [(Form::Direct, false), (Form::Clock, true)] {
            let mut code = RaceCode::new(&program, &question, clock);
            append(&mut code, &program, clock, form);
            assert_eq!(code.obstacles, Vec::<String>::new());
            sources.push(shader::race(int64, form, &code));
        }
    }
    sources
}

/// The device merges averages in blocks of 1,024 replications; the first number of a block is a multiple of 1,024. One run
/// starts within a block, the other at the start of a block. Both runs end within a block.
///
/// This test was seen to fail with the two halves of each merge exchanged, and with the units of the first block and of
/// the last block exchanged.
#[test]
fn averages_of_blocks_equal_the_cpu_bit_for_bit() {
    let program = two_loops(2);
    let empty = NetBuilder::new("").build().unwrap();
    let half = lower(&empty, &empty.expression("1 / 3").unwrap());
    let question = Question {
        goal: goal(&program, "#(buffer) >= 1"),
        horizon: Some(3.0),
        warm_up: 0.5,
        tokens: true,
        throughput: true,
        rewards: vec![Reward { name: "third".into(), rate: Some(half.clone()), impulses: Vec::new() }],
        snapshots: vec![Snapshot { time: 1.0, text: String::new(), value: half }],
        ..Question::default()
    };
    let runs = [(Form::Direct, 16 * 30 + 5, 2_700), (Form::Clock, 1024, 1_034)];
    for (gpu, (form, first, count)) in devices().iter().zip(runs) {
        let samples = compare_from(first, gpu, &program, &question, form, count);
        let tokens = samples.averages().tokens[0];
        // replications that end in the warm-up have no averages
        assert!(tokens.count() > count / 4 && tokens.count() < count);
    }
}

/// A net with a fault in a reachable marking is left to the CPU, which reports the fault.
#[test]
fn faults_are_left_to_the_cpu() {
    let mut b = NetBuilder::new("");
    let p = b.place("p", u32::MAX);
    let t = b.transition("t", Timing::exponential(1.0));
    b.output(t, p, 1.0);
    let program = compile(&b.build().unwrap()).unwrap();
    let question = Question { goal: Goal::Horizon, horizon: Some(10.0), ..Question::default() };
    let clock = Clock::choose(&program, question.horizon);
    let setup =
        Setup { program: &program, question: &question, clock, key: split(0), keep_times: false, watch: &Unwatched };
    let gpu = &devices()[0];
    assert!(matches!(on_device(gpu, setup, Form::Direct, 0, 64), Err(DeviceFault::Replication)));
}
