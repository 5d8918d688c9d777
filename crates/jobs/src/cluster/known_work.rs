//! Known attempts of a recorded job: where the first attempt of each task ran, and how slow each node is.

use crate::cluster::spread::{MOST_PHASES, Spread};
use crate::mapreduce::Stragglers;
use crate::rng::uniform;

/// Known attempts of a recorded job.
#[derive(Clone, Debug)]
pub(super) struct Known {
    pub(super) first: Vec<Option<(usize, f64)>>,
    pub(super) at_least: Vec<bool>,
    pub(super) usual: Vec<f64>,
    pub(super) stage: Vec<u32>,
    pub(super) slowness: Vec<Vec<f64>>,
    pub(super) spread: Vec<Spread>,
    pub(super) slots: Vec<Option<Vec<u32>>>,
    pub(super) stragglers: Vec<Option<Stragglers>>,
    pub(super) end_s: f64,
}

impl Known {
    /// Returns the home node of a task's first attempt.
    pub(super) fn home(&self, task: u32) -> Option<usize> {
        self.first[task as usize].map(|(home, _)| home)
    }

    /// Returns true if the work of a task's first attempt is a lower bound.
    pub(super) fn is_bound(&self, task: usize) -> bool {
        self.at_least[task]
    }

    /// Returns true if a stage may have one more task on a node that runs `used` of its tasks.
    pub(super) fn has_room(&self, stage: usize, node: usize, used: u32) -> bool {
        self.slots[stage].as_ref().is_none_or(|slots| used < slots[node])
    }

    /// Returns the stage of a task.
    pub(super) fn stage(&self, task: u32) -> usize {
        self.stage[task as usize] as usize
    }

    /// Returns the work of an attempt that starts on a node after `before` other attempts of its task. The random words
    /// determine the attempt's first phase, and whether the attempt is slow; `further` returns the words of the other phases.
    pub(super) fn work(
        &self,
        task: u32,
        node: usize,
        before: u32,
        [word, slow]: [u32; 2],
        further: impl FnOnce() -> [u32; MOST_PHASES - 1],
    ) -> f64 {
        let stragglers = self.stragglers[self.stage(task)].as_ref();
        let factor = stragglers.map_or(1.0, |stragglers| stragglers.drawn_factor(uniform(slow), true));
        let ratio = || self.spread[self.stage(task)].ratio(word, further);
        factor * self.usual_work(task, node, before, ratio)
    }

    fn usual_work(&self, task: u32, node: usize, before: u32, ratio: impl FnOnce() -> f64) -> f64 {
        let stage = self.stage[task as usize] as usize;
        let slowness = &self.slowness[stage];
        if let Some((home, work)) = self.first[task as usize].filter(|_| before == 0) {
            return if home == node { work } else { work * slowness[node] / slowness[home] };
        }
        self.usual[task as usize] * slowness[node] * ratio()
    }
}
