//! Starts and ends of tasks, with their metrics.

use crate::trace::attempt::{Locality, Outcome};
use crate::trace::builder::{Builder, NewAttempt};
use crate::trace::error::TraceError;
use crate::trace::ids::Moment;
use crate::trace::job_trace::StageKind;
use crate::trace::loose::Number;
use crate::trace::metric::{Metric, Metrics};
use crate::trace::spark::event::{EndReason, TaskEvent, TaskInfo, TaskMetrics};
use crate::trace::spark::gpu;
use crate::trace::spark::state::{MILLISECOND, Running, State, small};
use crate::trace::warning::WarningKind;

impl Running {
    fn ended(self, id: u64, outcome: Outcome, finish: Option<Moment>) -> NewAttempt<'static> {
        NewAttempt {
            stage: self.stage,
            task: self.task,
            number: self.number,
            node: self.node,
            executor: Some(self.executor),
            outcome,
            locality: self.locality,
            speculative: self.speculative,
            id,
            launch: self.launch,
            finish,
            metrics: None,
        }
    }
}

/// Returns the common fields of a task's start and end, and Spark's task id.
fn running(event: &TaskEvent<'_>, state: &mut State, builder: &mut Builder) -> Option<(u64, Running)> {
    let TaskInfo { id, index, .. } = event.info;
    let (Some(stage), Some(task), Some(id)) = (small(event.stage), small(index), id.value()) else {
        let example = || "a task without `Stage ID`, `Index` or `Task ID`".to_owned();
        builder.warn(WarningKind::MissingField, example);
        return None;
    };
    let application = state.application(builder);
    let stage = state.stage_of_task(stage, small(event.stage_attempt).unwrap_or(0), builder);
    let node = builder.node(event.info.host.as_str(), None);
    let executor = builder.executor(application, event.info.executor.as_str(), node);
    let locality = locality(event.info.locality.as_str(), builder);
    let launch = builder.time(event.info.launch.value().unwrap_or(0), MILLISECOND);
    let running = Running {
        stage,
        task,
        number: small(event.info.attempt).unwrap_or(0),
        node,
        executor,
        locality,
        speculative: event.info.speculative,
        launch,
    };
    Some((id as u64, running))
}

fn locality(text: &str, builder: &mut Builder) -> Locality {
    Locality::named(text).unwrap_or_else(|| {
        if !text.is_empty() {
            builder.warn(WarningKind::UnknownWord, || format!("locality `{text}`"));
        }
        Locality::Unknown
    })
}

/// Starts a task.
pub(super) fn start_task(event: TaskEvent<'_>, state: &mut State, builder: &mut Builder) {
    if let Some((id, running)) = running(&event, state, builder) {
        state.running.insert(id, running);
    }
}

/// Ends a task.
pub(super) fn end_task(event: &TaskEvent<'_>, state: &mut State, builder: &mut Builder) -> Result<(), TraceError> {
    builder.reading.task_ends += 1;
    let Some((id, running)) = running(event, state, builder) else { return Ok(()) };
    if event.reason.reason.as_str() == "Resubmitted" {
        // reported for an attempt that ended before; the task gets a new one
        builder.warn(WarningKind::Resubmitted, || format!("task id {id}"));
        return Ok(());
    }
    if state.running.remove(&id).is_none() {
        builder.warn(WarningKind::EndWithoutStart, || format!("task id {id}"));
    }
    let stage = builder.stage_mut(running.stage);
    if stage.kind == StageKind::Unknown {
        stage.kind = match event.kind.as_str() {
            "ShuffleMapTask" => StageKind::ShuffleMap,
            "ResultTask" => StageKind::Result,
            _ => StageKind::Unknown,
        };
    }
    let finish = builder.time(event.info.finish.value().unwrap_or(0), MILLISECOND);
    let outcome = outcome(&event.reason, builder);
    let mut metrics = Metrics::default();
    if let Some(found) = &event.metrics {
        measure(found, &mut metrics, builder);
    }
    gpu::measure(&event.info.measures, &mut metrics, builder);
    let fetched = builder.time(event.info.getting_result.value().unwrap_or(0), MILLISECOND);
    if let (Some(from), Some(to)) = (fetched, finish)
        && to >= from
    {
        metrics.set(Metric::GettingResultTime, (to.microseconds() - from.microseconds()) as u64);
    }
    builder.attempt(NewAttempt { metrics: Some(&metrics), ..running.ended(id, outcome, finish) })
}

fn outcome(reason: &EndReason<'_>, builder: &mut Builder) -> Outcome {
    match reason.reason.as_str() {
        "Success" => Outcome::Success,
        "ExceptionFailure" => Outcome::Failed,
        "TaskKilled" if reason.kill_reason.as_str().contains("another attempt succeeded") => Outcome::KilledAsCopy,
        "TaskKilled" => Outcome::Killed,
        // another attempt has written the output
        "TaskCommitDenied" => Outcome::KilledAsCopy,
        "FetchFailed" => Outcome::FetchFailed,
        "ExecutorLostFailure" | "TaskResultLost" => Outcome::Lost,
        "UnknownReason" => Outcome::Unknown,
        other => {
            builder.warn(WarningKind::UnknownWord, || format!("end of a task `{other}`"));
            Outcome::Unknown
        }
    }
}

/// Microseconds, bytes or records per unit of a number in the log.
#[derive(Clone, Copy)]
enum Scale {
    Milliseconds,
    Nanoseconds,
    Plain,
}

fn measure(found: &TaskMetrics, metrics: &mut Metrics, builder: &mut Builder) {
    use Scale::{Milliseconds, Nanoseconds, Plain};
    let all = [
        (Metric::DeserializeTime, found.deserialize, Milliseconds),
        (Metric::ExecutorRunTime, found.run, Milliseconds),
        (Metric::CpuTime, found.cpu_ns, Nanoseconds),
        (Metric::ResultSerializationTime, found.serialize_result, Milliseconds),
        (Metric::GcTime, found.gc, Milliseconds),
        (Metric::ResultBytes, found.result_bytes, Plain),
        (Metric::PeakMemoryBytes, found.peak_memory, Plain),
        (Metric::MemorySpilledBytes, found.memory_spilled, Plain),
        (Metric::DiskSpilledBytes, found.disk_spilled, Plain),
        (Metric::ShuffleRemoteBytes, found.shuffle_read.remote, Plain),
        (Metric::ShuffleLocalBytes, found.shuffle_read.local, Plain),
        (Metric::FetchWaitTime, found.shuffle_read.wait, Milliseconds),
        (Metric::ShuffleReadRecords, found.shuffle_read.records, Plain),
        (Metric::ShuffleWriteBytes, found.shuffle_write.bytes, Plain),
        (Metric::ShuffleWriteTime, found.shuffle_write.time_ns, Nanoseconds),
        (Metric::ShuffleWriteRecords, found.shuffle_write.records, Plain),
        (Metric::InputBytes, found.input.bytes, Plain),
        (Metric::InputRecords, found.input.records, Plain),
        (Metric::OutputBytes, found.output.bytes, Plain),
        (Metric::OutputRecords, found.output.records, Plain),
    ];
    for (metric, number, scale) in all {
        if !number.is_given() {
            continue;
        }
        match amount(number, scale) {
            Some(value) => metrics.set(metric, value),
            None => builder.warn(WarningKind::BadCounter, || format!("{}: {number:?}", metric.key())),
        }
    }
}

fn amount(number: Number, scale: Scale) -> Option<u64> {
    let value = u64::try_from(number.value()?).ok()?;
    match scale {
        Scale::Milliseconds => value.checked_mul(1000),
        Scale::Nanoseconds => Some(value.saturating_add(500) / 1000),
        Scale::Plain => Some(value),
    }
}

/// Stores the attempts that have started but have no end in the log.
pub(super) fn unfinished(state: &mut State, builder: &mut Builder) -> Result<(), TraceError> {
    let mut open: Vec<(u64, Running)> = state.running.drain().collect();
    open.sort_unstable_by_key(|(id, _)| *id);
    for (id, running) in open {
        builder.attempt(running.ended(id, Outcome::Unfinished, None))?;
    }
    Ok(())
}
