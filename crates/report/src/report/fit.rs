//! What a fit found: each stage with intervals, each run beside the model, and what the logs could not tell.

use std::fmt::Write as _;

use serde::{Deserialize, Serialize};

use crate::fit::{FittedRun, FittedStage, FittedStages};
use crate::render::Look;
use crate::report::json::Word;
use crate::report::number::{counted, plain};
use crate::report::table::{Align, Table};
use crate::stages::{StagePlan, TaskTime};

/// A fitted number with its interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Fitted {
    /// The number.
    pub value: f64,
    /// Lower end of the interval.
    pub low: f64,
    /// Upper end of the interval.
    pub high: f64,
}

/// One stage.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FitStageRow {
    /// Its name.
    pub name: String,
    /// Stages that it waits for.
    pub after: Vec<usize>,
    /// Tasks in all logs.
    pub tasks: usize,
    /// Mean data of a full task in the logs \[MB\].
    pub task_mb: f64,
    /// Time of a cold task with these data \[s\].
    pub cold_s: Fitted,
    /// Time of a steady task with these data \[s\].
    pub warm_s: Fitted,
    /// By how much longer the second task of a slot takes than steady ones.
    pub warming: f64,
    /// From the end of the stages before to the first launch \[s\].
    pub setup_s: f64,
    /// The law's name.
    pub law: Word,
    /// The laws that were compared with their mean logarithm of the density of held-out times, the best first.
    pub laws: Vec<(String, f64)>,
    /// Tasks that were left out because something held them up.
    pub held_up: usize,
}

/// One run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FitRunRow {
    /// Its log.
    pub log: String,
    /// Its input \[MB\].
    pub input_mb: f64,
    /// Tasks that ran at a time.
    pub slots: u32,
    /// Tasks.
    pub tasks: usize,
    /// Its job time \[s\].
    pub job_s: f64,
    /// By what factor its times differ from a usual run's.
    pub factor: f64,
    /// Its weight in the centre of the factors; below 1 for a run that was disturbed.
    pub weight: f64,
}

/// What a fit found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FitReport {
    /// The program.
    pub name: String,
    /// Confidence level of the intervals.
    pub level: f64,
    /// Standard deviation of the logarithm of the factor between runs.
    pub run_sigma: f64,
    /// Its degrees of freedom.
    pub run_freedom: f64,
    /// The stages.
    pub stages: Vec<FitStageRow>,
    /// The runs.
    pub runs: Vec<FitRunRow>,
    /// What the logs could not tell.
    pub notes: Vec<String>,
    /// The plan.
    pub plan: StagePlan,
}

/// What a fit found, with intervals at `level`.
pub fn fit_report(fitted: &FittedStages, level: f64) -> FitReport {
    FitReport {
        name: fitted.plan.job.name.clone(),
        level,
        run_sigma: fitted.plan.run.sigma,
        run_freedom: fitted.plan.run.degrees_of_freedom,
        stages: fitted.stages.iter().map(|stage| stage_row(fitted, stage, level)).collect(),
        runs: fitted.runs.iter().map(run_row).collect(),
        notes: fitted.plan.notes.clone(),
        plan: fitted.plan.clone(),
    }
}

fn stage_row(fitted: &FittedStages, stage: &FittedStage, level: f64) -> FitStageRow {
    let time = |time: TaskTime| {
        let value = time.at(stage.task_mb);
        let (low, high) = fitted.factor_interval(time.error, level);
        Fitted { value, low: value * low, high: value * high }
    };
    FitStageRow {
        name: stage.spec.name.clone(),
        after: stage.spec.after.clone(),
        tasks: stage.tasks,
        task_mb: stage.task_mb,
        cold_s: time(stage.spec.cold),
        warm_s: time(stage.spec.warm),
        warming: stage.spec.warming,
        setup_s: stage.spec.setup_s,
        law: stage.spec.distribution.kind().into(),
        laws: stage.laws.iter().map(|law| (law.law.to_owned(), law.score)).collect(),
        held_up: stage.held_up,
    }
}

fn run_row(run: &FittedRun) -> FitRunRow {
    FitRunRow {
        log: run.log.clone(),
        input_mb: run.input_mb,
        slots: run.slots,
        tasks: run.tasks,
        job_s: run.job_s,
        factor: run.factor,
        weight: run.weight,
    }
}

/// The start of a name, as far as a column is wide.
pub(super) fn short_name(name: &str) -> String {
    const MOST: usize = 28;
    if name.chars().count() <= MOST { name.to_owned() } else { name.chars().take(MOST - 1).chain(['~']).collect() }
}

/// The text of a fit.
pub fn fit_text(report: &FitReport, look: &Look) -> String {
    let to = look.either("–", "-");
    let mut text = look.heading(&format!(
        "{}: {} fitted to {}",
        report.name,
        counted(report.stages.len() as u64, "stage"),
        counted(report.runs.len() as u64, "run")
    ));
    let right = |name: &'static str| (name, Align::Right);
    let cold = format!("cold task [s] ({:.0} %)", 100.0 * report.level);
    let columns: [(&str, Align); 10] = [
        right("stage"),
        ("name", Align::Left),
        ("after", Align::Left),
        right("tasks"),
        right("MB/task"),
        right("setup [s]"),
        (cold.as_str(), Align::Right),
        right("steady task [s]"),
        right("2nd task"),
        ("law", Align::Left),
    ];
    let mut table = Table::new(columns);
    let fitted = |f: Fitted| format!("{:.3} ({:.3}{to}{:.3})", f.value, f.low, f.high);
    for (i, stage) in report.stages.iter().enumerate() {
        let after: Vec<String> = stage.after.iter().map(ToString::to_string).collect();
        table.push([
            i.to_string(),
            short_name(&stage.name),
            after.join(","),
            stage.tasks.to_string(),
            format!("{:.2}", stage.task_mb),
            format!("{:.3}", stage.setup_s),
            fitted(stage.cold_s),
            fitted(stage.warm_s),
            format!("{:+.0} %", 100.0 * stage.warming),
            stage.law.to_string(),
        ]);
    }
    text += &table.text();
    let mut table = Table::new([
        right("input [MB]"),
        right("slots"),
        right("tasks"),
        right("job [s]"),
        right("factor"),
        right("weight"),
        ("log", Align::Left),
    ]);
    for run in &report.runs {
        table.push([
            plain((run.input_mb * 100.0).round() / 100.0),
            run.slots.to_string(),
            run.tasks.to_string(),
            format!("{:.3}", run.job_s),
            format!("{:.3}", run.factor),
            format!("{:.2}", run.weight),
            run.log.clone(),
        ]);
    }
    text += "\n";
    text += &look.heading("Runs beside the model: by what factor their tasks took longer than a usual run's");
    text += &table.text();
    let _ = writeln!(
        text,
        "  whole runs differ by {:.0} % (standard deviation of the logarithm, {:.0} degrees of freedom)",
        100.0 * report.run_sigma,
        report.run_freedom
    );
    text
}
