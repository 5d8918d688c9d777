//! Plans as text: from TOML to settings, and where in the text a bad value stands.
//!
//! Owns what all kinds of plans share: problems with key and place, all told at once. Which values are sound is the business of each
//! plan; what is special about its faults is the type parameter `F`.

use std::fmt;
use std::ops::Range;

use serde::de::DeserializeOwned;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// A number for a message: as it is, or with an exponent where it would have many digits.
pub(crate) fn short(value: f64) -> String {
    let plain = value == 0.0 || !value.is_finite() || (1e-6..1e15).contains(&value.abs());
    if plain { value.to_string() } else { format!("{value:e}") }
}

/// A value of a plan that cannot be right.
#[derive(Clone, Debug, PartialEq)]
pub struct PlanProblem<F> {
    /// Path of the key, such as `cluster.node[1].gpu_speed`.
    pub key: String,
    /// Where the value stands, as bytes of the text; none if the plan was not read from text or leaves it out.
    pub span: Option<Range<usize>>,
    /// What is wrong.
    pub fault: F,
}

impl<F: fmt::Display> fmt::Display for PlanProblem<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}`: {}", self.key, self.fault)
    }
}

impl<F: fmt::Debug + fmt::Display> std::error::Error for PlanProblem<F> {}

/// A number or a count out of its range.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ValueFault {
    /// A number.
    #[error("{} is not {needs}", short(*value))]
    Range {
        /// The number.
        value: f64,
        /// What it must be.
        needs: &'static str,
    },
    /// There are none, or too many.
    #[error("{count} {what}; there must be {least} to {most}")]
    Count {
        /// What is counted.
        what: &'static str,
        /// How many there are.
        count: u64,
        /// How few there may be.
        least: u64,
        /// How many there may be.
        most: u64,
    },
}

/// Why a text is no plan. Correct the text where it points; nothing was loaded.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum PlanError<F> {
    /// The text is not TOML, or holds a key or value that plans do not have.
    #[error("{message}")]
    Text {
        /// What the TOML reader says.
        message: String,
        /// Where, as bytes of the text.
        span: Option<Range<usize>>,
    },
    /// Values that are out of range or contradict each other: all of them.
    #[error("{} in the plan", if .0.len() == 1 { "a problem".to_owned() } else { format!("{} problems", .0.len()) })]
    Values(
        /// The problems, in the order of the plan's sections.
        Vec<PlanProblem<F>>,
    ),
}

/// Reads a plan; `message` puts what the TOML reader says into words, `problems` finds what is wrong with the values.
///
/// # Errors
///
/// Text that is not TOML, an unknown key, or values out of range: all of them, each with its place in the text.
pub fn read<P: DeserializeOwned, F>(
    text: &str,
    message: impl Fn(&toml::de::Error) -> String,
    problems: impl Fn(&P, &DeTable<'_>) -> Vec<PlanProblem<F>>,
) -> Result<P, PlanError<F>> {
    let bad_text = |error: toml::de::Error| PlanError::Text { message: message(&error), span: error.span() };
    let plan: P = toml::from_str(text).map_err(bad_text)?;
    let table = DeTable::parse(text).map_err(bad_text)?;
    let mut found = problems(&plan, table.get_ref());
    for problem in &mut found {
        problem.span = locate(&table, &problem.key);
    }
    if found.is_empty() { Ok(plan) } else { Err(PlanError::Values(found)) }
}

/// Where the value at `key` stands in a plan's text, as bytes; of a missing key, its section.
pub fn place(text: &str, key: &str) -> Option<Range<usize>> {
    locate(&DeTable::parse(text).ok()?, key)
}

/// Where the value at `key` stands in the text that `table` was read from; of a missing key, its section.
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

/// Collects problems, one section after the other.
#[derive(Debug)]
pub struct Checker<F> {
    /// Path of the section; empty for the plan itself.
    pub section: String,
    /// What was found so far.
    pub problems: Vec<PlanProblem<F>>,
}

impl<F> Checker<F> {
    /// A checker without problems, at the top of the plan.
    #[allow(clippy::new_without_default, reason = "a checker is always made by name")]
    pub fn new() -> Self {
        Self { section: String::new(), problems: Vec::new() }
    }
}

impl<F: From<ValueFault>> Checker<F> {
    /// A problem with a key of the section; with the section itself where the key is empty.
    pub fn add(&mut self, key: &str, fault: F) {
        let between = if self.section.is_empty() || key.is_empty() { "" } else { "." };
        self.problems.push(PlanProblem { key: format!("{}{between}{key}", self.section), span: None, fault });
    }

    /// Adds a problem unless the value is `fine`; `needs` says what it must be.
    pub fn range(&mut self, key: &str, value: f64, fine: bool, needs: &'static str) {
        if !fine {
            self.add(key, ValueFault::Range { value, needs }.into());
        }
    }

    /// Adds a problem unless `count` is between `least` and `most`.
    pub fn count(&mut self, key: &str, count: u64, what: &'static str, least: u64, most: u64) {
        if count < least || count > most {
            self.add(key, ValueFault::Count { what, count, least, most }.into());
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
    fn a_value_is_found_where_it_stands_else_its_section() {
        let text = "[a]\nb = [{ c = 1 }, { c = 22 }]\n";
        let table = DeTable::parse(text).unwrap();
        let at = |key| locate(&table, key).map(|span| &text[span]);
        assert_eq!([at("a.b[1].c"), at("a.b[1].d"), at("x")], [Some("22"), Some("{ c = 22 }"), None]);
    }

    #[test]
    fn keys_are_paths() {
        let mut to: Checker<ValueFault> = Checker::new();
        to.range("k", 2.0, false, "1");
        to.section = "s[0]".into();
        to.range("k", 1e20, false, "1");
        to.count("", 0, "things", 1, 3);
        let told: Vec<_> = to.problems.iter().map(ToString::to_string).collect();
        assert_eq!(told, ["`k`: 2 is not 1", "`s[0].k`: 1e20 is not 1", "`s[0]`: 0 things; there must be 1 to 3"]);
    }
}
