//! Requests of the page of a log: the report and the timeline, the causes of slow tasks, a fitted plan, and the remaining
//! time while the log grows. Each request reads the log again.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::response::Response;
use axum::routing::{get, post};
use serde::{Deserialize, Serialize};
use tailspn::ask::RunSettings;
use tailspn::explain::{ErrorKind, Explain};
use tailspn::fit::observe_progress;
use tailspn::plan::JobPlan;
use tailspn::remaining::{RemainingSettings, remaining};
use tailspn::report::{
    Answer, AnyReport, Part, RemainingBasis, RemainingReport, Report as _, TraceReport, html, remaining_report,
    trace_report, trace_svg,
};
use tailspn::stages::StagePlan;
use tailspn::trace::analysis::Usual;
use tailspn::trace::{ReadOptions, read};
use tailspn::watch::Unwatched;

use crate::cli::args::{FitArgs, WhyArgs, with_defaults};
use crate::cli::call::Call;
use crate::cli::follow::{current, size_of};
use crate::cli::serve::reply::{Refusal, Reply, Shown, Waiting, answered, apart, json, parsed, plain};

/// The log of a job.
#[derive(Debug)]
pub(crate) struct Log {
    path: PathBuf,
    /// A plan of stages from earlier runs.
    pub(crate) plan: Option<PathBuf>,
}

/// The report of `why` as an HTML page, and the timeline as SVG.
#[derive(Serialize)]
struct Start {
    log: String,
    timeline: String,
    report: String,
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

/// The remaining time, and its report as an HTML page. `note` is the reason why there is no answer, or
/// why the answer does not use the plan.
#[derive(Serialize)]
struct Left {
    /// True if the answer cannot change any more: the application has ended, or the format is not supported.
    is_final: bool,
    result: Option<AnyReport>,
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

    /// Returns the arguments of a command for the log, without options.
    fn args<A: clap::Args>(&self) -> A {
        with_defaults(&[current(&self.path).as_os_str()])
    }
}

/// Returns the routes of the requests for a log.
pub(crate) fn routes(log: Arc<Log>) -> Router {
    Router::new()
        .route("/log/start", get(start))
        .route("/log/why", get(causes))
        .route("/log/plan", post(fit))
        .route("/log/size", get(size))
        .route("/log/estimate", post(left))
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
    let call = Call::new(false);
    let _waiting = Waiting::new(&call);
    apart(move || work(&call)).await
}

async fn causes(State(log): State<Arc<Log>>) -> Response {
    command(move |call| json(&Shown::of(answered(call, &log.args::<WhyArgs>())?)?)).await
}

async fn fit(State(log): State<Arc<Log>>) -> Response {
    command(move |call| {
        let mut answer = answered(call, &log.args::<FitArgs>())?;
        let plan = answer.plan.take().unwrap_or_default();
        let Shown { report, remarks, .. } = Shown::of(answer)?;
        json(&Fitted { report, plan, remarks })
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
    command(move |call| remaining_by_plans(&log, call, plan)).await
}

/// Returns the remaining time according to the first usable plan; without a usable plan, according to the log alone.
fn remaining_by_plans(log: &Log, call: &Arc<Call>, fitted: Option<String>) -> Reply {
    let fitted = fitted.map(|text| JobPlan::from_toml(&text).map_err(|error| error.to_string()));
    let given = log.plan.as_ref().map(|path| JobPlan::open(path).map_err(|error| error.to_string()));
    let mut note = None;
    for plan in fitted.into_iter().chain(given) {
        let found = match plan {
            Ok(JobPlan::Stages(plan)) => {
                rest(log, Some(&plan), call).map_err(|(_, refusal)| refusal.message().to_owned())
            }
            Ok(other) => Err(format!("a plan of {} tells nothing about this run", other.described_by())),
            Err(error) => Err(error),
        };
        match found {
            Ok(report) => return json(&Left::of(report, None)?),
            Err(why) => note = Some(format!("The plan is not used: {why}")),
        }
    }
    match rest(log, None, call) {
        Ok(report) => json(&Left::of(report, note)?),
        // too early, or between two jobs
        Err((is_final, refusal)) => {
            json(&Left { is_final, result: None, report: None, note: Some(refusal.message().to_owned()) })
        }
    }
}

/// Returns the remaining time of the run. An error has the reason and is true if the answer cannot change any more.
fn rest(log: &Log, plan: Option<&StagePlan>, call: &Call) -> Result<RemainingReport, (bool, Refusal)> {
    let refused = |error: &dyn Explain| (error.kind() != ErrorKind::Refused, Refusal::of(error));
    let trace = read(&current(&log.path), &ReadOptions::default(), call).map_err(|error| refused(&error))?;
    let progress = observe_progress(&trace, None).map_err(|error| refused(&error))?;
    let settings = RemainingSettings { run: RunSettings::default(), input: None };
    let found = remaining(progress, plan, &settings, call).map_err(|error| refused(&error))?;
    Ok(remaining_report(&found, &settings, &[]))
}

impl Left {
    /// Returns an answer, with the reason why it does not use a plan.
    fn of(report: RemainingReport, note: Option<String>) -> Result<Self, Refusal> {
        let is_final = report.basis == RemainingBasis::Ended;
        let Shown { result, report, .. } = Shown::of(Answer::new(report))?;
        Ok(Self { is_final, result: Some(result), report: Some(report), note })
    }
}
