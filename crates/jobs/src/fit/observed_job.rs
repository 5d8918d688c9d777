//! One MapReduce job as its log shows it: each task by the attempt that succeeded, with its phases and counters.

use crate::fit::observe::FitError;
use crate::fit::waits::{ObservedCluster, observe_cluster};
use crate::trace::{Application, ApplicationId, Attempt, Format, JobTrace, Metric, Moment, StageId, StageKind};

/// Bytes of a MB.
const MB: f64 = 1_048_576.0;
/// A map that is launched so long after the first end of one was in a later wave \[µs\].
const WAVE: i64 = 1_000;

/// A map task; what the log does not state is none.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ObservedMap {
    /// Launch, after the first launch of a task \[s\].
    pub launch_s: f64,
    /// From launch to end \[s\].
    pub wall_s: f64,
    /// From launch to the end of its map phase \[s\].
    pub map_s: Option<f64>,
    /// Processor time \[s\].
    pub cpu_s: Option<f64>,
    /// Input that it read \[MB\].
    pub input_mb: Option<f64>,
    /// Output before it is combined \[MB\].
    pub output_mb: Option<f64>,
    /// Records that it spilled.
    pub spilled: Option<f64>,
    /// Local bytes that it wrote \[MB\].
    pub written_mb: Option<f64>,
}

/// A reduce task; what the log does not state is none.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ObservedReduce {
    /// Launch, after the first launch of a task \[s\].
    pub launch_s: f64,
    /// From launch to end \[s\].
    pub wall_s: f64,
    /// From its launch, or the end of the last map where that was later, to its end \[s\].
    pub after_maps_s: f64,
    /// From the end of its sort to its end \[s\].
    pub reduce_s: Option<f64>,
    /// Time of its shuffle \[s\], where it began after the last map.
    pub fetch_s: Option<f64>,
    /// Map output that it fetched \[MB\].
    pub fetched_mb: Option<f64>,
    /// Output that it wrote \[MB\].
    pub output_mb: Option<f64>,
}

/// A MapReduce job.
#[derive(Clone, Debug, PartialEq)]
pub struct ObservedJob {
    /// The log.
    pub log: String,
    /// The job's id.
    pub id: String,
    /// Name.
    pub name: String,
    /// From submission to end \[s\].
    pub job_s: f64,
    /// From submission to the first launch of a task, set-up tasks included \[s\]: the job waits for the cluster.
    pub queued_s: f64,
    /// From the first launch of a task to the last end of one, set-up and clean-up tasks included \[s\].
    pub run_s: f64,
    /// From the first launch of a task to the first launch of a map \[s\]: set-up.
    pub load_s: f64,
    /// From the first launch of a task to the last end of a map \[s\].
    pub last_map_s: f64,
    /// From the last end of a map or reduce to the last end of a task \[s\]: clean-up.
    pub cleanup_s: f64,
    /// From the last end of a task to the end of the job \[s\].
    pub after_s: f64,
    /// Cluster, by all jobs of the log.
    pub cluster: ObservedCluster,
    /// True if a map was launched after another had ended.
    pub waves: bool,
    /// Maps that succeeded.
    pub maps: Vec<ObservedMap>,
    /// Reduces that succeeded.
    pub reduces: Vec<ObservedReduce>,
    /// What is odd.
    pub notes: Vec<String>,
}

/// Returns true if a log is of MapReduce jobs.
pub fn is_mapreduce(trace: &JobTrace) -> bool {
    matches!(trace.format, Format::HadoopJson | Format::HadoopText | Format::Rumen)
}

/// What a log says of a MapReduce job: of the one with this id, else of the only one.
///
/// # Errors
///
/// [`FitError`] for a log with several jobs and no id, for one without this job, and for a job that did not end well.
pub fn observe_job(trace: &JobTrace, wanted: Option<&str>) -> Result<ObservedJob, FitError> {
    let log = trace.files.first().cloned().unwrap_or_default();
    let (app, application) = chosen(trace, wanted, &log)?;
    let incomplete = |what: String| FitError::Incomplete { log: log.clone(), what };
    let job = trace.jobs_of(app).first().ok_or_else(|| incomplete("it has no job".to_owned()))?;
    if job.succeeded == Some(false) {
        return Err(incomplete(format!("{} did not succeed", application.id)));
    }
    let stage = |kind: StageKind| trace.stages_with_ids().find(|(_, s)| s.application == app && s.kind == kind);
    let mut notes = Vec::new();
    let maps = done(trace, stage(StageKind::Map).map(|s| s.0), "maps", &mut notes);
    let reduces = done(trace, stage(StageKind::Reduce).map(|s| s.0), "reduces", &mut notes);
    let first = maps.iter().filter_map(|a| a.launch()).min();
    let last_map = maps.iter().filter_map(|a| a.finish()).max();
    let (Some(first), Some(last_map)) = (first, last_map) else {
        return Err(incomplete(format!("{} has no map with a beginning and an end", application.id)));
    };
    let last = reduces.iter().filter_map(|a| a.finish()).max().unwrap_or(last_map).max(last_map);
    let tasks = trace.attempts_of_application(app);
    let start = tasks.iter().filter_map(Attempt::launch).min().unwrap_or(first);
    let last_task = tasks.iter().filter_map(Attempt::finish).max().unwrap_or(last);
    let submitted = job.submitted.unwrap_or(start);
    let end = job.completed.unwrap_or(last_task);
    let first_end = maps.iter().filter_map(|a| a.finish()).min().map_or(0, Moment::microseconds);
    let waves = maps.iter().filter_map(|a| a.launch()).any(|launch| launch.microseconds() >= first_end + WAVE);
    Ok(ObservedJob {
        log,
        id: application.id.clone(),
        name: if job.name.is_empty() { application.id.clone() } else { job.name.clone() },
        job_s: end.seconds_since(submitted),
        queued_s: start.seconds_since(submitted).max(0.0),
        run_s: last_task.seconds_since(start),
        load_s: first.seconds_since(start),
        last_map_s: last_map.seconds_since(start),
        cleanup_s: last_task.seconds_since(last),
        after_s: end.seconds_since(last_task).max(0.0),
        cluster: observe_cluster(trace, |_| true),
        waves,
        maps: maps.iter().filter_map(|a| observed_map(trace, a, start)).collect(),
        reduces: reduces.iter().filter_map(|a| observed_reduce(trace, a, start, last_map)).collect(),
        notes,
    })
}

/// The application that is asked for.
fn chosen<'t>(
    trace: &'t JobTrace,
    wanted: Option<&str>,
    log: &str,
) -> Result<(ApplicationId, &'t Application), FitError> {
    let all: Vec<_> = trace.applications_with_ids().collect();
    let ids = || all.iter().map(|(_, a)| a.id.clone()).collect::<Vec<_>>();
    match wanted {
        Some(id) => all
            .iter()
            .find(|(_, application)| application.id == id)
            .copied()
            .ok_or_else(|| FitError::NoSuchJob { log: log.to_owned(), id: id.to_owned(), ids: ids() }),
        None if all.len() == 1 => Ok(all[0]),
        None => Err(FitError::SeveralJobs { log: log.to_owned(), ids: ids() }),
    }
}

/// The attempts that did the tasks of a stage.
fn done<'t>(trace: &'t JobTrace, stage: Option<StageId>, what: &str, notes: &mut Vec<String>) -> Vec<&'t Attempt> {
    let Some(stage) = stage else { return Vec::new() };
    let found: Vec<&Attempt> = trace.tasks_of(stage).filter_map(|all| all.iter().find(|a| a.succeeded())).collect();
    let timed: Vec<&Attempt> = found.iter().copied().filter(|a| a.duration().is_some()).collect();
    let extra = trace.attempts_of(stage).len() - timed.len();
    if extra > 0 {
        notes.push(format!("{what}: {extra} attempts that did no task, or without times, are left out"));
    }
    timed
}

fn observed_map(trace: &JobTrace, attempt: &Attempt, start: Moment) -> Option<ObservedMap> {
    let mb = |metric| Some(trace.value(attempt, metric)? / MB);
    let wall_s = attempt.duration()?;
    Some(ObservedMap {
        launch_s: attempt.launch()?.seconds_since(start),
        wall_s,
        map_s: trace.value(attempt, Metric::MapPhaseTime).filter(|time| *time <= wall_s),
        cpu_s: trace.value(attempt, Metric::CpuTime),
        input_mb: mb(Metric::InputBytes),
        output_mb: mb(Metric::ShuffleWriteBytes),
        spilled: trace.value(attempt, Metric::SpilledRecords),
        written_mb: mb(Metric::LocalWriteBytes),
    })
}

fn observed_reduce(trace: &JobTrace, attempt: &Attempt, start: Moment, last_map: Moment) -> Option<ObservedReduce> {
    let mb = |metric| Some(trace.value(attempt, metric)? / MB);
    let (launch, finish) = (attempt.launch()?, attempt.finish()?);
    let shuffle = trace.value(attempt, Metric::ShufflePhaseTime);
    let sort = trace.value(attempt, Metric::SortPhaseTime);
    let before = shuffle.zip(sort).map(|(shuffle, sort)| shuffle + sort);
    Some(ObservedReduce {
        launch_s: launch.seconds_since(start),
        wall_s: finish.seconds_since(launch),
        after_maps_s: finish.seconds_since(launch.max(last_map)).max(0.0),
        reduce_s: before.map(|before| finish.seconds_since(launch) - before).filter(|time| *time >= 0.0),
        fetch_s: shuffle.filter(|_| launch >= last_map),
        fetched_mb: mb(Metric::ShuffleRemoteBytes),
        output_mb: mb(Metric::OutputBytes),
    })
}

impl ObservedJob {
    /// A sum over all maps; none where a map lacks the value.
    pub fn sum_of_maps(&self, value: impl Fn(&ObservedMap) -> Option<f64>) -> Option<f64> {
        self.maps.iter().map(value).sum()
    }

    /// Map output that the reduces fetched \[MB\]; 0 without reduces, none where one lacks the value.
    pub fn shuffled_mb(&self) -> Option<f64> {
        self.reduces.iter().map(|reduce| reduce.fetched_mb).sum()
    }

    /// Output of all reduces \[MB\], likewise.
    pub fn reduced_mb(&self) -> Option<f64> {
        self.reduces.iter().map(|reduce| reduce.output_mb).sum()
    }
}
