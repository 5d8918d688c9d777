//! Many questions about one job or net: sweeps over settings, sensitivities, and the search for the cheapest configuration.
//!
//! The crate `tailspn` re-exports all of this.

#![forbid(unsafe_code)]
#![cfg_attr(not(test), warn(clippy::unwrap_used, clippy::print_stdout, clippy::print_stderr))]
#![cfg_attr(test, allow(clippy::float_cmp, reason = "exact values are compared on purpose"))]

pub mod optimize;
pub mod sensitivity;
pub mod sweep;

pub(crate) use tailspn_engine::{compile, estimate, net, rng, sim, whole_file};
pub(crate) use tailspn_jobs::plan_text;
pub(crate) use tailspn_watch as watch;
