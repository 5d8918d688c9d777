//! One replication: the event loop, and its handling of task ends, job arrivals, node slow-downs and node failures.
//!
//! Implements the state of a run and its events. `ending` handles ends, `placing` assigns slots, `looking` builds the detectors' view and handles flags, `node` advances a node's
//! work. All memory is kept from one replication to the next.

use std::collections::BinaryHeap;

use crate::cluster::detect::{Category, Finished, Flag, NodeSpeed, RunningTask};
use crate::cluster::metrics::{Tally, TaskRecord};
use crate::cluster::next_event::Timers;
use crate::cluster::node::{NOBODY, Node, Open};
use crate::cluster::outcome::{Outcome, RunFault};
use crate::cluster::policy::Policy;
use crate::cluster::world::World;
use crate::job::Delay;
use crate::run::draws::{Draws, Four, MOST_PHASES};
use crate::run::overlap::Overlap;
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
    /// True once the attempt has ended or was killed.
    pub(super) is_over: bool,
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
    /// The delay before it, if this overlaps with the jobs before.
    pub(super) overlap: Overlap,
}

/// Random words of four attempts: of each phase, and the uniform numbers that decide which attempts are slow.
#[derive(Clone, Debug, Default)]
pub(super) struct Words {
    pub(super) of: Option<(Four, u64)>,
    pub(super) phases: [[u32; 4]; MOST_PHASES],
    pub(super) slow: [f64; 4],
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
    /// Attempts that hold a slot, in the order in which they started, and `over` attempts that are over.
    pub(super) running: Vec<u32>,
    pub(super) over: usize,
    /// Nodes that changed in this event.
    changes: Vec<u32>,
    /// Jobs that have not ended.
    pub(super) open_jobs: usize,
    /// The same attempts by node: `stride` entries for each node, filled from the first.
    pub(super) held: Vec<u32>,
    pub(super) stride: usize,
    /// Nodes with slots that became free at this time.
    pub(super) freed: Vec<u32>,
    /// True if any free slot may have a use now.
    pub(super) is_open: bool,
    /// Nodes that may have a use for a slot, while slots are filled. Kept to reuse the memory.
    pub(super) open: BinaryHeap<Open>,
    /// Nodes without a use for their free slots, while slots are filled. Kept to reuse the memory.
    pub(super) useless: Vec<u32>,
    /// Random words of four attempts, among them the last one.
    pub(super) words: Words,
    /// Work of the first attempt of each task on alike machines, in the last replication; NaN if it was not drawn. All policies need the same \[s\].
    pub(super) first_work: Vec<f64>,
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
    /// True if a detector checks the tasks.
    pub(super) detects: bool,
    /// True once a task has had as many attempts as there are draws for.
    pub(super) worn_out: bool,
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
            over: 0,
            changes: Vec::new(),
            open_jobs: 0,
            held: vec![NOBODY; stride * world.nodes.len()],
            stride,
            freed: Vec::new(),
            is_open: false,
            open: BinaryHeap::new(),
            useless: Vec::new(),
            words: Words::default(),
            first_work: vec![f64::NAN; if world.known.is_some() { world.tasks.len() } else { 0 }],
            tasks: vec![NEW_TASK; world.tasks.len()],
            categories: vec![Tasks::default(); world.categories.len()],
            jobs: vec![Job::default(); world.jobs.len()],
            wanted: Vec::new(),
            local_next: vec![0; world.nodes.len() * world.jobs.len()],
            timers: Timers::new(world.nodes.len() + 2),
            outcome: Outcome::default(),
            detects: false,
            worn_out: false,
            seen: Vec::new(),
            speeds: Vec::new(),
            flags: Vec::new(),
        }
    }

    /// Returns the timer of the next job arrival.
    fn arrival_timer(&self) -> usize {
        self.world.nodes.len()
    }

    /// Returns the timer of the detector's next check, the last of its time.
    pub(super) fn look_timer(&self) -> usize {
        self.world.nodes.len() + 1
    }

    /// Runs one replication under a policy.
    pub(super) fn run(&mut self, policy: &Policy<'_>, replication: u64) -> Result<Outcome, RunFault> {
        self.reset(policy, replication);
        let limit = MOST_EVENTS.saturating_mul((self.tasks.len() + self.nodes.len()) as u64);
        let (mut events, mut steps) = (0, 0_u64);
        self.settle();
        while self.open_jobs > 0 {
            let (timer, time) = self.timers.first();
            if time == f64::INFINITY || events > limit || self.worn_out {
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
                self.arrive();
            } else {
                events += 1;
                self.node_event(timer);
            }
            self.settle();
            // a slot is given away when everything else of its time has happened: a stage that becomes ready may need it more
            let (next, at) = self.timers.first();
            if at > self.now || next == self.look_timer() {
                self.fill(policy);
                self.settle();
            }
        }
        Ok(self.close())
    }

    fn reset(&mut self, policy: &Policy<'_>, replication: u64) {
        let world = self.world;
        if self.replication != replication {
            self.first_work.fill(f64::NAN);
        }
        (self.replication, self.now) = (replication, 0.0);
        self.nodes.clear();
        self.attempts.clear();
        self.running.clear();
        (self.over, self.open_jobs) = (0, self.jobs.len());
        self.changes.clear();
        self.freed.clear();
        self.is_open = false;
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
        self.detects = policy.detector.is_some();
        self.worn_out = false;
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

    pub(super) fn set_arrival_timer(&mut self) {
        let coming = self.jobs.iter().filter(|job| !job.here);
        let next = coming.map(|job| job.arrival).fold(f64::INFINITY, f64::min);
        self.timers.set(self.arrival_timer(), next);
    }

    /// Returns the time from the start, or from the end of the jobs it follows, to the submission of a job \[s\].
    pub(super) fn arrival_delay(&self, job: usize) -> f64 {
        self.driver_s(job, &self.world.jobs[job].arrival)
    }

    /// Returns a time of the driver: before a stage, or after the last \[s\].
    fn driver_s(&self, stage: usize, delay: &Delay) -> f64 {
        self.rounded(self.draws().delay_s(stage, delay))
    }

    /// Returns a time of the driver or of a task in a plan of tasks, rounded to ticks except in a recorded job \[s\].
    pub(super) fn rounded(&self, seconds: f64) -> f64 {
        if self.world.has_homes() {
            return seconds;
        }
        self.world.tick.seconds(self.world.tick.round(seconds))
    }

    /// Returns the draws of the replication.
    pub(super) fn draws(&self) -> Draws {
        Draws { key: self.world.key, replication: self.replication }
    }

    fn arrive(&mut self) {
        for job in &mut self.jobs {
            job.here |= job.arrival <= self.now;
        }
        self.set_arrival_timer();
        self.is_open = true;
    }

    /// Handles the events of a node, in this order: a task ends, a slow-down starts or ends, the node fails
    /// or recovers, its tasks are abandoned.
    fn node_event(&mut self, node: usize) {
        self.advance(node);
        let state = &mut self.nodes[node];
        if state.next_slowdown <= self.now {
            self.slow_down_or_recover(node);
        } else if state.expiry <= self.now {
            state.expiry = f64::INFINITY;
            self.lose_tasks(node);
            self.is_open = true;
        } else if state.next_failure <= self.now {
            self.fail_or_return(node);
        } else {
            // rounding of the time must not leave a task just short of its end
            state.work = state.work.max(state.first_work);
            let first = state.first;
            self.finish(first);
        }
        self.changed(node);
    }

    /// Removes the attempts that are over from the running ones.
    pub(super) fn forget_ended(&mut self) {
        let attempts = &self.attempts;
        self.running.retain(|&number| !attempts[number as usize].is_over);
        self.over = 0;
    }

    /// Marks a node as changed: at the end of the event, its rate, its next end and its timer are updated.
    pub(super) fn changed(&mut self, node: usize) {
        if !self.nodes[node].is_changed {
            self.nodes[node].is_changed = true;
            self.changes.push(node as u32);
        }
    }

    /// Updates the changed nodes.
    fn settle(&mut self) {
        while let Some(node) = self.changes.pop() {
            self.nodes[node as usize].is_changed = false;
            self.follow(node as usize);
        }
    }

    /// Updates a node after a change: its rate, its next end, its timer.
    fn follow(&mut self, node: usize) {
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
            Some(known) => self.now + self.driver_s(self.jobs.len(), &known.end),
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
