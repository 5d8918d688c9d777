//! Plans as text: from TOML to settings, with the position of every problem in the text.
//!
//! Shared parts of all plan readers: reading a document, problems with key and position, and range checks. All problems
//! are reported together: a key or value that cannot be read is removed, and reading continues. Each plan defines its valid
//! values.

use std::fmt;
use std::ops::Range;

use serde::de::DeserializeOwned;
use toml::Spanned;
use toml::de::{DeTable, DeValue, Deserializer};

use crate::plan::explain::explain;
use crate::plan::problem::{PlanError, PlanProblem, ProblemKind, line_of, short};
use crate::runs::RunSpread;

/// Number of problems after which reading stops.
const MOST_PROBLEMS: usize = 50;

/// A TOML document with the position of every key and value.
#[derive(Clone, Debug)]
pub struct Document<'t> {
    text: &'t str,
    table: Spanned<DeTable<'t>>,
}

impl<'t> Document<'t> {
    /// Parses a text.
    ///
    /// # Errors
    ///
    /// Text that is not TOML: the first problems.
    pub fn parse(text: &'t str) -> Result<Self, PlanError> {
        let (table, errors) = DeTable::parse_recoverable(text);
        if !errors.is_empty() {
            let problem = |error: &toml::de::Error| {
                PlanProblem::new(ProblemKind::Text, "", error.message()).at(text, error.span())
            };
            return Err(PlanError { problems: errors.iter().take(MOST_PROBLEMS).map(problem).collect() });
        }
        Ok(Self { text, table })
    }

    /// Returns the top-level table of the document.
    pub fn table(&self) -> &DeTable<'t> {
        self.table.get_ref()
    }

    /// Sets a key of a section to a value in TOML unless the text has the key.
    pub fn set_default(&mut self, section: &str, key: &str, value: &'static str) {
        let Ok(value) = DeValue::parse(value) else { return };
        let table = self.table.get_mut();
        if !table.contains_key(section) {
            let empty = Spanned::new(0..0, DeValue::Table(DeTable::new()));
            table.insert(Spanned::new(0..0, section.to_owned().into()), empty);
        }
        if let Some(DeValue::Table(section)) = table.get_mut(section).map(Spanned::get_mut)
            && !section.contains_key(key)
        {
            section.insert(Spanned::new(0..0, key.to_owned().into()), Spanned::new(0..0, value.into_inner()));
        }
    }

    /// Returns the line of the value at `key`; for a missing key, the line of its section.
    pub fn line(&self, key: &str) -> Option<usize> {
        locate(&self.table, key).map(|span| line_of(self.text, span.start))
    }

    /// Returns the position of a top-level key.
    pub(crate) fn key_span(&self, key: &str) -> Option<Range<usize>> {
        self.table.get_ref().get_key_value(key).map(|(key, _)| key.span())
    }

    /// Reads the settings; `check` validates their values.
    ///
    /// # Errors
    ///
    /// All problems: unknown keys, values of a wrong type, values out of range, each with its position.
    pub fn read<P: DeserializeOwned>(self, check: impl Fn(&P) -> Vec<PlanProblem>) -> Result<P, PlanError> {
        let Self { text, table } = self;
        let (plan, mut problems) = deserialize::<P>(text, table.clone());
        if let Some(plan) = &plan {
            let at = |problem: PlanProblem| {
                let span = problem.span.clone().or_else(|| locate(&table, &problem.key));
                problem.at(text, span)
            };
            let was_read = problems.is_empty();
            // a key that could not be read is not missing
            let counts = |problem: &PlanProblem| was_read || is_there(&table, &problem.key);
            problems.extend(check(plan).into_iter().filter(counts).map(at));
        }
        match plan {
            Some(plan) if problems.is_empty() => Ok(plan),
            _ => Err(PlanError { problems }),
        }
    }
}

/// Reads as much as possible; the settings are present unless reading had to stop.
fn deserialize<P: DeserializeOwned>(text: &str, mut table: Spanned<DeTable<'_>>) -> (Option<P>, Vec<PlanProblem>) {
    let mut problems = Vec::new();
    loop {
        let error = match P::deserialize(Deserializer::from(table.clone())) {
            Ok(plan) => {
                problems.sort_by_key(|problem: &PlanProblem| problem.span.as_ref().map(|span| span.start));
                return (Some(plan), problems);
            }
            Err(error) => error,
        };
        let (problem, may_go_on) = explain(text, &table, &error);
        let span = problem.span.clone();
        // a key that was removed is not missing
        if problems.iter().all(|other| other.key != problem.key) {
            problems.push(problem);
        }
        let taken = may_go_on && span.is_some_and(|span| take_out(table.get_mut(), &span));
        if !taken || problems.len() == MOST_PROBLEMS {
            return (None, problems);
        }
    }
}

/// Removes the key at this position, or the key whose value is at it.
fn take_out(table: &mut DeTable<'_>, span: &Range<usize>) -> bool {
    let is_it = |key: &Spanned<_>, value: &Spanned<DeValue<'_>>| {
        key.span() == *span
            || value.span() == *span
            || matches!(value.get_ref(), DeValue::Array(items) if items.iter().any(|item| item.span() == *span && !item.get_ref().is_table()))
    };
    let found = table.iter().find(|(key, value)| is_it(key, value)).map(|(key, _)| key.clone());
    if let Some(key) = found {
        return table.remove(&key).is_some();
    }
    table.iter_mut().any(|(_, value)| match value.get_mut() {
        DeValue::Table(inner) => take_out(inner, span),
        DeValue::Array(items) => items.iter_mut().any(|item| match item.get_mut() {
            DeValue::Table(inner) => take_out(inner, span),
            _ => false,
        }),
        _ => false,
    })
}

/// Returns the position of the value at `key` in a plan's text, in bytes; for a missing key, the position of its
/// section.
pub fn place(text: &str, key: &str) -> Option<Range<usize>> {
    locate(&DeTable::parse(text).ok()?, key)
}

/// Returns the position of the value at `key` in the text that `table` was read from; for a missing key, the position
/// of its section.
fn locate(table: &Spanned<DeTable<'_>>, key: &str) -> Option<Range<usize>> {
    let mut steps = key.split(['.', '[', ']']).filter(|step| !step.is_empty());
    let mut value = table.get_ref().get(steps.next()?)?;
    for step in steps {
        let inner = match value.get_ref() {
            DeValue::Table(table) => table.get(step),
            DeValue::Array(array) => step.parse::<usize>().ok().and_then(|i| array.get(i)),
            _ => None,
        };
        let Some(inner) = inner else { break };
        value = inner;
    }
    Some(value.span())
}

/// Returns true if the text has exactly this key.
fn is_there(table: &Spanned<DeTable<'_>>, key: &str) -> bool {
    let parent = key.rsplit_once(['.', '[']).map_or("", |(parent, _)| parent);
    let place = locate(table, key);
    place.is_some() && (parent.is_empty() || place != locate(table, parent))
}

/// A number or a count out of its range.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub(crate) enum ValueFault {
    /// A number.
    #[error("{} is not {needs}", short(*value))]
    Range { value: f64, needs: &'static str },
    /// A count that is too small or too large.
    #[error("{count} {what}; there must be {least} to {most}")]
    Count { what: &'static str, count: u64, least: u64, most: u64 },
}

/// Collects problems with values, one section after the other.
#[derive(Debug)]
pub struct Checker {
    /// Path of the section; empty for the plan itself.
    pub section: String,
    /// The problems so far.
    pub problems: Vec<PlanProblem>,
}

impl Checker {
    /// Creates a checker without problems, at the top of the plan.
    #[allow(clippy::new_without_default, reason = "a checker is always made by name")]
    pub fn new() -> Self {
        Self { section: String::new(), problems: Vec::new() }
    }

    /// Adds a problem with a key of the section; with the section itself if the key is empty.
    pub fn add(&mut self, key: &str, fault: impl fmt::Display) {
        let between = if self.section.is_empty() || key.is_empty() { "" } else { "." };
        let key = format!("{}{between}{key}", self.section);
        let message = format!("`{key}`: {fault}");
        self.problems.push(PlanProblem::new(ProblemKind::Value, key, message));
    }

    /// Adds a problem unless the value is `fine`; `needs` describes the requirement.
    pub fn range(&mut self, key: &str, value: f64, fine: bool, needs: &'static str) {
        if !fine {
            self.add(key, ValueFault::Range { value, needs });
        }
    }

    /// Adds the problems of a plan's section `[run]`.
    pub(crate) fn run_spread(&mut self, run: &RunSpread) {
        self.section = "run".into();
        self.range("sigma", run.sigma, (0.0..=5.0).contains(&run.sigma), "a number from 0 to 5");
        let freedom = run.degrees_of_freedom;
        self.range("degrees_of_freedom", freedom, (1.0..=1e12).contains(&freedom), "a number of at least 1");
        self.count("runs", run.runs.into(), "runs", 1, 1_000_000);
    }

    /// Adds a problem unless `count` is between `least` and `most`.
    pub fn count(&mut self, key: &str, count: u64, what: &'static str, least: u64, most: u64) {
        if count < least || count > most {
            self.add(key, ValueFault::Count { what, count, least, most });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_in_messages_are_short() {
        assert_eq!([0.0, -2.5, 1e300, -1e-300, f64::NAN].map(short), ["0", "-2.5", "1e300", "-1e-300", "NaN"]);
    }

    #[test]
    fn of_a_text_that_is_not_toml_the_first_problems_are_reported() {
        let error = Document::parse(&"<a b>\n".repeat(1_000)).unwrap_err();
        let lines: Vec<_> = error.problems.iter().map(|problem| problem.line.unwrap()).collect();
        assert!(lines.len() == MOST_PROBLEMS && lines[0] == 1 && lines.is_sorted(), "{lines:?}");
    }

    #[test]
    fn a_value_is_found_where_it_stands_else_its_section() {
        let text = "[a]\nb = [{ c = 1 }, { c = 22 }]\n";
        let table = DeTable::parse(text).unwrap();
        let at = |key| locate(&table, key).map(|span| &text[span]);
        assert_eq!([at("a.b[1].c"), at("a.b[1].d"), at("x")], [Some("22"), Some("{ c = 22 }"), None]);
    }

    #[test]
    fn problems_name_the_path_of_their_key() {
        let mut to = Checker::new();
        to.range("k", 2.0, false, "1");
        to.section = "s[0]".into();
        to.range("k", 1e20, false, "1");
        to.count("", 0, "things", 1, 3);
        let told: Vec<_> = to.problems.iter().map(ToString::to_string).collect();
        assert_eq!(told, ["`k`: 2 is not 1", "`s[0].k`: 1e20 is not 1", "`s[0]`: 0 things; there must be 1 to 3"]);
    }
}
