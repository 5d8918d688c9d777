//! An exact solution as a chain of calls: asks a question about a net, and returns results by name, in seconds.
//!
//! Implements the steps from a net to its Markov chain; the neighbouring files implement the methods.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use crate::compile::{Code, Program, compile, lower};
use crate::fold::{Keep, fold_markings};
use crate::net::expr::{Expr, ExprError};
use crate::net::{Delay, Net, Timing};
use crate::solve::average_result::{AverageResult, Explored};
use crate::solve::explore_error::Incomplete;
use crate::solve::fixed_delays::{FixedDelayStates, is_fixed};
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
use crate::solve::until::Until;
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
        Solution { net: self, goal: None, limits: Limits::default(), fold: true, watch: &Unwatched }
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
    /// If no goal is set, a schedule of more than 10,000 states is solved by its parts, if the parts are in series and
    /// in parallel. In this case, every number has guaranteed bounds.
    ///
    /// # Errors
    ///
    /// The net cannot be compiled, expanded to phases or explored within the limits.
    pub fn passage(self) -> Result<PassageResult<'a>, SolutionError> {
        if self.goal.is_none() {
            let program = compile(self.net)?;
            if is_series_parallel(&program).is_ok() && self.has_many_states() {
                let time = completion_time(&program, &GridSettings::default())?;
                return Ok(PassageResult(Method::Parts(Box::new(time))));
            }
        }
        if let Some((_, states)) = self.find_fixed(self.goal)? {
            let time = FixedDelayTime::new(states, self.watch)?;
            return Ok(PassageResult(Method::FixedDelays(Box::new(time))));
        }
        let Explored { space, .. } = self.find_folded()?;
        space.complete()?;
        let targets = space.marked(if self.goal.is_some() { space.goals() } else { space.dead() });
        let chain = Cow::Owned(space.into_chain());
        Ok(PassageResult(Method::States(Box::new(passage_of(chain, &targets, &PassageSettings::watched(self.watch))?))))
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
        if let Some((net, states)) = self.find_fixed(None)? {
            lives(&states.space)?;
            let found = states.steady(&linear, &TransientSettings::watched(self.watch))?;
            let averages = states.steady_averages(&found)?;
            return Ok(AverageResult::new(self.net, &explored(net, states), averages, found.steady.probabilities));
        }
        let found = Arc::new(self.find(None)?);
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
        if let Some((net, states)) = self.find_fixed(None)? {
            let found = states.at(times, self.watch)?;
            let averages = (0..times.len()).map(|at| states.averages(&found, at)).collect::<Result<Vec<_>, _>>()?;
            let (all, states) = (averages.into_iter().zip(found.probabilities), explored(net, states));
            return Ok(all
                .map(|(averages, probabilities)| AverageResult::new(self.net, &states, averages, probabilities))
                .collect());
        }
        let found = Arc::new(self.find(None)?);
        let all = transient(found.space.complete()?, times, &TransientSettings::watched(self.watch))?;
        all.probabilities.into_iter().map(|probabilities| AverageResult::of(self.net, &found, probabilities)).collect()
    }

    /// Returns all states of the net, and the verdicts about them.
    ///
    /// # Errors
    ///
    /// The net cannot be compiled, expanded to phases or explored within the limits.
    pub fn states(self) -> Result<StateResult, SolutionError> {
        let Explored { program, space, .. } = self.find(None)?;
        space.complete()?;
        let verdicts = space.verdicts(&program)?;
        Ok(StateResult { verdicts, program, space })
    }

    /// Explores the net with its delays as phases.
    fn find(&self, goal: Option<&str>) -> Result<Explored, SolutionError> {
        let goal = goal.map(|text| self.net.expression(text)).transpose()?;
        self.explore(self.phases()?.into_owned(), goal.as_ref())
    }

    /// Returns the net with its delays as phases.
    fn phases(&self) -> Result<Cow<'a, Net>, SolutionError> {
        let is_general = |timing: &Timing| matches!(timing, Timing::Timed { delay: Delay::General(_), .. });
        let general = self.net.transitions().iter().any(|transition| is_general(&transition.timing));
        Ok(if general { Cow::Owned(expand_phases(self.net)?.net) } else { Cow::Borrowed(self.net) })
    }

    /// Explores a net with fixed delays up to the goal; `None` if it has no such delays.
    fn find_fixed(&self, goal: Option<&str>) -> Result<Option<(Net, FixedDelayStates)>, SolutionError> {
        let fixed =
            |timing: &Timing| matches!(timing, Timing::Timed { delay: Delay::General(law), .. } if is_fixed(law));
        if !self.net.transitions().iter().any(|transition| fixed(&transition.timing)) {
            return Ok(None);
        }
        let goal = goal.map(|text| self.net.expression(text)).transpose()?;
        let net = expand_phases_except(self.net, is_fixed)?.net;
        let goal: Option<Code> = goal.map(|goal| lower(&net, &goal));
        let until = Until { goal: goal.as_ref(), avoid: None };
        let states = FixedDelayStates::explore(&compile(&net)?, until, &self.limits, self.watch)?;
        Ok(Some((net, states)))
    }

    fn explore(&self, net: Net, goal: Option<&Expr>) -> Result<Explored, SolutionError> {
        let program = compile(&net)?;
        let goal: Option<Code> = goal.map(|goal| lower(&net, goal));
        let program = match &goal {
            Some(goal) => program.observing(goal),
            None => program,
        };
        let space = explore(&program, goal.as_ref(), &self.limits, self.watch)?;
        Ok(Explored { net, program, space })
    }

    /// Explores the net for its passage time; replicas that the goal does not distinguish are counted.
    fn find_folded(&self) -> Result<Explored, SolutionError> {
        let goal = self.goal.map(|text| self.net.expression(text)).transpose()?;
        let net = self.phases()?;
        let keep = Keep { expressions: goal.iter().cloned().collect(), ..Keep::default() };
        if !self.fold {
            return self.explore(net.into_owned(), goal.as_ref());
        }
        let folding = fold_markings(&net, &keep);
        let goal = goal.map(|goal| folding.expression(&goal).unwrap_or(goal));
        self.explore(folding.net().clone(), goal.as_ref())
    }

    /// Returns true if the net has many states, or if it has no states because phases cannot represent a delay.
    fn has_many_states(&self) -> bool {
        let states = FEW_STATES.min(self.limits.states);
        let few = Self { limits: Limits { states, ..self.limits }, ..self.clone() };
        match few.find(None) {
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
