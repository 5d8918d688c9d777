//! Analyses of a trace: times of tasks, stragglers, copies, waves, and bounds of the time.
//!
//! | question | file |
//! |---|---|
//! | times of a stage's tasks | `times` |
//! | stragglers, by two rules | `stragglers` |
//! | copies and their fates | `copies` |
//! | number of tasks that could run simultaneously | `slots` |
//! | lower bounds of an application's time | `bounds` |
//!
//! All results follow from the trace only, without simulation or estimation.

mod bounds;
mod copies;
mod slots;
mod stragglers;
mod times;

pub use bounds::{Bound, Bounds, bounds_of};
pub use copies::{Copies, CopyFate, copies};
pub use slots::{Slots, most_at_once, most_attempts_at_once, slots_of};
pub use stragglers::{MEDIAN_FACTOR, Observed, StageStragglers, USUAL_FACTOR, Usual, observed, stragglers};
pub use times::{Times, times_of};
