//! Exact answers as values: methods, numbers, and reasons why there is no answer.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use tailspn_common::explain::{ErrorKind, Explain};

use crate::Problems;
use crate::compile::CompileError;
use crate::net::expr::ExprError;
use crate::net::{Delay, Net, Timing};
use crate::semantics::Fault;
use crate::sim::{FoldedParts, NotFolded};
use crate::solve::{
    AskError, CompletionTime, Expanded, ExploreError, FixedDelayError, GridError, Incomplete, LinearError, Passage,
    PassageError, PassageSettings, PhaseObstacle, SeriesParallelError, StateSpace, SteadyError, TransientError,
    expand_phases, passage,
};
use crate::watch::{Unwatched, Watch};

/// An exact method.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "ExactMethod"))]
#[serde(rename_all = "kebab-case")]
pub enum ExactBy {
    /// The Markov chain of all states.
    #[default]
    States,
    /// The states at the starts of fixed delays.
    FixedDelays,
    /// The parts of a schedule in series and in parallel, with guaranteed bounds.
    SeriesParallel,
    /// A formula for the job time.
    Formula,
}

impl ExactBy {
    /// Returns the word in results.
    pub fn name(self) -> &'static str {
        match self {
            Self::States => "states",
            Self::FixedDelays => "fixed-delays",
            Self::SeriesParallel => "series-parallel",
            Self::Formula => "formula",
        }
    }
}

/// Reason why only replications can answer a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NeedsReplications {
    /// The question asks for first and last firings of groups.
    #[error("firing times of groups are known only from replications")]
    Groups,
    /// The question limits the number of firings.
    #[error("the number of firings is limited")]
    MaxFirings,
    /// The question asks for no quantity.
    #[error("no quantity is requested")]
    Nothing,
    /// The question asks for the time to a goal, but ends at a horizon.
    #[error("the time to the goal is limited by a horizon")]
    Horizon,
    /// The question asks for averages up to a goal, which ends replications at random times.
    #[error("averages are requested up to a goal")]
    AveragesToGoal,
}

/// Reason why there is no exact answer.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum AnswerError {
    /// A question that only replications can answer.
    #[error("no exact method supports this: {0}")]
    NeedsReplications(#[from] NeedsReplications),
    /// Delays that phases cannot represent.
    #[error(transparent)]
    Phases(#[from] Problems<PhaseObstacle>),
    /// A net that does not compile.
    #[error(transparent)]
    Compile(#[from] CompileError),
    /// An expression that does not fit the net.
    #[error(transparent)]
    Expression(#[from] ExprError),
    /// States that cannot be explored.
    #[error(transparent)]
    Explore(#[from] ExploreError),
    /// The net has too many states, or the exploration was stopped.
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
    /// Rewards up to a goal that cannot be solved.
    #[error(transparent)]
    Ask(#[from] AskError),
    /// A net with fixed delays that cannot be solved.
    #[error(transparent)]
    FixedDelays(#[from] FixedDelayError),
    /// A question that series-parallel reduction does not answer.
    #[error("series-parallel reduction computes only the time to the dead marking; {what} needs the state space")]
    NeedsStates {
        /// The request.
        what: &'static str,
    },
    /// Requests that exclude each other.
    #[error("{what}")]
    Conflict {
        /// Reason why they exclude each other.
        what: &'static str,
    },
    /// A reward of runs that possibly never end.
    #[error("reward `{reward}` is infinite, because a run can continue forever")]
    Infinite {
        /// Name of the reward.
        reward: String,
    },
    /// An expression that is infinite or not a number.
    #[error("{what} is infinite or not a number in a marking that the net reaches")]
    NotFinite {
        /// The expression.
        what: String,
    },
    /// The start or the goal of a time between two sets of markings holds in a marking without duration.
    #[error("{} holds in a vanishing marking, but a time between two sets of markings can start and end only in tangible markings", if *is_start { "the start" } else { "the goal" })]
    InZeroTime {
        /// True for the start.
        is_start: bool,
    },
    /// In the long run, no firing makes the start true, so the time has no beginning.
    #[error("in the long run, no firing makes the start true: {}", standing(*.holds))]
    NeverEntered {
        /// Share of the time in which the start holds.
        holds: f64,
    },
    /// A marking in which an expression has no valid value.
    #[error(transparent)]
    Fault(#[from] Fault),
}

/// Returns the reason why no firing makes an expression true, from the share of the time in which it holds.
fn standing(holds: f64) -> &'static str {
    /// Maximum error of a share of 1.
    const ROUNDING: f64 = 1e-9;
    if holds == 0.0 {
        "it never holds"
    } else if holds > 1.0 - ROUNDING {
        "it always holds"
    } else {
        "it always holds in some recurrent classes, and never in the others"
    }
}

/// The exact time to a goal.
#[derive(Debug)]
pub enum ExactTime {
    /// From the parts of a schedule, with guaranteed bounds.
    Parts(CompletionTime),
    /// From all states.
    States {
        /// The states.
        space: Box<StateSpace>,
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
            Self::States { space, targets } => Ok(time_to(space, targets, &Unwatched)?.moments_if_reached()?.mean),
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
            Self::States { space, targets } => Ok(time_to(space, targets, &Unwatched)?.quantile(p)?),
        }
    }
}

/// Returns the time from the initial marking to the target states; `watch` may stop the work.
///
/// # Errors
///
/// The errors of [`passage`].
pub fn time_to<'a>(space: &'a StateSpace, targets: &[bool], watch: &'a dyn Watch) -> Result<Passage<'a>, PassageError> {
    passage(space.partial_chain(), targets, &PassageSettings::watched(watch))
}

/// Exact numbers for the quantities of a question; quantities that the question does not ask for are empty. Times in
/// seconds.
#[derive(Debug)]
pub struct ExactAnswer {
    /// The method.
    pub method: ExactBy,
    /// Number of states used; none if the method uses no states.
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
    /// Folded parts of the net; none if it was solved unfolded.
    pub folded: Option<FoldedParts>,
    /// Parts of the net that look alike and were not folded.
    pub not_folded: Vec<NotFolded>,
}

impl ExactAnswer {
    pub(super) fn empty(method: ExactBy, states: Option<usize>) -> Self {
        Self {
            method,
            states,
            time: None,
            tokens: Vec::new(),
            throughputs: Vec::new(),
            rewards: Vec::new(),
            snapshots: Vec::new(),
            folded: None,
            not_folded: Vec::new(),
        }
    }
}

/// Questions that an exact method can answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// The time to a goal.
    Passage,
    /// Averages up to a horizon, and snapshots.
    Averages,
    /// The long run.
    Steady,
}

/// Returns the net with phases in place of its Erlang and hyperexponential delays; original places and transitions come first.
///
/// # Errors
///
/// Every delay that phases cannot represent.
pub fn with_phases(net: &Net) -> Result<Expanded, Problems<PhaseObstacle>> {
    let is_general = |timing: &Timing| matches!(timing, Timing::Timed { delay: Delay::General(_), .. });
    if !net.transitions().iter().any(|transition| is_general(&transition.timing)) {
        return Ok(Expanded { net: net.clone(), hidden_places: Vec::new(), hidden_transitions: Vec::new() });
    }
    expand_phases(net)
}

/// Returns the net with general delays expanded to phases; the original net if some of its delays cannot be expanded.
pub fn phases_if_possible(net: &Net) -> Net {
    with_phases(net).map_or_else(|_| net.clone(), |expanded| expanded.net)
}

/// A number with its digits in groups of three.
pub(super) fn grouped(number: u64) -> String {
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

impl Explain for AnswerError {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::Compile(error) => error.kind(),
            Self::Explore(error)
            | Self::Ask(AskError::Explore(error))
            | Self::FixedDelays(FixedDelayError::Explore(error)) => error.kind(),
            Self::NotFinite { .. } | Self::Fault(_) => ErrorKind::Model,
            _ => ErrorKind::Refused,
        }
    }

    fn help(&self) -> Option<Cow<'static, str>> {
        Some(match self {
            Self::NeedsReplications(_) => "use `--method simulate`".into(),
            Self::Explore(error)
            | Self::Ask(AskError::Explore(error))
            | Self::FixedDelays(FixedDelayError::Explore(error)) => return error.help(),
            Self::SeriesParallel(SeriesParallelError::NotSchedule(_)) => {
                "use `--method states`, which builds the state space, or `tailspn net simulate`".into()
            }
            Self::NeverEntered { .. } => "without --from, the time is measured from the start of the run".into(),
            Self::InZeroTime { .. } => {
                "in --from and --until, use expressions over places in which tokens spend time".into()
            }
            _ => return None,
        })
    }

    fn problems(&self) -> Vec<String> {
        match self {
            Self::Compile(error) => error.problems(),
            Self::Phases(obstacles) => obstacles.iter().map(ToString::to_string).collect(),
            other => vec![other.to_string()],
        }
    }
}
