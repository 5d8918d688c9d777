//! Many points of one question: axes, designs, one batch over all cores, results that survive interruptions.
//!
//! ```text
//! SweepPlan ──▶ points ──▶ run_points ──▶ PointResult ──▶ Store (a folder) ──▶ report
//!                              ▲
//!         Point ──▶ Model (a program and its question), made of the Subject
//! ```
//!
//! | question | file |
//! |---|---|
//! | the whole sweep, from the plan to the results | [`run`] |
//! | the plan in TOML, and its checks | [`plan`] |
//! | the points of an experiment | [`design`], [`sobol`]; a [`constraint`] may leave some out |
//! | how a point changes another plan | [`path`] |
//! | all points on all cores, or on a GPU | [`batch`]: waves of points |
//! | which points get more replications | [`budget`] |
//! | the result of one point | [`result`], and the differences between whole runs: [`mod@spread`] |
//! | results in a folder, resumed and merged | [`store`], [`merge()`] |
//! | which setting matters | [`tornado()`] |
//!
//! [`Sweep`] does all of it, from the plan to the results. The parts are independent of the subject
//! of points: a [`Subject`](crate::subject::Subject) makes a [`Model`] of each.
//!
//! Guarantees:
//!
//! * The result of a point depends on the plan and the seed only: not on threads, on the other points, on the order in
//!   which points run, on interruptions, or on how the sweep is split into shards.
//! * **Common random numbers**: every point has the same seed, and its replications the same numbers from 0 on; since a draw is an address
//!   ([`rng`](crate::rng)), a transition with the same number draws the same words in every point.

pub mod batch;
pub mod budget;
pub mod constraint;
pub mod design;
pub mod merge;
mod model;
mod part;
pub mod path;
mod place;
pub mod plan;
mod point;
mod replicated;
pub mod result;
pub mod run;
pub mod sobol;
pub mod spread;
pub mod store;
#[cfg_attr(not(feature = "parquet"), path = "no_table.rs")]
mod table;
pub mod tornado;
mod wave;

pub use crate::ends::{Ends, OptionalEnds};
pub use batch::{Base, run_base, run_points};
pub use budget::{Budget, Rounds, spent};
pub use constraint::{Admitted, Constraint, ConstraintFault, admitted};
pub use design::points;
pub use merge::{MergeError, merge};
pub use model::{Batch, BatchError, MakeModel, Model};
pub use plan::{Axis, Design, Scale, Settings, SweepPlan};
pub use point::Point;
pub use result::PointResult;
pub use run::{Sweep, SweepOutcome, SweepSettings, SweepWatch};
pub use sobol::Sobol;
pub use spread::Spread;
pub use store::{DamagedPart, Header, Store, StoreError, Stored, read};
pub use tornado::{Knob, Level, tornado};
