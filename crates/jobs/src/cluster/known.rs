//! A job whose tasks are known one by one: one that ran, replayed under other policies, or one of planned stages.
//!
//! Owns its description and how it becomes a world. Stages are jobs of maps that follow each other. A task has a node
//! where it ran, which it goes to again if there is room; its first attempt takes what it took there, on another node in
//! proportion to how slow tasks of its stage are on the two. What a further attempt takes is not in any log: it is the task's usual time,
//! times the slowness of the node, times a ratio drawn from those of the stage's attempts.

use crate::cluster::detect::Category;
use crate::cluster::known_work::Known;
use crate::cluster::plan::{Failure, JobOrder, Noise, Power, Slowdown};
use crate::cluster::world::{CategorySpec, JobSpec, Local, NodeSpec, TaskSpec, World};
use crate::mapreduce::Stragglers;
use crate::rng::split;

/// A node.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct KnownNode {
    /// Tasks that may run at a time, >= 1.
    pub slots: u32,
    /// Tasks that it runs at full speed, above 0 to `slots`; more share it.
    pub cores: f64,
    /// When it is there \[s\].
    pub from_s: f64,
}

/// A task.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct KnownTask {
    /// The node that its first attempt goes to if there is room, and its work there \[s\]; none: any node, and a drawn time.
    pub first: Option<(usize, f64)>,
    /// Work of a usual attempt on a usual node \[s\], > 0.
    pub usual_s: f64,
    /// Size of its input, 1 on average.
    pub size: f64,
}

/// Tasks that may run side by side.
#[derive(Clone, Debug, PartialEq)]
pub struct KnownStage {
    /// Stages that must have ended before, each before this one.
    pub after: Vec<usize>,
    /// From their end to the first launch \[s\].
    pub setup_s: f64,
    /// True if `setup_s` is a mean, around which it varies with half its size as standard deviation (Erlang, four
    /// stages).
    pub setup_varies: bool,
    /// Tasks, in the order of their launch.
    pub tasks: Vec<KnownTask>,
    /// How many times longer than usual its tasks take on each node.
    pub slowness: Vec<f64>,
    /// Equally likely times of an attempt over the usual one, ascending; at least one.
    pub ratios: Vec<f64>,
    /// Tasks of the stage that may run at a time on each node, if not as many as the node has slots.
    pub slots: Option<Vec<u32>>,
    /// Attempts that are slow for reasons of their own.
    pub stragglers: Option<Stragglers>,
}

/// A job whose tasks are known.
#[derive(Clone, Debug, PartialEq)]
pub struct KnownJob {
    /// The nodes.
    pub nodes: Vec<KnownNode>,
    /// The stages.
    pub stages: Vec<KnownStage>,
    /// From the last end of a task to the end of the job \[s\].
    pub end_s: f64,
}

impl KnownJob {
    /// Returns the world.
    pub(super) fn world(&self, seed: u64) -> World {
        let (mut jobs, mut categories, mut tasks) = (Vec::new(), Vec::new(), Vec::new());
        let mut known = Known {
            first: Vec::new(),
            usual: Vec::new(),
            stage: Vec::new(),
            slowness: self.stages.iter().map(|stage| stage.slowness.clone()).collect(),
            ratios: self.stages.iter().map(|stage| stage.ratios.clone()).collect(),
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
            // a scheduler of stages knows at once what its executors tell
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
