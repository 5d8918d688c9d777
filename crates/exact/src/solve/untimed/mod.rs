//! Nets without time: all markings, every firing between them, and CTL formulas.
//!
//! ```text
//! Program ──explore_untimed──▶ MarkingGraph ──▶ verdicts, firing sequences, drawing
//!                                   │
//! text ──Formula::parse──▶ Formula ─┴─Checker──▶ Checked: holds or not, and Evidence
//! ```
//!
//! Delays are ignored, so deterministic delays and loops of immediate transitions are allowed. A deadlock ends a path
//! (docs/solve.md). `rules` determines the transitions that fire in a marking; `formula` and `parse` implement formulas,
//! `label` their truth values, and `evidence` firing sequences as evidence.

mod drawing;
mod evidence;
mod explore;
mod formula;
mod known;
mod label;
mod parse;
mod rules;
mod space;
mod verdicts;

pub use drawing::untimed_graph;
pub use evidence::Evidence;
pub use explore::explore_untimed;
pub(crate) use formula::MAX_DEPTH;
pub use formula::{Formula, FormulaError};
pub use label::{Checked, Checker};
pub(crate) use parse::{is_of_word, token_length};
pub use rules::Priorities;
pub use space::{MarkingGraph, Step};
