//! The plan of a stage graph, written by `fit` and editable in TOML.
//!
//! Defines the sections. `check` validates a plan; `planned` evaluates it at one size.

use crate::cluster::PolicyPlan;
use crate::cluster::detect::Spark;
use crate::mapreduce::{PhaseLaw, SlowTasks, Stragglers};
use crate::runs::RunSpread;
use serde::Deserialize;
use serde::Serialize;

/// A job of stages.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct StagePlan {
    /// Values missing from the logs, and the assumptions made instead. Estimates do not use this key.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// Size at which the job is estimated.
    pub job: JobSize,
    /// Spread between whole runs.
    #[serde(default)]
    pub run: RunSpread,
    /// The slowdown of executors that share a host. Default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sharing: Option<Sharing>,
    /// Stragglers in addition to those of the logs, which are part of the distributions of the stages: any task of any stage may draw
    /// a slow node. The keys `distribution` and `tasks` are refused. Default none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stragglers: Option<Stragglers>,
    /// Spark's speculative copies. Default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub speculation: Option<SpeculativeCopies>,
    /// The range of the runs that the plan was fitted to. Default: unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub measured_range: Option<MeasuredRange>,
    /// The runs that the plan was fitted to. Before an answer, the plan is checked on them. Default: none, so nothing proves the plan.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub proof: Vec<LoggedRun>,
    /// The stages; a stage can wait only for stages that precede it in the plan.
    pub stage: Vec<StageSpec>,
    /// Straggler policies that `whatif` compares. Default: no speculation, and the settings of `[speculation]`; without
    /// that section, no speculation and the detectors `default`, `hierarchical` and `late`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub policy: Vec<PolicyPlan>,
}

/// The size of input and cluster.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct JobSize {
    /// Name of the job.
    #[serde(default)]
    pub name: String,
    /// Data read by the job \[MB\], > 0.
    pub input_mb: f64,
    /// True if the size of the input is not known: `input_mb` and all amounts per MB then count inputs of the logged run, whose size is 1. Default false.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub input_is_relative: bool,
    /// Number of executors, the processes that run tasks, >= 1.
    pub executors: u32,
    /// Tasks that an executor runs at a time, >= 1.
    pub cores: u32,
    /// Times after the start of the job at which the executors of the logged run joined, in ascending order \[s\], >= 0. Other numbers of executors join
    /// at the same quantiles of these times. Default none: all executors are there from the start.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub arrivals_s: Vec<f64>,
    /// Hosts shared by the executors, >= 1. Default: the number that keeps `sharing.executors_per_host`; without `[sharing]`, one for each executor.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hosts: Option<u32>,
    /// GPUs of an executor, >= 1; needs `concurrent_gpu_tasks`. Default none: tasks use no GPU.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gpus_per_executor: Option<u32>,
    /// Tasks that may hold a GPU at a time, >= 1: `spark.rapids.sql.concurrentGpuTasks`. Default none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub concurrent_gpu_tasks: Option<u32>,
    /// Share of a GPU that a task requests, > 0; the shares of an executor's GPUs limit its number of tasks. Default: no limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gpus_per_task: Option<f64>,
    /// Memory of an executor for execution and storage \[MB\], > 0. Default: unknown, so that no estimate warns of spilling.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub executor_memory_mb: Option<f64>,
    /// Partitions of a shuffle, for the stages with `uses_partitions = true`. Default: the number of tasks in these stages.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub partitions: Option<u32>,
    /// Time from the end of the last stage to the end of the job \[s\], >= 0. Default 0.
    #[serde(default)]
    pub teardown_s: f64,
    /// Deadline of the job \[s\], > 0. Default none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deadline_s: Option<f64>,
}

/// Settings of Spark's speculative copies.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct SpeculativeCopies {
    /// Multiple of the median time beyond which a task is copied, > 0: `spark.speculation.multiplier`. Default 3; 1.5 before Spark 4.
    pub multiplier: f64,
    /// Share of the tasks that must have finished before any is copied, 0 to 1: `spark.speculation.quantile`. Default 0.9; 0.75 before Spark 4.
    pub quantile: f64,
}

impl SpeculativeCopies {
    /// Spark's own settings before version 4.
    pub const BEFORE_SPARK_4: Self = Self { multiplier: 1.5, quantile: 0.75 };

    /// Returns these settings, with the defaults of Spark 4 for those that are not given.
    pub fn of(multiplier: Option<f64>, quantile: Option<f64>) -> Self {
        let default = Self::default();
        Self { multiplier: multiplier.unwrap_or(default.multiplier), quantile: quantile.unwrap_or(default.quantile) }
    }
}

impl Default for SpeculativeCopies {
    fn default() -> Self {
        let Spark { multiplier, quantile, .. } = Spark::default();
        Self { multiplier, quantile }
    }
}

/// The slowdown of executors that share a host. A time at another load is the time of the plan, times the ratio of the
/// loads raised to the exponent given here.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Sharing {
    /// Number of executors per host for which the times of the plan hold, > 0.
    pub executors_per_host: f64,
    /// Number of simultaneous tasks on a host for which the times of the plan hold, > 0.
    pub slots_per_host: f64,
    /// Time from the submission of the first stage until executors take its tasks \[s\], >= 0; 0 if executors are
    /// already running. This time grows with the number of executors per host.
    #[serde(default)]
    pub start_s: f64,
    /// Exponent with which `start_s` grows with the number of executors per host.
    #[serde(default)]
    pub start: Power,
    /// Exponent with which the warm-up time of tasks grows with the number of simultaneous tasks on a host. The warm-up
    /// time is the extra time of the first task of a slot, and of the following tasks until task times are steady.
    #[serde(default)]
    pub warm_up: Power,
    /// Exponent with which the CPU time of steady tasks (`stage.busy`) grows with the number of simultaneous tasks on a
    /// host.
    #[serde(default)]
    pub steady: Power,
}

/// An exponent with its uncertainty.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Power {
    /// The exponent, -2 to 4.
    pub power: f64,
    /// Standard error, >= 0.
    #[serde(default)]
    pub error: f64,
}

/// The sizes of the runs that a plan was fitted to. Beyond four times the observed range, intervals widen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct MeasuredRange {
    /// Minimum input \[MB\].
    pub min_input_mb: f64,
    /// Maximum input \[MB\].
    pub max_input_mb: f64,
    /// Minimum number of slots.
    pub min_slots: u32,
    /// Maximum number of slots.
    pub max_slots: u32,
}

/// A run that a plan was fitted to.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct LoggedRun {
    /// The log.
    #[serde(default)]
    pub log: String,
    /// Time of the run, from the first submission to the last completion \[s\], > 0.
    pub job_s: f64,
    /// Data that it read \[MB\], > 0.
    pub input_mb: f64,
    /// Executors, >= 1.
    pub executors: u32,
    /// Tasks that an executor ran at a time, >= 1.
    pub cores: u32,
    /// Hosts that the executors shared, >= 1.
    pub hosts: u32,
    /// Times after the start at which the executors joined, in ascending order \[s\]. Default: all were there from the start.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub arrivals_s: Vec<f64>,
    /// Partitions of a shuffle. Default: the number of tasks in the stages that have as many.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub partitions: Option<u32>,
    /// GPUs of an executor. Default none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gpus_per_executor: Option<u32>,
    /// Tasks that could hold a GPU at a time. Default none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub concurrent_gpu_tasks: Option<u32>,
    /// Settings of speculative copies. Default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub speculation: Option<SpeculativeCopies>,
    /// Time of each stage, from the launch of its first task to the end of its last \[s\].
    #[serde(default)]
    pub stages_s: Vec<f64>,
    /// Time of the longest task of each stage \[s\].
    #[serde(default)]
    pub longest_s: Vec<f64>,
}

/// An amount that grows with the input: `fixed + per_mb · input`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Amount {
    /// The constant part.
    #[serde(default)]
    pub fixed: f64,
    /// Increase per MB of the job's input, >= 0.
    #[serde(default)]
    pub per_mb: f64,
}

impl Amount {
    /// Returns the amount at an input of `input_mb` MB.
    pub fn at(self, input_mb: f64) -> f64 {
        self.fixed + self.per_mb * input_mb
    }
}

/// The time of a task as a function of its data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct TaskTime {
    /// The constant part \[s\], >= 0.
    #[serde(default)]
    pub fixed_s: f64,
    /// Increase per MB of the task's data \[s\], >= 0.
    #[serde(default)]
    pub per_mb_s: f64,
    /// Relative standard error of the time, >= 0. Default 0.
    #[serde(default)]
    pub error: f64,
}

impl TaskTime {
    /// Returns the time of a task with `mb` MB of data \[s\].
    pub fn at(self, mb: f64) -> f64 {
        self.fixed_s + self.per_mb_s * mb
    }
}

/// One stage.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct StageSpec {
    /// Name of the stage.
    #[serde(default)]
    pub name: String,
    /// Operators of its query in the logs; they tell stages of one name apart. Default: not known.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub operators: Vec<String>,
    /// Positions in the plan, from 0, of the stages that must end before this stage starts; each must precede this
    /// stage.
    #[serde(default)]
    pub after: Vec<usize>,
    /// Mean time from the end of the stages in `after` to the launch of this stage's first tasks \[s\], >= 0.
    #[serde(default)]
    pub setup_s: f64,
    /// True if the stage has as many tasks as a shuffle has partitions.
    #[serde(default)]
    pub uses_partitions: bool,
    /// Number of tasks with hardly any data, such as a task for a split of a few bytes.
    #[serde(default)]
    pub small_tasks: u32,
    /// Data of each small task \[MB\], >= 0.
    #[serde(default)]
    pub small_mb: f64,
    /// Relative extra time of the second task of a slot, compared with steady tasks, >= 0; 1 means twice as long.
    #[serde(default)]
    pub warming: f64,
    /// Share of CPU time in the time of a steady task, 0 to 1.
    #[serde(default)]
    pub busy: f64,
    /// Share of a task's time in which the task holds a GPU, excluding waits for the GPU, 0 to 1. Default 0.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub gpu: f64,
    /// Memory that a task needs for joins, sorts and aggregations, in MB per MB of its data, >= 0. Default 0: unknown.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub memory_per_mb: f64,
    /// Distribution of times around their means.
    #[serde(default)]
    pub distribution: PhaseLaw,
    /// Recurring slow tasks. The times of all other tasks are those of `cold`, `warm` and `distribution`. Default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slow: Option<SlowTasks>,
    /// Number of full tasks, which are all tasks except `small_tasks`; rounded to an integer, at least 1.
    pub tasks: Amount,
    /// Total data of all tasks except the small tasks \[MB\].
    #[serde(default)]
    pub data_mb: Amount,
    /// Mean time of the first task that a slot runs for the stage, unless the task is slow.
    pub cold: TaskTime,
    /// Mean time of a steady task, after the warm-up of its slot, unless the task is slow.
    pub warm: TaskTime,
}

/// Returns true for 0, which plans omit.
fn is_zero(value: &f64) -> bool {
    *value == 0.0
}

impl JobSize {
    /// Returns the number of tasks that an executor runs at a time: its cores, or the limit given by the shares of its GPUs.
    pub fn tasks_of_executor(&self) -> u32 {
        let shares = self.gpus_per_executor.zip(self.gpus_per_task).map(|(gpus, share)| f64::from(gpus) / share + 1e-9);
        shares.map_or(self.cores, |shares| self.cores.min((shares as u32).max(1)))
    }

    /// Returns the number of tasks of an executor that may hold a GPU at a time; none if tasks use no GPU.
    pub fn gpu_permits(&self) -> Option<u32> {
        Some(self.gpus_per_executor?.saturating_mul(self.concurrent_gpu_tasks?).max(1))
    }
}
