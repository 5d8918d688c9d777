//! A complete search: computes the costs of the candidates and judges candidates by replications.

use std::path::Path;

use crate::Problems;
use crate::ask::RunSettings;
use crate::error::{KeyProblem, StudyError};
use crate::estimate::FloatMoments;
use crate::net::Net;
use crate::net::expr::ExprError;
use crate::optimize::compare::search_by_estimates;
use crate::optimize::cost::{Cost, NODES};
use crate::optimize::judge::{Judge, Judgement, Measure};
use crate::optimize::plan::OptimizePlan;
use crate::optimize::search::{Answer, Candidate, SearchResult, candidates, may_bisect, search};
use crate::optimize::settings::Search;
use crate::plan::{PlanError, PlanOption, Planning};
use crate::points;
use crate::sim::{Ensemble, FoldedParts, NotFolded};
use crate::subject::{LoadWarning, Loaded, Subject, as_number, load};
use crate::sweep::{Axis, Model, Point, SweepPlan};
use crate::watch::Watch;

/// A search for the cheapest configuration of a job or net that meets a deadline.
///
/// # Examples
///
/// ```
/// use tailspn_studies::optimize::{Optimization, OptimizePlan};
/// use tailspn_common::watch::Unwatched;
///
/// let text = "optimize.deadline_s = 160\n[[axis]]\nkey = \"cluster.node[0].count\"\nvalues = [10, 20, 40]";
/// let search = Optimization::new(OptimizePlan::from_toml(text)?, "".as_ref())?;
/// let outcome = search.run(&Unwatched)?;
/// assert!(outcome.chosen().is_some_and(|candidate| candidate.cost == 10.0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Optimization {
    /// The deadline, the axes and the cost.
    pub plan: OptimizePlan,
    /// The job or net.
    pub subject: Subject,
    /// Warnings about the input files.
    pub warnings: Vec<LoadWarning>,
    /// Settings of the run. The plan has the seed and the numbers of replications.
    pub(super) run: RunSettings,
}

/// The result of a search.
#[derive(Clone, Debug)]
pub struct OptimizeOutcome {
    /// All configurations with their costs, the most preferred first.
    pub candidates: Vec<Candidate>,
    /// The configurations that were judged, and the answer.
    pub found: SearchResult,
    /// The folded parts of the net of the base configuration; none if it runs unfolded.
    pub folded: Option<FoldedParts>,
    /// Parts of that net that look alike but are not folded.
    pub not_folded: Vec<NotFolded>,
}

impl OptimizeOutcome {
    /// Returns the chosen configuration; none if no configuration was proved to meet the deadline.
    pub fn chosen(&self) -> Option<&Candidate> {
        let (Answer::Cheapest(look) | Answer::Meets(look)) = self.found.answer else { return None };
        self.candidates.get(self.found.looks.get(look)?.candidate)
    }
}

impl Optimization {
    /// Returns a search over settings of a job, without axes: the number of workers is the cost.
    ///
    /// # Errors
    ///
    /// The errors of [`Subject::of_job`].
    pub fn of_job(job: impl Planning, deadline_s: f64) -> Result<Self, StudyError> {
        let mut plan = OptimizePlan::default();
        plan.optimize.deadline_s = Some(deadline_s);
        Ok(Self { plan, subject: Subject::of_job(job)?, warnings: Vec::new(), run: RunSettings::default() })
    }

    /// Returns a search over rate parameters of a net, without axes and without cost. The time to the first marking in which
    /// `until` is not 0, or to the dead marking, must meet the deadline.
    ///
    /// # Errors
    ///
    /// `until` is not a valid expression of the net.
    pub fn of_net(net: Net, until: Option<&str>, deadline_s: f64) -> Result<Self, ExprError> {
        let mut plan = OptimizePlan::default();
        plan.optimize.deadline_s = Some(deadline_s);
        Ok(Self { plan, subject: Subject::net(net, until)?, warnings: Vec::new(), run: RunSettings::default() })
    }

    /// Adds an axis. It takes every whole number between its ends, unless it sets the number of values.
    #[must_use]
    pub fn axis(mut self, axis: Axis) -> Self {
        self.plan.axis.push(axis.into_choice());
        self
    }

    /// Sets the cost: an expression over `nodes` and names of axes.
    #[must_use]
    pub fn cost(mut self, cost: impl Into<String>) -> Self {
        self.plan.optimize.cost = cost.into();
        self
    }

    /// Sets the probability, above 0 and below 1, with which the job must finish by the deadline. Default 0.95.
    #[must_use]
    pub fn probability(mut self, probability: f64) -> Self {
        self.plan.optimize.measure = Measure::Quantile(probability).name();
        self
    }

    /// Sets how the question is answered; a seed replaces the plan's.
    #[must_use]
    pub fn settings(mut self, run: RunSettings) -> Self {
        self.plan.sweep.seed = run.seed.unwrap_or(self.plan.sweep.seed);
        self.run = run;
        self
    }

    /// Reads the job or net of a plan; file names are relative to `folder`.
    ///
    /// # Errors
    ///
    /// [`StudyError::Load`]; [`StudyError::Plan`] if neither the plan nor its job has a deadline.
    pub fn new(plan: OptimizePlan, folder: &Path) -> Result<Self, StudyError> {
        Self::planned(plan, folder, &[])
    }

    /// Reads the job or net of a plan as [`Optimization::new`] does; `options` replace values of the job's plan.
    ///
    /// # Errors
    ///
    /// The errors of [`Optimization::new`], and [`StudyError::Options`].
    pub fn planned(mut plan: OptimizePlan, folder: &Path, options: &[PlanOption]) -> Result<Self, StudyError> {
        // a net has a deadline too
        let (deadlines, options): (Vec<_>, Vec<_>) =
            options.iter().cloned().partition(|option| matches!(option, PlanOption::Deadline(_)));
        if let Some(PlanOption::Deadline(seconds)) = deadlines.last() {
            plan.optimize.deadline_s = Some(*seconds);
            let problems = plan.problems();
            if !problems.is_empty() {
                return Err(StudyError::Options(PlanError { problems }));
            }
        }
        let Loaded { subject, warnings } = Loaded::open(&plan.sweep, folder)?.planned(&options)?;
        let sweep = plan.as_sweep();
        let of_job = || subject.number("job.deadline_s", &sweep.axis, &Point::base(sweep.axis.len()));
        let deadline_s = plan.optimize.deadline_s.or_else(of_job);
        if deadline_s.is_none() {
            let missing = "`[optimize]` needs `deadline_s`, the deadline in seconds";
            Problems::check(vec![KeyProblem::at("optimize", missing)])?;
        }
        plan.optimize.deadline_s = deadline_s;
        Ok(Self { plan, subject, warnings, run: RunSettings::default() })
    }

    /// Reads a plan, and the job or net that it names.
    ///
    /// # Errors
    ///
    /// [`StudyError::Load`], [`StudyError::Text`].
    pub fn open(path: &Path) -> Result<Self, StudyError> {
        Self::new(load::open_plan(path, OptimizePlan::from_toml)?, path.parent().unwrap_or(Path::new("")))
    }

    /// Runs the search. `watch` counts the replications of the current configuration.
    ///
    /// # Errors
    ///
    /// Keys that cannot be used, or replications that cannot be run. A stopped search is a result: [`Answer::Stopped`].
    pub fn run(&self, watch: &dyn Watch) -> Result<OptimizeOutcome, StudyError> {
        let plan = &self.plan;
        let problems = plan.problems();
        if !problems.is_empty() {
            return Err(PlanError { problems }.into());
        }
        let sweep = plan.as_sweep();
        let candidates = self.priced(&sweep).map_err(StudyError::Model)?;
        let base = Point::base(sweep.axis.len());
        let points: Vec<Point> =
            std::iter::once(base).chain(candidates.iter().map(|candidate| candidate.point.clone())).collect();
        self.subject.check(&sweep, &points)?;
        if plan.optimize.search == Search::Bisection && !may_bisect(plan, &candidates) {
            return Err(StudyError::NoBisection);
        }
        let judge = |candidate: &Candidate, error: f64| self.judge(&sweep, candidate, error, watch);
        let mean =
            |candidate: &Candidate, count: u64, level: f64| self.mean_time(&sweep, candidate, count, level, watch);
        let found = match plan.optimize.cost_per_s {
            Some(_) => search_by_estimates(plan, &candidates, judge, mean)?,
            None => search(plan, &candidates, judge)?,
        };
        let (folded, not_folded) = self.subject.folded_parts(&sweep.axis, sweep.sweep.seed);
        Ok(OptimizeOutcome { candidates, found, folded, not_folded })
    }

    /// Returns all points with their costs, the most preferred first.
    fn priced(&self, sweep: &SweepPlan) -> Result<Vec<Candidate>, String> {
        let plan = &self.plan;
        let read = |text: &str| Cost::parse(text).map_err(|error| error.to_string());
        let cost = read(&plan.optimize.cost)?;
        let mut all = candidates(plan, |point| self.cost_of(&cost, sweep, point))?;
        let Some(text) = &plan.optimize.cost_per_s else { return Ok(all) };
        let per_s = read(text)?;
        for candidate in &mut all {
            candidate.per_s = self.cost_of(&per_s, sweep, &candidate.point)?;
            if candidate.per_s < 0.0 {
                return Err(format!("`cost_per_s` is {} at a point; it must not be negative", candidate.per_s));
            }
        }
        Ok(all)
    }

    /// Returns the cost of a point: the value of the expression over the numeric axes and the number of workers.
    fn cost_of(&self, cost: &Cost, sweep: &SweepPlan, point: &Point) -> Result<f64, String> {
        let axes = self.plan.axis.iter().zip(&point.values);
        let mut names: Vec<(&str, f64)> =
            axes.filter_map(|(axis, value)| Some((axis.title(), as_number(value.as_ref()?)?))).collect();
        names.extend(self.subject.nodes(&sweep.axis, point).map(|nodes| (NODES, nodes)));
        cost.at(&names).map_err(|error| error.to_string())
    }

    /// Judges whether a point meets the deadline.
    fn judge(
        &self,
        sweep: &SweepPlan,
        candidate: &Candidate,
        error: f64,
        watch: &dyn Watch,
    ) -> Result<Judgement, StudyError> {
        let settings = &self.plan.optimize;
        let model = self.model(sweep, candidate)?;
        let judge = Judge {
            measure: self.plan.measure(),
            deadline_s: settings.deadline_s.unwrap_or(f64::INFINITY),
            error,
            indifference: settings.indifference,
            first: self.plan.sweep.replications,
            most: settings.max_replications,
        };
        judge.judge(|first, count| {
            watch.progress(first, first + count);
            points::times(&model, self.plan.measure(), &Ensemble { first, ..self.ensemble(count) }, watch)
        })
    }

    /// Returns the mean time of a point with its interval \[s\]: lower end, estimate, upper end; none if the simulation was stopped.
    fn mean_time(
        &self,
        sweep: &SweepPlan,
        candidate: &Candidate,
        count: u64,
        level: f64,
        watch: &dyn Watch,
    ) -> Result<Option<[f64; 3]>, StudyError> {
        let model = self.model(sweep, candidate)?;
        watch.progress(0, count);
        let Some(times) = points::times(&model, Measure::Mean, &self.ensemble(count), watch)? else { return Ok(None) };
        let moments: FloatMoments = times.into_iter().collect();
        let estimate = moments.mean_estimate(level)?;
        Ok(Some([estimate.low(), estimate.value, estimate.high()]))
    }

    fn model(&self, sweep: &SweepPlan, candidate: &Candidate) -> Result<Model, StudyError> {
        let model = self.subject.quick_model(&sweep.axis, &candidate.point, sweep.sweep.seed);
        model.map_err(StudyError::Model)
    }

    fn ensemble(&self, replications: u64) -> Ensemble {
        let seed = self.plan.sweep.seed;
        Ensemble { replications, seed, threads: self.run.threads, ..Ensemble::default() }
    }
}
