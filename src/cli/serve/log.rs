//! Requests of the page of a log: its report and timeline, and the causes of slow tasks. The log is read anew at each request.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use axum::Router;
use axum::extract::State;
use axum::routing::get;
use serde::Serialize;
use tailspn::report::{Document, Part, Report as _, TraceReport, html, read_json, trace_report, trace_svg};
use tailspn::trace::analysis::Usual;
use tailspn::trace::{ReadOptions, read};
use tailspn::watch::Unwatched;

use crate::cli::call::Call;
use crate::cli::serve::reply::{Refusal, Waiting, apart, json, plain, unfinished};

/// The log of a job.
#[derive(Debug)]
pub(crate) struct Log {
    path: PathBuf,
}

/// The report of `trace` as a page of HTML, and the timeline as SVG.
#[derive(Serialize)]
struct Start {
    log: String,
    timeline: String,
    report: String,
}

/// The report of `diagnose` as a page of HTML.
#[derive(Serialize)]
struct Causes {
    report: String,
    remarks: Vec<String>,
}

impl Log {
    pub(crate) fn new(path: &Path) -> Self {
        Self { path: plain(path) }
    }
}

/// The addresses of requests.
pub(crate) fn routes(log: Arc<Log>) -> Router {
    Router::new().route("/log/start", get(start)).route("/log/causes", get(causes)).with_state(log)
}

async fn start(State(log): State<Arc<Log>>) -> axum::response::Response {
    apart(move || {
        let trace = read(&log.path, &ReadOptions::default(), &Unwatched)
            .map_err(|error| Refusal::unanswerable(error.to_string()).with_help(error.help().map(str::to_owned)))?;
        let usual = Usual::from_runs(&[]);
        json(&Start {
            log: log.path.display().to_string(),
            timeline: trace_svg(&trace, &usual),
            // the page has the timeline already
            report: page(TraceReport { timeline: None, ..trace_report(&trace, &usual) }.document())?,
        })
    })
    .await
}

async fn causes(State(log): State<Arc<Log>>) -> axum::response::Response {
    let call = Call::new(false, None);
    let _waiting = Waiting::new(&call);
    apart(move || {
        let words = [OsString::from("tailspn"), "diagnose".into(), log.path.clone().into_os_string()];
        call.run(words).map_err(|(_, problems)| unfinished(&problems))?;
        let output = call.take_output();
        let text = output.results.first().ok_or_else(|| Refusal::unanswerable("the diagnosis was stopped"))?;
        let found = read_json(text).map_err(|error| Refusal::unanswerable(error.to_string()))?;
        json(&Causes { report: page(found.document())?, remarks: output.remarks })
    })
    .await
}

/// A report as a page of HTML, in which names are escaped.
fn page(document: Document<'_>) -> Result<String, Refusal> {
    html(&[Part { document, net: None }]).map_err(|error| Refusal::unanswerable(error.to_string()))
}
