//! Jobs with anomalies whose truth is known: tasks that compute, read and write on nodes where, now and then, a hog takes a resource
//! away, and the samples that sysstat would have taken meanwhile.
//!
//! ```text
//! GeneratorPlan ──▶ generate(seed) ──▶ Generated: TaskRecords, NodeMeters, Truth ──▶ Pool ──▶ rates, RocCurves
//! ```
//!
//! | question | file |
//! |---|---|
//! | the cluster, the tasks and the hogs | `plan`: [`GeneratorPlan`], [`table_iv`], [`Anomaly`] |
//! | how streams share a resource, and when what ends | `simulate` |
//! | hundreds of jobs: ROC curves, edge detection on and off | `experiment` |
//! | the method that the paper compares with | [`PearsonRules`] (equation 8) |
//! | how good a method is | [`Confusion`] (equation 9), [`RocPoint`], [`area_under`] |
//!
//! It is a simulator of its own, not `cluster`: there, a node has one speed, and what slows a task is drawn. Here, what slows it must
//! be *measured*, so that each task goes through the network, the disk and a processor, and each of these is shared by all that use it
//! at the same time, the hogs included. The use of each resource, second by second, is what the samples show.
//!
//! Guarantees: the same plan and seed give the same job, on any thread; between two events all rates are constant, so that times are
//! exact up to rounding.

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
