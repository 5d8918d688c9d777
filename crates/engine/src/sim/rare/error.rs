//! Errors of splitting.

use std::borrow::Cow;

use tailspn_common::explain::{ErrorKind, Explain};

use crate::compile::CompileError;
use crate::semantics::Fault;
use crate::sim::run_error::RunError;

/// Reason why no probability can be estimated.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum RareError {
    /// The net cannot be compiled.
    #[error(transparent)]
    Compile(#[from] CompileError),
    /// The walks cannot be run.
    #[error(transparent)]
    Run(#[from] RunError),
    /// The delays differ so much that times need more than 64 bits.
    #[error(
        "the longest and the shortest delay of the net differ by more than a factor of about 2^24, so times need more than 64 bits; splitting has only 64"
    )]
    Delays,
    /// The question requests something besides a goal, which splitting does not compute.
    #[error("splitting does not compute {what}")]
    Unsupported {
        /// The request.
        what: &'static str,
    },
    /// The event has no limit: every run eventually reaches the goal, or never ends.
    #[error("the goal needs a limit: a time, or a marking to avoid")]
    Unlimited,
    /// The goal is not a comparison with a threshold, so the levels are unknown.
    #[error("the goal is not of the form `expression >= number`; set --importance")]
    NoImportance,
    /// No pilot walk got beyond this point.
    #[error(
        "no walk got beyond level {reached} on the way to the event; try more walks or another importance function"
    )]
    NoWay {
        /// The last level, as importance or time \[s\].
        reached: f64,
    },
    /// The run was stopped before two batches were complete.
    #[error("stopped before two batches were complete")]
    Stopped,
}

impl From<Fault> for RareError {
    fn from(fault: Fault) -> Self {
        Self::Run(fault.into())
    }
}

impl Explain for RareError {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::Unsupported { .. } | Self::Unlimited | Self::NoImportance => ErrorKind::Usage,
            Self::Compile(_) | Self::Run(_) => ErrorKind::Model,
            _ => ErrorKind::Refused,
        }
    }

    fn help(&self) -> Option<Cow<'static, str>> {
        Some(match self {
            Self::Unlimited => {
                "add --within T, --avoid EXPR, or both; --beyond T gives the complement of --within T".into()
            }
            Self::NoImportance => {
                "add --importance EXPR, such as the minimum of the token counts that must grow".into()
            }
            Self::NoWay { .. } => {
                "increase --effort N; --importance EXPR should grow with every step towards the goal".into()
            }
            Self::Delays => "`tailspn net simulate` supports any delays".into(),
            Self::Stopped => "increase --max-time, or reduce --effort".into(),
            Self::Unsupported { .. } | Self::Compile(_) | Self::Run(_) => return None,
        })
    }
}
