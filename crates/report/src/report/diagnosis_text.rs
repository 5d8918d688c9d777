//! What a diagnosis found, as a person reads it in a terminal.

use std::fmt::Write as _;

use crate::diagnose::causes::Advice;
use crate::diagnose::{Cause, Evidence, Finding, Subject};
use crate::render::Look;
use crate::report::diagnosis::{DiagnosisReport, cause_text};
use crate::report::number::{count, counted};
use crate::report::table::{Align, Table};
use crate::report::trace_text::{MostRows, size, time};

/// Characters of the longest bar of confidence.
const BAR: f64 = 10.0;
/// Characters of a line of prose.
const PROSE: usize = 96;

/// The text of a diagnosis.
pub fn diagnosis_text(report: &DiagnosisReport, most: MostRows, look: &Look) -> String {
    let mut text = String::new();
    if report.partial {
        text += "PARTIAL: the reading was ended early\n";
    }
    text += &look.heading(&report.subject);
    text += &inputs(report);
    text += &stages(report, most, look);
    text += &findings(report, most, look);
    text += &what_to_do(report, look);
    text
}

fn inputs(report: &DiagnosisReport) -> String {
    let mut text = String::new();
    for used in &report.used {
        let _ = writeln!(text, "  used     {}: {}", used.name, used.taken);
    }
    for missing in &report.missing {
        text += &wrapped("  missing  ", missing);
    }
    text
}

/// A sentence in lines, the later ones as far in as the first.
fn wrapped(before: &str, sentence: &str) -> String {
    let mut text = before.to_owned();
    let mut length = before.chars().count();
    let indent = length;
    for (i, word) in sentence.split_whitespace().enumerate() {
        let letters = word.chars().count();
        if i > 0 && length + 1 + letters > PROSE {
            let _ = write!(text, "\n{}", " ".repeat(indent));
            length = indent;
        } else if i > 0 {
            text.push(' ');
            length += 1;
        }
        text += word;
        length += letters;
    }
    text.push('\n');
    text
}

fn stages(report: &DiagnosisReport, most: MostRows, look: &Look) -> String {
    let slow: Vec<_> = report.stages.iter().filter(|stage| stage.stragglers > 0).collect();
    if slow.is_empty() {
        return String::new();
    }
    let columns = ["stage", "tasks", "median [s]", "stragglers", "explained"];
    let mut table = Table::new(columns.map(|name| (name, Align::Right)));
    for stage in slow.iter().take(most.0) {
        let counts = [stage.tasks, stage.stragglers, stage.explained].map(|number| count(number.into()));
        let [tasks, stragglers, explained] = counts;
        table.push([stage.stage.clone(), tasks, time(stage.median_s), stragglers, explained]);
    }
    let mut text = format!("\n{}{}", look.heading("stages with stragglers"), table.text());
    if slow.len() > most.0 {
        let _ = writeln!(text, "  and {} more (--all)", count((slow.len() - most.0) as u128));
    }
    text
}

/// Whom a finding is about, in a few columns.
fn whom(subject: &Subject) -> [String; 3] {
    let none = String::new;
    match subject {
        Subject::Task { stage, task, attempt, node } => {
            let again = if *attempt > 0 { format!(".{attempt}") } else { none() };
            [stage.clone(), format!("{task}{again}"), node.clone().unwrap_or_default()]
        }
        Subject::Stage { stage } => [stage.clone(), "all".to_owned(), none()],
        Subject::Node { node } => [none(), none(), node.clone()],
        Subject::Link { from, to } => [none(), none(), format!("{from} to {to}")],
        Subject::Job => [none(), "the job".to_owned(), none()],
    }
}

fn findings(report: &DiagnosisReport, most: MostRows, look: &Look) -> String {
    if report.findings.is_empty() {
        return format!("\n{}", look.heading("findings: none"));
    }
    // with a cause first; what is unknown is many, and says little
    let mut order: Vec<&Finding> = report.findings.iter().filter(|f| f.cause != Cause::Unknown).collect();
    let known = order.len();
    order.extend(report.findings.iter().filter(|f| f.cause == Cause::Unknown));
    let title =
        format!("findings: {} with a cause, {} without", count(known as u128), count((order.len() - known) as u128));
    let columns = [
        ("stage", Align::Right),
        ("task", Align::Right),
        ("node", Align::Left),
        ("from [s]", Align::Right),
        ("time [s]", Align::Right),
        ("cause", Align::Left),
        ("method", Align::Left),
        ("seen", Align::Right),
        ("usual", Align::Right),
        ("sure", Align::Left),
    ];
    let mut table = Table::new(columns);
    for finding in order.iter().take(most.0) {
        table.push(cells(finding, look));
    }
    let mut text = format!("\n{}{}", look.heading(&title), table.text());
    if order.len() > most.0 {
        let _ = writeln!(text, "  and {} more (--all)", count((order.len() - most.0) as u128));
    }
    text
}

fn cells(finding: &Finding, look: &Look) -> Vec<String> {
    let mut cells: Vec<String> = whom(&finding.subject).into();
    cells.push(finding.from.map_or_else(String::new, |from| format!("{from:.1}")));
    let lasted = finding.from.zip(finding.to).map(|(from, to)| to - from);
    cells.push(lasted.map_or_else(String::new, time));
    cells.push(cause_text(finding.cause).to_owned());
    cells.push(finding.method.name().to_owned());
    let strongest = finding.evidence.first();
    cells.push(strongest.map_or_else(String::new, |evidence| amount(evidence, evidence.value)));
    cells.push(strongest.map_or_else(String::new, |evidence| amount(evidence, evidence.usual)));
    let length = (BAR * finding.confidence).round() as usize;
    cells.push(look.either("█", "#").repeat(length));
    cells
}

/// A value of evidence with its unit.
fn amount(evidence: &Evidence, value: f64) -> String {
    match &*evidence.unit {
        "B" => size(value),
        "B/s" => format!("{}/s", size(value)),
        // three decimals say nothing of a call
        "s" if evidence.value.abs().max(evidence.usual.abs()) < 1.0 => format!("{:.3} ms", 1e3 * value),
        "s" => format!("{} s", time(value)),
        "%" => format!("{value:.1} %"),
        unit => format!("{value:.2} {unit}").trim_end().to_owned(),
    }
}

fn what_to_do(report: &DiagnosisReport, look: &Look) -> String {
    if report.advice.is_empty() {
        let why = if !report.compared {
            "what to do: give what is missing; there was nothing to compare, so that nothing can be said"
        } else if report.used.iter().any(|used| used.kind == "log") {
            "what to do: nothing; no task took more than 1.5 medians of its stage"
        } else {
            "what to do: nothing; no method found anything"
        };
        return format!("\n{}", look.heading(why));
    }
    let mut text = format!("\n{}", look.heading("what to do about it"));
    for (i, advice) in report.advice.iter().enumerate() {
        text += &wrapped(&format!("  {}. ", i + 1), &advice.text);
        text += &wrapped("     because: ", &because(report, advice));
    }
    text
}

/// What a piece of advice rests on.
fn because(report: &DiagnosisReport, advice: &Advice) -> String {
    let mut text = cause_text(advice.cause).to_owned();
    if advice.stragglers > 0 {
        let stage = if advice.stages.len() == 1 { "stage" } else { "stages" };
        let _ =
            write!(text, ": {} of {stage} {}", counted(advice.stragglers as u128, "straggler"), listed(&advice.stages));
        let _ = write!(text, ", {} s longer than usual together", time(advice.lost_s));
    }
    if !advice.nodes.is_empty() {
        let _ = write!(text, ", on {}", listed(&advice.nodes));
    }
    let sure = |&i: &usize| report.findings.get(i);
    let strongest = advice.findings.iter().filter_map(sure).max_by(|a, b| a.confidence.total_cmp(&b.confidence));
    if let Some(evidence) = strongest.filter(|f| f.cause != Cause::Unknown).and_then(|f| f.evidence.first()) {
        let [seen, usual] = [evidence.value, evidence.usual].map(|value| amount(evidence, value));
        let _ = write!(text, "; most clearly {} ({seen}, usually {usual})", evidence.what);
    }
    text
}

/// A few names, and how many more there are.
fn listed(names: &[String]) -> String {
    const SHOWN: usize = 4;
    let more = if names.len() > SHOWN { format!(" and {} more", names.len() - SHOWN) } else { String::new() };
    format!("{}{more}", names[..names.len().min(SHOWN)].join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_are_wrapped_below_their_beginning() {
        let text = wrapped("  1. ", &"word ".repeat(30));
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 2);
        assert!(lines[0].len() <= PROSE && lines[1].starts_with("     word"), "{text}");
    }

    #[test]
    fn amounts_have_their_units() {
        let evidence = |unit: &'static str| Evidence { what: String::new(), value: 1.0, usual: 0.0, unit: unit.into() };
        let shown: Vec<String> =
            ["B", "B/s", "s", "%", ""].iter().map(|unit| amount(&evidence(unit), 1500.0)).collect();
        assert_eq!(shown, ["1.5 kB", "1.5 kB/s", "1500 s", "1500.0 %", "1500.00"]);
    }
}
