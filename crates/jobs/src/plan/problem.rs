//! Problems of plans: the message, the position in the text, and the recommendation.

use std::fmt;
use std::ops::Range;

/// Formats a number for a message: plain, or with an exponent if it has many digits.
pub(crate) fn short(value: f64) -> String {
    let plain = value == 0.0 || !value.is_finite() || (1e-6..1e15).contains(&value.abs());
    if plain { value.to_string() } else { format!("{value:e}") }
}

/// Kind of a problem in a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ProblemKind {
    /// The text is not TOML, or a value has the wrong type.
    Text,
    /// The plan does not have this key.
    UnknownKey,
    /// A value is out of range or contradicts another one.
    Value,
    /// An option does not apply to the plan.
    Option,
}

/// A problem in a plan: the message, the position, and the recommendation.
#[derive(Clone, Debug, PartialEq)]
pub struct PlanProblem {
    /// Path of the key, such as `cluster.node[1].gpu_speed`; empty if the text is not TOML.
    pub key: String,
    /// Message, without the position.
    pub message: String,
    /// Recommendation, such as ``did you mean `reduces`?``.
    pub hint: Option<String>,
    /// Range of the text in bytes; none if the plan was not read from text or the key is missing.
    pub span: Option<Range<usize>>,
    /// Line of the text, from 1.
    pub line: Option<usize>,
    /// Kind of the problem.
    pub kind: ProblemKind,
}

impl PlanProblem {
    /// Creates a problem without a position.
    pub(crate) fn new(kind: ProblemKind, key: impl Into<String>, message: impl Into<String>) -> Self {
        Self { key: key.into(), message: message.into(), hint: None, span: None, line: None, kind }
    }

    /// Returns the same problem with a position in a text.
    #[must_use]
    pub(crate) fn at(mut self, text: &str, span: Option<Range<usize>>) -> Self {
        self.line = span.as_ref().map(|span| line_of(text, span.start));
        self.span = span;
        self
    }

    /// Returns the message and the hint without the line, for plans that are not in a file.
    pub fn without_line(&self) -> String {
        Self { line: None, ..self.clone() }.to_string()
    }
}

impl fmt::Display for PlanProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        if let Some(line) = self.line {
            write!(f, " (line {line})")?;
        }
        self.hint.as_ref().map_or(Ok(()), |hint| write!(f, "; {hint}"))
    }
}

/// All problems of a text that is not a plan, at least one. Nothing was loaded.
#[derive(Clone, Debug, PartialEq)]
pub struct PlanError {
    /// The problems, in the order of the text or of the plan's sections.
    pub problems: Vec<PlanProblem>,
}

impl fmt::Display for PlanError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, problem) in self.problems.iter().enumerate() {
            write!(f, "{}{problem}", if i == 0 { "" } else { "\n" })?;
        }
        Ok(())
    }
}

impl std::error::Error for PlanError {}

impl From<PlanProblem> for PlanError {
    fn from(problem: PlanProblem) -> Self {
        Self { problems: vec![problem] }
    }
}

/// Returns the line of a byte, from 1.
pub(crate) fn line_of(text: &str, at: usize) -> usize {
    text.as_bytes()[..at.min(text.len())].iter().filter(|&&byte| byte == b'\n').count() + 1
}
