//! The simulation of one job: tasks and hogs share the resources of nodes, from event to event.

use crate::bigroots::draw::Draw;
use crate::bigroots::plan::{GeneratorPlan, Hog};
use crate::bigroots::score::{Truth, TruthWindow};
use tailspn::diagnose::causes::NodeMeters;
use tailspn::diagnose::causes::TaskRecord;
use tailspn::diagnose::causes::{FEATURES, Feature, RESOURCES};
use tailspn::diagnose::samples::{Meter, Sample, Series};

/// Bytes of a megabyte.
const MB: f64 = 1e6;
/// Threshold of rounding errors: a shorter time \[s\] or a smaller amount of work counts as zero.
const NOTHING: f64 = 1e-9;
/// Seconds by which the samples begin before the first task, and continue after the last one.
const MARGIN: f64 = 5.0;

/// A generated job.
#[derive(Clone, Debug, PartialEq)]
pub struct Generated {
    /// The tasks of each stage, in the order of their ends.
    pub stages: Vec<Vec<TaskRecord>>,
    /// The samples of each node, by the number of the node.
    pub nodes: Vec<NodeMeters>,
    /// The true causes: the windows in which hogs made resources scarce.
    pub truth: Truth,
    /// End of the last task \[s\].
    pub end: f64,
}

/// Resource of each step of a task: network, disk, CPU, disk.
const STEPS: [usize; 4] = [2, 1, 0, 1];
/// For CPU, disk and network: the step in which a self-loading task loads this resource.
const LOADING: [usize; 3] = [2, 3, 0];
/// Seconds within which all slots begin their first tasks of a stage.
const STARTS: f64 = 3.0;
/// Owners of the random numbers of bursts and of noise.
const BURSTS: u32 = 1 << 28;
const NOISE: u32 = 1 << 29;
/// Owners of the random numbers of a stage: the starts of its slots, and the factors of its needs.
const SLOTS: u32 = 1 << 27;
const STAGES: u32 = 1 << 26;

/// The needs of a task.
#[derive(Clone, Copy, Debug)]
struct Needs {
    /// Work of each step: MB, MB, CPU seconds, MB.
    work: [f64; 4],
    /// Maximum rate of each step, in the unit of its resource.
    demand: [f64; 4],
}

/// A running task.
#[derive(Clone, Debug)]
struct Running {
    task: usize,
    node: usize,
    from: f64,
    step: usize,
    /// Remaining work of the current step.
    left: f64,
}

/// Use of a node's resources within one second, as shares.
type Used = [f64; RESOURCES.len()];

/// Generates the job of the given seed.
pub fn generate(plan: &GeneratorPlan, seed: u64) -> Generated {
    let draw = Draw::new(seed);
    let hogs = plan.hogs(&draw);
    let [stages, tasks] = plan.stages;
    let needs: Vec<Needs> = (0..stages * tasks).map(|task| needs(plan, &draw, task)).collect();
    let mut job = Job::new(plan, &hogs, &needs);
    let mut done = Vec::new();
    for stage in 0..stages {
        job.begin(stage, &draw);
        while job.advance() {}
        done.push(std::mem::take(&mut job.done));
    }
    let end = job.now;
    job.run_on(end + MARGIN);
    let truth = hogs.iter().map(|h| TruthWindow { node: h.node, resource: h.resource, from: h.from, to: h.to });
    Generated { nodes: meters(plan, &draw, &job.seconds), truth: Truth { windows: truth.collect() }, end, stages: done }
}

/// Returns the needs of a task. A task that loads a resource itself takes as much of this resource as possible, for
/// longer than other tasks do.
fn needs(plan: &GeneratorPlan, draw: &Draw, task: usize) -> Needs {
    let owner = task as u32;
    let factor = |sample, (share, range): (f64, [f64; 2])| {
        (draw.uniform(owner, sample) < share).then(|| draw.between(owner, sample + 1, range))
    };
    let data = factor(0, plan.skewed).unwrap_or(1.0);
    let [_, tasks] = plan.stages;
    let stage = STAGES + (task / tasks) as u32;
    let own = |step| {
        draw.lognormal(owner, 8 + step as u32, plan.spread[0]) * draw.lognormal(stage, step as u32, plan.spread[1])
    };
    let mut needs = Needs {
        work: std::array::from_fn(|step| plan.needs[step] * own(step) * data),
        demand: STEPS.map(|resource| plan.demand[resource]),
    };
    for (resource, step) in LOADING.into_iter().enumerate() {
        if let Some(longer) = factor(2 + 2 * resource as u32, plan.self_loading) {
            let wider = plan.capacity[resource] / plan.demand[resource];
            needs.work[step] *= longer * wider;
            needs.demand[step] *= wider;
        }
    }
    needs
}

struct Job<'p> {
    plan: &'p GeneratorPlan,
    hogs: &'p [Hog],
    needs: &'p [Needs],
    now: f64,
    next_task: usize,
    /// Index after the last task of the stage.
    last_task: usize,
    /// Slots whose first task has not begun yet: start of this task, and node. The slot that starts next comes last.
    waiting: Vec<(f64, usize)>,
    running: Vec<Running>,
    done: Vec<TaskRecord>,
    /// Use of each node in each completed second, and (`used`) in the current second.
    seconds: Vec<Vec<Used>>,
    used: Vec<Used>,
}

impl<'p> Job<'p> {
    fn new(plan: &'p GeneratorPlan, hogs: &'p [Hog], needs: &'p [Needs]) -> Self {
        Self {
            plan,
            hogs,
            needs,
            now: 0.0,
            next_task: 0,
            last_task: 0,
            waiting: Vec::new(),
            running: Vec::new(),
            done: Vec::new(),
            seconds: vec![Vec::new(); plan.nodes],
            used: vec![Used::default(); plan.nodes],
        }
    }

    /// Begins a stage; all tasks of the stage before must have ended.
    fn begin(&mut self, stage: usize, draw: &Draw) {
        let plan = self.plan;
        let owner = SLOTS + stage as u32;
        let start = |slot: usize| (self.now + STARTS * draw.uniform(owner, slot as u32), slot % plan.nodes);
        self.waiting = (0..plan.nodes * plan.slots).map(start).collect();
        self.waiting.sort_by(|a, b| b.0.total_cmp(&a.0));
        self.last_task = (stage + 1) * plan.stages[1];
    }

    fn launch(&mut self, node: usize) {
        let task = self.next_task;
        if let Some(needs) = self.needs.get(task).filter(|_| task < self.last_task) {
            self.next_task += 1;
            self.running.push(Running { task, node, from: self.now, step: 0, left: needs.work[0] });
        }
    }

    /// Returns the number of hog processes that use a resource of a node now.
    fn hog_processes(&self, node: usize, resource: usize) -> f64 {
        let works = |hog: &&Hog| {
            hog.node == node && hog.resource.resource() == Some(resource) && hog.from <= self.now && self.now < hog.to
        };
        self.hogs.iter().filter(works).count() as f64 * self.plan.hog_processes
    }

    /// Returns the current sharing of each resource of each node.
    fn levels(&self) -> Vec<[Level; RESOURCES.len()]> {
        let plan = self.plan;
        let of = |node: usize| {
            std::array::from_fn(|resource| {
                let own = self.running.iter().filter(|r| r.node == node && STEPS[r.step] == resource);
                let mut users: Vec<(f64, f64)> = own.map(|r| (1.0, self.demand(r))).collect();
                let hogs = self.hog_processes(node, resource);
                let mut capacity = plan.capacity[resource];
                if hogs > 0.0 {
                    capacity *= plan.hog_leaves[resource];
                    users.push((hogs, plan.hog_demand[resource]));
                }
                level(capacity, users)
            })
        };
        (0..plan.nodes).map(of).collect()
    }

    /// Returns the maximum rate of a task in its current step.
    fn demand(&self, running: &Running) -> f64 {
        self.needs[running.task].demand[running.step]
    }

    /// Returns the rate that a task gets now.
    fn rate(&self, running: &Running, levels: &[[Level; RESOURCES.len()]]) -> f64 {
        self.demand(running).min(levels[running.node][STEPS[running.step]].most)
    }

    /// Goes to the next event: the end of a step, the first task of a slot, the start or end of a hog, or a full
    /// second. Returns false if the stage has ended.
    fn advance(&mut self) -> bool {
        while let Some((_, node)) = self.waiting.pop_if(|(start, _)| *start <= self.now + NOTHING) {
            self.launch(node);
        }
        if self.running.is_empty() && self.waiting.is_empty() {
            return false;
        }
        let levels = self.levels();
        let rates: Vec<f64> = self.running.iter().map(|running| self.rate(running, &levels)).collect();
        let ends = self.running.iter().zip(&rates).map(|(running, rate)| running.left / rate);
        let border = self.waiting.last().map_or(f64::INFINITY, |(start, _)| *start).min(self.next_border());
        let seconds = ends.fold(border - self.now, f64::min).max(0.0);
        self.pass(seconds, &levels);
        for (running, rate) in self.running.iter_mut().zip(rates) {
            running.left -= seconds * rate;
        }
        self.finish_steps();
        true
    }

    /// Returns the time of the next full second, or of the next start or end of a hog, if this is earlier.
    fn next_border(&self) -> f64 {
        let second = (self.now + NOTHING).floor() + 1.0;
        let hogs = self.hogs.iter().flat_map(|hog| [hog.from, hog.to]).filter(|&time| time > self.now + NOTHING);
        hogs.fold(second, f64::min)
    }

    /// Lets time pass, and adds up the use of the resources.
    fn pass(&mut self, seconds: f64, levels: &[[Level; RESOURCES.len()]]) {
        for (used, levels) in self.used.iter_mut().zip(levels) {
            for (used, level) in used.iter_mut().zip(levels) {
                *used += seconds * level.used;
            }
        }
        self.now += seconds;
        if (self.now - self.now.round()).abs() < NOTHING && self.now > self.seconds[0].len() as f64 + 0.5 {
            self.now = self.now.round();
            for (seconds, used) in self.seconds.iter_mut().zip(&mut self.used) {
                seconds.push(std::mem::take(used));
            }
        }
    }

    fn finish_steps(&mut self) {
        let mut free = Vec::new();
        let mut i = 0;
        while i < self.running.len() {
            let running = &mut self.running[i];
            if running.left > NOTHING {
                i += 1;
                continue;
            }
            running.step += 1;
            if let Some(&left) = self.needs[running.task].work.get(running.step) {
                running.left = left;
                i += 1;
                continue;
            }
            let ended = self.running.swap_remove(i);
            free.push(ended.node);
            let record = self.record(&ended);
            self.done.push(record);
        }
        free.into_iter().for_each(|node| self.launch(node));
    }

    fn record(&self, ended: &Running) -> TaskRecord {
        let needs = self.needs[ended.task].work;
        let mut stated = [None; FEATURES];
        stated[Feature::ReadBytes as usize] = Some((needs[0] + needs[1]) * MB);
        stated[Feature::ShuffleWrite as usize] = Some(needs[3] * MB);
        stated[Feature::Locality as usize] = Some(0.0);
        TaskRecord {
            task: ended.task as u32,
            attempt: 0,
            node: Some(ended.node),
            from: ended.from,
            to: self.now,
            at_least: false,
            succeeded: true,
            stated,
        }
    }

    /// Lets time pass on all nodes, without tasks.
    fn run_on(&mut self, until: f64) {
        while self.now < until {
            let levels = self.levels();
            let step = self.next_border() - self.now;
            self.pass(step, &levels);
        }
    }
}

/// The maximum rate of each user of a resource, and the used share of the resource.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Level {
    /// Maximum rate of a user, infinite if the capacity suffices for all; a user that wants less gets the rate that it
    /// wants.
    most: f64,
    /// Used share of the capacity that is available now, so that a disk that spends its time on seeks counts as busy.
    used: f64,
}

/// Shares a capacity among users by max-min fairness: a user that wants less than a fair part gets the rate that it
/// wants, and the others share the rest equally. Each pair of `users` is a number of users and the maximum rate of each
/// of them.
fn level(capacity: f64, mut users: Vec<(f64, f64)>) -> Level {
    users.sort_by(|a, b| a.1.total_cmp(&b.1));
    let mut left = capacity;
    let mut sharing: f64 = users.iter().map(|user| user.0).sum();
    for (count, demand) in users {
        if demand * sharing > left {
            return Level { most: left / sharing, used: 1.0 };
        }
        left -= count * demand;
        sharing -= count;
    }
    Level { most: f64::INFINITY, used: 1.0 - left / capacity }
}

/// Returns the samples of all nodes: one share per second and resource, with noise and bursts.
fn meters(plan: &GeneratorPlan, draw: &Draw, seconds: &[Vec<Used>]) -> Vec<NodeMeters> {
    let of = |(node, seconds): (usize, &Vec<Used>)| {
        let series = |resource: usize, meter: Meter| {
            let bursts = bursts(plan, draw, (node * RESOURCES.len() + resource) as u32, seconds.len());
            let sample = |(i, used): (usize, &Used)| {
                let owner = NOISE + (node * RESOURCES.len() + resource) as u32;
                let noise = plan.noise * (2.0 * draw.uniform(owner, i as u32) - 1.0);
                let share = (used[resource] + bursts[i] + noise).clamp(0.0, 1.0);
                let value = if meter == Meter::Sent { share * plan.capacity[resource] * MB } else { share };
                Sample { from: i as f64, to: (i + 1) as f64, value }
            };
            let samples = seconds.iter().enumerate().map(sample).collect();
            vec![Series { host: format!("node{node}"), device: "all".to_owned(), meter, samples }]
        };
        NodeMeters {
            cpu: series(0, Meter::CpuBusy),
            disk: series(1, Meter::DiskBusy),
            network: series(2, Meter::Sent),
            ..NodeMeters::default()
        }
    };
    seconds.iter().enumerate().map(of).collect()
}

/// Least and largest height of harmless bursts, as shares.
const BURST: [f64; 2] = [0.3, 0.8];

/// Returns the share of a resource that harmless bursts add to its use in each second.
fn bursts(plan: &GeneratorPlan, draw: &Draw, series: u32, seconds: usize) -> Vec<f64> {
    let mut shares = vec![0.0; seconds];
    let (between, lasting) = plan.bursts;
    let mut at = 0.0;
    for sample in 0_u32.. {
        let owner = BURSTS + series;
        at += -between * libm::log(1.0 - draw.uniform(owner, 3 * sample));
        let first = at as usize;
        if first >= seconds {
            return shares;
        }
        let last = (at + draw.between(owner, 3 * sample + 1, lasting)) as usize;
        let height = draw.between(owner, 3 * sample + 2, BURST);
        shares[first..last.min(seconds)].fill(height);
        at = last as f64;
    }
    shares
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bigroots::plan::Anomaly;

    #[test]
    fn capacity_is_shared_alike_up_to_what_each_can_take() {
        assert_eq!(level(8.0, vec![(4.0, 1.0)]), Level { most: f64::INFINITY, used: 0.5 });
        assert_eq!(level(8.0, vec![(4.0, 1.0), (8.0, 1.0)]), Level { most: 8.0 / 12.0, used: 1.0 });
        // hogs take their 10 each, two tasks share what is left
        assert_eq!(level(110.0, vec![(2.0, 40.0), (8.0, 10.0)]), Level { most: 15.0, used: 1.0 });
        assert_eq!(level(110.0, vec![(1.0, 40.0), (8.0, 14.0)]), Level { most: 110.0 / 9.0, used: 1.0 });
        assert_eq!(level(1.0, Vec::new()).used, 0.0);
    }

    /// A task that is alone on a node: each step takes its work divided by the maximum rate of the task.
    #[test]
    fn a_task_alone_takes_the_sum_of_its_steps() {
        let plan = GeneratorPlan {
            nodes: 1,
            slots: 1,
            stages: [1, 2],
            spread: [0.0, 0.0],
            skewed: (0.0, [1.0, 1.0]),
            self_loading: (0.0, [1.0, 1.0]),
            ..GeneratorPlan::default()
        };
        let job = generate(&plan, 3);
        let each = 15.0 / 30.0 + 12.0 / 20.0 + 1.0 + 8.0 / 20.0;
        for task in &job.stages[0] {
            assert!((task.seconds() - each).abs() < 1e-6, "{}", task.seconds());
        }
        // with eight processes of a hog on four processors the computing second takes 9/4
        let hog = Hog { node: 0, resource: Feature::Cpu, from: 0.0, to: 100.0 };
        let hogged = generate(&GeneratorPlan { anomaly: Anomaly::Schedule(vec![hog]), ..plan.clone() }, 3);
        assert!((hogged.stages[0][0].seconds() - each - 5.0 / 4.0).abs() < 1e-6, "{}", hogged.stages[0][0].seconds());
        // on a disk that seeks, 48 MB/s are shared by nine
        let hog = Hog { resource: Feature::Disk, ..hog };
        let hogged = generate(&GeneratorPlan { anomaly: Anomaly::Schedule(vec![hog]), ..plan }, 3);
        let each = 15.0 / 30.0 + 1.0 + 20.0 * 9.0 / 48.0;
        assert!((hogged.stages[0][1].seconds() - each).abs() < 1e-6, "{}", hogged.stages[0][1].seconds());
    }

    /// The samples show the work that was done: without noise and bursts, the sums agree.
    #[test]
    fn samples_add_up_to_the_work_that_was_done() {
        let plan =
            GeneratorPlan { noise: 0.0, bursts: (1e12, [1.0, 2.0]), stages: [2, 50], ..GeneratorPlan::default() };
        let job = generate(&plan, 11);
        let sum = |of: fn(&NodeMeters) -> &Vec<Series>| -> f64 {
            job.nodes.iter().flat_map(of).flat_map(|series| &series.samples).map(|sample| sample.value).sum()
        };
        let stated =
            |feature: Feature| -> f64 { job.stages.iter().flatten().filter_map(|t| t.stated[feature as usize]).sum() };
        let moved = sum(|node| &node.network) + sum(|node| &node.disk) * plan.capacity[1] * MB;
        let expected = stated(Feature::ReadBytes) + stated(Feature::ShuffleWrite);
        assert!((moved / expected - 1.0).abs() < 1e-9, "{moved} {expected}");
        assert_eq!(job.stages.iter().map(Vec::len).collect::<Vec<_>>(), [50, 50]);
    }
}
