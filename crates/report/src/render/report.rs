//! The trait of all kinds of results.

use serde::Serialize;

use crate::document::Document;
use crate::render::csv::{CsvText, csv};
use crate::render::html::{Part, html};
use crate::render::look::Look;
use crate::render::markdown::markdown;
use crate::render::text::text;
use crate::report::{JsonError, PlotError, json};

/// A result that can be printed in every form.
pub trait Report: Serialize {
    /// The `kind` of its JSON.
    const KIND: &'static str;

    /// True if its JSON has a key `answer` of its own, with the answer in words as `text`.
    const HAS_ANSWER: bool = false;

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
