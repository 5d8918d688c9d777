//! A net and a question bound to a CPU engine, for callers that divide the replications themselves.

use crate::compile::{Program, SchedulePlan};
use crate::rng::split;
use crate::sim::averages::FLOAT_UNIT;
#[cfg(feature = "gpu")]
use crate::sim::engines::Kind;
use crate::sim::engines::{Chosen, EngineChoice, choose_planned};
use crate::sim::question::Question;
use crate::sim::race::Setup;
use crate::sim::run::{finite, result_clock};
use crate::sim::run_error::RunError;
use crate::sim::samples::Samples;
#[cfg(feature = "gpu")]
use crate::sim::schedule::Schedule;
use crate::watch::Watch;

/// A program with the fastest engine that supports it and the clock that [`run`](crate::sim::run()) would choose.
/// Consecutive pieces of replications, appended in order, give the samples of that run.
pub struct Ready<'a> {
    pub(in crate::sim) setup: Setup<'a>,
    pub(in crate::sim) chosen: Chosen<'a>,
    #[cfg_attr(not(feature = "gpu"), allow(dead_code, reason = "only a card asks for it"))]
    pub(in crate::sim) seed: u64,
    /// Schedule of the net, if it was known.
    #[cfg_attr(not(feature = "gpu"), allow(dead_code, reason = "only a card asks for it"))]
    plan: Option<&'a SchedulePlan>,
}

impl std::fmt::Debug for Ready<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Ready").field("engine", &self.engine()).finish_non_exhaustive()
    }
}

impl<'a> Ready<'a> {
    /// Binds a program to a question and a seed; individual passage times are stored. `plan` is the schedule, if known. `watch`
    /// may stop the work, even during a replication.
    ///
    /// # Errors
    ///
    /// The errors of [`run`](crate::sim::run()).
    pub fn new(
        program: &'a Program,
        question: &'a Question,
        schedule: Option<&'a SchedulePlan>,
        seed: u64,
        watch: &'a dyn Watch,
    ) -> Result<Self, RunError> {
        let clock = result_clock(program, question, seed, watch)?;
        let setup = Setup { program, question, clock, key: split(seed), keep_times: true, watch };
        let chosen = choose_planned(EngineChoice::Auto, setup, seed, schedule)?;
        Ok(Self { setup, chosen, seed, plan: schedule })
    }

    /// Returns true if both run the schedule engine with the same plan, so that they differ only in rates.
    #[cfg(feature = "gpu")]
    pub(in crate::sim) fn shares_schedule(&self, other: &Self) -> bool {
        let own =
            |ready: &Self| ready.plan.filter(|_| matches!(ready.chosen.kind, Kind::Schedule)).map(std::ptr::from_ref);
        own(self).is_some() && own(self) == own(other)
    }

    /// The schedule, for an engine on a device; none if the schedule is unknown or another engine was chosen.
    #[cfg(feature = "gpu")]
    pub(in crate::sim) fn schedule(&self) -> Option<Schedule> {
        let Setup { program, question, clock, keep_times, .. } = self.setup;
        let plan = self.plan.filter(|_| matches!(self.chosen.kind, Kind::Schedule))?;
        Schedule::new(program, plan, question, clock, self.seed, keep_times).ok()
    }

    /// Name of the engine.
    pub fn engine(&self) -> &'static str {
        self.chosen.kind.name()
    }

    /// Recommended minimum number of replications of a piece.
    pub fn batch(&self) -> u64 {
        self.chosen.engine.batch()
    }

    /// Samples of no replication.
    pub fn nothing(&self) -> Samples {
        let Setup { program, question, clock, .. } = self.setup;
        Samples::new(clock, question, program.counters(), program.transitions())
    }

    /// Runs the replications `first .. first + count`, or only the first of these if the watch stops the run. If floats
    /// are observed, the number of replications of every piece except the last must be a multiple of 16.
    ///
    /// # Errors
    ///
    /// A fault of the net.
    pub fn replicate(&self, first: u64, count: u64) -> Result<Samples, RunError> {
        let mut samples = self.nothing().starting_at(first);
        let engine = &self.chosen.engine;
        if self.setup.question.is_passage_only() {
            engine.run(first, count, &mut samples)?;
            return Ok(samples);
        }
        // floats are averaged in units of equal length
        for from in (first..first + count).step_by(FLOAT_UNIT as usize) {
            let mut unit = self.nothing();
            engine.run(from, FLOAT_UNIT.min(first + count - from), &mut unit)?;
            samples.append(&unit);
            if samples.replications < (from - first + FLOAT_UNIT).min(count) {
                break;
            }
        }
        finite(self.setup.question, &samples)?;
        Ok(samples)
    }
}
