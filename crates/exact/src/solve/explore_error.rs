//! Reasons why there is no state space, or why it is incomplete.

use std::borrow::Cow;
use std::time::Duration;

use tailspn_common::explain::{ErrorKind, Explain};

use crate::semantics::Fault;

/// Reason why the markings of a net cannot be explored.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ExploreError {
    /// A rate, weight or goal that is invalid in a reachable marking.
    #[error(transparent)]
    Fault(#[from] Fault),
    /// A delay that is not exponential, so that the marking alone does not determine what happens next. Such a net can be
    /// simulated.
    #[error(
        "the delay of transition `{transition}` is {law}, not exponential, so the net is not a Markov chain; simulate the net"
    )]
    NotExponential {
        /// Id of the first such transition.
        transition: String,
        /// Name of its distribution.
        law: &'static str,
    },
    /// Immediate transitions that fire forever once they start: no probability leaves the loop. To end the loop, one of them
    /// must consume a token that the loop does not return.
    #[error(
        "immediate transitions fire forever without time passing: {}; make one of them timed, or let one consume a token",
        transitions.join(", ")
    )]
    VanishingTrap {
        /// Ids of the transitions in the loop, in the order of the net.
        transitions: Vec<String>,
    },
    /// More vanishing markings than the limit follow each other in zero time.
    #[error("immediate transitions lead through more than {limit} markings in zero time; simulate the net instead")]
    VanishingLimit {
        /// Maximum number of markings.
        limit: usize,
    },
    /// The net has infinitely many markings, which was proved during the exploration.
    #[error(transparent)]
    Unbounded(#[from] Unbounded),
}

/// A proof that tokens can grow forever: after `prefix`, the firings of `cycle` can be repeated, and each time more
/// tokens are in `places`.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "the net is unbounded: {} can hold any number of tokens, so there are infinitely many markings; give places a capacity, or simulate the net",
    listed(places)
)]
pub struct Unbounded {
    /// Ids of the places that grow, in the order of the net.
    pub places: Vec<String>,
    /// Transitions from the initial marking to the start of the growth.
    pub prefix: Vec<u32>,
    /// Transitions that can be repeated from there.
    pub cycle: Vec<u32>,
}

/// Number of places that a message lists.
const MOST_NAMES: usize = 8;

fn listed(places: &[String]) -> String {
    let names: Vec<String> = places.iter().take(MOST_NAMES).map(|id| format!("`{id}`")).collect();
    let more = places.len().saturating_sub(MOST_NAMES);
    if more > 0 { format!("{} and {more} more places", names.join(", ")) } else { names.join(", ") }
}

/// Reason why an exploration ended before every marking was found. The markings found so far are kept.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Incomplete {
    /// More states than allowed.
    #[error("the net has more than {limit} states; allow more, or simulate it")]
    States {
        /// Maximum number of states.
        limit: u64,
    },
    /// More memory than allowed.
    #[error("the states need more than {limit} bytes; allow more, or simulate the net")]
    Memory {
        /// Maximum number of bytes.
        limit: u64,
    },
    /// More wall time than allowed.
    #[error("the exploration is incomplete after {} s; allow more time, or simulate the net", limit.as_secs_f64())]
    Time {
        /// Maximum wall time.
        limit: Duration,
    },
    /// The caller stopped the exploration.
    #[error("the exploration was interrupted")]
    Interrupted,
}

impl Explain for ExploreError {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::VanishingTrap { .. } | Self::Fault(_) => ErrorKind::Model,
            _ => ErrorKind::Refused,
        }
    }

    fn help(&self) -> Option<Cow<'static, str>> {
        let trap = "`tailspn net solve --untimed` explores the markings of a net and ignores time";
        matches!(self, Self::VanishingTrap { .. }).then(|| trap.into())
    }
}
