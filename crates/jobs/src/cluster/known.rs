//! A job whose tasks are known individually: a recorded job, replayed under other policies, or a job of planned stages.
//!
//! Defines its description and its conversion to a world. Stages are jobs of maps that follow each other. A recorded
//! task has a home node and returns to it if there is room. Its first attempt takes the recorded time on that node; on
//! another node the time scales with the slowness of the stage's tasks on the two nodes. Logs do not contain the times
//! of further attempts. Such a time is the task's usual time, times the slowness of the node, times a ratio drawn from
//! the stage's [`Spread`].

use crate::cluster::detect::Category;
use crate::cluster::known_work::Known;
use crate::cluster::plan::{Failure, JobOrder, Noise, Power, Slowdown};
use crate::cluster::spread::Spread;
use crate::cluster::world::{CategorySpec, JobSpec, Local, NodeSpec, TaskSpec, World};
use crate::mapreduce::Stragglers;
use crate::rng::split;

/// A node.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct KnownNode {
    /// Tasks that may run at a time, >= 1.
    pub slots: u32,
    /// Number of tasks that run at full speed, above 0, at most `slots`; if more tasks run, they share the cores.
    pub cores: f64,
    /// Time from which the node is available \[s\].
    pub from_s: f64,
}

/// A task.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct KnownTask {
    /// Home node of the first attempt, used if the node has room, and the work of the attempt on this node \[s\]; none
    /// means any node and a drawn time.
    pub first: Option<(usize, f64)>,
    /// True if the work of the first attempt is a lower bound: a log does not contain the work of an attempt that a copy
    /// overtook.
    pub at_least: bool,
    /// Work of a usual attempt on a usual node \[s\], > 0.
    pub usual_s: f64,
    /// Size of its input, 1 on average.
    pub size: f64,
}

/// A stage, whose tasks may run simultaneously.
#[derive(Clone, Debug, PartialEq)]
pub struct KnownStage {
    /// Indices of the stages that must have finished before, each less than this stage's index.
    pub after: Vec<usize>,
    /// Time from the end of these stages to the first launch \[s\].
    pub setup_s: f64,
    /// True if `setup_s` is a mean, with a standard deviation of half its size (Erlang, four stages).
    pub setup_varies: bool,
    /// Tasks, in the order of their launch.
    pub tasks: Vec<KnownTask>,
    /// Factor by which the stage's tasks take longer than usual, for each node.
    pub slowness: Vec<f64>,
    /// Distribution of an attempt's time, relative to the usual time of its task.
    pub spread: Spread,
    /// Tasks of the stage that may run at a time on each node, if different from the node's slots.
    pub slots: Option<Vec<u32>>,
    /// Attempts that are slow independently of their nodes.
    pub stragglers: Option<Stragglers>,
}

/// A job whose tasks are known.
#[derive(Clone, Debug, PartialEq)]
pub struct KnownJob {
    /// The nodes.
    pub nodes: Vec<KnownNode>,
    /// The stages.
    pub stages: Vec<KnownStage>,
    /// Time from the end of the last task to the end of the job \[s\].
    pub end_s: f64,
}

impl KnownJob {
    /// Returns the world of the simulation.
    pub(super) fn world(&self, seed: u64) -> World {
        let (mut jobs, mut categories, mut tasks) = (Vec::new(), Vec::new(), Vec::new());
        let mut known = Known {
            first: Vec::new(),
            at_least: Vec::new(),
            usual: Vec::new(),
            stage: Vec::new(),
            slowness: self.stages.iter().map(|stage| stage.slowness.clone()).collect(),
            spread: self.stages.iter().map(|stage| stage.spread.clone()).collect(),
            slots: self.stages.iter().map(|stage| stage.slots.clone()).collect(),
            stragglers: self.stages.iter().map(|stage| stage.stragglers.clone()).collect(),
            end_s: self.end_s,
        };
        let mut at_home: Vec<(usize, u32)> = Vec::new();
        for (number, stage) in self.stages.iter().enumerate() {
            jobs.push(JobSpec {
                arrival: stage.setup_s,
                after: stage.after.clone(),
                arrival_varies: stage.setup_varies,
                slow_start: 0,
                remote_factor: 1.0,
            });
            let (first, category) = (tasks.len() as u32, categories.len() as u32);
            categories.push(CategorySpec { kind: Category::Map, first, count: stage.tasks.len() as u32 });
            categories.push(CategorySpec { kind: Category::Reduce, first: first + stage.tasks.len() as u32, count: 0 });
            for task in &stage.tasks {
                if let Some((home, _)) = task.first {
                    at_home.push((home * self.stages.len() + number, tasks.len() as u32));
                }
                known.first.push(task.first);
                known.at_least.push(task.at_least);
                known.usual.push(task.usual_s);
                known.stage.push(number as u32);
                tasks.push(TaskSpec { category, start: 0.0, fetch: 0.0, main: task.usual_s, size: task.size });
            }
        }
        at_home.sort_unstable();
        let lists = self.nodes.len() * self.stages.len();
        let starts = (0..=lists).map(|list| at_home.partition_point(|pair| pair.0 < list) as u32).collect();
        let node = |node: &KnownNode| NodeSpec { cores: node.cores, speed: 1.0, slots: node.slots, from: node.from_s };
        World {
            nodes: self.nodes.iter().map(node).collect(),
            jobs,
            categories,
            tasks,
            local: Local { starts, tasks: at_home.iter().map(|pair| pair.1).collect() },
            // a scheduler of stages receives its executors' reports immediately
            heartbeat: 0.0,
            order: JobOrder::Fifo,
            noise: Noise { sigma: 0.0 },
            stragglers: None,
            slowdown: Slowdown::default(),
            failure: Failure::default(),
            power: Power::default(),
            known: Some(known),
            key: split(seed),
        }
    }
}
