//! A table in a terminal. If it is too wide, in this order: intervals become `±`, words wrap,
//! columns that do not fit are dropped (and listed), and the remaining columns continue in a second
//! grid below. If even two columns are too wide, each row becomes a paragraph.

use unicode_width::UnicodeWidthStr;

use crate::document::{Cell, Form, Show, Table};
use crate::render::look::{Look, lines, unbroken, wrapped};

/// Number of blanks before a column.
const GAP: usize = 2;
/// Minimum number of characters of a column with wrapped words.
const NARROW: usize = 20;

/// Width of bars in characters: minimum and maximum.
const BAR: [usize; 2] = [4, 18];

/// A column prepared for layout: each cell has a left part and a remainder.
#[derive(Clone)]
struct Set {
    header: String,
    cells: Vec<[String; 2]>,
    /// True for a column of numbers: the left part of each cell is right-aligned.
    numbers: bool,
    /// True if the column may be omitted.
    room: bool,
    /// Width of the left part, and total width.
    width: [usize; 2],
    /// Width of the column if no word wraps.
    whole: usize,
}

impl Set {
    fn new(table: &Table, column: usize, short: bool, look: &Look) -> Self {
        let rows: Vec<&Vec<Cell>> = table.shown_rows(look.rows).0.into_iter().map(|at| &table.rows[at]).collect();
        let unit = &table.columns[column].unit;
        let cell = |row: &Vec<Cell>| match row.get(column) {
            Some(Cell::Text { text, .. }) => [look.words(text), String::new()],
            Some(Cell::Number(number)) => {
                let value = if unit.is_empty() { number.text() } else { number.value_text() };
                let interval = if short { number.short_interval() } else { number.interval() };
                [value, interval.unwrap_or_default()].map(|text| look.words(&text))
            }
            // a missing name needs no dash
            Some(Cell::Empty) | None => [if column == 0 { "" } else { "-" }.to_owned(), String::new()],
        };
        let any = |is: fn(&Cell) -> bool| rows.iter().any(|row| row.get(column).is_some_and(is));
        // a list of values mixes words and numbers, so all are left-aligned
        let mixed = table.form == Form::Fields && any(|cell| matches!(cell, Cell::Text { .. }));
        let numbers = !mixed && any(|cell| !cell.is_text());
        let header = look.words(&table.columns[column].header());
        let joined = |[left, right]: [String; 2]| {
            if mixed && !right.is_empty() { [format!("{left} {right}"), String::new()] } else { [left, right] }
        };
        let cells: Vec<_> = rows.iter().copied().map(cell).map(joined).collect();
        let room = table.columns[column].show == Show::Room;
        let mut set = Self { header, cells, numbers, room, width: [0, 0], whole: 0 };
        set.measure();
        set
    }

    fn measure(&mut self) {
        let widest = |part: usize| self.cells.iter().map(|cell| cell[part].width()).max().unwrap_or(0);
        let [mut left, right] = [widest(0), widest(1)];
        let right = if right > 0 { right + 1 } else { 0 };
        // a header longer than both parts pushes the numbers to the right
        left = left.max(self.header.width().saturating_sub(right));
        self.width = [left, left + right];
        self.whole = left + right;
    }

    /// Narrows the last column before bars: its head hangs over the bars, which have none.
    fn overhang(&mut self) {
        let title = self.header.split(" [").next().map_or(0, |title| title.width());
        let widest = |part: usize| self.cells.iter().map(|cell| cell[part].width()).max().unwrap_or(0);
        let right = self.width[1] - self.width[0];
        let left = widest(0).max(title.saturating_sub(right));
        self.width = [left, left + right];
    }

    /// Wraps words to a width in characters.
    fn cell(&self, row: usize) -> Vec<String> {
        let [left, right] = &self.cells[row];
        if !self.numbers {
            return if left.width() <= self.width[1] { vec![left.clone()] } else { lines(left, self.width[1]) };
        }
        let blanks = " ".repeat(self.width[0].saturating_sub(left.width()));
        vec![format!("{blanks}{left} {right}").trim_end().to_owned()]
    }

    fn heading(&self) -> Vec<String> {
        if !self.numbers {
            return lines(&self.header, self.width[1]);
        }
        let blanks = self.width[0].saturating_sub(self.header.width());
        vec![format!("{}{}", " ".repeat(blanks), self.header)]
    }

    /// Narrows a column of words to about this width, without breaking words.
    fn narrow(&mut self, width: usize) {
        let words = self.cells.iter().flat_map(|cell| unbroken(&cell[0])).chain(unbroken(&self.header));
        let longest = words.map(|word| word.width()).max().unwrap_or(0);
        let width = width.max(longest).min(self.width[1]);
        self.width = [width, width];
    }
}

/// Returns the lines of a table, and whether they end with bars.
pub(crate) fn grid(table: &Table, look: &Look) -> (String, bool) {
    if table.form == Form::Cards {
        return (cards(table, look), false);
    }
    let shown = |&column: &usize| match table.columns[column].show {
        Show::Csv => false,
        Show::Detail => look.detail,
        Show::Always | Show::Room => true,
    };
    let shown: Vec<usize> = (0..table.columns.len()).filter(shown).collect();
    let sets = |short| shown.iter().map(|&column| Set::new(table, column, short, look)).collect::<Vec<_>>();
    let mut columns = sets(false);
    let most = look.columns();
    if total(&columns) > most {
        columns = sets(true);
    }
    wrap(&mut columns, most);
    let mut dropped = Vec::new();
    while total(&columns) > most
        && !look.detail
        && let Some(last) = columns.iter().rposition(|set| set.room)
    {
        dropped.insert(0, columns.remove(last).header);
    }
    dropped.dedup();
    let mut text = String::new();
    let names = shown.iter().filter(|&&column| column < table.names.max(1)).count();
    let mut parts = parts(columns, names, most);
    parts.iter_mut().for_each(|part| widen(part, most));
    // a name and one long word next to it
    if parts.iter().any(|part| total(part) > most) {
        return (cards(table, look), false);
    }
    let has_bars = match &mut parts[..] {
        [only] => add_bars(only, table, most, look),
        // a stacked table has no room for bars
        _ => false,
    };
    let rows = table.shown_rows(look.rows).0;
    let marked = table.mark.and_then(|mark| rows.iter().position(|row| *row == mark));
    for part in parts {
        if !text.is_empty() {
            text.push('\n');
        }
        text += &lines_of(&part, table.form == Form::Grid, marked);
    }
    if !dropped.is_empty() {
        text += &wrapped(&format!("Columns that do not fit: {}.", dropped.join(", ")), look, "");
    }
    (text, has_bars)
}

/// Returns the width of columns, with the blanks before them.
fn total(columns: &[Set]) -> usize {
    columns.iter().map(|set| GAP + set.width[1]).sum()
}

/// Adds the bars of the shown rows, which take what is left of the line. Returns true if there is room for them.
fn add_bars(columns: &mut Vec<Set>, table: &Table, most: usize, look: &Look) -> bool {
    let Some((shares, mark)) = table.bars() else { return false };
    if let Some(last) = columns.last_mut().filter(|last| last.numbers) {
        last.overhang();
    }
    let room = most.saturating_sub(total(columns) + GAP).min(BAR[1]);
    if room < BAR[0] {
        return false;
    }
    let shown = table.shown_rows(look.rows).0.into_iter();
    let cells = shown.map(|at| [bar(shares[at], mark, room, look), String::new()]).collect();
    columns.push(Set { header: String::new(), cells, numbers: false, room: false, width: [room; 2], whole: room });
    true
}

/// Narrows columns of words, the widest first, until all columns fit or no column can be narrowed.
fn wrap(columns: &mut [Set], most: usize) {
    let mut open: Vec<usize> = (0..columns.len()).filter(|&i| !columns[i].numbers).collect();
    loop {
        let over = total(columns).saturating_sub(most);
        open.retain(|&i| over > 0 && columns[i].width[1] > NARROW);
        let Some(&widest) = open.iter().max_by_key(|&&i| columns[i].width[1]) else { return };
        let before = columns[widest].width[1];
        columns[widest].narrow((before - over.min(before - NARROW)).max(NARROW));
        // a long word keeps the column wide
        open.retain(|&i| i != widest || columns[i].width[1] < before);
    }
}

/// Distributes the remaining room of a grid to columns whose text wraps.
fn widen(columns: &mut [Set], most: usize) {
    let mut left = most.saturating_sub(total(columns));
    for set in columns.iter_mut().filter(|set| !set.numbers) {
        let more = left.min(set.whole - set.width[1]);
        set.width = [set.width[1] + more; 2];
        left -= more;
    }
}

/// Splits columns into grids that fit, each with the first `names` columns.
fn parts(columns: Vec<Set>, names: usize, most: usize) -> Vec<Vec<Set>> {
    let mut parts: Vec<Vec<Set>> = Vec::new();
    let mut width = 0;
    for set in columns {
        let own = GAP + set.width[1];
        match parts.last_mut().filter(|part| width + own <= most || part.is_empty()) {
            Some(part) => {
                width += own;
                part.push(set);
            }
            None => {
                let named: Vec<Set> = parts.first().into_iter().flatten().take(names).cloned().collect();
                // long names leave room for numbers
                let first = if 2 * total(&named) > most { named.into_iter().take(1).collect() } else { named };
                width = own + total(&first);
                parts.push(first.into_iter().chain([set]).collect());
            }
        }
    }
    parts
}

/// Returns a bar of a share of the width, with a mark; what is not 0 is visible.
fn bar(share: f64, mark: Option<f64>, width: usize, look: &Look) -> String {
    let cells = |share: f64| (share * width as f64).round() as usize;
    let full = if share > 0.0 { cells(share).max(1) } else { 0 };
    let mark = mark.map(|at| cells(at).min(width - 1));
    let cell = |i| match () {
        () if mark == Some(i) => look.either("│", "|"),
        () if i < full => look.either("█", "#"),
        () => " ",
    };
    (0..width).map(cell).collect()
}

fn lines_of(columns: &[Set], headed: bool, marked: Option<usize>) -> String {
    let mut text = String::new();
    let mut put = |cells: Vec<Vec<String>>, marked: bool| {
        let height = cells.iter().map(Vec::len).max().unwrap_or(0);
        for i in 0..height {
            let mut line = String::new();
            for (cell, set) in cells.iter().zip(columns) {
                let part = cell.get(i).map_or("", String::as_str);
                let gap = if marked && i == 0 && line.is_empty() { ">" } else { "" };
                line += &format!("{gap:GAP$}{part}{}", " ".repeat(set.width[1].saturating_sub(part.width())));
            }
            text += line.trim_end();
            text.push('\n');
        }
    };
    if headed && columns.iter().any(|set| !set.header.is_empty()) {
        put(columns.iter().map(Set::heading).collect(), false);
    }
    let rows = columns.first().map_or(0, |set| set.cells.len());
    (0..rows).for_each(|row| put(columns.iter().map(|set| set.cell(row)).collect(), marked == Some(row)));
    text
}

/// Returns a paragraph for each row: the name of the row, then title and value of each column.
fn cards(table: &Table, look: &Look) -> String {
    let mut text = String::new();
    let titles = table.columns.iter().skip(1).map(|column| column.header().width()).max().unwrap_or(0);
    for at in table.shown_rows(look.rows).0 {
        let row = &table.rows[at];
        let chosen = if table.mark == Some(at) { "> " } else { "" };
        let mut cells = row.iter().zip(&table.columns).filter(|(cell, column)| {
            **cell != Cell::Empty && (column.show != Show::Csv) && (column.show != Show::Detail || look.detail)
        });
        if let Some((name, _)) = cells.next() {
            text += &look.heading(&format!("{chosen}{}", look.words(&name.in_words())));
        }
        for (cell, column) in cells {
            let indent = " ".repeat(titles + 2 * GAP);
            let title = format!("{:GAP$}{:titles$}{:GAP$}", "", column.header(), "");
            let prose = lines(&look.words(&cell.in_words()), look.columns() - indent.len());
            for (i, line) in prose.iter().enumerate() {
                text += &format!("{}{line}\n", if i == 0 { &title } else { &indent });
            }
        }
    }
    text
}
