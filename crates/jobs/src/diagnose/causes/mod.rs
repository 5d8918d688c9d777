//! Root causes of slow tasks, found by comparing each straggler with its peers \[Zhou2018\]. The compared features come
//! from the log of the job and from the samples of the straggler's node. Each kind of feature has a rule.
//!
//! ```text
//! JobTrace ──▶ TaskRecord ─┐
//! Samples ──▶ NodeMeters ──┴▶ Pool ──▶ Rules ──▶ RootCause ──▶ Finding, Advice
//! ```
//!
//! | question | file |
//! |---|---|
//! | the features, their kinds and causes | [`Feature`] |
//! | samples of each node, and their clock | `nodes`, `clocks` |
//! | the features of all tasks of a stage | [`Pool`] |
//! | conditions under which a feature is a cause | [`Rules`] (equations 5 to 7) |
//! | findings of a log | [`root_causes`] |
//! | use of the job's time beyond single tasks | `whole`, `starved` |
//! | time saved if a cause were absent | `schedule`, `recorded`, `listed`, `even_split` |
//! | time saved by speculative copies | `copies` |
//! | recommendations | [`RootCauses::advice`] |
//!
//! # Guarantees
//!
//! * A feature missing from the log and the samples is *unknown*: it is never treated as 0, and never a cause.
//! * A straggler without a cause is also a finding, with the cause [`Unknown`](crate::diagnose::Cause::Unknown).
//!
//! docs/diagnose.md gives the reason for every default; docs/replications/bigroots.md lists the results of the paper
//! that could be reproduced.

mod advice;
mod clocks;
mod copies;
mod even_split;
mod feature;
mod findings;
mod gpu;
mod listed;
mod map_to_complete;
mod naming;
mod nodes;
mod of_log;
mod pool;
mod recorded;
#[cfg(test)]
mod recorded_tests;
mod records;
mod rules;
mod schedule;
mod slow_nodes;
mod starved;
mod whole;

pub use advice::{Advice, OtherRemedy, Remedy, WarmUp};
pub use clocks::{ClockHint, clock_hint};
pub use feature::{Category, FEATURES, Feature, RESOURCES};
pub use findings::{ReplayedTime, RootCauses, StageSummary, root_causes};
pub use map_to_complete::map_to_complete;
pub use naming::stage_name;
pub use nodes::{CpuShare, NodeMap, NodeMapError, NodeMeters, NodeSource, Unmapped, meters_of};
pub use of_log::{CauseSettings, LogCauses, causes_of_log};
pub use pool::{Pool, PoolOptions, PoolTask, Surroundings};
pub use records::{TaskRecord, records_of};
pub use rules::{Edge, RootCause, Rules, Sign, TimeRule, judge};
