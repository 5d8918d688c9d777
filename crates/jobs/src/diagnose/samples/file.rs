//! A file of samples: its name, format and coverage.

use serde::Serialize;

/// A format of samples. Later formats have more complete times, and are preferred if two files have the same series.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum SampleFormat {
    /// The text of mpstat, iostat or sar.
    Text,
    /// `sadf -d`.
    SadfCsv,
    /// `sadf -j`, or the JSON of mpstat and iostat.
    SadfJson,
}

impl SampleFormat {
    /// Returns the name for people.
    pub fn text(self) -> &'static str {
        match self {
            Self::Text => "text of mpstat, iostat or sar",
            Self::SadfCsv => "a table of `sadf -d`",
            Self::SadfJson => "JSON of sysstat",
        }
    }
}

/// A file that was read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SampleFile {
    /// Name.
    pub name: String,
    /// Format.
    pub format: SampleFormat,
    /// Rows of devices that could be read.
    pub rows: u64,
    /// Series that were taken from the file.
    pub series: u64,
}
