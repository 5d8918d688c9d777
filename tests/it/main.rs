//! Tests of the whole: nets and questions in, numbers out.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod agreement;
#[cfg(feature = "cli")]
mod cli;
#[cfg(feature = "cli")]
mod cli_diagnose;
#[cfg(feature = "cli")]
mod cli_errors;
#[cfg(feature = "cli")]
mod cli_exact;
#[cfg(feature = "cli")]
mod cli_fit;
#[cfg(feature = "cli")]
mod cli_solve;
#[cfg(feature = "cli")]
mod cli_sweep;
#[cfg(feature = "cli")]
mod cli_trace;
mod degenerate;
mod fit;
#[cfg(all(feature = "cli", feature = "gpu"))]
mod gpu;
mod laws;
mod measure;
mod models;
mod phan2018;
mod pipe_semantics;
mod random_net;
mod root_causes;
mod samples;
mod slots;
mod solve;
mod straggler_nets;
mod structure;
mod trace;
mod trace_small;
mod two_ways;
#[cfg(feature = "cli")]
mod whatif;
