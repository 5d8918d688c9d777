//! Records of tasks before their features are computed: time, node, and the values in the log.

use crate::diagnose::causes::feature::{FEATURES, Feature};
use crate::trace::analysis::observed;
use crate::trace::{Attempt, JobTrace, Locality, Metric, StageId};

/// An attempt of a task.
#[derive(Clone, Debug, PartialEq)]
pub struct TaskRecord {
    /// The task's number in its stage.
    pub task: u32,
    /// The number of the attempt, from 0.
    pub attempt: u32,
    /// Node, as a number.
    pub node: Option<usize>,
    /// Launch time, in seconds since the start of the log.
    pub from: f64,
    /// Time at which the attempt ended, or was last observed.
    pub to: f64,
    /// True if the attempt was killed and would have run longer, or if the log does not have its end.
    pub at_least: bool,
    /// True if the attempt succeeded.
    pub succeeded: bool,
    /// Values in the log, by the number of the feature: bytes, seconds, or the code of its locality; none if missing.
    pub stated: [Option<f64>; FEATURES],
}

impl TaskRecord {
    /// Returns the observed run time \[s\].
    pub fn seconds(&self) -> f64 {
        self.to - self.from
    }
}

/// Returns the attempts of a stage that have a known time and did not fail.
pub fn records_of(trace: &JobTrace, stage: StageId) -> Vec<TaskRecord> {
    let attempts = trace.attempts_of(stage).iter().filter(|attempt| !attempt.outcome.is_failure());
    attempts.filter_map(|attempt| record(trace, attempt)).collect()
}

fn record(trace: &JobTrace, attempt: &Attempt) -> Option<TaskRecord> {
    let from = attempt.launch()?.seconds();
    let seen = observed(trace, attempt)?;
    let value = |metric| trace.value(attempt, metric);
    let both = |a, b| match (value(a), value(b)) {
        (None, None) => None,
        (a, b) => Some(a.unwrap_or(0.0) + b.unwrap_or(0.0)),
    };
    let locality = match attempt.locality {
        Locality::Unknown => None,
        Locality::Process => Some(0.0),
        Locality::Node => Some(1.0),
        Locality::NoPreference | Locality::Rack | Locality::Any => Some(2.0),
    };
    let stated = Feature::ALL.map(|feature| match feature {
        Feature::ReadBytes => value(Metric::InputBytes),
        Feature::ShuffleRead => both(Metric::ShuffleLocalBytes, Metric::ShuffleRemoteBytes),
        Feature::ShuffleWrite => value(Metric::ShuffleWriteBytes),
        Feature::MemorySpilled => value(Metric::MemorySpilledBytes),
        Feature::DiskSpilled => value(Metric::DiskSpilledBytes),
        Feature::GcTime => value(Metric::GcTime),
        Feature::ResultSerialization => value(Metric::ResultSerializationTime),
        Feature::Deserialization => value(Metric::DeserializeTime),
        Feature::Locality => locality,
        Feature::Cpu | Feature::Disk | Feature::Network => None,
    });
    Some(TaskRecord {
        task: attempt.task,
        attempt: attempt.number,
        node: attempt.node.map(|node| node.index()),
        from,
        to: from + seen.seconds,
        at_least: seen.at_least,
        succeeded: attempt.succeeded(),
        stated,
    })
}
