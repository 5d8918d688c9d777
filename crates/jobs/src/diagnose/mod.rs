//! Reasons why a job was slow: findings, their subjects, and the evidence.
//!
//! ```text
//! JobTrace, progress, samples of nodes, system calls ──▶ a method ──▶ Finding ──▶ report ──▶ cli
//! ```
//!
//! | question | file |
//! |---|---|
//! | findings of all methods, in one form | [`finding`] |
//! | the contribution of each kind of input; inputs of other runs | [`inputs`] |
//! | detection of stragglers while they run | [`long_tail`] |
//! | quality of detectors on a recorded job | [`detection`] |
//! | load of the nodes, from sysstat | [`samples`] |
//! | why a task was slow, from its log and the samples of its node | [`causes`] |
//! | the faulty node, from its system calls | [`syscalls`] |
//!
//! Guarantees: a finding names its evidence; if the evidence is not sufficient, its cause is [`Cause::Unknown`], never a guess.

pub mod causes;
pub mod detection;
pub mod finding;
pub mod inputs;
pub mod long_tail;
pub mod samples;
pub mod syscalls;

pub use finding::{Cause, Evidence, Finding, FindingMethod, Subject};
pub use inputs::{InputFindings, InputKind, ProgressFile, UsedInput};
