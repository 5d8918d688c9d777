//! Answers questions of model checkers (CSL and CSRL).

use crate::compile::{Code, Csr, Program, lower};
use crate::net::Net;
use crate::net::expr::{BinaryOp, Expr, UnaryOp};
use crate::query::{Query, Reward};
use crate::semantics::Fault;
use crate::solve::absorb::{AbsorbError, absorption};
use crate::solve::chain::Chain;
use crate::solve::explore_error::{ExploreError, Incomplete};
use crate::solve::linear::LinearSettings;
use crate::solve::passage::{PassageSettings, passage};
use crate::solve::passage_error::PassageError;
use crate::solve::reach::{Limits, explore};
use crate::solve::reward::{expected, rewards_at};
use crate::solve::space::StateSpace;
use crate::solve::steady::{SteadyError, steady_state};
use crate::solve::transient::{TransientError, TransientSettings, transient};
use crate::watch::Watch;

/// Reason why a question has no answer.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AskError {
    /// The states could not be explored.
    #[error(transparent)]
    Explore(#[from] ExploreError),
    /// States are missing: a limit was reached.
    #[error(transparent)]
    Incomplete(#[from] Incomplete),
    /// An invalid value in a state.
    #[error(transparent)]
    Fault(#[from] Fault),
    /// Probabilities at a time could not be computed.
    #[error(transparent)]
    Transient(#[from] TransientError),
    /// The long run could not be solved.
    #[error(transparent)]
    Steady(#[from] SteadyError),
    /// The times before a goal could not be computed.
    #[error(transparent)]
    Absorb(#[from] AbsorbError),
    /// The time to a goal could not be computed.
    #[error(transparent)]
    Passage(#[from] PassageError),
    /// A time interval that starts after 0, in a net with immediate transitions: the condition is not evaluated in vanishing
    /// markings.
    #[error("a probability over an interval that starts after 0 needs a net without immediate transitions")]
    ZeroTime,
}

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
    /// Returns the answer to a question. It is as exact as the methods that it uses (docs/solve.md). A reward up to a goal that
    /// may never be reached is infinite.
    ///
    /// # Errors
    ///
    /// All variants of [`AskError`].
    pub fn answer(&self, query: &Query) -> Result<f64, AskError> {
        match query {
            Query::Until { stay, goal, from, to } if *from > 0.0 || self.space.vanishing().0 == 0 => {
                self.within(stay, goal, *from, *to)
            }
            Query::Until { stay, goal, to, .. } => {
                let stop = not(stay.clone());
                let (_, space) = self.until(&Expr::Binary(BinaryOp::Or, Box::new(goal.clone()), Box::new(stop)))?;
                let reached = space.values(&self.code(goal), "the goal")?;
                let ends: Vec<u32> = space.goals().iter().copied().filter(|&s| reached[s as usize] != 0.0).collect();
                arrival(space.complete()?, &space.marked(&ends), *to, self.watch)
            }
            Query::At { value, time } => {
                let values = self.space.values(&self.code(value), "the value")?;
                let found =
                    rewards_at(self.space.complete()?, &[values], &[*time], &TransientSettings::watched(self.watch))?;
                Ok(found.now[0][0])
            }
            Query::Gathered { reward, time } => {
                let found = transient(self.space.complete()?, &[*time], &TransientSettings::watched(self.watch))?;
                self.gathered(self.program, self.space, &found.stays[0], reward)
            }
            Query::GatheredUntil { reward, goal } => {
                let (program, space) = self.until(goal)?;
                let found =
                    absorption(space.complete()?, &space.marked(space.goals()), &LinearSettings::watched(self.watch))?;
                if found.probability < 1.0 {
                    return Ok(f64::INFINITY);
                }
                self.gathered(&program, &space, &found.times, reward)
            }
            Query::LongRun { reward } => {
                let found = steady_state(self.space.complete()?, &LinearSettings::watched(self.watch))?;
                self.gathered(self.program, self.space, &found.probabilities, reward)
            }
        }
    }

    fn code(&self, expression: &Expr) -> Code {
        lower(self.net, expression)
    }

    /// Explores the states up to a goal, an expression that is not 0; also returns the program that observes the goal.
    fn until(&self, goal: &Expr) -> Result<(Program, StateSpace), AskError> {
        let goal = self.code(goal);
        let program = self.program.clone().observing(&goal);
        let space = explore(&program, Some(&goal), self.limits, self.watch)?;
        Ok((program, space))
    }

    /// Returns the reward if `weights` are the times spent in the states, or their probabilities.
    fn gathered(
        &self,
        program: &Program,
        space: &StateSpace,
        weights: &[f64],
        reward: &Reward,
    ) -> Result<f64, AskError> {
        let mut sum = expected(weights, &space.values(&self.code(&reward.rate), "the reward")?);
        if reward.impulses.is_empty() {
            return Ok(sum);
        }
        let mut codes: Vec<Vec<Code>> = vec![Vec::new(); program.transitions()];
        for (transition, value) in &reward.impulses {
            codes[transition.index()].push(self.code(value));
        }
        space.for_each_firing(program, weights, &mut |firing| {
            let values = codes[firing.transition as usize].iter().map(|code| code.eval(firing.marking));
            sum += firing.flow * values.sum::<f64>();
        })?;
        Ok(sum)
    }

    /// Returns the probability of reaching the goal between two times, on the states that were already explored. One chain
    /// applies up to the first time if this time is above 0, another chain after it.
    fn within(&self, stay: &Expr, goal: &Expr, from: f64, to: f64) -> Result<f64, AskError> {
        if self.space.vanishing().0 > 0 {
            return Err(AskError::ZeroTime);
        }
        let chain = self.space.complete()?;
        let stays = self.space.values(&self.code(stay), "the condition")?;
        let goals = self.space.values(&self.code(goal), "the goal")?;
        let targets: Vec<bool> = goals.iter().map(|goal| *goal != 0.0).collect();
        let is_last = |state: usize| stays[state] == 0.0 || targets[state];
        if from <= 0.0 {
            return arrival(&stopped(chain, is_last), &targets, to, self.watch);
        }
        let before = stopped(chain, |state| stays[state] == 0.0);
        let found = transient(&before, &[from], &TransientSettings::watched(self.watch))?;
        let mass = |state: usize| if stays[state] == 0.0 { 0.0 } else { found.probabilities[0][state] };
        let total: f64 = (0..chain.states()).map(mass).sum();
        if total <= 0.0 {
            return Ok(0.0);
        }
        let initial =
            (0..chain.states()).filter(|&state| mass(state) > 0.0).map(|state| (state as u32, mass(state) / total));
        let after = Chain { initial: initial.collect(), ..stopped(chain, is_last) };
        Ok(total * arrival(&after, &targets, to - from, self.watch)?)
    }
}

fn not(condition: Expr) -> Expr {
    Expr::Unary(UnaryOp::Not, Box::new(condition))
}

/// Returns the probability of reaching a target by a given time.
fn arrival(chain: &Chain, targets: &[bool], to: f64, watch: &dyn Watch) -> Result<f64, AskError> {
    let mut time = passage(chain, targets, &PassageSettings::watched(watch))?;
    Ok(if to.is_finite() { time.cdf(to)? } else { time.probability() })
}

/// Returns the chain with the states of `is_last` made absorbing.
fn stopped(chain: &Chain, is_last: impl Fn(usize) -> bool) -> Chain {
    let row = |state| if is_last(state) { Vec::new() } else { chain.rates.row(state).to_vec() };
    Chain { rates: Csr::from_rows((0..chain.states()).map(row)), initial: chain.initial.clone() }
}
