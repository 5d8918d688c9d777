//! Parts of a net that a question distinguishes, which must not be folded.

use crate::net::expr::Expr;

/// Expressions and transitions whose results a folded net must preserve.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Keep {
    /// Expressions over the marking, such as goals, rewards and measures.
    pub expressions: Vec<Expr>,
    /// Groups of transitions (indices) that are observed together.
    pub groups: Vec<Vec<usize>>,
    /// Rewards of firings: number of the reward, transition, amount.
    pub impulses: Vec<(usize, usize, Expr)>,
}
