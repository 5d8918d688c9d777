//! The search for the cheapest size of a job that meets its deadline, as by `optimize`, in the background, one search at a time.
//! Owns the state of the search. The search stops if the page does not ask for its progress for a while.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use axum::routing::{get, post};
use serde::{Deserialize, Serialize};
use tailspn::StudyError;
use tailspn::ask::{Proof, RunSettings};
use tailspn::optimize::{Price, Sizing};
use tailspn::plan::JobPlan;
use tailspn::report::Answer;
use tailspn::watch::Watch as _;

use crate::cli::call::Call;
use crate::cli::serve::ask::MAX_MEMORY;
use crate::cli::serve::reply::{Refusal, Reply, Shown, json, parsed};

/// Maximum time between two requests of a page for the progress of its search.
const PATIENCE: Duration = Duration::from_secs(10);
/// Interval between two checks of this time.
const CHECK_EVERY: Duration = Duration::from_millis(500);

/// The last search, if there was one.
#[derive(Debug, Default)]
pub(crate) struct Search(Mutex<Option<Running>>);

#[derive(Debug)]
struct Running {
    call: Arc<Call>,
    asked: Instant,
    ended: Option<Result<Shown, Refusal>>,
}

/// A plan with a deadline, and a price such as `0.40/node-hour`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct CheapestRequest {
    plan: String,
    #[serde(default)]
    price: String,
    seed: Option<u64>,
}

/// The progress of a search, in replications of the current size, or its answer.
#[derive(Serialize)]
struct Progress {
    is_running: bool,
    done: u64,
    planned: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    answer: Option<Shown>,
}

impl Search {
    fn state(&self) -> MutexGuard<'_, Option<Running>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Starts a search, unless one is running.
    fn start(self: &Arc<Self>, question: CheapestRequest) -> Result<(), Refusal> {
        let call = Call::new(false);
        {
            let mut state = self.state();
            if state.as_ref().is_some_and(|running| running.ended.is_none()) {
                return Err(Refusal::new(StatusCode::CONFLICT, "a search is running; stop it first"));
            }
            *state = Some(Running { call: Arc::clone(&call), asked: Instant::now(), ended: None });
        }
        let search = Arc::clone(self);
        tokio::spawn(Arc::clone(self).stop_unwatched());
        tokio::task::spawn_blocking(move || {
            let ended = found(&call, &question);
            if let Some(running) = search.state().as_mut() {
                running.ended = Some(ended);
            }
        });
        Ok(())
    }

    /// Stops the search once no page asks for its progress.
    async fn stop_unwatched(self: Arc<Self>) {
        loop {
            tokio::time::sleep(CHECK_EVERY).await;
            let state = self.state();
            let Some(running) = state.as_ref().filter(|running| running.ended.is_none()) else { return };
            if running.asked.elapsed() > PATIENCE {
                running.call.stop();
            }
        }
    }

    /// Returns the progress of the search, or its answer.
    fn progress(&self) -> Result<Progress, Refusal> {
        let mut state = self.state();
        let running = state.as_mut().ok_or_else(|| Refusal::bad("there was no search"))?;
        running.asked = Instant::now();
        let pace = running.call.pace();
        let (done, planned) = pace.map_or((0, 0), |pace| (pace.done, pace.planned));
        let answer = running.ended.clone().transpose()?;
        Ok(Progress { is_running: answer.is_none(), done, planned, answer })
    }
}

/// Runs the search and returns the answer. Only a plan that reproduces its own runs gives one.
fn found(call: &Call, question: &CheapestRequest) -> Result<Shown, Refusal> {
    let refused = |error: StudyError| Refusal::of(&error);
    let price = Some(question.price.trim()).filter(|price| !price.is_empty()).map(str::parse::<Price>);
    let price = price.transpose().map_err(|error| Refusal::unanswerable(format!("price: {error}")))?;
    let plan = JobPlan::from_toml(&question.plan).map_err(|error| Refusal::unanswerable(error.to_string()))?;
    let own_run = Proof::of_advice(false).check(&plan, call).map_err(refused)?;
    let mut sizing = Sizing::new(plan, price).map_err(refused)?;
    sizing.run = RunSettings { seed: question.seed, max_memory: Some(MAX_MEMORY), ..sizing.run };
    call.counts("replications of this size");
    let found = sizing.run(call).map_err(refused)?;
    let mut answer = Answer::of_sizing(&found, Some(own_run));
    answer.notes.extend(found.search.subject.advice().map(|advice| format!("note: {advice}")));
    Shown::of(answer)
}

/// Returns the routes of the requests for a search.
pub(crate) fn routes(search: Arc<Search>) -> Router {
    Router::new().route("/job/study", get(progress).post(start)).route("/job/study/stop", post(stop)).with_state(search)
}

async fn start(State(search): State<Arc<Search>>, body: Bytes) -> Response {
    let started = parsed(&body).and_then(|question| search.start(question));
    reply(started.and_then(|()| json(&search.progress()?)))
}

async fn progress(State(search): State<Arc<Search>>) -> Response {
    reply(search.progress().and_then(|progress| json(&progress)))
}

async fn stop(State(search): State<Arc<Search>>) -> Response {
    if let Some(running) = search.state().as_ref() {
        running.call.stop();
    }
    reply(search.progress().and_then(|progress| json(&progress)))
}

fn reply(reply: Reply) -> Response {
    reply.unwrap_or_else(|refusal| refusal.response())
}
