//! An exact solution as a chain of calls: asks a question about a net, and returns results by name, in seconds.
//!
//! Implements the steps from a net to its Markov chain; the neighbouring files implement the methods.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use crate::compile::{Code, CompileError, Program, compile, lower};
use crate::estimate::Measured;
use crate::fold::{Keep, fold_markings};
use crate::net::expr::{Expr, ExprError};
use crate::net::{Delay, LookupError, Net, PlaceKey, Timing, TransitionKey};
use crate::semantics::Fault;
use crate::solve::averages::Averages;
use crate::solve::explore_error::{ExploreError, Incomplete};
use crate::solve::grid::{CompletionTime, GridError, GridSettings};
use crate::solve::linear::LinearSettings;
use crate::solve::passage::{Passage, PassageSettings, passage_of};
use crate::solve::passage_error::PassageError;
use crate::solve::phases::{PhaseError, expand_phases};
use crate::solve::reach::{Limits, explore};
use crate::solve::reward::expected;
use crate::solve::series_parallel::{SeriesParallelError, completion_time, is_series_parallel};
use crate::solve::space::StateSpace;
use crate::solve::steady::{SteadyError, steady_state};
use crate::solve::transient::{TransientError, TransientSettings, transient};
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
/// Erlang and hyperexponential delays become exponential phases; other delays have no exact solution.
#[derive(Clone)]
#[must_use = "a solution computes nothing until one of its questions is called"]
pub struct Solution<'a> {
    net: &'a Net,
    goal: Option<&'a str>,
    limits: Limits,
    fold: bool,
    watch: &'a dyn Watch,
}

/// Reason why an exact solution of a net cannot be computed.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SolutionError {
    /// The net cannot be compiled.
    #[error(transparent)]
    Compile(#[from] CompileError),
    /// Delays that phases cannot represent; simulation is possible.
    #[error(transparent)]
    Phases(#[from] PhaseError),
    /// An expression that does not fit the net.
    #[error(transparent)]
    Expression(#[from] ExprError),
    /// An expression without a finite value in a state.
    #[error(transparent)]
    Fault(#[from] Fault),
    /// The states cannot be explored.
    #[error(transparent)]
    Explore(#[from] ExploreError),
    /// The net has more states than the limits allow; higher limits or simulation are possible.
    #[error(transparent)]
    Incomplete(#[from] Incomplete),
    /// The passage time cannot be computed.
    #[error(transparent)]
    Passage(#[from] PassageError),
    /// The completion time of a schedule cannot be computed from its parts.
    #[error(transparent)]
    Parts(#[from] SeriesParallelError),
    /// A number of a completion time cannot be computed.
    #[error(transparent)]
    Grid(#[from] GridError),
    /// The steady state cannot be computed.
    #[error(transparent)]
    Steady(#[from] SteadyError),
    /// The probabilities at a time cannot be computed.
    #[error(transparent)]
    Transient(#[from] TransientError),
    /// The net can reach a dead marking, so it has no steady state; the passage time to the dead marking exists.
    #[error("{dead} of the markings are dead, so the net has no steady state")]
    Dead {
        /// Number of dead markings.
        dead: usize,
    },
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
        let found = Arc::new(self.find(None)?);
        let dead = found.space.dead().len();
        if dead > 0 {
            return Err(SolutionError::Dead { dead });
        }
        let steady = steady_state(found.space.complete()?, &LinearSettings::watched(self.watch))?;
        AverageResult::of(self.net, &found, steady.probabilities)
    }

    /// Returns averages at given times \[s\], in the order of the times.
    ///
    /// # Errors
    ///
    /// A negative time, a time that is too large for the rates of the net, or a net that cannot be compiled, expanded to
    /// phases or explored within the limits.
    pub fn at(self, times: &[f64]) -> Result<Vec<AverageResult>, SolutionError> {
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

/// The states of a net, with its delays as phases.
#[derive(Clone, Debug)]
struct Explored {
    net: Net,
    program: Program,
    space: StateSpace,
}

/// The exact distribution of a passage time \[s\].
#[derive(Debug)]
pub struct PassageResult<'a>(Method<'a>);

/// Method for a passage time.
#[derive(Debug)]
enum Method<'a> {
    States(Box<Passage<'a>>),
    Parts(Box<CompletionTime>),
}

impl PassageResult<'_> {
    /// Returns the probability of ever reaching the goal; exactly 1 if nothing else is possible.
    pub fn probability(&self) -> f64 {
        match &self.0 {
            Method::States(time) => time.probability(),
            Method::Parts(_) => 1.0,
        }
    }

    /// Returns the mean \[s\].
    ///
    /// # Errors
    ///
    /// [`PassageError::InfiniteMean`] if the probability of reaching the goal is below 1.
    pub fn mean(&self) -> Result<Measured, SolutionError> {
        Ok(match &self.0 {
            Method::States(time) => Measured::exact(time.moments()?.mean, LEVEL),
            Method::Parts(time) => time.mean(),
        })
    }

    /// Returns the standard deviation \[s\].
    ///
    /// # Errors
    ///
    /// [`PassageError::InfiniteMean`] if the probability of reaching the goal is below 1.
    pub fn standard_deviation(&self) -> Result<f64, SolutionError> {
        Ok(match &self.0 {
            Method::States(time) => time.moments()?.variance.sqrt(),
            Method::Parts(time) => time.standard_deviation(),
        })
    }

    /// Returns the shortest time \[s\] by which the goal is reached with probability `p`, between 0 and 1.
    ///
    /// # Errors
    ///
    /// A probability that is not below the probability of ever reaching the goal, or a time that is too large for the
    /// rates of the net.
    pub fn quantile(&mut self, p: f64) -> Result<Measured, SolutionError> {
        Ok(match &mut self.0 {
            Method::States(time) => Measured::exact(time.quantile(p)?, LEVEL),
            Method::Parts(time) => time.quantile(p)?,
        })
    }

    /// Returns the probability of having reached the goal by `seconds`.
    ///
    /// # Errors
    ///
    /// A time that is negative or too large for the rates of the net.
    pub fn cdf(&mut self, seconds: f64) -> Result<Measured, SolutionError> {
        Ok(match &mut self.0 {
            Method::States(time) => Measured::exact(time.cdf(seconds)?, LEVEL),
            Method::Parts(time) => time.cdf(seconds),
        })
    }
}

/// Confidence level of a number without a confidence interval.
const LEVEL: f64 = 0.0;

/// Exact averages over the states of a net, by name.
#[derive(Clone, Debug)]
pub struct AverageResult {
    /// The original net, without phases; its places and transitions come first in the net that was solved.
    net: Net,
    found: Arc<Explored>,
    averages: Averages,
    probabilities: Vec<f64>,
}

impl AverageResult {
    fn of(net: &Net, found: &Arc<Explored>, probabilities: Vec<f64>) -> Result<Self, SolutionError> {
        let averages = found.space.averages(&found.program, &probabilities)?;
        Ok(Self { net: net.clone(), found: Arc::clone(found), averages, probabilities })
    }

    /// Returns the mean number of tokens of all classes in a place.
    ///
    /// # Errors
    ///
    /// An unknown place.
    pub fn tokens(&self, place: impl Into<PlaceKey>) -> Result<f64, LookupError> {
        let place = self.net.place_of(&place.into())?.index();
        let classes = self.net.classes().len();
        Ok(self.averages.tokens[place * classes..(place + 1) * classes].iter().sum())
    }

    /// Returns the mean number of tokens of one class in a place.
    ///
    /// # Errors
    ///
    /// An unknown place or class.
    pub fn tokens_of(&self, place: impl Into<PlaceKey>, class: &str) -> Result<f64, LookupError> {
        let (place, class) = (self.net.place_of(&place.into())?, self.net.class_of(class)?);
        Ok(self.averages.tokens[place.index() * self.net.classes().len() + class.index()])
    }

    /// Returns the probabilities of 0, 1, 2, … tokens of all classes in a place, up to its bound; empty for bounds above 100,000.
    ///
    /// # Errors
    ///
    /// An unknown place.
    pub fn distribution(&self, place: impl Into<PlaceKey>) -> Result<&[f64], LookupError> {
        Ok(&self.averages.distributions[self.net.place_of(&place.into())?.index()])
    }

    /// Returns the firings per second of a transition.
    ///
    /// # Errors
    ///
    /// An unknown transition.
    pub fn throughput(&self, transition: impl Into<TransitionKey>) -> Result<f64, LookupError> {
        Ok(self.averages.throughputs[self.net.transition_of(&transition.into())?.index()])
    }

    /// Returns the mean of an expression over the marking; for a condition such as `#(queue) >= 5`, the mean is a
    /// probability.
    ///
    /// # Errors
    ///
    /// An invalid expression, or an expression that has no finite value in a state.
    pub fn mean_of(&self, expression: &str) -> Result<f64, SolutionError> {
        let values = self.found.space.values(&self.found.net.code(expression)?, &format!("`{expression}`"))?;
        Ok(expected(&self.probabilities, &values))
    }

    /// Returns the number of states.
    pub fn states(&self) -> usize {
        self.found.space.states()
    }
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
