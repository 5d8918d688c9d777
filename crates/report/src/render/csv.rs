//! The tables of a document as CSV, numbers with full precision.
//!
//! Long: `measure,name,unit,value,low,high,level,samples`, a row for each number whose column has a key.
//! Wide: the table marked as such, with one column for each of its columns with a key. A missing value is an
//! empty cell.
//! Names in logs and nets are untrusted text. A spreadsheet runs text that looks like a formula; [`CsvText::Escaped`]
//! prevents that.

use std::borrow::Cow;

use tailspn_common::visible::visible;

use crate::document::{CHOSEN, Cell, Column, Document, Table};
use crate::estimate::Doubt;

const HEADER: [&str; 8] = ["measure", "name", "unit", "value", "low", "high", "level", "samples"];

/// Text cells of CSV, such as names in logs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CsvText {
    /// Unchanged but for characters that steer a terminal, for programs.
    #[default]
    AsIs,
    /// With an apostrophe before text that a spreadsheet would run as a formula: text that is not a
    /// number and starts with `=`, `+`, `-`, `@`, a tab or a line end.
    Escaped,
}

impl CsvText {
    fn of(self, cell: &str) -> Cow<'_, str> {
        let is_formula = || cell.starts_with(['=', '+', '-', '@', '\t', '\r', '\n']) && cell.parse::<f64>().is_err();
        if self == Self::Escaped && is_formula() { Cow::Owned(format!("'{cell}")) } else { Cow::Borrowed(cell) }
    }
}

/// Returns the CSV; `None` if no column has a key.
pub fn csv(document: &Document<'_>, text: CsvText) -> Option<String> {
    let rows = match document.tables().find(|table| table.wide) {
        Some(table) => wide(table),
        None => long(document),
    };
    if rows.len() < 2 { None } else { written(&rows, text) }
}

fn written(rows: &[Vec<String>], text: CsvText) -> Option<String> {
    let mut writer = ::csv::Writer::from_writer(Vec::new());
    let cells = |row: &Vec<String>| writer.write_record(row.iter().map(|cell| text.of(cell).into_owned()));
    rows.iter().try_for_each(cells).ok()?;
    String::from_utf8(writer.into_inner().ok()?).ok()
}

/// Returns the rows of a wide table, or only its header, for tables that are written part by part.
pub(crate) fn wide_rows(table: &Table, header: bool, text: CsvText) -> String {
    let rows = wide(table);
    written(if header { &rows[..1] } else { &rows[1..] }, text).unwrap_or_default()
}

fn long(document: &Document<'_>) -> Vec<Vec<String>> {
    let mut rows = vec![HEADER.map(str::to_owned).to_vec()];
    for table in document.tables() {
        for cells in &table.rows {
            let name = cells.first().map_or_else(String::new, value);
            for (cell, column) in cells.iter().zip(&table.columns).filter(|(_, column)| !column.key.is_empty()) {
                rows.extend(measure(column, &name, cell));
            }
        }
    }
    rows
}

/// Returns the row of a number, or of words instead of a number.
fn measure(column: &Column, name: &str, cell: &Cell) -> Option<Vec<String>> {
    let mut row = vec![column.key.to_string(), name.to_owned(), String::new(), value(cell)];
    row.resize(HEADER.len(), String::new());
    match cell {
        Cell::Empty => return None,
        Cell::Text { .. } => {}
        Cell::Number(number) => {
            row[2] = number.unit.to_string();
            [row[4], row[5]] = ends(cell);
            let measured = &number.measured;
            let sampled = matches!(measured.doubt, Doubt::Interval { .. } | Doubt::Unknown(_)) && measured.level > 0.0;
            if sampled {
                [row[6], row[7]] = [measured.level.to_string(), measured.samples.to_string()];
            }
        }
    }
    Some(row)
}

fn wide(table: &Table) -> Vec<Vec<String>> {
    let columns: Vec<(usize, &Column)> =
        table.columns.iter().enumerate().filter(|(_, column)| !column.key.is_empty()).collect();
    let keys = |(_, column): &(usize, &Column)| {
        [column.key.to_string()]
            .into_iter()
            .chain(column.ends.iter().flatten().map(ToString::to_string))
            .collect::<Vec<_>>()
    };
    let mut rows: Vec<Vec<String>> = vec![columns.iter().flat_map(keys).collect()];
    if table.has_choice {
        rows[0].push(CHOSEN.to_owned());
    }
    for (at, cells) in table.rows.iter().enumerate() {
        let mut row = Vec::new();
        for (i, column) in &columns {
            let cell = cells.get(*i).unwrap_or(&Cell::Empty);
            row.push(value(cell));
            row.extend(column.ends.iter().flat_map(|_| ends(cell)));
        }
        row.extend(table.has_choice.then(|| (table.mark == Some(at)).to_string()));
        rows.push(row);
    }
    rows
}

fn value(cell: &Cell) -> String {
    match cell {
        Cell::Empty => String::new(),
        Cell::Text { text, key, .. } => visible(key.as_ref().unwrap_or(text)).into_owned(),
        Cell::Number(number) => unsigned(number.measured.value),
    }
}

/// Returns the shortest text that reads back as the number; zero has no sign.
fn unsigned(number: f64) -> String {
    (number + 0.0).to_string()
}

/// Returns the ends of a number's interval; an open bound is empty.
fn ends(cell: &Cell) -> [String; 2] {
    let ends = match cell {
        Cell::Number(number) => number.ends(),
        Cell::Empty | Cell::Text { .. } => None,
    };
    let end = |end: f64| if end.is_finite() { unsigned(end) } else { String::new() };
    ends.map_or_else(Default::default, |ends| ends.map(end))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::Number;
    use crate::estimate::Measured;

    #[test]
    fn csv_is_written_in_long_and_wide_form() {
        let columns = [Column::new("job").key("job"), Column::new("mean").unit("ms").key("mean_s").ends()];
        let time = Measured { samples: 9, level: 0.95, ..Measured::between(2.0, Some(1.5), Some(2.5)) };
        let number = Number::measured("/mean", &time, "s").shown_in("ms", 1e3);
        let table = Table::new("", "", columns).row([Cell::named("Sort 1", "sort_1"), number.into()]);
        let mut document = Document::default();
        document.table(table.clone().wide());
        assert_eq!(csv(&document, CsvText::AsIs).unwrap(), "job,mean_s,mean_s_low,mean_s_high\nsort_1,2,1.5,2.5\n");
        let mut document = Document::default();
        document.fact("partial", Number::count("", 0));
        let mut table = table;
        table.columns[0].key = "".into();
        document.table(table);
        let header = HEADER.join(",");
        assert_eq!(
            csv(&document, CsvText::AsIs).unwrap(),
            format!("{header}\npartial,,,0,,,,\nmean_s,sort_1,s,2,1.5,2.5,0.95,9\n")
        );
        assert_eq!(csv(&Document::default(), CsvText::AsIs), None);
    }
    #[test]
    fn text_that_a_spreadsheet_would_run_is_escaped_and_numbers_are_not() {
        let of = |cell| CsvText::Escaped.of(cell).into_owned();
        for formula in
            ["=1+1", "+1+1", "-1-1", "@SUM(A1)", "\t=1", "\r=1", "\n=1", "=cmd|' /C calc'!A0", "-", "--1", "-node"]
        {
            assert_eq!(of(formula), format!("'{formula}"));
            assert_eq!(CsvText::AsIs.of(formula), formula);
        }
        for harmless in ["", "-1.5e-3", "+7", "-0", "-inf", "node-1", "a=b", "1-2", "'=1"] {
            assert_eq!(of(harmless), harmless);
        }
        let columns = [Column::new("job").key("=job"), Column::new("mean").unit("s").key("mean_s").ends()];
        let time = Measured { samples: 9, level: 0.95, ..Measured::between(-2.0, Some(-2.5), Some(-1.5)) };
        let table =
            Table::new("", "", columns).row([Cell::named("x", "@x,y"), Number::measured("/mean", &time, "s").into()]);
        let mut document = Document::default();
        document.table(table.wide());
        let expected = "'=job,mean_s,mean_s_low,mean_s_high\n\"'@x,y\",-2,-2.5,-1.5\n";
        assert_eq!(csv(&document, CsvText::Escaped).unwrap(), expected);
    }
}
