//! A diagnosis in one form for all methods: who, when, how much, against which threshold, and why.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

/// One thing found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Finding {
    /// The method that made it.
    pub method: FindingMethod,
    /// About whom.
    pub subject: Subject,
    /// When it began, seconds since the start of the input, where that is known.
    pub from: Option<f64>,
    /// When it ended, seconds since the start of the input, where that is known.
    pub to: Option<f64>,
    /// True if the subject ran longer than that: it was killed, or no end is known.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub at_least: bool,
    /// True for a task of a first wave that was slow as a whole: its executor had just started.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub first_wave: bool,
    /// Cause of the finding.
    pub cause: Cause,
    /// How strongly it shows; its unit is the method's.
    pub score: f64,
    /// Threshold that the score exceeded, in the same unit.
    pub threshold: f64,
    /// How sure the method is of the cause, from 0 to 1, by a rule that its documentation states; 0 where the cause is unknown.
    pub confidence: f64,
    /// What it was concluded from, the strongest first.
    pub evidence: Vec<Evidence>,
}

impl Finding {
    /// A finding about a stage or the job that its end waited for: `share` of the time, beyond the least share that is one.
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

/// A method that makes findings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FindingMethod {
    /// Rules for the features of a straggler, compared with its peers.
    BigRoots,
    /// Free slots, long stages and a busy driver that the job's end waited for.
    CriticalPath,
    /// The times of all tasks of a node, compared with those of the other nodes.
    SlowNode,
    /// Reports of progress, compared with what earlier runs taught.
    LongTail,
    /// Totals and histograms of system calls, compared with those of control runs.
    SyscallsStatistical,
    /// Single invocations, compared with those of control runs.
    SyscallsSemantic,
    /// Times per system call, compared with those of the other nodes.
    SyscallsImproved,
}

impl FindingMethod {
    /// Returns its name in results and in the documentation.
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

/// Whom a finding is about.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Subject {
    /// An attempt of a task.
    Task {
        /// The stage's name, as the log has it.
        stage: String,
        /// The task's number in its stage.
        task: u64,
        /// Which attempt, from 0.
        attempt: u32,
        /// The node that it ran on, where that is known.
        node: Option<String>,
    },
    /// All tasks of a stage.
    Stage {
        /// Name, as the log has it.
        stage: String,
    },
    /// A node.
    Node {
        /// Name.
        node: String,
    },
    /// What goes on between two nodes.
    Link {
        /// The node that was looked at.
        from: String,
        /// The node that it talked to.
        to: String,
    },
    /// The job as a whole.
    Job,
}

/// Cause of a slow task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Cause {
    /// The evidence names none.
    Unknown,
    /// More input than its peers have.
    DataSkew,
    /// More shuffled data than its peers have.
    ShuffleSkew,
    /// Data that did not fit into memory.
    Spill,
    /// Garbage collection.
    GarbageCollection,
    /// Serialisation of results, or deserialisation of the task.
    Serialization,
    /// Input that was far away.
    Locality,
    /// The node's processors.
    Cpu,
    /// The node's disk.
    Disk,
    /// The node's network.
    Network,
    /// The node, for a reason that is not known.
    SlowNode,
    /// Fewer tasks than slots, so that slots stood free.
    FewTasks,
    /// A last stage that is long while most slots stand free.
    LongLastStage,
    /// No task ran: the driver, or executors that were still to come.
    Driver,
    /// Tasks that wait for a permit of the GPU.
    GpuWait,
    /// GPU memory that is short: tasks try again, and data move to the host and back.
    GpuMemory,
}

/// One number behind a finding, beside what it was compared with.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Evidence {
    /// What was measured, as a person reads it.
    pub what: String,
    /// Value for the subject.
    pub value: f64,
    /// The value that it was compared with: its peers, its past, or a threshold.
    pub usual: f64,
    /// The unit of both; empty for a bare number.
    pub unit: Cow<'static, str>,
}
