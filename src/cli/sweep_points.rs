//! What the points of a sweep are: a job's plan with other values, or a net with other rate parameters.

use std::path::Path;

use rayon::prelude::*;
use tailspn::compile::{Compiled, Template, compile, lower};
use tailspn::formats::pipe::Reading;
use tailspn::mapreduce::Plan;
use tailspn::net::Net;
use tailspn::plan_text::{self, PlanError};
use tailspn::sim::{Backend, Ending, Ensemble, Goal, Question, Unwatched, run as replicate};
use tailspn::stages::{PlannedJob, RunFactor, StagePlan, stage_net};
use tailspn::sweep::{
    Admitted, Axis, Constraint, ConstraintFault, Model, Point, Spread, SweepPlan, admitted, constraint, path,
};
use toml::{Table, Value};

use crate::cli::args::{NetArgs, ReadAs};
use crate::cli::exit::Exit;
use crate::cli::load::{read_bytes, read_net, replace_parameters};
use crate::cli::notes::{Failure, Note, Source};
use crate::cli::output::Terminal;
use crate::cli::plan::{PlanText, keys_of};
use crate::cli::question::expression;
use crate::cli::simulate::failure;
use crate::cli::sweep_models::{Shapes, listed};

/// Problems of one plan that are told.
const MOST_PROBLEMS: usize = 10;
/// Firings after which a replication of a net is cut off.
const PATIENCE: u64 = 10_000_000;

/// What points change.
#[derive(Debug)]
pub(crate) enum Subject {
    /// A job's plan, every key written out.
    Job {
        /// The plan.
        table: Table,
        /// Seed of every point.
        seed: u64,
        /// Nets that were compiled.
        shapes: Shapes,
    },
    /// A job of stages.
    Stages {
        /// The plan, every key written out.
        table: Table,
    },
    /// A net.
    Net {
        /// The net.
        net: Box<Net>,
        /// Its goal.
        until: Option<String>,
        /// The file's text.
        text: String,
        /// It, compiled; none where it cannot be with its own rates.
        template: Option<Box<Template>>,
    },
}

/// Why a point is none.
#[derive(Debug)]
struct Wrong {
    /// The key that is to blame, where that is known.
    key: Option<String>,
    message: String,
    /// Whether the plan has no such key.
    unknown: bool,
}

impl Wrong {
    fn plain(message: impl ToString) -> Self {
        Self { key: None, message: message.to_string(), unknown: false }
    }
}

impl Subject {
    /// Reads what the plan of a sweep is about; files are named from the plan's folder.
    pub(crate) fn load(plan: &SweepPlan, folder: &Path, terminal: &Terminal) -> Result<Self, Failure> {
        let settings = &plan.sweep;
        if let Some(net) = &settings.net {
            let path = folder.join(net);
            let text = String::from_utf8_lossy(&read_bytes(&path)?).into_owned();
            let sensible = ReadAs { question: None, reading: Reading::Sensible };
            let loaded = read_net(&NetArgs { net: path, read_as: vec![sensible], param: Vec::new() })?;
            terminal.brief_warnings(&loaded.warnings);
            if let Some(until) = &settings.until {
                expression(&loaded.net, "until", until)?;
            }
            let template = Template::new(loaded.net.clone()).ok().map(Box::new);
            return Ok(Self::Net { net: Box::new(loaded.net), until: settings.until.clone(), text, template });
        }
        let base = settings.base.as_ref().map(|base| PlanText::read(&folder.join(base), terminal)).transpose()?;
        if let Some(text) = base.as_ref().filter(|text| StagePlan::is_meant(&text.text)) {
            let mut plan = text.plan(StagePlan::from_toml, "docs/fit.md describes every key")?;
            // they are about the logs, not about points
            plan.notes.clear();
            if plan.run.sigma > 0.0 {
                terminal.tell("note: whole runs of this job differ: means are of a usual run, quantiles over all runs");
            }
            let table = Table::try_from(&plan).map_err(|error| Failure::plain(Exit::Internal, error.to_string()))?;
            return Ok(Self::Stages { table });
        }
        let job = base.map_or_else(|| Ok(Plan::default()), |text| text.plan(Plan::from_toml, &keys_of("estimate")))?;
        let mut table = Table::try_from(&job).map_err(|error| Failure::plain(Exit::Internal, error.to_string()))?;
        if job.phases.is_some() {
            // means that are given leave no room for a profile
            table.remove("profile");
        }
        Ok(Self::Job { table, seed: settings.seed, shapes: Shapes::default() })
    }

    /// What points change, as text: equal where it means the same.
    pub(crate) fn text(&self) -> String {
        match self {
            Self::Job { table, .. } | Self::Stages { table } => table.to_string(),
            Self::Net { text, .. } => text.clone(),
        }
    }

    /// What is replicated at a point.
    pub(crate) fn model(&self, axes: &[Axis], point: &Point) -> Result<Model, String> {
        match self {
            Self::Job { table, seed, shapes } => {
                let plan = job_at(table, *seed, axes, point).map_err(|wrong| wrong.message)?;
                let Compiled { program, schedule } = shapes.compiled(&plan)?;
                Ok(Model { schedule, ..Model::new(program) })
            }
            Self::Stages { table } => {
                let plan = stages_at(table, axes, point).map_err(|wrong| wrong.message)?;
                let job = PlannedJob::of(&plan);
                let made = stage_net(&job).map_err(|problems| listed(&problems))?;
                let program = compile(&made.net).map_err(|errors| listed(&errors))?;
                let spread = Spread::of(RunFactor::new(&plan.run, job.error()).points());
                Ok(Model { spread, ..Model::new(program) })
            }
            Self::Net { net, until, template, .. } => {
                let net = net_at(net, axes, point).map_err(|wrong| wrong.message)?;
                let goal = match until {
                    Some(until) => {
                        Goal::Marking(lower(&net, &net.expression(until).map_err(|error| error.to_string())?))
                    }
                    None => Goal::Dead,
                };
                let question = Question { goal, max_firings: Some(PATIENCE), ..Question::default() };
                let known = template.as_ref().and_then(|template| template.with_parameters(&net));
                let anew = || {
                    let program = compile(&net).map_err(|errors| listed(&errors))?;
                    Ok::<_, String>(Compiled { program, schedule: None })
                };
                let Compiled { program, schedule } = known.map_or_else(anew, Ok)?;
                Ok(Model { schedule, question, ..Model::new(program) })
            }
        }
    }

    fn problem(&self, axes: &[Axis], point: &Point) -> Option<Wrong> {
        match self {
            Self::Job { table, seed, .. } => job_at(table, *seed, axes, point).err(),
            Self::Stages { table } => stages_at(table, axes, point).err(),
            Self::Net { net, .. } => net_at(net, axes, point).err(),
        }
    }

    /// The points that satisfy the constraints of the plan.
    pub(crate) fn admit(
        &self,
        plan: &SweepPlan,
        points: Vec<Point>,
        source: &Source,
        text: &str,
    ) -> Result<Admitted, Failure> {
        let told = |number: usize, fault: &ConstraintFault| {
            let note = Note::problem(format!("`sweep.constraints[{number}]`: {fault}"));
            let note = match constraint::place(text, number, fault.span()) {
                Some(span) => note.at(source, span),
                None => note,
            };
            Failure::new(Exit::Model, note)
        };
        let read = |(number, text): (usize, &String)| Constraint::parse(text).map_err(|fault| told(number, &fault));
        let constraints = plan.sweep.constraints.iter().enumerate().map(read).collect::<Result<Vec<_>, _>>()?;
        let values = |point: &Point, names: &[&str]| self.values(&plan.axis, point, names);
        let found = admitted(points, &constraints, &values).map_err(|(number, fault)| told(number, &fault))?;
        if found.points.len() == 1 && found.left_out > 0 {
            let note = Note::problem("the constraints leave no point");
            return Err(Failure::new(Exit::Model, at(note, source, text, "sweep.constraints")));
        }
        Ok(found)
    }

    /// What axes, and keys of the job's plan or rate parameters, are worth at a point.
    fn values(&self, axes: &[Axis], point: &Point, names: &[&str]) -> Vec<Option<Value>> {
        let of_axis = |name: &str| {
            let which = axes.iter().position(|axis| axis.key == name || axis.title() == name)?;
            point.values[which].clone().or_else(|| self.own_value(&axes[which].key))
        };
        let changed = match self {
            Self::Job { table, .. } | Self::Stages { table } => {
                let mut table = table.clone();
                for (axis, value) in axes.iter().zip(&point.values) {
                    // a key that there is not is told by the check of the axes
                    let _ = value.as_ref().map(|value| path::set(&mut table, &axis.key, value));
                }
                Some(table)
            }
            Self::Net { .. } => None,
        };
        let by_path = |name: &str| match &changed {
            Some(table) => path::get(table, name).cloned(),
            None => self.own_value(name),
        };
        names.iter().map(|name| of_axis(name).or_else(|| by_path(name))).collect()
    }

    /// The same of one name, where it is a number.
    pub(crate) fn number(&self, name: &str, axes: &[Axis], point: &Point) -> Option<f64> {
        let value = self.values(axes, point, &[name]).pop()??;
        value.as_float().or_else(|| value.as_integer().map(|number| number as f64))
    }

    /// What a key of the job's plan or a rate parameter is worth at the base.
    fn own_value(&self, name: &str) -> Option<Value> {
        match self {
            Self::Job { table, .. } | Self::Stages { table } => path::get(table, name).cloned(),
            Self::Net { net, .. } => {
                let parameter = net.parameters().iter().find(|parameter| parameter.name == name)?;
                parameter.value.as_number().map(Value::Float)
            }
        }
    }

    /// Tells all that is wrong with the points before any of them is run: first with each axis alone, then with combinations.
    pub(crate) fn check(&self, plan: &SweepPlan, points: &[Point], source: &Source, text: &str) -> Result<(), Failure> {
        self.check_axes_of(plan, source, text)?;
        none_of(self.check_points(&plan.axis, points, source, text))?;
        self.check_patience(plan, &points[0])
    }

    /// Tells which axes there are not, and which of their values are of a wrong kind, each axis alone.
    pub(crate) fn check_axes_of(&self, plan: &SweepPlan, source: &Source, text: &str) -> Result<(), Failure> {
        none_of(self.check_axes(&plan.axis, source, text))
    }

    /// A net that does not reach its goal would take all its firings in every replication of every point: looks at one.
    fn check_patience(&self, plan: &SweepPlan, base: &Point) -> Result<(), Failure> {
        if !matches!(self, Self::Net { .. }) {
            return Ok(());
        }
        let model = self.model(&plan.axis, base).map_err(|message| Failure::plain(Exit::Model, message))?;
        let one = Ensemble { replications: 1, seed: plan.sweep.seed, backend: Backend::Cpu, ..Ensemble::default() };
        let pilot = replicate(&model.program, &model.question, &one, &Unwatched).map_err(|error| failure(&error))?;
        if pilot.samples.ended(Ending::Firings) == 0 {
            return Ok(());
        }
        let firings = tailspn::report::count(PATIENCE.into());
        let note = Note::problem(format!("the net does not stop: after {firings} firings it has not reached its goal"));
        Err(Failure::new(Exit::Refused, note.with_help("`sweep.until` names another goal, such as \"#(done) >= 3\"")))
    }

    /// Keys that there are not, and values of a wrong kind.
    fn check_axes(&self, axes: &[Axis], source: &Source, text: &str) -> Vec<Note> {
        let mut notes = Vec::new();
        for (i, axis) in axes.iter().enumerate() {
            let alone = |(j, level): (usize, &Value)| {
                let mut point = Point::base(axes.len());
                point.values[i] = Some(level.clone());
                // a value that is out of range may be sound together with another axis
                self.problem(axes, &point).filter(|wrong| wrong.key.is_none()).map(|wrong| (j, wrong))
            };
            let levels = axis.levels();
            let wrong: Vec<(usize, Wrong)> = levels.par_iter().enumerate().filter_map(alone).collect();
            // a key that there is not is told once
            let told = if wrong.iter().any(|(_, wrong)| wrong.unknown) { 1 } else { MOST_PROBLEMS };
            for (j, wrong) in wrong.into_iter().take(told) {
                let key = if wrong.unknown { format!("axis[{i}].key") } else { value_key(axis, i, j) };
                notes.push(at(Note::problem(format!("`{}`: {}", axis.key, wrong.message)), source, text, &key));
            }
        }
        notes
    }

    /// Values that are out of range or contradict each other.
    fn check_points(&self, axes: &[Axis], points: &[Point], source: &Source, text: &str) -> Vec<Note> {
        let problem = |point: &Point| self.problem(axes, point).map(|wrong| (point.clone(), wrong));
        let wrong: Vec<(Point, Wrong)> = points.par_iter().filter_map(problem).collect();
        let mut told: Vec<String> = Vec::new();
        let mut notes = Vec::new();
        for (point, wrong) in wrong {
            if told.contains(&wrong.message) {
                continue;
            }
            let to_blame = axes.iter().position(|axis| wrong.key.as_deref().is_some_and(|key| covers(&axis.key, key)));
            let place = to_blame.map_or("axis".to_owned(), |i| {
                let value = point.values[i].as_ref();
                let j = axes[i].levels().iter().position(|level| Some(level) == value);
                j.map_or(format!("axis[{i}]"), |j| value_key(&axes[i], i, j))
            });
            let message = format!("point {} ({}): {}", point.number, words(axes, &point), wrong.message);
            notes.push(at(Note::problem(message), source, text, &place));
            told.push(wrong.message);
        }
        notes
    }
}

/// The first of some problems, if there are any.
fn none_of(mut notes: Vec<Note>) -> Result<(), Failure> {
    notes.truncate(MOST_PROBLEMS);
    if notes.is_empty() { Ok(()) } else { Err(Failure { exit: Exit::Model, notes }) }
}

fn at(note: Note, source: &Source, text: &str, key: &str) -> Note {
    match plan_text::place(text, key) {
        Some(span) => note.at(source, span),
        None => note,
    }
}

/// Where value `j` of axis `i` stands.
fn value_key(axis: &Axis, i: usize, j: usize) -> String {
    match (&axis.values, j) {
        (Some(_), _) => format!("axis[{i}].values[{j}]"),
        (None, 0) => format!("axis[{i}].from"),
        (None, _) => format!("axis[{i}].to"),
    }
}

/// Whether the path of an axis, perhaps with `[*]`, is that of a key.
fn covers(axis: &str, key: &str) -> bool {
    let [axis, key] = [axis, key].map(|path| path.split(['.', '[', ']']).filter(|step| !step.is_empty()));
    let steps: Vec<_> = axis.collect();
    let found: Vec<_> = key.collect();
    steps.len() == found.len() && steps.iter().zip(&found).all(|(step, found)| *step == "*" || step == found)
}

/// A point in words.
fn words(axes: &[Axis], point: &Point) -> String {
    let word = |(axis, value): (&Axis, &Option<Value>)| Some(format!("{} = {}", axis.key, value.as_ref()?));
    let words: Vec<String> = axes.iter().zip(&point.values).filter_map(word).collect();
    if words.is_empty() { "the base".to_owned() } else { words.join(", ") }
}

/// The plan of a job of stages at a point.
fn stages_at(table: &Table, axes: &[Axis], point: &Point) -> Result<StagePlan, Wrong> {
    StagePlan::from_toml(&text_at(table, axes, point)?).map_err(wrong)
}

/// The job's plan at a point.
fn job_at(table: &Table, seed: u64, axes: &[Axis], point: &Point) -> Result<Plan, Wrong> {
    if axes.iter().any(|axis| axis.key.trim() == "model.seed") {
        let message = "every point has the seed of the sweep; `sweep.seed` sets it".to_owned();
        return Err(Wrong { key: None, message, unknown: true });
    }
    let mut plan = Plan::from_toml(&text_at(table, axes, point)?).map_err(wrong)?;
    plan.model.seed = seed;
    Ok(plan)
}

/// A plan with the values of a point, as text.
fn text_at(table: &Table, axes: &[Axis], point: &Point) -> Result<String, Wrong> {
    let mut table = table.clone();
    for (axis, value) in axes.iter().zip(&point.values) {
        if let Some(value) = value {
            let unknown = |error: path::PathError| Wrong { key: None, message: error.to_string(), unknown: true };
            path::set(&mut table, &axis.key, value).map_err(unknown)?;
        }
    }
    Ok(table.to_string())
}

/// Why a plan is none, in short.
fn wrong<F: std::fmt::Display>(error: PlanError<F>) -> Wrong {
    match error {
        PlanError::Values(problems) => {
            let first = problems.first();
            Wrong {
                key: Some(first.map_or_else(String::new, |problem| problem.key.clone())),
                message: first.map_or_else(String::new, ToString::to_string),
                unknown: false,
            }
        }
        PlanError::Text { message, .. } => Wrong { key: None, unknown: message.starts_with("unknown field"), message },
        other => Wrong::plain(other),
    }
}

/// The net at a point.
fn net_at(net: &Net, axes: &[Axis], point: &Point) -> Result<Net, Wrong> {
    let mut values = Vec::new();
    for (axis, value) in axes.iter().zip(&point.values) {
        if !net.parameters().iter().any(|parameter| parameter.name == axis.key) {
            let names: Vec<&str> = net.parameters().iter().map(|parameter| parameter.name.as_str()).collect();
            let known = crate::cli::values::listed(&names);
            let message = format!("there is no such rate parameter; {known}");
            return Err(Wrong { key: None, message, unknown: true });
        }
        match value {
            None => {}
            Some(Value::Integer(number)) => values.push((axis.key.clone(), *number as f64)),
            Some(Value::Float(number)) => values.push((axis.key.clone(), *number)),
            Some(other) => return Err(Wrong::plain(format!("{other} is no number"))),
        }
    }
    let told =
        |wrong: Failure| Wrong::plain(wrong.notes.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "));
    replace_parameters(net.clone(), &values).map_err(told)
}
