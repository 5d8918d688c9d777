//! Why a job was slow: what was found, about whom, and why it is believed.
//!
//! ```text
//! JobTrace, progress, samples of nodes, system calls ──▶ a method ──▶ Finding ──▶ report ──▶ cli
//! ```
//!
//! | question | file |
//! |---|---|
//! | what all methods say, in one form | [`finding`] |
//! | which node is at fault, told by its system calls | [`syscalls`] |
//!
//! Guarantees: a finding names its evidence; where the evidence is not enough its cause is [`Cause::Unknown`], never a guess.

pub mod finding;
pub mod syscalls;

pub use finding::{Cause, Evidence, Finding, Subject};
