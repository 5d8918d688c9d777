//! Reasons why a question has no answer.

use crate::semantics::Fault;
use crate::solve::absorb::AbsorbError;
use crate::solve::explore_error::{ExploreError, Incomplete};
use crate::solve::passage_error::PassageError;
use crate::solve::steady::SteadyError;
use crate::solve::transient::TransientError;

/// Reason why a question has no answer.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum AskError {
    /// The states were not found.
    #[error(transparent)]
    Explore(#[from] ExploreError),
    /// States are missing: a limit was reached.
    #[error(transparent)]
    Incomplete(#[from] Incomplete),
    /// A value that makes no sense in a state.
    #[error(transparent)]
    Fault(#[from] Fault),
    /// The probabilities at a given time could not be computed.
    #[error(transparent)]
    Transient(#[from] TransientError),
    /// The long-run probabilities could not be computed.
    #[error(transparent)]
    Steady(#[from] SteadyError),
    /// The times spent before a goal could not be computed.
    #[error(transparent)]
    Absorb(#[from] AbsorbError),
    /// The time to a goal could not be computed.
    #[error(transparent)]
    Passage(#[from] PassageError),
    /// An interval that starts after 0, with a goal or a condition that holds in a vanishing marking: not supported.
    #[error(
        "a goal or condition with an interval that starts after 0 holds in a vanishing marking; use a goal or condition that holds only in tangible markings"
    )]
    ZeroTime,
}
