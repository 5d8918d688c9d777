//! Steady-state averages by simulation, configured by chained calls: several independent long runs, or a single run, divided into equal parts.

use std::num::NonZeroUsize;
use std::time::Instant;

use crate::compile::{CompileError, Program, compile};
use crate::estimate::StopRule;
use crate::net::expr::ExprError;
use crate::net::{Net, TransitionKey};
use crate::sim::prepared::Prepared;
use crate::sim::question::{Question, Reward};
use crate::sim::simulation::{QuestionError, index, reward};
use crate::sim::steady::{
    BatchAverages, BatchLength, SteadyError, SteadyRunError, SteadyState, run_steady, run_steady_runs, slowest_mean,
};
use crate::sim::steady_result::SteadyResult;
use crate::sim::targets::{NoQuantity, Precision, Quantity, Target};
use crate::sim::unfired::Unseen;
use crate::watch::{Quiet, Unwatched, Watch};

/// Default number of independent runs. From a single run, it is not clear whether the run has visited all parts of the net.
pub const LONG_RUNS: u64 = 8;
/// Default maximum number of firings of long runs that have targets.
pub const MOST_LONG_FIRINGS: u64 = 2_000_000_000;
/// Number of equal parts of each run; their averages are the input of the statistics.
const PARTS: u32 = 500;
/// Inverse of the share of firings that are used to measure the time per firing.
const PILOT: u64 = 20;
/// Maximum number of runs that measure the time per firing; a run that ends in a dead marking does not measure it.
const PILOTS: usize = 16;

/// Long runs of a program: independent runs that are divided into equal parts. No part is excluded.
///
/// Parts have equal times, not equal numbers of firings: the mean of averages over equal times is the mean over time.
#[derive(Clone, Copy, Debug)]
pub struct LongRuns<'a> {
    /// Rewards that are averaged per second.
    pub rewards: &'a [Reward],
    /// Number of independent runs, at least 1.
    pub runs: u64,
    /// Approximate number of firings of all runs together.
    pub firings: u64,
    /// Seed of all runs.
    pub seed: u64,
    /// Number of threads; by default one per core. Results do not depend on this number.
    pub threads: Option<NonZeroUsize>,
    /// Receives progress in parts, and may stop the runs.
    pub watch: &'a dyn Watch,
}

impl LongRuns<'_> {
    /// Runs the program.
    ///
    /// # Errors
    ///
    /// The errors of [`run_steady`].
    pub fn run(&self, program: &Program) -> Result<Vec<BatchAverages>, SteadyError> {
        let length = BatchLength::Seconds(self.part_length(program)?);
        let rewards = self.rewards.to_vec();
        let settings =
            SteadyState { batches: PARTS, discarded: 0, rewards, seed: self.seed, ..SteadyState::new(length) };
        run_steady_runs(program, &settings, self.runs, self.threads, self.watch)
    }

    /// Runs the program repeatedly, each round with more firings, until the means of all targets are precise enough, or up
    /// to `most` firings. A round replaces the previous one, unless it was stopped before it was as long.
    ///
    /// Approximate: a round that is precise by chance ends the search, so the coverage is slightly below the level.
    ///
    /// # Errors
    ///
    /// The errors of [`run_steady`].
    pub fn run_until_known(
        &self,
        program: &Program,
        targets: &[Target],
        level: f64,
        most: u64,
    ) -> Result<Vec<BatchAverages>, SteadyError> {
        let rule =
            StopRule { rel_error: 1.0, level, min_reps: self.firings, max_reps: most.max(self.firings), chunk: 1 };
        let excess = |runs: &[BatchAverages]| {
            targets.iter().map(|target| target.long_run_excess(runs, level)).fold(0.0, f64::max)
        };
        let model_time = |runs: &[BatchAverages]| runs.iter().flat_map(|run| &run.seconds).sum::<f64>();
        let mut firings = self.firings;
        let mut found = self.run(program)?;
        while !self.watch.stopped()
            && let Some(more) = rule.next_round(firings, excess(&found))
        {
            firings += more;
            match (LongRuns { firings, ..*self }).run(program) {
                Ok(longer) if model_time(&longer) >= model_time(&found) => found = longer,
                Ok(_) | Err(SteadyError::Stopped) => break,
                Err(error) => return Err(error),
            }
        }
        Ok(found)
    }

    /// Model time of a part \[s\] for which all parts together have about the requested number of firings.
    fn part_length(&self, program: &Program) -> Result<f64, SteadyError> {
        let pilot = (self.firings / PILOT).max(1);
        let mut each = None;
        // separate replications, so that the length of the runs does not depend on their results
        for replication in (self.runs..).take(PILOTS) {
            let settings = SteadyState {
                batches: 1,
                discarded: 0,
                seed: self.seed,
                replication,
                ..SteadyState::new(BatchLength::Firings(pilot))
            };
            let averages = run_steady(program, &settings, &Quiet(self.watch))?;
            if !averages.is_dead {
                each = Some(averages.seconds.iter().sum::<f64>() / pilot as f64);
                break;
            }
        }
        // if runs end in dead markings, any time that most of them need will do
        let each = each.or_else(|| slowest_mean(program)).unwrap_or(1.0);
        Ok(each * self.firings as f64 / (self.runs as f64 * f64::from(PARTS)))
    }
}

/// A steady-state simulation of a net, created by [`Net::steady_state`]. It observes the tokens of every place and the
/// throughput of every transition.
///
/// ```
/// use tailspn_engine::net::{NetBuilder, Timing};
///
/// let mut b = NetBuilder::new("machine: up for 9 s, down for 1 s");
/// let (up, down) = (b.place("up", 1), b.place("down", 0));
/// let (fail, repair) = (b.transition("fail", Timing::exponential(1.0 / 9.0)), b.transition("repair", Timing::exponential(1.0)));
/// b.input(up, fail, 1.0);
/// b.output(fail, down, 1.0);
/// b.input(down, repair, 1.0);
/// b.output(repair, up, 1.0);
/// let net = b.build().unwrap();
///
/// let steady = net.steady_state().firings(200_000).run().unwrap();
/// assert!((steady.tokens("up").unwrap().value - 0.9).abs() < 0.02);
/// assert!((steady.throughput(fail).unwrap().value - 0.1).abs() < 0.01);
/// ```
#[derive(Clone)]
#[must_use = "a simulation does nothing until `run` is called"]
pub struct SteadySimulation<'a> {
    net: &'a Net,
    question: Question,
    runs: u64,
    firings: u64,
    seed: u64,
    threads: Option<NonZeroUsize>,
    level: f64,
    fold: bool,
    targets: Vec<Target>,
    most_firings: u64,
    watch: &'a dyn Watch,
}

impl Net {
    /// A steady-state simulation of this net.
    pub fn steady_state(&self) -> SteadySimulation<'_> {
        SteadySimulation {
            net: self,
            question: Question { tokens: true, throughput: true, steady: true, ..Question::default() },
            runs: LONG_RUNS,
            firings: 2_000_000,
            seed: 0,
            threads: None,
            level: crate::estimate::LEVEL,
            fold: true,
            targets: Vec::new(),
            most_firings: MOST_LONG_FIRINGS,
            watch: &Unwatched,
        }
    }
}

impl<'a> SteadySimulation<'a> {
    /// Sets the number of independent runs, at least 1. With one run, intervals come from the means of its batches. Default
    /// [`LONG_RUNS`].
    pub fn runs(mut self, runs: u64) -> Self {
        self.runs = runs.max(1);
        self
    }

    /// Sets the approximate number of firings of all runs together. Default 2 million.
    pub fn firings(mut self, firings: u64) -> Self {
        self.firings = firings;
        self
    }

    /// Runs again with more firings until the mean of a quantity has this precision. A run can have several targets. The name is a
    /// place, a transition or a reward that was added before.
    ///
    /// # Errors
    ///
    /// An unknown name, or one without a long-run mean.
    pub fn known_to(mut self, name: &str, precision: Precision) -> Result<Self, NoQuantity> {
        let quantities = Quantity::of_long_run(self.net, &self.question, name)?;
        self.targets.extend(quantities.into_iter().map(|quantity| Target { quantity, precision }));
        Ok(self)
    }

    /// Sets all targets at once, see [`SteadySimulation::known_to`].
    pub fn targets(mut self, targets: Vec<Target>) -> Self {
        self.targets = targets;
        self
    }

    /// Asks for the averages of a question that is compiled already: its rewards, and tokens and throughputs if it has them, or if
    /// it has no rewards either.
    pub fn asking(mut self, question: Question) -> Self {
        self.question = question;
        self
    }

    /// Sets the maximum number of firings of all runs together, if a precision is requested. Default 2 billion.
    pub fn most_firings(mut self, firings: u64) -> Self {
        self.most_firings = firings;
        self
    }

    /// Averages a reward per second of model time, by an expression over the marking.
    ///
    /// # Errors
    ///
    /// An invalid expression.
    pub fn reward(mut self, name: &str, rate: &str) -> Result<Self, ExprError> {
        let rate = self.net.reward_code(rate)?;
        reward(&mut self.question.rewards, name).rate = Some(rate);
        Ok(self)
    }

    /// Averages a reward at each firing of a transition, by an expression over the marking before the firing. The reward is
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

    /// Sets the seed; the same seed gives the same numbers on any number of threads. Default 0.
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// Sets the number of threads. Default: one per core.
    pub fn threads(mut self, threads: NonZeroUsize) -> Self {
        self.threads = Some(threads);
        self
    }

    /// Sets the confidence level of all intervals, in (0, 1). Default [`LEVEL`](crate::estimate::LEVEL).
    pub fn level(mut self, level: f64) -> Self {
        self.level = level;
        self
    }

    /// Sets whether replicas that no reward distinguishes are counted instead of represented one by one. Default true. In
    /// both cases, results refer to the original net.
    pub fn fold(mut self, fold: bool) -> Self {
        self.fold = fold;
        self
    }

    /// Reports progress to `watch`, which may also stop the runs.
    pub fn watch(mut self, watch: &'a dyn Watch) -> Self {
        self.watch = watch;
        self
    }

    /// Compiles the net and runs it.
    ///
    /// # Errors
    ///
    /// All variants of [`SteadyRunError`].
    pub fn run(self) -> Result<SteadyResult, SteadyRunError> {
        let prepared = self.prepared()?;
        self.run_prepared(&prepared)
    }

    /// Compiles the net, with equal parts folded.
    ///
    /// # Errors
    ///
    /// A net that cannot be compiled.
    pub fn prepared(&self) -> Result<Prepared, CompileError> {
        Prepared::new(self.net, &self.question, self.fold)
    }

    /// Runs the net that [`SteadySimulation::prepared`] compiled.
    ///
    /// # Errors
    ///
    /// [`SteadyRunError::Steady`].
    pub fn run_prepared(self, prepared: &Prepared) -> Result<SteadyResult, SteadyRunError> {
        let started = Instant::now();
        let long = LongRuns {
            rewards: &prepared.question.rewards,
            runs: self.runs,
            firings: self.firings,
            seed: self.seed,
            threads: self.threads,
            watch: self.watch,
        };
        let targets = prepared.targets(&self.targets);
        let runs = long.run_until_known(&prepared.program, &targets, self.level, self.most_firings)?;
        let runs = prepared.unfold_averages(runs);
        let program = compile(self.net)?;
        let unseen = Unseen::of(&program, &self.question.rewards, &runs, self.seed, self.watch)?;
        let Self { net, question, runs: planned, level, seed, .. } = self;
        let (folded, not_folded) = (prepared.folded_parts(), prepared.not_folded().to_vec());
        let wall = started.elapsed();
        let net = net.clone();
        Ok(SteadyResult { net, question, planned, runs, level, unseen, seed, wall, folded, not_folded })
    }
}

impl std::fmt::Debug for SteadySimulation<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { net, question, runs, firings, seed, .. } = self;
        f.debug_struct("SteadySimulation")
            .field("net", &net.name())
            .field("rewards", &question.rewards)
            .field("runs", runs)
            .field("firings", firings)
            .field("seed", seed)
            .finish_non_exhaustive()
    }
}
