//! A net with stragglers and copies, which of its parts are which, and why there may be none.
//!
//! Plain records; `attempts` makes them.

use crate::mapreduce::setting::SettingProblem;
use crate::mapreduce::task_chain::ChainProblem;
use crate::net::{BuildError, Net, PlaceId, TransitionId};

/// Which slots copies take.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CopySlots {
    /// Those of tasks, when no task waits for one; at once where tasks need none. Default.
    #[default]
    Idle,
    /// Those of tasks, before tasks that wait; at once where tasks need none.
    Shared,
    /// So many slots that no task may take. They are taken off the slots of tasks, of each kind of slots that there is; where
    /// tasks need no slots, at most so many copies run at a time.
    Reserved(u32),
}

/// A net whose tasks draw a fate, and which of its parts belong to which task.
#[derive(Clone, Debug, PartialEq)]
pub struct Augmented {
    /// The net. Parts that were there before keep their ids; no place and no transition is taken away.
    pub net: Net,
    /// One for each chain, in their order.
    pub tasks: Vec<AttemptParts>,
    /// Transitions that were added and end a stage, each with the stage's own transition.
    pub stages: Vec<(TransitionId, TransitionId)>,
}

/// The parts of a task and its copy.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AttemptParts {
    /// Name of the task.
    pub name: String,
    /// Where the token of the original attempt is while it runs.
    pub original: Vec<PlaceId>,
    /// Where that of the copy is while it runs.
    pub copy: Vec<PlaceId>,
    /// Where a token is while a copy is asked for and has not begun.
    pub wanted: Option<PlaceId>,
    /// Transitions that begin a copy.
    pub launches: Vec<TransitionId>,
    /// Transitions that kill the original because the copy has ended, each with the mean time from the start of the
    /// original to its flag \[s\].
    pub copy_wins: Vec<(TransitionId, f64)>,
    /// Transitions that kill the copy, or the wish for one, because the original has ended.
    pub original_wins: Vec<TransitionId>,
    /// Slots one of which the original holds; none where it needs none.
    pub slots: Option<PlaceId>,
    /// Slots one of which its copy holds; none where it needs none.
    pub copy_slots: Option<PlaceId>,
}

/// Why a net cannot be augmented. Nothing was made.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum AugmentError {
    /// Transitions that are no chain.
    #[error("{} of the chains are none, first: {}", .0.len(), .0[0])]
    Chains(
        /// All problems, at least one.
        Vec<ChainProblem>,
    ),
    /// All slots are kept for copies. Keep fewer.
    #[error("{reserved} slots for copies leave none of the {slots} on `{place}` for tasks")]
    NoTaskSlot {
        /// The place.
        place: String,
        /// Slots.
        slots: u32,
        /// Slots for copies.
        reserved: u32,
    },
    /// Settings that cannot be right.
    #[error(transparent)]
    Settings(#[from] SettingProblem),
    /// A delay becomes too large or too small, or an id is there already.
    #[error("the net has {} bad parts, first: {}", .0.len(), .0[0])]
    Parts(
        /// All of them, at least one.
        BuildError,
    ),
}
