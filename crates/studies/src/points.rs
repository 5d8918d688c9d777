//! Simulates single points for `sensitivity` and `optimize`, and returns their times.

use std::num::NonZeroUsize;

use rayon::prelude::*;

use tailspn_common::threads;

use crate::ends::{owned, without_width};
use crate::error::StudyError;
use crate::estimate::{EstimateError, FloatMoments, Measured};
use crate::job_time::TaskModel;
use crate::optimize::Measure;
use crate::sensitivity::Response;
use crate::share::{Listed, Share};
use crate::sim::{Backend, Ending, Ensemble, run};
use crate::subject::Subject;
use crate::sweep::{Axis, Model, NetModel, Point, Runs};
use crate::watch::{Quiet, Watch};

/// Returns the times \[s\] of the ensemble's replications, simulated on the CPU; none if the simulation was stopped.
/// For a quantile, the times include the spread between whole runs; for a mean, they are the times of typical runs.
pub(crate) fn times(
    model: &Model,
    measure: Measure,
    ensemble: &Ensemble,
    watch: &dyn Watch,
) -> Result<Option<Vec<f64>>, StudyError> {
    let found = match &model.runs {
        Runs::Net(net) => net_times(net, ensemble, watch)?,
        Runs::Tasks(tasks) => task_times(tasks, ensemble, watch)?,
    };
    let Some(mut times) = found else { return Ok(None) };
    if measure != Measure::Mean {
        model.spread.spread(&mut times, ensemble.seed, ensemble.first);
    }
    Ok(Some(times))
}

fn net_times(net: &NetModel, ensemble: &Ensemble, watch: &dyn Watch) -> Result<Option<Vec<f64>>, StudyError> {
    let ensemble = Ensemble { backend: Backend::Cpu, keep: true, ..ensemble.clone() };
    let run = run(&net.program, &net.question, &ensemble, &Quiet(watch))?;
    if run.provenance.cut_short {
        return Ok(None);
    }
    let samples = &run.samples;
    let replications = samples.replications;
    let missing = replications - samples.ended(Ending::Goal);
    if missing > 0 {
        return Err(StudyError::Unreached { missing, replications });
    }
    Ok(Some(samples.times_s().collect()))
}

fn task_times(tasks: &TaskModel, ensemble: &Ensemble, watch: &dyn Watch) -> Result<Option<Vec<f64>>, StudyError> {
    let threads = threads::at_most(ensemble.threads);
    // short blocks keep all threads busy, because a replication of a large job takes long
    let size = (ensemble.replications / (8 * threads.get() as u64)).clamp(1, 16);
    let quiet = Quiet(watch);
    let ready = tasks.ready(ensemble.seed, &quiet);
    let blocks: Vec<u64> = (0..ensemble.replications).step_by(size as usize).collect();
    let block = |&from: &u64| {
        let samples = ready.replicate(ensemble.first + from, size.min(ensemble.replications - from))?;
        Ok(samples.times_s().collect())
    };
    let found: Result<Vec<Vec<f64>>, StudyError> = match threads {
        NonZeroUsize::MIN => blocks.iter().map(block).collect(),
        threads => thread_pool(Some(threads))?.install(|| blocks.par_iter().map(block).collect()),
    };
    let times = found?.concat();
    Ok((times.len() as u64 == ensemble.replications).then_some(times))
}

/// Returns an answer with its interval by Student's t over the groups.
pub(crate) fn value_of(answer: &Response, level: f64) -> Result<Measured, EstimateError> {
    if let [exact] = answer.groups() {
        return Ok(without_width(*exact));
    }
    let moments: FloatMoments = answer.groups().iter().copied().collect();
    Ok(owned(moments.mean_estimate(level)?))
}

/// Simulates points, one row of points at a time.
pub(crate) struct Asker<'a> {
    pub(crate) subject: &'a Subject,
    pub(crate) axes: &'a [Axis],
    pub(crate) measure: Measure,
    /// Replications of a point.
    pub(crate) replications: u64,
    /// Number of groups of replications; each group yields one value.
    pub(crate) groups: u64,
    pub(crate) seed: u64,
    pub(crate) threads: Option<NonZeroUsize>,
    /// The share of the points that this process simulates.
    pub(crate) share: Share,
}

impl Asker<'_> {
    /// Returns the answer at a point, from the replications reserved for its row; none if the simulation was stopped.
    fn answer(&self, row: u64, point: &Point, watch: &dyn Watch) -> Result<Option<Response>, StudyError> {
        let model = self.subject.model(self.axes, point, self.seed).map_err(|message| {
            let words = point.words(self.axes).unwrap_or_else(|| "all settings are as in the base".to_owned());
            StudyError::Model(format!("{message}, where {words}"))
        })?;
        let ensemble = Ensemble {
            replications: self.replications,
            first: row * self.replications,
            seed: self.seed,
            threads: Some(NonZeroUsize::MIN),
            ..Ensemble::default()
        };
        let Some(times) = times(&model, self.measure, &ensemble, watch)? else { return Ok(None) };
        let size = times.len().div_ceil(self.groups.max(1) as usize).max(1);
        let groups: Result<Vec<f64>, _> = times.chunks(size).map(|group| self.measure.of(group)).collect();
        Ok(Response::of_groups(groups?))
    }

    /// Returns the answers at all points of all rows, computed on all cores. If the simulation is stopped, only complete
    /// rows are returned.
    pub(crate) fn answers(&self, rows: &[Vec<Point>], watch: &dyn Watch) -> Result<Vec<Vec<Response>>, StudyError> {
        let per_row = rows.first().map_or(0, Vec::len).max(1);
        let points: Vec<(u64, &Point)> =
            (0..).zip(rows).flat_map(|(row, points)| points.iter().map(move |point| (row, point))).collect();
        if self.share.is_whole() {
            let found = self.answers_at(&points, per_row, watch)?;
            return Ok(found.chunks_exact(per_row).map(<[Response]>::to_vec).collect());
        }
        // the compiled base identifies the subject; the subject itself has maps without a fixed order
        let base =
            self.subject.model(self.axes, &Point::base(self.axes.len()), self.seed).map_err(StudyError::Model)?;
        let numbers = (self.replications, self.groups, self.seed, self.measure);
        let question = (base.identity(), self.axes, numbers, rows);
        if let Some(Listed { found, .. }) = self.share.given::<Listed<Response>>(&question)? {
            return Ok(found.chunks_exact(per_row).map(<[Response]>::to_vec).collect());
        }
        let range = self.share.range(points.len() as u64, 1);
        let found = self.answers_at(&points[range.start as usize..range.end as usize], per_row, watch)?;
        self.share.keep(&question, &Listed { first: range.start, found })?;
        Err(StudyError::Part)
    }

    /// Returns the answers at points of rows; if the simulation is stopped, up to the first unfinished point.
    fn answers_at(
        &self,
        points: &[(u64, &Point)],
        per_row: usize,
        watch: &dyn Watch,
    ) -> Result<Vec<Response>, StudyError> {
        let pool = thread_pool(self.threads)?;
        let mut all: Vec<Response> = Vec::new();
        // a round has a row per thread; its points run side by side, so that a single row keeps all threads busy too
        for round in points.chunks(pool.current_num_threads() * per_row) {
            let one = |(row, point): &(u64, &Point)| self.answer(*row, point, watch);
            let found: Vec<Option<Response>> =
                pool.install(|| round.par_iter().map(one).collect::<Result<_, StudyError>>())?;
            all.extend(found.into_iter().map_while(|answer| answer));
            watch.progress(all.len() as u64, points.len() as u64);
            if watch.stopped() {
                break;
            }
        }
        Ok(all)
    }
}

/// Returns a pool with this number of threads; by default, one per core.
pub(crate) fn thread_pool(threads: Option<NonZeroUsize>) -> Result<rayon::ThreadPool, StudyError> {
    let threads = threads.map_or(0, NonZeroUsize::get);
    Ok(rayon::ThreadPoolBuilder::new().num_threads(threads).build()?)
}
