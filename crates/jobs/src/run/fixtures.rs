//! Planned jobs for the tests of this module.

use crate::job::Job;
use crate::mapreduce::{LawTables, PhaseLaw};
use crate::stages::{PlannedJob, PlannedStage, Wave, job_of};

/// A stage without set-up: the stages that it waits for, and its waves with their numbers of tasks and mean times \[s\].
pub(super) fn stage(after: &[usize], waves: &[(u32, f64)], law: &PhaseLaw) -> PlannedStage {
    PlannedStage {
        name: "s".into(),
        after: after.to_vec(),
        setup_s: 0.0,
        task_mb: 0.0,
        waves: waves.iter().map(|&(tasks, mean_s)| Wave { tasks, mean_s, ..Wave::default() }).collect(),
        law: law.clone(),
        slow: None,
        gpu: 0.0,
    }
}

pub(super) fn planned(slots: u32, stages: Vec<PlannedStage>) -> PlannedJob {
    PlannedJob { name: "j".into(), slots, stages, ..PlannedJob::default() }
}

pub(super) fn job(planned: &PlannedJob) -> Job {
    job_of(planned, &LawTables::default())
}
