//! Requests of the page of a job. An estimate is the command `estimate` itself, run in process.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::routing::{get, post};
use serde::{Deserialize, Serialize};
use tailspn::report::read_json;

use crate::cli::call::Call;
use crate::cli::serve::reply::{Refusal, Reply, Waiting, apart, json, parsed, plain, unfinished};

/// A field of the page: an option of `estimate`.
#[derive(Clone, Copy, Debug, Serialize)]
struct Field {
    option: &'static str,
    label: &'static str,
    example: &'static str,
}

impl Field {
    const fn new(option: &'static str, label: &'static str, example: &'static str) -> Self {
        Self { option, label, example }
    }
}

const INPUT: Field = Field::new("input-size", "Input size", "20GB");
const DEADLINE: Field = Field::new("deadline", "Deadline", "85s");

/// Fields of a job of map and reduce phases.
const PHASES: [Field; 6] = [
    INPUT,
    Field::new("workers", "Workers", "8"),
    Field::new("map-slots", "Map slots per worker", "2"),
    Field::new("reduce-slots", "Reduce slots per worker", "2"),
    Field::new("reduces", "Reduce tasks", "4"),
    DEADLINE,
];

/// Fields of a job of stages.
const STAGES: [Field; 5] = [
    INPUT,
    Field::new("executors", "Executors", "8"),
    Field::new("cores", "Tasks per executor at a time", "4"),
    Field::new("partitions", "Partitions of shuffles", "200"),
    DEADLINE,
];

/// Titles of the pictures of the report that the page shows.
const PICTURES: [&str; 3] = ["histogram", "cdf", "tail"];

/// A planned job.
#[derive(Debug)]
pub(crate) struct Job {
    /// The file of the plan; none for the default job.
    path: Option<PathBuf>,
    fields: &'static [Field],
}

impl Job {
    /// The default job.
    pub(crate) fn built_in() -> Self {
        Self { path: None, fields: &PHASES }
    }

    /// The job of a plan of map and reduce phases.
    pub(crate) fn of_phases(path: &Path) -> Self {
        Self { path: Some(plain(path)), fields: &PHASES }
    }

    /// The job of a plan of stages.
    pub(crate) fn of_stages(path: &Path) -> Self {
        Self { path: Some(plain(path)), fields: &STAGES }
    }

    /// The arguments of `estimate` that answer a question, without the name of the program.
    fn arguments(&self, question: &Question) -> Result<Vec<OsString>, Refusal> {
        let mut words = vec![OsString::from("estimate")];
        words.extend(self.path.iter().map(|path| path.clone().into_os_string()));
        if let Some(unknown) =
            question.options.keys().find(|name| self.fields.iter().all(|field| field.option != **name))
        {
            return Err(Refusal::bad(format!("this job has no field `{unknown}`")));
        }
        for field in self.fields {
            let value = question.options.get(field.option).map_or("", |value| value.trim());
            let values: Vec<&str> = if field.option == "workers" { value.split(',').collect() } else { vec![value] };
            let values = values.into_iter().map(str::trim).filter(|value| !value.is_empty());
            // in one word, so that a value is never taken for an option
            words.extend(values.map(|value| format!("--{}={value}", field.option).into()));
        }
        words.extend(question.reps.map(|reps| format!("--reps={reps}").into()));
        words.extend(question.seed.map(|seed| format!("--seed={seed}").into()));
        Ok(words)
    }
}

/// Values of the fields, by their options, and settings of the run.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Question {
    #[serde(default)]
    options: BTreeMap<String, String>,
    reps: Option<u64>,
    seed: Option<u64>,
}

/// The plan and the fields of the page.
#[derive(Serialize)]
struct Start<'a> {
    plan: Option<String>,
    fields: &'a [Field],
}

/// An estimate: the JSON of the command, its pictures, and the command that prints the same.
#[derive(Serialize)]
struct Answer {
    result: serde_json::Value,
    pictures: Vec<PictureRow>,
    remarks: Vec<String>,
    command: String,
}

#[derive(Serialize)]
struct PictureRow {
    name: String,
    wide: String,
}

/// The addresses of requests.
pub(crate) fn routes(job: Arc<Job>) -> Router {
    Router::new().route("/job/start", get(start)).route("/job/estimate", post(estimate)).with_state(job)
}

async fn start(State(job): State<Arc<Job>>) -> axum::response::Response {
    let plan = job.path.as_ref().map(|path| path.display().to_string());
    json(&Start { plan, fields: job.fields }).unwrap_or_else(|refusal| refusal.response())
}

async fn estimate(State(job): State<Arc<Job>>, body: Bytes) -> axum::response::Response {
    let call = Call::new(false, None);
    let _waiting = Waiting::new(&call);
    apart(move || answer(&job, &call, &body)).await
}

fn answer(job: &Job, call: &Arc<Call>, body: &[u8]) -> Reply {
    let arguments = job.arguments(&parsed(body)?)?;
    let program = OsString::from("tailspn");
    let ended = call.run(std::iter::once(program).chain(arguments.iter().cloned()));
    ended.map_err(|(_, problems)| unfinished(&problems))?;
    let output = call.take_output();
    let text = output.results.first().ok_or_else(|| Refusal::unanswerable("the estimate was stopped"))?;
    let broken = |error: &dyn std::fmt::Display| Refusal::unanswerable(format!("cannot show the estimate: {error}"));
    let result = serde_json::from_str(text).map_err(|error| broken(&error))?;
    let found = read_json(text).map_err(|error| broken(&error))?;
    let pictures = found.document().pictures().map_err(|error| broken(&error))?;
    let pictures = pictures.into_iter().filter(|picture| PICTURES.contains(&&*picture.name));
    json(&Answer {
        result,
        pictures: pictures.map(|picture| PictureRow { name: picture.name.into_owned(), wide: picture.wide }).collect(),
        remarks: output.remarks,
        command: command(&arguments),
    })
}

/// The command as a person types it in a shell.
fn command(arguments: &[OsString]) -> String {
    let words = arguments.iter().map(|word| quoted(&word.to_string_lossy()));
    std::iter::once("tailspn".to_owned()).chain(words).collect::<Vec<_>>().join(" ")
}

/// A word in single quotes if a shell would change it.
fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_=./,:%+".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_becomes_a_command_that_a_shell_leaves_alone() {
        let options = [("input-size", " 20GB "), ("workers", "small=3, large=1"), ("deadline", "")];
        let options = options.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
        let question = Question { options, reps: Some(200), seed: Some(7) };
        let job = Job::of_phases(Path::new("it's mine.toml"));
        assert_eq!(
            command(&job.arguments(&question).unwrap()),
            r"tailspn estimate 'it'\''s mine.toml' --input-size=20GB --workers=small=3 --workers=large=1 --reps=200 --seed=7"
        );
        assert!(Job::of_stages(Path::new("-p.toml")).arguments(&question).is_err());
        assert_eq!(plain(Path::new("-p.toml")), Path::new("./-p.toml"));
    }
}
