//! The plan of a what-if study in TOML: cluster, noise, jobs, and the policies to compare.
//!
//! Defines the sections and their defaults. `plan_check` validates a plan; `world` applies its numbers in a run. The
//! defaults are the experiment of \[Phan2018\]; `models/cluster/phan-c2.toml` marks which values come from the paper
//! and which are ours.

use serde::{Deserialize, Serialize};

use crate::cluster::detect::DetectorPlan;
use crate::mapreduce::Stragglers;

/// Cluster, jobs and policies.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct Plan {
    /// Deadline for all jobs \[s\], > 0. Default none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deadline_s: Option<f64>,
    /// The nodes.
    pub cluster: ClusterPlan,
    /// Variation among tasks of equal work.
    pub noise: Noise,
    /// Attempts that are slow independently of their nodes. Default none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stragglers: Option<Stragglers>,
    /// Slow-downs of nodes over time. Default none.
    pub slowdown: Slowdown,
    /// Failures of nodes. Default none.
    pub failure: Failure,
    /// Electrical power of the nodes.
    pub power: Power,
    /// Definition of a straggler.
    pub truth: Truth,
    /// The jobs. Default one.
    pub job: Vec<JobPlan>,
    /// Policies to compare. Default: no speculation, and the detectors `default`, `hierarchical` and `late`.
    pub policy: Vec<PolicyPlan>,
}

impl Default for Plan {
    fn default() -> Self {
        Self {
            deadline_s: None,
            cluster: ClusterPlan::default(),
            noise: Noise::default(),
            stragglers: None,
            slowdown: Slowdown::default(),
            failure: Failure::default(),
            power: Power::default(),
            truth: Truth::default(),
            job: vec![JobPlan::default()],
            policy: PolicyPlan::compared(),
        }
    }
}

/// The nodes, and the order in which jobs get their slots.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct ClusterPlan {
    /// Time between two progress reports of a node \[s\], >= 0; with 0, reports are always up to date. Default 3, as for Hadoop's tasks.
    pub heartbeat_s: f64,
    /// Order in which jobs get free slots. Default `fifo`.
    pub order: JobOrder,
    /// Groups of equal nodes.
    pub node: Vec<NodeGroup>,
}

impl Default for ClusterPlan {
    fn default() -> Self {
        let group = |active: u32| NodeGroup { count: 5, active_cores: Some(f64::from(active)), ..NodeGroup::default() };
        Self { heartbeat_s: 3.0, order: JobOrder::Fifo, node: (1..=4).map(group).collect() }
    }
}

/// Order in which jobs get free slots.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum JobOrder {
    /// First the job that was submitted first.
    #[default]
    Fifo,
    /// First the job that holds the fewest slots.
    Fair,
}

/// Equal nodes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct NodeGroup {
    /// Number of nodes, >= 1. Default 1.
    pub count: u32,
    /// Cores, > 0. Default 4.
    pub cores: f64,
    /// Cores available to the jobs, > 0 to `cores`. Default all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub active_cores: Option<f64>,
    /// Tasks that may run at a time, >= 1. Default 8.
    pub slots: u32,
    /// Speed of a core, > 0; 1 is the core on which the work of tasks is measured. Default 1.
    pub cpu_speed: f64,
}

impl Default for NodeGroup {
    fn default() -> Self {
        Self { count: 1, cores: 4.0, active_cores: None, slots: 8, cpu_speed: 1.0 }
    }
}

/// Noise of attempts of equal work: a lognormal factor with median 1.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct Noise {
    /// Standard deviation of the logarithm of an attempt's random factor, >= 0. Default 0.08.
    pub sigma: f64,
}

impl Default for Noise {
    fn default() -> Self {
        Self { sigma: 0.08 }
    }
}

/// Slow-downs of nodes over time: they start and end after exponential times, independently for each node.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct Slowdown {
    /// Mean time from the end of one slow-down to the start of the next \[s\], > 0. Default none: no slow-downs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mean_between_s: Option<f64>,
    /// Mean duration of a slow-down \[s\], > 0. Default 60.
    pub mean_duration_s: f64,
    /// Factor by which tasks take longer, >= 1. Default 3.
    pub factor: f64,
}

impl Default for Slowdown {
    fn default() -> Self {
        Self { mean_between_s: None, mean_duration_s: 60.0, factor: 3.0 }
    }
}

/// Failures of nodes. Running attempts are lost; finished output survives.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct Failure {
    /// Mean time from the repair to the next failure of a node, exponential \[s\], > 0. Default none: no failures.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mean_between_s: Option<f64>,
    /// Time until a failed node is back \[s\], > 0. Default 300.
    pub repair_s: f64,
    /// Time without a report after which a failed node's tasks are reassigned \[s\], >= 0. Tasks are reassigned at
    /// the latest when the node is back. Default 60.
    pub expiry_s: f64,
}

impl Default for Failure {
    fn default() -> Self {
        Self { mean_between_s: None, repair_s: 300.0, expiry_s: 60.0 }
    }
}

/// Power of a node that runs n tasks on c active cores: P_static + min(n, c) P_dyn. \[Phan2018, 4.1\]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct Power {
    /// P_static, power of a node that runs tasks, not counting its active cores \[W\], >= 0. Default 65.
    pub static_w: f64,
    /// P_dyn, additional power of each active core \[W\], >= 0. Default 17.
    pub dynamic_w: f64,
    /// Power of a node without a task \[W\], >= 0. Default 65: the node stays on; the paper's model has 0.
    pub idle_w: f64,
}

impl Default for Power {
    fn default() -> Self {
        Self { static_w: 65.0, dynamic_w: 17.0, idle_w: 65.0 }
    }
}

/// Definition of a straggler: a task that takes longer than `factor` times its usual time. The usual time is a quantile
/// over runs on the same cluster with all cores active and equally fast. \[Phan2018, 6.1\]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct Truth {
    /// Quantile of a task's times that is the usual time of the task, 0 to 1. Default 0.5.
    pub quantile: f64,
    /// Minimum ratio of a straggler's time to its usual time, >= 1. Default 1.2.
    pub factor: f64,
    /// Number of runs, with all cores active and equally fast, that determine the usual times, >= 1. Default 10.
    pub runs: u32,
}

impl Default for Truth {
    fn default() -> Self {
        Self { quantile: 0.5, factor: 1.2, runs: 10 }
    }
}

/// A job: maps, then reduces.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct JobPlan {
    /// Name. Default `wordcount`.
    pub name: String,
    /// Submission time \[s\], >= 0. Default 0.
    pub arrival_s: f64,
    /// Map tasks, >= 1. Default 320.
    pub maps: u32,
    /// Work of a map: its time on a dedicated core of speed 1 \[s\], > 0. Default 14.
    pub map_s: f64,
    /// Work before a map shows progress \[s\], >= 0. Default 0.05.
    pub map_start_s: f64,
    /// Spread of the maps' input: standard deviation of the logarithm of the input size, >= 0. Default 0.
    pub map_skew: f64,
    /// Number of nodes that hold each block, >= 1. Default 3.
    pub replicas: u32,
    /// Factor by which the work of a map is larger if the block of the map is on another node, >= 1. Default 1.
    pub remote_factor: f64,
    /// Reduce tasks; 0 for a job of maps only. Default 160.
    pub reduces: u32,
    /// Work of a reduce for fetching its input \[s\], >= 0. Default 0.5.
    pub shuffle_s: f64,
    /// Work of a reduce after fetching \[s\], > 0. Default 1.5.
    pub reduce_s: f64,
    /// Work before a reduce shows progress \[s\], >= 0. Default 0.05.
    pub reduce_start_s: f64,
    /// Spread of the reduces' input, measured like `map_skew`. Default 0.
    pub reduce_skew: f64,
    /// Share of the maps that must have finished before reduces may take idle slots, 0 to 1. Default 1.
    pub slowstart: f64,
    /// Keys that are far more frequent than other keys. Default none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hot_keys: Option<HotKeys>,
}

/// Keys that are far more frequent than other keys, by Zipf's law. A reduce that gets the key of rank r has `weight` /
/// r^`exponent` more input, in units of the input of a reduce without such a key. \[Lin2009\]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct HotKeys {
    /// Share of the reduces that get such a key, 0 to 1. Default 0.05.
    pub share: f64,
    /// Number of ranks, 1 to 1000; a reduce with such a key gets each rank with the same probability. Default 5.
    pub ranks: u32,
    /// Additional input from the most frequent key, > 0, relative to the input of a reduce without such a key.
    /// Default 3.
    pub weight: f64,
    /// Zipf's exponent, >= 0. Default 1.
    pub exponent: f64,
}

impl Default for HotKeys {
    fn default() -> Self {
        Self { share: 0.05, ranks: 5, weight: 3.0, exponent: 1.0 }
    }
}

impl HotKeys {
    /// Returns the additional input of a reduce, from two uniform numbers inside (0, 1).
    pub(super) fn more(&self, chance: f64, rank: f64) -> f64 {
        if chance >= self.share {
            return 0.0;
        }
        let rank = (rank * f64::from(self.ranks)).floor() + 1.0;
        self.weight * libm::exp(-self.exponent * libm::log(rank))
    }
}

impl Default for JobPlan {
    fn default() -> Self {
        Self {
            name: "wordcount".to_owned(),
            arrival_s: 0.0,
            maps: 320,
            map_s: 14.0,
            map_start_s: 0.05,
            map_skew: 0.0,
            replicas: 3,
            remote_factor: 1.0,
            reduces: 160,
            shuffle_s: 0.5,
            reduce_s: 1.5,
            reduce_start_s: 0.05,
            reduce_skew: 0.0,
            slowstart: 1.0,
            hot_keys: None,
        }
    }
}

/// Response to stragglers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct PolicyPlan {
    /// Name in reports. Default: the name of the detector.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Rule that detects stragglers. Default none.
    pub detector: DetectorPlan,
    /// Slots that copies may take. Default 1: all slots serve tasks first, and copies take the slots that tasks leave idle.
    pub slots: SlotShare,
    /// Age of a job before the first check \[s\], >= 0. Default 20.
    pub lag_s: f64,
    /// Condition under which the detector checks. Default `last_wave`.
    pub watch: Watching,
    /// True if stragglers get copies; otherwise they are only detected. Default true.
    pub copies: bool,
    /// Share of the nodes that get no copies: the nodes with the least progress so far; at least 0 and below 1.
    /// Default 0; \[Zaharia2008\] uses 0.25.
    pub slow_nodes: f64,
}

impl Default for PolicyPlan {
    fn default() -> Self {
        Self {
            name: None,
            detector: DetectorPlan::default(),
            slots: SlotShare::Tasks(1.0),
            lag_s: 20.0,
            watch: Watching::LastWave,
            copies: true,
            slow_nodes: 0.0,
        }
    }
}

impl PolicyPlan {
    /// Returns no speculation and the three detectors of the paper; copies take the slots that tasks leave idle.
    pub fn compared() -> Vec<Self> {
        let early = |detector: DetectorPlan| Self { detector, watch: Watching::FromLag, ..Self::default() };
        let mut all = vec![Self::default()];
        all.extend(["default", "hierarchical", "late"].into_iter().filter_map(DetectorPlan::named).map(early));
        all
    }

    /// Returns the name, or the name of the detector.
    pub fn title(&self) -> String {
        self.name.clone().unwrap_or_else(|| self.detector.kind().name().to_owned())
    }
}

/// Slots that copies may take.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(untagged))]
pub enum SlotShare {
    /// A share x of the slots serves tasks first. The other slots serve only copies and are spread evenly over the
    /// nodes: node k keeps ⌊(k+1) q⌋ − ⌊k q⌋ slots for copies, with q = (1 − x) · slots. So the share holds for the
    /// whole cluster to within one slot. Copies also take the slots for tasks when no task waits.
    Tasks(f64),
    /// All slots serve tasks and copies; a waiting copy gets a slot before a waiting task.
    #[cfg_attr(feature = "schema", schemars(schema_with = "shared_word"))]
    Shared,
}

/// The schema of the word in plans.
#[cfg(feature = "schema")]
fn shared_word(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
    schemars::json_schema!({ "type": "string", "const": "shared" })
}

/// Condition under which a detector checks for stragglers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Watching {
    /// Checks only when no task of the job waits for a slot, as Hadoop does.
    #[default]
    LastWave,
    /// Checks as soon as the job is older than the lag.
    FromLag,
}

impl Serialize for SlotShare {
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Tasks(share) => to.serialize_f64(*share),
            Self::Shared => to.serialize_str("shared"),
        }
    }
}

impl<'de> Deserialize<'de> for SlotShare {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(SlotShareVisitor)
    }
}

struct SlotShareVisitor;

impl serde::de::Visitor<'_> for SlotShareVisitor {
    type Value = SlotShare;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("\"shared\" or a share of the slots such as 0.9")
    }

    fn visit_f64<E: serde::de::Error>(self, share: f64) -> Result<SlotShare, E> {
        Ok(SlotShare::Tasks(share))
    }

    fn visit_i64<E: serde::de::Error>(self, share: i64) -> Result<SlotShare, E> {
        // the plan check rejects integers other than 0 and 1
        Ok(SlotShare::Tasks(share as f64))
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<SlotShare, E> {
        if text == "shared" {
            return Ok(SlotShare::Shared);
        }
        Err(E::invalid_value(serde::de::Unexpected::Str(text), &self))
    }
}
