//! Sweeps: many points of one question, with axes, designs, one batch over all cores, and results that survive interruptions.
//!
//! ```text
//! SweepPlan ──▶ points ──▶ run_points ──▶ PointResult ──▶ Store (a folder) ──▶ report
//!                              ▲
//!         Point ──▶ Model (a program and its question), built by the Subject
//! ```
//!
//! | question | file |
//! |---|---|
//! | the whole sweep, from the plan to the results | [`run`] |
//! | the plan in TOML, and its checks | [`plan`] |
//! | the points of an experiment | [`design`], [`sobol`]; a [`constraint`] may exclude points |
//! | setting the values of a point in a plan | [`path`] |
//! | all points on all cores, or on a GPU | [`batch`]: waves of points |
//! | the points that get more replications | [`budget`] |
//! | the result of one point | [`result`]; variation between whole runs: [`mod@spread`] |
//! | results in a folder: resuming and merging | [`store`], [`merge()`] |
//! | the settings with the largest effect | [`tornado()`] |
//! | axes for a job without a plan of axes | `proposed` |
//!
//! [`Sweep`] runs the whole sweep, from the plan to the results. The other parts do not depend on the kind of subject:
//! a [`Subject`](crate::subject::Subject) builds the [`Model`] of each point.
//!
//! Guarantees:
//!
//! * The result of a point depends only on the plan and the seed: not on threads, on the other points, on the order in
//!   which points run, on interruptions, or on how the sweep is split into shards.
//! * **Common random numbers**: all points have the same seed and number their replications from 0. Because a draw is determined by its
//!   address ([`rng`](crate::rng)), a transition with the same number draws the same words at every point.

pub mod batch;
pub mod budget;
pub mod constraint;
pub mod design;
mod far;
pub mod merge;
mod model;
mod part;
pub mod path;
mod place;
pub mod plan;
mod point;
mod proposed;
mod replicated;
pub mod result;
pub mod run;
pub mod sobol;
pub mod spread;
pub mod store;
mod store_error;
#[cfg_attr(not(feature = "parquet"), path = "no_table.rs")]
mod table;
pub mod tornado;
mod wave;

pub use crate::ends::{Ends, OptionalEnds};
pub use batch::{Base, run_base, run_points};
pub use budget::{Budget, Rounds, spent};
pub use constraint::{Admitted, Constraint, ConstraintFault, admitted};
pub use design::points;
pub use far::far_notes;
pub use merge::{MergeError, merge};
pub use model::{Batch, BatchError, MakeModel, Model, NetModel, Runs};
pub use plan::{Axis, Design, Scale, Settings, SweepPlan};
pub use point::Point;
pub use result::PointResult;
pub use run::{Sweep, SweepOutcome, SweepSettings, SweepWatch};
pub use sobol::Sobol;
pub use spread::Spread;
pub use store::{Header, Store, Stored, read};
pub use store_error::{DamagedPart, StoreError};
pub use tornado::{Knob, Level, tornado};
