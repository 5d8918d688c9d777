//! The choice of an exact method: all states, the states of a net with fixed delays, or the parts of a schedule.

use crate::answer::limits::SCHEDULE_STATES;
use crate::answer::value::{AnswerError, grouped, with_phases};
use crate::compile::{Program, compile, plan_schedule};
use crate::net::Net;
use crate::solve::{
    CompletionTime, GridSettings, Incomplete, Limits, completion_time, explore, has_fixed_delays, is_series_parallel,
};
use crate::watch::Watch;

/// The requested route.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RouteMethod {
    /// The parts, if the net is a schedule with too many states; otherwise all states.
    #[default]
    Auto,
    /// All states.
    States,
    /// The parts of a schedule.
    SeriesParallel,
}

/// The way in which an answer is computed.
#[derive(Debug)]
pub enum Route {
    /// From all states.
    States {
        /// Explains why the parts of a schedule are not used; none if that was not checked.
        no_parts: Option<String>,
    },
    /// From the states of a net with fixed delays.
    FixedDelays,
    /// From the parts of a schedule.
    Parts {
        /// The time to the dead marking.
        time: Box<CompletionTime>,
        /// Explains why the answer does not use all states; none if the parts were requested.
        no_states: Option<String>,
    },
}

/// Settings that choose the route; the choice depends only on the net and on these settings.
#[derive(Clone, Debug, Default)]
pub struct SolveRoute {
    /// The requested route.
    pub method: RouteMethod,
    /// The request that goes beyond the time to the dead marking, and so needs states; none if the question has no such request.
    pub needs_states: Option<&'static str>,
    /// True if the Markov chain of the net itself is needed.
    pub needs_chain: bool,
    /// Limits of the state space.
    pub limits: Limits,
    /// Grid of the times of a schedule.
    pub grid: GridSettings,
}

impl SolveRoute {
    /// Chooses the route; if it uses the parts, their solution is computed here.
    ///
    /// # Errors
    ///
    /// The parts were requested but cannot be solved, or the states cannot be explored.
    pub fn choose(&self, net: &Net, program: &Program, watch: &dyn Watch) -> Result<Route, AnswerError> {
        let needs_states = self.needs_states.or(self.needs_chain.then_some("the Markov chain"));
        if self.method == RouteMethod::SeriesParallel {
            if let Some(what) = needs_states {
                return Err(AnswerError::NeedsStates { what });
            }
            let time = Box::new(completion_time(program, &self.grid)?);
            return Ok(Route::Parts { time, no_states: None });
        }
        let is_completion = needs_states.is_none() && plan_schedule(program).is_ok();
        if !self.needs_chain && !is_completion && has_fixed_delays(program) {
            return Ok(Route::FixedDelays);
        }
        if self.method == RouteMethod::States || needs_states.is_some() {
            return Ok(Route::States { no_parts: None });
        }
        if let Err(error) = is_series_parallel(program) {
            return Ok(Route::States { no_parts: Some(error.to_string()) });
        }
        let Some(many) = too_many(net, self.limits, watch)? else { return Ok(Route::States { no_parts: None }) };
        Ok(match completion_time(program, &self.grid) {
            Ok(time) => Route::Parts { time: Box::new(time), no_states: Some(many) },
            Err(error) => Route::States { no_parts: Some(error.to_string()) },
        })
    }
}

/// Returns the reason why the states of a schedule are not used; none if it has few states.
fn too_many(net: &Net, limits: Limits, watch: &dyn Watch) -> Result<Option<String>, AnswerError> {
    let net = match with_phases(net) {
        Ok(expanded) => expanded.net,
        Err(obstacles) => return Ok(obstacles.first().map(ToString::to_string)),
    };
    let program = compile(&net)?;
    let states = limits.states.min(SCHEDULE_STATES);
    let space = explore(&program, None, &Limits { states, ..limits }, watch)?;
    Ok(match space.stopped() {
        // after an interruption, the caller receives the states that were found so far
        None | Some(Incomplete::Interrupted) => None,
        Some(Incomplete::States { .. }) => Some(format!("more than {} states", grouped(states))),
        Some(other) => Some(other.to_string()),
    })
}
