//! Structural analysis: conclusions from a net's structure, without exploring a single state.
//!
//! ```text
//! Program ──▶ Incidence ─┬▶ semiflows, bases ─┬▶ bounds of tokens
//!                        ├▶ covers (LP) ──────┘  bounds of throughputs
//!                        └▶ Flow ─▶ class, siphons, traps ─▶ deadlock
//! ```
//!
//! | question | file |
//! |---|---|
//! | the matrices, with capacities as complementary places | [`Incidence`] |
//! | weighted sums that never change, firings that change nothing | [`place_semiflows`], [`transition_semiflows`], [`place_basis`] |
//! | conservative, consistent, bounded, repetitive | [`place_cover`], [`transition_cover`] |
//! | maximum number of tokens in a place | [`place_bounds`] |
//! | highest throughput of a transition | [`throughput_bounds`] |
//! | the class, connectedness | [`breaks`], [`connection`] |
//! | sets that stay empty once empty, or marked once marked | [`minimal_siphons`], [`minimal_traps`] |
//! | deadlocks and liveness | [`deadlock()`] |
//! | all of these | [`analyse`] |
//!
//! Guarantees: integers are exact, or the analysis reports that they do not fit. Every analysis has limits, and keeps its
//! results when it reaches one. Results do not depend on hashing or time, unless a time limit ends the analysis. docs/structure.md
//! explains each verdict and the conditions under which it holds.

mod analysis;
mod basis;
mod bounds;
mod class;
mod covers;
mod deadlock;
mod flow;
mod incidence;
mod limits;
mod lp;
mod rows;
mod semiflows;
mod siphons;
mod throughput;

pub use analysis::{Covers, Structure, Wanted, analyse};
pub use basis::{Basis, place_basis, transition_basis};
pub use bounds::{BoundSource, Bounds, RowBound, place_bounds, weighted_sum};
pub use class::{Connection, NetClass, Witness, breaks, clusters, connection, heavy_arc, self_loop};
pub use covers::{Cover, Relation, place_cover, transition_cover};
pub use deadlock::{Deadlock, Known, Method, Obstacle, deadlock, obstacles};
pub use flow::Flow;
pub use incidence::{Incidence, OpenEntry, OpenKind};
pub use limits::{Budget, Cut, Limits};
pub use semiflows::{Flows, place_semiflows, transition_semiflows};
pub use siphons::{Sets, largest_siphon, largest_trap, minimal_siphons, minimal_traps};
pub use throughput::{ThroughputBound, Throughputs, throughput_bounds};

#[cfg(test)]
mod tests;
