//! Times at points of a plan: what `sensitivity` and `optimize` ask of each point.

use std::num::NonZeroUsize;
use std::time::Instant;

use rayon::prelude::*;
use tailspn::estimate::{EstimateError, FloatMoments};
use tailspn::optimize::Measure;
use tailspn::sensitivity::{Effect, Response};
use tailspn::sim::{Backend, Ending, Ensemble, Watch, run as replicate};
use tailspn::sweep::{Axis, Model, Point};

use crate::cli::exit::Exit;
use crate::cli::notes::Failure;
use crate::cli::simulate::failure;
use crate::cli::sweep_points::Subject;
use crate::cli::watch::{Progress, interrupted};

/// Counts work, and stops it on Ctrl-C or after a time.
pub(crate) struct Patience {
    progress: Progress,
    deadline: Option<Instant>,
}

impl Patience {
    pub(crate) fn new(progress: Progress, max_time: Option<std::time::Duration>) -> Self {
        Self { progress, deadline: max_time.map(|wall| Instant::now() + wall) }
    }
}

impl Watch for Patience {
    fn progress(&self, done: u64, planned: u64) {
        self.progress.progress(done, planned);
    }

    fn stopped(&self) -> bool {
        interrupted() || self.deadline.is_some_and(|deadline| Instant::now() >= deadline)
    }
}

/// Only whether to end: progress is counted in points.
struct Quiet<'a>(&'a dyn Watch);

impl Watch for Quiet<'_> {
    fn progress(&self, _: u64, _: u64) {}

    fn stopped(&self) -> bool {
        self.0.stopped()
    }
}

/// Times \[s\] of the replications `first .. first + count`, on the processor; none where they were stopped. Where whole runs differ,
/// they do so in times that a quantile is asked of; a mean is that of a usual run.
pub(crate) fn times(
    model: &Model,
    measure: Measure,
    ensemble: &Ensemble,
    watch: &dyn Watch,
) -> Result<Option<Vec<f64>>, Failure> {
    let ensemble = Ensemble { backend: Backend::Cpu, keep: true, ..ensemble.clone() };
    let run = replicate(&model.program, &model.question, &ensemble, &Quiet(watch)).map_err(|error| failure(&error))?;
    if run.provenance.cut_short {
        return Ok(None);
    }
    let samples = &run.samples;
    let reached = samples.ended(Ending::Goal);
    if reached < samples.replications {
        let message = format!(
            "{} of {} replications did not reach the goal",
            samples.replications - reached,
            samples.replications
        );
        return Err(Failure::plain(Exit::Refused, message));
    }
    let mut times: Vec<f64> = samples.passage_times.iter().map(|&ticks| samples.clock.seconds(ticks)).collect();
    if measure != Measure::Mean {
        model.spread.spread(&mut times, ensemble.seed, ensemble.first);
    }
    Ok(Some(times))
}

/// An answer with its interval by Student's t over the groups.
pub(crate) fn value_of(answer: &Response, level: f64) -> Result<Effect, EstimateError> {
    if let [exact] = answer.groups() {
        return Ok(Effect { value: *exact, low: *exact, high: *exact });
    }
    let moments: FloatMoments = answer.groups().iter().copied().collect();
    Ok(moments.mean_estimate(level)?.into())
}

/// Asks points for a measure, a row at a time.
pub(crate) struct Asker<'a> {
    pub(crate) subject: &'a Subject,
    pub(crate) axes: &'a [Axis],
    pub(crate) measure: Measure,
    /// Replications of a point.
    pub(crate) replications: u64,
    /// Groups of them, of which each gives a value.
    pub(crate) groups: u64,
    pub(crate) seed: u64,
    pub(crate) threads: Option<NonZeroUsize>,
}

impl Asker<'_> {
    /// The answer at a point, by replications of a row of its own; none where it was stopped.
    fn answer(&self, row: u64, point: &Point, watch: &dyn Watch) -> Result<Option<Response>, Failure> {
        let at = |message: &dyn std::fmt::Display| format!("{message}, where {}", self.words(point));
        let model =
            self.subject.model(self.axes, point).map_err(|message| Failure::plain(Exit::Model, at(&message)))?;
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
        let groups = groups.map_err(|error| Failure::plain(Exit::Internal, error.to_string()))?;
        Ok(Response::of_groups(groups))
    }

    /// Answers at all points of all rows, on all cores; only the rows before the first that was stopped.
    pub(crate) fn answers(&self, rows: &[Vec<Point>], watch: &dyn Watch) -> Result<Vec<Vec<Response>>, Failure> {
        let threads = self.threads.map_or(0, NonZeroUsize::get);
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        let pool = pool.map_err(|error| Failure::plain(Exit::Internal, error.to_string()))?;
        let mut all: Vec<Vec<Response>> = Vec::new();
        let per_row = rows.first().map_or(0, Vec::len);
        let work: Vec<(u64, &Vec<Point>)> = (0..).zip(rows).collect();
        // a round has a row per thread; its points are run side by side, so that a single row keeps all threads busy too
        for round in work.chunks(pool.current_num_threads()) {
            let points: Vec<(u64, &Point)> =
                round.iter().flat_map(|(row, points)| points.iter().map(move |point| (*row, point))).collect();
            let one = |(row, point): &(u64, &Point)| self.answer(*row, point, watch);
            let found: Vec<Option<Response>> =
                pool.install(|| points.par_iter().map(one).collect::<Result<_, Failure>>())?;
            let rows_found = found.chunks(per_row.max(1)).map(|row| row.iter().cloned().collect::<Option<Vec<_>>>());
            all.extend(rows_found.map_while(|row| row));
            watch.progress((all.len() * per_row) as u64, (rows.len() * per_row) as u64);
            if watch.stopped() {
                break;
            }
        }
        Ok(all)
    }

    /// A point in words.
    fn words(&self, point: &Point) -> String {
        let word = |(axis, value): (&Axis, &Option<toml::Value>)| Some(format!("{} = {}", axis.key, value.as_ref()?));
        let words: Vec<String> = self.axes.iter().zip(&point.values).filter_map(word).collect();
        if words.is_empty() { "all is as in the base".to_owned() } else { words.join(", ") }
    }
}
