//! The straight-line form of a program, and the reasons why a program has no such form.

use crate::Problems;
use crate::compile::Csr;

/// Every reason why a program is not a schedule.
pub type ScheduleError = Problems<ScheduleObstacle>;

/// Reason why a program is not a schedule, with the first place or transition for which the reason holds.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ScheduleObstacle {
    /// A cycle of places and transitions, so a transition may fire twice.
    #[error("transition `{transition}` is on a cycle")]
    Cycle {
        /// A transition on the cycle.
        transition: String,
    },
    /// An inhibitor arc, test arc or capacity that can disable a transition, or an expression over the marking.
    #[error("transition `{transition}` depends on more than its input tokens")]
    Condition {
        /// The transition.
        transition: String,
    },
    /// Timed transitions that take tokens from the same place.
    #[error("place `{place}` feeds several transitions that are not a free choice of immediate transitions")]
    Conflict {
        /// The place.
        place: String,
    },
    /// The tokens that arrive in a place differ from the tokens that one firing consumes.
    #[error("place `{place}` does not receive exactly the tokens that one firing of `{transition}` consumes")]
    TokenCount {
        /// The place.
        place: String,
        /// The transition that consumes the tokens.
        transition: String,
    },
    /// A transition without input places, which fires again and again.
    #[error("transition `{transition}` has no input place and fires forever")]
    Source {
        /// The transition.
        transition: String,
    },
}

/// Combines the time of an arriving token with the slot's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fold {
    /// The slot is still empty.
    Set,
    /// All tokens are needed, so the latest time counts.
    Max,
    /// Only one of the times exists. It is the minimum, since all other times are *never*.
    Min,
}

/// Destination of a firing time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Put {
    /// Combination with the slot's value.
    pub fold: Fold,
    /// The slot.
    pub slot: u32,
    /// If this time completes a slot of alternatives: the way in which the result is folded, and the slot that gets the
    /// result.
    pub then: Option<(Fold, u32)>,
}

/// One transition of the straight-line program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// The transition.
    pub transition: u32,
    /// Slots whose latest time enables the transition; empty if all its tokens are present from the start.
    pub reads: Vec<u32>,
    /// If the transition is a branch of a choice: the choice, and the number of this branch.
    pub branch: Option<(u32, u32)>,
    /// True if there are replications in which the transition does not fire.
    pub conditional: bool,
    /// True if the firing can be the last firing of a replication.
    pub last: bool,
    /// Destinations of the firing time.
    pub puts: Vec<Put>,
}

/// A free choice of immediate transitions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChoiceStep {
    /// The group of immediates, which owns the random word.
    pub group: u32,
    /// Integer weights of the branches, cumulative: the first branch `b` whose entry is above the selector is taken.
    pub cumulative: Vec<u32>,
}

/// A program as a schedule: steps in topological order over slots of times.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SchedulePlan {
    /// The transitions, each after its predecessors.
    pub steps: Vec<Step>,
    /// The random choices.
    pub choices: Vec<ChoiceStep>,
    /// Number of slots.
    pub slots: u32,
    /// Per counter: the producers of its tokens, for tracing a time back to its origin.
    pub producers: Csr<u32>,
    /// Per counter: true if no transition consumes its tokens and they all arrive in every replication.
    pub sure_sink: Vec<bool>,
    /// Per counter: number of tokens, including initial tokens, that arrive if all producers fire.
    pub arrivals: Vec<u64>,
}
