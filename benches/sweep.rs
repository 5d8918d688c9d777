//! A sweep of 1,000 points of the default job, 10,000 replications each, against 1,000 single runs that build, compile and replicate.
//!
//! The points differ in the speed of the GPUs, so the sweep compiles one net. Wall time on all cores. The groups with
//! 100 replications show the cost of a point apart from its replications.

use std::hint::black_box;

use criterion::{Criterion, SamplingMode, Throughput, criterion_group, criterion_main};
use tailspn::compile::{Template, compile};
use tailspn::mapreduce::{JobPhases, Plan, job_net, phase_times, timings};
use tailspn::sim::{Backend, Ensemble, Question, Unwatched, run};
use tailspn::sweep::{Batch, NetModel, Point, PointResult, SweepPlan, points, run_base, run_points};

const POINTS: u64 = 1_000;

/// The speed of the GPUs from half to twice as fast.
fn sweep() -> SweepPlan {
    let steps = POINTS - 1;
    let axis = format!("[[axis]]\nkey = \"gpu_speed\"\nfrom = 0.5\nto = 2.0\nsteps = {steps}\n");
    SweepPlan::from_toml(&axis).expect("a sound plan")
}

fn job_at(point: &Point) -> (Plan, JobPhases) {
    let mut plan = Plan::default();
    plan.model.slots = false;
    if let Some(speed) = point.values[0].as_ref().and_then(|value| value.as_float()) {
        plan.cluster.node.iter_mut().for_each(|node| node.gpu_speed = speed);
    }
    let phases = phase_times(&plan, &mut || 0.5).expect("the default job has times");
    (plan, phases)
}

fn one_batch(all: &[Point], replications: u64) -> Vec<PointResult> {
    let (plan, phases) = job_at(&all[0]);
    let job = job_net(&plan, &phases).expect("the default job has a net");
    let template = Template::new(job.net).expect("its net can be compiled");
    let make = |point: &Point| {
        let (plan, phases) = job_at(point);
        let compiled = template.retimed(&timings(&plan, &phases, &job.phases)).ok_or("another structure")?;
        Ok(NetModel { schedule: compiled.schedule, ..NetModel::new(compiled.program) }.into())
    };
    let batch = Batch { replications, backend: Backend::Cpu, ..Batch::default() };
    let base = run_base::<()>(&all[0], &make, &batch, &Unwatched).expect("it runs").expect("to its end");
    let mut found = Vec::new();
    let mut keep = |result| {
        found.push(result);
        Ok::<(), ()>(())
    };
    run_points(&all[1..], &base, &make, &batch, &Unwatched, &mut keep).expect("they run");
    found
}

fn single_runs(all: &[Point], replications: u64) -> u64 {
    let one = |point: &Point| {
        let (plan, phases) = job_at(point);
        let net = job_net(&plan, &phases).expect("the default job has a net").net;
        let program = compile(&net).expect("its net can be compiled");
        let ensemble = Ensemble { replications, backend: Backend::Cpu, ..Ensemble::default() };
        run(&program, &Question::default(), &ensemble, &Unwatched).expect("it runs").samples.replications
    };
    all.iter().map(one).sum()
}

fn thousand_points(criterion: &mut Criterion) {
    let all = points(&sweep());
    for replications in [100, 10_000] {
        let mut group = criterion.benchmark_group(format!("sweep_{POINTS}_points_{replications}_replications"));
        group.sample_size(10).sampling_mode(SamplingMode::Flat).throughput(Throughput::Elements(POINTS));
        group.bench_function("one batch", |bencher| {
            bencher.iter(|| black_box(one_batch(&all, replications)));
        });
        group.bench_function("single runs", |bencher| {
            bencher.iter(|| black_box(single_runs(&all, replications)));
        });
        group.finish();
    }
}

criterion_group!(benches, thousand_points);
criterion_main!(benches);
