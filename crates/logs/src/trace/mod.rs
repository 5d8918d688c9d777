//! Logs of recorded jobs, read into one common [`JobTrace`].
//!
//! ```text
//! file, folder, zip, stream ──▶ sources ──▶ input ──▶ compression ──▶ sniff ──▶ a reader ──▶ Builder ──▶ JobTrace ──▶ analysis ──▶ report
//! ```
//!
//! | question | file |
//! |---|---|
//! | logs in a file, folder or zip archive, and the selected one | `sources`, `archive`, `pick` |
//! | the lines of a log with their numbers | `input` |
//! | decompression | `compression/` |
//! | format detection | `sniff` |
//! | Spark event logs | `spark/` |
//! | Hadoop job histories (Avro-JSON, text of 0.20 and 1.x), Rumen | `hadoop/` |
//! | the cluster traces of Google (2011) and Alibaba (2017, 2018) | `google`, `alibaba` |
//! | phase logs (CSV), phase by phase | `phases/` |
//! | contents of a trace | `job_trace`, `attempt`, [`Metric`] |
//! | times as dates | `date` |
//! | oddities of a log | [`Warning`] |
//! | stragglers, copies, waves, bounds | [`analysis`] |
//!
//! # Guarantees
//!
//! * Formats are detected by content, never by name. Unknown content is ignored; errors are counted, with the
//!   position of the first. Nothing is repaired
//!   silently: an invalid time is *unknown* in the trace.
//! * A log is read line by line, also from a pipe. Memory holds the trace: about 120 bytes per attempt, limited by [`ReadOptions::most_attempts`].
//! * Times are whole microseconds since the start of the first application; all times of the log are converted once.
//! * The same log gives the same trace: attempts are in the order of stage, task and launch.
//!
//! docs/logs.md describes formats, versions and pitfalls.

mod alibaba;
pub mod analysis;
mod archive;
mod attempt;
mod builder;
pub mod compression;
mod date;
mod error;
mod format;
mod google;
mod hadoop;
mod ids;
mod input;
mod job_trace;
mod listed_log;
mod loose;
mod metric;
mod phases;
mod pick;
mod read;
mod read_options;
mod sniff;
mod sources;
mod spark;
mod warning;

pub use attempt::{Attempt, Locality, Outcome};
pub use date::utc_text;
pub use error::TraceError;
pub use format::Format;
pub use ids::Moment;
pub use ids::{ApplicationId, ExecutorId, NodeId, StageId};
pub use job_trace::{AnnouncedStage, Application, Clock, Executor, Job, JobTrace, Node, Reading, Stage, StageKind};
pub use listed_log::ListedLog;
pub use metric::{Metric, MetricUnit};
pub use phases::{PhaseLog, PhaseSpan, TaskKind};
pub use read::{is_log, log_format, log_in, logs_in, read, read_bytes, read_stream};
pub use read_options::ReadOptions;
pub use warning::tell;
pub use warning::{Spot, Warning, WarningKind};
