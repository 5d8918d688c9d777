//! Reason why a table of runs or of tasks does not answer.

use std::borrow::Cow;

use tailspn_common::explain::{ErrorKind, Explain};
use tailspn_tables::tasks::NoTasks;
use tailspn_tables::{NoPrediction, RolesError, TableError};

/// Maximum number of rows.
pub(super) const MOST_ROWS: usize = 10_000;

/// Reason why a table of runs does not answer.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum RunTableError {
    /// A text that is not a table.
    #[error(transparent)]
    Table(#[from] TableError),
    /// A table that is not one of runs.
    #[error(transparent)]
    Roles(#[from] RolesError),
    /// A table that is not one of tasks.
    #[error(transparent)]
    Tasks(#[from] NoTasks),
    /// A file that does not tell anything about the cluster.
    #[error("other programs of a cluster are learnt from tables of tasks, but this one has no column `stage`")]
    NoProgram,
    /// Too many executors.
    #[error("{found} executors, more than {most}")]
    ManyExecutors {
        /// The number.
        found: u64,
        /// The maximum.
        most: u64,
    },
    /// A setting that cannot be predicted.
    #[error(transparent)]
    Prediction(#[from] NoPrediction),
    /// A column that sets no runs apart.
    #[error("runs cannot be chosen by `{name}`; the columns that set runs apart are: {columns}")]
    NoKind {
        /// The name.
        name: String,
        /// The columns that can be used.
        columns: String,
    },
    /// A value that no run has.
    #[error("no run has {name}={value}; the values are {values}")]
    NoRuns {
        /// The column.
        name: String,
        /// The value.
        value: String,
        /// The values in the table.
        values: String,
    },
    /// Values that no run has together.
    #[error("no run has all of the values of --only")]
    NoRunsTogether,
    /// All rows are incomplete.
    #[error("no row of the table has a value in each column that is used")]
    Incomplete,
    /// Numbers of machines for a table without them.
    #[error("the table has no column with the number of machines")]
    NoMachines,
    /// A size for a table without them.
    #[error("the table has no column with the size of the input")]
    NoSize,
    /// An amount of data for sizes without a unit.
    #[error("column `{name}` does not say in which unit its sizes are")]
    NoUnit {
        /// The column.
        name: String,
    },
    /// A price of something else than what the table counts.
    #[error("the price is one {price}, but the table counts {counted}s")]
    Price {
        /// The unit of the price.
        price: &'static str,
        /// The noun of the counted machines: `machine` or `executor`.
        counted: &'static str,
    },
    /// A table that does not predict its own runs.
    #[error(
        "the table does not predict its own runs: only {inside} of {runs} are inside the 90% interval, so it gives no advice"
    )]
    Misfit {
        /// Runs inside.
        inside: u64,
        /// All predicted runs.
        runs: u64,
    },
    /// A run on no machine.
    #[error("a run needs at least one machine")]
    NoMachine,
    /// Too many rows.
    #[error("{rows} rows, more than {MOST_ROWS}")]
    ManyRows {
        /// Number of rows.
        rows: usize,
    },
}

impl Explain for RunTableError {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::Table(error) => error.kind(),
            Self::Roles(error) => error.kind(),
            Self::Tasks(error) => error.kind(),
            Self::NoProgram => ErrorKind::Model,
            Self::Prediction(error) => error.kind(),
            Self::Incomplete => ErrorKind::Model,
            Self::Misfit { .. } => ErrorKind::Unmet,
            _ => ErrorKind::Usage,
        }
    }

    fn help(&self) -> Option<Cow<'static, str>> {
        Some(match self {
            Self::Table(error) => return error.help(),
            Self::Roles(error) => return error.help(),
            Self::Tasks(error) => return error.help(),
            Self::NoProgram => "pass tables of tasks, or a file that --save-cluster has written".into(),
            Self::ManyExecutors { .. } => "state fewer".into(),
            Self::Prediction(error) => return error.help(),
            Self::NoKind { .. } | Self::NoRuns { .. } | Self::NoRunsTogether => {
                "write --only COLUMN=VALUE, with the names and values of the table".into()
            }
            Self::Incomplete => "see docs/tables.md".into(),
            Self::NoMachines => "leave out --workers, or name the column with --machines-column NAME".into(),
            Self::NoSize => "leave out --input-size, or name the column with --size-column NAME".into(),
            Self::NoUnit { .. } => "state a multiple of the largest size, such as --input-size 2x".into(),
            Self::Price { counted: "executor", .. } => "write --price as 0.30/executor-hour".into(),
            Self::Price { .. } => "write --price as 0.40/node-hour".into(),
            Self::Misfit { .. } => "without options, the answer shows the table; --trust-misfit answers anyway".into(),
            Self::NoMachine => "state 1 or more".into(),
            Self::ManyRows { .. } => "shorten the lists".into(),
        })
    }
}
