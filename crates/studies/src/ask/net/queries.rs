//! Answers to queries and to the properties of a model, from a net to a result that can be printed.

use std::time::Instant;

use crate::answer::{AnswerError, with_phases};
use crate::ask::RunSettings;
use crate::ask::net::names::{NetSummary, Subject};
use crate::ask::net::query_rows::{QueryReport, QueryRow, value_or_note};
use crate::ask::net::solved::{PropertyRow, SolveReport, solve_report};
use crate::compile::{Program, compile};
use crate::net::Net;
use crate::query::{Property, Query};
use crate::solve::{
    Asking, CslQuery, FixedDelayStates, Limits, StateSpace, Until, expand_phases_except, explore, has_fixed_delays,
    is_fixed,
};
use crate::watch::{TimeLimit, Watch};

/// Answers CSL and CSRL queries about a net, as `tailspn net query` does. The limit of time includes all of the work.
///
/// # Errors
///
/// The net cannot be compiled or explored. If one query has no answer, its row states the reason.
pub fn answer_queries(
    net: &Net,
    queries: &[CslQuery],
    run: &RunSettings,
    watch: &dyn Watch,
) -> Result<QueryReport, AnswerError> {
    let limits = &run.limits();
    let time = TimeLimit::new(watch, run.max_time);
    let program = compile(net)?;
    let subject = NetSummary::new(&Subject::of(net.name(), &program));
    let is_fixed_delay = has_fixed_delays(&program);
    let net = if is_fixed_delay { expand_phases_except(net, is_fixed)?.net } else { with_phases(net)?.net };
    let program = compile(&net)?;
    time.counts("states");
    let states = if is_fixed_delay {
        States::FixedDelays(Box::new(FixedDelayStates::explore(&program, Until::default(), limits, &time)?))
    } else {
        States::All(Box::new(all_states(&program, limits, &time)?))
    };
    let answering = Answering { net: &net, program: &program, limits, time: &time };
    // answers that take no walk over time come first, then the shorter walks, so that a limit of time ends only long ones
    let mut order: Vec<usize> = (0..queries.len()).collect();
    order.sort_by(|&a, &b| walk_s(queries[a].query()).total_cmp(&walk_s(queries[b].query())));
    let mut rows: Vec<(usize, QueryRow)> =
        order.into_iter().map(|at| (at, answering.row(&states, &queries[at]))).collect();
    rows.sort_by_key(|&(at, _)| at);
    Ok(QueryReport::new(subject, states.count(), rows.into_iter().map(|(_, row)| row).collect()))
}

/// Answers properties of a model, as `tailspn net solve --property` does. The limit of time includes all of the work.
///
/// # Errors
///
/// The net cannot be compiled or explored. If one property has no answer, its row states the reason.
pub fn answer_properties(
    net: &Net,
    properties: &[&Property],
    run: &RunSettings,
    watch: &dyn Watch,
) -> Result<SolveReport, AnswerError> {
    let limits = &run.limits();
    let time = TimeLimit::new(watch, run.max_time);
    let program = compile(net)?;
    time.counts("states");
    let space = all_states(&program, limits, &time)?;
    let answering = Answering { net, program: &program, limits, time: &time };
    let properties = properties.iter().map(|property| answering.property(&space, property)).collect();
    let report = solve_report(&space, None, &program, &Subject::of(net.name(), &program))?;
    Ok(SolveReport { properties, ..report })
}

/// The model time over which a query needs the probabilities \[s\]; 0 if it needs only linear equations.
fn walk_s(query: &Query) -> f64 {
    match query {
        Query::Until { from, to, .. } => {
            if to.is_finite() {
                *to
            } else {
                *from
            }
        }
        Query::At { time, .. } | Query::Gathered { time, .. } => *time,
        Query::GatheredUntil { .. } | Query::LongRun { .. } => 0.0,
    }
}

/// Explores all states of a net.
fn all_states(program: &Program, limits: &Limits, watch: &dyn Watch) -> Result<StateSpace, AnswerError> {
    let space = explore(program, None, limits, watch)?;
    space.complete()?;
    Ok(space)
}

/// The states that answer queries.
enum States {
    /// States of a net with exponential delays and phases.
    All(Box<StateSpace>),
    /// States of a net with fixed delays.
    FixedDelays(Box<FixedDelayStates>),
}

impl States {
    fn count(&self) -> usize {
        match self {
            Self::All(space) => space.states(),
            Self::FixedDelays(states) => states.space.states(),
        }
    }
}

/// A net, and the limits of the work on its questions.
struct Answering<'a> {
    net: &'a Net,
    program: &'a Program,
    limits: &'a Limits,
    time: &'a TimeLimit<'a>,
}

impl Answering<'_> {
    fn row(&self, states: &States, query: &CslQuery) -> QueryRow {
        let started = Instant::now();
        let limits = self.remaining();
        let answer = match states {
            States::All(space) => {
                let asking = self.asking(space, &limits);
                let asked = query.query();
                let certain = |answer| Ok((answer, query.bound().is_none() || asking.is_certain(asked, answer)?));
                asking.answer(asked).and_then(certain).map_err(|error| error.to_string())
            }
            States::FixedDelays(states) => {
                self.time.counts("steps");
                let answer = states.answer(self.net, query.query(), &limits, self.time);
                answer.map(|answer| (answer, true)).map_err(|error| error.to_string())
            }
        };
        QueryRow::new(query, answer, started.elapsed().as_secs_f64())
    }

    fn property(&self, space: &StateSpace, property: &Property) -> PropertyRow {
        let started = Instant::now();
        let limits = self.remaining();
        let answer = match &property.query {
            Ok(query) => self.asking(space, &limits).answer(query).map_err(|error| error.to_string()),
            Err(reason) => Err(format!("is not supported: {reason}")),
        };
        let (value, note) = value_or_note(answer);
        PropertyRow { name: property.name.clone(), value, note, wall_s: started.elapsed().as_secs_f64() }
    }

    fn asking<'s>(&'s self, space: &'s StateSpace, limits: &'s Limits) -> Asking<'s> {
        self.time.counts("states");
        Asking { net: self.net, program: self.program, space, limits, watch: self.time }
    }

    fn remaining(&self) -> Limits {
        Limits { wall: self.time.left(), ..*self.limits }
    }
}
