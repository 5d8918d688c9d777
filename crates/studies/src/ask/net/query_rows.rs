//! Answers to CSL and CSRL queries.

use serde::{Deserialize, Serialize};

use crate::ask::net::json::Word;
use crate::ask::net::names::NetSummary;
use crate::solve::{Comparison, CslQuery};

/// Answers to questions about a net.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct QueryReport {
    /// The net.
    pub net: NetSummary,
    /// True if a question has no answer.
    pub partial: bool,
    /// States of the net.
    pub states: usize,
    /// The questions, in the order of the request.
    pub queries: Vec<QueryRow>,
    /// Version of tailspn.
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
}

impl QueryReport {
    /// Returns the report with answers to queries about a net with this many states.
    pub fn new(net: NetSummary, states: usize, queries: Vec<QueryRow>) -> Self {
        let partial = queries.iter().any(|row| row.failed().is_some());
        Self { net, partial, states, queries, version: env!("CARGO_PKG_VERSION").into() }
    }
}
