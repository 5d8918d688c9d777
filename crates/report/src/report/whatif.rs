//! What a what-if found: policies side by side, as text, CSV and JSON.

use std::fmt::Write as _;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::cluster::Advice;
use crate::cluster::Comparison;
use crate::cluster::Plan;
use crate::cluster::PolicySummary;
use crate::cluster::SlotShare;
use crate::cluster::Watching;
use crate::cluster::detect::CATALOGUE;
use crate::cluster::metrics::Metric;
use crate::report::csv::CsvError;
use crate::report::csv::Rows;
use crate::report::csv::quantile_name;
use crate::report::json::Word;
use crate::report::look::Look;
use crate::report::number::count;
use crate::report::number::counted;
use crate::report::number::duration;
use crate::report::number::plain;
use crate::report::number::within;
use crate::report::quantity::Quantity;
use crate::report::table::Align;
use crate::report::table::Table;

/// Joules in a kilojoule.
const KILO: f64 = 1e3;
/// Characters of the longest bar.
const BAR: usize = 40;

/// A quantile of the job time \[s\].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TailRow {
    /// Which, in (0, 1).
    pub p: f64,
    /// Its value \[s\].
    #[serde(flatten)]
    pub quantity: Quantity,
}

/// What a policy changes against the baseline.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ChangeRow {
    /// Mean of the differences, replication by replication, in the unit of the value.
    pub difference: Quantity,
    /// Mean over mean; none where that of the baseline is not separated from 0.
    pub ratio: Option<Quantity>,
}

/// What the detector was worth on the maps; none where nothing can be said.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MetricRow {
    /// Which metric.
    pub name: Word,
    /// Its value, pooled over the replications.
    pub value: Option<Quantity>,
}

/// A policy.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PolicyRow {
    /// Its name.
    pub name: String,
    /// Its detector.
    pub detector: Word,
    /// Share of slots for tasks, or `shared`.
    pub slots: SlotShare,
    /// Age of a job before anyone looks \[s\].
    pub lag_s: f64,
    /// Whether one looks while tasks wait.
    pub watch: Watching,
    /// Mean job time \[s\].
    pub job_time_s: Quantity,
    /// p95 and p99 of the job time.
    pub tails: Vec<TailRow>,
    /// Energy \[J\].
    pub energy_j: Quantity,
    /// Slot-seconds of attempts that were killed or lost \[s\].
    pub wasted_slot_s: Quantity,
    /// Copies that were started.
    pub copies: Quantity,
    /// Copies that ended before their original.
    pub copies_won: Quantity,
    /// What the detector was worth.
    pub metrics: Vec<MetricRow>,
    /// Change of the job time \[s\]; none for the baseline.
    pub job_time_change: Option<ChangeRow>,
    /// Change of the energy \[J\]; none for the baseline.
    pub energy_change: Option<ChangeRow>,
}

/// Everything that a what-if found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WhatIfReport {
    /// Nodes of the cluster.
    pub nodes: u64,
    /// Slots of the cluster.
    pub slots: u64,
    /// Jobs.
    pub jobs: usize,
    /// Map tasks of all jobs.
    pub maps: u64,
    /// Reduce tasks of all jobs.
    pub reduces: u64,
    /// Confidence level of all intervals.
    pub level: f64,
    /// Replications of each policy.
    pub replications: u64,
    /// Whether the run was ended early.
    pub partial: bool,
    /// Name of the policy that the others are compared with.
    pub baseline: String,
    /// The policies, in the order of the plan.
    pub policies: Vec<PolicyRow>,
    /// What follows, in words.
    pub advice: String,
    /// Version of this crate.
    pub version: Word,
    /// The seed.
    pub seed: u64,
    /// Wall time of all replications \[s\].
    pub wall_s: f64,
    /// The plan, every key written out.
    #[serde(default)]
    pub plan: String,
}

/// What a comparison of a plan's policies found.
pub fn what_if_report(plan: &Plan, comparison: &Comparison, seed: u64, planned: u64, wall: Duration) -> WhatIfReport {
    let groups = &plan.cluster.nodes;
    let size = WhatIfSize {
        nodes: groups.iter().map(|group| u64::from(group.count)).sum(),
        slots: groups.iter().map(|group| u64::from(group.count) * u64::from(group.slots)).sum(),
        jobs: plan.job.len(),
        maps: plan.job.iter().map(|job| u64::from(job.maps)).sum(),
        reduces: plan.job.iter().map(|job| u64::from(job.reduces)).sum(),
    };
    let plan = toml::to_string(plan).unwrap_or_default();
    WhatIfReport { plan, ..report_of(size, comparison, seed, planned, wall) }
}

/// What is compared on.
pub(super) struct WhatIfSize {
    pub(super) nodes: u64,
    pub(super) slots: u64,
    pub(super) jobs: usize,
    pub(super) maps: u64,
    pub(super) reduces: u64,
}

pub(super) fn report_of(
    size: WhatIfSize,
    comparison: &Comparison,
    seed: u64,
    planned: u64,
    wall: Duration,
) -> WhatIfReport {
    let replications = comparison.replications as u64;
    WhatIfReport {
        nodes: size.nodes,
        slots: size.slots,
        jobs: size.jobs,
        maps: size.maps,
        reduces: size.reduces,
        level: comparison.level,
        replications,
        partial: replications < planned,
        baseline: comparison.policies.get(comparison.baseline).map_or_else(String::new, |row| row.policy.title()),
        policies: comparison.policies.iter().map(|row| policy_row(row, comparison.level)).collect(),
        advice: Advice::new(comparison).to_string(),
        version: env!("CARGO_PKG_VERSION").into(),
        seed,
        wall_s: wall.as_secs_f64(),
        plan: String::new(),
    }
}

fn policy_row(row: &PolicySummary, level: f64) -> PolicyRow {
    let samples = row.job_s.samples;
    let change = |change: &crate::cluster::Change| ChangeRow {
        difference: change.difference.into(),
        ratio: change.ratio.map(Quantity::from),
    };
    let tail = |tail: &crate::cluster::Tail| {
        let quantity = Quantity::new(Some(tail.value), samples, level, tail.interval);
        quantity.map(|quantity| TailRow { p: tail.p, quantity })
    };
    PolicyRow {
        name: row.policy.title(),
        detector: row.policy.detector.name().into(),
        slots: row.policy.slots,
        lag_s: row.policy.lag_s,
        watch: row.policy.watch,
        job_time_s: row.job_s.into(),
        tails: row.tails.iter().filter_map(tail).collect(),
        energy_j: row.energy_j.into(),
        wasted_slot_s: row.wasted_s.into(),
        copies: row.copies.into(),
        copies_won: row.won.into(),
        metrics: Metric::ALL
            .iter()
            .zip(&row.metrics)
            .map(|(metric, value)| MetricRow { name: metric.name().into(), value: value.map(Quantity::from) })
            .collect(),
        job_time_change: row.job_change.as_ref().map(change),
        energy_change: row.energy_change.as_ref().map(change),
    }
}

/// A number with its half width.
fn pair(quantity: &Quantity) -> String {
    let half = quantity.half_width();
    match half {
        Some(half) if half > 0.0 => format!("{} ± {}", within(quantity.value, Some(half)), within(half, Some(half))),
        _ => plain(quantity.value),
    }
}

/// A ratio as a change in percent.
fn percent(change: Option<&ChangeRow>) -> String {
    let Some(ratio) = change.and_then(|change| change.ratio.as_ref()) else { return String::new() };
    let shifted = 100.0 * (ratio.value - 1.0);
    match ratio.half_width().map(|half| 100.0 * half) {
        Some(half) if half > 0.0 => {
            format!("{}{} ± {}", sign(shifted), within(shifted, Some(half)), within(half, Some(half)))
        }
        _ => format!("{}{}", sign(shifted), plain(shifted)),
    }
}

fn sign(value: f64) -> &'static str {
    if value > 0.0 { "+" } else { "" }
}

/// The text of a what-if: job times, what they cost, what the detectors were worth, and the advice.
pub fn what_if_text(report: &WhatIfReport, look: &Look) -> String {
    let jobs = counted(report.jobs as u128, "job");
    let mut text = look.heading(&format!(
        "{jobs}: {} maps, {} reduces on {} with {} slots",
        count(report.maps.into()),
        count(report.reduces.into()),
        counted(report.nodes, "node"),
        count(report.slots.into())
    ));
    text += &compared(
        report,
        look,
        "what the detectors are worth, on maps: flagged in time, times in usual task times",
        true,
    );
    text
}

/// Job times, what they cost, what the detectors were worth, and the advice.
pub(super) fn compared(report: &WhatIfReport, look: &Look, worth_of: &str, with_energy: bool) -> String {
    let mut text = String::new();
    if report.partial {
        let _ = writeln!(text, "PARTIAL: the run was stopped after {}", counted(report.replications, "replication"));
    }
    text.push('\n');
    let level = plain(100.0 * report.level);
    let against = &report.baseline;
    text += &look.heading(&format!("job time [s], and its change against `{against}` ({level} % intervals)"));
    text += &times(report);
    text.push('\n');
    text += &bars(report, look);
    text.push('\n');
    let energy = if with_energy { "energy, " } else { "" };
    text += &look.heading(&format!("what it takes: {energy}slot time of attempts that were killed, copies"));
    text += &costs(report, with_energy);
    text.push('\n');
    text += &look.heading(worth_of);
    text += &worth(report);
    let _ = writeln!(text, "\nadvice: {}", report.advice);
    let wall = duration(Duration::try_from_secs_f64(report.wall_s).unwrap_or_default());
    let _ = writeln!(text, "{}, seed {}, {wall}", counted(report.replications, "replication"), report.seed);
    text
}

fn times(report: &WhatIfReport) -> String {
    let right = Align::Right;
    let mut table = Table::new([
        ("policy", Align::Left),
        ("mean", right),
        ("p95", right),
        ("p99", right),
        ("change [s]", right),
        ("[%]", right),
    ]);
    for row in &report.policies {
        let mut cells = vec![row.name.clone(), pair(&row.job_time_s)];
        cells.extend(row.tails.iter().map(|tail| within(tail.quantity.value, tail.quantity.half_width())));
        let change = row.job_time_change.as_ref();
        cells.push(change.map_or_else(String::new, |change| {
            format!("{}{}", sign(change.difference.value), pair(&change.difference))
        }));
        cells.push(percent(change));
        table.push(cells);
    }
    table.text()
}

fn costs(report: &WhatIfReport, with_energy: bool) -> String {
    let right = Align::Right;
    let energy = [("energy [kJ]", right), ("[%]", right)].into_iter().filter(|_| with_energy);
    let header = std::iter::once(("policy", Align::Left)).chain(energy);
    let mut table = Table::new(header.chain([("killed [s]", right), ("copies", right), ("won", right)]));
    for row in &report.policies {
        let mut cells = vec![row.name.clone()];
        if with_energy {
            cells.push(pair(&row.energy_j.clone().scaled(1.0 / KILO)));
            cells.push(percent(row.energy_change.as_ref()));
        }
        cells.extend([pair(&row.wasted_slot_s), pair(&row.copies), pair(&row.copies_won)]);
        table.push(cells);
    }
    table.text()
}

fn worth(report: &WhatIfReport) -> String {
    let right = Align::Right;
    let names = ["precision", "recall", "latency", "fake", "undetected", "stragglers"];
    let mut table = Table::new(std::iter::once(("policy", Align::Left)).chain(names.map(|name| (name, right))));
    for row in &report.policies {
        let value = |metric: &MetricRow| {
            metric.value.as_ref().map_or_else(|| "-".to_owned(), |value| format!("{:.3}", value.value))
        };
        table.push(std::iter::once(row.name.clone()).chain(row.metrics.iter().map(value)));
    }
    table.text()
}

/// Mean job times as bars; what the baseline takes is marked.
fn bars(report: &WhatIfReport, look: &Look) -> String {
    let longest = report.policies.iter().map(|row| row.job_time_s.value).fold(0.0, f64::max);
    let base = report.policies.iter().find(|row| row.name == report.baseline).map_or(0.0, |row| row.job_time_s.value);
    if longest <= 0.0 {
        return String::new();
    }
    let place = |value: f64| ((BAR as f64 * value / longest).round() as usize).clamp(1, BAR);
    let (full, mark) = (look.either("█", "#"), look.either("┊", "|"));
    let mut table = Table::new([("", Align::Left), ("mean job time [s]", Align::Left)]);
    for row in &report.policies {
        let length = place(row.job_time_s.value);
        let rest = place(base).saturating_sub(length);
        let line = if rest > 0 {
            format!("{}{}{mark}", full.repeat(length), " ".repeat(rest - 1))
        } else {
            full.repeat(length)
        };
        table.push([row.name.clone(), format!("{line} {}", within(row.job_time_s.value, row.job_time_s.half_width()))]);
    }
    table.text()
}

/// The CSV of a what-if, one number a row; the name is the policy's.
///
/// # Errors
///
/// [`CsvError`], which no report of this crate causes.
pub fn what_if_csv(report: &WhatIfReport) -> Result<String, CsvError> {
    let mut rows = Rows::new()?;
    rows.number("replications", "", "", &report.replications.to_string())?;
    rows.number("partial", "", "", &u8::from(report.partial).to_string())?;
    for row in &report.policies {
        let name = &row.name;
        rows.quantity("job_time", name, "s", &row.job_time_s)?;
        for tail in &row.tails {
            rows.quantity(&format!("job_time_{}", quantile_name(tail.p)), name, "s", &tail.quantity)?;
        }
        rows.quantity("energy", name, "J", &row.energy_j)?;
        rows.quantity("wasted_slot_time", name, "s", &row.wasted_slot_s)?;
        rows.quantity("copies", name, "", &row.copies)?;
        rows.quantity("copies_won", name, "", &row.copies_won)?;
        for metric in &row.metrics {
            if let Some(value) = &metric.value {
                rows.quantity(&metric.name, name, "", value)?;
            }
        }
        for (measure, unit, change) in [("job_time", "s", &row.job_time_change), ("energy", "J", &row.energy_change)] {
            let Some(change) = change else { continue };
            rows.quantity(&format!("{measure}_difference"), name, unit, &change.difference)?;
            if let Some(ratio) = &change.ratio {
                rows.quantity(&format!("{measure}_ratio"), name, "", ratio)?;
            }
        }
    }
    rows.finish()
}

/// A detector, in words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct DetectorRow {
    /// Its name in plans.
    pub name: &'static str,
    /// When a task is flagged.
    pub rule: &'static str,
    /// What it must know.
    pub needs: &'static str,
    /// Key in docs/references.md.
    pub source: &'static str,
}

/// All detectors.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DetectorsReport {
    /// In the order of the catalogue.
    pub detectors: Vec<DetectorRow>,
}

/// The catalogue of detectors.
pub fn detectors_report() -> DetectorsReport {
    let row = |entry: &crate::cluster::detect::CatalogueEntry| DetectorRow {
        name: entry.name,
        rule: entry.rule,
        needs: entry.needs,
        source: entry.source,
    };
    DetectorsReport { detectors: CATALOGUE.iter().map(row).collect() }
}

/// The catalogue as text.
pub fn detectors_text(report: &DetectorsReport, look: &Look) -> String {
    let mut text = String::new();
    for row in &report.detectors {
        text += &look.heading(row.name);
        let _ = writeln!(text, "  flags   {}", row.rule);
        let _ = writeln!(text, "  needs   {}", row.needs);
        if !row.source.is_empty() {
            let _ = writeln!(text, "  source  {} (docs/references.md)", row.source);
        }
    }
    text
}
