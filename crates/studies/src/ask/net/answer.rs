//! The answer to a question about a net: by replications or long runs, or exactly in their place.

use std::borrow::Cow;

use tailspn_common::explain::{ErrorKind, Explain};

use crate::answer::{AnswerError, Choice, ExactAnswer, choose, exact, exact_of_prepared};
use crate::ask::RunSettings;
use crate::compile::CompileError;
use crate::net::Net;
use crate::sim::{
    EngineChoice, Ensemble, LONG_RUNS, MOST_LONG_FIRINGS, Prepared, Question, SimulationError, SimulationResult,
    SteadyResult, SteadyRunError, Target,
};
use crate::watch::Watch;

/// Method of an answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AnswerBy {
    /// By simulation; the answer states whether an exact answer would be faster.
    #[default]
    Auto,
    /// By simulation, without a check of exact methods.
    Simulation,
    /// Exactly.
    Exact,
}

/// The number and the length of long runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LongRunLength {
    /// Number of independent runs, at least 1.
    pub runs: u64,
    /// Firings of all runs together; with targets, the maximum. None means 2 million, or 2 billion with targets.
    pub firings: Option<u64>,
}

impl Default for LongRunLength {
    fn default() -> Self {
        Self { runs: LONG_RUNS, firings: None }
    }
}

/// Settings of an answer about a net.
#[derive(Clone, Debug, Default)]
pub struct NetSettings {
    /// Method of the answer.
    pub by: AnswerBy,
    /// Reason why the answer must have replications, if it must.
    pub needs_replications: Option<&'static str>,
    /// Long runs, which answer a question about the long run.
    pub long_runs: LongRunLength,
    /// True to keep equal parts of the net apart instead of counting them.
    pub unfolded: bool,
    /// Engine of the replications.
    pub engine: EngineChoice,
    /// Quantities that the simulation must estimate with the requested error. None: only the mean time.
    pub targets: Vec<Target>,
    /// Settings of the run. There are 10,000 replications unless their number is given; long runs use the seed, the level and the
    /// threads.
    pub run: RunSettings,
}

/// Number of replications unless it is given.
const REPLICATIONS: u64 = 10_000;

impl NetSettings {
    fn ensemble(&self) -> Ensemble {
        let (engine, targets) = (self.engine, self.targets.clone());
        Ensemble { engine, targets, ..self.run.ensemble(0, REPLICATIONS) }
    }
}

/// Default number of firings of all long runs together; with targets, number of firings of the first round.
const FIRINGS: u64 = 2_000_000;

/// The answer to a question about a net.
#[derive(Debug)]
pub enum NetAnswer {
    /// Of replications, with the exact method that would cost less, if any is known.
    Replications(Box<SimulationResult>, Choice),
    /// Of long runs, with the exact method that would cost less, if any is known.
    LongRuns(Box<SteadyResult>, Choice),
    /// Exact numbers.
    Exact(Box<ExactAnswer>),
}

/// Reason why a question about a net has no answer.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum NetAnswerError {
    /// The net cannot be compiled.
    #[error(transparent)]
    Compile(#[from] CompileError),
    /// The replications cannot be run.
    #[error(transparent)]
    Replications(#[from] SimulationError),
    /// The long runs give no steady state.
    #[error(transparent)]
    LongRuns(#[from] SteadyRunError),
    /// There is no exact answer.
    #[error(transparent)]
    Exact(#[from] AnswerError),
    /// An exact answer was requested, but the question needs replications.
    #[error("no exact method supports this: {0}")]
    NeedsReplications(&'static str),
}

/// A net that is compiled for a question about it.
#[derive(Debug)]
pub struct PreparedNet<'a> {
    net: &'a Net,
    question: &'a Question,
    settings: &'a NetSettings,
    prepared: Prepared,
}

/// Answers a question about a net: by simulation, or exactly if the settings request that.
///
/// ```
/// use tailspn_engine::net::{NetBuilder, Timing};
/// use tailspn_engine::sim::Question;
/// use tailspn_engine::watch::Unwatched;
/// use tailspn_studies::ask::net::{AnswerBy, NetAnswer, NetSettings, answer};
///
/// let mut b = NetBuilder::new("task");
/// let (open, done) = (b.place("open", 1), b.place("done", 0));
/// let work = b.transition("work", Timing::exponential(0.5));
/// b.input(open, work, 1.0);
/// b.output(work, done, 1.0);
/// let net = b.build().unwrap();
///
/// let question = Question::until(&net, "#(done) >= 1").unwrap();
/// let settings = NetSettings { by: AnswerBy::Exact, ..NetSettings::default() };
/// let NetAnswer::Exact(exact) = answer(&net, &question, &settings, &Unwatched).unwrap() else { unreachable!() };
/// assert_eq!(exact.time.unwrap().mean().unwrap(), 2.0);
/// ```
///
/// # Errors
///
/// All variants of [`NetAnswerError`].
pub fn answer(
    net: &Net,
    question: &Question,
    settings: &NetSettings,
    watch: &dyn Watch,
) -> Result<NetAnswer, NetAnswerError> {
    PreparedNet::new(net, question, settings)?.answer(watch)
}

impl<'a> PreparedNet<'a> {
    /// Compiles a net for a question about it, with equal parts folded. This may take long for a large net, and cannot be
    /// stopped.
    ///
    /// # Errors
    ///
    /// A net that cannot be compiled.
    pub fn new(net: &'a Net, question: &'a Question, settings: &'a NetSettings) -> Result<Self, CompileError> {
        let asked = question.clone();
        let prepared = if question.steady {
            net.steady_state().asking(asked).fold(!settings.unfolded).prepared()?
        } else {
            let simulation = net.simulation().asking(asked).ensemble(settings.ensemble());
            if settings.unfolded { simulation.unfolded().prepared()? } else { simulation.prepared()? }
        };
        Ok(Self { net, question, settings, prepared })
    }

    /// Answers the question. `watch` may stop the work; results so far are kept.
    ///
    /// # Errors
    ///
    /// All variants of [`NetAnswerError`].
    pub fn answer(self, watch: &dyn Watch) -> Result<NetAnswer, NetAnswerError> {
        let choice = match (self.settings.by, self.settings.needs_replications) {
            (AnswerBy::Exact, Some(reason)) => return Err(NetAnswerError::NeedsReplications(reason)),
            (AnswerBy::Exact, None) => return self.exact(watch),
            (AnswerBy::Auto, Some(reason)) => Choice { no_exact: Some(reason.to_owned()), ..Choice::default() },
            (AnswerBy::Auto, None) => {
                choose(self.prepared.net(self.net), &self.prepared.program, &self.prepared.question)
            }
            (AnswerBy::Simulation, _) => Choice::default(),
        };
        if self.question.steady { self.long_runs(choice, watch) } else { self.replications(choice, watch) }
    }

    fn replications(self, choice: Choice, watch: &dyn Watch) -> Result<NetAnswer, NetAnswerError> {
        let Self { net, question, settings, prepared } = self;
        watch.counts("replications");
        let simulation = net.simulation().asking(question.clone()).ensemble(settings.ensemble());
        let result = simulation.level(settings.run.level).watch(watch).run_prepared(prepared)?;
        Ok(NetAnswer::Replications(Box::new(result), choice))
    }

    fn long_runs(self, choice: Choice, watch: &dyn Watch) -> Result<NetAnswer, NetAnswerError> {
        let Self { net, question, settings, prepared } = self;
        watch.counts("parts");
        let LongRunLength { runs, firings } = settings.long_runs;
        let Ensemble { targets, seed, threads, .. } = settings.ensemble();
        let most = firings.unwrap_or(MOST_LONG_FIRINGS);
        let first = if targets.is_empty() { firings.unwrap_or(FIRINGS) } else { FIRINGS.min(most) };
        let long = net.steady_state().asking(question.clone()).targets(targets).firings(first).most_firings(most);
        let long = long.runs(runs).seed(seed).level(settings.run.level).watch(watch);
        let long = if let Some(threads) = threads { long.threads(threads) } else { long };
        Ok(NetAnswer::LongRuns(Box::new(long.run_prepared(&prepared)?), choice))
    }

    fn exact(&self, watch: &dyn Watch) -> Result<NetAnswer, NetAnswerError> {
        let Self { net, question, settings, prepared } = self;
        watch.counts("states");
        let answer = if settings.unfolded {
            exact(net, &prepared.program, question, watch)?
        } else {
            exact_of_prepared(net, question, prepared, watch)?
        };
        Ok(NetAnswer::Exact(Box::new(answer)))
    }
}

impl NetAnswerError {
    /// Returns the error of the method that failed; `None` if the question does not suit the method.
    fn cause(&self) -> Option<&dyn Explain> {
        match self {
            Self::Compile(error)
            | Self::Replications(SimulationError::Compile(error))
            | Self::LongRuns(SteadyRunError::Compile(error)) => Some(error),
            Self::Replications(SimulationError::Run(error)) => Some(error),
            Self::LongRuns(SteadyRunError::Steady(error)) => Some(error),
            Self::Exact(error) => Some(error),
            Self::Replications(_) | Self::LongRuns(_) | Self::NeedsReplications(_) => None,
        }
    }
}

impl Explain for NetAnswerError {
    fn kind(&self) -> ErrorKind {
        self.cause().map_or(ErrorKind::Refused, Explain::kind)
    }

    fn help(&self) -> Option<Cow<'static, str>> {
        Some(match self {
            Self::NeedsReplications(_) => "use `--method simulate`".into(),
            Self::Replications(SimulationError::Endless { .. }) => {
                "use --horizon T for a fixed time span, --steady for the long run, --until EXPR for another goal, or a larger --max-firings N".into()
            }
            Self::Replications(SimulationError::Unreached { .. }) => {
                "use --reps N without --rel-error to see the probability of the goal and the reasons why replications end".into()
            }
            _ => return self.cause()?.help(),
        })
    }

    fn problems(&self) -> Vec<String> {
        self.cause().map_or_else(|| vec![self.to_string()], Explain::problems)
    }
}
