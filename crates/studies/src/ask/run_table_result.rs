//! The result of an estimate from a table of runs, as JSON has it.

use serde::{Deserialize, Serialize};
use tailspn_common::row::{Between, Cost, Level, Row, Seconds, Set, Share};

/// A setting, and the time of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Row)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PredictedRow {
    /// Number of machines and size of the input, as far as the table has them.
    #[column(set)]
    pub set: Set,
    /// Median time of the next run, with the interval that contains the next run with probability `question.level`.
    pub time_s: Between<Seconds>,
    /// Probability of finishing by the deadline; none without a deadline.
    pub in_time: Option<Share>,
    /// Cost of a run of median time; without a price, hours of machines or executors. None if the table lacks numbers of machines.
    pub cost: Option<Cost>,
    /// Number of runs of the table at this setting.
    #[column(csv)]
    pub runs: u64,
    /// Where the runs are that the time follows from: `measured` (at the setting; a table of tasks gives the time of its fit there, too), `between` (on both sides) or `beyond` (on one side).
    #[column(csv)]
    pub basis: String,
}

/// The check of a table on its own runs.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OwnRunsSummary {
    /// Number of settings, each of which was left out and predicted from the others; none for a table of tasks, whose runs are predicted by the fit to all of
    /// them.
    pub left_out: Option<u64>,
    /// Number of predicted runs.
    pub runs: u64,
    /// Number of these runs in the 90% interval of their prediction.
    pub inside: u64,
    /// Relative error of the predicted median: its median, and the error that nine of ten predictions do not exceed. None if nothing was predicted.
    pub error: Option<[Share; 2]>,
}

/// A column of the table, and its meaning.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TableColumn {
    /// The name.
    pub name: String,
    /// The meaning: `time`, `machines`, `input size`, `kind`, `tasks` (of tables of tasks), or `not used`.
    pub read_as: String,
    /// Of a kind: the value that the answer is about.
    pub value: Option<String>,
    /// Of a kind: the values in the table.
    pub values: Vec<String>,
}

/// The answer, by positions in `rows`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RunTableAnswer {
    /// The answer in words.
    pub text: String,
    /// Position of the chosen setting: without a deadline the fastest, otherwise the cheapest that meets it. None if no setting meets the deadline.
    pub row: Option<usize>,
    /// Position of the setting that is most likely to meet the deadline, if none meets it.
    pub closest: Option<usize>,
}

/// The request, and what the table says about itself.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RunTableQuestion {
    /// True if settings were named; false if the answer describes the table.
    pub is_about_settings: bool,
    /// Runs in the table.
    pub runs: u64,
    /// Tasks in a table of tasks.
    pub tasks: Option<u64>,
    /// The smallest and the largest number of machines; none if the table has none.
    pub machines: Option<[u64; 2]>,
    /// The smallest and the largest size, in the unit of the table; none if the table has none.
    pub sizes: Option<[f64; 2]>,
    /// MB of a unit of sizes; none if the table does not state the unit.
    pub size_mb: Option<f64>,
    /// The deadline, if there is one.
    pub deadline_s: Option<f64>,
    /// Probability with which a setting must meet the deadline.
    pub probability: f64,
    /// Probability of the intervals of times.
    pub level: Level,
    /// The price of machines, as given.
    pub price: Option<String>,
    /// The noun of the counted machines: `machine` or `executor`.
    pub machine: String,
    /// The unit of costs: a currency; without a price `machine-hours` or `executor-hours`.
    pub cost_unit: String,
}

/// The time of the next run, from a table of runs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RunTableEstimate {
    /// The answer.
    pub answer: RunTableAnswer,
    /// The check of the table on its own runs.
    pub own_runs: OwnRunsSummary,
    /// The question.
    pub question: RunTableQuestion,
    /// The size that all rows have, in the unit of the table; none for a list of sizes, or a table without sizes.
    pub size: Option<f64>,
    /// The settings.
    pub rows: Vec<PredictedRow>,
    /// The columns of the table, in its order.
    pub columns: Vec<TableColumn>,
    /// Version of tailspn.
    pub version: String,
    /// Assumptions and reasons for doubt.
    pub notes: Vec<String>,
    /// Unknowns, with the run that would show them.
    pub unknown: Vec<String>,
}

impl OwnRunsSummary {
    /// Returns whether the table predicts its own runs: at least four of five are in the 90% interval. None if none was predicted.
    pub fn is_reproduced(&self) -> Option<bool> {
        (self.runs > 0).then_some(5 * self.inside >= 4 * self.runs)
    }
}

impl RunTableEstimate {
    /// Returns true if there is a deadline that no setting meets.
    pub fn is_unmet(&self) -> bool {
        self.question.deadline_s.is_some() && self.answer.row.is_none()
    }

    /// Returns the columns that set kinds of runs apart, with the value that the answer is about.
    pub fn kinds(&self) -> impl Iterator<Item = (&TableColumn, &str)> {
        self.columns.iter().filter_map(|column| Some((column, column.value.as_deref()?)))
    }
}
