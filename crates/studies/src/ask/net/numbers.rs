//! The numbers of a net's Markov chain: steady state, and values at given times.

use serde::{Deserialize, Serialize};

use crate::ask::net::json::Word;
use crate::compile::Program;
use crate::solve::{Averages, LinearOutcome, StateSpace, Steady, Transient};

/// Maximum number of states that are listed one by one.
const MOST_STATES: usize = 200;

/// A number with the name of its node or reward.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct NumberRow {
    /// The node or reward of the number.
    pub name: String,
    /// Unit of the number.
    pub unit: Word,
    /// The number.
    pub value: f64,
}

/// Probability of each number of tokens in a place.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DistributionRow {
    /// The place.
    pub name: String,
    /// Probability of 0, 1, ... tokens; empty for very large bounds.
    pub probabilities: Vec<f64>,
}

/// One tangible state.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StateRow {
    /// Number of the state.
    pub state: usize,
    /// Marked places with their tokens.
    pub marking: Vec<(String, u32)>,
    /// Probability of the state.
    pub probability: f64,
    /// Mean sojourn time \[s\]; none if the state is never left.
    pub sojourn_s: Option<f64>,
}

/// Averages of places and transitions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AverageSection {
    /// Mean tokens per place and class.
    pub tokens: Vec<NumberRow>,
    /// Per place, the probability of each number of tokens.
    pub distributions: Vec<DistributionRow>,
    /// Firings per second of each transition.
    pub throughputs: Vec<NumberRow>,
    /// Means of the requested expressions.
    pub measures: Vec<NumberRow>,
}

/// The long run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SteadySection {
    /// Solution method.
    pub method: Word,
    /// Share of the flow between states that does not balance.
    pub residual: f64,
    /// Relative error of the probabilities, if the method reports it.
    pub error: f64,
    /// Probability of each recurrent class.
    pub class_probabilities: Vec<f64>,
    /// Averages.
    #[serde(flatten)]
    pub averages: AverageSection,
    /// The states one by one, up to 200.
    pub states: Vec<StateRow>,
}

/// The probability of reaching a goal between two times.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WithinSection {
    /// The goal as text, with the markings to avoid.
    pub goal: String,
    /// First time at which the goal counts \[s\].
    pub from_s: f64,
    /// Last time at which the goal counts \[s\]; none if there is no such limit.
    pub to_s: Option<f64>,
    /// The probability.
    pub probability: f64,
    /// Bound of the error of the probability; only for fixed delays with a last time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<f64>,
}

/// The mean reward of a run up to its end.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RewardRow {
    /// The reward.
    pub name: String,
    /// Mean of the reward; none if it is infinite because a run may never end.
    pub value: Option<f64>,
}

/// A given time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TimeSection {
    /// The time \[s\].
    pub time_s: f64,
    /// Bound of the error of each probability.
    pub error: f64,
    /// Averages at that time.
    #[serde(flatten)]
    pub averages: AverageSection,
}

/// Averages with their names; `measures` are means of requested expressions.
pub(super) fn average_section(program: &Program, averages: &Averages, measures: Vec<NumberRow>) -> AverageSection {
    let classes = program.classes();
    let counter = |i: usize| match classes {
        1 => program.place_names[i].to_owned(),
        _ => format!("{} {}", &program.place_names[i / classes], program.class_names[i % classes]),
    };
    let number = |name: String, unit: Word, value| NumberRow { name, unit, value };
    let tokens = averages.tokens.iter().enumerate().map(|(i, &value)| number(counter(i), "tokens".into(), value));
    let throughputs = program.transition_names.iter().zip(&averages.throughputs);
    let distributions = program.place_names.iter().zip(&averages.distributions);
    AverageSection {
        tokens: tokens.collect(),
        distributions: distributions
            .map(|(name, probabilities)| DistributionRow {
                name: name.to_owned(),
                probabilities: probabilities.clone(),
            })
            .collect(),
        throughputs: throughputs.map(|(name, &value)| number(name.to_owned(), "1/s".into(), value)).collect(),
        measures,
    }
}

/// Returns the section on the long run.
pub(super) fn steady_section(
    space: &StateSpace,
    program: &Program,
    steady: &Steady,
    averages: AverageSection,
) -> SteadySection {
    let outcomes = steady.classes.iter().map(|class| class.outcome).chain([steady.absorption]);
    let worst = outcomes.reduce(|a, b| LinearOutcome {
        method: a.method.max(b.method),
        sweeps: a.sweeps.max(b.sweeps),
        residual: a.residual.max(b.residual),
        error: a.error.max(b.error),
    });
    let states = if space.states() <= MOST_STATES { states(space, program, &steady.probabilities) } else { Vec::new() };
    SteadySection {
        method: worst.map_or("substitution", |outcome| outcome.method.name()).into(),
        residual: steady.residual,
        error: worst.map_or(0.0, |outcome| outcome.error),
        class_probabilities: steady.classes.iter().map(|class| class.probability).collect(),
        averages,
        states,
    }
}

fn states(space: &StateSpace, program: &Program, probabilities: &[f64]) -> Vec<StateRow> {
    let rows = probabilities.iter().zip(space.sojourns()).enumerate();
    rows.map(|(state, (&probability, sojourn))| StateRow {
        state,
        marking: marked(space, program, state as u32),
        probability,
        sojourn_s: sojourn.is_finite().then_some(sojourn),
    })
    .collect()
}

/// Returns the section on a given time.
pub(super) fn time_section(transient: &Transient, at: usize, averages: AverageSection) -> TimeSection {
    TimeSection { time_s: transient.times[at], error: transient.error, averages }
}

/// Returns the counters of a state that hold tokens, as names and tokens.
pub(super) fn marked(space: &StateSpace, program: &Program, state: u32) -> Vec<(String, u32)> {
    let mut marking = vec![0; program.counters()];
    space.marking(state as usize, &mut marking);
    marked_places(program, &marking)
}

/// Returns the counters of a marking that hold tokens, as names and tokens.
pub(super) fn marked_places(program: &Program, marking: &[u32]) -> Vec<(String, u32)> {
    let classes = program.classes();
    let name = |counter: usize| match classes {
        1 => program.place_names[counter].to_owned(),
        _ => format!("{} {}", &program.place_names[counter / classes], program.class_names[counter % classes]),
    };
    let marked = marking.iter().enumerate().filter(|(_, tokens)| **tokens > 0);
    marked.map(|(counter, &tokens)| (name(counter), tokens)).collect()
}
