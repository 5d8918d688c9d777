//! Runs in which the tasks of each executor share its GPUs.
//!
//! A task holds a GPU in the middle of its time, and waits for a permit of its executor before that; permits are granted in the order of the
//! requests. A task goes to the executor with the most free slots.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use crate::run::tasks::{Ahead, Gpus, Progress, TaskRuns, What};

/// A task of an executor with GPUs; times in ticks.
#[derive(Clone, Copy)]
struct OnGpu {
    stage: usize,
    executor: usize,
    hold: u64,
    after: u64,
}

/// The kinds of events, in the order of events of equal time.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Step {
    Release,
    End,
    Stage(What),
    Ask,
}

/// Executors, with their free slots, permits, and the tasks that wait for a permit.
struct Executors {
    free: Vec<u32>,
    permits: Vec<(u32, VecDeque<usize>)>,
}

impl Executors {
    /// Returns the executor with the most free slots, the first of them among equals; none if no slot is free.
    fn emptiest(&self) -> Option<usize> {
        (0..self.free.len()).filter(|&at| self.free[at] > 0).max_by_key(|&at| (self.free[at], Reverse(at)))
    }
}

impl Progress<'_> {
    /// Runs the job to its end.
    pub(super) fn run_with_gpus(&mut self, job: &TaskRuns, gpus: Gpus, ahead: &mut Ahead) {
        *ahead = Ahead::default();
        let mut at = Executors {
            free: vec![gpus.slots; gpus.machines],
            permits: vec![(gpus.permits, VecDeque::new()); gpus.machines],
        };
        let mut tasks: Vec<OnGpu> = Vec::new();
        let mut steps: BinaryHeap<Reverse<(u64, Step, usize)>> = BinaryHeap::new();
        loop {
            while let Some(Reverse((time, what, stage))) = self.events.pop() {
                steps.push(Reverse((time, Step::Stage(what), stage)));
            }
            let Some(Reverse((now, step, which))) = steps.pop() else { return };
            match step {
                Step::Stage(What::Ready) => self.open(which),
                Step::Stage(What::End) => self.ended(job, which, now),
                Step::Release => {
                    let task = tasks[which];
                    at.permits[task.executor].0 += 1;
                    steps.push(Reverse((now.saturating_add(task.after), Step::End, which)));
                }
                Step::End => {
                    let task = tasks[which];
                    at.free[task.executor] += 1;
                    let stage = &mut self.stages[task.stage];
                    (stage.ended, stage.last) = (stage.ended + 1, now);
                    if stage.ended == job.stages[task.stage].tasks {
                        steps.push(Reverse((now, Step::Stage(What::End), task.stage)));
                    }
                }
                Step::Ask => at.permits[tasks[which].executor].1.push_back(which),
            }
            // slots are given away when everything else of their time has happened
            let is_last = self.events.is_empty() && steps.peek().is_none_or(|Reverse((time, ..))| *time > now);
            while is_last
                && let Some(&stage) = self.waiting.first()
                && let Some(executor) = at.emptiest()
            {
                at.free[executor] -= 1;
                let whole = self.next_time(job, stage, now, ahead);
                let hold = share(job.stages[stage].gpu, whole);
                let after = (whole - hold) / 2;
                tasks.push(OnGpu { stage, executor, hold, after });
                let first = if hold > 0 {
                    (now.saturating_add(whole - hold - after), Step::Ask)
                } else {
                    (now.saturating_add(whole), Step::End)
                };
                steps.push(Reverse((first.0, first.1, tasks.len() - 1)));
            }
            for (left, asking) in &mut at.permits {
                while *left > 0
                    && let Some(which) = asking.pop_front()
                {
                    *left -= 1;
                    steps.push(Reverse((now.saturating_add(tasks[which].hold), Step::Release, which)));
                }
            }
        }
    }
}

/// Returns a share of a time.
fn share(share: f64, ticks: u64) -> u64 {
    // `as` is fine: the share is at most 1
    ((share * ticks as f64).round() as u64).min(ticks)
}
