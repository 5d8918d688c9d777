//! Result of a fit to a MapReduce job: each value of its plan, with its interval and its source.

use serde::{Deserialize, Serialize};

use crate::document::parts::notes_table;
use crate::document::{Column, Document, Number, Paragraph, Piece, Report, Table};
use crate::fit::{FittedJob, FittedJobs};
use crate::job_time::{CheckedFit, OwnRun};
use crate::mapreduce::Plan;
use crate::report::json::Word;
use crate::report::number::counted;
use crate::report::own_run::with_own_run;

/// A value of the plan that the log or the configuration determines.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FitValueRow {
    /// Key of the value in the plan.
    pub key: Word,
    /// The value, in the unit of the key.
    pub value: f64,
    /// Lower end of the value's interval, if values of several tasks are known.
    pub low: Option<f64>,
    /// Upper end of the value's interval.
    pub high: Option<f64>,
    /// Source of the value.
    pub from: String,
}

/// One of several jobs that a plan was fitted to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FitJobRun {
    /// The log.
    pub log: String,
    /// The job's id in the log.
    pub id: String,
    /// Maps.
    pub maps: u64,
    /// Reduces.
    pub reduces: u64,
    /// Input of the run \[MB\].
    pub input_mb: f64,
    /// Time from the first launch of a task to the last end of a task \[s\].
    pub run_s: f64,
    /// The plan's estimate of `run_s` at the job's size, without the constants of its section `[residual]` \[s\].
    pub estimate_s: f64,
}

/// Result of a fit to a MapReduce job.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FitJobReport {
    /// The log.
    pub log: String,
    /// The job's id in the log.
    pub id: String,
    /// Name of the job.
    pub name: String,
    /// Time from the submission to the end of the job \[s\].
    pub job_s: f64,
    /// Time from the first launch of a task to the last end of a task \[s\].
    pub run_s: f64,
    /// The plan's estimate of `run_s` \[s\], if requested.
    pub estimate_s: Option<f64>,
    /// Part of the estimate that comes from the constants of the plan's section `[residual]` \[s\].
    pub residual_s: f64,
    /// The jobs with the plan's estimates, if the plan was fitted to several.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub jobs: Vec<FitJobRun>,
    /// The check of the plan on the jobs.
    pub own_run: OwnRun,
    /// Confidence level of the intervals.
    pub level: f64,
    /// The values.
    pub values: Vec<FitValueRow>,
    /// Assumptions, and values that keep their defaults.
    pub notes: Vec<String>,
    /// The plan.
    pub plan: Plan,
}

/// Returns the report of a fit to several jobs, with the plan's estimate at the size of each job.
pub fn fit_jobs_report(fitted: &FittedJobs, checked: &[CheckedFit], own_run: &OwnRun) -> FitJobReport {
    let run = |(job, checked): (&FittedJob, &CheckedFit)| FitJobRun {
        log: job.log.clone(),
        id: job.id.clone(),
        maps: job.plan.maps(),
        reduces: job.plan.reduces(),
        input_mb: job.plan.job.input_mb,
        run_s: checked.actual_s,
        estimate_s: checked.estimate_s,
    };
    let jobs: Vec<FitJobRun> = fitted.jobs.iter().zip(checked).map(run).collect();
    let largest = jobs.iter().find(|job| job.input_mb.to_bits() == fitted.fitted.plan.job.input_mb.to_bits());
    let report = fit_job_report(&fitted.fitted, largest.map(|job| job.estimate_s));
    let report = FitJobReport { own_run: own_run.clone(), ..report };
    if jobs.len() > 1 { FitJobReport { jobs, ..report } } else { report }
}

/// Reports the result of a fit; `estimate_s` is the estimate of the plan without the constants of its section
/// `[residual]`.
pub fn fit_job_report(fitted: &FittedJob, estimate_s: Option<f64>) -> FitJobReport {
    let residual_s = fitted.plan.residual_s();
    let row = |value: &crate::fit::FittedValue| FitValueRow {
        key: value.key.into(),
        value: value.value,
        low: value.interval.map(|(low, _)| low),
        high: value.interval.map(|(_, high)| high),
        from: value.from.clone(),
    };
    FitJobReport {
        log: fitted.log.clone(),
        id: fitted.id.clone(),
        name: fitted.plan.job.name.clone(),
        job_s: fitted.job_s,
        run_s: fitted.run_s,
        estimate_s: estimate_s.map(|estimate_s| estimate_s + residual_s),
        residual_s,
        jobs: Vec::new(),
        own_run: OwnRun::default(),
        level: fitted.level,
        values: fitted.values.iter().map(row).collect(),
        notes: fitted.notes.clone(),
        plan: fitted.plan.clone(),
    }
}

impl Report for FitJobReport {
    const KIND: &'static str = "fit_job";

    fn document(&self) -> Document<'_> {
        let mut document = Document {
            kind: "fit of a MapReduce job",
            title: self.name.clone(),
            question: "Values of the job's plan from the log, with intervals.".to_owned(),
            answer: self.answer(),
            plan: toml::to_string(&self.plan).unwrap_or_default(),
            provenance: vec![["log".to_owned(), self.log.clone()], ["job".to_owned(), self.id.clone()]],
            ..Document::default()
        };
        let columns = [Column::new("key"), Column::new("value").key("plan_value"), Column::new("from")];
        let mut table = Table::new("Values of the plan", "In the unit of each key.", columns);
        for (i, row) in self.values.iter().enumerate() {
            let value = Number::new(format!("/values/{i}"), row.value, "").between(row.low, row.high);
            table.rows.push(vec![row.key.to_string().into(), value.into(), row.from.clone().into()]);
        }
        document.table(self.job_table());
        document.table(table.level(self.level));
        document.table(notes_table("Not determined by the log", &self.notes));
        document
    }
}

impl FitJobReport {
    fn values_from(&self) -> String {
        format!("{} of the plan from {}", counted(self.values.len() as u128, "value"), self.id)
    }

    fn answer(&self) -> Paragraph {
        let found = if self.jobs.is_empty() { self.answer_of_one() } else { self.answer_of_several() };
        with_own_run(Some(&self.own_run), found)
    }

    fn answer_of_one(&self) -> Vec<Piece> {
        let measured = self.values.iter().filter(|row| row.low.is_some()).count();
        let mut answer = vec![
            format!("{}, which took ", self.values_from()).into(),
            Number::new("/job_s", self.job_s, "s").rounded(0.01).into(),
            format!("; {measured} of these values come from several tasks and have an interval.").into(),
            " The job's tasks ran for ".into(),
            Number::new("/run_s", self.run_s, "s").rounded(0.01).into(),
            " from the first launch to the last end".into(),
        ];
        match self.estimate_s {
            None => answer.push(".".into()),
            Some(estimate_s) => answer.extend([
                "; the estimate of the plan is ".into(),
                Number::new("/estimate_s", estimate_s, "s").rounded(0.01).into(),
                format!(" (ratio {:.2}), of which ", estimate_s / self.run_s).into(),
                Number::new("/residual_s", self.residual_s, "s").rounded(0.01).into(),
                " are residual constants from other jobs.".into(),
            ]),
        }
        answer
    }

    fn answer_of_several(&self) -> Vec<Piece> {
        let errors: Vec<f64> = self.jobs.iter().map(|job| (job.estimate_s / job.run_s - 1.0).abs()).collect();
        let mean = errors.iter().sum::<f64>() / errors.len() as f64;
        let most = errors.iter().copied().fold(0.0, f64::max);
        let text = format!(
            "{}. The plan's estimates at the sizes of these jobs are off by {:.1}% on average, and by {:.1}% at most.",
            self.values_from(),
            100.0 * mean,
            100.0 * most
        );
        vec![text.into()]
    }

    /// Returns the table of jobs with the plan's estimates; it has no rows if there is only one job.
    fn job_table(&self) -> Table {
        let seconds = |title: &str, key: &'static str| Column::new(title).unit("s").key(key);
        let columns = [
            Column::new("job"),
            Column::new("maps"),
            Column::new("reduces"),
            Column::new("input").unit("MB"),
            seconds("time", "job_run"),
            seconds("estimate", "job_estimate"),
        ];
        let note = "From the first task launch to the last task end; without residual constants.";
        let mut table = Table::new("The jobs and the plan's estimates", note, columns);
        for (i, job) in self.jobs.iter().enumerate() {
            let at = |key: &str| format!("/jobs/{i}/{key}");
            table.rows.push(vec![
                job.id.clone().into(),
                Number::count(at("maps"), job.maps).into(),
                Number::count(at("reduces"), job.reduces).into(),
                Number::new(at("input_mb"), job.input_mb, "MB").rounded(0.05).into(),
                Number::new(at("run_s"), job.run_s, "s").rounded(0.05).into(),
                Number::new(at("estimate_s"), job.estimate_s, "s").rounded(0.05).into(),
            ]);
        }
        table
    }
}
