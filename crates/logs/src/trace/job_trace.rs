//! What really ran: applications, jobs, stages, attempts of tasks, executors and nodes, in one form for all logs.

use std::collections::BTreeMap;
use std::ops::Range;

use crate::trace::attempt::Attempt;
use crate::trace::format::Format;
use crate::trace::ids::{ApplicationId, ExecutorId, Moment, NodeId, StageId};
use crate::trace::metric::{Metric, MetricStore, MetricUnit, PROGRESS_POINTS};
use crate::trace::warning::{Spot, Warning};

/// What time 0 of the log's own clock is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Clock {
    /// The beginning of 1970, in UTC.
    Unix,
    /// The beginning of the trace, whenever that was.
    Trace,
}

/// One application: a Spark application, a MapReduce job, or a job of a cluster trace.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Application {
    /// Id in the log; empty where the log has none.
    pub id: String,
    /// Name; empty where the log has none.
    pub name: String,
    /// Who started it; empty where the log does not say.
    pub user: String,
    /// Version of the framework, where the log states it.
    pub version: Option<String>,
    /// When it started: Spark's start, the submission of a MapReduce job.
    pub start: Option<Moment>,
    /// When it ended.
    pub end: Option<Moment>,
    /// Settings that decide how its tasks are scheduled, by name.
    pub properties: BTreeMap<String, String>,
}

impl Application {
    /// A setting as a number.
    pub fn number(&self, property: &str) -> Option<f64> {
        self.properties.get(property)?.trim().parse().ok().filter(|value: &f64| value.is_finite())
    }

    /// Cores that a task takes (`spark.task.cpus`), at least 1.
    pub fn cores_of_a_task(&self) -> u32 {
        self.number("spark.task.cpus").map_or(1, |cores| (cores as u32).max(1))
    }
}

/// A job of an application: for Spark an action, else the application as a whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Job {
    /// The application that it belongs to.
    pub application: ApplicationId,
    /// Number in the log.
    pub number: u64,
    /// What it is called, where the log says.
    pub name: String,
    /// When it was submitted.
    pub submitted: Option<Moment>,
    /// When its tasks could start: the launch of a MapReduce job. None for Spark.
    pub launched: Option<Moment>,
    /// When it ended.
    pub completed: Option<Moment>,
    /// Whether it ended well; none where the log does not say.
    pub succeeded: Option<bool>,
    /// Numbers of its stages; one that was skipped, because its output was there, has no [`Stage`].
    pub stages: Vec<u32>,
    /// Stages as they were announced when it was submitted; empty where the log does not announce them.
    pub announced: Vec<AnnouncedStage>,
}

/// A stage as a job of Spark announces it: it may run later, or be skipped.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AnnouncedStage {
    /// Number.
    pub number: u32,
    /// Name.
    pub name: String,
    /// Tasks, where the log says.
    pub tasks: Option<u32>,
    /// Numbers of the stages that it waits for, where the log says.
    pub parents: Option<Vec<u32>>,
}

/// What the tasks of a stage do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum StageKind {
    /// The log does not say.
    #[default]
    Unknown,
    /// Their output goes to a shuffle.
    ShuffleMap,
    /// Their output is the result of the job.
    Result,
    /// Map tasks of MapReduce.
    Map,
    /// Reduce tasks of MapReduce.
    Reduce,
    /// Tasks that set up a MapReduce job.
    Setup,
    /// Tasks that clean up after a MapReduce job.
    Cleanup,
}

impl StageKind {
    /// Returns the name in tables, JSON and CSV.
    pub fn key(self) -> &'static str {
        match self {
            Self::Unknown => "unknown",
            Self::ShuffleMap => "shuffle_map",
            Self::Result => "result",
            Self::Map => "map",
            Self::Reduce => "reduce",
            Self::Setup => "setup",
            Self::Cleanup => "cleanup",
        }
    }
}

/// One attempt to run a stage: tasks of one kind that may run side by side.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stage {
    /// The application that it belongs to.
    pub application: ApplicationId,
    /// Number in the log, unique within the application.
    pub number: u32,
    /// The number of this attempt of the stage, from 0.
    pub attempt: u32,
    /// What it is called; empty where the log does not say.
    pub name: String,
    /// The description of its SQL query or job in one line, if the log states one other than the name. Stages of runs are matched by `name`.
    pub description: Option<String>,
    /// The number of the SQL query that it is part of; none for other stages.
    pub sql_execution: Option<u64>,
    /// Operators of the query's last plan that ran in it, in the order of the data, such as `Scan parquet sales`; empty for other stages.
    pub operators: Vec<String>,
    /// What its tasks do.
    pub kind: StageKind,
    /// Numbers of the stages that must be done before; none where the log does not say.
    pub parents: Option<Vec<u32>>,
    /// Spark's numbers of the datasets that it begins with: those without parents. Empty where the log does not say.
    pub sources: Vec<u32>,
    /// Spark's numbers of its datasets that are kept in memory or on disk, so that a later stage reads the copy.
    pub stored: Vec<u32>,
    /// Tasks, as planned; none where the log does not say.
    pub tasks: Option<u32>,
    /// When it was submitted.
    pub submitted: Option<Moment>,
    /// When it ended.
    pub completed: Option<Moment>,
    /// Why it failed, if it did.
    pub failure: Option<String>,
    /// Where its attempts are in [`JobTrace::attempts`].
    pub attempts: Range<usize>,
}

/// A process that runs tasks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Executor {
    /// The application that it belongs to.
    pub application: ApplicationId,
    /// Id in the log.
    pub id: String,
    /// The node that it runs on.
    pub node: Option<NodeId>,
    /// Cores, where the log says.
    pub cores: Option<u32>,
    /// When it was added; none for one that the log never adds, such as that of a local run.
    pub added: Option<Moment>,
    /// When it was removed.
    pub removed: Option<Moment>,
    /// Why it was removed.
    pub removal: Option<String>,
}

/// A machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    /// Name or address in the log.
    pub name: String,
    /// Rack, where the log says.
    pub rack: Option<String>,
}

/// What was read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reading {
    /// Bytes of the files.
    pub bytes: u64,
    /// Bytes after decompression.
    pub text_bytes: u64,
    /// Lines of the text, of all files together.
    pub lines: u64,
    /// Events or records, also those that are not needed.
    pub events: u64,
    /// Lines that are none.
    pub bad_lines: u64,
    /// Ends of tasks in the log, also those that are no attempt's: Spark tells again of tasks that must be done again.
    pub task_ends: u64,
    /// True if the reading was ended early.
    pub partial: bool,
}

/// What a log says of the jobs that ran.
#[derive(Clone, Debug)]
pub struct JobTrace {
    /// The format of the log.
    pub format: Format,
    /// The files that were read, in order.
    pub files: Vec<String>,
    /// What was read.
    pub reading: Reading,
    /// What time 0 of the log's own clock is.
    pub clock: Clock,
    /// Time 0 of the trace, in microseconds of the log's own clock.
    pub origin_us: i64,
    /// In the order of the log.
    pub applications: Vec<Application>,
    /// In the order of applications, and of the log within each.
    pub jobs: Vec<Job>,
    /// In the order of application, number and attempt.
    pub stages: Vec<Stage>,
    /// In the order of the log.
    pub executors: Vec<Executor>,
    /// In the order of the log.
    pub nodes: Vec<Node>,
    /// The last time that the log tells of anything.
    pub last: Option<Moment>,
    /// What is odd about the log.
    pub warnings: Vec<Warning>,
    pub(super) attempts: Vec<Attempt>,
    pub(super) metrics: MetricStore,
}

/// A stored number in the metric's unit.
fn in_unit(metric: Metric, number: u64) -> f64 {
    if metric.unit() == MetricUnit::Seconds { number as f64 / 1e6 } else { number as f64 }
}

impl JobTrace {
    /// All attempts, in the order of stage, task and launch.
    pub fn attempts(&self) -> &[Attempt] {
        &self.attempts
    }

    /// The attempts of a stage, in the order of task and launch.
    pub fn attempts_of(&self, stage: StageId) -> &[Attempt] {
        self.stages.get(stage.index()).and_then(|stage| self.attempts.get(stage.attempts.clone())).unwrap_or(&[])
    }

    /// The attempts of each task of a stage that has any, in the order of tasks; within a task by launch.
    pub fn tasks_of(&self, stage: StageId) -> impl Iterator<Item = &[Attempt]> {
        self.attempts_of(stage).chunk_by(|a, b| a.task == b.task)
    }

    /// The stages of an application.
    pub fn stages_of(&self, application: ApplicationId) -> Range<usize> {
        let before = |stage: &Stage| stage.application < application;
        let start = self.stages.partition_point(before);
        start..start + self.stages[start..].partition_point(|stage| stage.application == application)
    }

    /// The attempts of an application, in the order of stage, task and launch.
    pub fn attempts_of_application(&self, application: ApplicationId) -> &[Attempt] {
        let stages = &self.stages[self.stages_of(application)];
        let range = stages.first().zip(stages.last()).map_or(0..0, |(a, z)| a.attempts.start..z.attempts.end);
        self.attempts.get(range).unwrap_or(&[])
    }

    /// The jobs of an application, in the order of the log.
    pub fn jobs_of(&self, application: ApplicationId) -> &[Job] {
        let start = self.jobs.partition_point(|job| job.application < application);
        let end = start + self.jobs[start..].partition_point(|job| job.application == application);
        &self.jobs[start..end]
    }

    /// The applications with their ids, in order.
    pub fn applications_with_ids(&self) -> impl Iterator<Item = (ApplicationId, &Application)> {
        self.applications.iter().enumerate().map(|(i, application)| (ApplicationId::from_index(i), application))
    }

    /// The stages with their ids, in order.
    pub fn stages_with_ids(&self) -> impl Iterator<Item = (StageId, &Stage)> {
        self.stages.iter().enumerate().map(|(i, stage)| (StageId::from_index(i), stage))
    }

    /// The same trace with one of its applications only.
    #[must_use]
    pub fn into_application(mut self, application: ApplicationId) -> Self {
        let own = ApplicationId::from_index(0);
        let stages = self.stages_of(application);
        let first = self.stages.get(stages.start).map_or(0, |stage| stage.attempts.start);
        let count = self.attempts_of_application(application).len();
        self.attempts = self.attempts.drain(first..first + count).collect();
        let mut before = 0;
        let number = |executor: &Executor| {
            let own = before;
            before += usize::from(executor.application == application);
            ExecutorId::from_index(own)
        };
        let executors: Vec<ExecutorId> = self.executors.iter().map(number).collect();
        for attempt in &mut self.attempts {
            attempt.stage = StageId::from_index(attempt.stage.index() - stages.start);
            attempt.executor = attempt.executor.map(|executor| executors[executor.index()]);
        }
        self.executors.retain(|executor| executor.application == application);
        self.jobs.retain(|job| job.application == application);
        self.stages = self.stages.drain(stages).collect();
        for stage in &mut self.stages {
            stage.application = own;
            stage.attempts = stage.attempts.start - first..stage.attempts.end - first;
        }
        self.executors.iter_mut().for_each(|executor| executor.application = own);
        self.jobs.iter_mut().for_each(|job| job.application = own);
        self.applications = self.applications.drain(application.index()..).take(1).collect();
        self
    }

    /// A stage.
    pub fn stage(&self, id: StageId) -> Option<&Stage> {
        self.stages.get(id.index())
    }

    /// An attempt's node.
    pub fn node_of(&self, attempt: &Attempt) -> Option<&Node> {
        self.nodes.get(attempt.node?.index())
    }

    /// An attempt's executor.
    pub fn executor_of(&self, attempt: &Attempt) -> Option<&Executor> {
        self.executors.get(attempt.executor?.index())
    }

    /// A metric as a number: seconds, bytes, or a count. None where the log does not state it.
    pub fn value(&self, attempt: &Attempt, metric: Metric) -> Option<f64> {
        Some(in_unit(metric, self.metrics.get(attempt.metrics, metric)?))
    }

    /// A metric that counts bytes or records, exactly; a time in whole microseconds.
    pub fn amount(&self, attempt: &Attempt, metric: Metric) -> Option<u64> {
        self.metrics.get(attempt.metrics, metric)
    }

    /// All metrics of an attempt that the log states, as [`JobTrace::value`] gives them.
    pub fn values(&self, attempt: &Attempt) -> impl Iterator<Item = (Metric, f64)> {
        self.metrics.all(attempt.metrics).map(|(metric, number)| (metric, in_unit(metric, number)))
    }

    /// The progress of an attempt: 12 points of (seconds since its launch, share that is done), where the log has it.
    pub fn progress(&self, attempt: &Attempt) -> Option<[(f64, f64); PROGRESS_POINTS]> {
        let splits = self.metrics.progress(attempt.metrics)?;
        let mut sum = 0_u64;
        Some(std::array::from_fn(|i| {
            sum = sum.saturating_add(splits[i]);
            (sum as f64 / 1e6, (i + 1) as f64 / PROGRESS_POINTS as f64)
        }))
    }

    /// From launch to end without the parts that the executor states: run, deserialisation, serialisation and fetch of the
    /// result \[s\], at least 0. It is what the scheduler and the network took. None without the executor's times.
    ///
    /// Exact up to the log's milliseconds. It is the definition of Spark's web interface.
    pub fn scheduler_delay(&self, attempt: &Attempt) -> Option<f64> {
        let part = |metric| self.value(attempt, metric).unwrap_or(0.0);
        let run = self.value(attempt, Metric::ExecutorRunTime)?;
        let stated = run
            + part(Metric::DeserializeTime)
            + part(Metric::ResultSerializationTime)
            + part(Metric::GettingResultTime);
        Some((attempt.duration()? - stated).max(0.0))
    }

    /// A place in the log as `file:line`.
    pub fn place(&self, spot: Spot) -> String {
        let file = self.files.get(spot.file as usize).map_or("", String::as_str);
        if spot.line == 0 { file.to_owned() } else { format!("{file}:{}", spot.line) }
    }

    /// Bytes of memory for attempts and what is known about them.
    pub fn attempt_bytes(&self) -> usize {
        self.attempts.len() * size_of::<Attempt>() + self.metrics.bytes()
    }
}
