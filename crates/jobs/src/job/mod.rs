//! A job as stages of tasks on machines: what a plan, a fit or a recorded log becomes before it runs task by task.
//!
//! ```text
//! [profile], [phases] ──▶ mapreduce::job_of ─┐
//! [[stage]], fits ──▶ stages::job_of ────────┼─▶ Job ──▶ run::JobRuns       (no policy)
//! logs ──▶ fit::replay ──────────────────────┘      └──▶ cluster::Experiment (policies, copies)
//! ```
//!
//! A task's time is the sum of its phases. Each phase has a mean on each machine and a distribution; nothing is a list of typical values, except the
//! ratios of recorded attempts.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::mapreduce::{LawTable, Stragglers};

/// A job, ready to run.
#[derive(Clone, Debug, PartialEq)]
pub struct Job {
    /// The machines.
    pub machines: Vec<Machine>,
    /// The stages, each after the stages it waits for.
    pub stages: Vec<JobStage>,
    /// Time from the end of the last task to the end of the job.
    pub end: Delay,
}

/// A time between stages, without tasks: a set-up, a shuffle, the end of the job.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Delay {
    /// Mean \[s\].
    pub mean_s: f64,
    /// Distribution around the mean.
    pub varies: Varies,
}

/// Distribution of a [`Delay`] around its mean.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Varies {
    /// Always the mean.
    #[default]
    Not,
    /// The time of a driver: a standard deviation of half the mean (Erlang, four stages).
    Driver,
    /// A distribution with mean 1.
    Law(Arc<LawTable>),
}

/// A machine.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Machine {
    /// Tasks that may run at a time, >= 1.
    pub slots: u32,
    /// Number of tasks that compute at full speed, above 0; if more tasks compute, they share the cores.
    pub cores: f64,
    /// True if the tasks share the disk, of which one task at a time can use the full rate.
    pub shares_disk: bool,
    /// True if the tasks share the network, of which one task at a time can use the full rate.
    pub shares_network: bool,
    /// Time from which the machine is available \[s\].
    pub from_s: f64,
    /// Tasks that may hold a GPU at a time; none if no task waits for one.
    pub permits: Option<u32>,
    /// Number of GPUs, which the tasks that compute on them share; none if no task slows another one down there.
    pub shared_gpus: Option<u32>,
}

impl Machine {
    /// Returns a machine whose tasks run at full speed, from the start.
    pub fn with_slots(slots: u32) -> Self {
        Self {
            slots,
            cores: f64::from(slots),
            shares_disk: false,
            shares_network: false,
            from_s: 0.0,
            permits: None,
            shared_gpus: None,
        }
    }

    /// Returns true if its tasks never slow each other down.
    pub(crate) fn is_roomy(&self) -> bool {
        let is_alone = !self.shares_disk && !self.shares_network && self.shared_gpus.is_none();
        self.cores >= self.slots.into() && is_alone
    }
}

/// A stage, whose tasks may run simultaneously.
#[derive(Clone, Debug, PartialEq)]
pub struct JobStage {
    /// Indices of the stages that must have finished before, each less than this stage's index.
    pub after: Vec<usize>,
    /// Time from the end of these stages to the first launch.
    pub setup: Delay,
    /// If the set-up overlaps with the stages before: the number of their ended tasks, >= 1, from which it runs. It has a part for each of these
    /// tasks, with equal means, one after the other, and none before its task has ended: the shuffle of Hadoop, which copies the outputs of maps.
    pub overlap: Option<u32>,
    /// Tasks, in the order of their launch.
    pub tasks: Tasks,
    /// Distribution of an attempt's time.
    pub spread: Spread,
    /// Tasks of the stage that may run at a time on each machine, if different from the machine's slots.
    pub slots: Option<Vec<u32>>,
    /// Attempts that are slow independently of their machines.
    pub stragglers: Option<Stragglers>,
    /// Steps of a task, with the parts of the machine that each step uses; empty if a task needs a core all the time, and nothing else.
    pub steps: Steps,
}

/// The steps of a stage's tasks, in their order: parts of phases.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Steps {
    /// The steps; those of a phase follow each other, in the order of the phases.
    pub steps: Vec<Step>,
    /// Share of each step in the time of its phase, on each machine: the steps of the first machine, then of the next. If there are steps of one
    /// machine only, all machines are alike.
    pub shares: Vec<f64>,
    /// The first tasks of the stage, if they take longer: each slot starts with one of them. Only for machines that are alike.
    pub first: Option<FirstTasks>,
}

/// The first tasks of a stage, which find caches cold and memory not yet used.
#[derive(Clone, Debug, PartialEq)]
pub struct FirstTasks {
    /// Their number.
    pub tasks: u32,
    /// Mean of each phase, relative to the usual time of the stage's tasks.
    pub means: Vec<f64>,
}

/// A step of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// The step's phase.
    pub phase: usize,
    /// Part of the machine that the step uses.
    pub uses: Uses,
    /// True if the task holds a GPU. From one such step to the next, it keeps the GPU.
    pub on_gpu: bool,
}

/// A part of a worker that tasks may share.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Uses {
    /// No part that tasks share.
    Nothing,
    /// A core.
    Cores,
    /// The disk.
    Disk,
    /// The network.
    Network,
    /// The GPUs, while it computes on one of them.
    Gpu,
}

impl Uses {
    /// Returns the place of what a step uses among the parts of its machine that tasks may share.
    pub(crate) fn part(self) -> Option<usize> {
        match self {
            Self::Nothing => None,
            Self::Cores => Some(0),
            Self::Disk => Some(1),
            Self::Network => Some(2),
            Self::Gpu => Some(3),
        }
    }
}

impl Steps {
    /// Returns the share of each step in the time of its phase on a machine.
    pub(crate) fn shares_on(&self, machine: usize) -> &[f64] {
        let steps = self.steps.len();
        if self.shares.len() == steps { &self.shares } else { &self.shares[machine * steps..][..steps] }
    }

    /// Returns true if tasks hold a GPU for a time.
    pub(crate) fn use_gpus(&self) -> bool {
        self.steps.iter().any(|step| step.on_gpu)
    }
}

/// The tasks of a stage.
#[derive(Clone, Debug, PartialEq)]
pub enum Tasks {
    /// Groups of tasks that differ by chance only.
    Groups(Vec<TaskGroup>),
    /// Recorded tasks.
    Recorded(Vec<RecordedTask>),
}

/// Tasks with the same distribution.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TaskGroup {
    /// Number, >= 1.
    pub tasks: u32,
    /// Mean time of an attempt on a usual machine \[s\].
    pub usual_s: f64,
    /// Size of the input of each task, 1 on average.
    pub size: f64,
}

/// A task of a log.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RecordedTask {
    /// Home of the first attempt, used if that machine has room, and the work of the attempt there \[s\].
    pub first: (usize, f64),
    /// True if the work of the first attempt is a lower bound: a log does not contain the work of an attempt that a copy
    /// overtook.
    pub at_least: bool,
    /// Work of a usual attempt on a usual machine \[s\], > 0.
    pub usual_s: f64,
    /// Size of its input, 1 on average.
    pub size: f64,
}

impl Tasks {
    /// Returns the number of tasks.
    pub fn count(&self) -> u32 {
        match self {
            Self::Groups(groups) => groups.iter().map(|group| group.tasks).sum(),
            // `as` is fine: a log with more tasks is refused
            Self::Recorded(tasks) => tasks.len() as u32,
        }
    }

    /// Returns the usual time \[s\] and the size of each task.
    pub fn usual(&self) -> impl Iterator<Item = (f64, f64)> + '_ {
        let (groups, recorded): (&[TaskGroup], &[RecordedTask]) = match self {
            Self::Groups(groups) => (groups, &[]),
            Self::Recorded(tasks) => (&[], tasks),
        };
        let of_group = |group: &TaskGroup| std::iter::repeat_n((group.usual_s, group.size), group.tasks as usize);
        groups.iter().flat_map(of_group).chain(recorded.iter().map(|task| (task.usual_s, task.size)))
    }

    /// Returns the usual time of a task, by its number \[s\].
    pub(crate) fn usual_of(&self, number: u32) -> f64 {
        match self {
            Self::Groups(groups) => {
                let mut left = number;
                let found = groups.iter().find(|group| {
                    let here = left < group.tasks;
                    left = left.saturating_sub(group.tasks);
                    here
                });
                found.map_or(0.0, |group| group.usual_s)
            }
            Self::Recorded(tasks) => tasks[number as usize].usual_s,
        }
    }

    /// Returns the recorded tasks; empty for other tasks.
    pub fn recorded(&self) -> &[RecordedTask] {
        match self {
            Self::Groups(_) => &[],
            Self::Recorded(tasks) => tasks,
        }
    }

    /// Returns the longest usual time \[s\].
    fn longest_s(&self) -> f64 {
        match self {
            Self::Groups(groups) => groups.iter().map(|group| group.usual_s).fold(0.0, f64::max),
            Self::Recorded(tasks) => tasks.iter().map(|task| task.usual_s).fold(0.0, f64::max),
        }
    }
}

/// The distribution of an attempt's time, relative to the usual time of its task.
#[derive(Clone, Debug, PartialEq)]
pub struct Spread {
    /// The distributions of the phases, which are independent; 1 to [`MOST_PHASES`](crate::run::MOST_PHASES).
    pub phases: Vec<Phase>,
    /// Mean of each phase on each machine, relative to the usual time: the phases of the first machine, then of the next. If there are phases of
    /// one machine only, all machines are alike.
    pub means: Vec<f64>,
}

/// The distribution of a phase's time around its mean.
#[derive(Clone, Debug, PartialEq)]
pub enum Phase {
    /// A distribution with mean 1.
    Law(Arc<LawTable>),
    /// Recorded ratios, each equally likely; at least one.
    Recorded(Vec<f64>),
}

impl Phase {
    /// Returns the value that a random word draws.
    #[inline]
    pub(crate) fn draw(&self, word: u32) -> f64 {
        match self {
            Self::Law(law) => law.draw(word),
            Self::Recorded(ratios) => ratios[((u64::from(word) * ratios.len() as u64) >> 32) as usize],
        }
    }
}

impl Spread {
    /// Returns the spread of tasks with one phase, on machines that are alike.
    pub fn alike(law: Arc<LawTable>) -> Self {
        Self { phases: vec![Phase::Law(law)], means: vec![1.0] }
    }

    /// Returns the means of the phases on a machine, relative to the usual time.
    #[inline]
    pub(crate) fn means_on(&self, machine: usize) -> &[f64] {
        let phases = self.phases.len();
        if self.are_alike() { &self.means } else { &self.means[machine * phases..][..phases] }
    }

    /// Returns true if the stage's tasks take the same time on all machines.
    pub(crate) fn are_alike(&self) -> bool {
        self.means.len() == self.phases.len()
    }

    /// Returns the distribution of a task with a single phase that is not recorded.
    pub(crate) fn only_law(&self) -> Option<&LawTable> {
        match &self.phases[..] {
            [Phase::Law(law)] => Some(law),
            _ => None,
        }
    }

    /// Returns the mean time of a task on a machine, relative to the usual time.
    pub fn slowness(&self, machine: usize) -> f64 {
        self.means_on(machine).iter().sum()
    }
}

impl JobStage {
    /// Returns the number of steps of a task: its phases, unless steps are given.
    pub(crate) fn steps_of_task(&self) -> usize {
        if self.steps.steps.is_empty() { self.spread.phases.len() } else { self.steps.steps.len() }
    }

    /// Returns the phase of a step.
    pub(crate) fn phase_of(&self, step: usize) -> usize {
        self.steps.steps.get(step).map_or(step, |step| step.phase)
    }

    /// Returns the stages before the stage with this `number` that must have finished, each once.
    pub(crate) fn predecessors(&self, number: usize) -> BTreeSet<usize> {
        self.after.iter().copied().filter(|&before| before < number).collect()
    }
}

impl Delay {
    /// Returns a time that is always the same.
    pub fn always(mean_s: f64) -> Self {
        Self { mean_s, varies: Varies::Not }
    }

    /// Returns a time of a driver.
    pub fn of_driver(mean_s: f64) -> Self {
        Self { mean_s, varies: Varies::Driver }
    }
}

impl Job {
    /// Returns the stages that wait for each stage.
    pub(crate) fn followers(&self) -> Vec<Vec<usize>> {
        let mut followers: Vec<Vec<usize>> = vec![Vec::new(); self.stages.len()];
        for (number, stage) in self.stages.iter().enumerate() {
            stage.predecessors(number).into_iter().for_each(|before| followers[before].push(number));
        }
        followers
    }

    /// Returns the longest of the mean times of tasks and of the driver \[s\].
    pub(crate) fn longest_mean_s(&self) -> f64 {
        let of_stage = |stage: &JobStage| stage.tasks.longest_s().max(stage.setup.mean_s);
        self.stages.iter().map(of_stage).fold(self.end.mean_s, f64::max)
    }

    /// Returns the number of tasks.
    pub fn tasks(&self) -> u64 {
        self.stages.iter().map(|stage| u64::from(stage.tasks.count())).sum()
    }
}
