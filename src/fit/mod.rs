//! Models from logs: the stage graph of a Spark job, fitted to one or more logs of it.
//!
//! ```text
//! JobTrace ──▶ ObservedRun (stages, tasks in the order of their slots) ─┐
//! JobTrace ──▶ ObservedRun                                              ├──▶ fit ──▶ FittedStages ──▶ StagePlan
//! JobTrace ──▶ ObservedRun                                             ─┘
//! ```
//!
//! | question | file |
//! |---|---|
//! | what a log says of one run of the job | [`observe()`] |
//! | a line through positive times, unmoved by a few wild ones | `line` |
//! | cold tasks, warm tasks and the way between | `task_time` |
//! | numbers of tasks and amounts of data at other inputs | `scaling` |
//! | which law the times follow around their means | `law` |
//! | runs against each other, and all together | [`stages`] |
//!
//! Everything is deterministic; nothing is simulated. What a log cannot tell is assumed and said in the plan's notes.

mod law;
mod line;
pub mod observe;
mod scaling;
pub mod stages;
mod task_time;

pub use law::LawScore;
pub use observe::{FitError, ObservedRun, ObservedStage, ObservedTask, observe};
pub use stages::{FittedRun, FittedStage, FittedStages, fit_stages};
