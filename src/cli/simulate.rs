//! `simulate`: replications of a net, and their results.

use tailspn::ask::net::{AnswerBy, LongRunLength, NetAnswer, NetAnswerError, NetSettings, PreparedNet};
use tailspn::estimate::StopRule;
use tailspn::explain::Explain as _;
use tailspn::report::{
    AnswerMethod, ExactBy, NetReport, Report, SimulationReport, SteadyReport, UsedMethod, count, counted,
};
use tailspn::sim::{Backend, Ending, Ensemble, Goal, Quantity, Question, Run, SimulationError, SteadyResult, Target};
use tailspn::watch::TimeLimit;

use crate::cli::args::{Method, SimulateArgs};
use crate::cli::call::interrupted;
use crate::cli::exit::Exit;
use crate::cli::files::{may_write, write_file};
use crate::cli::load::read_net;
use crate::cli::notes::Failure;
use crate::cli::output::Terminal;
use crate::cli::pictures::{draw_report, may_draw};
use crate::cli::preparation::Preparation;
use crate::cli::question::ask;
use crate::cli::targets::{Wanted, of_ensemble, targets, tell_unmet, tell_unmet_in};
use crate::cli::watch::{Progress, catch_interrupt};

/// Default number of replications.
const REPLICATIONS: u64 = 10_000;
/// Default limit of replications for a relative error.
const MOST_REPLICATIONS: u64 = 100_000_000;

/// Simulates the net.
pub(crate) fn run(args: &SimulateArgs, terminal: &Terminal) -> Result<Exit, Failure> {
    may_draw(&args.plots, args.force)?;
    let preparation = Preparation::begin(args.run.max_time, terminal);
    let loaded = read_net(&args.net)?;
    terminal.brief_warnings(&loaded.warnings);
    let mut question = ask(&loaded.net, &args.question, args.steady)?;
    let targets = targets(args, &loaded.net, &mut question)?;
    let settings = settings(args, &targets, terminal);
    let prepared = PreparedNet::new(&loaded.net, &question, &settings)?;
    catch_interrupt(terminal);
    preparation.end();
    if args.method != Method::Exact {
        may_simulate(args, terminal)?;
    }
    let progress = Progress::new(terminal.shows_progress(), "replications");
    let watch = TimeLimit::new(&progress, terminal.left_of(args.run.max_time));
    let answer = prepared.answer(&watch).map_err(|error| not_simulated(error, &targets))?;
    let report = NetReport::new(&loaded.net, &question, &answer, settings.level, &watch)?;
    drop(progress);
    match (report, answer) {
        (NetReport::Replications(report), NetAnswer::Replications(result, _)) => {
            print(&report, result.replicated(), args, &question, &targets, terminal)
        }
        (NetReport::LongRuns(report), NetAnswer::LongRuns(result, _)) => {
            print_long_runs(&report, &result, args, &targets, terminal)
        }
        (NetReport::Replications(report), _) => print_exact(report.as_ref(), args, terminal),
        (NetReport::LongRuns(report), _) => print_exact(report.as_ref(), args, terminal),
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
    let ensemble = Ensemble {
        replications: args.reps.unwrap_or(REPLICATIONS),
        stop: stop_rule(args.stop_error(), args.reps, args.run.level),
        seed: args.run.seed.unwrap_or(0),
        threads: args.run.threads,
        engine: args.engine.0,
        backend: args.place.backend.0,
        adapter: args.place.adapter.clone(),
        keep: args.samples.is_some() || terminal.keeps_samples(),
        share: terminal.share().clone(),
        targets: if args.steady { every } else { of_ensemble(targets) },
        ..Ensemble::default()
    };
    let (unfolded, level) = (args.no_fold, args.run.level);
    NetSettings { by, needs_replications, long_runs, unfolded, ensemble, level }
}

/// Prints exact numbers.
fn print_exact<R: Report>(report: &R, args: &SimulateArgs, terminal: &Terminal) -> Result<Exit, Failure> {
    terminal.report(report, &args.print)?;
    draw_report(report, &args.plots, args.force, terminal)?;
    Ok(Exit::Success)
}

/// Prints the results of replications.
fn print(
    report: &SimulationReport,
    run: &Run,
    args: &SimulateArgs,
    question: &Question,
    targets: &[Wanted],
    terminal: &Terminal,
) -> Result<Exit, Failure> {
    if terminal.share().is_part() {
        return Err(Failure::part());
    }
    if let Some(path) = &args.samples {
        write_file(path, samples_text(run).as_bytes(), args.force)?;
    }
    terminal.samples(times_s(run));
    terminal.report(report, &args.print)?;
    remarks(run, question, terminal);
    tell_unmet(run, targets, args.run.level, terminal);
    advise(&report.method, terminal);
    draw_report(report, &args.plots, args.force, terminal)?;
    Ok(end_of(run))
}

/// Prints the results of long runs.
fn print_long_runs(
    report: &SteadyReport,
    result: &SteadyResult,
    args: &SimulateArgs,
    targets: &[Wanted],
    terminal: &Terminal,
) -> Result<Exit, Failure> {
    terminal.report(report, &args.print)?;
    advise(&report.method, terminal);
    if result.is_partial() {
        terminal.tell("stopped early; the means are computed from the completed parts");
    }
    tell_unmet_in(result.runs(), targets, args.run.level, terminal);
    Ok(if interrupted() { Exit::Interrupted } else { Exit::Success })
}

/// Tells about an exact answer that would be faster.
fn advise(method: &AnswerMethod, terminal: &Terminal) {
    let Some(exact) = method.exact.filter(|_| method.used == UsedMethod::Simulation) else { return };
    let why = match (exact, method.states) {
        (ExactBy::States, Some(states)) => format!("the net has only {}", counted(states as u64, "state")),
        (exact, _) => format!("the net is {}", exact.name()),
    };
    terminal.tell(&format!("note: {why}: an exact answer would be faster than replications (--method exact)"));
}

/// Returns the exit status of the process after a run.
pub(crate) fn end_of(run: &Run) -> Exit {
    if run.provenance.cut_short && interrupted() { Exit::Interrupted } else { Exit::Success }
}

/// Returns the stop rule of a run for a relative error.
pub(crate) fn stop_rule(rel_error: Option<f64>, reps: Option<u64>, level: f64) -> Option<StopRule> {
    let max_reps = reps.unwrap_or(MOST_REPLICATIONS);
    rel_error.map(|rel_error| StopRule { rel_error, level, max_reps, ..StopRule::default() })
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

/// Returns the times of all replications that reached the goal as text, one per line, in the order of the
/// replications.
fn samples_text(run: &Run) -> String {
    let mut text = String::from("time_s\n");
    times_s(run).for_each(|time| text += &format!("{time}\n"));
    text
}

/// Returns the times in seconds of all replications that reached the goal, in the order of the replications.
pub(crate) fn times_s(run: &Run) -> impl Iterator<Item = f64> {
    run.samples.times_s()
}

/// Prints remarks that a reader of the numbers should know.
fn remarks(run: &Run, question: &Question, terminal: &Terminal) {
    let samples = &run.samples;
    let reached = samples.ended(Ending::Goal);
    if samples.replications == 0 || question.goal == Goal::Horizon {
        return;
    }
    let dead = samples.ended(Ending::Dead) + if question.goal == Goal::Dead { reached } else { 0 };
    if samples.firings == 0 && dead == samples.replications {
        terminal.tell("note: nothing can fire in the initial marking");
    }
    if reached == 0 {
        terminal.tell(&format!("note: no replication reached {}", question.words()));
    }
    if samples.ended(Ending::Firings) > 0 {
        terminal.tell("note: --max-firings N lets replications run longer, --steady computes the long run");
    }
}
