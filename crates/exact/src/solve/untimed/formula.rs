//! CTL formulas as lists of nodes, in which each node comes after its parts, so that no recursion is needed.

use std::ops::Range;

use crate::compile::Code;
use crate::net::expr::ExprError;

/// Maximum nesting depth of a formula.
pub(crate) const MAX_DEPTH: usize = 200;
/// Maximum number of operators of a formula.
pub(crate) const MAX_NODES: usize = 4_000;

/// A part of a formula; the numbers are positions of earlier parts. Other operators are composed of these parts.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Node {
    True,
    /// The value of the expression is not 0.
    Atom(Code),
    /// Nothing can fire.
    Deadlock,
    /// The transition can fire next.
    Enabled(u32),
    Not(usize),
    And(usize, usize),
    Or(usize, usize),
    /// EX: after some firing.
    Next(usize),
    /// E\[a U b\]: on some path, b holds eventually, and a holds until then.
    Until(usize, usize),
    /// EG: in every marking of some path.
    Always(usize),
}

/// A CTL formula over the markings of a net.
#[derive(Clone, Debug, PartialEq)]
pub struct Formula {
    pub(crate) text: String,
    /// The nodes; the last node is the whole formula.
    pub(crate) nodes: Vec<Node>,
    /// Per node: the byte range of its text; none for nodes that are only part of the expansion of an operator.
    pub(crate) sources: Vec<Option<Range<usize>>>,
}

impl Formula {
    /// Returns the text of the formula.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns the text of a node.
    pub(crate) fn source(&self, node: usize) -> Option<&str> {
        self.sources[node].clone().map(|span| &self.text[span])
    }
}

/// Reason why a text is not a formula.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum FormulaError {
    /// The text does not continue as expected.
    #[error("expected {expected}")]
    Expected {
        /// Description of the expected text.
        expected: &'static str,
        /// Byte range in the text.
        span: Range<usize>,
    },
    /// A marking expression that is not valid.
    #[error("{error}")]
    Expression {
        /// The error; its span is relative to `start`.
        error: ExprError,
        /// Start of the expression in the text, in bytes.
        start: usize,
    },
    /// A transition that the net does not have.
    #[error("there is no transition `{name}`")]
    UnknownTransition {
        /// Name of the transition.
        name: String,
        /// Byte range in the text.
        span: Range<usize>,
    },
    /// The formula is nested too deeply or has too many operators.
    #[error("the formula is nested deeper than {MAX_DEPTH} levels or has more than {MAX_NODES} operators")]
    TooLong {
        /// Bytes of the text.
        span: Range<usize>,
    },
}

impl FormulaError {
    /// Returns the byte range of the problem in the text.
    pub fn span(&self) -> Range<usize> {
        match self {
            Self::Expected { span, .. } | Self::UnknownTransition { span, .. } | Self::TooLong { span } => span.clone(),
            Self::Expression { error, start } => {
                let span = error.span();
                span.start + start..span.end + start
            }
        }
    }
}
