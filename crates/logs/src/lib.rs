//! Logs of data-parallel jobs that ran, in any of a dozen formats, as one [`trace::JobTrace`].
//!
//! This crate reads and summarises; it contains no model and needs no other part of tailspn. The crate `tailspn` re-exports it.

#![forbid(unsafe_code)]
#![cfg_attr(not(test), warn(clippy::unwrap_used, clippy::print_stdout, clippy::print_stderr))]
#![cfg_attr(test, allow(clippy::float_cmp, reason = "exact values are compared on purpose"))]

pub mod trace;

pub(crate) use tailspn_common::watch;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
