//! Report on a job log: recorded jobs, task times, stragglers, copies, and lower bounds of the job time.

use std::collections::BTreeSet;

use crate::fit::{gpu_permits, predicted_gpu_wait};
use crate::report::trace_rows::{
    AmountRow, ApplicationRow, BoundsRow, CopiesRow, GpuRow, NodeRow, OutcomeRow, StageRow, StragglerRow, TraceJobRow,
    TraceReport, WarningRow,
};
use crate::report::trace_timeline::timeline;
use crate::trace::analysis::{
    CopyFate, StageStragglers, Times, Usual, bounds_of, copies, observed, slots_of, stragglers, times_of,
};
use crate::trace::{
    Application, ApplicationId, Attempt, Clock, Job, JobTrace, Metric, Moment, Outcome, StageId, Warning,
};

/// Reports on a trace; `usual` holds the expected times of tasks, from other runs.
pub fn trace_report(trace: &JobTrace, usual: &Usual) -> TraceReport {
    let found: Vec<StageStragglers> = trace.stages_with_ids().map(|(id, _)| stragglers(trace, id, usual)).collect();
    let applications: Vec<ApplicationRow> =
        trace.applications_with_ids().map(|(id, application)| application_row(trace, id, application)).collect();
    let stages = trace.stages_with_ids().map(|(id, _)| {
        let slots = applications.get(trace.stages[id.index()].application.index()).map_or(0, |row| row.slots);
        stage_row(trace, id, slots, &found[id.index()])
    });
    TraceReport {
        format: trace.format,
        files: trace.files.clone(),
        partial: trace.reading.partial,
        bytes: trace.reading.bytes,
        text_bytes: trace.reading.text_bytes,
        events: trace.reading.events,
        origin_unix_s: (trace.clock == Clock::Unix && trace.origin_us > 0).then_some(trace.origin_us as f64 / 1e6),
        stages: stages.collect(),
        jobs: trace.jobs.iter().map(job_row).collect(),
        nodes: node_rows(trace, &found),
        outcomes: outcome_rows(trace),
        amounts: amount_rows(trace),
        copies: copies_row(trace),
        stragglers: straggler_rows(trace, &found),
        usual: if usual.is_empty() { "median of the stage".into() } else { "median of the task in other runs".into() },
        warnings: warning_rows(trace),
        timeline: timeline(trace, usual),
        applications,
    }
}

fn seconds(moment: Option<Moment>) -> Option<f64> {
    moment.map(Moment::seconds)
}

fn application_row(trace: &JobTrace, id: ApplicationId, application: &Application) -> ApplicationRow {
    let bounds = bounds_of(trace, id);
    let slots = bounds.map_or_else(|| slots_of(trace, id), |bounds| bounds.slots);
    ApplicationRow {
        id: application.id.clone(),
        name: application.name.clone(),
        version: application.version.clone(),
        start_s: seconds(application.start),
        end_s: seconds(application.end),
        jobs: trace.jobs_of(id).len() as u64,
        slots: slots.count,
        slots_stated: slots.stated,
        bounds: bounds.map(|bounds| BoundsRow {
            span_s: bounds.span,
            work_s: bounds.work,
            by_slots_s: bounds.by_slots,
            by_critical_path_s: bounds.by_critical_path,
            by_longest_task_s: bounds.by_longest_task,
            by_driver_s: bounds.by_driver,
            largest: bounds.largest().0,
            knows_dependencies: bounds.knows_dependencies,
        }),
        properties: application.properties.clone(),
    }
}

fn job_row(job: &Job) -> TraceJobRow {
    TraceJobRow {
        application: job.application.index(),
        number: job.number,
        name: job.name.clone(),
        submitted_s: seconds(job.submitted),
        completed_s: seconds(job.completed),
        succeeded: job.succeeded,
        stages: job.stages.clone(),
    }
}

fn stage_row(trace: &JobTrace, id: StageId, slots: u64, found: &StageStragglers) -> StageRow {
    let stage = &trace.stages[id.index()];
    let attempts = trace.attempts_of(id);
    let count = |is: &dyn Fn(&Attempt) -> bool| attempts.iter().filter(|a| is(a)).count() as u64;
    let seen = trace.tasks_of(id).count() as u64;
    let tasks = stage.tasks.map_or(seen, u64::from);
    StageRow {
        application: stage.application.index(),
        number: stage.number,
        attempt: stage.attempt,
        name: stage.name.clone(),
        description: stage.description.clone(),
        sql_execution: stage.sql_execution,
        operators: stage.operators.clone(),
        kind: stage.kind,
        parents: stage.parents.clone(),
        tasks: stage.tasks,
        tasks_done: trace.tasks_of(id).filter(|task| task.iter().any(|a| a.succeeded())).count() as u64,
        attempts: attempts.len() as u64,
        failures: count(&|a| a.outcome.is_failure()),
        copies: count(&|a| a.speculative),
        submitted_s: seconds(stage.submitted),
        completed_s: seconds(stage.completed),
        waves: (slots > 0).then(|| tasks as f64 / slots as f64),
        times_s: times_of(attempts),
        over_median: found.over_median.len() as u64,
        over_usual: found.over_usual.len() as u64,
        gpu: gpu_row(trace, id, stage),
    }
}

/// Returns times of a stage's attempts on GPUs; `None` for a log without GPU metrics.
fn gpu_row(trace: &JobTrace, id: StageId, stage: &crate::trace::Stage) -> Option<GpuRow> {
    let attempts = trace.attempts_of(id);
    let permits = trace.applications.get(stage.application.index()).and_then(gpu_permits);
    let values = |metric| attempts.iter().filter_map(move |attempt| trace.value(attempt, metric));
    let sum = |metric| values(metric).reduce(|a, b| a + b);
    let row = GpuRow {
        wait_s: sum(Metric::GpuWaitTime),
        predicted_wait_s: permits.and_then(|permits| predicted_gpu_wait(trace, id, permits)),
        permits,
        hold_s: sum(Metric::GpuHoldTime),
        retry_s: sum(Metric::GpuRetryTime),
        spill_s: sum(Metric::GpuSpillTime),
        retries: sum(Metric::GpuRetries).map(|count| count as u64),
        peak_bytes: values(Metric::GpuPeakBytes).reduce(f64::max),
        attempts_s: attempts.iter().filter_map(Attempt::duration).sum(),
    };
    (row.wait_s.is_some() || row.hold_s.is_some() || row.retries.is_some()).then_some(row)
}

fn node_rows(trace: &JobTrace, found: &[StageStragglers]) -> Vec<NodeRow> {
    let mut rows: Vec<NodeRow> = trace
        .nodes
        .iter()
        .map(|node| NodeRow {
            name: node.name.clone(),
            rack: node.rack.clone(),
            attempts: 0,
            busy_s: 0.0,
            slowness: None,
        })
        .collect();
    let mut ratios: Vec<Vec<f64>> = vec![Vec::new(); rows.len()];
    for attempt in trace.attempts() {
        let Some(node) = attempt.node else { continue };
        rows[node.index()].attempts += 1;
        let Some(seen) = observed(trace, attempt) else { continue };
        rows[node.index()].busy_s += seen.seconds;
        let median = found[attempt.stage.index()].median.filter(|&median| median > 0.0);
        if let Some(median) = median.filter(|_| !attempt.outcome.is_failure()) {
            ratios[node.index()].push(seen.seconds / median);
        }
    }
    for (row, ratios) in rows.iter_mut().zip(ratios) {
        row.slowness = Times::of(ratios).map(|times| times.median);
    }
    rows
}

fn outcome_rows(trace: &JobTrace) -> Vec<OutcomeRow> {
    const ALL: [Outcome; 9] = [
        Outcome::Success,
        Outcome::Failed,
        Outcome::FetchFailed,
        Outcome::Lost,
        Outcome::KilledAsCopy,
        Outcome::Killed,
        Outcome::Evicted,
        Outcome::Unfinished,
        Outcome::Unknown,
    ];
    let count = |outcome| trace.attempts().iter().filter(|a| a.outcome == outcome).count() as u64;
    let rows = ALL.map(|outcome| OutcomeRow { outcome, attempts: count(outcome) });
    rows.into_iter().filter(|row| row.attempts > 0).collect()
}

fn amount_rows(trace: &JobTrace) -> Vec<AmountRow> {
    // memory does not add up, and a request is not use
    let summed =
        |metric: &Metric| !matches!(metric, Metric::PeakMemoryBytes | Metric::RequestedCpu | Metric::GpuPeakBytes);
    let mut sums = Metric::ALL.map(|metric| AmountRow { metric: metric.key().into(), sum: 0.0, attempts: 0 });
    for (metric, value) in trace.attempts().iter().flat_map(|attempt| trace.values(attempt)) {
        let row = &mut sums[metric as usize];
        row.sum += value;
        row.attempts += 1;
    }
    let rows = Metric::ALL.into_iter().zip(sums).filter(|(metric, row)| summed(metric) && row.attempts > 0);
    rows.map(|(_, row)| row).collect()
}

fn copies_row(trace: &JobTrace) -> CopiesRow {
    let found = copies(trace);
    CopiesRow {
        started: found.fates.len() as u64,
        tasks: found.tasks,
        won: found.count(CopyFate::Won),
        lost: found.count(CopyFate::Lost),
        failed: found.count(CopyFate::Failed),
        open: found.count(CopyFate::Open),
        wasted_s: found.wasted,
        wasted_share: (found.busy > 0.0).then(|| found.wasted / found.busy),
    }
}

fn straggler_rows(trace: &JobTrace, found: &[StageStragglers]) -> Vec<StragglerRow> {
    let mut rows = Vec::new();
    for (id, stage) in trace.stages_with_ids() {
        let found = &found[id.index()];
        let both = found.over_median.iter().chain(&found.over_usual).copied();
        let each: BTreeSet<usize> = both.collect();
        for index in each {
            let attempt = &trace.attempts_of(id)[index];
            let Some(seen) = observed(trace, attempt) else { continue };
            rows.push(StragglerRow {
                application: stage.application.index(),
                stage: stage.number,
                stage_attempt: stage.attempt,
                task: attempt.task,
                attempt: attempt.number,
                node: trace.node_of(attempt).map(|node| node.name.clone()),
                time_s: seen.seconds,
                at_least: seen.at_least,
                medians: found.median.filter(|&median| median > 0.0).map(|median| seen.seconds / median),
                over_median: found.over_median.binary_search(&index).is_ok(),
                over_usual: found.over_usual.binary_search(&index).is_ok(),
                outcome: attempt.outcome,
                speculative: attempt.speculative,
            });
        }
    }
    rows.sort_by(|a, b| b.time_s.total_cmp(&a.time_s));
    rows
}

fn warning_rows(trace: &JobTrace) -> Vec<WarningRow> {
    let row = |warning: &Warning| WarningRow {
        kind: warning.kind,
        count: warning.count,
        first: trace.place(warning.first),
        text: warning.to_string(),
    };
    trace.warnings.iter().map(row).collect()
}
