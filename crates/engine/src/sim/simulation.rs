//! A simulation configured by chained calls: the question about a net, the number of replications, and the run.
//!
//! Questions are in the user's terms (expressions, names, seconds). [`run()`](crate::sim::run()) executes the run.

use std::num::NonZeroUsize;
use std::time::{Duration, Instant};

use tailspn_common::number::count;

use crate::compile::{Code, CompileError, lower, lower_reward};
use crate::estimate::StopRule;
use crate::net::expr::ExprError;
use crate::net::{LookupError, Net, TransitionKey};
use crate::sim::backend::Backend;
use crate::sim::engines::EngineChoice;
use crate::sim::ensemble::Ensemble;
use crate::sim::patience::{PATIENCE, SEARCH, limit_firings, reaches_goal};
use crate::sim::prepared::Prepared;
use crate::sim::question::{Condition, Goal, Group, Question, Reward, Snapshot};
use crate::sim::result::SimulationResult;
use crate::sim::run::run;
use crate::sim::run_error::RunError;
use crate::sim::targets::{NoQuantity, Precision, Quantity, Target};
use crate::watch::{TimeLimit, Unwatched, Watch};

/// A simulation of a net, created by [`Net::simulation`].
///
/// Without further calls, it estimates the time until no transition is enabled, from 10,000 replications with
/// seed 0. All times are in seconds.
///
/// ```
/// use tailspn_engine::net::{NetBuilder, Timing};
///
/// let mut b = NetBuilder::new("one task of 2 s");
/// let (todo, done) = (b.place("todo", 1), b.place("done", 0));
/// let task = b.transition("task", Timing::exponential(0.5));
/// b.input(todo, task, 1.0);
/// b.output(task, done, 1.0);
/// let net = b.build().unwrap();
///
/// let run = net.simulation().until("#(done) >= 1").unwrap().replications(20_000).seed(7).run().unwrap();
/// let mean = run.passage().mean();
/// assert!((mean.value - 2.0).abs() < 0.1, "{mean}");
/// ```
#[derive(Clone)]
#[must_use = "a simulation does nothing until `run` is called"]
pub struct Simulation<'a> {
    net: &'a Net,
    question: Question,
    ensemble: Ensemble,
    level: f64,
    fold: bool,
    watch: &'a dyn Watch,
}

/// Reason why a simulation gives no result.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SimulationError {
    /// The net cannot be compiled.
    #[error(transparent)]
    Compile(#[from] CompileError),
    /// The replications cannot be run.
    #[error(transparent)]
    Run(#[from] RunError),
    /// The first replication does not end. Set a horizon or another goal, or compute the steady state.
    #[error("the net does not stop: after {} firings it has not reached {goal}", count(u128::from(*firings)))]
    Endless {
        /// Number of firings of the replication.
        firings: u64,
        /// The goal.
        goal: String,
    },
    /// A relative error of the mean time was requested, but no replication reaches the goal. Request a number of
    /// replications instead.
    #[error(
        "none of the first {} replications reached {goal}, so the mean time to it cannot be estimated with an error of {precision}",
        count(u128::from(*replications))
    )]
    Unreached {
        /// Number of replications that searched for the goal.
        replications: u64,
        /// The goal.
        goal: String,
        /// The requested precision of the mean time.
        precision: Precision,
    },
}

impl Net {
    /// A simulation of this net.
    pub fn simulation(&self) -> Simulation<'_> {
        Simulation {
            net: self,
            question: Question::default(),
            ensemble: Ensemble::default(),
            level: crate::estimate::LEVEL,
            fold: true,
            watch: &Unwatched,
        }
    }

    /// An expression of this net, compiled.
    ///
    /// # Errors
    ///
    /// The errors of [`Net::expression`].
    pub fn code(&self, text: &str) -> Result<Code, ExprError> {
        Ok(lower(self, &self.expression(text)?))
    }

    /// The rate of a reward over the markings of this net, compiled such that sums over places are fast to evaluate.
    ///
    /// # Errors
    ///
    /// The errors of [`Net::expression`].
    pub fn reward_code(&self, text: &str) -> Result<Code, ExprError> {
        Ok(lower_reward(self, &self.expression(text)?))
    }
}

impl<'a> Simulation<'a> {
    /// Ends each replication in the first marking in which the expression is not 0, such as `#(done) >= 1`.
    ///
    /// # Errors
    ///
    /// An invalid expression.
    pub fn until(mut self, goal: &str) -> Result<Self, ExprError> {
        self.question.goal = Goal::marking(self.net, goal)?;
        Ok(self)
    }

    /// Ends each replication at `seconds` of model time and not earlier, even if no transition is enabled.
    pub fn until_time(mut self, seconds: f64) -> Self {
        self.question.goal = Goal::Horizon;
        self.horizon(seconds)
    }

    /// Ends each replication that enters a marking in which the expression is not 0, such as `#(failed) >= 1`, before the goal. It
    /// does not reach the goal.
    ///
    /// # Errors
    ///
    /// An invalid expression.
    pub fn avoid(mut self, markings: &str) -> Result<Self, ExprError> {
        self.question.avoid = Some(Condition::new(self.net, markings)?);
        Ok(self)
    }

    /// Sets the first time, in seconds, at which the goal counts. Default 0.
    pub fn earliest(mut self, seconds: f64) -> Self {
        self.question.earliest = seconds;
        self
    }

    /// Ends a replication that has not reached its goal at `seconds` of model time.
    pub fn horizon(mut self, seconds: f64) -> Self {
        self.question.horizon = Some(seconds);
        self
    }

    /// Ends a replication after this many firings. Default: 10 million for a net that possibly never stops.
    pub fn max_firings(mut self, firings: u64) -> Self {
        self.question.max_firings = Some(firings);
        self
    }

    /// Collects token averages, throughputs and rewards from `seconds` of model time on. Default 0.
    pub fn warm_up(mut self, seconds: f64) -> Self {
        self.question.warm_up = seconds;
        self
    }

    /// Observes the time-averaged tokens of every place.
    pub fn tokens(mut self) -> Self {
        self.question.tokens = true;
        self
    }

    /// Observes the firings per second of every transition.
    pub fn throughputs(mut self) -> Self {
        self.question.throughput = true;
        self
    }

    /// Collects a reward per second of model time, by an expression over the marking.
    ///
    /// # Errors
    ///
    /// An invalid expression.
    pub fn reward(mut self, name: &str, rate: &str) -> Result<Self, ExprError> {
        let rate = self.net.reward_code(rate)?;
        reward(&mut self.question.rewards, name).rate = Some(rate);
        Ok(self)
    }

    /// Collects a reward at each firing of a transition, by an expression over the marking before the firing. The reward is
    /// added to the reward of the same name.
    ///
    /// # Errors
    ///
    /// An unknown transition, or an invalid expression.
    pub fn impulse(
        mut self,
        name: &str,
        transition: impl Into<TransitionKey>,
        value: &str,
    ) -> Result<Self, QuestionError> {
        let impulse = (index(self.net, transition)?, self.net.code(value)?);
        reward(&mut self.question.rewards, name).impulses.push(impulse);
        Ok(self)
    }

    /// Observes the first and the last firing time of a group of transitions.
    ///
    /// # Errors
    ///
    /// An unknown transition.
    pub fn group<T: Into<TransitionKey>>(
        mut self,
        name: &str,
        transitions: impl IntoIterator<Item = T>,
    ) -> Result<Self, LookupError> {
        let transitions = transitions.into_iter().map(|transition| index(self.net, transition));
        let transitions = transitions.collect::<Result<_, _>>()?;
        self.question.groups.push(Group { name: name.to_owned(), transitions });
        Ok(self)
    }

    /// Evaluates an expression at `seconds` of model time.
    ///
    /// # Errors
    ///
    /// An invalid expression.
    pub fn snapshot(mut self, seconds: f64, value: &str) -> Result<Self, ExprError> {
        let snapshot = Snapshot::new(self.net, seconds, value)?;
        let at = self.question.snapshots.partition_point(|earlier| earlier.time <= seconds);
        self.question.snapshots.insert(at, snapshot);
        Ok(self)
    }

    /// Asks a question that is compiled already; replaces the question so far.
    pub fn asking(self, question: Question) -> Self {
        Self { question, ..self }
    }

    /// Sets the number of replications, their seed and all other settings of the run at once.
    pub fn ensemble(self, ensemble: Ensemble) -> Self {
        Self { ensemble, ..self }
    }

    /// Sets the number of replications. Default 10,000.
    pub fn replications(mut self, replications: u64) -> Self {
        self.ensemble.replications = replications;
        self
    }

    /// Replicates until the interval of the mean passage time has this relative half width, such as 0.01; at most 10 million times.
    pub fn relative_error(self, rel_error: f64) -> Self {
        let level = self.level;
        self.stop(StopRule { rel_error, level, ..StopRule::default() })
    }

    /// Replicates until the interval of a quantity is narrow enough; at most 10 million times. Several calls set several
    /// targets, which replace [`Self::relative_error`]. The name is `time`, `goal`, a reward, a place, a transition or `at T` for snapshots, as
    /// [`Quantity::named`] reads it. Rewards and snapshots must be requested before.
    ///
    /// # Errors
    ///
    /// An unknown name.
    pub fn known_to(mut self, name: &str, precision: Precision) -> Result<Self, NoQuantity> {
        for quantity in Quantity::named(self.net, &self.question, name)? {
            quantity.observe(&mut self.question);
            self.ensemble.targets.push(Target { quantity, precision });
        }
        let level = self.level;
        self.ensemble.stop.get_or_insert_with(|| StopRule { level, ..StopRule::default() });
        Ok(self)
    }

    /// Replicates until the mean passage time satisfies the rule.
    pub fn stop(mut self, rule: StopRule) -> Self {
        self.ensemble.stop = Some(rule);
        self
    }

    /// Sets the seed; the same seed gives the same numbers on any number of threads. Default 0.
    pub fn seed(mut self, seed: u64) -> Self {
        self.ensemble.seed = seed;
        self
    }

    /// Sets the number of threads. Default: one per core.
    pub fn threads(mut self, threads: NonZeroUsize) -> Self {
        self.ensemble.threads = Some(threads);
        self
    }

    /// Ends the run after this wall time, with the replications that are complete by then.
    pub fn max_wall(mut self, wall: Duration) -> Self {
        self.ensemble.max_wall = Some(wall);
        self
    }

    /// Chooses the engine. Default: the fastest engine that can run the net.
    pub fn engine(mut self, engine: EngineChoice) -> Self {
        self.ensemble.engine = engine;
        self
    }

    /// Chooses CPU or GPU. Default: the CPU, then a GPU if much work remains.
    pub fn backend(mut self, backend: Backend) -> Self {
        self.ensemble.backend = backend;
        self
    }

    /// Chooses the GPU by part of its name; a software adapter is used only if it is named.
    pub fn adapter(mut self, name: impl Into<String>) -> Self {
        self.ensemble.adapter = Some(name.into());
        self
    }

    /// Stores individual passage times, see [`PassageTimes::times`](crate::sim::PassageTimes::times).
    pub fn keep_times(mut self) -> Self {
        self.ensemble.keep = true;
        self
    }

    /// Sets the confidence level of all intervals, in (0, 1). Default [`LEVEL`](crate::estimate::LEVEL).
    pub fn level(mut self, level: f64) -> Self {
        self.level = level;
        if let Some(rule) = &mut self.ensemble.stop {
            rule.level = level;
        }
        self
    }

    /// Runs the unfolded net, in which replicas are not counted. The results are the same in distribution; the run takes longer.
    pub fn unfolded(mut self) -> Self {
        self.fold = false;
        self
    }

    /// Reports progress to `watch`, which may also stop the run.
    pub fn watch(mut self, watch: &'a dyn Watch) -> Self {
        self.watch = watch;
        self
    }

    /// Compiles the net and runs the replications.
    ///
    /// # Errors
    ///
    /// All variants of [`SimulationError`].
    pub fn run(self) -> Result<SimulationResult, SimulationError> {
        let started = Instant::now();
        let prepared = self.prepared()?;
        self.run_since(started, prepared)
    }

    /// Compiles the net for the question, with equal parts folded.
    ///
    /// # Errors
    ///
    /// A net that cannot be compiled.
    pub fn prepared(&self) -> Result<Prepared, CompileError> {
        // the tasks of a schedule are not folded
        let fold = self.fold && self.ensemble.engine != EngineChoice::Schedule;
        Prepared::for_replications(self.net, &self.question, fold)
    }

    /// Runs the replications of the net that [`Simulation::prepared`] compiled.
    ///
    /// # Errors
    ///
    /// All variants of [`SimulationError`].
    pub fn run_prepared(self, prepared: Prepared) -> Result<SimulationResult, SimulationError> {
        self.run_since(Instant::now(), prepared)
    }

    fn run_since(self, started: Instant, mut prepared: Prepared) -> Result<SimulationResult, SimulationError> {
        let Self { net, mut question, mut ensemble, level, watch, .. } = self;
        let watch = &TimeLimit::at(watch, ensemble.max_wall.take().and_then(|wall| started.checked_add(wall)));
        ensemble.targets = prepared.targets(&ensemble.targets);
        if !limit_firings(&prepared.program, &mut prepared.question, &ensemble, PATIENCE, watch)? {
            return Err(SimulationError::Endless { firings: PATIENCE, goal: question.words() });
        }
        if let Some(precision) = ensemble.precision_of_time()
            && !reaches_goal(&prepared.program, &prepared.question, &ensemble, watch)?
        {
            return Err(SimulationError::Unreached { replications: SEARCH[1], goal: question.words(), precision });
        }
        let run = prepared.unfold(run(&prepared.program, &prepared.question, &ensemble, watch)?);
        question.max_firings = prepared.question.max_firings;
        Ok(SimulationResult::new(net.clone(), run, question, level))
    }
}

/// Reason why a question does not fit the net.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum QuestionError {
    /// An invalid expression.
    #[error(transparent)]
    Expression(#[from] ExprError),
    /// A name that the net does not have.
    #[error(transparent)]
    Lookup(#[from] LookupError),
}

/// The reward with this name, which is added if it does not exist yet.
pub(super) fn reward<'q>(rewards: &'q mut Vec<Reward>, name: &str) -> &'q mut Reward {
    let at = rewards.iter().position(|reward| reward.name == name).unwrap_or_else(|| {
        rewards.push(Reward { name: name.to_owned(), rate: None, impulses: Vec::new() });
        rewards.len() - 1
    });
    &mut rewards[at]
}

/// The number of a transition in the program.
pub(super) fn index(net: &Net, transition: impl Into<TransitionKey>) -> Result<u32, LookupError> {
    let id = net.transition_of(&transition.into())?;
    Ok(u32::try_from(id.index()).expect("ids fit"))
}

impl std::fmt::Debug for Simulation<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { question, ensemble, level, .. } = self;
        f.debug_struct("Simulation")
            .field("net", &self.net.name())
            .field("question", question)
            .field("ensemble", ensemble)
            .field("level", level)
            .finish_non_exhaustive()
    }
}
