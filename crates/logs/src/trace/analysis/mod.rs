//! What a trace says of the jobs in it: times of tasks, stragglers, copies, waves, and what bounds the time.
//!
//! | question | file |
//! |---|---|
//! | how long tasks of a stage take | `times` |
//! | which attempts are stragglers, by which rule | `stragglers` |
//! | which attempts were copies, and what came of them | `copies` |
//! | how many tasks could run at once | `slots` |
//! | what an application could not be faster than | `bounds` |
//!
//! Everything here follows from the trace alone; nothing is simulated or estimated.

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
