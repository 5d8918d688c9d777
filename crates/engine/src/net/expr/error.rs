//! Reasons why a text is not an expression, and the limits of an expression.

use std::ops::Range;

use crate::net::expr::ast::Function;

/// Maximum nesting of an expression, a limit that protects the stack.
pub const MAX_DEPTH: usize = 200;

/// Maximum number of operators in one expression.
pub const MAX_OPERATORS: usize = 4_000;

/// Names that other tools give to a function.
pub(super) const OTHER_NAMES: [(&str, Function); 1] = [("ln", Function::Log)];

/// Reason why a text is not an expression. The span is in bytes of the text.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ExprError {
    /// Unexpected input.
    #[error("expected {expected}")]
    Expected {
        /// The expected text.
        expected: &'static str,
        /// Position in the text, in bytes.
        span: Range<usize>,
    },
    /// Text that is not a number.
    #[error("`{text}` is not a number")]
    BadNumber {
        /// The text.
        text: String,
        /// Position in the text, in bytes.
        span: Range<usize>,
    },
    /// A function that does not exist.
    #[error("there is no function `{name}`; the functions are {}", known_functions())]
    UnknownFunction {
        /// Name of the function.
        name: String,
        /// Position in the text, in bytes.
        span: Range<usize>,
    },
    /// A function with too few or too many arguments.
    #[error("`{name}` takes {}, not {got}", arguments(*least, *most))]
    Arity {
        /// The function.
        name: &'static str,
        /// Minimum number of arguments.
        least: usize,
        /// Maximum number of arguments.
        most: usize,
        /// Number of arguments given.
        got: usize,
        /// Position in the text, in bytes.
        span: Range<usize>,
    },
    /// A place that the net does not have.
    #[error("there is no place `{name}`")]
    UnknownPlace {
        /// Name of the place.
        name: String,
        /// Position in the text, in bytes.
        span: Range<usize>,
    },
    /// A token class that the net does not have.
    #[error("there is no token class `{name}`")]
    UnknownClass {
        /// Name of the class.
        name: String,
        /// Position in the text, in bytes.
        span: Range<usize>,
    },
    /// A name that is not a rate parameter of the net.
    #[error("there is no rate parameter `{name}` (tokens in a place are written `#(place)`)")]
    UnknownParameter {
        /// Name of the parameter.
        name: String,
        /// Position in the text, in bytes.
        span: Range<usize>,
    },
    /// Parentheses nest deeper than [`MAX_DEPTH`], or there are more than [`MAX_OPERATORS`] operators.
    #[error("the expression is nested deeper than {MAX_DEPTH} levels or has more than {MAX_OPERATORS} operators")]
    TooDeep {
        /// Position in the text, in bytes.
        span: Range<usize>,
    },
}

/// Names of all functions.
fn known_functions() -> String {
    let mut names: Vec<&str> = Function::ALL.iter().map(|function| function.name()).collect();
    names.extend(OTHER_NAMES.iter().map(|(name, _)| *name));
    names.extend(["cap", "mod"]);
    names.sort_unstable();
    names.join(", ")
}

/// Numbers of arguments in words.
fn arguments(least: usize, most: usize) -> String {
    match (least, most) {
        (1, 1) => "1 argument".to_owned(),
        _ if least == most => format!("{least} arguments"),
        _ => format!("{least} to {most} arguments"),
    }
}

impl ExprError {
    /// The bytes of the text that the error is about.
    pub fn span(&self) -> Range<usize> {
        match self {
            Self::Expected { span, .. }
            | Self::BadNumber { span, .. }
            | Self::UnknownFunction { span, .. }
            | Self::Arity { span, .. }
            | Self::UnknownPlace { span, .. }
            | Self::UnknownClass { span, .. }
            | Self::UnknownParameter { span, .. }
            | Self::TooDeep { span } => span.clone(),
        }
    }
}
