//! One run: settings in, samples and where they came from out.

use std::num::NonZeroUsize;
use std::time::{Duration, Instant};

use crate::compile::{Program, ScheduleObstacle, plan_schedule};
use crate::estimate::StopRule;
use crate::semantics::Fault;
use crate::sim::clock::Clock;
use crate::sim::cpu::{Limits, Watch, extend};
use crate::sim::question::Question;
use crate::sim::samples::Samples;
use crate::sim::schedule::Schedule;
use crate::sim::simd::Level;
use crate::sim::{Engine, race};

/// Which engine runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EngineChoice {
    /// The fastest that can.
    #[default]
    Auto,
    /// Max-plus evaluation.
    Schedule,
    /// Token game in its fastest form.
    Race,
    /// Token game in clock form.
    Clock,
    /// Token game in direct form.
    Direct,
    /// Token game in lockstep form.
    Lockstep,
}

/// Settings of an ensemble of independent replications.
#[derive(Clone, Debug)]
pub struct Ensemble {
    /// Number of replications; with a stop rule the rule decides. Default 10,000.
    pub replications: u64,
    /// Stop as soon as the mean passage time is known this well.
    pub stop: Option<StopRule>,
    /// Number of the first replication; shards of one experiment have different ones. Default 0.
    pub first: u64,
    /// Seed of the whole experiment. Default 0.
    pub seed: u64,
    /// Threads; `None` is one per core.
    pub threads: Option<NonZeroUsize>,
    /// Wall time after which no new round of replications starts.
    pub max_wall: Option<Duration>,
    /// Which engine runs.
    pub engine: EngineChoice,
    /// Whether passage times are kept one by one.
    pub keep: bool,
}

impl Default for Ensemble {
    fn default() -> Self {
        Self {
            replications: 10_000,
            stop: None,
            first: 0,
            seed: 0,
            threads: None,
            max_wall: None,
            engine: EngineChoice::Auto,
            keep: false,
        }
    }
}

/// Enough to repeat a run, and to know what was run.
#[derive(Clone, Debug, PartialEq)]
pub struct Provenance {
    /// Version of this crate.
    pub version: &'static str,
    /// The seed.
    pub seed: u64,
    /// Number of the first replication.
    pub first: u64,
    /// Name of the engine: `schedule`, `clock`, `direct` or `lockstep`.
    pub engine: &'static str,
    /// Vector instructions that were used: `portable`, `avx2` or `avx512`.
    pub vector: &'static str,
    /// Threads that were used.
    pub threads: usize,
    /// Why faster engines were not taken; empty where the fastest one ran.
    pub reasons: Vec<String>,
    /// Wall time of the replications, without compilation.
    pub wall: Duration,
    /// Whether the run ended before it was complete, by a limit or on request.
    pub cut_short: bool,
}

/// The samples of a run and where they came from.
#[derive(Clone, Debug, PartialEq)]
pub struct Run {
    /// What was observed.
    pub samples: Samples,
    /// How.
    pub provenance: Provenance,
}

/// Why nothing was run.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// The net is wrong in a marking that it reaches; what was simulated before is of no use.
    #[error(transparent)]
    Fault(#[from] Fault),
    /// The engine that was asked for cannot run this net or this question. Leave the choice to `auto`.
    #[error("the {engine} engine cannot run this: {}", reasons.join("; "))]
    Engine {
        /// The engine asked for.
        engine: &'static str,
        /// Everything in its way.
        reasons: Vec<String>,
    },
    /// The operating system gives no threads.
    #[error("no threads to run on: {0}")]
    Threads(String),
}

/// An engine that is ready, its name, and why faster ones were not taken.
struct Chosen {
    engine: Box<dyn Engine>,
    name: &'static str,
    reasons: Vec<String>,
}

/// Runs replications of `program`.
///
/// # Errors
///
/// A fault of the net, or an engine that cannot do what is asked.
pub fn run(
    program: &Program,
    question: &Question,
    ensemble: &Ensemble,
    watch: &dyn Watch,
) -> Result<Run, RunError> {
    let clock = Clock::choose(program, question.horizon);
    let chosen = choose(program, question, ensemble, clock)?;
    let available = std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
    let threads = ensemble.threads.unwrap_or(NonZeroUsize::new(available).unwrap_or(NonZeroUsize::MIN));
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads.get());
    let pool = pool.build().map_err(|error| RunError::Threads(error.to_string()))?;
    let started = Instant::now();
    let limits = Limits { deadline: ensemble.max_wall.map(|wall| started + wall), watch, threads };
    let mut samples = Samples::new(clock, question, program.counters(), program.transitions());
    let complete = pool.install(|| run_rounds(&chosen, program, question, ensemble, &mut samples, &limits))?;
    let provenance = Provenance {
        version: env!("CARGO_PKG_VERSION"),
        seed: ensemble.seed,
        first: ensemble.first,
        engine: chosen.name,
        vector: Level::detect().name(),
        threads: threads.get(),
        reasons: chosen.reasons,
        wall: started.elapsed(),
        cut_short: !complete,
    };
    Ok(Run { samples, provenance })
}

/// Runs to the number of replications, or until the stop rule is content; says whether it got there.
fn run_rounds(
    chosen: &Chosen,
    program: &Program,
    question: &Question,
    ensemble: &Ensemble,
    samples: &mut Samples,
    limits: &Limits<'_>,
) -> Result<bool, Fault> {
    let mut until = ensemble.stop.as_ref().map_or(ensemble.replications, StopRule::first_round);
    loop {
        extend(chosen.engine.as_ref(), program, question, ensemble.first, until, samples, limits)?;
        if samples.replications < until {
            return Ok(false);
        }
        let Some(rule) = &ensemble.stop else { return Ok(true) };
        match rule.next_round(&samples.passage) {
            Some(more) => until = samples.replications + more,
            None => return Ok(true),
        }
    }
}

fn choose(program: &Program, question: &Question, ensemble: &Ensemble, clock: Clock) -> Result<Chosen, RunError> {
    let schedule = || {
        let plan = plan_schedule(program).map_err(|o| o.iter().map(ScheduleObstacle::to_string).collect::<Vec<_>>())?;
        Schedule::new(program, &plan, question, clock, ensemble.seed, ensemble.keep)
    };
    let refused = |engine, reasons| Err(RunError::Engine { engine, reasons });
    let mut reasons = Vec::new();
    if matches!(ensemble.engine, EngineChoice::Auto | EngineChoice::Schedule) {
        match schedule() {
            Ok(engine) => return Ok(Chosen { engine: Box::new(engine), name: "schedule", reasons }),
            Err(obstacles) if ensemble.engine == EngineChoice::Schedule => return refused("schedule", obstacles),
            Err(obstacles) => reasons.extend(obstacles.into_iter().map(|o| format!("schedule: {o}"))),
        }
    }
    race::choose(program, question, ensemble, clock, reasons)
}
