//! Judges straggler detectors on recorded jobs, by the recorded progress of their tasks.
//!
//! ```text
//! JobTrace, History ──▶ Followed attempts of each stage ──▶ a detector looks ──▶ flags ──▶ Tally, Judged
//! ```
//!
//! The detectors come from the cluster simulator, the measures from \[Phan2018\]. Here the detectors watch a recorded run: flags have no effect,
//! and a flagged task continues as it did.
//!
//! | question | file |
//! |---|---|
//! | times and reports of attempts | `followed` |
//! | times at which a detector checks, and its flags | `looks` |
//! | stragglers, and the quality of the flags | `judge` |

mod followed;
mod judge;
mod looks;

pub use judge::{DetectionError, Judged, JudgedDetector, JudgedStage, JudgedTask, RecordedRun, judge};
