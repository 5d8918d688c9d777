//! The attempts of a log as CSV: one per row, with everything that the log records about them.

use crate::document::{Cell, Column, Table};
use crate::render::{CsvText, wide_rows};
use crate::trace::analysis::{StageStragglers, Usual, stragglers};
use crate::trace::{Attempt, JobTrace, Metric, MetricUnit, Stage};

/// Columns before the metrics.
const COLUMNS: &str = "application stage stage_attempt kind task attempt id node executor locality speculative outcome \
                       launch_s finish_s duration_s over_1.5_medians over_1.2_usual";
/// Attempts that are written at a time: a log may have millions.
const PART: usize = 4096;

/// Passes the attempts in the order of stage, task and launch to `put`, in pieces; values that the log does
/// not state are empty cells. Times are in seconds since the start of the first application.
///
/// # Errors
///
/// The errors of `put`.
pub fn trace_csv<E>(
    trace: &JobTrace,
    usual: &Usual,
    text: CsvText,
    mut put: impl FnMut(&str) -> Result<(), E>,
) -> Result<(), E> {
    let keys = COLUMNS.split(' ').chain(Metric::ALL.map(Metric::key));
    let columns: Vec<Column> = keys.map(|key| Column::new("").key(key)).collect();
    let mut part = Table::new("", "", columns);
    put(&wide_rows(&part, true, text))?;
    for (id, stage) in trace.stages_with_ids() {
        let found = stragglers(trace, id, usual);
        let attempts: Vec<(usize, &Attempt)> = trace.attempts_of(id).iter().enumerate().collect();
        for some in attempts.chunks(PART) {
            part.rows = some.iter().map(|(i, attempt)| cells(trace, stage, attempt, *i, &found)).collect();
            put(&wide_rows(&part, false, text))?;
        }
    }
    Ok(())
}

fn cells(trace: &JobTrace, stage: &Stage, attempt: &Attempt, index: usize, found: &StageStragglers) -> Vec<Cell> {
    let flag = |is: bool| Cell::from(if is { "1" } else { "0" });
    let seconds = |time: Option<f64>| Cell::from(time.map(|time| time.to_string()));
    let metric = |metric: Metric| match metric.unit() {
        MetricUnit::Seconds => seconds(trace.value(attempt, metric)),
        _ => trace.amount(attempt, metric).map(|value| value.to_string()).into(),
    };
    let mut cells = vec![
        trace.applications.get(stage.application.index()).map(|found| found.id.clone()).into(),
        stage.number.to_string().into(),
        stage.attempt.to_string().into(),
        stage.kind.key().into(),
        attempt.task.to_string().into(),
        attempt.number.to_string().into(),
        attempt.id.to_string().into(),
        trace.node_of(attempt).map(|node| node.name.clone()).into(),
        trace.executor_of(attempt).map(|executor| executor.id.clone()).into(),
        attempt.locality.key().into(),
        flag(attempt.speculative),
        attempt.outcome.key().into(),
        seconds(attempt.launch().map(|time| time.seconds())),
        seconds(attempt.finish().map(|time| time.seconds())),
        seconds(attempt.duration()),
        flag(found.over_median.binary_search(&index).is_ok()),
        flag(found.over_usual.binary_search(&index).is_ok()),
    ];
    cells.extend(Metric::ALL.map(metric));
    cells
}
