//! A diagnosis by system calls as rows: call times compared with the control runs, and the answer of each method.

use serde::{Deserialize, Serialize};

use crate::diagnose::syscalls::{Answer, CallClass, LineCounts, Method, NodeCalls, Profile, Range, Run};
use crate::report::json::Word;

/// A diagnosis of one run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SyscallsReport {
    /// The run.
    pub run: String,
    /// Form of the logs.
    pub form: Word,
    /// Number of control runs for comparison.
    pub control_runs: usize,
    /// The nodes that are judged.
    pub nodes: Vec<SyscallNodeRow>,
    /// Times of calls.
    pub calls: Vec<SyscallRow>,
    /// Answer of each method.
    pub answers: Vec<Answer>,
    /// Skipped data, and other reasons for doubt.
    pub notes: Vec<String>,
    /// Oddities of the logs.
    pub warnings: Vec<SyscallWarningRow>,
}

/// The log of a node.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SyscallNodeRow {
    /// Name of the node.
    pub node: String,
    /// Log of the node.
    pub file: String,
    /// Addresses of the node that occur in the log.
    pub addresses: Vec<String>,
    /// Number of lines by kind.
    pub lines: LineCounts,
    /// connect calls that did not wait.
    pub not_waited: u64,
    /// Invocations that are not in the profile; 0 if none are compared.
    pub unknown_invocations: u64,
}

/// Comparison of a mean time with the control runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum SyscallVerdict {
    /// Within the range of the control runs.
    Usual,
    /// Below the range of the control runs.
    Faster,
    /// Above the range of the control runs.
    Slower,
    /// There is no range for comparison, or no call.
    Unknown,
}

/// One class of calls on one node.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SyscallRow {
    /// The node.
    pub node: String,
    /// The class; or `data files`: stat and access calls on paths with data.
    pub call: Word,
    /// Number of calls, including failed ones.
    pub calls: u64,
    /// Number of failed calls.
    pub errors: u64,
    /// Total time of the calls \[s\].
    pub total_s: f64,
    /// Mean time of a call \[s\].
    pub mean_s: Option<f64>,
    /// Range of the nodes' mean times in the control runs \[s\].
    pub usual_s: Option<Range>,
    /// Comparison of the mean with that range.
    pub verdict: SyscallVerdict,
}

/// A warning about a log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SyscallWarningRow {
    /// The log.
    pub file: String,
    /// The first line with this problem.
    pub line: u64,
    /// Number of occurrences.
    pub count: u64,
    /// Description of the problem.
    pub text: String,
}

/// Returns the report of a diagnosis.
pub fn syscalls_report(run: &Run, profile: &Profile, answers: Vec<Answer>) -> SyscallsReport {
    let warnings = run.nodes.iter().flat_map(warnings_of).collect();
    SyscallsReport {
        run: run.name.clone(),
        form: run.form.text().into(),
        control_runs: profile.runs_of(run.form).count(),
        nodes: run.nodes.iter().map(node_row).collect(),
        calls: run.nodes.iter().flat_map(|node| call_rows(node, profile)).collect(),
        answers,
        notes: run.notes.iter().cloned().chain(unknown_nodes(run, profile)).collect(),
        warnings,
    }
}

fn unknown_nodes(run: &Run, profile: &Profile) -> Option<String> {
    let unknown: Vec<&str> =
        run.nodes.iter().map(|node| node.node.as_str()).filter(|node| !profile.knows(run.form, node)).collect();
    (!unknown.is_empty()).then(|| {
        format!(
            "the published methods cannot judge {}: no control run has their logs in the form `{}`",
            unknown.join(", "),
            run.form.text()
        )
    })
}

fn warnings_of(node: &NodeCalls) -> Vec<SyscallWarningRow> {
    let row = |odd: &crate::diagnose::syscalls::Oddity| SyscallWarningRow {
        file: node.file.clone(),
        line: odd.line,
        count: odd.count,
        text: odd.to_string(),
    };
    node.odd.iter().map(row).collect()
}

fn node_row(node: &NodeCalls) -> SyscallNodeRow {
    SyscallNodeRow {
        node: node.node.clone(),
        file: node.file.clone(),
        addresses: node.addresses.iter().cloned().collect(),
        lines: node.lines,
        not_waited: node.not_waited,
        unknown_invocations: node.outside.unknown,
    }
}

/// Name of the row of calls on paths with data.
const DATA_FILES: &str = "data files";

fn call_rows(node: &NodeCalls, profile: &Profile) -> Vec<SyscallRow> {
    let files = node.data_files;
    let rows = CallClass::ALL.map(|class| {
        (class.name(), node.class(class).calls, node.class(class).errors, node.class(class).timed, Some(class))
    });
    let all = rows.into_iter().chain([(DATA_FILES, files.calls, 0, files, None)]).filter(|row| row.1 > 0);
    all.map(|(call, calls, errors, timed, class)| {
        let usual_s = profile.mean(node.form, class);
        let verdict = match (timed.mean(), usual_s) {
            (Some(mean), Some(usual)) if mean > usual.high => SyscallVerdict::Slower,
            (Some(mean), Some(usual)) if mean < usual.low => SyscallVerdict::Faster,
            (Some(_), Some(_)) => SyscallVerdict::Usual,
            _ => SyscallVerdict::Unknown,
        };
        let (node, mean_s) = (node.node.clone(), timed.mean());
        SyscallRow { node, call: call.into(), calls, errors, total_s: timed.seconds(), mean_s, usual_s, verdict }
    })
    .collect()
}

/// Returns the display name of a method.
pub(super) fn method_text(method: Method) -> &'static str {
    method.name().trim_start_matches("syscalls-")
}
