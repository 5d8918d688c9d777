//! What a fit to a MapReduce job found: each value of its plan with its interval and where it is from.

use serde::{Deserialize, Serialize};

use crate::fit::{FittedJob, short};
use crate::mapreduce::Plan;
use crate::report::json::Word;
use crate::report::look::Look;
use crate::report::table::{Align, Table};

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
    /// Confidence level of the intervals.
    pub level: f64,
    /// The values.
    pub values: Vec<FitValueRow>,
    /// What was assumed or left as it is.
    pub notes: Vec<String>,
    /// The plan.
    pub plan: Plan,
}

/// What a fit found.
pub fn fit_job_report(fitted: &FittedJob) -> FitJobReport {
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
        level: fitted.level,
        values: fitted.values.iter().map(row).collect(),
        notes: fitted.notes.clone(),
        plan: fitted.plan.clone(),
    }
}

/// The text of a fit.
pub fn fit_job_text(report: &FitJobReport, look: &Look) -> String {
    let mut text = look.heading(&format!("{}: {}, which took {:.3} s", report.id, report.name, report.job_s));
    let right = Align::Right;
    let level = format!("{:.0} % from", 100.0 * report.level);
    let columns: [(&str, Align); 5] =
        [("key", Align::Left), ("value", right), (level.as_str(), right), ("to", right), ("from", Align::Left)];
    let mut table = Table::new(columns);
    for row in &report.values {
        let end = |end: Option<f64>| end.map(short).unwrap_or_default();
        table.push([row.key.to_string(), short(row.value), end(row.low), end(row.high), row.from.clone()]);
    }
    text += &table.text();
    text
}
