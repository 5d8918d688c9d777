//! One replication: the event loop, and its handling of task ends, job arrivals, node slow-downs and node failures.
//!
//! Implements the state of a run and its events. `placing` assigns slots, `looking` builds the detectors' view and handles flags, `node` advances a node's
//! work. All memory is kept from one replication to the next.

use crate::cluster::detect::{Category, Finished, Flag, NodeSpeed, RunningTask};
use crate::cluster::metrics::{Tally, TaskRecord};
use crate::cluster::next_event::Timers;
use crate::cluster::node::{NOBODY, Node};
use crate::cluster::outcome::{Outcome, RunFault};
use crate::cluster::policy::Policy;
use crate::cluster::world::World;
use crate::rng::{Address, FRACTION_BITS, Purpose, exponential};
use crate::watch::Watch;

/// Events and detector checks between two checks of the stop condition: some milliseconds.
const BETWEEN_LOOKS: u64 = 1 << 10;

/// Events on nodes per task and node after which a run is abandoned.
const MOST_EVENTS: u64 = 10_000;

/// An attempt of a task.
#[derive(Clone, Copy, Debug)]
pub(super) struct Attempt {
    pub(super) task: u32,
    pub(super) node: u32,
    /// Time at which the attempt got its slot \[s\].
    pub(super) start: f64,
    /// Work of the node when the attempt got its slot, when its progress starts, and when it finishes \[s\].
    pub(super) from_work: f64,
    pub(super) progress_work: f64,
    pub(super) end_work: f64,
    /// Work of fetching, the first third of a reduce's score.
    pub(super) fetch: f64,
    pub(super) is_copy: bool,
    /// True if the attempt holds a slot that only copies may take.
    pub(super) on_copy_slot: bool,
    /// True if the attempt holds a slot without using a core, as a reduce does before the maps have finished.
    pub(super) idle: bool,
}

impl Attempt {
    /// Returns the progress score when the node has done `work`.
    pub(super) fn score(&self, work: f64) -> f64 {
        let done = work - self.progress_work;
        let all = self.end_work - self.progress_work;
        if done <= 0.0 {
            return 0.0;
        }
        let score = if self.fetch <= 0.0 {
            done / all
        } else if done < self.fetch {
            done / self.fetch / 3.0
        } else {
            (1.0 + 2.0 * (done - self.fetch) / (all - self.fetch)) / 3.0
        };
        score.min(1.0)
    }
}

/// State of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Status {
    Waiting,
    Running,
    Done,
}

/// A task.
#[derive(Clone, Copy, Debug)]
pub(super) struct Task {
    pub(super) status: Status,
    pub(super) original: u32,
    pub(super) copy: u32,
    /// Number of attempts so far.
    pub(super) attempts: u32,
    /// Time at which a copy was requested \[s\]; NaN before.
    pub(super) requested: f64,
    /// Time from the start of the original to the first detection \[s\]; NaN before.
    pub(super) detected: f64,
    /// Time of the original attempt \[s\], estimated if it was killed.
    pub(super) time: f64,
    /// Number of times the task was killed and restarted; `time` is the estimated time of the first of these attempts.
    pub(super) restarts: u32,
    /// The node on which the task was killed; the task does not restart there.
    pub(super) avoid: u32,
}

const NEW_TASK: Task = Task {
    status: Status::Waiting,
    original: NOBODY,
    copy: NOBODY,
    attempts: 0,
    requested: f64::NAN,
    detected: f64::NAN,
    time: f64::NAN,
    restarts: 0,
    avoid: NOBODY,
};

/// The maps or reduces of a job.
#[derive(Clone, Debug, Default)]
pub(super) struct Tasks {
    /// Tasks that wait for a slot.
    pub(super) waiting: u32,
    /// The first waiting task that never ran, or a task before it.
    pub(super) next: u32,
    /// Tasks that wait again after a failure.
    pub(super) again: Vec<u32>,
    pub(super) done: u32,
    pub(super) finished: Finished,
    pub(super) last_request: Option<f64>,
}

/// A job.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Job {
    pub(super) here: bool,
    /// Submission time \[s\]; infinite while the job waits for other jobs.
    pub(super) arrival: f64,
    /// Number of slots that the job holds.
    pub(super) slots: u32,
    /// Time from submission to end \[s\]; NaN before.
    pub(super) time: f64,
}

/// Runs replications in a world.
#[derive(Debug)]
pub(super) struct Simulator<'w> {
    /// Condition that may stop a replication.
    watch: &'w dyn Watch,
    pub(super) world: &'w World,
    /// Usual time of each task \[s\]; empty while the usual times are being determined.
    pub(super) usual: &'w [f64],
    pub(super) straggler_factor: f64,
    pub(super) replication: u64,
    pub(super) now: f64,
    pub(super) nodes: Vec<Node>,
    pub(super) attempts: Vec<Attempt>,
    /// Attempts that hold a slot, in the order in which they started.
    pub(super) running: Vec<u32>,
    /// The same attempts by node: `stride` entries for each node, filled from the first.
    pub(super) held: Vec<u32>,
    pub(super) stride: usize,
    /// Per node: true if nothing more can be placed on it now. Kept to reuse the memory.
    pub(super) satisfied: Vec<bool>,
    pub(super) tasks: Vec<Task>,
    pub(super) categories: Vec<Tasks>,
    pub(super) jobs: Vec<Job>,
    /// Requested copies in the order of the requests, by task.
    pub(super) wanted: Vec<u32>,
    /// Next map of each list of local maps.
    pub(super) local_next: Vec<u32>,
    /// One timer per node, then the next check, then the next job.
    pub(super) timers: Timers,
    pub(super) outcome: Outcome,
    /// Input and output of a detector, kept to reuse the memory.
    pub(super) seen: Vec<RunningTask>,
    pub(super) speeds: Vec<NodeSpeed>,
    pub(super) flags: Vec<Flag>,
}

impl<'w> Simulator<'w> {
    pub(super) fn new(world: &'w World, usual: &'w [f64], straggler_factor: f64, watch: &'w dyn Watch) -> Self {
        let stride = world.nodes.iter().map(|node| node.slots as usize).max().unwrap_or(0);
        Self {
            watch,
            world,
            usual,
            straggler_factor,
            replication: 0,
            now: 0.0,
            nodes: Vec::with_capacity(world.nodes.len()),
            attempts: Vec::with_capacity(2 * world.tasks.len()),
            running: Vec::new(),
            held: vec![NOBODY; stride * world.nodes.len()],
            stride,
            satisfied: Vec::new(),
            tasks: vec![NEW_TASK; world.tasks.len()],
            categories: vec![Tasks::default(); world.categories.len()],
            jobs: vec![Job::default(); world.jobs.len()],
            wanted: Vec::new(),
            local_next: vec![0; world.nodes.len() * world.jobs.len()],
            timers: Timers::new(world.nodes.len() + 2),
            outcome: Outcome::default(),
            seen: Vec::new(),
            speeds: Vec::new(),
            flags: Vec::new(),
        }
    }

    /// Returns the timer of the detector's next check.
    pub(super) fn look_timer(&self) -> usize {
        self.world.nodes.len()
    }

    /// Returns the timer of the next job arrival.
    fn arrival_timer(&self) -> usize {
        self.world.nodes.len() + 1
    }

    /// Runs one replication under a policy.
    pub(super) fn run(&mut self, policy: &Policy<'_>, replication: u64) -> Result<Outcome, RunFault> {
        self.reset(policy, replication);
        let limit = MOST_EVENTS.saturating_mul((self.tasks.len() + self.nodes.len()) as u64);
        let (mut events, mut steps) = (0, 0_u64);
        while self.jobs.iter().any(|job| job.time.is_nan()) {
            let (timer, time) = self.timers.first();
            if time == f64::INFINITY || events > limit {
                let done = self.categories.iter().map(|tasks| tasks.done).sum();
                return Err(RunFault::NoEnd { events, done, tasks: self.tasks.len() as u32 });
            }
            steps += 1;
            if steps.is_multiple_of(BETWEEN_LOOKS) && self.watch.stopped() {
                return Err(RunFault::Stopped);
            }
            self.now = time.max(self.now);
            if timer == self.look_timer() {
                self.look(policy);
            } else if timer == self.arrival_timer() {
                self.arrive(policy);
            } else {
                events += 1;
                self.node_event(timer, policy);
            }
        }
        Ok(self.close())
    }

    fn reset(&mut self, policy: &Policy<'_>, replication: u64) {
        let world = self.world;
        (self.replication, self.now) = (replication, 0.0);
        self.nodes.clear();
        self.attempts.clear();
        self.running.clear();
        self.tasks.fill(NEW_TASK);
        for (tasks, spec) in self.categories.iter_mut().zip(&world.categories) {
            (tasks.waiting, tasks.next, tasks.done, tasks.last_request) = (spec.count, spec.first, 0, None);
            tasks.again.clear();
            tasks.finished.clear();
        }
        self.jobs.fill(Job { time: f64::NAN, arrival: f64::INFINITY, ..Job::default() });
        for job in 0..self.jobs.len() {
            if world.jobs[job].after.is_empty() {
                self.jobs[job].arrival = self.arrival_delay(job);
            }
        }
        self.wanted.clear();
        self.local_next.fill(0);
        self.timers.clear();
        self.outcome = Outcome::default();
        for (number, spec) in world.nodes.iter().enumerate() {
            let phase = world.heartbeat * (number as f64 + 0.5) / world.nodes.len() as f64;
            let mut node = Node::new(*spec, policy.kept[number], phase, &world.power);
            node.lot = self.node_words(number, 0)[0];
            if spec.from > 0.0 {
                (node.up, node.next_failure) = (false, spec.from);
            }
            self.nodes.push(node);
            self.draw_slowdown(number);
            self.draw_failure(number);
            self.timers.set(number, self.nodes[number].next_event());
        }
        self.set_arrival_timer();
        self.set_look_timer(policy);
    }

    fn set_arrival_timer(&mut self) {
        let coming = self.jobs.iter().filter(|job| !job.here);
        let next = coming.map(|job| job.arrival).fold(f64::INFINITY, f64::min);
        self.timers.set(self.arrival_timer(), next);
    }

    /// Returns the time from the start, or from the end of the jobs it follows, to the submission of a job \[s\].
    fn arrival_delay(&self, job: usize) -> f64 {
        const STAGES: u32 = 4;
        let spec = &self.world.jobs[job];
        if !spec.arrival_varies {
            return spec.arrival;
        }
        let owner = Address { purpose: Purpose::Setup, owner: job as u32, sample: 0 };
        let words = owner.words(self.world.key, self.replication);
        let sum: f64 = words.iter().map(|word| f64::from(exponential(*word))).sum();
        spec.arrival * sum / f64::from(STAGES) / f64::from(1_u32 << FRACTION_BITS)
    }

    fn arrive(&mut self, policy: &Policy<'_>) {
        for job in &mut self.jobs {
            job.here |= job.arrival <= self.now;
        }
        self.set_arrival_timer();
        self.place_everywhere(policy);
    }

    /// Handles the events of a node, in this order: a task ends, a slow-down starts or ends, the node fails
    /// or recovers, its tasks are abandoned.
    fn node_event(&mut self, node: usize, policy: &Policy<'_>) {
        self.advance(node);
        let state = &mut self.nodes[node];
        if state.next_slowdown <= self.now {
            self.slow_down_or_recover(node);
        } else if state.expiry <= self.now {
            state.expiry = f64::INFINITY;
            self.lose_tasks(node);
            self.place_everywhere(policy);
        } else if state.next_failure <= self.now {
            self.fail_or_return(node, policy);
        } else {
            // rounding of the time must not leave a task just short of its end
            state.work = state.work.max(state.first_work);
            let first = state.first;
            self.finish(first, policy);
        }
        self.follow(node);
    }

    /// Finishes a task: kills its other attempt, frees its slots, and releases the tasks that waited for it.
    fn finish(&mut self, winner: u32, policy: &Policy<'_>) {
        let attempt = self.attempts[winner as usize];
        let task = attempt.task as usize;
        let state = self.tasks[task];
        let took = self.release(winner);
        self.nodes[attempt.node as usize].finished += 1;
        let loser = if state.original == winner { state.copy } else { state.original };
        let first = state.restarts == 0;
        if first {
            self.tasks[task].time = took;
        }
        if first && state.copy != winner && self.world.known.as_ref().is_some_and(|known| known.is_bound(task)) {
            self.outcome.at_least = true;
        }
        if loser != NOBODY {
            let killed = self.attempts[loser as usize];
            self.advance(killed.node as usize);
            let wasted = self.release(loser);
            self.outcome.wasted_s += wasted;
            if state.copy == winner {
                self.outcome.won += 1;
                if first {
                    self.tasks[task].time = self.whole_time(&killed, wasted);
                }
            }
        }
        self.tasks[task].status = Status::Done;
        self.wanted.retain(|&wanted| wanted as usize != task);
        let spec = self.world.tasks[task];
        let category = spec.category as usize;
        let tasks = &mut self.categories[category];
        tasks.done += 1;
        tasks.finished.push(took, spec.size);
        let (done, count) = (tasks.done, self.world.categories[category].count);
        let job = category / 2;
        if done == count {
            self.category_done(category);
        }
        let is_map = self.world.categories[category].kind == Category::Map;
        if is_map && done == self.world.jobs[job].slow_start {
            // reduces may take any idle slot now; later only slots that become free
            return self.place_everywhere(policy);
        }
        if loser != NOBODY {
            let node = self.attempts[loser as usize].node as usize;
            self.place_on(node, policy);
            self.follow(node);
        }
        self.place_on(attempt.node as usize, policy);
    }

    /// Returns the time that a killed attempt would have taken, estimated from its progress until it was killed \[s\].
    pub(super) fn whole_time(&self, killed: &Attempt, held: f64) -> f64 {
        let done = self.nodes[killed.node as usize].work - killed.from_work;
        held * ((killed.end_work - killed.from_work) / done).max(1.0)
    }

    /// Handles the end of a category: the last map starts the reduces that wait in their slots; the last task of all ends the job.
    fn category_done(&mut self, category: usize) {
        let job = category / 2;
        let reduces = 2 * job + 1;
        if category != reduces && self.world.categories[reduces].count > 0 {
            for at in 0..self.running.len() {
                let number = self.running[at];
                let task = self.attempts[number as usize].task as usize;
                if self.world.tasks[task].category as usize == reduces {
                    self.begin_reduce(number);
                }
            }
            return;
        }
        self.jobs[job].time = self.now - self.jobs[job].arrival;
        for next in job + 1..self.jobs.len() {
            let after = &self.world.jobs[next].after;
            if after.contains(&job) && after.iter().all(|&before| !self.jobs[before].time.is_nan()) {
                self.jobs[next].arrival = self.now + self.arrival_delay(next);
                self.set_arrival_timer();
            }
        }
    }

    /// Starts a reduce that waited in its slot until all maps finished. It still fetches the input that was not available earlier.
    fn begin_reduce(&mut self, number: u32) {
        let attempt = self.attempts[number as usize];
        let node = attempt.node as usize;
        self.advance(node);
        let maps =
            f64::from(self.world.categories[self.world.tasks[attempt.task as usize].category as usize - 1].count);
        let waited = self.now - attempt.start;
        // it fetches at full speed while it waits, but the last map's output is new
        let fetched = if attempt.fetch > 0.0 { (waited / attempt.fetch).min((maps - 1.0) / maps) } else { 0.0 };
        let begun = self.nodes[node].work - fetched * attempt.fetch;
        let attempt = &mut self.attempts[number as usize];
        attempt.end_work += begun - attempt.progress_work;
        attempt.progress_work = begun;
        attempt.from_work = begun;
        attempt.idle = false;
        self.nodes[node].busy += 1;
        self.follow(node);
    }

    /// Removes an attempt from its node; returns the time for which the attempt held its slot \[s\].
    pub(super) fn release(&mut self, number: u32) -> f64 {
        let attempt = self.attempts[number as usize];
        let node = &mut self.nodes[attempt.node as usize];
        if attempt.on_copy_slot {
            node.copy_slots_used -= 1;
        } else {
            node.task_slots_used -= 1;
        }
        node.busy -= u32::from(!attempt.idle);
        // the used slots of a node come first
        let (from, to) = (attempt.node as usize * self.stride, node.used() as usize);
        if let Some(at) = (from..=from + to).find(|&at| self.held[at] == number) {
            self.held.swap(at, from + to);
        }
        if let Ok(at) = self.running.binary_search(&number) {
            self.running.remove(at);
        }
        let job = self.world.tasks[attempt.task as usize].category as usize / 2;
        self.jobs[job].slots -= 1;
        self.follow(attempt.node as usize);
        let held = self.now - attempt.start;
        self.outcome.used_s += held;
        held
    }

    /// Advances a node to the current time.
    pub(super) fn advance(&mut self, node: usize) {
        self.nodes[node].advance(self.now, self.world.heartbeat);
    }

    /// Updates a node after a change: its rate, its next end, its timer.
    pub(super) fn follow(&mut self, node: usize) {
        let (mut first, mut first_work) = (NOBODY, f64::INFINITY);
        let state = &mut self.nodes[node];
        let from = node * self.stride;
        for &number in &self.held[from..from + state.used() as usize] {
            let attempt = &self.attempts[number as usize];
            let earlier = attempt.end_work.total_cmp(&first_work).then(number.cmp(&first)).is_lt();
            if !attempt.idle && earlier {
                (first, first_work) = (number, attempt.end_work);
            }
        }
        (state.first, state.first_work) = (first, first_work);
        state.set_rate(&self.world.power);
        self.timers.set(node, state.next_event());
    }

    /// Returns the outcome of a replication whose jobs have finished.
    fn close(&mut self) -> Outcome {
        for node in 0..self.nodes.len() {
            self.advance(node);
        }
        let mut outcome = self.outcome;
        outcome.makespan_s = self.now;
        outcome.energy_j = self.nodes.iter().map(|node| node.energy).sum();
        outcome.job_s = match &self.world.known {
            Some(known) => self.now + known.end_s,
            None => self.jobs.iter().map(|job| job.time).sum::<f64>() / self.jobs.len() as f64,
        };
        outcome.maps = self.tally(Category::Map);
        outcome.reduces = self.tally(Category::Reduce);
        outcome
    }

    fn tally(&self, kind: Category) -> Tally {
        let mut tally = Tally::default();
        for ((task, &usual_s), spec) in self.tasks.iter().zip(self.usual).zip(&self.world.tasks) {
            if self.world.categories[spec.category as usize].kind == kind {
                let detected_s = (!task.detected.is_nan()).then_some(task.detected);
                tally.push(&TaskRecord { time_s: task.time, usual_s, detected_s }, self.straggler_factor);
            }
        }
        tally
    }

    /// Returns the times of the tasks in the last replication \[s\].
    pub(super) fn times(&self) -> impl Iterator<Item = f64> {
        self.tasks.iter().map(|task| task.time)
    }
}
