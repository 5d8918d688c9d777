//! One job of a log with several jobs.

use crate::fit::fit_error::FitError;
use crate::trace::{Application, Format, JobTrace};

/// Returns the job of a log with this id; without such a job, the only job with this name. A Spark job has its number as id.
///
/// # Errors
///
/// [`FitError::NoSuchJob`].
pub fn only_job(trace: JobTrace, job: &str) -> Result<JobTrace, FitError> {
    let by = |wanted: &dyn Fn(&Application) -> bool| {
        let mut found = trace.applications_with_ids().filter(|(_, application)| wanted(application));
        found.next().filter(|_| found.next().is_none()).map(|(id, _)| id)
    };
    match by(&|application| application.id == job).or_else(|| by(&|application| application.name == job)) {
        Some(id) => Ok(trace.into_application(id)),
        None => {
            let unknown = FitError::NoSuchJob {
                log: trace.files.first().cloned().unwrap_or_default(),
                id: job.to_owned(),
                ids: ids_of(&trace),
            };
            let is_spark = trace.format == Format::SparkEventLog;
            let number = job.parse().ok().filter(|_| is_spark);
            number.and_then(|number| trace.into_job(number)).ok_or(unknown)
        }
    }
}

/// Returns the ids of the jobs: numbers in the log of one Spark application, otherwise the ids of the applications.
fn ids_of(trace: &JobTrace) -> Vec<String> {
    match (trace.format, trace.only_application()) {
        (Format::SparkEventLog, Ok((id, _))) => trace.jobs_of(id).iter().map(|job| job.number.to_string()).collect(),
        _ => trace.applications.iter().map(|application| application.id.clone()).collect(),
    }
}
