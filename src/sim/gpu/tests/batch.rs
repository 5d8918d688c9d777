//! Many schedules at once on a device, and one after the other on the CPU.

use std::sync::Arc;

use crate::compile::{Program, SchedulePlan, Template, compile};
use crate::mapreduce::{Plan, job_net, phase_times, timings};
use crate::net::Timing;
use crate::sim::conformance::{integer_laws, straggling_tasks};
use crate::sim::gpu::tests::devices;
use crate::sim::gpu::{Card, Gpu};
use crate::sim::{Question, Ready};

/// Programs of one structure, with rates of their own and the schedule that they share.
fn jobs() -> Vec<(Program, Option<Arc<SchedulePlan>>)> {
    let text = |speed: f64| {
        format!(
            "job.input_mb = 640\njob.reduces = 3\n[model.law]\ngpu = {{ hyperexponential = {{ cv = 2.0 }} }}\n\
             spill = {{ erlang = 3 }}\nread = {{ uniform = {{ spread = 0.5 }} }}\n[[cluster.node]]\ngpu_speed = {speed}\n"
        )
    };
    let plan = |speed| {
        let plan = Plan::from_toml(&text(speed)).unwrap();
        let phases = phase_times(&plan, &mut || 0.5).unwrap();
        (plan, phases)
    };
    let (base, phases) = plan(1.0);
    let job = job_net(&base, &phases).unwrap();
    let template = Template::new(job.net).unwrap();
    let point = |i: u32| {
        let (plan, phases) = plan(0.5 + 0.1 * f64::from(i));
        let compiled = template.retimed(&timings(&plan, &phases, &job.phases)).unwrap();
        (compiled.program, compiled.schedule)
    };
    (0..23).map(point).collect()
}

fn check(
    card: &mut Card,
    programs: &[(Program, Option<Arc<SchedulePlan>>)],
    question: &Question,
    first: u64,
    count: u64,
) {
    let ready = programs.iter().map(|(program, plan)| Ready::new(program, question, plan.as_deref(), 5).unwrap());
    let all: Vec<Ready<'_>> = ready.collect();
    let device = card.replicate(&all.iter().collect::<Vec<_>>(), first, count).unwrap();
    assert_eq!(device.len(), all.len());
    for (point, (ready, device)) in all.iter().zip(&device).enumerate() {
        let cpu = ready.replicate(first, count).unwrap();
        assert_eq!(cpu.passage_times, device.passage_times, "point {point}");
        assert_eq!(cpu, *device, "point {point}");
    }
}

/// Points that differ in their rates, side by side on a card.
#[test]
fn many_jobs_at_once_are_what_each_is_on_the_cpu() {
    let programs = jobs();
    for gpu in devices() {
        let mut card = Card::of(&gpu).unwrap();
        check(&mut card, &programs, &Question::default(), 0, 300);
        // the same card again, from the middle of a quad on
        check(&mut card, &programs[3..5], &Question::default(), 4097, 1001);
    }
}

/// Choices with weights of each point's own, long programs in segments, few programs at a time.
#[test]
fn choices_and_segments_do_not_show() {
    let program = straggling_tasks(40, &integer_laws());
    let plan = Arc::new(crate::compile::plan_schedule(&program).unwrap());
    let programs = vec![(program.clone(), Some(Arc::clone(&plan))), (program, Some(plan))];
    let horizon = Question { horizon: Some(60.0), ..Question::default() };
    for gpu in devices() {
        let mut short = Arc::into_inner(gpu).unwrap();
        short.loop_budget = 60;
        short.facts.largest_binding = 1 << 17;
        let mut card = Card::of(&Arc::new(short)).unwrap();
        check(&mut card, &programs, &Question::default(), 1, 501);
        check(&mut card, &programs, &horizon, 1, 501);
    }
}

/// What is no schedule, or not of one shape, runs one after the other.
#[test]
fn other_nets_run_alone() {
    let mut programs = jobs();
    programs.truncate(2);
    let slots = Plan::from_toml("job.input_mb = 320\njob.reduces = 2\nmodel.slots = true\n").unwrap();
    let net = job_net(&slots, &phase_times(&slots, &mut || 0.5).unwrap()).unwrap().net;
    programs.push((compile(&net).unwrap(), None));
    let mut slower = net.to_builder();
    let shuffle = net.find_transition("shuffle").unwrap();
    slower.transition_mut(shuffle).timing = Timing::exponential(0.001);
    programs.push((compile(&slower.build().unwrap()).unwrap(), None));
    let gpu: Arc<Gpu> = devices().remove(0);
    let mut card = Card::of(&gpu).unwrap();
    check(&mut card, &programs, &Question::default(), 0, 40);
}
