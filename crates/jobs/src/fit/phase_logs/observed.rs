//! One job of a phase log: its slots, and the time that each phase of each task would have taken alone.

use std::collections::{BTreeMap, BTreeSet};

use crate::fit::fit_error::FitError;
use crate::fit::phase_logs::shared::Users;
use crate::trace::{Format, JobTrace, PhaseSpan, TaskKind};

/// Bytes per MB.
const MB: f64 = 1_048_576.0;
/// Number of phases of a task that a plan has: six of a map, two of a reduce.
pub(super) const PHASES: usize = 8;
/// The place of phase 4.
pub(super) const GPU: usize = 3;
/// Mean wait above which the log shows that tasks waited for a permit \[s\].
const NO_WAIT_S: f64 = 1e-4;

/// Facts about the host of a log that the log may lack.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LogHost {
    /// Cores of the host, if the log has no column `cores`. Default none: tasks do not slow each other down.
    pub cores: Option<f64>,
    /// Tasks that could hold the GPU at a time, 0 for every task, if the log has no column `permits`. Default: as its waits show.
    pub permits: Option<u64>,
}

/// A task, phase by phase.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct PhaseTask {
    pub(super) is_map: bool,
    /// True if it is the first task of its kind on its slot.
    pub(super) is_first: bool,
    /// Data of the task \[MB\].
    pub(super) mb: f64,
    /// Times of its phases if nothing slowed them down \[s\].
    pub(super) work_s: [f64; PHASES],
    /// Time of phase 4 in the log \[s\].
    pub(super) gpu_s: f64,
}

/// A job of a phase log.
#[derive(Clone, Debug, PartialEq)]
pub struct PhaseRun {
    /// The log.
    pub log: String,
    /// Name of the job; empty if the log has none.
    pub name: String,
    /// Time from the start to the end of the last task \[s\].
    pub job_s: f64,
    /// Time until all slots had started \[s\].
    pub load_s: f64,
    /// Hosts.
    pub hosts: u64,
    /// Map slots of a host.
    pub map_slots: u64,
    /// Reduce slots of a host.
    pub reduce_slots: u64,
    /// Cores of a host, if known.
    pub cores: Option<f64>,
    /// Tasks that could hold the GPU of a host at a time, 0 for every task; none if no task used a GPU.
    pub permits: Option<u64>,
    /// True if `permits` is a conclusion from waits.
    pub permits_are_inferred: bool,
    /// Map tasks, and reduce tasks.
    pub tasks: [u64; 2],
    /// Input of all maps \[MB\].
    pub input_mb: f64,
    /// Map output that the reduces fetched \[MB\].
    pub shuffled_mb: f64,
    /// Phases that the format does not have.
    pub unknown_phases: Vec<String>,
    pub(super) list: Vec<PhaseTask>,
}

/// Returns true if a log contains phases.
pub fn is_phase_log(trace: &JobTrace) -> bool {
    trace.format == Format::PhaseLog
}

/// Returns the place of a phase in a plan; a reduce holds its slot while it fetches, so its shuffle is a part of phase 8.
fn place_of(phase: &str) -> Option<usize> {
    Some(match phase {
        "read" => 0,
        "cpu" => 1,
        "to_gpu" => 2,
        "gpu" => GPU,
        "to_host" => 4,
        "spill" => 5,
        "shuffle" | "merge" => 6,
        "reduce" => 7,
        _ => return None,
    })
}

/// Reads the only job of a phase log.
///
/// # Errors
///
/// [`FitError`] for a log with several jobs, without maps, without the bytes that they read, or of a job that has not ended.
pub fn observe_phases(trace: &JobTrace, host: LogHost, input_mb: Option<f64>) -> Result<PhaseRun, FitError> {
    let log = trace.files.first().cloned().unwrap_or_default();
    let incomplete = |what: &str| FitError::Incomplete { log: log.clone(), what: what.to_owned() };
    let [application] = &trace.applications[..] else {
        let ids = trace.applications.iter().map(|application| application.id.clone()).collect();
        return Err(FitError::SeveralJobs { log, ids });
    };
    if trace.jobs.iter().any(|job| job.completed.is_none()) {
        return Err(incomplete("the job has not ended"));
    }
    let spans = &trace.phase_log.spans;
    let of_kind = |kind: TaskKind| spans.iter().filter(move |span| span.kind == kind);
    let count = |kind| of_kind(kind).map(|span| span.task).collect::<BTreeSet<_>>().len() as u64;
    let slots = |kind| of_kind(kind).map(|span| (span.node, span.slot)).collect::<BTreeSet<_>>().len() as u64;
    let hosts = spans.iter().map(|span| span.node).collect::<BTreeSet<_>>().len().max(1) as u64;
    let [maps, reduces] = [TaskKind::Map, TaskKind::Reduce].map(count);
    if maps == 0 {
        return Err(incomplete("the log has no map task"));
    }
    let read_mb = moved_mb(spans, "read");
    let input_mb = input_mb.or(Some(read_mb).filter(|mb| *mb > 0.0));
    let Some(input_mb) = input_mb else { return Err(FitError::NoInput { log }) };
    let cores = trace.phase_log.cores.or(host.cores);
    let stated = trace.phase_log.permits.or(host.permits);
    let uses_gpu = spans.iter().any(|span| place_of(&span.phase) == Some(GPU));
    let filled = without_gaps(spans);
    let work = Work::of(&filled, cores);
    Ok(PhaseRun {
        name: application.name.clone(),
        job_s: spans.iter().map(|span| span.end_s).fold(0.0, f64::max),
        load_s: of_kind(TaskKind::Slot).map(|span| span.end_s).fold(0.0, f64::max),
        hosts,
        map_slots: slots(TaskKind::Map).max(slots_before_reduces(spans)).div_ceil(hosts),
        reduce_slots: slots(TaskKind::Reduce).div_ceil(hosts),
        cores,
        permits: uses_gpu.then(|| stated.unwrap_or_else(|| permits_of(spans))),
        permits_are_inferred: uses_gpu && stated.is_none(),
        tasks: [maps, reduces],
        input_mb,
        shuffled_mb: moved_mb(spans, "shuffle"),
        unknown_phases: trace.phase_log.unknown_phases.clone(),
        list: tasks_of(&filled, &work, input_mb / maps as f64),
        log,
    })
}

/// Returns the data that a phase moved in all tasks \[MB\].
fn moved_mb(spans: &[PhaseSpan], phase: &str) -> f64 {
    spans.iter().filter(|span| span.phase == phase).filter_map(|span| span.bytes).sum::<u64>() as f64 / MB
}

/// Returns the slots that started, with numbers before those of reduces: map slots, including unused ones. 0 without slots of reduces.
fn slots_before_reduces(spans: &[PhaseSpan]) -> u64 {
    let of = |kind: TaskKind| -> BTreeSet<(u32, u32)> {
        spans.iter().filter(|span| span.kind == kind).map(|span| (span.node, span.slot)).collect()
    };
    let (started, reducing) = (of(TaskKind::Slot), of(TaskKind::Reduce));
    let first_reducing = reducing.iter().map(|(_, slot)| *slot).min().unwrap_or(0);
    started.difference(&reducing).filter(|(_, slot)| *slot < first_reducing).count() as u64
}

/// Returns the number of tasks that may hold the GPU at a time, as the log shows: 0 if no task waited.
fn permits_of(spans: &[PhaseSpan]) -> u64 {
    let waits: Vec<f64> = spans.iter().filter(|span| span.phase == "gpu_wait").map(PhaseSpan::seconds).collect();
    if waits.iter().sum::<f64>() <= NO_WAIT_S * waits.len() as f64 {
        return 0;
    }
    let holds = |span: &&PhaseSpan| matches!(place_of(&span.phase), Some(2..=4));
    let mut changes: Vec<(i64, i64)> = Vec::new();
    for span in spans.iter().filter(holds) {
        // whole microseconds; a task gives its permit back after its last phase
        let us = |seconds: f64| (seconds * 1e6).round() as i64;
        changes.extend([(us(span.start_s) + 2, 1), (us(span.end_s), -1)]);
    }
    changes.sort_unstable();
    let (mut holding, mut most) = (0, 0);
    for (_, change) in changes {
        holding += change;
        most = most.max(holding);
    }
    u64::try_from(most).unwrap_or(1).max(1)
}

/// Returns the phases of tasks, in the same order, with the time since the task before on the same slot in the first phase of each task: the slot frees the
/// memory of that task and asks for the next one.
fn without_gaps(spans: &[PhaseSpan]) -> Vec<PhaseSpan> {
    let mut spans: Vec<PhaseSpan> = spans.iter().filter(|span| span.kind != TaskKind::Slot).cloned().collect();
    let slot = |span: &PhaseSpan| (span.kind, span.node, span.slot);
    let mut order: Vec<usize> = (0..spans.len()).collect();
    order.sort_by(|&a, &b| slot(&spans[a]).cmp(&slot(&spans[b])).then(spans[a].start_s.total_cmp(&spans[b].start_s)));
    for pair in order.windows(2) {
        let (before, next) = (pair[0], pair[1]);
        let is_next_task = spans[before].task != spans[next].task || spans[before].attempt != spans[next].attempt;
        if slot(&spans[before]) == slot(&spans[next]) && is_next_task {
            spans[next].start_s = spans[before].end_s.min(spans[next].start_s);
        }
    }
    spans
}

/// The users of the cores and of the GPU of each host.
struct Work {
    cores: BTreeMap<u32, Users>,
    gpus: BTreeMap<u32, Users>,
}

impl Work {
    fn of(spans: &[PhaseSpan], cores: Option<f64>) -> Self {
        let hosts: BTreeSet<u32> = spans.iter().map(|span| span.node).collect();
        let users = |capacity: f64, is_user: &dyn Fn(&PhaseSpan) -> bool| {
            let of_host = |host: u32| {
                let here = spans.iter().filter(move |span| span.node == host);
                let uses = here.filter(|span| is_user(span)).map(|span| (span.start_s, span.end_s));
                Users::new(capacity, uses)
            };
            hosts.iter().map(|host| (*host, of_host(*host))).collect()
        };
        Self {
            cores: users(cores.unwrap_or(f64::INFINITY), &|span| uses_core(&span.phase)),
            gpus: users(1.0, &|span| place_of(&span.phase) == Some(GPU)),
        }
    }

    /// Returns the time of a phase if nothing slowed it down \[s\].
    fn seconds(&self, span: &PhaseSpan) -> f64 {
        let users = match place_of(&span.phase) {
            Some(GPU) => &self.gpus,
            _ if uses_core(&span.phase) => &self.cores,
            _ => return span.seconds(),
        };
        users.get(&span.node).map_or_else(|| span.seconds(), |users| users.work(span.start_s, span.end_s))
    }
}

/// Returns true if a phase uses a core: all but the GPU's computation and waits. A copy to or from the GPU is driven by the host.
fn uses_core(phase: &str) -> bool {
    phase != "gpu_wait" && place_of(phase) != Some(GPU)
}

fn tasks_of(spans: &[PhaseSpan], work: &Work, split_mb: f64) -> Vec<PhaseTask> {
    let key = |span: &PhaseSpan| (span.kind, span.task, span.attempt);
    let mut tasks: Vec<&[PhaseSpan]> = spans.chunk_by(|a, b| key(a) == key(b)).collect();
    tasks.sort_by(|a, b| a[0].start_s.total_cmp(&b[0].start_s));
    let mut used = BTreeSet::new();
    let task = |spans: &&[PhaseSpan]| {
        let is_map = spans[0].kind == TaskKind::Map;
        let mut found = PhaseTask {
            is_map,
            is_first: used.insert((spans[0].kind, spans[0].node, spans[0].slot)),
            mb: split_mb,
            work_s: [0.0; PHASES],
            gpu_s: 0.0,
        };
        // a phase that the format does not have belongs to the phase before it
        let mut place = if is_map { 0 } else { 6 };
        for span in spans.iter().filter(|span| span.phase != "gpu_wait") {
            place = place_of(&span.phase).unwrap_or(place);
            found.work_s[place] += work.seconds(span);
            found.gpu_s += if place == GPU { span.seconds() } else { 0.0 };
            let moved = span.bytes.filter(|_| span.phase == if is_map { "read" } else { "shuffle" });
            found.mb = moved.map_or(found.mb, |bytes| bytes as f64 / MB);
        }
        found
    };
    tasks.iter().map(task).collect()
}
