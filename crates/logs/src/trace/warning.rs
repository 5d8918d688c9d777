//! Oddities of a log: counted by kind, with the first position and an example. This module does not print.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

/// A position in a log.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Spot {
    /// The file, as an index into the files of the trace.
    pub file: u32,
    /// The line, from 1; 0 for the whole file.
    pub line: u64,
}

/// Kind of oddity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum WarningKind {
    /// A line that does not match the format; it is skipped.
    BadLine,
    /// A row of a phase log with an error; it is skipped. Each such row is a warning of its own.
    BadRow,
    /// A phase that the format does not have; it is kept as a part of its task.
    UnknownPhase,
    /// A column that the format does not have; it is ignored.
    UnknownColumn,
    /// The last line is truncated, as in the log of a running or killed job; it is skipped.
    CutLastLine,
    /// A line longer than the limit; it is skipped.
    LongLine,
    /// A compressed file ends too early or is damaged; the data before that point are used.
    CutFile,
    /// A part of a rolled log is missing.
    MissingPart,
    /// A part was compacted: Spark removed events of finished jobs from this part.
    CompactedPart,
    /// A record without a required field; it is skipped.
    MissingField,
    /// An unknown word, such as the reason of a task's end.
    UnknownWord,
    /// An implausible time; it is unknown in the trace.
    BadTime,
    /// An end before its start; the end is unknown in the trace.
    NegativeTime,
    /// A counter that is negative or not a number; it is unknown in the trace.
    BadCounter,
    /// The event that starts the application is missing; the application's name, id and start time are unknown.
    NoApplication,
    /// The log contains another application; each keeps its jobs and stages.
    FurtherApplication,
    /// Tasks of a stage without a submission event: the stage's number of tasks and dependencies are unknown.
    MissingStage,
    /// A stage succeeded, but the log lacks the ends of some of its tasks: lines are missing.
    MissingTasks,
    /// A task with a number outside its stage's range.
    ExtraTask,
    /// The end of a task that never started; it is kept.
    EndWithoutStart,
    /// The end of a job that never started; it is skipped.
    JobEndWithoutStart,
    /// A duplicate attempt; the second one is skipped.
    DuplicateAttempt,
    /// An attempt that started but has no end in the log.
    Unfinished,
    /// A job without an end.
    UnfinishedJob,
    /// A finished task that had to run again because its output was lost with its executor.
    Resubmitted,
    /// A time before the start of the first application.
    BeforeStart,
    /// Times more than a year apart.
    YearsApart,
}

impl WarningKind {
    /// Returns true if the log of a running job normally has this warning: it is incomplete.
    pub fn is_of_running_job(self) -> bool {
        matches!(self, Self::CutLastLine | Self::CutFile | Self::Unfinished | Self::UnfinishedJob)
    }

    /// Returns a description, for one or several cases.
    pub fn text(self) -> &'static str {
        match self {
            Self::BadLine => "not a line of this format; skipped",
            Self::BadRow => "a row with an error; skipped",
            Self::UnknownPhase => "a phase that phase logs do not have; kept as a part of its task",
            Self::UnknownColumn => "a column that phase logs do not have; ignored",
            Self::CutLastLine => "the last line is cut off; skipped",
            Self::LongLine => "a line longer than the limit; skipped",
            Self::CutFile => "the compressed file ends too early or is damaged; the data before that point are used",
            Self::MissingPart => "a part of the rolled log is missing",
            Self::CompactedPart => "a compacted part: events of finished jobs are missing",
            Self::MissingField => "a record without a required field; skipped",
            Self::UnknownWord => "an unrecognised value",
            Self::BadTime => "an implausible time; treated as unknown",
            Self::NegativeTime => "an end before its start; the end is treated as unknown",
            Self::BadCounter => "an implausible counter; treated as unknown",
            Self::NoApplication => {
                "the event that starts an application is missing; its name and start time are unknown"
            }
            Self::FurtherApplication => "another application in the same log; kept separate",
            Self::MissingStage => {
                "tasks of a stage without a submission in the log; the size and dependencies of the stage are unknown"
            }
            Self::MissingTasks => {
                "a stage succeeded, but the log lacks the ends of some of its tasks: lines are missing"
            }
            Self::ExtraTask => "a task number beyond the number of tasks of its stage",
            Self::EndWithoutStart => "the end of an attempt whose start is not in the log; kept",
            Self::JobEndWithoutStart => "the end of a job whose start is not in the log; skipped",
            Self::DuplicateAttempt => "a duplicate attempt; skipped",
            Self::Unfinished => "an attempt without an end in the log",
            Self::UnfinishedJob => "a job without an end",
            Self::Resubmitted => "a finished task ran again because its output was lost",
            Self::BeforeStart => "a time before the start of the first application",
            Self::YearsApart => {
                "times more than a year apart; one of the times may be wrong, and a replay covers the whole span"
            }
        }
    }
}

/// Warnings of one kind: count, first position and an example.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning {
    /// Kind of oddity.
    pub kind: WarningKind,
    /// Number of occurrences.
    pub count: u64,
    /// Position of the first occurrence.
    pub first: Spot,
    /// Example, in a few words.
    pub example: String,
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        tell(f, self.kind.text(), self.count, &self.example)
    }
}

/// Formats a warning: its description, its count, and the first example.
pub fn tell(f: &mut fmt::Formatter<'_>, what: &str, count: u64, example: &str) -> fmt::Result {
    f.write_str(what)?;
    if count > 1 {
        write!(f, " ({count} times)")?;
    }
    if example.is_empty() { Ok(()) } else { write!(f, ": {example}") }
}

/// Maximum length of a stored example, in characters.
const EXAMPLE: usize = 100;

/// Counts oddities.
#[derive(Clone, Debug, Default)]
pub(super) struct Warnings(BTreeMap<WarningKind, Warning>);

impl Warnings {
    /// Counts an oddity.
    pub(super) fn add(&mut self, kind: WarningKind, first: Spot, example: impl FnOnce() -> String) {
        let new = || {
            let example: String = example().chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
            let short = example.chars().take(EXAMPLE).collect::<String>();
            let example = if short.len() < example.len() { format!("{short}...") } else { short };
            Warning { kind, count: 0, first, example }
        };
        self.0.entry(kind).or_insert_with(new).count += 1;
    }

    /// Returns all warnings, in the order of [`WarningKind`].
    pub(super) fn into_vec(self) -> Vec<Warning> {
        self.0.into_values().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_by_kind_and_keeps_the_first_place() {
        let mut warnings = Warnings::default();
        for line in [7, 9] {
            warnings.add(WarningKind::BadLine, Spot { file: 0, line }, || format!("line\t{line}"));
        }
        warnings.add(WarningKind::CutFile, Spot::default(), || "x".repeat(200));
        let list = warnings.into_vec();
        assert_eq!(list.len(), 2);
        assert_eq!((list[0].count, list[0].first.line), (2, 7));
        assert_eq!(list[0].to_string(), "not a line of this format; skipped (2 times): line 7");
        assert_eq!(list[1].example.len(), EXAMPLE + 3);
    }
}
