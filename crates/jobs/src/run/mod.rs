//! Runs of a job, task by task, with times in integer ticks.
//!
//! ```text
//! Job ──▶ JobRuns ─┬─▶ TaskRuns   (machines that are alike, whose tasks share nothing: free slots take waiting tasks)
//!            │     └─▶ EventRuns  (kinds of machines, shared cores, disks and networks, GPUs, set-ups that overlap with tasks)
//!            └──▶ ResumedRuns     (the rest of a run)
//! ```
//!
//! | question | file |
//! |---|---|
//! | random numbers and ticks | `draws` |
//! | the slot that is free first | `slots` |
//! | the run by slots | `tasks` |
//! | the run by events | `events` |
//! | the machine for a waiting task | `free` |
//! | the time of each step of a task | `step_times` |
//! | tasks that slow each other down | `shared` |
//! | a shuffle that overlaps with the maps | `overlap` |
//! | what each task did, and what the job waited for | `trace`, `chain` |
//! | a run that is resumed in progress | `resume` |
//!
//! Policies and copies need [`crate::cluster`], which draws the same times for the same tasks.
//!
//! Guarantees: a replication depends on seed and number only; a task takes the same time on any number of slots and under any policy.

mod chain;
pub(crate) mod draws;
mod events;
#[cfg(test)]
mod fixtures;
mod free;
pub(crate) mod overlap;
mod resume;
mod shared;
mod slots;
mod step_times;
mod tasks;
mod trace;

pub use chain::Chain;
pub use draws::MOST_PHASES;
pub use events::{EventRun, EventRuns};
pub use resume::{ResumedRuns, RunningTask, StageState};
pub use tasks::{Pace, RunMemory, StageRun, TaskRuns};

use crate::job::Job;

/// A job without policies, ready to run by the faster simulator that can run it.
#[derive(Clone, Debug)]
pub enum JobRuns {
    /// By slots.
    Slots(TaskRuns),
    /// By events.
    Events(Box<EventRuns>),
}

impl JobRuns {
    /// Prepares a job. `None` for the jobs that [`EventRuns::new`] refuses.
    pub fn new(job: &Job) -> Option<Self> {
        let by_slots = TaskRuns::new(job).map(Self::Slots);
        by_slots.or_else(|| EventRuns::new(job).map(|runs| Self::Events(Box::new(runs))))
    }

    /// Runs the job once; `key` and the replication determine the random numbers.
    pub fn run(&self, key: [u32; 2], replication: u64, memory: &mut RunMemory) -> StageRun {
        match self {
            Self::Slots(runs) => runs.run(key, replication, memory),
            Self::Events(runs) => runs.run(key, replication).times,
        }
    }
}
