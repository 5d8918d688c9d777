//! The little that readers of logs and simulators share: progress of long work ([`watch`]), parts of it in several processes ([`share`]),
//! and order statistics ([`order`]).
//!
//! The crate `tailspn` re-exports all of it, as `tailspn::watch`, `tailspn::share` and through `tailspn::estimate`.

#![forbid(unsafe_code)]
#![cfg_attr(not(test), warn(clippy::unwrap_used, clippy::print_stdout, clippy::print_stderr))]
#![cfg_attr(test, allow(clippy::float_cmp, reason = "exact values are compared on purpose"))]

pub mod order;
pub mod share;
pub mod watch;
