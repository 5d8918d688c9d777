//! What an estimate of a job of stages found: the job time of a run to come, and where a usual run's time goes.

use std::fmt::Write as _;

use serde::{Deserialize, Serialize};

use crate::cluster::Comparison;
use crate::cluster::detect::DetectorPlan;
use crate::estimate::Measured;
use crate::render::Look;
use crate::report::csv::{CsvError, Rows};
use crate::report::distribution::mean_time;
use crate::report::fit::short_name;
use crate::report::number::{count, counted, plain, quantile_name, within};
use crate::report::passage::{CdfPoint, line};
use crate::report::summary::{ProvenanceSummary, provenance_summary};
use crate::report::table::{Align, Table};
use crate::sim::Run;
use crate::stages::{JobTimes, PlannedJob, StagePlan};

/// Probabilities whose quantiles are shown.
const QUANTILES: [f64; 7] = [0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95];

/// A quantile of the job time.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct StageQuantile {
    /// The probability.
    pub p: f64,
    /// The time \[s\].
    pub value_s: f64,
}

/// One stage of a usual run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StageTimes {
    /// Its name.
    pub name: String,
    /// Stages that it waits for.
    pub after: Vec<usize>,
    /// Its tasks.
    pub tasks: u32,
    /// Data of a full task \[MB\].
    pub task_mb: f64,
    /// Slot time of all its tasks \[s\].
    pub work_s: f64,
    /// When its first task is launched \[s\].
    pub start: Option<Measured>,
    /// When its last task has ended \[s\].
    pub end: Option<Measured>,
}

/// What copies change in a usual run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SpeculationSection {
    /// How many times the median is too long.
    pub multiplier: f64,
    /// Share of the tasks that have ended before any gets a copy.
    pub quantile: f64,
    /// Mean time of a usual run without copies \[s\].
    pub without_s: Measured,
    /// With copies \[s\].
    pub with_s: Measured,
    /// The difference, run by run with the same chance \[s\].
    pub change_s: Measured,
    /// Copies that were started.
    pub copies: Measured,
    /// Copies that ended first.
    pub won: Measured,
    /// Slot time of attempts that were killed \[s\].
    pub killed_slot_s: Measured,
}

/// What copies change, by a comparison of none with Spark's; none where it has no such policy.
pub fn speculation_section(comparison: &Comparison) -> Option<SpeculationSection> {
    let none = comparison.policies.get(comparison.baseline)?;
    let row = comparison.policies.iter().find(|row| row.job_change.is_some())?;
    let DetectorPlan::Spark(spark) = row.policy.detector else { return None };
    Some(SpeculationSection {
        multiplier: spark.multiplier,
        quantile: spark.quantile,
        without_s: none.job_s.into(),
        with_s: row.job_s.into(),
        change_s: row.job_change.as_ref()?.difference.into(),
        copies: row.copies.into(),
        won: row.won.into(),
        killed_slot_s: row.wasted_s.into(),
    })
}

/// What an estimate of a job of stages found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StagesReport {
    /// The job.
    pub name: String,
    /// What it reads \[MB\].
    pub input_mb: f64,
    /// Executors.
    pub executors: u32,
    /// Tasks that an executor runs at a time.
    pub cores: u32,
    /// Partitions of shuffles, where the plan has them.
    pub partitions: Option<u32>,
    /// Mean time of a usual run \[s\], with the interval of the simulation.
    pub usual_mean: Option<Measured>,
    /// The job time that a run to come is as likely to exceed as not \[s\].
    pub median_s: f64,
    /// Mean job time of a run to come \[s\], as if the factor between runs were lognormal with the fitted spread.
    pub mean_s: f64,
    /// Probability of the prediction interval.
    pub prediction_level: f64,
    /// The job time of a run to come is between these two with that probability \[s\].
    pub prediction_s: [f64; 2],
    /// Quantiles of the job time of a run to come.
    pub quantiles: Vec<StageQuantile>,
    /// Standard deviation of the logarithm of the factor between runs.
    pub run_sigma: f64,
    /// Relative standard error by the fitted task times.
    pub fit_error: f64,
    /// What copies of stragglers change, where they were asked for; the job times are with them then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub speculation: Option<SpeculationSection>,
    /// The stages of a usual run without copies.
    pub stages: Vec<StageTimes>,
    /// What the logs could not tell.
    pub notes: Vec<String>,
    /// The job time of a run to come, as a line of points.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub curve: Vec<CdfPoint>,
    /// How it was simulated.
    pub provenance: ProvenanceSummary,
    /// The plan at this size, every key written out.
    #[serde(default)]
    pub plan: String,
}

/// Probability of the prediction interval.
const PREDICTION: f64 = 0.9;

/// What an estimate found; `level` is that of the simulation's intervals.
pub fn stages_report(
    plan: &StagePlan,
    job: &PlannedJob,
    times: &JobTimes,
    run: &Run,
    speculation: Option<SpeculationSection>,
    level: f64,
) -> StagesReport {
    let samples = &run.samples;
    let stages = job.stages.iter().zip(&samples.groups).map(|(stage, seen)| StageTimes {
        name: stage.name.clone(),
        after: stage.after.clone(),
        tasks: stage.tasks(),
        task_mb: stage.task_mb,
        work_s: stage.work_s(),
        start: mean_time(&seen.first, samples.clock, level),
        end: mean_time(&seen.last, samples.clock, level),
    });
    let point = |time_s| {
        let probability = times.cdf(time_s);
        Ok::<_, ()>(CdfPoint { time_s, probability, density_per_s: None, low: None, high: None })
    };
    let variance = times.factor().scale * times.factor().scale;
    StagesReport {
        name: plan.job.name.clone(),
        input_mb: plan.job.input_mb,
        executors: plan.job.executors,
        cores: plan.job.cores,
        partitions: plan.job.partitions,
        usual_mean: match &speculation {
            Some(section) => Some(section.with_s.clone()),
            None => mean_time(&samples.passage, samples.clock, level),
        },
        median_s: times.quantile(0.5),
        mean_s: times.usual_mean() * (0.5 * variance).exp(),
        prediction_level: PREDICTION,
        prediction_s: [0.5 - 0.5 * PREDICTION, 0.5 + 0.5 * PREDICTION].map(|p| times.quantile(p)),
        quantiles: QUANTILES.iter().map(|&p| StageQuantile { p, value_s: times.quantile(p) }).collect(),
        run_sigma: plan.run.sigma,
        fit_error: job.error(),
        speculation,
        stages: stages.collect(),
        notes: plan.notes.clone(),
        curve: line([0.001, 0.99].map(|p| times.quantile(p)), point).unwrap_or_default(),
        provenance: provenance_summary(&run.provenance, samples.clock.tick()),
        plan: toml::to_string(plan).unwrap_or_default(),
    }
}

/// The text of an estimate.
pub fn stages_text(report: &StagesReport, look: &Look) -> String {
    let slots = u64::from(report.executors) * u64::from(report.cores);
    let mut text = look.heading(&format!(
        "{}: {} MB on {} with {} ({})",
        report.name,
        plain((report.input_mb * 100.0).round() / 100.0),
        counted(report.executors, "executor"),
        counted(report.cores, "core"),
        counted(slots, "slot")
    ));
    let [low, high] = report.prediction_s;
    let _ = writeln!(
        text,
        "  job time {:.2} s (median), between {low:.2} and {high:.2} s with {:.0} % probability; mean {:.2} s",
        report.median_s,
        100.0 * report.prediction_level,
        report.mean_s
    );
    if let Some(mean) = &report.usual_mean {
        let _ = writeln!(
            text,
            "  a usual run takes {:.2} s on average ({}); whole runs differ by {:.0} %, the fit is known to {:.0} %",
            mean.value,
            counted(mean.samples, "replication"),
            100.0 * report.run_sigma,
            100.0 * report.fit_error
        );
    }
    let mut table = Table::new(report.quantiles.iter().map(|q| (format!("{:.0} %", 100.0 * q.p), Align::Right)));
    table.push(report.quantiles.iter().map(|q| format!("{:.2} s", q.value_s)));
    text += &table.text();
    if let Some(section) = &report.speculation {
        text += "\n";
        text += &speculation_text(section, look);
    }
    text += "\n";
    let without = if report.speculation.is_some() { " without copies" } else { "" };
    text += &look.heading(&format!("Stages of a usual run{without}"));
    text += &stage_table(report, slots).text();
    text
}

fn speculation_text(section: &SpeculationSection, look: &Look) -> String {
    let text = look.heading(&format!(
        "Copies of tasks beyond {} medians, once {} % have ended: what they change in a usual run",
        plain(section.multiplier),
        plain(100.0 * section.quantile)
    ));
    let right = Align::Right;
    let mut table = Table::new([
        ("without [s]", right),
        ("with [s]", right),
        ("change [s]", right),
        ("copies", right),
        ("won", right),
        ("killed slot time [s]", right),
    ]);
    let cell = |quantity: &Measured| match quantity.half_width().filter(|half| *half > 0.0) {
        Some(half) => format!("{} ± {}", within(quantity.value, Some(half)), within(half, Some(half))),
        None => plain(quantity.value),
    };
    let all =
        [&section.without_s, &section.with_s, &section.change_s, &section.copies, &section.won, &section.killed_slot_s];
    table.push(all.map(cell));
    text + &table.text()
}

fn stage_table(report: &StagesReport, slots: u64) -> Table {
    let right = |name: &'static str| (name, Align::Right);
    let mut table = Table::new([
        right("stage"),
        ("name", Align::Left),
        ("after", Align::Left),
        right("tasks"),
        right("waves"),
        right("MB/task"),
        right("start [s]"),
        right("end [s]"),
        right("slot time [s]"),
    ]);
    for (i, stage) in report.stages.iter().enumerate() {
        let after: Vec<String> = stage.after.iter().map(ToString::to_string).collect();
        let time =
            |time: &Option<Measured>| time.as_ref().map_or_else(String::new, |time| format!("{:.2}", time.value));
        table.push([
            i.to_string(),
            short_name(&stage.name),
            after.join(","),
            count(stage.tasks.into()),
            format!("{:.1}", f64::from(stage.tasks) / slots as f64),
            format!("{:.2}", stage.task_mb),
            time(&stage.start),
            time(&stage.end),
            format!("{:.2}", stage.work_s),
        ]);
    }
    table
}

/// The CSV of an estimate: one number a row.
///
/// # Errors
///
/// [`CsvError`], which no report causes.
pub fn stages_csv(report: &StagesReport) -> Result<String, CsvError> {
    let mut rows = Rows::new()?;
    rows.number("job_time", "median", "s", &report.median_s.to_string())?;
    rows.number("job_time", "mean", "s", &report.mean_s.to_string())?;
    for row in &report.quantiles {
        rows.number("job_time", &quantile_name(row.p), "s", &row.value_s.to_string())?;
    }
    if let Some(mean) = &report.usual_mean {
        rows.quantity("usual_job_time", "mean", "s", mean)?;
    }
    if let Some(section) = &report.speculation {
        rows.quantity("usual_job_time_without_copies", "mean", "s", &section.without_s)?;
        rows.quantity("copies_change", "mean", "s", &section.change_s)?;
        rows.quantity("copies", "", "", &section.copies)?;
        rows.quantity("copies_won", "", "", &section.won)?;
        rows.quantity("killed_slot_time", "", "s", &section.killed_slot_s)?;
    }
    for stage in &report.stages {
        for (measure, time) in [("stage_start", &stage.start), ("stage_end", &stage.end)] {
            if let Some(time) = time {
                rows.quantity(measure, &stage.name, "s", time)?;
            }
        }
        rows.number("stage_slot_time", &stage.name, "s", &stage.work_s.to_string())?;
    }
    rows.finish()
}
