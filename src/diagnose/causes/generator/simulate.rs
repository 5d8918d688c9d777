//! One job: streams of tasks and hogs share the resources of nodes, from event to event.

use crate::diagnose::causes::feature::{FEATURES, Feature, RESOURCES};
use crate::diagnose::causes::generator::plan::{GeneratorPlan, Hog};
use crate::diagnose::causes::nodes::NodeMeters;
use crate::diagnose::causes::records::TaskRecord;
use crate::diagnose::causes::score::{Truth, TruthWindow};
use crate::diagnose::samples::{Meter, Sample, Series};
use crate::estimate::normal_quantile;
use crate::rng::{Address, Purpose, split};

/// Bytes of a megabyte.
const MB: f64 = 1e6;
/// A time that is too short to matter \[s\], and work that is none.
const NOTHING: f64 = 1e-9;
/// Seconds that samples go on after the last task, and begin before the first.
const MARGIN: f64 = 5.0;

/// A generated job.
#[derive(Clone, Debug, PartialEq)]
pub struct Generated {
    /// Its tasks.
    pub tasks: Vec<TaskRecord>,
    /// What samplers saw of each node, by its number.
    pub nodes: Vec<NodeMeters>,
    /// What was done to the nodes.
    pub truth: Truth,
    /// When the last task ended \[s\].
    pub end: f64,
}

/// Random numbers by address: of a seed, for a purpose, the `i`-th of an owner.
#[derive(Clone, Copy, Debug)]
pub(super) struct Draw {
    key: [u32; 2],
}

impl Draw {
    pub(super) fn new(seed: u64) -> Self {
        Self { key: split(seed) }
    }

    /// Uniform in (0, 1).
    pub(super) fn uniform(&self, owner: u32, sample: u32) -> f64 {
        let words = Address { purpose: Purpose::Attempt, owner, sample }.words(self.key, 0);
        (f64::from(words[0]) + 0.5) / (f64::from(u32::MAX) + 1.0)
    }

    fn between(&self, owner: u32, sample: u32, [low, high]: [f64; 2]) -> f64 {
        low + (high - low) * self.uniform(owner, sample)
    }

    /// A lognormal factor with mean 1.
    fn lognormal(&self, owner: u32, sample: u32, sigma: f64) -> f64 {
        libm::exp(sigma * normal_quantile(self.uniform(owner, sample)) - 0.5 * sigma * sigma)
    }
}

/// What a task uses one after the other: network, disk, processor, disk.
const STEPS: [usize; 4] = [2, 1, 0, 1];
/// Owners of draws about bursts and noise.
const BURSTS: u32 = 1 << 28;
const NOISE: u32 = 1 << 29;

/// A running task.
#[derive(Clone, Debug)]
struct Running {
    task: usize,
    node: usize,
    from: f64,
    step: usize,
    /// Work that is left in this step.
    left: f64,
}

/// The use of a node's resources up to now in the current second, as shares or MB.
type Used = [f64; RESOURCES.len()];

/// Generates the job of a seed.
pub fn generate(plan: &GeneratorPlan, seed: u64) -> Generated {
    let draw = Draw::new(seed);
    let hogs = plan.hogs(&draw);
    let needs: Vec<[f64; 4]> = (0..plan.tasks).map(|task| needs(plan, &draw, task)).collect();
    let mut job = Job::new(plan, &hogs, &needs);
    while job.advance() {}
    let end = job.now;
    job.run_on(end + MARGIN);
    let truth = hogs.iter().map(|h| TruthWindow { node: h.node, resource: h.resource, from: h.from, to: h.to });
    Generated { nodes: meters(plan, &draw, &job.seconds), truth: Truth { windows: truth.collect() }, end, tasks: job.done }
}

/// What a task needs in each step: MB, MB, seconds, MB.
fn needs(plan: &GeneratorPlan, draw: &Draw, task: usize) -> [f64; 4] {
    let owner = task as u32;
    let factor = |sample, (share, range): (f64, [f64; 2])| {
        if draw.uniform(owner, sample) < share { draw.between(owner, sample + 1, range) } else { 1.0 }
    };
    let data = factor(0, plan.skewed);
    let code = factor(2, plan.slow_code);
    std::array::from_fn(|step| {
        let own = draw.lognormal(owner, 4 + step as u32, plan.spread);
        plan.needs[step] * own * data * if step == 2 { code } else { 1.0 }
    })
}

struct Job<'p> {
    plan: &'p GeneratorPlan,
    hogs: &'p [Hog],
    needs: &'p [[f64; 4]],
    now: f64,
    next_task: usize,
    running: Vec<Running>,
    done: Vec<TaskRecord>,
    /// The use of each node in each second that is over, and in the one that is not.
    seconds: Vec<Vec<Used>>,
    used: Vec<Used>,
}

impl<'p> Job<'p> {
    fn new(plan: &'p GeneratorPlan, hogs: &'p [Hog], needs: &'p [[f64; 4]]) -> Self {
        let mut job = Self {
            plan,
            hogs,
            needs,
            now: 0.0,
            next_task: 0,
            running: Vec::new(),
            done: Vec::new(),
            seconds: vec![Vec::new(); plan.nodes],
            used: vec![Used::default(); plan.nodes],
        };
        for _ in 0..plan.slots {
            (0..plan.nodes).for_each(|node| job.launch(node));
        }
        job
    }

    fn launch(&mut self, node: usize) {
        let task = self.next_task;
        if let Some(needs) = self.needs.get(task) {
            self.next_task += 1;
            self.running.push(Running { task, node, from: self.now, step: 0, left: needs[0] });
        }
    }

    /// Capacity, and the most that a task and a process of a hog take, of a resource.
    fn limits(&self, resource: usize) -> [f64; 3] {
        let plan = self.plan;
        let [capacity, stream] = [[plan.processors, 1.0], plan.disk, plan.network][resource];
        [capacity, stream, plan.hog_demand[resource]]
    }

    /// How many processes of hogs want each resource of a node.
    fn hog_processes(&self, node: usize, resource: usize) -> f64 {
        let works = |hog: &&Hog| {
            hog.node == node && hog.resource.resource() == Some(resource) && hog.from <= self.now && self.now < hog.to
        };
        self.hogs.iter().filter(works).count() as f64 * self.plan.hog_processes
    }

    /// What each task gets of each resource of each node, and the use of the resource.
    fn rates(&self) -> Vec<[(f64, f64); RESOURCES.len()]> {
        let mut users = vec![[0.0; RESOURCES.len()]; self.plan.nodes];
        for running in &self.running {
            users[running.node][STEPS[running.step]] += 1.0;
        }
        let of = |(node, users): (usize, &[f64; RESOURCES.len()])| {
            std::array::from_fn(|resource| {
                let [capacity, own, hog] = self.limits(resource);
                share(capacity, (users[resource], own), (self.hog_processes(node, resource), hog))
            })
        };
        users.iter().enumerate().map(of).collect()
    }

    /// Goes to the next event: the end of a step, the start or end of a hog, a full second. False where all is done.
    fn advance(&mut self) -> bool {
        if self.running.is_empty() {
            return false;
        }
        let rates = self.rates();
        let ends = self.running.iter().map(|r| r.left / rates[r.node][STEPS[r.step]].0);
        let until = ends.fold(self.next_border() - self.now, f64::min).max(0.0);
        self.pass(until, &rates);
        for running in &mut self.running {
            running.left -= until * rates[running.node][STEPS[running.step]].0;
        }
        self.finish_steps();
        true
    }

    /// The next full second, or start or end of a hog.
    fn next_border(&self) -> f64 {
        let second = (self.now + NOTHING).floor() + 1.0;
        let hogs = self.hogs.iter().flat_map(|hog| [hog.from, hog.to]).filter(|&time| time > self.now + NOTHING);
        hogs.fold(second, f64::min)
    }

    /// Lets time pass, and counts the use of resources.
    fn pass(&mut self, seconds: f64, rates: &[[(f64, f64); RESOURCES.len()]]) {
        for (used, rates) in self.used.iter_mut().zip(rates) {
            for (used, (_, use_of_it)) in used.iter_mut().zip(rates) {
                *used += seconds * use_of_it;
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
            if let Some(&left) = self.needs[running.task].get(running.step) {
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
        let needs = self.needs[ended.task];
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
            succeeded: true,
            stated,
        }
    }

    /// Lets the nodes go on without tasks.
    fn run_on(&mut self, until: f64) {
        while self.now < until {
            let rates = self.rates();
            let step = self.next_border() - self.now;
            self.pass(step, &rates);
        }
    }
}

/// Shares a capacity among users that each take a limited part at most, all others alike (max-min fairness): what each of the first
/// kind gets, and what is used of the capacity.
fn share(capacity: f64, (own, own_most): (f64, f64), (hogs, hog_most): (f64, f64)) -> (f64, f64) {
    let wanted = own * own_most + hogs * hog_most;
    if wanted <= capacity {
        return (own_most, wanted);
    }
    let fair = capacity / (own + hogs);
    let rate = if own_most <= fair {
        own_most
    } else if hog_most <= fair {
        ((capacity - hogs * hog_most) / own).min(own_most)
    } else {
        fair
    };
    (rate, capacity)
}

/// What samplers see: shares with noise and bursts, once a second.
fn meters(plan: &GeneratorPlan, draw: &Draw, seconds: &[Vec<Used>]) -> Vec<NodeMeters> {
    let of = |(node, seconds): (usize, &Vec<Used>)| {
        let series = |resource: usize, meter: Meter, capacity: f64| {
            let bursts = bursts(plan, draw, (node * RESOURCES.len() + resource) as u32, seconds.len());
            let sample = |(i, used): (usize, &Used)| {
                let owner = NOISE + (node * RESOURCES.len() + resource) as u32;
                let noise = plan.noise * (2.0 * draw.uniform(owner, i as u32) - 1.0);
                let share = (used[resource] / capacity + bursts[i] + noise).clamp(0.0, 1.0);
                let value = if meter == Meter::Sent { share * capacity * MB } else { share };
                Sample { from: i as f64, to: (i + 1) as f64, value }
            };
            let samples = seconds.iter().enumerate().map(sample).collect();
            vec![Series { host: format!("node{node}"), device: "all".to_owned(), meter, samples }]
        };
        NodeMeters {
            cpu: series(0, Meter::CpuBusy, plan.processors),
            disk: series(1, Meter::DiskBusy, plan.disk[0]),
            network: series(2, Meter::Sent, plan.network[0]),
            shift: 0.0,
        }
    };
    seconds.iter().enumerate().map(of).collect()
}

/// How high harmless bursts are, as shares.
const BURST: [f64; 2] = [0.3, 0.8];

/// The share that harmless bursts take of a resource in each second.
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
    use crate::diagnose::causes::generator::plan::Anomaly;

    #[test]
    fn capacity_is_shared_alike_up_to_what_each_can_take() {
        assert_eq!(share(8.0, (4.0, 1.0), (0.0, 1.0)), (1.0, 4.0));
        assert_eq!(share(8.0, (4.0, 1.0), (8.0, 1.0)), (8.0 / 12.0, 8.0));
        // hogs take their 12 each, two tasks share what is left
        assert_eq!(share(110.0, (2.0, 40.0), (8.0, 12.0)), (11.0, 110.0));
        assert_eq!(share(110.0, (1.0, 40.0), (8.0, 12.0)), (110.0 / 9.0, 110.0));
    }

    /// One task alone on one node: each step takes its work over the rate of one stream.
    #[test]
    fn a_task_alone_takes_the_sum_of_its_steps() {
        let plan = GeneratorPlan {
            nodes: 1,
            slots: 1,
            tasks: 2,
            spread: 0.0,
            skewed: (0.0, [1.0, 1.0]),
            slow_code: (0.0, [1.0, 1.0]),
            ..GeneratorPlan::default()
        };
        let job = generate(&plan, 3);
        let each = 24.0 / 40.0 + 36.0 / 60.0 + 1.0 + 24.0 / 60.0;
        for task in &job.tasks {
            assert!((task.seconds() - each).abs() < 1e-6, "{}", task.seconds());
        }
        // with a hog on the processors from the start the computing second takes 9/8
        let hog = Hog { node: 0, resource: Feature::Cpu, from: 0.0, to: 100.0 };
        let hogged = generate(&GeneratorPlan { anomaly: Anomaly::Schedule(vec![hog]), ..plan }, 3);
        assert!((hogged.tasks[0].seconds() - each - 1.0 / 8.0).abs() < 1e-6, "{}", hogged.tasks[0].seconds());
        assert!((hogged.end - 2.0 * (each + 0.125)).abs() < 1e-6);
    }

    /// What the samples show is what was transferred: without noise and bursts the sums agree.
    #[test]
    fn samples_add_up_to_the_work_that_was_done() {
        let plan = GeneratorPlan { noise: 0.0, bursts: (1e12, [1.0, 2.0]), tasks: 100, ..GeneratorPlan::default() };
        let job = generate(&plan, 11);
        let sum = |of: &dyn Fn(&NodeMeters) -> &Vec<Series>| -> f64 {
            job.nodes.iter().flat_map(of).flat_map(|s| &s.samples).map(|sample| sample.value).sum()
        };
        let stated = |feature: Feature| -> f64 { job.tasks.iter().filter_map(|t| t.stated[feature as usize]).sum() };
        let moved = sum(&|node| &node.network) + sum(&|node| &node.disk) * plan.disk[0] * MB;
        let expected = stated(Feature::ReadBytes) + stated(Feature::ShuffleWrite);
        assert!((moved / expected - 1.0).abs() < 1e-9, "{moved} {expected}");
        assert_eq!(job.tasks.len(), 100);
    }
}
