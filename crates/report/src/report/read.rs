//! Reports that are read back from the output of `--json`, and the page of several reports.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize, Serializer};

use crate::ask::net::{ExplorationReport, NetSummary, QueryReport, SolveReport};
use crate::ask::{EstimateTable, RunTableEstimate};
use crate::compare::ComparisonReport;
use crate::document::{Document, Report, Typed};
use crate::optimize::Cheapest;
use crate::render::Versioned;
use crate::render::{Part, html};
use crate::report::bench::BenchReport;
use crate::report::check::CheckReport;
use crate::report::detection::DetectionReport;
use crate::report::devices::DevicesReport;
use crate::report::diagnosis::DiagnosisReport;
use crate::report::drawing::PlotError;
use crate::report::fit::FitReport;
use crate::report::fit_job::FitJobReport;
use crate::report::job::JobReport;
use crate::report::json::{FORMAT_VERSION, JsonError, pretty};
use crate::report::long_tail::ProgressModelReport;
use crate::report::rare::RareReport;
use crate::report::refused::RefusedReport;
use crate::report::remaining::RemainingReport;
#[cfg(feature = "schema")]
use crate::report::schema::{self, NamedSchema};
use crate::report::stages::StagesReport;
use crate::report::steady::SteadyReport;
use crate::report::structure::StructureReport;
use crate::report::summary::SimulationReport;
use crate::report::sweep::SweepReport;
use crate::report::syscalls::SyscallsReport;
use crate::report::whatif::{DetectorsReport, WhatIfReport};
use crate::report::whatif_log::LogWhatIfReport;
use crate::report::why_list::WhyList;
use crate::sensitivity::SensitivityReport;

/// Returns a doc comment without the space before it and the full stop.
#[cfg(feature = "schema")]
const fn sentence(doc: &'static str) -> &'static str {
    let text = doc.trim_ascii();
    text.split_at(text.len() - 1).0
}

/// The kinds of reports.
macro_rules! kinds {
    (
        $(#[doc = $doc:literal] $name:ident($report:ty),)*
    ) => {
        /// A result of any kind.
        #[derive(Clone, Debug, PartialEq)]
        #[non_exhaustive]
        pub enum AnyReport {
            $(#[doc = $doc] $name(Box<$report>),)*
        }

        /// The kinds that are read.
        pub const KINDS: &[&str] = &[$(<$report as Report>::KIND,)*];

        /// The schemas of results, one for each kind.
        #[cfg(feature = "schema")]
        pub const RESULT_SCHEMAS: &[NamedSchema] = &[$(NamedSchema {
            name: <$report as Report>::KIND,
            about: sentence($doc),
            make: schema::result::<$report>,
        },)*];

        $(impl From<$report> for AnyReport {
            fn from(report: $report) -> Self {
                Self::$name(Box::new(report))
            }
        })*

        impl Serialize for AboutTyped<'_> {
            fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
                match self.result {
                    $(AnyReport::$name(report) => Versioned::new(&**report, self.typed).serialize(to),)*
                }
            }
        }

        impl AnyReport {
            /// Returns the `kind` of its JSON.
            pub fn kind(&self) -> &'static str {
                match self {
                    $(Self::$name(_) => <$report as Report>::KIND,)*
                }
            }

            /// Returns the document of the result.
            pub fn document(&self) -> Document<'_> {
                match self {
                    $(Self::$name(report) => report.document(),)*
                }
            }

            /// Returns the JSON.
            ///
            /// # Errors
            ///
            /// [`JsonError`], which no report of this crate causes.
            pub fn json(&self) -> Result<String, JsonError> {
                self.json_about(&Typed::default())
            }

            /// Returns the JSON with commands about what was typed.
            ///
            /// # Errors
            ///
            /// [`JsonError`], which no report of this crate causes.
            pub fn json_about(&self, typed: &Typed) -> Result<String, JsonError> {
                pretty(&self.about(typed))
            }
        }

        fn read(kind: &str, text: &str) -> Result<AnyReport, ReadError> {
            $(if kind == <$report as Report>::KIND {
                return report(text).map(AnyReport::$name);
            })*
            Err(ReadError::Kind { kind: kind.to_owned() })
        }
    };
}

/// A result whose next commands are about what was typed; it is written as JSON.
#[derive(Clone, Copy, Debug)]
pub struct AboutTyped<'a> {
    result: &'a AnyReport,
    typed: &'a Typed,
}

impl Serialize for AnyReport {
    /// Writes the same keys as [`json`](Self::json).
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        self.about(&Typed::default()).serialize(to)
    }
}

impl AnyReport {
    /// Returns the result with commands about what was typed, to be written as JSON.
    pub fn about<'a>(&'a self, typed: &'a Typed) -> AboutTyped<'a> {
        AboutTyped { result: self, typed }
    }

    /// Returns the net of a result about a net.
    pub fn net_mut(&mut self) -> Option<&mut NetSummary> {
        match self {
            Self::Simulation(report) => Some(&mut report.net),
            Self::Steady(report) => Some(&mut report.net),
            Self::Solution(report) => Some(&mut report.net),
            Self::Exploration(report) => Some(&mut report.net),
            Self::Query(report) => Some(&mut report.net),
            Self::Rare(report) => Some(&mut report.net),
            _ => None,
        }
    }
}

kinds! {
    /// Result of `estimate`.
    Estimate(JobReport),
    /// Result of `estimate` for a job of stages.
    Stages(StagesReport),
    /// Result of `why` of several runs.
    WhyList(WhyList),
    /// Result of `estimate` with a list.
    EstimateTable(EstimateTable),
    /// Result of `estimate` for a table of runs.
    RunTable(RunTableEstimate),
    /// Refusal of a question for advice, because the model does not reproduce its own runs.
    Refused(RefusedReport),
    /// Result of `net simulate`.
    Simulation(SimulationReport),
    /// Result of `simulate --steady`.
    Steady(SteadyReport),
    /// Result of `net solve`.
    Solution(SolveReport),
    /// Result of `solve --untimed`.
    Exploration(ExplorationReport),
    /// Result of `net query`.
    Query(QueryReport),
    /// Result of `net rare`.
    Rare(RareReport),
    /// Result of `net structure`.
    Structure(StructureReport),
    /// Result of `net check`.
    Check(CheckReport),
    /// Result of `tool devices`.
    Devices(DevicesReport),
    /// Result of `tool bench`.
    Bench(BenchReport),
    /// Result of `study` with axes, and of `tool merge`.
    Sweep(SweepReport),
    /// Effects, by `study`.
    Sensitivity(SensitivityReport),
    /// Result of `study` with a deadline.
    Optimization(Cheapest),
    /// Result of `whatif`.
    WhatIf(WhatIfReport),
    /// Result of `whatif` for a log.
    WhatIfLog(LogWhatIfReport),
    /// Result of `tool detectors`.
    Detectors(DetectorsReport),
    /// Result of `detectors --on`.
    Detection(DetectionReport),
    /// Result of `tool fit` for a MapReduce log.
    FitJob(FitJobReport),
    /// Result of `estimate` for a run in progress.
    Remaining(RemainingReport),
    /// Result of `why`.
    Diagnosis(DiagnosisReport),
    /// Result of `why` for two sides.
    Comparison(ComparisonReport),
    /// Result of `tool fit` for Spark logs.
    Fit(FitReport),
    /// Result of `why --method` for strace logs.
    Syscalls(SyscallsReport),
    /// Result of `watch --learn`.
    ProgressModel(ProgressModelReport),
}

/// A result with its plan and pictures.
#[derive(Clone, Debug)]
pub struct PageResult {
    /// The result.
    pub found: AnyReport,
    /// File of the result, for the list of sources.
    pub source: String,
    /// A plan that was passed with the result; without one, the page shows the plan in the result.
    pub plan: Option<String>,
    /// A picture of the net: caption and SVG document.
    pub net: Option<(String, String)>,
}

/// Returns the page.
///
/// # Errors
///
/// [`PlotError`], which no report of this crate causes.
pub fn page(results: &[PageResult]) -> Result<String, PlotError> {
    fn part(shown: &PageResult) -> Part<'_> {
        let mut document = shown.found.document();
        if let Some(plan) = &shown.plan {
            document.plan.clone_from(plan);
        }
        document.provenance.push(["read from".to_owned(), shown.source.clone()]);
        Part { document, net: shown.net.clone() }
    }
    html(&results.iter().map(part).collect::<Vec<_>>())
}

/// Reason why a text is not a report.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ReadError {
    /// The text is not JSON, ends too early, or a key is missing or of another type.
    #[error("{message}")]
    Text {
        /// Description of the problem.
        message: String,
        /// The line, from 1.
        line: usize,
        /// The byte in the line, from 1.
        column: usize,
    },
    /// The text is JSON of another kind.
    #[error("the keys `format_version` and `kind`, with which all JSON of tailspn starts, are missing")]
    Foreign,
    /// The text has a format version that this program does not support.
    #[error("it has format version {found}, but this version of tailspn reads {FORMAT_VERSION}")]
    Version {
        /// The version.
        found: u64,
    },
    /// This kind is not read.
    #[error("it has the unknown kind `{kind}`; the kinds are {}", KINDS.join(", "))]
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

/// Returns the report in a JSON text. Unknown keys are ignored.
///
/// # Errors
///
/// [`ReadError`].
pub fn read_json(text: &str) -> Result<AnyReport, ReadError> {
    let head: Head = serde_json::from_str(text).map_err(|error| match error.classify() {
        // an array, a number, or keys of the same name with other types
        serde_json::error::Category::Data => ReadError::Foreign,
        _ => ReadError::of(&error),
    })?;
    let (Some(found), Some(kind)) = (head.format_version, head.kind) else { return Err(ReadError::Foreign) };
    if found != u64::from(FORMAT_VERSION) {
        return Err(ReadError::Version { found });
    }
    read(&kind, text)
}

fn report<R: DeserializeOwned>(text: &str) -> Result<Box<R>, ReadError> {
    serde_json::from_str(text).map(Box::new).map_err(|error| ReadError::of(&error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_that_are_not_reports_are_refused() {
        let error = |text: &str| read_json(text).unwrap_err();
        let ReadError::Text { line, column, .. } = error("{\n  \"kind\": \"est") else { panic!() };
        assert_eq!((line, column), (2, 14));
        assert_eq!(error("[1, 2]"), ReadError::Foreign);
        assert_eq!(error("{\"kind\": \"sweep\"}"), ReadError::Foreign);
        assert_eq!(error("{\"format_version\": 2, \"kind\": \"sweep\"}"), ReadError::Version { found: 2 });
        let kind = ReadError::Kind { kind: "other".to_owned() };
        assert_eq!(error("{\"format_version\": 1, \"kind\": \"other\"}"), kind);
        let ReadError::Text { message, .. } = error("{\"format_version\": 1, \"kind\": \"sweep\"}") else { panic!() };
        assert_eq!(message, "missing field `design`");
    }
}
