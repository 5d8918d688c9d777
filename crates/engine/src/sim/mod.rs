//! Simulation: many independent replications of a [`Program`](crate::compile::Program), on the CPU and on GPUs.
//!
//! [`Net::simulation`](crate::net::Net::simulation) simulates a net and returns results by name, in
//! seconds. On the level below, [`run()`] takes a program, a [`Question`] and an [`Ensemble`] and returns
//! [`Samples`], in ticks. Two engines:
//!
//! * the **schedule engine** if compilation finds that every transition fires at most once and no
//!   transitions compete ([`Schedule::new`]): a max-plus evaluation, a block of replications at a
//!   time;
//! * the **race engine** for every other net: the token game, in the *clock* form (each transition draws its own delay;
//!   next reaction with an indexed heap), the *direct* form (one draw from the total rate; exponential nets), and the
//!   *lockstep* form (the direct form, a block of replications at a time).
//!
//! Engines on GPUs (feature `gpu`) are twins of these engines and produce their numbers; [`Backend`] selects the
//! device.
//!
//! Guarantees:
//!
//! * The same program, question and seed give the same numbers, on any number of threads and in any blocks.
//! * The schedule engine and the clock form agree bit for bit if both can run a net; so do the direct and the lockstep form.
//!   The two pairs agree in distribution.
//! * Times are integers; see [`Clock`] for the tick and its error.

mod averages;
mod backend;
mod clock;
#[cfg(test)]
mod conformance;
mod cpu;
mod engine;
mod engines;
mod ensemble;
#[cfg(feature = "gpu")]
pub mod gpu;
mod long_run;
#[cfg(not(feature = "gpu"))]
mod no_gpu;
#[cfg(not(feature = "gpu"))]
mod no_relay;
mod patience;
mod prepared;
mod question;
mod race;
mod rare;
mod reachable;
mod ready;
mod record;
mod result;
mod run;
mod run_error;
mod sampler;
mod samples;
mod schedule;
mod score;
mod shift;
mod simulation;
mod steady;
mod steady_result;
#[cfg(test)]
mod stopping;
mod targets;
mod trajectory;
mod unfired;

pub use crate::watch::{Unwatched, Watch};
pub use averages::Averages;
pub use backend::{Backend, DeviceUse, GpuTimes, Placement, RanOn};
pub use clock::{Clock, NEVER, Scale};
pub use engines::EngineChoice;
pub use ensemble::Ensemble;
#[cfg(feature = "gpu")]
pub use gpu::Card;
pub use long_run::{LONG_RUNS, LongRuns, MOST_LONG_FIRINGS, SteadySimulation};
#[cfg(not(feature = "gpu"))]
pub use no_gpu::Card;
pub use patience::{PATIENCE, SEARCH, limit_firings, reaches_goal};
pub use prepared::Prepared;
pub use question::{Condition, Ending, Goal, Group, MAX_FIRINGS, Question, Reward, Snapshot};
pub use race::{DirectLaw, DirectObstacle};
pub use rare::{LevelShare, RareError, RareEstimate, RareEvent, Splitting};
pub use ready::Ready;
pub use record::{FoldedParts, NotFolded, Provenance, Run};
pub use result::{GroupSpan, PassageTimes, SimulationResult};
pub use run::run;
pub use run_error::RunError;
pub use sampler::Sampler;
pub use samples::{GroupTimes, Samples};
pub use schedule::{CriticalPath, GroupShare, PathSlopes, Schedule, UnfitError};
pub use score::{ScoreError, Scores, is_scored, scores};
pub use shift::{Shift, ShiftError};
pub use simulation::{QuestionError, Simulation, SimulationError};
pub use steady::{BatchAverages, BatchLength, SteadyError, SteadyRunError, SteadyState, run_steady, run_steady_runs};
pub use steady_result::SteadyResult;
pub use targets::{NoQuantity, Precision, Quantity, Target};
pub use trajectory::Trajectory;
pub use unfired::Unseen;
