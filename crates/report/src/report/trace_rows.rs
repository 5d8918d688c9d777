//! The rows of a report on a log, from which JSON and text are made.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::report::json::Word;
use crate::trace::analysis::Bound;
use crate::trace::analysis::Times;
use crate::trace::{Format, Outcome, StageKind, WarningKind};

/// A log and its analysis. Times are in seconds since the start of its first application.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TraceReport {
    /// The format.
    pub format: Format,
    /// The files that were read.
    pub files: Vec<String>,
    /// True if the reading was ended early.
    pub partial: bool,
    /// Bytes of the files.
    pub bytes: u64,
    /// Bytes after decompression.
    pub text_bytes: u64,
    /// Events or records.
    pub events: u64,
    /// Time 0 in seconds since 1970; none if the log has a relative clock.
    pub origin_unix_s: Option<f64>,
    /// In the order of the log.
    pub applications: Vec<ApplicationRow>,
    /// In the order of applications, and of the log within each.
    pub jobs: Vec<TraceJobRow>,
    /// In the order of application, number and attempt.
    pub stages: Vec<StageRow>,
    /// In the order of the log.
    pub nodes: Vec<NodeRow>,
    /// Number of attempts by outcome, without zeros.
    pub outcomes: Vec<OutcomeRow>,
    /// Sums over attempts; amounts that the log does not record are omitted.
    pub amounts: Vec<AmountRow>,
    /// Copies of running attempts.
    pub copies: CopiesRow,
    /// Attempts that are stragglers by either rule, the longest first.
    pub stragglers: Vec<StragglerRow>,
    /// Source of the expected times for the second rule.
    pub usual: Word,
    /// Oddities of the log.
    pub warnings: Vec<WarningRow>,
    /// The attempts as bars in lanes; absent if more than 3,000 bars remain after attempts were joined.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeline: Option<TimelineRow>,
}

/// The attempts of a log as bars in lanes: a lane for each slot of each node.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TimelineRow {
    /// Start of the picture.
    pub from_s: f64,
    /// End of the picture.
    pub to_s: f64,
    /// True if attempts of one kind that follow each other within about a pixel share a bar, since there are many.
    pub joined: bool,
    /// The lanes, in the order of nodes.
    pub lanes: Vec<LaneRow>,
}

/// A lane of a timeline.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LaneRow {
    /// Name of the node.
    pub node: Option<String>,
    /// `START END KIND` of each bar, in seconds, with `; ` between bars. The kind is `task`, or `next` in every other stage;
    /// `wasted`: killed, or a copy or original that lost; `slow`: beyond 1.5 medians of the stage; `copy`: a copy that won;
    /// `failed`.
    pub bars: String,
}

/// An application.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ApplicationRow {
    /// Id of the application.
    pub id: String,
    /// Name of the application.
    pub name: String,
    /// Version of the framework.
    pub version: Option<String>,
    /// Time when the application started.
    pub start_s: Option<f64>,
    /// Time when the application ended.
    pub end_s: Option<f64>,
    /// Jobs of the application.
    pub jobs: u64,
    /// Tasks that can run simultaneously.
    pub slots: u64,
    /// True if the log states the slots; otherwise `slots` is the observed maximum of simultaneous attempts.
    pub slots_stated: bool,
    /// Lower bounds of the application's time; none if no task has a known duration.
    pub bounds: Option<BoundsRow>,
    /// Settings of scheduling, memory, SQL, shuffles and GPUs.
    pub properties: BTreeMap<String, String>,
}

/// Lower bounds of an application's time \[s\].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BoundsRow {
    /// From the first submission of a job to the last end of a job.
    pub span_s: f64,
    /// Total time of the attempts that completed their tasks.
    pub work_s: f64,
    /// Time of all work if it is spread evenly over all slots.
    pub by_slots_s: f64,
    /// The longest chain of stages.
    pub by_critical_path_s: f64,
    /// The longest task.
    pub by_longest_task_s: f64,
    /// The time in which no task ran.
    pub by_driver_s: f64,
    /// The largest of these bounds.
    pub largest: Bound,
    /// True if the log states the dependencies of stages.
    pub knows_dependencies: bool,
}

/// A job.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TraceJobRow {
    /// Application of the job, by position.
    pub application: usize,
    /// Number of the job.
    pub number: u64,
    /// Name of the job.
    pub name: String,
    /// Time when the job was submitted.
    pub submitted_s: Option<f64>,
    /// Time when the job ended.
    pub completed_s: Option<f64>,
    /// True if the job succeeded.
    pub succeeded: Option<bool>,
    /// Numbers of the job's stages, including skipped ones.
    pub stages: Vec<u32>,
}

/// An attempt to run a stage.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StageRow {
    /// Application of the stage, by position.
    pub application: usize,
    /// Number of the stage.
    pub number: u32,
    /// The number of this attempt.
    pub attempt: u32,
    /// Name of the stage.
    pub name: String,
    /// The description of the stage's query or job in one line; `None` if it only repeats the name.
    pub description: Option<String>,
    /// The number of the stage's SQL query.
    pub sql_execution: Option<u64>,
    /// Operators of the query's plan that ran in the stage, in data order.
    pub operators: Vec<String>,
    /// Kind of the stage's tasks.
    pub kind: StageKind,
    /// The parent stages; `None` if the log does not record them.
    pub parents: Option<Vec<u32>>,
    /// Planned number of tasks.
    pub tasks: Option<u32>,
    /// Finished tasks.
    pub tasks_done: u64,
    /// Attempts of tasks.
    pub attempts: u64,
    /// Attempts that failed, or whose executor or shuffle input was lost.
    pub failures: u64,
    /// Attempts that were copies.
    pub copies: u64,
    /// Time when the stage was submitted.
    pub submitted_s: Option<f64>,
    /// Time when the stage ended.
    pub completed_s: Option<f64>,
    /// Waves: tasks of the stage divided by slots of the application; none without slots.
    pub waves: Option<f64>,
    /// Times of attempts that succeeded \[s\].
    pub times_s: Option<Times>,
    /// Attempts beyond 1.5 medians of the stage.
    pub over_median: u64,
    /// Attempts beyond 1.2 times the expected time of their task.
    pub over_usual: u64,
    /// Times of the stage's attempts on GPUs; `None` for a log without GPU metrics.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gpu: Option<GpuRow>,
}

/// Total times of attempts on GPUs. A measure missing from the log is `None`, not 0.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct GpuRow {
    /// Time in which attempts waited for a permit \[s\].
    pub wait_s: Option<f64>,
    /// Wait predicted from the attempts' other times and the number of permits of an executor \[s\].
    pub predicted_wait_s: Option<f64>,
    /// Permits of an executor, if the log states them.
    pub permits: Option<u32>,
    /// Time in which attempts held a permit \[s\].
    pub hold_s: Option<f64>,
    /// Time of work that was blocked or repeated for lack of memory \[s\].
    pub retry_s: Option<f64>,
    /// Time in which data moved to the host or to disk, and back \[s\].
    pub spill_s: Option<f64>,
    /// Retries of work.
    pub retries: Option<u64>,
    /// Maximum memory of a GPU in use \[bytes\].
    pub peak_bytes: Option<f64>,
    /// Total time of the attempts \[s\].
    pub attempts_s: f64,
}

/// A node.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct NodeRow {
    /// Name of the node.
    pub name: String,
    /// Rack of the node.
    pub rack: Option<String>,
    /// Attempts that ran on the node.
    pub attempts: u64,
    /// Total time of these attempts \[s\].
    pub busy_s: f64,
    /// Median of the times of the node's attempts, except failed ones, each divided by the stage's
    /// median; none without attempts.
    pub slowness: Option<f64>,
}

/// Attempts with one outcome.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OutcomeRow {
    /// Outcome.
    pub outcome: Outcome,
    /// Number of attempts.
    pub attempts: u64,
}

/// A sum over attempts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AmountRow {
    /// Name of the amount, with its unit.
    pub metric: Word,
    /// The sum.
    pub sum: f64,
    /// Attempts for which the log records the amount.
    pub attempts: u64,
}

/// Copies of running attempts.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CopiesRow {
    /// Number of copies that were started.
    pub started: u64,
    /// Tasks that had a copy.
    pub tasks: u64,
    /// Copies that completed the task before the original.
    pub won: u64,
    /// Copies that did not complete the task first.
    pub lost: u64,
    /// Copies that failed.
    pub failed: u64,
    /// Copies that were killed, or have no end, before any attempt had succeeded.
    pub open: u64,
    /// Wasted time of attempts of copied tasks \[s\].
    pub wasted_s: f64,
    /// Wasted time as a share of the time of all attempts; `None` if that is 0.
    pub wasted_share: Option<f64>,
}

/// A straggler.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StragglerRow {
    /// Application of the straggler, by position.
    pub application: usize,
    /// Stage of the straggler.
    pub stage: u32,
    /// The attempt of the stage.
    pub stage_attempt: u32,
    /// The task.
    pub task: u32,
    /// The attempt of the task.
    pub attempt: u32,
    /// Node on which the attempt ran.
    pub node: Option<String>,
    /// Observed run time \[s\].
    pub time_s: f64,
    /// True if `time_s` is a lower bound, because the attempt was killed or has no end.
    pub at_least: bool,
    /// Run time divided by the median of the stage.
    pub medians: Option<f64>,
    /// True for a straggler by the first rule (median of the stage).
    pub over_median: bool,
    /// True for a straggler by the second rule (expected time).
    pub over_usual: bool,
    /// Outcome of the attempt.
    pub outcome: Outcome,
    /// True if the attempt was a copy.
    pub speculative: bool,
}

/// One kind of oddity.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WarningRow {
    /// Kind of the warning.
    pub kind: WarningKind,
    /// Number of occurrences.
    pub count: u64,
    /// First occurrence: `file:line`.
    pub first: String,
    /// Text of the warning, with an example.
    pub text: String,
}
