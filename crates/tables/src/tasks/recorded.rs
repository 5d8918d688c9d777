//! The tasks of the runs of a program, from a table.

use std::borrow::Cow;
use std::collections::BTreeMap;

use tailspn_common::explain::{ErrorKind, Explain};

use crate::roles::{Chosen, RolesError};
use crate::table::Table;
use crate::tasks::schedule::{WAVES, Work, makespan};

/// Maximum number of stages of a program.
const MOST_STAGES: usize = 200;
/// Maximum number of executors of a run.
pub(crate) const MOST_EXECUTORS: f64 = 100_000.0;

/// A run, by its position in the lists of sizes and executors.
pub(crate) type Run = (usize, usize);

/// The tasks of the runs of one program.
#[derive(Clone, Debug, Default)]
pub struct RecordedTasks {
    /// Sizes of the input, ascending, in the unit of the table.
    pub sizes: Vec<f64>,
    /// MB of a unit of sizes; none if the table does not say.
    pub size_mb: Option<f64>,
    /// Numbers of executors, ascending.
    pub executors: Vec<u32>,
    /// Number of stages.
    pub stages: usize,
    /// True if the table states the parents of stages.
    pub has_parents: bool,
    /// Columns, and their meaning.
    pub columns: Vec<(String, &'static str)>,
    /// Durations \[s\] by run, stage and wave.
    pub(crate) cells: BTreeMap<(Run, usize, usize), Vec<f64>>,
    /// Parents of each stage, by size.
    pub(crate) parents: Vec<Vec<Vec<usize>>>,
    /// The runs.
    pub(crate) runs: Vec<Run>,
}

/// Reason why a table is not one of tasks.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NoTasks {
    /// The columns of times, sizes and executors.
    #[error(transparent)]
    Roles(#[from] RolesError),
    /// A column is missing.
    #[error("a table of tasks needs a column with {what}")]
    Missing {
        /// The content of the column.
        what: &'static str,
    },
    /// A cell that cannot be used.
    #[error("line {line}, column `{name}`: {found} is not {wanted}")]
    Cell {
        /// The column.
        name: String,
        /// The line, from 1.
        line: u64,
        /// The cell.
        found: String,
        /// What is allowed.
        wanted: &'static str,
    },
    /// A stage that waits for itself.
    #[error("stage {stage} waits for stage {parent}, which does not precede it")]
    Order {
        /// The stage.
        stage: usize,
        /// The parent.
        parent: usize,
    },
}

impl Explain for NoTasks {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::Roles(error) => error.kind(),
            _ => ErrorKind::Model,
        }
    }

    fn help(&self) -> Option<Cow<'static, str>> {
        match self {
            Self::Roles(error) => error.help(),
            _ => Some("see docs/tables.md for the columns of a table of tasks".into()),
        }
    }
}

/// Returns true for the header of a table of tasks.
pub fn is_task_table(names: &[String]) -> bool {
    names.iter().any(|name| name == "stage")
}

/// Returns a cell that is wrong.
fn wrong(table: &Table, column: usize, row: usize, wanted: &'static str) -> NoTasks {
    let found = table.columns[column].text(row);
    NoTasks::Cell { name: table.names[column].clone(), line: table.lines[row], found, wanted }
}

impl RecordedTasks {
    /// Reads the tasks of a table.
    ///
    /// # Errors
    ///
    /// [`NoTasks`], with the line.
    pub fn new(table: &Table, chosen: &Chosen) -> Result<Self, NoTasks> {
        let roles = table.axes(chosen)?;
        let Some(stage) = table.place("stage") else { return Err(NoTasks::Missing { what: "the stage: `stage`" }) };
        let Some(count) = roles.machines else { return Err(NoTasks::Missing { what: "the number of executors" }) };
        let (wave, parents) = (table.place("wave"), table.place("parents"));
        let number = |column: usize, row: usize| table.columns[column].numbers().map_or(f64::NAN, |cells| cells[row]);
        let size_of = |row: usize| roles.size.map_or(1.0, |size| number(size, row));
        let distinct = |value: &dyn Fn(usize) -> f64| {
            let mut all: Vec<f64> = (0..table.rows()).map(value).collect();
            all.sort_by(f64::total_cmp);
            all.dedup();
            all
        };
        let sizes = distinct(&size_of);
        let counts = distinct(&|row| number(count, row));
        let mut found = Self {
            executors: counts.iter().map(|count| *count as u32).collect(),
            size_mb: roles.size_mb,
            has_parents: parents.is_some(),
            parents: vec![Vec::new(); sizes.len()],
            sizes,
            ..Self::default()
        };
        for row in 0..table.rows() {
            let (size, executors, time) = (size_of(row), number(count, row), number(roles.time, row));
            let checks = [
                (!(executors <= MOST_EXECUTORS), count, "a number of executors up to 100,000"),
                (size.is_nan(), roles.size.unwrap_or(count), "a size above 0"),
                (time.is_nan(), roles.time, "a time above 0"),
            ];
            if let Some((_, column, wanted)) = checks.into_iter().find(|(is_wrong, ..)| *is_wrong) {
                return Err(wrong(table, column, row, wanted));
            }
            let own = stage_of(table, stage, row)?;
            let wave = wave.map_or(Ok(WAVES - 1), |column| wave_of(table, column, row))?;
            let place = |values: &[f64], value: f64| values.partition_point(|other| *other < value);
            let run = (place(&found.sizes, size), place(&counts, executors));
            found.stages = found.stages.max(own + 1);
            if let Some(column) = parents {
                let all = &mut found.parents[run.0];
                all.resize(all.len().max(own + 1), Vec::new());
                if all[own].is_empty() {
                    all[own] = parents_of(table, column, row)?;
                }
            }
            found.cells.entry((run, own, wave)).or_default().push(time * roles.time_s);
        }
        found.finish()?;
        let meaning = |(at, name): (usize, &String)| {
            let meaning = match at {
                at if at == roles.time => "time",
                at if at == count => "machines",
                at if Some(at) == roles.size => "input size",
                at if [Some(stage), wave, parents].contains(&Some(at)) => "tasks",
                _ => "not used",
            };
            (name.clone(), meaning)
        };
        found.columns = table.names.iter().enumerate().map(meaning).collect();
        Ok(found)
    }

    /// Checks the parents, or states that each stage follows the one before it.
    fn finish(&mut self) -> Result<(), NoTasks> {
        for all in &mut self.parents {
            all.resize(self.stages, Vec::new());
            for (stage, parents) in all.iter_mut().enumerate() {
                if !self.has_parents && stage > 0 {
                    parents.push(stage - 1);
                }
                if let Some(&parent) = parents.iter().find(|parent| **parent >= stage) {
                    return Err(NoTasks::Order { stage, parent });
                }
            }
        }
        let mut runs: Vec<Run> = self.cells.keys().map(|(run, ..)| *run).collect();
        runs.dedup();
        self.runs = runs;
        Ok(())
    }

    /// Returns the runs as size and number of executors.
    pub fn runs(&self) -> Vec<(f64, u32)> {
        self.runs.iter().map(|&(size, count)| (self.sizes[size], self.executors[count])).collect()
    }

    /// Returns the number of tasks.
    pub fn tasks(&self) -> usize {
        self.cells.values().map(Vec::len).sum()
    }

    /// Returns the runs of which a test is true, with the stages of all.
    #[must_use]
    pub fn only(&self, keep: impl Fn(f64, u32) -> bool) -> Self {
        let keeps = |run: &Run| keep(self.sizes[run.0], self.executors[run.1]);
        Self {
            cells: self
                .cells
                .iter()
                .filter(|((run, ..), _)| keeps(run))
                .map(|(at, tasks)| (*at, tasks.clone()))
                .collect(),
            runs: self.runs.iter().copied().filter(keeps).collect(),
            ..self.clone()
        }
    }

    /// Returns the time of a recorded run by a list schedule of its tasks \[s\].
    pub fn scheduled_s(&self, size: f64, executors: u32) -> Option<f64> {
        let place =
            (self.sizes.iter().position(|own| *own == size)?, self.executors.iter().position(|own| *own == executors)?);
        self.runs.contains(&place).then(|| {
            let wave = |stage: usize, wave: usize| self.cells.get(&(place, stage, wave)).cloned().unwrap_or_default();
            let tasks = (0..self.stages).map(|stage| [0, 1, 2].map(|at| wave(stage, at))).collect();
            makespan(&Work { tasks, parents: &self.parents[place.0] }, executors as usize)
        })
    }
}

/// Returns the number of a stage.
fn stage_of(table: &Table, column: usize, row: usize) -> Result<usize, NoTasks> {
    let stage = table.columns[column].numbers().map_or(f64::NAN, |cells| cells[row]);
    match stage.fract() == 0.0 && (0.0..MOST_STAGES as f64).contains(&stage) {
        true => Ok(stage as usize),
        false => Err(wrong(table, column, row, "the number of a stage, from 0 to 199")),
    }
}

/// Returns the number of a wave.
fn wave_of(table: &Table, column: usize, row: usize) -> Result<usize, NoTasks> {
    let found = ["fresh", "first", "rest"].iter().position(|name| *name == table.columns[column].text(row));
    found.ok_or_else(|| wrong(table, column, row, "`fresh`, `first` or `rest`"))
}

/// Returns the stages in a cell such as `0;1`; an empty cell has none.
fn parents_of(table: &Table, column: usize, row: usize) -> Result<Vec<usize>, NoTasks> {
    let text = table.columns[column].text(row);
    let parts = text.split([';', ' ', '|']).filter(|part| !part.is_empty() && *part != "NaN");
    let found = parts.map(|part| part.parse().ok()).collect::<Option<_>>();
    found.ok_or_else(|| wrong(table, column, row, "numbers of stages, such as `0;1`"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<RecordedTasks, NoTasks> {
        RecordedTasks::new(&Table::read(text.as_bytes()).unwrap(), &Chosen::default())
    }

    #[test]
    fn tasks_belong_to_runs_stages_and_waves() {
        let text = "size_gb,executors,stage,wave,ms,parents\n2,1,0,fresh,3000,\n2,1,0,rest,1000,\n2,1,1,first,500,0\n4,2,0,rest,10,\n";
        let found = read(text).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!((found.runs(), found.stages, found.tasks()), (vec![(2.0, 1), (4.0, 2)], 2, 4));
        assert_eq!(found.scheduled_s(2.0, 1), Some(4.5));
        assert_eq!(found.parents[0], [vec![], vec![0]]);
        assert_eq!(found.only(|size, _| size < 3.0).runs(), [(2.0, 1)]);
    }

    #[test]
    fn wrong_cells_are_told_with_their_line() {
        let cell = |text: &str| match read(text) {
            Err(NoTasks::Cell { line, name, .. }) => (line, name),
            other => panic!("{other:?}"),
        };
        assert_eq!(cell("executors,stage,time_s\n1,0.5,2\n"), (2, "stage".to_owned()));
        assert_eq!(cell("executors,stage,wave,time_s\n1,0,late,2\n"), (2, "wave".to_owned()));
        assert_eq!(cell("executors,stage,parents,time_s\n1,0,a,2\n"), (2, "parents".to_owned()));
        let order = read("executors,stage,parents,time_s\n1,0,1,2\n1,1,0,2\n").unwrap_err();
        assert_eq!(order, NoTasks::Order { stage: 0, parent: 1 });
        assert!(matches!(read("executors,time_s\n1,2\n"), Err(NoTasks::Missing { .. })));
    }
}
