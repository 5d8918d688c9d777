//! A run resumed in progress: finished tasks, running tasks with their ages, future stages.
//!
//! The rest of the run follows the same rules as a complete run (`tasks`). Running tasks continue under their distribution given their age.

use std::sync::LazyLock;

use crate::job::{Delay, Job, JobStage, Varies};
use crate::mapreduce::{LawTable, PhaseLaw};
use crate::run::draws::{DRIVER_STAGES, Draws, Tick};
use crate::run::slots::{Key, Slots};
use crate::run::tasks::{Pace, Progress, RunMemory, StageRun, TaskRuns};

/// The variation of the driver's times.
static DRIVER: LazyLock<LawTable> = LazyLock::new(|| LawTable::new(&PhaseLaw::Erlang(DRIVER_STAGES)));

/// A running task.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RunningTask {
    /// Time for which the task has run \[s\].
    pub age_s: f64,
    /// Mean time in the plan \[s\], > 0.
    pub mean_s: f64,
    /// True if the task is the first task that its slot runs for the stage.
    pub is_first: bool,
}

/// State of a stage. The waves of the planned stage are the tasks that wait for a slot.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StageState {
    /// Running tasks.
    pub running: Vec<RunningTask>,
    /// True if its tasks are launched as slots become free.
    pub is_open: bool,
    /// Time since the end of the last stage for which it waits \[s\]; none while it still waits.
    pub ready_for_s: Option<f64>,
    /// True if its first wave consists of the first tasks of slots.
    pub starts_cold: bool,
}

/// A planned job in the middle of a run.
#[derive(Clone, Debug)]
pub struct ResumedRuns {
    job: TaskRuns,
    states: Vec<StageState>,
    /// Time since its last stage ended \[s\]; 0 while a stage remains.
    end_age_s: f64,
}

impl ResumedRuns {
    /// Resumes a job whose tasks that wait for a slot are the tasks in `job`, with the state of each stage. `end_age_s`: time
    /// since the end of the last stage, if none remains.
    /// `None` if the job's machines are not alike ([`TaskRuns::new`]), and if a task consists of several phases or of recorded ones.
    pub fn new(job: &Job, states: Vec<StageState>, end_age_s: f64) -> Option<Self> {
        let mut runs = TaskRuns::of_waiting(job)?;
        if runs.stages.iter().any(|stage| stage.spread.only_law().is_none()) {
            return None;
        }
        let of_running = |state: &StageState| state.running.iter().map(|task| task.mean_s).fold(0.0, f64::max);
        runs.tick = Tick::of(states.iter().map(of_running).fold(job.longest_mean_s(), f64::max));
        for (stage, state) in runs.stages.iter_mut().zip(&states) {
            stage.first_groups = usize::from(state.starts_cold);
        }
        let remains = |stage: usize| runs.stages[stage].tasks > 0 || !states[stage].running.is_empty();
        let left = |(number, stage): (usize, &JobStage)| {
            stage.predecessors(number).into_iter().filter(|&before| remains(before)).count()
        };
        let before: Vec<usize> = job.stages.iter().enumerate().map(left).collect();
        runs.stages.iter_mut().zip(before).for_each(|(stage, before)| stage.before = before);
        Some(Self { job: runs, states, end_age_s })
    }

    /// Runs the rest once; times count from now. The times of a stage that has ended are infinity and 0.
    pub fn run(&self, key: [u32; 2], replication: u64, pace: &Pace, memory: &mut RunMemory) -> StageRun {
        let draws = Draws { key, replication };
        let RunMemory { narrow, wide, ahead } = memory;
        let at = self.resumed(draws, pace, narrow, |at, slots| at.run(&self.job, slots, ahead));
        let at = at.or_else(|| self.resumed(draws, pace, wide, |at, slots| at.run(&self.job, slots, ahead)));
        // keys of 128 bits have room for all times
        let at = at.unwrap_or_else(|| Progress::new(&self.job, draws, Some(pace)));
        let end_s = self.job.end.mean_s * pace.driver;
        let end = match self.end_age_s {
            age_s if age_s > 0.0 && end_s > 0.0 => {
                left_of(&self.job.end, end_s, age_s, draws.left(self.job.stages.len(), None))
            }
            _ => return at.close(&self.job),
        };
        at.close_after(&self.job, end)
    }

    /// Continues the run with the slots in a memory; `None` if its times do not fit.
    fn resumed<'a, K: Key>(
        &'a self,
        draws: Draws,
        pace: &'a Pace,
        slots: &mut Slots<K>,
        run: impl FnOnce(&mut Progress<'a>, &mut Slots<K>) -> bool,
    ) -> Option<Progress<'a>> {
        let job = &self.job;
        let mut at = Progress::new(job, draws, Some(pace));
        let mut ends = Vec::new();
        for (i, (stage, state)) in job.stages.iter().zip(&self.states).enumerate() {
            for (number, task) in state.running.iter().enumerate() {
                let mean_s = task.mean_s * pace.stages[i][usize::from(!task.is_first)];
                let law = stage.spread.only_law()?;
                let left_s = mean_s * law.left(task.age_s / mean_s, draws.left(i, Some(number)));
                let end = job.tick.round(left_s);
                let progress = &mut at.stages[i];
                (progress.first, progress.last) = (Some(0), progress.last.max(end));
                ends.push(end);
            }
            match state.ready_for_s {
                _ if stage.tasks == 0 => {
                    if !state.running.is_empty() {
                        at.launched(i);
                    }
                }
                _ if state.is_open => at.open(i),
                _ if stage.before > 0 => {}
                Some(age_s) if stage.setup.mean_s > 0.0 => {
                    let mean_s = stage.setup.mean_s * at.driver_pace();
                    at.ready_after(job, i, left_of(&stage.setup, mean_s, age_s, draws.left(i, None)));
                }
                _ => at.set_up(job, i, 0),
            }
        }
        // `as` is fine: a job has at most a million tasks
        slots.restart(job.used_slots(ends.len() as u32), ends.iter().copied());
        let fit = ends.iter().all(|end| !K::at(*end, slots.bits()).is_full());
        (fit && run(&mut at, slots)).then_some(at)
    }
}

/// Returns the rest of a time of the driver with this mean and age \[s\].
fn left_of(delay: &Delay, mean_s: f64, age_s: f64, p: f64) -> f64 {
    match &delay.varies {
        Varies::Not => (mean_s - age_s).max(0.0),
        Varies::Driver => mean_s * DRIVER.left(age_s / mean_s, p),
        Varies::Law(law) => mean_s * law.left(age_s / mean_s, p),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mapreduce::SlowTasks;
    use crate::run::fixtures::{self, planned, stage};
    use crate::stages::PlannedStage;

    fn job(slots: u32, stages: Vec<PlannedStage>) -> Job {
        fixtures::job(&planned(slots, stages))
    }

    fn open(running: &[(f64, f64)]) -> StageState {
        let task = |&(age_s, mean_s): &(f64, f64)| RunningTask { age_s, mean_s, is_first: false };
        StageState { running: running.iter().map(task).collect(), is_open: true, ..StageState::default() }
    }

    fn even(stages: usize) -> Pace {
        Pace { stages: vec![[1.0, 1.0]; stages], driver: 1.0 }
    }

    /// Two slots, five tasks of 10 s, observed after 12 s: two ended at 10 s, two run until 20 s, the last one until 30 s. Then a stage with one task
    /// of 4 s. At half the pace, tasks of 20 s that are 2 s old continue for 18 s.
    #[test]
    fn constant_tasks_end_when_the_clock_says() {
        let law = PhaseLaw::Deterministic;
        let job = job(2, vec![stage(&[], &[(1, 10.0)], &law), stage(&[0], &[(1, 4.0)], &law)]);
        let states = vec![open(&[(2.0, 10.0), (2.0, 10.0)]), StageState::default()];
        let resumed = ResumedRuns::new(&job, states, 0.0).unwrap();
        let found = resumed.run([1, 2], 0, &even(2), &mut RunMemory::default());
        assert_eq!((found.job_s, found.stages), (22.0, vec![[0.0, 18.0], [18.0, 22.0]]));
        let slow = Pace { stages: vec![[1.0, 2.0]; 2], driver: 1.0 };
        assert_eq!(resumed.run([1, 2], 0, &slow, &mut RunMemory::default()).job_s, 18.0 + 20.0 + 8.0);
    }

    /// Returns the mean, and the standard error of the mean, over replications.
    fn mean(resumed: &ResumedRuns, pace: &Pace) -> (f64, f64) {
        let count = 50_000_u32;
        let times: Vec<f64> =
            (0..count).map(|i| resumed.run([3, 4], i.into(), pace, &mut RunMemory::default()).job_s).collect();
        let n = f64::from(count);
        let mean = times.iter().sum::<f64>() / n;
        let variance = times.iter().map(|time| (time - mean).powi(2)).sum::<f64>() / (n - 1.0);
        (mean, (variance / n).sqrt())
    }

    /// Four running tasks of mean 2 s, whatever their ages: the largest of four exponential times, 2 · 25/12.
    #[test]
    fn exponential_tasks_do_not_age() {
        let law = PhaseLaw::Exponential;
        for ages in [[0.0; 4], [0.5, 1.0, 3.0, 9.0]] {
            let job = job(4, vec![stage(&[], &[], &law)]);
            let state = open(&ages.map(|age| (age, 2.0)));
            let (mean, error) = mean(&ResumedRuns::new(&job, vec![state], 0.0).unwrap(), &even(1));
            let exact = 2.0 * 25.0 / 12.0;
            assert!((mean - exact).abs() < 5.0 * error && error < 0.01 * exact, "{mean} {exact} {error}");
        }
    }

    /// Times of 1, 1, 1 and 5 s, mean 2 s: a task that is 1.5 s old has 3.5 s left, one that has just started has 2 s on average.
    #[test]
    fn empirical_tasks_go_on_with_what_is_above_their_age() {
        let law = PhaseLaw::Empirical { samples: vec![1.0, 1.0, 1.0, 5.0] };
        let rest = |age: f64| {
            let job = job(1, vec![stage(&[], &[], &law)]);
            mean(&ResumedRuns::new(&job, vec![open(&[(age, 2.0)])], 0.0).unwrap(), &even(1))
        };
        let (old, error) = rest(1.5);
        assert!((old - 3.5).abs() < 1e-9 && error < 1e-9, "{old}");
        let (new, error) = rest(0.0);
        assert!((new - 2.0).abs() < 5.0 * error, "{new}");
        // older than any observed time: half of the tasks end within (2^(1/3) - 1) of their age
        let table = LawTable::new(&law);
        assert!((table.left(4.0, 0.5) - 4.0 * (2.0_f64.cbrt() - 1.0)).abs() < 1e-12);
    }

    /// Constant tasks of 2 s, where every tenth takes 6 s or longer with a Pareto tail of index 3 (mean 9 s). A task that is 3 s old is a slow task.
    #[test]
    fn a_task_older_than_usual_is_a_slow_one() {
        let mut tasks = stage(&[], &[], &PhaseLaw::Deterministic);
        tasks.slow = Some(SlowTasks { share: 0.1, from: 3.0, shape: 3.0, seen: None });
        let job = job(1, vec![tasks]);
        for (age, exact) in [(3.0, 9.0 - 3.0), (0.0, 0.9 * 2.0 + 0.1 * 9.0)] {
            let (mean, error) = mean(&ResumedRuns::new(&job, vec![open(&[(age, 2.0)])], 0.0).unwrap(), &even(1));
            assert!((mean - exact).abs() < 5.0 * error && error < 0.02 * exact, "{age}: {mean} {exact} {error}");
        }
    }

    /// A set-up of mean 4 s, Erlang of four stages, that is 3 s old: its mean remaining time by the survival function, ∫ S(x) dx / S(3) from 3 on.
    #[test]
    fn a_set_up_goes_on_given_its_age() {
        let survival = |x: f64| (-x).exp() * (1.0 + x + x * x / 2.0 + x * x * x / 6.0);
        let step = 1e-3;
        let exact =
            (0..60_000).map(|i| survival(3.0 + (f64::from(i) + 0.5) * step) * step).sum::<f64>() / survival(3.0);
        let mut waiting = stage(&[], &[(1, 1.0)], &PhaseLaw::Deterministic);
        waiting.setup_s = 4.0;
        let state = StageState { ready_for_s: Some(3.0), starts_cold: true, ..StageState::default() };
        let (mean, error) = mean(&ResumedRuns::new(&job(1, vec![waiting]), vec![state], 0.0).unwrap(), &even(1));
        assert!((mean - 1.0 - exact).abs() < 5.0 * error, "{mean} {exact} {error}");
    }

    /// A task that is so old that its rest is beyond the keys of 64 bits is run with 128 bits, and a full cluster does not wait for it forever.
    #[test]
    fn running_tasks_beyond_the_narrow_keys_end_when_they_should() {
        let law = PhaseLaw::Exponential;
        let made = job(100_000, vec![stage(&[], &[(3, 10.0)], &law), stage(&[], &[(5, 10.0)], &law)]);
        let states = vec![open(&[(1e10, 10.0)]), open(&[])];
        let resumed = ResumedRuns::new(&made, states, 0.0).unwrap();
        let mut memory = RunMemory::default();
        let times: Vec<f64> = (0..50).map(|i| resumed.run([3, 4], i, &even(2), &mut memory).job_s).collect();
        // half of the rests of an unexplained age are above a quarter of it
        let long = times.iter().filter(|&&time| time > 2.5e9).count();
        assert!((10..40).contains(&long), "{long}");
        let full = job(1, vec![stage(&[], &[(1, 10.0)], &law)]);
        let resumed = ResumedRuns::new(&full, vec![open(&[(1e11, 10.0)])], 0.0).unwrap();
        assert!(resumed.run([3, 4], 0, &even(1), &mut memory).job_s > 1e9);
    }

    /// A stage that waits behind an open one gets the remaining slots; its follower waits for both.
    #[test]
    fn stages_wait_for_the_running_tasks_of_their_parents() {
        let law = PhaseLaw::Deterministic;
        let done = stage(&[], &[], &law);
        let stages = vec![done, stage(&[], &[(1, 3.0)], &law), stage(&[0, 1], &[(2, 1.0)], &law)];
        let states = vec![StageState::default(), open(&[]), StageState::default()];
        let found =
            ResumedRuns::new(&job(1, stages), states, 0.0).unwrap().run([5, 6], 0, &even(3), &mut RunMemory::default());
        assert_eq!((found.job_s, found.stages[2]), (5.0, [3.0, 5.0]));
        assert_eq!(found.stages[0], [f64::INFINITY, 0.0]);
    }
}
