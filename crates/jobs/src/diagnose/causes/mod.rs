//! Why single tasks were slow, by comparing each straggler with its peers \[Zhou2018\]: features from the log of the job and from the
//! samples of its node, and a rule for each kind of feature.
//!
//! ```text
//! JobTrace ──▶ TaskRecord ─┐
//! Samples ──▶ NodeMeters ──┴▶ Pool ──▶ Rules ──▶ RootCause ──▶ Finding, Advice
//! ```
//!
//! | question | file |
//! |---|---|
//! | which features there are, of which kind, for which cause | [`Feature`] |
//! | which samples belong to which node, and by which clock | `nodes`, `clocks` |
//! | the features of all tasks of a stage | [`Pool`] |
//! | when a feature is a cause | [`Rules`] (equations 5 to 7) |
//! | what is said of a log | [`root_causes`] |
//! | how the job's time went beyond single tasks | `whole` |
//! | how much shorter the job would have been without a cause | `path` |
//! | what to do about it | [`RootCauses::advice`] |
//!
//! # Guarantees
//!
//! * A feature that the log or the samples do not tell is *unknown*: it is never taken for 0, and never a cause.
//! * A straggler without a cause is a finding as well, of the cause [`Unknown`](crate::diagnose::Cause::Unknown).
//!
//! Every default has its reason in docs/diagnose.md; what of the paper could be reproduced is in docs/replications/bigroots.md.

mod advice;
mod clocks;
mod feature;
mod findings;
mod gpu;
mod map_to_complete;
mod naming;
mod nodes;
mod path;
mod pool;
mod records;
mod rules;
mod slow_nodes;
mod whole;

pub use advice::{Advice, Remedy, WarmUp};
pub use clocks::{ClockHint, clock_hint};
pub use feature::{Category, FEATURES, Feature, RESOURCES};
pub use findings::{RootCauses, StageSummary, root_causes};
pub use map_to_complete::map_to_complete;
pub use naming::stage_name;
pub use nodes::{CpuShare, NodeMap, NodeMapError, NodeMeters, NodeSource, Unmapped, meters_of};
pub use pool::{Pool, PoolOptions, PoolTask, Surroundings};
pub use records::{TaskRecord, records_of};
pub use rules::{Edge, RootCause, Rules, Sign, TimeRule, judge};
