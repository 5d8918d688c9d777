//! The code that all crates share: progress of long work ([`watch`]), division of work among processes ([`share`]), order statistics
//! ([`order`]), graphs
//! ([`graph`]), suggestions for misspelt words ([`spelling`]) and reading of files up to a limit ([`bounded`]).
//!
//! The crate `tailspn` re-exports the first three, as `tailspn::watch`, `tailspn::share` and through `tailspn::estimate`.

#![forbid(unsafe_code)]
#![cfg_attr(not(test), warn(clippy::unwrap_used, clippy::print_stdout, clippy::print_stderr))]
#![cfg_attr(test, allow(clippy::float_cmp, reason = "exact values are compared on purpose"))]

pub mod bounded;
pub mod graph;
pub mod order;
pub mod share;
pub mod spelling;
pub mod watch;
