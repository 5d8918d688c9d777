//! A fitted stage graph, its stages and its runs.

use serde::{Deserialize, Serialize};

use crate::estimate::student_quantile;
use crate::fit::law::LawScore;
use crate::stages::{StagePlan, StageSpec};

/// A fitted stage.
#[derive(Clone, Debug)]
pub struct FittedStage {
    /// The stage of the plan.
    pub spec: StageSpec,
    /// Tasks of all runs.
    pub tasks: usize,
    /// Mean data of a full task in the logs \[MB\], at which the errors apply.
    pub task_mb: f64,
    /// Number of outlier tasks, which were delayed by another cause and are excluded.
    pub held_up: usize,
    /// The compared distributions, the best first; none if there were too few tasks.
    pub laws: Vec<LawScore>,
}

/// A run, compared with the model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FittedRun {
    /// The log.
    pub log: String,
    /// The job's input \[MB\]; none if the log does not record it.
    pub input_mb: Option<f64>,
    /// Number of slots: executors times cores.
    pub slots: u32,
    /// Executors.
    pub executors: u32,
    /// Time for which executors were there, summed over the executors \[s\].
    pub executor_s: f64,
    /// The number of executors from each time \[s\] after the first submission on; empty if it did not change.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub executors_over_time: Vec<[f64; 2]>,
    /// Hosts shared by the executors.
    pub hosts: u32,
    /// The sources of the input \[MB\].
    pub sources_mb: Vec<f64>,
    /// Tasks.
    pub tasks: usize,
    /// Time from the first submission to the last completion \[s\]; none if the run failed or has not ended.
    pub job_s: Option<f64>,
    /// The factor between the run's times and the times of a typical run.
    pub factor: f64,
    /// Weight of the run in the centre of the factors, 0 to 1; below 1 for a disturbed run.
    pub weight: f64,
    /// Median job time of the model at the size of the run \[s\]; none before it is computed, or without `job_s`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model_s: Option<f64>,
}

/// A fitted model and its training runs.
#[derive(Clone, Debug)]
pub struct FittedStages {
    /// The model, at the size of the last log.
    pub plan: StagePlan,
    /// Each stage.
    pub stages: Vec<FittedStage>,
    /// Each run.
    pub runs: Vec<FittedRun>,
}

impl FittedStages {
    /// Returns the error factors of the mean time of a fitted line at this level: (low, high).
    pub fn factor_interval(&self, error: f64, level: f64) -> (f64, f64) {
        let reach = (student_quantile(0.5 + 0.5 * level, self.plan.run.degrees_of_freedom) * error).exp();
        (1.0 / reach, reach)
    }
}
