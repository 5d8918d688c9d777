//! Reads a phase log: rows become the phases of tasks, and tasks become attempts of a stage of maps and a stage of reduces.
//!
//! A bad row is skipped and reported with its line. Rows may come in any order. A task without the last phase of its kind has not ended, if other tasks
//! have that phase.

use std::collections::{BTreeMap, BTreeSet};

use crate::trace::attempt::{Locality, Outcome};
use crate::trace::builder::{Builder, NewAttempt};
use crate::trace::error::TraceError;
use crate::trace::ids::{ApplicationId, ExecutorId, Moment, NodeId, StageId};
use crate::trace::input::Lines;
use crate::trace::job_trace::{Application, StageKind};
use crate::trace::metric::{Metric, Metrics};
use crate::trace::phases::log::{PhaseSpan, TaskKind};
use crate::trace::phases::row::{Header, Row, cells_of};
use crate::trace::warning::{Spot, Warning, WarningKind};

/// Phases of the format, in the order of a task.
const OF_MAP: [&str; 7] = ["read", "cpu", "gpu_wait", "to_gpu", "gpu", "to_host", "spill"];
const OF_REDUCE: [&str; 3] = ["shuffle", "merge", "reduce"];
const OF_SLOT: [&str; 1] = ["load"];

/// Overlap of two phases of a task that counts as rounding \[s\].
const ROUNDING_S: f64 = 2e-6;
/// Maximum number of bad rows that are reported one by one.
const MOST_PROBLEMS: usize = 100;

/// Returns the phases of the format for tasks of a kind.
fn known_phases(kind: TaskKind) -> &'static [&'static str] {
    match kind {
        TaskKind::Slot => &OF_SLOT,
        TaskKind::Map => &OF_MAP,
        TaskKind::Reduce => &OF_REDUCE,
    }
}

/// A row and its line.
struct Read {
    row: Row,
    at: Spot,
}

/// Reads the log; returns the number of the first line that does not parse.
pub(in crate::trace) fn read(lines: &mut Lines<'_>, builder: &mut Builder) -> Result<Option<u64>, TraceError> {
    let mut problems = Problems::default();
    let mut header = None;
    let mut rows = Vec::new();
    while lines.next(builder)? {
        let line = lines.line().trim_ascii();
        let line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
        if line.is_empty() || line.starts_with(b"#") {
            continue;
        }
        let cells = cells_of(line);
        let Some(of) = &header else {
            let columns = cells.ok_or_else(|| "not a header".to_owned()).and_then(|cells| Header::of(&cells));
            header = Some(columns.map_err(|message| TraceError::Broken {
                file: builder.file(),
                line: builder.at.line,
                message,
            })?);
            let unknown = header.as_ref().map(|header| header.unknown.clone()).unwrap_or_default();
            unknown.into_iter().for_each(|column| builder.warn(WarningKind::UnknownColumn, || column));
            continue;
        };
        let row = cells.ok_or_else(|| "not a row of CSV".to_owned()).and_then(|cells| Row::of(&cells, of));
        match row {
            Ok(row) => {
                builder.reading.events += 1;
                rows.push(Read { row, at: builder.at });
            }
            Err(_) if lines.is_cut() => {
                builder.reading.bad_lines += 1;
                builder.warn(WarningKind::CutLastLine, || String::from_utf8_lossy(line).into_owned());
            }
            Err(problem) => problems.add(builder, builder.at, problem),
        }
    }
    builder.phase_log.unknown_columns = header.map(|header| header.unknown).unwrap_or_default();
    Tasks::of(rows, &mut problems, builder).put(builder)?;
    let first = problems.first;
    problems.put(builder);
    Ok(first)
}

/// Bad rows.
#[derive(Default)]
struct Problems {
    first: Option<u64>,
    listed: Vec<Warning>,
    count: usize,
}

impl Problems {
    fn add(&mut self, builder: &mut Builder, at: Spot, problem: String) {
        builder.reading.bad_lines += 1;
        self.first = self.first.or(Some(at.line));
        self.count += 1;
        if self.listed.len() < MOST_PROBLEMS {
            self.listed.push(Warning { kind: WarningKind::BadRow, count: 1, first: at, example: problem });
        }
    }

    fn put(self, builder: &mut Builder) {
        let more = self.count - self.listed.len();
        builder.row_warnings = self.listed;
        if more > 0 {
            builder.warn(WarningKind::BadLine, || format!("{more} more bad rows"));
        }
    }
}

/// A task: job, kind, number, attempt.
type Key = (String, TaskKind, u32, u32);

/// The tasks of a log.
struct Tasks {
    tasks: BTreeMap<Key, Vec<Row>>,
    /// Kinds of tasks whose last phase occurs in the log.
    ends: BTreeSet<(String, TaskKind)>,
}

impl Tasks {
    /// Collects the rows of each task in the order of time, and drops rows that overlap with another row of their task.
    fn of(mut rows: Vec<Read>, problems: &mut Problems, builder: &mut Builder) -> Self {
        let time = |read: &Read| (read.row.start_s, read.row.end_s);
        rows.sort_by(|a, b| time(a).partial_cmp(&time(b)).unwrap_or(std::cmp::Ordering::Equal));
        let mut found = Self { tasks: BTreeMap::new(), ends: BTreeSet::new() };
        let mut unknown = BTreeSet::new();
        for Read { row, at } in rows {
            let log = &mut builder.phase_log;
            log.cores = log.cores.or(row.cores);
            log.permits = log.permits.or(row.permits);
            let known = known_phases(row.kind);
            if known.last() == Some(&row.phase.as_str()) {
                found.ends.insert((row.job.clone(), row.kind));
            }
            if !known.contains(&row.phase.as_str()) && unknown.insert(row.phase.clone()) {
                builder.warnings.add(WarningKind::UnknownPhase, at, || row.phase.clone());
            }
            let task = found.tasks.entry((row.job.clone(), row.kind, row.task, row.attempt)).or_default();
            match task.last() {
                Some(last) if row.start_s < last.end_s - ROUNDING_S => {
                    let problem = format!("phase `{}` overlaps with phase `{}` of its task", row.phase, last.phase);
                    problems.add(builder, at, problem);
                }
                Some(last) if row.slot != last.slot => {
                    let problem = format!("the task is on slot {}, not {}", last.slot, row.slot);
                    problems.add(builder, at, problem);
                }
                _ => task.push(row),
            }
        }
        builder.phase_log.unknown_phases = unknown.into_iter().collect();
        found
    }

    /// Puts the tasks into the trace.
    fn put(self, builder: &mut Builder) -> Result<(), TraceError> {
        let mut jobs: BTreeMap<String, ApplicationId> = BTreeMap::new();
        for ((job, kind, task, attempt), rows) in &self.tasks {
            let application = *jobs.entry(job.clone()).or_insert_with(|| new_job(job, builder));
            let Some(last) = rows.last() else { continue };
            let node = builder.node(if last.node.is_empty() { "host" } else { &last.node }, None);
            let executor = builder.executor(application, &format!("slot {}", last.slot), node);
            let span = |row: &Row| PhaseSpan {
                application,
                kind: *kind,
                task: *task,
                attempt: *attempt,
                // `as` is fine: a log has fewer hosts than attempts
                node: node.map_or(0, |node| node.index() as u32),
                slot: row.slot,
                phase: row.phase.clone(),
                start_s: row.start_s,
                end_s: row.end_s,
                bytes: row.bytes,
            };
            builder.phase_log.spans.extend(rows.iter().map(span));
            let end = moment(last.end_s);
            builder.applications[application.index()].end =
                builder.applications[application.index()].end.max(Some(end));
            if *kind == TaskKind::Slot {
                let found = &mut builder.executors[executor.index()];
                (found.cores, found.added) = (Some(1), Some(end));
                continue;
            }
            let has_end = rows.iter().any(|row| known_phases(*kind).last() == Some(&row.phase.as_str()));
            let is_over = has_end || !self.ends.contains(&(job.clone(), *kind));
            let place = Place { application, node, executor, is_over };
            put_attempt(builder, &place, *kind, rows)?;
        }
        for application in jobs.into_values() {
            end_job(builder, application);
        }
        Ok(())
    }
}

/// Returns a time of the log.
fn moment(seconds: f64) -> Moment {
    // `as` is fine: below 2^53 µs
    Moment::from_microseconds((seconds * 1e6).round() as i64)
}

fn new_job(name: &str, builder: &mut Builder) -> ApplicationId {
    let application = builder.new_application(Application {
        id: name.to_owned(),
        name: name.to_owned(),
        start: Some(moment(0.0)),
        ..Application::default()
    });
    let (job, _) = builder.job(application, 0);
    job.name = name.to_owned();
    job.submitted = Some(moment(0.0));
    application
}

/// Where a task ran, and whether it has ended.
struct Place {
    application: ApplicationId,
    node: Option<NodeId>,
    executor: ExecutorId,
    is_over: bool,
}

fn put_attempt(builder: &mut Builder, place: &Place, kind: TaskKind, rows: &[Row]) -> Result<(), TraceError> {
    let [Some(first), Some(last)] = [rows.first(), rows.last()] else { return Ok(()) };
    let (number, stage_kind) = if kind == TaskKind::Map { (0, StageKind::Map) } else { (1, StageKind::Reduce) };
    let stage = stage_of(builder, place.application, number, stage_kind);
    let (launch, finish) = (moment(first.start_s), moment(last.end_s));
    let of_stage = builder.stage_mut(stage);
    of_stage.submitted = of_stage.submitted.map_or(Some(launch), |before| Some(before.min(launch)));
    of_stage.completed = of_stage.completed.max(Some(finish));
    of_stage.tasks = of_stage.tasks.max(Some(first.task.saturating_add(1)));
    builder.reading.task_ends += u64::from(place.is_over);
    builder.attempt(NewAttempt {
        stage,
        task: first.task,
        number: first.attempt,
        node: place.node,
        executor: Some(place.executor),
        outcome: if place.is_over { Outcome::Success } else { Outcome::Unfinished },
        locality: Locality::Unknown,
        speculative: false,
        id: 0,
        launch: Some(launch),
        finish: place.is_over.then_some(finish),
        metrics: Some(&metrics_of(rows)),
    })
}

fn stage_of(builder: &mut Builder, application: ApplicationId, number: u32, kind: StageKind) -> StageId {
    let (stage, is_new) = builder.stage(application, number, 0);
    if is_new {
        let of = builder.stage_mut(stage);
        (of.kind, of.name) = (kind, kind.key().to_owned());
        of.parents = Some(if number > 0 { vec![number - 1] } else { Vec::new() });
        builder.job(application, 0).0.stages.push(number);
    }
    stage
}

/// Returns the numbers of a task that other logs have, too.
fn metrics_of(rows: &[Row]) -> Metrics {
    let us = |phases: &[&str]| {
        let of = rows.iter().filter(|row| phases.contains(&row.phase.as_str()));
        // `as` is fine: below 2^53 µs
        of.map(|row| ((row.end_s - row.start_s) * 1e6).round() as u64).sum::<u64>()
    };
    let bytes = |phase: &str| rows.iter().find(|row| row.phase == phase).and_then(|row| row.bytes);
    let mut metrics = Metrics::default();
    let times = [
        (Metric::GpuWaitTime, us(&["gpu_wait"])),
        (Metric::GpuHoldTime, us(&["to_gpu", "gpu", "to_host"])),
        (Metric::ShufflePhaseTime, us(&["shuffle"])),
        (Metric::SortPhaseTime, us(&["merge"])),
    ];
    times.into_iter().filter(|(_, time)| *time > 0).for_each(|(metric, time)| metrics.set(metric, time));
    let sizes = [
        (Metric::InputBytes, bytes("read")),
        (Metric::ShuffleWriteBytes, bytes("spill")),
        (Metric::ShuffleRemoteBytes, bytes("shuffle")),
    ];
    sizes.into_iter().for_each(|(metric, size)| size.into_iter().for_each(|size| metrics.set(metric, size)));
    metrics
}

/// Ends a job at the end of its last task, if all tasks in the log have ended.
fn end_job(builder: &mut Builder, application: ApplicationId) {
    let end = builder.applications[application.index()].end;
    let is_over = !builder.has_open_attempts(application);
    let (job, _) = builder.job(application, 0);
    job.completed = end.filter(|_| is_over);
    job.succeeded = is_over.then_some(true);
}
