//! Oddities of a system call log: counted by kind, with the first line and an example.

use std::collections::BTreeMap;
use std::fmt;

use serde::Serialize;

use crate::trace::tell;

/// Kind of oddity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum OddKind {
    /// A line that strace does not write.
    UnknownLine,
    /// A call truncated in the middle of its line.
    CutCall,
    /// A line longer than the limit.
    LongLine,
    /// A compressed file ends too early or is damaged.
    CutFile,
    /// The end of a call that did not begin in this log.
    EndWithoutBeginning,
    /// The start of a call while another call of the same process was open: its end is missing.
    BeginningWithoutEnd,
    /// More unfinished calls than can be tracked.
    ManyOpen,
    /// More different invocations than are kept.
    ManyInvocations,
    /// More addresses than are kept.
    ManyPeers,
    /// A call without a time, although others have one.
    NoTime,
    /// A row of a table of totals that cannot be read.
    BadRow,
    /// A truncated row of a table of totals: the file ends inside it.
    CutRow,
    /// A table of totals without its last row, `total`: the file is truncated.
    TableWithoutTotal,
    /// A table of totals after single calls (`-C`).
    TableAfterCalls,
}

impl OddKind {
    /// Returns a description, with the handling.
    pub fn text(self) -> &'static str {
        match self {
            Self::UnknownLine => "not a line of strace output; skipped",
            Self::CutCall => "a truncated call; skipped",
            Self::LongLine => "a line longer than the limit; skipped",
            Self::CutFile => "the compressed file ends too early or is damaged; the data before that point are used",
            Self::EndWithoutBeginning => "the end of a call that did not begin in this log; skipped",
            Self::BeginningWithoutEnd => "a call without an end before the next call of its process; skipped",
            Self::ManyOpen => "too many unfinished calls at the same time; skipped",
            Self::ManyInvocations => "too many different invocations; the semantic profile omits the rest",
            Self::ManyPeers => "too many addresses; skipped",
            Self::NoTime => "a call without a time; counted, but not summed",
            Self::BadRow => "an unreadable row of totals; skipped",
            Self::CutRow => "a truncated row of totals; skipped",
            Self::TableWithoutTotal => "the table has no row `total`: the file is truncated, and calls are missing",
            Self::TableAfterCalls => "a table of totals after the calls themselves; skipped",
        }
    }
}

/// Warnings of one kind for one log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Oddity {
    /// Kind of oddity.
    pub kind: OddKind,
    /// Number of occurrences.
    pub count: u64,
    /// Line of the first occurrence, from 1.
    pub line: u64,
    /// Example, in a few words.
    pub example: String,
}

impl fmt::Display for Oddity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        tell(f, self.kind.text(), self.count, &self.example)
    }
}

/// Maximum length of an example, in characters.
const EXAMPLE: usize = 80;

/// Counts oddities.
#[derive(Clone, Debug, Default)]
pub(super) struct Oddities(BTreeMap<OddKind, Oddity>);

impl Oddities {
    pub(super) fn add(&mut self, kind: OddKind, line: u64, text: &[u8]) {
        let new = || {
            let shown = String::from_utf8_lossy(&text[..text.len().min(4 * EXAMPLE)]).into_owned();
            let example = shown.chars().take(EXAMPLE).map(|c| if c.is_control() { ' ' } else { c }).collect();
            Oddity { kind, count: 0, line, example }
        };
        self.0.entry(kind).or_insert_with(new).count += 1;
    }

    pub(super) fn into_list(self) -> Vec<Oddity> {
        self.0.into_values().collect()
    }
}
