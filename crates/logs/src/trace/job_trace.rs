//! Recorded runs: applications, jobs, stages, attempts of tasks, executors and nodes, in one form for all logs.

use std::collections::BTreeMap;
use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::trace::attempt::Attempt;
use crate::trace::format::Format;
use crate::trace::ids::{ApplicationId, ExecutorId, Moment, NodeId, StageId};
use crate::trace::metric::{Metric, MetricStore, MetricUnit, PROGRESS_POINTS};
use crate::trace::phases::PhaseLog;
use crate::trace::warning::{Spot, Warning};

/// Meaning of time 0 on the log's clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Clock {
    /// The start of 1970, in UTC.
    Unix,
    /// The start of the trace, whenever that was.
    Trace,
}

/// One application: a Spark application, a MapReduce job, or a job of a cluster trace.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Application {
    /// Id in the log; empty if the log has none.
    pub id: String,
    /// Name; empty if the log has none.
    pub name: String,
    /// User who started it; empty if the log does not state it.
    pub user: String,
    /// Version of the framework, if the log has it.
    pub version: Option<String>,
    /// Start time: Spark's start, the submission of a MapReduce job.
    pub start: Option<Moment>,
    /// End time.
    pub end: Option<Moment>,
    /// Settings that affect the scheduling of its tasks, by name.
    pub properties: BTreeMap<String, String>,
}

impl Application {
    /// Returns a setting as a number.
    pub fn number(&self, property: &str) -> Option<f64> {
        self.properties.get(property)?.trim().parse().ok().filter(|value: &f64| value.is_finite())
    }

    /// Returns the number of cores that a task takes (`spark.task.cpus`), at least 1.
    pub fn cores_of_a_task(&self) -> u32 {
        self.number("spark.task.cpus").map_or(1, |cores| (cores as u32).max(1))
    }
}

/// A job of an application: for Spark an action, otherwise the whole application.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Job {
    /// The job's application.
    pub application: ApplicationId,
    /// Number in the log.
    pub number: u64,
    /// Name of the job, if the log has it.
    pub name: String,
    /// Submission time.
    pub submitted: Option<Moment>,
    /// Earliest start of its tasks: the launch of a MapReduce job. None for Spark.
    pub launched: Option<Moment>,
    /// End time.
    pub completed: Option<Moment>,
    /// True if it succeeded; none if the log does not state it.
    pub succeeded: Option<bool>,
    /// Numbers of its stages; a stage that was skipped because its output existed has no [`Stage`].
    pub stages: Vec<u32>,
    /// The number of the micro-batch of a streaming query that the job belongs to; none for other jobs.
    pub batch: Option<u64>,
    /// Stages announced at its submission; empty if the log does not announce them.
    pub announced: Vec<AnnouncedStage>,
}

/// A stage announced by a Spark job: it may run later, or be skipped.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AnnouncedStage {
    /// Number.
    pub number: u32,
    /// Name.
    pub name: String,
    /// Tasks, if the log has them.
    pub tasks: Option<u32>,
    /// Numbers of the stages it waits for, if the log has them.
    pub parents: Option<Vec<u32>>,
}

/// Kind of work of a stage's tasks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum StageKind {
    /// Missing from the log.
    #[default]
    Unknown,
    /// Tasks whose output goes to a shuffle.
    ShuffleMap,
    /// Tasks whose output is the result of the job.
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

/// One attempt to run a stage: tasks of one kind that may run in parallel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stage {
    /// The application it belongs to.
    pub application: ApplicationId,
    /// Number in the log, unique within the application.
    pub number: u32,
    /// The number of this attempt of the stage, from 0.
    pub attempt: u32,
    /// Name; empty if the log has none.
    pub name: String,
    /// The description of its SQL query or job in one line, if the log has one other than the name. Stages of different runs are matched by `name`.
    pub description: Option<String>,
    /// The number of its SQL query; none for other stages.
    pub sql_execution: Option<u64>,
    /// Operators of the query's last plan that ran in the stage, in the order of the data, such as `Scan parquet sales`; empty for other stages.
    pub operators: Vec<String>,
    /// Kind of work of its tasks.
    pub kind: StageKind,
    /// Numbers of its parent stages; none if the log does not state them.
    pub parents: Option<Vec<u32>>,
    /// Spark's numbers of the datasets that the stage starts from, namely those without parents. Empty if the log does not state them.
    pub sources: Vec<u32>,
    /// Spark's numbers of the stage's datasets that are cached in memory or on disk, so that later stages read the cached copies.
    pub stored: Vec<u32>,
    /// Planned number of tasks; none if the log does not state it.
    pub tasks: Option<u32>,
    /// Submission time.
    pub submitted: Option<Moment>,
    /// End time.
    pub completed: Option<Moment>,
    /// Reason for the failure of the stage, if it failed.
    pub failure: Option<String>,
    /// Range of its attempts in [`JobTrace::attempts`].
    pub attempts: Range<usize>,
}

/// A process that runs tasks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Executor {
    /// The application it belongs to.
    pub application: ApplicationId,
    /// Id in the log.
    pub id: String,
    /// The node that the executor runs on.
    pub node: Option<NodeId>,
    /// Cores, if the log has them.
    pub cores: Option<u32>,
    /// Cores that a task takes by the executor's resource profile; none if the setting of the application applies.
    pub task_cores: Option<u32>,
    /// Time at which the executor was added; none for an executor without such an event, such as the executor of a local run.
    pub added: Option<Moment>,
    /// Time at which the executor was removed.
    pub removed: Option<Moment>,
    /// Reason for the removal of the executor.
    pub removal: Option<String>,
}

/// A machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    /// Name or address in the log.
    pub name: String,
    /// Rack, if the log has it.
    pub rack: Option<String>,
}

/// Statistics of the reading.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reading {
    /// Bytes of the files.
    pub bytes: u64,
    /// Bytes after decompression.
    pub text_bytes: u64,
    /// Lines of text in all files.
    pub lines: u64,
    /// Events or records, including unneeded ones.
    pub events: u64,
    /// Lines that do not parse.
    pub bad_lines: u64,
    /// Number of task ends in the log, including ends without an attempt: Spark reports a task as ended again if the
    /// task must be repeated.
    pub task_ends: u64,
    /// True if the reading was stopped early.
    pub partial: bool,
}

/// The jobs of a log.
#[derive(Clone, Debug)]
pub struct JobTrace {
    /// The format of the log.
    pub format: Format,
    /// The files that were read, in order.
    pub files: Vec<String>,
    /// Statistics of the reading.
    pub reading: Reading,
    /// Meaning of time 0 on the log's own clock.
    pub clock: Clock,
    /// Time 0 of the trace, in microseconds of the log's clock.
    pub origin_us: i64,
    /// Applications in the order of the log.
    pub applications: Vec<Application>,
    /// Jobs in the order of applications, and of the log within each.
    pub jobs: Vec<Job>,
    /// Stages in the order of application, number and attempt.
    pub stages: Vec<Stage>,
    /// Executors in the order of the log.
    pub executors: Vec<Executor>,
    /// Nodes in the order of the log.
    pub nodes: Vec<Node>,
    /// The last time in the log.
    pub last: Option<Moment>,
    /// Oddities of the log.
    pub warnings: Vec<Warning>,
    /// The phases of tasks; empty unless the log is a phase log.
    pub phase_log: PhaseLog,
    pub(super) attempts: Vec<Attempt>,
    pub(super) metrics: MetricStore,
}

/// Converts a stored number to the metric's unit.
fn in_unit(metric: Metric, number: u64) -> f64 {
    if metric.unit() == MetricUnit::Seconds { number as f64 / 1e6 } else { number as f64 }
}

impl JobTrace {
    /// Returns a time in seconds since 1970; none if the times of the log count from another origin.
    pub fn unix_s(&self, time: Moment) -> Option<f64> {
        let is_known = self.clock == Clock::Unix && self.origin_us > 0;
        is_known.then(|| self.origin_us as f64 / 1e6 + time.seconds())
    }

    /// Returns all attempts, in the order of stage, task and launch.
    pub fn attempts(&self) -> &[Attempt] {
        &self.attempts
    }

    /// Returns the attempts of a stage, in the order of task and launch.
    pub fn attempts_of(&self, stage: StageId) -> &[Attempt] {
        self.stages.get(stage.index()).and_then(|stage| self.attempts.get(stage.attempts.clone())).unwrap_or(&[])
    }

    /// Returns the attempts of a stage, grouped by task. Tasks are in order; tasks without attempts are omitted;
    /// attempts of a task are in the order of launch.
    pub fn tasks_of(&self, stage: StageId) -> impl Iterator<Item = &[Attempt]> {
        self.attempts_of(stage).chunk_by(|a, b| a.task == b.task)
    }

    /// Returns the stages of an application.
    pub fn stages_of(&self, application: ApplicationId) -> Range<usize> {
        let before = |stage: &Stage| stage.application < application;
        let start = self.stages.partition_point(before);
        start..start + self.stages[start..].partition_point(|stage| stage.application == application)
    }

    /// Returns the attempts of an application, in the order of stage, task and launch.
    pub fn attempts_of_application(&self, application: ApplicationId) -> &[Attempt] {
        let stages = &self.stages[self.stages_of(application)];
        let range = stages.first().zip(stages.last()).map_or(0..0, |(a, z)| a.attempts.start..z.attempts.end);
        self.attempts.get(range).unwrap_or(&[])
    }

    /// Returns the jobs of an application, in the order of the log.
    pub fn jobs_of(&self, application: ApplicationId) -> &[Job] {
        let start = self.jobs.partition_point(|job| job.application < application);
        let end = start + self.jobs[start..].partition_point(|job| job.application == application);
        &self.jobs[start..end]
    }

    /// Returns the applications with their ids, in order.
    pub fn applications_with_ids(&self) -> impl Iterator<Item = (ApplicationId, &Application)> {
        self.applications.iter().enumerate().map(|(i, application)| (ApplicationId::from_index(i), application))
    }

    /// Returns the only application with its id.
    ///
    /// # Errors
    ///
    /// The number of applications, if it is not 1.
    pub fn only_application(&self) -> Result<(ApplicationId, &Application), usize> {
        let mut all = self.applications_with_ids();
        match (all.next(), all.next()) {
            (Some(one), None) => Ok(one),
            _ => Err(self.applications.len()),
        }
    }

    /// Returns the stages with their ids, in order.
    pub fn stages_with_ids(&self) -> impl Iterator<Item = (StageId, &Stage)> {
        self.stages.iter().enumerate().map(|(i, stage)| (StageId::from_index(i), stage))
    }

    /// Returns the same trace with only one of its applications.
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
        self.phase_log.spans.retain(|span| span.application == application);
        self.phase_log.spans.iter_mut().for_each(|span| span.application = own);
        self
    }

    /// Returns the same trace with only one job of its only application; none if there is no such job.
    #[must_use]
    pub fn into_job(mut self, number: u64) -> Option<Self> {
        self.only_application().ok()?;
        self.jobs.retain(|job| job.number == number);
        let numbers = self.jobs.first()?.stages.clone();
        let (mut stages, mut attempts): (Vec<Stage>, Vec<Attempt>) = (Vec::new(), Vec::new());
        for stage in self.stages.iter().filter(|stage| numbers.contains(&stage.number)) {
            let (id, first) = (StageId::from_index(stages.len()), attempts.len());
            let own = self.attempts[stage.attempts.clone()].iter().cloned();
            attempts.extend(own.map(|attempt| Attempt { stage: id, ..attempt }));
            stages.push(Stage { attempts: first..attempts.len(), ..stage.clone() });
        }
        (self.stages, self.attempts) = (stages, attempts);
        Some(self)
    }

    /// Returns the number of tasks that an executor runs at a time, if the log has its cores.
    pub fn slots_of_executor(&self, executor: &Executor) -> Option<u32> {
        let of_application =
            || self.applications.get(executor.application.index()).map_or(1, Application::cores_of_a_task);
        Some(executor.cores? / executor.task_cores.unwrap_or_else(of_application).max(1))
    }

    /// Returns a stage.
    pub fn stage(&self, id: StageId) -> Option<&Stage> {
        self.stages.get(id.index())
    }

    /// Returns an attempt's node.
    pub fn node_of(&self, attempt: &Attempt) -> Option<&Node> {
        self.nodes.get(attempt.node?.index())
    }

    /// Returns an attempt's executor.
    pub fn executor_of(&self, attempt: &Attempt) -> Option<&Executor> {
        self.executors.get(attempt.executor?.index())
    }

    /// Returns a metric as a number: seconds, bytes, or a count. None if the log does not have it.
    pub fn value(&self, attempt: &Attempt, metric: Metric) -> Option<f64> {
        Some(in_unit(metric, self.metrics.get(attempt.metrics, metric)?))
    }

    /// Returns the bytes of input and shuffles that an attempt read, as far as the log has them.
    pub fn bytes_read(&self, attempt: &Attempt) -> f64 {
        let read = |metric| self.value(attempt, metric).unwrap_or(0.0);
        read(Metric::InputBytes) + read(Metric::ShuffleLocalBytes) + read(Metric::ShuffleRemoteBytes)
    }

    /// Returns a metric that counts bytes or records, exactly; a time in whole microseconds.
    pub fn amount(&self, attempt: &Attempt, metric: Metric) -> Option<u64> {
        self.metrics.get(attempt.metrics, metric)
    }

    /// Returns all metrics of an attempt in the log, as given by [`JobTrace::value`].
    pub fn values(&self, attempt: &Attempt) -> impl Iterator<Item = (Metric, f64)> {
        self.metrics.all(attempt.metrics).map(|(metric, number)| (metric, in_unit(metric, number)))
    }

    /// Returns the progress of an attempt: 12 points of (seconds since its launch, completed share), if the log has it.
    pub fn progress(&self, attempt: &Attempt) -> Option<[(f64, f64); PROGRESS_POINTS]> {
        let splits = self.metrics.progress(attempt.metrics)?;
        let mut sum = 0_u64;
        Some(std::array::from_fn(|i| {
            sum = sum.saturating_add(splits[i]);
            (sum as f64 / 1e6, (i + 1) as f64 / PROGRESS_POINTS as f64)
        }))
    }

    /// Returns the time from launch to end without the parts reported by the executor: run, deserialisation, serialisation and fetch of the result
    /// \[s\], at least 0. This is the time used by the scheduler and the network. None without the executor's times.
    ///
    /// Exact up to the log's milliseconds. Spark's web interface uses the same definition.
    pub fn scheduler_delay(&self, attempt: &Attempt) -> Option<f64> {
        let part = |metric| self.value(attempt, metric).unwrap_or(0.0);
        let run = self.value(attempt, Metric::ExecutorRunTime)?;
        let stated = run
            + part(Metric::DeserializeTime)
            + part(Metric::ResultSerializationTime)
            + part(Metric::GettingResultTime);
        Some((attempt.duration()? - stated).max(0.0))
    }

    /// Returns a position in the log as `file:line`.
    pub fn place(&self, spot: Spot) -> String {
        let file = self.files.get(spot.file as usize).map_or("", String::as_str);
        if spot.line == 0 { file.to_owned() } else { format!("{file}:{}", spot.line) }
    }

    /// Returns the bytes of memory for attempts and their metrics.
    pub fn attempt_bytes(&self) -> usize {
        self.attempts.len() * size_of::<Attempt>() + self.metrics.bytes()
    }
}
