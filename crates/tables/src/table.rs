//! The columns of a text with a header: separated by tabs, semicolons, commas or bars.

use std::borrow::Cow;

use tailspn_common::explain::{ErrorKind, Explain};

/// Maximum number of rows, of columns and of cells.
const MOST: [usize; 3] = [1_000_000, 1_000, 6_000_000];

/// A table.
#[derive(Clone, Debug, Default)]
pub struct Table {
    /// The names of the columns, all different.
    pub names: Vec<String>,
    /// The cells of each column.
    pub(crate) columns: Vec<Cells>,
    /// The line of each row in the text, from 1.
    pub(crate) lines: Vec<u64>,
}

/// The cells of a column.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Cells {
    /// Numbers; an empty cell is not a number.
    Numbers(Vec<f64>),
    /// Words, if a cell is neither empty nor a number.
    Words(Vec<String>),
}

/// Reason why a text is not a table.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TableError {
    /// A header alone, or nothing.
    #[error("the table has no rows")]
    Empty,
    /// A row with more or fewer cells than the header.
    #[error("line {line}: {found} cells, but the header has {columns}")]
    Ragged {
        /// The line, from 1.
        line: u64,
        /// Cells of the row.
        found: u64,
        /// Cells of the header.
        columns: u64,
    },
    /// A name that two columns have.
    #[error("the header has two columns of the name `{name}`")]
    Twice {
        /// The name.
        name: String,
    },
    /// Bytes that are not UTF-8.
    #[error("line {line}: the text is not UTF-8")]
    Text {
        /// The line, from 1.
        line: u64,
    },
    /// Too many rows or columns.
    #[error("the table has more than {most} {what}")]
    Large {
        /// Rows or columns.
        what: &'static str,
        /// The maximum.
        most: usize,
    },
}

impl Explain for TableError {
    fn kind(&self) -> ErrorKind {
        ErrorKind::Model
    }

    fn help(&self) -> Option<Cow<'static, str>> {
        Some("a table of runs has a header, and a row for each run; see docs/tables.md".into())
    }
}

/// Returns the separator of a header: the first of tab, semicolon, comma and bar that occurs in it.
fn separator(header: &[u8]) -> Option<u8> {
    [b'\t', b';', b',', b'|'].into_iter().find(|separator| header.contains(separator))
}

/// Returns the cells of a line without quotes; none for a line without a separator, or that is not UTF-8.
pub(crate) fn cells_of(line: &[u8]) -> Option<Vec<String>> {
    let line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
    let separator = separator(line)?;
    let line = std::str::from_utf8(line).ok()?.trim_end_matches('\r');
    Some(line.split(char::from(separator)).map(|cell| cell.trim().trim_matches('"').to_owned()).collect())
}

/// Returns the names of the columns of a text; none for a text without a header.
pub fn names_of(text: &[u8]) -> Vec<String> {
    cells_of(text.split(|&byte| byte == b'\n').next().unwrap_or_default()).unwrap_or_default()
}

/// Returns the number in a cell: a decimal number, or a time such as `1-02:03:04`, `02:03:04.5` or `03:04` in seconds.
pub(crate) fn number(text: &str) -> Option<f64> {
    if let Ok(number) = text.parse::<f64>() {
        return Some(number).filter(|number| number.is_finite());
    }
    let (days, clock) =
        text.split_once('-').map_or(Some((0.0, text)), |(days, clock)| Some((days.parse().ok()?, clock)))?;
    let parts: Vec<&str> = clock.split(':').collect();
    let is_digits = |part: &&&str| part.starts_with(|c: char| c.is_ascii_digit());
    if !(2..=3).contains(&parts.len()) || parts.iter().filter(is_digits).count() < parts.len() {
        return None;
    }
    let seconds = parts.iter().try_fold(0.0, |sum, part| Some(60.0 * sum + part.parse::<f64>().ok()?))?;
    Some(86_400.0 * days + seconds).filter(|seconds: &f64| seconds.is_finite())
}

impl Table {
    /// Reads a text. Empty lines are skipped.
    ///
    /// # Errors
    ///
    /// [`TableError`], with the line.
    pub fn read(text: &[u8]) -> Result<Self, TableError> {
        let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
        let header = text.split(|&byte| byte == b'\n').next().unwrap_or_default();
        let mut reader = csv::ReaderBuilder::new()
            .delimiter(separator(header).unwrap_or(b'\t'))
            .trim(csv::Trim::All)
            .from_reader(text);
        let headers = reader.headers().map_err(|_| TableError::Text { line: 1 })?;
        let names: Vec<String> = headers.iter().map(str::to_owned).collect();
        if names.len() > MOST[1] {
            return Err(TableError::Large { what: "columns", most: MOST[1] });
        }
        if let Some(name) = names.iter().enumerate().find(|(i, name)| names[..*i].contains(name)).map(|(_, name)| name)
        {
            return Err(TableError::Twice { name: name.clone() });
        }
        let has_decimal_commas = separator(header) == Some(b';');
        let most = MOST[0].min(MOST[2] / names.len().max(1));
        let mut cells: Vec<Vec<String>> = vec![Vec::new(); names.len()];
        let mut lines = Vec::new();
        let mut places = Places { text, byte: 0, line: 1 };
        for record in reader.records() {
            let record = record.map_err(|error| places.failed(&error))?;
            if lines.len() == most {
                return Err(TableError::Large { what: "rows", most });
            }
            lines.push(places.line(record.position()));
            cells.iter_mut().zip(&record).for_each(|(column, cell)| column.push(cell.to_owned()));
        }
        if lines.is_empty() {
            return Err(TableError::Empty);
        }
        Ok(Self {
            names,
            columns: cells.into_iter().map(|cells| Cells::of(cells, has_decimal_commas)).collect(),
            lines,
        })
    }

    /// Returns the number of rows.
    pub fn rows(&self) -> usize {
        self.lines.len()
    }

    /// Returns the position of a column.
    pub(crate) fn place(&self, name: &str) -> Option<usize> {
        self.names.iter().position(|own| own == name)
    }
}

/// Lines of a text by the bytes before them. The reader itself counts the lines wrongly if they end with two bytes.
struct Places<'t> {
    text: &'t [u8],
    byte: usize,
    line: u64,
}

impl Places<'_> {
    /// Returns the line of a record, from 1. Records are in the order of the text.
    fn line(&mut self, place: Option<&csv::Position>) -> u64 {
        let start = place.map_or(0, |place| place.byte() as usize).clamp(self.byte, self.text.len());
        let blank = self.text[start..].iter().take_while(|byte| matches!(byte, b'\r' | b'\n')).count();
        let passed = &self.text[self.byte..start + blank];
        self.line += passed.iter().filter(|byte| **byte == b'\n').count() as u64;
        self.byte = start + blank;
        self.line
    }

    fn failed(&mut self, error: &csv::Error) -> TableError {
        let line = self.line(error.position());
        match error.kind() {
            &csv::ErrorKind::UnequalLengths { len, expected_len, .. } => {
                TableError::Ragged { line, found: len, columns: expected_len }
            }
            _ => TableError::Text { line },
        }
    }
}

impl Cells {
    fn of(cells: Vec<String>, has_decimal_commas: bool) -> Self {
        let number = |cell: &String| match cell.as_str() {
            "" | "-" | "NA" | "nan" | "NaN" => Some(f64::NAN),
            text if has_decimal_commas => number(text).or_else(|| number(&text.replacen(',', ".", 1))),
            text => number(text),
        };
        match cells.iter().map(number).collect() {
            Some(numbers) => Self::Numbers(numbers),
            None => Self::Words(cells),
        }
    }

    /// Returns the numbers of a column of numbers.
    pub(crate) fn numbers(&self) -> Option<&[f64]> {
        match self {
            Self::Numbers(numbers) => Some(numbers),
            Self::Words(_) => None,
        }
    }

    /// Returns a cell as text.
    pub(crate) fn text(&self, row: usize) -> String {
        match self {
            Self::Numbers(numbers) if numbers[row].is_nan() => String::new(),
            Self::Numbers(numbers) => numbers[row].to_string(),
            Self::Words(words) => words[row].clone(),
        }
    }

    /// Returns true if a cell is empty.
    pub(crate) fn is_empty(&self, row: usize) -> bool {
        match self {
            Self::Numbers(numbers) => numbers[row].is_nan(),
            Self::Words(words) => words[row].is_empty(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_numbers_or_words() {
        let table = Table::read(b"\xef\xbb\xbfnodes,kind,runtime_s\r\n2,a,10.5\r\n\r\n4,\"b, c\",\r\n").unwrap();
        assert_eq!(table.names, ["nodes", "kind", "runtime_s"]);
        assert_eq!((table.rows(), &table.lines[..]), (2, &[2, 4][..]));
        assert_eq!(table.columns[1], Cells::Words(vec!["a".to_owned(), "b, c".to_owned()]));
        assert_eq!((table.columns[2].is_empty(0), table.columns[2].is_empty(1)), (false, true));
        assert_eq!(Table::read(b"a\tb\n1\t2\n").unwrap().columns[1], Cells::Numbers(vec![2.0]));
    }

    #[test]
    fn numbers_may_be_times_of_a_clock_or_have_decimal_commas() {
        assert_eq!(
            ["00:12:31", "1-00:00:10", "01:30.5", "12"].map(number),
            [Some(751.0), Some(86_410.0), Some(90.5), Some(12.0)]
        );
        assert_eq!(["2026-11-29", "a:b", ":", "1:", "inf", "1:2:3:4"].map(number), [None; 6]);
        let table = Table::read(b"Nodes;Time (min)\n2;12,5\n").unwrap();
        assert_eq!(table.columns[1], Cells::Numbers(vec![12.5]));
    }

    #[test]
    fn damaged_tables_are_refused_with_their_line() {
        let error = |text: &[u8]| Table::read(text).unwrap_err();
        assert_eq!(error(b""), TableError::Empty);
        assert_eq!(error(b"a,b\n"), TableError::Empty);
        assert_eq!(error(b"a,b\n1,2\n1\n"), TableError::Ragged { line: 3, found: 1, columns: 2 });
        assert_eq!(error(b"a,a\n1,2\n"), TableError::Twice { name: "a".to_owned() });
        assert_eq!(error(b"a,b\n1,2\n\xff,3\n"), TableError::Text { line: 3 });
    }
}
