//! A table as text for a terminal.

use crate::document::{Show, Table};
use crate::render::grid::grid;
use crate::render::look::{Look, wrapped};

/// Returns what the bars of a table are.
fn bars_note(table: &Table, look: &Look) -> String {
    let (Some(bar), Some((_, drawn))) = (table.bar, table.bars()) else { return String::new() };
    let title = &table.columns[bar.column].title;
    let mark = bar.mark.filter(|_| drawn.is_some());
    let mark = mark.map_or_else(String::new, |(name, _)| format!("; {} marks the {name}", look.either("│", "|")));
    format!("Bar: {title}{mark}.")
}

/// Returns a table for readers; none for a table of details or of CSV.
pub(super) fn table_text(table: &Table, look: &Look) -> Option<String> {
    let hidden = match table.show {
        Show::Csv => true,
        Show::Detail => !look.detail,
        Show::Always | Show::Room => false,
    };
    if hidden {
        return None;
    }
    let mut text = String::new();
    if !table.title.is_empty() {
        text += &look.heading(&look.words(&table.title));
    }
    text += &wrapped(&table.full_note("Behind each number"), look, "");
    let (lines, has_bars) = grid(table, look);
    text += &lines;
    let (_, left) = table.shown_rows(look.rows);
    let more = table.more_rows(left);
    let bars = if has_bars { bars_note(table, look) } else { String::new() };
    text += &wrapped(format!("{more} {bars}").trim(), look, "");
    Some(text)
}

#[cfg(test)]
mod tests {
    use unicode_width::UnicodeWidthStr;

    use super::*;
    use crate::document::Cell;

    #[test]
    fn long_words_of_cells_stay_whole() {
        let table = Table::new("", "", ["name", "words"]).row([Cell::from("x"), "many words ".repeat(12).into()]);
        let text = table_text(&table, &Look { width: 40, ..Look::default() }).unwrap();
        assert!(text.lines().count() > 4 && text.lines().all(|line| line.width() <= 40), "{text}");
        let table = Table::new("", "", ["name", "from"]).row([Cell::from("n".repeat(20)), "w".repeat(25).into()]);
        let expected = format!("{}\n  from  {}\n", "n".repeat(20), "w".repeat(25));
        assert_eq!(table_text(&table, &Look { width: 40, ..Look::default() }), Some(expected));
    }
}
