//! Reasons why a plan of a job has no net.

use crate::mapreduce::augmented::AugmentError;
use crate::mapreduce::phase::Phase;
use crate::net::BuildError;
use crate::plan::PlanProblem;

/// Reason why a plan has no net. Nothing was built.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum JobNetError {
    /// The plan has invalid values. Correct them.
    #[error("the plan has {} invalid values, first: {}", .0.len(), .0[0])]
    Plan(
        /// All problems, at least one.
        Vec<PlanProblem>,
    ),
    /// There is no map task.
    #[error("a job without map tasks has no net")]
    NoTask,
    /// A mean time is negative, infinite or not a number. Take the times from `phase_times`.
    #[error("phase `{phase}` lasts {mean_s} s on average; it must be finite and not negative")]
    BadTime {
        /// The phase.
        phase: Phase,
        /// Mean \[s\].
        mean_s: f64,
    },
    /// Tasks wait for slots, and a task was placed on no kind of worker, or on a kind without slots. Take the placement
    /// from `phase_times` of the same plan.
    #[error("a task is assigned to a kind of worker without a slot for it")]
    NoSlot,
    /// Tasks wait for GPUs, and the plan has stragglers or copies. Remove one of the two.
    #[error("stragglers and copies are not modelled for tasks that wait for GPUs; remove `gpus`")]
    GpusOfAttempts,
    /// Tasks share what their worker has. Simulate the job task by task, or remove the keys.
    #[error("the tasks of a net cannot slow each other down; remove `host_cores`, `disk` and `network`")]
    SharedWorkers,
    /// The plan's stragglers or copies do not fit the net.
    #[error(transparent)]
    Augment(#[from] AugmentError),
    /// A mean time and the shape of its distribution give a number that is too large or too small.
    #[error("the net has {} invalid parts, first: {}", .0.len(), .0[0])]
    Parts(
        /// All errors, at least one.
        BuildError,
    ),
}
