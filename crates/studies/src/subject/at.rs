//! The job plan or net of one run: the subject with the values of a point.

use toml::Table;

use crate::mapreduce::Plan;
use crate::net::{BuildError, Net, ParameterId};
use crate::plan::{PlanError, ProblemKind};
use crate::stages::StagePlan;
use crate::subject::number::as_number;
use crate::sweep::{Axis, Point, path};

/// Reason why the values of a point do not form a valid job or net.
#[derive(Debug)]
pub(super) struct Misfit {
    /// The key that causes the problem, if it is known.
    pub(super) key: Option<String>,
    pub(super) message: String,
    /// True if the subject has no such key.
    pub(super) unknown: bool,
}

impl Misfit {
    fn plain(message: impl ToString) -> Self {
        Self { key: None, message: message.to_string(), unknown: false }
    }

    fn unknown(message: impl ToString) -> Self {
        Self { unknown: true, ..Self::plain(message) }
    }
}

/// Returns the plan of a job of stages at a point.
pub(super) fn stages_at(table: &Table, axes: &[Axis], point: &Point) -> Result<StagePlan, Misfit> {
    StagePlan::from_toml(&text_at(table, axes, point)?).map_err(misfit)
}

/// Returns the plan of a job at a point.
pub(super) fn job_at(table: &Table, seed: u64, axes: &[Axis], point: &Point) -> Result<Plan, Misfit> {
    if axes.iter().any(|axis| axis.key.trim() == "model.seed") {
        return Err(Misfit::unknown("all points share the seed of the sweep; set `sweep.seed`"));
    }
    let mut plan = Plan::from_toml(&text_at(table, axes, point)?).map_err(misfit)?;
    plan.model.seed = seed;
    Ok(plan)
}

/// Returns the text of a plan with the values of a point.
fn text_at(table: &Table, axes: &[Axis], point: &Point) -> Result<String, Misfit> {
    let mut table = table.clone();
    for (axis, value) in axes.iter().zip(&point.values) {
        if let Some(value) = value {
            path::set(&mut table, &axis.key, value).map_err(Misfit::unknown)?;
        }
    }
    Ok(table.to_string())
}

/// Returns a plan with the values of the axes that `which` selects at a point. Unknown paths have no effect here; the check
/// of the axes reports them.
pub(super) fn table_at(table: &Table, axes: &[Axis], point: &Point, which: impl Fn(&Axis) -> bool) -> Table {
    let mut table = table.clone();
    for (axis, value) in axes.iter().zip(&point.values).filter(|(axis, _)| which(axis)) {
        let _ = value.as_ref().map(|value| path::set(&mut table, &axis.key, value));
    }
    table
}

/// Returns the first problem of a plan without its line, because users do not see the text of a point's plan.
fn misfit(error: PlanError) -> Misfit {
    let Some(problem) = error.problems.first() else { return Misfit::plain(error) };
    let key = (problem.kind == ProblemKind::Value).then(|| problem.key.clone());
    let message = problem.without_line();
    // the message already names the axis
    let prefix = format!("`{}`: ", problem.key);
    let short = message.strip_prefix(&prefix).filter(|_| problem.kind == ProblemKind::Text).map(str::to_owned);
    Misfit { key, message: short.unwrap_or(message), unknown: problem.kind == ProblemKind::UnknownKey }
}

/// Returns the net at a point.
pub(super) fn net_at(net: &Net, axes: &[Axis], point: &Point) -> Result<Net, Misfit> {
    let mut values = Vec::new();
    for (axis, value) in axes.iter().zip(&point.values) {
        if !net.parameters().iter().any(|parameter| parameter.name == axis.key) {
            let names: Vec<&str> = net.parameters().iter().map(|parameter| parameter.name.as_str()).collect();
            let known = names_in_a_sentence(&names);
            return Err(Misfit::unknown(format!("unknown rate parameter; {known}")));
        }
        if let Some(value) = value {
            let number = as_number(value).ok_or_else(|| Misfit::plain(format!("{value} is not a number")))?;
            values.push((axis.key.clone(), number));
        }
    }
    with_parameters(net, &values).map_err(Misfit::plain)
}

/// Reason why rate parameters of a net cannot be replaced.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ParameterError {
    /// Names that no rate parameter of the net has.
    #[error("there is no rate parameter `{}`", .names.join("`, `"))]
    Unknown {
        /// The names.
        names: Vec<String>,
    },
    /// Values with which the net is not valid.
    #[error(transparent)]
    Build(#[from] BuildError),
}

/// Returns the net with other values of rate parameters.
///
/// # Errors
///
/// Every unknown name, or the problems of the net.
pub fn with_parameters(net: &Net, values: &[(String, f64)]) -> Result<Net, ParameterError> {
    if values.is_empty() {
        return Ok(net.clone());
    }
    let mut names = Vec::new();
    let mut builder = net.to_builder();
    for (name, value) in values {
        match net.parameters().iter().position(|parameter| parameter.name == *name).map(ParameterId::from_index) {
            Some(id) => builder.parameter_mut(id).value = (*value).into(),
            None => names.push(name.clone()),
        }
    }
    if !names.is_empty() {
        return Err(ParameterError::Unknown { names });
    }
    Ok(builder.build()?)
}

/// Maximum number of names that a sentence lists.
const MOST_NAMES: usize = 10;

/// Returns a sentence that lists the names that a net has.
pub fn names_in_a_sentence(names: &[&str]) -> String {
    match names.len() {
        0 => "the net has none".to_owned(),
        n if n <= MOST_NAMES => format!("the net has {}", names.join(", ")),
        n => format!("the net has {} and {} more", names[..MOST_NAMES].join(", "), n - MOST_NAMES),
    }
}
