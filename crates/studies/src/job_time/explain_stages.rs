//! Explanation of the time of a job of stages: where it goes, and changes that would help.

use crate::job_time::chains::{Followed, SlotUse, WAITS};
use crate::job_time::changes::{Change, best_changes};
use crate::mapreduce::LawTables;
use crate::run::EventRuns;
use crate::sim::GroupShare;
use crate::stages::{PlannedJob, StagePlan, job_of};

/// An explanation of the time of a job of stages.
#[derive(Clone, Debug)]
pub struct StagesExplained {
    /// The parts of the critical paths of typical runs, in the order of a run, or the reason why they are unknown.
    pub parts: Result<Vec<StagePart>, String>,
    /// Use of the slots; none if the critical paths are unknown.
    pub slots: Option<SlotUse>,
    /// The changes that save most, the best first.
    pub changes: Vec<Change>,
}

impl StagesExplained {
    /// Returns an explanation without content.
    pub fn nothing() -> Self {
        Self { parts: Ok(Vec::new()), slots: None, changes: Vec::new() }
    }
}

/// A part of a critical path.
#[derive(Clone, Debug)]
pub struct StagePart {
    /// Name; none for the tasks of a stage.
    pub name: Option<&'static str>,
    /// Number of the stage, if the part is the tasks of a stage.
    pub stage: Option<usize>,
    /// Time in the critical paths.
    pub share: GroupShare,
}

/// Named parts before those of the stages.
const BEFORE: [&str; 2] = ["before the first tasks", "between stages"];

/// Explains the time of a job of stages, with the seed of its replications.
pub fn explain_stages(plan: &StagePlan, planned: &PlannedJob, seed: u64, level: f64) -> StagesExplained {
    if plan.speculation.is_some() {
        let parts = Err("runs with copies are not followed".to_owned());
        return StagesExplained { parts, slots: None, changes: Vec::new() };
    }
    let job = job_of(planned, &LawTables::default());
    let Some(runs) = EventRuns::new(&job) else {
        let parts = Err("the tasks of this job cannot be followed".to_owned());
        return StagesExplained { parts, slots: None, changes: Vec::new() };
    };
    let stages = job.stages.iter().enumerate().map(|(number, stage)| {
        let tasks = vec![Some(BEFORE.len() + number); stage.spread.phases.len()];
        (Some(usize::from(!stage.after.is_empty())), tasks)
    });
    let followed =
        Followed { job: &job, runs: &runs, parts: BEFORE.len() + job.stages.len(), stages: stages.collect() };
    let mut slots = SlotUse::new("task", planned.slots.into(), job.tasks());
    let chains = followed.chains(seed, &mut |run, weight| {
        let held_s = (0..job.stages.len()).map(|stage| run.held_s(stage)).sum();
        slots.add(held_s, run.times.job_s, weight);
    });
    let parts = chains.map(|chains| {
        let mut shares = chains.path.groups.into_iter();
        let named = |name, share| StagePart { name: Some(name), stage: None, share };
        let mut parts: Vec<StagePart> =
            BEFORE.into_iter().zip(shares.by_ref()).map(|(name, share)| named(name, share)).collect();
        parts.extend(shares.enumerate().map(|(stage, share)| StagePart { name: None, stage: Some(stage), share }));
        parts.extend(WAITS.into_iter().zip(chains.waits).map(|(name, share)| named(name, share)));
        parts.push(named("after the last task", chains.path.rest));
        parts
    });
    let slots = parts.is_ok().then_some(slots);
    StagesExplained { parts, slots, changes: best_changes(plan, None, seed, level) }
}
