//! Results as text, JSON, CSV, pages and pictures. The crate `tailspn` re-exports all of this.

#![forbid(unsafe_code)]
#![cfg_attr(not(test), warn(clippy::unwrap_used, clippy::print_stdout, clippy::print_stderr))]
#![cfg_attr(test, allow(clippy::float_cmp, reason = "exact values are compared on purpose"))]

pub mod document;
pub mod render;
pub mod report;

pub(crate) use tailspn_engine::{compile, estimate, fold, formats, net, sim, watch};
pub(crate) use tailspn_exact::{answer, solve, structure};
pub(crate) use tailspn_jobs::{cluster, diagnose, fit, mapreduce, plan, runs, stages, units};
pub(crate) use tailspn_logs::trace;
pub(crate) use tailspn_studies::{StudyError, ask, compare, job_time, optimize, remaining, sensitivity, sweep, whatif};
