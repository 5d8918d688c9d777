//! Compares the schedule engine on a device and on the CPU.

use std::sync::Arc;

use crate::compile::{Program, compile, plan_schedule};
use crate::net::NetBuilder;
use crate::rng::split;
use crate::sim::conformance::{all_laws, job, straggling_tasks};
use crate::sim::engine::Engine;
use crate::sim::gpu::tests::devices;
use crate::sim::gpu::{DeviceEngine, Gpu, GpuSchedule};
use crate::sim::schedule::Watched;
use crate::sim::{Clock, Ending, Goal, Group, Question, Samples, Schedule};
use crate::watch::Unwatched;

const SEED: u64 = 42 << 32 | 7;

fn group(program: &Program, starts: &str) -> Group {
    let names = program.transition_names.iter().zip(0..);
    let transitions = names.filter(|(n, _)| n.starts_with(starts)).map(|(_, t)| t).collect();
    Group { name: starts.into(), transitions }
}

fn schedule(program: &Program, question: &Question) -> (Schedule, Samples) {
    let plan = plan_schedule(program).unwrap();
    let clock = Clock::choose(program, question.horizon);
    let schedule = Schedule::new(program, &plan, question, clock, SEED, true).unwrap();
    (schedule, Samples::new(clock, question, program.counters(), program.transitions()))
}

/// Replications from `first` on, on the CPU and on a device.
fn both(gpu: &Arc<Gpu>, program: &Program, question: &Question, first: u64, count: u64) -> (Samples, Samples) {
    let (schedule, empty) = schedule(program, question);
    let mut cpu = empty.clone();
    Watched { schedule: schedule.clone(), watch: &Unwatched }.run(first, count, &mut cpu).unwrap();
    let mut engine = GpuSchedule::new(gpu, schedule, &program.transition_names).unwrap();
    let mut device = empty;
    while device.replications < count {
        let done =
            engine.run(first + device.replications, count - device.replications, &mut device, &|| false).unwrap();
        assert!(done > 0);
    }
    (cpu, device)
}

/// This test was seen to fail with a wrong owner of a delay, with the word of another lane, with the maximum of a group
/// not kept within the horizon, with one carry of the sum of squares left out, and with a bucket of the histogram
/// shifted by one.
#[test]
fn equals_the_cpu_bit_for_bit() {
    for gpu in devices() {
        for laws in [Vec::new(), all_laws()] {
            let program = straggling_tasks(5, &laws);
            let groups = vec![group(&program, "slow_"), group(&program, "join"), group(&program, "")];
            for horizon in [None, Some(25.0)] {
                let question = Question { groups: groups.clone(), horizon, ..Question::default() };
                let (cpu, device) = both(&gpu, &program, &question, 5, 6_001);
                assert_eq!(cpu.passage_times, device.passage_times);
                assert_eq!(cpu, device);
                assert!(cpu.passage.count() > 500 && (horizon.is_none() || cpu.ended(Ending::Horizon) > 50));
            }
        }
    }
}

/// Long programs run in segments, with their slots in memory.
///
/// This test was seen to fail with the accumulator lost between segments.
#[test]
fn schedules_in_several_segments_equal_the_cpu() {
    let program = straggling_tasks(40, &all_laws());
    let question = Question { groups: vec![group(&program, "fast_")], ..Question::default() };
    for gpu in devices() {
        let mut short = Arc::into_inner(gpu).unwrap();
        short.loop_budget = 60;
        let (cpu, device) = both(&Arc::new(short), &program, &question, 0, 1_000);
        assert_eq!(cpu, device);
    }
}

#[test]
fn a_job_with_a_goal_marking_equals_the_cpu() {
    let net = job(40, 10, 1.0, None);
    let program = compile(&net).unwrap();
    let done: Vec<String> = (0..10).map(|i| format!("#(r{i}_done) >= 1")).collect();
    let goal = Goal::marking(&net, &done.join(" && ")).unwrap();
    let question = Question { goal, ..Question::default() };
    let gpu = &devices()[0];
    let (cpu, device) = both(gpu, &program, &question, u64::from(u32::MAX) * 4 - 10, 2_000);
    assert_eq!(cpu, device);
}

/// A net with only an immediate transition, and an empty net.
#[test]
fn nets_without_time_have_times_of_0() {
    let mut b = NetBuilder::new("");
    let p = b.place("p", 1);
    let t = b.transition("t", crate::net::Timing::immediate(1.0, 1));
    b.input(p, t, 1.0);
    let one = compile(&b.build().unwrap()).unwrap();
    let none = compile(&NetBuilder::new("").build().unwrap()).unwrap();
    let gpu = &devices()[0];
    for program in [one, none] {
        let (cpu, device) = both(gpu, &program, &Question::default(), 0, 9);
        assert_eq!(cpu, device);
        assert_eq!(cpu.passage.max(), Some(0));
        assert_eq!(split(SEED), [7, 42]);
    }
}
