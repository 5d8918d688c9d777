//! A job of stages, task by task: free slots take waiting tasks, tasks of earlier stages first.
//!
//! The next task takes the slot that is free first, so a slot needs no events: its time is the end of its last task. The other events are the ends
//! of stages and of set-ups; at equal times they precede the launches, as if a task were launched after everything else at its time. A stage's end is
//! known when its last task is launched.

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap};

use crate::job::{Delay, Job, JobStage, Machine, Spread, TaskGroup, Tasks};
use crate::mapreduce::Stragglers;
use crate::rng::uniform;
use crate::run::draws::{Draws, Four, MOST_STAGES, Tick, whole};
use crate::run::slots::{Key, Slots};

/// Tasks whose times are drawn together: a multiple of four.
const AHEAD: usize = 512;

/// A job whose machines are alike, ready to run without a policy.
#[derive(Clone, Debug)]
pub struct TaskRuns {
    pub(super) slots: u32,
    pub(super) tick: Tick,
    pub(super) end: Delay,
    pub(super) stages: Vec<Stage>,
}

#[derive(Clone, Debug)]
pub(super) struct Stage {
    /// Number of stages that the stage waits for.
    pub(super) before: usize,
    pub(super) followers: Vec<usize>,
    pub(super) setup: Delay,
    /// Slots for its tasks, if it has slots of its own: then no task of another stage runs when it is ready.
    slots: Option<u32>,
    /// Tasks that wait for a slot.
    pub(super) tasks: u32,
    /// The same tasks, in the order in which they start.
    groups: Vec<TaskGroup>,
    /// Number of leading groups that consist of first tasks of slots.
    pub(super) first_groups: usize,
    pub(super) spread: Spread,
    stragglers: Option<Stragglers>,
}

/// Factors by which the times of one run differ from the plan's.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Pace {
    /// Factors of each stage: of the first tasks of slots, and of the later tasks.
    pub stages: Vec<[f64; 2]>,
    /// Factor of the driver's times.
    pub driver: f64,
}

/// One run.
#[derive(Clone, Debug, PartialEq)]
pub struct StageRun {
    /// The time of the job \[s\].
    pub job_s: f64,
    /// Launch of the first task and end of the last task of each stage \[s\].
    pub stages: Vec<[f64; 2]>,
}

/// Memory of a run, kept from one replication to the next.
#[derive(Clone, Debug, Default)]
pub struct RunMemory {
    pub(super) narrow: Slots<u64>,
    pub(super) wide: Slots<u128>,
    pub(super) ahead: Ahead,
}

impl TaskRuns {
    /// Prepares a job. `None` if its machines are not alike: recorded tasks, machines that start late or share what they have, set-ups that overlap with
    /// tasks, first tasks that take longer, and times that depend on the machine need events. So do stages with slots of their own, unless each stage waits for the one before. `None`
    /// also for a job without slots, with a stage without tasks, or with 262,144 stages.
    pub fn new(job: &Job) -> Option<Self> {
        Self::of_waiting(job).filter(|runs| runs.stages.iter().all(|stage| stage.tasks > 0))
    }

    /// Prepares a job in which not every stage needs to have tasks that wait for a slot.
    pub(super) fn of_waiting(job: &Job) -> Option<Self> {
        let stages = job.stages.iter().zip(job.followers()).enumerate();
        let stages: Option<Vec<Stage>> =
            stages.map(|(number, (stage, followers))| Stage::new(stage, number, followers)).collect();
        let uses_gpus = job.stages.iter().any(|stage| stage.steps.use_gpus());
        let is_free = |machine: &Machine| {
            let waits_for_gpus = uses_gpus && machine.permits.is_some();
            machine.from_s <= 0.0 && machine.slots > 0 && machine.is_roomy() && !waits_for_gpus
        };
        if job.stages.iter().any(|stage| stage.steps.first.is_some()) {
            return None;
        }
        let own_slots = job.stages.iter().any(|stage| stage.slots.is_some());
        let is_chain = (1..job.stages.len()).all(|number| job.stages[number].after.contains(&(number - 1)));
        if !job.machines.iter().all(is_free) || (own_slots && !is_chain) || job.stages.len() >= MOST_STAGES as usize {
            return None;
        }
        Some(Self {
            slots: job.machines.iter().fold(0, |sum: u32, machine| sum.saturating_add(machine.slots)),
            tick: Tick::of(job.longest_mean_s()),
            end: job.end.clone(),
            stages: stages?,
        })
    }

    /// Returns the number of slots that can be in use if `running` tasks run already: memory follows the tasks, not the slots.
    pub(super) fn used_slots(&self, running: u32) -> u32 {
        let tasks = self.stages.iter().fold(running, |sum, stage| sum.saturating_add(stage.tasks));
        self.slots.max(running).min(tasks.max(1))
    }

    /// Starts a stage that has its own slots: they are free.
    fn own_slots<K: Key>(&self, stage: usize, slots: &mut Slots<K>) {
        let of = &self.stages[stage];
        if let Some(own) = of.slots {
            slots.restart(own.min(of.tasks), []);
        }
    }

    /// Runs the job once; `key` and the replication determine the random numbers.
    pub fn run(&self, key: [u32; 2], replication: u64, memory: &mut RunMemory) -> StageRun {
        let draws = Draws { key, replication };
        let mut at = Progress::from_start(self, draws);
        memory.narrow.restart(self.used_slots(0), []);
        if !at.run(self, &mut memory.narrow, &mut memory.ahead) {
            at = Progress::from_start(self, draws);
            memory.wide.restart(self.used_slots(0), []);
            at.run(self, &mut memory.wide, &mut memory.ahead);
        }
        at.close(self)
    }
}

impl Stage {
    /// Prepares a stage; `None` if its machines are not alike.
    fn new(stage: &JobStage, number: usize, followers: Vec<usize>) -> Option<Self> {
        let JobStage { setup, overlap, tasks, spread, slots, stragglers, .. } = stage;
        let Tasks::Groups(groups) = tasks else { return None };
        let slots = slots.as_ref().map(|slots| slots.iter().fold(0, |sum: u32, slots| sum.saturating_add(*slots)));
        (spread.are_alike() && overlap.is_none() && slots != Some(0)).then(|| Self {
            before: stage.predecessors(number).len(),
            followers,
            setup: setup.clone(),
            slots,
            tasks: tasks.count(),
            groups: groups.clone(),
            first_groups: 1,
            spread: spread.clone(),
            stragglers: stragglers.clone(),
        })
    }
}

/// A future event: its time, what happens, and the stage.
type Event = Reverse<(u64, What, usize)>;

/// The kinds of events, in the order at equal times.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum What {
    /// The last task of the stage ends.
    End,
    /// The stage's tasks may be launched.
    Ready,
}

/// The state of a run.
#[derive(Clone, Debug)]
pub(super) struct Progress<'a> {
    draws: Draws,
    /// Factors of the run; `None` for the plan's times.
    pub(super) pace: Option<&'a Pace>,
    pub(super) events: BinaryHeap<Event>,
    /// Stages with tasks to launch.
    pub(super) waiting: BTreeSet<usize>,
    pub(super) stages: Vec<StageProgress>,
}

/// The state of a stage; times in ticks.
#[derive(Clone, Debug, Default)]
pub(super) struct StageProgress {
    /// Stages that must end first.
    pub(super) before: usize,
    /// Time from which its tasks may be launched.
    pub(super) ready: u64,
    pub(super) launched: u32,
    /// Launch of its first task, if it has one.
    pub(super) first: Option<u64>,
    /// Latest end of its tasks so far.
    pub(super) last: u64,
    /// True once its tasks may be launched.
    pub(super) is_open: bool,
}

/// Times of a stage's next tasks.
#[derive(Clone, Debug, Default)]
pub(super) struct Ahead {
    words: Vec<[u32; 4]>,
    ratios: Vec<f64>,
    ticks: Vec<u64>,
    /// The stage, and the number of the first of these tasks.
    from: Option<(usize, u32)>,
}

impl Ahead {
    /// Returns the times of the tasks of a stage from `task` on, in ticks, at least one if the stage has that task.
    fn times(&mut self, job: &TaskRuns, at: &Progress<'_>, stage: usize, task: u32) -> &[u64] {
        let from = task - task % AHEAD as u32;
        if self.from != Some((stage, from)) {
            self.fill(job, at, stage, from);
        }
        &self.ticks[(task - from) as usize..]
    }

    /// Draws the times of the tasks of a stage from `from` on, a multiple of four.
    fn fill(&mut self, job: &TaskRuns, at: &Progress<'_>, stage: usize, from: u32) {
        let of = &job.stages[stage];
        let count = (of.tasks - from).min(AHEAD as u32);
        self.from = Some((stage, from));
        self.ratios.clear();
        self.ratios.resize(4 * count.div_ceil(4) as usize, 0.0);
        self.words.resize(count.div_ceil(4) as usize, [0; 4]);
        let four = Four { stage: stage as u32, attempt: 0, block: from / 4 };
        for (number, (phase, mean)) in of.spread.phases.iter().zip(&of.spread.means).enumerate() {
            at.draws.phases(four, number, &mut self.words);
            let words = self.words.as_flattened();
            self.ratios.iter_mut().zip(words).for_each(|(ratio, word)| *ratio += mean * phase.draw(*word));
        }
        if let Some(stragglers) = &of.stragglers {
            at.draws.slows(four, &mut self.words);
            let words = self.words.as_flattened();
            let factor = |word: &u32| stragglers.drawn_factor(uniform(*word), true);
            self.ratios.iter_mut().zip(words).for_each(|(ratio, word)| *ratio *= factor(word));
        }
        self.ticks.clear();
        let mut begin = 0;
        for (number, group) in of.groups.iter().enumerate() {
            let until = (begin + group.tasks).min(from + count);
            if until > from {
                let pace = at.pace.map_or(1.0, |pace| pace.stages[stage][usize::from(number >= of.first_groups)]);
                let mean = group.usual_s * pace * job.tick.per_s();
                let ratios = &self.ratios[self.ticks.len()..(until - from) as usize];
                self.ticks.extend(ratios.iter().map(|ratio| whole(ratio * mean)));
            }
            if until == from + count {
                break;
            }
            begin += group.tasks;
        }
    }
}

impl<'a> Progress<'a> {
    pub(super) fn new(job: &TaskRuns, draws: Draws, pace: Option<&'a Pace>) -> Self {
        let stage = |stage: &Stage| StageProgress { before: stage.before, ..StageProgress::default() };
        Self {
            draws,
            pace,
            events: BinaryHeap::new(),
            waiting: BTreeSet::new(),
            stages: job.stages.iter().map(stage).collect(),
        }
    }

    /// Returns the state at the start of a run.
    fn from_start(job: &TaskRuns, draws: Draws) -> Self {
        let mut at = Self::new(job, draws, None);
        (0..job.stages.len()).filter(|&i| job.stages[i].before == 0).for_each(|i| at.set_up(job, i, 0));
        at
    }

    pub(super) fn driver_pace(&self) -> f64 {
        self.pace.map_or(1.0, |pace| pace.driver)
    }

    /// Returns a time of the driver: before a stage, or after the last \[s\].
    fn driver_s(&self, stage: usize, delay: &Delay) -> f64 {
        self.draws.delay_s(stage, delay) * self.driver_pace()
    }

    /// Starts the set-up of a stage.
    pub(super) fn set_up(&mut self, job: &TaskRuns, stage: usize, now: u64) {
        let setup_s = self.driver_s(stage, &job.stages[stage].setup);
        self.events.push(Reverse((now.saturating_add(job.tick.round(setup_s)), What::Ready, stage)));
    }

    /// Ends the set-up of a stage `seconds` after the start of the run.
    pub(super) fn ready_after(&mut self, job: &TaskRuns, stage: usize, seconds: f64) {
        self.events.push(Reverse((job.tick.round(seconds), What::Ready, stage)));
    }

    /// Runs the job to its end; returns false if its times do not fit the keys of the slots.
    pub(super) fn run<K: Key>(&mut self, job: &TaskRuns, slots: &mut Slots<K>, ahead: &mut Ahead) -> bool {
        ahead.from = None;
        loop {
            if let Some(&stage) = self.waiting.first() {
                if self.stages[stage].launched == 0 {
                    job.own_slots(stage, slots);
                }
                match self.launch(job, stage, slots, ahead) {
                    Some(true) => self.launched(stage),
                    Some(false) if !self.events.is_empty() => self.handle(job),
                    _ => return false,
                }
            } else if !self.events.is_empty() {
                self.handle(job);
            } else {
                return true;
            }
        }
    }

    /// Launches the tasks of a stage that start before the next event. Returns true if these are all tasks of the stage, `None` if times do not fit.
    fn launch<K: Key>(
        &mut self,
        job: &TaskRuns,
        stage: usize,
        slots: &mut Slots<K>,
        ahead: &mut Ahead,
    ) -> Option<bool> {
        let bits = slots.bits();
        let until = self.events.peek().map_or(K::NEVER, |&Reverse((time, ..))| K::at(time, bits));
        let ready = K::at(self.stages[stage].ready, bits);
        let StageProgress { mut launched, mut first, last, .. } = self.stages[stage];
        let mut latest = K::at(last, bits);
        let mut fits = !ready.is_full();
        let mut all = false;
        'launching: while !all {
            let times = ahead.times(job, self, stage, launched);
            for &time in times {
                let free = slots.first();
                let start = free.max(ready | K::from(free.slot(bits) as u32));
                if start >= until {
                    break 'launching;
                }
                first = first.or(Some(start.time(bits)));
                let time = K::at(time, bits);
                let end = start.plus(time);
                fits &= !time.is_full() && !end.is_full();
                latest = latest.max(end);
                slots.set(end);
                launched += 1;
            }
            if !fits {
                return None;
            }
            all = launched == job.stages[stage].tasks;
        }
        let state = &mut self.stages[stage];
        (state.launched, state.first, state.last) = (launched, first, latest.time(bits));
        fits.then_some(all)
    }

    /// Records that all tasks of a stage are launched, and so the time at which it ends.
    pub(super) fn launched(&mut self, stage: usize) {
        self.waiting.remove(&stage);
        self.events.push(Reverse((self.stages[stage].last, What::End, stage)));
    }

    /// Handles the next event.
    fn handle(&mut self, job: &TaskRuns) {
        let Some(Reverse((now, what, stage))) = self.events.pop() else { return };
        match what {
            What::End => self.ended(job, stage, now),
            What::Ready => {
                self.stages[stage].ready = now;
                self.open(stage);
            }
        }
    }

    /// Lets the tasks of a stage be launched.
    pub(super) fn open(&mut self, stage: usize) {
        self.stages[stage].is_open = true;
        self.waiting.insert(stage);
    }

    /// Handles the end of a stage: the stages that follow it may be set up, unless they are open already in a resumed run.
    pub(super) fn ended(&mut self, job: &TaskRuns, stage: usize, now: u64) {
        for &follower in &job.stages[stage].followers {
            let state = &mut self.stages[follower];
            state.before = state.before.saturating_sub(1);
            if state.before == 0 && !state.is_open {
                self.set_up(job, follower, now);
            }
        }
    }

    /// Returns the times of the run.
    pub(super) fn close(&self, job: &TaskRuns) -> StageRun {
        self.close_after(job, self.driver_s(job.stages.len(), &job.end))
    }

    /// Returns the times of the run, if the job ends `end_s` after its last stage.
    pub(super) fn close_after(&self, job: &TaskRuns, end_s: f64) -> StageRun {
        let tick = job.tick;
        let last = self.stages.iter().map(|stage| stage.last).max().unwrap_or(0);
        let times = |stage: &StageProgress| {
            [stage.first.map_or(f64::INFINITY, |first| tick.seconds(first)), tick.seconds(stage.last)]
        };
        StageRun {
            job_s: tick.seconds(last.saturating_add(tick.round(end_s))),
            stages: self.stages.iter().map(times).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mapreduce::PhaseLaw;
    use crate::run::fixtures::{self, planned, stage};
    use crate::stages::PlannedJob;

    /// The stages that a stage waits for, and its waves: tasks and their mean time.
    type Made<'a> = (&'a [usize], &'a [(u32, f64)]);

    fn job(slots: u32, stages: &[Made<'_>], law: &PhaseLaw) -> PlannedJob {
        planned(slots, stages.iter().map(|(after, waves)| stage(after, waves, law)).collect())
    }

    fn runs(job: &PlannedJob) -> TaskRuns {
        TaskRuns::new(&fixtures::job(job)).unwrap()
    }

    fn run(job: &PlannedJob) -> StageRun {
        runs(job).run([1, 2], 0, &mut RunMemory::default())
    }

    /// Three slots: cold tasks until 2, then three until 3, the last two until 4; the next stage until 5.
    #[test]
    fn constant_tasks_take_their_waves() {
        let found = run(&job(3, &[(&[], &[(3, 2.0), (5, 1.0)]), (&[0], &[(2, 1.0)])], &PhaseLaw::Deterministic));
        assert_eq!((found.job_s, found.stages), (5.0, vec![[0.0, 4.0], [4.0, 5.0]]));
    }

    /// In parallel on two slots: the earlier stage goes first, the later one takes the remaining slots; the third waits for both.
    #[test]
    fn earlier_stages_go_first_and_joins_wait() {
        let found =
            run(&job(2, &[(&[], &[(3, 2.0)]), (&[], &[(1, 1.0)]), (&[0, 1], &[(1, 1.0)])], &PhaseLaw::Deterministic));
        assert_eq!(found.stages, [[0.0, 4.0], [2.0, 3.0], [4.0, 5.0]]);
    }

    /// The largest of four exponential times has mean 25/12; two slots process four in (1/2)(3) + 1, plus the driver's own half second.
    #[test]
    fn exponential_tasks_end_as_the_harmonic_sum_says() {
        for (slots, end_s, exact) in [(4, 0.0, 25.0 / 12.0), (2, 0.5, 3.0)] {
            let mut job = job(slots, &[(&[], &[(4, 1.0)])], &PhaseLaw::Exponential);
            job.end_s = end_s;
            let (runs, mut memory) = (runs(&job), RunMemory::default());
            let count = 100_000_u32;
            let times: Vec<f64> = (0..count).map(|i| runs.run([7, 8], i.into(), &mut memory).job_s).collect();
            let mean = times.iter().sum::<f64>() / f64::from(count);
            let variance = times.iter().map(|time| (time - mean).powi(2)).sum::<f64>() / f64::from(count);
            assert!((mean - exact).abs() < 5.0 * (variance / f64::from(count)).sqrt(), "{mean} {exact}");
        }
    }

    /// A job of four tasks of one second on four slots ends after three seconds if one of them is a straggler, else after one.
    #[test]
    fn stragglers_take_their_factor_with_their_probability() {
        let mut job = job(4, &[(&[], &[(4, 1.0)])], &PhaseLaw::Deterministic);
        job.stragglers = Some(Stragglers { share: 0.1, ..Stragglers::default() });
        let count = 50_000_u32;
        let times = |job: &PlannedJob| -> Vec<f64> {
            let (runs, mut memory) = (runs(job), RunMemory::default());
            (0..count).map(|i| runs.run([7, 8], i.into(), &mut memory).job_s).collect()
        };
        let slow = |times: &[f64]| times.iter().filter(|&&time| time == 3.0).count() as f64 / f64::from(count);
        let found = times(&job);
        assert!(found.iter().all(|time| [1.0, 3.0].contains(time)));
        let exact = 1.0 - 0.9_f64.powi(4);
        let error = (exact * (1.0 - exact) / f64::from(count)).sqrt();
        assert!((slow(&found) - exact).abs() < 5.0 * error, "{} {exact}", slow(&found));
    }
}
