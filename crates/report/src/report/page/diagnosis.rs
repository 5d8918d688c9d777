//! The section of a diagnosis: how many stragglers there are and why, what to do about it, when they ran, and on what all that rests.

use crate::diagnose::causes::Advice;
use crate::diagnose::{Cause, Evidence, Finding, Subject};
use crate::document::parts::cut;
use crate::document::{Cell, Document, Number, Piece, Table};
use crate::report::diagnosis::{DiagnosedStageRow, DiagnosisReport, cause_text};
use crate::report::number::counted;
use crate::report::plot::PlotError;
use crate::report::stragglers_plot::Stragglers;

/// Most names in a cell.
const MOST_NAMES: usize = 4;

/// Why tasks were slow.
pub(in crate::report) fn section(report: &DiagnosisReport) -> Result<Document<'static>, PlotError> {
    let mut section = Document {
        kind: "diagnosis",
        title: report.subject.clone(),
        question: "Which tasks were slow, why, and what would help?".to_owned(),
        answer: answer(report),
        ..Document::default()
    };
    if report.partial {
        section.remarks.push("The reading was ended early: the end of the log is missing.".to_owned());
    }
    if !report.warnings.is_empty() {
        section.remarks.push(format!(
            "{} about the input: see the last table.",
            counted(report.warnings.len() as u128, "warning")
        ));
    }
    section.table(what_to_do(report));
    timeline(&mut section, report)?;
    section.table(findings(report));
    section.table(stages(report));
    section.table(inputs(report));
    Ok(section)
}

/// How many stragglers, how many of them with a cause, and which cause costs most.
fn answer(report: &DiagnosisReport) -> Vec<Piece> {
    let slow: Vec<&DiagnosedStageRow> = report.stages.iter().filter(|stage| stage.stragglers > 0).collect();
    let sum =
        |part: fn(&DiagnosedStageRow) -> u64| slow.iter().fold(0_u64, |sum, stage| sum.saturating_add(part(stage)));
    let all = counted(report.stages.len() as u128, "stage");
    let mut pieces: Vec<Piece> = if !report.compared {
        return vec!["There was nothing to compare, so that nothing can be said: see what is missing.".into()];
    } else if report.stages.is_empty() {
        let found = report.findings.iter().filter(|finding| finding.cause != Cause::Unknown).count();
        vec![match found {
            0 => "Without the log of a job, nothing was found that has a known cause".to_owned().into(),
            found => {
                format!("Without the log of a job, {} with a known cause", counted(found as u128, "finding")).into()
            }
        }]
    } else if slow.is_empty() {
        vec![format!("No task took more than 1.5 medians of its stage, in {all}").into()]
    } else {
        let explained = match sum(|stage| stage.explained) {
            0 => "none of them with a known cause".to_owned(),
            explained => format!("{explained} of them explained"),
        };
        let stragglers = counted(sum(|stage| stage.stragglers), "straggler");
        vec![format!("{stragglers} in {} of {all}, {explained}", slow.len()).into()]
    };
    let known = report.advice.iter().enumerate().find(|(_, advice)| advice.cause != Cause::Unknown);
    if let Some((i, advice)) = known {
        let what = cause_text(advice.cause);
        if advice.lost_s > 0.0 {
            pieces.push(format!("; what costs most is {what}: tasks took ").into());
            pieces.push(lost(i, advice).into());
            pieces.push(" longer than usual together".into());
        } else {
            pieces.push(format!("; what was found is {what}").into());
        }
        if !advice.nodes.is_empty() {
            pieces.push(format!(", on {}", listed(&advice.nodes)).into());
        }
    }
    pieces.push(".".into());
    pieces
}

fn lost(i: usize, advice: &Advice) -> Number {
    Number { digits_of: Some(0.5), ..Number::new(format!("/advice/{i}/lost_s"), advice.lost_s, "s") }
}

fn what_to_do(report: &DiagnosisReport) -> Table {
    let note = "What costs most comes first. A straggler with several causes counts for each of them.";
    let head = ["because of", "do this", "stragglers", "longer than usual", "stages", "nodes"];
    let mut table = Table::new("What to do", note, &head);
    for (i, advice) in report.advice.iter().enumerate() {
        table.rows.push(vec![
            cause_text(advice.cause).into(),
            advice.text.clone().into(),
            Number::count(format!("/advice/{i}/stragglers"), advice.stragglers as u64).into(),
            lost(i, advice).into(),
            listed(&advice.stages).into(),
            listed(&advice.nodes).into(),
        ]);
    }
    cut(table)
}

fn timeline(section: &mut Document<'_>, report: &DiagnosisReport) -> Result<(), PlotError> {
    let stragglers = Stragglers::new(&report.findings);
    let picture = stragglers.picture()?;
    let mut caption = "A bar is a straggler, from its start to its end, in the row of its surest cause on its node. Tasks that were not \
                       slow are not drawn."
        .to_owned();
    if stragglers.left_out > 0 {
        caption += &format!(" {} more could not be drawn.", counted(stragglers.left_out as u128, "straggler"));
    }
    section.drawn(picture, "When stragglers ran, and why they were slow", caption);
    Ok(())
}

/// The findings: such with a cause first, and what took longest beyond the usual.
fn findings(report: &DiagnosisReport) -> Table {
    let note = "Times in seconds, starts since the start of the log. A cause is told where the score exceeds the threshold; how sure it \
                is, is a rule of the method. Evidence is the strongest there is, and the usual is what it was compared with.";
    let head = ["who", "cause", "told by", "start", "took", "score", "threshold", "sure", "evidence", "seen", "usual"];
    let mut table = Table::new("What was found", note, &head);
    let beyond = |finding: &Finding| {
        let time = finding.evidence.iter().find(|evidence| evidence.what == "time");
        time.map_or(0.0, |time| time.value - time.usual)
    };
    let mut order: Vec<(usize, &Finding)> = report.findings.iter().enumerate().collect();
    order.sort_by(|(_, a), (_, b)| {
        (a.cause == Cause::Unknown).cmp(&(b.cause == Cause::Unknown)).then(beyond(b).total_cmp(&beyond(a)))
    });
    table.rows = order.into_iter().map(|(i, finding)| row(i, finding)).collect();
    cut(table)
}

fn row(i: usize, finding: &Finding) -> Vec<Cell> {
    let at = format!("/findings/{i}");
    let evidence = || finding.evidence.iter().enumerate();
    let took = evidence().find(|(_, evidence)| evidence.what == "time").map(|(j, evidence)| Number {
        digits_of: Some(0.1),
        ..Number::new(format!("{at}/evidence/{j}/value"), evidence.value, "")
    });
    let start = finding.from.map(|from| Number { digits_of: Some(0.5), ..Number::new(format!("{at}/from"), from, "") });
    // of what is not known nobody is sure
    let sure = (finding.cause != Cause::Unknown).then(|| Number {
        digits_of: Some(0.5),
        ..Number::new(format!("{at}/confidence"), finding.confidence, "").percent()
    });
    // the time has a column of its own
    let strongest = evidence().find(|(_, evidence)| evidence.what != "time");
    vec![
        who(&finding.subject).into(),
        cause_text(finding.cause).into(),
        finding.method.name().into(),
        start.into(),
        took.into(),
        scaled(format!("{at}/score"), finding.score, finding.score.abs(), "").into(),
        scaled(format!("{at}/threshold"), finding.threshold, finding.threshold.abs(), "").into(),
        sure.into(),
        strongest.map(|(_, evidence)| evidence.what.clone()).into(),
        strongest.map(|(j, evidence)| amount(format!("{at}/evidence/{j}/value"), evidence, evidence.value)).into(),
        strongest.map(|(j, evidence)| amount(format!("{at}/evidence/{j}/usual"), evidence, evidence.usual)).into(),
    ]
}

/// Whom a finding is about, in words.
fn who(subject: &Subject) -> String {
    match subject {
        Subject::Task { stage, task, attempt, node } => {
            let again = if *attempt > 0 { format!(", attempt {attempt}") } else { String::new() };
            let node = node.as_ref().map_or_else(String::new, |node| format!(" on {node}"));
            format!("stage {stage}, task {task}{again}{node}")
        }
        Subject::Stage { stage } => format!("stage {stage}"),
        Subject::Node { node } => format!("node {node}"),
        Subject::Link { from, to } => format!("{from} to {to}"),
        Subject::Job => "the job".to_owned(),
    }
}

/// A value of evidence with its unit.
fn amount(at: String, evidence: &Evidence, value: f64) -> Number {
    scaled(at, value, evidence.value.abs().max(evidence.usual.abs()), &evidence.unit)
}

/// A number in thousands, millions or thousands of millions, as the largest of those beside it asks for.
fn scaled(at: String, value: f64, largest: f64, unit: &str) -> Number {
    let (factor, prefix) = match largest {
        size if size >= 1e10 => (1e-9, "G"),
        size if size >= 1e7 => (1e-6, "M"),
        size if size >= 1e4 => (1e-3, "k"),
        _ => (1.0, ""),
    };
    let digits_of = Some(0.02 * largest).filter(|half| *half > 0.0);
    Number { factor, digits_of, ..Number::new(at, value, format!("{prefix}{unit}")) }
}

fn stages(report: &DiagnosisReport) -> Table {
    let slow = report.stages.iter().enumerate().filter(|(_, stage)| stage.stragglers > 0);
    let others = report.stages.iter().filter(|stage| stage.stragglers == 0).count();
    let note = match others {
        0 => "Not covered: by samples, for at least half of the straggler's time.".to_owned(),
        _ => format!(
            "Not covered: by samples, for at least half of the straggler's time. {} without stragglers are in the JSON.",
            counted(others as u128, "stage")
        ),
    };
    let head = ["stage", "tasks", "median [s]", "stragglers", "explained", "not covered", "not known of its tasks"];
    let mut table = Table::new("Stages with stragglers", note, &head);
    for (i, stage) in slow {
        let number = |name: &str, value: u64| Cell::from(Number::count(format!("/stages/{i}/{name}"), value));
        table.rows.push(vec![
            stage.stage.clone().into(),
            number("tasks", stage.tasks),
            Number::new(format!("/stages/{i}/median_s"), stage.median_s, "").into(),
            number("stragglers", stage.stragglers),
            number("explained", stage.explained),
            number("uncovered", stage.uncovered),
            stage.unknown_features.join(", ").into(),
        ]);
    }
    cut(table)
}

/// What was read, what could not be known, and what is odd about it.
fn inputs(report: &DiagnosisReport) -> Table {
    let mut table = Table::new("What was used, and what was missing", "", &["", "what", "name"]);
    let used = report.used.iter();
    table.rows =
        used.map(|used| vec![Cell::from(&*used.kind), used.taken.clone().into(), used.name.clone().into()]).collect();
    table.rows.extend(report.missing.iter().map(|missing| vec!["missing".into(), missing.clone().into(), Cell::Empty]));
    table.rows.extend(report.warnings.iter().map(|odd| vec!["warning".into(), odd.clone().into(), Cell::Empty]));
    cut(table)
}

/// A few names, and how many more there are.
fn listed(names: &[String]) -> String {
    let more = names.len().saturating_sub(MOST_NAMES);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("{}{more}", names[..names.len().min(MOST_NAMES)].join(", "))
}
