//! Time that Spark's tasks lost on GPUs, by RAPIDS metrics: waits for a GPU permit, and work that was
//! repeated or data that was moved for lack of GPU memory.

use std::collections::HashMap;

use crate::diagnose::causes::naming::stage_name;
use crate::diagnose::causes::recorded::Recorded;
use crate::diagnose::finding::{Cause, Evidence, Finding, Subject};
use crate::trace::{Attempt, JobTrace, Metric, StageId};

/// Minimum share of a stage's task time that is a finding.
const SHARE: f64 = 0.1;
/// Minimum time that the job lost, for a finding \[s\].
const LEAST_S: f64 = 1.0;

/// Returns findings about the stages of a job on GPUs; none without the metrics, or without a schedule of the job.
pub(super) fn gpu(trace: &JobTrace, job: &Recorded) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (id, _) in trace.stages_with_ids().filter(|_| !job.is_empty()) {
        findings.extend(of_stage(trace, job, id, Cause::GpuWait, &[Metric::GpuWaitTime]));
        findings.extend(of_stage(trace, job, id, Cause::GpuMemory, &[Metric::GpuRetryTime, Metric::GpuSpillTime]));
    }
    findings
}

/// Returns the finding about a stage whose tasks lost time in these parts; none if they lost too little.
fn of_stage(trace: &JobTrace, job: &Recorded, id: StageId, cause: Cause, parts: &[Metric]) -> Option<Finding> {
    let attempts = trace.attempts_of(id);
    let lost = |attempt: &Attempt| {
        let known: Vec<f64> = parts.iter().filter_map(|&part| trace.value(attempt, part)).collect();
        (!known.is_empty()).then(|| known.iter().sum::<f64>())
    };
    let done = attempts.iter().filter(|attempt| attempt.succeeded());
    let (mut all_s, mut lost_s) = (0.0, 0.0);
    let mut of_task: HashMap<u64, f64> = HashMap::new();
    for attempt in done {
        all_s += attempt.duration().unwrap_or(0.0);
        if let Some(lost) = lost(attempt) {
            lost_s += lost;
            of_task.insert(attempt.task.into(), lost);
        }
    }
    let stage = stage_name(trace, id);
    let job_s = job.shorter_by(|task| match task.stage == id.index() {
        true => of_task.get(&task.task).copied().unwrap_or(0.0),
        false => 0.0,
    });
    let share = lost_s / all_s;
    if of_task.is_empty() || share <= SHARE || job_s < LEAST_S {
        return None;
    }
    let (first, of_tasks) = match cause {
        Cause::GpuWait => {
            ("maximum time saved if there were no GPU waits", "GPU waits of tasks, compared with their total time")
        }
        _ => (
            "maximum time saved if there were no GPU retries and spills",
            "GPU retries and spills of tasks, compared with their total time",
        ),
    };
    let mut evidence = vec![told(first, job_s, 0.0, "s"), told(of_tasks, lost_s, all_s, "s")];
    let sum = |metric| attempts.iter().filter_map(|attempt| trace.value(attempt, metric)).sum::<f64>();
    if cause == Cause::GpuMemory {
        evidence.push(told("retries", sum(Metric::GpuRetries), 0.0, ""));
    }
    Some(Finding::on_the_way(Subject::Stage { stage }, cause, share, SHARE, evidence))
}

fn told(what: &str, value: f64, usual: f64, unit: &'static str) -> Evidence {
    Evidence { what: what.to_owned(), value, usual, unit: unit.into() }
}
