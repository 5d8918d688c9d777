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
    /// Mean data of a full task in the logs \[MB\], where the errors hold.
    pub task_mb: f64,
    /// Tasks that something else held up; they are left out.
    pub held_up: usize,
    /// The laws that were compared, the best first; none where there were too few tasks.
    pub laws: Vec<LawScore>,
}

/// A run, compared with the model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FittedRun {
    /// The log.
    pub log: String,
    /// The job's input \[MB\].
    pub input_mb: f64,
    /// Executors times cores.
    pub slots: u32,
    /// Executors.
    #[serde(default)]
    pub executors: u32,
    /// Machines that they shared.
    #[serde(default)]
    pub hosts: u32,
    /// The sources of the input \[MB\].
    #[serde(default)]
    pub sources_mb: Vec<f64>,
    /// Tasks.
    pub tasks: usize,
    /// First submission to last completion \[s\].
    pub job_s: f64,
    /// By what factor its times differ from a usual run's.
    pub factor: f64,
    /// Weight in the centre of the factors, 0 to 1.
    pub weight: f64,
    /// The model's time for the size of the run, times the run's factor \[s\]; none before it was computed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model_s: Option<f64>,
}

/// A fitted model with what it was fitted to.
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
    /// By what factor the mean time of a fitted line may be off at this level: (low, high).
    pub fn factor_interval(&self, error: f64, level: f64) -> (f64, f64) {
        let reach = (student_quantile(0.5 + 0.5 * level, self.plan.run.degrees_of_freedom) * error).exp();
        (1.0 / reach, reach)
    }
}
