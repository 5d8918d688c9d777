//! Exact answers about generalized stochastic Petri nets: all markings, Markov chains, passage times, and proofs from the
//! structure of a net without exploring markings. The crate `tailspn` re-exports all of this.

#![forbid(unsafe_code)]
#![cfg_attr(not(test), warn(clippy::unwrap_used, clippy::print_stdout, clippy::print_stderr))]
#![cfg_attr(test, allow(clippy::float_cmp, reason = "exact values are compared on purpose"))]

pub mod answer;
pub mod solve;
pub mod structure;

pub(crate) use tailspn_common::watch;
pub(crate) use tailspn_engine::{Problems, compile, estimate, fold, net, query, semantics, sim};
