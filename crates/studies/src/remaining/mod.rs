//! The remaining time of a run that has not ended, from its log so far.
//!
//! ```text
//! JobTrace ──▶ RunProgress ─┬─▶ RestOfRun (tasks that run or wait) ──┐
//! StagePlan of other runs ──┘          │                             ├──▶ replications of the rest ──▶ Remaining
//!                                      └──▶ pace of this run ────────┘
//! ```
//!
//! | question | file |
//! |---|---|
//! | the factor between this run and the plan, from the run's tasks so far | `pace` |
//! | replications of the rest of the run, from its present state | `time` |

mod pace;
mod time;

pub use pace::RunPace;
pub use time::{Basis, Remaining, RemainingSettings, StageRemaining, remaining};
