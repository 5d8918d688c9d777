//! Requests of the page of a log: the report and the timeline, the causes of slow tasks, a fitted plan, and the remaining
//! time while the log grows. Each request reads the log again.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::response::Response;
use axum::routing::{get, post};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tailspn::report::{Part, Report as _, TraceReport, html, trace_report, trace_svg};
use tailspn::trace::analysis::Usual;
use tailspn::trace::{ReadOptions, read};
use tailspn::watch::Unwatched;

use crate::cli::call::Call;
use crate::cli::exit::Exit;
use crate::cli::remaining::{current, size_of};
use crate::cli::serve::reply::{Refusal, Reply, Waiting, apart, json, page, parsed, plain, run, unfinished};

/// The log of a job.
#[derive(Debug)]
pub(crate) struct Log {
    path: PathBuf,
    /// A plan of stages from earlier runs.
    pub(crate) plan: Option<PathBuf>,
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
struct FitPage {
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

/// The plan that was fitted to the log, if there is one.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct LeftRequest {
    plan: Option<String>,
}

/// The answer of `remaining`: its JSON, and its report as an HTML page. `note` is the reason why there is no answer, or
/// why the answer does not use the plan.
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
        Self { path: plain(path), plan: None }
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
        .route("/log/left", post(left))
        .with_state(log)
}

async fn start(State(log): State<Arc<Log>>) -> Response {
    apart(move || {
        let trace =
            read(&current(&log.path), &ReadOptions::default(), &Unwatched).map_err(|error| Refusal::of(&error))?;
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
        json(&FitPage { report: page(first(&output.results)?)?, remarks: output.remarks })
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

async fn left(State(log): State<Arc<Log>>, body: Bytes) -> Response {
    let plan = match parsed::<LeftRequest>(&body) {
        Ok(request) => request.plan,
        Err(refusal) => return refusal.response(),
    };
    let fitted = plan.is_some().then(|| OsString::from(Call::PLAN));
    let plans: Vec<OsString> = fitted.into_iter().chain(log.plan.clone().map(OsString::from)).collect();
    let call = plan.map_or_else(|| Call::new(false, None), |plan| Call::with_plan(false, plan));
    let _waiting = Waiting::new(&call);
    apart(move || remaining(&log, &call, &plans)).await
}

/// Returns the remaining time according to the first usable plan; without a usable plan, according to the log alone.
fn remaining(log: &Log, call: &Arc<Call>, plans: &[OsString]) -> Reply {
    let run = |plan: Option<&OsString>| {
        call.take_output();
        let words = std::iter::once(OsString::from("tailspn")).chain(log.words("remaining"));
        call.run(words.chain(plan.into_iter().flat_map(|plan| ["--plan".into(), plan.clone()])))
    };
    let (mut ended, mut note) = (None, None);
    for plan in plans {
        match run(Some(plan)) {
            Ok(code) => ended = Some(Ok(code)),
            Err((_, why)) => note = Some(format!("The plan is not used: {}", unfinished(&why).message())),
        }
        if ended.is_some() {
            note = None;
            break;
        }
    }
    let ended = ended.unwrap_or_else(|| run(None));
    // too early, or between two jobs
    if let Err((code, problems)) = ended {
        let note = Some(unfinished(&problems).message().to_owned());
        return json(&Left { is_final: code != Exit::Refused.code(), result: None, report: None, note });
    }
    let output = call.take_output();
    let text = first(&output.results)?;
    let result: Value = serde_json::from_str(text).map_err(|error| Refusal::unanswerable(error.to_string()))?;
    let is_final = result["basis"] == "ended";
    json(&Left { is_final, report: Some(page(text)?), result: Some(result), note })
}
