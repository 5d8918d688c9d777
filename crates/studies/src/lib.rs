//! Many questions about one job or net: sweeps over settings, sensitivities, and the search for the cheapest configuration.
//!
//! The crate `tailspn` re-exports all of this.

#![forbid(unsafe_code)]
#![cfg_attr(not(test), warn(clippy::unwrap_used, clippy::print_stdout, clippy::print_stderr))]
#![cfg_attr(test, allow(clippy::float_cmp, reason = "exact values are compared on purpose"))]

pub mod ask;
pub mod compare;
pub mod draws;
mod ends;
mod error;
pub mod job_time;
pub mod optimize;
mod points;
pub mod remaining;
pub mod sensitivity;
pub mod subject;
pub mod sweep;
pub mod whatif;

pub use error::{KeyProblem, StudyError};

pub(crate) use tailspn_common::{share, watch};
pub(crate) use tailspn_engine::{
    Problems, compile, estimate, fold, formats, net, query, rng, semantics, sim, whole_file,
};
pub(crate) use tailspn_exact::{answer, solve};
pub(crate) use tailspn_jobs::{cluster, diagnose, fit, job, mapreduce, plan, run, runs, stages, units};
pub(crate) use tailspn_logs::trace;
