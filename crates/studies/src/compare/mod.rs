//! Comparison of two runs, results or plans: the differences, their size, and their statistical significance.
//!
//! ```text
//! JobTrace ──▶ ComparedRun ──┐
//! JobTrace ──▶ ComparedRun ──┴─▶ compare_logs ────┐
//! mean times of results ───────▶ compare_times ───┼──▶ ComparisonReport
//! texts of plans ──────────────▶ compare_plans ───┘
//! ```
//!
//! | question | file |
//! |---|---|
//! | the result | [`result`] |
//! | ratio of two times, with its test | `chance` |
//! | elapsed time of a run, shared among its stages | `pieces` |
//! | one run according to its log | `run` |
//! | which stages of two runs are the same | `matching` |
//! | differing settings and plan keys | `settings` |
//! | logs, results and plans | `logs`, `values`, `plans` |
//!
//! Guarantee: the contributions of stages and of times without a running stage add up to the difference of the job times.

mod chance;
mod logs;
mod matching;
mod pieces;
mod plans;
pub mod result;
mod run;
mod settings;
mod values;

pub use chance::time_difference;
pub use logs::compare_logs;
pub use plans::{NamedPlan, compare_plans};
pub use result::{
    ChanceTest, Compared, ComparedSide, ComparisonReport, Gap, GapDifference, SettingDifference, StageDifference,
    StageSide, TimeDifference, Verdict,
};
pub use run::{CompareRunError, ComparedRun, ComparedStage};
pub use values::{ComparedTime, compare_times};
