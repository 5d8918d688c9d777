//! The section of an estimate of a job of stages.

use crate::document::parts::{add_times, ends, provenance_rows};
use crate::document::{Cell, Document, Headline, Number, Table};
use crate::estimate::Measured;
use crate::report::number::{counted, plain, quantile_name};
use crate::report::plot::PlotError;
use crate::report::rows_plot::{BarRow, rows_picture};
use crate::report::stages::StagesReport;
use crate::report::times_plot::Times;

/// What an estimate found.
pub(super) fn section(report: &StagesReport) -> Result<Document<'static>, PlotError> {
    let number = |at: &str, value: f64| Number { digits_of: Some(0.01 * value.abs()), ..Number::new(at, value, "s") };
    let [low, high] = report.prediction_s;
    let quantile = |p: f64| {
        let found = report.quantiles.iter().enumerate().find(|(_, row)| (row.p - p).abs() < 1e-12);
        found.map(|(i, row)| number(&format!("/quantiles/{i}/value_s"), row.value_s))
    };
    let mut section = Document {
        kind: "estimate of a job of stages",
        title: report.name.clone(),
        question: format!(
            "How long does a run with {} MB of input take on {} with {} each?",
            plain(report.input_mb),
            counted(report.executors, "executor"),
            counted(report.cores, "core")
        ),
        answer: vec![
            format!("With {} % probability the next run takes between ", plain(100.0 * report.prediction_level)).into(),
            number("/prediction_s/0", low).into(),
            " and ".into(),
            number("/prediction_s/1", high).into(),
            "; half of the runs take less than ".into(),
            number("/median_s", report.median_s).into(),
            ".".into(),
        ],
        remarks: report.notes.clone(),
        headline: Some(Headline {
            of: None,
            // as that of a sweep: of a usual run, with its interval
            mean: report.usual_mean.as_ref().map_or_else(
                || number("/mean_s", report.mean_s),
                |mean| Number::measured("/usual_mean".to_owned(), mean, "s"),
            ),
            quantiles: [quantile(0.5), quantile(0.95), quantile(0.99)],
        }),
        plan: report.plan.clone(),
        provenance: provenance_rows(&report.provenance),
        ..Document::default()
    };
    waterfall(&mut section, report)?;
    add_times(&mut section, &Times::stages(report))?;
    let mut table = Table::new("Job time of a run to come", "", &["", "time"]);
    table.rows.push(vec!["mean of all runs".into(), number("/mean_s", report.mean_s).into()]);
    table.rows.extend(report.quantiles.iter().enumerate().map(|(i, row)| {
        vec![quantile_name(row.p).into(), number(&format!("/quantiles/{i}/value_s"), row.value_s).into()]
    }));
    section.table(table);
    section.table(speculation(report));
    section.table(stages(report));
    Ok(section)
}

fn waterfall(section: &mut Document<'_>, report: &StagesReport) -> Result<(), PlotError> {
    let mut rows = Vec::new();
    for (i, stage) in report.stages.iter().enumerate() {
        let (Some(start), Some(end)) = (&stage.start, &stage.end) else { continue };
        rows.push(BarRow {
            name: format!("{i} {}", stage.name),
            bar: [start.value, end.value],
            interval: ends(end),
            text: format!("{} s", plain((end.value * 100.0).round() / 100.0)),
            ..BarRow::default()
        });
    }
    let caption = "From the launch of a stage's first task to the end of its last one, in a usual run on average; the black line is the \
                   interval of the end.";
    section.drawn(rows_picture("waterfall", "time since the start of the job [s]", &rows)?, "What runs when", caption);
    Ok(())
}

/// What copies change, where they were asked for.
fn speculation(report: &StagesReport) -> Table {
    let mut table = Table::new("What copies of stragglers change in a usual run", "", &["", "value"]);
    let Some(section) = &report.speculation else { return table };
    table.note = format!(
        "Tasks beyond {} medians get a copy, once {} % of them have ended.",
        plain(section.multiplier),
        plain(100.0 * section.quantile)
    );
    for (name, key, quantity, unit) in [
        ("without copies", "without_s", &section.without_s, "s"),
        ("with copies", "with_s", &section.with_s, "s"),
        ("change", "change_s", &section.change_s, "s"),
        ("copies", "copies", &section.copies, ""),
        ("of them won", "won", &section.won, ""),
        ("slot time of killed attempts", "killed_slot_s", &section.killed_slot_s, "s"),
    ] {
        let number = Number::measured(format!("/speculation/{key}"), quantity, unit);
        table.rows.push(vec![name.into(), Number { signed: key == "change_s", ..number }.into()]);
    }
    table
}

fn stages(report: &StagesReport) -> Table {
    let head = ["stage", "after", "tasks", "MB of a task", "start", "end", "slot time"];
    let mut table = Table::new("Stages of a usual run", "Times in seconds.", &head);
    for (i, stage) in report.stages.iter().enumerate() {
        let time = |name: &str, time: &Option<Measured>| -> Cell {
            time.as_ref().map(|time| Number::measured(format!("/stages/{i}/{name}"), time, "")).into()
        };
        let after: Vec<String> = stage.after.iter().map(ToString::to_string).collect();
        table.rows.push(vec![
            format!("{i} {}", stage.name).into(),
            after.join(", ").into(),
            Number::count(format!("/stages/{i}/tasks"), stage.tasks.into()).into(),
            Number::new(format!("/stages/{i}/task_mb"), stage.task_mb, "").into(),
            time("start", &stage.start),
            time("end", &stage.end),
            Number::new(format!("/stages/{i}/work_s"), stage.work_s, "").into(),
        ]);
    }
    table
}
