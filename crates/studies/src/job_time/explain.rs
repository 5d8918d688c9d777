//! Explanation of a job's time: waits, changes that would help, and assumptions.

use crate::job_time::by_task::Ready;
use crate::job_time::chains::SlotUse;
use crate::job_time::changes::{Change, Changing, best_changes};
use crate::job_time::job::JobEstimate;
use crate::mapreduce::Plan;
use crate::sim::{CriticalPath, GroupShare};

/// An explanation of a job's time.
#[derive(Clone, Debug)]
pub struct Explained {
    /// Shares of the phases in the job time, or the reason why they are unknown.
    pub critical_path: Result<CriticalPath, String>,
    /// The other parts of the critical paths, with the names [`WAITS`](crate::job_time::WAITS); empty if tasks do not wait for slots.
    pub waits: Vec<GroupShare>,
    /// Use of the slots of maps and of reduces; empty if tasks do not wait for slots.
    pub slots: Vec<SlotUse>,
    /// The changes that save most, the best first.
    pub changes: Vec<Change>,
    /// Assumptions in place of values that the plan does not state.
    pub assumed: Assumed,
}

/// Assumptions in place of values that a plan does not state.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Assumed {
    /// Values of the profile that are those of the built-in example.
    pub values: Vec<&'static str>,
    /// True if phases are exponential because the plan does not state their distributions.
    pub exponential: bool,
    /// The mean job time without that spread \[s\]; none if it is not known.
    pub without_spread_s: Option<f64>,
}

/// Explains the time of a job, with the seed of its replications. A job that was not simulated has only assumptions.
pub fn explain_job(plan: &Plan, found: &JobEstimate, level: f64) -> Explained {
    let seed = found.simulated.as_ref().map_or(plan.model.seed, |simulated| simulated.run.provenance.seed);
    let exponential = plan.assumes_spread();
    let without_spread_s = if exponential { plan.without_spread_s(seed) } else { None };
    let assumed = Assumed { values: plan.assumed_values(), exponential, without_spread_s };
    let critical_path = Err("the job was not simulated".to_owned());
    let mut explained = Explained { critical_path, waits: Vec::new(), slots: Vec::new(), changes: Vec::new(), assumed };
    let Some(simulated) = &found.simulated else { return explained };
    explained.critical_path.clone_from(&simulated.critical_path);
    if !plan.can_run_by_task() {
        return explained;
    }
    explained.changes = best_changes(plan, without_spread_s, seed, level);
    // without waits, the critical paths of the net's own replications are better: there are more of them
    if explained.critical_path.is_err() || plan.waits() {
        explained.follow(plan, seed);
    }
    explained
}

impl Explained {
    /// Follows the critical chains of some runs.
    fn follow(&mut self, plan: &Plan, seed: u64) {
        let ready = Ready::new(plan).map_err(|error| error.to_string());
        self.critical_path =
            ready.and_then(|ready| ready.chains(&plan.phases_of_job(), seed)).map(|(chains, slots)| {
                (self.waits, self.slots) = (chains.waits, slots);
                chains.path
            });
    }
}
