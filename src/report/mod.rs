//! From result types to text, tables, JSON and CSV; it knows no simulator and computes nothing new.
//!
//! ```text
//! Run ───────────────▶ SimulationReport ─┐
//! BatchAverages ─────▶ SteadyReport ─────┼──▶ text │ JSON │ CSV
//! Plan, phases, Run ─▶ JobReport ────────┘
//! ```
//!
//! | question | file |
//! |---|---|
//! | a number with its interval | [`Quantity`] |
//! | mean, spread, quantiles and histogram of a time | [`Distribution`] |
//! | what a simulation of a net found | [`SimulationReport`] |
//! | what long runs show of the steady state | [`SteadyReport`] |
//! | what an estimate of a job found | [`JobReport`] |
//! | numbers as text, columns, the picture of a histogram | `number`, `table`, `picture` |
//!
//! Guarantees: the same report gives the same bytes; numbers in JSON and CSV have full precision; keys and rows have a
//! stated order; nothing is printed here. The JSON is described in docs/json.md.

mod csv;
mod distribution;
mod job;
mod json;
mod look;
mod number;
mod picture;
mod quantity;
mod steady;
mod summary;
mod table;
mod text;

pub use csv::{CsvError, job_csv, simulation_csv, steady_csv};
pub use distribution::{Bar, Distribution, Histogram, QUANTILES, QuantileRow};
pub use job::{AnalyticSummary, CriticalShare, JobReport, JobSummary, PhaseRow, QuantilePoint, TimeCost, job_report};
pub use json::{FORMAT_VERSION, JsonError, json};
pub use look::Look;
pub use number::{count, counted, duration, plain, within};
pub use picture::{Mark, histogram_text};
pub use quantity::Quantity;
pub use steady::{RareTransition, SteadyReport, SteadyRow, SteadySettings, steady_report};
pub use summary::{
    DeviceSummary, EndingCounts, GroupRow, NetSummary, ProvenanceSummary, QuestionSummary, Row, SimulationReport,
    SnapshotRow, Subject, simulation_report,
};
pub use table::{Align, Table};
pub use text::{job_text, simulation_text, steady_text};
