//! Reports read back: what `--json` prints, told by its kind.

use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::report::diagnosis::DiagnosisReport;
use crate::report::fit::FitReport;
use crate::report::fit_job::FitJobReport;
use crate::report::job::JobReport;
use crate::report::json::FORMAT_VERSION;
use crate::report::optimize::OptimizeReport;
use crate::report::solve::SolveReport;
use crate::report::stages::StagesReport;
use crate::report::steady::SteadyReport;
use crate::report::summary::SimulationReport;
use crate::report::sweep::SweepReport;
use crate::report::trace_rows::TraceReport;
use crate::report::whatif::WhatIfReport;
use crate::sensitivity::SensitivityReport;

/// A report of a kind that a page can be made of.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Found {
    /// Of `estimate`.
    Estimate(Box<JobReport>),
    /// Of `estimate` for a job of stages.
    Stages(Box<StagesReport>),
    /// Of `simulate`.
    Simulation(Box<SimulationReport>),
    /// Of `simulate --steady`.
    Steady(Box<SteadyReport>),
    /// Of `solve`.
    Solution(Box<SolveReport>),
    /// Of `whatif`.
    WhatIf(Box<WhatIfReport>),
    /// Of `trace`.
    Trace(Box<TraceReport>),
    /// Of `sweep` and `merge`.
    Sweep(Box<SweepReport>),
    /// Of `diagnose`.
    Diagnosis(Box<DiagnosisReport>),
    /// Of `sensitivity`.
    Sensitivity(Box<SensitivityReport>),
    /// Of `optimize`.
    Optimization(Box<OptimizeReport>),
    /// Of `fit` for logs of Spark.
    Fit(Box<FitReport>),
    /// Of `fit` for a log of MapReduce.
    FitJob(Box<FitJobReport>),
}

/// Kinds that are read.
const KINDS: &str = "estimate, estimate_stages, simulation, steady, solution, whatif, trace, sweep, diagnosis, sensitivity, optimize, fit and \
                     fit_job";

/// Why a text is no report.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ReadError {
    /// It is no JSON, ends too early, or a key is missing or of another type.
    #[error("{message}")]
    Text {
        /// What is wrong.
        message: String,
        /// The line, from 1.
        line: usize,
        /// The byte in the line, from 1.
        column: usize,
    },
    /// It is JSON, but of something else.
    #[error("it has no `format_version` and `kind`, which all JSON of tailspn begins with")]
    Foreign,
    /// It is of a version of the format that this one does not know.
    #[error("it has format version {found}, and this version of tailspn reads {FORMAT_VERSION}")]
    Version {
        /// The version.
        found: u64,
    },
    /// There is no page for this kind.
    #[error("it is of the kind `{kind}`; pages are made of {KINDS}")]
    Kind {
        /// The kind.
        kind: String,
    },
}

impl ReadError {
    fn of(error: &serde_json::Error) -> Self {
        let (line, column) = (error.line(), error.column());
        let whole = error.to_string();
        let place = format!(" at line {line} column {column}");
        let message = whole.strip_suffix(&place).unwrap_or(&whole).to_owned();
        Self::Text { message, line: line.max(1), column: column.max(1) }
    }
}

#[derive(Deserialize)]
struct Head {
    format_version: Option<u64>,
    kind: Option<String>,
}

/// The report in a JSON text. Keys that this version does not know are passed over.
///
/// # Errors
///
/// [`ReadError`].
pub fn read_json(text: &str) -> Result<Found, ReadError> {
    let head: Head = serde_json::from_str(text).map_err(|error| match error.classify() {
        // an array, a number, or keys of the same name with other types
        serde_json::error::Category::Data => ReadError::Foreign,
        _ => ReadError::of(&error),
    })?;
    let (Some(found), Some(kind)) = (head.format_version, head.kind) else { return Err(ReadError::Foreign) };
    if found != u64::from(FORMAT_VERSION) {
        return Err(ReadError::Version { found });
    }
    match kind.as_str() {
        "estimate" => Ok(Found::Estimate(report(text)?)),
        "estimate_stages" => Ok(Found::Stages(report(text)?)),
        "simulation" => Ok(Found::Simulation(report(text)?)),
        "steady" => Ok(Found::Steady(report(text)?)),
        "solution" => Ok(Found::Solution(report(text)?)),
        "whatif" => Ok(Found::WhatIf(report(text)?)),
        "trace" => Ok(Found::Trace(report(text)?)),
        "sweep" => Ok(Found::Sweep(report(text)?)),
        "diagnosis" => Ok(Found::Diagnosis(report(text)?)),
        "sensitivity" => Ok(Found::Sensitivity(report(text)?)),
        "optimize" => Ok(Found::Optimization(report(text)?)),
        "fit" => Ok(Found::Fit(report(text)?)),
        "fit_job" => Ok(Found::FitJob(report(text)?)),
        _ => Err(ReadError::Kind { kind }),
    }
}

fn report<R: DeserializeOwned>(text: &str) -> Result<Box<R>, ReadError> {
    serde_json::from_str(text).map(Box::new).map_err(|error| ReadError::of(&error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_report_is_told() {
        let error = |text: &str| read_json(text).unwrap_err();
        let ReadError::Text { line, column, .. } = error("{\n  \"kind\": \"est") else { panic!() };
        assert_eq!((line, column), (2, 14));
        assert_eq!(error("[1, 2]"), ReadError::Foreign);
        assert_eq!(error("{\"kind\": \"sweep\"}"), ReadError::Foreign);
        assert_eq!(error("{\"format_version\": 2, \"kind\": \"sweep\"}"), ReadError::Version { found: 2 });
        let kind = ReadError::Kind { kind: "check".to_owned() };
        assert_eq!(error("{\"format_version\": 1, \"kind\": \"check\"}"), kind);
        let ReadError::Text { message, .. } = error("{\"format_version\": 1, \"kind\": \"sweep\"}") else { panic!() };
        assert_eq!(message, "missing field `design`");
    }
}
