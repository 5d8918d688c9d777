//! `simulate --steady`: means in the long run, from several long replications.

use std::time::Instant;

use tailspn::compile::Program;
use tailspn::report::{
    AnswerMethod, SteadyReport, SteadySettings, Subject, json, steady_csv, steady_report, steady_text,
};
use tailspn::sim::{LONG_RUNS, Question, SteadyError, long_runs};

use crate::cli::args::{PrintArgs, SimulateArgs};
use crate::cli::exact_answer;
use crate::cli::exit::Exit;
use crate::cli::notes::{Failure, Note};
use crate::cli::output::Terminal;
use crate::cli::watch::{Progress, catch_interrupt};

/// Runs the net for long and reports the means.
pub(super) fn run(
    args: &SimulateArgs,
    program: &Program,
    name: &str,
    question: &Question,
    method: AnswerMethod,
    terminal: &Terminal,
) -> Result<Exit, Failure> {
    let started = Instant::now();
    let seed = args.run.seed.unwrap_or(0);
    catch_interrupt(terminal);
    let progress = Progress::new(terminal.shows_progress(), "parts");
    let averages = long_runs(program, &question.rewards, args.steady_firings, seed, args.run.threads, &progress)
        .map_err(|error| failure(&error))?;
    drop(progress);
    let nothing_asked = !question.tokens && !question.throughput && question.rewards.is_empty();
    let rewards: Vec<String> = question.rewards.iter().map(|reward| reward.name.clone()).collect();
    let settings = SteadySettings {
        tokens: question.tokens || nothing_asked,
        throughputs: question.throughput || nothing_asked,
        rewards: &rewards,
        timed: &program.timed,
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
    let advice = exact_answer::advice(&method);
    let report = steady_report(&averages, &subject, &settings).by(method);
    terminal.data(&text_of(&report, &args.print, terminal)?)?;
    tell_rare(&report, terminal);
    advice.iter().for_each(|advice| terminal.tell(advice));
    if averages.len() < LONG_RUNS as usize || averages.iter().any(|run| run.cut_short) {
        terminal.tell("stopped early: the means are those of the parts that were complete");
        return Ok(Exit::Interrupted);
    }
    Ok(Exit::Success)
}

/// The report as it was asked for.
pub(super) fn text_of(report: &SteadyReport, print: &PrintArgs, terminal: &Terminal) -> Result<String, Failure> {
    let failed = |error: &dyn std::fmt::Display| Failure::plain(Exit::Internal, error.to_string());
    if print.json {
        json("steady", report).map_err(|error| failed(&error))
    } else if print.csv {
        steady_csv(report).map_err(|error| failed(&error))
    } else {
        Ok(steady_text(report, &terminal.look()))
    }
}

/// How many rare transitions are named.
const MOST_RARE: usize = 10;

/// Names transitions of which too little was seen.
fn tell_rare(report: &SteadyReport, terminal: &Terminal) {
    let rare = &report.rare_transitions;
    for row in rare.iter().take(MOST_RARE) {
        let times = if row.firings == 1 { "1 time".to_owned() } else { format!("{} times", row.firings) };
        terminal.tell(&format!(
            "note: transition `{}` fired {times}: the run may be too short to show the long run",
            row.name
        ));
    }
    if rare.len() > MOST_RARE {
        terminal.tell(&format!("note: as few firings have {} more transitions", rare.len() - MOST_RARE));
    }
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
