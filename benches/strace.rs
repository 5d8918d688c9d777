//! Reading a synthetic strace log, in MB of text a second: calls that are analysed, and a log in which most calls are
//! others.

use std::fmt::Write as _;
use std::time::Duration;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use tailspn::diagnose::syscalls::{Invocations, ReadSettings, read_log_bytes};
use tailspn::watch::Unwatched;
use tailspn_replications::system_calls::MadeRun;

/// Tasks of the log, about 700 bytes of text each.
const TASKS: usize = 10_000;

/// The log of the only node of a run: every call belongs to a class that is analysed.
fn looked_at() -> String {
    let run = MadeRun { nodes: 1, tasks: TASKS, ..MadeRun::default() };
    run.logs().into_iter().map(|(_, text)| text).collect()
}

/// Nineteen reads and writes for each call that is analysed.
fn mostly_others(looked_at: &str) -> String {
    let mut text = String::new();
    for line in looked_at.lines().take(5_000) {
        for i in 0..19 {
            let _ = writeln!(
                text,
                "77 1700000000.5{i:05} read(3, \"\\177ELF\\2\\1\\1\\0\\0\\0\\0\"..., 832) = 832 <0.000012>"
            );
        }
        text.push_str(line);
        text.push('\n');
    }
    text
}

fn strace(c: &mut Criterion) {
    let calls = looked_at();
    let others = mostly_others(&calls);
    let settings = ReadSettings::default();
    let mut group = c.benchmark_group("strace");
    group.sample_size(10).warm_up_time(Duration::from_millis(500)).measurement_time(Duration::from_secs(5));
    for (name, text, invocations) in [
        ("calls", &calls, Invocations::Ignore),
        ("calls_learnt", &calls, Invocations::Learn),
        ("mostly_others", &others, Invocations::Ignore),
    ] {
        group.throughput(Throughput::Bytes(text.len() as u64));
        group.bench_function(name, |b| {
            b.iter(|| {
                let read = read_log_bytes("n1", "log", text.as_bytes(), invocations, &settings, &Unwatched);
                read.expect("the log is fine").lines.lines
            });
        });
    }
    // the baseline: the same lines, counted
    group.bench_function("lines", |b| b.iter(|| calls.lines().count()));
    group.finish();
}

criterion_group!(benches, strace);
criterion_main!(benches);
