//! What a method says about a run: which nodes, and why; or nothing.

use serde::{Deserialize, Serialize};

use crate::diagnose::finding::{Cause, Finding, FindingMethod};

/// A method of diagnosis by system calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Method {
    /// Totals and histograms against those of control runs, as printed.
    #[serde(rename = "syscalls-statistical")]
    Statistical,
    /// Single invocations against those of control runs, as printed.
    #[serde(rename = "syscalls-semantic")]
    Semantic,
    /// Times per call against those of the other nodes; pairs of nodes for the network.
    #[serde(rename = "syscalls-improved")]
    Improved,
}

impl Method {
    /// All methods.
    pub const ALL: [Self; 3] = [Self::Statistical, Self::Semantic, Self::Improved];

    /// Returns the method of its findings.
    pub fn of_findings(self) -> FindingMethod {
        match self {
            Self::Statistical => FindingMethod::SyscallsStatistical,
            Self::Semantic => FindingMethod::SyscallsSemantic,
            Self::Improved => FindingMethod::SyscallsImproved,
        }
    }

    /// Returns its name in results.
    pub fn name(self) -> &'static str {
        self.of_findings().name()
    }
}

/// What a method says.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Answer {
    /// The method.
    pub method: Method,
    /// What is wrong with the nodes; `None` where nothing is said.
    pub cause: Option<Cause>,
    /// The output node set of the paper, the likeliest first.
    pub nodes: Vec<String>,
    /// The same with evidence; may also hold links of which neither end could be told to be at fault.
    pub findings: Vec<Finding>,
    /// Why nothing is said.
    pub silence: Option<String>,
}

impl Answer {
    pub(super) fn silent(method: Method, why: impl Into<String>) -> Self {
        Self { method, cause: None, nodes: Vec::new(), findings: Vec::new(), silence: Some(why.into()) }
    }

    pub(super) fn of(method: Method, cause: Cause, nodes: Vec<String>, findings: Vec<Finding>) -> Self {
        Self { method, cause: Some(cause), nodes, findings, silence: None }
    }
}
