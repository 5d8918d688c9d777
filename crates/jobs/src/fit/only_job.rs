//! One job of a log with several jobs.

use crate::fit::observe::FitError;
use crate::trace::{Application, JobTrace};

/// Returns the job of a log with this id; if there is none, the only job with this name.
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
        None => Err(FitError::NoSuchJob {
            log: trace.files.first().cloned().unwrap_or_default(),
            id: job.to_owned(),
            ids: trace.applications.iter().map(|application| application.id.clone()).collect(),
        }),
    }
}
