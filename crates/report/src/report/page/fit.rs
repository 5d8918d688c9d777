//! The sections of fits: what logs tell of a job, how sure that is, and what they cannot tell.

use crate::document::parts::{cut, interval_note, notes_table};
use crate::document::{Document, Number, Piece, Table};
use crate::report::fit::{FitReport, FitStageRow, Fitted};
use crate::report::number::{counted, plain};
use crate::report::plot::{self, PlotError};
use crate::report::rows_plot::{BarRow, MOST, rows_picture};

/// What a fit of stages found.
pub(in crate::report) fn section(report: &FitReport) -> Result<Document<'static>, PlotError> {
    let runs = counted(report.runs.len() as u128, "run");
    let mut section = Document {
        kind: "fit of a job of stages",
        title: report.name.clone(),
        question: format!("What do the logs of {runs} tell of the job, and how sure is that?"),
        answer: answer(report),
        plan: report.plan.to_toml().unwrap_or_default(),
        provenance: report
            .runs
            .iter()
            .zip(1..)
            .map(|(run, number)| [format!("log {number}"), run.log.clone()])
            .collect(),
        ..Document::default()
    };
    times(&mut section, report)?;
    section.table(stages(report));
    section.table(runs_table(report));
    section.table(notes_table("What the logs do not say", &report.notes));
    Ok(section)
}

fn fitted(at: String, fitted: &Fitted, unit: &'static str) -> Number {
    Number::new(at, fitted.value, unit).between(Some(fitted.low), Some(fitted.high))
}

/// How wide an interval is, as a share of its number.
fn width(fitted: &Fitted) -> f64 {
    (fitted.high - fitted.low) / fitted.value
}

/// What was fitted, where it is least sure, and how much runs differ.
fn answer(report: &FitReport) -> Vec<Piece> {
    let tasks: usize = report.stages.iter().map(|stage| stage.tasks).fold(0, usize::saturating_add);
    let mut pieces: Vec<Piece> = vec![
        format!(
            "{} of {} in {}.",
            counted(report.stages.len() as u128, "stage"),
            counted(tasks as u128, "task"),
            counted(report.runs.len() as u128, "run")
        )
        .into(),
    ];
    let sized = report.stages.iter().enumerate().filter(|(_, stage)| stage.warm_s.value > 0.0);
    let least = sized.max_by(|(_, a), (_, b)| width(&a.warm_s).total_cmp(&width(&b.warm_s)));
    if let Some((i, stage)) = least {
        pieces.extend([
            format!(" Least sure is stage {i} {}: its steady tasks take ", stage.name).into(),
            fitted(format!("/stages/{i}/warm_s"), &stage.warm_s, "s").into(),
            ".".into(),
        ]);
    }
    let sigma = Number { digits_of: Some(0.01), ..Number::new("/run_sigma", report.run_sigma, "") }.percent();
    pieces.extend([
        " Whole runs differ by ".into(),
        sigma.into(),
        format!(" (standard deviation of the logarithm, worth {} degrees of freedom).", plain(report.run_freedom))
            .into(),
    ]);
    pieces
}

/// The times of tasks side by side: stages differ by more than a table lets one see.
fn times(section: &mut Document<'_>, report: &FitReport) -> Result<(), PlotError> {
    let bar = |word: &str, time: &Fitted, colour| BarRow {
        bar: [0.0, time.value],
        interval: Some([time.low, time.high]),
        text: format!("{word} {} s", fitted(String::new(), time, "").text()),
        colour: Some(colour),
        ..BarRow::default()
    };
    let pair = |(i, stage): (usize, &FitStageRow)| {
        let name = format!("{i} {}", stage.name);
        [BarRow { name, ..bar("steady", &stage.warm_s, plot::BLUE) }, bar("cold", &stage.cold_s, plot::ORANGE)]
    };
    let rows: Vec<BarRow> = report.stages.iter().enumerate().take(MOST / 2).flat_map(pair).collect();
    let mut caption = "Blue: the time of a steady task. Orange: that of a cold one, the first of its slot. Both with the data that tasks of the \
                       logs had on average; the black lines are intervals."
        .to_owned();
    let left = report.stages.len().saturating_sub(MOST / 2);
    if left > 0 {
        caption += &format!(" {} more are not drawn.", counted(left as u128, "stage"));
    }
    section.drawn(rows_picture("tasks", "time of a task [s]", &rows)?, "How long tasks take", caption);
    Ok(())
}

fn stages(report: &FitReport) -> Table {
    let note = format!(
        "Times in seconds, of tasks with their mean data in the logs. The law is the one that told the times of held-out tasks best. {}",
        interval_note(report.level)
    );
    let head = [
        "stage",
        "after",
        "tasks",
        "MB of a task",
        "setup",
        "cold task",
        "steady task",
        "2nd task [%]",
        "law",
        "held up",
    ];
    let mut table = Table::new("Stages", note, &head);
    for (i, stage) in report.stages.iter().enumerate() {
        let at = |key: &str| format!("/stages/{i}/{key}");
        let after: Vec<String> = stage.after.iter().map(ToString::to_string).collect();
        let rough =
            |key: &str, value: f64, half: f64| Number { digits_of: Some(half), ..Number::new(at(key), value, "") };
        table.rows.push(vec![
            format!("{i} {}", stage.name).into(),
            after.join(", ").into(),
            Number::count(at("tasks"), stage.tasks as u64).into(),
            rough("task_mb", stage.task_mb, 0.1).into(),
            rough("setup_s", stage.setup_s, 0.01).into(),
            fitted(at("cold_s"), &stage.cold_s, "").into(),
            fitted(at("warm_s"), &stage.warm_s, "").into(),
            Number { unit: "".into(), ..rough("warming", stage.warming, 0.1).percent().signed() }.into(),
            stage.law.to_string().into(),
            Number::count(at("held_up"), stage.held_up as u64).into(),
        ]);
    }
    cut(table)
}

fn runs_table(report: &FitReport) -> Table {
    let note = "By what factor the tasks of a run took longer than a usual run's; the weight is below 1 where a run was disturbed.";
    let head = ["log", "input [MB]", "slots", "tasks", "job [s]", "factor", "weight"];
    let mut table = Table::new("Runs beside the model", note, &head);
    for (i, run) in report.runs.iter().enumerate() {
        let number = |key: &str, value: f64, half: f64| Number {
            digits_of: Some(half),
            ..Number::new(format!("/runs/{i}/{key}"), value, "")
        };
        table.rows.push(vec![
            run.log.clone().into(),
            number("input_mb", run.input_mb, 0.1).into(),
            Number::count(format!("/runs/{i}/slots"), run.slots.into()).into(),
            Number::count(format!("/runs/{i}/tasks"), run.tasks as u64).into(),
            number("job_s", run.job_s, 0.01).into(),
            number("factor", run.factor, 0.01).into(),
            number("weight", run.weight, 0.1).into(),
        ]);
    }
    cut(table)
}
