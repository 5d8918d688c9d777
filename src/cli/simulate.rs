//! `simulate`: replications of a net, and their results.

use tailspn::estimate::StopRule;
use tailspn::report::{AnswerMethod, NetNames, Subject, count, simulation_report};
use tailspn::share::ShareError;
use tailspn::sim::{
    Backend, Ending, EngineChoice, Ensemble, Goal, PATIENCE, Prepared, Quantity, Question, Run, RunError, SEARCH,
    limit_firings, reaches_goal, run as replicate,
};
use tailspn::watch::{TimeLimit, Watch};

use crate::cli::args::{Method, SimulateArgs};
use crate::cli::exact_answer;
use crate::cli::exit::Exit;
use crate::cli::load::{prepare, read_net};
use crate::cli::notes::{Failure, Note};
use crate::cli::output::{Terminal, may_write, write_file};
use crate::cli::pictures::{draw_report, may_draw};
use crate::cli::preparation::Preparation;
use crate::cli::question::{WordedQuestion, ask};
use crate::cli::steady;
use crate::cli::targets::{Wanted, of_ensemble, targets, tell_unmet};
use crate::cli::watch::{Progress, catch_interrupt, interrupted};

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
    let mut asked = ask(&loaded.net, &args.question)?;
    let targets = targets(args, &loaded.net, &mut asked)?;
    // the tasks of a schedule are not folded
    let fold = !args.no_fold && args.engine.0 != EngineChoice::Schedule;
    let mut prepared = prepare(&loaded.net, &asked.question, fold, args.steady)?;
    catch_interrupt(terminal);
    preparation.end();
    let method = match args.method {
        Method::Exact => return exact_answer::run(args, &loaded.net, &prepared, &asked, terminal),
        Method::Auto => exact_answer::offer(args, prepared.net(&loaded.net), &prepared.program, &prepared.question),
        Method::Simulate => AnswerMethod::simulation(),
    };
    if args.steady && args.place.backend.0 == Backend::Gpu {
        return Err(Failure::helped(Exit::Gpu, "`--steady` runs on the CPU only", "remove `--backend gpu`"));
    }
    if args.steady {
        return steady::run(args, &loaded.net, &prepared, &asked.question, &targets, method, terminal);
    }
    if let Some(path) = args.samples.as_ref().filter(|_| !terminal.share().is_part()) {
        may_write(path, args.force)?;
    }
    let keep = args.samples.is_some() || terminal.keeps_samples();
    let ensemble = Ensemble {
        keep,
        share: terminal.share().clone(),
        targets: prepared.targets(&of_ensemble(&targets)),
        ..ensemble(args)
    };
    let progress = Progress::new(terminal.shows_progress(), "replications");
    let watch = TimeLimit::new(&progress, terminal.left_of(args.run.max_time));
    be_patient(&mut prepared, &asked.goal, &ensemble, PATIENCE, &watch)?;
    seek_goal(&prepared, &asked.goal, &ensemble, &targets, &watch)?;
    let run = replicate(&prepared.program, &prepared.question, &ensemble, &watch);
    drop(progress);
    let found = prepared.unfold(run.map_err(|error| failure(&error))?);
    if terminal.share().is_part() {
        return Err(Failure::part());
    }
    let names = NetNames::of(&loaded.net);
    let subject = Subject { goal: &asked.goal, snapshots: &asked.snapshots, ..names.subject(loaded.net.name()) };
    let advice = exact_answer::advice(&method);
    let question = Question { max_firings: prepared.question.max_firings, ..asked.question.clone() };
    let mut report = simulation_report(&found, &question, &subject, args.run.level);
    report.method = method;
    if let Some(path) = &args.samples {
        write_file(path, samples_text(&found).as_bytes(), args.force)?;
    }
    terminal.samples(times_s(&found));
    terminal.report(&report, &args.print)?;
    remarks(&found, &asked, terminal);
    tell_unmet(&found, &targets, args.run.level, terminal);
    advice.iter().for_each(|advice| terminal.tell(advice));
    draw_report(&report, &args.plots, args.force, terminal)?;
    Ok(end_of(&found))
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

fn ensemble(args: &SimulateArgs) -> Ensemble {
    Ensemble {
        replications: args.reps.unwrap_or(REPLICATIONS),
        stop: stop_rule(args.stop_error(), args.reps, args.run.level),
        seed: args.run.seed.unwrap_or(0),
        threads: args.run.threads,
        engine: args.engine.0,
        backend: args.place.backend.0,
        adapter: args.place.adapter.clone(),
        ..Ensemble::default()
    }
}

/// Sets a limit on the firings of a net that may never reach its goal, and checks with one replication that the
/// net does not exceed the limit.
fn be_patient(
    prepared: &mut Prepared,
    goal: &str,
    ensemble: &Ensemble,
    patience: u64,
    watch: &dyn Watch,
) -> Result<(), Failure> {
    let Prepared { program, question, .. } = prepared;
    let stops = limit_firings(program, question, ensemble, patience, watch).map_err(|error| failure(&error))?;
    if stops {
        return Ok(());
    }
    let message = format!("the net does not stop: after {} firings it has not reached {goal}", count(patience.into()));
    let help = "use --horizon T for a fixed time span, --steady for the long run, --until EXPR for another goal, or a larger --max-firings N";
    Err(Failure::helped(Exit::Refused, message, help))
}

/// Searches for a replication that reaches the goal. If no replication reaches the goal, a run for a given error of the
/// mean time would take very long.
fn seek_goal(
    prepared: &Prepared,
    goal: &str,
    ensemble: &Ensemble,
    targets: &[Wanted],
    watch: &dyn Watch,
) -> Result<(), Failure> {
    let reached = reaches_goal(&prepared.program, &prepared.question, ensemble, watch);
    let time = targets.iter().find(|wanted| wanted.target.quantity == Quantity::Time);
    let Some(time) = time.filter(|_| !matches!(reached, Ok(true))) else {
        return reached.map(drop).map_err(|error| failure(&error));
    };
    reached.map_err(|error| failure(&error))?;
    let message = format!(
        "none of the first {} replications reached {goal}, so the mean time to it cannot be estimated with an error of {}",
        count(SEARCH[1].into()),
        time.asked()
    );
    let help =
        "use --reps N without --rel-error to see the probability of the goal and the reasons why replications end";
    Err(Failure::helped(Exit::Refused, message, help))
}

/// Explains to the user why the simulation did not run.
pub(crate) fn failure(error: &RunError) -> Failure {
    match error {
        RunError::Fault(fault) => Failure::plain(Exit::Model, fault.to_string()),
        RunError::Engine { engine, reasons } => Failure::helped(
            Exit::Refused,
            format!("the {engine} engine cannot run this:\n{}", reasons.join("\n")),
            "`--engine auto` selects the fastest engine that supports this",
        ),
        RunError::Horizon { .. } => Failure::plain(Exit::Refused, error.to_string()),
        RunError::GpuUnfit { engine, reasons } => {
            let message = format!("the {engine} GPU engine cannot run this:\n{}", reasons.join("\n"));
            no_gpu(Note::problem(message))
        }
        RunError::Share(ShareError::NoNumber) => Failure::helped(
            Exit::Usage,
            error.to_string(),
            "set the number of replications with --reps N instead of --rel-error",
        ),
        RunError::Share(error) => Failure::plain(Exit::Refused, error.to_string()),
        RunError::GpuNotBuilt => Failure::plain(Exit::Gpu, error.to_string()),
        #[cfg(feature = "gpu")]
        RunError::Gpu(error) => no_gpu(Note::problem(error.to_string())),
        other => Failure::plain(Exit::Internal, other.to_string()),
    }
}

/// Returns the failure if no GPU can do what the command requires.
pub(crate) fn no_gpu(note: Note) -> Failure {
    let help = "`tailspn devices` lists the adapters; `--backend auto` uses one if possible, otherwise the CPU";
    Failure::new(Exit::Gpu, note.with_help(help))
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
    run.samples.passage_times.iter().map(|&ticks| run.samples.clock.seconds(ticks))
}

/// Prints remarks that a reader of the numbers should know.
fn remarks(run: &Run, asked: &WordedQuestion, terminal: &Terminal) {
    let samples = &run.samples;
    let reached = samples.ended(Ending::Goal);
    let question: &Question = &asked.question;
    if samples.replications == 0 || question.goal == Goal::Horizon {
        return;
    }
    let dead = samples.ended(Ending::Dead) + if question.goal == Goal::Dead { reached } else { 0 };
    if samples.firings == 0 && dead == samples.replications {
        terminal.tell("note: nothing can fire in the initial marking");
    }
    if reached == 0 {
        terminal.tell(&format!("note: no replication reached {}", asked.goal));
    }
    if samples.ended(Ending::Firings) > 0 {
        terminal.tell("note: --max-firings N lets replications run longer, --steady computes the long run");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tailspn::net::{NetBuilder, Timing};
    use tailspn::watch::Unwatched;

    #[test]
    fn a_net_that_does_not_stop_is_refused() {
        let mut b = NetBuilder::new("endless");
        let place = b.place("p", 0);
        let transition = b.transition("t", Timing::exponential(1.0));
        b.output(transition, place, 1.0);
        let mut prepared = Prepared::new(&b.build().unwrap(), &Question::default(), true).unwrap();
        let refused = be_patient(&mut prepared, "the end", &Ensemble::default(), 1000, &Unwatched).unwrap_err();
        let expected = "error: the net does not stop: after 1,000 firings it has not reached the end";
        assert_eq!((refused.exit, refused.notes[0].brief().as_str()), (Exit::Refused, expected));
    }
}
