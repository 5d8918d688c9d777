//! The table of totals written by `strace -c`.

use crate::diagnose::syscalls::class::CallClass;
use crate::diagnose::syscalls::line::{decimal, whole};
use crate::diagnose::syscalls::observed::{ClassCalls, Form, totals_of};
use crate::diagnose::syscalls::tally::Tally;

/// Clock of totals, if given by the user.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Clock {
    /// Wall clock: `-w` was given.
    Wall,
    /// CPU time: `-w` was not given.
    Processor,
}

/// Minimum wall-clock time of a `stat` or `access` call, which strace stops twice; its CPU time is less.
const FASTEST_FILE_CALL_S: f64 = 4e-6;
/// Minimum wall-clock time that a server waits in each `accept`, unless the server is never idle.
const FASTEST_ACCEPT_S: f64 = 0.02;

/// Names of columns in their header and in `-U`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Column {
    Seconds,
    Calls,
    Errors,
    Name,
    Other,
}

/// Sums of a table of totals.
#[derive(Clone, Debug, Default)]
pub(super) struct Totals {
    columns: Vec<Column>,
    classes: [ClassCalls; 7],
    line: u64,
    has_total: bool,
}

impl Totals {
    /// Reads the head of a table.
    pub(super) fn head(&mut self, line: &[u8]) {
        let text = String::from_utf8_lossy(line).replace("% time", "%time");
        let column = |word: &str| match word {
            "seconds" | "total-time" => Column::Seconds,
            "calls" => Column::Calls,
            "errors" => Column::Errors,
            "syscall" | "name" => Column::Name,
            _ => Column::Other,
        };
        self.columns = text.split_whitespace().map(column).collect();
        self.line = self.line.max(1);
        self.has_total = false;
    }

    /// Reads a line of the table; returns true if it is the row of a call. Cells are identified by their count: only
    /// the cell of the errors may be empty. In a truncated line, the last cell may be incomplete: only
    /// `total` is known to be complete.
    pub(super) fn row(&mut self, line: &[u8], is_whole: bool) -> Result<bool, ()> {
        let text = line.trim_ascii();
        if text.is_empty() || text.starts_with(b"---") || text.starts_with(b"strace: ") {
            return Ok(false);
        }
        if text.starts_with(b"% time") {
            self.head(text);
            return Ok(false);
        }
        let cells: Vec<&[u8]> = text.split(u8::is_ascii_whitespace).filter(|cell| !cell.is_empty()).collect();
        let mut columns = self.columns.clone();
        if cells.len() + 1 == columns.len() {
            columns.retain(|column| *column != Column::Errors);
        }
        if cells.len() != columns.len() {
            return Err(());
        }
        let cell = |wanted| columns.iter().position(|column| *column == wanted).map(|at| cells[at]);
        let name = cell(Column::Name).ok_or(())?;
        let nanoseconds = cell(Column::Seconds).and_then(decimal).ok_or(())?;
        let calls = cell(Column::Calls).and_then(whole).ok_or(())?;
        let errors = cell(Column::Errors).map_or(Ok(0), |text| whole(text).ok_or(()))?;
        if name == b"total" {
            self.has_total = true;
            return Ok(false);
        }
        if !is_whole {
            return Err(());
        }
        if let Some(class) = CallClass::of_bytes(name) {
            let sum = &mut self.classes[class.index()];
            let found = totals_of(calls, errors, nanoseconds);
            sum.calls = sum.calls.saturating_add(found.calls);
            sum.errors = sum.errors.saturating_add(found.errors);
            sum.timed.merge(found.timed);
        }
        Ok(true)
    }

    pub(super) fn classes(&self) -> &[ClassCalls; 7] {
        &self.classes
    }

    /// True if the last table has its last row.
    pub(super) fn has_total(&self) -> bool {
        self.has_total
    }

    pub(super) fn line(&self) -> u64 {
        self.line
    }

    /// Returns the clock of the totals: wall time or CPU time. The table does not state its clock. Totals count as CPU
    /// time if calls on files are faster than strace allows, on a server that never waits.
    pub(super) fn form(&self, clock: Option<Clock>) -> Form {
        let wall = match clock {
            Some(clock) => clock == Clock::Wall,
            None => {
                let mut files = Tally::default();
                for class in [CallClass::Stat, CallClass::Access] {
                    files.merge(self.classes[class.index()].timed);
                }
                let below = |tally: Tally, limit| tally.mean().is_none_or(|mean| mean < limit);
                !(below(files, FASTEST_FILE_CALL_S)
                    && below(self.classes[CallClass::Accept.index()].timed, FASTEST_ACCEPT_S))
            }
        };
        if wall { Form::WallTotals } else { Form::ProcessorTotals }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &str = "\
% time     seconds  usecs/call     calls    errors syscall
------ ----------- ----------- --------- --------- ----------------
 64.56   15.863877       78147       203         9 accept4
 16.98    4.172827       31612       132           connect
 15.96    3.921107         399      9814       687 newfstatat
  1.35    0.331201         770       430        34 access
  0.10    0.002000        1000         2           statx
  0.10    0.002000        1000         2           read
------ ----------- ----------- --------- --------- ----------------
100.00   24.570892        2286     10747       730 total
";

    fn totals(text: &str) -> Totals {
        let mut totals = Totals::default();
        for line in text.lines() {
            totals.row(line.as_bytes(), true).unwrap();
        }
        totals
    }

    #[test]
    fn rows_are_added_by_class() {
        let totals = totals(TABLE);
        let class = |class: CallClass| &totals.classes()[class.index()];
        let stat = class(CallClass::Stat);
        assert_eq!((stat.calls, stat.errors, stat.timed.nanoseconds), (9816, 687, 3_923_107_000));
        let connect = class(CallClass::Connect);
        assert_eq!((connect.calls, connect.errors, connect.timed.nanoseconds), (132, 0, 4_172_827_000));
        assert_eq!((class(CallClass::Bind).calls, totals.form(None)), (0, Form::WallTotals));
    }

    #[test]
    fn a_row_without_its_end_may_be_cut_inside_the_name() {
        let mut cut = totals(TABLE.split("------\n100.00").next().unwrap());
        assert!(!cut.has_total());
        assert_eq!(cut.row(b"  1.35    0.331201         770       430        34 acc", false), Err(()));
        assert_eq!(cut.row(b"100.00   24.570892        2286     10747       730 total", false), Ok(false));
        assert!(cut.has_total());
        cut.head(b"% time     seconds  usecs/call     calls    errors syscall");
        assert!(!cut.has_total());
    }

    #[test]
    fn commas_and_other_columns_are_read() {
        let comma = totals(&TABLE.replace("64.56   15.863877", "64,56   15,863877"));
        assert_eq!(comma.classes()[0].timed.nanoseconds, 15_863_877_000);
        let wide = totals("% time  total-time  calls  min-time name\n 50.00 1.5 3 0.1 connect\n");
        assert_eq!(wide.classes()[CallClass::Connect.index()].timed, Tally { calls: 3, nanoseconds: 1_500_000_000 });
        let mut bad = totals(TABLE);
        assert_eq!(bad.row(b"  1.35    x         770       430        34 access", true), Err(()));
        assert_eq!(bad.row(b"1 2 3", true), Err(()));
    }

    #[test]
    fn processor_time_is_told_by_calls_too_fast_for_the_wall() {
        let text = "% time     seconds  usecs/call     calls    errors syscall\n 96.29    0.631062        2962       213         9 accept4\n \
                    3.05    0.020002           1     12694       887 newfstatat\n";
        assert_eq!(totals(text).form(None), Form::ProcessorTotals);
        assert_eq!(totals(text).form(Some(Clock::Wall)), Form::WallTotals);
        assert_eq!(totals(TABLE).form(Some(Clock::Processor)), Form::ProcessorTotals);
    }
}
