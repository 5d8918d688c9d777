//! Orders and rates that papers report, held on generated jobs and on labelled runs.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod long_tail;
mod phan2018;
mod root_causes;
#[path = "../../../tests/it/shared.rs"]
mod shared;
mod spn_gc;
mod syscalls;
