//! The phases of the tasks of a phase log.

use crate::trace::ids::ApplicationId;

/// Kind of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum TaskKind {
    /// The start of a slot.
    Slot,
    /// A map task.
    Map,
    /// A reduce task.
    Reduce,
}

/// A phase of a task.
#[derive(Clone, Debug, PartialEq)]
pub struct PhaseSpan {
    /// The job.
    pub application: ApplicationId,
    /// Kind of the task.
    pub kind: TaskKind,
    /// Number of the task among those of its kind; of a slot, the slot.
    pub task: u32,
    /// Attempt of the task, from 0.
    pub attempt: u32,
    /// Number of the host, in the order of the log.
    pub node: u32,
    /// Slot that the task held.
    pub slot: u32,
    /// Name of the phase.
    pub phase: String,
    /// Start \[s\], since the start of the job.
    pub start_s: f64,
    /// End \[s\], since the start of the job.
    pub end_s: f64,
    /// Bytes that the phase moved, if the log has them.
    pub bytes: Option<u64>,
}

/// The contents of a phase log in addition to stages and attempts; empty for logs of other formats.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PhaseLog {
    /// The phases, in the order of job, kind, task, attempt and time.
    pub spans: Vec<PhaseSpan>,
    /// Cores of the host, if the log has them.
    pub cores: Option<f64>,
    /// Tasks that could hold the GPU at a time, 0 for every task, if the log has them.
    pub permits: Option<u64>,
    /// Phases that are not in the format, in alphabetical order. They are kept as parts of their tasks.
    pub unknown_phases: Vec<String>,
    /// Columns that are not in the format, in the order of the header.
    pub unknown_columns: Vec<String>,
}

impl PhaseSpan {
    /// Returns its time \[s\].
    pub fn seconds(&self) -> f64 {
        self.end_s - self.start_s
    }
}
