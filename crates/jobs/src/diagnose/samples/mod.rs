//! Activity of nodes, second by second: the samples of sysstat (mpstat, iostat, sar) as series of CPU, disk and network.
//!
//! ```text
//! files, folders ──▶ read (sniffed, gunzipped) ──▶ text │ csv │ json ──▶ Collector ──▶ Samples: a Series for each device
//! ```
//!
//! | question | file |
//! |---|---|
//! | files, formats, and duplicate series | `read` |
//! | bytes and lines up to a limit | `lines` |
//! | text of mpstat, iostat and sar | `text`, its columns: `section` |
//! | `sadf -d` | `csv` |
//! | `sadf -j`, and the JSON of mpstat and iostat | `json` |
//! | dates and times in all their forms | `clock` |
//! | a series, and its values over an interval | [`Series`] |
//! | oddities | [`SampleWarning`] |
//!
//! # Guarantees
//!
//! * A file is read as a stream: memory holds the series and one line, or one report of JSON, up to a limit.
//! * Formats are detected by content, never by name. Unknown columns are ignored; errors are counted, with the position of the first.
//! * A sample is a mean over an interval, not a point: it covers the time since the previous
//!   report. If that interval is unknown (the first report of iostat may be "since boot") the
//!   sample is skipped and counted.
//! * All times are seconds since 1970, in UTC. A text states no time zone; UTC is assumed, unless the caller gives another offset.

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
