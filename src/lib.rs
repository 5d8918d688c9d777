//! tailspn: generalized stochastic Petri nets that answer how long a data-parallel job takes.

#![forbid(unsafe_code)]
#![cfg_attr(not(test), warn(clippy::unwrap_used, clippy::print_stdout, clippy::print_stderr))]

pub mod compile;
pub mod estimate;
pub mod formats;
pub mod mapreduce;
pub mod net;
pub mod report;
pub mod rng;
pub mod semantics;
pub mod sim;
pub mod units;
