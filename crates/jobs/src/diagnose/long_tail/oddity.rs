//! Oddities in progress reports: counted by kind, with the first line and an example. This module does not print.

use std::collections::BTreeMap;
use std::fmt;

use serde::Serialize;

/// Kind of oddity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Oddity {
    /// A line that is neither a row of the table nor a JSON object.
    BadLine,
    /// The last line has no end.
    CutLastLine,
    /// A compressed file that ends too early or is damaged.
    CutFile,
    /// A line longer than the limit.
    LongLine,
    /// A row before any header.
    NoHeader,
    /// An unknown column or key.
    UnknownColumn,
    /// No task, no time or no progress.
    MissingField,
    /// A value that should be a number and is not, or is out of range.
    BadNumber,
    /// A total of 0.
    NothingToDo,
    /// A report with a time before an earlier report of the same attempt.
    TimeBackwards,
    /// A report whose time is far after all other reports, and is not confirmed by the next report.
    TimeLeaps,
    /// A report much older than the latest report of all tasks.
    OutOfOrder,
    /// More completed than the total.
    AboveOne,
    /// Less completed than before.
    ProgressFell,
    /// A total that changed.
    TotalChanged,
    /// A report about an attempt that had ended.
    AfterEnd,
    /// An attempt whose first report is complete.
    DoneAtOnce,
    /// An attempt that fell silent before its end.
    Silent,
    /// An attempt still running when the reports ended.
    StillRunning,
    /// More simultaneous attempts than the limit.
    TooManyTasks,
    /// A kind of task without a profile in the model.
    UnknownKind,
    /// A file that became shorter while being read.
    FileShrank,
}

impl Oddity {
    /// Returns a description of the problem and its handling.
    pub fn text(self) -> &'static str {
        match self {
            Self::BadLine => "neither a row of the table nor a JSON object; skipped",
            Self::CutLastLine => "the last line is cut off; skipped",
            Self::CutFile => "the compressed file ends too early or is damaged; the data before that point are used",
            Self::LongLine => "a line longer than the limit; skipped",
            Self::NoHeader => "a row before a header with the column `t_ms`; skipped",
            Self::UnknownColumn => "an unknown column; ignored",
            Self::MissingField => "a report without task, time or progress; skipped",
            Self::BadNumber => "not a number, or out of range; the report is skipped",
            Self::NothingToDo => "a total of 0; the report is skipped",
            Self::TimeBackwards => "a time before the time of an earlier report; skipped",
            Self::TimeLeaps => {
                "a time far after the times of all other reports; skipped unless the next report is as late"
            }
            Self::OutOfOrder => {
                "a report much older than the latest report; used, but reports out of time order can make verdicts wrong"
            }
            Self::AboveOne => "more completed than the total; skipped",
            Self::ProgressFell => "less completed than before; skipped",
            Self::TotalChanged => "the total changed; the new total is used",
            Self::AfterEnd => "a report after the end of its attempt; skipped",
            Self::DoneAtOnce => "a task is complete in its first report; its time is unknown",
            Self::Silent => "an attempt stopped reporting before its end; dropped",
            Self::StillRunning => "an attempt was still running when the reports ended",
            Self::TooManyTasks => "more running attempts than the limit; skipped",
            Self::UnknownKind => "a kind of task without a profile; compared only with its peers",
            Self::FileShrank => "the file was truncated; reading it again from the start",
        }
    }
}

/// Warnings of one kind.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Counted {
    /// Kind of oddity.
    pub kind: Oddity,
    /// Number of occurrences.
    pub count: u64,
    /// Line of the first occurrence, from 1; 0 if unknown.
    pub line: u64,
    /// Example, in a few words.
    pub example: String,
}

impl fmt::Display for Counted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.line > 0 {
            write!(f, "line {}: ", self.line)?;
        }
        f.write_str(self.kind.text())?;
        if self.count > 1 {
            write!(f, " ({} times)", self.count)?;
        }
        if self.example.is_empty() { Ok(()) } else { write!(f, ": {}", self.example) }
    }
}

/// Maximum length of a stored example, in characters.
const EXAMPLE: usize = 80;

/// Counts oddities.
#[derive(Clone, Debug, Default)]
pub struct Oddities(BTreeMap<Oddity, Counted>);

impl Oddities {
    /// Counts a warning at a line, from 1; 0 for none.
    pub fn add(&mut self, kind: Oddity, line: u64, example: &str) {
        let counted = self.0.entry(kind).or_insert_with(|| {
            let clean: String = example.chars().take(EXAMPLE).map(|c| if c.is_control() { ' ' } else { c }).collect();
            let example = if clean.len() < example.len() { format!("{clean}...") } else { clean };
            Counted { kind, count: 0, line, example }
        });
        counted.count += 1;
    }

    /// Returns the number of warnings of one kind; 0 for none.
    pub fn count(&self, kind: Oddity) -> u64 {
        self.0.get(&kind).map_or(0, |counted| counted.count)
    }

    /// Returns all warnings, in the order of [`Oddity`].
    pub fn list(&self) -> impl Iterator<Item = &Counted> {
        self.0.values()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_of_oddity_shows_its_first_line_and_its_count() {
        let mut oddities = Oddities::default();
        oddities.add(Oddity::BadLine, 7, "a\tb");
        oddities.add(Oddity::BadLine, 9, "c");
        oddities.add(Oddity::Silent, 0, &"x".repeat(200));
        let told: Vec<String> = oddities.list().map(ToString::to_string).collect();
        assert_eq!(told[0], "line 7: neither a row of the table nor a JSON object; skipped (2 times): a b");
        assert!(told[1].ends_with(&format!("{}...", "x".repeat(EXAMPLE))));
        assert_eq!((oddities.count(Oddity::BadLine), oddities.count(Oddity::LongLine)), (2, 0));
    }
}
