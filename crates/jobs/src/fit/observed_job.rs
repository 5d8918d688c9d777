//! One MapReduce job as recorded in its log: each task by its successful attempt, with its phases and counters.

use crate::fit::fit_error::FitError;
use crate::fit::waits::{ObservedCluster, observe_cluster};
use crate::trace::{Application, ApplicationId, Attempt, Format, JobTrace, Metric, Moment, StageId, StageKind};

/// Bytes per MB.
const MB: f64 = 1_048_576.0;
/// A map launched this much later than the first end of a map was in a later wave \[µs\].
const WAVE: i64 = 1_000;

/// A map task; values missing from the log are `None`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ObservedMap {
    /// Launch time, relative to the first launch of a task \[s\].
    pub launch_s: f64,
    /// Time from launch to end \[s\].
    pub wall_s: f64,
    /// Time from launch to the end of its map phase \[s\].
    pub map_s: Option<f64>,
    /// CPU time \[s\].
    pub cpu_s: Option<f64>,
    /// Input that the task read \[MB\].
    pub input_mb: Option<f64>,
    /// Output before combining \[MB\].
    pub output_mb: Option<f64>,
    /// Number of spilled records.
    pub spilled: Option<f64>,
    /// Bytes written to local disks \[MB\].
    pub written_mb: Option<f64>,
}

/// A reduce task; values missing from the log are `None`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ObservedReduce {
    /// Launch time, relative to the first launch of a task \[s\].
    pub launch_s: f64,
    /// Time from launch to end \[s\].
    pub wall_s: f64,
    /// Time from the task's launch, or from the end of the last map if that was later, to the task's end \[s\].
    pub after_maps_s: f64,
    /// Time from the end of the task's sort to the task's end \[s\].
    pub reduce_s: Option<f64>,
    /// Time of the task's shuffle \[s\], if the task started after the last map.
    pub fetch_s: Option<f64>,
    /// Map output that the task fetched \[MB\].
    pub fetched_mb: Option<f64>,
    /// Output that the task wrote \[MB\].
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
    /// Time from submission to end \[s\].
    pub job_s: f64,
    /// Time from submission to the first launch of a task, including set-up tasks \[s\]: the job waits for the cluster.
    pub queued_s: f64,
    /// Time from the first launch of a task to the last end, including set-up and clean-up tasks \[s\].
    pub run_s: f64,
    /// Time from the first launch of a task to the first launch of a map \[s\]: set-up.
    pub load_s: f64,
    /// Time from the first launch of a task to the last end of a map \[s\].
    pub last_map_s: f64,
    /// Time from the last end of a map or reduce to the last end of a task \[s\]: clean-up.
    pub cleanup_s: f64,
    /// Time from the last end of a task to the end of the job \[s\].
    pub after_s: f64,
    /// The cluster, from all jobs of the log.
    pub cluster: ObservedCluster,
    /// True if a map was launched after another had ended.
    pub waves: bool,
    /// Maps that succeeded.
    pub maps: Vec<ObservedMap>,
    /// Reduces that succeeded.
    pub reduces: Vec<ObservedReduce>,
    /// Oddities.
    pub notes: Vec<String>,
}

/// Returns true if a log contains MapReduce jobs.
pub fn is_mapreduce(trace: &JobTrace) -> bool {
    matches!(trace.format, Format::HadoopJson | Format::HadoopText | Format::Rumen)
}

/// Reads MapReduce jobs from logs: the jobs with these ids or names, or without any, the only job of each log. A job with a wanted name
/// is left out if it did not succeed or if its log is incomplete.
///
/// # Errors
///
/// [`FitError`], as of [`observe_job`], and for an id or a name of which no job is read.
pub fn observe_jobs(traces: &[&JobTrace], wanted: &[String]) -> Result<Vec<ObservedJob>, FitError> {
    if wanted.is_empty() {
        return traces.iter().map(|trace| observe_job(trace, None)).collect();
    }
    let mut found = Vec::new();
    for wanted in wanted {
        let before = found.len();
        for trace in traces {
            for application in &trace.applications {
                if application.id == *wanted {
                    found.push(observe_job(trace, Some(wanted))?);
                } else if application.name == *wanted {
                    found.extend(observe_job(trace, Some(&application.id)).ok());
                }
            }
        }
        if found.len() == before {
            let known = traces.iter().flat_map(|trace| &trace.applications);
            let ids = known.map(|application| application.id.clone()).collect();
            let log = traces.iter().filter_map(|trace| trace.files.first().cloned()).collect::<Vec<_>>().join(", ");
            return Err(FitError::NoSuchJob { log, id: wanted.clone(), ids });
        }
    }
    Ok(found)
}

/// Reads a MapReduce job from a log: the job with this id, or the only job.
///
/// # Errors
///
/// [`FitError`] for a log with several jobs and no id, for a log without this job, and for a job that did not succeed.
pub fn observe_job(trace: &JobTrace, wanted: Option<&str>) -> Result<ObservedJob, FitError> {
    let log = trace.files.first().cloned().unwrap_or_default();
    let (app, application) = chosen(trace, wanted, &log)?;
    let incomplete = |what: String| FitError::Incomplete { log: log.clone(), what };
    let job = trace.jobs_of(app).first().ok_or_else(|| incomplete("the log has no job".to_owned()))?;
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
        return Err(incomplete(format!("{} has no map with a start and an end", application.id)));
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

/// Returns the requested application.
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

/// Returns the successful attempts of the tasks of a stage.
fn done<'t>(trace: &'t JobTrace, stage: Option<StageId>, what: &str, notes: &mut Vec<String>) -> Vec<&'t Attempt> {
    let Some(stage) = stage else { return Vec::new() };
    let found: Vec<&Attempt> = trace.tasks_of(stage).filter_map(|all| all.iter().find(|a| a.succeeded())).collect();
    let timed: Vec<&Attempt> = found.iter().copied().filter(|a| a.duration().is_some()).collect();
    let extra = trace.attempts_of(stage).len() - timed.len();
    if extra > 0 {
        notes.push(format!("{what}: attempts that did not complete a task, or have no times, are excluded: {extra}"));
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
    /// Returns a sum over all maps; none if a map lacks the value.
    pub fn sum_of_maps(&self, value: impl Fn(&ObservedMap) -> Option<f64>) -> Option<f64> {
        self.maps.iter().map(value).sum()
    }

    /// Returns the map output that the reduces fetched \[MB\]; 0 without reduces, none if a reduce lacks the value.
    pub fn shuffled_mb(&self) -> Option<f64> {
        self.reduces.iter().map(|reduce| reduce.fetched_mb).sum()
    }

    /// Returns the output of all reduces \[MB\]; 0 without reduces, none if a reduce lacks the value.
    pub fn reduced_mb(&self) -> Option<f64> {
        self.reduces.iter().map(|reduce| reduce.output_mb).sum()
    }
}
