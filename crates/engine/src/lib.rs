//! Generalized stochastic Petri nets (GSPN): the net, its file formats, its compiled form and its simulation.
//!
//! ```text
//! PIPE XML, PNML ──▶ formats ──▶ Net ──▶ compile ──▶ Program ──▶ sim ──▶ Samples ──▶ estimate
//! ```
//!
//! Data flows in one direction: modules on the left do not depend on modules on the right. The crate
//! `tailspn` re-exports all of this.

#![forbid(unsafe_code)]
#![cfg_attr(not(test), warn(clippy::unwrap_used, clippy::print_stdout, clippy::print_stderr))]
#![cfg_attr(test, allow(clippy::float_cmp, reason = "exact values are compared on purpose"))]

pub mod compile;
pub mod estimate;
pub mod fold;
#[cfg(feature = "xml")]
pub mod formats;
pub mod net;
mod problems;
pub mod query;
pub mod rng;
pub mod semantics;
pub mod sim;
pub mod simd;
#[cfg(feature = "xml")]
pub mod whole_file;

pub use problems::Problems;
pub use tailspn_common::{share, watch};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
