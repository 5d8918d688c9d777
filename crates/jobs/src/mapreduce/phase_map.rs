//! Assignment of a net's transitions to the phases of a job.

use crate::mapreduce::phase::Phase;
use crate::net::TransitionId;

/// The transitions of each phase, in task order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PhaseMap {
    pub(super) of_phase: [Vec<TransitionId>; 10],
    /// The clean-up after the last reduce, if the job has one.
    pub(super) commit: Option<TransitionId>,
}

impl PhaseMap {
    /// Returns the transitions of one phase: one for load and shuffle, otherwise one per task in task order.
    pub fn transitions(&self, phase: Phase) -> &[TransitionId] {
        &self.of_phase[phase.index()]
    }

    /// Returns the phases of the job with their transitions.
    pub fn iter(&self) -> impl Iterator<Item = (Phase, &[TransitionId])> {
        let all = Phase::ALL.into_iter().map(|phase| (phase, self.transitions(phase)));
        all.filter(|(_, transitions)| !transitions.is_empty())
    }
}

/// Priority of all immediate transitions; no two kinds compete.
pub(super) const PRIORITY: u32 = 1;
