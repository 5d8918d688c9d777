//! The cluster simulator, in simulated jobs of 320 maps and 160 reduces per second of CPU time.

mod cpu;

use std::hint::black_box;
use std::num::NonZeroUsize;

use cpu::{CpuTime, firings};
use criterion::{Criterion, criterion_group, criterion_main};
use tailspn::cluster::{Experiment, Plan, Replications};

/// Replications of one iteration.
const REPLICATIONS: u64 = 64;

fn jobs(criterion: &mut Criterion<CpuTime>) {
    let mut group = criterion.benchmark_group("cluster_jobs");
    group.sample_size(10).throughput(firings(REPLICATIONS.into()));
    for policy in Plan::default().policy {
        let name = policy.title();
        let plan = Plan { policy: vec![policy], ..Plan::default() };
        let settings =
            Replications { count: REPLICATIONS, seed: 1, threads: NonZeroUsize::new(1), ..Replications::default() };
        let experiment = Experiment::new(&plan, settings).expect("the default plan runs");
        group.bench_function(name, |bencher| {
            bencher.iter(|| black_box(experiment.run(&mut |_| true).expect("the default plan runs")));
        });
    }
    group.finish();
}

criterion_group! {
    name = benches;
    config = Criterion::default().with_measurement(CpuTime);
    targets = jobs
}
criterion_main!(benches);
