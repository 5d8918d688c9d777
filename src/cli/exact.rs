//! What the exact answers of `solve`, `simulate` and `estimate` share: phases, states, refusals.

use std::fmt::Display;

use tailspn::compile::{Code, Program};
use tailspn::net::{Delay, Net, Timing};
use tailspn::report::{Hidden, count, counted};
use tailspn::solve::{ExploreError, Incomplete, Limits, PhaseError, StateSpace, expand_phases, explore};

use crate::cli::exit::Exit;
use crate::cli::load::compile_net;
use crate::cli::notes::{Failure, Note};
use crate::cli::output::Terminal;
use crate::cli::watch::Progress;

/// The net with its Erlang and hyperexponential delays as phases, and what that adds.
pub(super) fn with_phases(net: &Net) -> Result<(Net, Hidden), PhaseError> {
    let is_general = |timing: &Timing| matches!(timing, Timing::Timed { delay: Delay::General(_), .. });
    if !net.transitions().iter().any(|transition| is_general(&transition.timing)) {
        return Ok((net.clone(), Hidden::default()));
    }
    let expanded = expand_phases(net)?;
    let places = expanded.hidden_places.iter().map(|&id| expanded.net.place(id).id.clone()).collect();
    let transitions = expanded.hidden_transitions.iter().map(|&id| expanded.net.transition(id).id.clone()).collect();
    Ok((expanded.net, Hidden { places, transitions }))
}

/// As [`with_phases`], for the person who asked.
pub(super) fn phases(net: &Net) -> Result<(Net, Hidden), Failure> {
    with_phases(net).map_err(|obstacles| Failure {
        exit: Exit::Refused,
        notes: obstacles.iter().map(|obstacle| Note::problem(obstacle.to_string())).collect(),
    })
}

/// States up to which a schedule is solved by states, not by its parts.
const FEW: u64 = 10_000;

/// Why the states of a schedule are not taken; none where they are few.
pub(super) fn too_many(net: &Net, limits: Limits, terminal: &Terminal) -> Result<Option<String>, Failure> {
    let net = match with_phases(net) {
        Ok((net, _)) => net,
        Err(obstacles) => return Ok(obstacles.first().map(ToString::to_string)),
    };
    let program = compile_net(&net)?;
    let most = limits.states.min(FEW);
    let space = find_states(&program, None, &Limits { states: most, ..limits }, terminal);
    Ok(match space.map_err(|error| failure(&error))?.stopped() {
        // whoever interrupts sees the states that were found
        None | Some(Incomplete::Interrupted) => None,
        Some(Incomplete::States { .. }) => Some(format!("more than {} of them", count(most.into()))),
        Some(other) => Some(other.to_string()),
    })
}

/// Explores the markings of a net, with progress.
pub(super) fn find_states(
    program: &Program,
    goal: Option<&Code>,
    limits: &Limits,
    terminal: &Terminal,
) -> Result<StateSpace, ExploreError> {
    let progress = Progress::new(terminal.shows_progress(), "states");
    explore(program, goal, limits, &progress)
}

/// The question has no answer of this kind.
pub(super) fn refused(error: &dyn Display) -> Failure {
    Failure::plain(Exit::Refused, error.to_string())
}

/// Why there is no state space, for the person who asked.
pub(super) fn failure(error: &ExploreError) -> Failure {
    let exit = match error {
        ExploreError::Fault(_) | ExploreError::VanishingTrap { .. } => Exit::Model,
        _ => Exit::Refused,
    };
    Failure::plain(exit, error.to_string())
}

/// The long run was asked for, but nothing goes on for ever.
pub(super) fn dead_run(space: &StateSpace, program: &Program) -> Failure {
    let dead = space.dead().len() as u64;
    let message = format!("the net can stop for good, in {}: it has no steady state", counted(dead, "dead marking"));
    let held = space.zero_rates(program).unwrap_or_default().held;
    let names: Vec<String> = held.iter().map(|&t| format!("`{}`", program.transition_names[t as usize])).collect();
    let help = if names.is_empty() {
        "without --steady, the time to the dead marking is shown where every run ends there, else the long-run averages"
            .to_owned()
    } else {
        format!("rates are 0 where the net stops, of {}: with a rate above 0 it goes on", names.join(", "))
    };
    Failure::new(Exit::Refused, Note::problem(message).with_help(help))
}
