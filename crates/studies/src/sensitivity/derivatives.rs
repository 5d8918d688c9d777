//! Derivatives of a job's or net's time, or of the probability of a net's goal, with respect to its parameters: chooses the estimator and
//! collects its results.

use std::fmt;

use toml::Value;

use crate::compile::{Firing, Program, SchedulePlan, Value as Rate, plan_schedule};
use crate::ends::owned;
use crate::error::StudyError;
use crate::estimate::{Estimate, EstimateError, FloatMoments, Measured, clopper_pearson, quantile_interval_of_sorted};
use crate::net::Law;
use crate::optimize::Measure;
use crate::points::{thread_pool, value_of};
use crate::sensitivity::derivative::{effective_replications, likelihood_ratio_mean, pathwise_mean, pathwise_quantile};
use crate::sensitivity::ranking::{Estimator, KnobEffect, SensitivityReport, SensitivityRow};
use crate::sensitivity::rescaled;
use crate::sensitivity::response::one_at_a_time;
use crate::sensitivity::settings::{GROUPS, Method, Sensitivity};
use crate::share::{Listed, Share};
use crate::sim::{Clock, Ensemble, PathSlopes, Schedule, ScoreError, Shift, UnfitError, is_scored, scores};
use crate::sweep::{Axis, NetModel, Point};
use crate::watch::{TimeLimit, Watch as _};

/// Default number of replications.
const REPLICATIONS: u64 = 20_000;
/// Replications between two checks of the clock and of Ctrl-C.
const ROUND: u64 = 1 << 14;
/// Default number of replications of each point of a difference.
const FOR_DIFFERENCES: u64 = 2_000;
/// Minimum number of [`effective_replications`] for an interval without a note.
const FEWEST_EFFECTIVE: f64 = 10.0;
/// Relative change of a parameter in each direction, for a difference between simulated times.
const WAY: f64 = 0.05;
/// Relative shift of a parameter in each direction, for slopes and scores; the error of a central difference grows with its square.
const STEP: f64 = 1e-4;

/// A parameter to differentiate by, or the reason why that is not possible.
struct Knob {
    axis: Axis,
    at: f64,
    /// The net with values a little lower and higher, or the reason why there is no derivative. None for a job without a net.
    shift: Result<Option<Shift>, String>,
}

impl Knob {
    fn shift(&self) -> Result<&Shift, String> {
        self.shift.as_ref().map_err(Clone::clone)?.as_ref().ok_or_else(|| "the job has no net".to_owned())
    }

    /// Returns the effect for a derivative of the time.
    fn derivative(&self, per_unit_s: Measured) -> KnobEffect {
        let per_percent_s = rescaled(&per_unit_s, 0.01 * self.at);
        KnobEffect::Derivative { at: self.at, per_unit_s, per_percent_s }
    }
}

/// Computes derivatives with respect to all axes of a plan, all rate parameters of a net, or the mean delays of all its timed transitions.
pub(super) fn find(study: &Sensitivity, watch: &TimeLimit<'_>) -> Result<SensitivityReport, StudyError> {
    let (axes, seed) = (&study.plan.axis, study.plan.sweep.seed);
    let base = study.subject.unfolded_model(axes, &Point::base(axes.len()), seed).map_err(StudyError::Model)?;
    let by_axis = || (0..axes.len()).map(|which| knob(study, which)).collect();
    let by_transition = study.by_transition || axes.is_empty();
    let Some(net) = base.net() else {
        let none = || StudyError::Model("a job that is simulated task by task has no transitions".to_owned());
        return if by_transition { Err(none()) } else { by_differences(study, by_axis(), watch) };
    };
    let knobs: Vec<Knob> = if by_transition { transition_knobs(&net.program) } else { by_axis() };
    let run = Run { base: net, study, seed, watch };
    if study.subject.is_probability() {
        return run.by_likelihood_ratio(knobs);
    }
    // the slope of a path does not include the spread between whole runs
    let typical = base.spread.is_none() || study.measure == Measure::Mean;
    let schedule = schedule_of(net);
    match schedule.and_then(|plan| if typical { Ok(plan) } else { Err("whole runs differ".to_owned().into()) }) {
        Ok(schedule) => run.by_perturbation(&schedule, knobs),
        // scores need exponential delays and few firings, which jobs that are not schedules rarely have
        Err(_) if study.has_ranges() => by_differences(study, knobs, watch),
        Err(reasons) if study.measure != Measure::Mean => Err(StudyError::NotSchedule { reasons }),
        Err(_) => run.by_likelihood_ratio(knobs),
    }
}

/// Returns the schedule for the schedule engine, or the reason why that engine cannot run the net.
fn schedule_of(base: &NetModel) -> Result<SchedulePlan, UnfitError> {
    let plan = plan_schedule(&base.program).map_err(|obstacles| obstacles.map(|o| o.to_string()))?;
    let clock = Clock::choose(&base.program, None);
    Schedule::new(&base.program, &plan, &base.question, clock, 0, false)?;
    Ok(plan)
}

/// An axis of the plan, shifted in both directions.
fn knob(study: &Sensitivity, which: usize) -> Knob {
    let axes = &study.plan.axis;
    let axis = axes[which].clone();
    let Some(at) = study.subject.base_number(&axis.key) else {
        let why = "its base value is not a single number; if the entries of a list differ, select an entry with `[0]`";
        return Knob { axis, at: f64::NAN, shift: Err(why.to_owned()) };
    };
    let step = if at == 0.0 { STEP } else { STEP * at.abs() };
    let model = |value: f64| {
        let point = Point::base(axes.len()).with(which, Value::Float(value));
        let model = study.subject.unfolded_model(axes, &point, study.plan.sweep.seed)?;
        Ok::<_, String>(model.net().map(|net| net.program.clone()))
    };
    let shift = model(at - step).and_then(|low| {
        let both = low.zip(model(at + step)?);
        Ok(both.map(|(low, high)| Shift { low, high, width: 2.0 * step }))
    });
    let shift = shift.map_err(|message| {
        if message.contains("is not a whole number") {
            "it is a whole number and has no derivative; use the methods `each`, `morris` or `sobol`".to_owned()
        } else {
            message
        }
    });
    Knob { axis, at, shift }
}

/// The mean delay of each timed transition, shifted in both directions.
fn transition_knobs(program: &Program) -> Vec<Knob> {
    let stretched = |t: usize, factor: f64| {
        let mut other = program.clone();
        match &mut other.firing[t] {
            Firing::Immediate { .. } => {}
            Firing::Exponential { rate, .. } => {
                if let Rate::Constant(rate) = rate {
                    *rate /= factor;
                }
            }
            Firing::General { law, .. } => *law = law.scaled(factor),
        }
        other
    };
    let knob = |&t: &u32| {
        let t = t as usize;
        let axis = Axis { key: program.transition_names[t].to_owned(), ..Axis::default() };
        let mean = match &program.firing[t] {
            Firing::Exponential { rate, .. } => rate.as_constant().map(|rate| 1.0 / rate),
            Firing::General { law, .. } => Some(Law::mean(law)),
            Firing::Immediate { .. } => None,
        };
        let Some(mean) = mean.filter(|mean| mean.is_finite() && *mean > 0.0) else {
            let why = "its mean delay depends on the marking, or is 0".to_owned();
            return Knob { axis, at: f64::NAN, shift: Err(why) };
        };
        let (low, high) = (stretched(t, 1.0 - STEP), stretched(t, 1.0 + STEP));
        Knob { axis, at: mean, shift: Ok(Some(Shift { low, high, width: 2.0 * STEP * mean })) }
    };
    program.timed.iter().map(knob).collect()
}

/// Input that all estimators need.
struct Run<'a> {
    base: &'a NetModel,
    study: &'a Sensitivity,
    seed: u64,
    watch: &'a TimeLimit<'a>,
}

impl Run<'_> {
    fn report(&self, estimator: Estimator, replications: u64, partial: bool) -> SensitivityReport {
        report_of(self.study, estimator, replications, partial)
    }

    fn by_perturbation(&self, plan: &SchedulePlan, knobs: Vec<Knob>) -> Result<SensitivityReport, StudyError> {
        let columns: Vec<Result<Vec<f64>, String>> = knobs
            .iter()
            .map(|knob| {
                let shift = knob.shift()?;
                shift.slopes(&self.base.program).map_err(|error| error.to_string())
            })
            .collect();
        let used: Vec<Vec<f64>> = columns.iter().filter_map(|column| column.as_ref().ok().cloned()).collect();
        let wanted = self.study.replications.unwrap_or(REPLICATIONS);
        let traced = self.trace(plan, &used, wanted)?;
        let done = traced.times.len() as u64;
        let mut report = self.report(Estimator::Perturbation, done, done < wanted);
        report.value_s = self.value(&traced.times);
        let mut slopes = traced.slopes.iter();
        for (knob, column) in knobs.into_iter().zip(columns) {
            let effect = match column {
                Err(why) => Err(why),
                Ok(_) => {
                    let slopes: &[f64] = slopes.next().map_or(&[], Vec::as_slice);
                    self.estimate(&traced.times, slopes).map_err(|error| error.to_string())
                }
            };
            report.knobs.push(effect_row(&knob, effect.map(owned)));
        }
        Ok(report)
    }

    /// Traces all replications.
    fn trace(&self, plan: &SchedulePlan, columns: &[Vec<f64>], wanted: u64) -> Result<PathSlopes, StudyError> {
        let question = (&self.base.program, &self.base.question, columns, self.seed, wanted);
        let shared = Shared { share: &self.study.share, question: &question, columns: columns.len() };
        let (times, slopes) = shared.of(wanted, |first, end| {
            let traced = self.trace_range(plan, columns, first, end)?;
            Ok((traced.times, traced.slopes))
        })?;
        Ok(PathSlopes { times, slopes })
    }

    /// Traces the replications `first .. end`, in rounds.
    fn trace_range(
        &self,
        plan: &SchedulePlan,
        columns: &[Vec<f64>],
        first: u64,
        end: u64,
    ) -> Result<PathSlopes, StudyError> {
        let mut all = PathSlopes { times: Vec::new(), slopes: vec![Vec::new(); columns.len()] };
        let pool = thread_pool(self.study.threads)?;
        let mut from = first;
        while from < end && !self.watch.stopped() {
            let count = ROUND.min(end - from);
            let (program, question) = (&self.base.program, &self.base.question);
            let part = pool.install(|| PathSlopes::trace(program, plan, question, columns, self.seed, from, count))?;
            all.times.extend(part.times);
            for (own, others) in all.slopes.iter_mut().zip(part.slopes) {
                own.extend(others);
            }
            from += count;
            self.watch.progress(from - first, end - first);
        }
        Ok(all)
    }

    fn estimate(&self, times: &[f64], slopes: &[f64]) -> Result<Estimate, EstimateError> {
        match self.study.measure {
            Measure::Mean => pathwise_mean(slopes, self.study.level),
            Measure::Quantile(q) => pathwise_quantile(times, slopes, q, self.study.level),
        }
    }

    /// Returns the value of the measure at the base.
    fn value(&self, times: &[f64]) -> Option<Measured> {
        match self.study.measure {
            Measure::Mean => {
                let moments: FloatMoments = times.iter().copied().collect();
                moments.mean_estimate(self.study.level).ok().map(owned)
            }
            Measure::Quantile(q) => {
                let mut sorted = times.to_vec();
                sorted.sort_unstable_by(f64::total_cmp);
                quantile_interval_of_sorted(&sorted, q, self.study.level).ok().map(owned)
            }
        }
    }

    fn by_likelihood_ratio(&self, knobs: Vec<Knob>) -> Result<SensitivityReport, StudyError> {
        let wanted = self.study.replications.unwrap_or(REPLICATIONS);
        let (shifts, places) = self.scored(&knobs);
        let question = (&self.base.program, &self.base.question, &shifts, self.seed, wanted);
        let shared = Shared { share: &self.study.share, question: &question, columns: shifts.len() };
        let (values, scores) = shared.of(wanted, |first, end| self.scores(&shifts, first, end))?;
        let done = values.len() as u64;
        let mut report = self.report(Estimator::LikelihoodRatio, done, done < wanted);
        let mut all_alike = None;
        if self.study.subject.is_probability() {
            "probability".clone_into(&mut report.measure);
            let reached = values.iter().filter(|value| **value > 0.0).count() as u64;
            report.probability = clopper_pearson(reached, done, self.study.level).ok().map(owned);
            let which = if reached == 0 { Some("none") } else { (reached == done).then_some("each") };
            all_alike =
                which.map(|which| format!("{which} of the {done} replications reached the goal; increase --reps N"));
        } else {
            report.value_s = self.value(&values);
        }
        for (knob, place) in knobs.into_iter().zip(places) {
            let effect = place.and_then(|place| match &all_alike {
                Some(why) => Err(why.clone()),
                None => self.likelihood_ratio(&knob, &values, &scores[place]),
            });
            let row = match effect {
                Ok((effect, note)) => SensitivityRow { note, ..SensitivityRow::new(&knob.axis, Ok(effect)) },
                Err(why) => SensitivityRow::new(&knob.axis, Err(why)),
            };
            report.knobs.push(row);
        }
        Ok(report)
    }

    /// Returns the effect of a setting on the mean of the values, with a note if its interval is unreliable.
    fn likelihood_ratio(
        &self,
        knob: &Knob,
        values: &[f64],
        scores: &[f64],
    ) -> Result<(KnobEffect, Option<String>), String> {
        let estimate = likelihood_ratio_mean(values, scores, self.study.level).map_err(|error| error.to_string())?;
        let effect = if self.study.subject.is_probability() {
            let per_unit = owned(estimate);
            KnobEffect::Probability { at: knob.at, per_percent: rescaled(&per_unit, 0.01 * knob.at), per_unit }
        } else {
            knob.derivative(owned(estimate))
        };
        let effective = effective_replications(values, scores);
        let few = effective > 0.0 && effective < FEWEST_EFFECTIVE;
        let note = few.then(|| {
            format!(
                "its interval depends on about {effective:.0} replications and may be too narrow; increase --reps N"
            )
        });
        Ok((effect, note))
    }

    /// Runs the replications `first .. end`; returns their times (or for a probability, 1 if they reached the goal and 0 otherwise), and
    /// the score of each for each shift.
    fn scores(&self, shifts: &[Shift], first: u64, end: u64) -> Result<Columns, StudyError> {
        let ensemble = Ensemble {
            first,
            replications: end - first,
            seed: self.seed,
            threads: self.study.threads,
            ..Ensemble::default()
        };
        let (program, question) = (&self.base.program, &self.base.question);
        let found = scores(program, question, shifts, &ensemble, self.watch).map_err(|error| match error {
            ScoreError::Run(error) => StudyError::Run(error),
            other => StudyError::Score(other),
        })?;
        let is_probability = self.study.subject.is_probability();
        let missing = if is_probability { found.undecided } else { found.unreached };
        if missing > 0 {
            return Err(StudyError::Unreached { missing, replications: found.times.len() as u64 });
        }
        let reached = || found.reached.iter().map(|&reached| f64::from(u8::from(reached))).collect();
        Ok((if is_probability { reached() } else { found.times }, found.scores))
    }

    /// Returns the shifts that have scores; and for each setting the position of its shift among them, or why it has none.
    fn scored(&self, knobs: &[Knob]) -> (Vec<Shift>, Vec<Result<usize, String>>) {
        let mut shifts = Vec::new();
        let place = |knob: &Knob| {
            let shift = knob.shift()?;
            is_scored(&self.base.program, shift).map_err(|error| error.to_string())?;
            shifts.push(shift.clone());
            Ok(shifts.len() - 1)
        };
        let places = knobs.iter().map(place).collect();
        (shifts, places)
    }
}

/// The time of each replication, or whether it reached the goal, and for each parameter one number per replication.
type Columns = (Vec<f64>, Vec<Vec<f64>>);

/// The replications, and the share of them that this process runs.
struct Shared<'a> {
    share: &'a Share,
    /// Everything that the replications depend on.
    question: &'a dyn fmt::Debug,
    /// Number of parameters.
    columns: usize,
}

impl Shared<'_> {
    /// Runs the replications of this share, or takes the merged replications of all shares.
    fn of(
        &self,
        wanted: u64,
        run: impl FnOnce(u64, u64) -> Result<Columns, StudyError>,
    ) -> Result<Columns, StudyError> {
        if let Some(Listed { found, .. }) = self.share.given::<Listed<Vec<f64>>>(self.question)? {
            let column = |i: usize| found.iter().map(|row| row.get(i).copied().unwrap_or(f64::NAN)).collect();
            return Ok((column(0), (1..=self.columns).map(column).collect()));
        }
        let range = self.share.range(wanted, 1);
        let (times, columns) = run(range.start, range.end)?;
        if self.share.is_part() {
            let row = |(i, &time): (usize, &f64)| std::iter::once(time).chain(columns.iter().map(|c| c[i])).collect();
            let found = times.iter().enumerate().map(row).collect();
            self.share.keep(self.question, &Listed::<Vec<f64>> { first: range.start, found })?;
            return Err(StudyError::Part);
        }
        Ok((times, columns))
    }
}

fn report_of(study: &Sensitivity, estimator: Estimator, replications: u64, partial: bool) -> SensitivityReport {
    let report = study.report(Method::Derivatives, replications);
    SensitivityReport { estimator: Some(estimator), points: 1, partial, ..report }
}

/// Computes central differences with common random numbers, from points a short distance away from the base in both directions.
fn by_differences(
    study: &Sensitivity,
    knobs: Vec<Knob>,
    watch: &TimeLimit<'_>,
) -> Result<SensitivityReport, StudyError> {
    let axes = &study.plan.axis;
    let replications = study.replications.unwrap_or(FOR_DIFFERENCES);
    let groups = if study.measure == Measure::Mean { replications } else { GROUPS };
    let asker = study.asker(replications, groups);
    let mut points = vec![Point::base(axes.len())];
    for (which, knob) in knobs.iter().enumerate().filter(|(_, knob)| knob.shift.is_ok()) {
        for side in [-WAY, WAY] {
            let value = Value::Float(knob.at + side * way_of(knob.at));
            let number = points.len() as u64;
            points.push(Point { number, ..Point::base(axes.len()) }.with(which, value));
        }
    }
    let answers = asker.answers(&[points], watch)?;
    let mut report = report_of(study, Estimator::Differences, replications, answers.is_empty());
    let Some(answers) = answers.first() else { return Ok(report) };
    report.points = answers.len() as u64;
    report.value_s = Some(value_of(&answers[0], report.level)?);
    let mut pairs = answers[1..].chunks(2);
    for knob in knobs {
        let mut note = None;
        let effect = match (&knob.shift, &knob.shift.is_ok().then(|| pairs.next()).flatten()) {
            (Err(why), _) => Err(why.clone()),
            (Ok(_), Some([low, high])) => {
                let change = |from, to| one_at_a_time(from, to, report.level);
                note = is_one_sided(&change(low, &answers[0])?, &change(&answers[0], high)?).then(|| {
                    "nearly the whole change is on one side of the base value, which may be a step; the method `each` shows the change over a range".to_owned()
                });
                Ok(rescaled(&change(low, high)?, 1.0 / (2.0 * WAY * way_of(knob.at))))
            }
            (Ok(_), _) => Err("not simulated".to_owned()),
        };
        let row = effect_row(&knob, effect);
        report.knobs.push(SensitivityRow { note: note.or(row.note), ..row });
    }
    Ok(report)
}

/// Returns the length by which relative shifts of a value are multiplied: its absolute value, or 1 if it is 0.
fn way_of(at: f64) -> f64 {
    if at == 0.0 { 1.0 } else { at.abs() }
}

/// Returns true if the changes below and above the base value differ so much that they show no slope: one of them is
/// significant, and the other one is certainly less than a quarter of it.
fn is_one_sided(below: &Measured, above: &Measured) -> bool {
    let ends = |change: &Measured| change.ends().unwrap_or([change.value; 2]);
    let is_step = |large: &Measured, small: &Measured| {
        let [low, high] = ends(large);
        low * high > 0.0 && ends(small).iter().all(|end| end.abs() < 0.25 * large.value.abs())
    };
    is_step(below, above) || is_step(above, below)
}

/// Returns the row of a setting: its derivative, or why it has none.
fn effect_row(knob: &Knob, found: Result<Measured, String>) -> SensitivityRow {
    SensitivityRow::new(&knob.axis, found.map(|per_unit_s| knob.derivative(per_unit_s)))
}
