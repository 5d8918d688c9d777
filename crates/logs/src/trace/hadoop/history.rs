//! Effects of submissions, starts and ends on the trace, for all formats.

use std::collections::HashMap;

use crate::trace::attempt::{Locality, Outcome};
use crate::trace::builder::{Builder, NewAttempt};
use crate::trace::error::TraceError;
use crate::trace::ids::{ApplicationId, Moment, NodeId, StageId};
use crate::trace::job_trace::{Application, Job, StageKind};
use crate::trace::metric::{Metric, Metrics, PROGRESS_POINTS};
use crate::trace::warning::WarningKind;

/// Microseconds per millisecond, the unit of all times.
const MILLISECOND: i64 = 1000;

/// The kinds of stages, by their number.
const KINDS: [(StageKind, &str); 4] = [
    (StageKind::Map, "map"),
    (StageKind::Reduce, "reduce"),
    (StageKind::Setup, "setup"),
    (StageKind::Cleanup, "cleanup"),
];

/// Returns the number of a task's stage, by the word for its type, or else by its id.
fn stage_number(kind: &str, id: &TaskId<'_>) -> Option<u32> {
    Some(match kind {
        "MAP" => 0,
        "REDUCE" => 1,
        "SETUP" | "JOB_SETUP" => 2,
        "CLEANUP" | "JOB_CLEANUP" | "TASK_CLEANUP" => 3,
        _ if id.kind == "m" => 0,
        _ if id.kind == "r" => 1,
        _ => return None,
    })
}

/// The parts of `task_<cluster>_<job>_<m or r>_<task>` and `attempt_<the same>_<attempt>`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct TaskId<'a> {
    cluster: &'a str,
    job: &'a str,
    kind: &'a str,
    task: u32,
    attempt: u32,
}

impl<'a> TaskId<'a> {
    fn parse(id: &'a str) -> Option<Self> {
        let mut parts = id.split('_').skip(1);
        let (cluster, job, kind) = (parts.next()?, parts.next()?, parts.next()?);
        let task = parts.next()?.parse().ok()?;
        let attempt = parts.next().map_or(Some(0), |number| number.parse().ok())?;
        Some(Self { cluster, job, kind, task, attempt })
    }

    fn job_id(&self) -> String {
        format!("job_{}_{}", self.cluster, self.job)
    }
}

/// Facts about a job; missing facts are empty or 0.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct JobFacts<'a> {
    pub(super) id: &'a str,
    pub(super) name: &'a str,
    pub(super) user: &'a str,
    pub(super) submitted: i64,
    pub(super) launched: i64,
    pub(super) finished: i64,
    pub(super) maps: Option<u32>,
    pub(super) reduces: Option<u32>,
    /// The word for the job's state or outcome.
    pub(super) status: &'a str,
}

/// Facts about an attempt; missing facts are empty or 0.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct AttemptFacts<'a> {
    pub(super) id: &'a str,
    pub(super) kind: &'a str,
    pub(super) start: i64,
    pub(super) finish: i64,
    pub(super) map_finish: i64,
    pub(super) shuffle_finish: i64,
    pub(super) sort_finish: i64,
    /// Host, or `/rack/host`.
    pub(super) host: &'a str,
    pub(super) rack: &'a str,
    pub(super) locality: &'a str,
    /// `VIRGIN`, `SPECULATIVE`, or nothing.
    pub(super) avataar: &'a str,
    /// The word for the attempt's outcome.
    pub(super) status: &'a str,
}

/// An attempt that has started.
#[derive(Clone, Copy, Debug)]
struct Running {
    stage: StageId,
    task: u32,
    number: u32,
    node: Option<NodeId>,
    locality: Locality,
    speculative: bool,
    launch: Option<Moment>,
}

/// Adds the events of a history to a trace.
#[derive(Debug, Default)]
pub(super) struct History {
    applications: HashMap<String, ApplicationId>,
    running: HashMap<String, Running>,
}

impl History {
    /// Starts another job for the following events, even if its id occurred before.
    pub(super) fn next_job(&mut self) {
        self.applications.clear();
    }

    /// Returns the application of a job, creating it if needed.
    fn application(&mut self, job: &str, builder: &mut Builder) -> ApplicationId {
        if let Some(&id) = self.applications.get(job) {
            return id;
        }
        let id = builder.new_application(Application { id: job.to_owned(), ..Application::default() });
        self.applications.insert(job.to_owned(), id);
        id
    }

    /// Returns the only job of an application, and the application's id.
    fn job_of<'b>(&mut self, job: &str, builder: &'b mut Builder) -> (ApplicationId, &'b mut Job) {
        let application = self.application(job, builder);
        let number = job.rsplit('_').next().and_then(|number| number.parse().ok()).unwrap_or(0);
        (application, builder.job(application, number).0)
    }

    /// Adds facts about a job.
    pub(super) fn job(&mut self, facts: &JobFacts<'_>, builder: &mut Builder) {
        if facts.id.is_empty() {
            builder.warn(WarningKind::MissingField, || "a job without an id".to_owned());
            return;
        }
        let submitted = builder.time(facts.submitted, MILLISECOND);
        let launched = builder.time(facts.launched, MILLISECOND);
        let finished = builder.time(facts.finished, MILLISECOND);
        let (id, job) = self.job_of(facts.id, builder);
        job.submitted = submitted.or(job.submitted);
        job.launched = launched.or(job.launched);
        if job.name.is_empty() {
            job.name = facts.name.to_owned();
        }
        job.succeeded = match facts.status {
            "SUCCEEDED" | "SUCCESS" => Some(true),
            "FAILED" | "KILLED" | "ERROR" => Some(false),
            _ => job.succeeded,
        };
        let start = job.submitted;
        let finished = builder.end(start, finished, "a job");
        let (_, job) = self.job_of(facts.id, builder);
        job.completed = finished.or(job.completed);
        let completed = job.completed;
        let application = &mut builder.applications[id.index()];
        application.start = start;
        application.end = completed;
        if application.name.is_empty() {
            application.name = facts.name.to_owned();
        }
        if application.user.is_empty() {
            application.user = facts.user.to_owned();
        }
        for (number, tasks) in [(0, facts.maps), (1, facts.reduces)] {
            // no stage if there is no work
            if let Some(tasks) = tasks.filter(|&tasks| tasks > 0) {
                let stage = self.stage(id, facts.id, number, builder);
                builder.stage_mut(stage).tasks = Some(tasks);
            }
        }
    }

    /// Returns a stage of a job, creating it if needed.
    fn stage(&mut self, id: ApplicationId, job: &str, number: u32, builder: &mut Builder) -> StageId {
        let (stage, is_new) = builder.stage(id, number, 0);
        if is_new {
            let (kind, name) = KINDS[number as usize % KINDS.len()];
            let new = builder.stage_mut(stage);
            (new.kind, new.name) = (kind, name.to_owned());
            let (_, job) = self.job_of(job, builder);
            job.stages.push(number);
            job.stages.sort_unstable();
        }
        stage
    }

    /// Returns the stage of a task or attempt, by its id.
    fn stage_of(&mut self, id: &TaskId<'_>, kind: &str, builder: &mut Builder) -> Option<StageId> {
        let number = stage_number(kind, id)?;
        let job = id.job_id();
        let application = self.application(&job, builder);
        Some(self.stage(application, &job, number, builder))
    }

    /// Records that a task starts to wait for its first attempt, or that it has ended.
    pub(super) fn task(&mut self, id: &str, kind: &str, start: i64, finish: i64, builder: &mut Builder) {
        let stage = TaskId::parse(id).and_then(|id| self.stage_of(&id, kind, builder));
        let Some(stage) = stage else {
            builder.warn(WarningKind::MissingField, || format!("the task id `{id}`"));
            return;
        };
        let start = builder.time(start, MILLISECOND);
        let finish = builder.time(finish, MILLISECOND);
        let stage = builder.stage_mut(stage);
        stage.submitted = [stage.submitted, start].into_iter().flatten().min();
        stage.completed = stage.completed.max(finish);
    }

    /// Starts an attempt.
    pub(super) fn start(&mut self, facts: &AttemptFacts<'_>, builder: &mut Builder) {
        if let Some(running) = self.running(facts, builder) {
            self.running.insert(facts.id.to_owned(), running);
        }
    }

    fn running(&mut self, facts: &AttemptFacts<'_>, builder: &mut Builder) -> Option<Running> {
        let id = TaskId::parse(facts.id);
        let Some((id, stage)) = id.and_then(|id| Some((id, self.stage_of(&id, facts.kind, builder)?))) else {
            builder.warn(WarningKind::MissingField, || format!("the attempt id `{}`", facts.id));
            return None;
        };
        let locality = match facts.locality {
            "" => Locality::Unknown,
            word => Locality::named(word).unwrap_or_else(|| {
                builder.warn(WarningKind::UnknownWord, || format!("locality `{word}`"));
                Locality::Unknown
            }),
        };
        Some(Running {
            stage,
            task: id.task,
            number: id.attempt,
            node: node(facts, builder),
            locality,
            speculative: facts.avataar == "SPECULATIVE",
            launch: builder.time(facts.start, MILLISECOND),
        })
    }

    /// Ends an attempt.
    pub(super) fn end(
        &mut self,
        facts: &AttemptFacts<'_>,
        metrics: &mut Metrics,
        builder: &mut Builder,
    ) -> Result<(), TraceError> {
        builder.reading.task_ends += 1;
        let Some(found) = self.running(facts, builder) else { return Ok(()) };
        let begun = self.running.remove(facts.id);
        if begun.is_none() && found.launch.is_none() {
            builder.warn(WarningKind::EndWithoutStart, || facts.id.to_owned());
        }
        let begun = begun.unwrap_or(found);
        let launch = found.launch.or(begun.launch);
        phases(facts, launch, metrics, builder);
        let locality = if found.locality == Locality::Unknown { begun.locality } else { found.locality };
        let new = NewAttempt {
            stage: begun.stage,
            task: begun.task,
            number: begun.number,
            node: found.node.or(begun.node),
            executor: None,
            outcome: outcome(facts.status, builder),
            locality,
            speculative: begun.speculative || found.speculative,
            id: 0,
            launch,
            finish: builder.time(facts.finish, MILLISECOND),
            metrics: Some(metrics),
        };
        builder.attempt(new)
    }

    /// Ends the history: adds attempts without an end, and the dependencies of stages.
    pub(super) fn close(mut self, builder: &mut Builder) -> Result<(), TraceError> {
        let mut open: Vec<(String, Running)> = self.running.drain().collect();
        open.sort_unstable_by(|(a, _), (b, _)| a.cmp(b));
        for (_, running) in open {
            builder.attempt(NewAttempt {
                stage: running.stage,
                task: running.task,
                number: running.number,
                node: running.node,
                executor: None,
                outcome: Outcome::Unfinished,
                locality: running.locality,
                speculative: running.speculative,
                id: 0,
                launch: running.launch,
                finish: None,
                metrics: None,
            })?;
        }
        let mut there = HashMap::<ApplicationId, Vec<u32>>::new();
        for stage in &builder.stages {
            there.entry(stage.application).or_default().push(stage.number);
        }
        for stage in &mut builder.stages {
            let before: &[u32] = match stage.kind {
                StageKind::Map => &[2],
                StageKind::Reduce => &[0],
                StageKind::Cleanup => &[0, 1],
                _ => &[],
            };
            let there = there.get(&stage.application).map_or(&[][..], Vec::as_slice);
            stage.parents = Some(before.iter().copied().filter(|number| there.contains(number)).collect());
        }
        builder.derive_copies = true;
        Ok(())
    }
}

/// Returns the node of a host and rack; `/rack/host` holds both, and dots may be escaped.
fn node(facts: &AttemptFacts<'_>, builder: &mut Builder) -> Option<NodeId> {
    let host = facts.host.replace('\\', "");
    let (rack, name) = match host.strip_prefix('/').and_then(|path| path.rsplit_once('/')) {
        Some((rack, name)) => (format!("/{rack}"), name.to_owned()),
        None => (facts.rack.replace('\\', ""), host.trim_start_matches('/').to_owned()),
    };
    builder.node(&name, Some(rack.as_str()).filter(|rack| !rack.is_empty()))
}

/// Records the ends of an attempt's phases, as times since its launch.
fn phases(facts: &AttemptFacts<'_>, launch: Option<Moment>, metrics: &mut Metrics, builder: &mut Builder) {
    let map = builder.time(facts.map_finish, MILLISECOND);
    let shuffle = builder.time(facts.shuffle_finish, MILLISECOND);
    let sort = builder.time(facts.sort_finish, MILLISECOND);
    let spans = [
        (Metric::MapPhaseTime, launch, map),
        (Metric::ShufflePhaseTime, launch, shuffle),
        (Metric::SortPhaseTime, shuffle, sort),
    ];
    for (metric, from, to) in spans {
        if let (Some(start), Some(end)) = (from, builder.end(from, to, metric.key())) {
            metrics.set(metric, end.microseconds().abs_diff(start.microseconds()));
        }
    }
}

/// Records the milliseconds of each twelfth of an attempt's progress, if they are valid.
pub(super) fn progress(splits: &[i64], metrics: &mut Metrics) {
    let mut us = [0; PROGRESS_POINTS];
    if splits.len() != PROGRESS_POINTS {
        return;
    }
    for (us, &split) in us.iter_mut().zip(splits) {
        let Ok(split) = u64::try_from(split) else { return };
        *us = split.saturating_mul(1000);
    }
    metrics.set_progress(us);
}

fn outcome(status: &str, builder: &mut Builder) -> Outcome {
    match status {
        "SUCCEEDED" | "SUCCESS" => Outcome::Success,
        "FAILED" => Outcome::Failed,
        "KILLED" => Outcome::Killed,
        "" => Outcome::Unknown,
        other => {
            builder.warn(WarningKind::UnknownWord, || format!("end of an attempt `{other}`"));
            Outcome::Unknown
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_name_job_task_and_attempt() {
        let id = TaskId::parse("attempt_1329348432655_0001_m_000012_3").unwrap();
        assert_eq!((id.job_id().as_str(), id.kind, id.task, id.attempt), ("job_1329348432655_0001", "m", 12, 3));
        assert_eq!(TaskId::parse("task_1_2_r_7").map(|id| (id.task, id.attempt)), Some((7, 0)));
        for wrong in ["", "attempt", "attempt_1_2_m", "attempt_1_2_m_x_0", "attempt_1_2_m_99999999999_0"] {
            assert_eq!(TaskId::parse(wrong), None, "{wrong}");
        }
    }
}
