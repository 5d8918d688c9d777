//! Spark event logs, 1.0 to 4.x: JSON, one event a line, in one file or rolled over several. Source: \[Spark2024\].
//!
//! | file | owns |
//! |---|---|
//! | `folder` | the files of a folder that form a log, and their order |
//! | `start` | the application of a log, from its start |
//! | `event` | the required events, as read by serde |
//! | `reader` | the effect of each event on the trace |
//! | `sql` | descriptions of queries, and the operators of each stage |
//! | `task` | starts and ends of tasks, with their metrics |
//!
//! Some fields are missing in older versions. Before 1.4, stages have no `Parent IDs`, so their dependencies are
//! unknown. Before 2.2, tasks have no `Killed`, which then follows from the reason. Tasks have no CPU times before 2.1,
//! and no partition ids before 3.x. Killed and failed tasks often have no metrics. Local runs before 3.x add no
//! executor. CPU times do not include Python workers.

mod event;
mod folder;
mod gpu;
mod reader;
mod sql;
mod start;
mod state;
mod task;

pub(super) use folder::{PartOddity, parts_by_name, parts_of};
pub(super) use reader::read;
pub(super) use start::start_in;
