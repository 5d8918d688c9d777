//! Requests of the page of a job.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::response::Response;
use axum::routing::{get, post};
use serde::{Deserialize, Serialize};
use tailspn::ask::{EstimateJob as _, Proof, RunSettings};
use tailspn::estimate::{LEVEL, paired_difference};
use tailspn::plan::{JobPlan, Planned, Planning as _};
use tailspn::report::{Answer, AnyReport, CdfPoint, two_times_svg};
use tailspn::stages::PlannedJob;

use crate::cli::call::Call;
use crate::cli::input::quoted;
use crate::cli::output::Terminal;
use crate::cli::plan::PlanText;
use crate::cli::serve::ask::{MAX_MEMORY, MAX_TIME};
use crate::cli::serve::cheapest::{self, Search};
use crate::cli::serve::fields::{Field, fields, options};
use crate::cli::serve::reply::{Refusal, Reply, Waiting, apart, json, parsed, plain, unfinished};

/// Names of the pictures of the report that the page shows, in display order.
const PICTURES: [&str; 5] = ["histogram", "cdf", "tail", "waterfall", "critical"];

/// Maximum number of replications of a comparison with pinned values, whose times are kept.
const MOST_PAIRS: u64 = 10_000_000;

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

    /// Reads the plan, with its warnings as remarks of the call; a fitted plan is parsed from its text.
    fn plan(&self, text: Option<&str>, call: &Arc<Call>) -> Result<JobPlan, Refusal> {
        match (&self.source, text) {
            (Source::BuiltIn, _) => Ok(JobPlan::default()),
            (Source::File(path), _) => {
                let terminal = Terminal::of_call(call);
                let read = PlanText::read(&path.as_path().into(), &terminal).and_then(|text| text.job());
                read.map_err(|failure| unfinished(&failure.problems()))
            }
            (Source::Log(_), Some(text)) => {
                JobPlan::from_toml(text).map_err(|error| Refusal::unanswerable(error.to_string()))
            }
            (Source::Log(_), None) => Err(no_plan()),
        }
    }

    /// Returns the plan with the values of the fields.
    fn planned(&self, question: &EstimateRequest, values: &Values, call: &Arc<Call>) -> Result<Planned, Refusal> {
        let plan = self.plan(question.plan.as_deref(), call)?;
        let all = values.iter().map(|(name, text)| options(name, text)).collect::<Result<Vec<_>, _>>()?.concat();
        Ok(plan.with_all(&all))
    }

    /// Returns the command that answers a question, as a user would type it in a shell.
    fn command(&self, question: &EstimateRequest, values: &Values) -> String {
        let file = match &self.source {
            Source::BuiltIn => "--demo".to_owned(),
            Source::File(path) | Source::Log(path) => quoted(&path.to_string_lossy()),
        };
        let mut words = vec!["tailspn".to_owned(), "estimate".to_owned(), file];
        for (name, value) in values {
            let parts: Vec<&str> = if name == "workers" { value.split(',').collect() } else { vec![value] };
            let parts = parts.into_iter().map(str::trim).filter(|part| !part.is_empty());
            // option and value are one word, so that a value is never taken for an option
            words.extend(parts.map(|part| quoted(&format!("--{name}={part}"))));
        }
        words.extend(question.run_words());
        words.join(" ")
    }
}

fn no_plan() -> Refusal {
    Refusal::bad("the request has no fitted plan")
}

/// Name of the plan file in commands for copying.
const PLAN_FILE: &str = "plan.toml";

/// Texts of fields, by their options.
type Values = BTreeMap<String, String>;

/// Values of the fields, and settings of the run.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct EstimateRequest {
    /// The text of a fitted plan.
    plan: Option<String>,
    #[serde(default)]
    options: Values,
    reps: Option<u64>,
    /// True for a quick first answer from fewer replications.
    #[serde(default)]
    first: bool,
    seed: Option<u64>,
    /// Values of the fields to compare with.
    pinned: Option<Values>,
}

impl EstimateRequest {
    /// Returns the options of the run, as words of a command.
    fn run_words(&self) -> Vec<String> {
        let reps = self.reps.map(|reps| format!("--reps={reps}"));
        reps.into_iter().chain(self.seed.map(|seed| format!("--seed={seed}"))).collect()
    }
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

/// An estimate: the result, the pictures, and a command and a plan that reproduce them.
#[derive(Serialize)]
struct Shown {
    result: AnyReport,
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
    result: AnyReport,
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
    json(&Start { plan, fields: fields(&job.plan(text, &Call::new(false))?) })
}

async fn estimate(State(job): State<Arc<Job>>, body: Bytes) -> Response {
    let question = match parsed::<EstimateRequest>(&body) {
        Ok(question) => question,
        Err(refusal) => return refusal.response(),
    };
    let call = Call::new(false);
    let _waiting = Waiting::new(&call);
    apart(move || answer(&job, &call, question)).await
}

fn broken(error: impl std::fmt::Display) -> Refusal {
    Refusal::unanswerable(format!("the estimate cannot be shown: {error}"))
}

/// Estimates the job with these values; `call` may stop the work.
fn estimated(job: &Job, question: &EstimateRequest, values: &Values, call: &Arc<Call>) -> Result<Answer, Refusal> {
    let run = RunSettings {
        replications: question.reps,
        seed: question.seed,
        // the command that the page shows has no limit
        max_time: Some(MAX_TIME),
        max_memory: Some(MAX_MEMORY),
        // the comparison with pinned values needs the times of replications
        keep: question.pinned.is_some(),
        ..RunSettings::default()
    };
    let copies = values.get("speculation").is_some_and(|copies| !copies.trim().is_empty());
    let proof = Proof { is_needed: copies, is_trusted: false };
    let estimation = job.planned(question, values, call)?.estimation().settings(run).proof(proof).watch(&**call);
    let found = estimation.run().map_err(|error| Refusal::of(&error))?;
    let answer = Answer::of_job(&found).map_err(|error| Refusal::of(&error))?;
    let notes = call.take_output().remarks.into_iter().chain(answer.notes).collect();
    Ok(Answer { times_s: Some(found.times_s()), notes, ..answer })
}

/// Total number of tasks in the replications of a first answer, if the number of replications is between the minimum
/// and the maximum below. The vectorised engine runs 64 replications at a time, and fewer replications take as long.
const FIRST_TASKS: u64 = 16_000;
const FIRST: [u64; 2] = [16, 64];
/// Simulation cost of a task that may straggle, relative to a task that cannot.
const STRAGGLING: u64 = 4;

/// Returns the number of replications of a first answer; `None` if the values are invalid, which the estimate will
/// report.
fn first_reps(job: &Job, question: &EstimateRequest) -> Option<u64> {
    let tasks = match job.planned(question, &question.options, &Call::new(false)).ok()?.plan().ok()? {
        JobPlan::MapReduce(plan) => plan.tasks() * if plan.stragglers.is_some() { STRAGGLING } else { 1 },
        JobPlan::Stages(plan) => PlannedJob::of(&plan).stages.iter().map(|stage| u64::from(stage.tasks())).sum(),
        JobPlan::Tasks(_) => return None,
    };
    Some((FIRST_TASKS / tasks.max(1)).clamp(FIRST[0], FIRST[1]))
}

fn answer(job: &Job, call: &Arc<Call>, mut question: EstimateRequest) -> Reply {
    if question.reps == Some(0) {
        return Err(Refusal::unanswerable("the number of replications `reps` is at least 1"));
    }
    if question.pinned.is_some() && question.reps.is_some_and(|reps| reps > MOST_PAIRS) {
        let message = format!("a comparison with pinned values has at most {MOST_PAIRS} replications `reps`");
        return Err(Refusal::unanswerable(message));
    }
    if question.first {
        let few = first_reps(job, &question);
        question.reps = few.map_or(question.reps, |few| Some(question.reps.map_or(few, |reps| reps.min(few))));
    }
    let question = &question;
    let found = estimated(job, question, &question.options, call)?;
    let pinned = question.pinned.as_ref().map(|values| pinned(job, call, question, values, &found)).transpose()?;
    let document = found.result.document();
    let mut pictures = Vec::new();
    for figure in document.figures() {
        let drawn = figure.picture().map_err(broken)?.filter(|picture| PICTURES.contains(&&*picture.name));
        let title = figure.title.clone();
        pictures.extend(drawn.map(|p| PictureRow { name: p.name, title, wide: p.wide, narrow: p.narrow }));
    }
    pictures.sort_by_key(|picture| PICTURES.iter().position(|name| *name == picture.name));
    let words: String = question.run_words().iter().map(|word| format!(" {word}")).collect();
    json(&Shown {
        reps: question.reps,
        command: job.command(question, &question.options),
        toml: format!("# tailspn estimate {PLAN_FILE}{words}\n{}", document.plan),
        pictures,
        pinned,
        remarks: found.remarks(),
        result: found.result.clone(),
    })
}

fn pinned(
    job: &Job,
    call: &Arc<Call>,
    question: &EstimateRequest,
    values: &Values,
    now: &Answer,
) -> Result<Pinned, Refusal> {
    let before = estimated(job, question, values, call)?;
    let times = [&before, now].map(|answer| answer.times_s.as_deref().unwrap_or_default());
    let difference = paired_difference(times[0], times[1], LEVEL)
        .map_err(|error| Refusal::unanswerable(format!("no comparison with the pinned values: {error}")))?;
    let picture = two_times_svg(["pinned", "now"], [curve(&before.result), curve(&now.result)]).map_err(broken)?;
    Ok(Pinned {
        command: job.command(question, values),
        pairs: times[1].len(),
        level: LEVEL,
        difference_s: difference.value,
        low_s: difference.value - difference.half_width,
        high_s: difference.value + difference.half_width,
        picture,
        result: before.result,
    })
}

/// Returns the distribution function of an estimate.
fn curve(result: &AnyReport) -> &[CdfPoint] {
    match result {
        AnyReport::Stages(report) => &report.curve,
        AnyReport::Estimate(report) => {
            let simulated = report.job_time.as_ref().map(|time| &time.curve);
            simulated.or(report.analytic.as_ref().map(|time| &time.curve)).map_or(&[], Vec::as_slice)
        }
        _ => &[],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_becomes_a_command_that_a_shell_leaves_alone() {
        let values = [("input-size", " 20GB "), ("workers", "small=3, large=1"), ("deadline", "")];
        let values: Values = values.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
        let asked =
            |reps, seed| EstimateRequest { plan: None, options: Values::new(), reps, first: false, seed, pinned: None };
        let job = Job::of_plan(Path::new("it's mine.toml"));
        assert_eq!(
            job.command(&asked(Some(200), Some(7)), &values),
            r"tailspn estimate 'it'\''s mine.toml' --input-size=20GB --workers=small=3 --workers=large=1 --reps=200 --seed=7"
        );
        let fitted = Job::of_log(Path::new("a log"));
        assert_eq!(fitted.command(&asked(None, None), &Values::new()), "tailspn estimate 'a log'");
        let unknown: Values = [("export".to_owned(), "x.xml".to_owned())].into();
        assert!(Job::built_in().planned(&asked(None, None), &unknown, &Call::new(false)).is_err());
        assert_eq!(plain(Path::new("-p.toml")), Path::new("./-p.toml"));
    }
}
