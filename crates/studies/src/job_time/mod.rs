//! The time of one job: from its plan to an exact distribution, a simulation, or both.
//!
//! ```text
//! Plan ──▶ phase means, net ──┬─▶ formula, parts or states of the net ──▶ ExactJobTime
//!                             └─▶ replications ──▶ SimulatedJob (job time, phases, attempts, critical path)
//!                                      └─▶ splitting, if few are late ──▶ LateSection
//! StagePlan ──▶ tasks ──▶ replications task by task (of the net, on a GPU), speculative copies ──▶ StagesEstimate
//! ```

mod by_task;
mod chains;
mod change_job;
mod change_stages;
mod changes;
mod deadline;
mod explain;
mod explain_stages;
mod fitting;
mod job;
mod late;
mod own_run;
mod prove;
mod question;
mod replicate;
mod residual;
mod simulated;
mod stages;
mod states_time;
mod tasks;

pub use chains::{SlotUse, WAITS};
pub use changes::Change;
pub use deadline::DeadlineSection;
pub use explain::{Assumed, AssumedEffect, Explained, explain_job};
pub use explain_stages::{StagePart, StagesExplained, explain_stages};
pub use fitting::{FitSettings, FittedModel, LogFit, LogFitError};
pub(crate) use job::check_net_bytes;
pub use job::{
    EstimateMethod, EstimateSettings, ExactJobTime, JobEstimate, REPLICATIONS, estimate_job, job_and_net, job_times,
};
pub use late::{FEW_LATE, LateSection, LateSettings, few_late_runs};
pub use own_run::{MissedStage, OwnRun, OwnRunVerdict, ReproducedRun, Said};
pub(crate) use prove::estimate_proved;
pub use prove::{check_stages, estimate_stages, own_run};
pub use question::collected;
pub use residual::{
    CHECK_REPLICATIONS, CheckedFit, MOST_OTHERS, add_residuals, check_fit, other_jobs, residual_of, run_spread,
};
pub use simulated::SimulatedJob;
pub use stages::{StagesEstimate, stages_stop_rule};
pub use states_time::StatesTime;
pub(crate) use tasks::ReadyTasks;
pub(crate) use tasks::runs_of;
pub use tasks::{NoCopies, TaskModel};
