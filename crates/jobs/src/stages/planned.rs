//! A plan at one size: the tasks of each stage, and how long they take on average.

use crate::mapreduce::PhaseLaw;
use crate::stages::plan::{StagePlan, StageSpec};

/// Tasks of a slot with a time of their own; later ones share one, their mean.
const RANKS: u32 = 12;

/// Tasks with one law.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Wave {
    /// How many, >= 1.
    pub tasks: u32,
    /// Their mean time \[s\].
    pub mean_s: f64,
    /// The relative standard error of that time.
    pub error: f64,
}

/// A stage at one size.
#[derive(Clone, Debug, PartialEq)]
pub struct PlannedStage {
    /// What it is called.
    pub name: String,
    /// Stages that must have ended before.
    pub after: Vec<usize>,
    /// Mean time from their end to the launch of its first tasks \[s\].
    pub setup_s: f64,
    /// Data of a full task \[MB\].
    pub task_mb: f64,
    /// Its tasks, in the order in which they start.
    pub waves: Vec<Wave>,
    /// How times vary around their means.
    pub law: PhaseLaw,
}

impl PlannedStage {
    /// Tasks of all waves.
    pub fn tasks(&self) -> u32 {
        self.waves.iter().map(|wave| wave.tasks).sum()
    }

    /// Mean slot time of all tasks \[s\].
    pub fn work_s(&self) -> f64 {
        self.waves.iter().map(|wave| f64::from(wave.tasks) * wave.mean_s).sum()
    }
}

/// A job at one size.
#[derive(Clone, Debug, PartialEq)]
pub struct PlannedJob {
    /// What it is called.
    pub name: String,
    /// Tasks that run at a time.
    pub slots: u32,
    /// The stages, each after those that it waits for.
    pub stages: Vec<PlannedStage>,
    /// From the end of the last stage to the end of the job \[s\].
    pub end_s: f64,
}

impl PlannedJob {
    /// The plan's job at the plan's size. The plan must be sound ([`StagePlan::problems`]).
    pub fn of(plan: &StagePlan) -> Self {
        let slots = plan.job.executors.saturating_mul(plan.job.cores).max(1);
        Self {
            name: plan.job.name.clone(),
            slots,
            stages: plan.stage.iter().map(|stage| planned(stage, plan, slots)).collect(),
            end_s: plan.job.teardown_s,
        }
    }

    /// Relative standard error of the job time by the errors of the fitted task times: each stage's times are off together,
    /// weighted by their share of all slot time. Approximate: stages that run side by side count in full.
    pub fn error(&self) -> f64 {
        let driver: f64 = self.stages.iter().map(|stage| stage.setup_s).sum::<f64>() + self.end_s;
        let work: f64 = self.stages.iter().map(PlannedStage::work_s).sum();
        let all = work + driver * f64::from(self.slots);
        let part = |wave: &Wave| f64::from(wave.tasks) * wave.mean_s * wave.error / all;
        let of_stage = |stage: &PlannedStage| {
            let cold = stage.waves.first().map_or(0.0, part);
            let warm: f64 = stage.waves.iter().skip(1).map(part).sum();
            cold * cold + warm * warm
        };
        if all > 0.0 { self.stages.iter().map(of_stage).sum::<f64>().sqrt() } else { 0.0 }
    }
}

fn planned(stage: &StageSpec, plan: &StagePlan, slots: u32) -> PlannedStage {
    let input = plan.job.input_mb;
    let given = plan.job.partitions.filter(|_| stage.uses_partitions);
    // `as` is fine: a sound plan has at most a million tasks
    let full = given.unwrap_or_else(|| stage.tasks.at(input).round().max(1.0) as u32);
    let task_mb = stage.data_mb.at(input).max(0.0) / f64::from(full);
    let cold = full.min(slots);
    let mut waves = vec![Wave { tasks: cold, mean_s: stage.cold.at(task_mb), error: stage.cold.error }];
    waves.extend(warm_waves(stage, full - cold, slots, task_mb));
    if stage.small_tasks > 0 {
        let (time, rank) = if full < slots { (stage.cold, 1) } else { (stage.warm, full / slots + 1) };
        let mean_s = time.at(stage.small_mb) * slowness(stage.warming, rank);
        waves.push(Wave { tasks: stage.small_tasks, mean_s, error: time.error });
    }
    PlannedStage {
        name: stage.name.clone(),
        after: stage.after.clone(),
        setup_s: stage.setup_s,
        task_mb,
        waves,
        law: stage.distribution.clone(),
    }
}

/// By what factor the `rank`-th task of a slot takes longer than the steady ones; 1 for the first, which has a time of its own.
pub(crate) fn slowness(warming: f64, rank: u32) -> f64 {
    if rank < 2 { 1.0 } else { 1.0 + warming / f64::from(rank - 1) }
}

/// The full tasks after the cold ones, by their rank on a slot.
fn warm_waves(stage: &StageSpec, mut left: u32, slots: u32, task_mb: f64) -> Vec<Wave> {
    let steady = stage.warm.at(task_mb);
    let error = stage.warm.error;
    let mut waves = Vec::new();
    let mut rank = 2;
    while left > 0 && rank <= RANKS {
        let tasks = left.min(slots);
        waves.push(Wave { tasks, mean_s: steady * slowness(stage.warming, rank), error });
        left -= tasks;
        rank += 1;
    }
    if left > 0 {
        let last = rank + (left - 1) / slots;
        let mean = (rank..=last).map(|rank| slowness(stage.warming, rank)).sum::<f64>() / f64::from(last - rank + 1);
        waves.push(Wave { tasks: left, mean_s: steady * mean, error });
    }
    waves
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stages::{Amount, JobSize, TaskTime};

    fn plan(tasks: f64, slots: u32) -> StagePlan {
        let stage = StageSpec {
            tasks: Amount { fixed: 0.0, per_mb: tasks / 100.0 },
            data_mb: Amount { fixed: 0.0, per_mb: 2.0 },
            cold: TaskTime { fixed_s: 5.0, per_mb_s: 0.1, error: 0.3 },
            warm: TaskTime { fixed_s: 1.0, per_mb_s: 0.05, error: 0.1 },
            warming: 0.6,
            uses_partitions: true,
            ..StageSpec::default()
        };
        let job = JobSize { input_mb: 100.0, executors: slots, cores: 1, ..JobSize::default() };
        StagePlan { job, stage: vec![stage], ..StagePlan::default() }
    }

    #[test]
    fn waves_have_all_tasks_and_the_mean_of_their_ranks() {
        for (tasks, slots) in [(1, 4), (4, 4), (5, 4), (31, 4), (1_000, 4), (999, 7)] {
            let job = PlannedJob::of(&plan(f64::from(tasks), slots));
            let stage = &job.stages[0];
            assert_eq!(stage.tasks(), tasks);
            let mb = 200.0 / f64::from(tasks);
            let time =
                |i: u32| if i < slots { 5.0 + 0.1 * mb } else { (1.0 + 0.05 * mb) * slowness(0.6, i / slots + 1) };
            let work: f64 = (0..tasks).map(time).sum();
            // the last, merged ranks count alike, also where the last one is not full
            assert!((stage.work_s() / work - 1.0).abs() < 1e-3, "{tasks} on {slots}: {} {work}", stage.work_s());
        }
    }

    #[test]
    fn sizes_of_the_command_line_count() {
        let mut plan = plan(10.0, 2);
        plan.job.input_mb = 200.0;
        let stage = |plan: &StagePlan| PlannedJob::of(plan).stages[0].clone();
        assert_eq!((stage(&plan).tasks(), stage(&plan).task_mb), (20, 20.0));
        plan.job.partitions = Some(50);
        assert_eq!((stage(&plan).tasks(), stage(&plan).task_mb), (50, 8.0));
        plan.stage[0].small_tasks = 3;
        assert_eq!(stage(&plan).tasks(), 53);
    }

    #[test]
    fn errors_are_weighted_by_time() {
        let mut plan = plan(2.0, 2);
        assert!((PlannedJob::of(&plan).error() - 0.3).abs() < 1e-12);
        plan.job.teardown_s = PlannedJob::of(&plan).stages[0].work_s() / 2.0;
        assert!((PlannedJob::of(&plan).error() - 0.15).abs() < 1e-12);
    }
}
