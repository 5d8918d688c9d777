//! The code that all crates share:
//!
//! * [`explain`]: what an error means, and what to do;
//! * [`watch`]: progress of long work;
//! * [`share`]: division of work among processes;
//! * [`order`]: order statistics;
//! * [`number`]: numbers as text;
//! * [`spelling`]: suggestions for misspelt words;
//! * [`threads`]: number of threads;
//! * [`row`]: results as rows, whose fields are columns;
//! * [`least_squares`]: fits with few unknowns;
//! * [`bounded`]: reading of files up to a limit;
//! * [`visible`]: text of files without characters that steer a terminal.
//!
//! The crate `tailspn` re-exports the first four, as `tailspn::explain`, `tailspn::watch`, `tailspn::share` and through
//! `tailspn::estimate`.

#![forbid(unsafe_code)]
#![cfg_attr(not(test), warn(clippy::unwrap_used, clippy::print_stdout, clippy::print_stderr))]
#![cfg_attr(test, allow(clippy::float_cmp, reason = "exact values are compared on purpose"))]

pub mod bounded;
pub mod explain;
pub mod least_squares;
pub mod number;
pub mod order;
pub mod row;
pub mod share;
pub mod spelling;
pub mod threads;
pub mod visible;
pub mod watch;
