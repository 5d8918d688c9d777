//! Generated jobs with known anomalies: tasks compute, read and write on nodes where, now and then, another program (a
//! *hog*) takes a resource away. The samples that sysstat would record at the same time are generated, too.
//!
//! ```text
//! GeneratorPlan ──▶ generate(seed) ──▶ Generated: TaskRecords, NodeMeters, Truth ──▶ Pool ──▶ rates, RocCurves
//! ```
//!
//! | question | file |
//! |---|---|
//! | the cluster, the tasks and the hogs | `plan`: [`GeneratorPlan`], [`table_iv`], [`Anomaly`] |
//! | how tasks and hogs share a resource, and when each of them ends | `net simulate` |
//! | hundreds of jobs: ROC curves, edge detection on and off | `experiment` |
//! | the method that the paper compares with | [`PearsonRules`] (equation 8) |
//! | how good a method is | [`Confusion`] (equation 9), [`RocPoint`], [`area_under`] |
//!
//! This simulator is separate from `cluster`. In `cluster`, a node has one speed, and the slowdown of a task is drawn
//! at random. Here, the cause of a slowdown must be *measurable*: each task goes through the network, the disk and a
//! CPU, and all tasks and hogs that use a resource at the same time share it. The samples show the use of each
//! resource, second by second.
//!
//! Guarantees: the same plan and seed give the same job, on any thread. All rates are constant between two events, so
//! that times are exact up to rounding.

mod draw;
mod experiment;
mod pearson;
mod plan;
mod roc;
mod score;
mod simulate;

pub use experiment::{Curves, EdgeEffect, Thresholds, curves, decisions, edge_effect, pools};
pub use pearson::{PearsonRules, correlation, is_pearson_cause};
pub use plan::{Anomaly, GeneratorPlan, Hog, table_iv};
pub use roc::{RocPoint, area_under, hull};
pub use score::{Confusion, Truth, TruthWindow, score_resources};
pub use simulate::{Generated, generate};
