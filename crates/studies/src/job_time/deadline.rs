//! The probability that a job finishes by a deadline, by each method.

use serde::{Deserialize, Serialize};

use crate::estimate::Measured;

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
}
