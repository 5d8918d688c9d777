//! The critical chain of a run: what the job waited for, from its end back to its start.
//!
//! The last task of the job ends the chain. Before a task comes the task that held its slot, if it waited for a slot; otherwise the set-up of its stage,
//! and before that the last task of the stages before. So the parts of a chain follow each other without a gap and sum to the job time.

use crate::job::Job;
use crate::run::events::EventRun;
use crate::run::trace::Waits;

/// The parts of a critical chain \[s\], which sum to the job time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Chain {
    /// Set-up of each stage.
    pub setups_s: Vec<f64>,
    /// Phases of the tasks of each stage.
    pub phases_s: Vec<Vec<f64>>,
    /// Waits for a GPU.
    pub gpu_wait_s: f64,
    /// Time lost because tasks share cores, a disk, a network or GPUs.
    pub shared_s: [f64; Waits::PARTS],
    /// Waits for a machine that becomes available late.
    pub late_s: f64,
    /// Time after the last task.
    pub end_s: f64,
}

impl EventRun {
    /// Returns the critical chain of a traced run; none if the run was not traced.
    pub fn chain(&self, job: &Job) -> Option<Chain> {
        let seconds = |ticks: u64| self.tick.seconds(ticks);
        let ends = self.times.stages.iter().map(|[_, last]| *last);
        let mut stage = (0..self.traces.len()).max_by(|&a, &b| self.end_of(a).total_cmp(&self.end_of(b)))?;
        let mut chain = Chain {
            setups_s: vec![0.0; job.stages.len()],
            phases_s: job.stages.iter().map(|stage| vec![0.0; stage.spread.phases.len()]).collect(),
            end_s: self.times.job_s - ends.fold(0.0, f64::max),
            ..Chain::default()
        };
        let mut number = self.last_of(stage)?;
        loop {
            let task = &self.traces[stage][number];
            chain.phases_s[stage].iter_mut().zip(task.phases).for_each(|(sum, ticks)| *sum += seconds(ticks));
            chain.gpu_wait_s += seconds(task.waits[Waits::GPU]);
            chain
                .shared_s
                .iter_mut()
                .zip(&task.waits[Waits::SHARED..])
                .for_each(|(sum, ticks)| *sum += seconds(*ticks));
            if let Some((stage_before, number_before)) = task.before {
                (stage, number) = (stage_before as usize, number_before as usize);
                continue;
            }
            chain.late_s += seconds(task.launch) - self.ready_s[stage];
            let before = job.stages[stage].predecessors(stage);
            let last = before.into_iter().max_by(|&a, &b| self.end_of(a).total_cmp(&self.end_of(b)));
            chain.setups_s[stage] += self.ready_s[stage] - last.map_or(0.0, |before| self.end_of(before));
            let Some(last) = last else { return Some(chain) };
            stage = last;
            number = self.last_of(stage)?;
        }
    }

    /// Returns the time for which tasks of a stage held slots \[s\].
    pub fn held_s(&self, stage: usize) -> f64 {
        self.traces
            .get(stage)
            .map_or(0.0, |tasks| tasks.iter().map(|task| self.tick.seconds(task.end - task.launch)).sum())
    }

    fn end_of(&self, stage: usize) -> f64 {
        self.times.stages[stage][1]
    }

    /// Returns the task of a stage that ended last.
    fn last_of(&self, stage: usize) -> Option<usize> {
        let tasks = &self.traces[stage];
        (0..tasks.len()).max_by_key(|&task| tasks[task].end)
    }
}
