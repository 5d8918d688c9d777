//! The stored result of a sweep.

use serde::{Deserialize, Serialize};

use crate::job_time::OwnRun;
use crate::sim::{FoldedParts, NotFolded};
use crate::sweep::{Design, Knob, Level, PointResult, Stored, SweepPlan, far_notes, path, tornado};

/// An axis.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AxisRow {
    /// Key of the axis.
    pub key: String,
    /// Name of the axis in results.
    pub name: String,
}

/// A setting, from its best to its worst value.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct KnobRow {
    /// Key of the axis.
    pub key: String,
    /// Name of the axis in results.
    pub name: String,
    /// Value with the shortest mean time.
    pub best: Level,
    /// Value with the longest mean time.
    pub worst: Level,
    /// Difference between the longest and the shortest mean time, including the base \[s\].
    pub swing_s: f64,
    /// The value at the base, if it is a number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base: Option<f64>,
}

/// All results of a sweep or of one of its shards.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SweepReport {
    /// Design of the points.
    pub design: Design,
    /// Axes of the sweep.
    pub axes: Vec<AxisRow>,
    /// Number of this shard, and of all shards.
    pub shard: [u64; 2],
    /// Planned number of points, including the base.
    pub planned: u64,
    /// True if points are missing.
    pub partial: bool,
    /// Confidence level of all intervals.
    pub level: f64,
    /// Version of tailspn.
    pub version: String,
    /// Seed of the random numbers.
    pub seed: u64,
    /// Replications of all points.
    pub replications: u64,
    /// The folded parts of the net of the base configuration; none if it runs unfolded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub folded: Option<FoldedParts>,
    /// Similar parts of the net of the base configuration that are not folded.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub not_folded: Vec<NotFolded>,
    /// The check of the plan on the runs that it was fitted to; none if the question is not about a plan of a job.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub own_run: Option<OwnRun>,
    /// The points, by number; 0 is the base.
    pub points: Vec<PointResult>,
    /// Ranking of the settings; only for one-at-a-time sweeps, the widest swing first.
    pub tornado: Vec<KnobRow>,
    /// Sizes outside the measured range.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// The plan, every key written out.
    pub plan: String,
}

/// Reports the result of a stored sweep.
pub fn sweep_report(plan: &SweepPlan, stored: &Stored) -> SweepReport {
    let header = &stored.header;
    let points: Vec<PointResult> = stored.results.values().cloned().collect();
    let axis = |axis: &crate::sweep::Axis| AxisRow { key: axis.key.clone(), name: axis.title().to_owned() };
    let axes: Vec<AxisRow> = plan.axis.iter().map(axis).collect();
    SweepReport {
        design: plan.sweep.design,
        shard: [header.shard.index, header.shard.of],
        planned: stored.planned(),
        partial: !stored.is_complete(),
        level: header.level,
        version: header.version.clone(),
        seed: header.seed,
        folded: header.folded,
        not_folded: header.not_folded.clone(),
        replications: points.iter().map(|point| point.replications).sum(),
        tornado: tornado(plan, &points).into_iter().map(|knob| knob_row(&axes, knob, &header.base)).collect(),
        axes,
        points,
        own_run: header.own_run.clone(),
        notes: far_notes(plan, stored),
        plan: header.plan.clone(),
    }
}

/// Returns the row of a setting; `base` is the text of the plan that it changes.
fn knob_row(axes: &[AxisRow], knob: Knob, base: &str) -> KnobRow {
    let AxisRow { key, name } = axes[knob.axis].clone();
    let number = |value: &toml::Value| value.as_float().or(value.as_integer().map(|number| number as f64));
    let base = base.parse().ok().and_then(|table: toml::Table| path::get(&table, &key).and_then(number));
    KnobRow { key, name, best: knob.best, worst: knob.worst, swing_s: knob.swing_s, base }
}
