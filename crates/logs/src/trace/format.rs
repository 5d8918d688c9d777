//! The formats of logs.

use serde::{Deserialize, Serialize};

/// A format of logs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Format {
    /// Spark event log: JSON, one event a line.
    SparkEventLog,
    /// Hadoop job history since 0.21: Avro as JSON, one event a line.
    HadoopJson,
    /// Hadoop job history of 0.20 and 1.x: text.
    HadoopText,
    /// Rumen: a sequence of JSON objects, one per job.
    Rumen,
    /// Phase log: CSV, one row per task and phase.
    PhaseLog,
    /// The table `task_events` of the cluster trace of Google, 2011.
    #[serde(rename = "google_2011")]
    Google2011,
    /// `batch_task` or `batch_instance` of the cluster trace of Alibaba, 2017.
    #[serde(rename = "alibaba_2017")]
    Alibaba2017,
    /// `batch_task` or `batch_instance` of the cluster trace of Alibaba, 2018.
    #[serde(rename = "alibaba_2018")]
    Alibaba2018,
}

impl Format {
    /// Returns the name for people.
    pub fn text(self) -> &'static str {
        match self {
            Self::SparkEventLog => "a Spark event log",
            Self::HadoopJson => "a Hadoop job history (Avro-JSON)",
            Self::HadoopText => "a Hadoop job history (text of 0.20 and 1.x)",
            Self::Rumen => "a Rumen trace",
            Self::PhaseLog => "a phase log",
            Self::Google2011 => "task events of Google's cluster trace of 2011",
            Self::Alibaba2017 => "batch tables of Alibaba's cluster trace of 2017",
            Self::Alibaba2018 => "batch tables of Alibaba's cluster trace of 2018",
        }
    }
}
