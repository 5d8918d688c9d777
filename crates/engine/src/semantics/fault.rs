//! Faults of a net that show during a replication.

use crate::compile::Program;

/// A fault of the net that stops a trajectory. The numbers refer to the program's transitions and places.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Fault {
    /// A rate or weight that is negative or not a number in a marking that was reached.
    #[error("the {what} of transition `{transition}` is {value} in a marking that the net reaches")]
    BadValue {
        /// `rate`, `weight` or `arc weight`.
        what: &'static str,
        /// Id of the transition.
        transition: String,
        /// The value.
        value: f64,
    },
    /// A goal, reward or snapshot that is infinite or not a number in a marking that was reached, as after a division by
    /// 0.
    #[error("{what} is infinite or not a number in a marking that the net reaches")]
    BadExpression {
        /// `the goal`, or which reward or snapshot.
        what: String,
    },
    /// A place holds more tokens than 32 bits can count: the net is unbounded, or nearly so.
    #[error(
        "place `{place}` would hold more than 2^32 tokens when `{transition}` fires; the net seems to be unbounded"
    )]
    TooManyTokens {
        /// Id of the place.
        place: String,
        /// Id of the transition.
        transition: String,
    },
    /// Immediate transitions fire forever and time does not pass.
    #[error("immediate transitions fire forever without time passing: {}", transitions.join(", "))]
    VanishingLoop {
        /// Ids of the transitions in the loop.
        transitions: Vec<String>,
    },
    /// Timed transitions fire forever although no time passes: their delays are 0, or far below the tick of the clock.
    #[error("time stops at {time} s: `{transition}`, perhaps with others, fires forever with no delay")]
    StandingTime {
        /// Id of the last transition.
        transition: String,
        /// Model time of the standstill \[s\].
        time: f64,
    },
    /// A replication without a horizon continued past the last time that its clock can represent. Set a horizon.
    #[error("a replication went on past {limit} s, the largest time of its clock; set a horizon")]
    PastTheClock {
        /// The last time \[s\].
        limit: f64,
    },
}

impl Fault {
    pub(super) fn bad_value(program: &Program, t: usize, what: &'static str, value: f64) -> Self {
        Self::BadValue { what, transition: program.transition_names[t].clone(), value }
    }
}
