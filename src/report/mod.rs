//! From result types to text, tables, JSON and CSV; it knows no simulator and computes nothing new.
//!
//! ```text
//! Run ───────────────▶ SimulationReport ─┐
//! BatchAverages ─────▶ SteadyReport ─────┼──▶ text │ JSON │ CSV
//! StateSpace, verdicts ▶ SolveReport ────┤
//! Structure ─────────▶ StructureReport ──┤
//! Plan, phases, Run ─▶ JobReport ────────┤
//! Comparison ────────▶ WhatIfReport ─────┘
//! ```
//!
//! | question | file |
//! |---|---|
//! | a number with its interval | [`Quantity`] |
//! | mean, spread, quantiles and histogram of a time | [`Distribution`] |
//! | what a simulation of a net found | [`SimulationReport`] |
//! | what long runs show of the steady state | [`SteadyReport`] |
//! | what a net's structure says | [`StructureReport`] |
//! | what an estimate of a job found | [`JobReport`] |
//! | what a what-if found, and the catalogue of detectors | [`WhatIfReport`], [`DetectorsReport`]; its picture: `whatif_plot` |
//! | numbers as text, columns, the picture of a histogram | `number`, `table`, `picture` |
//!
//! Guarantees: the same report gives the same bytes; numbers in JSON and CSV have full precision; keys and rows have a
//! stated order; nothing is printed here. The JSON is described in docs/json.md.

mod attempts;
mod csv;
mod distribution;
mod job;
mod json;
mod look;
mod number;
mod picture;
mod quantity;
mod solve;
mod solve_numbers;
mod solve_numbers_text;
mod solve_text;
mod steady;
mod structure;
mod structure_csv;
mod structure_text;
mod summary;
mod table;
mod text;
mod whatif;
mod whatif_plot;

pub use attempts::reward_to_gather;
pub use csv::{CsvError, job_csv, simulation_csv, solve_csv, steady_csv};
pub use distribution::{Bar, Distribution, Histogram, QUANTILES, QuantileRow};
pub use job::{AnalyticSummary, CriticalShare, JobReport, JobSummary, PhaseRow, QuantilePoint, TimeCost, job_report};
pub use json::{FORMAT_VERSION, JsonError, json};
pub use look::Look;
pub use number::{count, counted, duration, plain, within};
pub use picture::{Mark, histogram_text};
pub use quantity::Quantity;
pub use solve::{
    CoverabilityRow, DeadMarkings, Hidden, LivenessRow, MarkingBound, SolveReport, StateSpaceRow, UnboundedRow,
    VerdictRow, solve_report,
};
pub use solve_numbers::{
    AverageSection, CdfPoint, DistributionRow, NumberRow, PassageSection, StateRow, SteadySection, TimeSection,
    average_section, passage_section, steady_section, time_section,
};
pub use solve_text::solve_text;
pub use steady::{RareTransition, SteadyReport, SteadyRow, SteadySettings, steady_report};
pub use structure::{
    BoundRow, DeadlockRow, Entry, FlowRow, FlowRows, Matrices, OpenRow, SetRow, SetRows, StructureReport,
    ThroughputRow, Verdict, Weight, structure_report,
};
pub use structure_csv::structure_csv;
pub use structure_text::{Extent, Sections, structure_text};
pub use summary::{
    DeviceSummary, EndingCounts, GroupRow, NetSummary, ProvenanceSummary, QuestionSummary, Row, SimulationReport,
    SnapshotRow, Subject, simulation_report,
};
pub use table::{Align, Table};
pub use text::{job_text, simulation_text, steady_text};
pub use whatif::{
    ChangeRow, DetectorRow, DetectorsReport, MetricRow, PolicyRow, TailRow, WhatIfReport, detectors_report,
    detectors_text, what_if_csv, what_if_report, what_if_text,
};
pub use whatif_plot::{PlotError, what_if_svg};
