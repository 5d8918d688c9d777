//! Compares many schedules together on a device with the same schedules one after the other on the CPU.

use std::sync::Arc;

use crate::compile::{Program, SchedulePlan, Template, compile};
use crate::net::Timing;
use crate::sim::conformance::{all_laws, job, straggling_tasks};
use crate::sim::gpu::tests::devices;
use crate::sim::gpu::{Card, Gpu};
use crate::sim::{Question, Ready};
use crate::watch::Unwatched;

/// Programs of one structure, with different rates and a common schedule.
fn jobs() -> Vec<(Program, Option<Arc<SchedulePlan>>)> {
    let template = Template::new(job(10, 3, 1.0, None)).unwrap();
    let point = |i: u32| {
        let faster = job(10, 3, 0.5 + 0.1 * f64::from(i), None);
        let timings: Vec<_> =
            faster.transitions().iter().map(|t| (faster.find_transition(&t.id).unwrap(), t.timing.clone())).collect();
        let compiled = template.retimed(&timings).unwrap();
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
    let ready =
        programs.iter().map(|(program, plan)| Ready::new(program, question, plan.as_deref(), 5, &Unwatched).unwrap());
    let all: Vec<Ready<'_>> = ready.collect();
    let device = card.replicate(&all.iter().collect::<Vec<_>>(), first, count).unwrap();
    assert_eq!(device.len(), all.len());
    for (point, (ready, device)) in all.iter().zip(&device).enumerate() {
        let cpu = ready.replicate(first, count).unwrap();
        assert_eq!(cpu.passage_times, device.passage_times, "point {point}");
        assert_eq!(cpu, *device, "point {point}");
    }
}

/// Configurations that differ in their rates run together on a GPU.
#[test]
fn batched_jobs_equal_their_single_runs_on_the_cpu() {
    let programs = jobs();
    for gpu in devices() {
        let mut card = Card::of(&gpu).unwrap();
        check(&mut card, &programs, &Question::default(), 0, 300);
        // the same GPU again, from the middle of a quad on
        check(&mut card, &programs[3..5], &Question::default(), 4097, 1001);
    }
}

/// Choices whose weights differ between configurations, long programs in segments, few programs at a time.
#[test]
fn batches_with_choices_in_several_segments_equal_the_cpu() {
    let program = straggling_tasks(40, &all_laws());
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

/// Nets that are not schedules, or not of one shape, run one after the other.
#[test]
fn nets_that_cannot_be_batched_run_alone_and_equal_the_cpu() {
    let mut programs = jobs();
    programs.truncate(2);
    let net = job(5, 2, 1.0, Some(2));
    programs.push((compile(&net).unwrap(), None));
    let mut slower = net.to_builder();
    let shuffle = net.find_transition("shuffle").unwrap();
    slower.transition_mut(shuffle).timing = Timing::exponential(0.001);
    programs.push((compile(&slower.build().unwrap()).unwrap(), None));
    let gpu: Arc<Gpu> = devices().remove(0);
    let mut card = Card::of(&gpu).unwrap();
    check(&mut card, &programs, &Question::default(), 0, 40);
}
