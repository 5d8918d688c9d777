//! The means of phases that were measured at several sizes, at the size of a plan's job.

use crate::mapreduce::by_size::{Growth, PhasesBySize, SizedPhase};
use crate::mapreduce::params::{GivenPhases, Plan};

/// Returns phase 1 on the workers of a plan \[s\].
fn load_s(by_size: &PhasesBySize, plan: &Plan) -> f64 {
    let Some(node) = plan.cluster.node.first() else { return by_size.load_s };
    let Some(cores) = node.host_cores.filter(|_| by_size.load_slots > 0) else { return by_size.load_s };
    let crowd = |slots: u64| (slots as f64 / cores).max(1.0);
    by_size.load_s * crowd(node.map_slots + node.reduce_slots) / crowd(by_size.load_slots)
}

/// Returns the data of a reduce in a plan \[MB\].
fn reduce_mb(by_size: &PhasesBySize, plan: &Plan) -> f64 {
    by_size.shuffled_per_mb * plan.job.input_mb / plan.reduces().max(1) as f64
}

impl GivenPhases {
    /// Returns the phase means at the size of a plan's job; `of` selects the first or the later task of a slot.
    fn sized(&self, plan: &Plan, by_size: &PhasesBySize, of: fn(&SizedPhase) -> &Growth) -> Self {
        let (split_mb, reduce_mb) = (plan.job.split_mb.min(plan.job.input_mb), reduce_mb(by_size, plan));
        let map = |phase: &SizedPhase| of(phase).at(split_mb);
        let reduce = |phase: &SizedPhase| of(phase).at(reduce_mb);
        let copy_s = map(&by_size.to_gpu);
        let means_s = [
            load_s(by_size, plan),
            map(&by_size.read),
            map(&by_size.map) + copy_s,
            map(&by_size.gpu),
            map(&by_size.to_host),
            map(&by_size.spill),
            0.0,
            reduce(&by_size.merge),
            reduce(&by_size.reduce),
        ];
        Self { means_s, copy_s, ..self.clone() }
    }
}

impl Plan {
    /// Returns the given phase means, at the size of the job; none for a plan with a profile. Means of tasks other than the first of their slot.
    pub fn given_phases(&self) -> Option<GivenPhases> {
        let given = self.phases.as_ref()?;
        Some(match &given.by_size {
            Some(by_size) => given.sized(self, by_size, |phase| &phase.later),
            None => given.clone(),
        })
    }

    /// Returns the phase means of the first task of a slot; none if it does not differ.
    pub(super) fn first_phases(&self) -> Option<GivenPhases> {
        let given = self.phases.as_ref()?;
        let by_size = given.by_size.as_ref()?;
        let differs = by_size.all().iter().any(|(_, phase)| phase.first != phase.later);
        differs.then(|| given.sized(self, by_size, |phase| &phase.first))
    }
}
