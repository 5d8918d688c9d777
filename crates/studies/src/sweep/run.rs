//! A sweep from the plan to the results: points, checks, the batch, the budget, and the destination of results.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use toml::Value;

use crate::ask::RunSettings;
use crate::error::{KeyProblem, StudyError};
use crate::job_time::OwnRun;
use crate::net::Net;
use crate::net::expr::ExprError;
use crate::plan::{PlanError, PlanOption, Planning};
use crate::share::Shard;
use crate::sim::{Backend, Placement};
use crate::subject::{LoadWarning, Loaded, Subject, load};
use crate::sweep::batch::{Base, run_base, run_points};
use crate::sweep::budget::{Budget, Rounds, spent};
use crate::sweep::design::points;
use crate::sweep::model::{Batch, BatchError, MakeModel, Model};
use crate::sweep::plan::{Axis, SweepPlan};
use crate::sweep::point::Point;
use crate::sweep::result::PointResult;
use crate::sweep::store::{Header, Store, Stored, has};
use crate::sweep::store_error::{DamagedPart, StoreError};
use crate::watch::Watch;

/// A sweep over settings of a job or net.
///
/// # Examples
///
/// ```
/// use tailspn_common::watch::Unwatched;
/// use tailspn_jobs::plan::JobPlan;
/// use tailspn_studies::sweep::{Axis, Sweep};
///
/// let sweep = Sweep::of_job(JobPlan::default())?.axis(Axis::values("job.reduces", [20, 80])).replications(200);
/// let outcome = sweep.run(&Unwatched)?;
/// // the base, and two more
/// let means: Vec<f64> = outcome.stored.results.values().filter_map(|point| Some(point.mean_s.as_ref()?.value)).collect();
/// assert_eq!(means.len(), 3);
/// # Ok::<(), tailspn_studies::StudyError>(())
/// ```
#[derive(Debug)]
pub struct Sweep {
    /// The axes, the design, and the number of replications of each point.
    pub plan: SweepPlan,
    /// The job or net.
    pub subject: Subject,
    /// Warnings about the input files.
    pub warnings: Vec<LoadWarning>,
    /// The check of the base plan on the runs that it was fitted to, which is stored with the results.
    pub own_run: Option<OwnRun>,
    /// Settings for running the sweep.
    pub settings: SweepSettings,
}

/// Settings for running a sweep, and the destination of its results.
#[derive(Clone, Debug)]
pub struct SweepSettings {
    /// Settings of the run of each point. The plan has the seed and the number of replications; after the limit of time, no new point starts; the base
    /// always runs on the CPU.
    pub run: RunSettings,
    /// The shard of points to run.
    pub shard: Shard,
    /// Maximum number of points that this run adds to the results.
    pub max_points: Option<u64>,
    /// Folder in which results are stored; none to keep them in memory.
    pub output: Option<PathBuf>,
    /// If true, continues with the results that the folder already holds.
    pub resume: bool,
}

impl Default for SweepSettings {
    /// Returns settings for all points on all cores, and on a GPU if it pays off, with intervals of [`LEVEL`](crate::estimate::LEVEL) and results in memory.
    fn default() -> Self {
        Self { run: RunSettings::default(), shard: Shard::WHOLE, max_points: None, output: None, resume: false }
    }
}

/// The result of a sweep.
#[derive(Clone, Debug)]
pub struct SweepOutcome {
    /// All results, including results of earlier runs.
    pub stored: Stored,
    /// Number of points that this run added.
    pub added: u64,
    /// Devices that ran the points; none if at most the base was simulated.
    pub placement: Option<Placement>,
}

impl SweepOutcome {
    /// Returns the finished points in the order of their numbers; the first is the base, the job or net without changes.
    pub fn points(&self) -> impl Iterator<Item = &PointResult> {
        self.stored.results.values()
    }

    /// Returns the point with these values, in the order of the axes.
    pub fn point<V: Into<Value>>(&self, values: impl IntoIterator<Item = V>) -> Option<&PointResult> {
        let values: Vec<Option<Value>> = values.into_iter().map(|value| Some(value.into())).collect();
        self.points().find(|point| point.values == values)
    }
}

/// Watches a sweep: its points, in addition to the progress of the current work.
pub trait SweepWatch: Watch {
    /// The constraints excluded `left_out` of `planned` points. `base_breaks` is true if the base also violates a
    /// constraint; the base is kept nevertheless.
    fn constrained(&self, _left_out: u64, _planned: u64, _base_breaks: bool) {}
    /// A damaged part was removed from the stored results; its points are run again.
    fn damaged(&self, _part: &DamagedPart) {}
    /// A run of `planned` points starts; `stored` holds the results so far.
    fn started(&self, _stored: &Stored, _planned: u64) {}
    /// A point finished, as number `done` of `planned`.
    fn point(&self, _result: &PointResult, _done: u64, _planned: u64) {}
    /// The rounds of a budget start: from now on, progress counts replications.
    fn rounds(&self) {}
    /// A round finished, in which `points` points got more replications. `done` replications of `planned` have run in total,
    /// `before` of them before the rounds.
    fn round(&self, _points: usize, _done: u64, _before: u64, _planned: Option<u64>) {}
}

/// Watches only the progress of the work.
struct WorkOnly<'a>(&'a dyn Watch);

impl Watch for WorkOnly<'_> {
    fn progress(&self, done: u64, planned: u64) {
        self.0.progress(done, planned);
    }

    fn stopped(&self) -> bool {
        self.0.stopped()
    }
}

impl SweepWatch for WorkOnly<'_> {}

impl Sweep {
    /// Returns a sweep over settings of a job, initially without axes. It simulates all combinations with 2,000 replications each.
    ///
    /// # Errors
    ///
    /// The errors of [`Subject::of_job`].
    pub fn of_job(job: impl Planning) -> Result<Self, StudyError> {
        let (plan, warnings, settings) = (SweepPlan::default(), Vec::new(), SweepSettings::default());
        Ok(Self { plan, subject: Subject::of_job(job)?, warnings, own_run: None, settings })
    }

    /// Returns a sweep over rate parameters of a net, initially without axes. Its times are those to the first marking in which
    /// `until` is not 0, or to the dead marking.
    ///
    /// # Errors
    ///
    /// `until` is not a valid expression of the net.
    pub fn of_net(net: Net, until: Option<&str>) -> Result<Self, ExprError> {
        let (plan, warnings, settings) = (SweepPlan::default(), Vec::new(), SweepSettings::default());
        Ok(Self { plan, subject: Subject::net(net, until)?, warnings, own_run: None, settings })
    }

    /// Adds an axis.
    #[must_use]
    pub fn axis(mut self, axis: Axis) -> Self {
        self.plan.axis.push(axis);
        self
    }

    /// Sets the number of replications of each configuration.
    #[must_use]
    pub fn replications(mut self, replications: u64) -> Self {
        self.plan.sweep.replications = replications;
        self
    }

    /// Sets how the sweep is run; a seed replaces the plan's.
    #[must_use]
    pub fn settings(mut self, settings: SweepSettings) -> Self {
        self.plan.sweep.seed = settings.run.seed.unwrap_or(self.plan.sweep.seed);
        self.settings = settings;
        self
    }

    /// Sets the seed of all replications. Default 0.
    #[must_use]
    pub fn seed(mut self, seed: u64) -> Self {
        self.plan.sweep.seed = seed;
        self
    }

    /// Reads the job or net of a plan; file names are relative to `folder`.
    ///
    /// # Errors
    ///
    /// [`StudyError::Load`].
    pub fn new(plan: SweepPlan, folder: &Path) -> Result<Self, StudyError> {
        Self::planned(plan, folder, &[])
    }

    /// Reads the job or net of a plan as [`Sweep::new`] does; `options` replace values of the job's plan.
    ///
    /// # Errors
    ///
    /// [`StudyError::Load`], [`StudyError::Options`].
    pub fn planned(plan: SweepPlan, folder: &Path, options: &[PlanOption]) -> Result<Self, StudyError> {
        let Loaded { subject, warnings } = Loaded::open(&plan.sweep, folder)?.planned(options)?;
        Ok(Self { plan, subject, warnings, own_run: None, settings: SweepSettings::default() })
    }

    /// Reads a plan, and the job or net that it names.
    ///
    /// # Errors
    ///
    /// [`StudyError::Load`], [`StudyError::Text`].
    pub fn open(path: &Path) -> Result<Self, StudyError> {
        Self::new(load::open_plan(path, SweepPlan::from_toml)?, path.parent().unwrap_or(Path::new("")))
    }

    /// Runs the sweep. A stopped sweep also returns a result, with the points that finished.
    ///
    /// # Errors
    ///
    /// Keys that cannot be used, replications that cannot be run, results that cannot be stored.
    pub fn run(&self, watch: &dyn Watch) -> Result<SweepOutcome, StudyError> {
        self.run_watched(&WorkOnly(watch))
    }

    /// Runs the sweep with a watch that receives each point.
    ///
    /// # Errors
    ///
    /// The errors of [`Sweep::run`].
    pub fn run_watched(&self, watch: &dyn SweepWatch) -> Result<SweepOutcome, StudyError> {
        let problems = self.plan.problems();
        if !problems.is_empty() {
            return Err(PlanError { problems }.into());
        }
        let points = self.points(watch)?;
        let header = self.header(points.len() as u64)?;
        let mut kept = match &self.settings.output {
            Some(folder) => {
                let store = Store::open(folder, header, self.settings.resume)?;
                store.damaged().iter().for_each(|part| watch.damaged(part));
                Kept::Folder(store)
            }
            None => Kept::Memory(Stored { header, results: BTreeMap::new() }),
        };
        let before = kept.stored().results.len();
        let ran = Run { sweep: self, points: &points, watch }.run(&mut kept);
        // finished points are kept, whatever error occurred
        let stored = kept.close();
        let (placement, stored) = (ran?, stored?);
        let added = (stored.results.len() - before) as u64;
        Ok(SweepOutcome { stored, added, placement })
    }

    /// Returns the checked points of the sweep, the base first, without the points that constraints exclude.
    ///
    /// # Errors
    ///
    /// [`StudyError::Plan`] with the first problems.
    fn points(&self, watch: &dyn SweepWatch) -> Result<Vec<Point>, StudyError> {
        let mut all = points(&self.plan);
        if !self.plan.sweep.constraints.is_empty() {
            self.subject.check_axes(&self.plan)?;
            let planned = all.len() as u64 - 1;
            let admitted = self.subject.admit(&self.plan, all)?;
            watch.constrained(admitted.left_out, planned, admitted.base_breaks);
            all = admitted.points;
        }
        self.subject.check(&self.plan, &all)?;
        self.check_budget(all.len() as u64)?;
        Ok(all)
    }

    /// Checks that a budget suffices for the first replications of every point, and that it is not combined with shards.
    fn check_budget(&self, points: u64) -> Result<(), StudyError> {
        let settings = &self.plan.sweep;
        let refused = |message: String| StudyError::Plan(KeyProblem::at("sweep.budget_replications", message).into());
        let has_budget = settings.budget_replications.is_some() || settings.budget_time_s.is_some();
        if self.settings.shard != Shard::WHOLE && has_budget {
            return Err(refused(
                "a shard cannot have a budget, because the budget is divided among all points".to_owned(),
            ));
        }
        let first = points.saturating_mul(settings.replications);
        match settings.budget_replications {
            Some(budget) if budget < first => Err(refused(format!(
                "a budget of {budget} is too small: {points} points with {} replications each need {first}",
                settings.replications
            ))),
            _ => Ok(()),
        }
    }

    /// Returns the identity of the sweep. It contains plans with all keys written out, so comments and the order of keys do not matter.
    fn header(&self, points: u64) -> Result<Header, StudyError> {
        let settings = &self.plan.sweep;
        // the budget of time is not part of the identity
        let mut named = self.plan.clone();
        named.sweep.budget_time_s = None;
        let (text, base) = (toml::to_string(&named)?, self.subject.text());
        let mut header = Header::new(self.settings.shard, points, settings.seed, self.settings.run.level, text, base);
        let relative_error = settings.relative_error;
        header.budget = settings.budget_replications.map(|replications| Budget { replications, relative_error });
        header.own_run = self.own_run.clone();
        (header.folded, header.not_folded) = self.subject.folded_parts(&self.plan.axis, settings.seed);
        Ok(header)
    }

    fn budget(&self) -> Option<Budget> {
        let settings = &self.plan.sweep;
        let relative_error = settings.relative_error;
        match settings.budget_replications {
            Some(replications) => Some(Budget { replications, relative_error }),
            None => settings.budget_time_s.map(|_| Budget::endless(relative_error)),
        }
    }

    fn batch(&self) -> Batch {
        let settings = &self.plan.sweep;
        let budget_time = settings.budget_time_s.and_then(|time| Duration::try_from_secs_f64(time).ok());
        Batch {
            replications: settings.replications,
            // with a budget, the rounds apply the relative error
            relative_error: settings.relative_error.filter(|_| self.budget().is_none()),
            seed: settings.seed,
            level: self.settings.run.level,
            threads: self.settings.run.threads,
            deadline: self
                .settings
                .run
                .max_time
                .into_iter()
                .chain(budget_time)
                .min()
                .and_then(|wall| Instant::now().checked_add(wall)),
            backend: self.settings.run.backend,
            adapter: self.settings.run.adapter.clone(),
        }
    }

    /// Returns the points of this run: the missing points of the shard, up to the limit.
    fn missing(&self, all: &[Point], stored: &Stored) -> Vec<Point> {
        let shard = self.settings.shard;
        let missing =
            all.iter().filter(|point| has(shard, point.number) && !stored.results.contains_key(&point.number));
        let most = self.settings.max_points.and_then(|most| usize::try_from(most).ok()).unwrap_or(usize::MAX);
        missing.take(most).cloned().collect()
    }
}

/// The destination of results.
enum Kept {
    Folder(Store),
    Memory(Stored),
}

impl Kept {
    fn stored(&self) -> &Stored {
        match self {
            Self::Folder(store) => store.stored(),
            Self::Memory(stored) => stored,
        }
    }

    fn keep(&mut self, result: PointResult) -> Result<(), StoreError> {
        match self {
            Self::Folder(store) => store.keep(result),
            Self::Memory(stored) => {
                stored.results.insert(result.point, result);
                Ok(())
            }
        }
    }

    fn keep_together(&mut self, results: Vec<PointResult>) -> Result<(), StoreError> {
        match self {
            Self::Folder(store) => store.keep_together(results),
            Self::Memory(stored) => {
                stored.results.extend(results.into_iter().map(|result| (result.point, result)));
                Ok(())
            }
        }
    }

    fn close(self) -> Result<Stored, StoreError> {
        match self {
            Self::Folder(store) => store.close(),
            Self::Memory(stored) => Ok(stored),
        }
    }
}

/// A run over points that were checked.
struct Run<'a> {
    sweep: &'a Sweep,
    points: &'a [Point],
    watch: &'a dyn SweepWatch,
}

impl Run<'_> {
    /// Runs the base, the missing points, and the rounds of a budget, in this order; returns the devices that ran the points.
    fn run(&self, kept: &mut Kept) -> Result<Option<Placement>, StudyError> {
        let missing = self.sweep.missing(self.points, kept.stored());
        let others: Vec<Point> = missing.iter().filter(|point| point.number > 0).cloned().collect();
        let planned = others.len() as u64;
        self.watch.started(kept.stored(), planned);
        let budget = self.sweep.budget();
        let is_spent = |budget: Budget| budget.next_round(&kept.stored().results).is_empty();
        if missing.is_empty() && budget.is_none_or(is_spent) {
            return Ok(None);
        }
        let seed = self.sweep.plan.sweep.seed;
        let deadline_s = self.sweep.plan.optimize.as_ref().and_then(|settings| settings.deadline_s);
        let make = |point: &Point| {
            let (subject, axes) = (&self.sweep.subject, &self.sweep.plan.axis);
            // only nets run on a GPU, with the same numbers on the CPU
            let model = match self.sweep.settings.run.backend {
                Backend::Auto => subject.model(axes, point, seed)?,
                _ => subject.net_model(axes, point, seed)?,
            };
            Ok(Model { deadline_s: model.deadline_s.or(deadline_s), ..model })
        };
        let batch = self.sweep.batch();
        let Some(base) = self.base(kept, &make, &batch)? else { return Ok(None) };
        self.watch.progress(0, planned);
        let mut done = 0;
        let mut keep = |result: PointResult| {
            done += 1;
            self.watch.point(&result, done, planned);
            kept.keep(result)
        };
        let ran = run_points(&others, &base, &make, &batch, self.watch, &mut keep)?;
        if let Some(budget) = budget.filter(|_| kept.stored().has_all_points()) {
            self.rounds(&budget, base, kept, &make, &batch)?;
        }
        Ok((planned > 0).then_some(ran))
    }

    /// Runs the base, and stores its result if no result is stored yet. If a result is already stored, the base runs
    /// with the same number of replications and must give the same result.
    fn base(&self, kept: &mut Kept, make: &MakeModel<'_>, batch: &Batch) -> Result<Option<Base>, StudyError> {
        let found = kept.stored().results.get(&0).cloned();
        let mut batch = batch.clone();
        if self.sweep.budget().is_some() {
            batch.replications = found.as_ref().map_or(batch.replications, |found| found.replications);
        }
        let base = run_base::<StoreError>(&self.points[0], make, &batch, self.watch)?;
        match (&base, found) {
            (Some(base), None) => kept.keep(base.result.clone())?,
            (Some(base), Some(found)) if found != base.result => return Err(StudyError::BaseChanged),
            _ => {}
        }
        Ok(base)
    }

    /// Spends the remaining budget.
    fn rounds(
        &self,
        budget: &Budget,
        base: Base,
        kept: &mut Kept,
        make: &MakeModel<'_>,
        batch: &Batch,
    ) -> Result<(), BatchError<StoreError>> {
        let have = kept.stored().results.clone();
        let before = spent(&have);
        let planned = self.sweep.plan.sweep.budget_replications;
        self.watch.rounds();
        let mut keep = |results: Vec<PointResult>| {
            let points = results.len();
            kept.keep_together(results)?;
            self.watch.round(points, spent(&kept.stored().results), before, planned);
            Ok(())
        };
        Rounds { points: self.points, budget, make, batch }.run(base, have, self.watch, &mut keep)
    }
}
