//! What nodes were doing, second by second: the samples of sysstat (mpstat, iostat, sar) as series of processor, disk and
//! network.
//!
//! ```text
//! files, folders ──▶ read (sniffed, gunzipped) ──▶ text │ csv │ json ──▶ Collector ──▶ Samples: a Series for each device
//! ```
//!
//! | question | file |
//! |---|---|
//! | which files, which format, what to do with the same series twice | `read` |
//! | bytes and lines up to a limit | `lines` |
//! | text of mpstat, iostat and sar | `text`, its columns: `section` |
//! | `sadf -d` | `csv` |
//! | `sadf -j`, and the JSON of mpstat and iostat | `json` |
//! | dates and times in all their forms | `clock` |
//! | a series, and what it was over a while | [`Series`] |
//! | what is odd | [`SampleWarning`] |
//!
//! # Guarantees
//!
//! * A file is read as a stream: memory is that of the series and of one line, or one report of JSON, up to a limit.
//! * Formats are told by content, never by name. Columns that are not known are ignored; what is wrong is counted, with the
//!   first place.
//! * A sample is a mean over a stretch of time, not a point: it lasts from the report before to its own. Where that stretch is
//!   not known (the first report of iostat may be "since boot") the sample is left out and counted.
//! * All times are seconds since 1970, in UTC. A text states no time zone; it is taken as UTC, or as the caller says.

mod clock;
mod collect;
mod csv;
mod file;
mod json;
mod lines;
mod read;
mod section;
mod series;
mod text;
mod warning;

pub use file::{SampleFile, SampleFormat};
pub use read::{SampleError, SampleOptions, is_readable, is_samples, read_samples, read_samples_from_bytes};
pub use series::{Meter, Over, Sample, Samples, Series};
pub use warning::{SampleWarning, SampleWarningKind};
