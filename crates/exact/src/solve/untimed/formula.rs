//! Formulas of CTL: a list of nodes without recursion, in which each comes after its parts.

use std::ops::Range;

use crate::compile::Code;
use crate::net::expr::ExprError;

/// Levels that a formula may nest.
pub(crate) const MAX_DEPTH: usize = 200;
/// Operators that a formula may have.
pub(crate) const MAX_NODES: usize = 4_000;

/// A part of a formula; the numbers are positions of earlier parts. Other operators are composed of these parts.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Node {
    True,
    /// The value of the expression is not 0.
    Atom(Code),
    /// Nothing can fire.
    Deadlock,
    /// The transition fires next.
    Enabled(u32),
    Not(usize),
    And(usize, usize),
    Or(usize, usize),
    /// EX: after some firing.
    Next(usize),
    /// E\[a U b\]: on some path b holds at last, and a until then.
    Until(usize, usize),
    /// EG: always on some path.
    Always(usize),
}

/// A formula of CTL over the markings of a net.
#[derive(Clone, Debug, PartialEq)]
pub struct Formula {
    pub(crate) text: String,
    /// The last one is the formula.
    pub(crate) nodes: Vec<Node>,
    /// Per node: the bytes of the corresponding text; none for nodes that are only a part of an operator.
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
    /// Something else was expected here.
    #[error("expected {expected}")]
    Expected {
        /// The expected text.
        expected: &'static str,
        /// Bytes of the text.
        span: Range<usize>,
    },
    /// A marking expression that is wrong.
    #[error("{error}")]
    Expression {
        /// The error; its span counts from `start`.
        error: ExprError,
        /// Where the expression starts, in bytes.
        start: usize,
    },
    /// A transition that the net does not have.
    #[error("there is no transition `{name}`")]
    UnknownTransition {
        /// Name of the transition.
        name: String,
        /// Bytes of the text.
        span: Range<usize>,
    },
    /// The formula nests deeper, or has more operators, than allowed.
    #[error("the formula is nested deeper than {MAX_DEPTH} levels or has more than {MAX_NODES} operators")]
    TooLong {
        /// Bytes of the text.
        span: Range<usize>,
    },
}

impl FormulaError {
    /// Returns the bytes of the text that the error is about.
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
