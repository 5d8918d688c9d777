//! `simulate --steady`: means in the long run, from one long replication.

use std::time::Instant;

use tailspn::compile::Program;
use tailspn::report::{SteadySettings, Subject, json, steady_csv, steady_report, steady_text};
use tailspn::sim::{BatchLength, Question, SteadyError, SteadyState, Unwatched, run_steady};

use crate::cli::args::SimulateArgs;
use crate::cli::exit::Exit;
use crate::cli::notes::{Failure, Note};
use crate::cli::output::Terminal;
use crate::cli::watch::{Progress, catch_interrupt};

/// Equal parts of the run whose averages the statistics start from.
const PARTS: u32 = 2_000;
/// Share of the firings that show how much time they take.
const PILOT: u64 = 20;

/// Runs the net for long and reports the means.
pub(super) fn run(
    args: &SimulateArgs,
    program: &Program,
    name: &str,
    question: &Question,
    terminal: &Terminal,
) -> Result<Exit, Failure> {
    let started = Instant::now();
    let seed = args.run.seed.unwrap_or(0);
    let length = BatchLength::Seconds(part_length(program, args.steady_firings, seed)?);
    // the warm-up is found in the averages
    let settings = SteadyState { length, batches: PARTS, discarded: 0, rewards: question.rewards.clone(), seed };
    catch_interrupt(terminal);
    let progress = Progress::new(terminal.shows_progress(), "parts");
    let averages = run_steady(program, &settings, &progress).map_err(|error| failure(&error))?;
    drop(progress);
    let nothing_asked = !question.tokens && !question.throughput && question.rewards.is_empty();
    let rewards: Vec<String> = question.rewards.iter().map(|reward| reward.name.clone()).collect();
    let settings = SteadySettings {
        tokens: question.tokens || nothing_asked,
        throughputs: question.throughput || nothing_asked,
        rewards: &rewards,
        level: args.run.level,
        seed,
        wall: started.elapsed(),
    };
    let subject = Subject {
        net: name,
        places: &program.place_names,
        classes: &program.class_names,
        transitions: &program.transition_names,
        ..Subject::default()
    };
    let report = steady_report(&averages, &subject, &settings);
    let failed = |error: &dyn std::fmt::Display| Failure::plain(Exit::Internal, error.to_string());
    let text = if args.print.json {
        json("steady", &report).map_err(|error| failed(&error))?
    } else if args.print.csv {
        steady_csv(&report).map_err(|error| failed(&error))?
    } else {
        steady_text(&report, &terminal.look())
    };
    terminal.data(&text)?;
    if averages.cut_short {
        terminal.tell("stopped early: the means are those of the parts that were complete");
        return Ok(Exit::Interrupted);
    }
    Ok(Exit::Success)
}

/// Model time of a part \[s\] such that all of them have about so many firings. Parts of equal time, not of equal
/// firings: the mean of averages over equal times is the mean over time, over equal firings it is not.
fn part_length(program: &Program, firings: u64, seed: u64) -> Result<f64, Failure> {
    let pilot = (firings / PILOT).max(1);
    let settings =
        SteadyState { length: BatchLength::Firings(pilot), batches: 1, discarded: 0, rewards: Vec::new(), seed };
    let averages = run_steady(program, &settings, &Unwatched).map_err(|error| failure(&error))?;
    Ok(averages.seconds.iter().sum::<f64>() / pilot as f64 * firings as f64 / f64::from(PARTS))
}

fn failure(error: &SteadyError) -> Failure {
    let note = Note::problem(error.to_string());
    match error {
        SteadyError::Dead { .. } => {
            Failure::new(Exit::Refused, note.with_help("without --steady, the time to the dead marking is shown"))
        }
        SteadyError::Fault(_) => Failure::new(Exit::Model, note),
        _ => Failure::new(Exit::Refused, note),
    }
}
