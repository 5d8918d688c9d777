//! Reading a Spark event log made here: 20,000 tasks with all that Spark 3.5 writes of them, in MB of text a second.

use std::fmt::Write as _;
use std::time::Duration;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use tailspn::trace::{ReadOptions, read_bytes};
use tailspn::watch::Unwatched;

/// Tasks of the log.
const TASKS: u64 = 20_000;
/// Milliseconds since 1970 at which it begins.
const START: u64 = 1_700_000_000_000;

/// The internal accumulators that Spark repeats in each end of a task.
const ACCUMULATORS: [&str; 16] = [
    "executorDeserializeTime",
    "executorDeserializeCpuTime",
    "executorRunTime",
    "executorCpuTime",
    "resultSize",
    "jvmGCTime",
    "resultSerializationTime",
    "memoryBytesSpilled",
    "diskBytesSpilled",
    "peakExecutionMemory",
    "shuffle.read.remoteBlocksFetched",
    "shuffle.read.localBytesRead",
    "shuffle.write.bytesWritten",
    "shuffle.write.recordsWritten",
    "input.bytesRead",
    "input.recordsRead",
];

fn task_info(task: u64, finish: u64, accumulables: &str) -> String {
    format!(
        "\"Task Info\":{{\"Task ID\":{task},\"Index\":{task},\"Attempt\":0,\"Partition ID\":{task},\"Launch Time\":{},\
         \"Executor ID\":\"{}\",\"Host\":\"10.0.0.{}\",\"Locality\":\"NODE_LOCAL\",\"Speculative\":false,\
         \"Getting Result Time\":0,\"Finish Time\":{finish},\"Failed\":false,\"Killed\":false,\"Accumulables\":[{accumulables}]}}",
        START + task * 7,
        task % 64,
        task % 16
    )
}

fn end_of_task(task: u64) -> String {
    let run = 900 + task * 7919 % 500;
    let mut accumulables = String::new();
    for (id, name) in ACCUMULATORS.iter().enumerate() {
        let comma = if id == 0 { "" } else { "," };
        let _ = write!(
            accumulables,
            "{comma}{{\"ID\":{id},\"Name\":\"internal.metrics.{name}\",\"Update\":{run},\"Value\":{},\"Internal\":true,\
             \"Count Failed Values\":true}}",
            run * (task + 1)
        );
    }
    let info = task_info(task, START + task * 7 + run + 20, &accumulables);
    format!(
        "{{\"Event\":\"SparkListenerTaskEnd\",\"Stage ID\":0,\"Stage Attempt ID\":0,\"Task Type\":\"ShuffleMapTask\",\
         \"Task End Reason\":{{\"Reason\":\"Success\"}},{info},\"Task Executor Metrics\":{{\"JVMHeapMemory\":{run},\
         \"JVMOffHeapMemory\":0,\"OnHeapExecutionMemory\":0,\"MinorGCCount\":3,\"MinorGCTime\":12,\"MajorGCCount\":0}},\
         \"Task Metrics\":{{\"Executor Deserialize Time\":9,\"Executor Deserialize CPU Time\":8000000,\
         \"Executor Run Time\":{run},\"Executor CPU Time\":{run}000000,\"Peak Execution Memory\":0,\"Result Size\":2000,\
         \"JVM GC Time\":12,\"Result Serialization Time\":1,\"Memory Bytes Spilled\":0,\"Disk Bytes Spilled\":0,\
         \"Shuffle Read Metrics\":{{\"Remote Blocks Fetched\":4,\"Local Blocks Fetched\":1,\"Fetch Wait Time\":3,\
         \"Remote Bytes Read\":123456,\"Remote Bytes Read To Disk\":0,\"Local Bytes Read\":4321,\"Total Records Read\":99}},\
         \"Shuffle Write Metrics\":{{\"Shuffle Bytes Written\":654321,\"Shuffle Write Time\":2345678,\
         \"Shuffle Records Written\":1000}},\"Input Metrics\":{{\"Bytes Read\":16777216,\"Records Read\":5000}},\
         \"Output Metrics\":{{\"Bytes Written\":0,\"Records Written\":0}},\"Updated Blocks\":[]}}}}"
    )
}

/// The text of a log with one stage.
fn event_log(tasks: u64) -> String {
    let stage = format!(
        "\"Stage Info\":{{\"Stage ID\":0,\"Stage Attempt ID\":0,\"Stage Name\":\"count\",\"Number of Tasks\":{tasks},\
         \"Parent IDs\":[],\"Submission Time\":{START}}}"
    );
    let mut log = format!(
        "{{\"Event\":\"SparkListenerLogStart\",\"Spark Version\":\"3.5.1\"}}\n\
         {{\"Event\":\"SparkListenerApplicationStart\",\"App Name\":\"bench\",\"App ID\":\"app-1\",\"Timestamp\":{START}}}\n\
         {{\"Event\":\"SparkListenerStageSubmitted\",{stage}}}\n"
    );
    for task in 0..tasks {
        let info = task_info(task, 0, "");
        let _ = writeln!(log, "{{\"Event\":\"SparkListenerTaskStart\",\"Stage ID\":0,\"Stage Attempt ID\":0,{info}}}");
        log += &end_of_task(task);
        log.push('\n');
    }
    log
}

fn event_logs(c: &mut Criterion) {
    let log = event_log(TASKS);
    let mut group = c.benchmark_group("event_log_of_20_000_tasks");
    group.sample_size(10).warm_up_time(Duration::from_millis(500)).measurement_time(Duration::from_secs(5));
    group.throughput(Throughput::Bytes(log.len() as u64));
    let options = ReadOptions::default();
    group.bench_function("read", |b| {
        b.iter(|| read_bytes("log", log.as_bytes(), &options, &Unwatched).expect("the log is fine").attempts().len());
    });
    // the baseline: the same lines as JSON, thrown away
    group.bench_function("json_lines", |b| {
        let parsed = |line: &&str| serde_json::from_str::<serde::de::IgnoredAny>(line).is_ok();
        b.iter(|| log.lines().filter(parsed).count());
    });
    group.finish();
}

criterion_group!(trace, event_logs);
criterion_main!(trace);
