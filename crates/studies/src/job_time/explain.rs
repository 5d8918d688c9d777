//! Explanation of a job's time: waits, changes that would help, and assumptions.

use crate::job_time::by_task::Ready;
use crate::job_time::chains::SlotUse;
use crate::job_time::changes::{Change, Changing, best_changes, relative_times};
use crate::job_time::job::JobEstimate;
use crate::mapreduce::{MEASURED, Plan};
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
    /// Effect of each assumed value on the time, the largest first; empty if all values are those of the example, and for a job that does not run task by task.
    pub effects: Vec<AssumedEffect>,
    /// True if phases are exponential because the plan does not state their distributions.
    pub exponential: bool,
    /// The mean job time without that spread \[s\]; none if it is not known.
    pub without_spread_s: Option<f64>,
}

/// The job time with another value in place of an assumed one.
#[derive(Clone, Debug, PartialEq)]
pub struct AssumedEffect {
    /// Key of the profile.
    pub key: &'static str,
    /// The assumed value.
    pub used: f64,
    /// Mean time with half and with double the value, relative to the time with the value.
    pub factors: [f64; 2],
}

/// Returns the effect of each assumed value, the largest first.
fn effects(plan: &Plan, assumed: &[&'static str], seed: u64) -> Vec<AssumedEffect> {
    if assumed.len() == MEASURED.len() {
        return Vec::new();
    }
    let variants = |key: &&'static str| {
        let scaled = |factor: f64| plan.with_scaled_value(key, factor).filter(|(_, plan)| plan.problems().is_empty());
        let ((used, half), (_, double)) = (scaled(0.5)?, scaled(2.0)?);
        Some((*key, used, [half, double]))
    };
    let all: Vec<_> = assumed.iter().filter_map(variants).collect();
    let plans: Vec<Plan> = all.iter().flat_map(|(.., plans)| plans.clone()).collect();
    let times = relative_times(plan, &plans, seed);
    let mut found = Vec::new();
    for ((key, used, _), factors) in all.into_iter().zip(times.chunks(2)) {
        if let [Some(half), Some(double)] = *factors {
            found.push(AssumedEffect { key, used, factors: [half, double] });
        }
    }
    let swing = |effect: &AssumedEffect| effect.factors.iter().map(|factor| (factor - 1.0).abs()).fold(0.0, f64::max);
    found.sort_by(|a, b| swing(b).total_cmp(&swing(a)));
    found
}

/// Explains the time of a job, with the seed of its replications. A job that was not simulated has only assumptions.
pub fn explain_job(plan: &Plan, found: &JobEstimate, level: f64) -> Explained {
    let seed = found.simulated.as_ref().map_or(plan.model.seed, |simulated| simulated.run.provenance.seed);
    let exponential = plan.assumes_spread();
    let without_spread_s = if exponential { plan.without_spread_s(seed) } else { None };
    let values = plan.assumed_values();
    let effects = if plan.can_run_by_task() { effects(plan, &values, seed) } else { Vec::new() };
    let assumed = Assumed { values, effects, exponential, without_spread_s };
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
