//! Whole processes, from start to exit, in wall time: 2,000 replications of the default job, compared with a process
//! that only prints its version.

use std::process::{Command, Stdio};
use std::time::Duration;

use criterion::{Criterion, criterion_group, criterion_main};

/// Runs the program; whether it ends well.
fn ends_well(arguments: &[&str]) -> bool {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tailspn"));
    let status = command.args(arguments).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status();
    status.is_ok_and(|status| status.success())
}

fn processes(c: &mut Criterion) {
    let mut group = c.benchmark_group("process");
    group.sample_size(20).warm_up_time(Duration::from_millis(300)).measurement_time(Duration::from_secs(2));
    for (name, arguments) in
        [("version", &["--version"][..]), ("estimate_2000", &["estimate", "--reps", "2000", "--quiet"])]
    {
        if ends_well(arguments) {
            group.bench_function(name, |b| b.iter(|| assert!(ends_well(arguments))));
        }
    }
    group.finish();
}

criterion_group!(startup, processes);
criterion_main!(startup);
