//! Data-parallel jobs: plans, the nets and formulas that predict their times, fits to logs, straggler simulation and diagnosis.
//!
//! The crate `tailspn` re-exports all of this.

#![forbid(unsafe_code)]
#![cfg_attr(not(test), warn(clippy::unwrap_used, clippy::print_stdout, clippy::print_stderr))]
#![cfg_attr(test, allow(clippy::float_cmp, reason = "exact values are compared on purpose"))]

pub mod cluster;
pub mod diagnose;
pub mod fit;
pub mod job;
pub mod mapreduce;
pub mod plan;
pub mod run;
pub mod runs;
pub mod stages;
mod time;
pub mod units;

pub(crate) use tailspn_common::{share, watch};
pub(crate) use tailspn_engine::{estimate, net, rng};
pub(crate) use tailspn_logs::trace;
