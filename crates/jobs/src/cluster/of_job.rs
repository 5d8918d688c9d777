//! A [`Job`] as a world: stages are jobs of maps that follow each other.

use crate::cluster::detect::Category;
use crate::cluster::known::Known;
use crate::cluster::plan::{Failure, JobOrder, Noise, Power, Slowdown};
use crate::cluster::world::{CategorySpec, JobSpec, Local, NodeSpec, TaskSpec, World};
use crate::job::{Job, Machine};
use crate::rng::split;
use crate::run::draws::Tick;

impl Job {
    /// Returns the world of the simulation.
    pub(super) fn world(&self, seed: u64) -> World {
        let (mut jobs, mut categories, mut tasks) = (Vec::new(), Vec::new(), Vec::new());
        let mut known = Known { recorded: Vec::new(), stages: self.stages.clone(), end: self.end.clone() };
        let mut at_home: Vec<(usize, u32)> = Vec::new();
        for (number, stage) in self.stages.iter().enumerate() {
            jobs.push(JobSpec {
                arrival: stage.setup.clone(),
                after: stage.after.clone(),
                overlap: stage.overlap,
                slow_start: 0,
                remote_factor: 1.0,
            });
            let (first, category) = (tasks.len() as u32, categories.len() as u32);
            let count = stage.tasks.count();
            categories.push(CategorySpec { kind: Category::Map, first, count });
            categories.push(CategorySpec { kind: Category::Reduce, first: first + count, count: 0 });
            for (task, recorded) in (first..).zip(stage.tasks.recorded()) {
                at_home.push((recorded.first.0 * self.stages.len() + number, task));
                known.recorded.resize(task as usize, None);
                known.recorded.push(Some(*recorded));
            }
            let task = |(main, size)| TaskSpec { category, start: 0.0, fetch: 0.0, main, size };
            tasks.extend(stage.tasks.usual().map(task));
        }
        at_home.sort_unstable();
        let lists = self.machines.len() * self.stages.len();
        let starts = (0..=lists).map(|list| at_home.partition_point(|pair| pair.0 < list) as u32).collect();
        let node = |machine: &Machine| NodeSpec {
            cores: machine.cores,
            speed: 1.0,
            slots: machine.slots,
            from: machine.from_s,
        };
        World {
            nodes: self.machines.iter().map(node).collect(),
            has_overlaps: self.stages.iter().any(|stage| stage.overlap.is_some()),
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
            tick: Tick::of(self.longest_mean_s()),
            key: split(seed),
        }
    }
}
