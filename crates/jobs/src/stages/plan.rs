//! The plan of a stage graph, as `fit` writes it and a person edits it in TOML.
//!
//! Owns the sections. What is a sound plan is in `check`, what it means at a size in `planned`.

use crate::cluster::PolicyPlan;
use crate::mapreduce::PhaseLaw;
use crate::runs::RunSpread;
use serde::Deserialize;
use serde::Serialize;

/// A job of stages.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StagePlan {
    /// What the logs could not tell, and what was assumed instead. Not used in estimates.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// The size at which the job is estimated.
    pub job: JobSize,
    /// How whole runs differ.
    #[serde(default)]
    pub run: RunSpread,
    /// The slowdown of executors that share a host. Default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sharing: Option<Sharing>,
    /// The range of the runs that the plan was fitted to. Default: not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seen: Option<Seen>,
    /// The stages; one may wait for earlier ones only.
    pub stage: Vec<StageSpec>,
    /// Policies against stragglers that `whatif` compares. Default none: those of [`PolicyPlan::compared`].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub policy: Vec<PolicyPlan>,
}

/// The size of input and cluster.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct JobSize {
    /// What the job is called.
    #[serde(default)]
    pub name: String,
    /// Bytes that the job reads \[MB\], > 0.
    pub input_mb: f64,
    /// Processes that run tasks, >= 1.
    pub executors: u32,
    /// Tasks that one of them runs at a time, >= 1.
    pub cores: u32,
    /// Machines that the executors share, >= 1; none: as many as keep `sharing.executors_per_host`, or as were seen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hosts: Option<u32>,
    /// GPUs of an executor, >= 1; none: tasks use no GPU. Needs `concurrent_gpu_tasks`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gpus_per_executor: Option<u32>,
    /// Tasks that may hold a GPU at a time, >= 1: `spark.rapids.sql.concurrentGpuTasks`. Default none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub concurrent_gpu_tasks: Option<u32>,
    /// Share of a GPU that a task asks for, above 0: an executor runs no more tasks than its GPUs have such shares. Default: no limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gpus_per_task: Option<f64>,
    /// Partitions of a shuffle, for the stages with `partitions = true`; none: as many tasks as these stages state.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub partitions: Option<u32>,
    /// From the end of the last stage to the end of the job \[s\], >= 0. Default 0.
    #[serde(default)]
    pub teardown_s: f64,
    /// The time by which the job must be finished \[s\], > 0. Default none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deadline_s: Option<f64>,
}

/// The slowdown of executors that share a host. A time at another load is the time of the plan times the ratio of the
/// loads to the power that is stated here.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sharing {
    /// Executors of a host at which the times of the plan hold, > 0.
    pub executors_per_host: f64,
    /// Tasks that run on a host at a time at which they hold, > 0.
    pub slots_per_host: f64,
    /// From the submission of the first stage until executors take its tasks \[s\], >= 0; 0 where they are there before. Grows with
    /// executors per host.
    #[serde(default)]
    pub start_s: f64,
    /// The power for `start_s`.
    #[serde(default)]
    pub start: Power,
    /// The power, with tasks of a host at a time, for what tasks take longer than in the end: the first one of a slot, and
    /// the way to the steady time.
    #[serde(default)]
    pub warm_up: Power,
    /// The power, with tasks of a host at a time, for the processor time of steady tasks (`stage.busy`).
    #[serde(default)]
    pub steady: Power,
}

/// A power with its doubt.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Power {
    /// The power, -2 to 4.
    pub power: f64,
    /// Standard error, >= 0.
    #[serde(default)]
    pub error: f64,
}

/// The sizes of the runs that a plan was fitted to. Beyond four times what was seen, intervals widen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Seen {
    /// Least input \[MB\].
    pub least_input_mb: f64,
    /// Most input \[MB\].
    pub most_input_mb: f64,
    /// Fewest slots.
    pub least_slots: u32,
    /// Most slots.
    pub most_slots: u32,
}

/// An amount that grows with the input: `fixed + per_mb · input`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Amount {
    /// The part that is always there.
    #[serde(default)]
    pub fixed: f64,
    /// What each MB of the job's input adds, >= 0.
    #[serde(default)]
    pub per_mb: f64,
}

impl Amount {
    /// The amount at an input of so many MB.
    pub fn at(self, input_mb: f64) -> f64 {
        self.fixed + self.per_mb * input_mb
    }
}

/// The time of a task by its data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TaskTime {
    /// The part that is always there \[s\], >= 0.
    #[serde(default)]
    pub fixed_s: f64,
    /// What each MB of the task's data adds \[s\], >= 0.
    #[serde(default)]
    pub per_mb_s: f64,
    /// Relative standard error of the time, >= 0. Default 0.
    #[serde(default)]
    pub error: f64,
}

impl TaskTime {
    /// The time of a task with so much data \[s\].
    pub fn at(self, mb: f64) -> f64 {
        self.fixed_s + self.per_mb_s * mb
    }
}

/// One stage.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StageSpec {
    /// What it is called.
    #[serde(default)]
    pub name: String,
    /// The stages that must have ended before, by their position in the plan, from 0; each before this one.
    #[serde(default)]
    pub after: Vec<usize>,
    /// Mean time from their end to the launch of its first tasks \[s\], >= 0.
    #[serde(default)]
    pub setup_s: f64,
    /// True if it has as many tasks as a shuffle has partitions.
    #[serde(default)]
    pub uses_partitions: bool,
    /// Tasks with hardly any data, such as that of a split of a few bytes.
    #[serde(default)]
    pub small_tasks: u32,
    /// Data of each of them \[MB\], >= 0.
    #[serde(default)]
    pub small_mb: f64,
    /// By how much longer the second task of a slot takes than the steady ones, >= 0: 1 is twice as long.
    #[serde(default)]
    pub warming: f64,
    /// Processor time of a steady task over its time, 0 to 1.
    #[serde(default)]
    pub busy: f64,
    /// Share of a task's time, without waits for it, in which it holds a GPU, 0 to 1. Default 0.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub gpu: f64,
    /// How times vary around their means.
    #[serde(default)]
    pub distribution: PhaseLaw,
    /// Full tasks; rounded to a whole number, at least 1.
    pub tasks: Amount,
    /// Data of all full tasks together \[MB\].
    #[serde(default)]
    pub data_mb: Amount,
    /// The first task that a slot runs for the stage.
    pub cold: TaskTime,
    /// The later ones, in the end.
    pub warm: TaskTime,
}

/// True for 0, which is not written.
fn is_zero(value: &f64) -> bool {
    *value == 0.0
}

impl JobSize {
    /// Tasks that an executor runs at a time: its cores, or as many as its GPUs have shares for.
    pub fn tasks_of_executor(&self) -> u32 {
        let shares = self.gpus_per_executor.zip(self.gpus_per_task).map(|(gpus, share)| f64::from(gpus) / share + 1e-9);
        shares.map_or(self.cores, |shares| self.cores.min((shares as u32).max(1)))
    }

    /// Tasks of an executor that may hold a GPU at a time; none where tasks use no GPU.
    pub fn gpu_permits(&self) -> Option<u32> {
        Some(self.gpus_per_executor?.saturating_mul(self.concurrent_gpu_tasks?).max(1))
    }
}
