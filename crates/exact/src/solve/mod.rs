//! Exact answers: all markings of a net, verdicts with witnesses, and the numerical solution of its Markov chain.
//!
//! ```text
//! Program ──explore──▶ StateSpace ──▶ verdicts, witnesses, exports
//!                          │
//!                          └──▶ Chain ──▶ steady state, transient, passage time ──▶ Averages
//! ```
//!
//! [`Solve::solution`](crate::answer::Solve::solution) answers questions about a net, with places and transitions referred to by name.
//! On a lower level, [`explore`] finds every tangible marking, eliminates the vanishing markings and returns the [`Chain`]. Enabling and firing
//! are defined in [`semantics`](crate::semantics), which the simulators use too. The solvers for chains do not depend on nets:
//! they take a [`Chain`] and return numbers with a residual or an error bound. docs/solve.md describes methods, sources and
//! accuracy.

mod absorb;
mod ask;
mod ask_error;
mod averages;
mod canonical;
#[cfg(test)]
mod cases;
mod chain;
mod components;
mod cosine;
mod coverability;
mod csl;
mod elimination;
mod entered;
mod explore_error;
mod export;
mod firings;
mod fixed_delays;
mod grid;
mod growth;
mod iterate;
mod krylov;
mod law_tree;
mod linear;
mod marking;
mod packed;
mod passage;
mod passage_error;
mod paths;
mod phase_grid;
mod phases;
mod rates;
mod reach;
mod reward;
mod search;
mod series_parallel;
mod space;
mod sparse;
mod state_graph;
mod steady;
#[cfg(test)]
mod stopping;
mod store;
mod sweep;
mod transient;
mod until;
mod untimed;
mod vanish;
mod verdict;
mod wide;
mod witness;
mod zero_rates;

pub use absorb::{AbsorbError, Absorption, absorption};
pub use ask::Asking;
pub use ask_error::AskError;
pub use averages::Averages;
pub use chain::{Chain, ChainProblem};
pub use coverability::{Cover, Coverability, CoverabilityError, Ignored, OMEGA, Pump, coverability};
pub use csl::{Comparison, CslQuery};
pub use explore_error::{ExploreError, Incomplete, Unbounded};
pub use export::{write_matrix_market, write_prism_labels, write_prism_states, write_prism_transitions};
pub use firings::FiringFlow;
pub use fixed_delays::{
    FixedDelayError, FixedDelayPassage, FixedDelayStates, FixedDelaySteady, FixedDelayTransient, TimeGrid,
    has_fixed_delays, is_fixed,
};
pub use grid::{CompletionTime, GridError, GridSettings};
pub use linear::{LinearError, LinearMethod, LinearOutcome, LinearSettings};
pub(crate) use passage::passage_of;
pub use passage::{Passage, PassageMoments, PassageSettings, passage};
pub use passage_error::PassageError;
pub use paths::Paths;
pub use phases::{Expanded, PhaseError, PhaseObstacle, expand_phases, expand_phases_except};
pub use rates::{RateRow, Rates};
pub use reach::{Limits, explore, explore_canonical};
pub use reward::{RewardAt, accumulated_until, expected, rewards_at};
pub use series_parallel::{SeriesParallelError, completion_time, is_series_parallel};
pub use space::{Peak, StateSpace};
pub use state_graph::{
    DrawError, Drawing, GraphEdge, GraphNode, MarkingKind, StateGraph, coverability_graph, reachability_graph,
};
pub use steady::{RecurrentClass, Steady, SteadyError, steady_state};
pub use transient::{Transient, TransientError, TransientSettings, transient};
pub use until::{Until, UntilStates};
pub use untimed::{
    Checked, Checker, Evidence, Formula, FormulaError, MarkingGraph, Priorities, Step, explore_untimed, untimed_graph,
};
pub use verdict::{ClosedClass, Liveness, Verdicts};
pub use witness::{ReplayError, replay};
pub use zero_rates::ZeroRates;
