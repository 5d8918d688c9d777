//! The result of an estimate of several configurations, as JSON has it.

use serde::{Deserialize, Serialize};
use tailspn_common::row::{Between, CoreSeconds, Cost, Level, Row, Seconds, Set, Share};

use crate::job_time::OwnRun;

/// A configuration, and what the job does on it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Row)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct EstimatedRow {
    /// The value of each list.
    #[column(set)]
    pub set: Set,
    /// Median time of the next run, with the interval that contains the next run with probability `question.level`.
    pub time_s: Between<Seconds>,
    /// Probability of finishing by the deadline; none without a deadline.
    pub in_time: Option<Share>,
    /// Cost of a run of mean time; none without a price.
    pub cost: Option<Cost>,
    /// Share of the slot time in which tasks run; none if tasks do not wait for slots, or if the work of tasks is not known in advance.
    pub busy: Option<Share>,
    /// Slot time in which no task runs, in a run of mean time.
    pub idle_core_s: Option<CoreSeconds>,
    /// Slots, or workers if tasks do not wait for slots.
    #[column(csv)]
    pub slots: u64,
}

/// The answer, by positions in `rows`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct EstimateTableAnswer {
    /// The answer in words.
    pub text: String,
    /// Position of the chosen configuration: without a deadline the fastest, otherwise the cheapest that meets it. None if no configuration meets
    /// the deadline.
    pub row: Option<usize>,
    /// Position of the configuration that is most likely to meet the deadline, if none meets it.
    pub closest: Option<usize>,
    /// Position of the first number of machines that is within 1% of the fastest, if there are larger ones.
    pub enough: Option<usize>,
}

/// The request.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct EstimateTableQuestion {
    /// Number of configurations; `rows` has fewer if the run ended early.
    pub configurations: u64,
    /// The deadline, if there is one.
    pub deadline_s: Option<Seconds>,
    /// Probability with which a configuration must meet the deadline.
    pub probability: Share,
    /// Probability of the intervals of times.
    pub level: Level,
    /// The price of machines, as given.
    pub price: Option<String>,
    /// The unit of costs, such as a currency; empty if unknown.
    pub cost_unit: String,
}

/// The time of a job on each of several configurations.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct EstimateTable {
    /// The answer.
    pub answer: EstimateTableAnswer,
    /// The check of the plan on the runs that it was fitted to.
    pub own_run: OwnRun,
    /// True if the run ended early.
    pub partial: bool,
    /// The question.
    pub question: EstimateTableQuestion,
    /// The configurations that were estimated, in the order of the lists.
    pub rows: Vec<EstimatedRow>,
    /// Version of tailspn.
    pub version: String,
    /// Seed of the random numbers, the same for every row.
    pub seed: u64,
    /// Reasons for doubt at the chosen configuration, and assumptions of the fit in place of data that the logs do not have.
    pub notes: Vec<String>,
    /// The plan without the values of the lists, every key written out.
    pub plan: String,
}

impl EstimateTable {
    /// Returns the chosen configuration.
    pub fn chosen(&self) -> Option<&EstimatedRow> {
        self.rows.get(self.answer.row?)
    }

    /// Returns true if there is a deadline that no configuration meets; false if the run ended before all were estimated.
    pub fn is_unmet(&self) -> bool {
        self.question.deadline_s.is_some() && self.answer.row.is_none() && !self.partial
    }
}
