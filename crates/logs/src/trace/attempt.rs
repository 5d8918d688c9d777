//! One attempt to run a task: where, when, and what came of it. Millions of them are kept, so that a record is small.

use crate::trace::ids::{ExecutorId, Moment, NodeId, StageId};
use crate::trace::metric::MetricSpan;

/// How an attempt ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Outcome {
    /// The task is done by it.
    Success,
    /// It ended with an error of its own.
    Failed,
    /// It was killed because another attempt of the task had succeeded.
    KilledAsCopy,
    /// It was killed for another reason, such as the end of its stage.
    Killed,
    /// Blocks of a shuffle could not be fetched.
    FetchFailed,
    /// The executor or node was lost.
    Lost,
    /// It made room for another job.
    Evicted,
    /// The log ends, or says nothing more about it, before it ended.
    Unfinished,
    /// The log says how it ended in words that are not known.
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

    /// Returns true if the task had to be done again because of it: neither a success, nor a kill, nor an open end.
    pub fn is_failure(self) -> bool {
        matches!(self, Self::Failed | Self::FetchFailed | Self::Lost)
    }
}

/// How near its data an attempt ran.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Locality {
    /// The log does not say.
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

    /// What Spark and Hadoop call it.
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
    /// The stage that the task belongs to.
    pub stage: StageId,
    /// The task's number within the stage, from 0.
    pub task: u32,
    /// The number of this attempt of the task, as the log counts them.
    pub number: u32,
    /// The node that it ran on, where the log names one.
    pub node: Option<NodeId>,
    /// The executor that it ran in, where the framework has such.
    pub executor: Option<ExecutorId>,
    /// How it ended.
    pub outcome: Outcome,
    /// How near its data it ran.
    pub locality: Locality,
    /// True if it was started as a copy of a running attempt; false where the log does not say.
    pub speculative: bool,
    /// The log's own number of it: Spark's task id; 0 where there is none.
    pub id: u64,
    /// Microseconds, [`UNKNOWN`] where it is not known.
    pub(super) launch: i64,
    pub(super) finish: i64,
    pub(super) metrics: MetricSpan,
}

/// A time that is not known.
pub(super) const UNKNOWN: i64 = i64::MIN;

/// A time as it is stored.
pub(super) fn stored(moment: Option<Moment>) -> i64 {
    moment.map_or(UNKNOWN, Moment::microseconds)
}

fn known(time: i64) -> Option<Moment> {
    (time != UNKNOWN).then(|| Moment::from_microseconds(time))
}

impl Attempt {
    /// When it was launched.
    pub fn launch(&self) -> Option<Moment> {
        known(self.launch)
    }

    /// When it ended; none where it has not, or where the log's time cannot be right.
    pub fn finish(&self) -> Option<Moment> {
        known(self.finish)
    }

    /// From launch to end \[s\], not negative.
    pub fn duration(&self) -> Option<f64> {
        Some(self.finish()?.seconds_since(self.launch()?))
    }

    /// Returns true if it did its task.
    pub fn succeeded(&self) -> bool {
        self.outcome == Outcome::Success
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The guide of the module says 120 bytes an attempt: this record and, in event logs, about 40 bytes of numbers.
    #[test]
    fn an_attempt_is_small() {
        assert!(std::mem::size_of::<Attempt>() <= 80, "{} bytes", std::mem::size_of::<Attempt>());
    }
}
