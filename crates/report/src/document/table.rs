//! Tables of a document: columns with a title for readers and a key for programs, rows of cells.

pub use tailspn_common::row::Show;

use crate::document::number::Number;
use crate::estimate::Doubt;
use crate::report::{Word, count, plain};

/// The layout of a table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Form {
    /// A header and a line for each row.
    #[default]
    Grid,
    /// Two columns, names and values, without a header.
    Fields,
    /// A paragraph for each row in a terminal: for cells with much text.
    Cards,
}

/// A table.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table {
    /// The table's title; may be empty.
    pub title: String,
    /// Advice on how to read the table; may be empty.
    pub note: String,
    /// The columns; the first ones name the row.
    pub columns: Vec<Column>,
    /// Number of columns that name the row, at least 1.
    pub names: usize,
    /// The rows, a cell for each column.
    pub rows: Vec<Vec<Cell>>,
    /// The table's layout.
    pub form: Form,
    /// The readers who see the table.
    pub show: Show,
    /// True if CSV has a column for each column of the table, rather than a row for each number.
    pub wide: bool,
    /// Confidence level of the intervals; 0 if the note states it.
    pub level: f64,
    /// Maximum number of rows for readers; CSV has all.
    pub most: Option<usize>,
    /// Positions of the rows that readers see by default; none for all. CSV has all.
    pub only: Option<Vec<usize>>,
    /// The chosen row.
    pub mark: Option<usize>,
    /// True if a row may be chosen: CSV then has a column for it.
    pub has_choice: bool,
    /// The column that is drawn as bars at the right edge of a terminal.
    pub bar: Option<Bar>,
}

/// The column of CSV for the chosen row.
pub(crate) const CHOSEN: &str = "chosen";

/// A column as bars.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bar {
    /// Position of the column.
    pub column: usize,
    /// A number of the same unit that is marked, and its name.
    pub mark: Option<(&'static str, f64)>,
}

/// A column of a table.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Column {
    /// The title for readers.
    pub title: String,
    /// The unit in the header; the numbers of the column are then shown without a unit.
    pub unit: Word,
    /// The key in CSV: the measure of a long table, the header of a wide one. Empty if CSV does not have the column.
    pub key: Word,
    /// Keys of the ends of intervals, in a wide table.
    pub ends: Option<[Word; 2]>,
    /// The readers who see the column.
    pub show: Show,
}

/// A cell of a table.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Cell {
    /// Nothing: the value does not exist, or does not apply.
    #[default]
    Empty,
    /// Words.
    Text {
        /// The words for readers.
        text: String,
        /// The words in CSV, if they differ.
        key: Option<String>,
        /// True for prose by tailspn, in which backticks mark code; false for names.
        prose: bool,
    },
    /// A number of the result.
    Number(Number),
}

impl Cell {
    /// Returns a text cell with different words for readers and for CSV.
    pub fn named(text: impl Into<String>, key: impl Into<String>) -> Self {
        Self::Text { text: text.into(), key: Some(key.into()), prose: false }
    }

    /// Returns a cell of prose, in which backticks mark code.
    pub(crate) fn prose(text: impl Into<String>) -> Self {
        Self::Text { text: text.into(), key: None, prose: true }
    }

    /// Returns the cell in a sentence.
    pub(crate) fn in_words(&self) -> String {
        match self {
            Self::Empty => String::new(),
            Self::Text { text, .. } => text.clone(),
            Self::Number(number) => number.in_words(),
        }
    }

    /// Returns true if the cell contains text or is empty.
    pub(crate) fn is_text(&self) -> bool {
        !matches!(self, Self::Number(_))
    }
}

impl From<&str> for Cell {
    fn from(text: &str) -> Self {
        text.to_owned().into()
    }
}

impl From<String> for Cell {
    fn from(text: String) -> Self {
        Self::Text { text, key: None, prose: false }
    }
}

impl From<Number> for Cell {
    fn from(number: Number) -> Self {
        Self::Number(number)
    }
}

impl<T: Into<Cell>> From<Option<T>> for Cell {
    fn from(cell: Option<T>) -> Self {
        cell.map_or(Self::Empty, Into::into)
    }
}

impl From<&str> for Column {
    fn from(title: &str) -> Self {
        Self::new(title)
    }
}

impl From<&&str> for Column {
    fn from(title: &&str) -> Self {
        Self::new(*title)
    }
}

impl From<String> for Column {
    fn from(title: String) -> Self {
        Self::new(title)
    }
}

impl Column {
    /// Returns a column that everyone sees and CSV does not have.
    pub fn new(title: impl Into<String>) -> Self {
        Self { title: title.into(), ..Self::default() }
    }

    /// States the unit in the header.
    #[must_use]
    pub fn unit(self, unit: impl Into<Word>) -> Self {
        Self { unit: unit.into(), ..self }
    }

    /// Puts the column into CSV.
    #[must_use]
    pub fn key(self, key: impl Into<Word>) -> Self {
        Self { key: key.into(), ..self }
    }

    /// Adds the ends of the intervals to wide CSV, as `KEY_low` and `KEY_high`.
    #[must_use]
    pub fn ends(self) -> Self {
        let ends = ["low", "high"].map(|end| format!("{}_{end}", self.key).into());
        Self { ends: Some(ends), ..self }
    }

    /// Adds the ends of the intervals to wide CSV under separate names.
    #[must_use]
    pub fn ends_as(self, low: &'static str, high: &'static str) -> Self {
        Self { ends: Some([low.into(), high.into()]), ..self }
    }

    /// Sets the visibility.
    #[must_use]
    pub fn show(self, show: Show) -> Self {
        Self { show, ..self }
    }

    /// Returns the title with its unit.
    pub(crate) fn header(&self) -> String {
        if self.unit.is_empty() {
            self.title.clone()
        } else {
            format!("{} [{}]", self.title, self.unit).trim().to_owned()
        }
    }
}

impl Table {
    /// Returns a table without rows.
    pub fn new<C: Into<Column>>(
        title: impl Into<String>,
        note: impl Into<String>,
        columns: impl IntoIterator<Item = C>,
    ) -> Self {
        let columns = columns.into_iter().map(Into::into).collect();
        Self { title: title.into(), note: note.into(), columns, ..Self::default() }
    }

    /// Returns a list of names and values without rows.
    pub fn fields(title: impl Into<String>) -> Self {
        Self { form: Form::Fields, ..Self::new(title, "", ["", ""]) }
    }

    /// Adds a row.
    #[must_use]
    pub fn row(mut self, cells: impl IntoIterator<Item = Cell>) -> Self {
        self.rows.push(cells.into_iter().collect());
        self
    }

    /// Adds rows.
    #[must_use]
    pub fn rows(mut self, rows: impl IntoIterator<Item = Vec<Cell>>) -> Self {
        self.rows.extend(rows);
        self
    }

    /// Makes this the table that CSV prints, with a column for each column that has a key.
    #[must_use]
    pub fn wide(self) -> Self {
        Self { wide: true, ..self }
    }

    /// Lays out each row as a paragraph in terminals.
    #[must_use]
    pub fn cards(self) -> Self {
        Self { form: Form::Cards, ..self }
    }

    /// Sets the readers who see the table.
    #[must_use]
    pub fn show(self, show: Show) -> Self {
        Self { show, ..self }
    }

    /// Sets the confidence level of the intervals.
    #[must_use]
    pub fn level(self, level: f64) -> Self {
        Self { level, ..self }
    }

    /// Limits the rows for readers.
    #[must_use]
    pub fn most(self, rows: usize) -> Self {
        Self { most: Some(rows), ..self }
    }

    /// Orders the rows that everyone sees by their positions in the result.
    #[must_use]
    pub fn sorted_by(mut self, order: impl Fn(usize, usize) -> std::cmp::Ordering) -> Self {
        let mut places: Vec<usize> = (0..self.rows.len()).collect();
        places.sort_by(|&a, &b| order(a, b));
        self.mark = self.mark.and_then(|mark| places.iter().position(|&place| place == mark));
        self.rows = places.into_iter().map(|place| std::mem::take(&mut self.rows[place])).collect();
        self
    }

    /// Iterates over the numbers that readers see.
    fn numbers(&self) -> impl Iterator<Item = &Number> {
        self.rows.iter().flatten().filter_map(|cell| match cell {
            Cell::Number(number) => Some(number),
            _ => None,
        })
    }

    /// Returns the note on the meaning of intervals, and on missing intervals; `intervals` describes their format.
    pub(crate) fn full_note(&self, intervals: &str) -> String {
        let mut parts: Vec<String> = vec![self.note.trim().to_owned()];
        let has = |is: fn(&Doubt) -> bool| self.numbers().any(|number| is(&number.measured.doubt));
        let mut shown = Vec::new();
        if self.level > 0.0 && has(|doubt| matches!(doubt, Doubt::Interval { .. })) {
            shown.push(format!("{}% confidence intervals", plain(100.0 * self.level)));
        }
        if self.level > 0.0 && has(|doubt| matches!(doubt, Doubt::Bounds { high, .. } if high.is_finite())) {
            shown.push("guaranteed bounds".to_owned());
        }
        if !shown.is_empty() {
            parts.push(format!("{intervals}: {}.", shown.join(", or ")));
        }
        parts.extend(self.without_intervals());
        parts.retain(|part| !part.is_empty());
        parts.join(" ")
    }

    /// Lists the numbers without an interval, by row and column, and the reasons.
    fn without_intervals(&self) -> Vec<String> {
        /// Maximum number of rows that are listed by name.
        const MOST: usize = 3;
        let mut reasons: Vec<(&str, Vec<&str>, Vec<&str>)> = Vec::new();
        for row in &self.rows {
            let name = match row.first() {
                Some(Cell::Text { text, .. }) => text.as_str(),
                _ => "",
            };
            let found = row.iter().zip(&self.columns).find_map(|(cell, column)| match cell {
                Cell::Number(number) => Some((number.measured.reason()?, column.title.as_str())),
                _ => None,
            });
            let Some((reason, column)) = found else { continue };
            match reasons.iter_mut().find(|(other, ..)| *other == reason) {
                Some((_, names, columns)) => {
                    names.push(name);
                    if !columns.contains(&column) {
                        columns.push(column);
                    }
                }
                None => reasons.push((reason, vec![name], vec![column])),
            }
        }
        // in a table with one column of numbers, the row says enough
        let is_wide = self.columns.len() > 2;
        let words = |(reason, names, columns): (&str, Vec<&str>, Vec<&str>)| {
            let rows = match names.len() {
                1..=MOST => names.join(", "),
                rows => format!("{rows} rows"),
            };
            let columns = if is_wide { format!("{} of ", columns.join(", ")) } else { String::new() };
            format!("No interval for {columns}{rows}: {reason}.")
        };
        reasons.into_iter().map(words).collect()
    }

    /// Returns the positions of the rows that readers see, up to a limit, and the number of further rows.
    pub(crate) fn shown_rows(&self, most: Option<usize>) -> (Vec<usize>, usize) {
        let shown = match (&self.only, most) {
            (Some(only), None) => only.clone(),
            _ => (0..most.or(self.most).unwrap_or(usize::MAX).min(self.rows.len())).collect(),
        };
        let left = self.rows.len() - shown.len();
        (shown, left)
    }

    /// Returns where the rows are that readers do not see; empty if they see all.
    pub(crate) fn more_rows(&self, left: usize) -> String {
        match (left, &self.only) {
            (0, _) => String::new(),
            (left, None) => format!("{} more rows are in the JSON.", count(left as u128)),
            (left, Some(_)) => format!("{} more rows: --verbose or --csv.", count(left as u128)),
        }
    }

    /// Returns what the bars draw: the share of the longest one for each row, and the share of the mark; no mark if it is
    /// far beyond all bars. `None` if all bars are equal, which says nothing.
    pub(crate) fn bars(&self) -> Option<(Vec<f64>, Option<f64>)> {
        /// Greatest multiple of the longest bar at which a mark is drawn.
        const FAR: f64 = 2.0;
        let bar = self.bar?;
        let value = |row: &Vec<Cell>| match row.get(bar.column) {
            Some(Cell::Number(number)) if number.measured.value.is_finite() => number.measured.value.max(0.0),
            _ => 0.0,
        };
        let values: Vec<f64> = self.rows.iter().map(value).collect();
        let most = values.iter().copied().fold(0.0, f64::max);
        let mark = bar.mark.map(|(_, at)| at).filter(|at| *at <= FAR * most);
        let scale = mark.unwrap_or(0.0).max(most);
        let is_equal = values.iter().all(|value| *value >= most);
        (!is_equal).then(|| (values.iter().map(|value| value / scale).collect(), mark.map(|at| at / scale)))
    }
}
