//! Questions about jobs and nets, and how they are answered. The command line, the page and Python ask through the same types.
//!
//! ```text
//! JobPlan with options ──▶ Estimation ──┐
//!                                       ├──▶ run(watch) ──▶ typed answer ──▶ report
//! RunSettings (seed, precision, limits) ┘
//! ```
//!
//! | question | file |
//! |---|---|
//! | how any question is answered: random numbers, precision, machine, limits | `run` |
//! | how long a planned job takes | `estimate` |
//! | how long it takes with each value of one or two lists | `list`, `list_result` |
//! | how long it takes by a table of its runs or of their tasks | `run_table`, `predictor`, `run_table_result`, `run_table_error` |
//! | whether a plan may answer at all: the check on its own runs | `proof` |
//! | questions about a net | [`net`] |

mod estimate;
mod list;
mod list_result;
pub mod net;
mod predictor;
mod proof;
mod run;
mod run_table;
mod run_table_error;
mod run_table_result;

pub use estimate::{EstimateJob, EstimatedJob, EstimatedWork, Estimation, net_of_stages};
pub use list::EstimateList;
pub use list_result::{EstimateTable, EstimateTableAnswer, EstimateTableQuestion, EstimatedRow};
pub use proof::Proof;
pub use run::RunSettings;
pub use run_table::{EstimateRuns, tasks_of};
pub use run_table_error::RunTableError;
pub use run_table_result::{
    OwnRunsSummary, PredictedRow, RunTableAnswer, RunTableEstimate, RunTableQuestion, TableColumn,
};
