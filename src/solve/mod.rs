//! Exact answers from all markings of a net: its state space, verdicts with witnesses, and its Markov chain.
//!
//! ```text
//! Program ──explore──▶ StateSpace ──▶ verdicts, exports
//!                          └──▶ Chain
//! ```
//!
//! [`explore`] finds every tangible marking, eliminates the vanishing ones and gives the [`Chain`]. What enabling and firing mean
//! is in [`semantics`](crate::semantics), as for the simulators.

mod averages;
#[cfg(test)]
mod cases;
mod chain;
mod components;
mod coverability;
mod explore_error;
mod export;
mod growth;
mod reach;
mod space;
mod store;
mod vanish;
mod verdict;
mod witness;

pub use averages::Averages;
pub use chain::Chain;
pub use coverability::{Cover, Coverability, CoverabilityError, Ignored, OMEGA, Pump, coverability};
pub use explore_error::{ExploreError, Incomplete, Unbounded};
pub use export::{
    DrawError, Drawing, reachability_dot, write_matrix_market, write_prism_labels, write_prism_states,
    write_prism_transitions,
};
pub use reach::{Limits, explore};
pub use space::{FiringFlow, Peak, StateSpace};
pub use verdict::{Liveness, ClosedClass, Verdicts};
pub use witness::{ReplayError, replay};
