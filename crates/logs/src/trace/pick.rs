//! The choice of one of several logs, and of one of several applications in a log.

use std::path::Path;

use crate::trace::error::TraceError;
use crate::trace::ids::ApplicationId;
use crate::trace::job_trace::{Application, JobTrace};
use crate::trace::listed_log::{ListedLog, Meant};
use crate::trace::sources::Source;

/// Returns the source that matches a request; without a request, the only one.
pub(super) fn pick(path: &Path, mut sources: Vec<Source>, wanted: Option<&str>) -> Result<Source, TraceError> {
    let folder = || path.display().to_string();
    if sources.is_empty() {
        return Err(TraceError::Folder { folder: folder(), message: "no log found".to_owned() });
    }
    if sources.len() == 1 {
        return Ok(sources.remove(0));
    }
    if let Some(i) = wanted.and_then(|wanted| sources.iter().position(|source| source.file == wanted)) {
        return Ok(sources.swap_remove(i));
    }
    let listed: Vec<ListedLog> = sources.iter().map(Source::listed).collect();
    let Some(wanted) = wanted else {
        return Err(TraceError::SeveralLogs { folder: folder(), wanted: None, logs: listed });
    };
    let meant: Vec<Meant> = listed.iter().map(|log| log.is_meant(wanted)).collect();
    let closest = meant.iter().copied().max().unwrap_or(Meant::No);
    let found: Vec<usize> = (0..meant.len()).filter(|&i| meant[i] == closest).collect();
    match found[..] {
        _ if closest == Meant::No => {
            Err(TraceError::NoSuchLog { file: folder(), wanted: wanted.to_owned(), logs: listed })
        }
        [one] => Ok(sources.swap_remove(one)),
        _ => {
            let logs = found.into_iter().map(|i| listed[i].clone()).collect();
            Err(TraceError::SeveralLogs { folder: folder(), wanted: Some(wanted.to_owned()), logs })
        }
    }
}

/// Returns the trace of the application whose id is `wanted`; if no id matches, of the only application with that name.
pub(super) fn only(trace: JobTrace, file: &str, wanted: &str) -> Result<JobTrace, TraceError> {
    let found = |is: &dyn Fn(&Application) -> bool| -> Vec<ApplicationId> {
        trace.applications_with_ids().filter(|(_, application)| is(application)).map(|(id, _)| id).collect()
    };
    let mut ids = found(&|application| application.id == wanted);
    if ids.is_empty() {
        ids = found(&|application| application.name == wanted);
    }
    let listed = |application: &Application| {
        let text = |text: &String| Some(text.clone()).filter(|text| !text.is_empty());
        ListedLog {
            file: file.to_owned(),
            id: text(&application.id),
            attempt: None,
            name: text(&application.name),
            start_unix_ms: application.start.map(|start| (start.microseconds() + trace.origin_us) / 1000),
        }
    };
    match ids[..] {
        [one] if trace.applications.len() > 1 => Ok(trace.into_application(one)),
        [_] => Ok(trace),
        [] => {
            let logs = trace.applications.iter().map(listed).collect();
            Err(TraceError::NoSuchLog { file: file.to_owned(), wanted: wanted.to_owned(), logs })
        }
        _ => {
            let logs = ids.iter().filter_map(|id| trace.applications.get(id.index())).map(listed).collect();
            Err(TraceError::SeveralLogs { folder: file.to_owned(), wanted: Some(wanted.to_owned()), logs })
        }
    }
}
