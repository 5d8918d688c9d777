//! Experiments that replicate published results: generated jobs whose true causes are known, the methods with which the
//! papers compare, and the papers' numbers.
//!
//! Each module belongs to one page in docs/replications. The product does not use this crate.

#![forbid(unsafe_code)]
#![cfg_attr(not(test), warn(clippy::unwrap_used, clippy::print_stdout, clippy::print_stderr))]
#![cfg_attr(test, allow(clippy::float_cmp, reason = "exact values are compared on purpose"))]

pub mod bigroots;
pub mod long_tail;
pub mod straggler_metrics;
pub mod system_calls;
pub mod trade_off;
