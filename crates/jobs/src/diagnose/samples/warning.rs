//! Oddities in samples: counted by kind and file, with the first line and an example. This module does not print.

use std::fmt;

use serde::Serialize;

use crate::trace::tell;

/// Kind of oddity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum SampleWarningKind {
    /// A line that is not a row of its section; it is skipped.
    BadRow,
    /// An impossible share or rate; the sample is skipped.
    BadNumber,
    /// A line longer than the limit; it is skipped.
    LongLine,
    /// The last line is truncated; it is skipped.
    CutLastLine,
    /// The file ends too early or is damaged; the data before that point are used.
    CutFile,
    /// Rows without date or time, which cannot be matched with tasks; they are skipped.
    NoTime,
    /// The interval covered by a row is unknown, as in a first report since boot; the row is skipped.
    SinceBoot,
    /// An ambiguous date; it is read as month/day.
    AmbiguousDate,
    /// Times without a time zone; UTC is assumed, or the caller's time zone.
    NoZone,
    /// Time goes backwards; the sample is skipped.
    Backwards,
    /// The host was restarted between samples.
    Restart,
    /// There is no banner, so the host is unknown.
    NoHost,
    /// Disks without `%util`: their utilisation is unknown.
    NoUtilisation,
    /// The same series in a second file, or twice in one; the second one is skipped.
    Twice,
}

impl SampleWarningKind {
    /// Returns a description, for one or several cases.
    pub fn text(self) -> &'static str {
        match self {
            Self::BadRow => "not a row of its section; skipped",
            Self::BadNumber => "an implausible number; skipped",
            Self::LongLine => "a line longer than the limit; skipped",
            Self::CutLastLine => "the last line is cut off; skipped",
            Self::CutFile => "ends too early or is damaged; the data before that point are used",
            Self::NoTime => "rows without date and time (iostat needs -t); skipped",
            Self::SinceBoot => "a report on an unknown interval, such as the first report since boot; skipped",
            Self::AmbiguousDate => "an ambiguous date; read as month/day",
            Self::NoZone => "times without a time zone; read as UTC unless --utc-offset is given",
            Self::Backwards => "time goes backwards; skipped",
            Self::Restart => "the host was rebooted between samples",
            Self::NoHost => "no banner, so the host is unknown",
            Self::NoUtilisation => "disks without %util (iostat needs -x); skipped",
            Self::Twice => "a duplicate series; skipped",
        }
    }
}

/// Warnings of one kind for one file: its count, first line and an example.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SampleWarning {
    /// Kind of oddity.
    pub kind: SampleWarningKind,
    /// The file.
    pub file: String,
    /// The first line, from 1; 0 for the whole file.
    pub line: u64,
    /// Number of occurrences.
    pub count: u64,
    /// Example, in a few words.
    pub example: String,
}

impl fmt::Display for SampleWarning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.file)?;
        if self.line > 0 {
            write!(f, ":{}", self.line)?;
        }
        f.write_str(": ")?;
        tell(f, self.kind.text(), self.count, &self.example)
    }
}
