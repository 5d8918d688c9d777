//! Text for XML that every PIPE version reads the same way: ASCII, with references for all other characters.

use std::fmt::Write as _;

/// Escapes a text between tags.
pub(crate) fn content(text: &str) -> String {
    escaped(text, false)
}

/// Escapes a text inside double quotes.
pub(crate) fn attribute(text: &str) -> String {
    escaped(text, true)
}

/// Returns true if XML 1.0 allows all characters of a text.
pub(crate) fn is_writable(text: &str) -> bool {
    text.chars().all(writable)
}

/// Returns true if XML 1.0 allows a character.
pub(crate) fn writable(c: char) -> bool {
    matches!(c, '\t' | '\n' | '\r' | ' '..='\u{D7FF}' | '\u{E000}'..='\u{FFFD}' | '\u{10000}'..)
}

fn escaped(text: &str, quoted: bool) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\n' | '\t' if !quoted => out.push(c),
            ' '..='~' => out.push(c),
            c if writable(c) => {
                let _ = write!(out, "&#{};", u32::from(c));
            }
            _ => out.push_str("&#65533;"),
        }
    }
    out
}
