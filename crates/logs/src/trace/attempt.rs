//! One attempt to run a task: its node, time and outcome. Millions of them are kept, so the record is small.

use serde::{Deserialize, Serialize};

use crate::trace::ids::{ExecutorId, Moment, NodeId, StageId};
use crate::trace::metric::MetricSpan;

/// Outcome of an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
#[repr(u8)]
pub enum Outcome {
    /// The attempt completed the task.
    Success,
    /// The attempt ended with an error.
    Failed,
    /// The attempt was killed because another attempt of the task had succeeded.
    KilledAsCopy,
    /// The attempt was killed for another reason, such as the end of its stage.
    Killed,
    /// Blocks of a shuffle could not be fetched.
    FetchFailed,
    /// The executor or node was lost.
    Lost,
    /// The attempt was evicted to make room for another job.
    Evicted,
    /// The log does not contain the end of the attempt.
    Unfinished,
    /// The log states an unrecognised reason for the end of the attempt.
    Unknown,
}

impl Outcome {
    /// Returns the name in tables, JSON and CSV.
    pub fn key(self) -> &'static str {
        match self {
            Self::Success => "success",
            Self::Failed => "failed",
            Self::KilledAsCopy => "killed_as_copy",
            Self::Killed => "killed",
            Self::FetchFailed => "fetch_failed",
            Self::Lost => "lost",
            Self::Evicted => "evicted",
            Self::Unfinished => "unfinished",
            Self::Unknown => "unknown",
        }
    }

    /// Returns true if the attempt failed or was lost, so that its task had to be repeated.
    pub fn is_failure(self) -> bool {
        matches!(self, Self::Failed | Self::FetchFailed | Self::Lost)
    }
}

/// Distance between an attempt and its data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Locality {
    /// Missing from the log.
    Unknown,
    /// In the process that holds the data.
    Process,
    /// On a node that holds the data.
    Node,
    /// The task prefers no node.
    NoPreference,
    /// In a rack that holds the data.
    Rack,
    /// Anywhere.
    Any,
}

impl Locality {
    /// Returns the name in JSON and CSV.
    pub fn key(self) -> &'static str {
        match self {
            Self::Unknown => "unknown",
            Self::Process => "process",
            Self::Node => "node",
            Self::NoPreference => "no_preference",
            Self::Rack => "rack",
            Self::Any => "any",
        }
    }

    /// Parses the name used by Spark and Hadoop.
    pub(super) fn named(text: &str) -> Option<Self> {
        Some(match text {
            "PROCESS_LOCAL" => Self::Process,
            "NODE_LOCAL" => Self::Node,
            "NO_PREF" => Self::NoPreference,
            "RACK_LOCAL" => Self::Rack,
            "ANY" | "OFF_SWITCH" => Self::Any,
            _ => return None,
        })
    }
}

/// One attempt to run a task.
#[derive(Clone, Copy, Debug)]
pub struct Attempt {
    /// The stage of the task.
    pub stage: StageId,
    /// The task's number within the stage, from 0.
    pub task: u32,
    /// The number of this attempt of the task, as counted by the log.
    pub number: u32,
    /// The node that the attempt ran on, if known.
    pub node: Option<NodeId>,
    /// The executor that the attempt ran in, if the framework has executors.
    pub executor: Option<ExecutorId>,
    /// Outcome.
    pub outcome: Outcome,
    /// Distance between the attempt and its data.
    pub locality: Locality,
    /// True if the attempt was started as a copy of a running attempt; false if the log does not say.
    pub speculative: bool,
    /// Spark's task id; 0 if the log has none.
    pub id: u64,
    /// Launch time in microseconds, [`UNKNOWN`] if unknown.
    pub(super) launch: i64,
    pub(super) finish: i64,
    pub(super) metrics: MetricSpan,
}

/// An unknown time.
pub(super) const UNKNOWN: i64 = i64::MIN;

/// Returns a time in its stored form.
pub(super) fn stored(moment: Option<Moment>) -> i64 {
    moment.map_or(UNKNOWN, Moment::microseconds)
}

fn known(time: i64) -> Option<Moment> {
    (time != UNKNOWN).then(|| Moment::from_microseconds(time))
}

impl Attempt {
    /// Returns the launch time.
    pub fn launch(&self) -> Option<Moment> {
        known(self.launch)
    }

    /// Returns the end; none if it has not ended, or if the log's time is invalid.
    pub fn finish(&self) -> Option<Moment> {
        known(self.finish)
    }

    /// Returns the time from launch to end \[s\], not negative.
    pub fn duration(&self) -> Option<f64> {
        Some(self.finish()?.seconds_since(self.launch()?))
    }

    /// Returns true if it succeeded.
    pub fn succeeded(&self) -> bool {
        self.outcome == Outcome::Success
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The module documentation states 120 bytes per attempt: this record and, in event logs, about 40 bytes of numbers.
    #[test]
    fn an_attempt_is_small() {
        assert!(std::mem::size_of::<Attempt>() <= 80, "{} bytes", std::mem::size_of::<Attempt>());
    }
}
