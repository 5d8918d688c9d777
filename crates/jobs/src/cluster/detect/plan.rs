//! The settings of a detector in a plan.

use serde::{Deserialize, Serialize};

use crate::cluster::detect::by_score::ByScore;
use crate::cluster::detect::hadoop2::Hadoop2;
use crate::cluster::detect::hierarchical::{Base, Hierarchical};
use crate::cluster::detect::late::Late;
use crate::cluster::detect::mantri::Mantri;
use crate::cluster::detect::spark::Spark;
use crate::cluster::detect::view::Detector;

/// Kind of a detector.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum DetectorKind {
    /// No detector.
    None,
    /// No detector; every task gets a copy at its start.
    Clone,
    /// By progress score.
    Default,
    /// LATE.
    Late,
    /// Another detector, on slow nodes only.
    Hierarchical,
    /// Hadoop 2 and 3.
    Hadoop2,
    /// Spark.
    Spark,
    /// Mantri.
    Mantri,
}

impl DetectorKind {
    /// Returns the name in plans and JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Clone => "clone",
            Self::Default => "default",
            Self::Late => "late",
            Self::Hierarchical => "hierarchical",
            Self::Hadoop2 => "hadoop2",
            Self::Spark => "spark",
            Self::Mantri => "mantri",
        }
    }
}

/// Choice of the detector.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum DetectorPlan {
    /// No detector.
    #[default]
    None,
    /// No detector; every task gets a copy at its start. \[Ananthanarayanan2013\]
    Clone,
    /// Flags tasks by their progress score, as Google's MapReduce and Hadoop 0.20 do. \[Dean2004\]
    Default(ByScore),
    /// LATE: flags tasks by their progress rate. \[Zaharia2008\]
    Late(Late),
    /// Flags a task if another detector flags it and its node is slow. \[Phan2018\]
    Hierarchical(Hierarchical),
    /// The rule of Hadoop 2 and 3 as shipped. \[Hadoop2014\]
    Hadoop2(Hadoop2),
    /// The rule of Spark. \[Spark2024\]
    Spark(Spark),
    /// Mantri: a copy only if it saves resources. \[Ananthanarayanan2010\]
    Mantri(Mantri),
}

impl DetectorPlan {
    /// Returns the kind.
    pub fn kind(&self) -> DetectorKind {
        match self {
            Self::None => DetectorKind::None,
            Self::Clone => DetectorKind::Clone,
            Self::Default(_) => DetectorKind::Default,
            Self::Late(_) => DetectorKind::Late,
            Self::Hierarchical(_) => DetectorKind::Hierarchical,
            Self::Hadoop2(_) => DetectorKind::Hadoop2,
            Self::Spark(_) => DetectorKind::Spark,
            Self::Mantri(_) => DetectorKind::Mantri,
        }
    }

    /// Returns the rule; none for policies that do not check.
    pub fn detector(&self) -> Option<&dyn Detector> {
        match self {
            Self::None | Self::Clone => None,
            Self::Default(detector) => Some(detector),
            Self::Late(detector) => Some(detector),
            Self::Hierarchical(detector) => Some(detector),
            Self::Hadoop2(detector) => Some(detector),
            Self::Spark(detector) => Some(detector),
            Self::Mantri(detector) => Some(detector),
        }
    }

    /// Returns the setting that decides how eager the detector is, for sweeps: its name and a reference to it.
    pub fn threshold(&mut self) -> Option<(&'static str, &mut f64)> {
        match self {
            Self::None | Self::Clone => None,
            Self::Default(detector) => Some(("gap", &mut detector.gap)),
            Self::Late(detector) => Some(("threshold", &mut detector.threshold)),
            Self::Hierarchical(Hierarchical { on: Base::Default(detector), .. }) => Some(("gap", &mut detector.gap)),
            Self::Hierarchical(Hierarchical { on: Base::Late(detector), .. }) => {
                Some(("threshold", &mut detector.threshold))
            }
            Self::Hadoop2(detector) => Some(("pause_s", &mut detector.pause_s)),
            Self::Spark(detector) => Some(("multiplier", &mut detector.multiplier)),
            Self::Mantri(detector) => Some(("probability", &mut detector.probability)),
        }
    }
}
