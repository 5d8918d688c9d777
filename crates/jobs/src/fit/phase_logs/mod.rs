//! The plan of a MapReduce job from phase logs: measured phase times, by size, free of what other tasks on the machine took away.
//!
//! ```text
//! JobTrace ──▶ observe_phases ──▶ PhaseRun (the work of each phase of each task) ──▶ fit_phases ──▶ FittedJobs
//! ```
//!
//! | question | file |
//! |---|---|
//! | the time that a phase would have taken alone: processor sharing, inverted | `shared` |
//! | one job, task by task | `observed` |
//! | times by size | `growth` |
//! | from jobs to a plan | `plan` |

mod growth;
mod observed;
mod plan;
mod shared;

pub use observed::{LogHost, PhaseRun, is_phase_log, observe_phases};
pub use plan::fit_phases;
