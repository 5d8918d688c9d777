//! The findings of a diagnosis as rows, from which JSON, text, CSV and the picture are made.

use serde::{Deserialize, Serialize};

use crate::compare::ComparedRun;
use crate::diagnose::causes::{Advice, ReplayedTime, RootCauses, StageSummary, WarmUp};
use crate::diagnose::{Cause, Finding, InputFindings, InputKind, UsedInput};
use crate::report::json::Word;
use crate::report::number::counted;
use crate::report::trace_rows::TraceReport;
use crate::trace::JobTrace;

/// Data examined in one stage.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DiagnosedStageRow {
    /// Name of the stage in findings.
    pub stage: String,
    /// Attempts that were compared.
    pub tasks: u64,
    /// The median time of tasks that succeeded.
    pub median_s: f64,
    /// Attempts that took more than 1.5 medians.
    pub stragglers: u64,
    /// Stragglers with a cause.
    pub explained: u64,
    /// Features that are unknown for all tasks of the stage.
    pub unknown_features: Vec<Word>,
    /// Stragglers with samples for less than half of their time.
    pub uncovered: u64,
}

/// Findings, the evidence for each, and advice.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DiagnosisReport {
    /// The run or data that was diagnosed.
    pub subject: String,
    /// True if the reading was ended early.
    pub partial: bool,
    /// The inputs.
    pub used: Vec<UsedInput>,
    /// Sentences about what could not be determined.
    pub missing: Vec<String>,
    /// Sentences about problems of the input.
    pub warnings: Vec<String>,
    /// True if there was something to compare; otherwise an empty list of findings has no meaning.
    pub compared: bool,
    /// The stages, in order.
    pub stages: Vec<DiagnosedStageRow>,
    /// Findings, by method, and in the method's order.
    pub findings: Vec<Finding>,
    /// Advice, ordered by the time that the job lost.
    pub advice: Vec<Advice>,
    /// Time of the job in the log, and by the schedule that gains are computed with; none for several applications.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replayed: Option<ReplayedTime>,
    /// Time in which no task ran because a stream waited for its next trigger \[s\]; absent for a job without triggers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trigger_s: Option<f64>,
    /// The cost of executors that had just started; absent without a cost.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub warm_up: Option<WarmUp>,
    /// The parts of the time of the job: its stages, and times without a stage. An instant with several stages is shared equally. Absent for several
    /// applications.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<RunPart>,
    /// Stages, tasks, attempts and nodes of the log; absent without a log.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<TraceReport>,
}

/// A part of the time of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RunPart {
    /// Number and name of a stage, or the name of a time without a stage.
    pub name: String,
    /// The time \[s\].
    pub time_s: f64,
}

/// Returns the parts of the time of the run of a log, in the order in which they began; none for several applications, or if the log states another time.
fn parts_of(trace: &JobTrace, logged_s: f64) -> Vec<RunPart> {
    /// Greatest difference of the two times of a job, as a share: a log may state several.
    const NEAR: f64 = 0.01;
    let Ok(run) = ComparedRun::of(trace) else { return Vec::new() };
    if (run.job_s - logged_s).abs() > NEAR * logged_s {
        return Vec::new();
    }
    let ([before, between, after], stages) = run.parts_s();
    let part = |name: &str, time_s| RunPart { name: name.to_owned(), time_s };
    let stages = run.stages.iter().zip(stages);
    let stages = stages.map(|(stage, time_s)| part(&format!("{} {}", stage.number, stage.name), time_s));
    let gaps = [part("between stages", between), part("after the last stage", after)];
    let parts = [part("before the first task", before)].into_iter().chain(stages).chain(gaps);
    parts.filter(|part| part.time_s > 0.0).collect()
}

/// Builds the report on a log and other inputs: the causes in the log first, then what the other inputs say. The unknowns of the causes are
/// added to what is missing.
pub fn diagnosis_report(trace: Option<&JobTrace>, said: InputFindings, mut causes: RootCauses) -> DiagnosisReport {
    let subject = trace.map_or_else(|| subject_without_log(&said), subject);
    let InputFindings { used, mut missing, warnings, findings, compared } = said;
    causes.findings.extend(findings);
    let stages: Vec<DiagnosedStageRow> = causes.stages.iter().map(stage_row).collect();
    missing.extend(missing_features(&stages));
    if causes.too_small > 0 {
        let have = if causes.too_small == 1 { "has" } else { "have" };
        let stages = counted(causes.too_small as u128, "stage");
        missing.push(format!("{stages} {have} fewer than 3 successful tasks, too few to compare"));
    }
    missing.extend(causes.cpu_share.map(|share| {
        format!(
            "tasks used a CPU for {:.0}% of their run time (Python workers are not counted); without `sar -q` and \
             `sar -u ALL` of the nodes, waits for a CPU are unknown",
            100.0 * share
        )
    }));
    DiagnosisReport {
        subject,
        partial: trace.is_some_and(|trace| trace.reading.partial),
        used,
        missing,
        warnings,
        compared: compared || !stages.is_empty(),
        stages,
        advice: causes.advice(),
        warm_up: causes.warm_up(),
        trigger_s: Some(causes.trigger_s).filter(|trigger_s| *trigger_s > 0.0),
        replayed: causes.replayed(),
        parts: trace
            .zip(causes.replayed())
            .map_or_else(Vec::new, |(trace, replayed)| parts_of(trace, replayed.logged_s)),
        findings: causes.findings,
        run: None,
    }
}

/// Returns the title of a diagnosis of a log.
fn subject(trace: &JobTrace) -> String {
    let name = trace.applications.first().map_or("", |application| application.name.as_str());
    if name.is_empty() { trace.format.text().to_owned() } else { format!("{name}: {}", trace.format.text()) }
}

/// Returns the title of a diagnosis without a log.
fn subject_without_log(said: &InputFindings) -> String {
    let has = |kind: InputKind| said.used.iter().any(|used| used.kind == kind);
    let text = match (has(InputKind::Progress), has(InputKind::Syscalls)) {
        (true, true) => "task progress, and system calls of nodes",
        (true, false) => "task progress",
        (false, true) => "system calls of nodes",
        (false, false) => "no usable input",
    };
    text.to_owned()
}

fn stage_row(stage: &StageSummary) -> DiagnosedStageRow {
    DiagnosedStageRow {
        stage: stage.stage.clone(),
        tasks: stage.tasks as u64,
        median_s: stage.median,
        stragglers: stage.stragglers as u64,
        explained: stage.explained as u64,
        unknown_features: stage.unknown.iter().map(|feature| feature.text().into()).collect(),
        uncovered: stage.uncovered as u64,
    }
}

/// Sentences about unknown features; one sentence if it applies to all stages with stragglers.
fn missing_features(stages: &[DiagnosedStageRow]) -> Vec<String> {
    let slow: Vec<&DiagnosedStageRow> = stages.iter().filter(|stage| stage.stragglers > 0).collect();
    let Some(first) = slow.first() else { return Vec::new() };
    let everywhere: Vec<&str> = first
        .unknown_features
        .iter()
        .filter(|feature| slow.iter().all(|stage| stage.unknown_features.contains(feature)))
        .map(|feature| &**feature)
        .collect();
    let mut told = Vec::new();
    if !everywhere.is_empty() {
        told.push(format!("no data, so never reported as a cause: {}", everywhere.join(", ")));
    }
    let uncovered: u64 = slow.iter().map(|stage| stage.uncovered).sum();
    let all: u64 = slow.iter().map(|stage| stage.stragglers).sum();
    let has_samples = !["CPU of the node", "disk of the node", "network of the node"]
        .iter()
        .all(|feature| everywhere.contains(feature));
    if uncovered > 0 && has_samples {
        told.push(format!("samples cover less than half of {uncovered} of {all} stragglers"));
    }
    told
}

/// Returns the name of a cause in tables.
pub fn cause_text(cause: Cause) -> &'static str {
    match cause {
        Cause::Unknown => "unknown",
        Cause::DataSkew => "data skew",
        Cause::ShuffleSkew => "shuffle skew",
        Cause::Spill => "spill",
        Cause::GarbageCollection => "garbage collection",
        Cause::Serialization => "serialization",
        Cause::Locality => "locality",
        Cause::Cpu => "CPU",
        Cause::Disk => "disk",
        Cause::Network => "network",
        Cause::SlowNode => "slow node",
        Cause::WarmUp => "warm-up",
        Cause::FewTasks => "too few tasks",
        Cause::LongLastStage => "long last stage",
        Cause::Driver => "waiting for the driver",
        Cause::CpuShortage => "waiting for CPUs",
        Cause::GpuWait => "waiting for the GPU",
        Cause::GpuMemory => "GPU memory shortage",
    }
}
