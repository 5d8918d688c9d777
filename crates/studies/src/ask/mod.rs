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
//! | whether a plan may answer at all: the check on its own runs | `proof` |
//! | questions about a net | [`net`] |

mod estimate;
mod list;
mod list_result;
pub mod net;
mod proof;
mod run;

pub use estimate::{EstimateJob, EstimatedJob, EstimatedWork, Estimation, net_of_stages};
pub use list::EstimateList;
pub use list_result::{EstimateTable, EstimateTableAnswer, EstimateTableQuestion, EstimatedRow};
pub use proof::Proof;
pub use run::RunSettings;
