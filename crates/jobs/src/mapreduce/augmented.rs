//! A net with stragglers and copies, the roles of its parts, and the errors of its construction.
//!
//! Plain records; `attempts` builds them.

use crate::mapreduce::setting::SettingProblem;
use crate::mapreduce::task_chain::ChainProblem;
use crate::net::{BuildError, Net, PlaceId, TransitionId};

/// Slots that copies take.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum CopySlots {
    /// Copies take slots of tasks, but only when no task waits for a slot. If tasks need no slots, copies start
    /// immediately. Default.
    #[default]
    Idle,
    /// Copies take slots of tasks, before waiting tasks get these slots. If tasks need no slots, copies start
    /// immediately.
    Shared,
    /// Copies take this number of slots, which no task can take. The number is subtracted from the slots of each kind
    /// of task; if tasks need no slots, at most this number of copies run at a time.
    Reserved(u32),
}

/// A net whose tasks draw a fate, with the assignment of its parts to tasks.
#[derive(Clone, Debug, PartialEq)]
pub struct Augmented {
    /// The net. Existing parts keep their ids; no place and no transition is removed.
    pub net: Net,
    /// Parts of each chain, in their order.
    pub tasks: Vec<AttemptParts>,
    /// Added transitions that end a stage, each with the stage's original transition.
    pub stages: Vec<(TransitionId, TransitionId)>,
}

/// The parts of a task and its copy.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AttemptParts {
    /// Name of the task.
    pub name: String,
    /// Places of the original attempt's token while it runs.
    pub original: Vec<PlaceId>,
    /// Places of the copy's token while it runs.
    pub copy: Vec<PlaceId>,
    /// Place of the token while a copy is requested and has not started.
    pub wanted: Option<PlaceId>,
    /// Transitions that start a copy.
    pub launches: Vec<TransitionId>,
    /// Transitions that kill the original because the copy has finished, each with the mean time from the start of the original to its flag \[s\].
    pub copy_wins: Vec<(TransitionId, f64)>,
    /// Transitions that kill the copy, or its request, because the original has finished.
    pub original_wins: Vec<TransitionId>,
    /// Pool of the original's slot; none if the original needs no slot.
    pub slots: Option<PlaceId>,
    /// Pool of the copy's slot; none if the copy needs no slot.
    pub copy_slots: Option<PlaceId>,
}

/// Reasons why a net cannot be augmented. Nothing was built.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum AugmentError {
    /// Transitions that do not form a chain.
    #[error("{} chains are invalid, first: {}", .0.len(), .0[0])]
    Chains(
        /// All problems, at least one.
        Vec<ChainProblem>,
    ),
    /// All slots are reserved for copies. Reserve fewer.
    #[error("{reserved} slots for copies leave none of the {slots} slots on `{place}` for tasks")]
    NoTaskSlot {
        /// The place.
        place: String,
        /// Slots.
        slots: u32,
        /// Slots reserved for copies.
        reserved: u32,
    },
    /// Invalid settings.
    #[error(transparent)]
    Settings(#[from] SettingProblem),
    /// A delay becomes too large or too small, or an id already exists.
    #[error("the net has {} invalid parts, first: {}", .0.len(), .0[0])]
    Parts(
        /// All errors, at least one.
        BuildError,
    ),
}
