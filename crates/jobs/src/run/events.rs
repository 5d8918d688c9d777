//! A job whose tasks share what their machine has, event by event: cores, disk and network by processor sharing, GPUs by permits, and by processor sharing
//! where more tasks may hold them than there are GPUs.
//!
//! A task goes through its steps. A step that nothing can slow down has a known end, so only the other steps are events. A waiting task takes the free
//! slot on which its expected time is shortest. Permits are granted in the order of the requests, at equal times in the order of the launches. A slot is
//! given away when everything else of its time has happened.

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap, VecDeque};

use crate::job::{Job, JobStage, Machine, Tasks, Uses};
use crate::run::draws::{Draws, MOST_STAGES, Tick};
use crate::run::free::{Free, Kinds};
use crate::run::overlap::Overlap;
use crate::run::shared::Shared;
use crate::run::step_times::{MOST_STEPS, Words, step_times};
use crate::run::tasks::StageRun;
use crate::run::trace::{TaskTrace, Waits};

/// Events between two checks of the stop condition: some milliseconds.
const BETWEEN_LOOKS: u64 = 1 << 14;

/// A job without policies, ready to run event by event.
#[derive(Clone, Debug)]
pub struct EventRuns {
    job: Job,
    kinds: Kinds,
    tick: Tick,
    stages: Vec<Stage>,
}

/// Numbers derived from a stage of the job.
#[derive(Clone, Debug)]
struct Stage {
    /// Number of stages that it waits for, and their tasks.
    before: usize,
    tasks_before: u32,
    followers: Vec<usize>,
    tasks: u32,
}

/// One run.
#[derive(Clone, Debug, PartialEq)]
pub struct EventRun {
    /// The times of the job and of its stages.
    pub times: StageRun,
    /// End of the set-up of each stage \[s\].
    pub ready_s: Vec<f64>,
    /// First and last end of each phase of each stage \[s\].
    pub phases: Vec<Vec<[f64; 2]>>,
    /// The trace of each task of each stage; empty unless the run was traced.
    pub(super) traces: Vec<Vec<TaskTrace>>,
    /// Unit of the traces.
    pub(super) tick: Tick,
}

/// The kinds of events, in the order of events of equal time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum What {
    /// A machine becomes available.
    Up,
    /// A task no longer needs its GPU.
    Release,
    /// The first user of a shared part ends.
    Shared,
    /// A task ends.
    End,
    /// The set-up of a stage ends.
    Ready,
    /// A task starts to use a shared part.
    Join,
    /// A task asks for a GPU.
    Ask,
}

/// A time, what happens, the number of the launch (or of the machine, shared part, stage), and the place of the task.
type Event = Reverse<(u64, What, u32, u32)>;

/// A task on a machine.
#[derive(Clone, Copy, Debug)]
struct Running {
    stage: usize,
    /// Number of the task in its stage, and in the order of all launches.
    number: u32,
    launch: u32,
    machine: usize,
    step: usize,
    /// The time of each step if nothing slows it down, in ticks.
    work: [u64; MOST_STEPS],
    has_gpu: bool,
    /// Time from which it waits for a GPU or uses a shared part.
    since: u64,
    trace: TaskTrace,
}

/// A machine in a run.
#[derive(Clone, Debug, Default)]
struct Host {
    /// Permits that nobody holds, and the tasks that wait for one.
    permits: u32,
    asking: VecDeque<u32>,
    /// Tasks that ended last, whose slots are free: stage and number.
    freed: Vec<(u32, u32)>,
}

/// A stage in a run; times in ticks.
#[derive(Clone, Debug, Default)]
struct Progress {
    before: usize,
    ready: u64,
    launched: u32,
    ended: u32,
    first: Option<u64>,
    last: u64,
    overlap: Overlap,
    /// First and last end of each phase.
    phases: Vec<[u64; 2]>,
    /// Words of the next tasks.
    words: Option<Words>,
}

/// A run.
struct Run<'a> {
    of: &'a EventRuns,
    draws: Draws,
    events: BinaryHeap<Event>,
    stages: Vec<Progress>,
    /// Stages with tasks that wait for a slot.
    waiting: BTreeSet<usize>,
    free: Free,
    hosts: Vec<Host>,
    /// Cores, disk, network and GPUs of each machine, if its tasks share them, and the time of the event that ends the first user.
    shared: Vec<Option<(Shared, Option<u64>)>>,
    running: Vec<Running>,
    /// Places in `running` that no task uses.
    idle: Vec<u32>,
    launches: u32,
    traces: Vec<Vec<TaskTrace>>,
}

impl EventRuns {
    /// Prepares a job. `None` for recorded tasks, for a job without slots, with a stage without tasks or with more than 16 steps, and with 262,144
    /// stages.
    pub fn new(job: &Job) -> Option<Self> {
        let can = |stage: &JobStage| {
            let has_slots = match &stage.slots {
                Some(slots) => slots.iter().any(|&slots| slots > 0),
                None => job.machines.iter().any(|machine| machine.slots > 0),
            };
            matches!(stage.tasks, Tasks::Groups(_))
                && stage.tasks.count() > 0
                && has_slots
                && stage.steps_of_task() <= MOST_STEPS
        };
        if job.stages.len() >= MOST_STAGES as usize || !job.stages.iter().all(can) {
            return None;
        }
        let stage = |(number, (stage, followers)): (usize, (&JobStage, Vec<usize>))| {
            let before = stage.predecessors(number);
            let tasks_before = before.iter().map(|&before| job.stages[before].tasks.count()).sum();
            Stage { before: before.len(), tasks_before, followers, tasks: stage.tasks.count() }
        };
        let stages = job.stages.iter().zip(job.followers()).enumerate().map(stage).collect();
        Some(Self { kinds: Kinds::of(job), tick: Tick::of(job.longest_mean_s()), stages, job: job.clone() })
    }

    /// Runs the job once; `key` and the replication determine the random numbers.
    pub fn run(&self, key: [u32; 2], replication: u64) -> EventRun {
        self.run_while(key, replication, false, &|| false).unwrap_or_else(|| unreachable!("nobody stops the run"))
    }

    /// Same as [`EventRuns::run`], and notes what each task did.
    pub fn traced(&self, key: [u32; 2], replication: u64) -> EventRun {
        self.run_while(key, replication, true, &|| false).unwrap_or_else(|| unreachable!("nobody stops the run"))
    }

    /// Same as [`EventRuns::run`]; none if `stop` returns true during the run.
    pub fn run_unless(&self, key: [u32; 2], replication: u64, stop: &dyn Fn() -> bool) -> Option<EventRun> {
        self.run_while(key, replication, false, stop)
    }

    fn run_while(&self, key: [u32; 2], replication: u64, traces: bool, stop: &dyn Fn() -> bool) -> Option<EventRun> {
        let mut run = Run::new(self, Draws { key, replication }, traces);
        let mut steps = 0_u64;
        while let Some(Reverse((now, what, which, place))) = run.events.pop() {
            steps += 1;
            if steps.is_multiple_of(BETWEEN_LOOKS) && stop() {
                return None;
            }
            run.handle(now, what, which, place as usize);
            if run.events.peek().is_none_or(|Reverse((time, ..))| *time > now) {
                run.fill(now);
            }
        }
        Some(run.close())
    }
}

impl<'a> Run<'a> {
    fn new(of: &'a EventRuns, draws: Draws, traces: bool) -> Self {
        let progress = |(stage, job): (&Stage, &JobStage)| Progress {
            before: stage.before,
            phases: vec![[u64::MAX, 0]; job.spread.phases.len()],
            ..Progress::default()
        };
        let host = |machine: &Machine| Host { permits: machine.permits.unwrap_or(u32::MAX), ..Host::default() };
        let parts = |machine: &Machine| {
            let some = |is_shared: bool, capacity| is_shared.then(|| (Shared::new(capacity), None));
            let few_cores = machine.cores < machine.slots.into();
            [
                some(few_cores, machine.cores),
                some(machine.shares_disk, 1.0),
                some(machine.shares_network, 1.0),
                some(machine.shared_gpus.is_some(), machine.shared_gpus.unwrap_or(1).into()),
            ]
        };
        let machines = &of.job.machines;
        let mut run = Self {
            of,
            draws,
            events: BinaryHeap::new(),
            stages: of.stages.iter().zip(&of.job.stages).map(progress).collect(),
            waiting: BTreeSet::new(),
            free: of.kinds.all_free(machines),
            hosts: machines.iter().map(host).collect(),
            shared: machines.iter().flat_map(parts).collect(),
            running: Vec::new(),
            idle: Vec::new(),
            launches: 0,
            traces: if traces {
                of.stages.iter().map(|stage| vec![TaskTrace::default(); stage.tasks as usize]).collect()
            } else {
                Vec::new()
            },
        };
        for (number, machine) in machines.iter().enumerate().filter(|(_, machine)| machine.from_s > 0.0) {
            run.push(of.tick.round(machine.from_s), What::Up, number as u32, 0);
        }
        (0..of.stages.len()).filter(|&stage| of.stages[stage].before == 0).for_each(|stage| run.set_up(stage, 0));
        run
    }

    fn push(&mut self, time: u64, what: What, which: u32, place: u32) {
        self.events.push(Reverse((time, what, which, place)));
    }

    /// Starts the set-up of a stage whose stages before have ended.
    fn set_up(&mut self, stage: usize, now: u64) {
        let of = &self.of.job.stages[stage];
        let ready = match of.overlap {
            // `as` is fine: a sum of whole ticks
            Some(_) if self.of.stages[stage].before > 0 => (self.stages[stage].overlap.until as u64).max(now),
            _ => now.saturating_add(self.of.tick.round(self.draws.delay_s(stage, &of.setup))),
        };
        self.push(ready, What::Ready, stage as u32, 0);
    }

    fn handle(&mut self, now: u64, what: What, which: u32, place: usize) {
        match what {
            What::Up => {
                let machine = which as usize;
                self.free.open(&self.of.kinds, machine, &self.of.job.machines[machine]);
            }
            What::Ready => {
                self.stages[which as usize].ready = now;
                self.waiting.insert(which as usize);
            }
            What::Shared => self.shared_ended(now, which as usize),
            What::Release | What::Join => self.proceed(place, now),
            What::Ask => {
                let machine = self.running[place].machine;
                self.running[place].since = now;
                self.hosts[machine].asking.push_back(place as u32);
                self.grant(machine, now);
            }
            What::End => self.end(place, now),
        }
    }

    /// Gives permits of a machine to the tasks that wait for them.
    fn grant(&mut self, machine: usize, now: u64) {
        while self.hosts[machine].permits > 0
            && let Some(place) = self.hosts[machine].asking.pop_front()
        {
            self.hosts[machine].permits -= 1;
            let task = &mut self.running[place as usize];
            task.has_gpu = true;
            task.trace.waits[Waits::GPU] += now - task.since;
            self.proceed(place as usize, now);
        }
    }

    /// Ends the users of a shared part that have done their work.
    fn shared_ended(&mut self, now: u64, part: usize) {
        let Some((shared, armed)) = &mut self.shared[part] else { return };
        if *armed != Some(now) {
            return;
        }
        *armed = None;
        let mut ended = Vec::new();
        while let Some(place) = shared.ended(now) {
            ended.push(place);
        }
        self.arm(part);
        for place in ended {
            let task = &mut self.running[place as usize];
            task.trace.waits[Waits::SHARED + part % Waits::PARTS] +=
                (now - task.since).saturating_sub(task.work[task.step]);
            self.step_ended(place as usize, now);
            self.proceed(place as usize, now);
        }
    }

    /// Plans the end of a shared part's first user.
    fn arm(&mut self, part: usize) {
        let Some((shared, armed)) = &mut self.shared[part] else { return };
        let next = shared.next_end();
        if next != *armed {
            *armed = next;
            if let Some(time) = next {
                self.push(time, What::Shared, part as u32, 0);
            }
        }
    }

    /// Ends the current step of a task at a time that may be later than now.
    fn step_ended(&mut self, place: usize, at: u64) {
        let task = &mut self.running[place];
        let job = &self.of.job.stages[task.stage];
        let phase = job.phase_of(task.step);
        task.step += 1;
        if task.step == job.steps_of_task() || job.phase_of(task.step) != phase {
            let [first, last] = &mut self.stages[task.stage].phases[phase];
            (*first, *last) = ((*first).min(at), (*last).max(at));
        }
    }

    /// Takes a task through its steps, to the next time at which another task matters.
    fn proceed(&mut self, place: usize, now: u64) {
        let mut at = now;
        loop {
            let task = &self.running[place];
            let (launch, machine) = (task.launch, task.machine);
            let stage = &self.of.job.stages[task.stage];
            let step = stage.steps.steps.get(task.step).copied();
            let is_over = task.step == stage.steps_of_task();
            let needs_gpu =
                !is_over && step.is_some_and(|step| step.on_gpu) && self.of.job.machines[machine].permits.is_some();
            if task.has_gpu && !needs_gpu {
                if at > now {
                    return self.push(at, What::Release, launch, place as u32);
                }
                self.running[place].has_gpu = false;
                self.hosts[machine].permits += 1;
                self.grant(machine, now);
                continue;
            }
            if is_over {
                return self.push(at, What::End, launch, place as u32);
            }
            let work = task.work[task.step];
            if needs_gpu && !task.has_gpu && work > 0 {
                return self.push(at, What::Ask, launch, place as u32);
            }
            let uses = step.map_or(Uses::Cores, |step| step.uses);
            let part =
                uses.part().map(|part| Waits::PARTS * machine + part).filter(|&part| self.shared[part].is_some());
            match part {
                Some(part) if work > 0 => {
                    if at > now {
                        return self.push(at, What::Join, launch, place as u32);
                    }
                    self.running[place].since = now;
                    if let Some((shared, _)) = &mut self.shared[part] {
                        shared.join(now, place as u32, work);
                    }
                    return self.arm(part);
                }
                _ => {
                    at = at.saturating_add(work);
                    self.step_ended(place, at);
                }
            }
        }
    }

    /// Ends a task.
    fn end(&mut self, place: usize, now: u64) {
        let task = self.running[place];
        self.idle.push(place as u32);
        self.free.give_back(&self.of.kinds, &self.of.job.machines, task.machine);
        if !self.traces.is_empty() {
            self.hosts[task.machine].freed.push((task.stage as u32, task.number));
            let of = &self.of.job.stages[task.stage];
            let trace = &mut self.traces[task.stage][task.number as usize];
            *trace = TaskTrace { end: now, ..task.trace };
            (0..of.steps_of_task()).for_each(|step| trace.phases[of.phase_of(step)] += task.work[step]);
        }
        let stage = &mut self.stages[task.stage];
        (stage.ended, stage.last) = (stage.ended + 1, now);
        let is_last = stage.ended == self.of.stages[task.stage].tasks;
        for &follower in &self.of.stages[task.stage].followers {
            self.before_ended(follower, is_last, now);
        }
    }

    /// Handles the end of a task before a stage; `is_last` if it is the last of its stage.
    fn before_ended(&mut self, stage: usize, is_last: bool, now: u64) {
        let of = &self.of.job.stages[stage];
        if let Some(from) = of.overlap {
            let (draws, tick, parts) = (self.draws, self.of.tick, self.of.stages[stage].tasks_before);
            let part = |number| tick.round(draws.part_s(stage, &of.setup, number, parts)) as f64;
            self.stages[stage].overlap.task_ended(now as f64, from.min(parts), part);
        }
        if is_last {
            let state = &mut self.stages[stage];
            state.before -= 1;
            if state.before == 0 {
                self.set_up(stage, now);
            }
        }
    }

    /// Gives free slots to waiting tasks, those of earlier stages first.
    fn fill(&mut self, now: u64) {
        let mut from = 0;
        while let Some(&stage) = self.waiting.range(from..).next() {
            from = stage + 1;
            while self.waiting.contains(&stage)
                && let Some(machine) = self.free.take(&self.of.kinds, &self.of.job.machines, stage)
            {
                self.launch(stage, machine, now);
            }
        }
    }

    fn launch(&mut self, stage: usize, machine: usize, now: u64) {
        let number = self.stages[stage].launched;
        let work = self.work(stage, number, machine);
        let state = &mut self.stages[stage];
        (state.launched, state.first) = (number + 1, state.first.or(Some(now)));
        if state.launched == self.of.stages[stage].tasks {
            self.waiting.remove(&stage);
        }
        // a task that started as soon as the stage was ready waited for no slot
        let freed = self.hosts[machine].freed.pop();
        let before = freed.filter(|_| now > self.stages[stage].ready);
        let trace = TaskTrace { launch: now, before, ..TaskTrace::default() };
        let launch = self.launches;
        self.launches += 1;
        let task = Running { stage, number, launch, machine, step: 0, work, has_gpu: false, since: now, trace };
        let place = match self.idle.pop() {
            Some(place) => {
                self.running[place as usize] = task;
                place as usize
            }
            None => {
                self.running.push(task);
                self.running.len() - 1
            }
        };
        self.proceed(place, now);
    }

    /// Returns the time of each step of a task if nothing slows it down, in ticks.
    fn work(&mut self, stage: usize, number: u32, machine: usize) -> [u64; MOST_STEPS] {
        let of = &self.of.job.stages[stage];
        let words = &mut self.stages[stage].words;
        let known = words.filter(|words| words.has(number));
        let drawn = known.unwrap_or_else(|| Words::draw(self.draws, of, stage, number));
        *words = Some(drawn);
        step_times(of, machine, number, &drawn, self.of.tick)
    }

    /// Returns the times of a run that is over.
    fn close(self) -> EventRun {
        let Self { of, draws, stages, traces, .. } = self;
        let tick = of.tick;
        let last = stages.iter().map(|stage| stage.last).max().unwrap_or(0);
        let end = tick.round(draws.delay_s(stages.len(), &of.job.end));
        let times = |stage: &Progress| {
            [stage.first.map_or(f64::INFINITY, |first| tick.seconds(first)), tick.seconds(stage.last)]
        };
        let phases = |stage: &Progress| stage.phases.iter().map(|ends| ends.map(|end| tick.seconds(end))).collect();
        EventRun {
            times: StageRun {
                job_s: tick.seconds(last.saturating_add(end)),
                stages: stages.iter().map(times).collect(),
            },
            ready_s: stages.iter().map(|stage| tick.seconds(stage.ready)).collect(),
            phases: stages.iter().map(phases).collect(),
            traces,
            tick,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::job::{Delay, Spread, Step, Steps, TaskGroup, Varies};
    use crate::mapreduce::{LawTable, PhaseLaw};
    use crate::run::fixtures::{self, planned, stage};
    use crate::run::{JobRuns, RunMemory, TaskRuns};
    use crate::stages::{GpuTask, PlannedJob, SharedGpus, share_gpus};
    use std::sync::Arc;

    /// The stages that a stage waits for, and its waves: tasks and their mean time.
    type Made<'a> = (&'a [usize], &'a [(u32, f64)]);

    fn job(slots: u32, stages: &[Made<'_>], law: &PhaseLaw) -> PlannedJob {
        planned(slots, stages.iter().map(|(after, waves)| stage(after, waves, law)).collect())
    }

    fn run(job: &PlannedJob) -> StageRun {
        JobRuns::new(&fixtures::job(job)).unwrap().run([1, 2], 0, &mut RunMemory::default())
    }

    /// Same as [`share_gpus`] for the tasks of an executor, one by one: 8 s and 4 s, half of it on the GPU.
    #[test]
    fn tasks_share_the_gpus_of_their_executor() {
        let waves = [(4, 8.0), (6, 4.0)];
        let gpus = |executors, permits| {
            let mut job = job(4, &[(&[], &waves)], &PhaseLaw::Deterministic);
            job.stages[0].gpu = 0.5;
            job.gpus = Some(SharedGpus { executors, permits });
            run(&job).job_s
        };
        let task = |whole_s: f64| GpuTask {
            from_s: 0.0,
            before_s: 0.25 * whole_s,
            hold_s: 0.5 * whole_s,
            after_s: 0.25 * whole_s,
        };
        let tasks: Vec<GpuTask> =
            waves.iter().flat_map(|&(count, whole_s)| vec![task(whole_s); count as usize]).collect();
        for permits in 1..=4 {
            let last = share_gpus(&tasks, 4, permits).iter().map(|times| times.end_s).fold(0.0, f64::max);
            assert_eq!(gpus(1, permits), last, "{permits} permits");
        }
        // each of two executors has half of the tasks
        let half: Vec<GpuTask> = [8.0, 8.0, 4.0, 4.0, 4.0].map(task).to_vec();
        let last = share_gpus(&half, 2, 1).iter().map(|times| times.end_s).fold(0.0, f64::max);
        assert_eq!(gpus(2, 1), last);
        // with enough permits nobody waits
        assert_eq!(gpus(1, 4), run(&job(4, &[(&[], &waves)], &PhaseLaw::Deterministic)).job_s);
    }

    /// A job whose tasks use a part of their machine all the time.
    fn using(uses: Uses, machine: Machine, tasks: &[f64], after_s: &[f64], law: &Arc<LawTable>) -> Job {
        let stage = |(&usual_s, &setup_s): (&f64, &f64)| JobStage {
            after: Vec::new(),
            setup: Delay::always(setup_s),
            overlap: None,
            tasks: Tasks::Groups(vec![TaskGroup { tasks: 1, usual_s, size: 1.0 }]),
            spread: Spread::alike(Arc::clone(law)),
            slots: None,
            stragglers: None,
            steps: Steps { steps: vec![Step { phase: 0, uses, on_gpu: false }], shares: vec![1.0], first: None },
        };
        Job { machines: vec![machine], stages: tasks.iter().zip(after_s).map(stage).collect(), end: Delay::always(0.0) }
    }

    /// Tasks of 1, 2 and 3 s on one core: at thirds until 3, at halves until 5, alone until 6. The same on a disk; the network is not shared.
    #[test]
    fn tasks_share_what_their_machine_shares() {
        let machine = Machine { cores: 1.0, shares_disk: true, ..Machine::with_slots(4) };
        let constant = Arc::new(LawTable::new(&PhaseLaw::Deterministic));
        for (uses, exact) in
            [(Uses::Cores, [3.0, 5.0, 6.0]), (Uses::Disk, [3.0, 5.0, 6.0]), (Uses::Network, [1.0, 2.0, 3.0])]
        {
            let job = using(uses, machine, &[1.0, 2.0, 3.0], &[0.0; 3], &constant);
            let ends: Vec<f64> =
                EventRuns::new(&job).unwrap().run([1, 2], 0).times.stages.iter().map(|[_, end]| *end).collect();
            ends.iter().zip(exact).for_each(|(end, exact)| assert!((end - exact).abs() < 1e-8, "{uses:?} {ends:?}"));
        }
    }

    /// The times in an M/G/1 queue with processor sharing do not depend on the distribution: the mean is x / (1 - ρ), and of a task of size x it is
    /// proportional to x. Tasks arrive one by one as stages whose set-ups are the arrivals of a Poisson process.
    #[test]
    fn times_in_a_shared_queue_are_those_of_m_g_1_ps() {
        const ARRIVALS: usize = 600;
        const SETTLED: usize = 200;
        const LOAD: f64 = 0.6;
        let between =
            Delay { mean_s: 1.0 / LOAD, varies: Varies::Law(Arc::new(LawTable::new(&PhaseLaw::Exponential))) };
        for law in [PhaseLaw::Exponential, PhaseLaw::Deterministic, PhaseLaw::Hyperexponential { cv: 2.0 }] {
            let law = Arc::new(LawTable::new(&law));
            let mut means = Vec::new();
            for replication in 0..600_u64 {
                let draws = Draws { key: [9, 9], replication };
                let mut at = 0.0;
                let arrivals: Vec<f64> = (0..ARRIVALS)
                    .map(|task| {
                        at += draws.delay_s(task, &between);
                        at
                    })
                    .collect();
                let machine = Machine { cores: 1.0, ..Machine::with_slots(ARRIVALS as u32) };
                let job = using(Uses::Cores, machine, &[1.0; ARRIVALS], &arrivals, &law);
                let times = EventRuns::new(&job).unwrap().run([1, 2], replication).times.stages;
                let sum: f64 = times[SETTLED..].iter().map(|[from, to]| to - from).sum();
                means.push(sum / (ARRIVALS - SETTLED) as f64);
            }
            let mean = means.iter().sum::<f64>() / means.len() as f64;
            let variance = means.iter().map(|one| (one - mean).powi(2)).sum::<f64>() / (means.len() - 1) as f64;
            let error = (variance / means.len() as f64).sqrt();
            let exact = 1.0 / (1.0 - LOAD);
            assert!((mean - exact).abs() < 5.0 * error && error < 0.02 * exact, "{law:?} {mean} {error} {exact}");
        }
    }

    /// Two tasks, and two slots on each of a slow and a fast machine, whichever comes first: both tasks run on the fast machine, for 1 s instead of 3 s. Once its
    /// slots are full, tasks also run on the slow machine.
    #[test]
    fn tasks_go_to_the_machine_where_they_take_the_shortest_time() {
        let constant = Arc::new(LawTable::new(&PhaseLaw::Deterministic));
        for means in [vec![3.0, 1.0], vec![1.0, 3.0]] {
            for (tasks, exact) in [(1, 1.0), (2, 1.0), (3, 3.0), (4, 3.0), (5, 3.0), (6, 3.0), (8, 3.0), (9, 4.0)] {
                let mut job = using(Uses::Nothing, Machine::with_slots(2), &[1.0], &[0.0], &constant);
                job.machines = vec![Machine::with_slots(2); 2];
                job.stages[0].tasks = Tasks::Groups(vec![TaskGroup { tasks, usual_s: 1.0, size: 1.0 }]);
                job.stages[0].spread.means.clone_from(&means);
                let found = EventRuns::new(&job).unwrap().run([1, 2], 0).times.job_s;
                assert!((found - exact).abs() < 1e-8, "{tasks} {means:?} {found}");
            }
        }
    }

    /// With room for all, the run by events has the bits of the run by slots.
    #[test]
    fn event_runs_equal_slot_runs_if_nothing_is_scarce() {
        let law = PhaseLaw::Lognormal { cv: 0.7 };
        let job =
            fixtures::job(&job(3, &[(&[], &[(4, 2.0), (9, 1.0)]), (&[], &[(5, 0.4)]), (&[0, 1], &[(7, 1.5)])], &law));
        let (slots, events, mut memory) =
            (TaskRuns::new(&job).unwrap(), EventRuns::new(&job).unwrap(), RunMemory::default());
        for replication in 0..200 {
            assert_eq!(events.run([5, 6], replication).times, slots.run([5, 6], replication, &mut memory));
        }
    }

    /// The parts of a chain follow each other without a gap.
    #[test]
    fn a_chain_sums_to_the_job_time() {
        let mut made = job(4, &[(&[], &[(9, 8.0), (7, 4.0)]), (&[0], &[(6, 3.0)])], &PhaseLaw::Exponential);
        (made.stages[0].gpu, made.gpus, made.end_s, made.stages[1].setup_s) =
            (0.5, Some(SharedGpus { executors: 2, permits: 1 }), 1.0, 2.0);
        let job = fixtures::job(&made);
        let runs = EventRuns::new(&job).unwrap();
        let mut waited = 0.0;
        for replication in 0..100 {
            let run = runs.traced([5, 6], replication);
            let chain = run.chain(&job).unwrap();
            let phases: f64 = chain.phases_s.iter().flatten().sum();
            let waits = chain.gpu_wait_s + chain.shared_s.iter().sum::<f64>() + chain.late_s;
            let sum = chain.setups_s.iter().sum::<f64>() + phases + waits + chain.end_s;
            assert!((sum - run.times.job_s).abs() < 1e-6, "{sum} {}", run.times.job_s);
            waited += chain.gpu_wait_s;
        }
        assert!(waited > 100.0, "{waited}");
    }

    /// Who asks first gets the GPU first: asked for at 2, 2.5 and 3, held until 6, 10 and 14, each 2 s before the end of the task. The last waits 7 s.
    #[test]
    fn gpus_are_given_in_the_order_of_the_requests() {
        let constant = Arc::new(LawTable::new(&PhaseLaw::Deterministic));
        let machine = Machine { permits: Some(1), ..Machine::with_slots(3) };
        let mut job = using(Uses::Nothing, machine, &[8.0; 3], &[0.0, 0.5, 1.0], &constant);
        let step = |on_gpu| Step { phase: 0, uses: Uses::Nothing, on_gpu };
        for stage in &mut job.stages {
            stage.steps =
                Steps { steps: vec![step(false), step(true), step(false)], shares: vec![0.25, 0.5, 0.25], first: None };
        }
        let run = EventRuns::new(&job).unwrap().traced([1, 2], 0);
        assert_eq!(run.times.stages, [[0.0, 8.0], [0.5, 12.0], [1.0, 16.0]]);
        let chain = run.chain(&job).unwrap();
        assert_eq!((chain.gpu_wait_s, chain.setups_s[2], chain.phases_s[2][0]), (7.0, 1.0, 8.0));
        assert_eq!((chain.shared_s, chain.late_s, chain.end_s), ([0.0; 4], 0.0, 0.0));
    }

    /// Two tasks of 2 s; a fast machine with two slots and a slow one. With two cores both run on the fast one. With one core they share it until 4, unless
    /// the slow one takes only 1.5 times as long: then the second goes there, until 3. The order of the machines does not matter.
    #[test]
    fn a_task_takes_the_machine_where_it_ends_first() {
        let constant = Arc::new(LawTable::new(&PhaseLaw::Deterministic));
        for (cores, slow, exact) in [(2.0, 3.0, [2.0, 2.0]), (1.0, 3.0, [4.0, 4.0]), (1.0, 1.5, [2.0, 3.0])] {
            for fast_first in [true, false] {
                let mut job = using(Uses::Cores, Machine::with_slots(2), &[2.0, 2.0], &[0.0; 2], &constant);
                let mut machines = [(Machine { cores, ..Machine::with_slots(2) }, 1.0), (Machine::with_slots(2), slow)];
                if !fast_first {
                    machines.reverse();
                }
                job.machines = machines.map(|(machine, _)| machine).to_vec();
                job.stages.iter_mut().for_each(|stage| stage.spread.means = machines.map(|(_, mean)| mean).to_vec());
                let ends = EventRuns::new(&job).unwrap().run([1, 2], 0).times.stages;
                for (end, exact) in ends.iter().zip(exact) {
                    assert!((end[1] - exact).abs() < 1e-8, "{cores} {slow} {fast_first}: {ends:?}");
                }
            }
        }
    }
}
