//! One run according to its log: its time, its stages with their input and times, its settings and sizes.

use std::collections::{BTreeMap, BTreeSet};

use crate::compare::pieces::{Pieces, pieces};
use crate::trace::{Application, ApplicationId, Attempt, JobTrace, Metric, Moment};

/// Bytes of a MB.
const MB: f64 = 1_048_576.0;

/// Reason why the run of a log cannot be compared.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CompareRunError {
    /// The log has no application, or several. Pass one log per run.
    #[error(
        "{log}: the log has {count} applications or jobs; a comparison needs logs with exactly one application or job"
    )]
    Applications {
        /// The log.
        log: String,
        /// The number of applications.
        count: usize,
    },
    /// The log does not record when the run started and ended.
    #[error("{log}: the log does not record when the run started and ended")]
    NoTime {
        /// The log.
        log: String,
    },
}

/// A stage of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct ComparedStage {
    /// Number of the stage in the log.
    pub number: u32,
    /// Name of the stage: the first line of its name in the log, or the kind of its tasks.
    pub name: String,
    /// Finished tasks.
    pub tasks: u64,
    /// Input and shuffle data that the finished tasks read \[MB\].
    pub mb: f64,
    /// Intervals in which the stage ran, in seconds since the start of the run: one per attempt of the stage, from the
    /// first launch of a task to the last end.
    pub ran_s: Vec<[f64; 2]>,
}

/// One run.
#[derive(Clone, Debug, PartialEq)]
pub struct ComparedRun {
    /// The log.
    pub log: String,
    /// The application's name.
    pub name: String,
    /// Start of the run, in seconds since 1970; none if the log has no such times.
    pub began_unix_s: Option<f64>,
    /// Job time: from the first submission of a job to the last end of a job \[s\].
    pub job_s: f64,
    /// Stages with tasks, in the order of their first launch.
    pub stages: Vec<ComparedStage>,
    /// Settings by name, and sizes of the run.
    pub settings: BTreeMap<String, String>,
    /// True if the settings turn on the RAPIDS accelerator, which runs queries on GPUs.
    pub gpu: bool,
    /// Limitations of the log.
    pub notes: Vec<String>,
}

impl ComparedRun {
    /// Returns the single run of a log.
    ///
    /// # Errors
    ///
    /// [`CompareRunError`].
    pub fn of(trace: &JobTrace) -> Result<Self, CompareRunError> {
        let log = trace.files.first().cloned().unwrap_or_default();
        let only = trace.only_application();
        let (id, application) = only.map_err(|count| CompareRunError::Applications { log: log.clone(), count })?;
        let mut notes = Vec::new();
        let jobs = trace.jobs_of(id);
        let start = jobs.iter().filter_map(|job| job.submitted).min().or(application.start);
        let whole = jobs.iter().all(|job| job.completed.is_some());
        let completed = jobs.iter().filter_map(|job| job.completed).max();
        let end = if whole { completed.or(application.end) } else { application.end.or(trace.last) };
        if !whole || (completed.is_none() && application.end.is_none()) {
            notes.push(format!(
                "{log}: the log does not record the end of a job; the last time in the log is used instead"
            ));
        }
        if jobs.iter().any(|job| job.succeeded == Some(false)) {
            notes.push(format!("{log}: a job failed"));
        }
        let (Some(start), Some(end)) = (start, end) else { return Err(CompareRunError::NoTime { log }) };
        let stages = stages_of(trace, id, start);
        let mut settings = application.properties.clone();
        add_sizes(&mut settings, trace, (id, application), &stages);
        Ok(Self {
            name: application.name.clone(),
            began_unix_s: trace.unix_s(start),
            job_s: end.seconds_since(start).max(0.0),
            gpu: uses_gpu(application),
            stages,
            settings,
            notes,
            log,
        })
    }
}

impl ComparedRun {
    /// Returns the parts of the job time \[s\]: before the first stage, between stages, and after the last one; and of each stage. An instant with several
    /// stages is shared equally.
    pub fn parts_s(&self) -> ([f64; 3], Vec<f64>) {
        let Pieces { stages, gaps } = self.pieces();
        (gaps, stages)
    }

    pub(super) fn pieces(&self) -> Pieces {
        pieces(self.job_s, &self.stages.iter().map(|stage| &stage.ran_s[..]).collect::<Vec<_>>())
    }
}

/// True if the RAPIDS plug-in is loaded and not turned off.
fn uses_gpu(application: &Application) -> bool {
    let value = |key: &str| application.properties.get(key).map_or("", String::as_str);
    value("spark.plugins").contains("com.nvidia.spark.SQLPlugin")
        && !value("spark.rapids.sql.enabled").eq_ignore_ascii_case("false")
}

/// The stages that have tasks; attempts of the same stage are combined.
fn stages_of(trace: &JobTrace, application: ApplicationId, start: Moment) -> Vec<ComparedStage> {
    let mut stages: Vec<ComparedStage> = Vec::new();
    let of_application = trace.stages_with_ids().filter(|(_, stage)| stage.application == application);
    for (id, stage) in of_application {
        let attempts = trace.attempts_of(id);
        let launch = attempts.iter().filter_map(Attempt::launch).min();
        // a copy that is killed later does not delay other tasks
        let done = attempts.iter().filter(|attempt| attempt.succeeded()).filter_map(Attempt::finish).max();
        let end = done.or(attempts.iter().filter_map(Attempt::finish).max());
        let (Some(launch), Some(end)) = (launch, end) else { continue };
        let tasks: Vec<&Attempt> = trace.tasks_of(id).filter_map(|all| all.iter().find(|a| a.succeeded())).collect();
        let value = |attempt: &Attempt, metric| trace.value(attempt, metric).unwrap_or(0.0);
        let read = [Metric::InputBytes, Metric::ShuffleLocalBytes, Metric::ShuffleRemoteBytes];
        let bytes: f64 = tasks.iter().flat_map(|task| read.map(|metric| value(task, metric))).sum();
        let ran = [launch, end].map(|time| time.seconds_since(start));
        match stages.last_mut().filter(|last| last.number == stage.number) {
            Some(same) => {
                same.tasks += tasks.len() as u64;
                same.mb += bytes / MB;
                // attempts of one stage should not overlap; if the log has overlaps, each instant counts once
                let from = same.ran_s.last().map_or(ran[0], |last| ran[0].max(last[1]));
                same.ran_s.push([from, ran[1].max(from)]);
            }
            None => stages.push(ComparedStage {
                number: stage.number,
                name: match stage.name.lines().next() {
                    Some(name) if !name.is_empty() => name.to_owned(),
                    _ => stage.kind.key().to_owned(),
                },
                tasks: tasks.len() as u64,
                mb: bytes / MB,
                ran_s: vec![ran],
            }),
        }
    }
    stages.sort_by(|a, b| a.ran_s[0][0].total_cmp(&b.ran_s[0][0]).then(a.number.cmp(&b.number)));
    stages
}

/// Adds the sizes of a run to its settings.
fn add_sizes(
    settings: &mut BTreeMap<String, String>,
    trace: &JobTrace,
    (id, application): (ApplicationId, &Application),
    stages: &[ComparedStage],
) {
    let attempts = trace.attempts_of_application(id);
    let nodes: BTreeSet<_> = attempts.iter().filter_map(|attempt| attempt.node).collect();
    let executors: BTreeSet<_> = attempts.iter().filter_map(|attempt| attempt.executor).collect();
    let cores: u32 = executors.iter().filter_map(|id| trace.executors.get(id.index())?.cores).sum();
    let input: f64 = attempts
        .iter()
        .filter(|attempt| attempt.succeeded())
        .filter_map(|attempt| trace.value(attempt, Metric::InputBytes))
        .sum();
    let mut add = |key: &str, value: String| settings.insert(key.to_owned(), value);
    add("tasks", stages.iter().map(|stage| stage.tasks).sum::<u64>().to_string());
    add("stages", stages.len().to_string());
    if !nodes.is_empty() {
        add("hosts that ran tasks", nodes.len().to_string());
    }
    if !executors.is_empty() {
        add("executors that ran tasks", executors.len().to_string());
    }
    if cores > 0 {
        add("cores of these executors", cores.to_string());
    }
    if input > 0.0 {
        add("input read", format!("{:.1} MB", input / MB));
    }
    if let Some(version) = &application.version {
        add("version", version.clone());
    }
}
