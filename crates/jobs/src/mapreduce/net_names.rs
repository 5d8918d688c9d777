//! Ids of the parts of a job's net.

use crate::mapreduce::phase::Phase;

/// Returns the name of the place before a phase of a task that has the phases `found`.
pub(super) fn place_before(phase: Phase, found: &[Phase]) -> &'static str {
    match phase {
        Phase::Load => "start",
        Phase::Read => "split",
        Phase::Map => "fetched",
        Phase::ToGpu if found.contains(&Phase::Map) => "mapped",
        Phase::ToGpu => "fetched",
        Phase::Gpu => "onGpu",
        Phase::ToHost => "computed",
        Phase::Spill => "onHost",
        Phase::Shuffle => "spilled",
        Phase::Merge => "shuffled",
        Phase::Reduce => "merged",
    }
}

/// Returns the id of the phase's transitions, without the task's number: letters only.
pub(super) fn transition_name(phase: Phase) -> &'static str {
    match phase {
        Phase::ToGpu => "toGpu",
        Phase::ToHost => "toHost",
        other => other.name(),
    }
}
