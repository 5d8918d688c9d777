//! The little that readers of logs and simulators share: progress of long work ([`watch`]) and order statistics ([`order`]).
//!
//! The crate `tailspn` re-exports both, as `tailspn::watch` and through `tailspn::estimate`.

#![forbid(unsafe_code)]
#![cfg_attr(not(test), warn(clippy::unwrap_used, clippy::print_stdout, clippy::print_stderr))]
#![cfg_attr(test, allow(clippy::float_cmp, reason = "exact values are compared on purpose"))]

pub mod order;
pub mod watch;
