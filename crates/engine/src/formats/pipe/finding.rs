//! A finding about the way a PIPE version reads a net, with its severity and the part of the net.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::net::PartRef;

/// A version of PIPE.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum PipeVersion {
    /// PIPE 4.3.0.
    #[serde(rename = "PIPE 4.3")]
    Pipe43,
    /// PIPE 5.0.2.
    #[serde(rename = "PIPE 5")]
    Pipe5,
}

impl fmt::Display for PipeVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Pipe43 => "PIPE 4.3",
            Self::Pipe5 => "PIPE 5",
        })
    }
}

/// Severity of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// The error affects results only for some behaviour of the net, or affects only the drawing.
    Note,
    /// The numbers are wrong.
    Wrong,
    /// The file does not load, or no analysis runs.
    Refused,
}

/// An error that a PIPE version makes with a net.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PipeFinding {
    /// The PIPE version.
    pub version: PipeVersion,
    /// Severity of the finding.
    pub severity: Severity,
    /// The part that the finding is about; none for the net as a whole.
    #[serde(skip)]
    pub part: Option<PartRef>,
    /// Description of the effect, with the part's id.
    pub message: String,
}
