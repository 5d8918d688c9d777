//! Parts of a [`Job`](crate::job::Job) that the simulator needs in addition to the world: recorded tasks, and the distributions of the stages.
//!
//! A recorded task has a home and returns to it if there is room. Its first attempt takes the recorded time there; on another node the time scales with
//! the slowness of the stage's tasks on the two nodes. Logs do not contain the times of further attempts. Such a time is drawn like every time of a task
//! that is not recorded.

use crate::job::{Delay, JobStage, RecordedTask};

/// The stages of a job, and its recorded tasks.
#[derive(Clone, Debug)]
pub(super) struct Known {
    /// Recorded tasks, by task; empty if no task is recorded.
    pub(super) recorded: Vec<Option<RecordedTask>>,
    pub(super) stages: Vec<JobStage>,
    pub(super) end: Delay,
}

impl Known {
    fn recorded(&self, task: u32) -> Option<&RecordedTask> {
        self.recorded.get(task as usize)?.as_ref()
    }

    /// Returns the home of a task's first attempt.
    pub(super) fn home(&self, task: u32) -> Option<usize> {
        self.recorded(task).map(|task| task.first.0)
    }

    /// Returns true if tasks have homes.
    pub(super) fn has_homes(&self) -> bool {
        !self.recorded.is_empty()
    }

    /// Returns true if the work of a task's first attempt is a lower bound.
    pub(super) fn is_bound(&self, task: u32) -> bool {
        self.recorded(task).is_some_and(|task| task.at_least)
    }

    /// Returns true if a stage may have one more task on a node that runs `used` of its tasks.
    pub(super) fn has_room(&self, stage: usize, node: usize, used: u32) -> bool {
        self.stages[stage].slots.as_ref().is_none_or(|slots| used < slots[node])
    }

    /// Returns the recorded work of the first attempt of a stage's task, if it starts on `node`.
    pub(super) fn recorded_work(&self, stage: usize, task: u32, node: usize) -> Option<f64> {
        let (home, work) = self.recorded(task)?.first;
        let spread = &self.stages[stage].spread;
        Some(if home == node { work } else { work * spread.slowness(node) / spread.slowness(home) })
    }
}
