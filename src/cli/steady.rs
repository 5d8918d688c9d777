//! `simulate --steady`: means in the long run, from several long runs or one.

use std::time::Instant;

use tailspn::net::{Net, Timing, Transition};
use tailspn::report::{AnswerMethod, NetNames, SteadyReport, SteadySettings, steady_report};
use tailspn::sim::{
    BatchAverages, LongRuns, MOST_LONG_FIRINGS, Prepared, Question, SteadyError, Target, enabled_but_unfired,
};
use tailspn::watch::{TimeLimit, Watch};

use crate::cli::args::SimulateArgs;
use crate::cli::exact_answer;
use crate::cli::exit::Exit;
use crate::cli::load::compile_net;
use crate::cli::notes::{Failure, Note};
use crate::cli::output::Terminal;
use crate::cli::targets::{Wanted, tell_unmet_in};
use crate::cli::watch::{Progress, interrupted};

/// Default number of firings of all runs together; with targets, number of firings of the first round.
const FIRINGS: u64 = 2_000_000;

/// Simulates the long run of the net and reports the means.
pub(super) fn run(
    args: &SimulateArgs,
    net: &Net,
    prepared: &Prepared,
    question: &Question,
    targets: &[Wanted],
    method: AnswerMethod,
    terminal: &Terminal,
) -> Result<Exit, Failure> {
    let started = Instant::now();
    let seed = args.run.seed.unwrap_or(0);
    let progress = Progress::new(terminal.shows_progress(), "parts");
    let watch = TimeLimit::new(&progress, terminal.left_of(args.run.max_time));
    let averages = averages(args, prepared, targets, &watch).map_err(|error| failure(&error))?;
    let program = compile_net(net)?;
    let unfired = enabled_but_unfired(&program, &averages, seed, &watch).map_err(|error| failure(&error))?;
    drop(progress);
    let nothing_asked = !question.tokens && !question.throughput && question.rewards.is_empty();
    let rewards: Vec<String> = question.rewards.iter().map(|reward| reward.name.clone()).collect();
    let has_fired = |t: u32| averages.iter().any(|run| run.fired.get(t as usize).is_some_and(|fired| *fired > 0));
    let is_possible = |(t, transition): &(u32, &Transition)| {
        matches!(transition.timing, Timing::Timed { .. }) || has_fired(*t) || unfired.contains(t)
    };
    let possible: Vec<u32> = (0..).zip(net.transitions()).filter(is_possible).map(|(t, _)| t).collect();
    let unfired: Vec<String> = unfired.iter().map(|&t| program.transition_names[t as usize].to_owned()).collect();
    let settings = SteadySettings {
        tokens: question.tokens || nothing_asked,
        throughputs: question.throughput || nothing_asked,
        rewards: &rewards,
        possible: &possible,
        unfired: &unfired,
        level: args.run.level,
        seed,
        wall: started.elapsed(),
        folded: prepared.folded_parts(),
        not_folded: prepared.not_folded(),
    };
    let names = NetNames::of(net);
    let subject = names.subject(net.name());
    let advice = exact_answer::advice(&method);
    let report = SteadyReport { method, ..steady_report(&averages, &subject, &settings) };
    terminal.report(&report, &args.print)?;
    advice.iter().for_each(|advice| terminal.tell(advice));
    if (averages.len() as u64) < args.steady_runs || averages.iter().any(|run| run.cut_short) {
        terminal.tell("stopped early; the means are computed from the completed parts");
    }
    tell_unmet_in(&averages, targets, args.run.level, terminal);
    Ok(if interrupted() { Exit::Interrupted } else { Exit::Success })
}

/// Runs the long runs, with targets until these are met; returns the averages of the original net.
fn averages(
    args: &SimulateArgs,
    prepared: &Prepared,
    targets: &[Wanted],
    watch: &dyn Watch,
) -> Result<Vec<BatchAverages>, SteadyError> {
    let long = LongRuns {
        rewards: &prepared.question.rewards,
        runs: args.steady_runs,
        firings: args.steady_firings.unwrap_or(FIRINGS),
        seed: args.run.seed.unwrap_or(0),
        threads: args.run.threads,
        watch,
    };
    let averages = if targets.is_empty() {
        long.run(&prepared.program)
    } else {
        let most = args.steady_firings.unwrap_or(MOST_LONG_FIRINGS);
        let targets: Vec<Target> = targets.iter().map(|wanted| wanted.target).collect();
        let first = LongRuns { firings: FIRINGS.min(most), ..long };
        first.run_until_known(&prepared.program, &prepared.targets(&targets), args.run.level, most)
    };
    averages.map(|averages| prepared.unfold_averages(averages))
}

fn failure(error: &SteadyError) -> Failure {
    let note = Note::problem(error.to_string());
    match error {
        SteadyError::Dead { .. } => {
            Failure::new(Exit::Refused, note.with_help("without --steady, the result is the time to the dead marking"))
        }
        SteadyError::Fault(_) => Failure::new(Exit::Model, note),
        SteadyError::Stopped if interrupted() => Failure::new(Exit::Interrupted, note),
        SteadyError::Stopped => {
            Failure::new(Exit::Refused, note.with_help("increase --max-time or reduce --steady-firings"))
        }
        _ => Failure::new(Exit::Refused, note),
    }
}
