//! Lookup of parts of a net by id or by name.

use std::fmt;

use crate::net::{ClassId, Net, PlaceId, TransitionId};

/// A place or a transition, given by its id ([`PlaceId`], [`TransitionId`]) or by its name.
///
/// `into()` converts an id or a text; functions that take `impl Into<PlaceKey>` accept both.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PartKey<I> {
    /// By id.
    Id(I),
    /// By the text of the id or of the name in the file.
    Name(String),
}

/// A place, by id or by name.
pub type PlaceKey = PartKey<PlaceId>;
/// A transition, by id or by name.
pub type TransitionKey = PartKey<TransitionId>;

impl<I> From<&str> for PartKey<I> {
    fn from(name: &str) -> Self {
        Self::Name(name.to_owned())
    }
}

impl<I> From<String> for PartKey<I> {
    fn from(name: String) -> Self {
        Self::Name(name)
    }
}

impl<I> From<&String> for PartKey<I> {
    fn from(name: &String) -> Self {
        Self::Name(name.clone())
    }
}

impl From<PlaceId> for PlaceKey {
    fn from(id: PlaceId) -> Self {
        Self::Id(id)
    }
}

impl From<TransitionId> for TransitionKey {
    fn from(id: TransitionId) -> Self {
        Self::Id(id)
    }
}

impl<I: fmt::Display> fmt::Display for PartKey<I> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Id(id) => id.fmt(f),
            Self::Name(name) => name.fmt(f),
        }
    }
}

/// Error of a lookup by name in a result.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LookupError {
    /// The net or the question has no part of this name. Correct the name.
    #[error("unknown {kind} `{name}`{}", names_of(.known))]
    Unknown {
        /// The kind of part, such as `place`.
        kind: &'static str,
        /// The name or id.
        name: String,
        /// The first names that exist.
        known: Vec<String>,
    },
    /// The question did not request the quantity. Request it before the run.
    #[error("{what} were not observed; call `{call}` before the run")]
    NotObserved {
        /// The quantity that was not observed.
        what: &'static str,
        /// The call that requests it.
        call: &'static str,
    },
}

/// Maximum number of names in a message.
const MOST_NAMES: usize = 8;

impl LookupError {
    /// Returns the error for a name that is not among the `known` names.
    pub fn unknown<'a>(kind: &'static str, name: impl fmt::Display, known: impl IntoIterator<Item = &'a str>) -> Self {
        let known = known.into_iter().take(MOST_NAMES).map(str::to_owned).collect();
        Self::Unknown { kind, name: name.to_string(), known }
    }
}

fn names_of(known: &[String]) -> String {
    if known.is_empty() {
        return String::new();
    }
    let names: Vec<String> = known.iter().map(|name| format!("`{name}`")).collect();
    format!("; the first available names are {}", names.join(", "))
}

impl Net {
    /// The place of a key.
    ///
    /// # Errors
    ///
    /// [`LookupError::Unknown`].
    pub fn place_of(&self, key: &PlaceKey) -> Result<PlaceId, LookupError> {
        let found = match key {
            PartKey::Id(id) => Some(*id).filter(|id| id.index() < self.places().len()),
            PartKey::Name(name) => self.find_place(name),
        };
        found.ok_or_else(|| LookupError::unknown("place", key, self.places().iter().map(|p| p.id.as_str())))
    }

    /// The transition of a key.
    ///
    /// # Errors
    ///
    /// [`LookupError::Unknown`].
    pub fn transition_of(&self, key: &TransitionKey) -> Result<TransitionId, LookupError> {
        let found = match key {
            PartKey::Id(id) => Some(*id).filter(|id| id.index() < self.transitions().len()),
            PartKey::Name(name) => self.find_transition(name),
        };
        found.ok_or_else(|| LookupError::unknown("transition", key, self.transitions().iter().map(|t| t.id.as_str())))
    }

    /// The token class of a name.
    ///
    /// # Errors
    ///
    /// [`LookupError::Unknown`].
    pub fn class_of(&self, name: &str) -> Result<ClassId, LookupError> {
        let found = self.classes().iter().position(|class| class.id == name);
        let known = || self.classes().iter().map(|class| class.id.as_str());
        found.map(ClassId::from_index).ok_or_else(|| LookupError::unknown("token class", name, known()))
    }
}
