//! Tables from rows: titles, units, digits, keys and positions follow from the fields of the struct.

use tailspn_common::row::{Digits, Row, Setting, Shown, Unit};

use crate::document::{Bar, CHOSEN, Cell, Column, Number, Show, Table};

/// Rows on their way to a table. Positions of columns come from [`field!`](tailspn_common::field), so that a name without
/// a field does not compile.
#[derive(Debug)]
pub struct Rows {
    table: Table,
    /// Number of columns before those of the fields: the settings.
    lead: usize,
}

impl Table {
    /// Starts a table of all rows, which stand in the JSON at the pointer `at`.
    pub fn of<R: Row>(title: impl Into<String>, at: &str, rows: &[R]) -> Rows {
        let names: Vec<&str> =
            rows.first().map_or_else(Vec::new, |row| row.set().0.iter().map(|(name, _)| &**name).collect());
        let is_taken = |name: &str| name == CHOSEN || R::COLUMNS.iter().any(|column| column.key == name);
        let key = |name: &str| if is_taken(name) { format!("set.{name}") } else { name.to_owned() };
        let mut columns: Vec<Column> = names.iter().map(|&name| Column::new(name).key(key(name))).collect();
        let mut cells: Vec<Vec<Cell>> = vec![Vec::new(); rows.len()];
        for (place, name) in names.iter().enumerate() {
            let value = |row: &R| row.set().get(name).map_or(Shown::Nothing, Setting::shown);
            let values: Vec<Shown> = rows.iter().map(value).collect();
            // a setting that never changes names no row
            if names.len() > 1 && rows.len() > 1 && values.windows(2).all(|pair| pair[0] == pair[1]) {
                columns[place].show = Show::Csv;
            }
            put(&mut cells, values, Unit { digits: Digits::Plain, ..Unit::NONE }, |i| {
                format!("{at}/{i}/set/{}", escaped(name))
            });
        }
        for column in R::COLUMNS {
            let values: Vec<Shown> = rows.iter().map(column.get).collect();
            let has_ends = values.iter().any(|value| matches!(value, Shown::Number(_, Some(_))));
            // without an interval, `96%` is clearer than a `%` in the head
            let unit = if column.unit.digits == Digits::Percent && !has_ends { "" } else { column.unit.shown.0 };
            let head = Column::new(column.title.replace('_', " ")).key(column.key).unit(unit).show(column.show);
            let is_empty = !rows.is_empty() && values.iter().all(|value| *value == Shown::Nothing);
            let head = if is_empty { head.show(Show::Csv) } else { head };
            columns.push(if has_ends { head.ends() } else { head });
            put(&mut cells, values, column.unit, |i| format!("{at}/{i}/{}", column.key));
        }
        let table = Table { names: names.len(), ..Table::new(title, "", columns) };
        Rows { table: table.rows(cells).wide(), lead: names.len() }
    }
}

impl Number {
    /// Returns the number of a row; `None` if it has none.
    pub fn of<R: Row>(at: &str, rows: &[R], row: usize, column: usize) -> Option<Self> {
        let column = &R::COLUMNS[column];
        match (column.get)(rows.get(row)?) {
            Shown::Number(value, ends) => Some(number(format!("{at}/{row}/{}", column.key), value, ends, column.unit)),
            Shown::Nothing | Shown::Words(_) => None,
        }
    }
}

impl Rows {
    /// Replaces the title of a column by one that depends on the question.
    #[must_use]
    pub fn head(mut self, column: usize, title: impl Into<String>) -> Self {
        self.table.columns[self.lead + column].title = title.into();
        self
    }

    /// States a unit that depends on the question, such as a currency.
    #[must_use]
    pub fn unit(mut self, column: usize, unit: impl Into<String>) -> Self {
        self.table.columns[self.lead + column].unit = unit.into().into();
        self
    }

    /// Shows a column in another unit; `factor` new units are one unit of JSON.
    #[must_use]
    pub fn shown_in(mut self, column: usize, unit: &'static str, factor: f64) -> Self {
        let column = self.lead + column;
        self.table.columns[column].unit = unit.into();
        for row in &mut self.table.rows {
            if let Cell::Number(number) = &mut row[column] {
                *number = number.clone().shown_in(unit, factor);
            }
        }
        self
    }

    /// Limits the rows that readers see by default.
    #[must_use]
    pub fn only(mut self, rows: Option<Vec<usize>>) -> Self {
        self.table.only = rows;
        self
    }

    /// Draws a column as bars at the right edge, with a mark at a number.
    #[must_use]
    pub fn bar(mut self, column: usize, mark: Option<(&'static str, f64)>) -> Self {
        self.table.bar = Some(Bar { column: self.lead + column, mark });
        self
    }

    /// Marks a row as chosen.
    #[must_use]
    pub fn mark(mut self, row: Option<usize>) -> Self {
        self.table.has_choice = true;
        self.table.mark = row;
        self
    }

    /// Returns the table, with advice on how to read it.
    pub fn note(self, note: impl Into<String>) -> Table {
        Table { note: note.into(), ..self.table }
    }
}

/// Returns a key as a part of a JSON pointer.
fn escaped(key: &str) -> String {
    key.replace('~', "~0").replace('/', "~1")
}

/// Puts a column into the rows.
fn put(cells: &mut [Vec<Cell>], values: Vec<Shown>, unit: Unit, at: impl Fn(usize) -> String) {
    let factor = unit.shown.1;
    let sizes = || {
        values
            .iter()
            .filter_map(|value| if let Shown::Number(value, _) = value { Some((value * factor).abs()) } else { None })
    };
    let least = sizes().filter(|size| *size > 0.0).fold(f64::INFINITY, f64::min);
    let is_whole = matches!(unit.digits, Digits::Column(_)) && sizes().all(|size| size.fract() == 0.0);
    let rule = if is_whole { Digits::Whole } else { unit.digits };
    for (i, value) in values.iter().enumerate() {
        cells[i].push(match value {
            Shown::Nothing => Cell::Empty,
            Shown::Words(words) => words.clone().into_owned().into(),
            Shown::Number(value, ends) => digits(number(at(i), *value, *ends, unit), rule, least).into(),
        });
    }
}

fn number(at: String, value: f64, ends: Option<[f64; 2]>, unit: Unit) -> Number {
    let [low, high] = ends.map_or([None; 2], |ends| ends.map(Some));
    Number::new(at, value, unit.name).between(low, high).shown_in(unit.shown.0, unit.shown.1)
}

/// Applies the rule for digits; `least` is the smallest number of the column that is not 0, as it is shown.
fn digits(number: Number, rule: Digits, least: f64) -> Number {
    let magnitude = |size: f64| if size > 0.0 && size.is_finite() { size.log10().floor() as i32 } else { 0 };
    let size = (number.measured.value * number.factor).abs();
    let decimals = match rule {
        Digits::Plain | Digits::Whole => return number,
        Digits::Significant(digits) => (i32::from(digits) - 1 - magnitude(size)).max(0),
        Digits::Column(digits) => (i32::from(digits) - 1 - magnitude(least)).max(0),
        Digits::Percent => return Number { clip: Some([1.0, 99.0]), ..number.rounded(0.15) },
    };
    // two digits of the half width stand behind the point
    let half = 1.5 * 10_f64.powi(1 - decimals) / number.factor.abs();
    number.rounded(half)
}
