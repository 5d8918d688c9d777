//! Cost of watching 1,000 tasks that report once a second: a minute of their reports as text, read, judged and flagged.
//! The time of an iteration over 60 s is the share of a core.

use std::fmt::Write as _;
use std::time::Duration;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use tailspn::diagnose::long_tail::{
    Agent, AgentSettings, MODEL_VERSION, Model, Oddities, Profile, ProgressCurve, ProgressFeed, ProgressRecord,
};

/// Tasks that run at a time, in ten jobs.
const TASKS: u64 = 1000;
/// Seconds that are reported.
const SECONDS: u64 = 60;

/// A smooth curve over two minutes with a quick start, the costliest of the forms.
fn model() -> Model {
    let points: Vec<(f64, f64)> = (0..=28).map(|i| f64::from(i) / 28.0).map(|u| (120.0 * u * u, u)).collect();
    let profile = Profile {
        kind: "reduce".to_owned(),
        tasks: 100,
        task_spread: 0.1,
        error: 0.05,
        curve: ProgressCurve::Monotone { points },
        spread: (1..=28).map(|i| f64::from(i) / 28.0).map(|p| (p, 0.3 * (1.05 - p))).collect(),
    };
    Model { format_version: MODEL_VERSION, profile: vec![profile] }
}

fn reports() -> String {
    let mut text = "job\tkind\tstage\tpartition\tattempt\tnode\tt_ms\tdone\ttotal\n".to_owned();
    for second in 0..=SECONDS {
        for task in 0..TASKS {
            // every twentieth task has three times as much to do
            let total = if task % 20 == 0 { 30_000 } else { 10_000 };
            let (t_ms, done) = (1000 * second + task, 80 * second + task % 37);
            let _ =
                writeln!(text, "job {}\treduce\t1\t{task}\t0\tnode {}\t{t_ms}\t{done}\t{total}", task % 10, task % 50);
        }
    }
    text
}

fn watch(c: &mut Criterion) {
    let (model, text) = (model(), reports());
    let mut group = c.benchmark_group("watch");
    group.throughput(Throughput::Elements(TASKS * SECONDS)).sample_size(10);
    group.warm_up_time(Duration::from_millis(300)).measurement_time(Duration::from_secs(3));
    for (name, settings) in [("adaptive", AgentSettings::adaptive()), ("paper", AgentSettings::paper())] {
        group.bench_function(format!("{name}_1000_tasks_60_s"), |b| {
            b.iter(|| {
                let (mut feed, mut oddities) = (ProgressFeed::default(), Oddities::default());
                let (mut agent, mut flags) = (Agent::new(Some(&model), settings), 0_u32);
                feed.push(text.as_bytes(), &mut oddities, &mut |record: ProgressRecord<'_>, line, oddities| {
                    flags += u32::from(agent.take(&record, line, oddities).is_some());
                });
                assert!(flags >= 50 && agent.running() == TASKS as usize, "{flags} flags");
            });
        });
    }
    group.finish();
}

criterion_group!(watching, watch);
criterion_main!(watching);
