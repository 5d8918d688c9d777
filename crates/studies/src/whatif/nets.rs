//! The plan of a MapReduce job as a net, for comparison with the cluster simulator.

use std::time::Instant;

use crate::error::StudyError;
use crate::job_time::job_times;
use crate::mapreduce::Plan;
use crate::plan::JobPlan;
use crate::sim::{Ensemble, Run};
use crate::watch::Watch;

/// The job times of a plan's net.
#[derive(Clone, Debug)]
pub struct NetTimes {
    /// `no copies`, or `copies of [speculation]`.
    pub name: &'static str,
    /// The plan of the net.
    pub plan: Plan,
    /// The replications.
    pub run: Run,
}

/// The plans of the nets: without copies, and with the copies of `[speculation]`.
pub(super) fn variants(plan: &JobPlan) -> Vec<(&'static str, Plan)> {
    let JobPlan::MapReduce(plan) = plan else { return Vec::new() };
    let mut with = Plan::clone(plan);
    with.model.slots = true;
    let without = Plan { speculation: None, ..with.clone() };
    let copies = with.speculation.is_some().then_some(("copies of [speculation]", with));
    std::iter::once(("no copies", without)).chain(copies).collect()
}

/// Runs the nets, each for an equal part of the remaining time. No further net runs once the work is stopped.
pub(super) fn run_nets(
    plans: Vec<(&'static str, Plan)>,
    ensemble: &Ensemble,
    started: Instant,
    watch: &dyn Watch,
) -> Result<Vec<NetTimes>, StudyError> {
    let (mut parts, mut nets) = (plans.len() as u32, Vec::new());
    for (name, plan) in plans {
        if watch.stopped() {
            break;
        }
        let max_wall = ensemble.max_wall.map(|most| most.saturating_sub(started.elapsed()) / parts);
        parts -= 1;
        match job_times(&plan, &Ensemble { max_wall, ..ensemble.clone() }, watch) {
            Ok(run) => nets.push(NetTimes { name, plan, run }),
            Err(_) if watch.stopped() => {}
            Err(error) => return Err(error),
        }
    }
    Ok(nets)
}
