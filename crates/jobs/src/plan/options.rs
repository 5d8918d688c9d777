//! Options of a planned job: an input, split, cluster or deadline different from the plan's.
//!
//! Defines the options, and the plans that each one applies to. Each plan checks the values.

use std::fmt;

use crate::mapreduce;
use crate::plan::JobPlan;
use crate::plan::data_size::{DataSize, InputSize};
use crate::plan::problem::{PlanError, PlanProblem, ProblemKind};
use crate::stages::{SpeculativeCopies, StagePlan};

/// An option of a planned job, replacing the plan's value.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum PlanOption {
    /// Input of the job.
    InputSize(InputSize),
    /// Input of one map task.
    SplitSize(DataSize),
    /// Number of reduce tasks.
    Reduces(u64),
    /// Number of workers of a kind; without a name, of the only kind.
    Workers(Option<String>, u64),
    /// Map tasks that a worker runs at a time.
    MapSlots(u64),
    /// Reduce tasks that a worker runs at a time.
    ReduceSlots(u64),
    /// GPUs of a worker that tasks wait for.
    Gpus(u64),
    /// Map tasks that may hold the GPUs of a worker at a time, 0 for every task.
    GpuPermits(u64),
    /// True if tasks wait for slots.
    Slots(bool),
    /// Number of executors.
    Executors(u64),
    /// Tasks that an executor runs at a time.
    Cores(u64),
    /// GPUs of an executor that tasks wait for.
    GpusOfExecutor(u64),
    /// Tasks that may hold a GPU at a time.
    ConcurrentGpuTasks(u64),
    /// Hosts shared by the executors.
    Hosts(u64),
    /// Partitions of shuffles.
    Partitions(u64),
    /// Deadline of the job \[s\].
    Deadline(f64),
    /// Deadline by the clock \[s of a day in UTC\]: only a run in progress has a start from which it counts.
    DeadlineAt(f64),
    /// Tasks that slow nodes lengthen.
    Stragglers(mapreduce::Stragglers),
    /// Speculative copies.
    Speculation(Copies),
}

/// Speculative copies, by the kind of plan that has them.
#[derive(Clone, Debug, PartialEq)]
pub enum Copies {
    /// No copies, for any plan.
    Off,
    /// Spark's, for a plan of stages.
    Spark(SpeculativeCopies),
    /// The copies of a detector, for a plan of phases.
    Detector(mapreduce::Speculation),
}

impl PlanOption {
    /// Returns the name on the command line.
    pub fn name(&self) -> &'static str {
        match self {
            Self::InputSize(_) => "--input-size",
            Self::SplitSize(_) => "--split-size",
            Self::Reduces(_) => "--reduces",
            Self::Workers(..) => "--workers",
            Self::MapSlots(_) => "--map-slots",
            Self::ReduceSlots(_) => "--reduce-slots",
            Self::Gpus(_) => "--gpus-per-worker",
            Self::GpuPermits(_) => "--gpu-permits",
            Self::Slots(_) => "--slots",
            Self::Executors(_) => "--executors",
            Self::Cores(_) => "--cores",
            Self::GpusOfExecutor(_) => "--gpus-per-executor",
            Self::ConcurrentGpuTasks(_) => "--concurrent-gpu-tasks",
            Self::Hosts(_) => "--hosts",
            Self::Partitions(_) => "--partitions",
            Self::Deadline(_) | Self::DeadlineAt(_) => "--deadline",
            Self::Stragglers(_) => "--stragglers",
            Self::Speculation(_) => "--speculation",
        }
    }

    /// Returns the problem that the option has no meaning for a subject, such as `a net`; `hint` lists the applicable options.
    pub fn without_meaning(&self, subject: &str, hint: &str) -> PlanProblem {
        self.problem(format!("has no meaning for {subject}"), hint)
    }

    fn problem(&self, message: impl fmt::Display, hint: impl Into<String>) -> PlanProblem {
        let message = format!("`{}` {message}", self.name());
        PlanProblem { hint: Some(hint.into()), ..PlanProblem::new(ProblemKind::Option, self.name(), message) }
    }

    /// Puts the value into a plan, without checking it.
    fn apply(&self, plan: &mut JobPlan) -> Result<(), PlanProblem> {
        let subject = format!("a plan of {}", plan.described_by());
        let without = |hint: &str| self.without_meaning(&subject, hint);
        if let Self::DeadlineAt(_) = self {
            let message = "is a time of the day, which only a running job can meet";
            return Err(self.problem(message, "state a time from the start of the job, such as `--deadline 90m`"));
        }
        match plan {
            JobPlan::MapReduce(plan) => self.apply_to_phases(plan, without),
            JobPlan::Stages(plan) => self.apply_to_stages(plan, without),
            JobPlan::Tasks(plan) => match *self {
                Self::Deadline(seconds) => {
                    plan.deadline_s = Some(seconds);
                    Ok(())
                }
                _ => Err(without("set the keys of `[[job]]` and `[[cluster.node]]`")),
            },
        }
    }

    fn apply_to_phases(
        &self,
        plan: &mut mapreduce::Plan,
        without: impl Fn(&'static str) -> PlanProblem,
    ) -> Result<(), PlanProblem> {
        let given = plan.phases.as_ref();
        let node = &mut plan.cluster.node;
        match *self {
            Self::InputSize(_) if given.is_some_and(|phases| phases.maps.is_some()) => {
                return Err(self.problem(
                    "has no meaning if the plan states the number of map tasks",
                    "change the key `phases.maps` instead",
                ));
            }
            Self::SplitSize(_) if given.is_some_and(|phases| phases.by_size.is_none()) => {
                return Err(self.problem(
                    "has no meaning for a plan that states the means of the phases",
                    "to change the number of map tasks, use `--input-size`",
                ));
            }
            Self::InputSize(size) => plan.job.input_mb = size.of(plan.job.input_mb),
            Self::SplitSize(size) => plan.job.split_mb = size.mb(),
            Self::Reduces(count) => match plan.phases.as_mut().and_then(|phases| phases.reduces.as_mut()) {
                Some(reduces) => *reduces = count,
                None => plan.job.reduces = count,
            },
            Self::Workers(ref kind, count) => self.kind_of_worker(node, kind.as_deref())?.count = count,
            Self::MapSlots(count) => {
                node.iter_mut().for_each(|node| node.map_slots = count);
                plan.model.slots = true;
            }
            Self::ReduceSlots(count) => {
                node.iter_mut().for_each(|node| node.reduce_slots = count);
                plan.model.slots = true;
            }
            Self::Gpus(count) => node.iter_mut().for_each(|node| node.set_gpus(count)),
            Self::GpuPermits(count) => node.iter_mut().for_each(|node| {
                node.gpus.get_or_insert(1);
                node.gpu_permits = Some(count);
            }),
            Self::Slots(slots) => plan.model.slots = slots,
            Self::Deadline(seconds) => plan.job.deadline_s = Some(seconds),
            Self::Stragglers(ref stragglers) => plan.stragglers = Some(stragglers.clone()),
            Self::Speculation(Copies::Off) => plan.speculation = None,
            Self::Speculation(Copies::Detector(ref detector)) => plan.speculation = Some(detector.clone()),
            Self::Speculation(Copies::Spark(_)) => {
                return Err(self.problem(
                    "with Spark's settings needs a plan of stages, which `tailspn tool fit LOG` writes",
                    "for this plan, specify a detector, such as r=0.6,p=0.8,dl=0.4",
                ));
            }
            Self::Executors(_) => return Err(without("use `--workers`")),
            Self::Cores(_) => return Err(without("use `--map-slots` and `--reduce-slots`")),
            Self::GpusOfExecutor(_) | Self::ConcurrentGpuTasks(_) => return Err(without("use `--gpus-per-worker`")),
            Self::Hosts(_) => return Err(without("its workers are its hosts; use `--workers`")),
            Self::Partitions(_) => return Err(without("use `--reduces`")),
            Self::DeadlineAt(_) => {}
        }
        Ok(())
    }

    /// Returns the kind of worker with a name; without a name, the only kind.
    fn kind_of_worker<'n>(
        &self,
        nodes: &'n mut [mapreduce::params::Node],
        kind: Option<&str>,
    ) -> Result<&'n mut mapreduce::params::Node, PlanProblem> {
        let names: Vec<String> = nodes.iter().map(|node| format!("`{}`", node.name)).collect();
        let fits = |node: &&mut mapreduce::params::Node| kind.is_none_or(|kind| node.name == kind);
        let mut found = nodes.iter_mut().filter(fits);
        match (found.next(), found.next(), kind) {
            (Some(node), None, _) => Ok(node),
            (_, None, Some(kind)) => {
                let message = format!("names a kind of worker that the plan does not have: `{kind}`");
                Err(self.problem(message, format!("it has {}", names.join(", "))))
            }
            (_, _, Some(kind)) => Err(self.problem(
                format!("is ambiguous: several kinds of workers have the name `{kind}`"),
                "give each `[[cluster.node]]` a unique `name`",
            )),
            (_, _, None) => Err(self.problem(
                format!(
                    "needs a kind of worker, such as {}=8",
                    names.first().map_or("", |name| name.trim_matches('`'))
                ),
                format!("the plan has {}", names.join(", ")),
            )),
        }
    }

    /// Returns the copies of a plan of stages, which Spark starts.
    fn spark_copies(&self, copies: &Copies) -> Result<Option<SpeculativeCopies>, PlanProblem> {
        match copies {
            Copies::Off => Ok(None),
            Copies::Spark(copies) => Ok(Some(*copies)),
            Copies::Detector(_) => Err(self.problem(
                "with a detector has no meaning for a plan of `[[stage]]`",
                "take Spark's settings, such as spark4",
            )),
        }
    }

    fn apply_to_stages(
        &self,
        plan: &mut StagePlan,
        without: impl Fn(&'static str) -> PlanProblem,
    ) -> Result<(), PlanProblem> {
        let whole = |count: u64| u32::try_from(count).unwrap_or(u32::MAX);
        let job = &mut plan.job;
        match *self {
            Self::InputSize(InputSize::Data(_)) if job.input_is_relative => {
                return Err(self.problem(
                    "has no meaning for this plan: the log does not record the size of its input",
                    "give a multiple of the logged run's input, such as `--input-size 3x`, or state the logged size with `--log-input-size`",
                ));
            }
            Self::InputSize(size) => {
                let input_mb = size.of(job.input_mb);
                // an input of nearly the logged size may give the same number of tasks
                if ![1.0, 2.0].into_iter().any(|times| plan.depends_on_input(times * input_mb)) {
                    return Err(self.problem(
                        "has no effect on this plan",
                        "neither the number nor the time of any stage's tasks depends on the input; runs of other sizes would show how they grow",
                    ));
                }
                plan.job.input_mb = input_mb;
            }
            Self::Executors(count) => job.executors = whole(count),
            Self::Cores(count) => job.cores = whole(count),
            Self::GpusOfExecutor(_) | Self::ConcurrentGpuTasks(_)
                if plan.stage.iter().all(|stage| stage.gpu == 0.0) =>
            {
                return Err(
                    self.problem("has no meaning for this plan", "no stage has `gpu` above 0, so no task uses a GPU")
                );
            }
            Self::GpusOfExecutor(count) => {
                job.gpus_per_executor = Some(whole(count));
                job.concurrent_gpu_tasks.get_or_insert(1);
            }
            Self::ConcurrentGpuTasks(count) => {
                job.concurrent_gpu_tasks = Some(whole(count));
                job.gpus_per_executor.get_or_insert(1);
            }
            Self::Hosts(count) => job.hosts = Some(whole(count)),
            Self::Partitions(_) if plan.stage.iter().all(|stage| !stage.uses_partitions) => {
                return Err(self.problem("has no meaning for this plan", "no stage has `uses_partitions = true`"));
            }
            Self::Partitions(count) => job.partitions = Some(whole(count)),
            Self::Deadline(seconds) => job.deadline_s = Some(seconds),
            Self::Stragglers(ref stragglers) => plan.stragglers = Some(stragglers.clone()),
            Self::Speculation(ref copies) => plan.speculation = self.spark_copies(copies)?,
            Self::SplitSize(_) => return Err(without("`tasks.per_mb` of a `[[stage]]` sets its number of splits")),
            Self::Reduces(_) => return Err(without("use `--partitions`")),
            Self::Workers(..) => return Err(without("use `--executors`")),
            Self::MapSlots(_) | Self::ReduceSlots(_) => return Err(without("use `--cores`")),
            Self::Gpus(_) | Self::GpuPermits(_) => return Err(without("use `--gpus-per-executor`")),
            Self::Slots(_) => return Err(without("its tasks always wait for slots; use `--executors` and `--cores`")),
            Self::DeadlineAt(_) => {}
        }
        Ok(())
    }
}

/// A plan with options; the first inapplicable option is stored as an error until the plan is requested.
#[derive(Clone, Debug, PartialEq)]
pub struct Planned(Result<JobPlan, PlanError>);

/// A planned job: other sizes, another cluster, a deadline.
///
/// ```
/// use tailspn_jobs::plan::{JobPlan, Planning};
///
/// let plan = JobPlan::default().input_size("20GB".parse()?).workers(8).deadline(120.0).plan()?;
/// assert!(matches!(plan, JobPlan::MapReduce(plan) if plan.maps() == 320 && plan.workers() == 8));
/// let error = JobPlan::default().executors(3).plan().unwrap_err();
/// assert_eq!(error.to_string(), "`--executors` has no meaning for a plan of `[profile]`; use `--workers`");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait Planning: Sized {
    /// Returns the plan in a form that accepts options.
    fn planned(self) -> Planned;

    /// Returns the plan with all options, checked.
    ///
    /// # Errors
    ///
    /// The first option that does not apply to the plan, or all values out of range.
    fn plan(self) -> Result<JobPlan, PlanError> {
        let plan = self.planned().0?;
        let problems = plan.problems();
        if problems.is_empty() { Ok(plan) } else { Err(PlanError { problems }) }
    }

    /// Adds an option.
    #[must_use]
    fn with(self, option: &PlanOption) -> Planned {
        let changed = |mut plan: JobPlan| option.apply(&mut plan).map(|()| plan).map_err(PlanError::from);
        Planned(self.planned().0.and_then(changed))
    }

    /// Adds several options, in their order.
    #[must_use]
    fn with_all<'o>(self, options: impl IntoIterator<Item = &'o PlanOption>) -> Planned {
        options.into_iter().fold(self.planned(), Planned::with)
    }

    /// Sets the input of the job.
    #[must_use]
    fn input_size(self, size: InputSize) -> Planned {
        self.with(&PlanOption::InputSize(size))
    }

    /// Sets the input of one map task.
    #[must_use]
    fn split_size(self, size: DataSize) -> Planned {
        self.with(&PlanOption::SplitSize(size))
    }

    /// Sets the number of reduce tasks.
    #[must_use]
    fn reduces(self, count: u64) -> Planned {
        self.with(&PlanOption::Reduces(count))
    }

    /// Sets the number of workers of the only kind.
    #[must_use]
    fn workers(self, count: u64) -> Planned {
        self.with(&PlanOption::Workers(None, count))
    }

    /// Sets the number of workers of the kind with a name.
    #[must_use]
    fn workers_of(self, kind: &str, count: u64) -> Planned {
        self.with(&PlanOption::Workers(Some(kind.to_owned()), count))
    }

    /// Sets the map tasks that a worker runs at a time; tasks wait for slots.
    #[must_use]
    fn map_slots(self, count: u64) -> Planned {
        self.with(&PlanOption::MapSlots(count))
    }

    /// Sets the reduce tasks that a worker runs at a time; tasks wait for slots.
    #[must_use]
    fn reduce_slots(self, count: u64) -> Planned {
        self.with(&PlanOption::ReduceSlots(count))
    }

    /// Sets the GPUs of each worker that tasks wait for.
    #[must_use]
    fn gpus_per_worker(self, count: u64) -> Planned {
        self.with(&PlanOption::Gpus(count))
    }

    /// Sets whether tasks wait for slots.
    #[must_use]
    fn slots(self, wait: bool) -> Planned {
        self.with(&PlanOption::Slots(wait))
    }

    /// Sets the executors of a job of stages.
    #[must_use]
    fn executors(self, count: u64) -> Planned {
        self.with(&PlanOption::Executors(count))
    }

    /// Sets the tasks that an executor runs at a time.
    #[must_use]
    fn cores(self, count: u64) -> Planned {
        self.with(&PlanOption::Cores(count))
    }

    /// Sets the GPUs of each executor of a job of stages.
    #[must_use]
    fn gpus_per_executor(self, count: u64) -> Planned {
        self.with(&PlanOption::GpusOfExecutor(count))
    }

    /// Sets the tasks that may hold a GPU at a time.
    #[must_use]
    fn concurrent_gpu_tasks(self, count: u64) -> Planned {
        self.with(&PlanOption::ConcurrentGpuTasks(count))
    }

    /// Sets the number of hosts shared by the executors.
    #[must_use]
    fn hosts(self, count: u64) -> Planned {
        self.with(&PlanOption::Hosts(count))
    }

    /// Sets the partitions of shuffles of a job of stages.
    #[must_use]
    fn partitions(self, count: u64) -> Planned {
        self.with(&PlanOption::Partitions(count))
    }

    /// Sets the deadline of the job \[s\].
    #[must_use]
    fn deadline(self, seconds: f64) -> Planned {
        self.with(&PlanOption::Deadline(seconds))
    }
}

impl Planning for JobPlan {
    fn planned(self) -> Planned {
        Planned(Ok(self))
    }
}

impl Planning for Planned {
    fn planned(self) -> Planned {
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STAGES: &str = "[job]\ninput_mb = 64\nexecutors = 2\ncores = 1\n\
                          [[stage]]\ntasks = { per_mb = 0.0625 }\ncold = { fixed_s = 3 }\nwarm = { fixed_s = 1 }\n";
    const KINDS: &str = "[[cluster.node]]\nname = \"old\"\n[[cluster.node]]\nname = \"new\"\n";

    fn plan(text: &str) -> JobPlan {
        JobPlan::from_toml(text).unwrap()
    }

    fn phases(planned: Planned) -> mapreduce::Plan {
        match planned.plan().unwrap() {
            JobPlan::MapReduce(plan) => *plan,
            other => panic!("{other:?}"),
        }
    }

    fn refused(planned: Planned) -> String {
        planned.plan().unwrap_err().to_string()
    }

    #[test]
    fn each_option_changes_its_key() {
        let size = |text: &str| text.parse::<DataSize>().unwrap();
        let base = || JobPlan::default().planned();
        assert_eq!(phases(base().input_size(size("20GB").into())).maps(), 320);
        assert_eq!(phases(base().split_size(size("128MB"))).maps(), 80);
        assert_eq!(phases(base().reduces(7)).reduces(), 7);
        assert_eq!(phases(base().workers(9)).workers(), 9);
        let made = phases(base().map_slots(3).reduce_slots(1));
        assert_eq!((made.map_slots(), made.reduce_slots(), made.model.slots), (12, 4, true));
        assert_eq!(phases(base().gpus_per_worker(2)).cluster.node[0].gpus, Some(2));
        assert!(phases(base().slots(true)).model.slots && !phases(base().slots(false)).model.slots);
        assert_eq!(phases(base().deadline(85.0)).job.deadline_s, Some(85.0));
        let JobPlan::Stages(made) = plan(&STAGES.replace("[[stage]]", "[[stage]]\nuses_partitions = true"))
            .input_size(size("1GB").into())
            .executors(4)
            .cores(2)
            .partitions(9)
            .deadline(5.0)
            .plan()
            .unwrap()
        else {
            panic!("a plan of stages")
        };
        let job = made.job;
        assert_eq!((job.input_mb, job.executors, job.cores), (1024.0, 4, 2));
        assert_eq!((job.partitions, job.deadline_s), (Some(9), Some(5.0)));
    }

    /// A multiple of the plan's input; and a size on which nothing depends.
    #[test]
    fn inputs_may_be_relative_and_must_matter() {
        let times = |times: f64| InputSize::Times(times);
        assert_eq!(phases(JobPlan::default().input_size(times(3.0))).job.input_mb, 3.0 * 10_240.0);
        let JobPlan::Stages(made) = plan(STAGES).input_size(times(0.5)).plan().unwrap() else { panic!("stages") };
        let JobPlan::Stages(own) = plan(STAGES).plan().unwrap() else { panic!("stages") };
        assert!((made.job.input_mb - 0.5 * own.job.input_mb).abs() < 1e-9);
        let fixed = "[job]\ninput_mb = 64\nexecutors = 2\ncores = 1\n[[stage]]\ntasks = { fixed = 8 }\ndata_mb = { per_mb = 1 }\n\
                     cold = { fixed_s = 1 }\nwarm = { fixed_s = 1 }\n";
        let refused = refused(plan(fixed).input_size(times(10.0)));
        assert!(refused.contains("`--input-size` has no effect on this plan"), "{refused}");
        assert!(plan(fixed).input_size(times(1.0)).plan().is_ok());
    }

    #[test]
    fn workers_of_several_kinds_are_named() {
        assert_eq!(phases(plan(KINDS).workers_of("new", 5)).cluster.node[1].count, 5);
        assert_eq!(
            refused(plan(KINDS).workers(5)),
            "`--workers` needs a kind of worker, such as old=8; the plan has `old`, `new`"
        );
        assert_eq!(
            refused(plan(KINDS).workers_of("x", 5)),
            "`--workers` names a kind of worker that the plan does not have: `x`; it has `old`, `new`"
        );
        assert!(refused(plan("[[cluster.node]]\n[[cluster.node]]\n").workers_of("worker", 5)).contains("ambiguous"));
    }

    #[test]
    fn options_without_a_meaning_name_those_that_have_one() {
        let size: DataSize = "1GB".parse().unwrap();
        let given = "[phases]\nmeans_s = [1, 1, 1, 1, 1, 1, 1, 1, 1]\n";
        let fixed = format!("{given}maps = 3\nreduces = 2\n");
        for (planned, part) in [
            (JobPlan::default().executors(2), "of `[profile]`; use `--workers`"),
            (JobPlan::default().cores(2), "use `--map-slots`"),
            (JobPlan::default().partitions(2), "use `--reduces`"),
            (plan(STAGES).reduces(2), "of `[[stage]]`; use `--partitions`"),
            (plan(STAGES).workers(2), "use `--executors`"),
            (plan(STAGES).map_slots(2), "use `--cores`"),
            (plan(STAGES).slots(false), "always wait for slots"),
            (plan(STAGES).split_size(size), "`tasks.per_mb`"),
            (plan(STAGES).partitions(2), "no stage has `uses_partitions = true`"),
            (plan(&fixed).input_size(size.into()), "`phases.maps`"),
            (plan(given).split_size(size), "states the means of the phases"),
            (plan("[[job]]\n").workers(3), "`[[cluster.node]]`"),
        ] {
            let error = planned.plan().unwrap_err();
            assert!(error.to_string().contains(part), "{part}: {error}");
            assert_eq!(error.problems[0].kind, ProblemKind::Option);
        }
        assert_eq!(phases(plan(given).input_size(size.into())).maps(), 16);
        assert_eq!(phases(plan(&fixed).reduces(7)).reduces(), 7);
    }

    #[test]
    fn values_out_of_range_are_all_reported() {
        let planned = JobPlan::default().workers(0).map_slots(0).gpus_per_worker(u64::MAX).deadline(0.0);
        let problems = refused(planned);
        for key in ["job.deadline_s", "cluster.node[0].count", "cluster.node[0].gpus"] {
            assert!(problems.contains(key), "{key}: {problems}");
        }
        assert!(refused(JobPlan::default().deadline(f64::NAN)).contains("`job.deadline_s`: NaN is not"));
        assert!(refused(plan("[[job]]\n").deadline(-1.0)).contains("`deadline_s`: -1 is not"));
    }
}
