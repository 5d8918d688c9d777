//! Changing a plan at a path such as `cluster.node[0].count`.
//!
//! Defines the meaning of a path. The plan's own reader reports unknown keys and invalid values.

use toml::{Table, Value};

/// Reason why a path cannot be followed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PathError {
    /// A path with an empty step or an index that is not a number.
    #[error("`{path}` is not a path; valid paths are `job.reduces`, `cluster.node[0].count`, or `[*]` for every entry")]
    Malformed {
        /// The path.
        path: String,
    },
    /// An entry that the list does not have.
    #[error("there is no `{list}[{index}]`: the list has length {len} and is numbered from 0")]
    NoEntry {
        /// The list.
        list: String,
        /// Length of the list.
        len: usize,
        /// Index of the missing entry.
        index: usize,
    },
    /// A step into a value that is not of the required kind.
    #[error("`{path}` is not a {wanted}")]
    NotA {
        /// The part of the path that exists.
        path: String,
        /// The kind of value that the next step needs.
        wanted: &'static str,
    },
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Step {
    Key(String),
    Entry(usize),
    Every,
}

/// The steps of a path.
fn steps(path: &str) -> Option<Vec<Step>> {
    let mut steps = Vec::new();
    for part in path.split('.') {
        let mut pieces = part.split('[');
        let key = pieces.next()?.trim();
        if key.is_empty() {
            return None;
        }
        steps.push(Step::Key(key.to_owned()));
        for index in pieces {
            let index = index.strip_suffix(']')?.trim();
            steps.push(if index == "*" { Step::Every } else { Step::Entry(index.parse().ok()?) });
        }
    }
    Some(steps)
}

/// Sets the value at `path`; missing tables are created.
///
/// ```
/// # use tailspn_studies::sweep::path::set;
/// let mut plan: toml::Table = toml::from_str("[[node]]\ncount = 1\n[[node]]\ncount = 2").unwrap();
/// set(&mut plan, "node[1].count", &5.into()).unwrap();
/// set(&mut plan, "node[*].speed", &1.5.into()).unwrap();
/// assert_eq!(plan["node"][1]["count"], 5.into());
/// assert_eq!(plan["node"][0]["speed"], 1.5.into());
/// ```
///
/// # Errors
///
/// [`PathError`]; after an error, part of the table may have been changed.
pub fn set(table: &mut Table, path: &str, value: &Value) -> Result<(), PathError> {
    let malformed = || PathError::Malformed { path: path.to_owned() };
    let steps = steps(path).ok_or_else(malformed)?;
    let [Step::Key(first), rest @ ..] = &steps[..] else { return Err(malformed()) };
    let place = table.entry(first.clone()).or_insert_with(|| empty(rest));
    put(place, first, rest, value)
}

/// Returns the value at `path`; for several entries (`[*]`), the value that all entries share. None if there is no such value.
///
/// ```
/// # use tailspn_studies::sweep::path::get;
/// let plan: toml::Table = toml::from_str("[[node]]\ncount = 1\nspeed = 2.0\n[[node]]\ncount = 2\nspeed = 2.0").unwrap();
/// assert_eq!(get(&plan, "node[1].count"), Some(&2.into()));
/// assert_eq!(get(&plan, "node[*].speed"), Some(&2.0.into()));
/// assert_eq!(get(&plan, "node[*].count"), None);
/// ```
pub fn get<'a>(table: &'a Table, path: &str) -> Option<&'a Value> {
    let steps = steps(path)?;
    let [Step::Key(first), rest @ ..] = &steps[..] else { return None };
    found(table.get(first)?, rest)
}

fn found<'a>(value: &'a Value, steps: &[Step]) -> Option<&'a Value> {
    match steps {
        [] => Some(value),
        [Step::Key(key), rest @ ..] => found(value.as_table()?.get(key)?, rest),
        [Step::Entry(index), rest @ ..] => found(value.as_array()?.get(*index)?, rest),
        [Step::Every, rest @ ..] => {
            let mut all = value.as_array()?.iter().map(|entry| found(entry, rest));
            let first = all.next()??;
            all.all(|other| other == Some(first)).then_some(first)
        }
    }
}

/// Returns the empty value to create if part of the path is missing.
fn empty(rest: &[Step]) -> Value {
    match rest.first() {
        Some(Step::Entry(_) | Step::Every) => Value::Array(Vec::new()),
        _ => Value::Table(Table::new()),
    }
}

fn put(place: &mut Value, at: &str, steps: &[Step], value: &Value) -> Result<(), PathError> {
    let not_a = |wanted| PathError::NotA { path: at.to_owned(), wanted };
    match steps {
        [] => {
            *place = value.clone();
            Ok(())
        }
        [Step::Key(key), rest @ ..] => {
            let table = place.as_table_mut().ok_or_else(|| not_a("table"))?;
            let inner = table.entry(key.clone()).or_insert_with(|| empty(rest));
            put(inner, &format!("{at}.{key}"), rest, value)
        }
        [Step::Entry(index), rest @ ..] => {
            let list = place.as_array_mut().ok_or_else(|| not_a("list"))?;
            let len = list.len();
            let missing = || PathError::NoEntry { list: at.to_owned(), len, index: *index };
            put(list.get_mut(*index).ok_or_else(missing)?, &format!("{at}[{index}]"), rest, value)
        }
        [Step::Every, rest @ ..] => {
            let list = place.as_array_mut().ok_or_else(|| not_a("list"))?;
            (0..).zip(list).try_for_each(|(i, entry)| put(entry, &format!("{at}[{i}]"), rest, value))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(path: &str) -> String {
        let mut table: Table = toml::from_str("a = 1\nb = [{ c = 2 }]").unwrap();
        set(&mut table, path, &Value::Integer(9)).map_or_else(|error| error.to_string(), |()| table.to_string())
    }

    #[test]
    fn missing_tables_are_made() {
        assert_eq!(told("x.y.z"), "a = 1\n\n[[b]]\nc = 2\n\n[x.y]\nz = 9\n");
    }

    #[test]
    fn wrong_paths_are_told() {
        for path in ["", "a..b", "b[", "b[x]", ".a", "[0]"] {
            assert!(told(path).contains("is not a path"), "{path}: {}", told(path));
        }
        assert_eq!(told("b[1].c"), "there is no `b[1]`: the list has length 1 and is numbered from 0");
        assert_eq!(told("a.b"), "`a` is not a table");
        assert_eq!(told("a[0]"), "`a` is not a list");
    }
}
