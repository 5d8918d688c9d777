//! A cluster at task level: the cost of stragglers, their detection, and the effect of speculative copies.
//!
//! ```text
//! Plan (TOML) ──▶ World ──▶ Simulator ──▶ Outcome per policy and replication ──▶ Comparison
//!                   │  ▲                     ▲
//!                   ▼  │ usual times         │ Detector
//!             homogeneous runs          detect::*
//! ```
//!
//! Detectors watch the progress of tasks, which a GSPN does not model; therefore this simulator uses no net. Nodes have
//! cores, slots and a speed, and the tasks of a node share its active cores. Nodes report by heartbeats, slow down and
//! fail. Jobs come in waves of maps, then reduces.
//!
//! | question | file |
//! |---|---|
//! | the settings of a what-if, and their problems | [`Plan`], `plan_check` |
//! | one replication | `simulator` (events), `ending` (ends of tasks and jobs), `placing` (slots), `looking` (detectors), `mishaps` (slow-downs, failures), `node` (contention, reports, energy) |
//! | the detectors | [`detect`] |
//! | quality of a detector | [`metrics`] |
//! | definition of a straggler | [`truth`] |
//! | progress, rates, thresholds; power; first-order time and energy | [`formulas`], [`energy`], [`first_order`] |
//! | a job of stages, planned or recorded, as a world | `of_job`, `known` |
//! | many replications of many policies, side by side, and the advice | [`Experiment`], [`compare()`], [`Advice`] |
//! | variants of policies | [`Sweep`] |
//! | the progress of all tasks of a run over time | [`record_progress`] |
//!
//! Guarantees: the same seed gives the same results on any number of threads; all policies see the same work of each
//! attempt, the same input and the same slow-downs and failures (common random numbers).

mod advice;
mod compare;
mod ending;
mod ensemble;
mod known;
mod looking;
mod mishaps;
mod next_event;
mod node;
mod of_job;
mod outcome;
mod placing;
mod plan;
mod plan_check;
mod policy;
mod recording;
mod simulator;
mod sweep;
mod world;

#[cfg(test)]
mod simulator_tests;

pub mod detect;
pub mod energy;
pub mod first_order;
pub mod formulas;
pub mod metrics;
pub mod truth;

pub use advice::{Advice, Replayed};
pub use compare::{Change, Comparison, PolicySummary, Tail, compare, widest_change};
pub use ensemble::{Experiment, ExperimentError, PolicyRuns, Replications, homogeneous_times};
pub use outcome::{Outcome, RunFault};
pub use plan::{
    ClusterPlan, Failure, HotKeys, JobOrder, JobPlan, NodeGroup, Noise, Plan, PolicyPlan, Power, SlotShare, Slowdown,
    Truth, Watching,
};
pub(crate) use plan_check::check_policies;
pub use plan_check::{MAX_NODES, MAX_TASKS};
pub use recording::{RecordedTask, record_progress};
pub use sweep::Sweep;
