//! Result of an estimate for a job of stages: the job time of the next run, and the breakdown of the time of
//! a typical run.

use serde::{Deserialize, Serialize};

use crate::ask::net::{CdfPoint, line};
use crate::cluster::Comparison;
use crate::cluster::detect::DetectorPlan;
use crate::document::parts::{add_times, ends, partial, provenance_rows, seconds_text};
use crate::document::{
    Cell, Column, Document, Figure, Headline, NextCommand, Number, Paragraph, Report, Show, Table, Topic,
};
use crate::estimate::{Measured, student_quantile};
use crate::job_time::{DeadlineSection, OwnRun, StagesEstimate, StagesExplained, explain_stages, few_late_runs};
use crate::report::bar_rows::BarRow;
use crate::report::critical_bar::critical_bar;
use crate::report::deadline::add_deadline;
use crate::report::distribution::mean_time;
use crate::report::explained::{PlanChange, SlotRow, TimePart, changes_table, slots_table, stage_parts, where_it_goes};
use crate::report::next_run::{StageQuantile, predicted, prediction, prediction_interval, quantile_rows};
use crate::report::number::{counted, plain};
use crate::report::own_run::with_own_run;
use crate::report::summary::{ProvenanceSummary, provenance_summary};
use crate::report::times::Times;
use crate::stages::StagePlan;

/// Probabilities whose quantiles are shown.
const QUANTILES: [f64; 7] = [0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95];

/// One stage of a typical run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StageTimes {
    /// Name of the stage.
    pub name: String,
    /// Stages that this stage waits for.
    pub after: Vec<usize>,
    /// Tasks of the stage.
    pub tasks: u32,
    /// Data of a full task \[MB\].
    pub task_mb: f64,
    /// Slot time of all tasks of the stage \[s\].
    pub work_s: f64,
    /// Time when the first task is launched \[s\].
    pub start: Option<Measured>,
    /// Time when the last task has ended \[s\].
    pub end: Option<Measured>,
}

/// Effect of speculative copies in a typical run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SpeculationSection {
    /// Multiple of the median time beyond which a task is too slow.
    pub multiplier: f64,
    /// Share of the tasks that must have finished before any task gets a copy.
    pub quantile: f64,
    /// Mean time of a typical run without copies \[s\].
    pub without_s: Measured,
    /// Mean time of a typical run with copies \[s\].
    pub with_s: Measured,
    /// The mean difference between runs with and without copies, by common random numbers \[s\].
    pub change_s: Measured,
    /// Copies that were started.
    pub copies: Measured,
    /// Copies that finished before the original attempt.
    pub won: Measured,
    /// Slot time of attempts that were killed \[s\].
    pub killed_slot_s: Measured,
    /// Prediction interval of the difference between one run with copies and one without, including run-to-run variation
    /// \[s\].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub single_runs_s: Option<[f64; 2]>,
}

/// Returns the effect of speculative copies, from a comparison of no copies with Spark's policy; `None` if that policy
/// is missing.
fn speculation_section(comparison: &Comparison) -> Option<SpeculationSection> {
    let none = comparison.policies.get(comparison.baseline)?;
    let row = comparison.policies.iter().find(|row| row.job_change.is_some())?;
    let DetectorPlan::Spark(spark) = row.policy.detector else { return None };
    Some(SpeculationSection {
        multiplier: spark.multiplier,
        quantile: spark.quantile,
        without_s: none.job_s.clone(),
        with_s: row.job_s.clone(),
        change_s: row.job_change.as_ref()?.difference.clone(),
        copies: row.copies.clone(),
        won: row.won.clone(),
        killed_slot_s: row.wasted_s.clone(),
        single_runs_s: None,
    })
}

/// Result of an estimate for a job of stages.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StagesReport {
    /// The job.
    pub name: String,
    /// Data that the job reads \[MB\]; none if the logs do not record the size of the input.
    pub input_mb: Option<f64>,
    /// Data that the job reads, as a multiple of the logged run's, if the logs do not record its size.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input_times: Option<f64>,
    /// Executors.
    pub executors: u32,
    /// Tasks that an executor runs at a time.
    pub cores: u32,
    /// Partitions of shuffles, if the plan has them.
    pub partitions: Option<u32>,
    /// Mean time of a typical run \[s\], with the interval of the simulation.
    pub usual_mean: Option<Measured>,
    /// Median job time of the next run \[s\].
    pub median_s: f64,
    /// Mean job time of the next run \[s\], as if the factor between runs were lognormal with the fitted spread.
    pub mean_s: f64,
    /// Probability of the prediction interval.
    pub prediction_level: f64,
    /// Ends of the prediction interval of the next run's job time \[s\].
    pub prediction_s: [f64; 2],
    /// Quantiles of the job time of the next run.
    pub quantiles: Vec<StageQuantile>,
    /// Standard deviation of the logarithm of the factor between runs.
    pub run_sigma: f64,
    /// Relative standard error due to the fitted task times.
    pub fit_error: f64,
    /// Effect of speculative copies, if requested. In this case, the job times include the copies.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub speculation: Option<SpeculationSection>,
    /// The probability of finishing by the plan's deadline, if it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deadline: Option<DeadlineSection>,
    /// True if there are fewer replications than requested.
    pub partial: bool,
    /// The stages of a typical run without copies.
    pub stages: Vec<StageTimes>,
    /// The check of the plan on the runs that it was fitted to.
    pub own_run: OwnRun,
    /// The parts of the time of a typical run, on its critical path: set-ups, tasks of each stage, waits for GPUs, and the
    /// time after the last task. Absent with speculative copies, and for more than 100,000 tasks.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<TimePart>,
    /// Use of the slots in a typical run, during the whole job.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub slot_use: Vec<SlotRow>,
    /// The changes of the plan that save most, the best first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<PlanChange>,
    /// Remarks on sizes far from the measured runs, and on gaps in the logs.
    pub notes: Vec<String>,
    /// The job time of the next run, as a line of points.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub curve: Vec<CdfPoint>,
    /// Settings of the simulation.
    pub provenance: ProvenanceSummary,
    /// The plan at this size, every key written out.
    pub plan: String,
}

/// Reports the result of an estimate; `level` applies to the simulation's intervals.
pub fn stages_report(plan: &StagePlan, found: &StagesEstimate, level: f64) -> StagesReport {
    let StagesEstimate { job, run, times, .. } = found;
    let speculation = found.comparison.as_ref().and_then(speculation_section);
    let speculated = speculation.is_some();
    let samples = &run.samples;
    // no advice rests on a model that does not reproduce its own runs
    let explained = (!found.own_run.forbids_advice()).then(|| explain_stages(plan, job, run.provenance.seed, level));
    let StagesExplained { parts, slots, changes } = explained.unwrap_or_else(StagesExplained::nothing);
    let names: Vec<String> = job.stages.iter().map(|stage| stage.name.clone()).collect();
    let stages = job.stages.iter().zip(&samples.groups).map(|(stage, seen)| StageTimes {
        name: stage.name.clone(),
        after: stage.after.clone(),
        tasks: stage.tasks(),
        task_mb: stage.task_mb,
        work_s: stage.work_s() * job.mean_slowdown(),
        start: mean_time(&seen.first, samples.clock, level),
        end: mean_time(&seen.last, samples.clock, level),
    });
    let point = |time_s| {
        let probability = times.cdf(time_s);
        Ok::<_, ()>(CdfPoint { time_s, probability, density_per_s: None, low: None, high: None })
    };
    StagesReport {
        name: plan.job.name.clone(),
        input_mb: (!plan.job.input_is_relative).then_some(plan.job.input_mb),
        input_times: plan.job.input_is_relative.then_some(plan.job.input_mb),
        executors: plan.job.executors,
        cores: plan.job.cores,
        partitions: plan.job.partitions,
        usual_mean: match &speculation {
            Some(section) => Some(section.with_s.clone()),
            None => mean_time(&samples.passage, samples.clock, level),
        },
        median_s: times.quantile(0.5),
        mean_s: times.mean_s(),
        prediction_level: level,
        prediction_s: prediction_interval(times, level),
        quantiles: QUANTILES.iter().map(|&p| StageQuantile { p, value_s: times.quantile(p) }).collect(),
        run_sigma: plan.run.sigma,
        fit_error: job.error(),
        speculation: speculation
            .map(|section| SpeculationSection { single_runs_s: Some(single_runs(&section, plan, level)), ..section }),
        deadline: plan.job.deadline_s.map(|deadline_s| DeadlineSection {
            no_late: few_late_runs(times, deadline_s),
            ..DeadlineSection::new(deadline_s, None, Some(times.done_by(deadline_s, samples.replications, level)))
        }),
        partial: run.provenance.cut_short,
        stages: stages.collect(),
        own_run: found.own_run.clone(),
        parts: parts.map(|parts| stage_parts(parts, &names, level)).unwrap_or_default(),
        slot_use: slots.into_iter().map(SlotRow::from).collect(),
        changes: changes.into_iter().map(PlanChange::from).collect(),
        notes: one_host(plan, speculated).into_iter().chain(plan.remarks()).chain(plan.notes.iter().cloned()).collect(),
        curve: line([0.001, 0.99].map(|p| times.quantile(p)), point).unwrap_or_default(),
        provenance: provenance_summary(&run.provenance, samples.clock.tick()),
        plan: toml::to_string(plan).unwrap_or_default(),
    }
}

/// Returns a note on copies that have no effect, because all executors share a host.
fn one_host(plan: &StagePlan, has_copies: bool) -> Option<String> {
    (has_copies && plan.hosts() == 1).then(|| {
        "all executors share one host; Spark starts no copy on a host that already runs the task, so speculation has no effect".to_owned()
    })
}

/// Returns the prediction interval of the difference between one run with copies and one without; both vary from run to
/// run.
fn single_runs(section: &SpeculationSection, plan: &StagePlan, level: f64) -> [f64; 2] {
    let reach = student_quantile(0.5 + 0.5 * level, plan.run.degrees_of_freedom.max(1.0));
    let half = reach * std::f64::consts::SQRT_2 * plan.run.sigma * section.without_s.value;
    [section.change_s.value - half, section.change_s.value + half]
}

impl StagesReport {
    /// Returns the size of the input in words.
    fn input(&self) -> String {
        let two_digits = |value: f64| plain((value * 100.0).round() / 100.0);
        match (self.input_mb, self.input_times) {
            (Some(mb), _) => format!("{} MB of input", two_digits(mb)),
            (None, Some(1.0)) | (None, None) => "the input of the logged run".to_owned(),
            (None, Some(times)) => format!("{} times the input of the logged run", two_digits(times)),
        }
    }
}

impl Report for StagesReport {
    const KIND: &'static str = "estimate_stages";

    fn document(&self) -> Document<'_> {
        let replications = self.usual_mean.as_ref().map_or(0, |mean| mean.samples);
        let mut document = Document {
            kind: "estimate of a job of stages",
            title: self.name.clone(),
            question: format!(
                "Time of a run with {} on {} with {} each ({}).",
                self.input(),
                counted(self.executors, "executor"),
                counted(self.cores, "core"),
                counted(u64::from(self.executors) * u64::from(self.cores), "slot")
            ),
            answer: self.answer(),
            remarks: partial(self.partial, replications).into_iter().chain(self.notes.iter().cloned()).collect(),
            headline: Some(self.headline()),
            plan: self.plan.clone(),
            next: ["tailspn whatif PLAN.toml", "tailspn study PLAN.toml"]
                .map(|command| NextCommand::new(command, ""))
                .to_vec(),
            provenance: provenance_rows(&self.provenance),
            screen: Some(self.screen()),
            ..Document::default()
        };
        add_deadline(&mut document, self.deadline.as_ref(), self.level());
        document.provenance.push(["spread between whole runs".to_owned(), format!("{:.0}%", 100.0 * self.run_sigma)]);
        document.provenance.push(["error of the fitted times".to_owned(), format!("{:.0}%", 100.0 * self.fit_error)]);
        document.table(self.job_times());
        document.fact_of("job_time", "median", Number::new("/median_s", self.median_s, "s"));
        let critical = "A run takes as long as its critical path. Each bar is the average time on the critical path of a typical run, in seconds and as \
                        a share.";
        let rows = self.parts.iter().map(|part| critical_bar(part.name.to_string(), &part.critical)).collect();
        let axis = "time on the critical path [s]";
        document.figure(Figure::bars("critical", "Where the time goes", critical, axis, rows));
        document.add_changes(changes_table(&self.changes, self.level()));
        let waterfall = "Each bar goes from the launch of a stage's first task to the end of its last task, on average over typical runs; the thin \
                         line is the interval of the end.";
        let rows = self.stages.iter().enumerate().filter_map(bar).collect();
        let axis = "time since the start of the job [s]";
        document.figure(Figure::bars("waterfall", "What runs when", waterfall, axis, rows));
        let quantiles = self.quantiles.iter().map(|row| [row.p, row.value_s]).collect();
        let times = Times::predicted("job time of a future run", &self.curve, self.mean_s, quantiles);
        add_times(&mut document, times, None);
        if let Some(mean) = &self.usual_mean {
            document.fact_of("usual_job_time", "mean", Number::measured("/usual_mean", mean, "s"));
        }
        if let Some(section) = &self.speculation {
            add_speculation(&mut document, section, self.level());
        }
        document.table(self.stages());
        document.table(slots_table(&self.slot_use));
        document
    }
}

fn bar((i, stage): (usize, &StageTimes)) -> Option<BarRow> {
    let (start, end) = (stage.start.as_ref()?, stage.end.as_ref()?);
    let (name, bar, text) = (format!("{i} {}", stage.name), [start.value, end.value], seconds_text(end.value));
    Some(BarRow { name, bar, interval: ends(end), text, ..BarRow::default() })
}

/// Adds the effect of speculative copies.
fn add_speculation(document: &mut Document<'_>, section: &SpeculationSection, level: f64) {
    let note = format!(
        "Once {}% of the tasks have finished, tasks that take more than {} times the median get a copy.",
        plain(100.0 * section.quantile),
        plain(section.multiplier)
    );
    let pair = section.single_runs_s.map_or(String::new(), |[low, high]| {
        let percent = plain(100.0 * level);
        format!(" With {percent}% probability, a single run with copies differs from a single run without by {low:+.1} s to {high:+.1} s.")
    });
    let note = note + &pair;
    let mut table = Table::new("Effect of speculative copies on a typical run", note, ["", "value"]).level(level);
    for (title, key, unit, measured, [measure, name]) in [
        ("without copies", "without_s", "s", &section.without_s, ["usual_job_time_without_copies", "mean"]),
        ("with copies", "with_s", "s", &section.with_s, ["", ""]),
        ("change", "change_s", "s", &section.change_s, ["copies_change", "mean"]),
        ("copies", "copies", "", &section.copies, ["copies", ""]),
        ("copies that won", "won", "", &section.won, ["copies_won", ""]),
        ("slot time of killed attempts", "killed_slot_s", "s", &section.killed_slot_s, ["killed_slot_time", ""]),
    ] {
        let number = Number::measured(format!("/speculation/{key}"), measured, unit);
        let number = Number { signed: key == "change_s", ..number };
        if !measure.is_empty() {
            document.fact_of(measure, name, number.clone());
        }
        table.rows.push(vec![title.into(), number.into()]);
    }
    document.table(table);
}

impl StagesReport {
    /// Returns the confidence level of the simulation's intervals.
    fn level(&self) -> f64 {
        self.usual_mean.as_ref().map_or(0.0, |mean| mean.level)
    }

    /// Returns the answer: a misfit comes first; the check of the plan and where the time goes follow.
    fn answer(&self) -> Paragraph {
        let prediction = prediction("", self.prediction_level, self.prediction_s, self.median_s);
        let mut paragraph = with_own_run(Some(&self.own_run), prediction);
        let part = |(i, part): (usize, &TimePart)| {
            (format!("/parts/{i}/critical/share"), part.name.to_string(), part.critical.share)
        };
        paragraph.say(Topic::Where, where_it_goes(self.parts.iter().enumerate().map(part).collect()));
        paragraph
    }

    fn headline(&self) -> Headline {
        let quantile = |p: f64| {
            let found = self.quantiles.iter().enumerate().find(|(_, row)| (row.p - p).abs() < 1e-12);
            found.map(|(i, row)| predicted(format!("/quantiles/{i}/value_s"), row.value_s))
        };
        // as in a sweep: the mean of a typical run, with its interval
        let mean = self.usual_mean.as_ref().map(|mean| Number::measured("/usual_mean", mean, "s"));
        let mean = mean.unwrap_or_else(|| predicted("/mean_s", self.mean_s));
        Headline { of: None, mean, quantiles: [quantile(0.5), quantile(0.95), quantile(0.99)] }
    }

    fn job_times(&self) -> Table {
        let note = "For future runs, including run-to-run variation. A typical run is simulated without it.";
        let columns = [Column::new(""), Column::new("time").unit("s").key("job_time")];
        let mut table = Table::new("Job time of the next run", note, columns).level(self.level());
        table.rows.push(vec!["mean".into(), predicted("/mean_s", self.mean_s).into()]);
        table.rows.extend(quantile_rows("", &self.quantiles));
        table
    }

    fn stages(&self) -> Table {
        let seconds = |title: &str, key: &'static str| Column::new(title).unit("s").key(key);
        let columns = [
            Column::new("stage"),
            Column::new("after"),
            Column::new("tasks"),
            Column::new("waves").show(Show::Room),
            Column::new("data of a task").unit("MB").show(Show::Room),
            seconds("start", "stage_start"),
            seconds("end", "stage_end"),
            seconds("slot time", "stage_slot_time"),
        ];
        let without = if self.speculation.is_some() { " without copies" } else { "" };
        let title = format!("Stages of a typical run{without}");
        let mut table = Table::new(title, "", columns).level(self.level());
        let slots = u64::from(self.executors) * u64::from(self.cores);
        for (i, stage) in self.stages.iter().enumerate() {
            let at = |key: &str| format!("/stages/{i}/{key}");
            let time = |key: &str, time: &Option<Measured>| -> Cell {
                time.as_ref().map(|time| Number::measured(at(key), time, "s")).into()
            };
            let after: Vec<String> = stage.after.iter().map(ToString::to_string).collect();
            table.rows.push(vec![
                Cell::named(format!("{i} {}", stage.name), &*stage.name),
                after.join(", ").into(),
                Number::count(at("tasks"), stage.tasks.into()).into(),
                format!("{:.1}", f64::from(stage.tasks) / slots as f64).into(),
                Number::new(at("task_mb"), stage.task_mb, "MB").rounded(0.05).into(),
                time("start", &stage.start),
                time("end", &stage.end),
                Number::new(at("work_s"), stage.work_s, "s").rounded(0.05).into(),
            ]);
        }
        table
    }
}
