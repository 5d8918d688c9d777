//! Documents as text, Markdown, HTML and CSV. A renderer decides the look of a document, never its content.
//!
//! | question | file |
//! |---|---|
//! | the terminal's capabilities, and the reader's preferences |  [`Look`] |
//! | text for terminals; the six blocks of an answer; Markdown | `text`, `screen`, `markdown` |
//! | a table in a terminal: columns that fit the width | `table`, `grid` |
//! | bars as text | `bars` |
//! | the page | `html`, `style.css` |
//! | CSV, long and wide | `csv` |
//!
//! Guarantees: the same document gives the same bytes; text of results is escaped; a line of a table is never
//! truncated on a terminal.

mod bars;
mod csv;
mod grid;
mod html;
mod look;
mod markdown;
mod report;
mod screen;
mod table;
mod text;

pub(crate) use bars::bars_text;
pub(crate) use csv::wide_rows;
pub use csv::{CsvText, csv};
pub use html::{Part, html};
pub use look::Look;
pub use markdown::markdown;
pub use report::{Report, json};
pub(crate) use report::{Versioned, json_line};
pub(crate) use text::sentence;
pub use text::text;
