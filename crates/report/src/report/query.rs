//! Answers to CSL and CSRL queries.

use serde::{Deserialize, Serialize};

use crate::document::{Column, Document, Number, Report, Table};
use crate::report::json::Word;
use crate::report::number::count;
use crate::report::summary::NetSummary;
use crate::solve::{Comparison, CslQuery};

/// Answers to questions about a net.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct QueryReport {
    /// The net.
    pub net: NetSummary,
    /// True if a question has no answer.
    #[serde(default)]
    pub partial: bool,
    /// States of the net.
    pub states: usize,
    /// The questions, in the order of the request.
    pub queries: Vec<QueryRow>,
    /// Version of this crate.
    pub version: Word,
}

/// A question and its answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct QueryRow {
    /// The text of the query.
    pub query: String,
    /// The answer; none if it is infinite or missing.
    pub value: Option<f64>,
    /// `infinite`, or why there is no answer.
    pub note: Option<String>,
    /// The bound; none if only the value was requested.
    pub bound: Option<QueryBound>,
    /// The verdict on the bound; none without a bound, or if the value is too close to decide.
    pub holds: Option<bool>,
    /// Wall time \[s\].
    pub wall_s: f64,
}

/// A bound of an answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct QueryBound {
    /// The comparison.
    pub sign: Comparison,
    /// The bound.
    pub value: f64,
}

/// Returns a finite answer, or a note: `infinite`, or why there is no answer.
pub(super) fn value_or_note(answer: Result<f64, String>) -> (Option<f64>, Option<String>) {
    match answer {
        Ok(value) if value.is_finite() => (Some(value), None),
        Ok(_) => (None, Some("infinite".to_owned())),
        Err(reason) => (None, Some(reason)),
    }
}

impl QueryRow {
    /// Returns the row of a query after `wall_s` seconds, with or without an answer. The second part of an answer is true if
    /// a probability of exactly 0 or 1 is certain.
    pub fn new(query: &CslQuery, answer: Result<(f64, bool), String>, wall_s: f64) -> Self {
        let bound = query.bound().map(|(comparison, value)| QueryBound { sign: comparison, value });
        let holds =
            answer.as_ref().ok().and_then(|&(answer, is_certain)| query.verdict(query.value(answer), is_certain));
        let (value, note) = value_or_note(answer.map(|(answer, _)| query.value(answer)));
        Self { query: query.text().to_owned(), value, note, bound, holds, wall_s }
    }

    /// Returns the reason why there is no answer.
    pub fn failed(&self) -> Option<&str> {
        self.note.as_deref().filter(|note| self.value.is_none() && *note != "infinite")
    }

    fn verdict(&self) -> &'static str {
        match (self.holds, &self.bound) {
            (Some(true), _) => "holds",
            (Some(false), _) => "does not hold",
            (None, Some(_)) if self.failed().is_none() => "undecided",
            _ => "",
        }
    }
}

impl Report for QueryReport {
    const KIND: &'static str = "query";

    fn document(&self) -> Document<'_> {
        let mut document = Document {
            kind: "queries",
            title: self.net.title(),
            question: format!("Answers to the queries. The net has {}.", self.net.size()),
            answer: vec![self.answer().into()].into(),
            remarks: self.queries.iter().filter_map(|row| Some(format!("{}: {}", row.query, row.failed()?))).collect(),
            provenance: vec![
                [
                    "method".to_owned(),
                    format!("exact, from all {} states; equal parts are not folded", count(self.states as u128)),
                ],
                ["version".to_owned(), self.version.to_string()],
            ],
            ..Document::default()
        };
        let has_bound = self.queries.iter().any(|row| row.bound.is_some());
        let mut columns = vec![Column::new("query"), Column::new("answer").key("query")];
        if has_bound {
            columns.push(Column::new("verdict"));
        }
        let row = |(i, row): (usize, &QueryRow)| {
            let number = row.value.map(|value| Number::new(format!("/queries/{i}/value"), value, ""));
            let value = number.map_or_else(|| if row.failed().is_none() { "infinite" } else { "" }.into(), Into::into);
            let mut cells = vec![row.query.clone().into(), value];
            if has_bound {
                cells.push(row.verdict().into());
            }
            cells
        };
        document.table(Table::new("Queries", "", columns).rows(self.queries.iter().enumerate().map(row)));
        for (i, row) in self.queries.iter().enumerate() {
            if let Some(holds) = row.holds {
                document.fact("query_holds", Number::count(format!("/queries/{i}/holds"), holds.into()));
            }
        }
        document
    }
}

impl QueryReport {
    /// Returns the report with answers to queries about a net with this many states.
    pub fn new(net: NetSummary, states: usize, queries: Vec<QueryRow>) -> Self {
        let partial = queries.iter().any(|row| row.failed().is_some());
        Self { net, partial, states, queries, version: env!("CARGO_PKG_VERSION").into() }
    }

    fn answer(&self) -> String {
        let asked =
            if self.queries.len() == 1 { "1 query".to_owned() } else { format!("{} queries", self.queries.len()) };
        let bounds = self.queries.iter().filter(|row| row.bound.is_some()).count();
        let hold = self.queries.iter().filter(|row| row.holds == Some(true)).count();
        let answered = self.queries.iter().filter(|row| row.failed().is_none()).count();
        let all = if answered == self.queries.len() { "answered".to_owned() } else { format!("{answered} answered") };
        if bounds == 0 {
            format!("{asked}, {all}.")
        } else {
            format!("{asked}, {all}; {hold} of {bounds} bounds hold.")
        }
    }
}
