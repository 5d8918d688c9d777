//! Requests of the page of a job. Estimates are computed by the command `estimate`, run in process.

use std::borrow::Cow;
use std::collections::BTreeMap;
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
use tailspn::estimate::paired_difference;
use tailspn::plan::{JobPlan, PlanError};
use tailspn::report::{CdfPoint, read_json, two_times_svg};
use tailspn::stages::PlannedJob;

use crate::cli::args::{Command, parse};
use crate::cli::call::Call;
use crate::cli::output::Terminal;
use crate::cli::plan::read_job;
use crate::cli::serve::ask::MAX_TIME;
use crate::cli::serve::cheapest::{self, Search};
use crate::cli::serve::fields::{Field, fields, option};
use crate::cli::serve::reply::{Refusal, Reply, Waiting, apart, json, parsed, plain, run};

/// Names of the pictures of the report that the page shows, in display order.
const PICTURES: [&str; 5] = ["histogram", "cdf", "tail", "waterfall", "critical"];

/// Level of the interval of a difference.
const LEVEL: f64 = 0.95;

/// A planned job.
#[derive(Debug)]
pub(crate) struct Job {
    source: Source,
    search: Arc<Search>,
}

/// The plan of a job.
#[derive(Debug)]
enum Source {
    /// The default job.
    BuiltIn,
    /// A file.
    File(PathBuf),
    /// Fitted to a log; each request of the page contains the text of the plan.
    Log(PathBuf),
}

impl Job {
    /// Returns the default job.
    pub(crate) fn built_in() -> Self {
        Self { source: Source::BuiltIn, search: Arc::default() }
    }

    /// Returns the job of the plan in a file.
    pub(crate) fn of_plan(path: &Path) -> Self {
        Self { source: Source::File(plain(path)), search: Arc::default() }
    }

    /// Returns the job of a plan that was fitted to a log.
    pub(crate) fn of_log(path: &Path) -> Self {
        Self { source: Source::Log(plain(path)), search: Arc::default() }
    }

    /// The file of a plan of stages.
    pub(crate) fn plan_of_stages(&self) -> Option<&Path> {
        let Source::File(path) = &self.source else { return None };
        matches!(JobPlan::open(path), Ok(JobPlan::Stages(_))).then_some(path)
    }

    /// Returns the path of the plan for the arguments of a command.
    fn path(&self) -> Option<&Path> {
        match &self.source {
            Source::BuiltIn => None,
            Source::File(path) => Some(path),
            Source::Log(_) => Some(Path::new(Call::PLAN)),
        }
    }

    /// Reads the plan; a fitted plan is parsed from its text.
    fn plan(&self, text: Option<&str>) -> Result<JobPlan, Refusal> {
        let refused = |error: &dyn std::fmt::Display| Refusal::unanswerable(error.to_string());
        match (&self.source, text) {
            (Source::BuiltIn, _) => Ok(JobPlan::default()),
            (Source::File(path), _) => JobPlan::open(path).map_err(|error| refused(&error)),
            (Source::Log(_), Some(text)) => JobPlan::from_toml(text).map_err(|error: PlanError| refused(&error)),
            (Source::Log(_), None) => Err(no_plan()),
        }
    }

    /// Returns a call that keeps the times of replications for the comparison with pinned values.
    fn call(&self, question: &Question) -> Result<Arc<Call>, Refusal> {
        let keeps = question.pinned.is_some();
        match (&self.source, &question.plan) {
            (Source::Log(_), Some(text)) => Ok(Call::with_plan(keeps, text.clone())),
            (Source::Log(_), None) => Err(no_plan()),
            _ => Ok(Call::new(keeps, None)),
        }
    }

    /// Returns the arguments of `estimate` for these values, without the name of the program.
    fn arguments(&self, options: &Options, reps: Option<u64>, seed: Option<u64>) -> Result<Vec<OsString>, Refusal> {
        let mut words = vec![OsString::from("estimate")];
        words.extend(self.path().map(|path| path.as_os_str().to_owned()));
        for (name, value) in options {
            let name = option(name).ok_or_else(|| Refusal::bad(format!("a job has no field `{name}`")))?;
            let values: Vec<&str> = if name == "workers" { value.split(',').collect() } else { vec![value] };
            let values = values.into_iter().map(str::trim).filter(|value| !value.is_empty());
            // option and value are one word, so that a value is never taken for an option
            words.extend(values.map(|value| format!("--{name}={value}").into()));
        }
        words.extend(reps.map(|reps| format!("--reps={reps}").into()));
        words.extend(seed.map(|seed| format!("--seed={seed}").into()));
        Ok(words)
    }

    /// Returns the command as a user would type it in a shell.
    fn command(&self, arguments: &[OsString]) -> String {
        let is_plan = |word: &&OsString| matches!(self.source, Source::Log(_)) && **word == *Call::PLAN;
        let word =
            |word: &OsString| if is_plan(&word) { PLAN_FILE.to_owned() } else { quoted(&word.to_string_lossy()) };
        let words: Vec<String> = std::iter::once("tailspn".to_owned()).chain(arguments.iter().map(word)).collect();
        let fit = match &self.source {
            Source::Log(log) => format!("tailspn fit {} -o {PLAN_FILE} && ", quoted(&log.to_string_lossy())),
            _ => String::new(),
        };
        fit + &words.join(" ")
    }
}

fn no_plan() -> Refusal {
    Refusal::bad("the request has no fitted plan")
}

/// Name of the plan file in commands for copying.
const PLAN_FILE: &str = "plan.toml";

/// Values of fields, by their options.
type Options = BTreeMap<String, String>;

/// Values of the fields, and settings of the run.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Question {
    /// The text of a fitted plan.
    plan: Option<String>,
    #[serde(default)]
    options: Options,
    reps: Option<u64>,
    /// True for a quick first answer from fewer replications.
    #[serde(default)]
    first: bool,
    seed: Option<u64>,
    /// Values of the fields to compare with.
    pinned: Option<Options>,
}

/// A fitted plan.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct FittedPlan {
    plan: String,
}

/// The plan and the fields of the page.
#[derive(Serialize)]
struct Start {
    plan: Option<String>,
    fields: Vec<Field>,
}

/// An estimate: the JSON of the command, the pictures, and a command and a plan that reproduce them.
#[derive(Serialize)]
struct Answer {
    result: Value,
    pictures: Vec<PictureRow>,
    remarks: Vec<String>,
    /// Number of replications; `None` for the default of `estimate`.
    reps: Option<u64>,
    /// The command that prints the same numbers.
    command: String,
    /// The plan with all values; its estimate has the same numbers.
    toml: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pinned: Option<Pinned>,
}

#[derive(Serialize)]
struct PictureRow {
    name: Cow<'static, str>,
    title: String,
    wide: String,
    narrow: String,
}

/// The comparison with pinned values: the current mean time minus the mean time of the pinned values, from pairs of
/// replications with the same random numbers, and both distributions.
#[derive(Serialize)]
struct Pinned {
    command: String,
    result: Value,
    pairs: usize,
    level: f64,
    difference_s: f64,
    low_s: f64,
    high_s: f64,
    picture: Option<String>,
}

/// Returns the routes of the requests for a job.
pub(crate) fn routes(job: Arc<Job>) -> Router {
    let search = cheapest::routes(Arc::clone(&job.search));
    Router::new()
        .route("/job/start", get(start).post(start_fitted))
        .route("/job/estimate", post(estimate))
        .with_state(job)
        .merge(search)
}

async fn start(State(job): State<Arc<Job>>) -> Response {
    begin(&job, None).unwrap_or_else(|refusal| refusal.response())
}

async fn start_fitted(State(job): State<Arc<Job>>, body: Bytes) -> Response {
    let begun = parsed::<FittedPlan>(&body).and_then(|fitted| begin(&job, Some(&fitted.plan)));
    begun.unwrap_or_else(|refusal| refusal.response())
}

fn begin(job: &Job, text: Option<&str>) -> Reply {
    let plan = match &job.source {
        Source::File(path) => Some(path.display().to_string()),
        Source::BuiltIn | Source::Log(_) => None,
    };
    json(&Start { plan, fields: fields(&job.plan(text)?) })
}

async fn estimate(State(job): State<Arc<Job>>, body: Bytes) -> Response {
    let question = parsed::<Question>(&body).and_then(|question| Ok((job.call(&question)?, question)));
    let (call, question) = match question {
        Ok(question) => question,
        Err(refusal) => return refusal.response(),
    };
    let _waiting = Waiting::new(&call);
    apart(move || answer(&job, &call, question)).await
}

/// An estimate by the command `estimate`.
struct Estimated {
    arguments: Vec<OsString>,
    text: String,
    result: Value,
    remarks: Vec<String>,
    times_s: Vec<f64>,
}

fn broken(error: impl std::fmt::Display) -> Refusal {
    Refusal::unanswerable(format!("the estimate cannot be shown: {error}"))
}

fn estimated(job: &Job, call: &Arc<Call>, question: &Question, options: &Options) -> Result<Estimated, Refusal> {
    let arguments = job.arguments(options, question.reps, question.seed)?;
    // the command that the page shows has no limit
    let limited = arguments.iter().cloned().chain([OsString::from(MAX_TIME)]);
    let mut output = run(call, limited)?;
    if output.results.is_empty() {
        return Err(Refusal::unanswerable("the estimate was stopped"));
    }
    let text = output.results.swap_remove(0);
    let result = serde_json::from_str(&text).map_err(broken)?;
    Ok(Estimated { arguments, text, result, remarks: output.remarks, times_s: output.samples.unwrap_or_default() })
}

/// Total number of tasks in the replications of a first answer, if the number of replications is between the minimum
/// and the maximum below. The vectorised engine runs 64 replications at a time, and fewer replications take as long.
const FIRST_TASKS: u64 = 16_000;
const FIRST: [u64; 2] = [16, 64];
/// Simulation cost of a task that may straggle, relative to a task that cannot.
const STRAGGLING: u64 = 4;

/// Returns the number of replications of a first answer; `None` if the values are invalid, which the estimate will
/// report.
fn first_reps(job: &Job, call: &Arc<Call>, options: &Options) -> Option<u64> {
    let words = job.arguments(options, None, None).ok()?;
    let cli = parse(std::iter::once(OsString::from("tailspn")).chain(words)).ok()?;
    let Command::Estimate(args) = cli.command else { return None };
    let plan = call.enter(|| read_job(args.plan.as_deref(), &args.planned, &Terminal::of_call(call))).ok()?;
    // the estimate repeats these remarks
    call.take_output();
    let tasks = match plan {
        JobPlan::MapReduce(plan) => {
            let straggling = plan.stragglers.is_some() || args.stragglers.is_some();
            plan.tasks() * if straggling { STRAGGLING } else { 1 }
        }
        JobPlan::Stages(plan) => PlannedJob::of(&plan).stages.iter().map(|stage| u64::from(stage.tasks())).sum(),
        JobPlan::Tasks(_) => return None,
    };
    Some((FIRST_TASKS / tasks.max(1)).clamp(FIRST[0], FIRST[1]))
}

fn answer(job: &Job, call: &Arc<Call>, mut question: Question) -> Reply {
    if question.first {
        let few = first_reps(job, call, &question.options);
        question.reps = few.map_or(question.reps, |few| Some(question.reps.map_or(few, |reps| reps.min(few))));
    }
    let question = &question;
    let found = estimated(job, call, question, &question.options)?;
    let pinned = question.pinned.as_ref().map(|options| pinned(job, call, question, options, &found)).transpose()?;
    let report = read_json(&found.text).map_err(broken)?;
    let document = report.document();
    let mut pictures = Vec::new();
    for figure in document.figures() {
        let drawn = figure.picture().map_err(broken)?.filter(|picture| PICTURES.contains(&&*picture.name));
        let title = figure.title.clone();
        pictures.extend(drawn.map(|p| PictureRow { name: p.name, title, wide: p.wide, narrow: p.narrow }));
    }
    pictures.sort_by_key(|picture| PICTURES.iter().position(|name| *name == picture.name));
    json(&Answer {
        reps: question.reps,
        command: job.command(&found.arguments),
        toml: toml(&found),
        pictures,
        remarks: found.remarks,
        result: found.result,
        pinned,
    })
}

/// The plan of an estimate, with the options of the run in a comment.
fn toml(found: &Estimated) -> String {
    let is_of_run = |word: &&str| ["--reps=", "--seed="].iter().any(|start| word.starts_with(start));
    let words: Vec<&str> = found.arguments.iter().filter_map(|word| word.to_str()).filter(is_of_run).collect();
    let options: String = words.iter().map(|word| format!(" {}", quoted(word))).collect();
    let plan = found.result["plan"].as_str().unwrap_or_default();
    format!("# tailspn estimate {PLAN_FILE}{options}\n{plan}")
}

fn pinned(
    job: &Job,
    call: &Arc<Call>,
    question: &Question,
    options: &Options,
    now: &Estimated,
) -> Result<Pinned, Refusal> {
    let before = estimated(job, call, question, options)?;
    let difference = paired_difference(&before.times_s, &now.times_s, LEVEL)
        .map_err(|error| Refusal::unanswerable(format!("no comparison with the pinned values: {error}")))?;
    let curves = [&before.result, &now.result].map(curve);
    let picture = two_times_svg(["pinned", "now"], [&curves[0], &curves[1]]).map_err(broken)?;
    Ok(Pinned {
        command: job.command(&before.arguments),
        pairs: now.times_s.len(),
        level: LEVEL,
        difference_s: difference.value,
        low_s: difference.value - difference.half_width,
        high_s: difference.value + difference.half_width,
        picture,
        result: before.result,
    })
}

/// Returns the distribution function of a result.
fn curve(result: &Value) -> Vec<CdfPoint> {
    let places = ["/curve", "/job_time/curve", "/analytic/curve"];
    let found = places.iter().find_map(|place| result.pointer(place));
    found.and_then(|curve| serde_json::from_value(curve.clone()).ok()).unwrap_or_default()
}

/// Returns a word, in single quotes if a shell would change it.
fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_=./,:%+@".contains(c);
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
        let options: Options = options.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
        let job = Job::of_plan(Path::new("it's mine.toml"));
        assert_eq!(
            job.command(&job.arguments(&options, Some(200), Some(7)).unwrap()),
            r"tailspn estimate 'it'\''s mine.toml' --input-size=20GB --workers=small=3 --workers=large=1 --reps=200 --seed=7"
        );
        let fitted = Job::of_log(Path::new("a log"));
        assert_eq!(
            fitted.command(&fitted.arguments(&Options::new(), None, None).unwrap()),
            "tailspn fit 'a log' -o plan.toml && tailspn estimate plan.toml"
        );
        let unknown: Options = [("export".to_owned(), "x.xml".to_owned())].into();
        assert!(job.arguments(&unknown, None, None).is_err());
        assert_eq!(plain(Path::new("-p.toml")), Path::new("./-p.toml"));
    }
}
