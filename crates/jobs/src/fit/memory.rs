//! The memory of executors, and what tasks need of it.

use crate::trace::{Application, Attempt, JobTrace, Metric, StageId};

/// Bytes per MB.
const MB: f64 = 1_048_576.0;
/// Memory that Spark keeps for itself \[MB\], and the share of the rest for execution and storage (`spark.memory.fraction`).
const RESERVED_MB: f64 = 300.0;
const FRACTION: f64 = 0.6;
/// Data of a task below which its memory says nothing about larger tasks \[MB\].
const DATA_MATTERS_MB: f64 = 1.0;

/// Returns the memory of an executor for execution and storage \[MB\], if the log states the executor's memory.
pub(super) fn executor_memory_mb(application: &Application) -> Option<f64> {
    let property = |name: &str| application.properties.get(name).map(|value| value.trim());
    let local = || {
        let inside = property("spark.master")?.strip_prefix("local-cluster[")?.strip_suffix(']')?;
        inside.split(',').nth(2)?.trim().parse().ok()
    };
    let heap_mb = property("spark.executor.memory").and_then(megabytes).or_else(local)?;
    let fraction = application.number("spark.memory.fraction").filter(|share| (0.0..=1.0).contains(share));
    Some((heap_mb - RESERVED_MB) * fraction.unwrap_or(FRACTION)).filter(|mb| *mb > 0.0)
}

/// Reads an amount of memory as Spark writes it, such as `4g`; without a unit, it is in MB.
fn megabytes(text: &str) -> Option<f64> {
    let text = text.to_ascii_lowercase();
    let at = text.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(text.len());
    let number: f64 = text[..at].trim().parse().ok()?;
    let unit = match text[at..].trim_end_matches('b').trim_end_matches('i') {
        "" | "m" => 1.0,
        "k" => 1.0 / 1024.0,
        "g" => 1024.0,
        "t" => 1024.0 * 1024.0,
        _ => return None,
    };
    Some(number * unit)
}

/// Returns the peak memory of a stage's tasks for joins, sorts and aggregations, in MB per MB of their data; none if the log does not show it.
pub(super) fn memory_per_mb(trace: &JobTrace, stage: StageId) -> Option<f64> {
    let ratio = |attempt: &Attempt| {
        let mb = trace.bytes_read(attempt) / MB;
        let peak_mb = trace.value(attempt, Metric::PeakMemoryBytes)? / MB;
        (mb >= DATA_MATTERS_MB && peak_mb > 0.0).then(|| peak_mb / mb)
    };
    let ratios = trace.attempts_of(stage).iter().filter(|attempt| attempt.succeeded()).filter_map(ratio);
    ratios.max_by(f64::total_cmp)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_read_as_spark_writes_it() {
        let of = |pairs: &[(&str, &str)]| {
            let properties = pairs.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
            executor_memory_mb(&Application { properties, ..Application::default() })
        };
        let close = |found: Option<f64>, exact: f64| found.is_some_and(|mb| (mb - exact).abs() < 1e-9);
        assert!(close(of(&[("spark.executor.memory", "4g")]), 0.6 * (4096.0 - 300.0)));
        assert!(close(of(&[("spark.executor.memory", "1000M"), ("spark.memory.fraction", "0.5")]), 350.0));
        assert!(close(of(&[("spark.master", "local-cluster[2,1,900]")]), 360.0));
        assert_eq!(
            [of(&[]), of(&[("spark.executor.memory", "200m")]), of(&[("spark.executor.memory", "4x")])],
            [None; 3]
        );
    }
}
