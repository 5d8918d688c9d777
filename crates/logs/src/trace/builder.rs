//! Collects the records found by a reader, on the log's clock, and builds the trace: time 0, order, and global checks.

use std::collections::HashMap;

use crate::trace::attempt::{Attempt, Locality, Outcome, UNKNOWN, stored};
use crate::trace::error::TraceError;
use crate::trace::format::Format;
use crate::trace::ids::{ApplicationId, ExecutorId, Moment, NodeId, StageId};
use crate::trace::job_trace::{Application, Clock, Executor, Job, JobTrace, Node, Reading, Stage, StageKind};
use crate::trace::metric::{MetricStore, Metrics};
use crate::trace::phases::PhaseLog;
use crate::trace::read_options::ReadOptions;
use crate::trace::warning::{Spot, Warning, WarningKind, Warnings};

/// An attempt from a reader.
#[derive(Clone, Debug)]
pub(super) struct NewAttempt<'m> {
    pub(super) stage: StageId,
    pub(super) task: u32,
    pub(super) number: u32,
    pub(super) node: Option<NodeId>,
    pub(super) executor: Option<ExecutorId>,
    pub(super) outcome: Outcome,
    pub(super) locality: Locality,
    pub(super) speculative: bool,
    pub(super) id: u64,
    pub(super) launch: Option<Moment>,
    pub(super) finish: Option<Moment>,
    pub(super) metrics: Option<&'m Metrics>,
}

/// Microseconds per day.
const MICROSECONDS_OF_A_DAY: i64 = 86_400_000_000;

/// Latest time accepted on a log's clock, in microseconds. For a clock that starts in 1970, this is the year 5138.
const LATEST_US: i64 = 100_000_000_000_000_000;

/// Builder of a trace.
#[derive(Debug)]
pub(super) struct Builder {
    most_attempts: u64,
    clock: Clock,
    files: Vec<String>,
    /// Current position of the reader.
    pub(super) at: Spot,
    pub(super) reading: Reading,
    pub(super) warnings: Warnings,
    pub(super) applications: Vec<Application>,
    pub(super) jobs: Vec<Job>,
    job_ids: HashMap<(ApplicationId, u64), usize>,
    pub(super) stages: Vec<Stage>,
    stage_ids: HashMap<(ApplicationId, u32, u32), StageId>,
    pub(super) executors: Vec<Executor>,
    executor_ids: HashMap<ApplicationId, HashMap<String, ExecutorId>>,
    nodes: Vec<Node>,
    node_ids: HashMap<String, NodeId>,
    attempts: Vec<Attempt>,
    metrics: MetricStore,
    /// The phases of a phase log.
    pub(super) phase_log: PhaseLog,
    /// Bad rows of a phase log, each a warning of its own.
    pub(super) row_warnings: Vec<Warning>,
    /// True if copies are derived from overlapping attempts, because the log does not mark them.
    pub(super) derive_copies: bool,
    /// True if a stage that ends without a failure has completed all its tasks.
    pub(super) stages_end_well: bool,
}

impl Builder {
    pub(super) fn new(options: &ReadOptions, clock: Clock, files: Vec<String>) -> Self {
        Self {
            most_attempts: options.most_attempts,
            clock,
            files,
            at: Spot::default(),
            reading: Reading::default(),
            warnings: Warnings::default(),
            applications: Vec::new(),
            jobs: Vec::new(),
            job_ids: HashMap::new(),
            stages: Vec::new(),
            stage_ids: HashMap::new(),
            executors: Vec::new(),
            executor_ids: HashMap::new(),
            nodes: Vec::new(),
            node_ids: HashMap::new(),
            attempts: Vec::new(),
            metrics: MetricStore::default(),
            phase_log: PhaseLog::default(),
            row_warnings: Vec::new(),
            derive_copies: false,
            stages_end_well: false,
        }
    }

    /// Counts a warning at the current position.
    pub(super) fn warn(&mut self, kind: WarningKind, example: impl FnOnce() -> String) {
        self.warnings.add(kind, self.at, example);
    }

    /// Returns the name of the current file.
    pub(super) fn file(&self) -> String {
        self.files.get(self.at.file as usize).cloned().unwrap_or_default()
    }

    /// Converts a time of the log, in units of `us` microseconds; 0 and -1 mean unknown, as in all formats.
    pub(super) fn time(&mut self, value: i64, us: i64) -> Option<Moment> {
        if value == 0 || value == -1 {
            return None;
        }
        let time = value.checked_mul(us).filter(|time| (1..=LATEST_US).contains(time));
        if time.is_none() {
            self.warn(WarningKind::BadTime, || value.to_string());
        }
        time.map(Moment::from_microseconds)
    }

    /// Returns `end`; none, with a warning about `what`, if `end` is before `start`.
    pub(super) fn end(&mut self, start: Option<Moment>, end: Option<Moment>, what: &str) -> Option<Moment> {
        let (Some(from), Some(to)) = (start, end) else { return end };
        if to < from {
            self.warn(WarningKind::NegativeTime, || format!("{what}: {} s", to.seconds_since(from)));
            return None;
        }
        end
    }

    pub(super) fn new_application(&mut self, application: Application) -> ApplicationId {
        self.applications.push(application);
        ApplicationId::from_index(self.applications.len() - 1)
    }

    /// Returns the job of an application, creating it if needed, and whether it was created.
    pub(super) fn job(&mut self, application: ApplicationId, number: u64) -> (&mut Job, bool) {
        let next = self.jobs.len();
        let index = *self.job_ids.entry((application, number)).or_insert(next);
        if index == next {
            self.jobs.push(Job {
                application,
                number,
                name: String::new(),
                submitted: None,
                launched: None,
                completed: None,
                succeeded: None,
                stages: Vec::new(),
                batch: None,
                announced: Vec::new(),
            });
        }
        (&mut self.jobs[index], index == next)
    }

    /// Returns the job of an application, if it exists.
    pub(super) fn known_job(&self, application: ApplicationId, number: u64) -> Option<&Job> {
        self.jobs.get(*self.job_ids.get(&(application, number))?)
    }

    /// Returns the stage of an application, creating it if needed, and whether it was created.
    pub(super) fn stage(&mut self, application: ApplicationId, number: u32, attempt: u32) -> (StageId, bool) {
        let next = StageId::from_index(self.stages.len());
        let id = *self.stage_ids.entry((application, number, attempt)).or_insert(next);
        if id == next {
            self.stages.push(Stage {
                application,
                number,
                attempt,
                name: String::new(),
                description: None,
                sql_execution: None,
                operators: Vec::new(),
                kind: StageKind::Unknown,
                parents: None,
                sources: Vec::new(),
                stored: Vec::new(),
                tasks: None,
                submitted: None,
                completed: None,
                failure: None,
                attempts: 0..0,
            });
        }
        (id, id == next)
    }

    pub(super) fn stage_mut(&mut self, id: StageId) -> &mut Stage {
        &mut self.stages[id.index()]
    }

    /// Returns the node of this name; none for an empty name.
    pub(super) fn node(&mut self, name: &str, rack: Option<&str>) -> Option<NodeId> {
        if name.is_empty() {
            return None;
        }
        if let Some(&id) = self.node_ids.get(name) {
            let node = &mut self.nodes[id.index()];
            if node.rack.is_none() {
                node.rack = rack.map(str::to_owned);
            }
            return Some(id);
        }
        let id = NodeId::from_index(self.nodes.len());
        self.nodes.push(Node { name: name.to_owned(), rack: rack.map(str::to_owned) });
        self.node_ids.insert(name.to_owned(), id);
        Some(id)
    }

    /// Returns the executor of this id, creating it if needed.
    pub(super) fn executor(&mut self, application: ApplicationId, id: &str, node: Option<NodeId>) -> ExecutorId {
        let known = self.executor_ids.entry(application).or_default();
        if let Some(&executor) = known.get(id) {
            let found = &mut self.executors[executor.index()];
            found.node = found.node.or(node);
            return executor;
        }
        let executor = ExecutorId::from_index(self.executors.len());
        known.insert(id.to_owned(), executor);
        self.executors.push(Executor {
            application,
            id: id.to_owned(),
            node,
            cores: None,
            task_cores: None,
            added: None,
            removed: None,
            removal: None,
        });
        executor
    }

    /// Stores an attempt.
    pub(super) fn attempt(&mut self, new: NewAttempt<'_>) -> Result<(), TraceError> {
        if self.attempts.len() as u64 >= self.most_attempts {
            let (file, line, limit) = (self.file(), self.at.line, self.most_attempts);
            return Err(TraceError::TooManyAttempts { file, line, limit });
        }
        let finish = self.end(new.launch, new.finish, "an attempt");
        let metrics = new.metrics.map(|metrics| self.metrics.push(metrics)).unwrap_or_default();
        self.attempts.push(Attempt {
            stage: new.stage,
            task: new.task,
            number: new.number,
            node: new.node,
            executor: new.executor,
            outcome: new.outcome,
            locality: new.locality,
            speculative: new.speculative,
            id: new.id,
            launch: stored(new.launch),
            finish: stored(finish),
            metrics,
        });
        Ok(())
    }

    /// Returns true if the log lacks the end of an attempt of an application.
    pub(super) fn has_open_attempts(&self, application: ApplicationId) -> bool {
        let is_open = |attempt: &&Attempt| attempt.outcome == Outcome::Unfinished;
        let mut open = self.attempts.iter().filter(is_open);
        open.any(|attempt| self.stages[attempt.stage.index()].application == application)
    }

    /// Builds the trace: stages and attempts in order, times from the start of the first application.
    pub(super) fn finish(mut self, format: Format) -> JobTrace {
        // oddities of the log as a whole have no line
        self.at = Spot::default();
        self.sort();
        self.remove_duplicates();
        if self.derive_copies {
            self.attempts.chunk_by_mut(|a, b| (a.stage, a.task) == (b.stage, b.task)).for_each(mark_copies);
        }
        self.check();
        let (origin, last) = self.origin_and_last();
        self.shift(origin);
        self.attempts.shrink_to_fit();
        JobTrace {
            format,
            files: self.files,
            reading: self.reading,
            clock: self.clock,
            origin_us: origin,
            applications: self.applications,
            jobs: self.jobs,
            stages: self.stages,
            executors: self.executors,
            nodes: self.nodes,
            last: last.map(|last| Moment::from_microseconds(last).shifted(origin)),
            warnings: self.row_warnings.into_iter().chain(self.warnings.into_vec()).collect(),
            phase_log: self.phase_log,
            attempts: self.attempts,
            metrics: self.metrics,
        }
    }

    /// Sorts stages by application, number and attempt; attempts by stage, task and launch.
    fn sort(&mut self) {
        let mut order: Vec<usize> = (0..self.stages.len()).collect();
        let key = |stage: &Stage| (stage.application, stage.number, stage.attempt);
        order.sort_by_key(|&i| key(&self.stages[i]));
        let mut new_ids = vec![StageId::from_index(0); order.len()];
        for (new, &old) in order.iter().enumerate() {
            new_ids[old] = StageId::from_index(new);
        }
        self.stages.sort_by_key(key);
        self.jobs.sort_by_key(|job| job.application);
        for attempt in &mut self.attempts {
            attempt.stage = new_ids[attempt.stage.index()];
        }
        self.attempts.sort_unstable_by_key(|a| (a.stage, a.task, a.launch, a.number, a.id, a.outcome));
    }

    fn remove_duplicates(&mut self) {
        let (warnings, at) = (&mut self.warnings, self.at);
        self.attempts.dedup_by(|b, a| {
            let same = (a.stage, a.task, a.number, a.id, a.launch) == (b.stage, b.task, b.number, b.id, b.launch);
            if same {
                warnings.add(WarningKind::DuplicateAttempt, at, || format!("task {}, attempt {}", b.task, b.number));
            }
            same
        });
        let mut end = 0;
        for (i, stage) in self.stages.iter_mut().enumerate() {
            let start = end;
            let own = self.attempts[start..].partition_point(|attempt| attempt.stage.index() <= i);
            end = start + own;
            stage.attempts = start..end;
        }
    }

    /// Runs the checks that are only possible at the end of the log.
    fn check(&mut self) {
        for job in self.jobs.iter().filter(|job| job.completed.is_none()) {
            self.warnings.add(WarningKind::UnfinishedJob, self.at, || format!("job {}", job.number));
        }
        for stage in &self.stages {
            let attempts = &self.attempts[stage.attempts.clone()];
            let Some(tasks) = stage.tasks else { continue };
            let which = || format!("stage {}, attempt {}", stage.number, stage.attempt);
            if attempts.last().is_some_and(|last| last.task >= tasks) {
                self.warnings.add(WarningKind::ExtraTask, self.at, which);
            }
            let done = attempts.chunk_by(|a, b| a.task == b.task).filter(|task| task.iter().any(Attempt::succeeded));
            let done = done.count();
            let ended_well =
                self.stages_end_well && stage.completed.is_some() && stage.failure.is_none() && stage.attempt == 0;
            if ended_well && done < tasks as usize {
                let example = || format!("stage {}: {done} of {tasks} tasks", stage.number);
                self.warnings.add(WarningKind::MissingTasks, self.at, example);
            }
        }
        let open = self.attempts.iter().filter(|attempt| attempt.outcome == Outcome::Unfinished);
        for attempt in open {
            let stage = &self.stages[attempt.stage.index()];
            let example = || format!("stage {}, task {}, attempt {}", stage.number, attempt.task, attempt.number);
            self.warnings.add(WarningKind::Unfinished, self.at, example);
        }
    }

    /// Returns time 0 and the last time of the log. Time 0 is the start of the first application. In a cluster trace,
    /// whose first application started before the trace, and in a log without such a start, time 0 is the earliest
    /// time.
    fn origin_and_last(&mut self) -> (i64, Option<i64>) {
        let starts = self.applications.iter().filter_map(|application| application.start);
        let start = starts.min().map(Moment::microseconds).filter(|_| self.clock == Clock::Unix);
        let ends = self.applications.iter().flat_map(|application| [application.start, application.end]).flatten();
        let mut last = ends.max().map(Moment::microseconds);
        let mut first = i64::MAX;
        let mut look = |time: i64| {
            first = first.min(time);
            last = last.max(Some(time));
        };
        visit_times(&mut self.jobs, &mut self.stages, &mut self.executors, |time| look(time.microseconds()));
        let attempts = self.attempts.iter().flat_map(|a| [a.launch, a.finish]);
        attempts.filter(|&time| time != UNKNOWN).for_each(&mut look);
        if start.is_some_and(|start| first < start) {
            self.warnings.add(WarningKind::BeforeStart, self.at, String::new);
        }
        if let Some(days) =
            last.map(|last| last.saturating_sub(first) / MICROSECONDS_OF_A_DAY).filter(|days| *days > 366)
        {
            self.warnings.add(WarningKind::YearsApart, self.at, || format!("{days} days"));
        }
        (start.unwrap_or(if first == i64::MAX { 0 } else { first }), last)
    }

    fn shift(&mut self, origin: i64) {
        for application in &mut self.applications {
            application.start.iter_mut().chain(&mut application.end).for_each(|time| *time = time.shifted(origin));
        }
        visit_times(&mut self.jobs, &mut self.stages, &mut self.executors, |time| *time = time.shifted(origin));
        for attempt in &mut self.attempts {
            for time in [&mut attempt.launch, &mut attempt.finish] {
                if *time != UNKNOWN {
                    *time = time.saturating_sub(origin);
                }
            }
        }
    }
}

/// Marks copies among the attempts of a task, which are in the order of their launch. MapReduce starts a second
/// attempt of a running task only as a copy, and kills the slower attempt once the other attempt has succeeded.
fn mark_copies(attempts: &mut [Attempt]) {
    let mut latest = UNKNOWN;
    for attempt in attempts.iter_mut() {
        let unfinished = attempt.finish == UNKNOWN;
        attempt.speculative |= latest != UNKNOWN && attempt.launch != UNKNOWN && attempt.launch < latest;
        latest = latest.max(if unfinished { attempt.launch } else { attempt.finish });
    }
    let done = attempts.iter().filter(|attempt| attempt.succeeded() && attempt.finish != UNKNOWN);
    let Some(done) = done.map(|attempt| attempt.finish).min() else { return };
    for attempt in attempts.iter_mut().filter(|attempt| attempt.outcome == Outcome::Killed) {
        if attempt.launch < done && attempt.finish >= done {
            attempt.outcome = Outcome::KilledAsCopy;
        }
    }
}

fn visit_times(jobs: &mut [Job], stages: &mut [Stage], executors: &mut [Executor], mut visit: impl FnMut(&mut Moment)) {
    for job in jobs {
        job.submitted.iter_mut().chain(&mut job.launched).chain(&mut job.completed).for_each(&mut visit);
    }
    for stage in stages {
        stage.submitted.iter_mut().chain(&mut stage.completed).for_each(&mut visit);
    }
    for executor in executors {
        executor.added.iter_mut().chain(&mut executor.removed).for_each(&mut visit);
    }
}
