//! A document as GitHub's Markdown.

use std::fmt::Write as _;

use crate::document::{Block, Cell, Document, Form, Show, Table};
use crate::render::look::{Look, words_and_code};
use crate::render::text::sentence;

/// Returns the document as Markdown; figures as text, if they have that form.
pub fn markdown(document: &Document<'_>, look: &Look) -> String {
    let mut parts = vec![format!("## {}\n", escaped(&document.title)), paragraph(&document.question)];
    parts.push(paragraph(&sentence(document.answer.pieces())));
    parts.extend(document.remarks.iter().map(|remark| format!("> **Note:** {}\n", prose(remark))));
    for block in &document.blocks {
        parts.push(match block {
            Block::Table(table) => table_markdown(table, look),
            Block::Figure(figure) => figure.text(look).map_or_else(String::new, |text| {
                format!("### {}\n\n{}\n\n```text\n{text}```\n", escaped(&figure.title), prose(&figure.caption))
            }),
            Block::Text(pieces) => paragraph(&sentence(pieces)),
        });
    }
    if !document.plan.is_empty() {
        parts.push(format!(
            "<details><summary>The plan</summary>\n\n```toml\n{}\n```\n\n</details>\n",
            document.plan.trim_end()
        ));
    }
    parts.push(document.provenance.iter().fold(String::new(), |mut list, [name, value]| {
        let _ = writeln!(list, "- {}: {}", escaped(name), escaped(value));
        list
    }));
    parts.retain(|part| !part.is_empty());
    parts.join("\n")
}

fn paragraph(text: &str) -> String {
    if text.is_empty() { String::new() } else { format!("{}\n", prose(text.trim())) }
}

/// Returns prose by tailspn: text between backticks stays code, and nothing else is markup.
fn prose(text: &str) -> String {
    let part = |(i, part): (usize, &str)| match i % 2 {
        1 => format!("`{}`", part.replace(['\n', '\r'], " ")),
        _ => escaped(part),
    };
    words_and_code(text).into_iter().enumerate().map(part).collect()
}

/// Escapes text so that it contains no markup.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '\\' | '`' | '*' | '_' | '[' | ']' | '<' | '>' | '#' | '|' | '&' | '~' => escaped.extend(['\\', letter]),
            '\n' | '\r' => escaped.push(' '),
            other => escaped.push(other),
        }
    }
    escaped
}

fn table_markdown(table: &Table, look: &Look) -> String {
    let is_seen = |show: Show| show != Show::Csv && (show != Show::Detail || look.detail);
    if !is_seen(table.show) {
        return String::new();
    }
    let columns: Vec<usize> = (0..table.columns.len()).filter(|&i| is_seen(table.columns[i].show)).collect();
    let line = |cells: &mut dyn Iterator<Item = String>| format!("| {} |\n", cells.collect::<Vec<_>>().join(" | "));
    let mut text = if table.title.is_empty() { String::new() } else { format!("### {}\n\n", escaped(&table.title)) };
    let note = paragraph(&table.full_note("In parentheses"));
    text += &if note.is_empty() { note } else { note + "\n" };
    let is_number = |&i: &usize| table.rows.iter().any(|row| row.get(i).is_some_and(|cell| !cell.is_text()));
    let header =
        |&i: &usize| if table.form == Form::Fields { String::new() } else { escaped(&table.columns[i].header()) };
    text += &line(&mut columns.iter().map(header));
    text += &line(&mut columns.iter().map(|i| if is_number(i) { "---:" } else { "---" }.to_owned()));
    let (rows, left) = table.shown_rows(look.rows);
    for (at, row) in rows.into_iter().map(|at| (at, &table.rows[at])) {
        let strong =
            |text: String| if table.mark == Some(at) && !text.is_empty() { format!("**{text}**") } else { text };
        text += &line(&mut columns.iter().map(|&i| strong(cell(row.get(i), !table.columns[i].unit.is_empty()))));
    }
    if left > 0 {
        let _ = writeln!(text, "\n{}", table.more_rows(left));
    }
    text
}

/// Returns a cell; the unit of a number may be in the header.
fn cell(cell: Option<&Cell>, has_unit: bool) -> String {
    match cell {
        // a `|` ends a cell, even in code
        Some(Cell::Text { text, prose: true, .. }) => prose(text).replace("\\|", "|").replace('|', "\\|"),
        Some(Cell::Text { text, .. }) => escaped(text),
        Some(Cell::Number(number)) => {
            let value = if has_unit { number.value_text() } else { number.text() };
            number.interval().map_or_else(|| value.clone(), |interval| format!("{value} ({interval})"))
        }
        Some(Cell::Empty) | None => String::new(),
    }
}
