//! `sensitivity`: which knob of a job or a net buys most.

use std::path::{Path, PathBuf};

use tailspn::optimize::Measure;
use tailspn::report::{Found, KnobEffect, SensitivityReport, SensitivityRow, json, sensitivity_csv, sensitivity_text};
use tailspn::sensitivity::{
    Bootstrap, Effect, MorrisRow, Response, SensitivityError, SobolRow, design, elementary_effects, one_at_a_time,
    sobol_indices,
};
use tailspn::sweep::{Axis, Point, Scale, Settings, SweepPlan};
use toml::Value;

use crate::cli::answers::{Asker, Patience, value_of};
use crate::cli::args::{SensitivityArgs, SensitivityMethod};
use crate::cli::derivatives;
use crate::cli::exit::Exit;
use crate::cli::notes::{Failure, Note, Source};
use crate::cli::output::Terminal;
use crate::cli::pictures::{NAMES, draw_found, may_draw};
use crate::cli::plan::{PlanText, keys_of, refused};
use crate::cli::sweep_points::Subject;
use crate::cli::watch::{Progress, catch_interrupt, interrupted};

/// Levels of the grid of random walks.
const LEVELS: u32 = 4;
/// Groups of the replications of a point, of which each gives a value.
pub(crate) const GROUPS: u64 = 8;

/// What is asked, read and checked.
pub(crate) struct Asked {
    pub(crate) subject: Subject,
    pub(crate) plan: SweepPlan,
    /// Whether the axes are those of a plan, and have ranges.
    pub(crate) is_plan: bool,
}

/// Ranks the knobs.
pub(crate) fn run(args: &SensitivityArgs, terminal: &Terminal) -> Result<Exit, Failure> {
    let Some(path) = args.subject.as_deref().filter(|_| !args.print_plan) else {
        terminal.data(SweepPlan::example_toml())?;
        return Ok(Exit::Success);
    };
    may_draw(&NAMES, &args.plots, args.force)?;
    let asked = read(path, args, terminal)?;
    catch_interrupt(terminal);
    let mut report = match args.method {
        SensitivityMethod::Derivatives => derivatives::find(&asked, args, terminal)?,
        _ => over_ranges(&asked, args, terminal)?,
    };
    report.rank();
    report.plan = toml::to_string(&asked.plan).unwrap_or_default();
    terminal.data(&text_of(&report, args, terminal)?)?;
    let exit = if report.partial && interrupted() { Exit::Interrupted } else { Exit::Success };
    draw_found(&Found::Sensitivity(Box::new(report)), &args.plots, args.force, terminal)?;
    Ok(exit)
}

/// Whether a text is a net and not a plan.
fn is_net(text: &str) -> bool {
    text.trim_start_matches('\u{feff}').trim_start().starts_with('<')
}

/// Reads a plan, or a net as a plan over all its rate parameters.
fn read(path: &Path, args: &SensitivityArgs, terminal: &Terminal) -> Result<Asked, Failure> {
    let bytes = crate::cli::load::read_bytes(path)?;
    if is_net(&String::from_utf8_lossy(&bytes)) {
        if args.method != SensitivityMethod::Derivatives {
            let note = Note::problem("a net alone has no ranges to move its rate parameters over");
            let help = "write a plan with `sweep.net` and axes with `from` and `to`; see docs/sensitivity.md";
            return Err(Failure::new(Exit::Usage, note.with_help(help)));
        }
        let settings =
            Settings { net: Some(path.display().to_string()), until: args.until.clone(), ..Settings::default() };
        let mut plan = SweepPlan { sweep: settings, axis: Vec::new() };
        plan.sweep.seed = args.run.seed.unwrap_or(0);
        let subject = Subject::load(&plan, Path::new(""), terminal)?;
        // a net that never reaches its goal is refused before it is run
        subject.check(&plan, &[Point::base(0)], &Source::new(path.display().to_string(), ""), "")?;
        if let Subject::Net { net, .. } = &subject {
            let axis = |name: &String| Axis { key: name.clone(), ..Axis::default() };
            plan.axis = net.parameters().iter().map(|parameter| axis(&parameter.name)).collect();
        }
        return Ok(Asked { subject, plan, is_plan: false });
    }
    if args.until.is_some() {
        return Err(Failure::plain(Exit::Usage, "`--until` is about a net; a plan names its goal as `sweep.until`"));
    }
    let PlanText { source, text } = PlanText::read(path, terminal)?;
    let mut plan = SweepPlan::from_toml(&text).map_err(|error| refused(&source, error, &keys_of("sensitivity")))?;
    plan.sweep.seed = args.run.seed.unwrap_or(plan.sweep.seed);
    let folder: PathBuf = path.parent().map_or_else(PathBuf::new, Path::to_path_buf);
    let subject = Subject::load(&plan, &folder, terminal)?;
    // the ends of each axis alone are enough: most places between them are met by no list
    let mut points = vec![Point::base(plan.axis.len())];
    for (i, axis) in plan.axis.iter().enumerate() {
        for u in [0.0, 1.0] {
            let mut point = Point { number: points.len() as u64, ..Point::base(plan.axis.len()) };
            point.values[i] = Some(axis.at(u));
            points.push(point);
        }
    }
    let checked = if args.method == SensitivityMethod::Derivatives { &points[..1] } else { &points[..] };
    subject.check_axes_of(&plan, &source, &text)?;
    subject.check(&plan, checked, &source, &text)?;
    Ok(Asked { subject, plan, is_plan: true })
}

/// Effects of going from one end of each axis to the other.
fn over_ranges(asked: &Asked, args: &SensitivityArgs, terminal: &Terminal) -> Result<SensitivityReport, Failure> {
    let axes = &asked.plan.axis;
    let many = if matches!(args.measure, Measure::Quantile(_)) { 2000 } else { 0 };
    let (rows, replications) = match args.method {
        SensitivityMethod::Each => (1, 2000),
        SensitivityMethod::Morris => (args.rows.unwrap_or(20), many.max(200)),
        _ => (args.rows.unwrap_or(256), many.max(32)),
    };
    let replications = args.reps.unwrap_or(replications);
    // without rows to resample, each replication's own difference tells most of the noise
    let paired = args.method == SensitivityMethod::Each && args.measure == Measure::Mean;
    let asker = Asker {
        subject: &asked.subject,
        axes,
        measure: args.measure,
        replications,
        groups: if paired { replications } else { GROUPS },
        seed: asked.plan.sweep.seed,
        threads: args.run.threads,
    };
    if asker.replications < GROUPS {
        return Err(Failure::plain(
            Exit::Usage,
            format!("at least {GROUPS} replications are needed to know their noise"),
        ));
    }
    let watch = Patience::new(Progress::new(terminal.shows_progress(), "points"), args.run.max_time);
    let mut report = SensitivityReport {
        method: "".into(),
        estimator: None,
        measure: args.measure.name(),
        value_s: None,
        variance_s2: None,
        noise_s2: None,
        knobs: Vec::new(),
        level: args.run.level,
        rows: 0,
        points: 0,
        replications: asker.replications,
        version: env!("CARGO_PKG_VERSION").into(),
        seed: asker.seed,
        partial: false,
        plan: String::new(),
    };
    let bootstrap = Bootstrap { level: args.run.level, seed: asker.seed, ..Bootstrap::default() };
    match args.method {
        SensitivityMethod::Each => each(&asker, &watch, &mut report)?,
        SensitivityMethod::Morris => morris(&asker, rows, &bootstrap, &watch, &mut report)?,
        _ => sobol(&asker, rows, &bootstrap, &watch, &mut report)?,
    }
    Ok(report)
}

/// A row for an axis.
pub(crate) fn row(axis: &Axis, effect: Option<KnobEffect>, note: Option<String>) -> SensitivityRow {
    SensitivityRow { key: axis.key.clone(), name: axis.title().to_owned(), effect, note }
}

/// The ends of an axis.
fn ends(axis: &Axis) -> (Value, Value) {
    (axis.at(0.0), axis.at(1.0))
}

/// Per unit and per one percent in the middle, where the knob is a number between two ends.
fn rates(axis: &Axis, change: Effect) -> (Option<Effect>, Option<Effect>) {
    let number = |value: &Value| value.as_float().or_else(|| value.as_integer().map(|number| number as f64));
    let (from, to) = ends(axis);
    let (Some(from), Some(to)) = (number(&from), number(&to)) else { return (None, None) };
    let span = to - from;
    if span == 0.0 || axis.values.as_ref().is_some_and(|values| values.len() > 2) {
        return (None, None);
    }
    match axis.scale {
        Scale::Linear => {
            let unit = change.scaled(1.0 / span);
            (Some(unit), Some(unit.scaled(0.01 * 0.5 * (from + to))))
        }
        Scale::Log => (None, Some(change.scaled(1.01_f64.ln() / (to / from).ln()))),
    }
}

fn each(asker: &Asker<'_>, watch: &Patience, report: &mut SensitivityReport) -> Result<(), Failure> {
    let count = asker.axes.len();
    let mut points = vec![Point::base(count)];
    for (i, axis) in asker.axes.iter().enumerate() {
        let (from, to) = ends(axis);
        for value in [from, to] {
            let mut point = Point { number: points.len() as u64, ..Point::base(count) };
            point.values[i] = Some(value);
            points.push(point);
        }
    }
    let answers = asker.answers(&[points], watch)?;
    report.method = "each".into();
    report.partial = answers.is_empty();
    let Some(answers) = answers.first() else { return Ok(()) };
    report.rows = 1;
    report.points = answers.len() as u64;
    let failed = |error: tailspn::estimate::EstimateError| Failure::plain(Exit::Internal, error.to_string());
    report.value_s = Some(value_of(&answers[0], report.level).map_err(failed)?);
    for (axis, pair) in asker.axes.iter().zip(answers[1..].chunks(2)) {
        let between = |from, to| one_at_a_time(from, to, report.level).map_err(failed);
        let change_s = between(&pair[0], &pair[1])?;
        let (one, other) = (between(&answers[0], &pair[0])?, between(&answers[0], &pair[1])?);
        let ((from, to), (per_unit_s, per_percent_s)) = (ends(axis), rates(axis, change_s));
        let effect = KnobEffect::Change {
            from,
            to,
            change_s,
            at_from_s: Some(one),
            at_to_s: Some(other),
            per_unit_s,
            per_percent_s,
        };
        report.knobs.push(row(axis, Some(effect), None));
    }
    Ok(())
}

/// The point at a place of the unit cube.
fn point_at(axes: &[Axis], place: &[f64], number: u64) -> Point {
    Point { number, values: axes.iter().zip(place).map(|(axis, &u)| Some(axis.at(u))).collect() }
}

fn rows_of(axes: &[Axis], places: impl Iterator<Item = Vec<Vec<f64>>>) -> Vec<Vec<Point>> {
    let mut number = 0;
    let mut point = |place: &Vec<f64>| {
        number += 1;
        point_at(axes, place, number)
    };
    places.map(|row| row.iter().map(&mut point).collect()).collect()
}

fn too_few(error: SensitivityError) -> Failure {
    let note = Note::problem(error.to_string());
    Failure::new(
        Exit::Refused,
        match error {
            SensitivityError::TooFewRows { .. } => note.with_help("--rows N asks for more; --max-time gives more time"),
            SensitivityError::Still => note.with_help("--reps N makes the noise smaller; wider ranges move more"),
            _ => note,
        },
    )
}

fn morris(
    asker: &Asker<'_>,
    rows: u64,
    bootstrap: &Bootstrap,
    watch: &Patience,
    report: &mut SensitivityReport,
) -> Result<(), Failure> {
    let walks: Vec<design::Trajectory> =
        (0..rows).map(|row| design::trajectory(asker.axes.len(), LEVELS, asker.seed, row)).collect();
    let points = rows_of(asker.axes, walks.iter().map(|walk| walk.points.clone()));
    let answers = asker.answers(&points, watch)?;
    report.method = "morris".into();
    report.partial = answers.len() < points.len();
    report.rows = answers.len() as u64;
    report.points = answers.iter().map(|row| row.len() as u64).sum();
    let found: Vec<MorrisRow> =
        walks.into_iter().zip(answers).map(|(walk, answers)| MorrisRow { walk, answers }).collect();
    let effects = elementary_effects(&found, bootstrap).map_err(too_few)?;
    for (axis, effects) in asker.axes.iter().zip(effects) {
        let ((from, to), (per_unit_s, per_percent_s)) = (ends(axis), rates(axis, effects.mean));
        let (size_s, mean_s, spread_s) = (effects.size, effects.mean, effects.spread);
        let effect = KnobEffect::Elementary { from, to, size_s, mean_s, spread_s, per_unit_s, per_percent_s };
        report.knobs.push(row(axis, Some(effect), None));
    }
    Ok(())
}

fn sobol(
    asker: &Asker<'_>,
    rows: u64,
    bootstrap: &Bootstrap,
    watch: &Patience,
    report: &mut SensitivityReport,
) -> Result<(), Failure> {
    let places = (0..rows).map(|row| design::saltelli(asker.axes.len(), asker.seed, row));
    let points = rows_of(asker.axes, places);
    let answers = asker.answers(&points, watch)?;
    report.method = "sobol".into();
    report.partial = answers.len() < points.len();
    report.rows = answers.len() as u64;
    report.points = answers.iter().map(|row| row.len() as u64).sum();
    let row_of = |mut answers: Vec<Response>| {
        let mixed = answers.split_off(2);
        let b = answers.pop()?;
        Some(SobolRow { a: answers.pop()?, b, mixed })
    };
    let found: Vec<SobolRow> = answers.into_iter().filter_map(row_of).collect();
    let indices = sobol_indices(&found, bootstrap).map_err(too_few)?;
    report.value_s = Some(indices.mean);
    report.variance_s2 = Some(indices.variance);
    report.noise_s2 = Some(indices.noise);
    for (axis, share) in asker.axes.iter().zip(indices.factors) {
        let (from, to) = ends(axis);
        let (first, total, deviation_s) = (share.first, share.total, share.deviation);
        report.knobs.push(row(axis, Some(KnobEffect::Variance { from, to, first, total, deviation_s }), None));
    }
    Ok(())
}

/// The report as it was asked for.
fn text_of(report: &SensitivityReport, args: &SensitivityArgs, terminal: &Terminal) -> Result<String, Failure> {
    let failed = |error: &dyn std::fmt::Display| Failure::plain(Exit::Internal, error.to_string());
    if args.print.json {
        json("sensitivity", report).map_err(|error| failed(&error))
    } else if args.print.csv {
        sensitivity_csv(report).map_err(|error| failed(&error))
    } else {
        Ok(sensitivity_text(report, &terminal.look()))
    }
}
