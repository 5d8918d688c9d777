//! Derivatives of a job's or net's time by its parameters: which estimator can, and what each parameter is worth.

use tailspn::compile::{Firing, Program, SchedulePlan, Value as Rate, plan_schedule};
use tailspn::estimate::{Estimate, EstimateError, FloatMoments};
use tailspn::net::Law;
use tailspn::optimize::Measure;
use tailspn::report::{KnobEffect, SensitivityReport};
use tailspn::sensitivity::{Effect, likelihood_ratio_mean, one_at_a_time, pathwise_mean, pathwise_quantile};
use tailspn::sim::{Ensemble, PathSlopes, Schedule, ScoreError, Shift, UnfitError, Watch as _, is_scored, scores};
use tailspn::sweep::{Axis, Model, Point};
use toml::{Table, Value};

use crate::cli::answers::{Asker, Patience, value_of};
use crate::cli::args::SensitivityArgs;
use crate::cli::exit::Exit;
use crate::cli::notes::{Failure, Note};
use crate::cli::output::Terminal;
use crate::cli::sensitivity::{Asked, GROUPS, row};
use crate::cli::simulate::failure;
use crate::cli::sweep_points::Subject;
use crate::cli::watch::Progress;

/// Replications where nothing else is asked for.
const REPLICATIONS: u64 = 20_000;
/// Replications between two looks at the clock and at Ctrl-C.
const ROUND: u64 = 1 << 14;
/// Replications of each point of a difference, where nothing else is asked for.
const FOR_DIFFERENCES: u64 = 2_000;
/// How far a parameter goes to each side for a difference between simulated times, as a share of itself.
const WAY: f64 = 0.05;
/// How far a parameter is shifted to each side, as a share of itself: the error of a central difference is of the square of it.
const STEP: f64 = 1e-4;

/// A parameter by which is differentiated, or why not.
struct Knob {
    axis: Axis,
    at: f64,
    shift: Result<Shift, String>,
}

/// Derivatives by all axes of a plan, all rate parameters of a net, or the means of all its timed transitions.
pub(crate) fn find(asked: &Asked, args: &SensitivityArgs, terminal: &Terminal) -> Result<SensitivityReport, Failure> {
    let axes = &asked.plan.axis;
    let base =
        asked.subject.model(axes, &Point::base(axes.len())).map_err(|message| Failure::plain(Exit::Model, message))?;
    let by_transition = args.transitions || axes.is_empty();
    let knobs: Vec<Knob> = if by_transition {
        transition_knobs(&base.program)
    } else {
        (0..axes.len()).map(|which| knob(asked, which)).collect()
    };
    let watch = Patience::new(Progress::new(terminal.shows_progress(), "replications"), args.run.max_time);
    let run = Run { base: &base, args, seed: asked.plan.sweep.seed, watch: &watch };
    // a path's slope knows nothing of the spread between whole runs
    let usual = base.spread.is_none() || args.measure == Measure::Mean;
    match schedule_of(&base).and_then(|plan| if usual { Ok(plan) } else { Err("whole runs differ".to_owned().into()) })
    {
        Ok(schedule) => run.by_perturbation(&schedule, knobs),
        // scores need a net of exponential delays with few firings, which a job that is no schedule hardly is
        Err(_) if asked.is_plan => run.by_differences(asked, knobs),
        Err(reasons) => run.by_likelihood_ratio(knobs, &reasons),
    }
}

/// How the schedule engine would run it, or why it cannot.
fn schedule_of(base: &Model) -> Result<SchedulePlan, UnfitError> {
    let plan = plan_schedule(&base.program).map_err(|obstacles| obstacles.map(|o| o.to_string()))?;
    let clock = tailspn::sim::Clock::choose(&base.program, None);
    Schedule::new(&base.program, &plan, &base.question, clock, 0, false)?;
    Ok(plan)
}

/// The value of a key in a job's plan; of `[*]` the one that all entries share.
fn value_at(table: &Table, path: &str) -> Option<f64> {
    let steps: Vec<&str> = path.split(['.', '[', ']']).filter(|step| !step.is_empty()).collect();
    let (first, rest) = steps.split_first()?;
    let values = values_at(table.get(first.trim())?, rest)?;
    let (one, others) = values.split_first()?;
    others.iter().all(|other| other.to_bits() == one.to_bits()).then_some(*one)
}

fn values_at(value: &Value, steps: &[&str]) -> Option<Vec<f64>> {
    let Some((step, rest)) = steps.split_first() else {
        return Some(vec![value.as_float().or_else(|| value.as_integer().map(|number| number as f64))?]);
    };
    match value {
        Value::Table(table) => values_at(table.get(step.trim())?, rest),
        Value::Array(list) if *step == "*" => {
            let found: Option<Vec<Vec<f64>>> = list.iter().map(|entry| values_at(entry, rest)).collect();
            Some(found?.concat())
        }
        Value::Array(list) => values_at(list.get(step.trim().parse::<usize>().ok()?)?, rest),
        _ => None,
    }
}

/// The value of an axis at the base.
fn base_value(subject: &Subject, key: &str) -> Option<f64> {
    match subject {
        Subject::Job { table, .. } | Subject::Stages { table } => value_at(table, key),
        Subject::Net { net, .. } => {
            let parameter = net.parameters().iter().find(|parameter| parameter.name == key)?;
            tailspn::compile::lower(net, &parameter.value).as_constant()
        }
    }
}

/// An axis of the plan, shifted to both sides.
fn knob(asked: &Asked, which: usize) -> Knob {
    let axes = &asked.plan.axis;
    let axis = axes[which].clone();
    let Some(at) = base_value(&asked.subject, &axis.key) else {
        let why = "it is no number at the base, or a different one for each entry; name one as `[0]`";
        return Knob { axis, at: f64::NAN, shift: Err(why.to_owned()) };
    };
    let step = if at == 0.0 { STEP } else { STEP * at.abs() };
    let model = |value: f64| {
        let mut point = Point::base(axes.len());
        point.values[which] = Some(Value::Float(value));
        asked.subject.model(axes, &point).map(|model| model.program)
    };
    let shift = model(at - step).and_then(|low| Ok(Shift { low, high: model(at + step)?, width: 2.0 * step }));
    let shift = shift.map_err(|message| {
        if message.contains("expected u64") || message.contains("floating point") {
            "it is a whole number, which has no derivative; `--method each`, `morris` and `sobol` can move it"
                .to_owned()
        } else {
            message
        }
    });
    Knob { axis, at, shift }
}

/// The mean delay of each timed transition, shifted to both sides.
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
        let axis = Axis { key: program.transition_names[t].clone(), ..Axis::default() };
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
        Knob { axis, at: mean, shift: Ok(Shift { low, high, width: 2.0 * STEP * mean }) }
    };
    program.timed.iter().map(knob).collect()
}

/// What all estimators need.
struct Run<'a> {
    base: &'a Model,
    args: &'a SensitivityArgs,
    seed: u64,
    watch: &'a Patience,
}

impl Run<'_> {
    fn report(&self, estimator: &'static str, replications: u64, partial: bool) -> SensitivityReport {
        SensitivityReport {
            method: "derivatives".into(),
            estimator: Some(estimator.into()),
            measure: self.args.measure.name(),
            value_s: None,
            variance_s2: None,
            noise_s2: None,
            knobs: Vec::new(),
            level: self.args.run.level,
            rows: 0,
            points: 1,
            replications,
            version: env!("CARGO_PKG_VERSION").into(),
            seed: self.seed,
            partial,
            plan: String::new(),
        }
    }

    fn by_perturbation(&self, plan: &SchedulePlan, knobs: Vec<Knob>) -> Result<SensitivityReport, Failure> {
        let columns: Vec<Result<Vec<f64>, String>> = knobs
            .iter()
            .map(|knob| {
                let shift = knob.shift.as_ref().map_err(Clone::clone)?;
                shift.slopes(&self.base.program).map_err(|error| error.to_string())
            })
            .collect();
        let used: Vec<Vec<f64>> = columns.iter().filter_map(|column| column.as_ref().ok().cloned()).collect();
        let wanted = self.args.reps.unwrap_or(REPLICATIONS);
        let traced = self.trace(plan, &used, wanted)?;
        let done = traced.times.len() as u64;
        let mut report = self.report("infinitesimal perturbation analysis", done, done < wanted);
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
            report.knobs.push(effect_row(&knob, effect.map(Effect::from)));
        }
        Ok(report)
    }

    /// Traces all replications, in rounds.
    fn trace(&self, plan: &SchedulePlan, columns: &[Vec<f64>], wanted: u64) -> Result<PathSlopes, Failure> {
        let mut all = PathSlopes { times: Vec::new(), slopes: vec![Vec::new(); columns.len()] };
        let pool =
            rayon::ThreadPoolBuilder::new().num_threads(self.args.run.threads.map_or(0, std::num::NonZeroUsize::get));
        let pool = pool.build().map_err(|error| Failure::plain(Exit::Internal, error.to_string()))?;
        while (all.times.len() as u64) < wanted && !self.watch.stopped() {
            let done = all.times.len() as u64;
            let count = ROUND.min(wanted - done);
            let (program, question) = (&self.base.program, &self.base.question);
            let part = pool
                .install(|| PathSlopes::trace(program, plan, question, columns, self.seed, done, count))
                .map_err(|reasons| Failure::plain(Exit::Refused, reasons.join("; ")))?;
            all.times.extend(part.times);
            for (own, others) in all.slopes.iter_mut().zip(part.slopes) {
                own.extend(others);
            }
            self.watch.progress(done + count, wanted);
        }
        Ok(all)
    }

    fn estimate(&self, times: &[f64], slopes: &[f64]) -> Result<Estimate, EstimateError> {
        match self.args.measure {
            Measure::Mean => pathwise_mean(slopes, self.args.run.level),
            Measure::Quantile(q) => pathwise_quantile(times, slopes, q, self.args.run.level),
        }
    }

    /// The measure itself.
    fn value(&self, times: &[f64]) -> Option<Effect> {
        match self.args.measure {
            Measure::Mean => {
                let moments: FloatMoments = times.iter().copied().collect();
                moments.mean_estimate(self.args.run.level).ok().map(Effect::from)
            }
            Measure::Quantile(q) => {
                let mut sorted = times.to_vec();
                sorted.sort_unstable_by(f64::total_cmp);
                let found = tailspn::estimate::quantile_interval_of_sorted(&sorted, q, self.args.run.level).ok()?;
                Some(Effect { value: found.value, low: found.low, high: found.high })
            }
        }
    }

    /// Central differences with common random numbers, each over a short way to both sides of the base.
    fn by_differences(&self, asked: &Asked, knobs: Vec<Knob>) -> Result<SensitivityReport, Failure> {
        let axes = &asked.plan.axis;
        let replications = self.args.reps.unwrap_or(FOR_DIFFERENCES);
        let groups = if self.args.measure == Measure::Mean { replications } else { GROUPS };
        let asker = Asker {
            subject: &asked.subject,
            axes,
            measure: self.args.measure,
            replications,
            groups,
            seed: self.seed,
            threads: self.args.run.threads,
        };
        let mut points = vec![Point::base(axes.len())];
        for (which, knob) in knobs.iter().enumerate().filter(|(_, knob)| knob.shift.is_ok()) {
            for side in [-WAY, WAY] {
                let mut point = Point { number: points.len() as u64, ..Point::base(axes.len()) };
                point.values[which] = Some(Value::Float(knob.at + side * way_of(knob.at)));
                points.push(point);
            }
        }
        let answers = asker.answers(&[points], self.watch)?;
        let mut report = self.report("differences with common random numbers", replications, answers.is_empty());
        let Some(answers) = answers.first() else { return Ok(report) };
        report.points = answers.len() as u64;
        let failed = |error: EstimateError| Failure::plain(Exit::Refused, error.to_string());
        report.value_s = Some(value_of(&answers[0], report.level).map_err(failed)?);
        let mut pairs = answers[1..].chunks(2);
        for knob in knobs {
            let effect = match (&knob.shift, &knob.shift.is_ok().then(|| pairs.next()).flatten()) {
                (Err(why), _) => Err(why.clone()),
                (Ok(_), Some([low, high])) => {
                    let change = one_at_a_time(low, high, report.level).map_err(failed)?;
                    Ok(change.scaled(1.0 / (2.0 * WAY * way_of(knob.at))))
                }
                (Ok(_), _) => Err("it was not run".to_owned()),
            };
            report.knobs.push(effect_row(&knob, effect));
        }
        Ok(report)
    }

    fn by_likelihood_ratio(&self, knobs: Vec<Knob>, reasons: &[String]) -> Result<SensitivityReport, Failure> {
        if self.args.measure != Measure::Mean {
            let first = reasons.first().map_or_else(String::new, |reason| format!(": {reason}"));
            let note = Note::problem(format!("derivatives of quantiles need a schedule, and this is none{first}"));
            return Err(Failure::new(Exit::Refused, note.with_help("--measure mean; or --method each with a plan")));
        }
        let ensemble = Ensemble {
            replications: self.args.reps.unwrap_or(REPLICATIONS),
            seed: self.seed,
            threads: self.args.run.threads,
            ..Ensemble::default()
        };
        let (shifts, places) = self.scored(&knobs);
        let (program, question) = (&self.base.program, &self.base.question);
        let found = scores(program, question, &shifts, &ensemble, self.watch).map_err(|error| match error {
            ScoreError::Run(error) => failure(&error),
            other => Failure::plain(Exit::Refused, other.to_string()),
        })?;
        if found.unreached > 0 {
            let message = format!("{} of {} replications did not reach the goal", found.unreached, found.times.len());
            return Err(Failure::plain(Exit::Refused, message));
        }
        let mut report = self.report("likelihood ratio", found.times.len() as u64, found.partial);
        report.value_s = self.value(&found.times);
        for (knob, place) in knobs.into_iter().zip(places) {
            let effect = place.and_then(|place| {
                let estimate = likelihood_ratio_mean(&found.times, &found.scores[place], self.args.run.level);
                estimate.map(Effect::from).map_err(|error| error.to_string())
            });
            report.knobs.push(effect_row(&knob, effect));
        }
        Ok(report)
    }

    /// The shifts that have scores; and for each knob its place among them, or why it has none.
    fn scored(&self, knobs: &[Knob]) -> (Vec<Shift>, Vec<Result<usize, String>>) {
        let mut shifts = Vec::new();
        let place = |knob: &Knob| {
            let shift = knob.shift.as_ref().map_err(Clone::clone)?;
            is_scored(&self.base.program, shift).map_err(|error| error.to_string())?;
            shifts.push(shift.clone());
            Ok(shifts.len() - 1)
        };
        let places = knobs.iter().map(place).collect();
        (shifts, places)
    }
}

/// What the ways to both sides of a value are shares of.
fn way_of(at: f64) -> f64 {
    if at == 0.0 { 1.0 } else { at.abs() }
}

/// A knob with its derivative, or why it has none.
fn effect_row(knob: &Knob, found: Result<Effect, String>) -> tailspn::report::SensitivityRow {
    match found {
        Ok(per_unit_s) => {
            let per_percent_s = per_unit_s.scaled(0.01 * knob.at);
            row(&knob.axis, Some(KnobEffect::Derivative { at: knob.at, per_unit_s, per_percent_s }), None)
        }
        Err(why) => row(&knob.axis, None, Some(why)),
    }
}
