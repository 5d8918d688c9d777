//! A diagnosis in one form for all methods: subject, time, size, threshold and cause.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

/// A single finding.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Finding {
    /// The method that produced the finding.
    pub method: FindingMethod,
    /// Subject of the finding.
    pub subject: Subject,
    /// Start, in seconds since the start of the input, if known.
    pub from: Option<f64>,
    /// End, in seconds since the start of the input, if known.
    pub to: Option<f64>,
    /// True if the subject was killed and would have run longer, or if its end is unknown.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub at_least: bool,
    /// True for a task of a first wave that was slow because its executor had just started.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub first_wave: bool,
    /// Cause of the finding.
    pub cause: Cause,
    /// Strength of the finding: relative to the mean of the stage, a share, or bytes per second, depending on the feature.
    pub score: f64,
    /// Threshold that the score exceeded, in the same unit.
    pub threshold: f64,
    /// Confidence in the cause, from 0 to 1, by a rule that the method documents; 0 if the cause is unknown.
    pub confidence: f64,
    /// Supporting evidence, the strongest first.
    pub evidence: Vec<Evidence>,
}

impl Finding {
    /// Creates a finding about a stage or the job on the critical path. Its score is `share`, a share of the time,
    /// and its threshold is `least`.
    pub(crate) fn on_the_way(subject: Subject, cause: Cause, share: f64, least: f64, evidence: Vec<Evidence>) -> Self {
        Self {
            method: FindingMethod::CriticalPath,
            subject,
            from: None,
            to: None,
            at_least: false,
            first_wave: false,
            cause,
            score: share,
            threshold: least,
            confidence: (1.0 - least / share).clamp(0.0, 1.0),
            evidence,
        }
    }
}

/// A method that produces findings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum FindingMethod {
    /// Rules for the features of a straggler, compared with its peers.
    BigRoots,
    /// Free slots, long stages and a busy driver on the critical path of the job.
    CriticalPath,
    /// Times of all tasks of a node, compared with the times on other nodes.
    SlowNode,
    /// Progress reports, compared with earlier runs.
    LongTail,
    /// Totals and histograms of system calls, compared with control runs.
    SyscallsStatistical,
    /// Single invocations, compared with control runs.
    SyscallsSemantic,
    /// Times per system call, compared with other nodes.
    SyscallsImproved,
}

impl FindingMethod {
    /// Returns the method's name in results and in the documentation.
    pub fn name(self) -> &'static str {
        match self {
            Self::BigRoots => "big-roots",
            Self::CriticalPath => "critical-path",
            Self::SlowNode => "slow-node",
            Self::LongTail => "long-tail",
            Self::SyscallsStatistical => "syscalls-statistical",
            Self::SyscallsSemantic => "syscalls-semantic",
            Self::SyscallsImproved => "syscalls-improved",
        }
    }
}

/// Subject of a finding.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Subject {
    /// An attempt of a task.
    Task {
        /// The stage's name in the log.
        stage: String,
        /// The task's number in its stage.
        task: u64,
        /// Attempt number, from 0.
        attempt: u32,
        /// The node that the attempt ran on, if known.
        node: Option<String>,
    },
    /// All tasks of a stage.
    Stage {
        /// Name in the log.
        stage: String,
    },
    /// A node.
    Node {
        /// Name.
        node: String,
    },
    /// The communication between two nodes.
    Link {
        /// The observed node.
        from: String,
        /// The node that the observed node communicated with.
        to: String,
    },
    /// The whole job.
    Job,
}

/// Cause of a slow task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Cause {
    /// The evidence does not point to a cause.
    Unknown,
    /// More input than its peers.
    DataSkew,
    /// More shuffle data than its peers.
    ShuffleSkew,
    /// Data that did not fit into memory.
    Spill,
    /// Garbage collection.
    GarbageCollection,
    /// Serialisation of results, or deserialisation of the task.
    Serialization,
    /// Input on a distant node.
    Locality,
    /// The node's CPUs.
    Cpu,
    /// The node's disk.
    Disk,
    /// The node's network.
    Network,
    /// The node, for an unknown reason.
    SlowNode,
    /// An executor that had just started.
    WarmUp,
    /// Fewer tasks than slots, so slots were idle.
    FewTasks,
    /// A long last stage while most slots are idle.
    LongLastStage,
    /// No task ran: waiting for the driver, or for executors to start.
    Driver,
    /// All tasks wait for CPUs.
    CpuShortage,
    /// Tasks that wait for a GPU permit.
    GpuWait,
    /// Too little GPU memory: tasks retry, and data move to the host and back.
    GpuMemory,
}

/// One number behind a finding, with its reference value.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Evidence {
    /// The measured quantity, as text.
    pub what: String,
    /// Value for the subject.
    pub value: f64,
    /// Reference value: the peers' value, an earlier value, or a threshold.
    pub usual: f64,
    /// Unit of both values; empty for a bare number.
    pub unit: Cow<'static, str>,
}
