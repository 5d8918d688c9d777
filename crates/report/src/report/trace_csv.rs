//! The attempts of a log as CSV: one a row, with all that the log states of them.

use std::io::Write;

use crate::report::csv::CsvError;
use crate::trace::analysis::{StageStragglers, Usual, stragglers};
use crate::trace::{Attempt, JobTrace, Metric, MetricUnit, Stage};

/// Columns before the metrics.
const COLUMNS: [&str; 17] = [
    "application",
    "stage",
    "stage_attempt",
    "kind",
    "task",
    "attempt",
    "id",
    "node",
    "executor",
    "locality",
    "speculative",
    "outcome",
    "launch_s",
    "finish_s",
    "duration_s",
    "over_1.5_medians",
    "over_1.2_usual",
];

/// Writes the attempts in the order of stage, task and launch; what the log does not state is an empty cell. Times are in
/// seconds since the start of the first application.
///
/// # Errors
///
/// [`CsvError`] where `out` cannot be written to.
pub fn trace_csv(trace: &JobTrace, usual: &Usual, out: impl Write) -> Result<(), CsvError> {
    let mut writer = csv::Writer::from_writer(out);
    let header = COLUMNS.into_iter().chain(Metric::ALL.map(Metric::key));
    writer.write_record(header).map_err(CsvError::new)?;
    for (id, stage) in trace.stages_with_ids() {
        let found = stragglers(trace, id, usual);
        for (index, attempt) in trace.attempts_of(id).iter().enumerate() {
            let cells = cells(trace, stage, attempt, index, &found);
            writer.write_record(cells.iter().chain(&metrics(trace, attempt))).map_err(CsvError::new)?;
        }
    }
    writer.flush().map_err(CsvError::new)
}

fn cells(trace: &JobTrace, stage: &Stage, attempt: &Attempt, index: usize, found: &StageStragglers) -> Vec<String> {
    let flag = |is: bool| u8::from(is).to_string();
    let seconds = |time: Option<f64>| time.map_or_else(String::new, |time| time.to_string());
    let application = trace.applications.get(stage.application.index()).map_or("", |found| found.id.as_str());
    vec![
        application.to_owned(),
        stage.number.to_string(),
        stage.attempt.to_string(),
        stage.kind.key().to_owned(),
        attempt.task.to_string(),
        attempt.number.to_string(),
        attempt.id.to_string(),
        trace.node_of(attempt).map_or_else(String::new, |node| node.name.clone()),
        trace.executor_of(attempt).map_or_else(String::new, |executor| executor.id.clone()),
        attempt.locality.key().to_owned(),
        flag(attempt.speculative),
        attempt.outcome.key().to_owned(),
        seconds(attempt.launch().map(|time| time.seconds())),
        seconds(attempt.finish().map(|time| time.seconds())),
        seconds(attempt.duration()),
        flag(found.over_median.binary_search(&index).is_ok()),
        flag(found.over_usual.binary_search(&index).is_ok()),
    ]
}

fn metrics(trace: &JobTrace, attempt: &Attempt) -> Vec<String> {
    let cell = |metric: Metric| match metric.unit() {
        MetricUnit::Seconds => trace.value(attempt, metric).map(|value| value.to_string()),
        _ => trace.amount(attempt, metric).map(|value| value.to_string()),
    };
    Metric::ALL.map(|metric| cell(metric).unwrap_or_default()).into()
}
