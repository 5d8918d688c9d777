//! The probability that a job finishes by a deadline, by each method.

use serde::{Deserialize, Serialize};

use crate::estimate::Measured;
use crate::job_time::late::LateSection;

/// The probability that a job finishes by a deadline: exact, simulated, or both.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DeadlineSection {
    /// The deadline \[s\].
    pub deadline_s: f64,
    /// The probability by an exact method.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exact: Option<Measured>,
    /// The probability by simulation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub simulated: Option<Measured>,
    /// The probability of finishing after the deadline by splitting; only with `--late-effort`, if no exact probability is
    /// known and fewer than 30 replications finished after the deadline.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub late: Option<LateSection>,
    /// Reason why splitting gave no probability although few replications finished after the deadline.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub no_late: Option<String>,
}

impl DeadlineSection {
    /// The probability by an exact method, by simulation, or both, without splitting.
    pub fn new(deadline_s: f64, exact: Option<Measured>, simulated: Option<Measured>) -> Self {
        Self { deadline_s, exact, simulated, late: None, no_late: None }
    }
}
