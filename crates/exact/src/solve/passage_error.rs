//! Reason why a question about a passage time has no answer.

use tailspn_common::number::brief;

use crate::solve::absorb::AbsorbError;

/// Reason why a question about a passage time has no answer.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum PassageError {
    /// The chain is invalid, or its equations cannot be solved.
    #[error(transparent)]
    Absorb(#[from] AbsorbError),
    /// The probability of reaching the target is below 1, so the mean time is infinite. The mean over the runs that
    /// reach the target exists.
    #[error("the target is reached only with probability {}, so the mean time is infinite", brief(*.probability))]
    InfiniteMean {
        /// Probability of ever reaching the target.
        probability: f64,
    },
    /// The quantile's probability is above the probability of ever reaching the target.
    #[error("no quantile of probability {} exists: the target is reached with probability {}", brief(*.asked), brief(*.probability))]
    NoQuantile {
        /// The requested probability.
        asked: f64,
        /// Probability of ever reaching the target.
        probability: f64,
    },
    /// A time is negative, infinite or not a number.
    #[error("the time is {} s, but it must be finite and not negative", brief(*.time))]
    Time {
        /// The time.
        time: f64,
    },
    /// The watch of the settings has stopped the work.
    #[error("stopped before model time {time:.3e} s was reached")]
    Stopped {
        /// The time \[s\].
        time: f64,
    },
    /// The fastest rate causes too many jumps up to this time. Moments, shorter times and simulation are possible.
    #[error(
        "about {needed:.1e} jumps are needed until {time:.3e} s, more than {limit}: the rates differ too much; compute moments or shorter times, or simulate"
    )]
    TooManyJumps {
        /// Approximate number of jumps needed.
        needed: f64,
        /// The time \[s\].
        time: f64,
        /// Maximum number of jumps allowed.
        limit: u64,
    },
}
