//! Converts result types to text, tables, JSON and CSV. It computes what summarises them: quantiles and histograms of samples, the
//! distribution of a time from solved states, shares of a sum. Only `check` has its question here, too: it runs a net for a moment.
//!
//! ```text
//! Run ───────────────▶ SimulationReport ─┐
//! BatchAverages ─────▶ SteadyReport ─────┼──▶ text │ JSON │ CSV
//! StateSpace, verdicts ▶ SolveReport ────┤
//! MarkingGraph, formulas ▶ ExplorationReport ┤
//! Structure ─────────▶ StructureReport ──┤
//! Plan, phases, Run ─▶ JobReport ────────┤
//! Stored points ─────▶ SweepReport ──────┤
//! effects, judgements ▶ SensitivityReport, Cheapest
//! Comparison ────────▶ WhatIfReport ─────┤
//! JobTrace ──────────▶ TraceReport ──────┤
//! Findings ──────────▶ DiagnosisReport ──┘
//! ```
//!
//! | question | file |
//! |---|---|
//! | a number with its interval | [`Measured`] |
//! | mean, spread, quantiles and histogram of a time | [`Distribution`] |
//! | the result of a simulation of a net | [`SimulationReport`] |
//! | steady-state results of long runs | [`SteadyReport`] |
//! | exact answers in place of simulated ones | [`AnswerMethod`], [`exact_report`] |
//! | the markings of a net without time, and CTL formulas | [`ExplorationReport`]; tables of verdicts:
//! `verdict_tables` |
//! | answers to CSL and CSRL queries | [`QueryReport`] |
//! | the probability of a rare event of a net | [`RareReport`] |
//! | structural analysis of a net | [`StructureReport`] |
//! | the result of a job estimate | [`JobReport`] |
//! | the quality of detectors on a recorded job | [`DetectionReport`] |
//! | the result of a what-if, and the catalogue of detectors | [`WhatIfReport`], [`DetectorsReport`]; its picture: `whatif_plot` |
//! | the result of a fit, and an estimate of a job of stages | [`FitReport`], [`FitJobReport`], [`StagesReport`] |
//! | the remaining time of a run in progress | [`RemainingReport`] |
//! | the typical progress of tasks, and predicted stragglers | [`ProgressModelReport`], [`straggler_line`] |
//! | the report on a job log | [`TraceReport`]; its attempts: `trace_csv`, its picture: `trace_timeline` |
//! | why tasks were slow, and what to do about it | [`DiagnosisReport`]; its picture: `diagnosis_svg` |
//! | which setting has the largest effect, and what meets a deadline | [`SensitivityReport`](crate::sensitivity::SensitivityReport), [`Cheapest`](crate::optimize::Cheapest); their pictures: `sensitivity_plot`, `scatter` |
//! | differences between two sides of logs, results or plans | [`ComparisonReport`](crate::compare::ComparisonReport) |
//! | the result of a sweep | [`SweepReport`]; its pictures: `sweep_plot` |
//! | a time to a goal by an exact method, as numbers and as a picture | [`PassageSection`], `cdf_plot` |
//! | reachability and coverability graphs, as DOT and as SVG | `graph_dot`, `graph_svg`, `graph_layout` |
//! | numbers as text, the picture of a histogram | `number`, `picture` |
//! | a [`Picture`] at two widths; common parts of pictures by plotters | `drawing`, `plot` |
//! | rows of bars, and a time's distribution, as data of pictures and text | `bar_rows`, `times` |
//! | a time's histogram, distribution function and tail; rows on one axis; stragglers over time | `times_plot`, `rows_plot`, `stragglers_plot` |
//! | reports read back from JSON, and shown on a page | [`read_json`], [`page()`] |
//! | JSON Schemas of plans | `schema` |
//!
//! Guarantees: the same report gives the same bytes; numbers in JSON and CSV have full precision; keys and
//! rows have a documented order; the crate does not print. The JSON is described in docs/json.md.

mod answer;
mod answered;
pub(crate) mod bar_rows;
mod bench;
#[cfg(feature = "plots")]
mod cdf_plot;
mod check;
mod checking;
mod comparison;
mod comparison_screen;
mod critical_bar;
mod deadline;
mod detection;
mod devices;
mod diagnosis;
mod diagnosis_document;
mod diagnosis_svg;
pub(crate) mod distribution;
pub(crate) mod drawing;
mod estimate_table;
mod explained;
mod exploration_document;
mod fit;
mod fit_job;
mod graph_dot;
mod graph_layout;
mod graph_svg;
pub(crate) mod job;
mod job_document;
mod job_screen;
pub(crate) mod json;
mod left_screen;
#[cfg(feature = "plots")]
mod list_plot;
mod list_words;
mod long_tail;
mod method;
mod net_report;
mod next_run;
pub(crate) mod number;
mod optimize;
mod optimize_screen;
mod own_run;
pub(crate) mod picture;
#[cfg(feature = "plots")]
pub(crate) mod plot;
#[cfg(feature = "png")]
mod png;
#[cfg(feature = "plots")]
mod point_labels;
mod query;
mod rare;
mod read;
mod refused;
mod remaining;
#[cfg(feature = "plots")]
pub(crate) mod rows_plot;
mod run_table;
#[cfg(feature = "plots")]
mod scatter;
#[cfg(feature = "schema")]
mod schema;
mod screens;
mod sensitivity;
#[cfg(feature = "plots")]
mod sensitivity_plot;
mod simulated;
mod simulation_document;
mod solve_document;
mod solve_screen;
mod stages;
mod stages_screen;
mod steady;
#[cfg(feature = "plots")]
mod stragglers_plot;
mod structure;
mod structure_document;
mod studied;
pub(crate) mod summary;
pub(crate) mod sweep;
mod sweep_document;
#[cfg(feature = "plots")]
mod sweep_plot;
mod sweep_screen;
mod syscalls;
mod syscalls_document;
mod syscalls_svg;
mod timeline_svg;
pub(crate) mod times;
#[cfg(feature = "plots")]
pub(crate) mod times_plot;
mod trace;
mod trace_csv;
mod trace_document;
mod trace_rows;
mod trace_timeline;
mod verdict_tables;
mod whatif;
mod whatif_document;
mod whatif_log;
#[cfg(feature = "plots")]
mod whatif_plot;
mod whatif_screen;
mod why_list;
mod why_screen;

pub use crate::answer::ExactBy;
pub use crate::ask::net::{
    AverageSection, CdfPoint, CoverabilityRow, DeadMarkings, DistributionRow, EvidenceRow, ExchangedParts,
    ExplorationReport, FoldedStates, FormulaRow, LivenessRow, MarkingBound, MarkingGraphRow, MethodRow, NetSummary,
    NumberRow, PassageSection, PropertyRow, QUANTILES, QuantilePoint, QueryBound, QueryReport, QueryRow, RewardRow,
    SolveReport, StateRow, StateSpaceRow, SteadySection, Subject, TimeSection, UnboundedRow, VerdictRow, WithinSection,
    Word, ZeroRateRow,
};
pub use crate::document::{
    Block, Blocks, Cell, Column, Document, Figure, Form, Headline, NextCommand, Number, Paragraph, Piece, Report,
    Screen, ScreenChange, ScreenShares, ScreenVerdict, Show, Table, Topic, Typed, human_time, percent_text, short_name,
};
pub use crate::estimate::{Doubt, Measured};
pub use crate::job_time::{DeadlineSection, LateSection};
pub use crate::render::json;
pub use crate::render::{CsvText, Look, Part, csv as document_csv, html, markdown, text as document_text};
pub use answer::{exact_report, exact_steady_report};
pub use answered::{Answer, End};
pub use bench::{BenchAdapter, BenchBound, BenchReport, BenchRow, BenchSpeed, BenchTimes};
#[cfg(feature = "plots")]
pub use cdf_plot::cdf_svg;
pub use check::{CheckReport, ClassRow, DifferenceRow, EngineRow, FileWarningRow, ParameterRow};
pub use checking::{check_net, difference_rows};
pub use detection::{DetectionReport, DetectionStage, DetectionTask, JudgedRow, ShareRow, detection_report};
pub use devices::{AdapterRow, DevicesReport};
pub use diagnosis::{DiagnosedStageRow, DiagnosisReport, RunPart, cause_text, diagnosis_report};
pub use diagnosis_svg::diagnosis_svg;
pub use distribution::{Bar, Distribution, Histogram, QuantileRow};
pub use drawing::{Picture, PlotError, Width};
pub use explained::{AssumedEffectRow, AssumedSection, CriticalShare, PlanChange, SlotRow, TimePart};
pub use fit::{FitReport, FitStageRow, fit_report};
pub use fit_job::{FitJobReport, FitJobRun, FitValueRow, fit_job_report, fit_jobs_report};
pub use graph_dot::graph_dot;
pub use graph_svg::{MOST_DRAWN, graph_svg};
pub use job::{AnalyticSummary, JobReport, JobSummary, PhaseRow, TimeCost, estimate_report, job_report};
pub use json::{FORMAT_VERSION, JsonError};
pub use long_tail::{
    ProfileRow, ProgressModelReport, WatchReport, progress_model_report, straggler_json, straggler_line,
};
pub use method::{AnswerMethod, UsedMethod};
pub use net_report::NetReport;
pub use next_run::{NextRun, StageQuantile};
pub use number::{count, counted, duration, plain, quantile_name, time_words, within};
pub use optimize::{optimize_report, sizing_report};
pub use picture::{Mark, histogram_text};
#[cfg(feature = "png")]
pub use png::{PngError, png};
pub use rare::{LevelRow, RareReport};
#[cfg(feature = "schema")]
pub use read::RESULT_SCHEMAS;
pub use read::{AboutTyped, AnyReport, KINDS, PageResult, ReadError, page, read_json};
pub use refused::RefusedReport;
pub use remaining::{DoneByRow, RemainingBasis, RemainingReport, RemainingStageRow, remaining_report};
#[cfg(feature = "schema")]
pub use schema::{LINE_SCHEMAS, NamedSchema, PLAN_SCHEMAS};
pub use simulated::{NetNames, ReportSimulation};
pub use stages::{SpeculationSection, StageTimes, StagesReport, stages_report};
pub use steady::{RareTransition, SteadyReport, SteadyRow, SteadySettings, steady_report};
pub use structure::{
    BoundRow, DeadlockRow, Entry, FlowRow, FlowRows, Matrices, Sections, SetRow, SetRows, StructureReport,
    ThroughputRow, Verdict, Weight, structure_report,
};
pub use studied::ReportStudy;
pub use summary::{
    DeviceSummary, EndingCounts, GroupRow, ProvenanceSummary, QuestionSummary, Row, SimulationReport, SnapshotRow,
    simulation_report,
};
pub use sweep::{AxisRow, KnobRow, SweepReport, sweep_report};
#[cfg(feature = "plots")]
pub use sweep_plot::sweep_pictures;
pub use syscalls::{SyscallNodeRow, SyscallRow, SyscallVerdict, SyscallWarningRow, SyscallsReport, syscalls_report};
pub use syscalls_document::syscall_profile_document;
pub use syscalls_svg::syscalls_svg;
#[cfg(feature = "plots")]
pub use times_plot::two_times_svg;
pub use trace::trace_report;
pub use trace_csv::trace_csv;
pub use trace_rows::{
    AmountRow, ApplicationRow, BoundsRow, CopiesRow, GpuRow, LaneRow, NodeRow, OutcomeRow, StageRow, StragglerRow,
    TimelineRow, TraceJobRow, TraceReport, WarningRow,
};
pub use trace_timeline::trace_svg;
pub use whatif::{
    ChangeRow, DetectorRow, DetectorsReport, MetricRow, NetRow, PolicyRow, TailRow, WhatIfReport, detectors_report,
    what_if_report,
};
pub use whatif_log::{LogWhatIfReport, log_what_if_report};
#[cfg(feature = "plots")]
pub use whatif_plot::what_if_picture;
pub use why_list::{ExplainedRun, WhyList};
