//! Exact or simulated: whether a question about a net has an exact answer, whether that costs less, and the answer.
//!
//! ```text
//! net, Question ──▶ Choice (exact by which method, or why not) ──▶ ExactAnswer, or replications of sim
//! ```
//!
//! | question | file |
//! |---|---|
//! | which kind of question has an exact answer, and what it costs | here |
//! | the exact answer from all states | `states` |
//! | all states, or the parts of a schedule | [`route`] |
//!
//! Every choice follows from the question, the net and its number of states, so that it is the same on every machine.

pub mod route;
mod states;

use crate::Problems;
use crate::compile::{Code, CompileError, Program, compile};
use crate::net::{Delay, Net, Timing};
use crate::semantics::Fault;
use crate::sim::{Goal, Question};
use crate::solve::{
    CompletionTime, Expanded, ExploreError, GridError, GridSettings, Incomplete, Limits, LinearError, Passage,
    PassageError, PassageSettings, PhaseObstacle, SeriesParallelError, StateSpace, SteadyError, TransientError,
    completion_time, expand_phases, explore, is_series_parallel, passage,
};
use crate::watch::{Unwatched, Watch};

pub use route::{Route, RouteMethod, SolveRoute};

/// States up to which an exact answer costs less than replications.
const CHEAP: u64 = 2_000;
/// Most states times transitions: exploring a large net must not take longer than simulating it.
const WORK: u64 = 4_000_000;

/// Methods that give exact answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExactMethod {
    /// The Markov chain of all states.
    States,
    /// The parts of a schedule of delays in series and in parallel.
    SeriesParallel,
}

impl ExactMethod {
    /// Its name in results.
    pub fn name(self) -> &'static str {
        match self {
            Self::States => "states",
            Self::SeriesParallel => "series-parallel",
        }
    }
}

/// Whether an exact answer is known to cost less than replications.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Choice {
    /// The exact method that costs less; none if none is known to.
    pub exact: Option<ExactMethod>,
    /// States that the exact answer needs.
    pub states: Option<usize>,
    /// Explains why no exact answer is known to cost less.
    pub no_exact: Option<String>,
}

/// Why only replications can answer a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NeedsReplications {
    /// First and last firings of groups.
    #[error("firing times of groups are known only from replications")]
    Groups,
    /// A limit of firings.
    #[error("a limit of firings cuts replications off")]
    MaxFirings,
    /// Nothing but to run.
    #[error("nothing is asked for but to run")]
    Nothing,
    /// The time to a goal with a horizon.
    #[error("the time to the goal is cut off at a horizon")]
    Horizon,
    /// Averages up to a goal.
    #[error("averages are collected up to a goal")]
    AveragesToGoal,
}

/// Why there is no exact answer.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum AnswerError {
    /// A question that only replications can answer.
    #[error("no exact method answers this: {0}")]
    NeedsReplications(#[from] NeedsReplications),
    /// Delays without phases.
    #[error(transparent)]
    Phases(#[from] Problems<PhaseObstacle>),
    /// A net that does not compile.
    #[error(transparent)]
    Compile(#[from] CompileError),
    /// States that cannot be explored.
    #[error(transparent)]
    Explore(#[from] ExploreError),
    /// Too many states, or stopped.
    #[error(transparent)]
    Incomplete(#[from] Incomplete),
    /// A net that is not a schedule of delays in series and in parallel.
    #[error(transparent)]
    SeriesParallel(#[from] SeriesParallelError),
    /// A distribution that cannot be tabulated.
    #[error(transparent)]
    Grid(#[from] GridError),
    /// A time to a goal that cannot be solved.
    #[error(transparent)]
    Passage(#[from] PassageError),
    /// A long run that cannot be solved.
    #[error(transparent)]
    Steady(#[from] SteadyError),
    /// Linear equations that cannot be solved.
    #[error(transparent)]
    Linear(#[from] LinearError),
    /// Probabilities at a time that cannot be solved.
    #[error(transparent)]
    Transient(#[from] TransientError),
    /// The net can stop for good, so that it has no long run.
    #[error("the net can stop for good, in {dead_markings} dead markings: it has no steady state")]
    CanStop {
        /// Dead markings.
        dead_markings: usize,
        /// Transitions that only their rates of 0 keep from firing there.
        held: Vec<String>,
    },
    /// Firings of immediate transitions at time 0, which no exact method counts.
    #[error("no exact method counts the immediate firings at time 0")]
    ImmediateAtStart,
    /// An expression that is infinite or not a number.
    #[error("{what} is infinite or not a number in a marking that the net reaches")]
    NotFinite {
        /// The expression.
        what: String,
    },
    /// A marking in which an expression makes no sense.
    #[error(transparent)]
    Fault(#[from] Fault),
}

/// The exact time to a goal.
#[derive(Debug)]
pub enum ExactTime {
    /// From the parts of a schedule, with certain bounds.
    Parts(CompletionTime),
    /// From all states.
    States {
        /// The states.
        space: StateSpace,
        /// The goal, per state.
        targets: Vec<bool>,
    },
}

impl ExactTime {
    /// Returns the mean \[s\] of the runs that reach the goal.
    ///
    /// # Errors
    ///
    /// A goal that is never reached.
    pub fn mean(&self) -> Result<f64, AnswerError> {
        match self {
            Self::Parts(time) => Ok(time.mean().value),
            Self::States { space, targets } => Ok(time_to(space, targets)?.moments_if_reached()?.mean),
        }
    }

    /// Returns the `p`-quantile \[s\], over all runs.
    ///
    /// # Errors
    ///
    /// A `p` outside of (0, 1), or not below the probability of reaching the goal.
    pub fn quantile(&self, p: f64) -> Result<f64, AnswerError> {
        match self {
            Self::Parts(time) => Ok(time.quantile(p)?.value),
            Self::States { space, targets } => Ok(time_to(space, targets)?.quantile(p)?),
        }
    }
}

/// Returns the time from the initial marking to the target states.
///
/// # Errors
///
/// As [`passage`].
pub fn time_to<'a>(space: &'a StateSpace, targets: &'a [bool]) -> Result<Passage<'a>, PassageError> {
    passage(space.partial_chain(), targets, &PassageSettings::default())
}

/// Exact numbers for what a question asks; empty for what it does not ask. Times in seconds.
#[derive(Debug)]
pub struct ExactAnswer {
    /// The method.
    pub method: ExactMethod,
    /// States that it needed; none if it needs no states.
    pub states: Option<usize>,
    /// The time to the goal.
    pub time: Option<ExactTime>,
    /// Mean tokens per place and class.
    pub tokens: Vec<f64>,
    /// Firings per second per transition.
    pub throughputs: Vec<f64>,
    /// Rewards, in the order of the question.
    pub rewards: Vec<f64>,
    /// Snapshots, in the order of the question.
    pub snapshots: Vec<f64>,
}

impl ExactAnswer {
    fn empty(method: ExactMethod, states: Option<usize>) -> Self {
        let none = Vec::new;
        Self { method, states, time: None, tokens: none(), throughputs: none(), rewards: none(), snapshots: none() }
    }
}

/// Questions that an exact method can answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// The time to a goal.
    Passage,
    /// Averages up to a horizon, and snapshots.
    Averages,
    /// The long run.
    Steady,
}

/// Returns the kind of a question; else why no exact method answers it.
fn kind(question: &Question, steady: bool) -> Result<Kind, NeedsReplications> {
    if steady {
        return Ok(Kind::Steady);
    }
    if !question.groups.is_empty() {
        return Err(NeedsReplications::Groups);
    }
    if question.max_firings.is_some() {
        return Err(NeedsReplications::MaxFirings);
    }
    match (&question.goal, question.is_passage_only()) {
        (Goal::Horizon, false) => Ok(Kind::Averages),
        (Goal::Horizon, true) => Err(NeedsReplications::Nothing),
        (_, true) if question.horizon.is_some() => Err(NeedsReplications::Horizon),
        (_, true) => Ok(Kind::Passage),
        (_, false) => Err(NeedsReplications::AveragesToGoal),
    }
}

/// Chooses between an exact answer and replications; `steady`: the question is about the long run.
///
/// # Examples
///
/// ```
/// use tailspn_engine::compile::compile;
/// use tailspn_engine::net::{NetBuilder, Timing};
/// use tailspn_engine::sim::Question;
/// use tailspn_studies::answer::{ExactMethod, choose};
///
/// let mut b = NetBuilder::new("one task");
/// let todo = b.place("todo", 1);
/// let task = b.transition("task", Timing::exponential(0.5));
/// b.input(todo, task, 1.0);
/// let net = b.build().unwrap();
/// let choice = choose(&net, &compile(&net).unwrap(), &Question::default(), false);
/// assert_eq!(choice.exact, Some(ExactMethod::SeriesParallel));
/// ```
pub fn choose(net: &Net, program: &Program, question: &Question, steady: bool) -> Choice {
    let kind = match kind(question, steady) {
        Ok(kind) => kind,
        Err(reason) => return Choice { no_exact: Some(reason.to_string()), ..Choice::default() },
    };
    if kind == Kind::Passage && question.goal == Goal::Dead && is_series_parallel(program).is_ok() {
        return Choice { exact: Some(ExactMethod::SeriesParallel), ..Choice::default() };
    }
    let goal = if let Goal::Marking(goal) = &question.goal { Some(goal) } else { None };
    match few_states(net, goal.filter(|_| kind == Kind::Passage)) {
        Ok(states) => Choice { exact: Some(ExactMethod::States), states: Some(states), no_exact: None },
        Err(reason) => Choice { no_exact: Some(reason), ..Choice::default() },
    }
}

/// Returns the number of states if there are few; else why not.
fn few_states(net: &Net, goal: Option<&Code>) -> Result<usize, String> {
    let net = with_phases(net).map_err(|all| all[0].to_string())?.net;
    let program = compile(&net).map_err(|all| all[0].to_string())?;
    let states = CHEAP.min(WORK / (program.transitions() as u64).max(1));
    let limits = Limits { states, ..Limits::default() };
    let space = explore(&program, goal, &limits, &Unwatched).map_err(|error| error.to_string())?;
    match space.stopped() {
        None => Ok(space.states()),
        Some(_) => Err(format!("the net has more than {} states", grouped(states))),
    }
}

/// Returns the exact answer; `steady`: the question is about the long run.
///
/// # Errors
///
/// [`AnswerError::NeedsReplications`], or what keeps the net from being solved.
pub fn exact(
    net: &Net,
    program: &Program,
    question: &Question,
    steady: bool,
    watch: &dyn Watch,
) -> Result<ExactAnswer, AnswerError> {
    let kind = kind(question, steady)?;
    if kind == Kind::Passage && question.goal == Goal::Dead && is_series_parallel(program).is_ok() {
        let limits = Limits::default();
        if route::too_many(net, limits, watch)?.is_some() {
            let time = completion_time(program, &GridSettings::default())?;
            let empty = ExactAnswer::empty(ExactMethod::SeriesParallel, None);
            return Ok(ExactAnswer { time: Some(ExactTime::Parts(time)), ..empty });
        }
    }
    states::answer(net, kind, question, watch)
}

/// Returns the net with its Erlang and hyperexponential delays as phases; its own places and transitions come first.
///
/// # Errors
///
/// Every delay that has no phases.
pub fn with_phases(net: &Net) -> Result<Expanded, Problems<PhaseObstacle>> {
    let is_general = |timing: &Timing| matches!(timing, Timing::Timed { delay: Delay::General(_), .. });
    if !net.transitions().iter().any(|transition| is_general(&transition.timing)) {
        return Ok(Expanded { net: net.clone(), hidden_places: Vec::new(), hidden_transitions: Vec::new() });
    }
    expand_phases(net)
}

/// Returns why a net has no long run: it can stop for good.
pub fn can_stop(space: &StateSpace, program: &Program) -> AnswerError {
    let held = space.zero_rates(program).unwrap_or_default().held;
    let held = held.iter().map(|&t| program.transition_names[t as usize].clone()).collect();
    AnswerError::CanStop { dead_markings: space.dead().len(), held }
}

/// A number with its digits in groups of three.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}
