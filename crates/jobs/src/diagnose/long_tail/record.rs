//! Progress reports of tasks as text: a table with a header, or JSON lines, read as the bytes arrive.
//!
//! Defines the columns and their valid values. `task` interprets a report for its task.

use std::borrow::Cow;
use std::str::FromStr;

use serde_json::{Map, Value};

use crate::diagnose::long_tail::oddity::{Oddities, Oddity};

/// Maximum length of a line, unless another limit is given, in bytes.
pub const LONGEST_LINE: usize = 1 << 20;

/// A progress report of an attempt of a task.
#[derive(Clone, Debug, PartialEq)]
pub struct ProgressRecord<'a> {
    /// The job; empty if not given.
    pub job: Cow<'a, str>,
    /// Kind of work of the task, such as `map`; empty if not given.
    pub kind: Cow<'a, str>,
    /// The stage; empty if not given.
    pub stage: Cow<'a, str>,
    /// The task's number.
    pub task: u64,
    /// Attempt number, from 0.
    pub attempt: u32,
    /// The node; empty if not given.
    pub node: Cow<'a, str>,
    /// Time of the report \[s\], on the clock of the source.
    pub time_s: f64,
    /// Completed share of the work, 0 to 1.
    pub progress: f64,
    /// Total work, in the source's unit, if known.
    pub total: Option<f64>,
}

/// The columns and keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Column {
    Job,
    Kind,
    Stage,
    Partition,
    Attempt,
    TaskId,
    Node,
    Time,
    Done,
    Total,
    Progress,
    Unknown,
}

/// Number of columns; the last column is for unknown columns.
const COLUMNS: usize = Column::Unknown as usize + 1;

impl Column {
    fn named(name: &str) -> Self {
        match name.trim() {
            "job" => Self::Job,
            "kind" => Self::Kind,
            "stage" => Self::Stage,
            "partition" | "task" => Self::Partition,
            "attempt" => Self::Attempt,
            "task_id" => Self::TaskId,
            "node" | "host" => Self::Node,
            "t_ms" => Self::Time,
            "done" => Self::Done,
            "total" => Self::Total,
            "progress" => Self::Progress,
            _ => Self::Unknown,
        }
    }

    /// Returns the accepted names of the column, for display.
    fn text(self) -> &'static str {
        match self {
            Self::Job => "job",
            Self::Kind => "kind",
            Self::Stage => "stage",
            Self::Partition => "partition (or task)",
            Self::Attempt => "attempt",
            Self::TaskId => "task_id",
            Self::Node => "node (or host)",
            Self::Time => "t_ms",
            Self::Done => "done",
            Self::Total => "total",
            Self::Progress => "progress",
            Self::Unknown => "an unknown column",
        }
    }
}

/// Reason why a row is not a report, and the faulty column if any.
type Fault = (Oddity, Option<Column>);

/// Reads lines of reports.
#[derive(Clone, Debug, Default)]
pub struct ProgressReader {
    header: Vec<Column>,
}

/// The cells of a report, in the order of [`Column`].
type Cells<'a> = [Option<Cow<'a, str>>; COLUMNS];

impl ProgressReader {
    /// Creates a reader before its header.
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns true if a text appears to be progress reports: its first line is a header with a time, or a
    /// JSON object with one.
    pub fn is_meant(text: &str) -> bool {
        let first = text.trim_start_matches('\u{feff}').lines().find(|line| !line.trim().is_empty()).unwrap_or("");
        let table = first.split('\t').any(|name| Column::named(name) == Column::Time);
        table || first.trim_start().starts_with('{') && first.contains("\"t_ms\"")
    }

    /// Reads the report in a line with its number; none for a header, an empty line, and an invalid line, which is counted.
    pub fn read<'a>(&mut self, line: &'a str, number: u64, oddities: &mut Oddities) -> Option<ProgressRecord<'a>> {
        let line = line.trim_start_matches('\u{feff}').trim_end_matches(['\r', '\n']);
        if line.trim().is_empty() {
            return None;
        }
        let cells = if line.trim_start().starts_with('{') {
            json_cells(line, number, oddities)?
        } else {
            self.table_cells(line, number, oddities)?
        };
        record(cells, line, number, oddities)
    }

    fn table_cells<'a>(&mut self, line: &'a str, number: u64, oddities: &mut Oddities) -> Option<Cells<'a>> {
        if line.split('\t').any(|name| name.trim() == "t_ms") {
            self.set_header(line, number, oddities);
            return None;
        }
        if self.header.is_empty() {
            oddities.add(Oddity::NoHeader, number, line);
            return None;
        }
        if line.split('\t').count() != self.header.len() {
            oddities.add(Oddity::BadLine, number, line);
            return None;
        }
        let mut cells = Cells::default();
        for (cell, &column) in line.split('\t').zip(&self.header) {
            let cell = cell.trim();
            if !cell.is_empty() {
                cells[column as usize] = Some(Cow::Borrowed(cell));
            }
        }
        Some(cells)
    }

    fn set_header(&mut self, line: &str, number: u64, oddities: &mut Oddities) {
        self.header = line.split('\t').map(Column::named).collect();
        for (name, column) in line.split('\t').zip(&self.header) {
            if *column == Column::Unknown {
                oddities.add(Oddity::UnknownColumn, number, name);
            }
        }
    }
}

fn json_cells<'a>(line: &str, number: u64, oddities: &mut Oddities) -> Option<Cells<'a>> {
    let Ok(object) = serde_json::from_str::<Map<String, Value>>(line) else {
        oddities.add(Oddity::BadLine, number, line);
        return None;
    };
    let mut cells = Cells::default();
    for (name, value) in object {
        let column = Column::named(&name);
        let cell = match value {
            Value::String(text) => text,
            Value::Number(number) => number.to_string(),
            Value::Null => continue,
            _ => String::from("?"),
        };
        if column == Column::Unknown {
            oddities.add(Oddity::UnknownColumn, number, &name);
        }
        cells[column as usize] = Some(Cow::Owned(cell));
    }
    Some(cells)
}

/// Builds a report from the cells.
fn record<'a>(mut cells: Cells<'a>, line: &str, number: u64, oddities: &mut Oddities) -> Option<ProgressRecord<'a>> {
    let cell = |column: Column| cells[column as usize].as_deref();
    let fields = || -> Result<_, Fault> {
        let missing = (Oddity::MissingField, None);
        let real =
            |column: Column| cell(column).map(|text| parsed(text, column, |value: &f64| value.is_finite())).transpose();
        // the number of a task with several attempts is its partition
        let id = if cell(Column::Partition).is_some() { Column::Partition } else { Column::TaskId };
        let task = parsed(cell(id).ok_or(missing)?, id, |_: &u64| true)?;
        let attempt = cell(Column::Attempt).map_or(Ok(0), |text| parsed(text, Column::Attempt, |_: &u32| true))?;
        let time_s = real(Column::Time)?.ok_or(missing)? / 1e3;
        let (total, done) = (real(Column::Total)?, real(Column::Done)?);
        let (progress, column) = match (real(Column::Progress)?, done, total) {
            (Some(progress), _, _) => (progress, Column::Progress),
            (None, Some(done), Some(total)) if total > 0.0 => (done / total, Column::Done),
            (None, Some(_), Some(_)) => return Err((Oddity::NothingToDo, None)),
            _ => return Err(missing),
        };
        match progress {
            share if share > 1.0 => Err((Oddity::AboveOne, None)),
            share if share < 0.0 => Err((Oddity::BadNumber, Some(column))),
            _ => Ok((task, attempt, time_s, progress, total)),
        }
    };
    let (task, attempt, time_s, progress, total) = match fields() {
        Ok(fields) => fields,
        Err((oddity, column)) => {
            let blamed = column.map(|column| format!("{} is `{}`", column.text(), cell(column).unwrap_or_default()));
            oddities.add(oddity, number, blamed.as_deref().unwrap_or(line));
            return None;
        }
    };
    let mut text = |column: Column| cells[column as usize].take().unwrap_or_default();
    let [job, kind, stage, node] = [Column::Job, Column::Kind, Column::Stage, Column::Node].map(&mut text);
    Some(ProgressRecord { job, kind, stage, task, attempt, node, time_s, progress, total })
}

/// Parses the number in a column, if it is valid.
fn parsed<T: FromStr>(text: &str, column: Column, can_be: impl Fn(&T) -> bool) -> Result<T, Fault> {
    text.parse().ok().filter(can_be).ok_or((Oddity::BadNumber, Some(column)))
}

/// Cuts a stream of bytes into lines and reads them, independent of the sizes of the pieces.
#[derive(Clone, Debug)]
pub struct ProgressFeed {
    reader: ProgressReader,
    /// The incomplete line.
    open: Vec<u8>,
    /// True if the incomplete line is too long; it is dropped up to its end.
    dropped: bool,
    lines: u64,
    longest: usize,
}

impl Default for ProgressFeed {
    fn default() -> Self {
        Self::new(LONGEST_LINE)
    }
}

impl ProgressFeed {
    /// Creates a feed whose lines have at most this many bytes.
    pub fn new(longest: usize) -> Self {
        Self { reader: ProgressReader::new(), open: Vec::new(), dropped: false, lines: 0, longest }
    }

    /// Processes the next bytes; `take` gets each report with the number of its line.
    pub fn push(
        &mut self,
        bytes: &[u8],
        oddities: &mut Oddities,
        take: &mut dyn FnMut(ProgressRecord<'_>, u64, &mut Oddities),
    ) {
        for piece in bytes.split_inclusive(|&byte| byte == b'\n') {
            let ends = piece.ends_with(b"\n");
            if self.dropped {
                (self.dropped, self.lines) = (!ends, self.lines + u64::from(ends));
            } else if self.open.len() + piece.len() > self.longest {
                oddities.add(Oddity::LongLine, self.lines + 1, "");
                self.open.clear();
                (self.dropped, self.lines) = (!ends, self.lines + u64::from(ends));
            } else if !ends {
                self.open.extend_from_slice(piece);
            } else if self.open.is_empty() {
                self.line(piece, oddities, take);
            } else {
                let mut line = std::mem::take(&mut self.open);
                line.extend_from_slice(piece);
                self.line(&line, oddities, take);
                line.clear();
                self.open = line;
            }
        }
    }

    /// Ends the stream. A last line without a line break is read if it is a whole record, and otherwise counted as
    /// truncated.
    pub fn finish(&mut self, oddities: &mut Oddities, take: &mut dyn FnMut(ProgressRecord<'_>, u64, &mut Oddities)) {
        let line = std::mem::take(&mut self.open);
        if line.is_empty() {
            return;
        }
        // a number may be cut, so a row without its line end is not accepted; an object that closes is whole
        if line.trim_ascii_end().ends_with(b"}") {
            self.line(&line, oddities, take);
        } else {
            oddities.add(Oddity::CutLastLine, self.lines + 1, &String::from_utf8_lossy(&line));
        }
    }

    /// Restarts the stream, as for a rewritten file.
    pub fn restart(&mut self) {
        *self = Self::new(self.longest);
    }

    /// Returns the number of lines read.
    pub fn lines(&self) -> u64 {
        self.lines
    }

    fn line(
        &mut self,
        bytes: &[u8],
        oddities: &mut Oddities,
        take: &mut dyn FnMut(ProgressRecord<'_>, u64, &mut Oddities),
    ) {
        self.lines += 1;
        let number = self.lines;
        let Ok(text) = std::str::from_utf8(bytes) else {
            oddities.add(Oddity::BadLine, number, &String::from_utf8_lossy(bytes));
            return;
        };
        if let Some(record) = self.reader.read(text, number, oddities) {
            take(record, number, oddities);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const TABLE: &str = "kind\tstage\tpartition\tattempt\ttask_id\tt_ms\tdone\ttotal\n\
                         map\t1\t3\t0\t35\t1500\t0\t700\n\
                         map\t1\t3\t0\t35\t1750\t35\t700\n";

    fn read(text: &str, piece: usize) -> (Vec<(u64, u32, f64, f64)>, Oddities) {
        let (mut feed, mut oddities, mut found) = (ProgressFeed::new(200), Oddities::default(), Vec::new());
        let mut take =
            |r: ProgressRecord<'_>, _: u64, _: &mut Oddities| found.push((r.task, r.attempt, r.time_s, r.progress));
        for bytes in text.as_bytes().chunks(piece) {
            feed.push(bytes, &mut oddities, &mut take);
        }
        feed.finish(&mut oddities, &mut take);
        (found, oddities)
    }

    #[test]
    fn a_table_reads_the_same_in_pieces_of_any_length() {
        for piece in [1, 2, 7, 64, 10_000] {
            let (found, oddities) = read(TABLE, piece);
            assert_eq!(found, [(3, 0, 1.5, 0.0), (3, 0, 1.75, 0.05)]);
            assert_eq!(oddities.list().count(), 0);
        }
    }

    #[test]
    fn json_lines_say_the_same() {
        let text =
            "{\"job\":\"a\",\"kind\":\"map\",\"partition\":3,\"t_ms\":1750,\"progress\":0.05,\"node\":\"n\\u0031\"}";
        let (mut reader, mut oddities) = (ProgressReader::new(), Oddities::default());
        let record = reader.read(text, 1, &mut oddities).unwrap();
        assert_eq!((record.job.as_ref(), record.node.as_ref(), record.task, record.total), ("a", "n1", 3, None));
        assert_eq!((record.time_s, record.progress), (1.75, 0.05));
        // without the end of its line, but whole
        assert_eq!(read(text, 5).0, [(3, 0, 1.75, 0.05)]);
        assert!(
            ProgressReader::is_meant(text) && ProgressReader::is_meant(TABLE) && !ProgressReader::is_meant("{\"a\":1}")
        );
    }

    #[test]
    fn invalid_rows_are_counted_and_skipped() {
        let rows = [
            ("map\t1\t3\t0\t35\t1500\t0", Oddity::BadLine),
            ("map\t1\tx\t0\t35\t1500\t0\t700", Oddity::BadNumber),
            ("map\t1\t\t0\t\t1500\t0\t700", Oddity::MissingField),
            ("map\t1\t3\t0\t35\tNaN\t0\t700", Oddity::BadNumber),
            ("map\t1\t3\t0\t35\t1500\t0\t0", Oddity::NothingToDo),
            ("map\t1\t3\t0\t35\t1500\t701\t700", Oddity::AboveOne),
            ("map\t1\t3\t0\t35\t1500\t-1\t700", Oddity::BadNumber),
            ("map\t1\t3\t99999999999\t35\t1500\t1\t700", Oddity::BadNumber),
            ("{\"t_ms\":1,", Oddity::BadLine),
            ("{\"t_ms\":[1],\"task\":1,\"progress\":0}", Oddity::BadNumber),
        ];
        for (row, oddity) in rows {
            let (found, oddities) = read(&format!("{TABLE}{row}\n"), 1000);
            assert_eq!(found.len(), 2, "{row}");
            let counted: Vec<_> = oddities.list().map(|c| (c.kind, c.line, c.count)).collect();
            assert_eq!(counted, [(oddity, 4, 1)], "{row}");
        }
    }

    /// A user with ids such as `map_0001` must be told that the ids are the problem.
    #[test]
    fn a_bad_number_is_told_with_its_column() {
        for (row, told) in [
            ("map\t1\ttask_01\t0\t35\t1500\t0\t700", "partition (or task) is `task_01`"),
            ("map\t1\t\t0\tattempt_7\t1500\t0\t700", "task_id is `attempt_7`"),
            ("map\t1\t3\t-1\t35\t1500\t0\t700", "attempt is `-1`"),
            ("map\t1\t3\t0\t35\t12:00\t0\t700", "t_ms is `12:00`"),
            ("map\t1\t3\t0\t35\t1500\t0\tinf", "total is `inf`"),
            ("map\t1\t3\t0\t35\t1500\t-1\t700", "done is `-1`"),
            ("{\"t_ms\":1,\"task\":\"a\",\"progress\":0}", "partition (or task) is `a`"),
        ] {
            let (_, oddities) = read(&format!("{TABLE}{row}\n"), 1000);
            let counted = oddities.list().next().unwrap();
            assert_eq!((counted.kind, counted.example.as_str()), (Oddity::BadNumber, told));
        }
    }

    #[test]
    fn cut_long_and_headless_lines_and_unknown_columns_are_counted() {
        let (found, oddities) = read(&format!("1\t2\n{TABLE}{}\n{TABLE}map\t1\t3", "y".repeat(300)), 9);
        assert_eq!(found.len(), 4);
        for (kind, line) in [(Oddity::NoHeader, 1), (Oddity::LongLine, 5), (Oddity::CutLastLine, 9)] {
            assert_eq!(
                oddities.list().find(|c| c.kind == kind).map(|c| (c.count, c.line)),
                Some((1, line)),
                "{kind:?}"
            );
        }
        let (found, oddities) = read("task\tt_ms\tprogress\tmood\n1\t5\t0.5\tgood\n", 1000);
        assert_eq!((found.len(), oddities.count(Oddity::UnknownColumn)), (1, 1));
        assert_eq!(read("\u{feff}task\tt_ms\tprogress\r\n1\t5\t0.5\r\n", 3).0, [(1, 0, 0.005, 0.5)]);
    }

    proptest! {
        /// For any input, each line is a header, empty, a report, or counted.
        #[test]
        fn every_line_is_a_record_or_is_counted(bytes in prop::collection::vec(any::<u8>(), 0..300), piece in 1..40_usize) {
            let text = [TABLE.as_bytes(), &bytes, b"\n"].concat();
            let (mut feed, mut oddities, mut found) = (ProgressFeed::new(200), Oddities::default(), 0);
            let mut take = |record: ProgressRecord<'_>, _: u64, _: &mut Oddities| {
                found += 1;
                assert!((0.0..=1.0).contains(&record.progress) && record.time_s.is_finite());
            };
            for bytes in text.chunks(piece) {
                feed.push(bytes, &mut oddities, &mut take);
            }
            feed.finish(&mut oddities, &mut take);
            prop_assert_eq!(feed.lines(), text.iter().filter(|byte| **byte == b'\n').count() as u64);
            let empty = text.split(|byte| *byte == b'\n').filter(|line| std::str::from_utf8(line).is_ok_and(|line| line.trim_start_matches('\u{feff}').trim().is_empty())).count() as u64;
            let counted: u64 = oddities.list().filter(|c| c.kind != Oddity::UnknownColumn).map(|c| c.count).sum();
            // the split leaves an empty piece after the last line end
            prop_assert_eq!(found + 1 + empty - 1 + counted, feed.lines());
        }
    }
}
