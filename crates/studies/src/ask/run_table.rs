//! The time of a job from a table of its runs: `estimate runs.tsv --workers 4..16`.

use tailspn_common::row::{Between, Level, Set, Setting};
use tailspn_tables::tasks::{Cluster, MOST_EXECUTORS, RecordedTasks, TaskModel, is_task_table};
use tailspn_tables::{Basis, Chosen, Group, Prediction, RunModel, RunTable, Table};

use crate::ask::list::{Rank, chosen};
use crate::ask::predictor::{Axes, Predictor, Recorded, far, notes, own_runs, values};
use crate::ask::run_table_error::{MOST_ROWS, RunTableError};
use crate::ask::run_table_result::{PredictedRow, RunTableAnswer, RunTableEstimate, RunTableQuestion};
use crate::estimate::LEVEL;
use crate::optimize::{Price, PriceUnit};
use crate::plan::InputSize;

/// A question to a table of runs.
///
/// ```
/// use tailspn_studies::ask::EstimateRuns;
///
/// let mut text = "nodes,size_gb,runtime_s\n".to_owned();
/// for nodes in [2, 4, 8] {
///     for size_gb in [10, 20] {
///         text += &format!("{nodes},{size_gb},{}\n", 20 + 30 * size_gb / nodes);
///     }
/// }
/// let mut question = EstimateRuns::new(text.as_bytes(), &Default::default())?;
/// question.machines = vec![16];
/// let found = question.run()?;
/// // 20 GB: 20 s and 600 s of work
/// assert!((found.rows[0].time_s.value.0 / 57.5 - 1.0).abs() < 0.05);
/// # Ok::<(), tailspn_studies::ask::RunTableError>(())
/// ```
#[derive(Clone, Debug)]
pub struct EstimateRuns {
    table: Recorded,
    /// Values of columns: only runs with them are used.
    pub only: Vec<(String, String)>,
    /// Sizes of the input; a multiple is one of the largest size in the table. Empty for the largest.
    pub sizes: Vec<InputSize>,
    /// Numbers of machines. Empty for those in the table.
    pub machines: Vec<u64>,
    /// The deadline \[s\].
    pub deadline_s: Option<f64>,
    /// Probability with which a setting must meet the deadline. Default 95%.
    pub probability: f64,
    /// The price of a machine by time.
    pub price: Option<Price>,
    /// Probability of the intervals. Default 90%.
    pub level: f64,
    /// True to answer although the table does not predict its own runs.
    pub is_trusted: bool,
}

impl EstimateRuns {
    /// Returns the question for the text of a table.
    ///
    /// # Errors
    ///
    /// [`RunTableError`] if the text is not a table of runs.
    pub fn new(text: &[u8], chosen: &Chosen) -> Result<Self, RunTableError> {
        let table = Table::read(text)?;
        let table = if is_task_table(&table.names) {
            Recorded::Tasks(Box::new(RecordedTasks::new(&table, chosen)?), Box::default())
        } else {
            let table = RunTable::new(&table, chosen)?;
            if table.groups.is_empty() {
                return Err(RunTableError::Incomplete);
            }
            Recorded::Runs(Box::new(RunModel::new(table)))
        };
        Ok(Self {
            table,
            only: Vec::new(),
            sizes: Vec::new(),
            machines: Vec::new(),
            deadline_s: None,
            probability: 0.95,
            price: None,
            level: LEVEL,
            is_trusted: false,
        })
    }

    /// Returns the tasks of a table of tasks; none for a table of runs.
    pub fn tasks(&self) -> Option<&RecordedTasks> {
        match &self.table {
            Recorded::Tasks(recorded, _) => Some(recorded),
            Recorded::Runs(_) => None,
        }
    }

    /// States what is known about the cluster, for a table of tasks.
    pub fn set_cluster(&mut self, cluster: Cluster) {
        if let Recorded::Tasks(_, own) = &mut self.table {
            **own = cluster;
        }
    }

    /// Answers the question.
    ///
    /// # Errors
    ///
    /// [`RunTableError`] for names and values that the table does not have, and for settings that it does not allow to predict.
    pub fn run(&self) -> Result<RunTableEstimate, RunTableError> {
        let predictor = match &self.table {
            Recorded::Runs(model) => Predictor::Runs(model, self.group(&model.table)?),
            Recorded::Tasks(_, _) if !self.only.is_empty() => {
                return Err(RunTableError::NoKind { name: self.only[0].0.clone(), columns: "none".to_owned() });
            }
            Recorded::Tasks(recorded, cluster) => {
                Predictor::Tasks(Box::new(TaskModel::new((**recorded).clone(), (**cluster).clone())?))
            }
        };
        let axes = predictor.axes();
        let question = self.question(&predictor, &axes);
        let own_runs = own_runs(&predictor);
        if question.is_about_settings && !self.is_trusted && own_runs.is_reproduced() == Some(false) {
            return Err(RunTableError::Misfit { inside: own_runs.inside, runs: own_runs.runs });
        }
        self.check_price(&axes)?;
        let (sizes, machines) = (self.sizes_of(&axes)?, self.machines_of(&axes)?);
        let count = sizes.len().saturating_mul(machines.len());
        if count > MOST_ROWS {
            return Err(RunTableError::ManyRows { rows: count });
        }
        let mut rows = Vec::new();
        for &size in &sizes {
            for &count in &machines {
                match predictor.predict(size, count) {
                    Ok(found) => rows.push(self.row(&found, &axes, (size, sizes.len() > 1), count)),
                    Err(error) if !self.machines.is_empty() || !self.sizes.is_empty() => return Err(error.into()),
                    // a measured setting can lack what its prediction needs
                    Err(_) => {}
                }
            }
        }
        let (mut notes, unknown) = notes(&predictor, &machines);
        notes.extend(far("machines", &axes.machines, &machines));
        notes.extend(far("sizes", &axes.sizes, &sizes));
        Ok(RunTableEstimate {
            answer: self.answer(&rows),
            own_runs,
            question,
            columns: predictor.columns(),
            size: axes.size_column.as_ref().and_then(|_| if let [size] = sizes[..] { Some(size) } else { None }),
            rows,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            notes,
            unknown,
        })
    }

    /// Refuses the price of something else than what the table counts.
    fn check_price(&self, axes: &Axes) -> Result<(), RunTableError> {
        let Some(price) = &self.price else { return Ok(()) };
        let wanted = if axes.machine == "executor" { PriceUnit::ExecutorHour } else { PriceUnit::NodeHour };
        match price.unit == wanted {
            true => Ok(()),
            false => Err(RunTableError::Price { price: price.unit.key(), counted: axes.machine }),
        }
    }

    /// Returns the group that the answer is about: of those with the wanted values, the one with the most runs.
    fn group(&self, table: &RunTable) -> Result<usize, RunTableError> {
        let kinds = &table.roles.kinds;
        let mut wanted = Vec::new();
        for (name, value) in &self.only {
            let Some(place) = kinds.iter().position(|&column| table.names[column] == *name) else {
                let columns: Vec<&str> = kinds.iter().map(|&column| table.names[column].as_str()).collect();
                let columns = if columns.is_empty() { "none".to_owned() } else { columns.join(", ") };
                return Err(RunTableError::NoKind { name: name.clone(), columns });
            };
            let values = values(table, place);
            // numbers may be written in other ways
            let is_equal =
                |own: &&String| *own == value || own.parse::<f64>().is_ok_and(|own| value.parse() == Ok(own));
            let Some(found) = values.iter().find(is_equal) else {
                let (name, value) = (name.clone(), value.clone());
                return Err(RunTableError::NoRuns { name, value, values: values.join(", ") });
            };
            wanted.push((place, found.clone()));
        }
        let fits = |group: &Group| wanted.iter().all(|(place, value)| group.kinds[*place] == *value);
        let fitting = table.groups.iter().enumerate().filter(|(_, group)| fits(group));
        // of equal groups, the first
        fitting.rev().max_by_key(|(_, group)| group.runs()).map(|(at, _)| at).ok_or(RunTableError::NoRunsTogether)
    }

    /// Returns the sizes, in the unit of the table.
    fn sizes_of(&self, axes: &Axes) -> Result<Vec<f64>, RunTableError> {
        let largest = axes.sizes.last().copied().unwrap_or(1.0);
        if self.sizes.is_empty() {
            // without numbers of machines, the rows are the sizes
            return Ok(if axes.has_machines { vec![largest] } else { axes.sizes.clone() });
        }
        let Some(name) = &axes.size_column else { return Err(RunTableError::NoSize) };
        let size = |asked: &InputSize| match asked {
            InputSize::Times(times) => Ok(times * largest),
            InputSize::Data(data) => match axes.size_mb {
                Some(mb) => Ok(data.mb() / mb),
                None => Err(RunTableError::NoUnit { name: name.clone() }),
            },
        };
        self.sizes.iter().map(size).collect()
    }

    fn machines_of(&self, axes: &Axes) -> Result<Vec<f64>, RunTableError> {
        if self.machines.is_empty() {
            return Ok(axes.machines.clone());
        }
        if !axes.has_machines {
            return Err(RunTableError::NoMachines);
        }
        if self.machines.contains(&0) {
            return Err(RunTableError::NoMachine);
        }
        let most = MOST_EXECUTORS.into();
        if let Some(&found) = self.machines.iter().find(|count| **count > most).filter(|_| self.tasks().is_some()) {
            return Err(RunTableError::ManyExecutors { found, most });
        }
        Ok(self.machines.iter().map(|count| *count as f64).collect())
    }

    fn row(&self, found: &Prediction, axes: &Axes, (size, has_sizes): (f64, bool), machines: f64) -> PredictedRow {
        let mut set = Vec::new();
        if axes.has_machines {
            set.push((axes.machine.to_owned() + "s", Setting::Count(machines as i64)));
        }
        if has_sizes || !axes.has_machines {
            set.push(("input_size".to_owned(), axes.size_setting(size)));
        }
        let time_s = found.median_s();
        let [low, high] = found.interval_s(self.level);
        let hours = axes.has_machines.then_some(machines * time_s / 3600.0);
        let basis = match found.basis {
            Basis::Measured => "measured",
            Basis::Between => "between",
            Basis::Beyond => "beyond",
        };
        PredictedRow {
            set: Set(set),
            time_s: Between { value: time_s.into(), low: Some(low.into()), high: Some(high.into()) },
            in_time: self.deadline_s.map(|deadline_s| found.within(deadline_s).into()),
            cost: hours.map(|hours| (hours * self.price.as_ref().map_or(1.0, |price| price.amount)).into()),
            runs: found.runs as u64,
            basis: basis.to_owned(),
        }
    }

    fn answer(&self, rows: &[PredictedRow]) -> RunTableAnswer {
        let rank = |row: &PredictedRow| Rank {
            time_s: row.time_s.value.0,
            cost: row.cost.map_or(0.0, |cost| cost.0),
            in_time: row.in_time.map(|share| share.0),
        };
        let wanted = self.deadline_s.map(|_| self.probability);
        let [row, closest] = chosen(rows.iter().map(rank), wanted);
        RunTableAnswer { row, closest, ..RunTableAnswer::default() }
    }

    fn question(&self, predictor: &Predictor<'_>, axes: &Axes) -> RunTableQuestion {
        let (runs, sizes, machines) = match predictor {
            Predictor::Runs(model, _) => {
                let ends = |values: fn(&Group) -> &[f64]| {
                    let all = || model.table.groups.iter().flat_map(values).copied();
                    [all().fold(f64::INFINITY, f64::min), all().fold(0.0, f64::max)]
                };
                (model.table.runs(), ends(|group| &group.sizes), ends(|group| &group.machines))
            }
            Predictor::Tasks(model) => {
                let ends = |values: &[f64]| [values[0], values[values.len() - 1]];
                (model.recorded.runs().len(), ends(&axes.sizes), ends(&axes.machines))
            }
        };
        RunTableQuestion {
            is_about_settings: !(self.sizes.is_empty() && self.machines.is_empty() && self.deadline_s.is_none()),
            runs: runs as u64,
            tasks: if let Predictor::Tasks(model) = predictor { Some(model.recorded.tasks() as u64) } else { None },
            machines: axes.has_machines.then(|| machines.map(|count| count as u64)),
            sizes: axes.size_column.as_ref().map(|_| sizes),
            size_mb: axes.size_mb,
            deadline_s: self.deadline_s,
            probability: self.probability,
            level: Level(self.level),
            price: self.price.as_ref().map(ToString::to_string),
            machine: axes.machine.to_owned(),
            cost_unit: self.price.as_ref().map_or_else(|| format!("{}-hours", axes.machine), Price::cost_unit),
        }
    }
}

/// Returns the tasks of another program, from the text of a table of tasks.
///
/// # Errors
///
/// [`RunTableError`] if the text is not such a table.
pub fn tasks_of(text: &[u8], chosen: &Chosen) -> Result<RecordedTasks, RunTableError> {
    let table = Table::read(text)?;
    if is_task_table(&table.names) { Ok(RecordedTasks::new(&table, chosen)?) } else { Err(RunTableError::NoProgram) }
}
