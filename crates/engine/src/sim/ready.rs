//! A net and a question bound to a CPU engine, for callers who divide the replications themselves.

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

/// A program that is ready to be replicated: the fastest engine that supports it, and the clock
/// that [`run`](crate::sim::run()) takes. Consecutive pieces, appended in order, give the samples
/// of that run.
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
    /// Binds a program to a question and a seed; passage times are kept one by one. Its schedule may be known already. `watch`
    /// may end the work, also within a replication.
    ///
    /// # Errors
    ///
    /// As [`run`](crate::sim::run()).
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

    /// The schedule, for an engine of a device; none if it is unknown, or not in use.
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

    /// Replications that a piece should have at least.
    pub fn batch(&self) -> u64 {
        self.chosen.engine.batch()
    }

    /// No replication yet.
    pub fn nothing(&self) -> Samples {
        let Setup { program, question, clock, .. } = self.setup;
        Samples::new(clock, question, program.counters(), program.transitions())
    }

    /// The replications `first .. first + count`, or only the first of them if the watch has stopped the run. If floats
    /// are observed, every piece except the last has a multiple of 16 replications.
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
        // floats are averaged in units of one length
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
