//! What a what-if on a log found: the job as it was and as it is replayed, then the policies side by side.

use std::fmt::Write as _;
use std::time::Duration;

use serde::Serialize;

use crate::cluster::{Advice, Comparison};
use crate::fit::Replay;
use crate::report::fit::short_name;
use crate::report::look::Look;
use crate::report::number::counted;
use crate::report::table::{Align, Table};
use crate::report::whatif::{WhatIfReport, WhatIfSize, compared, report_of};

/// A node of the replay.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ReplayNodeRow {
    /// Its name in the log.
    pub name: String,
    /// Tasks that it ran at a time.
    pub slots: u32,
    /// First attempts that ran there.
    pub tasks: usize,
    /// How many times longer tasks take there than usual.
    pub slowness: f64,
}

/// A stage of the replay.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ReplayStageRow {
    /// Its number in the log.
    pub number: u32,
    /// Its name.
    pub name: String,
    /// Its tasks.
    pub tasks: usize,
    /// Copies in the log, which the replay leaves out.
    pub copies: usize,
    /// Tasks whose first attempt took at least what is replayed.
    pub at_least: usize,
    /// From its first launch to its last end \[s\].
    pub actual_s: f64,
}

/// What a what-if on a log found.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LogWhatIfReport {
    /// The log.
    pub log: String,
    /// The application's name.
    pub name: String,
    /// What the job took \[s\].
    pub actual_s: f64,
    /// What it takes when it is replayed without copies \[s\].
    pub replayed_s: f64,
    /// Whether the log has no copies and no unknown times, so that the two should be the same.
    pub comparable: bool,
    /// Tasks that a node runs at full speed, as a share of its slots.
    pub full_speed_share: f64,
    /// The nodes.
    pub replay_nodes: Vec<ReplayNodeRow>,
    /// The stages.
    pub replay_stages: Vec<ReplayStageRow>,
    /// What is assumed and what cannot be known.
    pub notes: Vec<String>,
    /// The policies.
    #[serde(flatten)]
    pub comparison: WhatIfReport,
}

/// What a comparison of policies on a replay found.
pub fn log_what_if_report(
    replay: &Replay,
    comparison: &Comparison,
    seed: u64,
    planned: u64,
    wall: Duration,
) -> LogWhatIfReport {
    let size = WhatIfSize {
        nodes: replay.nodes.len() as u64,
        slots: replay.nodes.iter().map(|node| u64::from(node.slots)).sum(),
        jobs: 1,
        maps: replay.stages.iter().map(|stage| stage.tasks as u64).sum(),
        reduces: 0,
    };
    let node = |node: &crate::fit::ReplayNode| ReplayNodeRow {
        name: node.name.clone(),
        slots: node.slots,
        tasks: node.tasks,
        slowness: node.slowness,
    };
    let stage = |stage: &crate::fit::ReplayStage| ReplayStageRow {
        number: stage.number,
        name: stage.name.clone(),
        tasks: stage.tasks,
        copies: stage.copies,
        at_least: stage.at_least,
        actual_s: stage.actual_s,
    };
    let advice = Advice::new(comparison).without_energy().to_string();
    let comparison = WhatIfReport { advice, ..report_of(size, comparison, seed, planned, wall) };
    let none = comparison.policies.iter().find(|policy| policy.detector == "none");
    LogWhatIfReport {
        log: replay.log.clone(),
        name: replay.name.clone(),
        actual_s: replay.actual_s,
        replayed_s: none.map_or(f64::NAN, |none| none.job_time_s.value),
        comparable: replay.stages.iter().all(|stage| stage.copies == 0 && stage.at_least == 0),
        full_speed_share: replay.full_speed_share,
        replay_nodes: replay.nodes.iter().map(node).collect(),
        replay_stages: replay.stages.iter().map(stage).collect(),
        notes: replay.notes.clone(),
        comparison,
    }
}

/// The text of a what-if on a log.
pub fn log_what_if_text(report: &LogWhatIfReport, look: &Look) -> String {
    let nodes = counted(report.comparison.nodes, "node");
    let mut text = look.heading(&format!(
        "{}: {} in {} on {nodes} with {}",
        report.name,
        counted(report.comparison.maps, "task"),
        counted(report.replay_stages.len() as u64, "stage"),
        counted(report.comparison.slots, "slot")
    ));
    let difference = 100.0 * (report.replayed_s / report.actual_s - 1.0);
    let (actual, replayed) = (report.actual_s, report.replayed_s);
    if report.replayed_s.is_finite() {
        let what =
            if report.comparable { "which is the error of the replay" } else { "without the copies that the log has" };
        let _ = writeln!(
            text,
            "  it took {actual:.2} s; replayed without copies {replayed:.2} s ({difference:+.1} %), {what}"
        );
    } else {
        let _ = writeln!(text, "  it took {actual:.2} s");
    }
    text += &nodes_table(report).text();
    text += &stages_table(report).text();
    let worth = "what the detectors are worth: flagged in time, times in usual task times";
    text += &compared(&report.comparison, look, worth, false);
    text
}

fn nodes_table(report: &LogWhatIfReport) -> Table {
    let right = Align::Right;
    let mut table =
        Table::new([("node", Align::Left), ("slots", right), ("tasks", right), ("slower than usual", right)]);
    for node in &report.replay_nodes {
        table.push([
            node.name.clone(),
            node.slots.to_string(),
            node.tasks.to_string(),
            format!("{:.2} times", node.slowness),
        ]);
    }
    table
}

fn stages_table(report: &LogWhatIfReport) -> Table {
    let right = Align::Right;
    let mut table = Table::new([
        ("stage", right),
        ("name", Align::Left),
        ("tasks", right),
        ("copies", right),
        ("at least", right),
        ("took [s]", right),
    ]);
    for stage in &report.replay_stages {
        table.push([
            stage.number.to_string(),
            short_name(&stage.name),
            stage.tasks.to_string(),
            stage.copies.to_string(),
            stage.at_least.to_string(),
            format!("{:.2}", stage.actual_s),
        ]);
    }
    table
}
