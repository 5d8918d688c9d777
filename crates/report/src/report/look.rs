//! How text may look: what the terminal can show is decided by the caller.

/// What the reader of a text can see.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Look {
    /// Whether block and line characters beyond ASCII may be used. Default true.
    pub unicode: bool,
    /// Characters in a line, at least 40 are used. Default 80.
    pub width: usize,
    /// What goes before and after a heading, such as the codes of a terminal. Default nothing.
    pub heading: [&'static str; 2],
}

impl Default for Look {
    fn default() -> Self {
        Self { unicode: true, width: 80, heading: ["", ""] }
    }
}

impl Look {
    /// `text` as a heading.
    pub(super) fn heading(&self, text: &str) -> String {
        let [before, after] = self.heading;
        format!("{before}{text}{after}\n")
    }

    /// The first where more than ASCII can be shown, else the second.
    pub(super) fn either(&self, unicode: &'static str, ascii: &'static str) -> &'static str {
        if self.unicode { unicode } else { ascii }
    }
}
