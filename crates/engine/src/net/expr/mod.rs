//! Marking expressions: rates, weights, arc weights, rewards and stop predicates.
//!
//! `#(place)`, `#(place, class)`, `cap(place)`, rate parameters, arithmetic, comparisons, `&&`, `||`, `!`,
//! `if(condition, then, else)` and the functions of PIPE 4.3. Text becomes a tree with names ([`parse()`]), in which ids then replace
//! the names ([`resolve`]); the compiler turns the tree into stack code.

mod ast;
mod error;
mod parse;

pub use ast::{BinaryOp, Expr, Function, Leaf, UnaryOp};
pub use error::{ExprError, MAX_DEPTH, MAX_OPERATORS};
pub use parse::{Name, NamedLeaf, Names, parse, parse_paths, resolve};
