//! Diagnosis of the faulty node by its system calls, after Khadke et al. \[Khadke2012\].
//!
//! ```text
//! strace logs ──▶ read ──▶ line ──▶ stream ──▶ NodeCalls ──▶ Run ──▶ Profile (of control runs)
//!                                                             └──▶ a method ──▶ Answer ──▶ Finding
//! ```
//!
//! | question | file |
//! |---|---|
//! | the calls considered, under all their names | [`CallClass`] |
//! | files, their nodes, decompression | `read` |
//! | parsing one line; joining interrupted calls | `line`, `stream` |
//! | the tables of `strace -c`, and their clock | `table` |
//! | sums, histograms, peers of a node | [`NodeCalls`] |
//! | truncated logs | `cut` |
//! | the same invocation in another run | `invocation` |
//! | the baseline | [`Profile`] |
//! | the diagnoses as published | [`statistical()`], [`semantic()`] |
//! | an improved diagnosis | [`improved()`] |
//!
//! Guarantees: a log is read line by line; memory holds the sums, the open calls, and, while learning, the different
//! invocations ([`ReadSettings::most_invocations`]). Times are summed in whole nanoseconds. All skipped input is
//! reported: see [`NodeCalls::odd`] and [`Run::notes`].

mod answer;
mod class;
mod cut;
mod error;
mod improved;
mod invocation;
mod line;
mod observed;
mod pairs;
mod profile;
mod read;
mod read_run;
mod run;
mod semantic;
mod settings;
mod statistical;
mod stream;
mod table;
mod tally;
#[cfg(test)]
mod tests;
mod warning;

pub use answer::{Answer, Method};
pub use class::CallClass;
pub use error::SyscallError;
pub use improved::{ImprovedSettings, improved};
pub use invocation::{Extremes, Judged, Matching, Outside, Sides};
pub use observed::{ClassCalls, Form, LineCounts, NodeCalls};
pub use pairs::{Pair, Pairs};
pub use profile::{ControlNode, ControlRun, Profile, Range};
pub use read::{NodeLog, is_strace, logs_at, read_log, read_log_bytes};
pub use read_run::{Purpose, read_nodes, read_run};
pub use run::Run;
pub use semantic::{SemanticSettings, semantic};
pub use settings::{DataFolders, ReadSettings};
pub use statistical::{Against, Difference, StatisticalSettings, statistical};
pub use stream::Invocations;
pub use table::Clock;
pub use tally::{Buckets, Histogram, Tally};
pub use warning::{OddKind, Oddity};

use crate::diagnose::finding::Finding;
use crate::watch::Watch;

/// Settings of all methods.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct DiagnosisSettings {
    /// Settings of the statistical diagnosis.
    pub statistical: StatisticalSettings,
    /// Settings of the semantic diagnosis.
    pub semantic: SemanticSettings,
    /// Settings of the improved diagnosis.
    pub improved: ImprovedSettings,
}

/// Returns the answer of each method for a run that was read for this profile.
pub fn diagnose(run: &Run, profile: &Profile, methods: &[Method], settings: &DiagnosisSettings) -> Vec<Answer> {
    let answer = |method: &Method| match method {
        Method::Statistical => statistical(run, profile, &settings.statistical),
        Method::Semantic => semantic(run, &settings.semantic),
        Method::Improved => improved(run, profile, &settings.improved),
    };
    methods.iter().map(answer).collect()
}

/// Reads a run and returns the findings of all methods.
///
/// # Errors
///
/// Same as [`read_run()`].
pub fn findings(
    paths: &[String],
    profile: &Profile,
    settings: &DiagnosisSettings,
    watch: &dyn Watch,
) -> Result<(Vec<Finding>, Vec<String>), SyscallError> {
    let reading = profile.read_settings();
    let run = read_run(paths, Purpose::Judge(profile), &reading, watch)?;
    let answers = diagnose(&run, profile, &Method::ALL, settings);
    Ok((answers.into_iter().flat_map(|answer| answer.findings).collect(), run.notes))
}

impl Profile {
    /// Returns the settings for reading logs for this profile: the same intervals, data and matching.
    pub fn read_settings(&self) -> ReadSettings {
        ReadSettings {
            buckets: self.buckets,
            data: self.data.clone(),
            matching: self.matching,
            ..ReadSettings::default()
        }
    }
}
