//! The findings of a diagnosis as CSV: one a row.

use std::io::Write;

use crate::diagnose::{Finding, Subject};
use crate::report::csv::CsvError;

/// The columns.
const COLUMNS: [&str; 17] = [
    "method",
    "subject",
    "stage",
    "task",
    "attempt",
    "node",
    "to_node",
    "from_s",
    "to_s",
    "cause",
    "score",
    "threshold",
    "confidence",
    "evidence",
    "evidence_value",
    "evidence_usual",
    "evidence_unit",
];

/// Writes the findings in their order, each with its strongest evidence; what is not known is an empty cell.
///
/// # Errors
///
/// [`CsvError`] where `out` cannot be written to.
pub fn diagnosis_csv(findings: &[Finding], out: impl Write) -> Result<(), CsvError> {
    let mut writer = csv::Writer::from_writer(out);
    writer.write_record(COLUMNS).map_err(CsvError::new)?;
    for finding in findings {
        writer.write_record(cells(finding)).map_err(CsvError::new)?;
    }
    writer.flush().map_err(CsvError::new)
}

fn cells(finding: &Finding) -> Vec<String> {
    let seconds = |time: Option<f64>| time.map_or_else(String::new, |time| time.to_string());
    let mut cells = vec![finding.method.name().to_owned()];
    cells.extend(subject(&finding.subject));
    cells.extend([seconds(finding.from), seconds(finding.to)]);
    cells.push(cause_key(finding));
    cells.extend([finding.score, finding.threshold, finding.confidence].map(|number| number.to_string()));
    match finding.evidence.first() {
        Some(evidence) => cells.extend([
            evidence.what.clone(),
            evidence.value.to_string(),
            evidence.usual.to_string(),
            evidence.unit.to_string(),
        ]),
        None => cells.extend([const { String::new() }; 4]),
    }
    cells
}

/// Kind, stage, task, attempt, node and second node.
fn subject(subject: &Subject) -> [String; 6] {
    let none = String::new;
    match subject {
        Subject::Task { stage, task, attempt, node } => [
            "task".to_owned(),
            stage.clone(),
            task.to_string(),
            attempt.to_string(),
            node.clone().unwrap_or_default(),
            none(),
        ],
        Subject::Stage { stage } => ["stage".to_owned(), stage.clone(), none(), none(), none(), none()],
        Subject::Node { node } => ["node".to_owned(), none(), none(), none(), node.clone(), none()],
        Subject::Link { from, to } => ["link".to_owned(), none(), none(), none(), from.clone(), to.clone()],
        Subject::Job => ["job".to_owned(), none(), none(), none(), none(), none()],
    }
}

/// The cause as JSON has it.
fn cause_key(finding: &Finding) -> String {
    match serde_json::to_value(finding.cause) {
        Ok(serde_json::Value::String(key)) => key,
        _ => String::new(),
    }
}
