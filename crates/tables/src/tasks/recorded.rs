//! The tasks of the runs of a program, from a table.

use std::borrow::Cow;
use std::collections::BTreeMap;

use tailspn_common::explain::{ErrorKind, Explain};
use tailspn_common::order::median;

use crate::roles::{Chosen, Roles, RolesError};
use crate::runs::place_of;
use crate::table::Table;
use crate::tasks::schedule::{WAVES, Work, makespan};

/// Maximum number of stages of a program.
const MOST_STAGES: usize = 200;
/// Maximum number of runs.
const MOST_RUNS: usize = 1000;
/// Maximum number of executors of a run.
pub const MOST_EXECUTORS: u32 = 100_000;
/// Names of columns that would tell programs apart.
const PROGRAMS: [&str; 6] = ["program", "query", "app", "application", "workload", "benchmark"];

/// A run, by its position in the lists of sizes and executors, and among the runs of that setting.
pub(crate) type Run = (usize, usize, usize);

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
        /// The allowed values.
        wanted: &'static str,
    },
    /// Several programs.
    #[error("column `{name}` has several values: a table of tasks is about one program")]
    Several {
        /// The column.
        name: String,
    },
    /// Too many runs.
    #[error("the table has more than {MOST_RUNS} runs")]
    ManyRuns,
    /// No run.
    #[error("the table has no run")]
    Empty,
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
            Self::Several { .. } => Some("keep the rows of one program; pass the others with --alongside".into()),
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

/// The columns of a table of tasks, by position.
struct Columns<'t> {
    table: &'t Table,
    roles: Roles,
    count: usize,
    stage: usize,
    wave: Option<usize>,
    parents: Option<usize>,
    run: Option<usize>,
}

impl<'t> Columns<'t> {
    fn new(table: &'t Table, chosen: &Chosen) -> Result<Self, NoTasks> {
        let roles = table.axes(chosen)?;
        let several = |name: &&str| {
            let column = table.place(name)?;
            let text = |row: usize| table.columns[column].text(row);
            (1..table.rows()).any(|row| text(row) != text(0)).then(|| table.names[column].clone())
        };
        if let Some(name) = PROGRAMS.iter().find_map(several) {
            return Err(NoTasks::Several { name });
        }
        let Some(stage) = table.place("stage") else { return Err(NoTasks::Missing { what: "the stage: `stage`" }) };
        let Some(count) = roles.machines else { return Err(NoTasks::Missing { what: "the number of executors" }) };
        let [wave, parents, run] = ["wave", "parents", "run"].map(|name| table.place(name));
        Ok(Self { table, roles, count, stage, wave, parents, run })
    }

    fn number(&self, column: usize, row: usize) -> f64 {
        self.table.columns[column].numbers().map_or(f64::NAN, |cells| cells[row])
    }

    /// Returns the size of the input, the number of executors and the time of a row, as they stand in the table.
    fn row(&self, row: usize) -> [f64; 3] {
        let size = self.roles.size.map_or(1.0, |size| self.number(size, row));
        [size, self.number(self.count, row), self.number(self.roles.time, row)]
    }

    /// Returns the size, the number of executors and the time of a row; an error if one of them cannot be used.
    fn checked(&self, row: usize) -> Result<[f64; 3], NoTasks> {
        let found @ [size, executors, time] = self.row(row);
        let checks = [
            (
                executors.is_nan() || executors > f64::from(MOST_EXECUTORS),
                self.count,
                "a number of executors up to 100,000",
            ),
            (size.is_nan(), self.roles.size.unwrap_or(self.count), "a size above 0"),
            (time.is_nan(), self.roles.time, "a time above 0"),
        ];
        match checks.into_iter().find(|(is_wrong, ..)| *is_wrong) {
            Some((_, column, wanted)) => Err(wrong(self.table, column, row, wanted)),
            None => Ok(found),
        }
    }

    /// Returns the names of the columns with their meaning.
    fn meanings(&self) -> Vec<(String, &'static str)> {
        let meaning = |(at, name): (usize, &String)| {
            let meaning = match at {
                at if at == self.roles.time => "time",
                at if at == self.count => "machines",
                at if Some(at) == self.roles.size => "input size",
                at if [Some(self.stage), self.wave, self.parents, self.run].contains(&Some(at)) => "tasks",
                _ => "not used",
            };
            (name.clone(), meaning)
        };
        self.table.names.iter().enumerate().map(meaning).collect()
    }

    /// Returns the different values of the size or of the number of executors, ascending.
    fn values(&self, place: usize) -> Vec<f64> {
        let mut all: Vec<f64> = (0..self.table.rows()).map(|row| self.row(row)[place]).collect();
        all.sort_by(f64::total_cmp);
        all.dedup();
        all
    }
}

impl RecordedTasks {
    /// Reads the tasks of a table.
    ///
    /// # Errors
    ///
    /// [`NoTasks`], with the line.
    pub fn new(table: &Table, chosen: &Chosen) -> Result<Self, NoTasks> {
        let columns = Columns::new(table, chosen)?;
        let (sizes, counts) = (columns.values(0), columns.values(1));
        let mut found = Self {
            executors: counts.iter().map(|count| *count as u32).collect(),
            size_mb: columns.roles.size_mb,
            has_parents: columns.parents.is_some(),
            columns: columns.meanings(),
            parents: vec![Vec::new(); sizes.len()],
            sizes,
            ..Self::default()
        };
        let mut repeats: BTreeMap<(usize, usize), Vec<String>> = BTreeMap::new();
        for row in 0..table.rows() {
            let [size, executors, time] = columns.checked(row)?;
            let stage = stage_of(table, columns.stage, row)?;
            let wave = columns.wave.map_or(Ok(WAVES - 1), |column| wave_of(table, column, row))?;
            let place = |values: &[f64], value: f64| values.partition_point(|other| *other < value);
            let setting = (place(&found.sizes, size), place(&counts, executors));
            let names = repeats.entry(setting).or_default();
            let name = columns.run.map_or_else(String::new, |column| table.columns[column].text(row));
            let repeat = names.iter().rposition(|own| *own == name).unwrap_or(names.len());
            if repeat == names.len() {
                names.push(name);
            }
            if repeat >= MOST_RUNS {
                return Err(NoTasks::ManyRuns);
            }
            found.stages = found.stages.max(stage + 1);
            if let Some(column) = columns.parents {
                let all = &mut found.parents[setting.0];
                all.resize(all.len().max(stage + 1), Vec::new());
                if all[stage].is_empty() {
                    all[stage] = parents_of(table, column, row)?;
                }
            }
            let run = (setting.0, setting.1, repeat);
            found.cells.entry((run, stage, wave)).or_default().push(time * columns.roles.time_s);
        }
        found.finish()?;
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
        match self.runs.len() {
            0 => Err(NoTasks::Empty),
            runs if runs > MOST_RUNS => Err(NoTasks::ManyRuns),
            _ => Ok(()),
        }
    }

    /// Returns the runs as size and number of executors.
    pub fn runs(&self) -> Vec<(f64, u32)> {
        self.runs.iter().map(|run| (self.sizes[run.0], self.executors[run.1])).collect()
    }

    /// Returns the number of tasks.
    pub fn tasks(&self) -> usize {
        self.cells.values().map(Vec::len).sum()
    }

    /// Returns the runs that pass a test; stages without a task are kept.
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

    /// Returns the time of the recorded runs of a setting by list schedules of their tasks \[s\]: the median of several.
    pub fn scheduled_s(&self, size: f64, executors: u32) -> Option<f64> {
        let size = place_of(&self.sizes, size)?;
        let own = self.runs.iter().filter(|run| run.0 == size && self.executors[run.1] == executors);
        median(own.map(|run| self.time_of(*run)))
    }

    /// Returns the time of a recorded run by a list schedule of its tasks \[s\].
    pub(crate) fn time_of(&self, run: Run) -> f64 {
        let wave = |stage: usize, wave: usize| self.cells.get(&(run, stage, wave)).cloned().unwrap_or_default();
        let tasks = (0..self.stages).map(|stage| [0, 1, 2].map(|at| wave(stage, at))).collect();
        makespan(&Work { tasks, parents: &self.parents[run.0] }, self.executors[run.1] as usize)
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
    fn runs_of_one_setting_are_told_apart_by_their_name() {
        let text = "executors,stage,run,time_s\n1,0,a,2\n1,0,b,4\n1,0,b,6\n";
        let found = read(text).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!((found.runs(), found.scheduled_s(1.0, 1)), (vec![(1.0, 1), (1.0, 1)], Some(6.0)));
        let several = read("executors,stage,query,time_s\n1,0,a,2\n1,0,b,4\n").unwrap_err();
        assert_eq!(several, NoTasks::Several { name: "query".to_owned() });
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
