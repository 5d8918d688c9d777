//! Reasons why an exact solution of a net cannot be computed.

use crate::compile::CompileError;
use crate::net::expr::ExprError;
use crate::semantics::Fault;
use crate::solve::ask_error::AskError;
use crate::solve::explore_error::{ExploreError, Incomplete};
use crate::solve::fixed_delays::FixedDelayError;
use crate::solve::grid::GridError;
use crate::solve::passage_error::PassageError;
use crate::solve::phases::PhaseError;
use crate::solve::series_parallel::SeriesParallelError;
use crate::solve::steady::SteadyError;
use crate::solve::transient::TransientError;

/// Reason why an exact solution of a net cannot be computed.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SolutionError {
    /// The net cannot be compiled.
    #[error(transparent)]
    Compile(#[from] CompileError),
    /// Delays that phases cannot represent; simulation is possible.
    #[error(transparent)]
    Phases(#[from] PhaseError),
    /// An expression that does not fit the net.
    #[error(transparent)]
    Expression(#[from] ExprError),
    /// An expression without a finite value in a state.
    #[error(transparent)]
    Fault(#[from] Fault),
    /// The states cannot be explored.
    #[error(transparent)]
    Explore(#[from] ExploreError),
    /// The net has more states than the limits allow; higher limits or simulation are possible.
    #[error(transparent)]
    Incomplete(#[from] Incomplete),
    /// The passage time cannot be computed.
    #[error(transparent)]
    Passage(#[from] PassageError),
    /// The completion time of a schedule cannot be computed from its parts.
    #[error(transparent)]
    Parts(#[from] SeriesParallelError),
    /// A number of a completion time cannot be computed.
    #[error(transparent)]
    Grid(#[from] GridError),
    /// A net with deterministic or empirical delays that cannot be solved; simulation is possible.
    #[error(transparent)]
    FixedDelays(#[from] FixedDelayError),
    /// The steady state cannot be computed.
    #[error(transparent)]
    Steady(#[from] SteadyError),
    /// The probabilities at a time cannot be computed.
    #[error(transparent)]
    Transient(#[from] TransientError),
    /// A probability between two times, or a reward, that cannot be computed.
    #[error(transparent)]
    Ask(#[from] AskError),
    /// The net can reach a dead marking, so it has no steady state; the passage time to the dead marking exists.
    #[error("{dead} of the markings are dead, so the net has no steady state")]
    Dead {
        /// Number of dead markings.
        dead: usize,
    },
}
