//! Answers to requests: JSON, and errors as JSON with a message.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use std::borrow::Cow;

use axum::http::{StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use serde::Serialize;
use serde::de::DeserializeOwned;

use tailspn::explain::Explain;
use tailspn::report::{Answer, AnyReport, Part, html};

use crate::cli::call::{Call, Problem as Failed};
use crate::cli::frame::Ask;

/// An answer, or the reason for a refusal.
pub(crate) type Reply = Result<Response, Refusal>;

/// Reason why a request has no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Refusal {
    status: StatusCode,
    message: String,
    help: Option<String>,
}

#[derive(Serialize)]
struct Problem<'a> {
    error: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    help: Option<&'a str>,
}

impl Refusal {
    pub(crate) fn new(status: StatusCode, message: impl Into<String>) -> Self {
        Self { status, message: message.into(), help: None }
    }

    /// Returns the refusal of an invalid request.
    pub(crate) fn bad(message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, message)
    }

    /// Returns the refusal of a valid request that has no answer.
    pub(crate) fn unanswerable(message: impl Into<String>) -> Self {
        Self::new(StatusCode::UNPROCESSABLE_ENTITY, message)
    }

    /// Returns the refusal of a valid request that has no answer, with what the error says and advises.
    pub(crate) fn of(error: &dyn Explain) -> Self {
        Self::unanswerable(error.problems().join("; ")).with_help(error.help().map(Cow::into_owned))
    }

    /// Returns the reason, in one sentence.
    pub(crate) fn message(&self) -> &str {
        &self.message
    }

    #[must_use]
    pub(crate) fn with_help(mut self, help: Option<String>) -> Self {
        self.help = help;
        self
    }

    /// Returns the refusal as a response.
    pub(crate) fn response(&self) -> Response {
        let problem = Problem { error: &self.message, help: self.help.as_deref() };
        let text = serde_json::to_string(&problem).unwrap_or_default();
        (self.status, [(header::CONTENT_TYPE, "application/json")], text).into_response()
    }
}

/// Returns a value as JSON.
pub(crate) fn json(value: &impl Serialize) -> Reply {
    let text = serde_json::to_string(value).map_err(|error| internal(error.to_string()))?;
    Ok(([(header::CONTENT_TYPE, "application/json")], text).into_response())
}

/// Parses the JSON of a request.
pub(crate) fn parsed<T: DeserializeOwned>(body: &[u8]) -> Result<T, Refusal> {
    serde_json::from_slice(body).map_err(|error| Refusal::bad(format!("the request cannot be read: {error}")))
}

fn internal(message: String) -> Refusal {
    Refusal::new(StatusCode::INTERNAL_SERVER_ERROR, message)
}

/// Runs `work` on a separate thread, so that it does not block other requests.
pub(crate) async fn apart(work: impl FnOnce() -> Reply + Send + 'static) -> Response {
    let done = tokio::task::spawn_blocking(work).await;
    let reply = done.unwrap_or_else(|_| Err(internal("internal error; please report it".to_owned())));
    reply.unwrap_or_else(|refusal| refusal.response())
}

/// Stops the command once its result is no longer needed: the page sent a new request, or was closed.
pub(crate) struct Waiting(Arc<Call>);

impl Waiting {
    pub(crate) fn new(call: &Arc<Call>) -> Self {
        Self(Arc::clone(call))
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        self.0.stop();
    }
}

/// An answer on a page: the result, its report as an HTML page, in which names are escaped, and its notes.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Shown {
    pub(crate) result: AnyReport,
    pub(crate) report: String,
    pub(crate) remarks: Vec<String>,
}

impl Shown {
    /// Returns an answer with its notes.
    pub(crate) fn of(answer: Answer) -> Result<Self, Refusal> {
        let report = html(&[Part { document: answer.result.document(), net: None }]);
        let report = report.map_err(|error| Refusal::unanswerable(format!("the result cannot be shown: {error}")))?;
        Ok(Self { report, remarks: answer.remarks(), result: answer.result })
    }
}

/// Asks the question of a command, and returns the complete answer with all notes.
pub(crate) fn answered(call: &Arc<Call>, command: &dyn Ask) -> Result<Answer, Refusal> {
    match call.ask(command) {
        Ok((answer, problems)) if problems.is_empty() => Ok(answer),
        Ok((_, problems)) | Err((_, problems)) => Err(unfinished(&problems)),
    }
}

/// Returns the refusal for a command that failed.
pub(crate) fn unfinished(problems: &[Failed]) -> Refusal {
    if problems.is_empty() {
        return Refusal::unanswerable("the command was stopped");
    }
    let message: Vec<&str> = problems.iter().map(|problem| &*problem.message).collect();
    let help = problems.iter().find_map(|problem| problem.help.clone());
    Refusal::unanswerable(message.join("; ")).with_help(help)
}

/// Returns a path in a form that no command takes for an option.
pub(crate) fn plain(path: &Path) -> PathBuf {
    if path.as_os_str().as_encoded_bytes().starts_with(b"-") { Path::new(".").join(path) } else { path.to_owned() }
}
