//! Tests of the whole: nets in, numbers out.

#[cfg(feature = "cli")]
mod cli;
#[cfg(feature = "cli")]
mod cli_errors;
