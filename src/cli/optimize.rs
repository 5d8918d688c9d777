//! `optimize`: the cheapest point that meets a deadline.

use std::path::Path;

use tailspn::estimate::FloatMoments;
use tailspn::optimize::{
    Answer, Candidate, Cost, Judge, Judgement, Measure, OptimizePlan, Search, Variable, candidates, search,
    search_by_estimates,
};
use tailspn::report::{Found as ReportFound, OptimizeReport, json, optimize_csv, optimize_report, optimize_text};
use tailspn::sim::{Ensemble, Watch as _};
use tailspn::sweep::{Axis, Model, Point, Settings, SweepPlan, path};
use toml::{Table, Value};

use crate::cli::answers::{Patience, times};
use crate::cli::args::OptimizeArgs;
use crate::cli::exit::Exit;
use crate::cli::notes::{Failure, Note};
use crate::cli::output::Terminal;
use crate::cli::pictures::{NAMES, draw_found, may_draw};
use crate::cli::plan::{PlanText, keys_of, refused};
use crate::cli::sweep_points::Subject;
use crate::cli::watch::{Progress, catch_interrupt};

/// Searches the points of a plan.
pub(crate) fn run(args: &OptimizeArgs, terminal: &Terminal) -> Result<Exit, Failure> {
    let Some(file) = args.plan.as_deref().filter(|_| !args.print_plan) else {
        terminal.data(OptimizePlan::example_toml())?;
        return Ok(Exit::Success);
    };
    may_draw(&NAMES, &args.plots, args.force)?;
    let PlanText { source, text } = PlanText::read(file, terminal)?;
    let text = with_arguments(text, args);
    let mut plan = OptimizePlan::from_toml(&text).map_err(|error| refused(&source, error, &keys_of("optimize")))?;
    if let Some(measure) = args.measure {
        plan.optimize.measure = measure.name();
    }
    plan.optimize.seed = args.seed.unwrap_or(plan.optimize.seed);
    let sweep = as_sweep(&plan);
    let subject = Subject::load(&sweep, file.parent().unwrap_or(Path::new("")), terminal)?;
    let all = priced(&plan, &sweep, &subject).map_err(|message| Failure::plain(Exit::Model, message))?;
    let points: Vec<Point> = all.iter().map(|candidate| candidate.point.clone()).collect();
    subject.check_axes_of(&sweep, &source, &text)?;
    subject.check(&sweep, &with_base(&points, sweep.axis.len()), &source, &text)?;
    if plan.optimize.search == Search::Bisection {
        check_bisection(&plan, &all)?;
    }
    catch_interrupt(terminal);
    let watch = Patience::new(Progress::new(terminal.shows_progress(), "replications of this point"), None);
    let asker = Asker { plan: &plan, sweep: &sweep, subject: &subject, args, watch: &watch };
    let judge = |candidate: &Candidate, error: f64| asker.judge(candidate, error);
    let mean = |candidate: &Candidate, count: u64, level: f64| asker.mean_time(candidate, count, level);
    let found = match plan.optimize.cost_per_s {
        Some(_) => search_by_estimates(&plan, &all, judge, mean)?,
        None => search(&plan, &all, judge)?,
    };
    let report = optimize_report(&plan, &all, &found);
    terminal.data(&text_of(&report, args, terminal)?)?;
    draw_found(&ReportFound::Optimization(Box::new(report)), &args.plots, args.force, terminal)?;
    Ok(match found.answer {
        Answer::Cheapest(_) | Answer::Meets(_) => Exit::Success,
        Answer::None | Answer::Undecided => Exit::Unmet,
        Answer::Stopped => Exit::Interrupted,
    })
}

/// The plan's text, where a deadline of the arguments replaces its own; a plan may leave it out then.
fn with_arguments(text: String, args: &OptimizeArgs) -> String {
    let Some(deadline) = args.deadline else { return text };
    let Ok(mut table) = text.parse::<Table>() else { return text };
    let section = table.entry("optimize").or_insert_with(|| Value::Table(Table::new()));
    let Some(section) = section.as_table_mut() else { return text };
    section.insert("deadline_s".to_owned(), Value::Float(deadline));
    table.to_string()
}

/// What points are about, in the words of a sweep.
fn as_sweep(plan: &OptimizePlan) -> SweepPlan {
    let OptimizePlan { optimize, axis } = plan;
    let settings = Settings {
        base: optimize.base.clone(),
        net: optimize.net.clone(),
        until: optimize.until.clone(),
        seed: optimize.seed,
        ..Settings::default()
    };
    let axis: Vec<Axis> = axis.iter().map(Variable::axis).collect();
    SweepPlan { sweep: settings, axis }
}

/// The points to check: the first is taken for the base.
fn with_base(points: &[Point], axes: usize) -> Vec<Point> {
    std::iter::once(Point::base(axes)).chain(points.iter().cloned()).collect()
}

/// Refuses bisection where it would not be right.
fn check_bisection(plan: &OptimizePlan, all: &[Candidate]) -> Result<(), Failure> {
    if tailspn::optimize::search::may_bisect(plan, all) {
        return Ok(());
    }
    let note = Note::problem("bisection needs one axis, along which cost rises while the job gets faster");
    Err(Failure::new(
        Exit::Model,
        note.with_help("say so with `faster = \"up\"` or `\"down\"`, or take `search = \"rising\"`"),
    ))
}

/// All points with what they cost, in the order in which they are preferred.
fn priced(plan: &OptimizePlan, sweep: &SweepPlan, subject: &Subject) -> Result<Vec<Candidate>, String> {
    let read = |text: &str| Cost::parse(text).map_err(|error| error.to_string());
    let cost = read(&plan.optimize.cost)?;
    let mut all = candidates(plan, |point| cost_of(&cost, plan, sweep, subject, point))?;
    let Some(text) = &plan.optimize.cost_per_s else { return Ok(all) };
    let per_s = read(text)?;
    for candidate in &mut all {
        candidate.per_s = cost_of(&per_s, plan, sweep, subject, &candidate.point)?;
        if candidate.per_s < 0.0 {
            return Err(format!("`cost_per_s` is {} at a point; it must not be below 0", candidate.per_s));
        }
    }
    Ok(all)
}

/// What a point costs: the expression over `nodes`, the axes, and what of the plan is a number.
fn cost_of(
    cost: &Cost,
    plan: &OptimizePlan,
    sweep: &SweepPlan,
    subject: &Subject,
    point: &Point,
) -> Result<f64, String> {
    let number = |value: &Value| value.as_float().or_else(|| value.as_integer().map(|number| number as f64));
    let axes = plan.axis.iter().zip(&point.values);
    let mut names: Vec<(&str, f64)> =
        axes.filter_map(|(axis, value)| Some((axis.title(), number(value.as_ref()?)?))).collect();
    let nodes = match subject {
        Subject::Job { table, .. } => nodes_at(table, &sweep.axis, point),
        Subject::Stages { .. } => subject.number("job.executors", &sweep.axis, point),
        Subject::Net { .. } => None,
    };
    names.extend(nodes.map(|nodes| (tailspn::optimize::cost::NODES, nodes)));
    cost.at(&names).map_err(|error| error.to_string())
}

/// Workers of the job at a point.
fn nodes_at(table: &Table, axes: &[Axis], point: &Point) -> Option<f64> {
    let mut cluster = Table::new();
    cluster.insert("cluster".to_owned(), table.get("cluster")?.clone());
    for (axis, value) in axes.iter().zip(&point.values) {
        if let Some(value) = value.as_ref().filter(|_| axis.key.trim().starts_with("cluster")) {
            // a path that does not fit is told by the check of the points
            let _ = path::set(&mut cluster, &axis.key, value);
        }
    }
    let nodes = cluster.get("cluster")?.get("node")?.as_array()?;
    Some(nodes.iter().filter_map(|node| node.get("count")?.as_integer()).sum::<i64>() as f64)
}

/// Asks points by replications.
struct Asker<'a> {
    plan: &'a OptimizePlan,
    sweep: &'a SweepPlan,
    subject: &'a Subject,
    args: &'a OptimizeArgs,
    watch: &'a Patience,
}

impl Asker<'_> {
    /// Whether a point meets the deadline.
    fn judge(&self, candidate: &Candidate, error: f64) -> Result<Judgement, Failure> {
        let settings = &self.plan.optimize;
        let model = self.model(candidate)?;
        let judge = Judge {
            measure: self.plan.measure(),
            deadline_s: settings.deadline_s.unwrap_or(f64::INFINITY),
            error,
            indifference: settings.indifference,
            first: settings.replications,
            most: settings.most_replications,
        };
        judge.judge(|first, count| {
            self.watch.progress(first, first + count);
            times(&model, self.plan.measure(), &Ensemble { first, ..self.ensemble(count) }, self.watch)
        })
    }

    /// The mean time of a point with its interval \[s\]: lower end, estimate, upper end; none where it was stopped.
    fn mean_time(&self, candidate: &Candidate, count: u64, level: f64) -> Result<Option<[f64; 3]>, Failure> {
        let model = self.model(candidate)?;
        self.watch.progress(0, count);
        let Some(times) = times(&model, Measure::Mean, &self.ensemble(count), self.watch)? else { return Ok(None) };
        let moments: FloatMoments = times.into_iter().collect();
        let estimate = moments.mean_estimate(level);
        let estimate = estimate.map_err(|error| Failure::plain(Exit::Internal, error.to_string()))?;
        Ok(Some([estimate.low(), estimate.value, estimate.high()]))
    }

    fn model(&self, candidate: &Candidate) -> Result<Model, Failure> {
        let model = self.subject.model(&self.sweep.axis, &candidate.point);
        model.map_err(|message| Failure::plain(Exit::Model, message))
    }

    fn ensemble(&self, replications: u64) -> Ensemble {
        let seed = self.plan.optimize.seed;
        Ensemble { replications, seed, threads: self.args.threads, ..Ensemble::default() }
    }
}

/// The report as it was asked for.
fn text_of(report: &OptimizeReport, args: &OptimizeArgs, terminal: &Terminal) -> Result<String, Failure> {
    let failed = |error: &dyn std::fmt::Display| Failure::plain(Exit::Internal, error.to_string());
    if args.print.json {
        json("optimize", report).map_err(|error| failed(&error))
    } else if args.print.csv {
        optimize_csv(report).map_err(|error| failed(&error))
    } else {
        Ok(optimize_text(report, &terminal.look()))
    }
}
