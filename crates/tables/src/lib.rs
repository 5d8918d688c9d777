//! Tables of runs of a job: one row for each run, with its time, the number of machines, the size of the input and other columns.
//!
//! ```text
//! text ──▶ table ──▶ roles ──▶ runs ──▶ predict ──▶ left_out
//!                                          ▲
//!                         curve, sizes ────┘
//! ```
//!
//! | question | file |
//! |---|---|
//! | the columns of a text | `table` |
//! | the meaning of each column | `roles` |
//! | runs by setting: kind, size, number of machines | `runs` |
//! | time over the number of machines | `curve` |
//! | time over the size of the input | `sizes` |
//! | the time at a setting from other settings | `known` |
//! | the time of the next run at a setting, with its interval | `predict` |
//! | the error of the prediction of each setting from the others | `left_out` |
//! | tables of the tasks of runs | [`tasks`] |
//!
//! All times are medians of runs. Everything is approximate: docs/tables.md has the equations, and how far they were from runs that they had not seen.

#![forbid(unsafe_code)]
#![cfg_attr(not(test), warn(clippy::unwrap_used, clippy::print_stdout, clippy::print_stderr))]
#![cfg_attr(test, allow(clippy::float_cmp, reason = "exact values are compared on purpose"))]

mod curve;
mod known;
mod left_out;
mod predict;
mod roles;
mod runs;
mod sizes;
mod table;
pub mod tasks;

pub use curve::{Basis, Curve, ernest};
pub use left_out::{LeftOut, LeftOutRuns};
pub use predict::{NoPrediction, Prediction, RunModel, Target};
pub use roles::{Chosen, Roles, RolesError, is_table};
pub use runs::{Group, RunTable};
pub use table::{Table, TableError, names_of};
