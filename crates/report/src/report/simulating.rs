//! A simulation of a net, or an exact answer in its place, from the question to a result that can be printed.

use crate::answer::{AnswerError, choose, exact, exact_of_prepared};
use crate::compile::CompileError;
use crate::net::Net;
use crate::report::answer::{exact_report, exact_steady_report};
use crate::report::method::AnswerMethod;
use crate::report::simulated::{NetNames, ReportSimulation as _};
use crate::report::steady::SteadyReport;
use crate::report::summary::SimulationReport;
use crate::sim::{
    BatchAverages, Ensemble, MOST_LONG_FIRINGS, Prepared, Question, Run, SimulationError, SteadyRunError,
};
use crate::watch::Watch;

/// Method of an answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AnswerBy {
    /// By replications; the result says whether an exact answer would be faster.
    #[default]
    Auto,
    /// By replications, without a look at exact methods.
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

/// Settings of a simulation.
#[derive(Clone, Debug)]
pub struct SimulationSettings {
    /// Method of the answer.
    pub by: AnswerBy,
    /// Reason why the answer must have replications, if it must.
    pub needs_replications: Option<&'static str>,
    /// If set, long runs answer the question, instead of replications.
    pub long_runs: Option<LongRunLength>,
    /// True to keep equal parts of the net apart instead of counting them.
    pub unfolded: bool,
    /// Replications, targets, seed, threads, engine and backend. Long runs use the targets, the seed and the threads.
    pub ensemble: Ensemble,
    /// Confidence level of all intervals, in (0, 1).
    pub level: f64,
}

impl Default for SimulationSettings {
    /// Returns settings for 10,000 replications with seed 0 and 95% intervals.
    fn default() -> Self {
        let (by, ensemble) = (AnswerBy::default(), Ensemble::default());
        Self { by, needs_replications: None, long_runs: None, unfolded: false, ensemble, level: 0.95 }
    }
}

/// Default number of firings of all long runs together; with targets, number of firings of the first round.
const FIRINGS: u64 = 2_000_000;

/// The result of a simulation.
#[derive(Debug)]
pub enum SimulatedNet {
    /// Of replications, with their samples, or exact numbers in their place.
    Replications(Box<SimulationReport>, Option<Box<Run>>),
    /// Of the long run, with the averages of the parts of each run, or exact numbers in their place. The flag is true if
    /// runs are missing or incomplete.
    LongRuns(Box<SteadyReport>, Vec<BatchAverages>, bool),
}

/// Reason why a net was not simulated.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SimulateError {
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

/// A simulation whose net is compiled.
#[derive(Debug)]
pub struct NetSimulation<'a> {
    net: &'a Net,
    question: &'a Question,
    settings: &'a SimulationSettings,
    prepared: Prepared,
}

/// Simulates a net as `tailspn simulate` does, or answers the question exactly if the settings request that.
///
/// ```
/// use tailspn_engine::net::{NetBuilder, Timing};
/// use tailspn_engine::sim::Question;
/// use tailspn_engine::watch::Unwatched;
/// use tailspn_report::report::{AnswerBy, SimulatedNet, SimulationSettings, simulate_net};
///
/// let mut b = NetBuilder::new("task");
/// let (open, done) = (b.place("open", 1), b.place("done", 0));
/// let work = b.transition("work", Timing::exponential(0.5));
/// b.input(open, work, 1.0);
/// b.output(work, done, 1.0);
/// let net = b.build().unwrap();
///
/// let (question, settings) = (Question::default(), SimulationSettings::default());
/// let settings = SimulationSettings { by: AnswerBy::Exact, ..settings };
/// match simulate_net(&net, &question, &settings, &Unwatched).unwrap() {
///     SimulatedNet::Replications(report, run) => {
///         assert!(run.is_none());
///         assert_eq!(report.passage_time.unwrap().mean.value, 2.0);
///     }
///     SimulatedNet::LongRuns(..) => unreachable!("the settings have no long runs"),
/// }
/// ```
///
/// # Errors
///
/// All variants of [`SimulateError`].
pub fn simulate_net(
    net: &Net,
    question: &Question,
    settings: &SimulationSettings,
    watch: &dyn Watch,
) -> Result<SimulatedNet, SimulateError> {
    NetSimulation::new(net, question, settings)?.run(watch)
}

impl<'a> NetSimulation<'a> {
    /// Compiles a net for a question about it, with equal parts folded. This may take long for a large net, and cannot be
    /// stopped.
    ///
    /// # Errors
    ///
    /// A net that cannot be compiled.
    pub fn new(net: &'a Net, question: &'a Question, settings: &'a SimulationSettings) -> Result<Self, CompileError> {
        let asked = question.clone();
        let prepared = if settings.long_runs.is_some() {
            net.steady_state().asking(asked).fold(!settings.unfolded).prepared()?
        } else {
            let simulation = net.simulation().asking(asked).ensemble(settings.ensemble.clone());
            if settings.unfolded { simulation.unfolded().prepared()? } else { simulation.prepared()? }
        };
        Ok(Self { net, question, settings, prepared })
    }

    /// Answers the question. `watch` may stop the work; results so far are kept.
    ///
    /// # Errors
    ///
    /// All variants of [`SimulateError`].
    pub fn run(self, watch: &dyn Watch) -> Result<SimulatedNet, SimulateError> {
        let method = match (self.settings.by, self.settings.needs_replications) {
            (AnswerBy::Exact, Some(reason)) => return Err(SimulateError::NeedsReplications(reason)),
            (AnswerBy::Exact, None) => return self.exact(watch),
            (AnswerBy::Auto, Some(reason)) => {
                AnswerMethod { no_exact: Some(reason.to_owned()), ..AnswerMethod::simulation() }
            }
            (AnswerBy::Auto, None) => self.offer(),
            (AnswerBy::Simulation, _) => AnswerMethod::simulation(),
        };
        match self.settings.long_runs {
            Some(length) => self.long_runs(length, method, watch),
            None => self.replications(method, watch),
        }
    }

    fn is_steady(&self) -> bool {
        self.settings.long_runs.is_some()
    }

    /// Returns the method of a simulation, with an exact method that would be faster.
    fn offer(&self) -> AnswerMethod {
        let Prepared { program, question, .. } = &self.prepared;
        (&choose(self.prepared.net(self.net), program, question, self.is_steady())).into()
    }

    fn replications(self, method: AnswerMethod, watch: &dyn Watch) -> Result<SimulatedNet, SimulateError> {
        let Self { net, question, settings, prepared } = self;
        watch.counts("replications");
        let simulation = net.simulation().asking(question.clone());
        let simulation = simulation.ensemble(settings.ensemble.clone()).level(settings.level).watch(watch);
        let result = simulation.run_prepared(prepared)?;
        let report = SimulationReport { method, ..result.report() };
        Ok(SimulatedNet::Replications(Box::new(report), Some(Box::new(result.into_run()))))
    }

    fn long_runs(
        self,
        length: LongRunLength,
        method: AnswerMethod,
        watch: &dyn Watch,
    ) -> Result<SimulatedNet, SimulateError> {
        let Self { net, question, settings, prepared } = self;
        watch.counts("parts");
        let Ensemble { targets, seed, threads, .. } = settings.ensemble.clone();
        let most = length.firings.unwrap_or(MOST_LONG_FIRINGS);
        let first = if targets.is_empty() { length.firings.unwrap_or(FIRINGS) } else { FIRINGS.min(most) };
        let runs = net.steady_state().asking(question.clone()).targets(targets).firings(first).most_firings(most);
        let runs = runs.runs(length.runs).seed(seed).level(settings.level).watch(watch);
        let runs = if let Some(threads) = threads { runs.threads(threads) } else { runs };
        let result = runs.run_prepared(&prepared)?;
        let (report, is_partial) = (SteadyReport { method, ..result.report() }, result.is_partial());
        Ok(SimulatedNet::LongRuns(Box::new(report), result.into_runs(), is_partial))
    }

    fn exact(&self, watch: &dyn Watch) -> Result<SimulatedNet, SimulateError> {
        let Self { net, question, settings, prepared } = self;
        watch.counts("states");
        let answer = if settings.unfolded {
            exact(net, &prepared.program, question, self.is_steady(), watch)?
        } else {
            exact_of_prepared(net, question, prepared, self.is_steady(), watch)?
        };
        let names = NetNames::of(net);
        let subject = names.subject(net.name());
        Ok(if self.is_steady() {
            let report = exact_steady_report(&answer, question, &subject, settings.level);
            SimulatedNet::LongRuns(Box::new(report), Vec::new(), false)
        } else {
            let report = exact_report(&answer, question, &subject, settings.level, watch)?;
            SimulatedNet::Replications(Box::new(report), None)
        })
    }
}
