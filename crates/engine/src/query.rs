//! Questions about the Markov chain of a net, in the style of model checkers.
//!
//! They contain expressions over the net; the crate `tailspn-exact` answers them.

use crate::net::{Expr, TransitionId};

/// A reward that is collected over time and at firings.
#[derive(Clone, Debug, PartialEq)]
pub struct Reward {
    /// Reward per second in a marking.
    pub rate: Expr,
    /// Reward at each firing of a transition, evaluated in the marking before it.
    pub impulses: Vec<(TransitionId, Expr)>,
}

/// A question with one number as its answer. Times are in seconds.
#[derive(Clone, Debug, PartialEq)]
pub enum Query {
    /// The probability that `goal` holds at some time between `from` and `to` and `stay` at all times before.
    Until {
        /// Condition that must hold until the goal.
        stay: Expr,
        /// Condition that must be reached.
        goal: Expr,
        /// The earliest time.
        from: f64,
        /// The latest time; may be infinite.
        to: f64,
    },
    /// The mean of an expression at a time.
    At {
        /// The expression.
        value: Expr,
        /// The time.
        time: f64,
    },
    /// The mean reward that is collected up to a time.
    Gathered {
        /// The reward.
        reward: Reward,
        /// The time.
        time: f64,
    },
    /// The mean reward that is collected until a goal is first reached; infinite if the probability of reaching the
    /// goal is below 1.
    GatheredUntil {
        /// The reward.
        reward: Reward,
        /// The goal.
        goal: Expr,
    },
    /// The mean reward per second in the long run.
    LongRun {
        /// The reward.
        reward: Reward,
    },
}

/// A property of a model.
#[derive(Clone, Debug, PartialEq)]
pub struct Property {
    /// Name of the property.
    pub name: String,
    /// The question, or the reason why it cannot be answered.
    pub query: Result<Query, String>,
}
