//! One run of a planned job without a net: free slots take waiting tasks, tasks of earlier stages first.
//!
//! The times have the same distribution as in the job's net ([`crate::stages::net`]), at a fraction of the cost. Events
//! are the ends of tasks and of set-ups. The next task goes to the slot freed last.

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap, VecDeque};
use std::sync::Arc;

use crate::mapreduce::{LawTable, LawTables, Stragglers};
use crate::rng::{Address, FRACTION_BITS, Purpose, exponential, uniform};
use crate::stages::planned::{PlannedJob, PlannedStage, SharedGpus};

/// Number of Erlang stages of the driver's times, as in the net.
pub(super) const DRIVER_STAGES: u32 = 4;

/// First number of the draws of stragglers among the draws of their stage: no stage has this many tasks.
const SLOWDOWN_DRAWS: u32 = 1 << 30;

/// A planned job, ready to run.
#[derive(Clone, Debug)]
pub struct StageSchedule {
    slots: u32,
    pub(super) end_s: f64,
    gpus: Option<SharedGpus>,
    stragglers: Option<Stragglers>,
    pub(super) stages: Vec<Stage>,
}

#[derive(Clone, Debug)]
pub(super) struct Stage {
    /// Number of stages that the stage waits for.
    pub(super) before: usize,
    followers: Vec<usize>,
    pub(super) setup_s: f64,
    /// Tasks that must end.
    pub(super) tasks: u32,
    /// Tasks with their mean times \[s\], in the order in which they start.
    pub(super) waves: Vec<(u32, f64)>,
    /// Number of leading waves that consist of first tasks of slots.
    pub(super) first_waves: usize,
    pub(super) law: Arc<LawTable>,
    /// Share of a task's time in which it holds a GPU.
    gpu: f64,
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

impl StageSchedule {
    /// Prepares a job.
    pub fn new(job: &PlannedJob) -> Self {
        Self::with_tables(job, &LawTables::default())
    }

    /// Prepares one of many jobs with the same distributions.
    pub fn with_tables(job: &PlannedJob, tables: &LawTables) -> Self {
        let followers = |i: usize| (0..job.stages.len()).filter(|&k| job.stages[k].after.contains(&i)).collect();
        let stage = |(i, stage): (usize, &PlannedStage)| Stage {
            before: stage.after.len(),
            followers: followers(i),
            setup_s: stage.setup_s,
            tasks: stage.tasks(),
            waves: stage.waves.iter().map(|wave| (wave.tasks, wave.mean_s)).collect(),
            first_waves: 1,
            law: tables.get(&stage.law),
            gpu: stage.gpu,
        };
        let stages = job.stages.iter().enumerate().map(stage).collect();
        Self { slots: job.slots, end_s: job.end_s, gpus: job.gpus, stragglers: job.stragglers.clone(), stages }
    }

    /// Runs the job once; `key` and the replication determine the random numbers.
    pub fn run(&self, key: [u32; 2], replication: u64) -> StageRun {
        let mut running = Running::new(self, key, replication);
        (0..self.stages.len()).filter(|&i| self.stages[i].before == 0).for_each(|i| running.set_up(i, 0.0));
        match self.gpus {
            Some(gpus) => running.go_on_with_gpus(gpus),
            None => running.go_on(),
        }
        let last = running.times.iter().map(|times| times[1]).fold(0.0, f64::max);
        let job_s = last + self.end_s * running.driver(self.stages.len());
        StageRun { job_s, stages: running.times }
    }
}

/// A future event: its time and a number. The time is stored as the bits of a nonnegative float, which sort like the
/// times. The number is a stage whose set-up ends, or the number of stages plus a stage with a task that ends.
pub(super) type Event = Reverse<(u64, usize)>;

pub(super) struct Running<'a> {
    job: &'a StageSchedule,
    /// Factors of the run; `None` for the plan's times.
    pub(super) pace: Option<&'a Pace>,
    key: [u32; 2],
    replication: u64,
    pub(super) events: BinaryHeap<Event>,
    pub(super) free: u32,
    /// Stages with tasks to launch.
    pub(super) waiting: BTreeSet<usize>,
    pub(super) progress: Vec<Progress>,
    pub(super) times: Vec<[f64; 2]>,
}

/// State of a stage.
#[derive(Clone, Default)]
pub(super) struct Progress {
    pub(super) before: usize,
    wave: usize,
    /// Launched tasks of the wave.
    launched: u32,
    ended: u32,
    drawn: u32,
    words: [u32; 4],
    /// The words that decide which tasks are stragglers.
    slow_words: [u32; 4],
}

/// A task of an executor with GPUs.
#[derive(Clone, Copy)]
struct OnGpu {
    stage: usize,
    executor: usize,
    hold_s: f64,
    after_s: f64,
}

/// The kinds of events, in the order of events of equal time.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Step {
    Release,
    End,
    SetUp,
    Ask,
}

impl<'a> Running<'a> {
    pub(super) fn new(job: &'a StageSchedule, key: [u32; 2], replication: u64) -> Self {
        let progress =
            job.stages.iter().map(|stage| Progress { before: stage.before, ..Progress::default() }).collect();
        Self {
            job,
            pace: None,
            key,
            replication,
            events: BinaryHeap::new(),
            free: job.slots,
            waiting: BTreeSet::new(),
            progress,
            times: vec![[f64::INFINITY, 0.0]; job.stages.len()],
        }
    }

    /// Returns a time of the driver divided by its mean.
    pub(super) fn driver(&self, owner: usize) -> f64 {
        // `as` is fine: a plan has at most 10,000 stages
        let address = Address { purpose: Purpose::Setup, owner: owner as u32, sample: 0 };
        let words = address.words(self.key, self.replication);
        let sum: f64 = words.iter().map(|&word| f64::from(exponential(word))).sum();
        self.driver_pace() * sum / (f64::from(1_u32 << FRACTION_BITS) * f64::from(DRIVER_STAGES))
    }

    pub(super) fn driver_pace(&self) -> f64 {
        self.pace.map_or(1.0, |pace| pace.driver)
    }

    pub(super) fn set_up(&mut self, stage: usize, now: f64) {
        let end = now + self.job.stages[stage].setup_s * self.driver(stage);
        self.events.push(Reverse((end.to_bits(), stage)));
    }

    /// Returns the end of the next task of a stage, which is launched now, and records whether it was the stage's last
    /// task to launch.
    pub(super) fn launch(&mut self, stage: usize, now: f64) -> Event {
        let (of, at) = (&self.job.stages[stage], &mut self.progress[stage]);
        let (block, lane) = (at.drawn / 4, (at.drawn % 4) as usize);
        if lane == 0 {
            let words = |sample| {
                let address = Address { purpose: Purpose::Attempt, owner: stage as u32, sample };
                address.words(self.key, self.replication)
            };
            at.words = words(block);
            if self.job.stragglers.is_some() {
                at.slow_words = words(SLOWDOWN_DRAWS + block);
            }
        }
        at.drawn += 1;
        let p = uniform(at.words[lane]);
        let pace = self.pace.map_or(1.0, |pace| pace.stages[stage][usize::from(at.wave >= of.first_waves)]);
        let slowdown = self
            .job
            .stragglers
            .as_ref()
            .map_or(1.0, |stragglers| stragglers.drawn_factor(uniform(at.slow_words[lane]), true));
        let end = now + of.waves[at.wave].1 * of.law.quantile(p) * pace * slowdown;
        at.launched += 1;
        if at.launched == of.waves[at.wave].0 {
            (at.wave, at.launched) = (at.wave + 1, 0);
            if at.wave == of.waves.len() {
                self.waiting.remove(&stage);
            }
        }
        self.times[stage][0] = self.times[stage][0].min(now);
        Reverse((end.to_bits(), self.job.stages.len() + stage))
    }

    pub(super) fn go_on(&mut self) {
        let stages = self.job.stages.len();
        while let Some(&Reverse((bits, what))) = self.events.peek() {
            let now = f64::from_bits(bits);
            if what >= stages {
                self.end_task(what - stages, now);
                continue;
            }
            self.events.pop();
            self.waiting.insert(what);
            while self.free > 0 && self.waiting.contains(&what) {
                self.free -= 1;
                let event = self.launch(what, now);
                self.events.push(event);
            }
        }
    }

    /// Continues the run if the tasks of each executor share its GPUs: a task holds a GPU in the middle of its time,
    /// and waits for a permit before that.
    /// Tasks go to the executor with the most free slots.
    fn go_on_with_gpus(&mut self, gpus: SharedGpus) {
        let executors = gpus.executors as usize;
        let mut free = vec![self.job.slots / gpus.executors; executors];
        let mut permits = vec![(gpus.permits, VecDeque::new()); executors];
        let mut tasks: Vec<OnGpu> = Vec::new();
        let mut steps: BinaryHeap<Reverse<(u64, Step, usize)>> = BinaryHeap::new();
        loop {
            while let Some(Reverse((bits, stage))) = self.events.pop() {
                steps.push(Reverse((bits, Step::SetUp, stage)));
            }
            let Some(Reverse((bits, step, which))) = steps.pop() else { return };
            let now = f64::from_bits(bits);
            match step {
                Step::SetUp => _ = self.waiting.insert(which),
                Step::Release => {
                    let task = tasks[which];
                    permits[task.executor].0 += 1;
                    steps.push(Reverse(((now + task.after_s).to_bits(), Step::End, which)));
                }
                Step::End => {
                    free[tasks[which].executor] += 1;
                    self.ended(tasks[which].stage, now);
                }
                Step::Ask => permits[tasks[which].executor].1.push_back(which),
            }
            while let Some(&stage) = self.waiting.first()
                && let Some(executor) =
                    (0..executors).filter(|&at| free[at] > 0).max_by_key(|&at| (free[at], Reverse(at)))
            {
                free[executor] -= 1;
                let Reverse((end, _)) = self.launch(stage, now);
                let whole_s = f64::from_bits(end) - now;
                let hold_s = self.job.stages[stage].gpu * whole_s;
                let beside_s = 0.5 * (whole_s - hold_s);
                tasks.push(OnGpu { stage, executor, hold_s, after_s: beside_s });
                let first = if hold_s > 0.0 { (now + beside_s, Step::Ask) } else { (now + whole_s, Step::End) };
                steps.push(Reverse((first.0.to_bits(), first.1, tasks.len() - 1)));
            }
            for (left, asking) in &mut permits {
                while *left > 0
                    && let Some(which) = asking.pop_front()
                {
                    *left -= 1;
                    steps.push(Reverse(((now + tasks[which].hold_s).to_bits(), Step::Release, which)));
                }
            }
        }
    }

    /// Ends a task of a stage, the first of the events: its slot takes the next waiting task.
    fn end_task(&mut self, stage: usize, now: f64) {
        if let Some(&next) = self.waiting.first() {
            let event = self.launch(next, now);
            if let Some(mut top) = self.events.peek_mut() {
                *top = event;
            }
        } else {
            self.events.pop();
            self.free += 1;
        }
        self.ended(stage, now);
    }

    /// Records that a task of a stage has ended. The last task of a stage releases the stages that follow.
    fn ended(&mut self, stage: usize, now: f64) {
        self.progress[stage].ended += 1;
        self.times[stage][1] = now;
        if self.progress[stage].ended == self.job.stages[stage].tasks {
            for &follower in &self.job.stages[stage].followers {
                self.progress[follower].before -= 1;
                if self.progress[follower].before == 0 {
                    self.set_up(follower, now);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mapreduce::PhaseLaw;
    use crate::stages::permits::{GpuTask, share_gpus};
    use crate::stages::planned::Wave;

    /// The stages that a stage waits for, and its waves: tasks and their mean time.
    type Made<'a> = (&'a [usize], &'a [(u32, f64)]);

    fn job(slots: u32, stages: &[Made<'_>], law: &PhaseLaw) -> PlannedJob {
        let stage = |(after, waves): &Made<'_>| PlannedStage {
            name: "s".into(),
            after: after.to_vec(),
            setup_s: 0.0,
            task_mb: 0.0,
            waves: waves.iter().map(|&(tasks, mean_s)| Wave { tasks, mean_s, ..Wave::default() }).collect(),
            law: law.clone(),
            gpu: 0.0,
        };
        let stages = stages.iter().map(stage).collect();
        PlannedJob { name: "j".into(), slots, stages, ..PlannedJob::default() }
    }

    fn run(job: &PlannedJob) -> StageRun {
        StageSchedule::new(job).run([1, 2], 0)
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
            let schedule = StageSchedule::new(&job);
            let count = 100_000_u32;
            let times: Vec<f64> = (0..count).map(|i| schedule.run([7, 8], i.into()).job_s).collect();
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
            let schedule = StageSchedule::new(job);
            (0..count).map(|i| schedule.run([7, 8], i.into()).job_s).collect()
        };
        let slow = |times: &[f64]| times.iter().filter(|&&time| time == 3.0).count() as f64 / f64::from(count);
        let found = times(&job);
        assert!(found.iter().all(|time| [1.0, 3.0].contains(time)));
        let exact = 1.0 - 0.9_f64.powi(4);
        let error = (exact * (1.0 - exact) / f64::from(count)).sqrt();
        assert!((slow(&found) - exact).abs() < 5.0 * error, "{} {exact}", slow(&found));
        job.gpus = Some(SharedGpus { executors: 2, permits: 2 });
        assert_eq!(times(&job), found, "no task uses a GPU");
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
}
