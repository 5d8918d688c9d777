//! The names and the size of a net, for results.

use serde::{Deserialize, Serialize};

use crate::compile::{Ids, Program};

/// The names of a net, in the user's words.
#[derive(Clone, Copy, Debug, Default)]
pub struct Subject<'a> {
    /// Name of the net.
    pub net: &'a str,
    /// Ids of the places.
    pub places: &'a Ids,
    /// Ids of the token classes.
    pub classes: &'a [String],
    /// Ids of the transitions.
    pub transitions: &'a Ids,
}

impl<'a> Subject<'a> {
    /// Returns the net `net`, compiled to `program`.
    pub fn of(net: &'a str, program: &'a Program) -> Self {
        let (places, classes, transitions) = (&program.place_names, &program.class_names, &program.transition_names);
        Self { net, places, classes, transitions }
    }
}

/// The net of a result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct NetSummary {
    /// Name of the net; may be empty.
    pub name: String,
    /// Number of places.
    pub places: usize,
    /// Number of transitions.
    pub transitions: usize,
    /// Assumptions in place of times, weights or conditions that the file does not state, or that are not read.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub assumptions: Vec<String>,
}

impl NetSummary {
    /// Returns the sizes of the net that a report is about.
    pub fn new(subject: &Subject<'_>) -> Self {
        let (places, transitions) = (subject.places.len(), subject.transitions.len());
        Self { name: subject.net.to_owned(), places, transitions, assumptions: Vec::new() }
    }
}
