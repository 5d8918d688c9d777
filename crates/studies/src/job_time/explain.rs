//! What a job waits for, what would change its time, and what its answer assumes.

use crate::job_time::by_task::{Ready, SlotUse, traced};
use crate::job_time::changes::{Change, best_changes, time_without_spread};
use crate::job_time::job::JobEstimate;
use crate::mapreduce::Plan;
use crate::sim::{CriticalPath, GroupShare};

/// Number of tasks above which the critical chains are not followed: every task leaves a trace of about 150 bytes.
const MOST_TASKS: u64 = 500_000;

/// An explanation of a job's time.
#[derive(Clone, Debug)]
pub struct Explained {
    /// Shares of the phases in the job time, or the reason why they are unknown.
    pub critical_path: Result<CriticalPath, String>,
    /// The other parts of the critical paths, with the names [`WAITS`](crate::job_time::WAITS); empty if tasks do not wait for slots.
    pub waits: Vec<GroupShare>,
    /// How the slots of maps and of reduces are used; empty if tasks do not wait for slots.
    pub slots: Vec<SlotUse>,
    /// The changes that save most, the best first.
    pub changes: Vec<Change>,
    /// What the plan does not state.
    pub assumed: Assumed,
}

/// What a plan does not state.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Assumed {
    /// Values of the profile that are those of the built-in example.
    pub values: Vec<&'static str>,
    /// The job time without any spread of the phases \[s\], if exponential phases are assumed.
    pub without_spread_s: Option<f64>,
}

/// Explains the time of a job.
pub fn explain_job(plan: &Plan, found: &JobEstimate, seed: u64, level: f64) -> Explained {
    let mut assumed = Assumed { values: plan.assumed_values(), without_spread_s: None };
    if plan.assumes_spread() {
        assumed.without_spread_s = time_without_spread(plan);
    }
    let of_net = || match &found.simulated {
        Some(simulated) => simulated.critical_path.clone(),
        None => Err("the job was not simulated".to_owned()),
    };
    let mut explained =
        Explained { critical_path: of_net(), waits: Vec::new(), slots: Vec::new(), changes: Vec::new(), assumed };
    // without waits, the critical paths of the net's own replications are exact, and there are more of them
    if !plan.can_run_by_task() || found.simulated.is_none() || (explained.critical_path.is_ok() && !plan.waits()) {
        if plan.can_run_by_task() && found.simulated.is_some() {
            explained.changes = best_changes(plan, seed, level);
        }
        return explained;
    }
    match Ready::new(plan) {
        Ok(ready) if ready.tasks() > MOST_TASKS => {
            let why = "the job has too many tasks to follow each of them";
            explained.critical_path = Err(why.to_owned());
        }
        Ok(ready) => {
            let chains = traced(&ready, &plan.phases_of_job(), seed);
            (explained.critical_path, explained.waits, explained.slots) = (Ok(chains.path), chains.waits, chains.slots);
            explained.changes = best_changes(plan, seed, level);
        }
        Err(error) => explained.critical_path = Err(error.to_string()),
    }
    explained
}
