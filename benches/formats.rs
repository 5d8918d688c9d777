//! Reading files: a net with 100,000 places.

use std::time::Duration;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use tailspn::compile::compile;
use tailspn::formats::pipe::{ReadOptions, WriteOptions, read, write};
use tailspn::net::{NetBuilder, Timing};

/// The PIPE XML of a chain of as many places, with a position and a name for each.
fn long_chain_xml(places: u32) -> Vec<u8> {
    let mut b = NetBuilder::new("chain");
    let mut last = b.place("P0", 1);
    for i in 1..places {
        let next = b.place(format!("P{i}"), 0);
        let t = b.transition(format!("T{i}"), Timing::exponential(1.0 + f64::from(i % 10)));
        b.input(last, t, 1.0);
        b.output(t, next, 1.0);
        last = next;
    }
    let net = b.build().expect("the net is fine");
    write(&net, &WriteOptions::default()).xml.into()
}

fn large_net(c: &mut Criterion) {
    let xml = long_chain_xml(100_000);
    let mut group = c.benchmark_group("chain_of_100_000_places");
    group.sample_size(10).warm_up_time(Duration::from_millis(500)).measurement_time(Duration::from_secs(5));
    group.throughput(Throughput::Bytes(xml.len() as u64));
    group.bench_function("read", |b| b.iter(|| read(&xml, &ReadOptions::default()).expect("the net is fine")));
    // the baseline: every byte looked at once
    group.bench_function("sum_of_bytes", |b| {
        b.iter(|| std::hint::black_box(&xml).iter().fold(0_u32, |sum, &byte| sum.rotate_left(1) ^ u32::from(byte)));
    });
    let net = read(&xml, &ReadOptions::default()).expect("the net is fine").net;
    group.bench_function("compile", |b| b.iter(|| compile(&net).expect("the net is fine")));
    group.finish();
}

criterion_group!(formats, large_net);
criterion_main!(formats);
