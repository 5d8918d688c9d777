//! Answers questions of model checkers (CSL and CSRL).

use crate::compile::{Code, Program, lower};
use crate::fold::Symmetry;
use crate::net::Net;
use crate::net::expr::{Expr, UnaryOp};
use crate::query::{Query, Reward};
use crate::solve::ask_error::AskError;
use crate::solve::firings::FiringFlow;
use crate::solve::linear::LinearSettings;
use crate::solve::reach::Limits;
use crate::solve::reward::{expected, rewards_at};
use crate::solve::space::StateSpace;
use crate::solve::steady::steady_state;
use crate::solve::transient::{TransientSettings, transient};
use crate::solve::until::Until;
use crate::watch::Watch;

/// A net and its states, ready for questions.
#[derive(Clone, Copy)]
pub struct Asking<'a> {
    /// The net.
    pub net: &'a Net,
    /// The net, compiled.
    pub program: &'a Program,
    /// All its states, without a goal.
    pub space: &'a StateSpace,
    /// Limits of further explorations.
    pub limits: &'a Limits,
    /// Watches further work, and may stop it.
    pub watch: &'a dyn Watch,
}

impl std::fmt::Debug for Asking<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Asking").field("states", &self.space.states()).finish_non_exhaustive()
    }
}

impl Asking<'_> {
    /// Returns the answer to a question. The answer is as exact as the methods behind it (docs/solve.md). A reward up
    /// to a goal is infinite if the probability of reaching the goal is below 1.
    ///
    /// # Errors
    ///
    /// All variants of [`AskError`].
    pub fn answer(&self, query: &Query) -> Result<f64, AskError> {
        match query {
            Query::Until { stay, goal, from, to } => self.until(stay, goal, [*from, *to]),
            Query::At { value, time } => {
                let values = self.space.values(&self.code(value), "the value")?;
                let found =
                    rewards_at(self.space.complete()?, &[values], &[*time], &TransientSettings::watched(self.watch))?;
                Ok(found.now[0][0])
            }
            Query::Gathered { reward, time } => {
                let found = transient(self.space.complete()?, &[*time], &TransientSettings::watched(self.watch))?;
                self.gathered(&found.stays[0], reward, true)
            }
            Query::GatheredUntil { reward, goal } => {
                let goal = self.code(goal);
                let until = Until { goal: Some(&goal), avoid: None };
                let states = until.explore(self.program, &Symmetry::default(), self.limits, self.watch)?;
                if states.probability(f64::INFINITY, self.watch)? < 1.0 {
                    return Ok(f64::INFINITY);
                }
                let impulses = reward.impulses.iter().map(|(t, value)| (t.index() as u32, self.code(value)));
                let impulses: Vec<(u32, Code)> = impulses.collect();
                states.gathered(Some(&self.code(&reward.rate)), &impulses, f64::INFINITY, self.watch)
            }
            Query::LongRun { reward } => {
                let found = steady_state(self.space.complete()?, &LinearSettings::watched(self.watch))?;
                self.gathered(&found.probabilities, reward, false)
            }
        }
    }

    fn until(&self, stay: &Expr, goal: &Expr, times: [f64; 2]) -> Result<f64, AskError> {
        let (goal, avoid) = (self.code(goal), avoided(self.net, stay));
        let until = Until { goal: Some(&goal), avoid: avoid.as_ref() };
        until.probability(self.program, self.space, times, (&Symmetry::default(), self.limits), self.watch)
    }

    /// Returns true if an answer that is rounded to 0 or 1 is certain. The probability of reaching a goal by a time is a sum without
    /// its last terms, so it can be rounded to 0 although the goal can be reached, and to 1 although it may not be.
    ///
    /// # Errors
    ///
    /// As [`Asking::answer`].
    pub fn is_certain(&self, query: &Query, answer: f64) -> Result<bool, AskError> {
        match query {
            Query::Until { to, .. } if to.is_infinite() => Ok(true),
            Query::Until { stay, goal, .. } if answer <= f64::EPSILON => {
                Ok(self.until(stay, goal, [0.0, f64::INFINITY])? <= 0.0)
            }
            Query::Until { stay, goal, from, .. } if answer >= 1.0 - f64::EPSILON => {
                Ok(*from <= 0.0 && self.until(stay, goal, [0.0, 0.0])? >= 1.0)
            }
            _ => Ok(true),
        }
    }

    fn code(&self, expression: &Expr) -> Code {
        lower(self.net, expression)
    }

    /// Returns the reward if `weights` are the times spent in the states, or their probabilities. `from_start` adds the firings
    /// before time first passes.
    fn gathered(&self, weights: &[f64], reward: &Reward, from_start: bool) -> Result<f64, AskError> {
        let (program, space) = (self.program, self.space);
        let mut sum = expected(weights, &space.values(&self.code(&reward.rate), "the reward")?);
        if reward.impulses.is_empty() {
            return Ok(sum);
        }
        let mut codes: Vec<Vec<Code>> = vec![Vec::new(); program.transitions()];
        for (transition, value) in &reward.impulses {
            codes[transition.index()].push(self.code(value));
        }
        let mut visit = |firing: FiringFlow<'_>| {
            let values = codes[firing.transition as usize].iter().map(|code| code.eval(firing.marking));
            sum += firing.flow * values.sum::<f64>();
        };
        if from_start {
            space.for_each_firing_at_start(program, &mut visit)?;
        }
        space.for_each_firing(program, weights, &mut visit)?;
        Ok(sum)
    }
}

/// Returns an expression that is nonzero in the markings in which a condition does not hold; none if the condition
/// always holds.
pub(crate) fn avoided(net: &Net, stay: &Expr) -> Option<Code> {
    let always = matches!(stay, Expr::Number(value) if *value != 0.0);
    (!always).then(|| lower(net, &Expr::Unary(UnaryOp::Not, Box::new(stay.clone()))))
}
