//! Rows of a job's report: waits, changes that would help, and assumptions.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::document::{Cell, Column, Number, Piece, Show, Table};
use crate::estimate::Measured;
use crate::job_time::{AssumedEffect, Change, Explained, SlotUse, StagePart, WAITS};
use crate::report::json::Word;
use crate::report::summary::float_mean;
use crate::sim::GroupShare;

/// Contribution of a phase to the job time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CriticalShare {
    /// Time on the critical path \[s\].
    pub time: Measured,
    /// That time divided by the mean job time. Also the relative sensitivity: the increase of the job time in
    /// percent if the phase gets longer by 1%.
    pub share: f64,
    /// Derivative of the mean job time with respect to the mean of the phase, in seconds per second; none for
    /// a phase without time.
    pub sensitivity: Option<f64>,
    /// Share of the replications in which the phase is on the critical path.
    pub probability: f64,
}

/// A part of the job time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TimePart {
    /// Name, such as `wait for a GPU`; of a stage, its number and name.
    pub name: Word,
    /// Share of the job time.
    pub critical: CriticalShare,
}

/// The use of the slots of maps or of reduces.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SlotRow {
    /// `map`, `reduce`, or `task` for all tasks.
    pub tasks: Word,
    /// Slots of all workers.
    pub slots: u64,
    /// Number of tasks divided by the number of slots, rounded up.
    pub waves: u64,
    /// Share of the slots in use: of maps and of reduces from their first launch to the end of the last, of all tasks during the whole job.
    pub busy: f64,
}

/// A change of the plan.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PlanChange {
    /// The change.
    pub what: String,
    /// The option of `estimate` that makes it; none if only the plan can.
    pub option: Option<String>,
    /// Assumption behind the change, if it has one.
    pub assumes: Option<String>,
    /// Mean job time after the change \[s\].
    pub job_s: f64,
    /// Mean time that it saves \[s\].
    pub saves: Measured,
}

/// Assumptions of the answer, in place of values that the plan does not state.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AssumedSection {
    /// Values of the profile that are those of the built-in example.
    pub values: Vec<String>,
    /// Effect of each assumed value on the time, the largest first; empty if all values are those of the example.
    #[serde(default)]
    pub effects: Vec<AssumedEffectRow>,
    /// True if phases are exponential because the plan does not state their distributions.
    pub exponential: bool,
    /// The mean job time without that spread \[s\]; none if it is not known.
    pub without_spread_s: Option<f64>,
}

/// The job time with another value in place of an assumed one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AssumedEffectRow {
    /// Key of the plan.
    pub key: String,
    /// The assumed value.
    pub used: f64,
    /// Mean time with half the value, relative to the time with the value.
    pub half: f64,
    /// Mean time with double the value, relative to the time with the value.
    pub double: f64,
}

impl AssumedEffectRow {
    /// Returns the larger of the two changes of the time, relative to it.
    pub(super) fn swing(&self) -> f64 {
        (self.half - 1.0).abs().max((self.double - 1.0).abs())
    }
}

impl From<&AssumedEffect> for AssumedEffectRow {
    fn from(AssumedEffect { key, used, factors: [half, double] }: &AssumedEffect) -> Self {
        Self { key: format!("profile.{key}"), used: *used, half: *half, double: *double }
    }
}

impl From<SlotUse> for SlotRow {
    fn from(SlotUse { tasks, slots, waves, busy }: SlotUse) -> Self {
        Self { tasks: tasks.into(), slots, waves, busy }
    }
}

impl From<Change> for PlanChange {
    fn from(Change { what, option, assumes, job_s, saves }: Change) -> Self {
        Self { what, option, assumes: assumes.map(str::to_owned), job_s, saves }
    }
}

/// An explanation in rows.
pub(super) struct ExplainedRows {
    /// One entry per phase.
    pub(super) phases: Vec<Option<CriticalShare>>,
    pub(super) waits: Vec<TimePart>,
    pub(super) slots: Vec<SlotRow>,
    pub(super) changes: Vec<PlanChange>,
    pub(super) assumed: AssumedSection,
}

/// Returns an explanation in rows; `means_s` are the means of the phases \[s\].
pub(super) fn explained(found: Explained, means_s: &[f64], level: f64) -> ExplainedRows {
    let groups = found.critical_path.iter().flat_map(|path| path.groups.iter());
    let rest = found.critical_path.iter().map(|path| &path.rest);
    let all = groups.clone().chain(rest).chain(&found.waits);
    let total: f64 = all.filter_map(|share| share.time.mean()).sum();
    let mut waits = Vec::new();
    for (name, share) in WAITS.into_iter().zip(&found.waits) {
        let critical = critical_share(share, 0.0, total, level).filter(|critical| critical.time.value > 0.0);
        waits.extend(critical.map(|critical| TimePart { name: name.into(), critical }));
    }
    ExplainedRows {
        phases: groups.zip(means_s).map(|(share, mean_s)| critical_share(share, *mean_s, total, level)).collect(),
        waits,
        slots: found.slots.into_iter().map(SlotRow::from).collect(),
        changes: found.changes.into_iter().map(PlanChange::from).collect(),
        assumed: AssumedSection {
            values: found.assumed.values.iter().map(|key| format!("profile.{key}")).collect(),
            effects: found.assumed.effects.iter().map(AssumedEffectRow::from).collect(),
            exponential: found.assumed.exponential,
            without_spread_s: found.assumed.without_spread_s,
        },
    }
}

/// Returns the parts of the time of a job of stages that take any time; `names` are those of its stages.
pub(super) fn stage_parts(parts: Vec<StagePart>, names: &[String], level: f64) -> Vec<TimePart> {
    let total: f64 = parts.iter().filter_map(|part| part.share.time.mean()).sum();
    let row = |part: StagePart| {
        let critical = critical_share(&part.share, 0.0, total, level).filter(|critical| critical.time.value > 0.0)?;
        let of_stage = part.stage.map(|stage| format!("{stage} {}", names[stage]).trim_end().to_owned());
        let name = of_stage.or_else(|| part.name.map(str::to_owned)).unwrap_or_default();
        Some(TimePart { name: name.into(), critical })
    };
    parts.into_iter().filter_map(row).collect()
}

fn critical_share(share: &GroupShare, mean_s: f64, total: f64, level: f64) -> Option<CriticalShare> {
    let time = float_mean(&share.time, level)?;
    Some(CriticalShare {
        share: if total > 0.0 { time.value / total } else { 0.0 },
        sensitivity: (mean_s > 0.0).then(|| time.value / mean_s),
        probability: share.critical.mean()?,
        time,
    })
}

impl AssumedSection {
    /// Returns a sentence for the answer: what is assumed, and what that means for the job time. `profile_values` is the number of values that a profile has.
    pub(super) fn sentence(&self, profile_values: usize) -> Vec<Piece> {
        let values = match self.values.len() {
            0 => None,
            all if all == profile_values => Some("the measured values of the built-in example".to_owned()),
            _ => Some(format!("the values of the built-in example for {}", self.values.join(", "))),
        };
        if values.is_none() && !self.exponential {
            return Vec::new();
        }
        let mut pieces: Vec<Piece> = vec![" Assumed: ".into()];
        pieces.extend(values.clone().map(Piece::from));
        if self.exponential {
            let and = if values.is_some() { ", and " } else { "" };
            pieces.push(format!("{and}exponential phases").into());
        }
        if let Some(seconds) = self.without_spread_s {
            let number = Number::new("/assumed/without_spread_s", seconds, "s").brief();
            pieces.extend([" (without any spread, the job takes ".into(), number.into(), ")".into()]);
        }
        pieces.push(".".into());
        pieces
    }
}

/// Names the two parts of the job time with the largest shares of the critical path; a part is a JSON pointer, a name and a share.
pub(super) fn where_it_goes(mut shares: Vec<(String, String, f64)>) -> Vec<Piece> {
    shares.sort_by(|a, b| b.2.total_cmp(&a.2));
    let share = |(at, name, share): &(String, String, f64)| {
        let number = Number::new(at.clone(), *share, "").percent().rounded(0.05);
        [Piece::from(format!("{name} (")), number.into(), ")".into()]
    };
    // less than that is shown as 0.0%
    shares.retain(|(.., share)| *share >= 0.0005);
    let Some(first) = shares.first() else { return Vec::new() };
    let mut pieces = vec![" Most of the time is spent in ".into()];
    pieces.extend(share(first));
    if let Some(second) = shares.get(1) {
        pieces.push(" and ".into());
        pieces.extend(share(second));
    }
    pieces.push(".".into());
    pieces
}

/// Returns the table of changes.
pub(super) fn changes_table(changes: &[PlanChange], level: f64) -> Table {
    let columns = [
        Column::new("change"),
        Column::new("job time").unit("s").key("changed_s"),
        Column::new("saves").unit("s").key("saves"),
        Column::new("option"),
        Column::new("assumes").show(Show::Csv),
    ];
    let assumes: BTreeSet<&str> = changes.iter().filter_map(|change| change.assumes.as_deref()).collect();
    let note = assumes.into_iter().collect::<Vec<_>>().join(" ");
    let mut table = Table::new("What would change it", note, columns).level(level);
    for (i, change) in changes.iter().enumerate() {
        let at = |key: &str| format!("/changes/{i}/{key}");
        table.rows.push(vec![
            Cell::from(change.what.clone()),
            Number::new(at("job_s"), change.job_s, "s").brief().into(),
            Number::measured(at("saves"), &change.saves, "s").into(),
            Cell::from(change.option.clone().unwrap_or_default()),
            Cell::from(change.assumes.clone().unwrap_or_default()),
        ]);
    }
    table
}

/// Returns the table of the use of slots.
pub(super) fn slots_table(slots: &[SlotRow]) -> Table {
    let columns =
        [Column::new("slots of"), Column::new("slots"), Column::new("waves"), Column::new("in use").key("slots_busy")];
    let mut table = Table::new("Use of the slots", "", columns);
    for (i, row) in slots.iter().enumerate() {
        let at = |key: &str| format!("/slot_use/{i}/{key}");
        table.rows.push(vec![
            Cell::named(format!("{}s", row.tasks), &*row.tasks),
            Number::count(at("slots"), row.slots).into(),
            Number::count(at("waves"), row.waves).into(),
            Number::new(at("busy"), row.busy, "").percent().rounded(0.05).into(),
        ]);
    }
    table
}
