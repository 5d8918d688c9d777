//! Runs several points simultaneously on all cores: first builds their models, then runs blocks of their replications.
//!
//! Divides the work. Many small points are divided among the cores as points, few large points as blocks. The division does
//! not affect the samples, because blocks are merged in the order of the replications.

use rayon::prelude::*;

use tailspn_common::threads;

use crate::estimate::StopRule;
use crate::job_time::ReadyTasks;
use crate::sim::{Card, Ready, RunError, Samples};
use crate::sweep::model::{Batch, BatchError, MakeModel, Model, Runs};
use crate::sweep::point::Point;
use crate::sweep::replicated::Replicated;
use crate::watch::Watch;

/// Minimum number of blocks per core, so that no core waits long for the last block.
const BLOCKS_PER_CORE: u64 = 8;
/// Block size of vectorised engines. The length of a block is a multiple of this size.
const STEP: u64 = 64;
/// Maximum length of a block. The length is limited because Ctrl-C takes effect between blocks.
const LONGEST_BLOCK: u64 = 1 << 16;
/// Maximum number of replications of a point per GPU call, because Ctrl-C takes effect between calls.
const LONGEST_ON_CARD: u64 = 1 << 20;

/// The replications that a point needs.
#[derive(Debug)]
pub(super) struct Wanted<'a> {
    pub(super) point: &'a Point,
    /// First replications of the point, if they were simulated before.
    pub(super) have: Option<Samples>,
    /// Total number of replications that the point needs; if there is a stop rule, the rule decides.
    pub(super) until: u64,
    pub(super) rule: Option<StopRule>,
}

/// The thread pool.
#[derive(Debug)]
pub(super) struct Crew {
    pool: rayon::ThreadPool,
    pub(super) cores: u64,
}

/// A point while its replications are running.
struct UnderWay<'a> {
    runs: Bound<'a>,
    model: &'a Model,
    samples: Samples,
    until: u64,
    rule: Option<StopRule>,
}

/// A model with a seed.
enum Bound<'a> {
    Net(Ready<'a>),
    Tasks(ReadyTasks<'a>),
}

impl<'a> Bound<'a> {
    /// Returns the net; a GPU runs nothing else.
    fn net(&self) -> Result<&Ready<'a>, RunError> {
        let why = "jobs with stragglers, speculative copies or shared GPUs are simulated task by task, on the CPU";
        match self {
            Self::Net(ready) => Ok(ready),
            Self::Tasks(_) => Err(RunError::GpuUnfit { engine: "schedule", reasons: vec![why.to_owned()] }),
        }
    }

    fn engine(&self) -> &'static str {
        match self {
            Self::Net(ready) => ready.engine(),
            Self::Tasks(ready) => ready.engine(),
        }
    }

    fn nothing(&self) -> Samples {
        match self {
            Self::Net(ready) => ready.nothing(),
            Self::Tasks(ready) => ready.nothing(),
        }
    }

    /// Returns the recommended minimum number of replications of a block.
    fn batch(&self) -> u64 {
        match self {
            Self::Net(ready) => ready.batch(),
            Self::Tasks(_) => 1,
        }
    }

    /// Returns the number that the length of a block is a multiple of.
    fn step(&self) -> u64 {
        match self {
            Self::Net(_) => STEP,
            Self::Tasks(_) => 1,
        }
    }

    fn replicate<E: Send>(&self, point: u64, from: u64, count: u64) -> Result<Samples, BatchError<E>> {
        match self {
            Self::Net(ready) => ready.replicate(from, count).map_err(|error| BatchError::Run { point, error }),
            Self::Tasks(ready) => ready.replicate(from, count).map_err(|error| BatchError::Tasks { point, error }),
        }
    }
}

impl Crew {
    /// Starts the thread pool, with at most the number of threads that the batch allows.
    pub(super) fn new(batch: &Batch) -> Result<Self, RunError> {
        let cores = threads::at_most(batch.threads).get();
        let pool = rayon::ThreadPoolBuilder::new().num_threads(cores).build();
        let pool = pool.map_err(|error| RunError::Threads(error.to_string()))?;
        Ok(Self { pool, cores: cores as u64 })
    }

    /// Runs a closure in the thread pool.
    pub(super) fn with<T: Send>(&self, work: impl FnOnce() -> T + Send) -> T {
        self.pool.install(work)
    }

    /// Runs the replications of all points, and returns them in the order of the points; none for a point that `watch` stopped before it
    /// was complete.
    pub(super) fn replicate<E: Send>(
        &self,
        wanted: Vec<Wanted<'_>>,
        make: &MakeModel<'_>,
        seed: u64,
        watch: &dyn Watch,
        card: Option<&mut Card>,
    ) -> Result<Vec<Option<Replicated>>, BatchError<E>> {
        self.with(move || {
            let mut card = card;
            let model = |wanted: &Wanted<'_>| (!watch.stopped()).then(|| made(wanted.point, make)).transpose();
            let models = in_order(wanted.par_iter().map(model).collect())?;
            let numbers: Vec<u64> = wanted.iter().map(|wanted| wanted.point.number).collect();
            let ready = wanted.into_par_iter().zip(&models);
            let ready =
                ready.map(|(wanted, model)| model.as_ref().map(|model| bound(wanted, model, seed, watch)).transpose());
            let mut points = in_order(ready.collect())?;
            while wants_more(&mut points) && !watch.stopped() {
                match &mut card {
                    Some(card) => round_on_card(card, &mut points, &numbers, watch)?,
                    None => self.round(&mut points, &numbers, watch)?,
                }
            }
            let done = |point: UnderWay<'_>| {
                let (engine, spread) = (point.runs.engine(), point.model.spread.clone());
                let complete = point.samples.replications >= point.until;
                let deadline_s = point.model.deadline_s;
                complete.then_some(Replicated { samples: point.samples, engine, spread, seed, deadline_s })
            };
            Ok(points.into_iter().map(|point| point.and_then(done)).collect())
        })
    }

    /// Runs the current requests of all points.
    fn round<E: Send>(
        &self,
        points: &mut [Option<UnderWay<'_>>],
        numbers: &[u64],
        watch: &dyn Watch,
    ) -> Result<(), BatchError<E>> {
        let blocks = self.blocks(points);
        let one = |&(which, from, count): &(usize, u64, u64)| match &points[which] {
            Some(point) if !watch.stopped() => point.runs.replicate(numbers[which], from, count).map(Some),
            _ => Ok(None),
        };
        let parts: Vec<Result<Option<Samples>, BatchError<E>>> = blocks.par_iter().map(one).collect();
        for ((which, from, _), part) in blocks.into_iter().zip(parts) {
            let part = part?;
            let Some(point) = &mut points[which] else { continue };
            // blocks after a missing block cannot be used
            match part {
                Some(part) if point.samples.replications == 0 && from == 0 => point.samples = part,
                Some(part) if point.samples.replications == from => point.samples.append(&part),
                _ => {}
            }
        }
        Ok(())
    }

    /// Returns the missing replications of all points as blocks: position of the point, first replication, number of replications.
    fn blocks(&self, points: &[Option<UnderWay<'_>>]) -> Vec<(usize, u64, u64)> {
        let missing = |point: &UnderWay<'_>| point.until.saturating_sub(point.samples.replications);
        let all: u64 = points.iter().flatten().map(missing).sum();
        let even = all.div_ceil(self.cores * BLOCKS_PER_CORE);
        let mut blocks = Vec::new();
        for (which, point) in points.iter().enumerate() {
            let Some(point) = point else { continue };
            let mut from = point.samples.replications;
            // at most an equal share per core, as in a run of the single point
            let step = point.runs.step();
            let even = even.next_multiple_of(step).clamp(step, LONGEST_BLOCK);
            let share = missing(point).div_ceil(self.cores).next_multiple_of(step);
            let size = even.max(point.runs.batch().min(share).next_multiple_of(step));
            while from < point.until {
                let count = size.min(point.until - from);
                blocks.push((which, from, count));
                from += count;
            }
        }
        blocks
    }
}

/// Runs the current requests of all points on a GPU; points that request the same replications run in one batch.
fn round_on_card<E>(
    card: &mut Card,
    points: &mut [Option<UnderWay<'_>>],
    numbers: &[u64],
    watch: &dyn Watch,
) -> Result<(), BatchError<E>> {
    let missing = |point: &Option<UnderWay<'_>>| {
        let point = point.as_ref()?;
        let from = point.samples.replications;
        (from < point.until).then_some((from, (point.until - from).min(LONGEST_ON_CARD)))
    };
    for (numbers, points) in alike(numbers, points, missing) {
        let Some((from, count)) = missing(&points[0]).filter(|_| !watch.stopped()) else { continue };
        let ready: Result<Vec<&Ready<'_>>, RunError> = points.iter().flatten().map(|point| point.runs.net()).collect();
        let found = ready.and_then(|ready| card.replicate(&ready, from, count));
        let found = found.map_err(|error| BatchError::Run { point: numbers[0], error })?;
        points.iter_mut().flatten().zip(&found).for_each(|(point, found)| point.samples.append(found));
    }
    Ok(())
}

/// Returns the groups of neighbours with the same `key`.
fn alike<'a, T, K: PartialEq>(
    numbers: &'a [u64],
    mut points: &'a mut [T],
    key: impl Fn(&T) -> K,
) -> Vec<(&'a [u64], &'a mut [T])> {
    let (mut runs, mut at) = (Vec::new(), 0);
    while let Some(first) = points.first() {
        let own = key(first);
        let length = points.iter().take_while(|point| key(point) == own).count();
        let (run, rest) = std::mem::take(&mut points).split_at_mut(length);
        runs.push((&numbers[at..at + length], run));
        (points, at) = (rest, at + length);
    }
    runs
}

/// Applies the stop rules of points that have the requested replications; returns true if any point needs more.
fn wants_more(points: &mut [Option<UnderWay<'_>>]) -> bool {
    let mut more = false;
    for point in points.iter_mut().flatten() {
        // apply every rule, even if an earlier point already needs more
        more |= point.wants_more();
    }
    more
}

impl UnderWay<'_> {
    /// Returns true if the point needs more replications; applies the stop rule if the point has the requested replications.
    fn wants_more(&mut self) -> bool {
        let count = self.samples.replications;
        if count < self.until {
            return true;
        }
        let Some(rule) = self.rule else { return false };
        let width = self.samples.passage.mean_estimate(rule.level);
        let width = width.map_or(f64::INFINITY, |estimate| estimate.relative_half_width());
        let more = rule.next_round(count, width);
        self.until += more.unwrap_or(0);
        more.is_some()
    }
}

fn made<E>(point: &Point, make: &MakeModel<'_>) -> Result<Model, BatchError<E>> {
    make(point).map_err(|message| BatchError::Model { point: point.number, message })
}

fn bound<'a, E>(
    wanted: Wanted<'_>,
    model: &'a Model,
    seed: u64,
    watch: &'a dyn Watch,
) -> Result<UnderWay<'a>, BatchError<E>> {
    let runs = match &model.runs {
        Runs::Net(net) => {
            let ready = Ready::new(&net.program, &net.question, net.schedule.as_deref(), seed, watch);
            Bound::Net(ready.map_err(|error| BatchError::Run { point: wanted.point.number, error })?)
        }
        Runs::Tasks(tasks) => Bound::Tasks(tasks.ready(seed, watch)),
    };
    let samples = wanted.have.unwrap_or_else(|| runs.nothing());
    let first = |rule: &StopRule| rule.next_round(0, f64::INFINITY).unwrap_or(0);
    let until = wanted.rule.as_ref().map_or(wanted.until, first);
    Ok(UnderWay { runs, model, samples, until, rule: wanted.rule })
}

/// Returns all results, or the first error in the order of the results, independent of the order of the threads.
fn in_order<T, E>(all: Vec<Result<T, E>>) -> Result<Vec<T>, E> {
    all.into_iter().collect()
}
