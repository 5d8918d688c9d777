//! Runs of a job, task by task, with times in integer ticks.
//!
//! ```text
//! Job ──▶ TaskRuns ──▶ StageRun             (free slots take waiting tasks; tasks may share GPUs)
//!            └──▶ ResumedRuns ──▶ StageRun  (the rest of a run)
//! ```
//!
//! | question | file |
//! |---|---|
//! | random numbers and ticks | `draws` |
//! | the slot that is free first | `slots` |
//! | the run | `tasks` |
//! | tasks that hold a GPU | `gpus` |
//! | a run that is resumed in progress | `resume` |
//!
//! Policies, copies, machines of different speed and shared cores need [`crate::cluster`], which draws the same times for the same tasks.
//!
//! Guarantees: a replication depends on seed and number only; a task takes the same time on any number of slots and under any policy.

pub(crate) mod draws;
#[cfg(test)]
mod fixtures;
mod gpus;
mod resume;
mod slots;
mod tasks;

pub use draws::MOST_PHASES;
pub use resume::{ResumedRuns, RunningTask, StageState};
pub use tasks::{Pace, RunMemory, StageRun, TaskRuns};
