//! What a fit to a MapReduce job found: each value of its plan with its interval and where it is from.

use serde::{Deserialize, Serialize};

use crate::document::parts::notes_table;
use crate::document::{Document, Number, Report, Table};
use crate::fit::FittedJob;
use crate::mapreduce::Plan;
use crate::report::json::Word;
use crate::report::number::counted;

/// A value of the plan that the log or the configuration tells.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FitValueRow {
    /// Its key in the plan.
    pub key: Word,
    /// The value, in the unit of the key.
    pub value: f64,
    /// Lower end of its interval, where several tasks give several values.
    pub low: Option<f64>,
    /// Upper end.
    pub high: Option<f64>,
    /// Where it is from.
    pub from: String,
}

/// What a fit to a MapReduce job found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FitJobReport {
    /// The log.
    pub log: String,
    /// The job's id there.
    pub id: String,
    /// Its name.
    pub name: String,
    /// From its submission to its end \[s\].
    pub job_s: f64,
    /// From the first launch of a task to the last end of one \[s\].
    #[serde(default)]
    pub run_s: f64,
    /// The plan's estimate of that \[s\], where it was asked for.
    #[serde(default)]
    pub estimate_s: Option<f64>,
    /// How much of the estimate are the plan's residual constants \[s\].
    #[serde(default)]
    pub residual_s: f64,
    /// Confidence level of the intervals.
    pub level: f64,
    /// The values.
    pub values: Vec<FitValueRow>,
    /// What was assumed or left as it is.
    pub notes: Vec<String>,
    /// The plan.
    pub plan: Plan,
}

/// What a fit found; `estimate_s` is the estimate of the plan without residual constants.
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
        level: fitted.level,
        values: fitted.values.iter().map(row).collect(),
        notes: fitted.notes.clone(),
        plan: fitted.plan.clone(),
    }
}

impl Report for FitJobReport {
    const KIND: &'static str = "fit_job";

    fn document(&self) -> Document<'_> {
        let measured = self.values.iter().filter(|row| row.low.is_some()).count();
        let mut document = Document {
            kind: "fit of a MapReduce job",
            title: self.name.clone(),
            question: "What does the log say about the job's plan, and with what intervals?".to_owned(),
            answer: vec![
                format!("{} of the plan from {}, which took ", counted(self.values.len() as u128, "value"), self.id)
                    .into(),
                Number::new("/job_s", self.job_s, "s").rounded(0.01).into(),
                format!("; {measured} of the values come from several tasks and have an interval.").into(),
                " From the first launch of a task to the last end it ran ".into(),
                Number::new("/run_s", self.run_s, "s").rounded(0.01).into(),
            ],
            plan: toml::to_string(&self.plan).unwrap_or_default(),
            provenance: vec![["log".to_owned(), self.log.clone()], ["job".to_owned(), self.id.clone()]],
            ..Document::default()
        };
        match self.estimate_s {
            None => document.answer.push(".".into()),
            Some(estimate_s) => document.answer.extend([
                "; the plan's estimate is ".into(),
                Number::new("/estimate_s", estimate_s, "s").rounded(0.01).into(),
                format!(" ({:.2} of it), of which ", estimate_s / self.run_s).into(),
                Number::new("/residual_s", self.residual_s, "s").rounded(0.01).into(),
                " are residual constants from other jobs.".into(),
            ]),
        }
        let mut table = Table::new("Values of the plan", "In the unit of each key.", ["key", "value", "from"]);
        for (i, row) in self.values.iter().enumerate() {
            let value = Number::new(format!("/values/{i}"), row.value, "").between(row.low, row.high);
            table.rows.push(vec![row.key.to_string().into(), value.into(), row.from.clone().into()]);
        }
        document.table(table.level(self.level));
        document.table(notes_table("What the log does not say", &self.notes));
        document
    }
}
