//! Folding: indistinguishable parts of a net are counted instead of represented one by one.
//!
//! Replicas that are state machines of at most one token become one copy that holds all their tokens. This is exact
//! lumping of the Markov chain by symmetry: every answer that does not distinguish the replicas stays the same
//! (docs/folding.md has the rules).
//!
//! ```text
//! Net ──▶ colours (refinement) ──▶ parts (candidates, compared exactly) ──▶ build (the folded net) ──▶ safe (one token each)
//!  ▲                                │
//!  └── unroll ◀── machine (local markings of parts of several tokens)
//! ```
//!
//! Parts that cannot be counted can still be exchangeable ([`Symmetry`]): markings that differ only by such exchanges
//! need to be explored only once.

mod build;
mod colours;
mod find;
mod folding;
mod graph;
mod hash;
mod keep;
mod machine;
mod parts;
mod replay;
mod rewrite;
mod safe;
mod symmetry;
mod unroll;

pub use find::{fold, fold_markings};
pub use folding::{FoldedClass, FoldedPlace, FoldedTransition, Folding, Obstacle};
pub use keep::Keep;
pub use parts::Hindrance;
pub use replay::Replay;
pub use symmetry::{Exchangeable, Symmetry};
