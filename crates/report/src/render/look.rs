//! The look of text, which the caller chooses, and wrapping of prose.

use unicode_width::UnicodeWidthStr;

/// The capabilities of the terminal, and the preferences of the reader.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Look {
    /// True if block and line characters beyond ASCII may be used. Default true.
    pub unicode: bool,
    /// Characters in a line; values below 40 count as 40. Default 80.
    pub width: usize,
    /// Text before and after a heading, such as terminal codes. Default none.
    pub heading: [&'static str; 2],
    /// Maximum rows of a table, instead of the table's limit. Default none.
    pub rows: Option<usize>,
    /// True if tables and columns for details are shown. Default false.
    pub detail: bool,
}

impl Default for Look {
    fn default() -> Self {
        Self { unicode: true, width: 80, heading: ["", ""], rows: None, detail: false }
    }
}

/// Minimum number of characters in a line.
const NARROWEST: usize = 40;

impl Look {
    /// Returns `text` as a heading.
    pub(crate) fn heading(&self, text: &str) -> String {
        let [before, after] = self.heading;
        format!("{before}{text}{after}\n")
    }

    /// Returns `unicode` if more than ASCII can be shown, otherwise `ascii`.
    pub(crate) fn either(&self, unicode: &'static str, ascii: &'static str) -> &'static str {
        if self.unicode { unicode } else { ascii }
    }

    /// Returns the characters in a line.
    pub(crate) fn columns(&self) -> usize {
        self.width.max(NARROWEST)
    }

    /// Returns the look of lines that are shorter by some columns.
    pub(crate) fn narrower(&self, by: usize) -> Self {
        Self { width: self.columns().saturating_sub(by), ..*self }
    }

    /// Returns text by tailspn in characters that can be displayed.
    pub(crate) fn words(&self, text: &str) -> String {
        if self.unicode {
            return text.to_owned();
        }
        let plain = [("±", "+-"), ("≥", ">="), ("≤", "<="), ("–", "-"), ("…", "..."), ("µ", "u")];
        plain.iter().fold(text.to_owned(), |text, (from, to)| text.replace(from, to))
    }
}

/// Wraps prose to the width, with this indent from the second line; empty prose gives no lines.
pub(crate) fn wrapped(prose: &str, look: &Look, indent: &str) -> String {
    let lines = lines(&look.words(prose), look.columns() - indent.width());
    let indented = lines.into_iter().enumerate().map(|(i, line)| if i == 0 { line } else { format!("{indent}{line}") });
    indented.map(|line| line + "\n").collect()
}

/// Wraps words to lines of at most this many columns; a longer word gets its own line.
pub(crate) fn lines(prose: &str, columns: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in unbroken(prose) {
        match lines.last_mut().filter(|line| line.width() + 1 + word.width() <= columns) {
            Some(line) => line.extend([" ", &word]),
            None => lines.push(word),
        }
    }
    lines
}

/// Iterates over the words of prose; an equation such as `workers = 4` counts as one word.
pub(crate) fn unbroken(prose: &str) -> impl Iterator<Item = String> {
    const KEPT: &str = "\u{a0}";
    let whole = prose.replace(" = ", &[KEPT, "=", KEPT].concat());
    let words: Vec<String> = whole.split([' ', '\n']).map(|word| word.replace(KEPT, " ")).collect();
    words.into_iter().filter(|word| !word.is_empty())
}

/// Splits prose by tailspn at its backticks into words and code, alternating, words first. Prose with an unpaired backtick
/// is not split.
pub(crate) fn words_and_code(prose: &str) -> Vec<&str> {
    if prose.matches('`').count().is_multiple_of(2) { prose.split('`').collect() } else { vec![prose] }
}
