//! Requests of the page of a log: the report and the timeline, the causes of slow tasks, a fitted plan, and the remaining
//! time while the log grows. Each request reads the log again.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use axum::Router;
use axum::extract::State;
use axum::response::Response;
use axum::routing::{get, post};
use serde::Serialize;
use serde_json::Value;
use tailspn::report::{Part, Report as _, TraceReport, html, trace_report, trace_svg};
use tailspn::trace::analysis::Usual;
use tailspn::trace::{ReadOptions, read};
use tailspn::watch::Unwatched;

use crate::cli::call::Call;
use crate::cli::exit::Exit;
use crate::cli::remaining::{current, size_of};
use crate::cli::serve::reply::{Refusal, Reply, Waiting, apart, json, page, plain, run, unfinished};

/// The log of a job.
#[derive(Debug)]
pub(crate) struct Log {
    path: PathBuf,
}

/// The report of `trace` as an HTML page, and the timeline as SVG.
#[derive(Serialize)]
struct Start {
    log: String,
    timeline: String,
    report: String,
}

/// A result as an HTML page.
#[derive(Serialize)]
struct Shown {
    report: String,
    remarks: Vec<String>,
}

/// The plan that `fit` makes from the log, and the report of the fit as an HTML page.
#[derive(Serialize)]
struct Fitted {
    plan: String,
    report: String,
    remarks: Vec<String>,
}

/// Name and size of the log as one text, which changes when the log has grown.
#[derive(Serialize)]
struct Size {
    size: String,
}

/// The remaining time by `remaining`: the JSON and the report as an HTML page, or the reason why there is no answer.
#[derive(Serialize)]
struct Left {
    /// True if the answer cannot change any more: the application has ended, or the format is not supported.
    is_final: bool,
    result: Option<Value>,
    report: Option<String>,
    note: Option<String>,
}

impl Log {
    pub(crate) fn new(path: &Path) -> Self {
        Self { path: plain(path) }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the arguments of a command for the log.
    fn words(&self, command: &str) -> Vec<OsString> {
        vec![command.into(), current(&self.path).into_os_string()]
    }
}

/// Returns the routes of the requests for a log.
pub(crate) fn routes(log: Arc<Log>) -> Router {
    Router::new()
        .route("/log/start", get(start))
        .route("/log/causes", get(causes))
        .route("/log/fit", post(fit))
        .route("/log/size", get(size))
        .route("/log/left", get(left))
        .with_state(log)
}

async fn start(State(log): State<Arc<Log>>) -> Response {
    apart(move || {
        let trace = read(&current(&log.path), &ReadOptions::default(), &Unwatched)
            .map_err(|error| Refusal::unanswerable(error.to_string()).with_help(error.help().map(str::to_owned)))?;
        let usual = Usual::from_runs(&[]);
        // the page has the timeline already
        let report = TraceReport { timeline: None, ..trace_report(&trace, &usual) };
        let report = html(&[Part { document: report.document(), net: None }]);
        json(&Start {
            log: log.path.display().to_string(),
            timeline: trace_svg(&trace, &usual),
            report: report.map_err(|error| Refusal::unanswerable(error.to_string()))?,
        })
    })
    .await
}

/// Runs a command for the log; stops it once the page no longer waits.
async fn command(work: impl FnOnce(&Arc<Call>) -> Reply + Send + 'static) -> Response {
    let call = Call::new(false, None);
    let _waiting = Waiting::new(&call);
    apart(move || work(&call)).await
}

/// Returns the first result of a command.
fn first(results: &[String]) -> Result<&str, Refusal> {
    results.first().map(String::as_str).ok_or_else(|| Refusal::unanswerable("the command was stopped"))
}

async fn causes(State(log): State<Arc<Log>>) -> Response {
    command(move |call| {
        let output = run(call, log.words("diagnose"))?;
        json(&Shown { report: page(first(&output.results)?)?, remarks: output.remarks })
    })
    .await
}

async fn fit(State(log): State<Arc<Log>>) -> Response {
    command(move |call| {
        let output = run(call, log.words("fit").into_iter().chain(["-o".into(), "-".into()]))?;
        let remarks = output.remarks.iter().filter(|remark| !remark.is_empty()).cloned().collect();
        json(&Fitted { report: page(first(&output.results)?)?, plan: output.data, remarks })
    })
    .await
}

async fn size(State(log): State<Arc<Log>>) -> Response {
    let found = size_of(&current(&log.path));
    let size = found.map(|(path, bytes)| format!("{} {bytes}", path.display())).unwrap_or_default();
    json(&Size { size }).unwrap_or_else(|refusal| refusal.response())
}

async fn left(State(log): State<Arc<Log>>) -> Response {
    command(move |call| {
        let words = std::iter::once(OsString::from("tailspn")).chain(log.words("remaining"));
        let none = |is_final, note| json(&Left { is_final, result: None, report: None, note: Some(note) });
        match call.run(words) {
            Ok(_) => {}
            // too early, or between two jobs
            Err((code, problems)) => {
                return none(code != Exit::Refused.code(), unfinished(&problems).message().to_owned());
            }
        }
        let output = call.take_output();
        let text = first(&output.results)?;
        let result: Value = serde_json::from_str(text).map_err(|error| Refusal::unanswerable(error.to_string()))?;
        let is_final = result["basis"] == "ended";
        json(&Left { is_final, report: Some(page(text)?), result: Some(result), note: None })
    })
    .await
}
