//! `solve`: all markings of a net, and what follows from them.

use tailspn::compile::{Code, Program};
use tailspn::report::{SolveReport, Subject, json, solve_report, solve_text};
use tailspn::solve::{ExploreError, Limits, StateSpace, Unbounded, explore};

use crate::cli::args::SolveArgs;
use crate::cli::exit::Exit;
use crate::cli::load::{compile_net, read_net};
use crate::cli::notes::{Failure, Note};
use crate::cli::output::Terminal;
use crate::cli::watch::{Progress, catch_interrupt, interrupted};

/// Solves the net.
pub(crate) fn run(args: &SolveArgs, terminal: &Terminal) -> Result<Exit, Failure> {
    let loaded = read_net(&args.net)?;
    terminal.brief_warnings(&loaded.warnings);
    let program = compile_net(&loaded.net)?;
    let subject = Subject {
        net: loaded.net.name(),
        places: &program.place_names,
        classes: &program.class_names,
        transitions: &program.transition_names,
        ..Subject::default()
    };
    catch_interrupt(terminal);
    let space = match find_states(&program, None, args, terminal) {
        Ok(space) => space,
        Err(ExploreError::Unbounded(unbounded)) => {
            return unbounded_net(&program, &subject, &unbounded, args, terminal);
        }
        Err(error) => return Err(failure(&error)),
    };
    let verdicts = space.verdicts(&program).map_err(|error| failure(&error))?;
    let report = solve_report(&space, verdicts.as_ref(), &program, &subject).map_err(|error| failure(&error))?;
    terminal.data(&text_of(&report, args, terminal)?)?;
    match space.stopped() {
        Some(_) if interrupted() => Ok(Exit::Interrupted),
        Some(incomplete) => Err(Failure::new(
            Exit::Refused,
            Note::problem(incomplete.to_string())
                .with_help("--max-states, --max-memory and --max-time set the limits; `tailspn simulate` needs no states"),
        )),
        None => Ok(Exit::Success),
    }
}

fn find_states(
    program: &Program,
    goal: Option<&Code>,
    args: &SolveArgs,
    terminal: &Terminal,
) -> Result<StateSpace, ExploreError> {
    let default = Limits::default();
    let limits = Limits {
        states: args.max_states.unwrap_or(default.states),
        bytes: args.max_memory.unwrap_or(default.bytes),
        wall: args.max_time,
    };
    let progress = Progress::new(terminal.shows_progress(), "states");
    explore(program, goal, &limits, &progress)
}

/// Tells why there are infinitely many markings.
fn unbounded_net(
    program: &Program,
    subject: &Subject<'_>,
    unbounded: &Unbounded,
    args: &SolveArgs,
    terminal: &Terminal,
) -> Result<Exit, Failure> {
    let report = SolveReport::of_unbounded(program, subject, unbounded);
    terminal.data(&text_of(&report, args, terminal)?)?;
    Err(Failure::plain(Exit::Refused, unbounded.to_string()))
}

/// Why there is no state space, for the person who asked.
fn failure(error: &ExploreError) -> Failure {
    let exit = match error {
        ExploreError::Fault(_) | ExploreError::VanishingTrap { .. } => Exit::Model,
        _ => Exit::Refused,
    };
    Failure::plain(exit, error.to_string())
}

/// The report as it was asked for.
fn text_of(report: &SolveReport, args: &SolveArgs, terminal: &Terminal) -> Result<String, Failure> {
    if args.json {
        json("solution", report).map_err(|error| Failure::plain(Exit::Internal, error.to_string()))
    } else {
        Ok(solve_text(report, &terminal.look()))
    }
}
