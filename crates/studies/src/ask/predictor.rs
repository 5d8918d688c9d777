//! The model behind an answer from a table: the runs of a kind, or the tasks of runs.

use tailspn_common::order::quantile;
use tailspn_common::row::Setting;
use tailspn_tables::tasks::{Cluster, RecordedTasks, TaskModel};
use tailspn_tables::{NoPrediction, Prediction, RunModel, RunTable, Target};

use crate::ask::run_table_result::{OwnRunsSummary, TableColumn};

/// The meaning of the column of numbers of machines.
const MACHINES: &str = "machines";
/// The meaning of the column of sizes.
const SIZE: &str = "input size";
/// Factor beyond the measured sizes or numbers of machines from which the answer warns.
const FAR: f64 = 4.0;

/// The content of a table.
#[derive(Clone, Debug)]
pub(super) enum Recorded {
    /// The times of runs.
    Runs(Box<RunModel>),
    /// The times of the tasks of runs.
    Tasks(Box<RecordedTasks>, Box<Cluster>),
}

/// The model behind an answer.
pub(super) enum Predictor<'q> {
    Runs(&'q RunModel, usize),
    Tasks(Box<TaskModel>),
}

impl Predictor<'_> {
    pub(super) fn predict(&self, size: f64, machines: f64) -> Result<Prediction, NoPrediction> {
        match self {
            Self::Runs(model, group) => model.predict(&Target { group: *group, size, machines }),
            Self::Tasks(model) => model.predict(size, machines as u32),
        }
    }

    /// Returns the sizes and the numbers of machines that were measured.
    pub(super) fn axes(&self) -> Axes {
        match self {
            Self::Runs(model, group) => {
                let (roles, group) = (&model.table.roles, &model.table.groups[*group]);
                Axes {
                    sizes: group.sizes.clone(),
                    machines: group.machines.clone(),
                    size_column: roles.size.map(|column| model.table.names[column].clone()),
                    size_mb: roles.size_mb,
                    has_machines: roles.machines.is_some(),
                    machine: machine(roles.machines.map(|column| &*model.table.names[column])),
                }
            }
            Self::Tasks(model) => {
                let recorded = &model.recorded;
                let column = |meaning: &str| {
                    recorded.columns.iter().find(|column| column.1 == meaning).map(|column| column.0.as_str())
                };
                Axes {
                    sizes: recorded.sizes.clone(),
                    machines: recorded.executors.iter().map(|&count| count.into()).collect(),
                    size_column: column(SIZE).map(str::to_owned),
                    size_mb: recorded.size_mb,
                    has_machines: true,
                    machine: machine(column(MACHINES)),
                }
            }
        }
    }

    /// Returns the columns of the table with their meaning.
    pub(super) fn columns(&self) -> Vec<TableColumn> {
        let (table, group) = match self {
            Self::Runs(model, group) => (&model.table, &model.table.groups[*group]),
            Self::Tasks(model) => {
                let column = |(name, read_as): &(String, &str)| TableColumn {
                    name: name.clone(),
                    read_as: (*read_as).to_owned(),
                    value: None,
                    values: Vec::new(),
                };
                return model.recorded.columns.iter().map(column).collect();
            }
        };
        let roles = &table.roles;
        let column = |(at, name): (usize, &String)| {
            let kind = roles.kinds.iter().position(|&kind| kind == at);
            let read_as = match at {
                at if at == roles.time => "time",
                at if Some(at) == roles.machines => MACHINES,
                at if Some(at) == roles.size => SIZE,
                _ if kind.is_some() => "kind",
                _ => "not used",
            };
            TableColumn {
                name: name.clone(),
                read_as: read_as.to_owned(),
                value: kind.map(|kind| group.kinds[kind].clone()),
                values: kind.map_or_else(Vec::new, |kind| values(table, kind)),
            }
        };
        table.names.iter().enumerate().map(column).collect()
    }
}

/// Returns what a column counts.
fn machine(name: Option<&str>) -> &'static str {
    if name.is_some_and(|name| name.to_lowercase().contains("executor")) { "executor" } else { "machine" }
}

/// The measured values: sizes in the unit of the table, numbers of machines, both ascending.
pub(super) struct Axes {
    pub(super) sizes: Vec<f64>,
    pub(super) machines: Vec<f64>,
    /// The name of the column of sizes.
    pub(super) size_column: Option<String>,
    pub(super) size_mb: Option<f64>,
    pub(super) has_machines: bool,
    /// The noun of the counted machines: `executor` or `machine`.
    pub(super) machine: &'static str,
}

impl Axes {
    /// Returns a size as options accept it if its unit is known, otherwise as a number.
    pub(super) fn size_setting(&self, size: f64) -> Setting {
        match self.size_mb.map(|mb| mb * size) {
            Some(mb) if mb >= 1024.0 => Setting::Word(format!("{}GB", rounded(mb / 1024.0))),
            Some(mb) => Setting::Word(format!("{}MB", rounded(mb))),
            None => Setting::Number(size),
        }
    }
}

/// Returns the values of a column that sets runs apart.
pub(super) fn values(table: &RunTable, place: usize) -> Vec<String> {
    let mut values: Vec<String> = table.groups.iter().map(|group| group.kinds[place].clone()).collect();
    let number = |value: &String| value.parse::<f64>().unwrap_or(f64::INFINITY);
    values.sort_by(|a, b| number(a).total_cmp(&number(b)).then_with(|| a.cmp(b)));
    values.dedup();
    values
}

/// Returns the check of a table on its own runs.
pub(super) fn own_runs(predictor: &Predictor<'_>) -> OwnRunsSummary {
    match predictor {
        Predictor::Runs(model, _) => {
            let left_out = &model.left_out;
            let [inside, runs] = left_out.inside().map(|count| count as u64);
            let error = left_out.error(0.5).zip(left_out.error(0.9)).map(|(half, most)| [half.into(), most.into()]);
            OwnRunsSummary { left_out: Some(left_out.settings.len() as u64), runs, inside, error }
        }
        Predictor::Tasks(model) => {
            let own = model.own_runs();
            let is_inside = |([.., time_s], found): &&([f64; 3], Prediction)| {
                let [low, high] = found.interval_s(0.9);
                (low..=high).contains(time_s)
            };
            let mut errors: Vec<f64> =
                own.iter().map(|([.., time_s], found)| (found.median_s() / time_s - 1.0).abs()).collect();
            errors.sort_by(f64::total_cmp);
            let error =
                quantile(&errors, 0.5).zip(quantile(&errors, 0.9)).map(|(half, most)| [half.into(), most.into()]);
            let inside = own.iter().filter(is_inside).count() as u64;
            OwnRunsSummary { left_out: None, runs: own.len() as u64, inside, error }
        }
    }
}

/// Returns what a reader should know about the runs, and what the table does not show.
pub(super) fn notes(predictor: &Predictor<'_>, machines: &[f64]) -> (Vec<String>, Vec<String>) {
    let (mut notes, mut unknown) = (Vec::new(), Vec::new());
    match predictor {
        Predictor::Runs(model, _) if model.table.incomplete > 0 => {
            notes.push(format!("rows with an empty cell, which are left out: {}", model.table.incomplete));
        }
        Predictor::Runs(..) => {}
        Predictor::Tasks(model) => {
            let most = machines.iter().copied().fold(0.0, f64::max);
            let own: f64 = model.recorded.executors.last().map_or(0.0, |&count| count.into());
            let known = own.max(model.cluster.most_executors.into());
            notes.push("no time of the driver, no failed tasks, and executors that all start at once".to_owned());
            if !model.recorded.has_parents {
                notes.push("each stage follows the one before it: the table has no column `parents`".to_owned());
            }
            if most > known {
                unknown.push(format!(
                    "how much tasks slow each other down on more than {known} executors; --alongside with a run of any program on {most} executors shows it"
                ));
            }
        }
    }
    (notes, unknown)
}

/// Returns a number with three decimals at most.
fn rounded(value: f64) -> f64 {
    (1000.0 * value).round() / 1000.0
}

/// Warns of settings far outside of the measured ones.
pub(super) fn far(what: &str, measured: &[f64], asked: &[f64]) -> Option<String> {
    let (least, most) = (measured.first()?, measured.last()?);
    let is_far = |value: &f64| *value > FAR * most || *value < least / FAR;
    let text = format!("{what} more than {FAR} times outside of the measured ones: the interval may be too narrow");
    asked.iter().any(is_far).then_some(text)
}
