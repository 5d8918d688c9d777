//! All points of a sweep in one batch over all cores.
//!
//! Implements the grouping of points into waves of about a quarter of a second each. Within a wave (`sweep::wave`), points and
//! blocks of replications are divided among the cores, so that a thousand small points or one large point keep all cores busy.

use std::time::{Duration, Instant};

use rayon::prelude::*;

use crate::estimate::StopRule;
use crate::sim::{Backend, Placement};
use crate::sweep::model::{Batch, BatchError, MakeModel};
use crate::sweep::place::Place;
use crate::sweep::point::Point;
use crate::sweep::replicated::Replicated;
use crate::sweep::result::{PointResult, times};
use crate::sweep::wave::{Crew, Wanted};
use crate::watch::{TimeLimit, Watch};

/// The base that all points are compared with.
#[derive(Clone, Debug)]
pub struct Base {
    /// Result of the base.
    pub result: PointResult,
    pub(super) times: Option<Vec<f64>>,
}

/// Target duration of a wave; results are stored and progress is shown between waves.
const WAVE: Duration = Duration::from_millis(250);
/// Maximum number of single times that a wave keeps in memory, 8 bytes each: a limit for many short points.
const MOST_TIMES: u64 = 1 << 24;
/// Maximum number of points of a wave per core. Limits the memory for the nets of the points.
const MOST_PER_CORE: u64 = 16;
/// Maximum number of points of a wave on a GPU.
const MOST_ON_CARD: u64 = 256;

impl Batch {
    /// Returns a watch that stops at the deadline, or earlier if `watch` stops.
    pub(super) fn limited<'w>(&self, watch: &'w dyn Watch) -> TimeLimit<'w> {
        TimeLimit::at(watch, self.deadline)
    }

    /// Returns the request for the first replications of a point.
    pub(super) fn wanted<'a>(&self, point: &'a Point) -> Wanted<'a> {
        let rule =
            |rel_error| StopRule { rel_error, level: self.level, max_reps: self.replications, ..StopRule::default() };
        Wanted { point, have: None, until: self.replications, rule: self.relative_error.map(rule) }
    }

    pub(super) fn place<E>(&self, backend: Backend) -> Result<Place, BatchError<E>> {
        let place = Place::new(backend, self.adapter.as_deref());
        place.map_err(|error| BatchError::Run { point: 0, error })
    }

    /// Runs the first replications of some points. If a GPU cannot run them, the CPU does, or the error is reported.
    fn replicate<E: Send>(
        &self,
        crew: &Crew,
        wave: &[Point],
        make: &MakeModel<'_>,
        watch: &dyn Watch,
        place: &mut Place,
    ) -> Result<Vec<Option<Replicated>>, BatchError<E>> {
        let wanted = || wave.iter().map(|point| self.wanted(point)).collect();
        let on_card = place.card().is_some();
        match crew.replicate(wanted(), make, self.seed, watch, place.card()) {
            Err(BatchError::Run { point, error }) if on_card => {
                place.failed(error).map_err(|error| BatchError::Run { point, error })?;
                crew.replicate(wanted(), make, self.seed, watch, None)
            }
            ran => ran,
        }
    }

    pub(super) fn crew<E>(&self) -> Result<Crew, BatchError<E>> {
        Crew::new(self).map_err(|error| BatchError::Run { point: 0, error })
    }
}

impl Base {
    pub(super) fn new(point: &Point, ran: &Replicated, level: f64) -> Self {
        Self { result: PointResult::new(point, ran, None, level), times: times(&ran.samples) }
    }
}

/// Runs the base, with which every part of a sweep compares its points; none if the run was stopped.
///
/// # Errors
///
/// The base is not a valid model, or cannot be simulated.
pub fn run_base<E: Send>(
    base: &Point,
    make: &MakeModel<'_>,
    batch: &Batch,
    watch: &dyn Watch,
) -> Result<Option<Base>, BatchError<E>> {
    let watch = &batch.limited(watch);
    let ran = batch.crew()?.replicate(vec![batch.wanted(base)], make, batch.seed, watch, None)?;
    Ok(ran.into_iter().flatten().next().map(|ran| Base::new(base, &ran, batch.level)))
}

/// Runs points, and passes the results of each wave to `keep`, in the order of the points; returns the devices that ran the points.
/// If `watch` stops the run or the deadline passes, the function returns early, without an error.
///
/// # Errors
///
/// The first error, which ends the batch.
pub fn run_points<E: Send>(
    points: &[Point],
    base: &Base,
    make: &MakeModel<'_>,
    batch: &Batch,
    watch: &dyn Watch,
    keep: &mut (dyn FnMut(PointResult) -> Result<(), E> + Send),
) -> Result<Placement, BatchError<E>> {
    let crew = batch.crew()?;
    let mut place = batch.place(batch.backend)?;
    let watch = &batch.limited(watch);
    let (mut left, mut size, mut done) = (points, crew.cores as usize, 0);
    while !left.is_empty() && !watch.stopped() {
        let most = MOST_TIMES / batch.replications.max(1);
        let most = most.clamp(1, place.card().map_or(MOST_PER_CORE * crew.cores, |_| MOST_ON_CARD)) as usize;
        let (wave, rest) = left.split_at(size.clamp(1, most).min(left.len()));
        left = rest;
        let started = Instant::now();
        let ran = batch.replicate(&crew, wave, make, watch, &mut place)?;
        let ran: Vec<(&Point, Replicated)> =
            wave.iter().zip(ran).filter_map(|(point, ran)| Some((point, ran?))).collect();
        for result in results(&crew, &ran.iter().collect::<Vec<_>>(), base, batch.level) {
            keep(result).map_err(BatchError::Keep)?;
            done += 1;
            watch.progress(done, points.len() as u64);
        }
        let took = started.elapsed();
        let replications = ran.iter().map(|(_, ran)| ran.samples.replications).sum();
        place.took(replications, took, left.len() as u64 * batch.replications);
        if took < WAVE / 2 {
            size *= 2;
        } else if took > WAVE * 2 {
            size /= 2;
        }
    }
    Ok(place.placement())
}

/// Compares the replications of points with the base, on all cores.
pub(super) fn results(crew: &Crew, ran: &[&(&Point, Replicated)], base: &Base, level: f64) -> Vec<PointResult> {
    let result = |(point, ran): &&(&Point, Replicated)| PointResult::new(point, ran, base.times.as_deref(), level);
    crew.with(|| ran.par_iter().map(result).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compile::compile;
    use crate::net::{NetBuilder, Timing};
    use crate::sim::{Ensemble, Unwatched, run};
    use crate::sweep::model::NetModel;
    use std::num::NonZeroUsize;

    /// A race between transitions that return a token or remove it, until no token is left: not a schedule.
    fn race(speed: f64) -> NetModel {
        let mut b = NetBuilder::new("");
        let (p, q) = (b.place("p", 3), b.place("q", 0));
        let on = b.transition("on", Timing::exponential(speed));
        let back = b.transition("back", Timing::exponential(1.0));
        let gone = b.transition("gone", Timing::exponential(2.0));
        b.input(p, on, 1.0);
        b.output(on, q, 1.0);
        b.input(q, back, 1.0);
        b.output(back, p, 1.0);
        b.input(q, gone, 1.0);
        let program = compile(&b.build().unwrap()).unwrap();
        NetModel::new(program)
    }

    fn speed(point: &Point) -> f64 {
        0.5 + point.number as f64
    }

    fn swept(batch: &Batch) -> Vec<PointResult> {
        let all: Vec<Point> = (0..7).map(|number| Point { number, values: Vec::new() }).collect();
        let make = |point: &Point| Ok(race(speed(point)).into());
        let base = run_base::<()>(&all[0], &make, batch, &Unwatched).unwrap().unwrap();
        let mut found = vec![base.result.clone()];
        let mut keep = |result| {
            found.push(result);
            Ok::<(), ()>(())
        };
        run_points(&all[1..], &base, &make, batch, &Unwatched, &mut keep).unwrap();
        found
    }

    /// However the work is divided, the mean, the number of replications under a stop rule, and the engine are the same as in a run of
    /// the single point.
    #[test]
    fn points_are_what_a_run_of_each_alone_gives() {
        for relative_error in [None, Some(0.02)] {
            let batch = Batch { replications: 20_001, relative_error, seed: 4, ..Batch::default() };
            let one = swept(&Batch { threads: NonZeroUsize::new(1), ..batch.clone() });
            assert_eq!(one, swept(&batch));
            for result in one {
                let model = race(0.5 + result.point as f64);
                let rule = |rel_error| StopRule { rel_error, max_reps: 20_001, ..StopRule::default() };
                let stop = relative_error.map(rule);
                let ensemble =
                    Ensemble { replications: 20_001, stop, seed: 4, backend: Backend::Cpu, ..Ensemble::default() };
                let alone = run(&model.program, &model.question, &ensemble, &Unwatched).unwrap();
                let mean = alone.samples.passage.mean_ticks().unwrap() * alone.samples.clock.tick();
                assert_eq!(result.mean_s.as_ref().unwrap().value, mean);
                assert_eq!(result.replications, alone.samples.replications);
                assert_eq!(result.engine, alone.provenance.engine);
                assert_ne!(result.engine, "schedule");
            }
        }
    }

    #[test]
    fn the_first_point_that_is_wrong_is_told_whoever_finds_it() {
        let all: Vec<Point> = (0..9).map(|number| Point { number, values: Vec::new() }).collect();
        let make =
            |point: &Point| if point.number < 3 { Ok(race(1.0).into()) } else { Err(format!("no {}", point.number)) };
        let batch = Batch { replications: 10, ..Batch::default() };
        let base = run_base::<()>(&all[0], &make, &batch, &Unwatched).unwrap().unwrap();
        let mut kept = 0;
        let mut keep = |_| {
            kept += 1;
            Ok::<(), ()>(())
        };
        let error = run_points(&all[1..], &base, &make, &batch, &Unwatched, &mut keep).unwrap_err();
        assert_eq!(error, BatchError::Model { point: 3, message: "no 3".into() });
        assert!(kept <= 2);
    }
}
