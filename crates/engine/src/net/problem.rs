//! What can be wrong with the parts of a net.

use crate::Problems;
use crate::net::ids::{ClassId, ParameterId, PlaceId, TransitionId};
use crate::net::law::LawProblem;

/// Which part of a net a [`BuildProblem`] is about; positions are those in the builder.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the names say it")]
pub enum PartRef {
    Class(ClassId),
    Parameter(ParameterId),
    Place(PlaceId),
    Transition(TransitionId),
    Arc(usize),
}

/// Everything that is wrong with the parts of a net.
pub type BuildError = Problems<BuildProblem>;

/// Why the parts do not make a net.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum BuildProblem {
    /// Two parts of a kind have the same id. Rename one.
    #[error("{kind} `{id}` is defined twice")]
    DuplicateId {
        /// Which kind of part.
        kind: &'static str,
        /// The id.
        id: String,
        /// The second one.
        part: PartRef,
    },
    /// An id is empty.
    #[error("a {kind} has an empty id")]
    EmptyId {
        /// Which kind of part.
        kind: &'static str,
        /// Which one.
        part: PartRef,
    },
    /// An arc, a weight or an expression uses a part that this builder does not have.
    #[error("{what} refers to a {kind} that the net does not have")]
    ForeignId {
        /// What refers.
        what: String,
        /// Which kind of part is missing.
        kind: &'static str,
        /// Which part refers.
        part: PartRef,
    },
    /// A constant rate, weight or arc weight that is negative or not finite.
    #[error("{what} is {value}; it must be finite and not negative")]
    BadNumber {
        /// Which number of which part.
        what: String,
        /// The number.
        value: f64,
        /// Which part.
        part: PartRef,
    },
    /// An arc weight that is not a whole number or above 2^31.
    #[error("the weight of arc `{arc}` is {value}; it must be a whole number below 2^31")]
    BadArcWeight {
        /// The arc's id.
        arc: String,
        /// The weight.
        value: f64,
        /// Which part.
        part: PartRef,
    },
    /// A delay law with parameters that make none.
    #[error("transition `{transition}`: {problem}")]
    Law {
        /// The transition's id.
        transition: String,
        /// What is wrong.
        problem: LawProblem,
        /// Which part.
        part: PartRef,
    },
    /// A limit of zero servers: the transition could never fire.
    #[error("transition `{transition}` has no server")]
    NoServer {
        /// The transition's id.
        transition: String,
        /// Which part.
        part: PartRef,
    },
    /// More tokens at the start than the place may hold.
    #[error("place `{place}` starts with {tokens} tokens, above its capacity of {capacity}")]
    AboveCapacity {
        /// The place's id.
        place: String,
        /// Tokens at the start.
        tokens: u64,
        /// The capacity.
        capacity: u32,
        /// Which part.
        part: PartRef,
    },
    /// A rate parameter whose value uses itself or a later parameter.
    #[error("rate parameter `{name}` uses itself or one that is defined later")]
    ParameterOrder {
        /// Its name.
        name: String,
        /// Which part.
        part: PartRef,
    },
}

impl BuildProblem {
    /// Which part the problem is about.
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
