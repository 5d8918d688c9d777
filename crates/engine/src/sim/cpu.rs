//! Runs an engine over many replications on all cores, in units of work that do not affect the result.

use std::num::NonZeroUsize;
use std::time::{Duration, Instant};

use rayon::prelude::*;

use crate::compile::Program;
use crate::semantics::Fault;
use crate::sim::averages::FLOAT_UNIT;
use crate::sim::engine::Engine;
use crate::sim::question::Question;
use crate::sim::samples::Samples;
use crate::watch::{TimeLimit, Watch as _};

/// Number of replications that the vectorised engines run together.
const BLOCK: u64 = 64;
/// Maximum number of replications of a unit without averages.
const LARGEST_UNIT: u64 = 1 << 16;
/// Maximum number of replications of a unit with averages. Averages are stored until they can be added in order.
const LARGEST_AVERAGED: u64 = 1 << 12;
/// Units per thread, so that no thread waits long for the last unit.
const UNITS_PER_THREAD: u64 = 8;

/// Units per thread in the first round, when the time of a replication is still unknown.
const ROUND_UNITS: u64 = 4;
/// Target duration of a round; progress is shown and stop rules are applied between rounds.
const ROUND: Duration = Duration::from_millis(200);

/// An engine of the CPU, which runs on all threads of a run, round after round.
pub(in crate::sim) struct CpuRounds<'a> {
    engine: &'a dyn Engine,
    program: &'a Program,
    question: &'a Question,
    /// Number of the run's first replication.
    first: u64,
    pool: rayon::ThreadPool,
    threads: u64,
    /// Replications of the next round.
    round: u64,
    done: u64,
    spent: Duration,
}

impl<'a> CpuRounds<'a> {
    pub(in crate::sim) fn new(
        engine: &'a dyn Engine,
        program: &'a Program,
        question: &'a Question,
        first: u64,
        threads: NonZeroUsize,
    ) -> Result<Self, rayon::ThreadPoolBuildError> {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads.get()).build()?;
        let threads = threads.get() as u64;
        let round = engine.batch().max(FLOAT_UNIT) * threads * ROUND_UNITS;
        Ok(Self { engine, program, question, first, pool, threads, round, done: 0, spent: Duration::ZERO })
    }

    /// Runs some of the replications `samples.replications .. until` and appends them to `samples`; fewer if a limit is
    /// reached. The replications in `samples` are always the first replications.
    pub(in crate::sim) fn round(
        &mut self,
        until: u64,
        samples: &mut Samples,
        limits: &TimeLimit<'_>,
    ) -> Result<(), Fault> {
        let begin = samples.replications;
        let end = until.min(begin + self.round);
        let unit = unit(self.engine, self.question, end - begin, self.threads);
        let started = Instant::now();
        let one = |i: u64| {
            if limits.stopped() {
                return Ok(None);
            }
            let from = begin + i * unit;
            let counters = (self.program.counters(), self.program.transitions());
            let part = Samples::new(samples.clock, self.question, counters.0, counters.1);
            let mut part = part.starting_at(self.first + from);
            self.engine.run(self.first + from, unit.min(end - from), &mut part)?;
            Ok(Some(part))
        };
        let units = (end - begin).div_ceil(unit);
        let parts: Vec<Option<Samples>> =
            self.pool.install(|| (0..units).into_par_iter().map(one).collect::<Result<_, Fault>>())?;
        // if a limit was reached, results after the first gap are discarded
        for (from, part) in (0..).step_by(unit as usize).zip(parts.iter().map_while(Option::as_ref)) {
            samples.append(part);
            if samples.replications < end.min(begin + from + unit) {
                break;
            }
        }
        self.took(started.elapsed(), samples.replications - begin);
        Ok(())
    }

    /// Records a round and sets the size of the next one.
    fn took(&mut self, time: Duration, replications: u64) {
        self.done += replications;
        self.spent += time;
        if time < ROUND / 2 {
            self.round *= 2;
        } else if time > ROUND * 2 {
            // whole units, so that the speed of the machine does not affect sums of floats
            let unit = if self.question.is_passage_only() { 1 } else { FLOAT_UNIT };
            self.round = (self.round / 2).max(self.engine.batch().max(unit) * self.threads);
        }
    }

    /// Time spent so far, and replications per second.
    #[cfg(feature = "gpu")]
    pub(in crate::sim) fn pace(&self) -> (Duration, f64) {
        (self.spent, self.done as f64 / self.spent.as_secs_f64().max(f64::MIN_POSITIVE))
    }
}

/// Replications per unit of work.
fn unit(engine: &dyn Engine, question: &Question, replications: u64, threads: u64) -> u64 {
    // with averages, whole units of averages; otherwise, whole quads of the engines that are not vectorised
    let (least, most) = if question.is_passage_only() { (4, LARGEST_UNIT) } else { (FLOAT_UNIT, LARGEST_AVERAGED) };
    let even = replications.div_ceil(threads * UNITS_PER_THREAD);
    // blocks of the vectorised engines are 64 replications, and fewer take as long
    let step = if even.max(engine.batch()) >= BLOCK { BLOCK } else { least };
    let share = replications.div_ceil(threads).next_multiple_of(step);
    even.next_multiple_of(step).max(engine.batch().min(share)).min(most)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sim::conformance::two_loops;
    use crate::sim::race::{ClockForm, Setup};
    use crate::sim::{Clock, Goal};
    use crate::watch::Unwatched;

    /// Rounds get shorter on a slow machine, but sums of floats are always split at the same replications.
    #[test]
    fn rounds_are_whole_units_however_slow_the_machine() {
        let program = two_loops(2);
        let question = Question { goal: Goal::Horizon, horizon: Some(1.0), tokens: true, ..Question::default() };
        let clock = Clock::choose(&program, question.horizon);
        let setup =
            Setup { program: &program, question: &question, clock, key: [0; 2], keep_times: false, watch: &Unwatched };
        let engine = ClockForm::new(setup);
        assert_eq!([unit(&engine, &question, 64, 2), unit(&engine, &Question::default(), 64, 2)], [FLOAT_UNIT, 4]);
        for threads in [1, 2, 3, 5] {
            let threads = NonZeroUsize::new(threads).unwrap();
            let mut rounds = CpuRounds::new(&engine, &program, &question, 0, threads).unwrap();
            for seconds in [10, 0, 10, 10, 10, 10, 10, 0, 0, 10] {
                rounds.took(Duration::from_secs(seconds), 1);
                assert!(rounds.round.is_multiple_of(FLOAT_UNIT) && rounds.round > 0, "{}", rounds.round);
            }
        }
    }
}
