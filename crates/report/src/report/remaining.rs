//! The remaining time of a run in progress: its distribution, the probability of finishing by a time, and the stages.

use serde::{Deserialize, Serialize};

use crate::ask::net::{CdfPoint, line};
use crate::document::parts::{MOST, add_times, ends, seconds_text};
use crate::document::{
    Cell, Column, Document, Figure, Headline, Number, Paragraph, Piece, Report, Show, Table, Topic, Typed,
};
use crate::estimate::Measured;
use crate::job_time::OwnRun;
use crate::remaining::{Basis, Remaining, RemainingSettings, StageRemaining};
use crate::render::json_line;
use crate::report::bar_rows::BarRow;
use crate::report::deadline::chance;
use crate::report::json::JsonError;
use crate::report::next_run::{StageQuantile, predicted, quantile_rows};
use crate::report::number::{counted, plain};
use crate::report::own_run::{sentence, warning};
use crate::report::times::Times;
use crate::trace::utc_text;

/// Probabilities whose quantiles are shown.
const QUANTILES: [f64; 8] = [0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99];

/// The subject of the remaining time, and the source of its times.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum RemainingBasis {
    /// The whole run, by a plan that was fitted to other runs.
    Plan,
    /// The running jobs, from tasks of the run.
    RunItself,
    /// The application has ended.
    Ended,
}

/// The probability that a run finishes by a time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DoneByRow {
    /// The time \[s\], from the start of the first job.
    pub by_s: f64,
    /// The probability.
    pub probability: Measured,
}

/// A stage of a run in progress.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RemainingStageRow {
    /// Name of the stage.
    pub name: String,
    /// Number of the stage in the log; null if the log does not have it yet.
    pub number: Option<u32>,
    /// Tasks of the stage.
    pub tasks: u32,
    /// Tasks that have finished.
    pub finished: u32,
    /// Tasks that are running.
    pub running: u32,
    /// True if the last task has finished.
    pub is_finished: bool,
    /// Time from the start of the first job to the end of the stage's last task \[s\]: the median, and the prediction interval.
    pub end: Option<Measured>,
}

/// The remaining time of a run.
///
/// With `watch`, each line is a result; the last one has the basis `ended`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RemainingReport {
    /// The application's name.
    pub name: String,
    /// The subject of the remaining time.
    pub basis: RemainingBasis,
    /// Time from the start of the first job until now \[s\]; null before the first job.
    pub elapsed_s: Option<f64>,
    /// The current time, in seconds since 1970: the time of the last event of the log, unless the machine's clock was
    /// requested; null if the log has no time yet.
    pub now_unix_s: Option<f64>,
    /// From the start of the first job to the end of the last job \[s\], for a finished application.
    pub job_s: Option<f64>,
    /// Jobs that have ended.
    pub jobs_finished: u64,
    /// Numbers of the running jobs.
    pub jobs_running: Vec<u64>,
    /// Executors that are present, or that the settings of the application request.
    pub executors: u32,
    /// Tasks that an executor runs at a time.
    pub cores: u32,
    /// Median of the remaining time \[s\].
    pub median_s: f64,
    /// Mean of the remaining time \[s\].
    pub mean_s: f64,
    /// Probability of the prediction interval.
    pub prediction_level: f64,
    /// Ends of the prediction interval of the remaining time \[s\].
    pub prediction_s: [f64; 2],
    /// The time from the start of the first job to the end \[s\]: median and prediction interval.
    pub total: Measured,
    /// Quantiles of the remaining time.
    pub quantiles: Vec<StageQuantile>,
    /// Probabilities of finishing by the requested times.
    pub done_by: Vec<DoneByRow>,
    /// Ratio of the run's task times to a typical run of the plan, with the prediction interval; null without a plan.
    pub factor: Option<Measured>,
    /// The check of the plan on the runs that it was fitted to; without a plan, nothing was checked.
    pub own_run: OwnRun,
    /// The stages.
    pub stages: Vec<RemainingStageRow>,
    /// Assumptions and gaps.
    pub notes: Vec<String>,
    /// The distribution of the remaining time, as a polyline.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub curve: Vec<CdfPoint>,
    /// Replications of the remaining run.
    pub replications: u64,
    /// True if the run ended early.
    pub partial: bool,
    /// Seed of the random numbers.
    pub seed: u64,
    /// The plan at this run's size, every key written out; empty without a plan.
    pub plan: String,
}

/// Returns the report on the remaining time of a run, with prediction intervals of this `level`, and the probabilities of
/// finishing by times \[s\] from the start of the first job.
pub fn remaining_report(found: &Remaining, settings: &RemainingSettings, by_s: &[f64]) -> RemainingReport {
    let level = settings.run.level;
    let (low, high) = (0.5 - 0.5 * level, 0.5 + 0.5 * level);
    let is_ended = found.basis == Basis::Ended;
    let progress = &found.progress;
    let elapsed_s = progress.elapsed_s.unwrap_or(0.0);
    let interval = |value: f64, low: f64, high: f64| Measured {
        level,
        samples: found.samples().len() as u64,
        ..Measured::between(value, Some(low), Some(high))
    };
    let at = |p: f64| elapsed_s + found.quantile(p);
    let by_plan = found.pace.as_ref().filter(|_| found.basis == Basis::Plan);
    let done_by = |by_s: f64| {
        let is_open = by_s > elapsed_s || is_ended;
        if is_open { found.done_by(by_s, level) } else { Measured::exact(0.0, level) }
    };
    let stages = found.stages.iter().map(|stage| row(stage, elapsed_s, [low, high], &interval));
    RemainingReport {
        name: progress.name.clone(),
        basis: match found.basis {
            Basis::Plan => RemainingBasis::Plan,
            Basis::RunItself => RemainingBasis::RunItself,
            Basis::Ended => RemainingBasis::Ended,
        },
        elapsed_s: progress.elapsed_s,
        now_unix_s: Some(progress.now_s).filter(|now_s| *now_s > 0.0),
        job_s: progress.job_s,
        jobs_finished: progress.jobs_ended as u64,
        jobs_running: progress.jobs_running.clone(),
        executors: progress.executors,
        cores: progress.cores,
        median_s: found.quantile(0.5),
        mean_s: found.mean(),
        prediction_level: level,
        prediction_s: [found.quantile(low), found.quantile(high)],
        total: progress
            .job_s
            .map_or_else(|| interval(at(0.5), at(low), at(high)), |job_s| Measured::exact(job_s, level)),
        quantiles: QUANTILES.iter().map(|&p| StageQuantile { p, value_s: found.quantile(p) }).collect(),
        done_by: by_s.iter().map(|&by_s| DoneByRow { by_s, probability: done_by(by_s) }).collect(),
        factor: by_plan.map(|pace| interval(pace.quantile(0.5), pace.quantile(low), pace.quantile(high))),
        own_run: found.own_run.clone(),
        stages: stages.collect(),
        notes: found.notes.clone(),
        curve: if is_ended { Vec::new() } else { curve(found) },
        replications: if is_ended { 0 } else { found.samples().len() as u64 },
        partial: found.partial,
        seed: settings.run.seed.unwrap_or(0),
        plan: by_plan
            .and(found.plan.as_ref())
            .map_or_else(String::new, |plan| toml::to_string(plan).unwrap_or_default()),
    }
}

fn curve(found: &Remaining) -> Vec<CdfPoint> {
    let point = |time_s: f64| {
        let below = found.samples().partition_point(|time| *time <= time_s);
        let probability = below as f64 / found.samples().len() as f64;
        Ok::<_, ()>(CdfPoint { time_s, probability, density_per_s: None, low: None, high: None })
    };
    line([0.001, 0.999].map(|p| found.quantile(p)), point).unwrap_or_default()
}

fn row(
    stage: &StageRemaining,
    elapsed_s: f64,
    [low, high]: [f64; 2],
    interval: &dyn Fn(f64, f64, f64) -> Measured,
) -> RemainingStageRow {
    let at = |p: f64| stage.quantile(p).map(|left_s| elapsed_s + left_s);
    let to_come = || Some(interval(at(0.5)?, at(low)?, at(high)?));
    RemainingStageRow {
        name: stage.name.clone(),
        number: stage.number,
        tasks: stage.tasks,
        finished: stage.ended,
        running: stage.running,
        is_finished: stage.end_s.is_some(),
        end: stage.end_s.map(|end_s| Measured::exact(end_s, 0.0)).or_else(to_come),
    }
}

impl Report for RemainingReport {
    const KIND: &'static str = "remaining";

    fn document(&self) -> Document<'_> {
        let elapsed =
            self.elapsed_s.map_or_else(|| "before its first job".to_owned(), |s| format!("after {}", seconds_text(s)));
        let mut document = Document {
            kind: "remaining time of a run",
            title: self.name.clone(),
            question: match self.basis {
                RemainingBasis::Plan => format!("Prediction of when the run ends, made {elapsed}."),
                RemainingBasis::RunItself => format!(
                    "Only the end of {} is predicted, {elapsed}: later jobs of the program are not known.",
                    self.jobs()
                ),
                RemainingBasis::Ended => "End of the run.".to_owned(),
            },
            answer: self.answer(),
            remarks: self.notes.clone(),
            plan: self.plan.clone(),
            screen: Some(self.screen()),
            ..Document::default()
        };
        if self.partial {
            document.remarks.insert(0, "stopped early: fewer replications than requested".to_owned());
        }
        if let Some(job_s) = self.job_s {
            document.fact("job_time", Number::new("/job_s", job_s, "s"));
        }
        document.table(self.done_by());
        if self.basis != RemainingBasis::Ended {
            document.headline = Some(self.headline());
            document.provenance = vec![
                ["replications".to_owned(), self.replications.to_string()],
                ["seed".to_owned(), self.seed.to_string()],
                [
                    "slots".to_owned(),
                    format!("{} with {} each", counted(self.executors, "executor"), counted(self.cores, "core")),
                ],
            ];
            document.table(self.times());
            document.table(self.pace());
            let rows = self.stages.iter().enumerate().filter_map(|row| self.bar(row)).collect();
            let caption = "Each bar goes from now to the median end of a stage's last task; the thin line is the prediction interval of that end.";
            let axis = "time since the start of the first job [s]";
            document.figure(Figure::bars("stages-left", "Remaining stages", caption, axis, rows));
            let quantiles = self.quantiles.iter().map(|row| [row.p, row.value_s]).collect();
            let times = Times::predicted("remaining time of the run", &self.curve, self.mean_s, quantiles);
            add_times(&mut document, times, None);
        }
        document.table(self.stage_table());
        document
    }
}

impl RemainingReport {
    /// Returns the JSON on one line, with commands about what was typed.
    ///
    /// # Errors
    ///
    /// [`JsonError`], which this report does not cause.
    pub fn json_line(&self, typed: &Typed) -> Result<String, JsonError> {
        json_line(self, typed)
    }

    /// Returns the running jobs in words.
    pub(super) fn jobs(&self) -> String {
        match &self.jobs_running[..] {
            [job] => format!("job {job}"),
            _ => "the running jobs".to_owned(),
        }
    }

    fn answer(&self) -> Paragraph {
        if let Some(job_s) = self.job_s {
            return vec![
                "The run has finished: it took ".into(),
                Number::new("/job_s", job_s, "s").brief().into(),
                ", from the start of its first job to the end of its last job.".into(),
            ]
            .into();
        }
        if self.basis == RemainingBasis::Ended {
            return vec!["The application has ended without finishing a job.".into()].into();
        }
        let [low, high] = self.prediction_s;
        let mut paragraph = Paragraph::default();
        paragraph.say(Topic::OwnRun, warning(&self.own_run));
        let mut answer: Vec<Piece> = Vec::new();
        let of = match self.basis {
            RemainingBasis::RunItself => format!(" of {}", self.jobs()),
            _ => String::new(),
        };
        answer.extend([
            format!("With {}% probability, ", plain(100.0 * self.prediction_level)).into(),
            predicted("/prediction_s/0", low).into(),
            " to ".into(),
            predicted("/prediction_s/1", high).into(),
            format!(" remain{of}; the median of the remaining time is ").into(),
            predicted("/median_s", self.median_s).into(),
        ]);
        if self.elapsed_s.is_some() {
            let total = Number::new("/total", self.total.value, "s").rounded(0.01 * self.total.value);
            answer.extend([", and the median of the total time is ".into(), total.into()]);
        }
        let end = self.now_unix_s.map(|now_s| format!(" The median end is {}.", utc_text(now_s + self.median_s)));
        answer.push(format!(".{}", end.unwrap_or_default()).into());
        paragraph.say(Topic::Answer, answer);
        if self.basis == RemainingBasis::Plan {
            paragraph.say(Topic::OwnRun, sentence(&self.own_run));
        }
        let mut answer: Vec<Piece> = Vec::new();
        for (i, row) in self.done_by.iter().enumerate() {
            answer.push(format!(" The probability of finishing within {} s is ", plain(row.by_s)).into());
            answer.push(chance(format!("/done_by/{i}/probability"), &row.probability).into());
            let has_passed = self.elapsed_s.is_some_and(|elapsed_s| elapsed_s >= row.by_s);
            answer.push(if has_passed { ": the run has already taken longer." } else { "." }.into());
        }
        paragraph.say(Topic::Answer, answer);
        paragraph
    }

    fn headline(&self) -> Headline {
        let quantile = |p: f64| {
            let found = self.quantiles.iter().enumerate().find(|(_, row)| (row.p - p).abs() < 1e-12);
            found.map(|(i, row)| predicted(format!("/quantiles/{i}/value_s"), row.value_s))
        };
        Headline {
            of: None,
            mean: predicted("/mean_s", self.mean_s),
            quantiles: [quantile(0.5), quantile(0.95), quantile(0.99)],
        }
    }

    fn done_by(&self) -> Table {
        let columns = [Column::new(""), Column::new("probability").unit("%").key("done_by")];
        let note = "Times count from the start of the first job; the interval reflects the number of replications.";
        let mut table = Table::new("Probability of having finished", note, columns).level(self.prediction_level);
        for (i, row) in self.done_by.iter().enumerate() {
            let name = Cell::named(format!("within {} s", plain(row.by_s)), row.by_s.to_string());
            table.rows.push(vec![name, chance(format!("/done_by/{i}/probability"), &row.probability).into()]);
        }
        table
    }

    fn times(&self) -> Table {
        let columns = [Column::new(""), Column::new("time").unit("s").key("time_left")];
        let mut table = Table::new("Remaining time", "", columns);
        table.rows.push(vec!["mean".into(), predicted("/mean_s", self.mean_s).into()]);
        table.rows.extend(quantile_rows("", &self.quantiles));
        table
    }

    fn pace(&self) -> Table {
        let note =
            "Task times of this run relative to a typical run of the plan: the median and the prediction interval.";
        let mut table = Table::new("Pace", note, [Column::new(""), Column::new("factor").key("run_factor")]);
        if let Some(factor) = &self.factor {
            table.rows.push(vec![Cell::named("this run", ""), Number::measured("/factor", factor, "").into()]);
        }
        table
    }

    fn bar(&self, (i, stage): (usize, &RemainingStageRow)) -> Option<BarRow> {
        let end = stage.end.as_ref().filter(|_| !stage.is_finished)?;
        let name = format!("{i} {}", stage.name);
        let bar = [self.elapsed_s.unwrap_or(0.0), end.value];
        Some(BarRow { name, bar, interval: ends(end), text: seconds_text(end.value), ..BarRow::default() })
    }

    fn stage_table(&self) -> Table {
        let columns = [
            Column::new("stage"),
            Column::new("in the log").show(Show::Room),
            Column::new("tasks").key("stage_tasks"),
            Column::new("finished").key("stage_finished"),
            Column::new("running").key("stage_running"),
            Column::new("end").unit("s").key("stage_end"),
        ];
        let note = format!(
            "The end counts from the start of the first job; for an unfinished stage, the end is the median with the {}% prediction interval.",
            plain(100.0 * self.prediction_level)
        );
        let mut table = Table::new("Stages", note, columns).most(MOST);
        for (i, stage) in self.stages.iter().enumerate() {
            let at = |key: &str| format!("/stages/{i}/{key}");
            let end = stage.end.as_ref().map(|end| {
                let number = Number::measured(at("end"), end, "s");
                if stage.is_finished { number.brief() } else { number }
            });
            table.rows.push(vec![
                format!("{i} {}", stage.name).into(),
                stage.number.map_or_else(|| "not yet".to_owned(), |number| number.to_string()).into(),
                Number::count(at("tasks"), stage.tasks.into()).into(),
                Number::count(at("finished"), stage.finished.into()).into(),
                Number::count(at("running"), stage.running.into()).into(),
                end.into(),
            ]);
        }
        table
    }
}
