//! Columns of text: aligned for a terminal, or with bars for Markdown.

use unicode_width::UnicodeWidthStr;

/// To which side a column is pushed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Align {
    /// Text.
    Left,
    /// Numbers.
    Right,
}

/// Rows of cells under a header.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Table {
    columns: Vec<(String, Align)>,
    rows: Vec<Vec<String>>,
}

/// Blanks between two columns.
const GAP: &str = "  ";

impl Table {
    /// A table without rows.
    pub fn new<S: Into<String>>(columns: impl IntoIterator<Item = (S, Align)>) -> Self {
        Self { columns: columns.into_iter().map(|(name, align)| (name.into(), align)).collect(), rows: Vec::new() }
    }

    /// Adds a row; cells that are missing stay empty, cells that are too many are left out.
    pub fn push<S: Into<String>>(&mut self, cells: impl IntoIterator<Item = S>) {
        let mut row: Vec<String> = cells.into_iter().map(Into::into).collect();
        row.resize(self.columns.len(), String::new());
        self.rows.push(row);
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    fn widths(&self) -> Vec<usize> {
        let cells = |i: usize| self.rows.iter().map(move |row| row[i].width());
        self.columns.iter().enumerate().map(|(i, (name, _))| cells(i).fold(name.width(), usize::max)).collect()
    }

    /// Aligned columns, two blanks apart and two from the margin; no blanks at the end of a line.
    pub fn text(&self) -> String {
        let widths = self.widths();
        let header: Vec<String> = self.columns.iter().map(|(name, _)| name.clone()).collect();
        let mut text = String::new();
        for row in std::iter::once(&header).chain(&self.rows) {
            let mut line = String::new();
            for ((cell, width), (_, align)) in row.iter().zip(&widths).zip(&self.columns) {
                let blanks = " ".repeat(width - cell.width());
                line.push_str(GAP);
                match align {
                    Align::Left => line.extend([cell.as_str(), &blanks]),
                    Align::Right => line.extend([blanks.as_str(), cell]),
                }
            }
            text.push_str(line.trim_end());
            text.push('\n');
        }
        text
    }

    /// A table of GitHub's Markdown.
    pub fn markdown(&self) -> String {
        let line = |cells: &mut dyn Iterator<Item = String>| format!("| {} |\n", cells.collect::<Vec<_>>().join(" | "));
        let escaped = |cell: &String| cell.replace('|', "\\|");
        let mut text = line(&mut self.columns.iter().map(|(name, _)| escaped(name)));
        let rule = |align: &Align| if *align == Align::Right { "---:" } else { "---" };
        text.push_str(&line(&mut self.columns.iter().map(|(_, align)| rule(align).to_owned())));
        for row in &self.rows {
            text.push_str(&line(&mut row.iter().map(escaped)));
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> Table {
        let mut table = Table::new([("name", Align::Left), ("value [s]", Align::Right)]);
        table.push(["größe", "1.5"]);
        table.push(["a|b"]);
        table
    }

    #[test]
    fn columns_are_aligned_by_what_is_seen() {
        assert_eq!(table().text(), "  name   value [s]\n  größe        1.5\n  a|b\n");
    }

    #[test]
    fn markdown_escapes_bars() {
        assert_eq!(table().markdown(), "| name | value [s] |\n| --- | ---: |\n| größe | 1.5 |\n| a\\|b |  |\n");
    }
}
