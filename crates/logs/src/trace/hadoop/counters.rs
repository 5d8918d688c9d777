//! Mapping from MapReduce counters to metrics.

use crate::trace::metric::{Metric, Metrics};

/// Returns the metric of a counter, and the number of the metric's units per unit of the counter.
fn metric(counter: &str) -> Option<(Metric, u64)> {
    Some(match counter {
        "HDFS_BYTES_READ" => (Metric::InputBytes, 1),
        "HDFS_BYTES_WRITTEN" => (Metric::OutputBytes, 1),
        "FILE_BYTES_READ" => (Metric::LocalReadBytes, 1),
        "FILE_BYTES_WRITTEN" => (Metric::LocalWriteBytes, 1),
        "MAP_INPUT_RECORDS" => (Metric::InputRecords, 1),
        "MAP_OUTPUT_BYTES" => (Metric::ShuffleWriteBytes, 1),
        "MAP_OUTPUT_RECORDS" => (Metric::ShuffleWriteRecords, 1),
        "REDUCE_SHUFFLE_BYTES" => (Metric::ShuffleRemoteBytes, 1),
        "REDUCE_INPUT_RECORDS" => (Metric::ShuffleReadRecords, 1),
        "REDUCE_OUTPUT_RECORDS" => (Metric::OutputRecords, 1),
        "SPILLED_RECORDS" => (Metric::SpilledRecords, 1),
        // milliseconds, in microseconds
        "GC_TIME_MILLIS" => (Metric::GcTime, 1000),
        "CPU_MILLISECONDS" => (Metric::CpuTime, 1000),
        "PHYSICAL_MEMORY_BYTES" => (Metric::PeakMemoryBytes, 1),
        _ => return None,
    })
}

/// Records a counter; returns false if its value is invalid.
pub(super) fn count(counter: &str, value: Option<i64>, metrics: &mut Metrics) -> bool {
    let Some((metric, factor)) = metric(counter) else { return true };
    let value = value.and_then(|value| u64::try_from(value).ok()).and_then(|value| value.checked_mul(factor));
    if let Some(value) = value {
        metrics.set(metric, value);
    }
    value.is_some()
}
