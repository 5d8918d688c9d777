//! Which node is at fault, told by its system calls, after Khadke and others \[Khadke2012\].
//!
//! ```text
//! logs of strace ──▶ read ──▶ line ──▶ stream ──▶ NodeCalls ──▶ Run ──▶ Profile (of control runs)
//!                                                                └──▶ a method ──▶ Answer ──▶ Finding
//! ```
//!
//! | question | file |
//! |---|---|
//! | which calls are looked at, under all their names | [`CallClass`] |
//! | which files, whose node, through which compression | `read` |
//! | what one line says; interrupted calls put together | `line`, `stream` |
//! | the tables of `strace -c`, and whose clock they are of | `table` |
//! | sums, histograms, peers of a node | [`NodeCalls`] |
//! | logs that lack their end | `cut` |
//! | the same invocation in another run | `invocation` |
//! | what is usual | [`Profile`] |
//! | the diagnoses as printed | [`statistical()`], [`semantic()`] |
//! | a better one | [`improved()`] |
//!
//! Guarantees: a log is read line by line, and the memory is that of the sums, of the calls that are open, and of different
//! invocations where they are learnt ([`ReadSettings::most_invocations`]). Times are summed in whole nanoseconds. Nothing is left out in silence:
//! see [`NodeCalls::odd`] and [`Run::notes`].

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
    /// Of the statistical diagnosis.
    pub statistical: StatisticalSettings,
    /// Of the semantic diagnosis.
    pub semantic: SemanticSettings,
    /// Of the improved one.
    pub improved: ImprovedSettings,
}

/// What each of these methods says about a run that was read to be judged by this profile.
pub fn diagnose(run: &Run, profile: &Profile, methods: &[Method], settings: &DiagnosisSettings) -> Vec<Answer> {
    let answer = |method: &Method| match method {
        Method::Statistical => statistical(run, profile, &settings.statistical),
        Method::Semantic => semantic(run, &settings.semantic),
        Method::Improved => improved(run, profile, &settings.improved),
    };
    methods.iter().map(answer).collect()
}

/// Reads a run and says what all methods find in it.
///
/// # Errors
///
/// As [`read_run()`].
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
    /// How logs must be read to be judged by this profile: the same intervals, data and matching.
    pub fn read_settings(&self) -> ReadSettings {
        ReadSettings {
            buckets: self.buckets,
            data: self.data.clone(),
            matching: self.matching,
            ..ReadSettings::default()
        }
    }
}
