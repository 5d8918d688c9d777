//! Measurements of an attempt, and their compact store: few numbers of many kinds, for millions of attempts.

/// A number that a log may contain for an attempt. docs/logs.md lists the metrics of each format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Metric {
    /// Time in which the executor ran the task's code, excluding overheads \[s\].
    ExecutorRunTime,
    /// CPU time of the executor's thread; without Python workers \[s\].
    CpuTime,
    /// Time to deserialise the task \[s\].
    DeserializeTime,
    /// Time to serialise the result \[s\].
    ResultSerializationTime,
    /// Time in which the driver fetched the result \[s\].
    GettingResultTime,
    /// Time of garbage collections while the task ran \[s\].
    GcTime,
    /// Time in which the task waited for blocks of a shuffle \[s\].
    FetchWaitTime,
    /// Time in which the task wrote to the shuffle \[s\].
    ShuffleWriteTime,
    /// Time from the launch of a map attempt to the end of its map phase \[s\].
    MapPhaseTime,
    /// Time from the launch of a reduce attempt to the end of its shuffle \[s\].
    ShufflePhaseTime,
    /// Time from the end of the shuffle to the end of the sort \[s\].
    SortPhaseTime,
    /// Bytes read from the input.
    InputBytes,
    /// Records read from the input.
    InputRecords,
    /// Bytes written to the output.
    OutputBytes,
    /// Records written to the output.
    OutputRecords,
    /// Bytes read from shuffle files on the same node; for Hadoop all bytes of the shuffle are remote.
    ShuffleLocalBytes,
    /// Bytes read from shuffle files on other nodes.
    ShuffleRemoteBytes,
    /// Records read from a shuffle.
    ShuffleReadRecords,
    /// Bytes written to a shuffle; for Hadoop the bytes of the map output.
    ShuffleWriteBytes,
    /// Records written to a shuffle; for Hadoop the records of the map output.
    ShuffleWriteRecords,
    /// Size in memory of the spilled data.
    MemorySpilledBytes,
    /// Size on disk of the spilled data.
    DiskSpilledBytes,
    /// Number of spilled records.
    SpilledRecords,
    /// Size of the result.
    ResultBytes,
    /// Peak memory for joins, sorts and aggregations.
    PeakMemoryBytes,
    /// Bytes read from local files.
    LocalReadBytes,
    /// Bytes written to local files.
    LocalWriteBytes,
    /// CPUs requested, in thousandths of a machine's CPUs (Google) or of one CPU (Alibaba).
    RequestedCpu,
    /// Time in which the task waited for a GPU permit \[s\].
    GpuWaitTime,
    /// Time in which the task held a GPU permit \[s\].
    GpuHoldTime,
    /// Time of GPU work that was blocked or repeated because memory was short \[s\].
    GpuRetryTime,
    /// Time of moving data from the GPU to the host or to disk, and back \[s\].
    GpuSpillTime,
    /// Retries of GPU work, complete or in parts.
    GpuRetries,
    /// Peak GPU memory in use while the task ran.
    GpuPeakBytes,
}

/// The number of metrics.
pub(super) const METRICS: usize = Metric::GpuPeakBytes as usize + 1;

/// Number of points of a progress curve: Hadoop measures the time in each twelfth of the progress.
pub(super) const PROGRESS_POINTS: usize = 12;

/// Unit of a metric.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MetricUnit {
    /// Seconds, stored as whole microseconds.
    Seconds,
    /// Bytes.
    Bytes,
    /// A plain number.
    Count,
}

impl Metric {
    /// All metrics, in the order of this type.
    pub const ALL: [Self; METRICS] = [
        Self::ExecutorRunTime,
        Self::CpuTime,
        Self::DeserializeTime,
        Self::ResultSerializationTime,
        Self::GettingResultTime,
        Self::GcTime,
        Self::FetchWaitTime,
        Self::ShuffleWriteTime,
        Self::MapPhaseTime,
        Self::ShufflePhaseTime,
        Self::SortPhaseTime,
        Self::InputBytes,
        Self::InputRecords,
        Self::OutputBytes,
        Self::OutputRecords,
        Self::ShuffleLocalBytes,
        Self::ShuffleRemoteBytes,
        Self::ShuffleReadRecords,
        Self::ShuffleWriteBytes,
        Self::ShuffleWriteRecords,
        Self::MemorySpilledBytes,
        Self::DiskSpilledBytes,
        Self::SpilledRecords,
        Self::ResultBytes,
        Self::PeakMemoryBytes,
        Self::LocalReadBytes,
        Self::LocalWriteBytes,
        Self::RequestedCpu,
        Self::GpuWaitTime,
        Self::GpuHoldTime,
        Self::GpuRetryTime,
        Self::GpuSpillTime,
        Self::GpuRetries,
        Self::GpuPeakBytes,
    ];

    /// Returns the unit.
    pub fn unit(self) -> MetricUnit {
        if self <= Self::SortPhaseTime {
            return MetricUnit::Seconds;
        }
        match self {
            Self::InputRecords
            | Self::OutputRecords
            | Self::ShuffleReadRecords
            | Self::ShuffleWriteRecords
            | Self::SpilledRecords
            | Self::RequestedCpu
            | Self::GpuRetries => MetricUnit::Count,
            Self::GpuWaitTime | Self::GpuHoldTime | Self::GpuRetryTime | Self::GpuSpillTime => MetricUnit::Seconds,
            _ => MetricUnit::Bytes,
        }
    }

    /// Returns the name in JSON and CSV, with the unit of times and bytes.
    pub fn key(self) -> &'static str {
        const KEYS: [&str; METRICS] = [
            "executor_run_s",
            "cpu_s",
            "deserialize_s",
            "result_serialization_s",
            "getting_result_s",
            "gc_s",
            "fetch_wait_s",
            "shuffle_write_s",
            "map_phase_s",
            "shuffle_phase_s",
            "sort_phase_s",
            "input_bytes",
            "input_records",
            "output_bytes",
            "output_records",
            "shuffle_local_bytes",
            "shuffle_remote_bytes",
            "shuffle_read_records",
            "shuffle_write_bytes",
            "shuffle_write_records",
            "memory_spilled_bytes",
            "disk_spilled_bytes",
            "spilled_records",
            "result_bytes",
            "peak_memory_bytes",
            "local_read_bytes",
            "local_write_bytes",
            "requested_cpu_thousandths",
            "gpu_wait_s",
            "gpu_hold_s",
            "gpu_retry_s",
            "gpu_spill_s",
            "gpu_retries",
            "gpu_peak_bytes",
        ];
        KEYS[self as usize]
    }
}

/// Metrics of one attempt, while its record is read: microseconds, bytes or counts.
#[derive(Clone, Debug)]
pub(super) struct Metrics {
    known: u64,
    values: [u64; METRICS],
    progress: Option<[u64; PROGRESS_POINTS]>,
}

impl Default for Metrics {
    fn default() -> Self {
        Self { known: 0, values: [0; METRICS], progress: None }
    }
}

impl Metrics {
    /// Records a value; a later value replaces an earlier one.
    pub(super) fn set(&mut self, metric: Metric, value: u64) {
        self.known |= 1 << metric as u32;
        self.values[metric as usize] = value;
    }

    /// Records the microseconds of each twelfth of the progress.
    pub(super) fn set_progress(&mut self, splits_us: [u64; PROGRESS_POINTS]) {
        self.progress = Some(splits_us);
    }
}

/// Position of an attempt's metrics in the store.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct MetricSpan {
    /// Bit `m` is set if metric `m` is known; [`PROGRESS`] if there is a progress curve.
    known: u64,
    start: u64,
}

/// The bit of a progress curve.
const PROGRESS: u64 = 1 << 63;

/// The metrics of all attempts as bytes. Each attempt has its known numbers in the order of [`Metric`], then its
/// progress curve. Each number is stored as LEB128: groups of seven bits, lowest first, with the eighth bit set in
/// all but the last byte.
#[derive(Clone, Debug, Default)]
pub(super) struct MetricStore(Vec<u8>);

impl MetricStore {
    /// Stores the metrics of an attempt.
    pub(super) fn push(&mut self, metrics: &Metrics) -> MetricSpan {
        let start = self.0.len() as u64;
        let mut known = metrics.known;
        for metric in Metric::ALL.into_iter().filter(|&m| metrics.known & (1 << m as u32) != 0) {
            self.write(metrics.values[metric as usize]);
        }
        if let Some(splits) = metrics.progress {
            known |= PROGRESS;
            splits.into_iter().for_each(|split| self.write(split));
        }
        MetricSpan { known, start }
    }

    fn write(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.0.push((value & 0x7f) as u8 | 0x80);
            value >>= 7;
        }
        self.0.push(value as u8);
    }

    fn numbers(&self, span: MetricSpan) -> impl Iterator<Item = u64> {
        let mut bytes = self.0.get(usize::try_from(span.start).unwrap_or(usize::MAX)..).unwrap_or(&[]).iter();
        std::iter::from_fn(move || {
            let mut value = 0;
            for (group, byte) in bytes.by_ref().enumerate() {
                value |= u64::from(byte & 0x7f) << (7 * group);
                if byte & 0x80 == 0 {
                    return Some(value);
                }
            }
            None
        })
    }

    /// Returns a number of an attempt, if known.
    pub(super) fn get(&self, span: MetricSpan, metric: Metric) -> Option<u64> {
        let bit = 1_u64 << metric as u32;
        if span.known & bit == 0 {
            return None;
        }
        self.numbers(span).nth((span.known & (bit - 1)).count_ones() as usize)
    }

    /// Returns all known numbers of an attempt, in the order of [`Metric`].
    pub(super) fn all(&self, span: MetricSpan) -> impl Iterator<Item = (Metric, u64)> {
        Metric::ALL.into_iter().filter(move |&m| span.known & (1 << m as u32) != 0).zip(self.numbers(span))
    }

    /// Returns the microseconds of each twelfth of the progress, if known.
    pub(super) fn progress(&self, span: MetricSpan) -> Option<[u64; PROGRESS_POINTS]> {
        if span.known & PROGRESS == 0 {
            return None;
        }
        let mut numbers = self.numbers(span).skip((span.known & !PROGRESS).count_ones() as usize);
        let mut splits = [0; PROGRESS_POINTS];
        for split in &mut splits {
            *split = numbers.next()?;
        }
        Some(splits)
    }

    /// Returns the bytes in use.
    pub(super) fn bytes(&self) -> usize {
        self.0.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metrics_are_in_the_order_of_their_numbers_and_have_keys_of_their_own() {
        for (i, metric) in Metric::ALL.into_iter().enumerate() {
            assert_eq!(metric as usize, i);
        }
        let keys: std::collections::BTreeSet<_> = Metric::ALL.map(Metric::key).into();
        assert_eq!(keys.len(), METRICS);
        for metric in Metric::ALL {
            let ends = |unit: &str| metric.key().ends_with(unit);
            match metric.unit() {
                MetricUnit::Seconds => assert!(ends("_s")),
                MetricUnit::Bytes => assert!(ends("_bytes")),
                MetricUnit::Count => assert!(!ends("_s") && !ends("_bytes")),
            }
        }
    }

    #[test]
    fn a_store_gives_back_what_was_put_in_and_tells_zero_from_unknown() {
        let mut store = MetricStore::default();
        let mut first = Metrics::default();
        first.set(Metric::GcTime, u64::MAX);
        first.set(Metric::InputBytes, 0);
        first.set(Metric::RequestedCpu, 300);
        let mut second = first.clone();
        second.set_progress(std::array::from_fn(|i| 1 << (5 * i)));
        let spans = [store.push(&first), store.push(&Metrics::default()), store.push(&second)];
        for span in [spans[0], spans[2]] {
            assert_eq!(store.get(span, Metric::GcTime), Some(u64::MAX));
            assert_eq!(store.get(span, Metric::InputBytes), Some(0));
            assert_eq!(store.get(span, Metric::RequestedCpu), Some(300));
            assert_eq!(store.get(span, Metric::OutputBytes), None);
        }
        let all: Vec<_> = store.all(spans[2]).collect();
        assert_eq!(all, [(Metric::GcTime, u64::MAX), (Metric::InputBytes, 0), (Metric::RequestedCpu, 300)]);
        assert_eq!(store.get(spans[1], Metric::GcTime), None);
        assert_eq!(store.progress(spans[0]), None);
        assert_eq!(store.progress(spans[2]), Some(std::array::from_fn(|i| 1 << (5 * i))));
    }
}
