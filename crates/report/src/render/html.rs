//! Documents as one HTML page without network access and scripts, readable on a phone and in print.
//!
//! All text goes through `maud`, which escapes it; only pictures and the style sheet of tailspn are unescaped. The page
//! loads nothing; its content security policy enforces this.

use maud::{DOCTYPE, Markup, PreEscaped, html};
use tailspn_common::visible::visible;

use crate::document::compare::comparison as compared_with;
use crate::document::{Bar, Block, Cell, Column, Document, Figure, Form, Number, Piece, Show, Table};
use crate::render::look::words_and_code;
use crate::report::PlotError;

const STYLE: &str = include_str!("style.css");

/// Content security policy of the page: the browser loads nothing. Styles and pictures are part of the page.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; img-src data:";

/// Maximum length in bytes of a heading that stays on one line, such as `> 1.5 m`.
const BRIEF: usize = 8;

/// Bytes of a name that needs little room.
const SHORT_NAME: usize = 12;

/// Maximum number of columns of a table on a phone; a table with more columns becomes a list of cards.
const MANY_COLUMNS: usize = 4;

/// Maximum number of characters of a row's name. If a name is longer, a table with [`MANY_COLUMNS`] columns also
/// becomes a list.
const LONG_NAME: usize = 16;

/// Maximum length of words that are not broken in a table.
const LONGEST_WORD: usize = 16;

/// Number of columns up to which a table is only as wide as necessary.
const FEW_COLUMNS: usize = 3;

/// A document with its plan and pictures.
#[derive(Debug)]
pub struct Part<'a> {
    /// The document.
    pub document: Document<'a>,
    /// A picture of the net: caption and SVG document.
    pub net: Option<(String, String)>,
}

/// Returns the page; several documents come with a comparison.
///
/// # Errors
///
/// [`PlotError`], which no report of this crate causes.
pub fn html(results: &[Part<'_>]) -> Result<String, PlotError> {
    let documents: Vec<&Document<'_>> = results.iter().map(|shown| &shown.document).collect();
    let title = match &documents[..] {
        [only] => format!("{} – tailspn", only.title),
        _ => format!("{} results – tailspn", results.len()),
    };
    let compared = compared_with(&documents).map(|compared| comparison(&compared, &documents)).transpose()?;
    let results: Vec<Markup> =
        results.iter().enumerate().map(|(i, shown)| result(i, shown)).collect::<Result<_, _>>()?;
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(POLICY);
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                meta name="generator" content=(concat!("tailspn ", env!("CARGO_PKG_VERSION")));
                title { (title) }
                style { (PreEscaped(STYLE)) }
            }
            body {
                main {
                    @if let Some(compared) = compared { (compared) }
                    @for result in results { (result) }
                }
                footer { "Made by tailspn " (env!("CARGO_PKG_VERSION")) "." }
            }
        }
    };
    Ok(visible(&page.into_string()).into_owned())
}

/// Returns the comparison of the results, with a link to each.
fn comparison(compared: &Document<'_>, documents: &[&Document<'_>]) -> Result<Markup, PlotError> {
    Ok(html! {
        section.result.comparison id="comparison" {
            (head(compared))
            nav {
                ol {
                    @for (i, one) in documents.iter().enumerate() {
                        li { a href=(format!("#result-{}", i + 1)) { (one.title) } " " span.kind { (one.kind) } }
                    }
                }
            }
            (blocks(compared)?)
        }
    })
}

/// Returns the section of one result.
fn result(i: usize, shown: &Part<'_>) -> Result<Markup, PlotError> {
    let document = &shown.document;
    Ok(html! {
        section.result id=(format!("result-{}", i + 1)) data-result=(i) {
            (head(document))
            (blocks(document)?)
            @if let Some((caption, svg)) = &shown.net {
                h3 { "The net" }
                figure.net {
                            // a frame that has the focus can be scrolled with the keyboard
                    div.frame tabindex="0" role="group" aria-label=(caption) { img src=(data_uri(svg)) alt=(caption); }
                    figcaption { (caption) }
                }
            }
            @if !document.plan.is_empty() {
                h3 { "The plan" }
                details {
                    summary { "All keys and values used in this run" }
                    pre { (document.plan) }
                }
            }
            h3 { "Where the numbers come from" }
            dl {
                @for [name, value] in &document.provenance {
                    div { dt { (name) } dd { (breakable(value)) } }
                }
            }
        }
    })
}

/// Returns the title of a document, its question and its answer.
fn head(document: &Document<'_>) -> Markup {
    html! {
        header {
            p.kind { (document.kind) }
            h2 { (document.title) }
            p.question { (prose(&document.question)) }
            @if !document.answer.is_empty() {
                p.answer { @for piece in document.answer.pieces() { (piece_of(piece)) } }
            }
            @for remark in &document.remarks { p.remark { (prose(&capitalised(remark))) } }
        }
    }
}

fn blocks(document: &Document<'_>) -> Result<Markup, PlotError> {
    let block = |block: &Block<'_>| match block {
        Block::Figure(figure) => figure_of(figure),
        Block::Table(table) => Ok(table_of(table)),
        Block::Text(pieces) => Ok(html! { p { @for piece in pieces { (piece_of(piece)) } } }),
    };
    let blocks: Vec<Markup> = document.blocks.iter().map(block).collect::<Result<_, _>>()?;
    Ok(html! { div.blocks { @for block in blocks { (block) } } })
}

fn figure_of(figure: &Figure<'_>) -> Result<Markup, PlotError> {
    let Some(picture) = figure.picture()? else { return Ok(Markup::default()) };
    Ok(html! {
        figure.half[figure.half] data-figure=(picture.name) {
            h3 { (figure.title) }
            div.picture role="img" aria-label=(format!("{}. {}", figure.title, figure.caption).replace('`', "")) {
                @if !figure.half { div.wide { (PreEscaped(&picture.wide)) } }
                div.narrow { (PreEscaped(&picture.narrow)) }
            }
            figcaption { (prose(&figure.caption)) }
        }
    })
}

fn table_of(table: &Table) -> Markup {
    if table.show == Show::Csv {
        return Markup::default();
    }
    let columns: Vec<usize> = (0..table.columns.len()).filter(|&i| table.columns[i].show != Show::Csv).collect();
    let many = columns.len() > MANY_COLUMNS || (columns.len() == MANY_COLUMNS && has_long_names(table));
    let few = columns.len() <= FEW_COLUMNS;
    // a page has room for every row that the table does not limit
    let (rows, left) = table.shown_rows(Some(table.most.unwrap_or(usize::MAX)));
    // columns of words are left-aligned, columns with numbers right-aligned
    let words: Vec<bool> = (0..table.columns.len()).map(|column| is_of_words(table, column)).collect();
    let note = table.full_note("Small numbers");
    let bars = table.bars();
    html! {
        div.table {
            @if !table.title.is_empty() { h3 { (table.title) } }
            @if !note.is_empty() { p.note { (prose_as(&note, typographic)) } }
            table.cards[many].few[few] {
                @if table.form != Form::Fields {
                    thead { tr {
                        @for &i in &columns { (header_of(&table.columns[i], words[i])) }
                        @if let Some(bar) = table.bar.filter(|_| bars.is_some()) { th.bar { (bar_title(table, bar)) } }
                    } }
                }
                tbody {
                    @for (at, row) in rows.iter().map(|&at| (at, &table.rows[at])) {
                        tr class=[(table.mark == Some(at)).then_some("chosen")] aria-current=[(table.mark == Some(at)).then_some("true")] {
                            @for &i in &columns {
                                (cell_of(row.get(i).unwrap_or(&Cell::Empty), &table.columns[i], i == 0, words[i]))
                            }
                            @if let Some((shares, mark)) = &bars { (bar_of(shares[at], *mark)) }
                        }
                    }
                }
            }
            @if left > 0 { p.note { (table.more_rows(left)) } }
        }
    }
}

/// Returns what the bars of a table are.
fn bar_title(table: &Table, bar: Bar) -> String {
    let mark = bar.mark.map_or_else(String::new, |(name, _)| format!(", | {name}"));
    format!("{}{mark}", table.columns[bar.column].title)
}

/// Returns the bar of a row, with a mark.
fn bar_of(share: f64, mark: Option<f64>) -> Markup {
    html! {
        td.bar aria-hidden="true" {
            div style=(format!("width: {:.1}%", 100.0 * share)) {}
            @if let Some(mark) = mark { i style=(format!("left: {:.1}%", 100.0 * mark)) {} }
        }
    }
}

/// Returns true if rows start with words that need much room.
fn has_long_names(table: &Table) -> bool {
    table
        .rows
        .iter()
        .any(|row| matches!(row.first(), Some(Cell::Text { text, .. }) if text.chars().count() > LONG_NAME))
}

/// Returns true if a column has no numbers or, in a list of names and values, if it has any words.
fn is_of_words(table: &Table, column: usize) -> bool {
    if table.form == Form::Fields {
        return table.rows.iter().any(|row| matches!(row.get(column), Some(Cell::Text { .. })));
    }
    table.rows.iter().all(|row| row.get(column).is_none_or(Cell::is_text))
}

/// Returns true if no word of a cell needs breaking: paths and program names may be longer than a column.
fn is_whole(cell: &Cell) -> bool {
    match cell {
        Cell::Text { text, .. } => has_short_words(text),
        Cell::Number(_) | Cell::Empty => true,
    }
}

/// Returns true if a cell needs less room than columns of words have.
fn is_short(cell: &Cell) -> bool {
    matches!(cell, Cell::Text { text, .. } if text.len() <= SHORT_NAME && has_short_words(text))
}

fn has_short_words(text: &str) -> bool {
    text.split_whitespace().all(|word| word.chars().count() <= LONGEST_WORD)
}

/// The heading of a column; a short one stays on one line.
fn header_of(column: &Column, words: bool) -> Markup {
    let header = column.header();
    html! { th.text[words].brief[header.len() <= BRIEF] scope="col" { (header) } }
}

/// Returns a cell. On a phone, the title of its column is next to it.
fn cell_of(cell: &Cell, column: &Column, first: bool, words: bool) -> Markup {
    let name = column.header();
    html! {
        @match cell {
            _ if first => th.whole[is_whole(cell)].short[is_short(cell)] scope="row" { (content(cell, column)) },
            Cell::Empty => td data-name=(name) {},
            _ => td.text[words].whole[is_whole(cell)].short[is_short(cell)] data-name=(name) { (content(cell, column)) },
        }
    }
}

fn content(cell: &Cell, column: &Column) -> Markup {
    html! {
        @match cell {
            Cell::Empty => {},
            Cell::Text { text, prose: true, .. } => (prose(text)),
            Cell::Text { text, .. } => (breakable(text)),
            Cell::Number(number) => (number_of(number, column.unit.is_empty())),
        }
    }
}

fn piece_of(piece: &Piece) -> Markup {
    html! {
        @match piece {
            Piece::Text(text) => (prose(text)),
            Piece::Number(number) => strong { (number_of(number, true)) },
        }
    }
}

/// Returns a number with its interval, its position in the JSON, and all its digits.
fn number_of(number: &Number, with_unit: bool) -> Markup {
    let end = |i: usize| number.ends().map(|ends| ends[i]).filter(|end| end.is_finite());
    let text = if with_unit { number.text() } else { number.value_text() };
    html! {
        data value=(number.measured.value) data-json=(number.at) data-low=[end(0)] data-high=[end(1)] {
            (typographic(&text).replace(' ', "\u{a0}"))
            @if let Some(interval) = number.interval() { " " small { (typographic(&interval)) } }
        }
    }
}

/// A text in which long words break after punctuation and before capital letters.
fn breakable(text: &str) -> Markup {
    html! { @for (i, piece) in pieces(text).into_iter().enumerate() { @if i > 0 { wbr; } (piece) } }
}

/// Splits a text at the places where its long words may break.
fn pieces(text: &str) -> Vec<&str> {
    if has_short_words(text) {
        return vec![text];
    }
    let (mut pieces, mut start, mut last) = (Vec::new(), 0, ' ');
    for (at, letter) in text.char_indices() {
        let is_start = letter.is_alphanumeric() && matches!(last, '/' | '.' | ':' | '_' | '-');
        if is_start || (last.is_lowercase() && letter.is_uppercase()) {
            pieces.push(&text[start..at]);
            start = at;
        }
        last = letter;
    }
    pieces.push(&text[start..]);
    pieces
}

/// Capitalises the first letter of a remark that starts with a word.
fn capitalised(text: &str) -> String {
    let word = text.split(' ').next().unwrap_or_default();
    if !word.trim_end_matches(':').bytes().all(|letter| letter.is_ascii_lowercase()) {
        return text.to_owned();
    }
    text[..word.len().min(1)].to_ascii_uppercase() + &text[word.len().min(1)..]
}

/// Returns prose by tailspn, with text between backticks as code.
fn prose(text: &str) -> Markup {
    prose_as(text, str::to_owned)
}

/// Returns prose with code, and with words changed by `changed`.
fn prose_as(text: &str, changed: fn(&str) -> String) -> Markup {
    html! {
        @for (i, part) in words_and_code(text).into_iter().enumerate() {
            @if i % 2 == 1 { code { (part) } } @else { (changed(part)) }
        }
    }
}

/// Replaces hyphens before numbers by minus signs in prose by tailspn.
fn typographic(text: &str) -> String {
    let mut last = ' ';
    let mut letters = text.chars().peekable();
    let mut typographic = String::with_capacity(text.len());
    while let Some(letter) = letters.next() {
        let minus = letter == '-' && !last.is_alphanumeric() && letters.peek().is_some_and(char::is_ascii_digit);
        typographic.push(if minus || (letter == '-' && last == 'e') { '\u{2212}' } else { letter });
        last = letter;
    }
    typographic
}

/// Returns an SVG document as a data URI: a separate picture that does not use the page's style and cannot run
/// scripts.
fn data_uri(svg: &str) -> String {
    use std::fmt::Write as _;
    let mut uri = String::from("data:image/svg+xml,");
    for byte in visible(svg).bytes() {
        if byte.is_ascii_alphanumeric() || b" -._/:=,;()".contains(&byte) {
            uri.push(char::from(byte));
        } else {
            let _ = write!(uri, "%{byte:02X}");
        }
    }
    uri
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::Topic;

    #[test]
    fn hostile_text_stays_text() {
        let hostile = "</style><script>alert(1)</script>\" onload=\"x";
        let mut section = Document { kind: "estimate", title: hostile.to_owned(), ..Document::default() };
        section.question = hostile.to_owned();
        section.plan = hostile.to_owned();
        section.remarks.push(hostile.to_owned());
        section.provenance.push([hostile.to_owned(), hostile.to_owned()]);
        section.answer.say(Topic::Answer, [hostile.into()]);
        section.table(Table::new(hostile, hostile, [hostile]).row([hostile.into()]));
        section.blocks.push(Block::Text(vec![hostile.into()]));
        let html = html(&[Part { document: section, net: None }]).unwrap();
        assert!(!html.contains("<script") && !html.contains("\" onload=\"x"), "{html}");
        assert_eq!(html.matches("</style>").count(), 1, "{html}");
    }

    #[test]
    fn backticks_mark_code_in_prose_and_stay_in_names() {
        let mut document = Document { question: "Does `a < b` hold?".to_owned(), ..Document::default() };
        document.remarks.push("an odd ` stays".to_owned());
        document.answer.say(Topic::Answer, ["Set `x`.".into()]);
        let table = Table::new("", "See `y`.", ["about", "note"]).row(["`name`".into(), Cell::prose("Use `z`.")]);
        document.table(table);
        let html = html(&[Part { document, net: None }]).unwrap();
        for part in ["Does <code>a &lt; b</code> hold?", "An odd ` stays", "Set <code>x</code>.", "See <code>y</code>."]
        {
            assert!(html.contains(part), "{part}: {html}");
        }
        assert!(html.contains(">`name`<") && html.contains(">Use <code>z</code>.<"), "{html}");
    }

    #[test]
    fn long_words_break_at_their_parts() {
        assert_eq!(
            pieces("0 save at NativeMethodAccessorImpl.java:0"),
            ["0 save at Native", "Method", "Accessor", "Impl.", "java:", "0"]
        );
        assert_eq!(pieces("GPU speed = 1.375"), ["GPU speed = 1.375"]);
    }

    #[test]
    fn pictures_of_nets_are_addresses_without_quotes_or_brackets() {
        let uri = data_uri("<svg a=\"b\">50% #1 é</svg>");
        assert_eq!(uri, "data:image/svg+xml,%3Csvg a=%22b%22%3E50%25 %231 %C3%A9%3C/svg%3E");
    }
}
