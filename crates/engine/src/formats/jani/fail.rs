//! Refusals of parts of a model, and the lookup of parts.

use serde_json::Value;

/// A refused part, and the reason.
#[derive(Debug)]
pub(super) struct Fail<'j> {
    pub(super) at: &'j Value,
    pub(super) reason: String,
}

/// A value from a model, or the reason for its absence.
pub(super) type Parsed<'j, T> = Result<T, Fail<'j>>;

/// Refuses a part.
pub(super) fn fail<'j, T>(at: &'j Value, reason: impl Into<String>) -> Parsed<'j, T> {
    Err(Fail { at, reason: reason.into() })
}

/// A required part.
pub(super) fn part<'j>(value: &'j Value, key: &str) -> Parsed<'j, &'j Value> {
    value.get(key).map_or_else(|| fail(value, format!("`{key}` is missing")), Ok)
}

/// A part that is a text.
pub(super) fn text<'j>(value: &'j Value, key: &str) -> Parsed<'j, &'j str> {
    let found = part(value, key)?;
    found.as_str().map_or_else(|| fail(found, format!("`{key}` must be a string")), Ok)
}

/// The elements of a list; none if it is missing.
pub(super) fn list<'j>(value: &'j Value, key: &str) -> Parsed<'j, &'j [Value]> {
    match value.get(key) {
        None | Some(Value::Null) => Ok(&[]),
        Some(Value::Array(elements)) => Ok(elements),
        Some(other) => fail(other, format!("`{key}` must be a list")),
    }
}

/// The expression in a part such as `{"exp": …, "comment": …}`.
pub(super) fn expression<'j>(value: &'j Value, key: &str) -> Parsed<'j, Option<&'j Value>> {
    value.get(key).map(|wrapped| part(wrapped, "exp")).transpose()
}
