//! Spark event logs, 1.0 to 4.x: JSON, one event a line, in one file or rolled over several. Source: \[Spark2024\].
//!
//! | file | owns |
//! |---|---|
//! | `folder` | which files of a folder make a log, and in which order |
//! | `start` | the application of a log, by its beginning |
//! | `event` | the events that are needed, as serde reads them |
//! | `reader` | what each event does to the trace |
//! | `sql` | descriptions of queries, and the operators of each stage |
//! | `task` | starts and ends of tasks, and what is measured of them |
//!
//! What is missing in which version: stages have no `Parent IDs` before 1.4 (dependencies are unknown), tasks no `Killed`
//! before 2.2 (it follows from the reason), processor times come with 2.1, partition ids with 3.x; killed and failed tasks
//! often have no metrics. Local runs before 3.x add no executor. Processor times do not contain Python workers.

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
