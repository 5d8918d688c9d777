//! Phase logs: CSV with a header, one row per task and phase. docs/phase-logs.md describes the format.
//!
//! | question | file |
//! |---|---|
//! | phases of a log in memory | `log` |
//! | cells of a row, and what is wrong with them | `row` |
//! | from rows to stages and attempts | `reader` |

mod log;
mod reader;
mod row;

pub use log::{PhaseLog, PhaseSpan, TaskKind};
pub(super) use reader::read;
pub(super) use row::is_header;
