//! Runs an engine over many replications on all cores, in units that do not show in the result.

use std::num::NonZeroUsize;
use std::time::{Duration, Instant};

use rayon::prelude::*;

use crate::compile::Program;
use crate::semantics::Fault;
use crate::sim::Engine;
use crate::sim::question::Question;
use crate::sim::samples::Samples;
use crate::watch::Watch;

/// Replications that are averaged together before they are merged, where observations are floats: part of the meaning
/// of a result, so it never changes with threads or load.
const FLOAT_UNIT: u64 = 16;
/// Replications that the vectorised engines run side by side.
const BLOCK: u64 = 64;
/// Largest unit where all observations are integers and any grouping gives the same bits.
const LARGEST_UNIT: u64 = 1 << 16;
/// Units per thread, so that no thread waits long for the last one.
const UNITS_PER_THREAD: u64 = 8;

/// How long a run may take.
pub(super) struct Limits<'a> {
    pub(super) deadline: Option<Instant>,
    pub(super) watch: &'a dyn Watch,
    pub(super) threads: NonZeroUsize,
}

impl Limits<'_> {
    pub(super) fn over(&self) -> bool {
        self.watch.stopped() || self.deadline.is_some_and(|deadline| Instant::now() >= deadline)
    }
}

/// Units per thread in the first round, before it is known how long a replication takes.
const ROUND_UNITS: u64 = 4;
/// How long a round should take: in between, progress is shown and stop rules are asked.
const ROUND: Duration = Duration::from_millis(200);

/// Runs replications `samples.replications .. until` (counted from `first`) and appends them to `samples`; fewer where a
/// limit is hit. The replications that are there always are the first ones.
pub(super) fn extend(
    engine: &dyn Engine,
    program: &Program,
    question: &Question,
    first: u64,
    until: u64,
    samples: &mut Samples,
    limits: &Limits<'_>,
) -> Result<(), Fault> {
    let threads = limits.threads.get() as u64;
    let mut round = engine.batch().max(FLOAT_UNIT) * threads * ROUND_UNITS;
    while samples.replications < until && !limits.over() {
        let begin = samples.replications;
        let end = until.min(begin + round);
        let unit = unit(engine, question, end - begin, threads);
        let started = Instant::now();
        let parts: Vec<Option<Samples>> = (0..(end - begin).div_ceil(unit))
            .into_par_iter()
            .map(|i| {
                if limits.over() {
                    return Ok(None);
                }
                let from = begin + i * unit;
                let mut part = Samples::new(samples.clock, question, program.counters(), program.transitions());
                engine.run(first + from, unit.min(end - from), &mut part)?;
                Ok(Some(part))
            })
            .collect::<Result<_, Fault>>()?;
        // where a limit was hit, what stands behind the first gap is of no use
        for part in parts.iter().map_while(Option::as_ref) {
            samples.append(part);
        }
        limits.watch.progress(samples.replications, until);
        if started.elapsed() < ROUND / 2 {
            round *= 2;
        } else if started.elapsed() > ROUND * 2 {
            round = (round / 2).max(engine.batch() * threads);
        }
    }
    Ok(())
}

/// Replications per unit of work.
fn unit(engine: &dyn Engine, question: &Question, replications: u64, threads: u64) -> u64 {
    if !question.is_passage_only() {
        return FLOAT_UNIT;
    }
    let even = replications.div_ceil(threads * UNITS_PER_THREAD);
    // blocks of the vectorised engines are 64 replications, quads of the others 4
    let step = if even >= BLOCK { BLOCK } else { 4 };
    let share = replications.div_ceil(threads).next_multiple_of(step);
    even.next_multiple_of(step).max(engine.batch().min(share)).min(LARGEST_UNIT)
}
