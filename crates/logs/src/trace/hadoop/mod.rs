//! MapReduce jobs: the job history of Hadoop, as Avro-JSON (0.21 and later) and as text (0.20 and 1.x), and Rumen.
//! Source: \[Hadoop2014\].
//!
//! | file | owns |
//! |---|---|
//! | `history` | what submissions, starts and ends do to the trace, whatever the format |
//! | `counters` | which counter is which metric |
//! | `json` | Avro-JSON, with plain and with wrapped unions |
//! | `text` | the records of 0.20 and 1.x, over several lines, with escapes |
//! | `rumen` | JSON objects of whole jobs, read task by task |
//!
//! A MapReduce job is an application with one job. Its stages are 0 (map), 1 (reduce), 2 (setup) and 3
//! (cleanup). Reduce attempts may start while maps run: their shuffle waits, and the shuffle phase shows how
//! long.

mod counters;
mod history;
mod json;
mod rumen;
mod text;

pub(super) use json::read as read_json;
pub(super) use rumen::read as read_rumen;
pub(super) use text::read as read_text;
