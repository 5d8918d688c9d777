//! An exact solution as a chain of calls: asks a question about a net, and returns results by name, in seconds.
//!
//! Implements the steps from a net to its Markov chain; the neighbouring files implement the methods.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use crate::compile::{Code, Program, compile, lower};
use crate::fold::{Keep, Symmetry, fold_markings};
use crate::net::expr::{Expr, ExprError};
use crate::net::{Delay, Net, Timing};
use crate::solve::average_result::{AverageResult, Explored};
use crate::solve::explore_error::Incomplete;
use crate::solve::fixed_delays::{FixedDelayError, FixedDelayStates, is_fixed};
use crate::solve::grid::GridSettings;
use crate::solve::linear::LinearSettings;
use crate::solve::passage::{PassageSettings, passage_of};
use crate::solve::passage_result::{FixedDelayTime, Method, PassageResult};
use crate::solve::phases::{expand_phases, expand_phases_except};
use crate::solve::reach::{Limits, explore};
use crate::solve::series_parallel::{completion_time, is_series_parallel};
use crate::solve::solution_error::SolutionError;
use crate::solve::space::StateSpace;
use crate::solve::steady::steady_state;
use crate::solve::transient::{TransientSettings, transient};
use crate::solve::until::{Until, UntilStates};
use crate::solve::verdict::Verdicts;
use crate::watch::{Unwatched, Watch};

/// Maximum number of states of a schedule that is solved by its states; larger schedules are solved by their parts.
pub const FEW_STATES: u64 = 10_000;

/// Adds exact solutions to nets.
pub trait Solve {
    /// Starts an exact solution of this net.
    ///
    /// ```
    /// use tailspn_engine::net::{NetBuilder, Timing};
    /// use tailspn_exact::solve::Solve;
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
        Solution { net: self, goal: None, avoid: None, limits: Limits::default(), fold: true, watch: &Unwatched }
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
    goal: Option<&'a str>,
    avoid: Option<&'a str>,
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
    pub fn until(mut self, goal: &'a str) -> Result<Self, ExprError> {
        self.net.expression(goal)?;
        self.goal = Some(goal);
        Ok(self)
    }

    /// Sets markings that must not occur before the goal, such as `#(failed) >= 1`: a run that enters one never reaches the goal.
    ///
    /// # Errors
    ///
    /// An invalid expression.
    pub fn avoid(mut self, markings: &'a str) -> Result<Self, ExprError> {
        self.net.expression(markings)?;
        self.avoid = Some(markings);
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
    pub fn passage(self) -> Result<PassageResult<'a>, SolutionError> {
        if self.goal.or(self.avoid).is_none() {
            let program = compile(self.net)?;
            if is_series_parallel(&program).is_ok() && self.has_many_states() {
                let time = completion_time(&program, &GridSettings::default())?;
                return Ok(PassageResult(Method::Parts(Box::new(time))));
            }
        }
        if let Some((_, states)) = self.find_fixed(self.ends())? {
            let time = FixedDelayTime::new(states, self.watch)?;
            return Ok(PassageResult(Method::FixedDelays(Box::new(time))));
        }
        let UntilStates { space, targets, .. } = self.find_until(None)?.0;
        space.complete()?;
        let chain = Cow::Owned(space.into_chain());
        Ok(PassageResult(Method::States(Box::new(passage_of(chain, &targets, &PassageSettings::watched(self.watch))?))))
    }

    /// Returns the probability that the goal holds at some time \[s\] from `from` to `to`, which may be infinite, and that no marking to
    /// avoid occurs earlier.
    ///
    /// # Errors
    ///
    /// A `from` above 0 for a net with deterministic or empirical delays, or if a condition holds in a vanishing marking; otherwise as
    /// [`Self::passage`].
    pub fn probability_between(self, from: f64, to: f64) -> Result<f64, SolutionError> {
        if from > 0.0 && self.has_fixed_delays() {
            return Err(FixedDelayError::Unsupported { question: "a first time above 0" }.into());
        }
        if let Some((_, states)) = self.find_fixed(self.ends())? {
            let ever = || Ok(states.moments(&LinearSettings::watched(self.watch))?.0);
            return if to.is_finite() { Ok(states.passage(self.watch)?.cdf(to)?) } else { ever() };
        }
        if from <= 0.0 {
            return Ok(self.find_until(None)?.0.probability(to, self.watch)?);
        }
        let found = self.find()?;
        let [goal, avoid] = codes(&found.net, self.ends())?;
        let until = Until { goal: goal.as_ref(), avoid: avoid.as_ref() };
        let exploration = (&Symmetry::default(), &self.limits);
        Ok(until.probability(&found.program, &found.space, [from, to], exploration, self.watch)?)
    }

    /// Returns the mean reward of a run up to its goal, which gathers `rate` per second, such as `#(busy)`. Infinite if a run may never end:
    /// at the goal, in a marking to avoid, or in a dead marking.
    ///
    /// # Errors
    ///
    /// An invalid expression, a net with deterministic or empirical delays; otherwise as [`Self::passage`].
    pub fn reward(self, rate: &str) -> Result<f64, SolutionError> {
        if self.has_fixed_delays() {
            return Err(FixedDelayError::Unsupported { question: "a reward up to a goal" }.into());
        }
        let (states, rate) = self.find_until(Some(rate))?;
        Ok(states.gathered(rate.as_ref(), &[], f64::INFINITY, self.watch)?)
    }

    /// Returns averages in the long run.
    ///
    /// # Errors
    ///
    /// A net that can reach a dead marking, or a net that cannot be compiled, expanded to phases or explored
    /// within the limits.
    pub fn steady_state(self) -> Result<AverageResult, SolutionError> {
        let linear = LinearSettings::watched(self.watch);
        let lives = |space: &StateSpace| match space.dead().len() {
            0 => Ok(()),
            dead => Err(SolutionError::Dead { dead }),
        };
        if let Some((net, states)) = self.find_fixed([None; 2])? {
            lives(&states.space)?;
            let found = states.steady(&linear, &TransientSettings::watched(self.watch))?;
            let averages = states.steady_averages(&found)?;
            return Ok(AverageResult::new(self.net, &explored(net, states), averages, found.steady.probabilities));
        }
        let found = Arc::new(self.find()?);
        lives(&found.space)?;
        let steady = steady_state(found.space.complete()?, &linear)?;
        AverageResult::of(self.net, &found, steady.probabilities)
    }

    /// Returns averages at given times \[s\], in the order of the times.
    ///
    /// # Errors
    ///
    /// A negative time, a time that is too large for the rates of the net, or a net that cannot be compiled, expanded to
    /// phases or explored within the limits.
    pub fn at(self, times: &[f64]) -> Result<Vec<AverageResult>, SolutionError> {
        if let Some((net, states)) = self.find_fixed([None; 2])? {
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
    pub fn states(self) -> Result<StateResult, SolutionError> {
        let Explored { program, space, .. } = self.find()?;
        space.complete()?;
        let verdicts = space.verdicts(&program)?;
        Ok(StateResult { verdicts, program, space })
    }

    /// Explores the net with its delays as phases.
    fn find(&self) -> Result<Explored, SolutionError> {
        let net = self.phases()?.into_owned();
        let program = compile(&net)?;
        let space = explore(&program, None, &self.limits, self.watch)?;
        Ok(Explored { net, program, space })
    }

    /// Returns the goal and the markings to avoid.
    fn ends(&self) -> [Option<&'a str>; 2] {
        [self.goal, self.avoid]
    }

    /// Returns the net with its delays as phases.
    fn phases(&self) -> Result<Cow<'a, Net>, SolutionError> {
        let is_general = |timing: &Timing| matches!(timing, Timing::Timed { delay: Delay::General(_), .. });
        let general = self.net.transitions().iter().any(|transition| is_general(&transition.timing));
        Ok(if general { Cow::Owned(expand_phases(self.net)?.net) } else { Cow::Borrowed(self.net) })
    }

    /// Returns true if the net has deterministic or empirical delays.
    fn has_fixed_delays(&self) -> bool {
        let fixed =
            |timing: &Timing| matches!(timing, Timing::Timed { delay: Delay::General(law), .. } if is_fixed(law));
        self.net.transitions().iter().any(|transition| fixed(&transition.timing))
    }

    /// Explores a net with fixed delays up to a goal and markings to avoid; `None` if it has no such delays.
    fn find_fixed(&self, ends: [Option<&str>; 2]) -> Result<Option<(Net, FixedDelayStates)>, SolutionError> {
        if !self.has_fixed_delays() {
            return Ok(None);
        }
        let net = expand_phases_except(self.net, is_fixed)?.net;
        let [goal, avoid] = codes(&net, ends)?;
        let until = Until { goal: goal.as_ref(), avoid: avoid.as_ref() };
        let states = FixedDelayStates::explore(&compile(&net)?, until, &self.limits, self.watch)?;
        Ok(Some((net, states)))
    }

    /// Explores the net up to its goal and the markings to avoid, and returns the code of `reward`; replicas that these do not
    /// distinguish are counted.
    fn find_until(&self, reward: Option<&str>) -> Result<(UntilStates, Option<Code>), SolutionError> {
        let net = self.phases()?;
        let texts = [self.goal, self.avoid, reward];
        let expressions = texts.into_iter().map(|text| text.map(|text| net.expression(text)).transpose());
        let mut expressions: Vec<Option<Expr>> = expressions.collect::<Result<_, _>>()?;
        let keep = Keep { expressions: expressions.iter().flatten().cloned().collect(), ..Keep::default() };
        let folding = self.fold.then(|| fold_markings(&net, &keep));
        let net = folding.as_ref().map_or(&*net, |folding| folding.net());
        if let Some(folding) = &folding {
            for expression in expressions.iter_mut().flatten() {
                *expression = folding.expression(expression).unwrap_or_else(|| expression.clone());
            }
        }
        let mut codes = expressions.iter().map(|expression| Some(lower(net, expression.as_ref()?)));
        let [goal, avoid, reward] = std::array::from_fn(|_| codes.next().flatten());
        let until = Until { goal: goal.as_ref(), avoid: avoid.as_ref() };
        Ok((until.explore(&compile(net)?, &Symmetry::default(), &self.limits, self.watch)?, reward))
    }

    /// Returns true if the net has many states, or if it has no states because phases cannot represent a delay.
    fn has_many_states(&self) -> bool {
        let states = FEW_STATES.min(self.limits.states);
        let few = Self { limits: Limits { states, ..self.limits }, ..self.clone() };
        match few.find() {
            Ok(found) => matches!(found.space.stopped(), Some(Incomplete::States { .. })),
            Err(error) => matches!(error, SolutionError::Phases(_)),
        }
    }
}

impl std::fmt::Debug for Solution<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { net, goal, limits, .. } = self;
        f.debug_struct("Solution")
            .field("net", &net.name())
            .field("goal", goal)
            .field("limits", limits)
            .finish_non_exhaustive()
    }
}

/// Returns the codes of a goal and of markings to avoid.
fn codes(net: &Net, [goal, avoid]: [Option<&str>; 2]) -> Result<[Option<Code>; 2], ExprError> {
    let code = |text: Option<&str>| text.map(|text| Ok(lower(net, &net.expression(text)?))).transpose();
    Ok([code(goal)?, code(avoid)?])
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
    use crate::net::{Law, NetBuilder};

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
            assert!(matches!(error, SolutionError::FixedDelays(FixedDelayError::Unsupported { .. })), "{error}");
        }
    }
}
