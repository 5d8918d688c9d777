//! How sections look: the HTML of the page. All text goes through `maud`, which escapes it; the only text that does not are our own
//! pictures and style.

use maud::{DOCTYPE, Markup, PreEscaped, html};

use crate::report::page::Shown;
use crate::report::page::section::{Block, Cell, Figure, Number, Piece, Section, Table};

const STYLE: &str = include_str!("style.css");

/// What a browser may load for the page: nothing. Style is in it, and so are pictures.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; img-src data:";

/// Columns from which on a table becomes a list of cards on a phone.
const MANY_COLUMNS: usize = 4;

/// Letters of a row's name from which on one column less is too many.
const LONG_NAME: usize = 16;

/// Letters up to which a word in a table is not broken.
const LONGEST_WORD: usize = 16;

/// Columns up to which a table is only as wide as it must be.
const FEW_COLUMNS: usize = 3;

/// The whole page.
pub(super) fn document(sections: &[Section], compared: Option<&Section>, results: &[Shown]) -> String {
    let title = match sections {
        [only] => format!("{} – tailspn", only.title),
        _ => format!("{} results – tailspn", sections.len()),
    };
    html! {
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
                    @if let Some(compared) = compared {
                        (comparison(compared, sections))
                    }
                    @for (i, (section, shown)) in sections.iter().zip(results).enumerate() {
                        (result(i, section, shown))
                    }
                }
                footer { "Made by tailspn " (env!("CARGO_PKG_VERSION")) ". Stochastic numbers come with intervals; one in twenty 95 % intervals misses." }
            }
        }
    }
    .into_string()
}

/// Results side by side, with links to each.
fn comparison(compared: &Section, sections: &[Section]) -> Markup {
    html! {
        section.result.comparison id="comparison" {
            (head(compared))
            nav {
                ol {
                    @for (i, section) in sections.iter().enumerate() {
                        li { a href=(format!("#result-{}", i + 1)) { (section.title) } " " span.kind { (section.kind) } }
                    }
                }
            }
            (blocks(compared))
        }
    }
}

/// One result.
fn result(i: usize, section: &Section, shown: &Shown) -> Markup {
    html! {
        section.result id=(format!("result-{}", i + 1)) data-result=(i) {
            (head(section))
            (blocks(section))
            @if let Some((caption, svg)) = &shown.net {
                h3 { "The net" }
                figure.net {
                    img src=(data_uri(svg)) alt=(caption);
                    figcaption { (caption) }
                }
            }
            @if !section.plan.is_empty() {
                h3 { "The plan" }
                details {
                    summary { "Every key, as it was run" }
                    pre { (section.plan) }
                }
            }
            h3 { "Where the numbers come from" }
            dl {
                @for [name, value] in &section.provenance {
                    div { dt { (name) } dd { (value) } }
                }
            }
        }
    }
}

/// The name of a section, its question and its answer.
fn head(section: &Section) -> Markup {
    html! {
        header {
            p.kind { (section.kind) }
            h2 { (section.title) }
            p.question { (section.question) }
            @if !section.answer.is_empty() {
                p.answer { @for piece in &section.answer { (piece_of(piece)) } }
            }
            @for remark in &section.remarks { p.remark { (remark) } }
        }
    }
}

fn blocks(section: &Section) -> Markup {
    html! {
        div.blocks {
            @for block in &section.blocks {
                @match block {
                    Block::Figure(figure) => (figure_of(figure)),
                    Block::Table(table) => (table_of(table)),
                }
            }
        }
    }
}

fn figure_of(figure: &Figure) -> Markup {
    let picture = &figure.picture;
    html! {
        figure.half[figure.half] data-figure=(picture.name) {
            h3 { (figure.title) }
            div.picture role="img" aria-label=(format!("{}. {}", figure.title, figure.caption)) {
                @if !figure.half { div.wide { (PreEscaped(&picture.wide)) } }
                div.narrow { (PreEscaped(&picture.narrow)) }
            }
            figcaption { (figure.caption) }
        }
    }
}

fn table_of(table: &Table) -> Markup {
    let many = table.head.len() > MANY_COLUMNS || (table.head.len() == MANY_COLUMNS && has_long_names(table));
    let few = table.head.len() <= FEW_COLUMNS;
    // a column of words begins at the left, one with numbers ends at the right
    let words: Vec<bool> = (0..table.head.len()).map(|column| is_of_words(table, column)).collect();
    html! {
        div.table {
            h3 { (table.title) }
            @if !table.note.is_empty() { p.note { (table.note) } }
            table.cards[many].few[few] {
                thead { tr { @for (i, name) in table.head.iter().enumerate() { th.text[words[i]] scope="col" { (name) } } } }
                tbody {
                    @for row in &table.rows {
                        tr {
                            @for (i, (cell, name)) in row.iter().zip(&table.head).enumerate() {
                                (cell_of(cell, name, i == 0, words[i]))
                            }
                        }
                    }
                }
            }
        }
    }
}

/// Whether rows begin with words that need much room.
fn has_long_names(table: &Table) -> bool {
    table.rows.iter().any(|row| matches!(row.first(), Some(Cell::Text(name)) if name.chars().count() > LONG_NAME))
}

/// Whether a column has no numbers.
fn is_of_words(table: &Table, column: usize) -> bool {
    table.rows.iter().all(|row| matches!(row.get(column), Some(Cell::Text(_) | Cell::Empty) | None))
}

/// Whether no word of a cell has to be broken: paths and names of programs may be longer than any column.
fn is_whole(cell: &Cell) -> bool {
    match cell {
        Cell::Text(text) => text.split_whitespace().all(|word| word.chars().count() <= LONGEST_WORD),
        Cell::Number(_) | Cell::Empty => true,
    }
}

/// A cell; on a phone its column's name stands beside it.
fn cell_of(cell: &Cell, name: &str, first: bool, words: bool) -> Markup {
    html! {
        @match cell {
            _ if first => th.whole[is_whole(cell)] scope="row" { (content(cell)) },
            Cell::Empty => td data-name=(name) {},
            _ => td.text[words].whole[is_whole(cell)] data-name=(name) { (content(cell)) },
        }
    }
}

fn content(cell: &Cell) -> Markup {
    html! {
        @match cell {
            Cell::Empty => {},
            Cell::Text(text) => (text),
            Cell::Number(number) => (number_of(number)),
        }
    }
}

fn piece_of(piece: &Piece) -> Markup {
    html! {
        @match piece {
            Piece::Text(text) => (text),
            Piece::Number(number) => strong { (number_of(number)) },
        }
    }
}

/// A number with its interval; it says where it stands in the JSON, and with all its digits.
fn number_of(number: &Number) -> Markup {
    let ends = number.ends;
    html! {
        data value=(number.value) data-json=(number.at) data-low=[ends.map(|ends| ends[0])] data-high=[ends.map(|ends| ends[1])] {
            (number.text())
            @if let Some(interval) = number.interval() { " " small { (interval) } }
        }
    }
}

/// An SVG document as an address: a picture by itself, whose style is not that of the page, and which can run nothing.
fn data_uri(svg: &str) -> String {
    use std::fmt::Write as _;
    let mut uri = String::from("data:image/svg+xml,");
    for byte in svg.bytes() {
        match byte {
            b'A'..=b'Z'
            | b'a'..=b'z'
            | b'0'..=b'9'
            | b' '
            | b'-'
            | b'.'
            | b'_'
            | b'/'
            | b':'
            | b'='
            | b','
            | b';'
            | b'('
            | b')' => {
                uri.push(char::from(byte));
            }
            _ => {
                let _ = write!(uri, "%{byte:02X}");
            }
        }
    }
    uri
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hostile_text_stays_text() {
        let hostile = "</style><script>alert(1)</script>\" onload=\"x";
        let mut section = Section { kind: "estimate", title: hostile.to_owned(), ..Section::default() };
        section.question = hostile.to_owned();
        section.plan = hostile.to_owned();
        section.remarks.push(hostile.to_owned());
        section.provenance.push([hostile.to_owned(), hostile.to_owned()]);
        section.answer.push(hostile.into());
        let mut table = Table::new(hostile, hostile, &[hostile]);
        table.rows.push(vec![hostile.into()]);
        section.table(table);
        let html = document(&[section], None, &[]);
        assert!(!html.contains("<script") && !html.contains("\" onload=\"x"), "{html}");
        assert_eq!(html.matches("</style>").count(), 1, "{html}");
    }

    #[test]
    fn pictures_of_nets_are_addresses_without_quotes_or_brackets() {
        let uri = data_uri("<svg a=\"b\">50% #1 é</svg>");
        assert_eq!(uri, "data:image/svg+xml,%3Csvg a=%22b%22%3E50%25 %231 %C3%A9%3C/svg%3E");
    }
}
