//! The screen of a solution without a goal: averages in the long run or at times, and what the states of a net show.

use crate::ask::net::{MarkingBound, SolveReport};
use crate::document::{NextCommand, Screen, Table};
use crate::report::number::{count, counted, plain};

/// Returns a solution on one screen, with its tables, a verdict on the states, and remarks; none for a time to a goal, which has a curve,
/// and for a solution that lacks states.
pub(super) fn screen(found: &SolveReport, tables: Vec<Table>, verdict: &str, remarks: &[String]) -> Option<Screen> {
    let space = found.state_space.as_ref().filter(|_| found.passage.is_none() && found.within.is_none())?;
    if found.partial || !found.rewards.is_empty() || !found.properties.is_empty() {
        return None;
    }
    let folded = found
        .folded
        .as_ref()
        .map_or_else(String::new, |folded| format!(", folded to {}", count(folded.states as u128)));
    let states = counted(space.tangible as u128, "state");
    let times: Vec<String> = found.at.iter().map(|section| format!("{} s", plain(section.time_s))).collect();
    let what = match (&found.steady, &times[..]) {
        (Some(_), []) => "Exact long-run values, from ".to_owned(),
        (None, []) => String::new(),
        (Some(_), times) => format!("Exact values in the long run and at {}, from ", times.join(", ")),
        (None, times) => format!("Exact values at {}, from ", times.join(", ")),
    };
    let most = found.bounds.iter().map(|bound| bound.bound).max();
    let most = most.map_or_else(String::new, |most| format!("; at most {} in a place", counted(most, "token")));
    let goal = found.bounds.iter().find(|bound| is_emptied(found, bound));
    let goal = goal.map(|bound| {
        NextCommand::new(
            format!("tailspn net solve FILE --until '#({}) == 0'", bound.name),
            "the time until the place is empty",
        )
    });
    Some(Screen {
        answer: format!("{what}{states}{folded}; {verdict}{most}."),
        tables,
        unknown: remarks.to_vec(),
        next: goal
            .into_iter()
            .chain([NextCommand::new("tailspn net solve FILE --verbose", "bounds, liveness and every state")])
            .collect(),
        ..Screen::default()
    })
}

/// Returns true for a place that has tokens at the start, and none some time later.
fn is_emptied(found: &SolveReport, bound: &MarkingBound) -> bool {
    let steady = found.steady.as_ref().filter(|_| bound.bound > 0 && bound.path.as_ref().is_some_and(Vec::is_empty));
    let place = steady.and_then(|steady| steady.averages.distributions.iter().find(|row| row.name == bound.name));
    place.is_some_and(|row| row.probabilities.first().is_some_and(|none| *none > 0.0))
}
