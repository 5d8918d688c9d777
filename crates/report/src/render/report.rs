//! The trait of all kinds of results, and their JSON.

use serde::Serialize;

use crate::document::{Blocks, Document, Typed};
use crate::render::csv::{CsvText, csv};
use crate::render::html::{Part, html};
use crate::render::look::Look;
use crate::render::markdown::markdown;
use crate::render::text::text;
use crate::report::PlotError;
use crate::report::json::{FORMAT_VERSION, JsonError, line, pretty};

/// A result that can be printed in every form.
pub trait Report: Serialize {
    /// The `kind` of its JSON.
    const KIND: &'static str;

    /// True if its JSON has a key `answer` of its own, with the answer in words as `text`.
    const HAS_ANSWER: bool = false;

    /// True if it has a key `version` of its own.
    const HAS_VERSION: bool = false;

    /// Returns the document of the result.
    fn document(&self) -> Document<'_>;

    /// Returns the JSON, with a line end after it.
    ///
    /// # Errors
    ///
    /// [`JsonError`], which no report of this crate causes.
    fn json(&self) -> Result<String, JsonError>
    where
        Self: Sized,
    {
        json(self)
    }

    /// Returns the text for a terminal.
    fn text(&self, look: &Look) -> String {
        text(&self.document(), look)
    }

    /// Returns the result as GitHub's Markdown.
    fn markdown(&self, look: &Look) -> String {
        markdown(&self.document(), look)
    }

    /// Returns the tables as CSV; none if the kind has no CSV.
    fn csv(&self, text: CsvText) -> Option<String> {
        csv(&self.document(), text)
    }
}

impl Document<'_> {
    /// Returns the text for a terminal of 80 columns.
    pub fn text(&self) -> String {
        text(self, &Look::default())
    }

    /// Returns the page: one HTML file without scripts.
    ///
    /// # Errors
    ///
    /// [`PlotError`], which no report of this crate causes.
    pub fn page(self) -> Result<String, PlotError> {
        html(&[Part { document: self, net: None }])
    }
}

/// A report with the keys with which all JSON starts.
#[derive(Serialize)]
pub(crate) struct Versioned<'a, R: Serialize> {
    format_version: u32,
    kind: &'a str,
    /// Version of tailspn; none if the report has a key `version` of its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    version: Option<&'static str>,
    /// The answer; none if the report has a key `answer` of its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    answer: Option<Words>,
    /// The other blocks of the screen.
    blocks: Blocks,
    #[serde(flatten)]
    report: &'a R,
}

/// The answer in words.
#[derive(Serialize)]
pub(crate) struct Words {
    /// The answer in words; empty for a result that answers no question.
    text: String,
}

impl<'a, R: Report> Versioned<'a, R> {
    /// Returns a report with the answer in words, and commands about what was typed.
    pub(crate) fn new(report: &'a R, typed: &Typed) -> Self {
        let mut blocks = Document { typed: typed.clone(), ..report.document() }.six_blocks();
        let text = std::mem::take(&mut blocks.answer);
        let answer = (!R::HAS_ANSWER).then_some(Words { text });
        let version = (!R::HAS_VERSION).then_some(env!("CARGO_PKG_VERSION"));
        Self { format_version: FORMAT_VERSION, kind: R::KIND, version, answer, blocks, report }
    }
}

/// Returns the JSON text of a report, with a line end after it. Numbers that are not finite become `null`.
///
/// # Errors
///
/// [`JsonError`], which no report of this crate causes.
pub fn json<R: Report>(report: &R) -> Result<String, JsonError> {
    pretty(&Versioned::new(report, &Typed::default()))
}

/// Returns the JSON text of a report on one line, for sequences of results, with commands about what was typed.
///
/// # Errors
///
/// [`JsonError`], which no report of this crate causes.
pub(crate) fn json_line<R: Report>(report: &R, typed: &Typed) -> Result<String, JsonError> {
    line(&Versioned::new(report, typed))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Serialize)]
    struct Example {
        z: f64,
        a: Option<u8>,
    }

    impl Report for Example {
        const KIND: &'static str = "example";

        fn document(&self) -> crate::document::Document<'_> {
            crate::document::Document { answer: vec!["It is so.".into()].into(), ..Default::default() }
        }
    }

    #[test]
    fn keys_keep_their_order_and_numbers_their_bits() {
        let text = json(&Example { z: 0.1 + 0.2, a: None }).unwrap();
        let text = text.replace(env!("CARGO_PKG_VERSION"), "0.0.0");
        let expected = "{\n  \"format_version\": 1,\n  \"kind\": \"example\",\n  \"version\": \"0.0.0\",\n  \"answer\": {\n    \"text\": \"It is so.\"\n  },\n  \
                        \"blocks\": {\n    \"reproduced\": null,\n    \"own_run\": \"\",\n    \"where\": \"\",\n    \"changes\": [],\n    \
                        \"refused\": \"\",\n    \"assumed\": \"\",\n    \"next\": []\n  },\n  \
                        \"z\": 0.30000000000000004,\n  \"a\": null\n}\n";
        assert_eq!(text, expected);
        assert_eq!(json(&Example { z: -0.0, a: None }).unwrap().matches('-').count(), 0);
    }
}
