//! The jobs that prove a plan of a MapReduce job: their sizes and times, so that the plan can be checked without their logs.

use serde::{Deserialize, Serialize};

/// A job that a plan was fitted to.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct LoggedJob {
    /// The log, and the id of the job.
    #[serde(default)]
    pub log: String,
    /// Time from the first launch of a task to the last end of a task \[s\], > 0.
    pub job_s: f64,
    /// Data that it read \[MB\], > 0.
    pub input_mb: f64,
    /// Input of one map task \[MB\], > 0.
    pub split_mb: f64,
    /// Reduce tasks.
    pub reduces: u64,
    /// Workers. Default: as in `[[cluster.node]]`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workers: Option<u64>,
    /// Map tasks that each worker ran at a time. Default: as in `[[cluster.node]]`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub map_slots: Option<u64>,
    /// Reduce tasks that each worker ran at a time. Default: as in `[[cluster.node]]`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reduce_slots: Option<u64>,
    /// Map tasks that could hold the GPUs of a worker at a time, 0 for every task. Default: as in `[[cluster.node]]`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gpu_permits: Option<u64>,
}
