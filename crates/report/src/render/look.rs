//! How text may look: what the terminal can show is decided by the caller.

/// What the reader of a text can see and wants to see.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Look {
    /// Whether block and line characters beyond ASCII may be used. Default true.
    pub unicode: bool,
    /// Characters in a line, at least 40 are used. Default 80.
    pub width: usize,
    /// What goes before and after a heading, such as the codes of a terminal. Default nothing.
    pub heading: [&'static str; 2],
    /// Most rows of a table, in place of the table's own limit. Default none.
    pub rows: Option<usize>,
    /// Whether tables and columns for details are shown. Default false.
    pub detail: bool,
}

impl Default for Look {
    fn default() -> Self {
        Self { unicode: true, width: 80, heading: ["", ""], rows: None, detail: false }
    }
}

/// Fewest characters in a line.
const NARROWEST: usize = 40;

impl Look {
    /// Returns `text` as a heading.
    pub(crate) fn heading(&self, text: &str) -> String {
        let [before, after] = self.heading;
        format!("{before}{text}{after}\n")
    }

    /// Returns the first if more than ASCII can be shown, else the second.
    pub(crate) fn either(&self, unicode: &'static str, ascii: &'static str) -> &'static str {
        if self.unicode { unicode } else { ascii }
    }

    /// Returns the characters in a line.
    pub(crate) fn columns(&self) -> usize {
        self.width.max(NARROWEST)
    }

    /// Returns our own words with the characters that can be shown.
    pub(crate) fn words(&self, text: &str) -> String {
        if self.unicode {
            return text.to_owned();
        }
        let plain = [("±", "+-"), ("≥", ">="), ("≤", "<="), ("–", "-"), ("…", "..."), ("µ", "u")];
        plain.iter().fold(text.to_owned(), |text, (from, to)| text.replace(from, to))
    }
}
