//! Steady-state averages by simulation, configured by chained calls: several independent long runs, or a single run, divided into equal parts.

use std::num::NonZeroUsize;
use std::time::{Duration, Instant};

use crate::compile::{CompileError, Program, compile};
use crate::estimate::{BatchError, Doubt, FloatMoments, Measured, StopRule, long_run_mean};
use crate::net::expr::ExprError;
use crate::net::{LookupError, Net, PlaceKey, TransitionKey};
use crate::sim::prepared::Prepared;
use crate::sim::question::{Question, Reward};
use crate::sim::record::{FoldedParts, NotFolded};
use crate::sim::simulation::{QuestionError, index, reward};
use crate::sim::steady::{
    BatchAverages, BatchLength, SteadyError, SteadyRunError, SteadyState, run_steady, run_steady_runs, slowest_mean,
};
use crate::sim::targets::{NoQuantity, Precision, Quantity, Target};
use crate::sim::unfired::unseen;
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
/// Number of firings in one run by which a transition should also fire in the other runs.
const OFTEN: u64 = 30;

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
            level: 0.95,
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

    /// Sets the confidence level of all intervals, in (0, 1). Default 0.95.
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
        let unfired = unseen(&program, &runs, self.seed, self.watch)?;
        let unfired = unfired.into_iter().map(|t| program.transition_names[t as usize].to_owned()).collect();
        let Self { net, question, runs: planned, level, seed, .. } = self;
        let (folded, not_folded) = (prepared.folded_parts(), prepared.not_folded().to_vec());
        let wall = started.elapsed();
        let net = net.clone();
        Ok(SteadyResult { net, question, planned, runs, level, unfired, seed, wall, folded, not_folded })
    }
}

/// Steady-state averages by name, with intervals.
#[derive(Clone, Debug, PartialEq)]
pub struct SteadyResult {
    net: Net,
    question: Question,
    /// Planned number of runs.
    planned: u64,
    runs: Vec<BatchAverages>,
    level: f64,
    seed: u64,
    wall: Duration,
    folded: Option<FoldedParts>,
    not_folded: Vec<NotFolded>,
    /// Ids of transitions that never fired, although they may in longer runs.
    unfired: Vec<String>,
}

impl SteadyResult {
    /// The net.
    pub fn net(&self) -> &Net {
        &self.net
    }

    /// Ids of transitions that never fired, although they may in longer runs: timed ones, and immediate ones that were
    /// enabled. If there are any, no number has an interval, because their effects were not observed.
    pub fn unfired(&self) -> &[String] {
        &self.unfired
    }

    /// The question: its rewards, and whether it asks for tokens and throughputs.
    pub fn question(&self) -> &Question {
        &self.question
    }

    /// Confidence level of all intervals.
    pub fn level(&self) -> f64 {
        self.level
    }

    /// Seed of the runs.
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// Wall time of the runs.
    pub fn wall(&self) -> Duration {
        self.wall
    }

    /// Folded parts of the net; none if it ran unfolded.
    pub fn folded_parts(&self) -> Option<FoldedParts> {
        self.folded
    }

    /// Similar parts of the net that were not folded.
    pub fn not_folded(&self) -> &[NotFolded] {
        &self.not_folded
    }

    /// True if runs are missing or incomplete, because the watch stopped them.
    pub fn is_partial(&self) -> bool {
        (self.runs.len() as u64) < self.planned || self.runs.iter().any(|run| run.cut_short)
    }

    /// Number of runs that ended in a dead marking.
    pub fn dead_runs(&self) -> u64 {
        self.runs.iter().filter(|run| run.is_dead).count() as u64
    }

    /// Ids of transitions that fired often in some runs and never in others: the runs ended in different parts of the
    /// state space, or are too short.
    pub fn in_some_runs(&self) -> Vec<String> {
        let counts = |t: usize| self.runs.iter().map(move |run| run.fired.get(t).copied().unwrap_or(0));
        let differs = |t: usize| counts(t).any(|n| n >= OFTEN) && counts(t).any(|n| n == 0);
        let names = self.net.transitions().iter().enumerate();
        names.filter(|(t, _)| differs(*t)).map(|(_, transition)| transition.id.clone()).collect()
    }

    /// The averages of the parts of each run.
    pub fn runs(&self) -> &[BatchAverages] {
        &self.runs
    }

    /// Mean tokens of all classes in a place.
    ///
    /// # Errors
    ///
    /// An unknown place.
    pub fn tokens(&self, place: impl Into<PlaceKey>) -> Result<Measured, LookupError> {
        let place = self.net.place_of(&place.into())?.index();
        let classes = self.net.classes().len();
        let counters = place * classes..(place + 1) * classes;
        let sum = |run: &BatchAverages| -> Vec<f64> {
            let parts = 0..run.seconds.len();
            parts.map(|part| run.tokens[counters.clone()].iter().map(|series| series[part]).sum()).collect()
        };
        let series: Vec<Vec<f64>> = self.runs.iter().map(sum).collect();
        Ok(self.mean(&series.iter().map(Vec::as_slice).collect::<Vec<_>>()).not_negative())
    }

    /// Mean tokens of one class in a place.
    ///
    /// # Errors
    ///
    /// An unknown place or class.
    pub fn tokens_of(&self, place: impl Into<PlaceKey>, class: &str) -> Result<Measured, LookupError> {
        let (place, class) = (self.net.place_of(&place.into())?, self.net.class_of(class)?);
        let counter = place.index() * self.net.classes().len() + class.index();
        Ok(self.mean(&self.series(counter, |run| &run.tokens)).not_negative())
    }

    /// Firings per second of a transition.
    ///
    /// # Errors
    ///
    /// An unknown transition.
    pub fn throughput(&self, transition: impl Into<TransitionKey>) -> Result<Measured, LookupError> {
        let transition = self.net.transition_of(&transition.into())?;
        Ok(self.mean(&self.series(transition.index(), |run| &run.throughput)).not_negative())
    }

    /// A reward per second.
    ///
    /// # Errors
    ///
    /// A name that the question does not have.
    pub fn reward(&self, name: &str) -> Result<Measured, LookupError> {
        let known = || self.question.rewards.iter().map(|reward| reward.name.as_str());
        let at = known().position(|own| own == name);
        let at = at.ok_or_else(|| LookupError::unknown("reward", name, known()))?;
        Ok(self.mean(&self.series(at, |run| &run.rewards)))
    }

    fn series(&self, at: usize, of: fn(&BatchAverages) -> &[Vec<f64>]) -> Vec<&[f64]> {
        self.runs.iter().filter_map(|run| of(run).get(at)).map(Vec::as_slice).collect()
    }

    fn mean(&self, runs: &[&[f64]]) -> Measured {
        match long_run_mean(runs, self.level) {
            Ok(steady) => Measured::from(steady.estimate).unless_unseen(&self.unfired),
            Err(error) => self.without_interval(runs, &error),
        }
    }

    /// The plain mean of all runs, and the reason why it has no interval.
    fn without_interval(&self, runs: &[&[f64]], error: &BatchError) -> Measured {
        let moments: FloatMoments = runs.iter().flat_map(|run| run.iter().copied()).collect();
        let doubt = Doubt::Unknown(error.to_string());
        let value = moments.mean().unwrap_or(f64::NAN);
        Measured { value, doubt, level: self.level, samples: runs.len() as u64 }
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
