//! An exact solution as a chain of calls: asks a question about a net, and returns results by name, in seconds.
//!
//! Implements the steps from a net to its Markov chain; the neighbouring files implement the methods.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use crate::answer::average_result::{AverageResult, Explored};
use crate::answer::passage_result::{FixedDelayTime, Method, PassageResult};
use crate::answer::request::{beyond_completion, until};
use crate::answer::route::{Route, SolveRoute};
use crate::answer::value::{AnswerError, with_phases};
use crate::compile::{Program, compile};
use crate::fold::Symmetry;
use crate::net::Net;
use crate::net::expr::ExprError;
use crate::sim::{Condition, Goal, Prepared, Question, Reward};
use crate::solve::{
    FixedDelayError, FixedDelayStates, Limits, LinearSettings, PassageSettings, StateSpace, TransientSettings, Until,
    UntilStates, Verdicts, expand_phases_except, explore, has_fixed_delays, is_fixed, passage_of, steady_state,
    transient,
};
use crate::watch::{Unwatched, Watch};

/// Adds exact solutions to nets.
pub trait Solve {
    /// Starts an exact solution of this net.
    ///
    /// ```
    /// use tailspn_engine::net::{NetBuilder, Timing};
    /// use tailspn_exact::answer::Solve;
    ///
    /// let mut b = NetBuilder::new("two stages of 1 s each");
    /// let (a, half, done) = (b.place("a", 1), b.place("half", 0), b.place("done", 0));
    /// let (first, second) = (b.transition("first", Timing::exponential(1.0)), b.transition("second", Timing::exponential(1.0)));
    /// b.input(a, first, 1.0);
    /// b.output(first, half, 1.0);
    /// b.input(half, second, 1.0);
    /// b.output(second, done, 1.0);
    /// let net = b.build().unwrap();
    ///
    /// let mut time = net.solution().until("#(done) >= 1").unwrap().passage().unwrap();
    /// assert!((time.mean().unwrap().value - 2.0).abs() < 1e-12);
    /// assert!((time.quantile(0.5).unwrap().value - 1.678_346_990_016_661).abs() < 1e-9);
    /// ```
    fn solution(&self) -> Solution<'_>;
}

impl Solve for Net {
    fn solution(&self) -> Solution<'_> {
        let (question, limits) = (Question::default(), Limits::default());
        Solution { net: self, question, limits, fold: true, watch: &Unwatched }
    }
}

/// An exact solution of a net, started by [`Solve::solution`]. Without a goal, a passage time is the time to a dead marking.
///
/// Erlang and hyperexponential delays become exponential phases. Deterministic and empirical delays are solved if no two of them
/// are enabled together; other delays have no exact solution.
#[derive(Clone)]
#[must_use = "a solution computes nothing until one of its questions is called"]
pub struct Solution<'a> {
    net: &'a Net,
    question: Question,
    limits: Limits,
    fold: bool,
    watch: &'a dyn Watch,
}

impl<'a> Solution<'a> {
    /// Sets the goal of the passage time: the first marking in which the expression is not 0, such as `#(done) >= 1`.
    ///
    /// # Errors
    ///
    /// An invalid expression.
    pub fn until(mut self, goal: &str) -> Result<Self, ExprError> {
        self.question.goal = Goal::marking(self.net, goal)?;
        Ok(self)
    }

    /// Sets markings that must not occur before the goal, such as `#(failed) >= 1`: a run that enters one never reaches the goal.
    ///
    /// # Errors
    ///
    /// An invalid expression.
    pub fn avoid(mut self, markings: &str) -> Result<Self, ExprError> {
        self.question.avoid = Some(Condition::new(self.net, markings)?);
        Ok(self)
    }

    /// Sets the maximum number of states. Default 50 million.
    pub fn max_states(mut self, states: u64) -> Self {
        self.limits.states = states;
        self
    }

    /// Sets the maximum amount of memory for states. Default 6 GiB.
    pub fn max_bytes(mut self, bytes: u64) -> Self {
        self.limits.bytes = bytes;
        self
    }

    /// Sets the maximum wall time for finding the states. Default none.
    pub fn max_wall(mut self, wall: Duration) -> Self {
        self.limits.wall = Some(wall);
        self
    }

    /// Keeps replicas apart instead of counting them, which takes more states for the same answer.
    pub fn unfolded(mut self) -> Self {
        self.fold = false;
        self
    }

    /// Reports progress to `watch`, which may also stop the work.
    pub fn watch(mut self, watch: &'a dyn Watch) -> Self {
        self.watch = watch;
        self
    }

    /// Returns the distribution of the time to the goal.
    ///
    /// If neither a goal nor markings to avoid are set, a schedule of more than 10,000 states is solved by its parts, if the
    /// parts are in series and in parallel. In this case, every number has guaranteed bounds.
    ///
    /// # Errors
    ///
    /// The net cannot be compiled, expanded to phases or explored within the limits.
    pub fn passage(self) -> Result<PassageResult<'a>, AnswerError> {
        let program = compile(self.net)?;
        let needs_states = beyond_completion(&self.question);
        let route = SolveRoute { needs_states, limits: self.limits, ..SolveRoute::default() };
        match route.choose(self.net, &program, self.watch)? {
            Route::Parts { time, .. } => Ok(PassageResult(Method::Parts(time))),
            Route::FixedDelays => {
                let (_, states) = self.find_fixed(until(&self.question))?;
                Ok(PassageResult(Method::FixedDelays(Box::new(FixedDelayTime::new(states, self.watch)?))))
            }
            Route::States { .. } => {
                let UntilStates { space, targets, .. } = self.find_until(&self.question)?.0;
                space.complete()?;
                let (chain, settings) = (Cow::Owned(space.into_chain()), PassageSettings::watched(self.watch));
                Ok(PassageResult(Method::States(Box::new(passage_of(chain, &targets, &settings)?))))
            }
        }
    }

    /// Returns the probability that the goal holds at some time \[s\] from `from` to `to`, which may be infinite, and that no marking to
    /// avoid occurs earlier.
    ///
    /// # Errors
    ///
    /// A `from` above 0 for a net with deterministic or empirical delays, or if a condition holds in a vanishing marking; otherwise as
    /// [`Self::passage`].
    pub fn probability_between(self, from: f64, to: f64) -> Result<f64, AnswerError> {
        if self.has_fixed_delays()? {
            if from > 0.0 {
                return Err(FixedDelayError::Unsupported { question: "a first time above 0" }.into());
            }
            let (_, states) = self.find_fixed(until(&self.question))?;
            let ever = || Ok(states.moments(&LinearSettings::watched(self.watch))?.0);
            return if to.is_finite() { Ok(states.passage(self.watch)?.cdf(to)?) } else { ever() };
        }
        if from <= 0.0 {
            return Ok(self.find_until(&self.question)?.0.probability(to, self.watch)?);
        }
        let found = self.find()?;
        let exploration = (&Symmetry::default(), &self.limits);
        Ok(until(&self.question).probability(&found.program, &found.space, [from, to], exploration, self.watch)?)
    }

    /// Returns the mean reward of a run up to its goal, which gathers `rate` per second, such as `#(busy)`. Infinite if a run may never end:
    /// at the goal, in a marking to avoid, or in a dead marking.
    ///
    /// # Errors
    ///
    /// An invalid expression, a net with deterministic or empirical delays; otherwise as [`Self::passage`].
    pub fn reward(self, rate: &str) -> Result<f64, AnswerError> {
        if self.has_fixed_delays()? {
            return Err(FixedDelayError::Unsupported { question: "a reward up to a goal" }.into());
        }
        let reward = Reward { name: rate.to_owned(), rate: Some(self.net.code(rate)?), impulses: Vec::new() };
        let (states, question) = self.find_until(&Question { rewards: vec![reward], ..self.question.clone() })?;
        Ok(states.gathered(question.rewards[0].rate.as_ref(), &[], f64::INFINITY, self.watch)?)
    }

    /// Returns averages in the long run: the mean over all runs of the averages over a time without end. A run that ends in a
    /// dead marking stays there.
    ///
    /// # Errors
    ///
    /// A net that cannot be compiled, expanded to phases or explored
    /// within the limits.
    pub fn steady_state(self) -> Result<AverageResult, AnswerError> {
        let linear = LinearSettings::watched(self.watch);
        if self.has_fixed_delays()? {
            let (net, states) = self.find_fixed(Until::default())?;
            let found = states.steady(&linear, &TransientSettings::watched(self.watch))?;
            let averages = states.steady_averages(&found)?;
            return Ok(AverageResult::new(self.net, &explored(net, states), averages, found.steady.probabilities));
        }
        let found = Arc::new(self.find()?);
        let steady = steady_state(found.space.complete()?, &linear)?;
        AverageResult::of(self.net, &found, steady.probabilities)
    }

    /// Returns averages at given times \[s\], in the order of the times.
    ///
    /// # Errors
    ///
    /// A negative time, a time that is too large for the rates of the net, or a net that cannot be compiled, expanded to
    /// phases or explored within the limits.
    pub fn at(self, times: &[f64]) -> Result<Vec<AverageResult>, AnswerError> {
        if self.has_fixed_delays()? {
            let (net, states) = self.find_fixed(Until::default())?;
            let found = states.at(times, self.watch)?;
            let averages = (0..times.len()).map(|at| states.averages(&found, at)).collect::<Result<Vec<_>, _>>()?;
            let (all, states) = (averages.into_iter().zip(found.probabilities), explored(net, states));
            return Ok(all
                .map(|(averages, probabilities)| AverageResult::new(self.net, &states, averages, probabilities))
                .collect());
        }
        let found = Arc::new(self.find()?);
        let all = transient(found.space.complete()?, times, &TransientSettings::watched(self.watch))?;
        all.probabilities.into_iter().map(|probabilities| AverageResult::of(self.net, &found, probabilities)).collect()
    }

    /// Returns all states of the net, and the verdicts about them.
    ///
    /// # Errors
    ///
    /// The net cannot be compiled, expanded to phases or explored within the limits.
    pub fn states(self) -> Result<StateResult, AnswerError> {
        let Explored { program, space, .. } = self.find()?;
        space.complete()?;
        let verdicts = space.verdicts(&program)?;
        Ok(StateResult { verdicts, program, space })
    }

    /// Explores the net with its delays as phases.
    fn find(&self) -> Result<Explored, AnswerError> {
        let net = with_phases(self.net)?.net;
        let program = compile(&net)?;
        let space = explore(&program, None, &self.limits, self.watch)?;
        Ok(Explored { net, program, space })
    }

    /// Returns true if the net has deterministic or empirical delays.
    fn has_fixed_delays(&self) -> Result<bool, AnswerError> {
        Ok(has_fixed_delays(&compile(self.net)?))
    }

    /// Explores a net with fixed delays up to the ends of its runs.
    fn find_fixed(&self, until: Until<'_>) -> Result<(Net, FixedDelayStates), AnswerError> {
        let net = expand_phases_except(self.net, is_fixed)?.net;
        let states = FixedDelayStates::explore(&compile(&net)?, until, &self.limits, self.watch)?;
        Ok((net, states))
    }

    /// Explores the net up to the ends of a question, and returns the question about what was explored: replicas that the question
    /// does not distinguish are counted.
    fn find_until(&self, question: &Question) -> Result<(UntilStates, Question), AnswerError> {
        let net = with_phases(self.net)?.net;
        let prepared =
            if self.fold { Prepared::for_states(&net, question) } else { Prepared::new(&net, question, false) }?;
        let states = until(&prepared.question);
        let states = states.explore(&prepared.program, &Symmetry::default(), &self.limits, self.watch)?;
        Ok((states, prepared.question))
    }
}

impl std::fmt::Debug for Solution<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { net, question, limits, .. } = self;
        f.debug_struct("Solution")
            .field("net", &net.name())
            .field("question", question)
            .field("limits", limits)
            .finish_non_exhaustive()
    }
}

/// The states of a net with fixed delays, for averages.
fn explored(net: Net, FixedDelayStates { program, space, .. }: FixedDelayStates) -> Arc<Explored> {
    Arc::new(Explored { net, program, space })
}

/// All states of a net.
#[derive(Clone, Debug)]
pub struct StateResult {
    program: Program,
    space: StateSpace,
    verdicts: Option<Verdicts>,
}

impl StateResult {
    /// Returns the number of states.
    pub fn count(&self) -> usize {
        self.space.states()
    }

    /// Returns the number of dead states, in which no transition can fire.
    pub fn dead(&self) -> usize {
        self.space.dead().len()
    }

    /// Returns true if every transition can always fire again.
    pub fn is_live(&self) -> bool {
        self.verdicts.as_ref().is_some_and(Verdicts::is_live)
    }

    /// Returns true if the initial state can be reached from every state.
    pub fn is_reversible(&self) -> bool {
        self.verdicts.as_ref().is_some_and(|verdicts| verdicts.reversible)
    }

    /// Returns the liveness of each transition, closed classes and other properties; transitions are in the order of
    /// [`Self::program`].
    pub fn verdicts(&self) -> Option<&Verdicts> {
        self.verdicts.as_ref()
    }

    /// Returns the states, for witnesses, pictures and exports.
    pub fn space(&self) -> &StateSpace {
        &self.space
    }

    /// Returns the compiled net with its delays as phases.
    pub fn program(&self) -> &Program {
        &self.program
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::net::{Law, NetBuilder, Timing};

    const FAILS: f64 = 0.5;
    const ENDS: f64 = 1.5;

    /// A machine that fails or finishes its work; a failed machine is repaired at `repairs` per second, if that is above 0.
    fn machine(repairs: f64) -> Net {
        let mut b = NetBuilder::new("machine");
        let [works, failed, done] = [("works", 1), ("failed", 0), ("done", 0)].map(|(id, n)| b.place(id, n));
        for (id, rate, from, to) in
            [("fail", FAILS, works, failed), ("end", ENDS, works, done), ("repair", repairs, failed, works)]
        {
            if rate > 0.0 {
                let t = b.transition(id, Timing::exponential(rate));
                b.input(from, t, 1.0);
                b.output(t, to, 1.0);
            }
        }
        b.build().unwrap()
    }

    fn asked<'a>(net: &'a Net, goal: &'a str, avoid: &'a str) -> Solution<'a> {
        net.solution().until(goal).unwrap().avoid(avoid).unwrap()
    }

    fn assert_close(found: f64, exact: f64) {
        assert!((found - exact).abs() < 1e-12, "{found} {exact}");
    }

    #[test]
    fn markings_to_avoid_end_a_run() {
        let net = machine(2.0);
        let by = |t: f64| ENDS / (FAILS + ENDS) * (1.0 - f64::exp(-(FAILS + ENDS) * t));
        let asked = || asked(&net, "#(done)", "#(failed)");
        let mut time = asked().passage().unwrap();
        assert_close(time.probability(), by(f64::INFINITY));
        assert_close(time.cdf(0.7).unwrap().value, by(0.7));
        assert_close(asked().probability_between(0.0, 0.7).unwrap(), by(0.7));
        assert_close(asked().probability_between(0.0, f64::INFINITY).unwrap(), by(f64::INFINITY));
        // a run that was done earlier is still done
        assert_close(asked().probability_between(0.3, 0.7).unwrap(), by(0.7));
        let works = self::asked(&net, "#(works)", "#(failed) + #(done)");
        assert_close(works.probability_between(0.3, 0.7).unwrap(), f64::exp(-(FAILS + ENDS) * 0.3));
        // every second of work counts three times, until the machine fails or is done
        assert_close(asked().reward("3 * #(works)").unwrap(), 3.0 / (FAILS + ENDS));
        let repaired = || net.solution().until("#(done)").unwrap();
        assert_close(repaired().reward("#(works)").unwrap(), 1.0 / ENDS);
        assert_close(repaired().reward("#(failed)").unwrap(), FAILS / ENDS / 2.0);
        let never = net.solution().until("#(failed) > 1").unwrap().avoid("#(done)").unwrap();
        assert_close(never.reward("#(works)").unwrap(), 1.0 / ENDS);
        assert!(repaired().avoid("#(nowhere)").is_err() && repaired().reward("#(nowhere)").is_err());
    }

    /// Without a goal, a run ends in a dead marking; markings to avoid end it too.
    #[test]
    fn a_run_without_a_goal_ends_in_a_dead_marking() {
        let net = machine(0.0);
        let done = net.solution().avoid("#(failed)").unwrap();
        assert_close(done.clone().passage().unwrap().probability(), ENDS / (FAILS + ENDS));
        assert_close(done.probability_between(0.0, f64::INFINITY).unwrap(), ENDS / (FAILS + ENDS));
        assert_close(net.solution().probability_between(0.0, f64::INFINITY).unwrap(), 1.0);
        assert_close(net.solution().reward("1").unwrap(), 1.0 / (FAILS + ENDS));
    }

    /// Two equal tasks are counted, with the same answers: the slower one takes 1 + 1/2 s.
    #[test]
    fn rewards_of_folded_replicas_are_those_of_the_net() {
        let mut b = NetBuilder::new("tasks");
        for i in 1..=2 {
            let (runs, ends) = (b.place(format!("runs{i}"), 1), b.place(format!("ends{i}"), 0));
            let t = b.transition(format!("task{i}"), Timing::exponential(1.0));
            b.input(runs, t, 1.0);
            b.output(t, ends, 1.0);
        }
        let net = b.build().unwrap();
        let asked = || net.solution().until("#(ends1) + #(ends2) = 2").unwrap();
        for solution in [asked(), asked().unfolded()] {
            assert_close(solution.clone().reward("#(runs1) + #(runs2)").unwrap(), 2.0);
            assert_close(solution.clone().reward("#(runs1)").unwrap(), 1.0);
            assert_close(solution.reward("1").unwrap(), 1.5);
        }
    }

    #[test]
    fn fixed_delays_have_a_probability_from_time_0_on() {
        let mut b = NetBuilder::new("repair");
        let [broken, mended, scrapped] = [("broken", 1), ("mended", 0), ("scrapped", 0)].map(|(id, n)| b.place(id, n));
        let repair = b.transition("repair", Timing::general(Law::Deterministic { delay: 3.0 }));
        let scrap = b.transition("scrap", Timing::exponential(0.4));
        for (t, to) in [(repair, mended), (scrap, scrapped)] {
            b.input(broken, t, 1.0);
            b.output(t, to, 1.0);
        }
        let net = b.build().unwrap();
        let asked = || asked(&net, "#(mended)", "#(scrapped)");
        assert_close(asked().probability_between(0.0, 2.9).unwrap(), 0.0);
        assert_close(asked().probability_between(0.0, 3.1).unwrap(), f64::exp(-1.2));
        assert_close(asked().probability_between(0.0, f64::INFINITY).unwrap(), f64::exp(-1.2));
        for error in [asked().probability_between(1.0, 2.0).unwrap_err(), asked().reward("1").unwrap_err()] {
            assert!(matches!(error, AnswerError::FixedDelays(FixedDelayError::Unsupported { .. })), "{error}");
        }
    }
}
