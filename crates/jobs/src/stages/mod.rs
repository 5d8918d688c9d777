//! The stage-graph model: a job of stages with dependencies, whose tasks wait for slots, at any size of input and cluster.
//!
//! ```text
//! plan (TOML) ──▶ StagePlan ──▶ PlannedJob (tasks and mean times at one size) ──▶ StageNet ──▶ simulate, export, solve
//!                     └──▶ RunFactor: how whole runs differ ──▶ JobTimes ([`runs`](crate::runs))
//! ```
//!
//! | question | file |
//! |---|---|
//! | contents of a plan | [`plan`] |
//! | valid values | `check` |
//! | tasks, data and mean times at a size | [`planned`] |
//! | the net: slots as places, stages as barriers | [`net`] |
//! | one run, task by task; a run resumed in progress | [`crate::run`] |
//! | the job that runs task by task, and Spark's policies | `job` |
//!
//! # The model
//!
//! A stage starts `setup_s` after the last stage it waits for has ended: the driver's work and the launch of its
//! first tasks. It has a number of *full* tasks, `fixed + per_mb · input`, and some *small* tasks. The full tasks share
//! the stage's data, `fixed + per_mb · input`, evenly. Tasks go to free slots; tasks of an earlier stage go first. The
//! first task that a slot runs for a stage is *cold*: its code is loaded, interpreted and compiled meanwhile. The k-th
//! task takes
//!
//! ```text
//! warm.fixed_s + warm.per_mb_s · MB   times   1 + warming / (k − 1)
//! ```
//!
//! so that times decrease towards the steady time. Times vary around these means by the stage's
//! distribution. A stage may have recurring slow tasks, whose times are multiples of these means with a Pareto tail. In addition, whole runs differ: all times of a run share one factor, which
//! reflects the machine's other load.
//!
//! Sizes are in MB of 2^20 bytes, times in seconds. The model is ours; it is fitted to logs by [`crate::fit`], and validated against runs in
//! docs/validation.md.

mod check;
mod job;
pub mod net;
mod permits;
pub mod plan;
pub mod planned;

pub use crate::mapreduce::SlowTasks;
pub use crate::runs::{JobTimes, RunFactor, RunSpread};
pub use check::{MAX_STAGES, MAX_TASKS};
pub use job::{job_of, spark_policies};
pub use net::{StageNet, stage_net};
pub use permits::{GpuTask, GpuTimes, share_gpus};
pub use plan::{
    Amount, JobSize, LoggedRun, MeasuredRange, Power, Sharing, SpeculativeCopies, StagePlan, StageSpec, TaskTime,
};
pub use planned::{FAR, PlannedJob, PlannedStage, SharedGpus, Wave, far_error};
