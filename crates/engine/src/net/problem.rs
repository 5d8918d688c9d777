//! Problems of the parts of a net.

use tailspn_common::number::brief;

use crate::Problems;
use crate::net::ids::{ClassId, ParameterId, PlaceId, TransitionId};
use crate::net::law::LawProblem;

/// A guard of a transition whose delay is not exponential. Use test and inhibitor arcs instead.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("transition `{transition}` has a guard, but its delay is not exponential; use test and inhibitor arcs instead")]
pub struct GuardError {
    /// Id of the transition.
    pub transition: String,
}

/// The part of a net that a [`BuildProblem`] is about; positions refer to the builder.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the names say it")]
pub enum PartRef {
    Class(ClassId),
    Parameter(ParameterId),
    Place(PlaceId),
    Transition(TransitionId),
    Arc(usize),
}

/// All problems of the parts of a net.
pub type BuildError = Problems<BuildProblem>;

/// A reason why the parts do not form a net.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum BuildProblem {
    /// Two parts of a kind have the same id. Rename one.
    #[error("{kind} `{id}` is defined twice")]
    DuplicateId {
        /// Kind of the part.
        kind: &'static str,
        /// The id.
        id: String,
        /// The second part.
        part: PartRef,
    },
    /// An id is empty.
    #[error("a {kind} has an empty id")]
    EmptyId {
        /// Kind of the part.
        kind: &'static str,
        /// The part.
        part: PartRef,
    },
    /// An arc, a weight or an expression uses a part that this builder does not have.
    #[error("{what} refers to a {kind} that the net does not have")]
    ForeignId {
        /// Description of the referring part.
        what: String,
        /// Kind of the missing part.
        kind: &'static str,
        /// The referring part.
        part: PartRef,
    },
    /// A constant rate, weight or arc weight that is negative or not finite.
    #[error("{what} is {}; it must be finite and not negative", brief(*.value))]
    BadNumber {
        /// Description of the number and its part.
        what: String,
        /// The number.
        value: f64,
        /// The part.
        part: PartRef,
    },
    /// An arc weight that is not a whole number below 2^31.
    #[error("the weight of arc `{arc}` is {}; it must be a whole number below 2^31", brief(*.value))]
    BadArcWeight {
        /// The arc's id.
        arc: String,
        /// The weight.
        value: f64,
        /// The arc.
        part: PartRef,
    },
    /// A delay distribution with invalid parameters.
    #[error("transition `{transition}`: {problem}")]
    Law {
        /// The transition's id.
        transition: String,
        /// The problem.
        problem: LawProblem,
        /// The transition.
        part: PartRef,
    },
    /// A limit of zero servers, with which the transition could never fire.
    #[error("transition `{transition}` has 0 servers")]
    NoServer {
        /// The transition's id.
        transition: String,
        /// The transition.
        part: PartRef,
    },
    /// More initial tokens than the place may hold.
    #[error("place `{place}` starts with {tokens} tokens, above its capacity of {capacity}")]
    AboveCapacity {
        /// The place's id.
        place: String,
        /// Tokens at the start.
        tokens: u64,
        /// The capacity.
        capacity: u32,
        /// The place.
        part: PartRef,
    },
    /// A rate parameter whose value uses itself or a later parameter.
    #[error("rate parameter `{name}` uses itself or a parameter that is defined later")]
    ParameterOrder {
        /// Name of the parameter.
        name: String,
        /// The parameter.
        part: PartRef,
    },
}

impl BuildProblem {
    /// The part that the problem is about.
    pub fn part(&self) -> PartRef {
        match self {
            Self::DuplicateId { part, .. }
            | Self::EmptyId { part, .. }
            | Self::ForeignId { part, .. }
            | Self::BadNumber { part, .. }
            | Self::BadArcWeight { part, .. }
            | Self::Law { part, .. }
            | Self::NoServer { part, .. }
            | Self::AboveCapacity { part, .. }
            | Self::ParameterOrder { part, .. } => *part,
        }
    }
}
