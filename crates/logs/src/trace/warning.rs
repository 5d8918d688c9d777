//! What is odd about a log: counted by kind, with the first place and an example. Nothing is printed here.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

/// A place in a log.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Spot {
    /// The file, as an index into the files of the trace.
    pub file: u32,
    /// The line, from 1; 0 for the file as a whole.
    pub line: u64,
}

/// What can be odd.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum WarningKind {
    /// A line that is not what the format has; it is left out.
    BadLine,
    /// The last line is cut off, as in the log of a job that still runs or was killed; it is left out.
    CutLastLine,
    /// A line longer than the limit; it is left out.
    LongLine,
    /// A compressed file ends too early or is damaged; what was before is used.
    CutFile,
    /// A part of a log that was rolled over is missing.
    MissingPart,
    /// A part was compacted: Spark removed events of finished jobs from it.
    CompactedPart,
    /// A record without something that it must have; it is left out.
    MissingField,
    /// A word, such as the reason of a task's end, that is not known.
    UnknownWord,
    /// A time far from any that a job can have; it is unknown in the trace.
    BadTime,
    /// An end before its beginning; the end is unknown in the trace.
    NegativeTime,
    /// A counter that is negative or no number; it is unknown in the trace.
    BadCounter,
    /// There is no start of an application in the log: its name, number and start are missing.
    NoApplication,
    /// The log holds a further application; each keeps its own jobs and stages.
    FurtherApplication,
    /// Tasks of a stage that the log never submits: its number of tasks and dependencies are missing.
    MissingStage,
    /// A stage ended well although fewer of its tasks did: lines are missing.
    MissingTasks,
    /// A task with a number that its stage does not have.
    ExtraTask,
    /// An end of a task that never began; it is kept.
    EndWithoutStart,
    /// An end of a job that never began; it is left out.
    JobEndWithoutStart,
    /// The same attempt twice; the second one is left out.
    DuplicateAttempt,
    /// An attempt that began and of whose end the log says nothing.
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
    /// What happened, for one or several cases.
    pub fn text(self) -> &'static str {
        match self {
            Self::BadLine => "not a line of this format; left out",
            Self::CutLastLine => "the last line is cut off; left out",
            Self::LongLine => "a line longer than the limit; left out",
            Self::CutFile => "the compressed file ends too early or is damaged; what was before is used",
            Self::MissingPart => "a part of the rolled log is missing",
            Self::CompactedPart => "a compacted part: events of finished jobs are gone",
            Self::MissingField => "a record without something that it must have; left out",
            Self::UnknownWord => "a word that is not known",
            Self::BadTime => "a time that cannot be right; taken as unknown",
            Self::NegativeTime => "an end before its beginning; the end is taken as unknown",
            Self::BadCounter => "a counter that cannot be right; taken as unknown",
            Self::NoApplication => "no start of an application; its name and start are unknown",
            Self::FurtherApplication => "a further application in the same log; kept apart",
            Self::MissingStage => "tasks of a stage that is never submitted; its size and dependencies are unknown",
            Self::MissingTasks => "a stage ended well with fewer finished tasks than it has: lines are missing",
            Self::ExtraTask => "a task number that its stage does not have",
            Self::EndWithoutStart => "an end of an attempt that never began; kept",
            Self::JobEndWithoutStart => "an end of a job that never began; left out",
            Self::DuplicateAttempt => "the same attempt again; left out",
            Self::Unfinished => "an attempt of whose end the log says nothing",
            Self::UnfinishedJob => "a job without an end",
            Self::Resubmitted => "a finished task ran again because its output was lost",
            Self::BeforeStart => "a time before the start of the first application",
            Self::YearsApart => "times more than a year apart, of which one may be wrong; a replay takes as long",
        }
    }
}

/// One kind of oddity: how often, where first, and what was there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning {
    /// What is odd.
    pub kind: WarningKind,
    /// How often.
    pub count: u64,
    /// Where it was seen first.
    pub first: Spot,
    /// What was there, in a few words.
    pub example: String,
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        tell(f, self.kind.text(), self.count, &self.example)
    }
}

/// Tells an oddity: what it is, how often it was met, and what was there the first time.
pub fn tell(f: &mut fmt::Formatter<'_>, what: &str, count: u64, example: &str) -> fmt::Result {
    f.write_str(what)?;
    if count > 1 {
        write!(f, " ({count} times)")?;
    }
    if example.is_empty() { Ok(()) } else { write!(f, ": {example}") }
}

/// Longest example that is kept, in characters.
const EXAMPLE: usize = 100;

/// Counts oddities.
#[derive(Clone, Debug, Default)]
pub(super) struct Warnings(BTreeMap<WarningKind, Warning>);

impl Warnings {
    /// Counts one.
    pub(super) fn add(&mut self, kind: WarningKind, first: Spot, example: impl FnOnce() -> String) {
        let new = || {
            let example: String = example().chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
            let short = example.chars().take(EXAMPLE).collect::<String>();
            let example = if short.len() < example.len() { format!("{short}...") } else { short };
            Warning { kind, count: 0, first, example }
        };
        self.0.entry(kind).or_insert_with(new).count += 1;
    }

    /// All of them, in the order of [`WarningKind`].
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
        assert_eq!(list[0].to_string(), "not a line of this format; left out (2 times): line 7");
        assert_eq!(list[1].example.len(), EXAMPLE + 3);
    }
}
