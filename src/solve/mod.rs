//! Exact answers: numerical solution of Markov chains, and the law of the passage time of schedules.
//!
//! The chain's own solvers know nothing of nets: they get a [`Chain`] and give numbers with a residual or an error
//! bound. [`expand_phases`] prepares a net whose delays are not exponential, [`series_parallel`] needs no state space at
//! all. Methods, sources and accuracy: docs/solve.md.

mod absorb;
mod chain;
mod elimination;
mod grid;
mod law_tree;
mod linear;
mod lu;
mod passage;
mod phase_grid;
mod phases;
mod poisson;
mod recurrence;
mod reward;
mod series_parallel;
mod steady;
mod sweep;
mod transient;

pub use absorb::{AbsorbError, Absorption, absorption};
pub use chain::{Chain, ChainProblem};
pub use grid::{Bounded, CompletionTime, GridError, GridSettings};
pub use linear::{LinearError, LinearMethod, LinearOutcome, LinearSettings};
pub use passage::{Passage, PassageError, PassageMoments, PassageSettings, passage};
pub use phases::{Expanded, PhaseObstacle, expand_phases};
pub use reward::{RewardAt, accumulated_until, expected, rewards_at};
pub use series_parallel::{SeriesParallelError, completion_time};
pub use steady::{RecurrentClass, Steady, SteadyError, steady_state};
pub use transient::{Transient, TransientError, TransientSettings, transient};
