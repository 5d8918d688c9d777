//! The method of an answer.

use serde::{Deserialize, Serialize};

use crate::answer::{Choice, ExactBy};
use crate::report::number::count;
use crate::sim::{FoldedParts, NotFolded};

/// Kind of an answer's method.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum UsedMethod {
    /// Replications.
    Simulation,
    /// An exact method.
    Exact,
    /// Replications and an exact method.
    Both,
}

impl UsedMethod {
    /// Returns the word in results.
    pub fn name(self) -> &'static str {
        match self {
            Self::Simulation => "simulation",
            Self::Exact => "exact",
            Self::Both => "both",
        }
    }
}

/// The method of an answer, and the cost of an exact one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AnswerMethod {
    /// Kind of the method.
    pub used: UsedMethod,
    /// Method of the exact answer, or, for a simulation, of an exact answer that would cost less; none if no exact answer is
    /// known to cost less.
    pub exact: Option<ExactBy>,
    /// Number of states that the exact answer needs.
    pub states: Option<usize>,
    /// Reason why no exact answer is known to cost less.
    pub no_exact: Option<String>,
    /// Folded parts of the net of an exact answer; `None` if it was solved unfolded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub folded: Option<FoldedParts>,
    /// Similar parts of the net that were not folded.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub not_folded: Vec<NotFolded>,
}

impl AnswerMethod {
    /// Returns the method for a simulation that was requested.
    pub fn simulation() -> Self {
        let not_folded = Vec::new();
        Self { used: UsedMethod::Simulation, exact: None, states: None, no_exact: None, folded: None, not_folded }
    }

    /// Returns the method as text.
    pub(crate) fn words(&self) -> String {
        match (self.exact, self.states) {
            (Some(ExactBy::States), Some(states)) => {
                format!("exact, from {} states: no replications", count(states as u128))
            }
            (Some(exact), _) => format!("exact, by {} reduction: no replications", exact.name()),
            (None, _) => "exact: no replications".to_owned(),
        }
    }
}

impl From<&Choice> for AnswerMethod {
    /// Returns the method for a simulation, with information on an exact answer.
    fn from(choice: &Choice) -> Self {
        Self { exact: choice.exact, states: choice.states, no_exact: choice.no_exact.clone(), ..Self::simulation() }
    }
}
