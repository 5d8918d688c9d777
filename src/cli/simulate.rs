//! `simulate`: replications of a net, and their results.

use tailspn::ask::RunSettings;
use tailspn::ask::net::{AnswerBy, LongRunLength, NetAnswer, NetAnswerError, NetSettings, PreparedNet};
use tailspn::explain::Explain as _;
use tailspn::report::{Answer, AnswerMethod, AnyReport, ExactBy, NetReport, UsedMethod, count, counted};
use tailspn::sim::{
    Backend, Ending, Goal, Quantity, Question, Run, SimulationError, SimulationResult, SteadyResult, Target,
};
use tailspn::watch::TimeLimit;

use crate::cli::args::{Method, SimulateArgs};
use crate::cli::call::interrupted;
use crate::cli::exit::Exit;
use crate::cli::files::{may_write, write_file};
use crate::cli::frame::{Ask, Asked, Form};
use crate::cli::load::read_net;
use crate::cli::notes::Failure;
use crate::cli::output::Terminal;
use crate::cli::preparation::Preparation;
use crate::cli::question::ask;
use crate::cli::targets::{Wanted, of_ensemble, targets, unmet, unmet_in};
use crate::cli::watch::{Progress, catch_interrupt};

impl Ask for SimulateArgs {
    fn form(&self) -> Form<'_> {
        // long runs have no pictures
        let has_pictures = !self.steady || self.method == Method::Exact;
        Form { plots: has_pictures.then_some(&self.plots), force: self.force, ..Form::printed(&self.print) }
    }

    /// Simulates the net.
    fn ask(&self, terminal: &Terminal) -> Result<Asked<'_>, Failure> {
        let preparation = Preparation::begin(self.run.max_time, terminal);
        let loaded = read_net(&self.net)?;
        terminal.brief_warnings(&loaded.warnings);
        let mut question = ask(&loaded.net, &self.question, self.steady)?;
        let targets = targets(self, &loaded.net, &mut question)?;
        let settings = settings(self, &targets, terminal);
        let prepared = PreparedNet::new(&loaded.net, &question, &settings)?;
        catch_interrupt(terminal);
        preparation.end();
        if self.method != Method::Exact {
            may_simulate(self, terminal)?;
        }
        let progress = Progress::new(terminal.shows_progress(), "replications");
        let watch = TimeLimit::new(&progress, terminal.left_of(self.run.max_time));
        let found = prepared.answer(&watch).map_err(|error| not_simulated(error, &targets))?;
        if terminal.share().is_part() {
            return Err(Failure::part());
        }
        let report = NetReport::new(&loaded.net, &question, &found, settings.run.level, &watch)?;
        let (method, result): (AnswerMethod, AnyReport) = match report {
            NetReport::Replications(report) => (report.method.clone(), AnyReport::Simulation(report)),
            NetReport::LongRuns(report) => (report.method.clone(), AnyReport::Steady(report)),
        };
        Ok(match found {
            NetAnswer::Replications(found, _) => of_replications(self, result, &found, (&question, &targets), &method),
            NetAnswer::LongRuns(found, _) => of_long_runs(self, result, &found, &targets, &method),
            NetAnswer::Exact(_) => Answer::new(result).into(),
        })
    }
}

/// Checks what replications and long runs need besides the net.
fn may_simulate(args: &SimulateArgs, terminal: &Terminal) -> Result<(), Failure> {
    if args.steady && args.place.backend.0 == Backend::Gpu {
        return Err(Failure::helped(Exit::Gpu, "`--steady` runs on the CPU only", "remove `--backend gpu`"));
    }
    match args.samples.as_ref().filter(|_| !args.steady && !terminal.share().is_part()) {
        Some(path) => may_write(path, args.force),
        None => Ok(()),
    }
}

fn settings(args: &SimulateArgs, targets: &[Wanted], terminal: &Terminal) -> NetSettings {
    let by = match args.method {
        Method::Auto => AnswerBy::Auto,
        Method::Exact => AnswerBy::Exact,
        Method::Simulate => AnswerBy::Simulation,
    };
    let wants_runs = by == AnswerBy::Exact && (args.reps.is_some() || args.wants_errors());
    let needs_replications = wants_runs
        .then_some("--reps, --rel-error and --abs-error need replications")
        .or(args.samples.is_some().then_some("--samples needs replications"));
    let long_runs = LongRunLength { runs: args.steady_runs, firings: args.steady_firings };
    let every: Vec<Target> = targets.iter().map(|wanted| wanted.target).collect();
    let own = terminal.settings(&args.run);
    let run = RunSettings {
        replications: args.reps,
        rel_error: args.stop_error(),
        backend: args.place.backend.0,
        adapter: args.place.adapter.clone(),
        keep: args.samples.is_some() || own.keep,
        // the watch has the limit of time, which counts from the start of the command
        max_time: None,
        ..own
    };
    let targets = if args.steady { every } else { of_ensemble(targets) };
    NetSettings { by, needs_replications, long_runs, unfolded: args.no_fold, engine: args.engine.0, targets, run }
}

/// Returns the answer from replications, with remarks that a reader of the numbers should know.
fn of_replications<'a>(
    args: &'a SimulateArgs,
    result: AnyReport,
    found: &SimulationResult,
    (question, targets): (&Question, &[Wanted]),
    method: &AnswerMethod,
) -> Asked<'a> {
    let run = found.replicated();
    let notes = remarks(run, question).into_iter().chain(unmet(run, targets, args.run.level)).chain(advice(method));
    let times_s: Vec<f64> = run.samples.times_s().collect();
    let text = args.samples.as_ref().map(|_| samples_text(&times_s));
    let answer = Answer { notes: notes.collect(), times_s: Some(times_s), ..Answer::new(result) };
    let asked = Asked::from(answer.unless_stopped(run.provenance.cut_short));
    match (&args.samples, text) {
        (Some(path), Some(text)) => asked.writing(move |_| write_file(path, text.as_bytes(), args.force)),
        _ => asked,
    }
}

/// Returns the answer from long runs.
fn of_long_runs<'a>(
    args: &SimulateArgs,
    result: AnyReport,
    found: &SteadyResult,
    targets: &[Wanted],
    method: &AnswerMethod,
) -> Asked<'a> {
    let early = "stopped early; the means are computed from the completed parts".to_owned();
    let notes = advice(method).into_iter().chain(found.is_partial().then_some(early));
    let notes = notes.chain(unmet_in(found.runs(), targets, args.run.level)).collect();
    Answer { notes, ..Answer::new(result) }.unless_stopped(interrupted()).into()
}

/// Returns a note on an exact answer that would be faster.
fn advice(method: &AnswerMethod) -> Option<String> {
    let exact = method.exact.filter(|_| method.used == UsedMethod::Simulation)?;
    let why = match (exact, method.states) {
        (ExactBy::States, Some(states)) => format!("the net has only {}", counted(states as u64, "state")),
        (exact, _) => format!("the net is {}", exact.name()),
    };
    Some(format!("note: {why}: an exact answer would be faster than replications (--method exact)"))
}

/// Explains why there is no result.
fn not_simulated(error: NetAnswerError, targets: &[Wanted]) -> Failure {
    let message = match &error {
        NetAnswerError::Replications(SimulationError::Endless { firings, goal }) => {
            format!("the net does not stop: after {} firings it has not reached {goal}", count((*firings).into()))
        }
        NetAnswerError::Replications(SimulationError::Unreached { replications, goal }) => {
            let time = targets.iter().find(|wanted| wanted.target.quantity == Quantity::Time);
            let error = time.map_or_else(String::new, |time| format!(" with an error of {}", time.asked()));
            let searched = count((*replications).into());
            format!(
                "none of the first {searched} replications reached {goal}, so the mean time to it cannot be estimated{error}"
            )
        }
        NetAnswerError::NeedsReplications(_) => error.to_string(),
        _ => return error.into(),
    };
    Failure::helped(Exit::Refused, message, error.help().unwrap_or_default())
}

/// Returns times as text, one per line.
fn samples_text(times_s: &[f64]) -> String {
    let mut text = String::from("time_s\n");
    times_s.iter().for_each(|time| text += &format!("{time}\n"));
    text
}

/// Returns remarks on replications that a reader of the numbers should know.
fn remarks(run: &Run, question: &Question) -> Vec<String> {
    let samples = &run.samples;
    let reached = samples.ended(Ending::Goal);
    if samples.replications == 0 || question.goal == Goal::Horizon {
        return Vec::new();
    }
    let dead = samples.ended(Ending::Dead) + if question.goal == Goal::Dead { reached } else { 0 };
    let mut notes = Vec::new();
    if samples.firings == 0 && dead == samples.replications {
        notes.push("note: nothing can fire in the initial marking".to_owned());
    }
    if reached == 0 {
        notes.push(format!("note: no replication reached {}", question.words()));
    }
    if samples.ended(Ending::Firings) > 0 {
        notes.push("note: --max-firings N lets replications run longer, --steady computes the long run".to_owned());
    }
    notes
}
