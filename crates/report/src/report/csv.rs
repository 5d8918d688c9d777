//! Reports as CSV: one number a row, the same columns for every kind.
//!
//! `measure,name,unit,value,low,high,level,samples`; an interval or count that does not exist is an empty cell.

use crate::report::number::quantile_name;
use crate::report::passage::PassageSection;
use crate::report::solve::SolveReport;
use crate::report::solve_numbers::AverageSection;

/// The rows could not be written; this is a mistake in the report.
#[derive(Debug, thiserror::Error)]
#[error("the report cannot be written as CSV: {0}")]
pub struct CsvError(String);

impl CsvError {
    pub(super) fn new(error: impl std::fmt::Display) -> Self {
        Self(error.to_string())
    }
}

const HEADER: [&str; 8] = ["measure", "name", "unit", "value", "low", "high", "level", "samples"];

/// Certain bounds of a number.
type Bounds = [Option<f64>; 2];

/// Collects rows.
pub(super) struct Rows(csv::Writer<Vec<u8>>);

impl Rows {
    pub(super) fn new() -> Result<Self, CsvError> {
        let mut rows = Self(csv::Writer::from_writer(Vec::new()));
        rows.write(HEADER.map(str::to_owned))?;
        Ok(rows)
    }

    fn write(&mut self, cells: [String; 8]) -> Result<(), CsvError> {
        self.0.write_record(&cells).map_err(|error| CsvError(error.to_string()))
    }

    pub(super) fn number(&mut self, measure: &str, name: &str, unit: &str, value: &str) -> Result<(), CsvError> {
        let cells = [measure, name, unit, value, "", "", "", ""];
        self.write(cells.map(str::to_owned))
    }

    /// A number with certain bounds, where there are any: ends of no confidence interval, so without a level.
    fn bounded(&mut self, measure: &str, name: &str, unit: &str, value: f64, bounds: Bounds) -> Result<(), CsvError> {
        let [low, high] = bounds.map(|bound| bound.map_or_else(String::new, |bound| bound.to_string()));
        let (value, none) = (value.to_string(), String::new);
        self.write([measure.to_owned(), name.to_owned(), unit.to_owned(), value, low, high, none(), none()])
    }

    fn passage(&mut self, time: &PassageSection) -> Result<(), CsvError> {
        let bounds = time.mean_bounds_s.map_or([None; 2], |bounds| bounds.map(Some));
        time.mean_s.map_or(Ok(()), |mean| self.bounded("passage_time", "mean", "s", mean, bounds))?;
        time.sd_s.map_or(Ok(()), |sd| self.bounded("passage_time", "sd", "s", sd, [None; 2]))?;
        for point in &time.quantiles {
            let bounds = [point.low, point.high];
            self.bounded("passage_time", &quantile_name(point.p), "s", point.value, bounds)?;
        }
        for point in &time.cdf {
            let (name, bounds) = (format!("{} s", point.time_s), [point.low, point.high]);
            self.bounded("passage_cdf", &name, "", point.probability, bounds)?;
        }
        Ok(())
    }

    fn averages(&mut self, when: &str, averages: &AverageSection) -> Result<(), CsvError> {
        let sections =
            [("tokens", &averages.tokens), ("throughput", &averages.throughputs), ("measure", &averages.measures)];
        for (measure, numbers) in sections {
            for row in numbers {
                self.number(measure, &format!("{}{when}", row.name), &row.unit, &row.value.to_string())?;
            }
        }
        Ok(())
    }

    pub(super) fn finish(self) -> Result<String, CsvError> {
        let bytes = self.0.into_inner().map_err(|error| CsvError(error.to_string()))?;
        String::from_utf8(bytes).map_err(|error| CsvError(error.to_string()))
    }
}

/// The CSV of a solution: states, bounds, deadlocks, liveness, passage time, averages.
///
/// # Errors
///
/// [`CsvError`], which no report of this crate causes.
pub fn solve_csv(report: &SolveReport) -> Result<String, CsvError> {
    let mut rows = Rows::new()?;
    rows.number("partial", "", "", &u8::from(report.partial).to_string())?;
    if let Some(space) = &report.state_space {
        rows.number("states", "tangible", "", &space.tangible.to_string())?;
        rows.number("states", "vanishing", "", &space.vanishing.to_string())?;
        rows.number("edges", "", "", &space.edges.to_string())?;
    }
    for place in report.unbounded.iter().flat_map(|row| &row.places) {
        rows.number("bound", place, "tokens", "inf")?;
    }
    for row in &report.bounds {
        rows.number("bound", &row.name, "tokens", &row.bound.to_string())?;
    }
    if let Some(row) = &report.deadlocks {
        rows.number("deadlocks", "", "", &row.count.to_string())?;
    }
    for row in &report.liveness {
        rows.number("liveness", &row.name, "", &row.level.to_string())?;
    }
    if let Some(time) = &report.passage {
        rows.number("goal_probability", "", "", &time.probability.to_string())?;
        rows.passage(time)?;
    }
    if let Some(steady) = &report.steady {
        rows.averages("", &steady.averages)?;
    }
    for section in &report.at {
        rows.averages(&format!(" at {} s", section.time_s), &section.averages)?;
    }
    rows.finish()
}
