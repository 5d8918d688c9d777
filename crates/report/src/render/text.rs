//! A document as text for a terminal.

use unicode_width::UnicodeWidthStr;

use crate::document::{Block, Document, Piece};
use crate::render::look::{Look, lines, wrapped};
use crate::render::screen::{next_text, screen_text};
use crate::render::table::table_text;

/// Returns the text of a document: its six blocks if it has them and no details are wanted.
pub fn text(document: &Document<'_>, look: &Look) -> String {
    if let Some(screen) = document.screen.as_ref().filter(|_| !look.detail) {
        return screen_text(screen, &document.typed, look);
    }
    let mut parts = vec![head(document, look)];
    parts.extend(document.blocks.iter().filter_map(|block| match block {
        Block::Table(table) => table_text(table, look),
        Block::Figure(figure) => Some(look.heading(&look.words(&figure.title)) + &figure.text(look)?),
        Block::Text(pieces) => Some(wrapped(&sentence(pieces), look, "")),
    }));
    parts.push(provenance(document, look));
    if !look.detail {
        parts.push(next_text(&document.next, &document.typed, look));
    }
    parts.retain(|part| !part.is_empty());
    parts.join("\n")
}

/// Returns the origin of the numbers, one line each.
fn provenance(document: &Document<'_>, look: &Look) -> String {
    let width = document.provenance.iter().map(|[name, _]| name.width()).max().unwrap_or(0);
    let indent = " ".repeat(width + 2);
    let line = |[name, value]: &[String; 2]| {
        let blanks = " ".repeat(width + 2 - name.width());
        let lines = lines(&look.words(value), look.columns().saturating_sub(width + 2));
        format!("{}{blanks}{}\n", look.words(name), lines.join(&format!("\n{indent}")))
    };
    document.provenance.iter().map(line).collect()
}

/// Returns title, question, answer and remarks.
fn head(document: &Document<'_>, look: &Look) -> String {
    let mut text = String::new();
    if !document.title.is_empty() {
        text += &look.heading(&look.words(&document.title));
    }
    text += &wrapped(&document.question, look, "");
    text += &wrapped(&sentence(document.answer.pieces()), look, "");
    for remark in &document.remarks {
        text += &wrapped(&format!("Note: {remark}"), look, "  ");
    }
    text
}

/// Returns the words of a sentence, with the intervals of its numbers.
pub(crate) fn sentence<'p>(pieces: impl IntoIterator<Item = &'p Piece>) -> String {
    pieces.into_iter().map(Piece::words).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::{Column, Number, Table};
    use crate::estimate::Measured;

    fn number(value: f64) -> Number {
        Number::new("/x", value, "s").between(Some(value - 1.0), Some(value + 1.0))
    }

    fn document() -> Document<'static> {
        let columns = [Column::new("policy"), Column::new("mean").unit("s").key("time"), Column::new("p95").unit("s")];
        let table = Table::new("Times", "", columns).level(0.95);
        let mut document = Document {
            title: "a job".to_owned(),
            answer: vec!["It takes ".into(), number(50.0).into(), ".".into()].into(),
            remarks: vec!["the run was stopped early".to_owned()],
            provenance: vec![["seed".to_owned(), "7".to_owned()]],
            ..Document::default()
        };
        let at_least = Number::measured("/y", &Measured::at_least(3.0), "s");
        document.table(table.row(["none".into(), number(50.0).into(), number(60.0).into()]).row([
            "late".into(),
            number(40.0).into(),
            at_least.into(),
        ]));
        document.fact("partial", Number::count("/partial", 1));
        document
    }

    #[test]
    fn a_document_fits_the_line() {
        let expected = "a job\nIt takes 50.0 s (49.0 to 51.0).\nNote: the run was stopped early\n\nTimes\n\
                        Behind each number: 95% confidence intervals.\n  policy  mean [s]           p95 [s]\n  \
                        none    50.0 49.0 to 51.0  60.0 59.0 to 61.0\n  late    40.0 39.0 to 41.0   ≥ 3\n\nseed  7\n";
        assert_eq!(text(&document(), &Look::default()), expected);
        for width in 40..80 {
            let text = text(&document(), &Look { width, ..Look::default() });
            assert!(text.lines().all(|line| line.width() <= width), "{width}:\n{text}");
            assert!(text.contains("60.0") && text.contains("p95"), "{text}");
        }
        assert!(text(&document(), &Look { unicode: false, width: 40, ..Look::default() }).is_ascii());
    }

    #[test]
    fn long_words_stay_whole() {
        assert_eq!(lines("a bb /long/path/of/a/file c", 6), ["a bb", "/long/path/of/a/file", "c"]);
    }
}
