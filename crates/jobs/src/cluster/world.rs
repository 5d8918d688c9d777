//! A plan as flat arrays: nodes, jobs, tasks with their work, and the nodes of blocks. The values do not
//! change during a run.
//!
//! Sizes and nodes of blocks are drawn once per seed: every replication and every policy has the same input.

use crate::cluster::detect::Category;
use crate::cluster::known::Known;
use crate::cluster::plan::{Failure, JobOrder, JobPlan, Noise, Plan, Power, Slowdown};
use crate::estimate::normal_quantile;
use crate::job::Delay;
use crate::mapreduce::Stragglers;
use crate::rng::{Address, Purpose, split, uniform};
use crate::run::draws::Tick;

/// Sample number that decides whether a reduce gets a hot key; the sample before it decides the rank. Blocks are placed from sample 1 on.
const HOT: u32 = u32::MAX;

/// A node.
#[derive(Clone, Copy, Debug)]
pub(super) struct NodeSpec {
    /// Active cores.
    pub(super) cores: f64,
    /// Speed of a core.
    pub(super) speed: f64,
    /// Slots.
    pub(super) slots: u32,
    /// Time from which the node is available \[s\].
    pub(super) from: f64,
}

/// A task.
#[derive(Clone, Copy, Debug)]
pub(super) struct TaskSpec {
    /// Category, `2 * job` for maps and `2 * job + 1` for reduces.
    pub(super) category: u32,
    /// Work before the first progress \[s\].
    pub(super) start: f64,
    /// Work of fetching, the first third of a reduce's score \[s\].
    pub(super) fetch: f64,
    /// Work after fetching \[s\].
    pub(super) main: f64,
    /// Size of its input, 1 on average.
    pub(super) size: f64,
}

/// The maps or reduces of a job.
#[derive(Clone, Copy, Debug)]
pub(super) struct CategorySpec {
    /// Maps or reduces.
    pub(super) kind: Category,
    /// First task.
    pub(super) first: u32,
    /// Number of tasks.
    pub(super) count: u32,
}

/// A job.
#[derive(Clone, Debug)]
pub(super) struct JobSpec {
    /// Submission time; for a job that follows other jobs, the delay after their end.
    pub(super) arrival: Delay,
    /// Number of ended tasks of these jobs from which the delay runs, if it overlaps with them.
    pub(super) overlap: Option<u32>,
    /// Indices of the jobs that must have finished before, each less than this job's index.
    pub(super) after: Vec<usize>,
    /// Number of finished maps from which reduces may start.
    pub(super) slow_start: u32,
    /// Factor of the work of a map whose block is on another node.
    pub(super) remote_factor: f64,
}

/// Everything that a run reads.
#[derive(Clone, Debug)]
pub(super) struct World {
    pub(super) nodes: Vec<NodeSpec>,
    pub(super) jobs: Vec<JobSpec>,
    /// True if the delay of a job overlaps with the jobs before it.
    pub(super) has_overlaps: bool,
    /// Two per job: maps, reduces.
    pub(super) categories: Vec<CategorySpec>,
    pub(super) tasks: Vec<TaskSpec>,
    pub(super) local: Local,
    pub(super) heartbeat: f64,
    pub(super) order: JobOrder,
    pub(super) noise: Noise,
    /// Slow attempts, if any.
    pub(super) stragglers: Option<Stragglers>,
    pub(super) slowdown: Slowdown,
    pub(super) failure: Failure,
    pub(super) power: Power,
    /// The stages, unless the world comes from a plan of tasks.
    pub(super) known: Option<Known>,
    pub(super) tick: Tick,
    pub(super) key: [u32; 2],
}

/// Local maps of each node, by job; empty for jobs to which locality makes no difference.
#[derive(Clone, Debug, Default)]
pub(super) struct Local {
    /// Start of the list of (node, job): `node * jobs + job`; one more at the end.
    pub(super) starts: Vec<u32>,
    pub(super) tasks: Vec<u32>,
}

impl Local {
    /// Returns the maps of the list `node * jobs + job`, ascending.
    pub(super) fn list(&self, list: usize) -> &[u32] {
        match (self.starts.get(list), self.starts.get(list + 1)) {
            (Some(&from), Some(&to)) => &self.tasks[from as usize..to as usize],
            _ => &[],
        }
    }
}

/// Returns the longest of the times in a plan of tasks \[s\].
fn longest_s(plan: &Plan) -> f64 {
    let of_job = |job: &JobPlan| job.map_s.max(job.reduce_s).max(job.shuffle_s).max(job.arrival_s);
    plan.job.iter().map(of_job).fold(0.0, f64::max)
}

/// Returns a lognormal factor with median 1.
pub(super) fn lognormal(sigma: f64, word: u32) -> f64 {
    if sigma > 0.0 { libm::exp(sigma * normal_quantile(uniform(word))) } else { 1.0 }
}

impl World {
    /// Builds the world of a checked plan.
    pub(super) fn new(plan: &Plan, seed: u64) -> Self {
        let groups = plan.cluster.node.iter();
        let nodes: Vec<NodeSpec> = groups
            .flat_map(|group| {
                let cores = group.active_cores.unwrap_or(group.cores);
                let node = NodeSpec { cores, speed: group.cpu_speed, slots: group.slots, from: 0.0 };
                std::iter::repeat_n(node, group.count as usize)
            })
            .collect();
        let mut world = Self {
            local: Local::default(),
            jobs: Vec::new(),
            has_overlaps: false,
            categories: Vec::new(),
            tasks: Vec::new(),
            nodes,
            heartbeat: plan.cluster.heartbeat_s,
            order: plan.cluster.order,
            noise: plan.noise.clone(),
            stragglers: plan.stragglers.clone(),
            slowdown: plan.slowdown.clone(),
            failure: plan.failure.clone(),
            power: plan.power.clone(),
            known: None,
            tick: Tick::of(longest_s(plan)),
            key: split(seed),
        };
        for job in &plan.job {
            world.add_job(job);
        }
        world.place_blocks(&plan.job);
        world
    }

    /// Builds the same jobs on a cluster without slowness: all cores active, all equally fast, no slow-down, no failure.
    pub(super) fn homogeneous(plan: &Plan, seed: u64) -> Self {
        let mut plan = plan.clone();
        for group in &mut plan.cluster.node {
            group.active_cores = None;
            group.cpu_speed = 1.0;
        }
        plan.slowdown.mean_between_s = None;
        plan.failure.mean_between_s = None;
        plan.stragglers = None;
        Self::new(&plan, seed)
    }

    fn word(&self, owner: u32, sample: u32) -> u32 {
        Address { purpose: Purpose::Input, owner, sample }.words(self.key, 0)[0]
    }

    fn add_job(&mut self, job: &JobPlan) {
        self.jobs.push(JobSpec {
            arrival: Delay::always(job.arrival_s),
            overlap: None,
            after: Vec::new(),
            slow_start: (job.slowstart * f64::from(job.maps)).ceil() as u32,
            remote_factor: job.remote_factor,
        });
        let maps = (Category::Map, job.maps, job.map_skew, [job.map_start_s, 0.0, job.map_s]);
        let reduces =
            (Category::Reduce, job.reduces, job.reduce_skew, [job.reduce_start_s, job.shuffle_s, job.reduce_s]);
        for (kind, count, skew, [start, fetch, main]) in [maps, reduces] {
            let (first, category) = (self.tasks.len() as u32, self.categories.len() as u32);
            self.categories.push(CategorySpec { kind, first, count });
            for task in first..first + count {
                // a factor of mean 1: exp(σ z − σ²/2)
                let mut size = lognormal(skew, self.word(task, 0)) * libm::exp(-0.5 * skew * skew);
                if let Some(hot) = job.hot_keys.as_ref().filter(|_| kind == Category::Reduce) {
                    size += hot.more(uniform(self.word(task, HOT)), uniform(self.word(task, HOT - 1)));
                }
                self.tasks.push(TaskSpec { category, start, fetch: fetch * size, main: main * size, size });
            }
        }
    }

    /// Draws the nodes that hold each map's block: `replicas` different nodes.
    fn place_blocks(&mut self, jobs: &[JobPlan]) {
        let nodes = self.nodes.len();
        let mut pairs: Vec<(usize, u32)> = Vec::new();
        for (number, job) in jobs.iter().enumerate().filter(|(_, job)| job.remote_factor > 1.0) {
            let maps = self.categories[2 * number];
            let wanted = (job.replicas as usize).min(nodes);
            for task in maps.first..maps.first + maps.count {
                let mut held: Vec<usize> = Vec::with_capacity(wanted);
                for sample in 1_u32.. {
                    if held.len() == wanted {
                        break;
                    }
                    let node = ((u64::from(self.word(task, sample)) * nodes as u64) >> 32) as usize;
                    if !held.contains(&node) {
                        held.push(node);
                        pairs.push((node * jobs.len() + number, task));
                    }
                }
            }
        }
        if pairs.is_empty() {
            return;
        }
        pairs.sort_unstable();
        let starts = (0..=nodes * jobs.len()).map(|list| pairs.partition_point(|pair| pair.0 < list) as u32);
        self.local = Local { starts: starts.collect(), tasks: pairs.iter().map(|pair| pair.1).collect() };
    }

    /// Returns true if tasks have homes, as in a recorded job.
    pub(super) fn has_homes(&self) -> bool {
        self.known.as_ref().is_some_and(Known::has_homes)
    }

    /// Returns the job of a task, by its position: the stage, in a job of stages.
    pub(super) fn job_of(&self, task: u32) -> usize {
        self.tasks[task as usize].category as usize / 2
    }

    /// Returns the number of slots that a policy reserves for copies on each node.
    pub(super) fn kept_slots(&self, share_for_tasks: f64) -> Vec<u32> {
        kept_slots(self.nodes.iter().map(|node| node.slots), share_for_tasks).collect()
    }
}

/// Returns the number of slots reserved for copies on each of some nodes, given the share for
/// tasks: see [`SlotShare`](crate::cluster::plan::SlotShare).
pub(super) fn kept_slots(slots: impl Iterator<Item = u32>, share_for_tasks: f64) -> impl Iterator<Item = u32> {
    let mut owed = 0.0_f64;
    slots.map(move |slots| {
        // 1e-9: a share such as 0.9 is not an exact binary number
        let before = (owed + 1e-9).floor();
        owed += f64::from(slots) * (1.0 - share_for_tasks);
        ((owed + 1e-9).floor() - before) as u32
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::plan::{HotKeys, NodeGroup};

    fn world(nodes: u32, slots: u32) -> World {
        let mut plan = Plan::default();
        plan.cluster.node = vec![NodeGroup { count: nodes, slots, ..NodeGroup::default() }];
        World::new(&plan, 1)
    }

    #[test]
    fn kept_slots_are_the_share_of_the_whole_cluster_up_to_one() {
        for (share, kept) in [(1.0, 0), (0.95, 8), (0.9, 16), (0.75, 40), (0.5, 80)] {
            let world = world(20, 8);
            let slots = world.kept_slots(share);
            assert_eq!(slots.iter().sum::<u32>(), kept, "{share}");
            let (least, most) = (slots.iter().min().unwrap(), slots.iter().max().unwrap());
            assert!(most - least <= 1, "evenly: {slots:?}");
        }
        // 0.4 slots per node: two of five nodes reserve one, in each group of five
        assert_eq!(world(10, 8).kept_slots(0.95), [0, 0, 1, 0, 1, 0, 0, 1, 0, 1]);
    }

    #[test]
    fn blocks_lie_on_as_many_nodes_as_there_are_replicas() {
        let mut plan = Plan::default();
        plan.job[0].remote_factor = 1.5;
        let world = World::new(&plan, 3);
        let mut held = vec![0; 320];
        for node in 0..20 {
            let list = world.local.list(node);
            assert!(list.is_sorted());
            list.iter().for_each(|&task| held[task as usize] += 1);
        }
        assert!(held.iter().all(|&count| count == 3));
        plan.job[0].replicas = 1000;
        assert_eq!(World::new(&plan, 3).local.list(7).len(), 320);
    }

    #[test]
    fn hot_keys_come_as_often_and_weigh_as_much_as_zipf_says() {
        let hot = HotKeys { share: 0.1, ranks: 4, weight: 3.0, exponent: 1.0 };
        let mut plan = Plan::default();
        plan.job[0] = JobPlan { maps: 10, reduces: 40_000, hot_keys: Some(hot), ..JobPlan::default() };
        let world = World::new(&plan, 5);
        let (maps, reduces) = world.tasks.split_at(10);
        assert!(maps.iter().all(|task| (task.size - 1.0).abs() < 1e-12));
        for (rank, more) in [(1, 3.0), (2, 1.5), (3, 1.0), (4, 0.75)] {
            let count = reduces.iter().filter(|task| (task.size - 1.0 - more).abs() < 1e-12).count() as f64;
            // binomial with p = 0.1 / 4
            assert!((count - 1000.0).abs() < 5.0 * (1000.0_f64 * 0.975).sqrt(), "rank {rank}: {count}");
        }
        assert!(reduces.iter().all(|task| task.size >= 1.0));
    }

    #[test]
    fn skewed_sizes_have_mean_one_and_stay_the_same() {
        let mut plan = Plan::default();
        plan.job[0] = JobPlan { maps: 20_000, map_skew: 0.5, reduces: 0, ..JobPlan::default() };
        let world = World::new(&plan, 5);
        let mean = world.tasks.iter().map(|task| task.size).sum::<f64>() / 20_000.0;
        // standard deviation of the factor: sqrt(e^0.25 - 1) = 0.533
        assert!((mean - 1.0).abs() < 5.0 * 0.533 / 20_000_f64.sqrt(), "{mean}");
        assert_eq!(world.tasks[7].main.to_bits(), World::new(&plan, 5).tasks[7].main.to_bits());
        assert_eq!(world.tasks[7].main.to_bits(), World::homogeneous(&plan, 5).tasks[7].main.to_bits());
    }
}
