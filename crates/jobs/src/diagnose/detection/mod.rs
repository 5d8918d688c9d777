//! Straggler detectors judged on jobs that ran, with the recorded progress of their tasks.
//!
//! ```text
//! JobTrace, History ──▶ Followed attempts of each stage ──▶ a detector looks ──▶ flags ──▶ Tally, Judged
//! ```
//!
//! The detectors are those of the cluster simulator, the measures those of \[Phan2018\]: here they look at a run that nobody acts upon, so that
//! a task that is flagged goes on as it did.
//!
//! | question | file |
//! |---|---|
//! | when attempts ran, and what was reported of them when | `followed` |
//! | when a detector looks, and what it flags | `looks` |
//! | which tasks were stragglers, and what flags were worth | `judge` |

mod followed;
mod judge;
mod looks;

pub use judge::{DetectionError, Judged, JudgedDetector, JudgedStage, JudgedTask, RecordedRun, judge};
