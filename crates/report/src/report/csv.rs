//! Reports as CSV: one number a row, the same columns for every kind.
//!
//! `measure,name,unit,value,low,high,level,samples`; an interval or count that does not exist is an empty cell.

use crate::estimate::Measured;
use crate::report::distribution::Distribution;
use crate::report::job::JobReport;
use crate::report::number::quantile_name;
use crate::report::passage::PassageSection;
use crate::report::solve::SolveReport;
use crate::report::solve_numbers::AverageSection;
use crate::report::steady::SteadyReport;
use crate::report::summary::SimulationReport;

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

    pub(super) fn quantity(
        &mut self,
        measure: &str,
        name: &str,
        unit: &str,
        quantity: &Measured,
    ) -> Result<(), CsvError> {
        let optional = |value: Option<f64>| value.map_or_else(String::new, |value| value.to_string());
        let ends = quantity.ends().map_or([None; 2], |ends| ends.map(Some));
        if quantity.is_exact() {
            return self.bounded(measure, name, unit, quantity.value, ends);
        }
        self.write([
            measure.to_owned(),
            name.to_owned(),
            unit.to_owned(),
            quantity.value.to_string(),
            optional(ends[0]),
            optional(ends[1]),
            quantity.level.to_string(),
            quantity.samples.to_string(),
        ])
    }

    pub(super) fn number(&mut self, measure: &str, name: &str, unit: &str, value: &str) -> Result<(), CsvError> {
        let cells = [measure, name, unit, value, "", "", "", ""];
        self.write(cells.map(str::to_owned))
    }

    fn optional(&mut self, measure: &str, name: &str, quantity: Option<&Measured>) -> Result<(), CsvError> {
        quantity.map_or(Ok(()), |quantity| self.quantity(measure, name, "s", quantity))
    }

    fn distribution(&mut self, measure: &str, time: &Distribution) -> Result<(), CsvError> {
        self.quantity(measure, "mean", &time.unit, &time.mean)?;
        self.optional(measure, "sd", time.sd.as_ref())?;
        for row in &time.quantiles {
            self.quantity(measure, &quantile_name(row.p), &time.unit, &row.quantity)?;
        }
        for (name, value) in [("min", time.min), ("max", time.max)] {
            value.map_or(Ok(()), |value| self.number(measure, name, &time.unit, &value.to_string()))?;
        }
        Ok(())
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

/// The CSV of a simulation: replications, passage time, probability of the goal, groups, tokens, throughputs, rewards, snapshots.
///
/// # Errors
///
/// [`CsvError`], which no report of this crate causes.
pub fn simulation_csv(report: &SimulationReport) -> Result<String, CsvError> {
    let mut rows = Rows::new()?;
    rows.number("replications", "", "", &report.replications.to_string())?;
    rows.number("partial", "", "", &u8::from(report.partial).to_string())?;
    if report.method.used == "exact" {
        rows.number("exact", "", "", "1")?;
    }
    if let Some(time) = &report.passage_time {
        rows.distribution("passage_time", time)?;
    }
    if let Some(share) = &report.goal_probability {
        rows.quantity("goal_probability", "", "", share)?;
    }
    for group in &report.groups {
        rows.optional("group_first", &group.name, group.first.as_ref())?;
        rows.optional("group_last", &group.name, group.last.as_ref())?;
    }
    for (measure, named) in
        [("tokens", &report.tokens), ("throughput", &report.throughputs), ("reward", &report.rewards)]
    {
        for row in named {
            rows.quantity(measure, &row.name, &row.unit, &row.quantity)?;
        }
    }
    for snapshot in &report.snapshots {
        if let Some(mean) = &snapshot.mean {
            rows.quantity("snapshot", &format!("{} at {} s", snapshot.expression, snapshot.time_s), "", mean)?;
        }
    }
    rows.finish()
}

/// The CSV of a steady state: tokens, throughputs, rewards per second.
///
/// # Errors
///
/// [`CsvError`], which no report of this crate causes.
pub fn steady_csv(report: &SteadyReport) -> Result<String, CsvError> {
    let mut rows = Rows::new()?;
    if report.method.used == "exact" {
        rows.number("exact", "", "", "1")?;
    }
    for (measure, named) in
        [("tokens", &report.tokens), ("throughput", &report.throughputs), ("reward", &report.rewards)]
    {
        for row in named {
            rows.quantity(measure, &row.name, &row.unit, &row.quantity)?;
        }
    }
    rows.finish()
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

/// The CSV of an estimate: phases, job time by simulation and by formula, critical path, cost.
///
/// # Errors
///
/// [`CsvError`], which no report of this crate causes.
pub fn job_csv(report: &JobReport) -> Result<String, CsvError> {
    let mut rows = Rows::new()?;
    for phase in &report.phases {
        rows.number("phase_mean", &phase.name, "s", &phase.mean_s.to_string())?;
        rows.optional("phase_first_done", &phase.name, phase.first_done.as_ref())?;
        rows.optional("phase_last_done", &phase.name, phase.last_done.as_ref())?;
        if let Some(critical) = &phase.critical {
            rows.quantity("critical_time", &phase.name, "s", &critical.time)?;
        }
    }
    if let Some(time) = &report.job_time {
        rows.distribution("job_time", time)?;
    }
    if let Some(law) = &report.analytic {
        rows.number("job_time_analytic", "mean", &law.unit, &law.mean.to_string())?;
        rows.number("job_time_analytic", "sd", &law.unit, &law.sd.to_string())?;
        for point in &law.quantiles {
            rows.number("job_time_analytic", &quantile_name(point.p), &law.unit, &point.value.to_string())?;
        }
    }
    for row in &report.attempts {
        rows.quantity("attempts", &row.name, &row.unit, &row.quantity)?;
    }
    if let Some(cost) = &report.time_cost {
        rows.number("time_cost_ratio", "", "", &cost.ratio.to_string())?;
    }
    rows.finish()
}
