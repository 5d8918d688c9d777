//! Effect of each event on the trace.

use serde::Deserialize;

use crate::trace::builder::Builder;
use crate::trace::error::TraceError;
use crate::trace::ids::StageId;
use crate::trace::input::Lines;
use crate::trace::job_trace::AnnouncedStage;
use crate::trace::spark::event::{
    AnyEvent, ApplicationEnd, ApplicationStart, EnvironmentUpdate, ExecutorAdded, ExecutorRemoved, JobEnd, JobStart,
    LogStart, ResourceProfile, StageEvent, StageInfo, TaskEvent, name,
};
use crate::trace::spark::sql::{PlanEvent, QueryEvent};
use crate::trace::spark::state::{MILLISECOND, State, small};
use crate::trace::spark::task::{end_task, start_task, unfinished};
use crate::trace::warning::WarningKind;

/// Settings to store, because they determine the splitting, placement, copying, sizing and execution of
/// tasks. User-defined settings are dropped.
const SETTINGS: &[&str] = &[
    "spark.speculation",
    "spark.locality.wait",
    "spark.executor.",
    "spark.cores.max",
    "spark.default.parallelism",
    "spark.driver.cores",
    "spark.driver.memory",
    "spark.task.",
    "spark.stage.",
    "spark.dynamicAllocation.",
    "spark.sql.",
    "spark.scheduler.",
    "spark.master",
    "spark.submit.deployMode",
    "spark.plugins",
    "spark.rapids.",
    "spark.shuffle.",
    "spark.memory.",
    "spark.serializer",
    "spark.io.compression.",
    "spark.rdd.compress",
];

/// Reads a log; returns the number of the first line that does not parse.
pub(in crate::trace) fn read(lines: &mut Lines<'_>, builder: &mut Builder) -> Result<Option<u64>, TraceError> {
    let mut state = State::default();
    let mut first_bad = None;
    while lines.next(builder)? {
        let line = lines.line();
        if line.trim_ascii().is_empty() {
            continue;
        }
        if event(line, &mut state, builder)? {
            builder.reading.events += 1;
            continue;
        }
        first_bad = first_bad.or(Some(builder.at.line));
        builder.reading.bad_lines += 1;
        let kind = if lines.is_cut() { WarningKind::CutLastLine } else { WarningKind::BadLine };
        builder.warn(kind, || String::from_utf8_lossy(&line[..line.len().min(200)]).into_owned());
    }
    state.queries.end_all(builder);
    unfinished(&mut state, builder)?;
    builder.stages_end_well = true;
    if builder.reading.events > 0 && !state.started {
        builder.warn(WarningKind::NoApplication, String::new);
    }
    Ok(first_bad)
}

/// Processes a line; returns false if it is not an event.
fn event(line: &[u8], state: &mut State, builder: &mut Builder) -> Result<bool, TraceError> {
    if let Some(name) = name(line) {
        return named(name, line, state, builder);
    }
    match parse::<AnyEvent<'_>>(line) {
        Some(any) if !any.event.as_str().is_empty() => named(any.name(), line, state, builder),
        _ => Ok(false),
    }
}

fn parse<'a, T: Deserialize<'a>>(line: &'a [u8]) -> Option<T> {
    serde_json::from_slice(line).ok()
}

fn named(name: &[u8], line: &[u8], state: &mut State, builder: &mut Builder) -> Result<bool, TraceError> {
    /// Processes an event if the line is one.
    macro_rules! with {
        ($call:expr) => {
            Ok(parse(line).map(|event| $call(event, &mut *state, &mut *builder)).is_some())
        };
    }
    match name {
        b"SparkListenerTaskStart" => with!(start_task),
        b"SparkListenerTaskEnd" => match parse::<TaskEvent<'_>>(line) {
            Some(event) => end_task(&event, state, builder).map(|()| true),
            None => Ok(false),
        },
        b"SparkListenerStageSubmitted" => with!(submit_stage),
        b"SparkListenerStageCompleted" => with!(complete_stage),
        b"SparkListenerJobStart" => with!(start_job),
        b"SparkListenerJobEnd" => with!(end_job),
        b"SparkListenerResourceProfileAdded" => with!(add_profile),
        b"SparkListenerExecutorAdded" => with!(add_executor),
        b"SparkListenerExecutorRemoved" => with!(remove_executor),
        b"SparkListenerApplicationStart" => match parse::<ApplicationStart<'_>>(line) {
            Some(event) => start_application(&event, state, builder).map(|()| true),
            None => Ok(false),
        },
        b"SparkListenerApplicationEnd" => with!(end_application),
        b"SparkListenerEnvironmentUpdate" => with!(update_environment),
        b"SparkListenerLogStart" => match parse::<LogStart<'_>>(line) {
            Some(event) => start_log(&event, state, builder).map(|()| true),
            None => Ok(false),
        },
        b"SparkListenerSQLExecutionStart" | b"SparkListenerSQLAdaptiveExecutionUpdate" => {
            // if the plan cannot be read, the description still counts
            let event = parse::<PlanEvent<'_>>(line).or_else(|| Some(parse::<QueryEvent<'_>>(line)?.into()));
            Ok(event.map(|event| state.queries.plan(&event)).is_some())
        }
        b"SparkListenerSQLExecutionEnd" => {
            Ok(parse(line).map(|event: QueryEvent<'_>| state.queries.end(&event, builder)).is_some())
        }
        // not needed; a truncated line is recognised by its end
        _ => Ok(line.trim_ascii_end().ends_with(b"}")),
    }
}

/// Handles the start of a further application: its stages and tasks are unrelated to the previous one's.
fn leave(state: &mut State, builder: &mut Builder) -> Result<(), TraceError> {
    state.queries.end_all(builder);
    unfinished(state, builder)?;
    *state = State::default();
    Ok(())
}

fn start_log(event: &LogStart<'_>, state: &mut State, builder: &mut Builder) -> Result<(), TraceError> {
    if state.started {
        leave(state, builder)?;
    }
    let id = state.application(builder);
    builder.applications[id.index()].version = Some(event.version.as_str().to_owned());
    Ok(())
}

fn start_application(event: &ApplicationStart<'_>, state: &mut State, builder: &mut Builder) -> Result<(), TraceError> {
    if state.started {
        let version = state.application.and_then(|id| builder.applications[id.index()].version.clone());
        leave(state, builder)?;
        let id = state.application(builder);
        builder.applications[id.index()].version = version;
    }
    let id = state.application(builder);
    if id.index() > 0 {
        builder.warn(WarningKind::FurtherApplication, || event.id.as_str().to_owned());
    }
    state.started = true;
    let start = builder.time(event.time.value().unwrap_or(0), MILLISECOND);
    let application = &mut builder.applications[id.index()];
    application.start = start;
    application.id = event.id.as_str().to_owned();
    application.name = event.name.as_str().to_owned();
    application.user = event.user.as_str().to_owned();
    Ok(())
}

fn end_application(event: ApplicationEnd, state: &mut State, builder: &mut Builder) {
    let id = state.application(builder);
    let end = builder.time(event.time.value().unwrap_or(0), MILLISECOND);
    let start = builder.applications[id.index()].start;
    builder.applications[id.index()].end = builder.end(start, end, "an application");
}

fn update_environment(event: EnvironmentUpdate<'_>, state: &mut State, builder: &mut Builder) {
    let id = state.application(builder);
    let kept = event.properties.iter().filter(|(key, _)| SETTINGS.iter().any(|start| key.as_str().starts_with(start)));
    let kept = kept.map(|(key, value)| (key.as_str().to_owned(), value.as_str().to_owned()));
    builder.applications[id.index()].properties.extend(kept);
}

fn add_profile(event: ResourceProfile, state: &mut State, _: &mut Builder) {
    if let (Some(id), Some(cores)) = (small(event.id), small(event.tasks.cpus.amount).filter(|cores| *cores > 0)) {
        state.task_cores.insert(id, cores);
    }
}

fn add_executor(event: ExecutorAdded<'_>, state: &mut State, builder: &mut Builder) {
    let application = state.application(builder);
    let time = builder.time(event.time.value().unwrap_or(0), MILLISECOND);
    let node = builder.node(event.info.host.as_str(), None);
    let id = builder.executor(application, event.id.as_str(), node);
    let executor = &mut builder.executors[id.index()];
    executor.cores = small(event.info.cores).or(executor.cores);
    executor.task_cores = small(event.info.profile).and_then(|id| state.task_cores.get(&id).copied());
    executor.added = executor.added.or(time);
}

fn remove_executor(event: ExecutorRemoved<'_>, state: &mut State, builder: &mut Builder) {
    let application = state.application(builder);
    let time = builder.time(event.time.value().unwrap_or(0), MILLISECOND);
    let id = builder.executor(application, event.id.as_str(), None);
    let time = builder.end(builder.executors[id.index()].added, time, "an executor");
    let executor = &mut builder.executors[id.index()];
    executor.removed = time;
    executor.removal = Some(event.reason.as_str().to_owned());
}

fn start_job(event: JobStart<'_>, state: &mut State, builder: &mut Builder) {
    let application = state.application(builder);
    let Some(number) = event.id.value().and_then(|id| u64::try_from(id).ok()) else {
        builder.warn(WarningKind::MissingField, || "a job without `Job ID`".to_owned());
        return;
    };
    let mut announced = Vec::new();
    for info in &event.infos {
        if let Some(stage) = small(info.id) {
            let name = info.name.as_str().to_owned();
            let planned = AnnouncedStage { number: stage, name, tasks: small(info.tasks), parents: parents(info) };
            announced.push(planned.clone());
            state.planned.insert(stage, planned);
        }
    }
    let submitted = builder.time(event.time.value().unwrap_or(0), MILLISECOND);
    let last = event.infos.iter().max_by_key(|info| info.id.value()).map_or("", |info| info.name.as_str());
    let names = [event.properties.description.as_str(), event.properties.call_site.as_str(), last];
    let name = names.into_iter().find(|name| !name.is_empty()).unwrap_or("").to_owned();
    let mut stages: Vec<u32> = event.stages.iter().filter_map(|&number| small(number)).collect();
    if stages.is_empty() {
        stages = event.infos.iter().filter_map(|info| small(info.id)).collect();
    }
    stages.sort_unstable();
    state.queries.start_job(&stages, event.properties.description.as_str(), event.properties.query);
    let (job, _) = builder.job(application, number);
    (job.submitted, job.name, job.stages) = (submitted, name, stages);
    job.batch = event.properties.batch.value().and_then(|batch| u64::try_from(batch).ok());
    announced.sort_unstable_by_key(|stage| stage.number);
    job.announced = announced;
}

fn end_job(event: JobEnd<'_>, state: &mut State, builder: &mut Builder) {
    let application = state.application(builder);
    let Some(number) = event.id.value().and_then(|id| u64::try_from(id).ok()) else {
        builder.warn(WarningKind::MissingField, || "a job's end without `Job ID`".to_owned());
        return;
    };
    let time = builder.time(event.time.value().unwrap_or(0), MILLISECOND);
    let Some(submitted) = builder.known_job(application, number).map(|job| job.submitted) else {
        builder.warn(WarningKind::JobEndWithoutStart, || format!("job {number}"));
        return;
    };
    let completed = builder.end(submitted, time, "a job");
    let (job, _) = builder.job(application, number);
    job.completed = completed;
    job.succeeded = Some(event.result.result.as_str() == "JobSucceeded");
}

fn parents(info: &StageInfo<'_>) -> Option<Vec<u32>> {
    let mut parents: Vec<u32> = info.parents.as_ref()?.iter().filter_map(|&number| small(number)).collect();
    parents.sort_unstable();
    parents.dedup();
    Some(parents)
}

fn submit_stage(event: StageEvent<'_>, state: &mut State, builder: &mut Builder) {
    note_stage(&event.info, state, builder);
}

fn complete_stage(event: StageEvent<'_>, state: &mut State, builder: &mut Builder) {
    let Some(id) = note_stage(&event.info, state, builder) else { return };
    let completed = builder.time(event.info.completed.value().unwrap_or(0), MILLISECOND);
    let submitted = builder.stage_mut(id).submitted;
    let completed = builder.end(submitted, completed, "a stage");
    let stage = builder.stage_mut(id);
    stage.completed = completed;
    let reason = event.info.failure.as_str();
    stage.failure = (!reason.is_empty()).then(|| reason.lines().next().unwrap_or("").to_owned());
    let number = stage.number;
    state.queries.complete_stage(id, number, &event.info.accumulables, builder);
}

/// Records the facts about a stage from the event of its start or its end.
fn note_stage(info: &StageInfo<'_>, state: &mut State, builder: &mut Builder) -> Option<StageId> {
    let application = state.application(builder);
    let Some(number) = small(info.id) else {
        builder.warn(WarningKind::MissingField, || "a stage without `Stage ID`".to_owned());
        return None;
    };
    let submitted = builder.time(info.submitted.value().unwrap_or(0), MILLISECOND);
    let (id, _) = builder.stage(application, number, small(info.attempt).unwrap_or(0));
    let stage = builder.stage_mut(id);
    stage.submitted = submitted.or(stage.submitted);
    stage.tasks = small(info.tasks).or(stage.tasks);
    if let Some(parents) = parents(info) {
        stage.parents = Some(parents);
    }
    if stage.name.is_empty() {
        stage.name = info.name.as_str().to_owned();
    }
    for dataset in &info.datasets {
        let Some(number) = small(dataset.id) else { continue };
        if dataset.parents.as_ref().is_some_and(Vec::is_empty) && !stage.sources.contains(&number) {
            stage.sources.push(number);
        }
        if (dataset.storage.memory || dataset.storage.disk) && !stage.stored.contains(&number) {
            stage.stored.push(number);
        }
    }
    Some(id)
}
