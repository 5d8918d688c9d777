//! The contribution of each kind of input to a diagnosis: findings, the data that were used, and the data that are missing.
//! Inputs that belong to another run than the log are recognised by their times and skipped.

use serde::{Deserialize, Serialize};

use tailspn_common::explain::Explain as _;

use crate::diagnose::Finding;
use crate::diagnose::long_tail::{AgentSettings, History, Model, by_log, clock_ahead, find};
use crate::diagnose::syscalls::{DiagnosisSettings, Method, NodeCalls, Profile, Run, SyscallError, diagnose};
use crate::trace::{Clock, JobTrace, utc_text};

/// Kind of an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum InputKind {
    /// The log of a job.
    Log,
    /// Samples of the load of nodes.
    Samples,
    /// Progress reports of tasks.
    Progress,
    /// System calls of nodes.
    Syscalls,
}

impl InputKind {
    /// Returns the word in results.
    pub fn name(self) -> &'static str {
        match self {
            Self::Log => "log",
            Self::Samples => "samples",
            Self::Progress => "progress",
            Self::Syscalls => "syscalls",
        }
    }
}

/// An input that was read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct UsedInput {
    /// Kind of input.
    pub kind: InputKind,
    /// Name of the input.
    pub name: String,
    /// Summary of the data that was used.
    pub taken: String,
}

/// Progress reports of a file.
#[derive(Debug)]
pub struct ProgressFile {
    /// The file.
    pub used: UsedInput,
    /// The reports in the file.
    pub history: History,
    /// Sentences about problems of the file.
    pub warnings: Vec<String>,
}

/// The contribution of inputs.
#[derive(Debug, Default)]
pub struct InputFindings {
    /// Inputs that were used.
    pub used: Vec<UsedInput>,
    /// Sentences about what could not be determined.
    pub missing: Vec<String>,
    /// Sentences about problems of the inputs.
    pub warnings: Vec<String>,
    /// The findings.
    pub findings: Vec<Finding>,
    /// True if there was something to compare.
    pub compared: bool,
}

impl InputFindings {
    /// Returns no finding, with a sentence about missing data.
    pub fn missing(sentence: impl Into<String>) -> Self {
        Self { missing: vec![sentence.into()], ..Self::default() }
    }

    /// Adds the contribution of other inputs.
    pub fn add(&mut self, more: Self) {
        self.used.extend(more.used);
        self.missing.extend(more.missing);
        self.warnings.extend(more.warnings);
        self.findings.extend(more.findings);
        self.compared |= more.compared;
    }

    /// Finds stragglers by task progress: from progress reports or, with a model and without files, from a log that contains progress
    /// curves.
    pub fn of_progress(files: Vec<ProgressFile>, trace: Option<&JobTrace>, model: Option<&Model>) -> Self {
        let (mut found, mut history) = (Self::default(), History::default());
        if files.is_empty() {
            let Some(_) = model else { return found };
            history = trace.map(|trace| History::from_trace(trace, 0)).unwrap_or_default();
            if history.tasks.is_empty() {
                return Self::missing("no progress reports: the model is not used");
            }
        }
        for ProgressFile { used, history: read, warnings } in files {
            found.warnings.extend(warnings);
            match other_run(trace, "reports", span(&read)) {
                Some(why) => found.missing.push(format!("{}: {why}", used.name)),
                None => {
                    history.extend(match trace {
                        Some(trace) => found.of_this_run(trace, read),
                        None => read,
                    });
                    found.used.push(used);
                }
            }
        }
        found.missing.extend(model.and_then(|model| not_learned(model, &history)));
        found.compared = !history.tasks.is_empty();
        found.findings = find(trace, &history, model, AgentSettings::default());
        found
    }

    /// Returns the reports on attempts that the log contains; records the number of missing attempts, and differing
    /// clocks.
    fn of_this_run(&mut self, trace: &JobTrace, read: History) -> History {
        let all = read.tasks.len();
        let [known, others] = by_log(trace, read);
        if known.tasks.is_empty() {
            self.missing.push(format!(
                "none of the {all} attempts in the progress reports is in the log; the attempts are compared only with each other"
            ));
            return others;
        }
        if let Some(first) = others.tasks.first() {
            self.missing.push(format!(
                "skipped the progress reports of {} of {all} attempts, which the log does not contain, such as task {} of stage {}",
                others.tasks.len(),
                first.task,
                first.stage
            ));
        }
        if let Some(ahead) = clock_ahead(trace, &known) {
            self.warnings.push(format!(
                "the clock of the progress reports is {:.1} s {} the clock of the log, judging by attempts in both; the output has the times of the log",
                ahead.abs(),
                if ahead > 0.0 { "ahead of" } else { "behind" }
            ));
        }
        known
    }

    /// Finds faulty nodes by their system calls: compares the nodes whose logs belong to the same run as the job log with the profile.
    /// Only the improved method is used, because the two other methods, as printed in the paper, name the wrong node too often
    /// (docs/replications/system-calls.md). `notes` are notes on the reading of the logs.
    ///
    /// # Errors
    ///
    /// As [`Run::of`]. With `is_only`, also [`SyscallError::NothingToJudge`], which otherwise is a sentence about missing data.
    pub fn of_calls(
        read: Vec<NodeCalls>,
        notes: Vec<String>,
        profile: &Profile,
        trace: Option<&JobTrace>,
        is_only: bool,
    ) -> Result<Self, SyscallError> {
        let (mut found, mut nodes) = (Self::default(), Vec::new());
        for node in read {
            match other_run(trace, "calls", node.span) {
                Some(why) => found.missing.push(format!("{}: {why}", node.file)),
                None => nodes.push(node),
            }
        }
        if nodes.is_empty() {
            found.warnings = notes;
            return Ok(found);
        }
        let run = match Run::of(String::new(), nodes, notes.clone()) {
            Err(error @ SyscallError::NothingToJudge { .. }) if !is_only => {
                let help = error.help().map_or_else(String::new, |help| format!("; {help}"));
                found.missing.push(format!("system calls: {error}{help}"));
                found.warnings = notes;
                return Ok(found);
            }
            run => run?,
        };
        for node in &run.nodes {
            let taken = format!("{} of node {}", node.form.text(), node.node);
            found.used.push(UsedInput { kind: InputKind::Syscalls, name: node.file.clone(), taken });
            found.warnings.extend(node.odd.iter().map(|odd| format!("{}:{}: {odd}", node.file, odd.line)));
        }
        for answer in diagnose(&run, profile, &[Method::Improved], &DiagnosisSettings::default()) {
            found.compared |= answer.silence.is_none();
            found.missing.extend(
                answer.silence.as_ref().map(|why| format!("system calls do not identify a faulty node: {why}")),
            );
            found.findings.extend(answer.findings);
        }
        found.warnings.extend(run.notes);
        Ok(found)
    }
}

/// Returns the first and the last time of reports, in seconds since 1970.
fn span(history: &History) -> Option<[f64; 2]> {
    let first = history.tasks.iter().map(|task| task.start_s).reduce(f64::min)?;
    let ends = history.tasks.iter().filter_map(|task| Some(task.start_s + task.points.last()?.0));
    Some([first, ends.reduce(f64::max)?])
}

/// Explains why a file cannot belong to the run of the log: the times of the two do not overlap. `span` is the file's
/// first and last time, in seconds since 1970.
fn other_run(trace: Option<&JobTrace>, what: &str, span: Option<[f64; 2]>) -> Option<String> {
    let trace = trace.filter(|trace| trace.clock == Clock::Unix)?;
    let [first, last] = span?;
    let from = trace.origin_us as f64 / 1e6;
    let to = from + trace.last?.seconds();
    let (when, at, by) = match (first > to, last < from) {
        (true, _) => ("start", first, format!("{:.0} s after the log ends", first - to)),
        (_, true) => ("end", last, format!("{:.0} s before the log starts", from - last)),
        _ => return None,
    };
    Some(format!("the {what} {when} at {}, {by}; they belong to another run and are skipped", utc_text(at)))
}

/// Returns a remark on kinds of tasks that the model has not learned.
fn not_learned(model: &Model, history: &History) -> Option<String> {
    let kinds = history.tasks.iter().map(|task| task.kind.as_str());
    let mut kinds: Vec<&str> = kinds.filter(|kind| model.position(kind).is_none()).collect();
    kinds.sort_unstable();
    kinds.dedup();
    let first = kinds.first()?;
    Some(format!(
        "the model does not cover {} kinds of tasks, such as `{first}`; tasks of these kinds are compared only with each other",
        kinds.len()
    ))
}
