//! A sensitivity study, from the plan to the ranking. This module computes effects over whole ranges; `derivatives` computes
//! derivatives at the base.

use std::path::Path;

use toml::Value;

use crate::ask::RunSettings;
use crate::error::StudyError;
use crate::estimate::{Measured, clopper_pearson};
use crate::job_time::DeadlineSection;
use crate::net::Net;
use crate::net::expr::ExprError;
use crate::optimize::Measure;
use crate::plan::{PlanOption, Planning};
use crate::points::{Asker, times, value_of};
use crate::sensitivity::bootstrap::Bootstrap;
use crate::sensitivity::morris::{MorrisRow, elementary_effects};
use crate::sensitivity::ranking::{Estimator, KnobEffect, SensitivityReport, SensitivityRow};
use crate::sensitivity::response::{Response, one_at_a_time};
use crate::sensitivity::settings::{GROUPS, Method, Sensitivity};
use crate::sensitivity::sobol::{SobolRow, sobol_indices};
use crate::sensitivity::{derivatives, design, rescaled};
use crate::sim::Ensemble;
use crate::subject::{GoalText, Loaded, Subject, as_number, load};
use crate::sweep::{Axis, Point, Scale, Settings, SweepPlan};
use crate::watch::{TimeLimit, Watch};

/// Number of replications of the base for the probability of meeting a deadline.
const OF_BASE: u64 = 2_000;
/// Number of levels of the grid for random walks.
const LEVELS: u32 = 4;

impl Sensitivity {
    /// Returns a study of a job's settings, without axes.
    ///
    /// # Errors
    ///
    /// The errors of [`Subject::of_job`].
    pub fn of_job(job: impl Planning) -> Result<Self, StudyError> {
        let loaded = Loaded { subject: Subject::of_job(job)?, warnings: Vec::new() };
        Ok(Self::of(SweepPlan::default(), loaded, true))
    }

    /// Adds an axis.
    #[must_use]
    pub fn axis(mut self, axis: Axis) -> Self {
        self.plan.axis.push(axis);
        self
    }

    /// Sets the method by which settings are compared. Default: derivatives at the base.
    #[must_use]
    pub fn method(self, method: Method) -> Self {
        Self { method, ..self }
    }

    /// Sets the number of replications: of each point, or of the base for derivatives. Default: by the method.
    #[must_use]
    pub fn replications(mut self, replications: u64) -> Self {
        self.run.replications = Some(replications);
        self
    }

    /// Sets the confidence level of all intervals, in (0, 1). Default [`LEVEL`](crate::estimate::LEVEL).
    #[must_use]
    pub fn level(mut self, level: f64) -> Self {
        self.run.level = level;
        self
    }

    /// Sets how the question is answered; a seed replaces the plan's. With a limit of time, the study finishes with the complete rows.
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
    /// [`StudyError::Load`].
    pub fn new(plan: SweepPlan, folder: &Path) -> Result<Self, StudyError> {
        Self::planned(plan, folder, &[])
    }

    /// Reads the job or net of a plan as [`Sensitivity::new`] does; `options` replace values of the job's plan.
    ///
    /// # Errors
    ///
    /// [`StudyError::Load`], [`StudyError::Options`].
    pub fn planned(plan: SweepPlan, folder: &Path, options: &[PlanOption]) -> Result<Self, StudyError> {
        let loaded = Loaded::open(&plan.sweep, folder)?.planned(options)?;
        Ok(Self::of(plan, loaded, true))
    }

    /// Reads a plan, and the job or net that it names.
    ///
    /// # Errors
    ///
    /// [`StudyError::Load`], [`StudyError::Text`].
    pub fn open(path: &Path) -> Result<Self, StudyError> {
        Self::new(load::open_plan(path, SweepPlan::from_toml)?, path.parent().unwrap_or(Path::new("")))
    }

    /// Reads a net, whose rate parameters are the settings. If the goal has markings to avoid or times, the effects are
    /// on the probability of the goal, otherwise on the time to the goal.
    ///
    /// # Errors
    ///
    /// [`StudyError::Load`].
    pub fn open_net(path: &Path, goal: GoalText) -> Result<Self, StudyError> {
        let net = Some(path.display().to_string());
        let sweep = Settings { net, until: goal.until.clone(), ..Settings::default() };
        Ok(Self::of_rates(sweep, Loaded::net(path, goal)?))
    }

    /// As [`open_net`](Self::open_net), for a net in memory.
    ///
    /// # Errors
    ///
    /// [`StudyError::Load`] for a goal that is not one of the net.
    pub fn of_net_with(net: Net, goal: GoalText) -> Result<Self, StudyError> {
        let sweep = Settings { until: goal.until.clone(), ..Settings::default() };
        Ok(Self::of_rates(sweep, Loaded::net_in_memory(net, goal)?))
    }

    /// Returns a study of a net, whose rate parameters are the settings. The effects are on the time to the first marking in
    /// which `until` is not 0, or to the dead marking.
    ///
    /// # Errors
    ///
    /// `until` is not a valid expression of the net.
    pub fn of_net(net: Net, until: Option<&str>) -> Result<Self, ExprError> {
        let sweep = Settings { until: until.map(str::to_owned), ..Settings::default() };
        let loaded = Loaded { subject: Subject::net(net, until)?, warnings: Vec::new() };
        Ok(Self::of_rates(sweep, loaded))
    }

    /// Returns a study of the rate parameters of a net.
    fn of_rates(sweep: Settings, loaded: Loaded) -> Self {
        let axis = |key| Axis { key, ..Axis::default() };
        let axis = loaded.subject.rate_parameters().into_iter().map(axis).collect();
        Self::of(SweepPlan { sweep, axis, ..SweepPlan::default() }, loaded, false)
    }

    fn of(plan: SweepPlan, loaded: Loaded, has_ranges: bool) -> Self {
        let Loaded { subject, warnings } = loaded;
        Self {
            plan,
            subject,
            warnings,
            has_ranges,
            method: Method::default(),
            measure: Measure::Mean,
            by_transition: false,
            rows: None,
            run: RunSettings::default(),
        }
    }

    /// Runs the study. `watch` counts points, or replications if derivatives are computed. A stopped study also returns a
    /// result, if it has enough rows.
    ///
    /// # Errors
    ///
    /// Keys that cannot be used, replications that cannot be run, or too few rows; [`StudyError::Part`] if this process ran only part of
    /// the work.
    pub fn run(&self, watch: &dyn Watch) -> Result<SensitivityReport, StudyError> {
        self.check()?;
        let watch = TimeLimit::new(watch, self.run.max_time);
        let mut report = match self.method {
            Method::Derivatives => derivatives::find(self, &watch)?,
            _ => self.over_ranges(&watch)?,
        };
        report.rank();
        report.deadline = self.deadline(&watch)?;
        if matches!(report.estimator, None | Some(Estimator::Differences)) {
            (report.folded, report.not_folded) = self.subject.folded_parts(&self.plan.axis, self.plan.sweep.seed);
        }
        report.plan = toml::to_string(&self.plan).unwrap_or_default();
        Ok(report)
    }

    /// Returns the probability of finishing by the deadline at the base, if the job has one, from separate
    /// replications.
    fn deadline(&self, watch: &dyn Watch) -> Result<Option<DeadlineSection>, StudyError> {
        let (axes, seed) = (&self.plan.axis, self.plan.sweep.seed);
        let base = Point::base(axes.len());
        let Some(deadline_s) = self.subject.number("job.deadline_s", axes, &base) else { return Ok(None) };
        let model = self.subject.model(axes, &base, seed).map_err(StudyError::Model)?;
        let ensemble = Ensemble { replications: OF_BASE, seed, threads: self.run.threads, ..Ensemble::default() };
        // the probability covers all runs, as quantiles do
        let Some(times) = times(&model, Measure::Quantile(0.5), &ensemble, watch)? else { return Ok(None) };
        let done = times.iter().filter(|time| **time <= deadline_s).count() as u64;
        let simulated = clopper_pearson(done, times.len() as u64, self.run.level).ok().map(Measured::from);
        Ok(Some(DeadlineSection::new(deadline_s, None, simulated)))
    }

    /// Returns true if the subject is a job or net with axes, rather than a net without a plan.
    pub(super) fn has_ranges(&self) -> bool {
        self.has_ranges
    }

    /// Checks the base and both ends of each axis; points between the ends are not checked.
    fn check(&self) -> Result<(), StudyError> {
        let axes = &self.plan.axis;
        if !self.has_ranges && self.method != Method::Derivatives {
            return Err(StudyError::NoRanges);
        }
        let mut points = vec![Point::base(axes.len())];
        if self.method != Method::Derivatives {
            for (which, axis) in axes.iter().enumerate() {
                points.extend([0.0, 1.0].map(|u| Point::base(axes.len()).with(which, axis.at(u))));
            }
            (0..).zip(&mut points).for_each(|(number, point)| point.number = number);
        }
        if !self.has_ranges {
            // the net's own rate parameters need no check
            let plan = SweepPlan { axis: Vec::new(), ..self.plan.clone() };
            return self.subject.check(&plan, &[Point::base(0)]);
        }
        self.subject.check(&self.plan, &points)
    }

    /// Returns a result without effects.
    pub(super) fn report(&self, method: Method, replications: u64) -> SensitivityReport {
        SensitivityReport {
            method,
            estimator: None,
            measure: self.measure.name(),
            value_s: None,
            probability: None,
            deadline: None,
            own_run: None,
            variance_s2: None,
            noise_s2: None,
            knobs: Vec::new(),
            level: self.run.level,
            rows: 0,
            points: 0,
            replications,
            version: env!("CARGO_PKG_VERSION").into(),
            seed: self.plan.sweep.seed,
            folded: None,
            not_folded: Vec::new(),
            partial: false,
            plan: String::new(),
        }
    }

    pub(super) fn asker(&self, replications: u64, groups: u64) -> Asker<'_> {
        Asker {
            subject: &self.subject,
            axes: &self.plan.axis,
            measure: self.measure,
            replications,
            groups,
            seed: self.plan.sweep.seed,
            threads: self.run.threads,
            share: self.run.share.clone(),
        }
    }

    /// Computes the effects over whole ranges, by the method of the study.
    fn over_ranges(&self, watch: &dyn Watch) -> Result<SensitivityReport, StudyError> {
        let many = if matches!(self.measure, Measure::Quantile(_)) { 2000 } else { 0 };
        let (rows, replications) = match self.method {
            Method::Each => (1, 2000),
            Method::Morris => (self.rows.unwrap_or(20), many.max(200)),
            _ => (self.rows.unwrap_or(256), many.max(32)),
        };
        let replications = self.run.replications.unwrap_or(replications);
        if replications < GROUPS {
            return Err(StudyError::TooFewReplications { need: GROUPS });
        }
        // there are no rows to resample, so the noise is estimated from the differences of single replications
        let paired = self.method == Method::Each && self.measure == Measure::Mean;
        let asker = self.asker(replications, if paired { replications } else { GROUPS });
        let bootstrap = Bootstrap { level: self.run.level, seed: asker.seed, ..Bootstrap::default() };
        match self.method {
            Method::Each => self.each(&asker, watch),
            Method::Morris => self.morris(&asker, rows, &bootstrap, watch),
            _ => self.sobol(&asker, rows, &bootstrap, watch),
        }
    }

    fn each(&self, asker: &Asker<'_>, watch: &dyn Watch) -> Result<SensitivityReport, StudyError> {
        let count = asker.axes.len();
        let mut points = vec![Point::base(count)];
        for (which, axis) in asker.axes.iter().enumerate() {
            let (from, to) = ends(axis);
            points.extend([from, to].map(|value| Point::base(count).with(which, value)));
        }
        (0..).zip(&mut points).for_each(|(number, point)| point.number = number);
        let answers = asker.answers(&[points], watch)?;
        let mut report = self.report(Method::Each, asker.replications);
        report.partial = answers.is_empty();
        let Some(answers) = answers.first() else { return Ok(report) };
        report.rows = 1;
        report.points = answers.len() as u64;
        report.value_s = Some(value_of(&answers[0], self.run.level)?);
        for (axis, pair) in asker.axes.iter().zip(answers[1..].chunks(2)) {
            let between = |from, to| one_at_a_time(from, to, self.run.level);
            let change_s = between(&pair[0], &pair[1])?;
            let (one, other) = (between(&answers[0], &pair[0])?, between(&answers[0], &pair[1])?);
            let ((from, to), (per_unit_s, per_percent_s)) = (ends(axis), rates(axis, &change_s));
            let effect = KnobEffect::Change {
                from,
                to,
                change_s,
                at_from_s: Some(one),
                at_to_s: Some(other),
                per_unit_s,
                per_percent_s,
            };
            report.knobs.push(SensitivityRow::new(axis, Ok(effect)));
        }
        Ok(report)
    }

    fn morris(
        &self,
        asker: &Asker<'_>,
        rows: u64,
        bootstrap: &Bootstrap,
        watch: &dyn Watch,
    ) -> Result<SensitivityReport, StudyError> {
        let walks: Vec<design::Trajectory> =
            (0..rows).map(|row| design::trajectory(asker.axes.len(), LEVELS, asker.seed, row)).collect();
        let points = rows_of(asker.axes, walks.iter().map(|walk| walk.points.clone()));
        let answers = asker.answers(&points, watch)?;
        let mut report = self.report(Method::Morris, asker.replications);
        count_rows(&mut report, &answers, points.len());
        let found: Vec<MorrisRow> =
            walks.into_iter().zip(answers).map(|(walk, answers)| MorrisRow { walk, answers }).collect();
        let effects = elementary_effects(&found, bootstrap)?;
        for (axis, effects) in asker.axes.iter().zip(effects) {
            let ((from, to), (per_unit_s, per_percent_s)) = (ends(axis), rates(axis, &effects.mean));
            let (size_s, mean_s, spread_s) = (effects.size, effects.mean, effects.spread);
            let effect = KnobEffect::Elementary { from, to, size_s, mean_s, spread_s, per_unit_s, per_percent_s };
            report.knobs.push(SensitivityRow::new(axis, Ok(effect)));
        }
        Ok(report)
    }

    fn sobol(
        &self,
        asker: &Asker<'_>,
        rows: u64,
        bootstrap: &Bootstrap,
        watch: &dyn Watch,
    ) -> Result<SensitivityReport, StudyError> {
        let places = (0..rows).map(|row| design::saltelli(asker.axes.len(), asker.seed, row));
        let points = rows_of(asker.axes, places);
        let answers = asker.answers(&points, watch)?;
        let mut report = self.report(Method::Sobol, asker.replications);
        count_rows(&mut report, &answers, points.len());
        let row_of = |mut answers: Vec<Response>| {
            let mixed = answers.split_off(2);
            let b = answers.pop()?;
            Some(SobolRow { a: answers.pop()?, b, mixed })
        };
        let found: Vec<SobolRow> = answers.into_iter().filter_map(row_of).collect();
        let indices = sobol_indices(&found, bootstrap)?;
        report.value_s = Some(indices.mean);
        report.variance_s2 = Some(indices.variance);
        report.noise_s2 = Some(indices.noise);
        for (axis, share) in asker.axes.iter().zip(indices.factors) {
            let (from, to) = ends(axis);
            let (first, total, deviation_s) = (share.first, share.total, share.deviation);
            let effect = KnobEffect::Variance { from, to, first, total, deviation_s };
            report.knobs.push(SensitivityRow::new(axis, Ok(effect)));
        }
        Ok(report)
    }
}

impl SensitivityRow {
    /// Returns the row of an axis, with its effect or the reason why the effect is unknown.
    pub(super) fn new(axis: &Axis, effect: Result<KnobEffect, String>) -> Self {
        let (effect, note) = effect.map_or_else(|why| (None, Some(why)), |effect| (Some(effect), None));
        Self { key: axis.key.clone(), name: axis.title().to_owned(), effect, note }
    }
}

/// Records how many rows are complete.
fn count_rows(report: &mut SensitivityReport, answers: &[Vec<Response>], planned: usize) {
    report.partial = answers.len() < planned;
    report.rows = answers.len() as u64;
    report.points = answers.iter().map(|row| row.len() as u64).sum();
}

/// Returns the ends of an axis.
fn ends(axis: &Axis) -> (Value, Value) {
    (axis.at(0.0), axis.at(1.0))
}

/// Returns the change per unit, and the change for an increase of 1% at the middle of the range, if the setting is a number between two ends.
fn rates(axis: &Axis, change: &Measured) -> (Option<Measured>, Option<Measured>) {
    let (from, to) = ends(axis);
    let (Some(from), Some(to)) = (as_number(&from), as_number(&to)) else { return (None, None) };
    let span = to - from;
    if span == 0.0 || axis.values.as_ref().is_some_and(|values| values.len() > 2) {
        return (None, None);
    }
    match axis.scale {
        Scale::Linear => {
            let unit = rescaled(change, 1.0 / span);
            let percent = rescaled(&unit, 0.01 * 0.5 * (from + to));
            (Some(unit), Some(percent))
        }
        Scale::Log => (None, Some(rescaled(change, 1.01_f64.ln() / (to / from).ln()))),
    }
}

/// Returns the points for rows of coordinates in the unit cube, numbered from 1.
fn rows_of(axes: &[Axis], places: impl Iterator<Item = Vec<Vec<f64>>>) -> Vec<Vec<Point>> {
    let mut numbers = 1..;
    let mut point = |place: &Vec<f64>| Point {
        number: numbers.next().unwrap_or(u64::MAX),
        values: axes.iter().zip(place).map(|(axis, &u)| Some(axis.at(u))).collect(),
    };
    places.map(|row| row.iter().map(&mut point).collect()).collect()
}
