//! Subject of a study: a job or a net whose settings the study varies.
//!
//! ```text
//! Subject + axes + Point ──▶ the job plan or net of one run ──▶ Model (a compiled net and its question)
//! ```
//!
//! | question | file |
//! |---|---|
//! | the kind of a file | `kind` |
//! | reading a job or net from files | [`load`] |
//! | the job plan or net of one run | `at` |
//! | points that are not valid, and the keys that cause the problem | `check` |
//! | nets of jobs, compiled and folded once per structure | `shapes` |
//! | a net with rate parameters, compiled and folded once | `rated_net` |
//! | the goal of a net | `goal` |

mod at;
mod check;
mod goal;
mod kind;
pub mod load;
mod load_error;
mod number;
mod rated_net;
mod shapes;

use std::sync::OnceLock;

use toml::{Table, Value};

use crate::compile::{compile, lower};
use crate::error::StudyError;
use crate::formats::pipe::{WriteOptions, write};
use crate::job_time::TaskModel;
use crate::mapreduce::Plan;
use crate::net::Net;
use crate::net::expr::ExprError;
use crate::plan::{JobPlan, PlanOption, Planning};
use crate::runs::RunFactor;
use crate::sim::{FoldedParts, NotFolded};
use crate::stages::{PlannedJob, StagePlan, stage_net};
use crate::subject::at::{job_at, stages_at, table_at};
use crate::subject::rated_net::RatedNet;
use crate::subject::shapes::Shapes;
use crate::sweep::{Axis, Model, NetModel, Point, Runs, Spread, path};

pub use at::{ParameterError, names_in_a_sentence, with_parameters};
pub use goal::GoalText;
pub use kind::FileKind;
pub use load::{LoadWarning, Loaded};
pub use load_error::LoadError;
pub(crate) use number::as_number;

/// A job or a net whose settings a study varies.
#[derive(Debug)]
pub struct Subject {
    kind: Kind,
    /// True if equal parts of the net are folded.
    fold: bool,
}

impl From<Kind> for Subject {
    fn from(kind: Kind) -> Self {
        Self { kind, fold: true }
    }
}

#[derive(Debug)]
enum Kind {
    /// A job plan with all keys written out.
    Job { table: Table, shapes: Shapes },
    /// The plan of a job of stages with all keys written out.
    Stages { table: Table },
    /// A net.
    Net {
        net: Box<Net>,
        goal: GoalText,
        /// The file's text.
        text: String,
        /// The net as it is simulated, unfolded and folded, each created when it is first used.
        forms: Box<[OnceLock<RatedNet>; 2]>,
    },
}

impl Subject {
    /// Returns a MapReduce job as the subject; axes are paths of keys of its plan.
    ///
    /// # Errors
    ///
    /// [`StudyError::Written`] for a plan with numbers that TOML cannot hold.
    pub fn job(plan: &Plan) -> Result<Self, StudyError> {
        let mut table = Table::try_from(plan)?;
        if plan.phases.is_some() {
            // a plan with phase means cannot also have a profile
            table.remove("profile");
        }
        Ok(Kind::Job { table, shapes: Shapes::default() }.into())
    }

    /// Returns a job of stages as the subject; axes are paths of keys of its plan.
    ///
    /// # Errors
    ///
    /// [`StudyError::Written`] for a plan with numbers that TOML cannot hold.
    pub fn stages(plan: &StagePlan) -> Result<Self, StudyError> {
        // notes describe the logs and have no effect on runs
        let plan = StagePlan { notes: Vec::new(), ..plan.clone() };
        Ok(Kind::Stages { table: Table::try_from(&plan)? }.into())
    }

    /// Returns a net as the subject; its goal is the expression `until`, or the dead marking. Axes are its rate parameters.
    ///
    /// # Errors
    ///
    /// `until` is not a valid expression of the net.
    pub fn net(net: Net, until: Option<&str>) -> Result<Self, ExprError> {
        let goal = GoalText::until(until);
        if let Some((.., error)) = goal.fault(&net) {
            return Err(error);
        }
        let text = write(&net, &WriteOptions::default()).xml;
        Ok(Self::net_of_text(net, goal, text))
    }

    /// Returns a net as the subject; its goal is valid. `text` is the net's file, which identifies the subject of stored results.
    fn net_of_text(net: Net, goal: GoalText, text: String) -> Self {
        Kind::Net { net: Box::new(net), goal, text, forms: Box::default() }.into()
    }

    /// Returns the job of a plan as the subject; axes are paths of keys of the plan.
    ///
    /// # Errors
    ///
    /// [`StudyError::Options`] for options that do not apply to the plan, [`StudyError::Model`] for a plan of tasks, which has no net.
    pub fn of_job(job: impl Planning) -> Result<Self, StudyError> {
        match job.plan().map_err(StudyError::Options)? {
            JobPlan::MapReduce(plan) => Self::job(&plan),
            JobPlan::Stages(plan) => Self::stages(&plan),
            plan @ JobPlan::Tasks(_) => {
                let message = format!("a plan of {}, simulated task by task, has no net", plan.described_by());
                Err(StudyError::Model(message))
            }
        }
    }

    /// Returns the job with options in place of values of its plan.
    ///
    /// # Errors
    ///
    /// [`StudyError::Options`] for an option that does not apply to the job or net, or for values out of range.
    pub fn planned(self, options: &[PlanOption]) -> Result<Self, StudyError> {
        let Some(first) = options.first() else { return Ok(self) };
        let Some(plan) = self.plan()? else {
            let refused = first.without_meaning("a net", "its rate parameters are axes");
            return Err(StudyError::Options(refused.into()));
        };
        Self::of_job(plan.with_all(options))
    }

    /// Returns the plan of the job; none for a net.
    ///
    /// # Errors
    ///
    /// [`StudyError::Options`] for a plan that cannot be read.
    pub fn plan(&self) -> Result<Option<JobPlan>, StudyError> {
        match &self.kind {
            Kind::Job { table, .. } | Kind::Stages { table } => Ok(Some(JobPlan::from_toml(&table.to_string())?)),
            Kind::Net { .. } => Ok(None),
        }
    }

    /// Turns folding on or off: by default, equal parts of the net are counted; without folding they are kept apart.
    pub fn set_folding(&mut self, fold: bool) {
        self.fold = fold;
    }

    /// Returns the job plan or net as text. Subjects with equal texts give equal results.
    pub fn text(&self) -> String {
        let text = match &self.kind {
            Kind::Job { table, .. } | Kind::Stages { table } => table.to_string(),
            Kind::Net { text, .. } => text.clone(),
        };
        // without folding, random numbers are used differently
        if self.fold { text } else { format!("{}\n# equal parts kept apart\n", text.trim_end()) }
    }

    /// Returns true if the result of a replication is whether it reached the goal, rather than its time.
    pub(crate) fn is_probability(&self) -> bool {
        matches!(&self.kind, Kind::Net { goal, .. } if goal.is_probability())
    }

    /// Returns the names of the net's rate parameters; none for a job.
    pub fn rate_parameters(&self) -> Vec<String> {
        match &self.kind {
            Kind::Net { net, .. } => net.parameters().iter().map(|parameter| parameter.name.clone()).collect(),
            Kind::Job { .. } | Kind::Stages { .. } => Vec::new(),
        }
    }

    /// Returns what a reader of the times should know, if anything.
    pub fn advice(&self) -> Option<&'static str> {
        let advice = "the plan includes run-to-run variation; means are for a typical run, quantiles are over all runs";
        self.whole_runs_differ().then_some(advice)
    }

    /// Returns true if the job has run-to-run variation. In that case, means refer to a typical run, and quantiles are
    /// over all runs.
    pub fn whole_runs_differ(&self) -> bool {
        let (Kind::Stages { table } | Kind::Job { table, .. }) = &self.kind else { return false };
        let sigma = path::get(table, "run.sigma").and_then(Value::as_float);
        sigma.is_some_and(|sigma| sigma > 0.0)
    }

    /// Returns the model to simulate at a point, folded unless folding is turned off. `seed` determines the random parts of a job's net.
    ///
    /// # Errors
    ///
    /// Reason why the point's settings do not form a valid job or net.
    pub fn model(&self, axes: &[Axis], point: &Point, seed: u64) -> Result<Model, String> {
        self.model_as(axes, point, seed, self.fold, true)
    }

    /// Returns the net at a point, which also runs on a GPU; the model if it has no net.
    ///
    /// # Errors
    ///
    /// The errors of [`Subject::model`].
    pub(crate) fn net_model(&self, axes: &[Axis], point: &Point, seed: u64) -> Result<Model, String> {
        self.model_as(axes, point, seed, self.fold, false)
    }

    /// Returns the model with the fastest replications on the CPU: a job of stages runs task by task, faster than its net.
    ///
    /// # Errors
    ///
    /// The errors of [`Subject::model`].
    pub(crate) fn quick_model(&self, axes: &[Axis], point: &Point, seed: u64) -> Result<Model, String> {
        match self.stages_at(axes, point) {
            Some(plan) => task_model(&plan?),
            None => self.model(axes, point, seed),
        }
    }

    /// Returns the plan of a job of stages at a point; none for other subjects.
    ///
    /// # Errors
    ///
    /// Reason why the point's settings do not form a valid job.
    pub(crate) fn stages_at(&self, axes: &[Axis], point: &Point) -> Option<Result<StagePlan, String>> {
        let Kind::Stages { table } = &self.kind else { return None };
        Some(stages_at(table, axes, point).map_err(|misfit| misfit.message))
    }

    /// Returns the model at a point without folding, so that its transitions are the transitions of the job or net.
    pub(crate) fn unfolded_model(&self, axes: &[Axis], point: &Point, seed: u64) -> Result<Model, String> {
        self.model_as(axes, point, seed, false, false)
    }

    /// Returns the folded parts of the net of the base configuration (none if it runs unfolded), and the parts that
    /// look alike but are not folded.
    pub fn folded_parts(&self, axes: &[Axis], seed: u64) -> (Option<FoldedParts>, Vec<NotFolded>) {
        if let Kind::Stages { .. } = &self.kind {
            // nets of jobs of stages have no replicas to fold
            return (None, Vec::new());
        }
        let model = self.model(axes, &Point::base(axes.len()), seed);
        let net = model.as_ref().ok().and_then(Model::net);
        net.map(|net| (net.folded, net.not_folded.clone())).unwrap_or_default()
    }

    fn model_as(&self, axes: &[Axis], point: &Point, seed: u64, fold: bool, by_task: bool) -> Result<Model, String> {
        match &self.kind {
            Kind::Job { table, shapes } => {
                let plan = job_at(table, seed, axes, point).map_err(|misfit| misfit.message)?;
                let spread = plan.run.as_ref().map(|run| Spread::of(RunFactor::new(run, 0.0))).unwrap_or_default();
                let needs_tasks = by_task
                    && (plan.needs_tasks() || axes.iter().any(|axis| needs_tasks(axis, plan.cluster.node.len())));
                if plan.can_run_by_task() && (needs_tasks || plan.shares_workers()) {
                    let tasks = TaskModel::of_phases(&plan)?;
                    let runs = Runs::Tasks(Box::new(tasks));
                    return Ok(Model { runs, spread, deadline_s: plan.job.deadline_s });
                }
                Ok(Model { spread, deadline_s: plan.job.deadline_s, ..shapes.model(&plan, fold)?.into() })
            }
            Kind::Stages { table } => {
                let plan = stages_at(table, axes, point).map_err(|misfit| misfit.message)?;
                let job = PlannedJob::of(&plan);
                if plan.speculation.is_some() || job.no_net().is_some() || axes.iter().any(removes_net) {
                    return task_model(&plan);
                }
                let made = stage_net(&job).map_err(|problems| problems.to_string())?;
                let program = compile(&made.net).map_err(|errors| errors.to_string())?;
                let spread = Spread::of(RunFactor::new(&plan.run, job.error()));
                Ok(Model { spread, deadline_s: plan.job.deadline_s, ..NetModel::new(program).into() })
            }
            Kind::Net { net, goal, forms, .. } => {
                let form = |fold: bool| forms[usize::from(fold)].get_or_init(|| RatedNet::new(net, goal, fold));
                let model = form(fold).model(axes, point);
                // if a net does not compile, the report names the transitions of the unfolded net
                let model = if fold { model.or_else(|_| form(false).model(axes, point)) } else { model };
                model.map(Model::from)
            }
        }
    }

    /// Returns the value at a point of an axis, of a key of the job plan or of a rate parameter, if it is a number.
    pub fn number(&self, name: &str, axes: &[Axis], point: &Point) -> Option<f64> {
        self.values(axes, point, &[name]).pop()?.as_ref().and_then(as_number)
    }

    /// Returns the number of workers or executors of the job at a point; none for a net.
    pub fn nodes(&self, axes: &[Axis], point: &Point) -> Option<f64> {
        match &self.kind {
            Kind::Job { table, .. } => {
                let cluster = Table::from_iter([("cluster".to_owned(), table.get("cluster")?.clone())]);
                let own = |axis: &Axis| axis.key.trim().starts_with("cluster");
                let cluster = table_at(&cluster, axes, point, own);
                let nodes = cluster.get("cluster")?.get("node")?.as_array()?;
                Some(nodes.iter().filter_map(|node| node.get("count")?.as_integer()).sum::<i64>() as f64)
            }
            Kind::Stages { .. } => self.number("job.executors", axes, point),
            Kind::Net { .. } => None,
        }
    }

    /// Returns the values of axes, keys of the job plan and rate parameters at a point.
    fn values(&self, axes: &[Axis], point: &Point, names: &[&str]) -> Vec<Option<Value>> {
        let of_axis = |name: &str| {
            let which = axes.iter().position(|axis| axis.key == name || axis.title() == name)?;
            point.values[which].clone().or_else(|| self.own_value(&axes[which].key))
        };
        let changed = match &self.kind {
            Kind::Job { table, .. } | Kind::Stages { table } => Some(table_at(table, axes, point, |_| true)),
            Kind::Net { .. } => None,
        };
        let by_path = |name: &str| match &changed {
            Some(table) => path::get(table, name).cloned(),
            None => self.own_value(name),
        };
        names.iter().map(|name| of_axis(name).or_else(|| by_path(name))).collect()
    }

    /// Returns the value of a key of the job plan or of a rate parameter at the base.
    fn own_value(&self, name: &str) -> Option<Value> {
        match &self.kind {
            Kind::Job { table, .. } | Kind::Stages { table } => path::get(table, name).cloned(),
            Kind::Net { net, .. } => {
                let parameter = net.parameters().iter().find(|parameter| parameter.name == name)?;
                parameter.value.as_number().map(Value::Float)
            }
        }
    }

    /// Returns the number that an axis has at the base. For a key with `[*]`, all entries must have the same number.
    pub(crate) fn base_number(&self, key: &str) -> Option<f64> {
        match &self.kind {
            Kind::Job { table, .. } | Kind::Stages { table } => path::get(table, key).and_then(as_number),
            Kind::Net { net, .. } => {
                let parameter = net.parameters().iter().find(|parameter| parameter.name == key)?;
                lower(net, &parameter.value).as_constant()
            }
        }
    }
}

/// Returns the model of a job of stages that is simulated task by task.
fn task_model(plan: &StagePlan) -> Result<Model, String> {
    let tasks = TaskModel::new(plan).map_err(|error| error.to_string())?;
    let spread = Spread::of(RunFactor::new(&plan.run, tasks.error()));
    Ok(Model { runs: Runs::Tasks(Box::new(tasks)), spread, deadline_s: plan.job.deadline_s })
}

/// Returns true for an axis along which a MapReduce job may have to run task by task. All points of a study must have the same random numbers, so all of them
/// do then.
fn needs_tasks(axis: &Axis, kinds: usize) -> bool {
    const KEYS: [&str; 4] = ["gpus", "host_cores", "disk", "network"];
    let key = axis.key.trim();
    let name = key.rsplit('.').next().unwrap_or_default();
    // kinds of workers may be alike at some points and differ at others
    let makes_kinds = kinds > 1 && !["count", "map_slots", "reduce_slots"].contains(&name);
    key.starts_with("cluster.node[") && (makes_kinds || KEYS.contains(&name))
}

/// Returns true for an axis along which a job of stages may lose its net. All points of a study must have the same random numbers, so
/// none of them runs as a net then.
fn removes_net(axis: &Axis) -> bool {
    const KEYS: [&str; 4] = ["stragglers", "speculation", "job.gpus_per_executor", "job.concurrent_gpu_tasks"];
    KEYS.iter().any(|key| axis.key.trim().starts_with(key))
}
