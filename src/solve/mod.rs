//! Exact answers from all markings of a net: its state space, verdicts with witnesses, and its Markov chain.
//!
//! ```text
//! Program ──explore──▶ StateSpace ──▶ verdicts, exports
//!                          └──▶ Chain
//! ```
//!
//! [`explore`] finds every tangible marking, eliminates the vanishing ones and gives the [`Chain`]. What enabling and firing mean
//! is in [`semantics`](crate::semantics), as for the simulators.

mod chain;
mod components;
mod explore_error;
mod growth;
mod reach;
mod space;
mod store;
mod vanish;
mod verdict;
mod witness;

pub use chain::Chain;
pub use explore_error::{ExploreError, Incomplete, Unbounded};
pub use reach::{Limits, explore};
pub use space::{FiringFlow, Peak, StateSpace};
pub use verdict::{Liveness, RecurrentClass, Verdicts};
pub use witness::{ReplayError, replay};
