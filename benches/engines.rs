//! The engines, on the nets of docs/performance.md, in firings per second of CPU time.
//!
//! Each group has its plain program (`naive`) in the same run: read ratios. `TAILSPN_SIMD=avx2` or `portable` caps the
//! vector instructions. The groups `…_all_threads` are in wall time.

mod cpu;
mod nets;

use std::hint::black_box;
use std::num::NonZeroUsize;
use std::time::Duration;

use cpu::{CpuTime, firings};
use criterion::measurement::{Measurement, WallTime};
use criterion::{BenchmarkGroup, Criterion, SamplingMode, criterion_group, criterion_main};
use nets::lanes;
use nets::naive::{EventLoop, Words, job_time};
use nets::{Decision, fms, job, machines, mortal_loop, queue, ring, two_delays};
use tailspn::compile::Program;
use tailspn::net::{Branch, Law, Servers, Timing};
use tailspn::sim::{EngineChoice, Ensemble, Goal, Question, Reward, Run, Unwatched, run};

/// A net, a question, and how many replications one iteration has.
struct Case<'a> {
    program: &'a Program,
    question: Question,
    replications: u64,
}

impl<'a> Case<'a> {
    fn to_the_end(program: &'a Program, replications: u64) -> Self {
        Self { program, question: Question::default(), replications }
    }

    fn to_horizon(program: &'a Program, horizon: f64, replications: u64) -> Self {
        let question = Question { goal: Goal::Horizon, horizon: Some(horizon), ..Question::default() };
        Self { program, question, replications }
    }

    fn run(&self, engine: EngineChoice, threads: Option<NonZeroUsize>) -> Run {
        let ensemble = Ensemble { replications: self.replications, engine, threads, ..Ensemble::default() };
        run(self.program, &self.question, &ensemble, &Unwatched).expect("the engine can run the net")
    }

    fn can_run(&self, engine: EngineChoice) -> bool {
        let ensemble = Ensemble { replications: 1, engine, threads: NonZeroUsize::new(1), ..Ensemble::default() };
        run(self.program, &self.question, &ensemble, &Unwatched).is_ok()
    }

    fn time<M: Measurement>(&self, group: &mut BenchmarkGroup<'_, M>, name: &str, engine: EngineChoice) {
        self.time_on(group, name, engine, NonZeroUsize::new(1));
    }

    fn time_on<M: Measurement>(
        &self,
        group: &mut BenchmarkGroup<'_, M>,
        name: &str,
        engine: EngineChoice,
        threads: Option<NonZeroUsize>,
    ) {
        let first = self.run(engine, threads);
        eprintln!(
            "{name}: {} engine, {}, {} firings per replication",
            first.provenance.engine,
            first.provenance.vector,
            first.samples.firings / u128::from(self.replications)
        );
        group.throughput(firings(first.samples.firings));
        group.bench_function(name, |b| b.iter(|| self.run(engine, threads).samples.firings));
    }

    /// The same with the plain event loop, a few replications only.
    fn time_event_loop<M: Measurement>(&self, group: &mut BenchmarkGroup<'_, M>) {
        let horizon = self.question.horizon.unwrap_or(f64::INFINITY);
        let mut event_loop = EventLoop::new(self.program);
        let replications = (self.replications / 16).max(1);
        let mut play = || {
            let mut words = Words::new(1);
            (0..replications).map(|_| event_loop.play(horizon, &mut words)).sum::<u64>()
        };
        group.throughput(firings(u128::from(play())));
        group.bench_function("naive_event_loop", |b| b.iter(&mut play));
    }
}

fn group<'a, M: Measurement>(c: &'a mut Criterion<M>, name: &str) -> BenchmarkGroup<'a, M> {
    let mut group = c.benchmark_group(name);
    group.sample_size(10).sampling_mode(SamplingMode::Flat);
    group.warm_up_time(Duration::from_millis(300)).measurement_time(Duration::from_millis(1500));
    group
}

/// SPN-GC: every transition fires once.
fn jobs(c: &mut Criterion<CpuTime>) {
    for (name, maps, reduces, replications) in [("job_160_40", 160, 40, 32_768), ("job_1000_100", 1000, 100, 4_096)] {
        let program = job(maps, reduces);
        let mut group = group(c, name);
        Case::to_the_end(&program, replications).time(&mut group, "schedule", EngineChoice::Schedule);
        let few = Case::to_the_end(&program, replications / 32);
        few.time(&mut group, "clock", EngineChoice::Clock);
        few.time(&mut group, "direct", EngineChoice::Direct);
        few.time_event_loop(&mut group);
        group.throughput(firings(64 * program.transitions() as u128));
        group.bench_function("naive_max_plus", |b| {
            b.iter(|| {
                let mut words = Words::new(black_box(1));
                (0..64).map(|_| job_time(maps, reduces, &mut words)).sum::<f64>()
            });
        });
        group.throughput(firings(lanes::LANES as u128 * program.transitions() as u128));
        group.bench_function("f64_lanes", |b| {
            let arch = pulp::Arch::new();
            let mut first_quad = 0;
            b.iter(|| {
                first_quad += lanes::LANES as u64 / 4;
                arch.dispatch(lanes::Jobs { maps, reduces, seed: black_box(1), first_quad })
            });
        });
        group.finish();
    }
}

/// One net with delays of each distribution: draws per second, since every timed transition draws once.
fn distributions(c: &mut Criterion<CpuTime>) {
    let branch = |probability, mean| Branch { probability, mean };
    let laws = [
        Law::Deterministic { delay: 1.0 },
        Law::Uniform { low: 0.5, high: 1.5 },
        Law::Hyperexponential { branches: vec![branch(0.9, 0.5), branch(0.1, 5.5)] },
        Law::Empirical { samples: (0..100).map(|i| 0.5 + 0.01 * f64::from(i)).collect() },
        Law::Erlang { stages: 4, mean: 1.0 },
        Law::LogNormal { mean: 1.0, cv: 0.5 },
        Law::Weibull { shape: 0.7, scale: 1.0 },
        Law::Pareto { shape: 2.5, scale: 1.5 },
    ];
    let others = laws.into_iter().map(|law| (law.name(), Timing::general(law)));
    for (name, timing) in [("exponential", Timing::exponential(1.0))].into_iter().chain(others) {
        let program = two_delays(&timing);
        let mut group = group(c, &format!("delays_{name}"));
        Case::to_the_end(&program, 32_768).time(&mut group, "schedule", EngineChoice::Schedule);
        Case::to_the_end(&program, 4_096).time(&mut group, "clock", EngineChoice::Clock);
        group.finish();
    }
}

/// Nets that run forever.
fn cyclic(c: &mut Criterion<CpuTime>) {
    let nets = [
        ("fms_10", fms(10, Decision::Race), 1_000.0, 1_024),
        ("fms_10_immediate", fms(10, Decision::Immediate), 1_000.0, 128),
        ("queue_10", queue(10, 0.9, 1.0, Servers::Single), 10_000.0, 512),
        ("queue_1000_single", queue(1_000, 9.0, 9.0, Servers::Single), 1_000.0, 512),
        ("queue_1000_infinite", queue(1_000, 9.0, 0.01, Servers::Infinite), 1_000.0, 512),
    ];
    for (name, program, horizon, replications) in &nets {
        let mut group = group(c, name);
        let case = Case::to_horizon(program, *horizon, *replications);
        if program.groups.rows() == 0 {
            case.time(&mut group, "lockstep", EngineChoice::Lockstep);
        }
        let few = Case::to_horizon(program, *horizon, replications / 8);
        few.time(&mut group, "direct", EngineChoice::Direct);
        few.time(&mut group, "clock", EngineChoice::Clock);
        few.time_event_loop(&mut group);
        group.finish();
    }
}

/// Replications of very different lengths: lanes must be refilled to stay busy.
fn unequal(c: &mut Criterion<CpuTime>) {
    let program = mortal_loop();
    let mut group = group(c, "mortal_loop");
    let case = Case::to_the_end(&program, 8_192);
    case.time(&mut group, "lockstep", EngineChoice::Lockstep);
    case.time(&mut group, "direct", EngineChoice::Direct);
    case.time_event_loop(&mut group);
    group.finish();
}

/// A reward that sums over 10,000 places with two coefficients, and the same run without it.
fn sums(c: &mut Criterion<CpuTime>) {
    let (program, rate) = machines(5_000);
    let mut group = group(c, "sum_over_10000_places");
    let reward = Reward { name: "cost".to_owned(), rate: Some(rate), impulses: Vec::new() };
    for (name, rewards) in [("without", Vec::new()), ("with", vec![reward])] {
        let mut case = Case::to_horizon(&program, 1.0, 16);
        case.question.rewards = rewards;
        case.time(&mut group, name, EngineChoice::Clock);
    }
    group.finish();
}

/// Measurements for the choice among the forms of the race: rings with few and with many enabled transitions, each with
/// all engines that take it. Only run with `TAILSPN_RINGS=1`.
fn rings(c: &mut Criterion<CpuTime>) {
    if std::env::var_os("TAILSPN_RINGS").is_none() {
        return;
    }
    for transitions in [10_u32, 30, 60, 100, 200, 300, 600, 1000, 3000] {
        for (kind, tokens) in [("few", 3), ("many", transitions * 3)] {
            let program = ring(transitions, tokens);
            let mut group = group(c, &format!("ring_{transitions}_{kind}"));
            group.measurement_time(Duration::from_millis(500)).warm_up_time(Duration::from_millis(100));
            let horizon = 100_000.0 / f64::from(tokens.min(transitions));
            let case = Case::to_horizon(&program, horizon / 128.0, 512);
            for (name, engine) in
                [("lockstep", EngineChoice::Lockstep), ("direct", EngineChoice::Direct), ("clock", EngineChoice::Clock)]
            {
                if case.can_run(engine) {
                    case.time(&mut group, name, engine);
                }
            }
            group.finish();
        }
    }
}

/// All cores, in wall time, compared with one core.
fn all_threads(c: &mut Criterion<WallTime>) {
    let program = job(160, 40);
    let mut group_of_jobs = group(c, "job_160_40_all_threads");
    let case = Case::to_the_end(&program, 131_072);
    case.time(&mut group_of_jobs, "schedule_1", EngineChoice::Schedule);
    case.time_on(&mut group_of_jobs, "schedule_all", EngineChoice::Schedule, None);
    group_of_jobs.finish();
    let program = fms(10, Decision::Race);
    let mut group_of_fms = group(c, "fms_10_all_threads");
    let case = Case::to_horizon(&program, 1_000.0, 4_096);
    case.time(&mut group_of_fms, "lockstep_1", EngineChoice::Lockstep);
    case.time_on(&mut group_of_fms, "lockstep_all", EngineChoice::Lockstep, None);
    group_of_fms.finish();
}

criterion_group! {
    name = processor;
    config = Criterion::default().with_measurement(CpuTime);
    targets = jobs, distributions, cyclic, unequal, sums, rings
}
criterion_group!(wall, all_threads);
criterion_main!(processor, wall);
