//! Tables of the tasks of several runs: one row for each task, with its duration, its stage, the size of the input and the number of executors.
//!
//! ```text
//! text ──▶ table ──▶ recorded ──▶ stages ──▶ fit ──▶ predict
//!                                             ▲          │
//!          other programs ──▶ fits ──▶ cluster ──────────┴──▶ schedule
//! ```
//!
//! | question | file |
//! |---|---|
//! | the tasks of each run | `recorded` |
//! | numbers of tasks, and how they grow | `stages` |
//! | what programs of a cluster have in common: warm-up, contention, spread | `cluster`, `learn` |
//! | the mean time of a task by stage, wave, size and executors | `fit` |
//! | the time of a run from the times of its tasks | `schedule` |
//! | the time of the next run, with its interval | `predict` |

mod cluster;
mod fit;
mod learn;
mod predict;
mod recorded;
mod schedule;
mod stages;

pub use cluster::Cluster;
pub use predict::TaskModel;
pub use recorded::{MOST_EXECUTORS, NoTasks, RecordedTasks, is_task_table};
