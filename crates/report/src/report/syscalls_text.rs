//! A diagnosis by system calls, as a person reads it in a terminal, and its rows as CSV.

use std::fmt::Write as _;

use crate::diagnose::finding::{Cause, Finding, Subject};
use crate::diagnose::syscalls::{Answer, Profile};
use crate::render::Look;
use crate::report::csv::CsvError;
use crate::report::number::{count, counted, plain};
use crate::report::syscalls::{SyscallRow, SyscallVerdict, SyscallsReport, method_text};
use crate::report::table::{Align, Table};
use crate::report::trace_text::MostRows;

/// Milliseconds with three digits or so.
fn milliseconds(seconds: f64) -> String {
    let value = seconds * 1e3;
    match value.abs() {
        v if v >= 100.0 => format!("{value:.0}"),
        v if v >= 10.0 => format!("{value:.1}"),
        v if v >= 1.0 => format!("{value:.2}"),
        _ => format!("{value:.3}"),
    }
}

/// The text of a diagnosis.
pub fn syscalls_text(report: &SyscallsReport, most: MostRows, look: &Look) -> String {
    let title = format!(
        "{}: {}, {}, against {}",
        report.run,
        counted(report.nodes.len() as u128, "node"),
        report.form,
        counted(report.control_runs as u128, "control run")
    );
    let mut text = look.heading(&title);
    text.push('\n');
    text += &calls(report, most, look);
    text.push('\n');
    text += &answers(report, look);
    text
}

fn calls(report: &SyscallsReport, most: MostRows, look: &Look) -> String {
    let mut text = look.heading("what a call took, and the least and most that it took a node in the control runs");
    let right = Align::Right;
    let mut table = Table::new([
        ("node", Align::Left),
        ("call", Align::Left),
        ("calls", right),
        ("errors", right),
        ("total [s]", right),
        ("per call [ms]", right),
        ("usual [ms]", right),
        ("", Align::Left),
    ]);
    let shown = shown_rows(report, most);
    for row in &shown {
        let dash = look.either("–", "-");
        table.push([
            row.node.clone(),
            row.call.to_owned(),
            count(row.calls.into()),
            count(row.errors.into()),
            format!("{:.3}", row.total_s),
            row.mean_s.map_or_else(|| "-".to_owned(), milliseconds),
            row.usual_s.map_or_else(
                || "-".to_owned(),
                |usual| format!("{} {dash} {}", milliseconds(usual.low), milliseconds(usual.high)),
            ),
            row.verdict.text().to_owned(),
        ]);
    }
    text += &table.text();
    let hidden = report.calls.len() - shown.len();
    if hidden > 0 {
        let _ = writeln!(text, "  and {} (--all)", counted(hidden as u128, "other row"));
    }
    text
}

/// All rows where they are few, else those that are not as usual.
fn shown_rows(report: &SyscallsReport, most: MostRows) -> Vec<&SyscallRow> {
    if report.calls.len() <= most.0 {
        return report.calls.iter().collect();
    }
    let unusual = report.calls.iter().filter(|row| row.verdict == SyscallVerdict::Slower);
    unusual.take(most.0).collect()
}

fn cause_text(cause: Cause) -> &'static str {
    match cause {
        Cause::Disk => "disk",
        Cause::Network => "network",
        Cause::SlowNode => "slow node",
        _ => "unknown",
    }
}

fn subject_text(subject: &Subject) -> String {
    match subject {
        Subject::Node { node } => node.clone(),
        Subject::Link { from, to } => format!("{from} to {to}"),
        _ => "the job".to_owned(),
    }
}

fn answers(report: &SyscallsReport, look: &Look) -> String {
    let mut text = look.heading("who is at fault, and with what");
    let mut table = Table::new([
        ("method", Align::Left),
        ("node", Align::Left),
        ("cause", Align::Left),
        ("score", Align::Right),
        ("threshold", Align::Right),
        ("confidence", Align::Right),
    ]);
    for answer in &report.answers {
        if answer.findings.is_empty() {
            table.push([method_text(answer.method), "-", "unknown", "", "", ""]);
        }
        for finding in &answer.findings {
            table.push([
                method_text(answer.method).to_owned(),
                subject_text(&finding.subject),
                cause_text(finding.cause).to_owned(),
                format!("{:.2}", finding.score),
                format!("{:.2}", finding.threshold),
                format!("{:.2}", finding.confidence),
            ]);
        }
    }
    text += &table.text();
    for answer in &report.answers {
        text += &reasons(answer);
    }
    text += &conclusion(report);
    text
}

/// Where to look, by the last method, which is the best one that was asked.
fn conclusion(report: &SyscallsReport) -> String {
    let Some((last, others)) = report.answers.split_last() else { return String::new() };
    let (Some(cause), Some(node)) = (last.cause, last.nodes.first()) else {
        return "so: nothing to look at, as far as system calls tell\n".to_owned();
    };
    let agrees = |answer: &&Answer| answer.cause == last.cause && answer.nodes.contains(node);
    let agreeing: Vec<&str> = others.iter().filter(agrees).map(|answer| method_text(answer.method)).collect();
    let with = if agreeing.is_empty() { String::new() } else { format!("; so does {}", agreeing.join(", and ")) };
    format!("so: look at the {} of {node}: {} says so{with}\n", cause_text(cause), method_text(last.method))
}

fn reasons(answer: &Answer) -> String {
    let name = method_text(answer.method);
    let mut text = String::new();
    if let Some(why) = &answer.silence {
        let _ = writeln!(text, "  {name}: {why}");
    }
    for finding in &answer.findings {
        for line in evidence(finding) {
            let _ = writeln!(text, "  {name}, {}: {line}", subject_text(&finding.subject));
        }
    }
    text
}

fn evidence(finding: &Finding) -> Vec<String> {
    let value = |number: f64, unit: &str| match unit {
        "s" if number >= 1.0 => format!("{number:.2} s"),
        "s" => format!("{} ms", milliseconds(number)),
        "ms" if number >= 1e3 => format!("{:.2} s", 1e-3 * number),
        "ms" => format!("{} ms", milliseconds(1e-3 * number)),
        _ => plain(number),
    };
    let line = |e: &crate::diagnose::finding::Evidence| {
        format!("{}: {} against {}", e.what, value(e.value, &e.unit), value(e.usual, &e.unit))
    };
    finding.evidence.iter().map(line).collect()
}

/// The rows of calls as CSV; times in seconds, what does not exist is an empty cell.
///
/// # Errors
///
/// [`CsvError`], which no report of this crate causes.
pub fn syscalls_csv(report: &SyscallsReport) -> Result<String, CsvError> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    let header = ["node", "call", "calls", "errors", "total_s", "mean_s", "usual_low_s", "usual_high_s", "verdict"];
    writer.write_record(header).map_err(CsvError::new)?;
    let cell = |value: Option<f64>| value.map_or_else(String::new, |value| value.to_string());
    for row in &report.calls {
        let verdict = if row.verdict == SyscallVerdict::Unknown { "" } else { row.verdict.text() };
        let cells = [
            row.node.clone(),
            row.call.to_owned(),
            row.calls.to_string(),
            row.errors.to_string(),
            row.total_s.to_string(),
            cell(row.mean_s),
            cell(row.usual_s.map(|usual| usual.low)),
            cell(row.usual_s.map(|usual| usual.high)),
            verdict.to_owned(),
        ];
        writer.write_record(&cells).map_err(CsvError::new)?;
    }
    let bytes = writer.into_inner().map_err(CsvError::new)?;
    String::from_utf8(bytes).map_err(CsvError::new)
}

/// What a profile consists of.
pub fn syscall_profile_text(profile: &Profile, look: &Look) -> String {
    let mut text = look.heading(&format!("a profile of {}", counted(profile.runs.len() as u128, "control run")));
    let right = Align::Right;
    let columns = [("run", Align::Left), ("nodes", right), ("calls", right), ("pairs", right), ("logs", Align::Left)];
    let mut table = Table::new(columns);
    for run in &profile.runs {
        let calls: u64 = run.nodes.iter().flat_map(|node| &node.classes).map(|class| class.calls).sum();
        let nodes = count(run.nodes.len() as u128);
        let pairs = count(run.pairs.iter().count() as u128);
        table.push([run.name.clone(), nodes, count(calls.into()), pairs, run.form.text().to_owned()]);
    }
    text += &table.text();
    let invocations = count(profile.invocations() as u128);
    let _ = writeln!(text, "  {invocations} different invocations with the least and the greatest of their times");
    text
}
