//! Answer of a method for a run: the faulty nodes and the cause, or no verdict.

use serde::{Deserialize, Serialize};

use crate::diagnose::finding::{Cause, Finding, FindingMethod};

/// A method of diagnosis by system calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Method {
    /// Totals and histograms compared with control runs, as published.
    #[serde(rename = "syscalls-statistical")]
    Statistical,
    /// Single invocations compared with control runs, as published.
    #[serde(rename = "syscalls-semantic")]
    Semantic,
    /// Times per call compared with other nodes; pairs of nodes for the network.
    #[serde(rename = "syscalls-improved")]
    Improved,
}

impl Method {
    /// All methods.
    pub const ALL: [Self; 3] = [Self::Statistical, Self::Semantic, Self::Improved];

    /// Returns the method as named in findings.
    pub fn of_findings(self) -> FindingMethod {
        match self {
            Self::Statistical => FindingMethod::SyscallsStatistical,
            Self::Semantic => FindingMethod::SyscallsSemantic,
            Self::Improved => FindingMethod::SyscallsImproved,
        }
    }

    /// Returns the method's name in results.
    pub fn name(self) -> &'static str {
        self.of_findings().name()
    }
}

/// Answer of a method.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Answer {
    /// The method.
    pub method: Method,
    /// Cause of the fault; `None` without a verdict.
    pub cause: Option<Cause>,
    /// The output node set of the paper, the most likely first.
    pub nodes: Vec<String>,
    /// The faulty nodes with evidence; `from` and `to` are null. If neither end of a link could be identified as faulty,
    /// the link is listed.
    pub findings: Vec<Finding>,
    /// Reason for the lack of a verdict.
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
