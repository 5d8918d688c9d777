//! The table `task_events` of the cluster trace of Google, 2011 (version 2): rows of 13 columns, times in microseconds, 0 for events before the trace
//! and 2^63 - 1 for events after it. Source: \[Reiss2011\].
//!
//! A job of the trace is an application with one stage, because the trace has no dependencies. An attempt of a task extends from a SCHEDULE to the
//! next EVICT, FAIL, FINISH, KILL or LOST of the same task. An attempt scheduled before the trace started has no launch. Cores are shares of a
//! machine, so the number of slots of a node is unknown.

use hashbrown::HashMap;

use crate::trace::attempt::{Locality, Outcome};
use crate::trace::builder::{Builder, NewAttempt};
use crate::trace::error::TraceError;
use crate::trace::ids::{ApplicationId, Moment, NodeId, StageId};
use crate::trace::input::Lines;
use crate::trace::job_trace::Application;
use crate::trace::metric::{Metric, Metrics};
use crate::trace::warning::WarningKind;

/// State of a running job.
#[derive(Clone, Copy, Debug)]
struct Job {
    application: ApplicationId,
    stage: StageId,
}

/// A running task.
#[derive(Clone, Copy, Debug)]
struct Running {
    launch: Option<Moment>,
    node: Option<NodeId>,
    number: u32,
    cpu_thousandths: Option<u64>,
}

#[derive(Default)]
struct State {
    jobs: HashMap<u64, Job>,
    running: HashMap<(u64, u32), Running>,
    /// Number of finished attempts of a task, for tasks with at least one.
    tried: HashMap<(u64, u32), u32>,
}

/// A row.
struct Row<'a> {
    time: i64,
    job: u64,
    task: u32,
    machine: &'a str,
    event: u8,
    user: &'a str,
    cpu: Option<f64>,
}

impl<'a> Row<'a> {
    fn parse(line: &'a str) -> Option<Self> {
        let mut cells = line.split(',').map(|cell| cell.trim().trim_matches('"'));
        let time = cells.next()?.parse().ok()?;
        let (_missing, job, task) = (cells.next()?, cells.next()?.parse().ok()?, cells.next()?.parse().ok()?);
        let (machine, event, user) = (cells.next()?, cells.next()?.parse().ok()?, cells.next()?);
        let (_class, _priority, cpu) = (cells.next()?, cells.next()?, cells.next()?);
        Some(Self { time, job, task, machine, event, user, cpu: cpu.parse().ok() })
    }
}

/// Reads the table; returns the number of the first line that does not parse.
pub(super) fn read(lines: &mut Lines<'_>, builder: &mut Builder) -> Result<Option<u64>, TraceError> {
    let mut state = State::default();
    let mut first_bad = None;
    while lines.next(builder)? {
        let line = lines.line().trim_ascii();
        if line.is_empty() || line.starts_with(b"#") {
            continue;
        }
        match std::str::from_utf8(line).ok().and_then(Row::parse) {
            Some(row) => {
                builder.reading.events += 1;
                take_in(&row, &mut state, builder)?;
            }
            None => {
                first_bad = first_bad.or(Some(builder.at.line));
                builder.reading.bad_lines += 1;
                let kind = if lines.is_cut() { WarningKind::CutLastLine } else { WarningKind::BadLine };
                builder.warn(kind, || String::from_utf8_lossy(&line[..line.len().min(200)]).into_owned());
            }
        }
    }
    let mut open: Vec<_> = state.running.drain().collect();
    open.sort_unstable_by_key(|(key, _)| *key);
    for ((job, task), running) in open {
        if let Some(job) = state.jobs.get(&job) {
            end(job.stage, task, running, Outcome::Unfinished, None, builder)?;
        }
    }
    Ok(first_bad)
}

fn take_in(row: &Row<'_>, state: &mut State, builder: &mut Builder) -> Result<(), TraceError> {
    // events before or after the trace have no time
    let time = if row.time == i64::MAX { None } else { builder.time(row.time, 1) };
    let job = *state.jobs.entry(row.job).or_insert_with(|| new_job(row, builder));
    let key = (row.job, row.task);
    match row.event {
        0 => {
            let stage = builder.stage_mut(job.stage);
            stage.submitted = [stage.submitted, time].into_iter().flatten().min();
            let tasks = stage.tasks.unwrap_or(0).max(row.task.saturating_add(1));
            stage.tasks = Some(tasks);
            let submitted = stage.submitted;
            builder.applications[job.application.index()].start = submitted;
            builder.job(job.application, row.job).0.submitted = submitted;
        }
        1 => {
            let number = state.tried.get(&key).copied().unwrap_or(0);
            let cpu = row.cpu.filter(|cpu| (0.0..1e6).contains(cpu)).map(|cpu| (1000.0 * cpu).round() as u64);
            let node = builder.node(row.machine, None);
            let running = Running { launch: time, node, number, cpu_thousandths: cpu };
            if state.running.insert(key, running).is_some() {
                builder.warn(WarningKind::DuplicateAttempt, || format!("job {}, task {}", row.job, row.task));
            }
        }
        2..=6 => {
            builder.reading.task_ends += 1;
            let Some(mut running) = state.running.remove(&key) else {
                // a task may end while it waits
                if row.event != 5 {
                    builder.warn(WarningKind::EndWithoutStart, || format!("job {}, task {}", row.job, row.task));
                }
                return Ok(());
            };
            running.node = running.node.or(builder.node(row.machine, None));
            *state.tried.entry(key).or_insert(0) += 1;
            let outcome = match row.event {
                2 => Outcome::Evicted,
                3 => Outcome::Failed,
                4 => Outcome::Success,
                5 => Outcome::Killed,
                _ => Outcome::Lost,
            };
            let completed = builder.stage_mut(job.stage).completed.max(time);
            builder.stage_mut(job.stage).completed = completed;
            builder.applications[job.application.index()].end = completed;
            builder.job(job.application, row.job).0.completed = completed;
            end(job.stage, row.task, running, outcome, time, builder)?;
        }
        // changes of a task's resource request
        7 | 8 => {}
        event => builder.warn(WarningKind::UnknownWord, || format!("event type {event}")),
    }
    Ok(())
}

fn new_job(row: &Row<'_>, builder: &mut Builder) -> Job {
    let id = row.job.to_string();
    let application = builder.new_application(Application { id, user: row.user.to_owned(), ..Application::default() });
    let (stage, _) = builder.stage(application, 0, 0);
    builder.job(application, row.job).0.stages = vec![0];
    Job { application, stage }
}

fn end(
    stage: StageId,
    task: u32,
    running: Running,
    outcome: Outcome,
    finish: Option<Moment>,
    builder: &mut Builder,
) -> Result<(), TraceError> {
    let mut metrics = Metrics::default();
    if let Some(cpu) = running.cpu_thousandths {
        metrics.set(Metric::RequestedCpu, cpu);
    }
    builder.attempt(NewAttempt {
        stage,
        task,
        number: running.number,
        node: running.node,
        executor: None,
        outcome,
        locality: Locality::Unknown,
        speculative: false,
        id: 0,
        launch: running.launch,
        finish,
        metrics: Some(&metrics),
    })
}
