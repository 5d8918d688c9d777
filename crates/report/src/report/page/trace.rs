//! The section of a log of jobs: what ran when, what bounds the time, stragglers.

use crate::document::parts::cut;
use crate::document::{Cell, Document, Number, Piece, Table};
use crate::report::number::{count, counted, plain};
use crate::report::plot::PlotError;
use crate::report::rows_plot::{BarRow, rows_picture};
use crate::report::trace_rows::{ApplicationRow, StageRow, TraceReport};

/// What a log says.
pub(in crate::report) fn section(report: &TraceReport) -> Result<Document<'static>, PlotError> {
    let name = report
        .applications
        .first()
        .map_or("a log", |first| if first.name.is_empty() { &first.id } else { &first.name });
    let others = report.applications.len().saturating_sub(1);
    let mut section = Document {
        kind: "log of jobs",
        title: if others == 0 { name.to_owned() } else { format!("{name} and {others} more") },
        question: format!(
            "What ran, and what made it take so long? {} and {} in {}.",
            counted(report.jobs.len() as u128, "job"),
            counted(report.stages.len() as u128, "stage"),
            counted(report.applications.len() as u128, "application")
        ),
        answer: answer(report),
        provenance: provenance(report),
        ..Document::default()
    };
    if report.partial {
        section.remarks.push("The reading was ended early: the end of the log is missing.".to_owned());
    }
    for warning in &report.warnings {
        section.remarks.push(format!("{}: {}", warning.first, warning.text));
    }
    waterfall(&mut section, report)?;
    section.table(bounds(report));
    section.table(stages(report));
    section.table(stragglers(report));
    section.table(nodes(report));
    Ok(section)
}

/// How long it took, and what bounds that.
fn answer(report: &TraceReport) -> Vec<Piece> {
    let bounded = |(i, row): (usize, &ApplicationRow)| Some((i, row.bounds.clone()?));
    let longest = report.applications.iter().enumerate().filter_map(bounded);
    let Some((i, bounds)) = longest.max_by(|a, b| a.1.span_s.total_cmp(&b.1.span_s)) else { return Vec::new() };
    let (what, key, least) = match &*bounds.largest {
        "slots" => ("all work, spread evenly over the slots", "by_slots_s", bounds.by_slots_s),
        "critical_path" => ("the longest chain of stages", "by_critical_path_s", bounds.by_critical_path_s),
        "longest_task" => ("the longest task", "by_longest_task_s", bounds.by_longest_task_s),
        _ => ("the time in which no task ran", "by_driver_s", bounds.by_driver_s),
    };
    let at = format!("/applications/{i}/bounds");
    let stragglers = report.stragglers.iter().filter(|row| row.over_median).count();
    vec![
        "It took ".into(),
        Number::new(format!("{at}/span_s"), bounds.span_s, "s").into(),
        format!("; {what} alone takes ").into(),
        Number::new(format!("{at}/{key}"), least, "s").into(),
        format!(". {} took longer than 1.5 medians of their stage.", counted(stragglers as u128, "attempt")).into(),
    ]
}

fn waterfall(section: &mut Document<'_>, report: &TraceReport) -> Result<(), PlotError> {
    let mut rows = Vec::new();
    for stage in &report.stages {
        let (Some(start), Some(end)) = (stage.submitted_s, stage.completed_s) else { continue };
        rows.push(BarRow {
            name: name_of(stage),
            bar: [start, end],
            interval: None,
            text: format!("{} s", plain(((end - start) * 100.0).round() / 100.0)),
            ..BarRow::default()
        });
    }
    if rows.len() > crate::report::rows_plot::MOST {
        let left = rows.len() - crate::report::rows_plot::MOST;
        section.remarks.push(format!("The picture leaves out the last {}.", counted(left as u128, "stage")));
    }
    let caption = "From the submission of each stage to its end; beside it how long that is.";
    section.drawn(rows_picture("waterfall", "time since the start of the log [s]", &rows)?, "What ran when", caption);
    Ok(())
}

fn name_of(stage: &StageRow) -> String {
    let again = if stage.attempt > 0 { format!(".{}", stage.attempt) } else { String::new() };
    format!("{}{again} {}", stage.number, stage.name)
}

fn bounds(report: &TraceReport) -> Table {
    let head =
        ["application", "slots", "took", "all work on all slots", "longest chain", "longest task", "no task ran"];
    let note = "Seconds. It cannot take less than any of the last four columns.";
    let mut table = Table::new("What bounds the time", note, &head);
    for (i, row) in report.applications.iter().enumerate() {
        let Some(bounds) = &row.bounds else { continue };
        let number =
            |name: &str, value: f64| Cell::from(Number::new(format!("/applications/{i}/bounds/{name}"), value, ""));
        table.rows.push(vec![
            if row.name.is_empty() { row.id.clone().into() } else { row.name.clone().into() },
            Number::count(format!("/applications/{i}/slots"), row.slots).into(),
            number("span_s", bounds.span_s),
            number("by_slots_s", bounds.by_slots_s),
            number("by_critical_path_s", bounds.by_critical_path_s),
            number("by_longest_task_s", bounds.by_longest_task_s),
            number("by_driver_s", bounds.by_driver_s),
        ]);
    }
    cut(table)
}

fn stages(report: &TraceReport) -> Table {
    let head = ["stage", "tasks done", "failures", "copies", "median", "p95", "longest", "beyond 1.5 medians"];
    let mut table = Table::new("Stages", "Times of tasks in seconds.", &head);
    for (i, stage) in report.stages.iter().enumerate() {
        let time = |name: &str, value: Option<f64>| -> Cell {
            value.map(|value| Number::new(format!("/stages/{i}/times_s/{name}"), value, "")).into()
        };
        let number = |name: &str, value: u64| Cell::from(Number::count(format!("/stages/{i}/{name}"), value));
        let times = stage.times_s;
        table.rows.push(vec![
            name_of(stage).into(),
            number("tasks_done", stage.tasks_done),
            number("failures", stage.failures),
            number("copies", stage.copies),
            time("median", times.map(|times| times.median)),
            time("p95", times.map(|times| times.p95)),
            time("max", times.map(|times| times.max)),
            number("over_median", stage.over_median),
        ]);
    }
    cut(table)
}

fn stragglers(report: &TraceReport) -> Table {
    let head = ["stage and task", "node", "time [s]", "medians", "how it ended"];
    let mut table = Table::new("Stragglers, the longest first", "", &head);
    for (i, row) in report.stragglers.iter().enumerate() {
        let copy = if row.speculative { ", a copy" } else { "" };
        table.rows.push(vec![
            format!("stage {}, task {}", row.stage, row.task).into(),
            row.node.clone().into(),
            Number::new(format!("/stragglers/{i}/time_s"), row.time_s, "").into(),
            row.medians
                .map(|medians| Number {
                    digits_of: Some(0.1),
                    ..Number::new(format!("/stragglers/{i}/medians"), medians, "")
                })
                .into(),
            format!("{}{copy}", row.outcome.replace('_', " ")).into(),
        ]);
    }
    cut(table)
}

fn nodes(report: &TraceReport) -> Table {
    let head = ["node", "attempts", "busy [s]", "time over the stage's median"];
    let mut table = Table::new("Nodes", "", &head);
    for (i, row) in report.nodes.iter().enumerate() {
        table.rows.push(vec![
            row.name.clone().into(),
            Number::count(format!("/nodes/{i}/attempts"), row.attempts).into(),
            Number::new(format!("/nodes/{i}/busy_s"), row.busy_s, "").into(),
            row.slowness
                .map(|value| Number { digits_of: Some(0.05), ..Number::new(format!("/nodes/{i}/slowness"), value, "") })
                .into(),
        ]);
    }
    cut(table)
}

fn provenance(report: &TraceReport) -> Vec<[String; 2]> {
    let mut rows = vec![
        ["format".to_owned(), report.format.to_string()],
        ["files".to_owned(), report.files.join(", ")],
        ["events".to_owned(), count(report.events.into())],
        ["bytes".to_owned(), count(report.bytes.into())],
        ["usual times".to_owned(), report.usual.to_string()],
    ];
    rows.extend(report.origin_unix_s.map(|origin| ["started, in seconds since 1970".to_owned(), format!("{origin}")]));
    rows
}
