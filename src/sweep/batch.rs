//! All points of a sweep in one batch over all cores.
//!
//! Owns who runs what: each core takes the point with the lowest number that is left, makes its model and replicates it alone, so that
//! a thousand small points keep all cores busy; with fewer points than cores, the cores share points.

use std::num::NonZeroUsize;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Instant;

use crate::compile::Program;
use crate::estimate::StopRule;
use crate::sim::{Backend, Ensemble, Question, RunError, run as replicate};
use crate::sweep::design::Point;
use crate::sweep::result::{PointResult, times};
use crate::watch::Watch;

/// What is replicated at a point.
#[derive(Clone, Debug)]
pub struct Model {
    /// The net.
    pub program: Program,
    /// What is asked of it.
    pub question: Question,
}

/// How points are run.
#[derive(Clone, Debug)]
pub struct Batch {
    /// Replications of each point; with a relative error, the most.
    pub replications: u64,
    /// Half width over mean at which a point has enough of them.
    pub relative_error: Option<f64>,
    /// Seed of every point.
    pub seed: u64,
    /// Confidence level of all intervals, in (0, 1).
    pub level: f64,
    /// Threads; `None` is one per core.
    pub threads: Option<NonZeroUsize>,
    /// When no new point is begun any more; those under way are ended.
    pub deadline: Option<Instant>,
}

/// Why a sweep ended before its end. Points that were finished before are kept.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum BatchError<E> {
    /// A point is no model.
    #[error("point {point}: {message}")]
    Model {
        /// Its number.
        point: u64,
        /// Why.
        message: String,
    },
    /// A point cannot be replicated.
    #[error("point {point}: {error}")]
    Run {
        /// Its number.
        point: u64,
        /// Why.
        error: RunError,
    },
    /// A result cannot be kept.
    #[error(transparent)]
    Keep(E),
}

/// What all points are compared with.
#[derive(Clone, Debug)]
pub struct Base {
    /// Its numbers.
    pub result: PointResult,
    times: Option<Vec<f64>>,
}

/// Makes the model of a point.
pub type MakeModel<'a> = dyn Fn(&Point) -> Result<Model, String> + Sync + 'a;

/// Only whether to end: the progress of a batch is counted in points.
struct Quiet<'a>(&'a dyn Watch);

impl Watch for Quiet<'_> {
    fn progress(&self, _done: u64, _planned: u64) {}

    fn stopped(&self) -> bool {
        self.0.stopped()
    }
}

fn cores(batch: &Batch) -> usize {
    let available = std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
    batch.threads.map_or(available, |threads| threads.min(available)).get()
}

/// One point with its run; none where it was stopped.
fn run_point<E>(
    point: &Point,
    make: &MakeModel<'_>,
    batch: &Batch,
    threads: usize,
    watch: &dyn Watch,
) -> Result<Option<crate::sim::Run>, BatchError<E>> {
    let number = point.number;
    let model = make(point).map_err(|message| BatchError::Model { point: number, message })?;
    let rule =
        |rel_error| StopRule { rel_error, level: batch.level, max_reps: batch.replications, ..StopRule::default() };
    let ensemble = Ensemble {
        replications: batch.replications,
        stop: batch.relative_error.map(rule),
        seed: batch.seed,
        threads: NonZeroUsize::new(threads),
        backend: Backend::Cpu,
        keep: true,
        ..Ensemble::default()
    };
    let run = replicate(&model.program, &model.question, &ensemble, &Quiet(watch));
    let run = run.map_err(|error| BatchError::Run { point: number, error })?;
    Ok((!run.provenance.cut_short).then_some(run))
}

/// Runs the base, which every part of a sweep needs for its differences; none where it was stopped.
///
/// # Errors
///
/// The base is no model, or cannot be replicated.
pub fn run_base<E>(
    base: &Point,
    make: &MakeModel<'_>,
    batch: &Batch,
    watch: &dyn Watch,
) -> Result<Option<Base>, BatchError<E>> {
    let run = run_point(base, make, batch, cores(batch), watch)?;
    Ok(run.map(|run| Base { result: PointResult::new(base, &run, None, batch.level), times: times(&run) }))
}

/// Runs points, and hands each result to `keep` as soon as it is there, one at a time in any order. Ends early, and without an error,
/// when it is stopped or the deadline is over.
///
/// # Errors
///
/// The first thing that goes wrong ends the batch.
pub fn run_points<E: Send>(
    points: &[Point],
    base: &Base,
    make: &MakeModel<'_>,
    batch: &Batch,
    watch: &dyn Watch,
    keep: &mut (dyn FnMut(PointResult) -> Result<(), E> + Send),
) -> Result<(), BatchError<E>> {
    let cores = cores(batch);
    let workers = cores.min(points.len()).max(1);
    let (next, failed) = (AtomicUsize::new(0), AtomicBool::new(false));
    // what is kept, how many there are, and what went wrong first
    let shared = Mutex::new((keep, 0_u64, None));
    let work = || {
        while !failed.load(Ordering::Relaxed) && !watch.stopped() && !over(batch) {
            let Some(point) = points.get(next.fetch_add(1, Ordering::Relaxed)) else { return };
            let ran = run_point(point, make, batch, cores / workers, watch);
            let Ok(mut shared) = shared.lock() else { return };
            let (keep, done, error) = &mut *shared;
            let kept = ran.and_then(|run| {
                let Some(run) = run else { return Ok(()) };
                *done += 1;
                watch.progress(*done, points.len() as u64);
                keep(PointResult::new(point, &run, base.times.as_deref(), batch.level)).map_err(BatchError::Keep)
            });
            if let Err(found) = kept {
                failed.store(true, Ordering::Relaxed);
                error.get_or_insert(found);
            }
        }
    };
    std::thread::scope(|scope| {
        (1..workers).for_each(|_| {
            scope.spawn(work);
        });
        work();
    });
    let error = shared.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner).2;
    error.map_or(Ok(()), Err)
}

fn over(batch: &Batch) -> bool {
    batch.deadline.is_some_and(|deadline| Instant::now() >= deadline)
}
