//! Faults of a net that are detected during a replication.

use tailspn_common::number::brief;

use crate::compile::Program;

/// A fault of the net that stops a trajectory. The numbers refer to the program's transitions and places.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Fault {
    /// A rate or weight that is negative or not a number in a marking that was reached.
    #[error("the {what} of transition `{transition}` is {} in a marking that the net reaches", brief(*.value))]
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
        /// The expression as the message calls it, such as `the goal` or `a snapshot at 5 s`.
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
    /// Immediate transitions fire forever without time passing.
    #[error("immediate transitions fire forever without time passing: {}", transitions.join(", "))]
    VanishingLoop {
        /// Ids of the transitions in the loop.
        transitions: Vec<String>,
    },
    /// Timed transitions fire forever although no time passes: their delays are 0, or far shorter than a tick of the clock.
    #[error("time stops at {} s: `{transition}`, perhaps with other transitions, fires forever without delay", brief(*.time))]
    StandingTime {
        /// Id of the last transition.
        transition: String,
        /// Model time at which time stopped \[s\].
        time: f64,
    },
    /// A replication without a horizon ran past the last time that its clock can represent. Set a horizon.
    #[error("a replication ran past {} s, the largest time that its clock can represent; set a horizon", brief(*.limit))]
    PastTheClock {
        /// The last time \[s\].
        limit: f64,
    },
    /// A mean delay that no clock represents with its precision. Choose another unit of time.
    #[error(
        "the mean delay of transition `{transition}` is {mean:e} s; simulations handle {least:.0e} s to {most:.0e} s"
    )]
    BeyondClocks {
        /// Id of the transition.
        transition: String,
        /// Mean delay, with all servers busy if it is short \[s\].
        mean: f64,
        /// The shortest mean delay that a clock represents \[s\].
        least: f64,
        /// The longest mean delay that a clock represents \[s\].
        most: f64,
    },
    /// Rates that are finite, but not their sum.
    #[error(
        "the rates of `{transition}` and the transitions that are enabled with it sum to more than the largest number, 1.8e308 /s; use a shorter unit of time"
    )]
    RateSum {
        /// Id of the fastest transition.
        transition: String,
    },
    /// Delays so short that averages over time miss them. An exact method has no such limit.
    #[error(
        "the mean delay of transition `{transition}` ({mean:e} s) is far below the steps of averages over time ({tick:.1e} s)"
    )]
    ShortDelays {
        /// Id of the fastest transition.
        transition: String,
        /// Mean delay of the transition \[s\].
        mean: f64,
        /// The tick of results \[s\].
        tick: f64,
    },
}

impl Fault {
    pub(crate) fn bad_value(program: &Program, t: usize, what: &'static str, value: f64) -> Self {
        Self::BadValue { what, transition: program.transition_names[t].to_owned(), value }
    }
}
